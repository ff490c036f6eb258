//! A stream of draws, batch by batch and in order, from the CPU or from any number of GPUs.

use super::{on_cpu, on_gpu};
use crate::{ArrayError, ArrayShape, Scalar};
use octopus_device::Device;
use octopus_random::{Draw, Key, SampleError, TurnsExhausted};
use std::ops::Range;
use thiserror::Error;

/// Draws of a batch are a multiple of so many, vectors of so many numbers: the cores share whole parts of that.
const STEP: u64 = 1 << 16;
/// The most bytes of a batch of a GPU: more of them gain nothing.
const LARGEST: u64 = 16 << 20;
/// The most steps of each thread of the CPU: what it makes is then still in its cache when it is taken, which writes files
/// 1.7 times as fast as batches of 16 MiB.
const STEPS_OF_A_THREAD: u64 = 2;

/// Which devices make draws, and how much memory they may take for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchConfig {
    /// The devices; batches go to them in turn.
    pub devices: Vec<Device>,
    /// Bytes for batches, on the host and on each device: two batches for each device are under way at once.
    pub memory: u64,
    /// Threads of the CPU that make draws; as many as it has cores where nothing is said.
    pub threads: Option<usize>,
}

/// Draws that cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DrawError {
    /// All turns of a draw were refused.
    #[error(transparent)]
    Turns(#[from] TurnsExhausted),
    /// Parameters that have no draws, or do not suit the shape.
    #[error(transparent)]
    Parameters(#[from] SampleError),
    /// A device or the host's memory failed.
    #[error(transparent)]
    Array(ArrayError),
    /// The memory allowed holds no batches.
    #[error(
        "{given} bytes of memory are too few for two batches of draws on each of {devices} devices: at least {least} are needed"
    )]
    Memory {
        /// The bytes allowed.
        given: u64,
        /// The bytes needed.
        least: u64,
        /// The number of devices.
        devices: usize,
    },
    /// Threads could not be started.
    #[error("cannot start threads to make draws on: {problem}")]
    Threads {
        /// What the system says.
        problem: String,
    },
    /// An array has no place for draws that are vectors.
    #[error("draws of {dimensions} numbers are the rows of a matrix with as many columns, which shape {shape} is not")]
    Rows {
        /// The numbers of a draw.
        dimensions: usize,
        /// The array's shape.
        shape: ArrayShape,
    },
    /// No device was named.
    #[error("no device was named to make draws on")]
    NoDevice,
    /// CPU and GPUs were both named.
    #[error("draws are made on the CPU or on GPUs, not on both at once: {devices} were named")]
    Mixed {
        /// Those that were named.
        devices: String,
    },
}

impl BatchConfig {
    /// Returns the draws of a batch of a type, each of so many numbers: as many as the memory allows, twice on each device.
    ///
    /// # Errors
    /// When the memory is too little, or no device was named.
    pub fn batch<T>(&self, dimensions: usize) -> Result<u64, DrawError> {
        let (devices, size) = (self.devices.len() as u64, (size_of::<T>() * dimensions) as u64);
        let step = (STEP / dimensions as u64).max(1);
        if devices == 0 {
            return Err(DrawError::NoDevice);
        }
        let most = if self.devices.contains(&Device::Cpu) {
            let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            self.threads.unwrap_or_else(cores) as u64 * STEPS_OF_A_THREAD * step
        } else {
            (LARGEST / size).max(step)
        };
        let draws = (self.memory / (2 * devices * size)).min(most) / step * step;
        if draws == 0 {
            let least = step * 2 * devices * size;
            return Err(DrawError::Memory { given: self.memory, least, devices: self.devices.len() });
        }
        Ok(draws)
    }
}

