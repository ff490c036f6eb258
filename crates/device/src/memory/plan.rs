//! The sum of the parts, and how many chains fit.

use super::bytes::Bytes;
use super::{Precision, RunShape};
use crate::nvml::memory;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Coordinates that 32 lanes carry; more are carried by 128.
const NARROW_LIMIT: u64 = 256;
/// Bytes of a draw's statistics: nine numbers of 8 bytes.
const STATISTICS: u64 = 72;
/// Bytes of a chain's scalars.
const SCALARS: u64 = 256;
/// The least that is left alone.
const LEAST_RESERVE: u64 = 256 << 20;
/// The share of the device that is left alone.
const RESERVE_SHARE: u64 = 20;

/// A device's memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Free now.
    pub free: u64,
    /// Installed.
    pub total: u64,
}

impl DeviceMemory {
    /// What is left alone: the greater of 256 MiB and one twentieth of the device.
    #[must_use]
    pub fn reserve(&self) -> u64 {
        LEAST_RESERVE.max(self.total / RESERVE_SHARE)
    }

    /// What a run may take.
    #[must_use]
    pub fn usable(&self) -> u64 {
        self.free.saturating_sub(self.reserve())
    }
}

/// One line of the formula with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPart {
    /// Its name in the tables of the [module](crate::memory).
    pub name: String,
    /// Its bytes, for one chain or for all together.
    pub bytes: u64,
}

/// What a run takes of a device's memory; [`Display`](fmt::Display) is the text of `octopus sample --dry-run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// The run.
    pub shape: RunShape,
    /// The device.
    pub memory: DeviceMemory,
    /// The parts of each chain.
    pub chain_parts: Vec<PlanPart>,
    /// The parts that all chains share.
    pub fixed_parts: Vec<PlanPart>,
    /// Bytes of one chain.
    pub chain_bytes: u64,
    /// Bytes that all chains share.
    pub fixed_bytes: u64,
    /// Bytes left alone.
    pub reserve_bytes: u64,
    /// The most chains that fit at once, of any number; 0 when not even one fits.
    pub largest_batch: u64,
    /// Bytes of the whole run at once; `None` when 64 bits do not count them, and so nothing holds them.
    pub total_bytes: Option<u64>,
}

/// A run that no plan can be made for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryPlanError {
    /// A size is zero.
    #[error("{field} is 0: it must be 1 or more")]
    Zero {
        /// The field of [`RunShape`].
        field: &'static str,
    },
    /// One chain alone takes more bytes than 64 bits count.
    #[error(
        "{part} of one chain takes more bytes than 64 bits count ({shape:?}): check dim, max_depth and draws_in_flight"
    )]
    TooLarge {
        /// The part that does.
        part: &'static str,
        /// The run.
        shape: RunShape,
    },
    /// More memory is free than there is.
    #[error("{} bytes free of {} cannot be: the device's memory was misread", .memory.free, .memory.total)]
    FreeAboveTotal {
        /// What was said of the device.
        memory: DeviceMemory,
    },
}

impl MemoryPlan {
    /// Adds up what `shape` takes and how much of it fits.
    ///
    /// ```
    /// use octopus_device::{DeviceMemory, MemoryPlan, Precision, RunShape};
    ///
    /// // 100 groups, 4096 chains in f32 on a card of 48 GB.
    /// let shape = RunShape { chains: 4096, dim: 103, precision: Precision::F32, ..RunShape::default() };
    /// let plan = MemoryPlan::new(shape, DeviceMemory { free: 47 << 30, total: 48 << 30 }).unwrap();
    /// assert_eq!(plan.batches(), Some(1));
    /// assert!(plan.total_bytes.unwrap() < 200 << 20);
    /// ```
    ///
    /// # Errors
    /// When a size is zero, when one chain takes more bytes than 64 bits count, or when the device's memory cannot be.
    pub fn new(shape: RunShape, memory: DeviceMemory) -> Result<Self, MemoryPlanError> {
        let sizes = [
            ("chains", shape.chains),
            ("dim", shape.dim),
            ("draws_in_flight", shape.draws_in_flight),
            ("draw_buffers", shape.draw_buffers),
        ];
        if let Some(&(field, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(MemoryPlanError::Zero { field });
        }
        if memory.free > memory.total {
            return Err(MemoryPlanError::FreeAboveTotal { memory });
        }
        let (chain_parts, chain_bytes) = sum(&chain_parts(&shape), &shape)?;
        let (fixed_parts, fixed_bytes) = sum(&fixed_parts(&shape), &shape)?;
        let largest_batch = memory.usable().saturating_sub(fixed_bytes) / chain_bytes;
        let total_bytes = Bytes::of(chain_bytes).times(shape.chains).plus(Bytes::of(fixed_bytes)).0;
        Ok(Self {
            shape,
            memory,
            chain_parts,
            fixed_parts,
            chain_bytes,
            fixed_bytes,
            reserve_bytes: memory.reserve(),
            largest_batch,
            total_bytes,
        })
    }

    /// Whether all chains fit at once.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.largest_batch >= self.shape.chains
    }

