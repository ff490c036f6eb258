//! A run: chains that move together from window to window.

use crate::adaptation::Adaptation;
use crate::batch::{Begin, Begun};
use crate::config::{ConfigError, SamplerConfig};
use crate::course::{Course, INIT_TRIES};
use crate::cpu::CpuEngine;
use crate::draw::Block;
use crate::engine::{ChainState, Engine, Shared};
use crate::gpu::{GpuConfig, GpuEngine, GpuNote};
use octopus_cuda::{Context, CudaError};
use octopus_density::gpu::{GpuDensity, KernelTextError, Precision};
use octopus_density::{DensityError, LogDensity};
use thiserror::Error;

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
    course: Course<'d, D>,
    engine: Box<dyn Engine<D> + 'd>,
}

impl<'d, D: LogDensity + ?Sized> Sampler<'d, D> {
    /// Chains at their starting points, on the CPU.
    ///
    /// # Errors
    /// When a setting is out of range or no starting point has a finite density.
    pub fn new(density: &'d D, config: SamplerConfig) -> Result<Self, SamplerError> {
        Self::on_cpu(Begun::new(density, &Begin::Anew(config))?)
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
        Self::on_gpus(density, config, std::slice::from_ref(context), gpu)
    }

    /// Chains at their starting points, divided over several GPUs by their multiprocessors. `gpu` is for each of them, but
    /// on one whose memory is too small for its share, chains take turns; a device that fails is given up, and its chains
    /// go on on the others, to the same bits: [`take_notes`](Self::take_notes) tells of both. What warm-up learns from is
    /// then on the host.
    ///
    /// # Errors
    /// As [`on_gpu`](Self::on_gpu), but of the devices only the last may fail; and when there are none.
    pub fn on_gpus(
        density: &'d D,
        config: SamplerConfig,
        contexts: &[Context],
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError>
    where
        D: GpuDensity,
    {
        config.validate()?;
        Self::start(density, config, |config, states| {
            Ok(Box::new(GpuEngine::new(density, config, contexts, gpu, states)?))
        })
    }

    /// A run that has begun, on the CPU.
    pub(crate) fn on_cpu(begun: Begun<'d, D>) -> Result<Self, SamplerError> {
        let Begun { course, states, due } = begun;
        computes_in_f64(course.config())?;
        if !due.restart {
            let engine = Box::new(CpuEngine::resume(&course.shared(), states)?);
            return Ok(Self { course, engine });
        }
        let mut sampler = Self { engine: Box::new(CpuEngine::new(course.density().dim(), states)), course };
        sampler.restart()?;
        Ok(sampler)
    }

    /// Chains at their starting points, on the engine that `engine` makes of their states.
    pub(crate) fn start(
        density: &'d D,
        config: SamplerConfig,
        engine: impl FnOnce(&SamplerConfig, Vec<ChainState>) -> Result<Box<dyn Engine<D> + 'd>, SamplerError>,
    ) -> Result<Self, SamplerError> {
        let (course, states) = Course::start(density, config)?;
        let engine = engine(course.config(), states)?;
        let mut sampler = Self { course, engine };
        sampler.restart()?;
        Ok(sampler)
    }

    /// The settings of the run.
    pub fn config(&self) -> &SamplerConfig {
        self.course.config()
    }

    /// What warm-up has learned so far.
    pub fn adaptation(&self) -> &Adaptation {
        self.course.adaptation()
    }

    /// Each chain's step size.
    pub fn step_sizes(&self) -> Vec<f64> {
        self.engine.step_sizes()
    }

    /// Iterations done of each chain, warm-up included.
    pub fn done(&self) -> usize {
        self.course.done()
    }

    /// Iterations of each chain that warm-up took, once it is over: `tune`, or fewer where it has settled before.
    pub fn warm_up(&self) -> Option<usize> {
        self.course.warm_up()
    }

    /// What has become of several GPUs since this was asked last: of one alone nothing is told but its error.
    pub fn take_notes(&mut self) -> Vec<GpuNote> {
        self.engine.take_notes()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.course.is_complete()
    }

    pub(crate) fn course(&self) -> &Course<'d, D> {
        &self.course
    }

    pub(crate) fn into_course(self) -> Course<'d, D> {
        self.course
    }

    pub(crate) fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        self.engine.states()
    }

    /// Moves every chain by at most `limit` iterations (fewer where chains learn from each other) and returns the
    /// draws; `None` when the run is complete. Chains run in parallel on the current rayon pool.
    ///
    /// # Errors
    /// When the density is broken.
    pub fn advance(&mut self, limit: usize) -> Result<Option<Block>, SamplerError> {
        let Some(span) = self.course.next(limit) else { return Ok(None) };
        let chains = self.engine.advance(&self.course.shared(), span.clone())?;
        let (phase, first) = self.course.place(span.start);
        let next = self.course.take(&chains, span.end, self.engine.as_mut())?;
        if next.restart {
            self.restart()?;
        }
        if next.spread {
            self.course.spread(self.engine.as_mut())?;
        }
        Ok(Some(Block { phase, first, draws: span.len(), chains }))
    }

    /// Evaluates each chain's point in the current coordinates and metric and searches a step size there.
    fn restart(&mut self) -> Result<(), SamplerError> {
        self.engine.restart(&self.course.shared())?;
        self.course.restarted(self.engine.as_mut())
    }

    /// The whole state as bytes, for [`resume`](Self::resume).
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub fn checkpoint(&self) -> Result<Vec<u8>, SamplerError> {
        self.course.encode(self.engine.states()?)
    }

    /// A run as it was at [`checkpoint`](Self::checkpoint), wherever that was made, on the CPU: it goes on to the same
    /// bits.
    ///
    /// # Errors
    /// When the bytes are damaged or belong to another density.
    pub fn resume(density: &'d D, bytes: &[u8]) -> Result<Self, SamplerError> {
        Self::on_cpu(Begun::new(density, &Begin::GoOn(bytes.to_vec()))?)
    }

    /// As [`resume`](Self::resume), on a GPU.
    ///
    /// # Errors
    /// As [`resume`](Self::resume) and [`on_gpu`](Self::on_gpu).
    pub fn resume_on_gpu(density: &'d D, bytes: &[u8], context: &Context, gpu: &GpuConfig) -> Result<Self, SamplerError>
    where
        D: GpuDensity,
    {
        Self::resume_on_gpus(density, bytes, std::slice::from_ref(context), gpu)
    }

    /// As [`resume`](Self::resume), on several GPUs.
    ///
    /// # Errors
    /// As [`resume`](Self::resume) and [`on_gpus`](Self::on_gpus).
    pub fn resume_on_gpus(
        density: &'d D,
        bytes: &[u8],
        contexts: &[Context],
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError>
    where
        D: GpuDensity,
    {
        Self::go_on(density, bytes, |shared, states| {
            let mut engine = GpuEngine::new(density, shared.config, contexts, gpu, states)?;
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
        let (course, chains) = Course::decode(density, bytes)?;
        let engine = engine(&course.shared(), chains)?;
        Ok(Self { course, engine })
    }
}

/// The CPU's engine computes in f64.
fn computes_in_f64(config: &SamplerConfig) -> Result<(), ConfigError> {
    if config.precision == Precision::F64 {
        return Ok(());
    }
    let value = config.precision.to_string();
    Err(ConfigError { field: "precision", value, expected: "the CPU computes in f64; other precisions need a GPU" })
}
