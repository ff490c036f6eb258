//! Samples many data sets of one kind of density at once, each with a run of its own.
//!
//! No run knows of another: it draws and learns what a [`Sampler`](crate::Sampler) of the same data set draws and
//! learns, and a run that fails ends alone. The CPU moves several data sets side by side, and the chains of each; a GPU
//! moves the chains of all data sets in one launch.

use super::Sampler;
use crate::adapt::Adaptation;
use crate::draw::Block;
use crate::engine::Backend;
use crate::engine::ChainState;
use crate::engine::gpu::OnGpu;
use crate::engine::gpu_note::{GpuNote, is_loss};
use crate::error::SamplerError;
use crate::run::{BatchStep, Begin, BegunRun, RunState, Runs, SetStatus};
use octopus_cuda::CudaError;
use octopus_density::LogDensity;
use rayon::prelude::*;

/// One data set of a batch.
pub struct DataSet<'d> {
    /// The density with its data.
    pub density: &'d dyn LogDensity,
    /// Where the run of this data set begins.
    pub begin: Begin,
}

/// NUTS for many data sets, with several chains of each. Call [`advance`](Self::advance) until it returns `None`.
///
/// The draws of each data set have the bits of a [`Sampler`] with the same density and settings, however many data sets
/// there are, whichever move at once, and whether others fail. Settings may differ from one data set to the next; each
/// needs a seed of its own where their random numbers are to be independent.
///
/// ```
/// use octopus_models::synthetic::HierarchicalSpec;
/// use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
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
/// while let Some(steps) = batch.advance(usize::MAX)? {
///     for one in steps {
///         draws[one.set] += one.block?.draws;
///     }
/// }
/// assert_eq!(draws, [50, 50]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchSampler<'d> {
    runs: Box<dyn Runs<'d> + 'd>,
    /// Whether the CPU goes on when the last GPU fails.
    falls_back: bool,
    /// Notes of devices that the batch has left.
    notes: Vec<GpuNote>,
}

impl<'d> BatchSampler<'d> {
    /// Begins the runs of `sets`, of which at most `at_once` are under way at any time. On the CPU the next run begins
    /// when one has ended. On a GPU up to `at_once` runs share each launch, and the next ones begin when the last of
    /// these has ended. A data set ends in the first [`advance`](Self::advance) when its settings cannot be used, it
    /// has no starting point, its checkpoint is damaged or its density has no kernels for batches.
    ///
    /// Several GPUs share the data sets, first in proportion to their multiprocessors and then as each has finished its
    /// share. A GPU whose memory does not hold all data sets of a turn takes fewer. A device that fails is given up,
    /// and its data sets begin again on the others where they were looked at last, to the same bits; those of the last
    /// device begin again on the CPU with [`GpuConfig::cpu_fallback`](crate::GpuConfig::cpu_fallback), if all are
    /// sampled in f64. [`take_notes`](Self::take_notes) tells of each.
    ///
    /// # Errors
    /// [`SamplerError::Device`] when the last device fails or does not hold even one data set, and the batch does not
    /// fall back; [`SamplerError::Config`] when no device is given. The CPU has no error here.
    pub fn begin(sets: &[DataSet<'d>], at_once: usize, backend: Backend<'_>) -> Result<Self, SamplerError> {
        let Backend::Gpus(contexts, gpu) = backend else {
            let on_cpu = OnCpu { sets: begin_all(sets), at_once: at_once.max(1) };
            return Ok(Self { runs: Box::new(on_cpu), falls_back: false, notes: vec![] });
        };
        let begun = begin_all(sets);
        let falls_back = gpu.cpu_fallback && begun.iter().all(SetStatus::is_for_cpu);
        Ok(match OnGpu::new(begun, at_once, contexts, gpu, falls_back) {
            Ok(on_gpu) => Self { runs: Box::new(on_gpu), falls_back, notes: vec![] },
            Err(SamplerError::Device(cause)) if falls_back && is_loss(&cause) => {
                let notes = vec![GpuNote::LeftToCpu { cause }];
                let on_cpu = OnCpu { sets: begin_all(sets), at_once: rayon::current_num_threads() };
                Self { runs: Box::new(on_cpu), falls_back: false, notes }
            }
            Err(error) => return Err(error),
        })
    }

    /// Returns what has happened to GPUs since the last call: data sets that take turns, devices that were given up.
    pub fn take_notes(&mut self) -> Vec<GpuNote> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.runs.take_notes());
        notes
    }

    /// Moves the data sets that are under way, each chain by at most `limit` iterations, and returns what they have
    /// done, in order of the data sets. Chains move less where they learn from each other or data sets wait for each
    /// other. Returns `None` when all runs are complete or have failed. The CPU works in parallel on the current rayon
    /// pool.
    ///
    /// # Errors
    /// When the last device fails and the batch does not fall back, which ends all runs. A failure of one data set only
    /// is in its [`BatchStep`].
    pub fn advance(&mut self, limit: usize) -> Result<Option<Vec<BatchStep>>, SamplerError> {
        match self.runs.advance(limit) {
            Err(SamplerError::Device(cause)) if self.falls_back && is_loss(&cause) => {
                self.leave_gpus(cause);
                self.runs.advance(limit)
            }
            moved => moved,
        }
    }

    /// Goes on on the CPU.
    fn leave_gpus(&mut self, cause: CudaError) {
        self.notes = self.take_notes();
        self.notes.push(GpuNote::LeftToCpu { cause });
        self.falls_back = false;
        let nothing = OnCpu { sets: vec![], at_once: 1 };
        let on_gpus = std::mem::replace(&mut self.runs, Box::new(nothing));
        self.runs = Box::new(OnCpu { sets: on_gpus.leave(), at_once: rayon::current_num_threads() });
    }

    /// Returns what warm-up has learned so far of this data set; `None` when its run has failed, or there is no such
    /// data set.
    pub fn adaptation(&self, set: usize) -> Option<&Adaptation> {
        Some(self.runs.run_state(set)?.adaptation())
    }

    /// Returns the number of iterations done of each chain of this data set, warm-up included; `None` when its run has
    /// failed, or there is no such data set.
    pub fn done(&self, set: usize) -> Option<usize> {
        Some(self.runs.run_state(set)?.done())
    }

    /// Returns the number of iterations that warm-up of this data set took; `None` while warm-up goes on.
    pub fn warm_up(&self, set: usize) -> Option<usize> {
        self.runs.run_state(set)?.warm_up()
    }

    /// Returns whether the run of this data set has all its draws.
    pub fn is_complete(&self, set: usize) -> bool {
        self.runs.run_state(set).is_some_and(RunState::is_complete)
    }

    /// Returns the step size of each chain of this data set; `None` when its run has failed, or there is no such data
    /// set.
    pub fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        self.runs.step_sizes(set)
    }

    /// Encodes the state of this data set's run as bytes, for [`Begin::GoOn`]. Returns `None` where there is nothing to
    /// keep: the run has not moved yet, waits for another device since its own has failed, is complete or has failed.
    ///
    /// # Errors
    /// When the state cannot be encoded.
    pub fn checkpoint(&self, set: usize) -> Result<Option<Vec<u8>>, SamplerError> {
        let (Some(run_state), Some(states)) = (self.runs.run_state(set), self.runs.states(set)?) else {
            return Ok(None);
        };
        run_state.encode(states).map(Some)
    }
}

