//! The runs of many data sets on GPUs: every launch moves the chains of many runs, and each run learns for itself on
//! the host.
//!
//! Data sets are on a device from the first to the last of their iterations, as many at once as are asked for; such a
//! group of data sets is a turn. Kernels are compiled for shapes, so the data sets of a turn have equally many lanes;
//! the number of rows is that of the largest.
//!
//! Each of several devices takes the next turn when it has finished its last, the largest turn first. Data sets on a
//! device that fails wait for another turn, and begin again where they were looked at last.

mod job;
mod turn;

use super::engine::{no_device, weight};
use super::note::{GpuNote, is_loss, loss};
use super::shares::pieces;
use super::{GpuConfig, kernel};
use crate::batch::{Begun, Moved, Runs, Standing};
use crate::course::{Course, Next};
use crate::draw::Block;
use crate::engine::ChainState;
use crate::run::SamplerError;
use job::{Job, Run};
use octopus_cuda::{Context, CudaError};
use octopus_density::{LogDensity, warp};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use turn::{Loaded, Turn, Walk};

/// The data sets of a batch.
pub(crate) struct OnGpu<'d, D: ?Sized> {
    sets: Vec<Standing<'d, D, Run<'d, D>>>,
    /// The devices, those with the most multiprocessors first.
    berths: Vec<Berth>,
    /// The data sets of the turns to come.
    turns: VecDeque<Vec<usize>>,
    gpu: GpuConfig,
    notes: Vec<GpuNote>,
    /// The error of the last device that failed: after that nothing moves any more.
    ended: Option<CudaError>,
}

/// A device, and what is there.
struct Berth {
    context: Context,
    turn: Option<Turn>,
    /// The kernels of the last turn.
    kernels: Option<Loaded>,
    is_lost: bool,
}

impl Berth {
    /// Makes room for another turn: what the last takes is free before the next needs it, but its kernels may serve again.
    fn clear(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.kernels = Some(turn.into_kernels());
        }
    }

    fn number(&self) -> u32 {
        self.context.device().ordinal()
    }
}

