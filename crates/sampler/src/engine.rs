//! Where chains live and how they move: on the processor's threads or on a GPU. When they stop and what they learn is
//! the run's affair, and the chains of many runs may be moved together.

mod backend;
pub(crate) mod cpu;
pub(crate) mod gpu;
pub(crate) mod gpu_note;
mod host_memory;

pub use backend::{Backend, GpuConfig};
pub use gpu::GpuMemory;
pub use gpu_note::GpuNote;
pub use host_memory::least_host_memory;

use crate::adapt::{Adaptation, DualAveraging, Window, WindowPool};
use crate::config::SamplerConfig;
use crate::draw::ChainBlock;
use crate::error::SamplerError;
use crate::kernel::{Space, Tuned};
use crate::population::PopulationFindings;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What all chains share between two adaptations.
pub(crate) struct Shared<'a, 'd> {
    pub(crate) config: &'a SamplerConfig,
    pub(crate) space: &'a Space<'d>,
    pub(crate) adaptation: &'a Adaptation,
    /// Iterations done of each chain, warm-up included.
    pub(crate) done: usize,
    pub(crate) tuning: Tuning,
    /// The length of trajectories, where warm-up learns it, and their middle while it does.
    pub(crate) length: Option<f64>,
    pub(crate) center: Option<&'a [f64]>,
    /// The iterations whose draws belong to a window.
    pub(crate) windows: Range<usize>,
    /// Asked before each evaluation of a population, which takes long and is of no use until it is drawn as a whole.
    pub(crate) stop: StopAsked<'a>,
}

/// Whether drawing is to stop; any thread may ask.
pub(crate) type StopAsked<'a> = &'a (dyn Fn() -> bool + Sync);

/// Nobody stops it.
pub(crate) const NEVER: StopAsked<'static> = &|| false;

impl Shared<'_, '_> {
    /// Returns what a kernel is told of a transition of a chain with this step size.
    pub(crate) fn tuned(&self, step_size: f64) -> Tuned<'_> {
        let &Self { config, length, center, .. } = self;
        Tuned { config, step_size, length, center }
    }

    /// Returns the step size that a chain keeps when warm-up ends: what dual averaging found, where each chain has
    /// adapted its own, and otherwise the chain's `step_size` as it is.
    pub(crate) fn kept_step(&self, step_size: f64, averaging: &DualAveraging) -> f64 {
        if self.tuning == Tuning::EachChain { averaging.adapted() } else { step_size }
    }
}

/// Who adapts the step sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tuning {
    /// Each chain adapts its own, after each iteration.
    EachChain,
    /// The run adapts one for all chains, between iterations.
    Pooled,
    /// Nobody adapts them in warm-up either: the sampler's settings fix them.
    Fixed,
    /// Nobody adapts them: warm-up is over.
    Over,
}

/// All chains of a run, known by their numbers, as the state of the run sees them.
pub(crate) trait EngineChains: Send {
    /// Returns the draws of all chains in the open window.
    fn pool(&mut self) -> Box<dyn WindowPool + '_>;

    /// Forgets the draws of the window.
    fn clear_windows(&mut self);

    /// Returns the chains' points in the sampler's coordinates; whoever changes one calls for a
    /// [restart](SamplerEngine::restart) next.
    fn points(&mut self) -> Vec<&mut [f64]>;

    /// Gives all chains this step size.
    ///
    /// # Errors
    /// When the device fails.
    fn set_step(&mut self, step: f64) -> Result<(), SamplerError>;

    /// Makes `each` chains of every one, at the same point and with the same step size.
    ///
    /// # Errors
    /// When the device fails.
    fn spread(&mut self, shared: &Shared<'_, '_>, each: usize) -> Result<(), SamplerError>;

    /// Ends warm-up: windows are no longer needed, and each chain keeps the [step size](Shared::kept_step) that it is to
    /// sample with.
    ///
    /// # Errors
    /// When the device fails.
    fn settle(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError>;

    /// Returns each chain's step size.
    fn step_sizes(&self) -> Vec<f64>;

    /// Returns everything that another engine needs to go on.
    ///
    /// # Errors
    /// When the device fails.
    fn states(&self) -> Result<Vec<ChainState>, SamplerError>;
}

/// An engine moves the chains of one run.
pub(crate) trait SamplerEngine: EngineChains {
    /// Moves every chain through `span`, which begins at [`Shared::done`] and which no adaptation interrupts. Returns
    /// the draws in order of the chains. Draws of an open window are added to the chains' windows.
    fn advance(&mut self, shared: &Shared<'_, '_>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError>;

    /// Evaluates every chain's point in coordinates and metric that are new, searches a step size there, and begins
    /// dual averaging with it.
    fn restart(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError>;

    /// Returns what a population that is drawn tells of itself.
    fn findings(&self) -> Option<PopulationFindings> {
        None
    }

    /// Returns what has happened to several devices since the last call.
    fn take_notes(&mut self) -> Vec<GpuNote> {
        Vec::new()
    }
}

/// A chain as a checkpoint stores it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ChainState {
    /// The point in the sampler's coordinates.
    pub(crate) x: Vec<f64>,
    /// The log density at `x`. Another density of the same name and size has another value there.
    pub(crate) logp: f64,
    pub(crate) averaging: DualAveraging,
    pub(crate) step_size: f64,
    pub(crate) window: Window,
}

impl ChainState {
    /// Makes a chain at its starting point, of which nothing else is known yet but a step size to search from.
    pub(crate) fn start(x: Vec<f64>, target_accept: f64, step_size: f64) -> Self {
        let averaging = DualAveraging::new(step_size, target_accept);
        Self { x, logp: 0.0, averaging, step_size, window: Window::default() }
    }

    /// Checks that the log density where the chain goes on is the one that it was left with.
    pub(crate) fn expect_same_logp(&self, chain: usize, logp: f64) -> Result<(), SamplerError> {
        if logp.to_bits() == self.logp.to_bits() {
            return Ok(());
        }
        Err(SamplerError::Checkpoint(format!(
            "at chain {chain}'s point the log density was {} and is {logp} now: the data, the priors or the version of \
             the density differ",
            self.logp
        )))
    }
}
