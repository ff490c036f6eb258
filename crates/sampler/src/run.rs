//! A run: chains that move together from window to window.
//!
//! A run calls its density through `dyn LogDensity`. So the engine is compiled in this crate alone, and not again in each
//! crate that samples; a call takes a nanosecond or two, and a gradient 50 or more.

mod batch;
mod fallback;
pub mod plan;
mod starts;
mod state;

pub use batch::{BatchSampler, DataSet};
pub(crate) use starts::PointAndGradient;
pub use starts::{Starts, WarmStart, jittered};
use starts::{because, jittered_start};
pub use state::{BatchStep, Begin};
pub(crate) use state::{BegunRun, PendingSteps, RunState, Runs, SetStatus, starting_point};

use crate::adapt::Adaptation;
use crate::config::{ConfigError, SamplerConfig};
use crate::draw::Block;
use crate::engine::Backend;
use crate::engine::cpu::CpuEngine;
use crate::engine::gpu::{GpuEngine, GpuParticles, kernel};
use crate::engine::gpu_note::{GpuNote, loss};
use crate::engine::{ChainState, NEVER, SamplerEngine, Shared, StopAsked};
use crate::error::SamplerError;
use crate::kernel::Method;
use crate::population::{PopulationEngine, PopulationFindings, PopulationMeans};
use fallback::Fallback;
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use std::ops::Range;

/// NUTS over several chains. Call [`advance`](Self::advance) until it returns `None`.
///
/// The draws depend on the density and the configuration only: not on threads, on how many iterations each
/// call asks for, nor on whether the run was interrupted and [goes on](Begin::GoOn). In f64 they are the same on the
/// CPU and on a GPU, also when a run moves from one to the other.
pub struct Sampler<'d> {
    run_state: RunState<'d>,
    engine: Box<dyn SamplerEngine + 'd>,
    /// How the run goes on on the CPU when its last GPU fails; `None` where that ends the run.
    fallback: Option<Fallback>,
    /// Notes of engines that the run has left.
    notes: Vec<GpuNote>,
}

impl<'d> Sampler<'d> {
    /// Places the chains at their starting points, on the CPU: [`begin`](Self::begin) with [`Begin::Anew`] and
    /// [`Backend::Cpu`].
    ///
    /// # Errors
    /// When a setting is out of range, the precision is not the CPU's f64, or no starting point has a finite density.
    pub fn new(density: &'d dyn LogDensity, config: SamplerConfig) -> Result<Self, SamplerError> {
        Self::begin(density, Begin::Anew(config), Backend::Cpu)
    }

    /// Places the chains at their starting points, or where they were at a [`checkpoint`](Self::checkpoint) of any
    /// backend.
    ///
    /// Where a GPU's memory is too small for its chains, they take turns. When one of several GPUs fails, it is given
    /// up and its chains go on on the others, to the same bits; with
    /// [`GpuConfig::cpu_fallback`](crate::GpuConfig::cpu_fallback) the CPU goes on when the last one fails.
    /// [`take_notes`](Self::take_notes) tells of each.
    ///
    /// # Errors
    /// When a setting is out of range or no starting point has a finite density; when a checkpoint is damaged or belongs to
    /// another density. On GPUs also [`SamplerError::NoKernel`] when the density has no kernels for the precision and the
    /// number of coordinates, and [`SamplerError::Device`] when the last device or its memory fails. When no device is
    /// given, [`SamplerError::Config`].
    pub fn begin(density: &'d dyn LogDensity, begin: Begin, backend: Backend<'_>) -> Result<Self, SamplerError> {
        let prepared = BegunRun::new(density, &begin)?;
        let Backend::Gpus(contexts, gpu) = backend else { return Self::on_cpu(prepared) };
        let fallback = Fallback::of_run(begin, prepared.run_state.config(), gpu);
        let on_gpus = Self::on(prepared, |shared, states, goes_on| {
            let density = shared.space.density;
            if let Method::Population(method) = shared.config.algorithm.method() {
                let gpus = Some(GpuParticles::new(density, shared.config, contexts, gpu)?);
                let means = PopulationMeans { gpus, particles: None };
                return Ok(Box::new(PopulationEngine::new((method, means), shared, states, goes_on)?));
            }
            let kernels = kernel::of_density(density, shared.config)?;
            let mut engine = GpuEngine::new(kernels, shared.config, contexts, gpu, states)?;
            if goes_on {
                engine.resume(shared)?;
            }
            Ok(Box::new(engine))
        });
        match (on_gpus, fallback) {
            (Ok(on_gpus), fallback) => Ok(Self { fallback, ..on_gpus }),
            (Err(error), Some(Fallback { begin, .. })) => fallback::go_on(density, begin, 0, loss(error, true)?),
            (Err(error), None) => Err(error),
        }
    }

