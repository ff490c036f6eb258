//! A run: chains that move together from window to window.

use crate::adaptation::{Adaptation, initial_centerings, initial_metric, learn};
use crate::config::{ConfigError, SamplerConfig};
use crate::cpu::CpuEngine;
use crate::draw::{Block, Phase};
use crate::engine::{ChainState, Engine, Shared};
use crate::gpu::{GpuConfig, GpuEngine};
use crate::schedule::Schedule;
use crate::space::Space;
use crate::tree::Address;
use octopus_cuda::{Context, CudaError};
use octopus_density::gpu::{GpuDensity, KernelTextError, Precision};
use octopus_density::{DensityError, LogDensity};
use octopus_random::Purpose;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Starting points tried before a run gives up.
const INIT_TRIES: usize = 100;

/// Why a run cannot start or go on.
#[derive(Debug, Error)]
pub enum SamplerError {
    /// A setting is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No starting point with a finite density was found.
    #[error(
        "chain {chain}: no starting point with a finite log density in {INIT_TRIES} tries within +-{radius} of the \
         density's center ({last}): check the data and the priors, or make init_radius smaller"
    )]
    Init {
        /// The chain.
        chain: usize,
        /// `init_radius` of the settings.
        radius: f64,
        /// What the density said last.
        last: DensityError,
    },
    /// The density reported that it is broken.
    #[error("chain {chain}, iteration {iteration}: {source}")]
    Density {
        /// The chain.
        chain: usize,
        /// The iteration, warm-up included.
        iteration: usize,
        /// What the density said.
        source: DensityError,
    },
    /// A checkpoint cannot be read or belongs to another run.
    #[error("the checkpoint cannot be used: {0}")]
    Checkpoint(String),
    /// The GPU, its driver or its memory failed.
    #[error("the GPU failed: {0}")]
    Device(#[from] CudaError),
    /// There are no kernels for the density.
    #[error(
        "no GPU kernel for '{density}' with {dim} coordinates in {precision}: {why}; use the CPU, or another precision"
    )]
    NoKernel {
        /// The density.
        density: String,
        /// Its coordinates.
        dim: usize,
        /// What was to be computed in.
        precision: Precision,
        /// What is missing.
        why: String,
    },
    /// Draws to expand, or a choice of them, that cannot be the density's.
    #[error("the draws cannot be expanded: {0}")]
    Draws(String),
    /// The kernels in this program are damaged.
    #[error(transparent)]
    KernelText(#[from] KernelTextError),
}

/// NUTS over several chains. Call [`advance`](Self::advance) until it returns `None`.
///
/// The draws depend on the density and the configuration only: not on threads, on how many iterations each
/// call asks for, nor on whether the run was interrupted and [resumed](Self::resume). In f64 they are the same on the
/// CPU and on a GPU, also when a run moves from one to the other.
pub struct Sampler<'d, D: ?Sized> {
    config: SamplerConfig,
    schedule: Schedule,
    space: Space<'d, D>,
    adaptation: Adaptation,
    engine: Box<dyn Engine<D> + 'd>,
    /// Iterations done, warm-up included.
    done: usize,
}

impl<'d, D: LogDensity + ?Sized> Sampler<'d, D> {
    /// Chains at their starting points, on the CPU.
    ///
    /// # Errors
    /// When a setting is out of range or no starting point has a finite density.
    pub fn new(density: &'d D, config: SamplerConfig) -> Result<Self, SamplerError> {
        config.validate()?;
        on_cpu(&config)?;
        Self::start(density, config, |_, states| Ok(Box::new(CpuEngine::new(density.dim(), states))))
    }

