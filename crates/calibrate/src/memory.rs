//! What calibrations and sweeps take of the host's memory at least, before they take it.

use crate::quantities::{Coordinates, Quantities};
use crate::{CalibratedSet, CalibrationSettings, GewekeSettings, SequenceMoment};
use octopus_density::LogDensity;
use octopus_sampler::{SamplerConfig, least_host_memory};

/// The bytes of a list of draws beside the draws: its place in the list of chains, and what the allocator adds.
const LIST: u64 = 40;
/// The bytes of an observation of a simulated data set: its value, and its place in the density.
const OBSERVATION: u64 = 24;
/// The copies of what is found: as it came, sorted and judged, and as text on its way to the disk.
const COPIES: u64 = 3;

fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |all, &factor| all.saturating_mul(factor))
}

/// Returns the bytes of `at_work` data sets like `density` while they are sampled: their chains, where these are
/// `on_cpu`, and their draws.
pub fn at_work_bytes(density: &dyn LogDensity, settings: &CalibrationSettings, at_work: usize, on_cpu: bool) -> u64 {
    let sampler = &settings.sampler;
    let quantities = Quantities::of(density.layout()).names.len() as u64;
    let of_chain = product(&[8, sampler.draws as u64]).saturating_add(LIST);
    let draws = product(&[quantities, sampler.chains as u64, of_chain]);
    let chains = if on_cpu { least_host_memory(sampler, density.dim()) } else { 0 };
    let data = product(&[OBSERVATION, density.observations() as u64]);
    product(&[at_work as u64, chains.saturating_add(draws).saturating_add(data)])
}

/// Returns the bytes of what is found of so many data sets like `density`.
pub fn found_bytes(density: &dyn LogDensity, data_sets: u32) -> u64 {
    let quantities = Quantities::of(density.layout()).names.len() as u64;
    let one = size_of::<CalibratedSet>() as u64 + 8 * quantities;
    product(&[data_sets.into(), COPIES, one])
}

/// Returns the bytes of Geweke's test: the chains that learn on each of `threads` threads, and all sequences.
pub fn geweke_bytes(density: &dyn LogDensity, settings: &GewekeSettings, threads: usize) -> u64 {
    let chains = product(&[threads as u64, least_host_memory(&settings.sampler, density.dim())]);
    let moments = 2 * Coordinates::of(density.layout()).names.len() as u64;
    let one = 2 * LIST + moments * (8 + size_of::<SequenceMoment>() as u64);
    chains.saturating_add(product(&[settings.sequences as u64, COPIES, one]))
}

/// Returns the bytes of a sweep on so many threads, each with a run of its own that keeps the draws of all quantities.
pub fn sweep_bytes(density: &dyn LogDensity, sampler: &SamplerConfig, threads: usize) -> u64 {
    let quantities = density.layout().width() as u64 + 1;
    let draws = product(&[8, quantities, sampler.chains as u64, sampler.draws as u64]);
    product(&[threads as u64, draws.saturating_add(least_host_memory(sampler, density.dim()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;

    #[test]
    fn what_cannot_be_counted_is_very_much() {
        let schools = EightSchools::rubin();
        let most = SamplerConfig { chains: usize::MAX, draws: usize::MAX, ..SamplerConfig::default() };
        let settings = CalibrationSettings { seed: 0, kept: 9, sampler: most.clone() };
        assert_eq!(sweep_bytes(&schools, &most, 4), u64::MAX);
        assert_eq!(at_work_bytes(&schools, &settings, 1, false), u64::MAX);
        let geweke = GewekeSettings { seed: 0, sequences: 8, steps: 4, sampler: most, false_alarm: 1e-3 };
        assert_eq!(geweke_bytes(&schools, &geweke, 1), u64::MAX);
    }

    /// Eight schools have eight observations, ten quantities that are ranked, and seven coordinates with their squares. A
    /// moment of a sequence is a mean and a sum of squares, beside the mean of the prior.
    #[test]
    fn bytes_by_hand() {
        let schools = EightSchools::rubin();
        let sampler = SamplerConfig { chains: 2, draws: 30, tune: 50, ..SamplerConfig::default() };
        let chains = least_host_memory(&sampler, 10);
        let settings = CalibrationSettings { seed: 0, kept: 9, sampler: sampler.clone() };
        let of_set = 10 * 2 * (8 * 30 + 40) + 24 * 8;
        assert_eq!(at_work_bytes(&schools, &settings, 3, false), 3 * of_set);
        assert_eq!(at_work_bytes(&schools, &settings, 3, true), 3 * (of_set + chains));
        assert_eq!(found_bytes(&schools, 5), 5 * 3 * (size_of::<CalibratedSet>() as u64 + 8 * 10));
        let geweke = GewekeSettings { seed: 0, sequences: 9, steps: 4, sampler, false_alarm: 1e-3 };
        assert_eq!(geweke_bytes(&schools, &geweke, 2), 2 * chains + 9 * 3 * (2 * 40 + 14 * (8 + 16)));
    }

    /// Eight schools have 19 quantities: mu, tau, theta and theta_trans of eight each, and the log density.
    #[test]
    fn each_thread_keeps_the_draws_of_its_run() {
        let (schools, sampler) = (EightSchools::rubin(), SamplerConfig { tune: 0, ..SamplerConfig::default() });
        let of = |draws, threads| sweep_bytes(&schools, &SamplerConfig { draws, ..sampler.clone() }, threads);
        assert_eq!(of(1000, 1) - of(0, 1), 8 * 19 * 1000 * sampler.chains as u64);
        assert_eq!(of(1000, 3), 3 * of(1000, 1));
        assert_eq!(found_bytes(&schools, 20), 20 * found_bytes(&schools, 1));
    }
}
