//! Chains on GPUs: whole trajectories, windows and their sums are computed on the device, and what follows from the
//! sums on the host.
//!
//! Where memory does not suffice, it is here that half as many chains are tried.
//!
//! Chains' states and vectors stay on the device from launch to launch. The draws of a launch go to one of two slots;
//! while a second stream copies that slot to the host, the next launch fills the other. So the device's memory does not
//! grow with the draws.
//!
//! Chains that do not fit at once take turns: between transitions a chain is its point and a few numbers, from which
//! the device makes the rest again to the same bits. So chains may also be on several devices, and go on elsewhere when
//! one fails.

mod batch;
mod engine;
mod host;
pub(crate) mod kernel;
mod memory;
mod pace;
mod particles;
mod patience;
mod shard;
mod shares;
mod watchdog;
mod windows;

use crate::engine::GpuConfig;
use crate::engine::gpu_note::GpuNote;
use crate::engine::{Shared, Tuning};
use crate::error::SamplerError;
use octopus_cuda::NutsLaunch;
use std::ops::Range;

pub(crate) use batch::OnGpu;
pub(crate) use engine::GpuEngine;
pub use memory::GpuMemory;
pub(crate) use particles::GpuParticles;

/// Calls `attempt` with fewer and fewer chains at once until the device's memory suffices: half as many each time,
/// which is noted. Returns the result of the last attempt.
fn in_turns<R>(
    device: u32,
    mut turn: GpuConfig,
    notes: &mut Vec<GpuNote>,
    mut attempt: impl FnMut(&GpuConfig) -> Result<R, SamplerError>,
) -> Result<R, SamplerError> {
    loop {
        let cause = match attempt(&turn) {
            Err(SamplerError::Device(cause)) if cause.is_out_of_memory() => cause,
            other => return other,
        };
        let Some(next) = turn.shorter_turn() else { return Err(cause.into()) };
        notes.push(GpuNote::Turns { device, from: turn.chains_at_once, to: next.chains_at_once, cause });
        turn = next;
    }
}

/// Returns the most leapfrog steps of a chain in one iteration, or in a search for a step size: that halves 1e7 until it
/// is below 1e-12.
fn most_steps(max_depth: u32) -> f64 {
    const OF_SEARCH: f64 = 64.0;
    (2_f64.powi(max_depth as i32) - 1.0).max(OF_SEARCH)
}

/// Returns a launch of the iterations `span` of a group of chains.
fn launch(shared: &Shared<'_, '_>, group: &Range<usize>, span: Range<usize>) -> NutsLaunch {
    let config = shared.config;
    let window = &shared.windows;
    // Chains and iterations are below 2^31: `SamplerConfig::validate`.
    NutsLaunch {
        seed: config.seed,
        first_chain: group.start as u32,
        chains: group.len() as u32,
        first_iteration: span.start as u32,
        iterations: span.len() as u32,
        tune: if shared.tuning == Tuning::EachChain { config.tune as u32 } else { 0 },
        window: window.start as u32..window.end as u32,
        max_energy_error: config.max_energy_error,
        target_accept: config.target_accept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_cuda::CudaError;

    /// Half as many each time, each of which is noted, until memory suffices or there is less than one chain.
    #[test]
    fn turns_are_tried_until_one_fits() {
        let too_large = || CudaError::TooLarge { elements: 7, element_bytes: 8 };
        let turn = GpuConfig { chains_at_once: 13, ..GpuConfig::default() };
        let note = |from, to| GpuNote::Turns { device: 3, from, to, cause: too_large() };
        for (fits, expected) in
            [(20, vec![]), (5, vec![note(13, 6), note(6, 3)]), (1, vec![note(13, 6), note(6, 3), note(3, 1)])]
        {
            let mut notes = Vec::new();
            let found = in_turns(3, turn.clone(), &mut notes, |turn| {
                if turn.chains_at_once <= fits { Ok(turn.chains_at_once) } else { Err(too_large().into()) }
            });
            assert_eq!(found.unwrap(), [13, 6, 3, 1][expected.len()]);
            assert_eq!(notes, expected);
        }
        let mut notes = Vec::new();
        let none = in_turns(3, turn, &mut notes, |_| Err::<(), _>(too_large().into()));
        assert!(matches!(none, Err(SamplerError::Device(cause)) if cause == too_large()));
        assert_eq!(notes.len(), 3);
    }
}
