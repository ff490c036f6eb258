//! The runs of many data sets, wherever their chains are.

use super::{BegunRun, RunState};
use crate::draw::Block;
use crate::engine::ChainState;
use crate::engine::gpu_note::GpuNote;
use crate::error::SamplerError;
use crate::run::Sampler;
use octopus_density::gpu::Precision;

/// What one data set's run has done in one [`BatchSampler::advance`](crate::BatchSampler::advance).
#[derive(Debug)]
pub struct BatchStep {
    /// The number of the data set, counted from 0 in the order given to
    /// [`BatchSampler::begin`](crate::BatchSampler::begin).
    pub set: usize,
    /// The draws, or why the run has ended for good.
    pub block: Result<Block, SamplerError>,
}

/// The runs of a batch, wherever their chains are.
pub(crate) trait Runs<'d>: Send {
    /// Moves the data sets: see [`BatchSampler::advance`](crate::BatchSampler::advance).
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<BatchStep>>, SamplerError>;

    fn run_state(&self, set: usize) -> Option<&RunState<'d>>;

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>>;

    /// Returns the chains of a run that is under way.
    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError>;

    /// Returns what has happened to the devices: see [`BatchSampler::take_notes`].
    fn take_notes(&mut self) -> Vec<GpuNote> {
        Vec::new()
    }

    /// Returns the runs as they stand, none of them under way, to go on on the CPU.
    fn leave(self: Box<Self>) -> Vec<SetStatus<'d, Sampler<'d>>>;
}

/// How the run of a data set stands.
pub(crate) enum SetStatus<'d, R> {
    /// The turn of the data set has not come.
    Waiting(BegunRun<'d>),
    /// The run is under way.
    Going(R),
    /// All draws are drawn, with these step sizes.
    Complete(RunState<'d>, Vec<f64>),
    /// The run has failed, for this reason; `None` once the reason has been told.
    Failed(Option<SamplerError>),
}

impl<'d, R> SetStatus<'d, R> {
    /// Returns whether the CPU could sample the data set, as far as its precision tells.
    pub(crate) fn is_for_cpu(&self) -> bool {
        !matches!(self, Self::Waiting(waiting) if waiting.run_state.config.precision != Precision::F64)
    }

    /// Returns the status elsewhere, where a run that is under way here waits for its turn as `leave` says.
    pub(crate) fn leave<S>(self, leave: impl FnOnce(R) -> BegunRun<'d>) -> SetStatus<'d, S> {
        match self {
            Self::Waiting(prepared) => SetStatus::Waiting(prepared),
            Self::Going(run) => SetStatus::Waiting(leave(run)),
            Self::Complete(run_state, steps) => SetStatus::Complete(run_state, steps),
            Self::Failed(reason) => SetStatus::Failed(reason),
        }
    }
}