    pub(crate) fn on_cpu(mut prepared: BegunRun<'d>) -> Result<Self, SamplerError> {
        computes_in_f64(prepared.run_state.config())?;
        let means = PopulationMeans { particles: prepared.particles.take(), ..PopulationMeans::default() };
        Self::on(prepared, |shared, states, goes_on| {
            Ok(match (shared.config.algorithm.method(), goes_on) {
                (Method::Chains(kernel), true) => Box::new(CpuEngine::resume(kernel, shared, states)?),
                (Method::Chains(kernel), false) => Box::new(CpuEngine::new(kernel, shared.space.dim, states)),
                (Method::Population(method), goes_on) => {
                    Box::new(PopulationEngine::new((method, means), shared, states, goes_on)?)
                }
            })
        })
    }

    /// Makes a run whose chains move on the engine that `engine` makes of their states. `engine` is told whether the
    /// chains go on from a checkpoint: then it evaluates their points itself, where the checkpoint has left them.
    pub(crate) fn on(
        prepared: BegunRun<'d>,
        engine: impl FnOnce(&Shared<'_, 'd>, Vec<ChainState>, bool) -> Result<Box<dyn SamplerEngine + 'd>, SamplerError>,
    ) -> Result<Self, SamplerError> {
        let BegunRun { run_state, states, due, .. } = prepared;
        let engine = engine(&run_state.shared(), states, !due.restart)?;
        let mut sampler = Self { run_state, engine, fallback: None, notes: vec![] };
        if due.restart {
            sampler.restart()?;
        }
        if due.spread {
            sampler.run_state.spread(sampler.engine.as_mut())?;
        }
        Ok(sampler)
    }

