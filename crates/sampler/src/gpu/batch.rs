//! The runs of many data sets on a GPU: their chains move in launches of all, and each learns for itself on the host.
//!
//! Data sets are on the device from the first to the last of their iterations, as many at once as are asked for: a turn.
//! Kernels are compiled for shapes, so the data sets of a turn have equally many lanes; rows are those of its largest.

mod turn;

use super::host::HostChains;
use super::{GpuConfig, kernel};
use crate::batch::{Begun, Moved, Runs, Standing};
use crate::course::{Course, Next};
use crate::draw::{Block, ChainBlock};
use crate::engine::{ChainState, Chains, Shared, Tuning};
use crate::pool::Pool;
use crate::run::SamplerError;
use octopus_cuda::{Context, NutsRestart};
use octopus_density::gpu::GpuDensity;
use octopus_density::{LogDensity, warp};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use turn::Turn;

/// The data sets of a batch.
pub(crate) struct OnGpu<'d, D: ?Sized> {
    sets: Vec<Standing<'d, D, Run<'d, D>>>,
    /// The turn that is under way.
    turn: Option<Turn>,
    /// The data sets of those to come.
    turns: VecDeque<Vec<usize>>,
    context: Context,
    gpu: GpuConfig,
}

/// A run whose chains are on the device.
pub(crate) struct Run<'d, D: ?Sized> {
    course: Course<'d, D>,
    chains: Placed,
    /// Its number on the device.
    item: usize,
}

/// Chains of one data set; what the host changes of them the device is told for all data sets together.
struct Placed {
    host: HostChains,
    /// Whether the device does not know yet.
    changed: bool,
}

/// What a run does until it is looked at next.
struct Job<'a, 'd, D: ?Sized> {
    set: usize,
    run: &'a mut Run<'d, D>,
    span: Range<usize>,
    blocks: Vec<ChainBlock>,
    next: Next,
    failed: Option<SamplerError>,
}

/// What data sets have in common that are in one launch: the kernels' name, precision, lanes, and the deepest tree.
type Shape = (String, &'static str, usize, u32);

impl<'d, D: GpuDensity + ?Sized> OnGpu<'d, D> {
    /// Puts the first data sets on the device.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(crate) fn new(
        mut sets: Vec<Standing<'d, D, Run<'d, D>>>,
        at_once: usize,
        context: &Context,
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError> {
        let mut shapes: BTreeMap<Shape, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, set) in sets.iter_mut().enumerate() {
            let Standing::Waiting(begun) = set else { continue };
            let (density, config) = (begun.course.density(), begun.course.config());
            match kernel::choose_of_batch(density, config.precision) {
                Ok(_) => {
                    let (name, dim) = (density.kernel_name().to_owned(), density.dim());
                    let shape = (name, config.precision.name(), warp::lanes(dim), config.max_depth);
                    shapes.entry(shape).or_default().push((dim, number));
                }
                Err(error) => *set = Standing::Failed(Some(error)),
            }
        }
        let mut turns = Vec::new();
        for mut numbers in shapes.into_values() {
            // Those of equal size together, so that small ones do not take the rows of large ones.
            numbers.sort_by_key(|&(dim, _)| Reverse(dim));
            let of_turn = |chosen: &[(usize, usize)]| {
                let mut numbers: Vec<usize> = chosen.iter().map(|&(_, number)| number).collect();
                numbers.sort_unstable();
                numbers
            };
            turns.extend(numbers.chunks(at_once.max(1)).map(of_turn));
        }
        if turns.len() > 1 {
            // What fits in the first turn fits in all.
            turns.sort_by_cached_key(|numbers| Reverse(turn::bytes(&waiting(&sets, numbers), gpu)));
        }
        let mut all = Self { sets, turn: None, turns: turns.into(), context: context.clone(), gpu: gpu.clone() };
        all.next_turn()?;
        Ok(all)
    }

    /// Puts the data sets of the next turn on the device; whether there is one.
    fn next_turn(&mut self) -> Result<bool, SamplerError> {
        // What the last turn takes of the device is free before the next needs it; its kernels may serve again.
        let kernels = self.turn.take().map(Turn::into_kernels);
        let Some(numbers) = self.turns.pop_front() else { return Ok(false) };
        let mut turn = Turn::new(&waiting(&self.sets, &numbers), &self.context, &self.gpu, kernels)?;
        let mut old = Vec::new();
        for (item, number) in numbers.into_iter().enumerate() {
            let set = &mut self.sets[number];
            match std::mem::replace(set, Standing::Failed(None)) {
                Standing::Waiting(Begun { course, states, is_new }) => {
                    if !is_new {
                        old.push((number, states.clone()));
                    }
                    let host = HostChains::new(course.density().dim(), states);
                    *set = Standing::Going(Run { course, chains: Placed { host, changed: false }, item });
                }
                other => *set = other,
            }
        }
        let mut jobs: Vec<Job<'_, 'd, D>> = going(&mut self.sets).map(|(set, run)| Job::new(set, run, 0..0)).collect();
        let is_old = |set: usize| old.iter().position(|&(number, _)| number == set);
        jobs.iter_mut().for_each(|job| job.next.restart = is_old(job.set).is_none());
        turn.restart(&mut jobs)?;
        turn.place(&mut jobs, NutsRestart::Place, |job| is_old(job.set).is_some())?;
        for job in &mut jobs {
            if let (None, Some(at)) = (&job.failed, is_old(job.set)) {
                job.failed = job.run.chains.host.expect_same(&old[at].1).err();
            }
        }
        turn.tell(&mut jobs)?;
        let failed: Vec<_> = jobs.into_iter().filter_map(|job| Some((job.set, job.failed?))).collect();
        for (set, error) in failed {
            self.sets[set] = Standing::Failed(Some(error));
        }
        self.turn = Some(turn);
        Ok(true)
    }

    /// What has failed before it could move.
    fn untold(&mut self) -> Vec<Moved> {
        let told = |(set, standing): (usize, &mut Standing<'d, D, _>)| match standing {
            Standing::Failed(error) => Some(Moved { set, block: Err(error.take()?) }),
            _ => None,
        };
        self.sets.iter_mut().enumerate().filter_map(told).collect()
    }
}