/// What the data sets of one launch have in common: the kernels' name, precision, lanes, and the deepest tree.
type Shape = (String, &'static str, usize, u32);

impl<'d, D: LogDensity + ?Sized> OnGpu<'d, D> {
    /// Puts the first data sets on the devices.
    ///
    /// # Errors
    /// When all devices or their memories fail, and when there is none.
    pub(crate) fn new(
        mut sets: Vec<Standing<'d, D, Run<'d, D>>>,
        at_once: usize,
        contexts: &[Context],
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError> {
        let mut berths: Vec<(u32, Berth)> = Vec::new();
        for context in contexts {
            let weight = if contexts.len() > 1 { weight(context)? } else { 1 };
            berths.push((weight, Berth { context: context.clone(), turn: None, kernels: None, is_lost: false }));
        }
        berths.sort_by_key(|&(weight, _)| Reverse(weight));
        let (weights, berths): (Vec<u32>, Vec<Berth>) = berths.into_iter().unzip();
        if berths.is_empty() {
            return Err(no_device().into());
        }
        let mut shapes: BTreeMap<Shape, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, set) in sets.iter_mut().enumerate() {
            let Standing::Waiting(begun) = set else { continue };
            let (density, config) = (begun.course.density(), begun.course.config());
            let kernels = kernel::of(density, config.precision);
            match kernels.and_then(|kernels| kernel::choose_of_batch(kernels, config.precision).map(|_| kernels)) {
                Ok(kernels) => {
                    let (name, dim) = (kernels.kernel_name().to_owned(), density.dim());
                    let shape = (name, config.precision.name(), warp::lanes(dim), config.max_depth);
                    shapes.entry(shape).or_default().push((dim, number));
                }
                Err(error) => *set = Standing::Failed(Some(error)),
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
            let chains = |begun: &Begun<'d, D>| begun.course.config().chains;
            let cost = |&(dim, number)| dim * waiting(&sets, &[number]).first().map_or(0, |begun| chains(begun));
            for piece in pieces(&numbers.iter().map(cost).collect::<Vec<usize>>(), &weights) {
                turns.extend(numbers[piece].chunks(at_once.max(1)).map(of_turn));
            }
        }
        if turns.len() > 1 {
            // What fits in the first turn, the largest, fits in all.
            turns.sort_by_cached_key(|numbers| Reverse(turn::bytes(&waiting(&sets, numbers), gpu)));
        }
        let mut all = Self { sets, berths, turns: turns.into(), gpu: gpu.clone(), notes: vec![], ended: None };
        all.fill()?;
        Ok(all)
    }

    /// Begins a turn on every device that has nothing to do; whether one was begun or is under way.
    fn fill(&mut self) -> Result<bool, SamplerError> {
        let mut busy = vec![false; self.berths.len()];
        going(&mut self.sets).for_each(|(_, run)| busy[run.berth] = true);
        for at in 0..self.berths.len() {
            if busy[at] || self.berths[at].is_lost {
                continue;
            }
            self.berths[at].clear();
            if let Some(numbers) = self.turns.pop_front() {
                busy[at] = true;
                self.begin(at, numbers)?;
            }
        }
        Ok(busy.contains(&true))
    }

    /// Puts data sets on a device; where its memory does not suffice, half of them, and so on.
    fn begin(&mut self, at: usize, mut numbers: Vec<usize>) -> Result<(), SamplerError> {
        let others = self.others();
        let mut turn = loop {
            let berth = &mut self.berths[at];
            let last = berth.kernels.take();
            match Turn::new(&waiting(&self.sets, &numbers), &berth.context, &self.gpu, last) {
                Ok(turn) => break turn,
                Err(SamplerError::Device(cause)) if cause.is_out_of_memory() && numbers.len() > 1 => {
                    let (from, to) = (numbers.len(), numbers.len() / 2);
                    self.notes.push(GpuNote::Turns { device: self.berths[at].number(), from, to, cause });
                    self.turns.push_front(numbers.split_off(to));
                }
                Err(SamplerError::Device(cause)) if others && (is_loss(&cause) || cause.is_out_of_memory()) => {
                    self.give_up(at, cause, numbers);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        };
        let mut due = Vec::new();
        for (item, number) in numbers.into_iter().enumerate() {
            let set = &mut self.sets[number];
            match std::mem::replace(set, Standing::Failed(None)) {
                Standing::Waiting(begun) => {
                    let is_old = begun.due == Next::default();
                    due.push((begun.due, is_old.then(|| begun.states.clone())));
                    *set = Standing::Going(Run::new(begun, at, item));
                }
                other => *set = other,
            }
        }
        let here = going(&mut self.sets).filter(|(_, run)| run.berth == at);
        let mut jobs: Vec<Job<'_, 'd, D>> = here.map(|(set, run)| Job::new(set, run, 0..0)).collect();
        for (job, (next, old)) in jobs.iter_mut().zip(&due) {
            (job.next, job.place) = (*next, old.is_some());
        }
        let begun = turn.set_off(&mut jobs);
        let lost = begun.map_or_else(|error| loss(error, others).map(Some), |()| Ok(None))?;
        if lost.is_none() {
            for (job, (_, old)) in jobs.iter_mut().zip(&due) {
                if let (None, Some(old)) = (&job.failed, old) {
                    job.failed = job.run.chains.host.expect_same(old).err();
                }
            }
        }
        self.berths[at].turn = Some(turn);
        let stopped =
            jobs.into_iter().map(|job| Stopped { set: job.set, failed: job.failed, next: job.next }).collect();
        self.settle(stopped, lost.map(|cause| (at, cause)));
        Ok(())
    }

    /// Whether more than one device is left.
    fn others(&self) -> bool {
        self.berths.iter().filter(|berth| !berth.is_lost).count() > 1
    }

    /// Ends the runs that have failed or are complete. Where their device is lost, the others wait for another.
    fn settle(&mut self, stopped: Vec<Stopped>, lost: Option<(usize, CudaError)>) {
        let mut left = Vec::new();
        for Stopped { set, failed, next } in stopped {
            let standing = &mut self.sets[set];
            *standing = match std::mem::replace(standing, Standing::Failed(None)) {
                Standing::Going(_) if failed.is_some() => Standing::Failed(failed),
                Standing::Going(run) if run.course.is_complete() => {
                    Standing::Complete(run.course, run.chains.host.step_sizes())
                }
                Standing::Going(run) if lost.is_some() => {
                    left.push(set);
                    Standing::Waiting(run.leave(next))
                }
                other => other,
            };
        }
        if let Some((at, cause)) = lost {
            self.give_up(at, cause, left);
        }
    }

    /// Goes on without a device; what was there is divided over the turns that come next.
    fn give_up(&mut self, at: usize, cause: CudaError, left: Vec<usize>) {
        let berth = &mut self.berths[at];
        (berth.turn, berth.kernels, berth.is_lost) = (None, None, true);
        self.notes.push(GpuNote::GivenUp { device: berth.number(), cause });
        let devices = self.berths.iter().filter(|berth| !berth.is_lost).count();
        for numbers in left.chunks(left.len().div_ceil(devices.max(1)).max(1)).rev() {
            self.turns.push_front(numbers.to_vec());
        }
    }

    /// Returns the failures that were not told yet.
    fn untold(&mut self) -> Vec<Moved> {
        let told = |(set, standing): (usize, &mut Standing<'d, D, _>)| match standing {
            Standing::Failed(error) => Some(Moved { set, block: Err(error.take()?) }),
            _ => None,
        };
        self.sets.iter_mut().enumerate().filter_map(told).collect()
    }

    /// Returns what has been drawn next, or has failed; `None` when all runs have ended.
    fn go_on(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError> {
        let mut all = self.untold();
        while all.is_empty() {
            if !self.fill()? {
                return Ok(None);
            }
            all = self.untold();
            if all.is_empty() {
                all = self.step(limit)?;
            }
        }
        Ok(Some(all))
    }

    /// Moves all that is under way; what it has drawn.
    fn step(&mut self, limit: usize) -> Result<Vec<Moved>, SamplerError> {
        // Runs that have learned enough do not keep those waiting that still learn.
        let learning = going(&mut self.sets).filter(|(_, run)| run.course.warm_up().is_none());
        let longest = learning.filter_map(|(_, run)| Some(run.course.next(limit)?.len())).max();
        let mut jobs: Vec<Vec<Job<'_, 'd, D>>> = self.berths.iter().map(|_| Vec::new()).collect();
        for (set, run) in going(&mut self.sets) {
            let limit = if run.course.warm_up().is_some() { longest.unwrap_or(limit).min(limit) } else { limit };
            let (at, span) = (run.berth, run.course.next(limit).unwrap_or_default());
            jobs[at].push(Job::new(set, run, span));
        }
        let mut left = self.berths.iter().filter(|berth| !berth.is_lost).count();
        let mut lost: Vec<Option<CudaError>> = drive(&mut self.berths, &mut jobs, &mut left)?;
        for (jobs, _) in jobs.iter_mut().zip(&lost).filter(|(_, lost)| lost.is_some()) {
            jobs.iter_mut().for_each(Job::undo);
        }
        let blocks: Vec<Block> = jobs.par_iter_mut().flatten().map(Job::learn).collect();
        for ((berth, jobs), lost) in self.berths.iter_mut().zip(&mut jobs).zip(&mut lost) {
            let (Some(turn), None, false) = (&mut berth.turn, &lost, jobs.is_empty()) else { continue };
            if let Err(error) = turn.set_off(jobs) {
                *lost = Some(loss(error, left > 1)?);
                left -= 1;
            }
        }
        let mut blocks = blocks.into_iter();
        let (mut moved, mut stopped) = (Vec::new(), Vec::new());
        for jobs in jobs {
            let mut of_device = Vec::new();
            for (job, block) in jobs.into_iter().zip(&mut blocks) {
                // A checkpoint may be of a run whose last draw is drawn.
                if job.failed.is_none() && block.draws > 0 {
                    moved.push(Moved { set: job.set, block: Ok(block) });
                }
                of_device.push(Stopped { set: job.set, failed: job.failed, next: job.next });
            }
            stopped.push(of_device);
        }
        for ((at, stopped), lost) in stopped.into_iter().enumerate().zip(lost) {
            self.settle(stopped, lost.map(|cause| (at, cause)));
        }
        moved.extend(self.untold());
        moved.sort_by_key(|moved| moved.set);
        Ok(moved)
    }
}

/// How a run stands after it was moved.
struct Stopped {
    set: usize,
    failed: Option<SamplerError>,
    next: Next,
}

/// Moves the runs of each device through their spans. Of `left` devices those that fail come back with how.
fn drive<D: LogDensity + ?Sized>(
    berths: &mut [Berth],
    jobs: &mut [Vec<Job<'_, '_, D>>],
    left: &mut usize,
) -> Result<Vec<Option<CudaError>>, SamplerError> {
    let mut walks: Vec<Walk> = jobs.iter().map(|jobs| Walk::new(jobs)).collect();
    let mut lost: Vec<Option<CudaError>> = berths.iter().map(|_| None).collect();
    while walks.iter().any(|walk| !walk.is_done) {
        // While one device is waited for, the others have work.
        for wait in [false, true] {
            let all = berths.iter_mut().zip(&mut *jobs).zip(&mut walks).zip(&mut lost);
            for (((berth, jobs), walk), lost) in all {
                let (Some(turn), false) = (&mut berth.turn, walk.is_done) else {
                    walk.is_done = true;
                    continue;
                };
                let done = if wait { turn.take(jobs, walk) } else { turn.queue(jobs, walk) };
                if let Err(error) = done {
                    *lost = Some(loss(error, *left > 1)?);
                    (walk.is_done, *left) = (true, *left - 1);
                }
            }
        }
    }
    Ok(lost)
}

/// Returns the data sets of these numbers, whose turn has not come.
fn waiting<'a, 'd, D: ?Sized>(sets: &'a [Standing<'d, D, Run<'d, D>>], numbers: &[usize]) -> Vec<&'a Begun<'d, D>> {
    let begun = |&number: &usize| match &sets[number] {
        Standing::Waiting(begun) => Some(begun),
        _ => None,
    };
    numbers.iter().filter_map(begun).collect()
}

/// Returns the runs that are under way, with their numbers.
fn going<'a, 'd, D: ?Sized>(
    sets: &'a mut [Standing<'d, D, Run<'d, D>>],
) -> impl Iterator<Item = (usize, &'a mut Run<'d, D>)> {
    sets.iter_mut().enumerate().filter_map(|(set, standing)| match standing {
        Standing::Going(run) => Some((set, run)),
        _ => None,
    })
}

impl<'d, D: LogDensity + ?Sized> Runs<'d, D> for OnGpu<'d, D> {
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError> {
        if let Some(error) = &self.ended {
            return Err(error.clone().into());
        }
        let moved = self.go_on(limit);
        if let Err(SamplerError::Device(error)) = &moved {
            self.ended = Some(error.clone());
        }
        moved
    }

    fn course(&self, set: usize) -> Option<&Course<'d, D>> {
        match self.sets.get(set)? {
            Standing::Waiting(begun) => Some(&begun.course),
            Standing::Going(run) => Some(&run.course),
            Standing::Complete(course, _) => Some(course),
            Standing::Failed(_) => None,
        }
    }

    fn step_sizes(&self, set: usize) -> Option<Vec<f64>> {
        match self.sets.get(set)? {
            Standing::Waiting(begun) => Some(begun.states.iter().map(|state| state.step_size).collect()),
            Standing::Going(run) => Some(run.chains.host.step_sizes()),
            Standing::Complete(_, steps) => Some(steps.clone()),
            Standing::Failed(_) => None,
        }
    }

    fn states(&self, set: usize) -> Result<Option<Vec<ChainState>>, SamplerError> {
        Ok(match self.sets.get(set) {
            Some(Standing::Going(run)) => Some(run.chains.host.states()),
            _ => None,
        })
    }

    fn take_notes(&mut self) -> Vec<GpuNote> {
        std::mem::take(&mut self.notes)
    }
}
