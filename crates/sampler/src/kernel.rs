//! Kernels: the samplers that move chains, each a file, and the phase space that they move in between two adaptations.
//!
//! A kernel is a plain function over plain state: a chain's state is its [`Point`], and what a transition tells is a
//! [`DrawStats`]. Nothing here knows what a run is, or how metric and step size are learned.

mod address;
mod algorithm;
mod chees;
mod hmc;
mod initial_step;
mod mams;
mod metric;
mod nuts;
mod phase_space;
mod space;
mod state;
mod vector;
mod walnuts;
mod workspace;

pub(crate) use address::Address;
pub use algorithm::Algorithm;
pub(crate) use algorithm::Method;
pub use chees::Chees;
pub use hmc::Hmc;
pub(crate) use hmc::Trajectories;
pub(crate) use initial_step::find_reasonable;
pub use mams::Mams;
pub(crate) use metric::Metric;
pub use metric::MetricEstimate;
pub(crate) use nuts::{Nuts, NutsSettings, transition};
pub(crate) use phase_space::PhaseSpace;
pub(crate) use space::Space;
pub(crate) use state::{Point, State, StateMut};
pub(crate) use vector::Vectors;
pub use walnuts::Walnuts;
pub(crate) use workspace::Workspace;

use crate::config::{ConfigError, SamplerConfig};
use crate::draw::DrawStats;
use octopus_density::DensityError;

/// What a run tells a kernel of a transition.
#[derive(Clone, Copy)]
pub(crate) struct Tuned<'a> {
    pub(crate) config: &'a SamplerConfig,
    /// The chain's step size.
    pub(crate) step_size: f64,
    /// The mean length of trajectories, where warm-up learns it.
    pub(crate) length: Option<f64>,
    /// Where warm-up learns the length now: the middle of the chains, in the sampler's coordinates.
    pub(crate) center: Option<&'a [f64]>,
}

/// A sampler that moves a chain from point to point.
pub(crate) trait Kernel: Send + Sync {
    /// Moves `point`, whose log density and force are known, by one transition; where the density is broken, it stays.
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError>;

    /// Returns the names of the statistics that it reports.
    fn statistics(&self) -> &'static [&'static str];

    /// Returns about how many leapfrog steps a draw of a density of `dim` coordinates costs, once it is well adapted.
    fn leapfrogs(&self, dim: usize) -> f64;

    /// Returns the target of acceptance that suits it.
    fn target_accept(&self) -> f64;

    /// Returns the step size that no warm-up changes.
    fn fixed_step(&self) -> Option<f64> {
        None
    }

    /// Returns how many times as long as a leapfrog step of as good an acceptance its steps are about.
    fn steps_of_leapfrog(&self, _dim: usize) -> f64 {
        1.0
    }

    /// Returns the smallest number of coordinates that it moves in.
    fn least_dim(&self) -> usize {
        1
    }

    /// Returns the mean length of trajectories with which warm-up begins to learn it.
    fn first_length(&self, _dim: usize) -> Option<f64> {
        None
    }

    /// Returns whether its chains may warm up together unasked: it has been judged so, and learns nothing but a metric and a
    /// step size.
    fn warms_up_across_chains(&self) -> bool {
        false
    }

    /// Checks its settings.
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Returns how far its trajectories go, `length` being the learned mean, where nothing else sets it apart from
    /// [`hmc`]: GPUs have kernels for those.
    fn trajectories(&self, _length: Option<f64>) -> Option<Trajectories> {
        None
    }

    /// Returns whether there are kernels for GPUs, with the bits of this one.
    fn is_on_gpu(&self) -> bool {
        self.trajectories(None).is_some()
    }
}
