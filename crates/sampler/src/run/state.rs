//! The state of a run, wherever its chains are.
//!
//! It finds starting points, says how far chains go until they are looked at, what they learn then, and when warm-up is
//! over, and makes the bytes of a checkpoint.

mod coordinates;
mod effect_forms;
mod gradient;
mod prepared;
mod status;

pub use prepared::Begin;
pub(crate) use prepared::BegunRun;
pub use status::BatchStep;
pub(crate) use status::{Runs, SetStatus};

use crate::adapt::{
    Adaptation, LearnedInformation, PooledStep, SPREADING, Schedule, TrajectoryLength, WindowVariance, are_alike,
    are_mixed, block_sizes, centerings, initial_metric, is_learned, learn,
};
use crate::config::{ConfigError, INIT_CANDIDATES, INIT_STEEPNESS, INIT_TRIES, SamplerConfig};
use crate::draw::{ChainBlock, Phase};
use crate::engine::{ChainState, EngineChains, NEVER, Shared, Tuning};
use crate::error::SamplerError;
use crate::kernel::{Address, Algorithm, Space};
use crate::population::{SamplerCoordinates, approach};
use crate::run::{PointAndGradient, Starts, because, jittered_start};
use coordinates::are_centerings;
use octopus_density::{DensityError, LogDensity};
use octopus_random::Purpose;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The settings of a run and where it stands; the chains are kept elsewhere.
pub(crate) struct RunState<'d> {
    config: SamplerConfig,
    schedule: Schedule,
    space: Space<'d>,
    adaptation: Adaptation,
    /// What chains that warm up together have seen; `None` for chains that warm up each for itself.
    pooled: Option<Pooled>,
    /// The length of trajectories, for a sampler that learns it.
    length: Option<TrajectoryLength>,
    /// Iterations done, warm-up included.
    done: usize,
    /// Iterations of warm-up, once it is over.
    warm_up: Option<usize>,
}

/// The state of chains that warm up together, many short ones or all of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pooled {
    step: PooledStep,
    stage: Stage,
}

/// How far chains that warm up together have come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// They learn a metric from the draws of the open window. Each has a step size of its own until the
    /// chains of a window have agreed: on their way there, what suits one throws another far off.
    Learning { window: WindowVariance, agree: bool },
    /// They have learned their metric, after this number of iterations. With superchains each chain has become several,
    /// which move apart; chains that all learn find a step size for the metric, each its own.
    Settled(usize),
}

/// What must happen before chains go on, in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingSteps {
    /// [`SamplerEngine::restart`](crate::engine::SamplerEngine::restart), then [`RunState::restarted`].
    pub(crate) restart: bool,
    /// [`RunState::spread`].
    pub(crate) spread: bool,
}

impl<'d> RunState<'d> {
    /// Returns the beginning, with the chains at their starting points; [`PendingSteps::restart`] is due.
    pub(crate) fn start(
        density: &'d dyn LogDensity,
        config: SamplerConfig,
    ) -> Result<(Self, Vec<ChainState>), SamplerError> {
        Self::start_at(density, config, None)
    }