    /// Returns the density that is sampled.
    pub fn density(&self) -> &'d dyn LogDensity {
        self.run_state.density()
    }

    /// Returns the settings of the run.
    pub fn config(&self) -> &SamplerConfig {
        self.run_state.config()
    }

    /// Returns what warm-up has learned so far.
    pub fn adaptation(&self) -> &Adaptation {
        self.run_state.adaptation()
    }

    /// Returns each chain's step size.
    pub fn step_sizes(&self) -> Vec<f64> {
        self.engine.step_sizes()
    }

    /// Returns the mean length of trajectories, of a sampler that learns it.
    pub fn length(&self) -> Option<f64> {
        self.run_state.length()
    }

    /// Returns what the population of a sampler that [draws one](crate::Algorithm::draws_population) tells of itself, once it
    /// is drawn.
    pub fn population(&self) -> Option<PopulationFindings> {
        self.engine.findings()
    }

    /// Returns the number of iterations done of each chain, warm-up included.
    pub fn done(&self) -> usize {
        self.run_state.done()
    }

    /// Returns the number of iterations that warm-up took of each chain: `tune`, or fewer where warm-up settled before;
    /// `None` while warm-up goes on.
    pub fn warm_up(&self) -> Option<usize> {
        self.run_state.warm_up()
    }

    /// Returns what has happened to GPUs since the last call: chains that take turns, devices that were given up.
    pub fn take_notes(&mut self) -> Vec<GpuNote> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.engine.take_notes());
        notes
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.run_state.is_complete()
    }

    pub(crate) fn run_state(&self) -> &RunState<'d> {
        &self.run_state
    }

    pub(crate) fn into_run_state(self) -> RunState<'d> {
        self.run_state
    }

    pub(crate) fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        self.engine.states()
    }

    /// Moves every chain by at most `limit` iterations (fewer where chains learn from each other) and returns the
    /// draws; `None` when the run is complete. Chains run in parallel on the current rayon pool.
    ///
    /// When the last GPU fails and the run [falls back](crate::GpuConfig::cpu_fallback), it returns the same draws from
    /// the CPU, where the run is from then on. In warm-up the CPU first repeats what was done since the last
    /// [`checkpoint`](Self::checkpoint).
    ///
    /// # Errors
    /// When the density is broken, or the last GPU fails in a run that does not fall back.
    pub fn advance(&mut self, limit: usize) -> Result<Option<Block>, SamplerError> {
        self.advance_unless(limit, NEVER)
    }

    /// As [`advance`](Self::advance), and asks `stop` before each evaluation of a population, from any thread: so a
    /// population that takes long need not be waited for. Chains make their iterations without asking.
    ///
    /// # Errors
    /// As [`advance`](Self::advance); [`SamplerError::Stopped`] where `stop` says so before a population is drawn: nothing is
    /// kept of it, and the next call draws it from the beginning.
    pub fn advance_unless(
        &mut self,
        limit: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Block>, SamplerError> {
        let Some(span) = self.run_state.next(limit) else { return Ok(None) };
        if let Some(fallback) = &mut self.fallback {
            fallback.look(&self.run_state, self.engine.as_ref());
        }
        match self.go_through(span.clone(), stop) {
            Err(error) => {
                self.leave_gpus(span.start, error)?;
                // What is left of the span before the run learns is the same on the CPU.
                self.go_through(span, stop).map(Some)
            }
            moved => moved.map(Some),
        }
    }

    /// Moves every chain through a span and learns from it.
    fn go_through(&mut self, span: Range<usize>, stop: StopAsked<'_>) -> Result<Block, SamplerError> {
        let chains = self.engine.advance(&Shared { stop, ..self.run_state.shared() }, span.clone())?;
        let (phase, first) = self.run_state.place(span.start);
        let next = self.run_state.take(&chains, span.end, self.engine.as_mut())?;
        if next.restart {
            self.restart()?;
        }
        if next.spread {
            self.run_state.spread(self.engine.as_mut())?;
        }
        Ok(Block { phase, first, draws: span.len(), chains })
    }

    /// Goes on on the CPU, with `done` iterations done; the error, where the run does not fall back.
    fn leave_gpus(&mut self, done: usize, error: SamplerError) -> Result<(), SamplerError> {
        let cause = loss(error, self.fallback.is_some())?;
        let Some(fallback) = self.fallback.take() else { return Err(cause.into()) };
        let mut notes = self.take_notes();
        let begin = fallback.last_begin(&self.run_state, done)?;
        let on_cpu = fallback::go_on(self.run_state.density(), begin, done, cause)?;
        notes.extend(on_cpu.notes);
        *self = Self { notes, ..on_cpu };
        Ok(())
    }

    /// Evaluates each chain's point in the current coordinates and metric and searches a step size there.
    fn restart(&mut self) -> Result<(), SamplerError> {
        self.engine.restart(&self.run_state.shared())?;
        self.run_state.restarted(self.engine.as_mut())
    }

    /// Encodes the whole state as bytes, for [`Begin::GoOn`].
    ///
    /// # Errors
    /// When the state cannot be encoded, or the last GPU fails in a run that does not fall back.
    pub fn checkpoint(&mut self) -> Result<Vec<u8>, SamplerError> {
        let states = match self.engine.states() {
            Ok(states) => states,
            Err(error) => {
                self.leave_gpus(self.done(), error)?;
                self.engine.states()?
            }
        };
        let bytes = self.run_state.encode(states)?;
        if let Some(fallback) = &mut self.fallback {
            fallback.keep(&bytes);
        }
        Ok(bytes)
    }
}

/// Refuses every precision but f64, the only one that the CPU's engine computes in.
fn computes_in_f64(config: &SamplerConfig) -> Result<(), ConfigError> {
    if config.precision == Precision::F64 {
        return Ok(());
    }
    let value = config.precision.to_string();
    Err(ConfigError { field: "precision", value, expected: "the CPU computes in f64; other precisions need a GPU" })
}