/// Makes draws `range` of a distribution and hands them to `take` in order, batch by batch, while the next are made.
/// Vectors come whole, one after the other.
///
/// `take` gets no batch twice, and stops the stream by its error.
///
/// ```
/// use octopus_array::{BatchConfig, DrawError, draw_batches};
/// use octopus_device::Device;
/// use octopus_random::{Key, VonMises};
///
/// let config = BatchConfig { devices: vec![Device::Cpu], memory: 4 << 20, threads: None };
/// let (mut count, mut sum) = (0, 0.0);
/// draw_batches(&VonMises::new(0.0, 5.0)?, Key::new(42), 0..3_000_000, &config, |batch: &[f32]| {
///     count += batch.len();
///     sum += batch.iter().map(|angle| f64::from(angle.cos())).sum::<f64>();
///     Ok::<(), DrawError>(())
/// })?;
/// assert_eq!(count, 3_000_000);
/// assert!((sum / 3e6 - 0.8934).abs() < 1e-3); // I1(5) / I0(5)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `take`'s own; when the memory allowed is too little, a device is not there or fails, or all turns of a draw were
/// refused.
pub fn draw_batches<T: Scalar, E: From<DrawError>>(
    distribution: &dyn Draw<T>,
    key: Key,
    range: Range<u64>,
    config: &BatchConfig,
    take: impl FnMut(&[T]) -> Result<(), E>,
) -> Result<(), E> {
    let batch = config.batch::<T>(distribution.dimensions())?;
    let batches = Batches { range, batch };
    if config.devices.iter().all(|device| *device == Device::Cpu) {
        return on_cpu::stream(distribution, key, batches, config.threads, take);
    }
    let gpus = config.devices.iter().map(|device| match device {
        Device::Cuda(ordinal) => Some(*ordinal),
        _ => None,
    });
    match gpus.collect::<Option<Vec<u32>>>() {
        Some(gpus) => on_gpu::stream(distribution, key, batches, &gpus, take),
        None => {
            let names: Vec<String> = config.devices.iter().map(ToString::to_string).collect();
            Err(DrawError::Mixed { devices: names.join(", ") }.into())
        }
    }
}

/// The batches of a range: each ends where a multiple of its size does, so that all but the first begin with a whole group
/// of draws.
pub(super) struct Batches {
    range: Range<u64>,
    batch: u64,
}

impl Batches {
    /// Returns the draws of a batch at the most.
    pub(super) fn most(&self) -> usize {
        self.batch.min(self.range.end.saturating_sub(self.range.start)) as usize
    }
}

impl Iterator for Batches {
    /// The number of the first draw, and how many there are.
    type Item = (u64, usize);

    fn next(&mut self) -> Option<(u64, usize)> {
        let Range { start, end } = self.range;
        if start >= end {
            return None;
        }
        let aligned = (start / self.batch + 1).saturating_mul(self.batch);
        self.range.start = aligned.min(end);
        Some((start, (self.range.start - start) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(memory: u64, devices: usize) -> BatchConfig {
        BatchConfig { devices: vec![Device::Cuda(0); devices], memory, threads: None }
    }

    #[test]
    fn batches_are_as_large_as_the_memory_allows() {
        assert_eq!(config(1 << 20, 1).batch::<f64>(1), Ok(1 << 16));
        assert_eq!(
            config((1 << 20) - 1, 1).batch::<f64>(1).unwrap_err().to_string(),
            "1048575 bytes of memory are too few for two batches of draws on each of 1 devices: at least 1048576 are needed"
        );
        assert_eq!(config(3 << 20, 2).batch::<f32>(1), Ok(3 << 16));
        assert_eq!(config(u64::MAX, 1).batch::<f32>(1), Ok(4 << 20));
        assert_eq!(config(1 << 30, 0).batch::<f32>(1), Err(DrawError::NoDevice));
        // Vectors: whole parts of 65,536 numbers, or single ones.
        assert_eq!(config(1 << 20, 1).batch::<f64>(3), Ok(21_845));
        assert_eq!(config(u64::MAX, 1).batch::<f64>(65_536), Ok(32));
        assert_eq!(config(3 << 20, 1).batch::<f64>(65_536), Ok(3));
        let on_cpu = |threads| BatchConfig { devices: vec![Device::Cpu], memory: u64::MAX, threads };
        assert_eq!(on_cpu(Some(3)).batch::<f64>(1), Ok(6 << 16));
        assert_eq!(on_cpu(Some(3)).batch::<f64>(100), Ok(6 * 655));
        assert!(on_cpu(None).batch::<f32>(1).unwrap() >= 2 << 16);
    }

    #[test]
    fn batches_are_the_range_in_order() {
        let batches = Batches { range: 70..1000, batch: 128 };
        let all: Vec<_> = batches.collect();
        assert_eq!(all[0], (70, 58));
        assert_eq!(all[1], (128, 128));
        assert_eq!(all.last(), Some(&(896, 104)));
        assert_eq!(all.iter().map(|(_, n)| n).sum::<usize>(), 930);
        assert_eq!(Batches { range: 5..5, batch: 128 }.next(), None);
        assert_eq!(Batches { range: u64::MAX - 3..u64::MAX, batch: 128 }.collect::<Vec<_>>(), [(u64::MAX - 3, 3)]);
    }
}