    /// Returns the beginning at these starts; without any, around the density's center.
    pub(crate) fn start_at(
        density: &'d dyn LogDensity,
        config: SamplerConfig,
        starts: Option<&Starts>,
    ) -> Result<(Self, Vec<ChainState>), SamplerError> {
        if starts.is_some() && config.algorithm.draws_population() {
            let (value, expected) =
                (config.algorithm.name().to_owned(), "a population has no chains that start anywhere");
            return Err(ConfigError { field: "algorithm", value, expected }.into());
        }
        if density.dim() < config.algorithm.least_dim() {
            let value = config.algorithm.name().to_owned();
            return Err(ConfigError {
                field: "algorithm",
                value,
                expected: "it needs a density of 2 coordinates or more",
            }
            .into());
        }
        let kernel = config.algorithm.kernel();
        let length = kernel.and_then(|kernel| kernel.first_length(density.dim())).map(TrajectoryLength::new);
        let space = Space::new(density, centerings(density, config.parameterization));
        let first = config.first_chains();
        let warm = match starts {
            Some(Starts::Warm(warm)) => Some(warm),
            _ => None,
        };
        let starts: Vec<PointAndGradient> = match starts {
            Some(starts) => starts.points(&space, &config, first)?,
            None => {
                let coordinates = SamplerCoordinates::of(density, config.parameterization);
                let start = |chain| approach(&coordinates, chain, starting_point(&space, &config, chain)?);
                (0..first).into_par_iter().map(start).collect::<Result<_, _>>()?
            }
        };
        gradient::check_starts(&space, starts.iter().map(|(x, _)| &x[..]))?;
        let gradients: Vec<Vec<f64>> = starts.iter().map(|(_, gradient)| gradient.clone()).collect();
        let adaptation = Adaptation {
            centerings: space.centerings().to_vec(),
            metric: initial_metric(config.metric, density.dim(), &gradients),
            learned: Vec::new(),
        };
        let step_size = warm.and_then(|warm| warm.step_size).unwrap_or(1.0);
        let start = |(x, _)| ChainState::start(x, config.target_accept, step_size);
        let mut states: Vec<ChainState> = starts.into_iter().map(start).collect();
        let schedule = Schedule::of(&config);
        let pooled = config.warms_up_together().then(|| Pooled {
            step: PooledStep::new(first),
            stage: Stage::Learning { window: WindowVariance::new(first, density.dim()), agree: false },
        });
        let warm_up = (config.tune == 0 || config.algorithm.draws_population()).then_some(0);
        let mut begun = Self { config, schedule, space, adaptation, pooled, length, done: 0, warm_up };
        if let Some(warm) = warm {
            begun.take_over(warm, &mut states)?;
        }
        Ok((begun, states))
    }

    pub(crate) fn config(&self) -> &SamplerConfig {
        &self.config
    }

    pub(crate) fn adaptation(&self) -> &Adaptation {
        &self.adaptation
    }

    pub(crate) fn length(&self) -> Option<f64> {
        self.length.as_ref().map(TrajectoryLength::current)
    }

    pub(crate) fn done(&self) -> usize {
        self.done
    }

    pub(crate) fn warm_up(&self) -> Option<usize> {
        self.warm_up
    }

