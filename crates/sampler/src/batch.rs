//! Many data sets of one kind of density at once, each with a run of its own.
//!
//! No run knows of another: what it draws and learns is what [`Sampler`](crate::Sampler) draws and learns by itself, and
//! one that fails ends alone. The CPU moves data sets beside each other, and the chains of each; a GPU moves the chains of
//! all in one launch.

use crate::adaptation::Adaptation;
use crate::backend::Backend;
use crate::config::SamplerConfig;
use crate::course::{Course, Next};
use crate::draw::Block;
use crate::engine::ChainState;
use crate::gpu::{GpuNote, OnGpu};
use crate::run::{Sampler, SamplerError};
use octopus_density::LogDensity;
use rayon::prelude::*;

/// One data set of a batch.
#[derive(Debug)]
pub struct DataSet<'d, D: ?Sized> {
    /// The density with its data.
    pub density: &'d D,
    /// Where its run begins.
    pub begin: Begin,
}

/// Where a run begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Begin {
    /// At starting points, with these settings.
    Anew(SamplerConfig),
    /// Where [`Sampler::checkpoint`] or [`BatchSampler::checkpoint`] has left it.
    GoOn(Vec<u8>),
}

/// What one data set's run has done in one [`BatchSampler::advance`].
#[derive(Debug)]
pub struct Moved {
    /// The number of the data set, from 0 in the order that they were given.
    pub set: usize,
    /// Its draws, or why the run has ended for good.
    pub block: Result<Block, SamplerError>,
}

/// NUTS over several chains of each of many data sets. Call [`advance`](Self::advance) until it returns `None`.
///
/// The draws of each data set have the bits of a [`Sampler`] with the same density and settings, however many data sets
/// there are, whichever move at once, and whether others fail. Settings may differ from one data set to the next; each
/// needs a seed of its own where their random numbers are to be independent.
///
/// ```
/// use octopus_density::{HierarchicalNormal, HierarchicalPrior, Likelihood, synthetic::HierarchicalSpec};
/// use octopus_sampler::{Backend, BatchSampler, Begin, DataSet, SamplerConfig};
///
/// let density = |groups| {
///     let data = HierarchicalSpec { groups, ..Default::default() }.generate()?.data;
///     HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed)
/// };
/// let densities = [density(3)?, density(8)?];
/// let config = |seed| SamplerConfig { draws: 20, tune: 30, seed, ..Default::default() };
/// let sets: Vec<_> =
///     densities.iter().zip(0..).map(|(density, k)| DataSet { density, begin: Begin::Anew(config(k)) }).collect();
/// let mut batch = BatchSampler::begin(&sets, 16, Backend::Cpu)?;
/// let mut draws = [0, 0];
/// while let Some(moved) = batch.advance(usize::MAX)? {
///     for one in moved {
///         draws[one.set] += one.block?.draws;
///     }
/// }
/// assert_eq!(draws, [50, 50]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchSampler<'d, D: ?Sized + 'd> {
    runs: Box<dyn Runs<'d, D> + 'd>,
}

impl<'d, D: LogDensity + ?Sized> BatchSampler<'d, D> {
    /// Runs of which at most `at_once` are under way. On the CPU the next begins when one has ended; on a GPU they move in
    /// launches of as many, and the next begin when the last of these has ended. Settings that cannot be used, missing
    /// starting points, damaged checkpoints and densities without kernels for batches end their data set in the first
    /// [`advance`](Self::advance).
    ///
    /// Several GPUs divide the data sets first by their multiprocessors and then as they are through with what they had.
    /// Where the memory of one does not hold what it is to have at once, it takes fewer. A device that fails is given up, and
    /// its data sets begin again on the others where they were looked at last, to the same bits.
    /// [`take_notes`](Self::take_notes) tells of both.
    ///
    /// # Errors
    /// [`SamplerError::Device`] when the last device fails, or holds not even one data set; and when none is given. The CPU
    /// has no error here.
    pub fn begin(sets: &[DataSet<'d, D>], at_once: usize, backend: Backend<'_>) -> Result<Self, SamplerError> {
        Ok(Self {
            runs: match backend {
                Backend::Cpu => Box::new(OnCpu { sets: begin_all(sets), at_once: at_once.max(1) }),
                Backend::Gpus(contexts, gpu) => Box::new(OnGpu::new(begin_all(sets), at_once, contexts, gpu)?),
            },
        })
    }

    /// What has become of GPUs since this was asked last: data sets that take turns, devices that were given up.
    pub fn take_notes(&mut self) -> Vec<GpuNote> {
        self.runs.take_notes()
    }

    /// Moves the data sets that are under way, each chain by at most `limit` iterations (fewer where chains learn from each
    /// other, or data sets wait for each other), and returns what they have done, in order of the data sets; `None` when
    /// all runs are complete or have failed. The CPU works in parallel on the current rayon pool.
    ///
    /// # Errors
    /// When the device fails, which ends all runs. What fails of one data set only is in its [`Moved`].
    pub fn advance(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError> {
        self.runs.advance(limit)
    }

    /// What warm-up has learned so far of this data set; `None` when it has failed, or there is none.
    pub fn adaptation(&self, set: usize) -> Option<&Adaptation> {
        Some(self.runs.course(set)?.adaptation())
    }

    /// Iterations done of each chain of this data set, warm-up included; `None` as for [`adaptation`](Self::adaptation).
    pub fn done(&self, set: usize) -> Option<usize> {
        Some(self.runs.course(set)?.done())
    }

    /// Iterations that warm-up of this data set took, once it is over.
    pub fn warm_up(&self, set: usize) -> Option<usize> {
        self.runs.course(set)?.warm_up()
    }

    /// Whether the run of this data set has all its draws.
    pub fn is_complete(&self, set: usize) -> bool {
        self.runs.course(set).is_some_and(Course::is_complete)
    }

    /// The step size of each chain of this data set; `None` as for [`adaptation`](Self::adaptation).
    pub fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        self.runs.step_sizes(set)
    }

    /// The state of this data set's run as bytes, for [`Begin::GoOn`]; `None` where there is
    /// nothing to keep: it has not moved yet, waits for another device since its own has failed, is complete or has failed.
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub fn checkpoint(&self, set: usize) -> Result<Option<Vec<u8>>, SamplerError> {
        let (Some(course), Some(states)) = (self.runs.course(set), self.runs.states(set)?) else { return Ok(None) };
        course.encode(states).map(Some)
    }
}

/// The runs of a batch, wherever their chains are.
pub(crate) trait Runs<'d, D: ?Sized>: Send {
    /// See [`BatchSampler::advance`].
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError>;

