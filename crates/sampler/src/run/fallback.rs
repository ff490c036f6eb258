//! How a run goes on on the CPU when its last GPU fails.
//!
//! A run can begin again at any of its checkpoints, to the same bits. The CPU repeats the draws that were lost with the
//! device. During warm-up these are all draws since the last checkpoint. Later it is only the unfinished span, because
//! the host has the chains' positions before it.

use super::Sampler;
use crate::config::SamplerConfig;
use crate::engine::gpu_note::GpuNote;
use crate::engine::{Backend, GpuConfig};
use crate::engine::{ChainState, SamplerEngine};
use crate::error::SamplerError;
use crate::run::{Begin, RunState};
use octopus_cuda::CudaError;
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;

/// What the host keeps of a run on GPUs, to go on without them.
pub(super) struct Fallback {
    /// The run at its beginning or its last checkpoint.
    pub(super) begin: Begin,
    /// The chains before the span that is under way; `None` in warm-up.
    before: Option<Vec<ChainState>>,
}

impl Fallback {
    /// Keeps the beginning of a run on GPUs; `None` where the run is not to go on on the CPU, or cannot because the CPU
    /// does not compute in its precision.
    pub(super) fn of_run(begin: Begin, config: &SamplerConfig, gpu: &GpuConfig) -> Option<Self> {
        (gpu.cpu_fallback && config.precision == Precision::F64).then_some(Self { begin, before: None })
    }

    /// Keeps a checkpoint, from which the run could begin again.
    pub(super) fn keep(&mut self, checkpoint: &[u8]) {
        self.begin = Begin::GoOn(checkpoint.to_vec());
    }

    /// Keeps the chains before a span, if warm-up is over.
    pub(super) fn look(&mut self, run_state: &RunState<'_>, engine: &dyn SamplerEngine) {
        self.before = run_state.warm_up().and_then(|_| engine.states().ok());
    }

    /// Returns the state from which the run begins again, which is that after `done` iterations or an earlier one.
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub(super) fn last_begin(self, run_state: &RunState<'_>, done: usize) -> Result<Begin, SamplerError> {
        match self.before {
            // A run that has learned from the span is no longer what it was before.
            Some(states) if run_state.done() == done => run_state.encode(states).map(Begin::GoOn),
            _ => Ok(self.begin),
        }
    }
}

/// Makes a run again on the CPU that has lost its last device for this `cause`; it goes on after `done` iterations.
///
/// # Errors
/// When the density is broken.
pub(super) fn go_on<'d>(
    density: &'d dyn LogDensity,
    begin: Begin,
    done: usize,
    cause: CudaError,
) -> Result<Sampler<'d>, SamplerError> {
    let mut sampler = Sampler::begin(density, begin, Backend::Cpu)?;
    tracing::debug!(from = sampler.done(), to = done, "iterations are repeated on the CPU");
    while sampler.done() < done && sampler.advance(done - sampler.done())?.is_some() {}
    sampler.notes.push(GpuNote::LeftToCpu { cause });
    Ok(sampler)
}
