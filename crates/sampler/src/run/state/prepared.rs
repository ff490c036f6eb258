//! A run before its first step.

use super::{PendingSteps, RunState};
use crate::config::SamplerConfig;
use crate::engine::ChainState;
use crate::error::SamplerError;
use crate::run::Starts;
use octopus_density::LogDensity;

/// Where a run begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Begin {
    /// The run begins at starting points, with these settings.
    Anew(SamplerConfig),
    /// The run begins with these settings where these starts are. They are the particles of a population that
    /// [takes them](crate::Algorithm::takes_particles); a run of its checkpoint begins here, too, and draws the same again.
    At(SamplerConfig, Starts),
    /// The run goes on from the bytes that [`Sampler::checkpoint`](crate::Sampler::checkpoint) or
    /// [`BatchSampler::checkpoint`](crate::BatchSampler::checkpoint) returned.
    GoOn(Vec<u8>),
}

/// A run that nobody has moved yet.
pub(crate) struct BegunRun<'d> {
    pub(crate) run_state: RunState<'d>,
    pub(crate) states: Vec<ChainState>,
    /// The particles that a population is given.
    pub(crate) particles: Option<Vec<Vec<f64>>>,
    /// What must happen first: chains at their starting points search step sizes, chains of a checkpoint go on.
    pub(crate) due: PendingSteps,
}

impl<'d> BegunRun<'d> {
    /// # Errors
    /// When the settings or the checkpoint cannot be used, or there is no starting point.
    pub(crate) fn new(density: &'d dyn LogDensity, begin: &Begin) -> Result<Self, SamplerError> {
        let is_new = !matches!(begin, Begin::GoOn(_));
        let mut particles = None;
        let (run_state, states) = match begin {
            Begin::Anew(config) => {
                config.validate()?;
                RunState::start(density, config.clone())?
            }
            Begin::At(config, Starts::Points(points)) if config.algorithm.takes_particles() => {
                config.validate()?;
                particles = Some(points.clone());
                RunState::start(density, config.clone())?
            }
            Begin::At(config, starts) => {
                config.validate()?;
                RunState::start_at(density, config.clone(), Some(starts))?
            }
            Begin::GoOn(bytes) => RunState::decode(density, bytes)?,
        };
        Ok(Self { run_state, states, particles, due: PendingSteps { restart: is_new, spread: false } })
    }
}
