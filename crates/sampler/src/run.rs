//! A run: chains that move together from window to window.

use crate::adaptation::{Adaptation, Window, initial_centerings, initial_metric, learn};
use crate::chain::{Chain, Shared, advance_together};
use crate::config::{ConfigError, SamplerConfig};
use crate::draw::{Block, Phase};
use crate::metric::Metric;
use crate::schedule::Schedule;
use crate::space::Space;
use crate::step_size::{DualAveraging, find_reasonable};
use crate::tree::{Address, Point, Workspace};
use crate::vector::Vectors;
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
}

/// NUTS over several chains. Call [`advance`](Self::advance) until it returns `None`.
///
/// The draws depend on the density and the configuration only: not on threads, on how many iterations each
/// call asks for, nor on whether the run was interrupted and [resumed](Self::resume).
pub struct Sampler<'d, D: ?Sized> {
    config: SamplerConfig,
    schedule: Schedule,
    vectors: Vectors,
    space: Space<'d, D>,
    adaptation: Adaptation,
    metric: Metric,
    chains: Vec<Chain>,
    /// Iterations done, warm-up included.
    done: usize,
}

impl<'d, D: LogDensity + ?Sized> Sampler<'d, D> {
    /// Chains at their starting points.
    ///
    /// # Errors
    /// When a setting is out of range or no starting point has a finite density.
    pub fn new(density: &'d D, config: SamplerConfig) -> Result<Self, SamplerError> {
        config.validate()?;
        let dim = density.dim();
        let vectors = Vectors::new(dim);
        let space = Space::new(density, initial_centerings(density, config.parameterization));
        let starts: Vec<(Vec<f64>, Vec<f64>)> =
            (0..config.chains).into_par_iter().map(|c| starting_point(&space, &config, c)).collect::<Result<_, _>>()?;
        let gradients: Vec<Vec<f64>> = starts.iter().map(|(_, gradient)| gradient.clone()).collect();
        let adaptation = Adaptation {
            centerings: space.centerings().to_vec(),
            metric: initial_metric(config.metric, dim, &gradients),
        };
        let metric = Metric::new(&adaptation.metric);
        let chains = starts
            .into_iter()
            .map(|(x, _)| Chain {
                point: Point { x: octopus_density::warp::Buffer::from_slice(&x), ..Point::zeros(dim) },
                averaging: DualAveraging::new(1.0, config.target_accept),
                step_size: 1.0,
                window: Window::default(),
                workspace: Workspace::new(dim),
            })
            .collect();
        let schedule = Schedule::new(config.tune, config.windows);
        let mut sampler = Self { config, schedule, vectors, space, adaptation, metric, chains, done: 0 };
        sampler.restart_step_sizes()?;
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
        self.chains.iter().map(|chain| chain.step_size).collect()
    }

    /// Iterations done of each chain, warm-up included.
    pub fn done(&self) -> usize {
        self.done
    }