    /// Chains at their starting points, on a GPU.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`SamplerError::NoKernel`] when the density has no kernels for the precision and the
    /// number of coordinates; [`SamplerError::Device`] when the device or its memory fails.
    pub fn on_gpu(
        density: &'d D,
        config: SamplerConfig,
        context: &Context,
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError>
    where
        D: GpuDensity,
    {
        config.validate()?;
        Self::start(density, config, |config, states| {
            Ok(Box::new(GpuEngine::new(density, config, context, gpu, states)?))
        })
    }

    /// Chains at their starting points, on the engine that `engine` makes of their states.
    pub(crate) fn start(
        density: &'d D,
        config: SamplerConfig,
        engine: impl FnOnce(&SamplerConfig, Vec<ChainState>) -> Result<Box<dyn Engine<D> + 'd>, SamplerError>,
    ) -> Result<Self, SamplerError> {
        let space = Space::new(density, initial_centerings(density, config.parameterization));
        let starts: Vec<(Vec<f64>, Vec<f64>)> =
            (0..config.chains).into_par_iter().map(|c| starting_point(&space, &config, c)).collect::<Result<_, _>>()?;
        let gradients: Vec<Vec<f64>> = starts.iter().map(|(_, gradient)| gradient.clone()).collect();
        let adaptation = Adaptation {
            centerings: space.centerings().to_vec(),
            metric: initial_metric(config.metric, density.dim(), &gradients),
        };
        let states = starts.into_iter().map(|(x, _)| ChainState::start(x, config.target_accept)).collect();
        let engine = engine(&config, states)?;
        let schedule = Schedule::new(config.tune, config.windows);
        let mut sampler = Self { config, schedule, space, adaptation, engine, done: 0 };
        sampler.restart()?;
        Ok(sampler)
    }

    /// The settings of the run.
    pub fn config(&self) -> &SamplerConfig {
        &self.config
    }

    /// What warm-up has learned so far.
    pub fn adaptation(&self) -> &Adaptation {
        &self.adaptation
    }

    /// Each chain's step size.
    pub fn step_sizes(&self) -> Vec<f64> {
        self.engine.step_sizes()
    }

    /// Iterations done of each chain, warm-up included.
    pub fn done(&self) -> usize {
        self.done
    }

    pub(crate) fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        self.engine.states()
    }

    /// Moves every chain by at most `limit` iterations (fewer where a window or warm-up ends) and returns the
    /// draws; `None` when the run is complete. Chains run in parallel on the current rayon pool.
    ///
    /// # Errors
    /// When the density is broken.
    pub fn advance(&mut self, limit: usize) -> Result<Option<Block>, SamplerError> {
        let tune = self.config.tune;
        let total = tune + self.config.draws;
        if self.done == total {
            return Ok(None);
        }
        let boundary = self.schedule.next_end(self.done).unwrap_or(if self.done < tune { tune } else { total });
        let until = boundary.min(self.done.saturating_add(limit.max(1)));
        let span = self.done..until;
        let (engine, shared) = self.parts();
        let chains = engine.advance(&shared, span.clone())?;
        let (phase, first) =
            if self.done < tune { (Phase::Warmup, self.done) } else { (Phase::Sampling, self.done - tune) };
        self.done = until;
        if self.schedule.ends_at(until) && until <= tune {
            self.close_window()?;
        }
        if until == tune {
            self.engine.settle()?;
        }
        Ok(Some(Block { phase, first, draws: span.len(), chains }))
    }

    /// The engine, and what its chains share.
    fn parts(&mut self) -> (&mut dyn Engine<D>, Shared<'_, 'd, D>) {
        let Self { config, schedule, space, adaptation, engine, done } = self;
        (engine.as_mut(), Shared { config, schedule, space, adaptation, done: *done })
    }

    /// Learns coordinates and metric from the window of all chains, and starts the next.
    fn close_window(&mut self) -> Result<(), SamplerError> {
        let density = self.space.density;
        let config = &self.config;
        let learned = learn(density, config.metric, config.parameterization, config.seed, self.engine.pool().as_mut())?;
        if let Some(adaptation) = learned {
            let next = Space::new(density, adaptation.centerings.clone());
            for x in self.engine.points() {
                self.space.make_natural(x);
                next.make_centered(x);
            }
            self.space = next;
            self.adaptation = adaptation;
            self.restart()?;
        }
        self.engine.clear_windows();
        Ok(())
    }

    /// Evaluates each chain's point in the current coordinates and metric and searches a step size there.
    fn restart(&mut self) -> Result<(), SamplerError> {
        let (engine, shared) = self.parts();
        engine.restart(&shared)
    }

    /// The whole state as bytes, for [`resume`](Self::resume).
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub fn checkpoint(&self) -> Result<Vec<u8>, SamplerError> {
        let density = self.space.density;
        let state = State {
            density: density.name().to_owned(),
            dim: density.dim(),
            config: self.config.clone(),
            adaptation: self.adaptation.clone(),
            done: self.done,
            chains: self.engine.states()?,
        };
        postcard::to_stdvec(&state).map_err(|error| SamplerError::Checkpoint(error.to_string()))
    }

    /// A run as it was at [`checkpoint`](Self::checkpoint), wherever that was made, on the CPU: it goes on to the same
    /// bits.
    ///
    /// # Errors
    /// When the bytes are damaged or belong to another density.
    pub fn resume(density: &'d D, bytes: &[u8]) -> Result<Self, SamplerError> {
        Self::go_on(density, bytes, |shared, states| {
            on_cpu(shared.config)?;
            Ok(Box::new(CpuEngine::resume(shared, states)?))
        })
    }