    /// How many batches of chains, one after the other, the run needs; `None` when not even one chain fits.
    #[must_use]
    pub fn batches(&self) -> Option<u64> {
        (self.largest_batch > 0).then(|| self.shape.chains.div_ceil(self.largest_batch))
    }
}

/// The lanes of the virtual warp for so many coordinates.
fn lanes(dim: u64) -> u64 {
    if dim <= NARROW_LIMIT { 32 } else { 128 }
}

/// One vector of coordinates, padded to whole rows of lanes.
fn vector(shape: &RunShape) -> Bytes {
    Bytes::of(shape.dim).padded(lanes(shape.dim)).times(shape.precision.bytes())
}

fn chain_parts(shape: &RunShape) -> [(&'static str, Bytes); 7] {
    let v = vector(shape);
    let draw = Bytes::of(shape.dim).times(shape.precision.bytes()).plus(Bytes::of(STATISTICS));
    [
        ("state", v.times(2)),
        ("trajectory", v.times(8)),
        ("proposals", v.times(4)),
        ("checkpoints", v.times(2).times(shape.max_depth)),
        ("adaptation", v.plus(Bytes::of(shape.dim).times(2 * Precision::F64.bytes()))),
        ("draws", draw.times(shape.draws_in_flight).times(shape.draw_buffers)),
        ("scalars", Bytes::of(SCALARS)),
    ]
}

fn fixed_parts(shape: &RunShape) -> [(&'static str, Bytes); 2] {
    [("data", Bytes::of(shape.data_bytes)), ("shared", vector(shape).times(2))]
}

/// The parts with their bytes, and their sum.
fn sum(parts: &[(&'static str, Bytes)], shape: &RunShape) -> Result<(Vec<PlanPart>, u64), MemoryPlanError> {
    let mut listed = Vec::with_capacity(parts.len());
    let mut total = Bytes::of(0);
    for &(part, bytes) in parts {
        total = total.plus(bytes);
        let (Some(bytes), Some(_)) = (bytes.0, total.0) else {
            return Err(MemoryPlanError::TooLarge { part, shape: *shape });
        };
        listed.push(PlanPart { name: part.to_owned(), bytes });
    }
    Ok((listed, total.0.unwrap_or(u64::MAX)))
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunShape { chains, dim, precision, .. } = self.shape;
        writeln!(f, "{chains} chains of {dim} coordinates in {precision}")?;
        let part =
            |f: &mut fmt::Formatter<'_>, part: &PlanPart| writeln!(f, "  {:<14}{:>18} bytes", part.name, part.bytes);
        self.chain_parts.iter().try_for_each(|line| part(f, line))?;
        writeln!(f, "  {:<14}{:>18} bytes", "one chain", self.chain_bytes)?;
        self.fixed_parts.iter().try_for_each(|line| part(f, line))?;
        match self.total_bytes {
            Some(total) => writeln!(f, "  {:<14}{total:>18} bytes ({})", "the run", memory(total))?,
            None => writeln!(f, "  {:<14}{:>18} bytes", "the run", "more than 2^64")?,
        }
        let (free, reserve) = (memory(self.memory.free), memory(self.reserve_bytes));
        writeln!(f, "  {free} free of {}, {reserve} of it left alone", memory(self.memory.total))?;
        match self.batches() {
            None => write!(f, "  not even one chain fits"),
            Some(1) => write!(f, "  all chains fit at once (up to {})", self.largest_batch),
            Some(batches) => write!(f, "  {batches} batches of up to {} chains", self.largest_batch),
        }
    }
}