/// The data sets of these numbers, whose turn has not come.
fn waiting<'a, 'd, D: ?Sized>(sets: &'a [Standing<'d, D, Run<'d, D>>], numbers: &[usize]) -> Vec<&'a Begun<'d, D>> {
    let begun = |&number: &usize| match &sets[number] {
        Standing::Waiting(begun) => Some(begun),
        _ => None,
    };
    numbers.iter().filter_map(begun).collect()
}

/// The runs that are under way, with their numbers.
fn going<'a, 'd, D: ?Sized>(
    sets: &'a mut [Standing<'d, D, Run<'d, D>>],
) -> impl Iterator<Item = (usize, &'a mut Run<'d, D>)> {
    sets.iter_mut().enumerate().filter_map(|(set, standing)| match standing {
        Standing::Going(run) => Some((set, run)),
        _ => None,
    })
}

impl<'a, 'd, D: LogDensity + ?Sized> Job<'a, 'd, D> {
    fn new(set: usize, run: &'a mut Run<'d, D>, span: Range<usize>) -> Self {
        let blocks = run.chains.host.blocks(span.len());
        Self { set, run, span, blocks, next: Next::default(), failed: None }
    }

    /// Learns from what was drawn.
    fn learn(&mut self) -> Block {
        let Run { course, chains, .. } = &mut *self.run;
        let (phase, first) = course.place(self.span.start);
        let blocks = std::mem::take(&mut self.blocks);
        if self.failed.is_none() && !self.span.is_empty() {
            match course.take(&blocks, self.span.end, chains) {
                Ok(next) => self.next = next,
                Err(error) => self.failed = Some(error),
            }
        }
        Block { phase, first, draws: self.span.len(), chains: blocks }
    }
}

impl<'d, D: GpuDensity + ?Sized> Runs<'d, D> for OnGpu<'d, D> {
    fn advance(&mut self, limit: usize) -> Result<Option<Vec<Moved>>, SamplerError> {
        let mut all = self.untold();
        while all.is_empty() {
            // Runs that have learned enough do not keep those waiting that still learn.
            let learning = going(&mut self.sets).filter(|(_, run)| run.course.warm_up().is_none());
            let longest = learning.filter_map(|(_, run)| Some(run.course.next(limit)?.len())).max();
            let job = |(set, run): (usize, &'_ mut Run<'d, D>)| {
                let limit = if run.course.warm_up().is_some() { longest.unwrap_or(limit).min(limit) } else { limit };
                (set, run.course.next(limit))
            };
            let spans: Vec<_> = going(&mut self.sets).map(job).collect();
            let (Some(turn), false) = (&mut self.turn, spans.is_empty()) else {
                if !self.next_turn()? {
                    return Ok(None);
                }
                all = self.untold();
                continue;
            };
            let runs = going(&mut self.sets).zip(spans);
            let mut jobs: Vec<_> =
                runs.map(|((set, run), (_, span))| Job::new(set, run, span.unwrap_or_default())).collect();
            turn.advance(&mut jobs)?;
            let blocks: Vec<Block> = jobs.par_iter_mut().map(Job::learn).collect();
            turn.restart(&mut jobs)?;
            for job in jobs.iter_mut().filter(|job| job.next.spread && job.failed.is_none()) {
                job.failed = job.run.course.spread(&mut job.run.chains).err();
            }
            turn.place(&mut jobs, NutsRestart::Place, |job| job.next.spread)?;
            turn.tell(&mut jobs)?;
            let outcomes: Vec<_> =
                jobs.into_iter().map(|job| (job.set, job.failed, job.run.course.is_complete())).collect();
            for ((set, failed, is_complete), block) in outcomes.into_iter().zip(blocks) {
                let standing = &mut self.sets[set];
                if failed.is_some() || is_complete {
                    *standing = match std::mem::replace(standing, Standing::Failed(None)) {
                        Standing::Going(run) if failed.is_none() => {
                            Standing::Complete(run.course, run.chains.host.step_sizes())
                        }
                        _ => Standing::Failed(None),
                    };
                }
                // A checkpoint may be of a run whose last draw is drawn.
                if failed.is_some() || block.draws > 0 {
                    all.push(Moved { set, block: failed.map_or(Ok(block), Err) });
                }
            }
        }
        Ok(Some(all))
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
}

impl<D: LogDensity + ?Sized> Chains<D> for Placed {
    fn pool(&mut self) -> Box<dyn Pool + '_> {
        self.host.pool()
    }

    fn clear_windows(&mut self) {
        self.host.clear_windows();
    }

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.host.points()
    }

    fn set_step(&mut self, step: f64) -> Result<(), SamplerError> {
        self.host.set_step(step);
        self.changed = true;
        Ok(())
    }

    fn spread(&mut self, _shared: &Shared<'_, '_, D>, each: usize) -> Result<(), SamplerError> {
        self.host.spread(each);
        Ok(())
    }

    fn settle(&mut self, tuning: Tuning) -> Result<(), SamplerError> {
        self.host.settle(tuning);
        self.changed = true;
        Ok(())
    }

    fn step_sizes(&self) -> Vec<f64> {
        self.host.step_sizes()
    }

    fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        Ok(self.host.states())
    }
}