    pub(crate) fn density(&self) -> &'d dyn LogDensity {
        self.space.density
    }

    /// Returns whether all draws are drawn.
    pub(crate) fn is_complete(&self) -> bool {
        self.next(1).is_none()
    }

    /// Returns what an engine needs to know.
    pub(crate) fn shared(&self) -> Shared<'_, 'd> {
        let Self { config, space, adaptation, done, .. } = self;
        let tuning = match (self.warm_up, self.stage()) {
            (Some(_), _) => Tuning::Over,
            (None, _) if config.algorithm.kernel().is_some_and(|kernel| kernel.fixed_step().is_some()) => Tuning::Fixed,
            (None, None | Some(Stage::Learning { agree: false, .. })) => Tuning::EachChain,
            (None, Some(_)) if config.nested().is_none() => Tuning::EachChain,
            (None, Some(_)) => Tuning::Pooled,
        };
        let windows = if self.learns() { self.schedule.windows() } else { 0..0 };
        let length = self.length();
        let center = self.length.as_ref().filter(|_| self.warm_up.is_none()).and_then(TrajectoryLength::center);
        Shared { config, space, adaptation, done: *done, tuning, length, center, windows, stop: NEVER }
    }

    /// Returns the iterations that are next: at most `limit`; `None` when the run is complete.
    pub(crate) fn next(&self, limit: usize) -> Option<Range<usize>> {
        let stop = match self.warm_up {
            Some(warm_up) => warm_up + self.config.draws,
            None => self.next_stop(),
        };
        let until = stop.min(self.done.saturating_add(limit.max(1)));
        (self.done < stop).then_some(self.done..until)
    }

    /// Returns the iteration at which warm-up next looks at the chains.
    fn next_stop(&self) -> usize {
        let stop = match (self.stage(), self.config.nested()) {
            (Some(&Stage::Settled(since)), None) => Some(since + self.config.windows.term_buffer),
            (Some(&Stage::Settled(since)), Some(_)) => Some(self.done + SPREADING - (self.done - since) % SPREADING),
            (Some(Stage::Learning { agree: true, .. }), Some(_)) => self.schedule.round_end(self.done),
            _ => self.schedule.next_end(self.done),
        };
        let round = self.length.as_ref().map(|_| TrajectoryLength::round_end(self.done));
        [stop, round].into_iter().flatten().fold(self.config.tune, usize::min)
    }

    fn stage(&self) -> Option<&Stage> {
        self.pooled.as_ref().map(|pooled| &pooled.stage)
    }

    /// Returns whether a window is open or to come.
    fn learns(&self) -> bool {
        self.warm_up.is_none() && !self.has_settled()
    }

    /// Returns the phase of an iteration, and its number in that phase.
    pub(crate) fn place(&self, iteration: usize) -> (Phase, usize) {
        match self.warm_up {
            Some(warm_up) => (Phase::Sampling, iteration - warm_up),
            None => (Phase::Warmup, iteration),
        }
    }

    /// Takes the draws of chains that now stand at iteration `until`, and learns from them what there is to learn.
    pub(crate) fn take(
        &mut self,
        chains: &[ChainBlock],
        until: usize,
        engine: &mut dyn EngineChains,
    ) -> Result<PendingSteps, SamplerError> {
        let (stop, tuning, had_settled) = (self.next_stop(), self.shared().tuning, self.has_settled());
        let from = std::mem::replace(&mut self.done, until);
        if tuning == Tuning::Over {
            return Ok(PendingSteps::default());
        }
        if let Some(length) = &mut self.length {
            length.add(chains);
            if until == stop {
                let points = engine.points();
                length.learn(&points.iter().map(|x| &**x).collect::<Vec<_>>());
            }
        }
        let before = self.schedule.windows().start.saturating_sub(from);
        if let Some(Pooled { step, stage }) = &mut self.pooled {
            if let Stage::Learning { window, .. } = stage {
                window.add(chains, before);
            }
            if tuning == Tuning::Pooled {
                step.add(chains);
                if until == stop {
                    step.learn(self.config.target_accept);
                    engine.set_step(step.current())?;
                }
            }
        }
        let next = if self.learns() && self.schedule.ends_at(until) {
            self.close_window(engine)?
        } else {
            PendingSteps::default()
        };
        if until == self.config.tune || until == stop && had_settled && self.has_spread(engine) {
            engine.settle(&self.shared())?;
            let all_learn = had_settled && self.config.nested().is_none();
            if let Some(pooled) = self.pooled.as_mut().filter(|_| all_learn) {
                // The mean of all step sizes is better known than each, and chains that agree can share it.
                pooled.step.find(&engine.step_sizes());
                engine.set_step(pooled.step.current())?;
            }
            self.warm_up = Some(until);
        }
        Ok(next)
    }

    /// Returns whether chains have learned their metric.
    fn has_settled(&self) -> bool {
        matches!(self.stage(), Some(Stage::Settled(_)))
    }

    /// Returns whether none of the chains remember that they began together, as those of a superchain do.
    fn has_spread(&self, engine: &mut dyn EngineChains) -> bool {
        let (chains, first) = (self.config.chains, self.config.first_chains());
        let points: Vec<&[f64]> = engine.points().into_iter().map(|x| &*x).collect();
        chains == first || are_mixed(&points, first)
    }

    /// Updates the state after a restart: every chain has a new point evaluation and a newly searched step size.
    pub(crate) fn restarted(&mut self, engine: &mut dyn EngineChains) -> Result<(), SamplerError> {
        if let Some(length) = &mut self.length {
            length.forget_center();
        }
        let tuning = self.shared().tuning;
        if let Some(pooled) = self.pooled.as_mut().filter(|_| tuning == Tuning::Pooled) {
            pooled.step.find(&engine.step_sizes());
            engine.set_step(pooled.step.current())?;
        }
        Ok(())
    }

    /// Learns a metric from the window of all chains, and starts the next.
    fn close_window(&mut self, engine: &mut dyn EngineChains) -> Result<PendingSteps, SamplerError> {
        let density = self.space.density;
        let config = &self.config;
        let mut learned = learn(config.metric, density.dim(), config.seed, engine.pool().as_mut())?;
        let mut next = PendingSteps::default();
        let mut settled = false;
        if let Some(pooled) = &mut self.pooled {
            let empty = WindowVariance::new(config.first_chains(), density.dim());
            if let Stage::Learning { window, agree } = &mut pooled.stage {
                let agrees = if config.nested().is_some() { window.agrees() } else { window.agrees_closely() };
                let agreed = std::mem::replace(agree, agrees);
                let alike = learned.as_ref().is_some_and(|learned| are_alike(&self.adaptation.metric, learned));
                settled = agreed && *agree && alike;
                *window = empty;
            }
            next.spread = config.nested().is_some() && (settled || self.schedule.is_past_windows(self.done));
        }
        if !settled && let Some(metric) = self.change_coordinates(engine)? {
            learned = Some(metric);
        }
        engine.clear_windows();
        if settled && next.spread {
            // The step size is found for the metric that is in use, and the new one is no better.
            return Ok(next);
        }
        if let Some(metric) = learned {
            self.adaptation.metric = metric;
            next.restart = true;
        }
        if let Some(pooled) = self.pooled.as_mut().filter(|_| settled) {
            // The new one is from twice as many draws.
            pooled.stage = Stage::Settled(self.done);
        }
        Ok(next)
    }

    /// Makes several chains of each.
    pub(crate) fn spread(&mut self, engine: &mut dyn EngineChains) -> Result<(), SamplerError> {
        let (chains, first) = (self.config.chains, self.config.first_chains());
        let tuning = self.shared().tuning;
        if let Some(pooled) = &mut self.pooled {
            if tuning == Tuning::EachChain {
                pooled.step.find(&engine.step_sizes());
                engine.set_step(pooled.step.current())?;
            }
            pooled.stage = Stage::Settled(self.done);
            pooled.step.of_chains(chains);
        }
        engine.spread(&self.shared(), chains / first)
    }

    /// Encodes the whole state, chains included, as bytes.
    pub(crate) fn encode(&self, chains: Vec<ChainState>) -> Result<Vec<u8>, SamplerError> {
        let density = self.space.density;
        let state = CheckpointState {
            density: density.name().to_owned(),
            dim: density.dim(),
            config: self.config.clone(),
            adaptation: self.adaptation.clone(),
            pooled: self.pooled.clone(),
            length: None,
            done: self.done,
            warm_up: self.warm_up,
            chains,
        };
        let bad = |error: postcard::Error| SamplerError::Checkpoint(error.to_string());
        let mut bytes = postcard::to_stdvec(&state).map_err(bad)?;
        // What most runs do not learn stands last, and is left out there.
        let of_sampler = (self.config.algorithm != Algorithm::Nuts)
            .then(|| OfSampler { algorithm: self.config.algorithm.clone(), length: self.length.clone() });
        if of_sampler.is_some() || !self.adaptation.learned.is_empty() {
            bytes.extend(postcard::to_stdvec(&self.adaptation.learned).map_err(bad)?);
        }
        if let Some(of_sampler) = of_sampler {
            bytes.extend(postcard::to_stdvec(&of_sampler).map_err(bad)?);
        }
        Ok(bytes)
    }

    /// Decodes what [`encode`](Self::encode) has written.
    pub(crate) fn decode(density: &'d dyn LogDensity, bytes: &[u8]) -> Result<(Self, Vec<ChainState>), SamplerError> {
        let CheckpointState { config, adaptation, pooled, length, done, warm_up, chains, .. } =
            CheckpointState::read(density, bytes)?;
        let schedule = Schedule::of(&config);
        let space = Space::of(density, &adaptation);
        Ok((Self { config, schedule, space, adaptation, pooled, length, done, warm_up }, chains))
    }
}

