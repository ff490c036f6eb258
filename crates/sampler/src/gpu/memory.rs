//! Predicts what a run takes of a device's memory, by the same arithmetic that allocates it.
//!
//! How many iterations of a launch fit the buffers (slots) is decided here.

use super::windows::Room;
use super::{GpuConfig, kernel};
use crate::adaptation::MAX_RANK;
use crate::config::SamplerConfig;
use crate::error::SamplerError;
use octopus_cuda::{NutsBatchItem, NutsBatchSlot, NutsFormat, NutsSlot};
use octopus_density::LogDensity;
use octopus_density::gpu::KernelField;

/// Directions that a metric may have.
pub(super) const MOST_DIRECTIONS: usize = MAX_RANK;

/// The most bytes of device memory that a run takes on one device; draws that have left the device do not count. With
/// several devices, each has room for its share of the chains, and none for windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuMemory {
    /// Bytes of what the density reads.
    pub data: u64,
    /// Bytes of the metric, which all chains share.
    pub shared: u64,
    /// Bytes of each chain's state and vectors, and of what blocks that share a chain tell each other, for all chains
    /// that are on the device at once.
    pub chains: u64,
    /// Bytes of the two buffers through which draws leave the device.
    pub slots: u64,
    /// Bytes of the draws that warm-up learns from, until warm-up ends; 0 if the host learns.
    pub windows: u64,
}

impl GpuMemory {
    /// Computes what a run of `density` with these settings takes.
    ///
    /// # Errors
    /// [`SamplerError::NoKernel`] when no kernel is compiled for it.
    pub fn of_run<D: LogDensity + ?Sized>(
        density: &D,
        config: &SamplerConfig,
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError> {
        let density = kernel::of_density(density, config.precision)?;
        let format = kernel::format(kernel::choose(density, config.precision)?);
        let (element, vector) = (format.element.bytes() as u64, (format.vector() * format.element.bytes()) as u64);
        let field = |field: &KernelField<'_>| match field {
            KernelField::Word(_) | KernelField::Scalar(_) => 0,
            KernelField::PerCoordinate(_) => vector,
            KernelField::Reals(values) => values.len() as u64 * element,
            KernelField::Words(words) => 4 * words.len() as u64,
        };
        let (chains, dim) = (config.chains.min(gpu.chains_at_once.max(1)), density.dim());
        let slot = NutsSlot::bytes_for(format, chains, dim, slot_iterations(format, (chains, dim), config.draws, gpu));
        let directions = MOST_DIRECTIONS as u64;
        let chain = (format.state_bytes() + format.workspace_bytes(config.max_depth)) as u64;
        let team = kernel::team_work(density).map_or(0, |work| work.bytes(format, chains));
        Ok(Self {
            data: kernel::fields(density).iter().map(field).sum(),
            shared: vector + directions * (vector + format.scalar.bytes() as u64),
            chains: (chains as u64).saturating_mul(chain).saturating_add(team as u64),
            slots: slot.map_or(u64::MAX, |bytes| (bytes as u64).saturating_mul(2)),
            windows: Room::for_windows(config, gpu, dim).map_or(0, |room| room.bytes as u64),
        })
    }

    /// Returns the sum of all parts, in bytes.
    pub fn total(&self) -> u64 {
        [self.shared, self.chains, self.slots, self.windows]
            .iter()
            .fold(self.data, |sum, &bytes| sum.saturating_add(bytes))
    }
}

/// A run's draws are taken to the host in so many launches at least, if not in [`LEAST_SLOT`]: memory of the host that
/// serves a few launches only is not worth the time that it takes to lock.
const PARTS_OF_RUN: usize = 8;
/// Bytes of a slot that cost little.
const LEAST_SLOT: usize = 1 << 20;

/// Returns the iterations of all `chains` of `dim` coordinates whose draws fit a slot, for a run of `draws` draws.
pub(super) fn slot_iterations(
    format: NutsFormat,
    (chains, dim): (usize, usize),
    draws: usize,
    gpu: &GpuConfig,
) -> usize {
    let fit = |bytes| most_iterations(bytes, gpu, |n| NutsSlot::fetched_bytes_for(format, chains, dim, n));
    fit(gpu.slot_bytes).min(draws.div_ceil(PARTS_OF_RUN).max(fit(LEAST_SLOT)))
}

/// Returns the most iterations of a launch of many data sets together whose draws fit a slot.
pub(super) fn batch_slot_iterations(format: NutsFormat, items: &[NutsBatchItem<'_>], gpu: &GpuConfig) -> usize {
    most_iterations(gpu.slot_bytes.saturating_mul(2), gpu, |iterations| {
        NutsBatchSlot::bytes_for(format, items, iterations)
    })
}

fn most_iterations(room: usize, gpu: &GpuConfig, bytes: impl Fn(usize) -> Option<usize>) -> usize {
    let bytes = |iterations| bytes(iterations).unwrap_or(usize::MAX);
    let (none, one) = (bytes(0), bytes(1));
    let fit = room.saturating_sub(none) / (one - none).max(1);
    fit.clamp(1, gpu.most_iterations.max(1))
}
