//! The runs of many data sets on GPUs: every launch moves the chains of many runs, and each run learns for itself on
//! the host.
//!
//! Data sets are on a device from the first to the last of their iterations, as many at once as are asked for; such a
//! group of data sets is a turn. Kernels are compiled for shapes, so the data sets of a turn have equally many lanes;
//! the largest data set sets the number of rows.
//!
//! Each of several devices takes the next turn when it has finished its last, the largest turn first. Data sets on a
//! device that fails wait for another turn, and begin again where they were looked at last.

mod job;
mod resident;

use super::engine::{no_device, weight};
use super::shares::pieces;
use super::{GpuConfig, kernel};
use crate::draw::Block;
use crate::engine::ChainState;
use crate::engine::gpu_note::{GpuNote, is_loss, loss};
use crate::error::SamplerError;
use crate::run::Sampler;
use crate::run::{BatchStep, BegunRun, PendingSteps, RunState, Runs, SetStatus};
use job::{Job, Run};
use octopus_cuda::{Context, CudaError};
use octopus_density::warp;
use rayon::prelude::*;
use resident::{BatchProgress, Loaded, ResidentBatch};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// The data sets of a batch.
pub(crate) struct OnGpu<'d> {
    sets: Vec<SetStatus<'d, Run<'d>>>,
    /// The devices, those with the most multiprocessors first.
    devices: Vec<BatchDevice>,
    /// The data sets of the turns to come.
    turns: VecDeque<Vec<usize>>,
    gpu: GpuConfig,
    notes: Vec<GpuNote>,
    /// Whether the CPU takes what the last device leaves when it fails.
    falls_back: bool,
    /// The error of the device that failed last, when none is left: after that nothing moves any more.
    ended: Option<CudaError>,
}

/// A device, and what is there.
struct BatchDevice {
    context: Context,
    resident: Option<ResidentBatch>,
    /// The kernels of the last turn.
    kernels: Option<Loaded>,
    is_lost: bool,
}

impl BatchDevice {
    /// Makes room for another turn: what the last takes is free before the next needs it, but its kernels may serve again.
    fn clear(&mut self) {
        if let Some(resident) = self.resident.take() {
            self.kernels = Some(resident.into_kernels());
        }
    }

    fn number(&self) -> u32 {
        self.context.device().ordinal()
    }
}

