//! Populations as runs: all draws are there at once, and are handed out as draws of chains.

use super::ParticlePopulation;
use super::evaluate::{ParticleStreams, SamplerCoordinates};
use super::importance::{ImportanceConfig, ImportanceProposal, importance_in, importance_of_given};
use super::pathfinder::{PathfinderConfig, pathfinder_in};
use super::smc::{SmcConfig, SmcSize, smc_in};
use super::weights::shuffle;
use crate::adapt::{HostPool, WindowPool};
use crate::config::{ConfigError, SamplerConfig};
use crate::draw::{ChainBlock, DrawStats};
use crate::engine::gpu::GpuParticles;
use crate::engine::gpu_note::GpuNote;
use crate::engine::{ChainState, EngineChains, SamplerEngine, Shared};
use crate::error::SamplerError;
use crate::run::plan::Stage;
use serde::Serialize;
use std::ops::Range;

/// What a population tells of itself, for the record of its run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopulationFindings {
    /// The number of particles.
    pub particles: usize,
    /// Gradients that were computed.
    pub evaluations: u64,
    /// The logarithm of the density's integral.
    pub log_evidence: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The draws that the particles are worth by their weights.
    pub ess: f64,
    /// The shape of the tail of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto_k: Option<f64>,
    /// Why draws and evidence cannot be relied on; `None` where they can, as far as the method tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A population with the particles that are the draws of each chain.
pub(crate) struct DrawnPopulation {
    population: ParticlePopulation,
    chains: Vec<Vec<usize>>,
    /// Whether particles that were moved have moved freely.
    mixed: bool,
}

impl DrawnPopulation {
    /// Takes particles by their weights.
    fn resampled(population: ParticlePopulation, config: &SamplerConfig) -> Result<Self, SamplerError> {
        let chosen = population.resample(config.chains * config.draws, config.seed)?;
        let chains = chosen.chunks(config.draws).map(<[usize]>::to_vec).collect();
        Ok(Self { population, chains, mixed: true })
    }

    fn findings(&self) -> PopulationFindings {
        let ParticlePopulation { evidence, ess, pareto_k, evaluations, .. } = self.population;
        let doubt = match pareto_k {
            Some(k) if !self.population.is_reliable() => Some(format!(
                "Pareto k of the weights is {k:.2}, above 0.7 or what so few particles can bear: neither the draws nor the \
                 evidence can be relied on"
            )),
            _ if !self.mixed => Some(
                "the particles have not moved freely: between modes, or in a narrow place; the error of the evidence is \
                 larger than it says"
                    .to_owned(),
            ),
            _ => None,
        };
        PopulationFindings {
            particles: self.population.particles(),
            evaluations,
            log_evidence: evidence.log_evidence,
            standard_error: evidence.standard_error,
            ess,
            pareto_k,
            doubt,
        }
    }
}

/// What a run has for its method.
#[derive(Default)]
pub(crate) struct PopulationMeans {
    /// The devices that evaluate particles; the CPU does where there are none.
    pub(crate) gpus: Option<GpuParticles>,
    /// The particles, for a method that is [given](PopulationMethod::takes_particles) them.
    pub(crate) particles: Option<Vec<Vec<f64>>>,
}

/// A method that draws a population for a run.
pub(crate) trait PopulationMethod: Send {
    /// Draws the population.
    fn draw(
        &self,
        coordinates: &SamplerCoordinates<'_>,
        config: &SamplerConfig,
        means: &mut PopulationMeans,
    ) -> Result<DrawnPopulation, SamplerError>;

    /// Checks the method's settings.
    fn validate(&self) -> Result<(), ConfigError>;

    /// Returns about what a run costs: how many particles are evaluated side by side, and how often.
    fn stage(&self, config: &SamplerConfig) -> Stage {
        Stage { chains: config.chains, steps: config.draws as f64, transitions: config.draws }
    }

    /// Returns whether GPUs can evaluate its particles.
    fn is_on_gpu(&self) -> bool {
        false
    }

    /// Returns whether a run is given its particles, as starting points.
    fn takes_particles(&self) -> bool {
        false
    }
}

impl PopulationMethod for ImportanceConfig {
    fn draw(
        &self,
        coordinates: &SamplerCoordinates<'_>,
        config: &SamplerConfig,
        means: &mut PopulationMeans,
    ) -> Result<DrawnPopulation, SamplerError> {
        let population = if self.takes_particles() {
            importance_of_given(coordinates, means.particles.as_deref())?
        } else {
            importance_in(coordinates, means.gpus.as_mut(), self, config.seed)?
        };
        DrawnPopulation::resampled(population, config)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        Self::validate(self)
    }

    /// Pilots are at most as many as the particles.
    fn stage(&self, _config: &SamplerConfig) -> Stage {
        Stage { chains: self.particles, steps: 2.0, transitions: 2 }
    }

    /// Kernels know no likelihood apart from the prior.
    fn is_on_gpu(&self) -> bool {
        !self.takes_particles()
    }