    fn course(&self, set: usize) -> Option<&Course<'d, D>>;

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>>;

    /// The chains of a run that is under way.
    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError>;

    /// See [`BatchSampler::take_notes`].
    fn take_notes(&mut self) -> Vec<GpuNote> {
        Vec::new()
    }
}

/// A run that nobody has moved yet.
pub(crate) struct Begun<'d, D: ?Sized> {
    pub(crate) course: Course<'d, D>,
    pub(crate) states: Vec<ChainState>,
    /// What must happen first: chains at their starting points search step sizes, those of a checkpoint go on.
    pub(crate) due: Next,
}

impl<'d, D: LogDensity + ?Sized> Begun<'d, D> {
    /// # Errors
    /// When the settings or the checkpoint cannot be used, or there is no starting point.
    pub(crate) fn new(density: &'d D, begin: &Begin) -> Result<Self, SamplerError> {
        let is_new = matches!(begin, Begin::Anew(_));
        let (course, states) = match begin {
            Begin::Anew(config) => {
                config.validate()?;
                Course::start(density, config.clone())?
            }
            Begin::GoOn(bytes) => Course::decode(density, bytes)?,
        };
        Ok(Self { course, states, due: Next { restart: is_new, spread: false } })
    }
}

/// How the run of a data set stands.
pub(crate) enum Standing<'d, D: ?Sized, R> {
    /// Its turn has not come.
    Waiting(Begun<'d, D>),
    /// It is under way.
    Going(R),
    /// All draws are drawn, with these step sizes.
    Complete(Course<'d, D>, Vec<f64>),
    /// It has failed; why, until that is told.
    Failed(Option<SamplerError>),
}

fn begin_all<'d, D: LogDensity + ?Sized, R: Send>(sets: &[DataSet<'d, D>]) -> Vec<Standing<'d, D, R>> {
    let begin = |set: &DataSet<'d, D>| match Begun::new(set.density, &set.begin) {
        Ok(begun) => Standing::Waiting(begun),
        Err(error) => Standing::Failed(Some(error)),
    };
    sets.par_iter().map(begin).collect()
}

struct OnCpu<'d, D: ?Sized> {
    sets: Vec<Standing<'d, D, Sampler<'d, D>>>,
    at_once: usize,
}

impl<'d, D: LogDensity + ?Sized> Standing<'d, D, Sampler<'d, D>> {
    /// Whether there is something to do, or to tell.
    fn is_open(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Going(_) | Self::Failed(Some(_)))
    }

    fn advance(&mut self, limit: usize) -> Result<Option<Block>, SamplerError> {
        let mut sampler = match std::mem::replace(self, Self::Failed(None)) {
            Self::Waiting(begun) => Sampler::on_cpu(begun)?,
            Self::Going(sampler) => sampler,
            Self::Failed(Some(error)) => return Err(error),
            ended => {
                *self = ended;
                return Ok(None);
            }
        };
        let block = sampler.advance(limit)?;
        *self = if sampler.is_complete() {
            // Its workspaces are needed no more.
            let steps = sampler.step_sizes();
            Self::Complete(sampler.into_course(), steps)
        } else {
            Self::Going(sampler)
        };
        Ok(block)
    }
}

impl<'d, D: LogDensity + ?Sized> Runs<'d, D> for OnCpu<'d, D> {
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError> {
        loop {
            let open = self.sets.iter_mut().enumerate().filter(|(_, set)| set.is_open());
            let chosen: Vec<_> = open.take(self.at_once).collect();
            if chosen.is_empty() {
                return Ok(None);
            }
            let one = |(set, standing): (usize, &mut Standing<'d, D, _>)| {
                Some(Moved { set, block: standing.advance(limit).transpose()? })
            };
            let moved: Vec<Moved> = chosen.into_par_iter().filter_map(one).collect();
            // A checkpoint may be of a run whose last draw is drawn.
            if !moved.is_empty() {
                return Ok(Some(moved));
            }
        }
    }

    fn course(&self, set: usize) -> Option<&Course<'d, D>> {
        match self.sets.get(set)? {
            Standing::Waiting(begun) => Some(&begun.course),
            Standing::Going(sampler) => Some(sampler.course()),
            Standing::Complete(course, _) => Some(course),
            Standing::Failed(_) => None,
        }
    }

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        match self.sets.get(set)? {
            Standing::Waiting(begun) => Some(begun.states.iter().map(|state| state.step_size).collect()),
            Standing::Going(sampler) => Some(sampler.step_sizes()),
            Standing::Complete(_, steps) => Some(steps.clone()),
            Standing::Failed(_) => None,
        }
    }

    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError> {
        match self.sets.get(set) {
            Some(Standing::Going(sampler)) => sampler.states().map(Some),
            _ => Ok(None),
        }
    }
}