#[derive(Serialize, Deserialize)]
struct CheckpointState {
    density: String,
    dim: usize,
    config: SamplerConfig,
    adaptation: Adaptation,
    pooled: Option<Pooled>,
    /// It stands with the sampler, after all else.
    #[serde(skip)]
    length: Option<TrajectoryLength>,
    done: usize,
    warm_up: Option<usize>,
    chains: Vec<ChainState>,
}

/// What a checkpoint of another sampler than NUTS has besides, as its last bytes.
#[derive(Serialize, Deserialize)]
struct OfSampler {
    algorithm: Algorithm,
    length: Option<TrajectoryLength>,
}

impl CheckpointState {
    /// Returns whether the numbers of chains and of sums are those that the strategy has in this part of the run.
    fn is_of_its_stage(&self) -> bool {
        let (chains, first) = (self.config.chains, self.config.first_chains());
        let (expected, sums) = match &self.pooled {
            None => (chains, !self.config.warms_up_together()),
            Some(Pooled { step, stage: Stage::Learning { window, .. } }) => {
                (first, step.chains() == first && window.is_of(first, self.dim))
            }
            Some(Pooled { step, stage: Stage::Settled(since) }) => {
                (chains, step.chains() == chains && *since <= self.done)
            }
        };
        self.chains.len() == expected && sums
    }

