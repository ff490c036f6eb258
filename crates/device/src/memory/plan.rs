//! The memory plan of a run on a device: the reserve of memory left to others, and how many chains run at once.
//!
//! The least reserve and its share of the device stand here, and so does the text of `octopus sample --dry-run`.

use crate::nvml::memory_text;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Returns the bytes that are left alone: the greater of 256 MiB and one twentieth of the device.
    #[must_use]
    pub fn reserve(&self) -> u64 {
        LEAST_RESERVE.max(self.total / RESERVE_SHARE)
    }

    /// Returns the bytes that a run may take.
    #[must_use]
    pub fn usable(&self) -> u64 {
        self.free.saturating_sub(self.reserve())
    }
}

/// One part of what a run takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPart {
    /// The part's name.
    pub name: String,
    /// The part's size in bytes.
    pub bytes: u64,
}

/// The memory that a run takes with a given number of its chains on the device at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAttempt {
    /// Chains on the device at once; the others wait for their turn.
    pub chains_at_once: u64,
    /// The memory of each part.
    pub parts: Vec<PlanPart>,
}

impl MemoryAttempt {
    /// Returns the bytes of all parts; as many as 64 bits count where they are more.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes))
    }
}

/// The memory that a run takes of a device; [`Display`](fmt::Display) is the text of `octopus sample --dry-run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// Chains of the run.
    pub chains: u64,
    /// The device.
    pub memory: DeviceMemory,
    /// Bytes left alone.
    pub reserve_bytes: u64,
    /// The parts of the whole run, or of the turns that it is done in.
    pub parts: Vec<PlanPart>,
    /// Bytes of all parts.
    pub total_bytes: u64,
    /// Chains on the device at once; 0 when not even the smallest attempt fits.
    pub chains_at_once: u64,
}

impl MemoryPlan {
    /// Takes the first of an engine's `attempts` that fits, from all chains at once to the fewest; where none does, the
    /// last. `None` where there is no attempt.
    ///
    /// ```
    /// use octopus_device::{DeviceMemory, MemoryAttempt, MemoryPlan, PlanPart};
    ///
    /// // Chains of 1 MiB each, on a card with 1 GiB free: 1000 are too many at once, 500 are not.
    /// let attempt = |chains| {
    ///     let parts = vec![PlanPart { name: "chains".into(), bytes: chains << 20 }];
    ///     MemoryAttempt { chains_at_once: chains, parts }
    /// };
    /// let memory = DeviceMemory { free: 1 << 30, total: 2 << 30 };
    /// let plan = MemoryPlan::new(1000, memory, [1000, 500, 250].map(attempt)).unwrap();
    /// assert_eq!((plan.chains_at_once, plan.turns()), (500, Some(2)));
    /// ```
    #[must_use]
    pub fn new(chains: u64, memory: DeviceMemory, attempts: impl IntoIterator<Item = MemoryAttempt>) -> Option<Self> {
        let mut last = None;
        for attempt in attempts {
            let fits = attempt.bytes() <= memory.usable();
            last = Some((attempt, fits));
            if fits {
                break;
            }
        }
        let (attempt, fits) = last?;
        Some(Self {
            chains,
            memory,
            reserve_bytes: memory.reserve(),
            total_bytes: attempt.bytes(),
            chains_at_once: if fits { attempt.chains_at_once.min(chains) } else { 0 },
            parts: attempt.parts,
        })
    }

    /// Returns how many turns the chains need; `None` when not even the fewest fit.
    #[must_use]
    pub fn turns(&self) -> Option<u64> {
        (self.chains_at_once > 0).then(|| self.chains.div_ceil(self.chains_at_once))
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for PlanPart { name, bytes } in &self.parts {
            writeln!(f, "  {name:<14}{bytes:>18} bytes")?;
        }
        writeln!(f, "  {:<14}{:>18} bytes ({})", "together", self.total_bytes, memory_text(self.total_bytes))?;
        let (free, reserve) = (memory_text(self.memory.free), memory_text(self.reserve_bytes));
        writeln!(f, "  {free} free of {}, {reserve} of it left alone", memory_text(self.memory.total))?;
        let Self { chains, chains_at_once, .. } = self;
        match self.turns() {
            None => write!(f, "  that does not fit, not even with as few chains at once as are tried"),
            Some(1) => write!(f, "  all {chains} chains fit at once"),
            Some(turns) => write!(f, "  {chains_at_once} of {chains} chains at once, in {turns} turns"),
        }
    }
}