    pub(crate) fn density(&self) -> &'d D {
        self.space.density
    }

    pub(crate) fn chains(&self) -> &[Chain] {
        &self.chains
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
        let shared = Shared {
            config: &self.config,
            schedule: &self.schedule,
            vectors: &self.vectors,
            space: &self.space,
            metric: &self.metric,
        };
        let chains = advance_together(&shared, &mut self.chains, span.clone())?;
        let (phase, first) =
            if self.done < tune { (Phase::Warmup, self.done) } else { (Phase::Sampling, self.done - tune) };
        self.done = until;
        if self.schedule.ends_at(until) && until <= tune {
            self.close_window()?;
        }
        if until == tune {
            for chain in &mut self.chains {
                chain.step_size = chain.averaging.adapted();
                chain.window = Window::default();
            }
        }
        Ok(Some(Block { phase, first, draws: span.len(), chains }))
    }

    /// Learns coordinates and metric from the window of all chains, and starts the next.
    fn close_window(&mut self) -> Result<(), SamplerError> {
        let mut windows: Vec<&mut Window> = self.chains.iter_mut().map(|chain| &mut chain.window).collect();
        let density = self.space.density;
        let config = &self.config;
        if let Some(adaptation) = learn(density, config.metric, config.parameterization, config.seed, &mut windows) {
            let next = Space::new(density, adaptation.centerings.clone());
            for chain in &mut self.chains {
                let x = &mut chain.point.x[..density.dim()];
                self.space.make_natural(x);
                next.make_centered(x);
            }
            self.space = next;
            self.metric = Metric::new(&adaptation.metric);
            self.adaptation = adaptation;
            self.restart_step_sizes()?;
        }
        for chain in &mut self.chains {
            chain.window.clear();
        }
        Ok(())
    }

    /// Evaluates each chain's point in the current coordinates and metric and searches a step size there.
    fn restart_step_sizes(&mut self) -> Result<(), SamplerError> {
        let (space, metric, vectors, config, done) =
            (&self.space, &self.metric, &self.vectors, &self.config, self.done);
        self.chains.par_iter_mut().enumerate().try_for_each(|(c, chain)| {
            let address = Address { seed: config.seed, chain: c as u32, iteration: done as u32 };
            let failed = |source| SamplerError::Density { chain: c, iteration: done, source };
            chain.point.evaluate(space, metric, vectors, &mut chain.workspace.scratch).map_err(failed)?;
            let guess = find_reasonable(
                space,
                metric,
                vectors,
                address,
                &chain.point,
                chain.averaging.current(),
                &mut chain.workspace,
            )
            .map_err(failed)?;
            chain.averaging = DualAveraging::new(guess, config.target_accept);
            chain.step_size = guess;
            Ok(())
        })
    }

    /// The whole state as bytes, for [`resume`](Self::resume).
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub fn checkpoint(&self) -> Result<Vec<u8>, SamplerError> {
        let dim = self.space.density.dim();
        let state = State {
            density: self.space.density.name().to_owned(),
            dim,
            config: self.config.clone(),
            adaptation: self.adaptation.clone(),
            done: self.done,
            chains: self
                .chains
                .iter()
                .map(|chain| ChainState {
                    x: chain.point.x[..dim].to_vec(),
                    logp: chain.point.logp,
                    averaging: chain.averaging.clone(),
                    step_size: chain.step_size,
                    window: chain.window.clone(),
                })
                .collect(),
        };
        postcard::to_stdvec(&state).map_err(|error| SamplerError::Checkpoint(error.to_string()))
    }

    /// A run as it was at [`checkpoint`](Self::checkpoint): it goes on to the same bits.
    ///
    /// # Errors
    /// When the bytes are damaged or belong to another density.
    pub fn resume(density: &'d D, bytes: &[u8]) -> Result<Self, SamplerError> {
        let state: State = postcard::from_bytes(bytes).map_err(|error| SamplerError::Checkpoint(error.to_string()))?;
        let dim = density.dim();
        let config = state.config;
        config.validate()?;
        let blocks: Vec<usize> = density.hierarchies().iter().map(|block| block.z.len()).collect();
        let lambdas: Vec<usize> = state.adaptation.centerings.iter().map(|c| c.lambda().len()).collect();
        let consistent = state.density == density.name()
            && state.dim == dim
            && state.chains.len() == config.chains
            && state.chains.iter().all(|chain| chain.x.len() == dim)
            && state.adaptation.metric.diagonal.len() == dim
            && state.adaptation.metric.directions.iter().all(|u| u.len() == dim)
            && lambdas == blocks
            && state.done <= config.tune + config.draws;
        if !consistent {
            return Err(SamplerError::Checkpoint(format!(
                "it is of '{}' with {} coordinates, the density is '{}' with {dim}",
                state.density,
                state.dim,
                density.name()
            )));
        }
        let vectors = Vectors::new(dim);
        let space = Space::new(density, state.adaptation.centerings.clone());
        let metric = Metric::new(&state.adaptation.metric);
        let chains = state
            .chains
            .into_iter()
            .enumerate()
            .map(|(c, saved)| {
                let mut workspace = Workspace::new(dim);
                let mut point = Point { x: octopus_density::warp::Buffer::from_slice(&saved.x), ..Point::zeros(dim) };
                point
                    .evaluate(&space, &metric, &vectors, &mut workspace.scratch)
                    .map_err(|source| SamplerError::Density { chain: c, iteration: state.done, source })?;
                if point.logp.to_bits() != saved.logp.to_bits() {
                    return Err(SamplerError::Checkpoint(format!(
                        "at chain {c}'s point the log density was {} and is {} now: the data, the priors or the \
                         version of the density differ",
                        saved.logp, point.logp
                    )));
                }
                Ok(Chain {
                    point,
                    averaging: saved.averaging,
                    step_size: saved.step_size,
                    window: saved.window,
                    workspace,
                })
            })
            .collect::<Result<Vec<Chain>, SamplerError>>()?;
        let schedule = Schedule::new(config.tune, config.windows);
        Ok(Self { config, schedule, vectors, space, adaptation: state.adaptation, metric, chains, done: state.done })
    }
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

#[derive(Serialize, Deserialize)]
struct ChainState {
    x: Vec<f64>,
    /// The log density there: another density of the same name and size has another.
    logp: f64,
    averaging: DualAveraging,
    step_size: f64,
    window: Window,
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