    /// # Errors
    /// When the bytes are damaged or belong to another density.
    fn read(density: &dyn LogDensity, bytes: &[u8]) -> Result<Self, SamplerError> {
        let bad = |error: postcard::Error| SamplerError::Checkpoint(error.to_string());
        let (mut state, rest): (Self, _) = postcard::take_from_bytes(bytes).map_err(bad)?;
        if !rest.is_empty() {
            let of_sampler;
            (state.adaptation.learned, of_sampler) = postcard::take_from_bytes(rest).map_err(bad)?;
            if !of_sampler.is_empty() {
                let OfSampler { algorithm, length } = postcard::from_bytes(of_sampler).map_err(bad)?;
                (state.config.algorithm, state.length) = (algorithm, length);
            }
        }
        let dim = density.dim();
        state.config.validate()?;
        let learned = &state.adaptation.learned;
        let blocks: Vec<(usize, bool)> =
            block_sizes(density).into_iter().zip(is_learned(density, &state.config)).collect();
        let may_learn = |(&(size, is_learned), learned): (&(usize, bool), &Option<LearnedInformation>)| match learned {
            Some(learned) => is_learned && learned.is_of(size),
            None => true,
        };
        let metric = &state.adaptation.metric;
        let consistent = state.density == density.name()
            && state.dim == dim
            && state.is_of_its_stage()
            && state.chains.iter().all(|chain| chain.x.len() == dim)
            && metric.diagonal.len() == dim
            && metric.directions.len() == metric.variances.len()
            && metric.directions.iter().all(|u| u.len() == dim)
            && (learned.is_empty() || learned.len() == blocks.len())
            && blocks.iter().zip(learned).all(may_learn)
            && are_centerings(density, &state.adaptation, &state.config)
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

/// Finds a point within `init_radius` of the density's center, in its units, where the density is finite, and the
/// gradient there. Standardised coordinates start within `init_radius` of their conditional means.
///
/// It is the first of some random points where the density is not absurdly steep, measured by the others. Half of the
/// points of a moving average (arma11 of posteriordb) let its errors grow without bounds: the log density is -1e58 there, and
/// a chain would stay where it is, with steps of 1e-46.
pub(crate) fn starting_point(
    space: &Space<'_>,
    config: &SamplerConfig,
    chain: usize,
) -> Result<(Vec<f64>, Vec<f64>), SamplerError> {
    let dim = space.dim;
    let scale = space.density.init_scale().unwrap_or_else(|| vec![1.0; dim]);
    let steepness = |gradient: &[f64]| gradient.iter().zip(&scale).map(|(g, s)| (g * s).abs()).fold(0.0, f64::max);
    let is_below = |(_, gradient): &(Vec<f64>, Vec<f64>), limit: f64| steepness(gradient) <= limit;
    let mut random = Address { seed: config.seed, chain: chain as u32, iteration: 0 }.stream(Purpose::Init);
    let mut last = (DensityError::NotFinite { value: f64::NAN }, None);
    let mut candidates: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..INIT_TRIES {
        let x = jittered_start(space, config.init_radius, &mut random);
        let mut gradient = vec![0.0; dim];
        match space.logp_grad(&x, &mut gradient) {
            Ok(_) if gradient.iter().all(|g| g.is_finite()) => candidates.push((x, gradient)),
            Ok(_) => last.1 = Some(x),
            Err(error) if error.is_recoverable() => last = (error, Some(x)),
            Err(source) => return Err(SamplerError::Density { chain, iteration: 0, source }),
        }
        if candidates.len() == INIT_CANDIDATES
            || candidates.first().is_some_and(|first| is_below(first, INIT_STEEPNESS))
        {
            break;
        }
    }
    let flattest = candidates.iter().map(|(_, gradient)| steepness(gradient)).fold(f64::INFINITY, f64::min);
    let found = candidates.into_iter().find(|candidate| is_below(candidate, INIT_STEEPNESS * flattest.max(1.0)));
    found.ok_or_else(|| {
        let (last, x) = last;
        let natural = |mut x: Vec<f64>| {
            space.make_natural(&mut x);
            x
        };
        let why = x.map(|x| because(&space.density.faults(&natural(x)))).unwrap_or_default();
        SamplerError::Init { chain, radius: config.init_radius, last, why }
    })
}

#[cfg(test)]
mod tests;