    fn takes_particles(&self) -> bool {
        self.proposal == ImportanceProposal::Prior
    }
}

impl PopulationMethod for PathfinderConfig {
    fn draw(
        &self,
        coordinates: &SamplerCoordinates<'_>,
        config: &SamplerConfig,
        _means: &mut PopulationMeans,
    ) -> Result<DrawnPopulation, SamplerError> {
        DrawnPopulation::resampled(pathfinder_in(coordinates, self, config.seed)?, config)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        Self::validate(self)
    }
}

impl PopulationMethod for SmcConfig {
    /// Each chain is a repetition, and each of its draws a particle, in random order.
    fn draw(
        &self,
        coordinates: &SamplerCoordinates<'_>,
        config: &SamplerConfig,
        _means: &mut PopulationMeans,
    ) -> Result<DrawnPopulation, SamplerError> {
        let size = SmcSize { repetitions: config.chains, particles: config.draws };
        let found = smc_in(coordinates, self, size, config.seed)?;
        let of_chain = |chain: usize| {
            let mut numbers: Vec<usize> = (chain * config.draws..(chain + 1) * config.draws).collect();
            shuffle(&mut numbers, &mut ParticleStreams::new(config.seed, chain).shared(u32::MAX as usize));
            numbers
        };
        let mixed = found.mixed();
        Ok(DrawnPopulation { population: found.population, chains: (0..config.chains).map(of_chain).collect(), mixed })
    }

    fn validate(&self) -> Result<(), ConfigError> {
        Self::validate(self)
    }
}

/// The engine of a run that draws a population: at the first [`advance`](SamplerEngine::advance), also of a run that goes
/// on from a checkpoint, and then to the same particles.
pub(crate) struct PopulationEngine {
    method: Box<dyn PopulationMethod>,
    means: PopulationMeans,
    /// Starting points, by whose log density a checkpoint knows its density.
    states: Vec<ChainState>,
    drawn: Option<DrawnPopulation>,
}

impl PopulationEngine {
    /// Makes the engine of a run that begins, or `goes_on`.
    ///
    /// # Errors
    /// When the log density at the starting points of a run that goes on is not what it was.
    pub(crate) fn new(
        (method, means): (Box<dyn PopulationMethod>, PopulationMeans),
        shared: &Shared<'_, '_>,
        states: Vec<ChainState>,
        goes_on: bool,
    ) -> Result<Self, SamplerError> {
        let mut engine = Self { method, means, states, drawn: None };
        if goes_on {
            let before = engine.states.clone();
            engine.restart(shared)?;
            let mut each = before.iter().zip(&engine.states).enumerate();
            each.try_for_each(|(chain, (saved, now))| saved.expect_same_logp(chain, now.logp))?;
        }
        Ok(engine)
    }
}

impl EngineChains for PopulationEngine {
    fn pool(&mut self) -> Box<dyn WindowPool + '_> {
        Box::new(HostPool { windows: vec![], dim: 0 })
    }

    fn clear_windows(&mut self) {}

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.states.iter_mut().map(|state| &mut state.x[..]).collect()
    }

    fn set_step(&mut self, _step: f64) -> Result<(), SamplerError> {
        Ok(())
    }

    fn spread(&mut self, _shared: &Shared<'_, '_>, _each: usize) -> Result<(), SamplerError> {
        Ok(())
    }

    fn settle(&mut self, _shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        Ok(())
    }

    fn step_sizes(&self) -> Vec<f64> {
        Vec::new()
    }

    fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        Ok(self.states.clone())
    }
}

impl SamplerEngine for PopulationEngine {
    fn advance(&mut self, shared: &Shared<'_, '_>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        let drawn = match &mut self.drawn {
            Some(drawn) => drawn,
            none => {
                let coordinates = SamplerCoordinates::new(shared.space.density).stopped_by(shared.stop);
                none.insert(self.method.draw(&coordinates, shared.config, &mut self.means)?)
            }
        };
        let DrawnPopulation { population, chains, .. } = drawn;
        let block = |chain: &Vec<usize>| {
            let mut block = ChainBlock::default();
            for &particle in &chain[span.clone()] {
                block.positions.extend_from_slice(population.position(particle));
                let (lp, log_weight) = (population.logp[particle], population.log_weights[particle]);
                block.stats.push(DrawStats { lp, log_weight, ..DrawStats::default() });
            }
            block
        };
        Ok(chains.iter().map(block).collect())
    }

    fn restart(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        let mut gradient = vec![0.0; shared.space.dim];
        for (chain, state) in self.states.iter_mut().enumerate() {
            state.logp = shared.space.logp_grad(&state.x, &mut gradient).map_err(|source| SamplerError::Density {
                chain,
                iteration: 0,
                source,
            })?;
        }
        Ok(())
    }

    fn take_notes(&mut self) -> Vec<GpuNote> {
        self.means.gpus.as_mut().map(GpuParticles::take_notes).unwrap_or_default()
    }

    fn findings(&self) -> Option<PopulationFindings> {
        self.drawn.as_ref().map(DrawnPopulation::findings)
    }
}