/// What the data sets of one launch have in common: the kernels' name, precision, lanes, and the deepest tree.
type Shape = (String, &'static str, usize, u32);

impl<'d> OnGpu<'d> {
    /// Puts the first data sets on the devices. `falls_back` says whether the CPU takes what the last device leaves.
    ///
    /// # Errors
    /// When all devices or their memories fail, and when there is none.
    pub(crate) fn new(
        mut sets: Vec<SetStatus<'d, Run<'d>>>,
        at_once: usize,
        contexts: &[Context],
        gpu: &GpuConfig,
        falls_back: bool,
    ) -> Result<Self, SamplerError> {
        let mut devices: Vec<(u32, BatchDevice)> = Vec::new();
        for context in contexts {
            let weight = if contexts.len() > 1 { weight(context)? } else { 1 };
            devices.push((
                weight,
                BatchDevice { context: context.clone(), resident: None, kernels: None, is_lost: false },
            ));
        }
        devices.sort_by_key(|&(weight, _)| Reverse(weight));
        let (weights, devices): (Vec<u32>, Vec<BatchDevice>) = devices.into_iter().unzip();
        if devices.is_empty() {
            return Err(no_device().into());
        }
        let mut shapes: BTreeMap<Shape, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, set) in sets.iter_mut().enumerate() {
            let SetStatus::Waiting(prepared) = set else { continue };
            let (density, config) = (prepared.run_state.density(), prepared.run_state.config());
            let kernels = kernel::of_density(density, config);
            match kernels.and_then(|kernels| kernel::choose_of_batch(kernels, config).map(|_| kernels)) {
                Ok(kernels) => {
                    let (name, dim) = (kernels.kernel_name().to_owned(), density.dim());
                    let shape = (name, config.precision.name(), warp::lanes(dim), config.max_depth);
                    shapes.entry(shape).or_default().push((dim, number));
                }
                Err(error) => *set = SetStatus::Failed(Some(error)),
            }
        }
        let mut turns = Vec::new();
        for mut numbers in shapes.into_values() {
            // Data sets of equal size go together, so that small ones do not take the rows of large ones.
            numbers.sort_by_key(|&(dim, _)| Reverse(dim));
            let of_turn = |chosen: &[(usize, usize)]| {
                let mut numbers: Vec<usize> = chosen.iter().map(|&(_, number)| number).collect();
                numbers.sort_unstable();
                numbers
            };
            // The approximate cost of a transition of all chains.
            let chains = |prepared: &BegunRun<'d>| prepared.run_state.config().chains;
            let cost = |&(dim, number)| dim * waiting(&sets, &[number]).first().map_or(0, |prepared| chains(prepared));
            for piece in pieces(&numbers.iter().map(cost).collect::<Vec<usize>>(), &weights) {
                turns.extend(numbers[piece].chunks(at_once.max(1)).map(of_turn));
            }
        }
        if turns.len() > 1 {
            // What fits in the first turn, the largest, fits in all.
            turns.sort_by_cached_key(|numbers| Reverse(resident::bytes(&waiting(&sets, numbers), gpu)));
        }
        let (turns, gpu) = (turns.into(), gpu.clone());
        let mut all = Self { sets, devices, turns, gpu, notes: vec![], falls_back, ended: None };
        all.fill()?;
        Ok(all)
    }

    /// Begins a turn on every device that has nothing to do; whether one was prepared or is under way.
    fn fill(&mut self) -> Result<bool, SamplerError> {
        let mut busy = vec![false; self.devices.len()];
        going(&mut self.sets).for_each(|(_, run)| busy[run.device] = true);
        for at in 0..self.devices.len() {
            if busy[at] || self.devices[at].is_lost {
                continue;
            }
            self.devices[at].clear();
            if let Some(numbers) = self.turns.pop_front() {
                busy[at] = true;
                self.begin(at, numbers)?;
            }
        }
        Ok(busy.contains(&true))
    }

    /// Puts data sets on a device; where its memory does not suffice, half of them, and so on.
    fn begin(&mut self, at: usize, mut numbers: Vec<usize>) -> Result<(), SamplerError> {
        let others = self.places() > 1;
        let mut turn = loop {
            let device = &mut self.devices[at];
            let last = device.kernels.take();
            match ResidentBatch::new(&waiting(&self.sets, &numbers), &device.context, &self.gpu, last) {
                Ok(turn) => break turn,
                Err(SamplerError::Device(cause)) if cause.is_out_of_memory() && numbers.len() > 1 => {
                    let (from, to) = (numbers.len(), numbers.len() / 2);
                    self.notes.push(GpuNote::Turns { device: self.devices[at].number(), from, to, cause });
                    self.turns.push_front(numbers.split_off(to));
                }
                Err(SamplerError::Device(cause)) if others && is_loss(&cause) => {
                    self.give_up(at, cause, numbers);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        };
        let mut due = Vec::new();
        for (item, number) in numbers.into_iter().enumerate() {
            let set = &mut self.sets[number];
            match std::mem::replace(set, SetStatus::Failed(None)) {
                SetStatus::Waiting(prepared) => {
                    let is_old = prepared.due == PendingSteps::default();
                    due.push((prepared.due, is_old.then(|| prepared.states.clone())));
                    *set = SetStatus::Going(Run::new(prepared, at, item));
                }
                other => *set = other,
            }
        }
        let here = going(&mut self.sets).filter(|(_, run)| run.device == at);
        let mut jobs: Vec<Job<'_, 'd>> = here.map(|(set, run)| Job::new(set, run, 0..0)).collect();
        for (job, (next, old)) in jobs.iter_mut().zip(&due) {
            (job.next, job.place) = (*next, old.is_some());
        }
        let prepared = turn.set_off(&mut jobs);
        let lost = prepared.map_or_else(|error| loss(error, others).map(Some), |()| Ok(None))?;
        if lost.is_none() {
            for (job, (_, old)) in jobs.iter_mut().zip(&due) {
                if let (None, Some(old)) = (&job.failed, old) {
                    job.failed = job.run.chains.host.expect_same(old).err();
                }
            }
        }
        self.devices[at].resident = Some(turn);
        let stopped =
            jobs.into_iter().map(|job| Stopped { set: job.set, failed: job.failed, next: job.next }).collect();
        self.settle(stopped, lost.map(|cause| (at, cause)));
        Ok(())
    }

    /// Returns the number of places that are left for data sets: the devices, and the CPU if it takes what they leave.
    fn places(&self) -> usize {
        self.devices.iter().filter(|device| !device.is_lost).count() + usize::from(self.falls_back)
    }

    /// Ends the runs that have failed or are complete. Where their device is lost, the others wait for another.
    fn settle(&mut self, stopped: Vec<Stopped>, lost: Option<(usize, CudaError)>) {
        let mut left = Vec::new();
        for Stopped { set, failed, next } in stopped {
            let status = &mut self.sets[set];
            *status = match std::mem::replace(status, SetStatus::Failed(None)) {
                SetStatus::Going(_) if failed.is_some() => SetStatus::Failed(failed),
                SetStatus::Going(run) if run.run_state.is_complete() => {
                    SetStatus::Complete(run.run_state, run.chains.host.step_sizes())
                }
                SetStatus::Going(run) if lost.is_some() => {
                    left.push(set);
                    SetStatus::Waiting(run.leave(next))
                }
                other => other,
            };
        }
        if let Some((at, cause)) = lost {
            self.give_up(at, cause, left);
        }
    }

    /// Goes on without a device; what was there is divided over the turns that come next, or waits for the CPU.
    fn give_up(&mut self, at: usize, cause: CudaError, left: Vec<usize>) {
        let device = &mut self.devices[at];
        (device.resident, device.kernels, device.is_lost) = (None, None, true);
        let number = device.number();
        let devices = self.devices.iter().filter(|device| !device.is_lost).count();
        if devices == 0 {
            self.ended = Some(cause);
            return;
        }
        self.notes.push(GpuNote::GivenUp { device: number, cause });
        for numbers in left.chunks(left.len().div_ceil(devices).max(1)).rev() {
            self.turns.push_front(numbers.to_vec());
        }
    }

    /// Returns the failures that were not told yet.
    fn untold(&mut self) -> Vec<BatchStep> {
        let told = |(set, status): (usize, &mut SetStatus<'d, _>)| match status {
            SetStatus::Failed(error) => Some(BatchStep { set, block: Err(error.take()?) }),
            _ => None,
        };
        self.sets.iter_mut().enumerate().filter_map(told).collect()
    }

    /// Returns what has been drawn next, or has failed; `None` when all runs have ended.
    fn go_on(&mut self, limit: usize) -> Result<Option<Vec<BatchStep>>, SamplerError> {
        let mut all = self.untold();
        while all.is_empty() {
            if !self.fill()? {
                return self.ended.take().map_or(Ok(None), |error| Err(error.into()));
            }
            all = self.untold();
            if all.is_empty() {
                all = self.step(limit)?;
            }
        }
        Ok(Some(all))
    }

    /// Moves all that is under way; what it has drawn.
    fn step(&mut self, limit: usize) -> Result<Vec<BatchStep>, SamplerError> {
        // Runs that have learned enough do not keep those waiting that still learn.
        let learning = going(&mut self.sets).filter(|(_, run)| run.run_state.warm_up().is_none());
        let longest = learning.filter_map(|(_, run)| Some(run.run_state.next(limit)?.len())).max();
        let mut left = self.places();
        let mut jobs: Vec<Vec<Job<'_, 'd>>> = self.devices.iter().map(|_| Vec::new()).collect();
        for (set, run) in going(&mut self.sets) {
            let limit = if run.run_state.warm_up().is_some() { longest.unwrap_or(limit).min(limit) } else { limit };
            let (at, span) = (run.device, run.run_state.next(limit).unwrap_or_default());
            jobs[at].push(Job::new(set, run, span));
        }
        let mut lost: Vec<Option<CudaError>> = drive(&mut self.devices, &mut jobs, &mut left)?;
        for (jobs, _) in jobs.iter_mut().zip(&lost).filter(|(_, lost)| lost.is_some()) {
            jobs.iter_mut().for_each(Job::undo);
        }
        let blocks: Vec<Block> = jobs.par_iter_mut().flatten().map(Job::learn).collect();
        for ((device, jobs), lost) in self.devices.iter_mut().zip(&mut jobs).zip(&mut lost) {
            let (Some(turn), None, false) = (&mut device.resident, &lost, jobs.is_empty()) else { continue };
            if let Err(error) = turn.set_off(jobs) {
                *lost = Some(loss(error, left > 1)?);
                left -= 1;
            }
        }
        let mut blocks = blocks.into_iter();
        let (mut steps, mut stopped) = (Vec::new(), Vec::new());
        for jobs in jobs {
            let mut of_device = Vec::new();
            for (job, block) in jobs.into_iter().zip(&mut blocks) {
                // A checkpoint may be of a run whose last draw is drawn.
                if job.failed.is_none() && block.draws > 0 {
                    steps.push(BatchStep { set: job.set, block: Ok(block) });
                }
                of_device.push(Stopped { set: job.set, failed: job.failed, next: job.next });
            }
            stopped.push(of_device);
        }
        for ((at, stopped), lost) in stopped.into_iter().enumerate().zip(lost) {
            self.settle(stopped, lost.map(|cause| (at, cause)));
        }
        steps.extend(self.untold());
        steps.sort_by_key(|steps| steps.set);
        Ok(steps)
    }
}

/// How a run stands after it was steps.
struct Stopped {
    set: usize,
    failed: Option<SamplerError>,
    next: PendingSteps,
}

/// Moves the runs of each device through their spans. Of `left` devices those that fail come back with how.
fn drive(
    devices: &mut [BatchDevice],
    jobs: &mut [Vec<Job<'_, '_>>],
    left: &mut usize,
) -> Result<Vec<Option<CudaError>>, SamplerError> {
    let mut progresses: Vec<BatchProgress> = jobs.iter().map(|jobs| BatchProgress::new(jobs)).collect();
    let mut lost: Vec<Option<CudaError>> = devices.iter().map(|_| None).collect();
    while progresses.iter().any(|progress| !progress.is_done) {
        // While one device is waited for, the others have work.
        for wait in [false, true] {
            let all = devices.iter_mut().zip(&mut *jobs).zip(&mut progresses).zip(&mut lost);
            for (((device, jobs), progress), lost) in all {
                let (Some(turn), false) = (&mut device.resident, progress.is_done) else {
                    progress.is_done = true;
                    continue;
                };
                let done = if wait { turn.take(jobs, progress) } else { turn.queue(jobs, progress) };
                if let Err(error) = done {
                    *lost = Some(loss(error, *left > 1)?);
                    (progress.is_done, *left) = (true, *left - 1);
                }
            }
        }
    }
    Ok(lost)
}

/// Returns the data sets of these numbers, whose turn has not come.
fn waiting<'a, 'd>(sets: &'a [SetStatus<'d, Run<'d>>], numbers: &[usize]) -> Vec<&'a BegunRun<'d>> {
    let prepared = |&number: &usize| match &sets[number] {
        SetStatus::Waiting(prepared) => Some(prepared),
        _ => None,
    };
    numbers.iter().filter_map(prepared).collect()
}

/// Returns the runs that are under way, with their numbers.
fn going<'a, 'd>(sets: &'a mut [SetStatus<'d, Run<'d>>]) -> impl Iterator<Item = (usize, &'a mut Run<'d>)> {
    sets.iter_mut().enumerate().filter_map(|(set, status)| match status {
        SetStatus::Going(run) => Some((set, run)),
        _ => None,
    })
}

impl<'d> Runs<'d> for OnGpu<'d> {
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<BatchStep>>, SamplerError> {
        if let Some(error) = &self.ended {
            return Err(error.clone().into());
        }
        let steps = self.go_on(limit);
        if let Err(SamplerError::Device(error)) = &steps {
            self.ended = Some(error.clone());
        }
        steps
    }

    fn run_state(&self, set: usize) -> Option<&RunState<'d>> {
        match self.sets.get(set)? {
            SetStatus::Waiting(prepared) => Some(&prepared.run_state),
            SetStatus::Going(run) => Some(&run.run_state),
            SetStatus::Complete(run_state, _) => Some(run_state),
            SetStatus::Failed(_) => None,
        }
    }

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        match self.sets.get(set)? {
            SetStatus::Waiting(prepared) => Some(prepared.states.iter().map(|state| state.step_size).collect()),
            SetStatus::Going(run) => Some(run.chains.host.step_sizes()),
            SetStatus::Complete(_, steps) => Some(steps.clone()),
            SetStatus::Failed(_) => None,
        }
    }

    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError> {
        Ok(match self.sets.get(set) {
            Some(SetStatus::Going(run)) => Some(run.chains.host.states()),
            _ => None,
        })
    }

    fn take_notes(&mut self) -> Vec<GpuNote> {
        std::mem::take(&mut self.notes)
    }

    fn leave(self: Box<Self>) -> Vec<SetStatus<'d, Sampler<'d>>> {
        // A run on a device that is not lost has nothing left to do between two calls.
        self.sets.into_iter().map(|set| set.leave(|run| run.leave(PendingSteps::default()))).collect()
    }
}
