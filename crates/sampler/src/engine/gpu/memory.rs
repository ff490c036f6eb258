//! Predicts what a run takes of a device's memory, by the same arithmetic that allocates it.
//!
//! How many iterations of a launch fit the buffers (slots) is decided here.

use super::particles::as_chains;
use super::windows::Room;
use super::{GpuConfig, kernel};
use crate::adapt::MAX_RANK;
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
    pub fn of_run(density: &dyn LogDensity, config: &SamplerConfig, gpu: &GpuConfig) -> Result<Self, SamplerError> {
        let density = kernel::of_density(density, config)?;
        let of_particles = config.algorithm.draws_population().then(|| as_chains(config));
        let config = of_particles.as_ref().unwrap_or(config);
        let format = kernel::format(kernel::choose(density, config)?);
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
        let center = config.algorithm.kernel().and_then(|kernel| kernel.first_length(dim)).map_or(0, |_| vector);
        let chain = (format.state_bytes() + format.workspace_bytes(config.max_depth)) as u64;
        let team = kernel::team_work(density).map_or(0, |work| work.bytes(format, chains));
        let room = density.room().unwrap_or_default();
        let chain = chain + room.numbers as u64 * element;
        Ok(Self {
            data: kernel::fields(density).iter().map(field).sum(),
            shared: center
                + room.inputs as u64 * element
                + vector
                + directions * (vector + format.scalar.bytes() as u64),
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

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_cuda::Float;
    use octopus_models::synthetic::HierarchicalSpec;
    use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};

    /// Of a linear function of the iterations, the most whose value is not above the room.
    #[test]
    fn as_many_iterations_as_fit() {
        let gpu = |most_iterations| GpuConfig { most_iterations, ..GpuConfig::default() };
        let most = |room, most| most_iterations(room, &gpu(most), |n| Some(100 + 7 * n));
        assert_eq!((most(134, 1000), most(135, 1000), most(141, 1000), most(142, 1000)), (4, 5, 5, 6));
        assert_eq!((most(1_000_000, 12), most(1_000_000, 1), most(1_000_000, 0)), (12, 1, 1));
        assert_eq!((most(0, 1000), most(106, 1000), most(113, 1000), most(114, 1000)), (1, 1, 1, 2));
        assert_eq!(most_iterations(50, &gpu(1000), Some), 50);
        assert_eq!(most_iterations(50, &gpu(1000), |_| Some(30)), 20, "no matter how many");
        assert_eq!(most_iterations(50, &gpu(1000), |_| None), 1);
    }

    fn format() -> NutsFormat {
        NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 1 }
    }

    /// An eighth of the draws, at least as many as 1 MiB holds, and at most as many as a slot does: 152 bytes are a draw of 11
    /// coordinates with its statistics, and 160 are a chain's state and point; 72 and 80 those of one coordinate.
    #[test]
    fn slots_hold_an_eighth_of_the_draws() {
        for (chains, dim, draws, slot_bytes, iterations) in [
            (2000, 11, 8, 16 << 20, 2),
            (2000, 11, 80, 16 << 20, 10),
            (2000, 11, 81, 16 << 20, 11),
            (2000, 11, 88, 16 << 20, 11),
            (2000, 11, 4000, 4 << 20, 12),
            (2048, 1, 8, 16 << 20, 6),
        ] {
            let gpu = GpuConfig { slot_bytes, ..GpuConfig::default() };
            assert_eq!(slot_iterations(format(), (chains, dim), draws, &gpu), iterations, "{chains} {dim} {draws}");
        }
    }

    #[test]
    fn slots_of_a_batch_are_twice_as_large() {
        let items = [3, 1, 7].map(|chains| NutsBatchItem { fields: &[], chains, dim: 11 });
        for slot_bytes in [10_000, 20_000, 40_000, 100_000] {
            let gpu = GpuConfig { slot_bytes, ..GpuConfig::default() };
            let fits = |n: &usize| NutsBatchSlot::bytes_for(format(), &items, *n).unwrap() <= 2 * slot_bytes;
            let expected = (1..1024).take_while(fits).last().unwrap_or(1);
            assert!(expected > 1 && expected < 1023);
            assert_eq!(batch_slot_iterations(format(), &items, &gpu), expected, "{slot_bytes}");
        }
    }

    /// Each part by hand, of a model of 8 groups: a vector is a row of 32 numbers.
    #[test]
    fn parts_of_a_run_by_hand() {
        let data = HierarchicalSpec { groups: 8, ..Default::default() }.unbalanced().unwrap().data;
        let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).unwrap();
        let kernels = model.kernels().unwrap();
        let vector = 32 * 8;
        let data: usize = kernels
            .kernel_data()
            .iter()
            .map(|field| match field {
                KernelField::Word(_) | KernelField::Scalar(_) => 0,
                KernelField::PerCoordinate(_) => vector,
                KernelField::Reals(values) => 8 * values.len(),
                KernelField::Words(words) => 4 * words.len(),
            })
            .sum();
        let config = SamplerConfig { chains: 3, draws: 80, ..SamplerConfig::default() };
        let of = |chains_at_once, window_bytes| {
            let gpu = GpuConfig { chains_at_once, window_bytes, ..GpuConfig::default() };
            GpuMemory::of_run(&model, &config, &gpu).unwrap()
        };
        let found = of(usize::MAX, 1 << 30);
        assert_eq!((found.data, found.shared), (data as u64, (vector + 12 * (vector + 8)) as u64));
        // All that a draw has: its point, and where warm-up learns point and gradient; and its statistics.
        let slot = NutsSlot::bytes_for(format(), 3, 11, slot_iterations(format(), (3, 11), 80, &GpuConfig::default()));
        assert_eq!(found.slots, 2 * slot.unwrap() as u64);
        let one = of(1, 1 << 30);
        assert_eq!((found.chains, one.windows, of(usize::MAX, 0).windows), (3 * one.chains, 0, 0));
        assert_eq!(of(0, 0), of(1, 0), "not even one chain at once is one after the other");
        assert!(found.windows > 0);
        assert_eq!(found.total(), found.data + found.shared + found.chains + found.slots + found.windows);
    }
}