fn begin_all<'d, R: Send>(sets: &[DataSet<'d>]) -> Vec<SetStatus<'d, R>> {
    let begin = |set: &DataSet<'d>| match BegunRun::new(set.density, &set.begin) {
        Ok(prepared) => SetStatus::Waiting(prepared),
        Err(error) => SetStatus::Failed(Some(error)),
    };
    sets.par_iter().map(begin).collect()
}

struct OnCpu<'d> {
    sets: Vec<SetStatus<'d, Sampler<'d>>>,
    at_once: usize,
}

impl<'d> SetStatus<'d, Sampler<'d>> {
    /// Returns whether there is something to do, or to tell.
    fn is_open(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Going(_) | Self::Failed(Some(_)))
    }

    fn advance(&mut self, limit: usize) -> Result<Option<Block>, SamplerError> {
        let mut sampler = match std::mem::replace(self, Self::Failed(None)) {
            Self::Waiting(prepared) => Sampler::on_cpu(prepared)?,
            Self::Going(sampler) => sampler,
            Self::Failed(Some(error)) => return Err(error),
            ended => {
                *self = ended;
                return Ok(None);
            }
        };
        let block = sampler.advance(limit)?;
        *self = if sampler.is_complete() {
            // The chains and their workspaces are needed no more.
            let steps = sampler.step_sizes();
            Self::Complete(sampler.into_run_state(), steps)
        } else {
            Self::Going(sampler)
        };
        Ok(block)
    }
}

impl<'d> Runs<'d> for OnCpu<'d> {
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<BatchStep>>, SamplerError> {
        loop {
            let open = self.sets.iter_mut().enumerate().filter(|(_, set)| set.is_open());
            let chosen: Vec<_> = open.take(self.at_once).collect();
            if chosen.is_empty() {
                return Ok(None);
            }
            let one = |(set, status): (usize, &mut SetStatus<'d, _>)| {
                Some(BatchStep { set, block: status.advance(limit).transpose()? })
            };
            let steps: Vec<BatchStep> = chosen.into_par_iter().filter_map(one).collect();
            // A checkpoint may be of a run whose last draw is drawn.
            if !steps.is_empty() {
                return Ok(Some(steps));
            }
        }
    }

    fn run_state(&self, set: usize) -> Option<&RunState<'d>> {
        match self.sets.get(set)? {
            SetStatus::Waiting(prepared) => Some(&prepared.run_state),
            SetStatus::Going(sampler) => Some(sampler.run_state()),
            SetStatus::Complete(run_state, _) => Some(run_state),
            SetStatus::Failed(_) => None,
        }
    }

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        match self.sets.get(set)? {
            SetStatus::Waiting(prepared) => Some(prepared.states.iter().map(|state| state.step_size).collect()),
            SetStatus::Going(sampler) => Some(sampler.step_sizes()),
            SetStatus::Complete(_, steps) => Some(steps.clone()),
            SetStatus::Failed(_) => None,
        }
    }

    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError> {
        match self.sets.get(set) {
            Some(SetStatus::Going(sampler)) => sampler.states().map(Some),
            _ => Ok(None),
        }
    }

    fn leave(self: Box<Self>) -> Vec<SetStatus<'d, Sampler<'d>>> {
        self.sets
    }
}