    /// As [`resume`](Self::resume), on a GPU.
    ///
    /// # Errors
    /// As [`resume`](Self::resume) and [`on_gpu`](Self::on_gpu).
    pub fn resume_on_gpu(density: &'d D, bytes: &[u8], context: &Context, gpu: &GpuConfig) -> Result<Self, SamplerError>
    where
        D: GpuDensity,
    {
        Self::go_on(density, bytes, |shared, states| {
            let mut engine = GpuEngine::new(density, shared.config, context, gpu, states)?;
            engine.resume(shared)?;
            Ok(Box::new(engine))
        })
    }

    /// A run as it was at a checkpoint, on the engine that `engine` makes of its chains' states.
    pub(crate) fn go_on(
        density: &'d D,
        bytes: &[u8],
        engine: impl FnOnce(&Shared<'_, 'd, D>, Vec<ChainState>) -> Result<Box<dyn Engine<D> + 'd>, SamplerError>,
    ) -> Result<Self, SamplerError> {
        let State { config, adaptation, done, chains, .. } = State::read(density, bytes)?;
        let schedule = Schedule::new(config.tune, config.windows);
        let space = Space::new(density, adaptation.centerings.clone());
        let shared = Shared { config: &config, schedule: &schedule, space: &space, adaptation: &adaptation, done };
        let engine = engine(&shared, chains)?;
        Ok(Self { config, schedule, space, adaptation, engine, done })
    }
}

/// The CPU's engine computes in f64.
fn on_cpu(config: &SamplerConfig) -> Result<(), ConfigError> {
    if config.precision == Precision::F64 {
        return Ok(());
    }
    let value = config.precision.to_string();
    Err(ConfigError { field: "precision", value, expected: "the CPU computes in f64; other precisions need a GPU" })
}

#[derive(Serialize, Deserialize)]
struct State {
    density: String,
    dim: usize,
    config: SamplerConfig,
    adaptation: Adaptation,
    done: usize,
    chains: Vec<ChainState>,
}

impl State {
    /// # Errors
    /// When the bytes are damaged or belong to another density.
    fn read<D: LogDensity + ?Sized>(density: &D, bytes: &[u8]) -> Result<Self, SamplerError> {
        let state: Self = postcard::from_bytes(bytes).map_err(|error| SamplerError::Checkpoint(error.to_string()))?;
        let dim = density.dim();
        state.config.validate()?;
        let blocks: Vec<usize> = density.hierarchies().iter().map(|block| block.z.len()).collect();
        let lambdas: Vec<usize> = state.adaptation.centerings.iter().map(|c| c.lambda().len()).collect();
        let metric = &state.adaptation.metric;
        let consistent = state.density == density.name()
            && state.dim == dim
            && state.chains.len() == state.config.chains
            && state.chains.iter().all(|chain| chain.x.len() == dim)
            && metric.diagonal.len() == dim
            && metric.directions.len() == metric.variances.len()
            && metric.directions.iter().all(|u| u.len() == dim)
            && lambdas == blocks
            && state.done <= state.config.tune + state.config.draws;
        if consistent {
            return Ok(state);
        }
        Err(SamplerError::Checkpoint(format!(
            "it is of '{}' with {} coordinates, the density is '{}' with {dim}",
            state.density,
            state.dim,
            density.name()
        )))
    }
}

/// A point within `init_radius` of the density's center with a finite density, and the gradient there.
fn starting_point<D: LogDensity + ?Sized>(
    space: &Space<'_, D>,
    config: &SamplerConfig,
    chain: usize,
) -> Result<(Vec<f64>, Vec<f64>), SamplerError> {
    let dim = space.density.dim();
    let center = space.density.center().unwrap_or_else(|| vec![0.0; dim]);
    let mut random = Address { seed: config.seed, chain: chain as u32, iteration: 0 }.stream(Purpose::Init);
    let mut last = DensityError::NotFinite { value: f64::NAN };
    for _ in 0..INIT_TRIES {
        let mut x: Vec<f64> = center.iter().map(|c| c + config.init_radius * (2.0 * random.uniform() - 1.0)).collect();
        space.make_centered(&mut x);
        let mut gradient = vec![0.0; dim];
        match space.logp_grad(&x, &mut gradient) {
            Ok(_) if gradient.iter().all(|g| g.is_finite()) => return Ok((x, gradient)),
            Ok(_) => {}
            Err(error) if error.is_recoverable() => last = error,
            Err(source) => return Err(SamplerError::Density { chain, iteration: 0, source }),
        }
    }
    Err(SamplerError::Init { chain, radius: config.init_radius, last })
}
