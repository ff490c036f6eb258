//! Chains on the CPU between two adaptations: each is alone on a thread (no SIMD over chains), and they take turns.

use crate::adapt::{DualAveraging, Window};
use crate::draw::ChainBlock;
use crate::engine::{Shared, Tuning};
use crate::error::SamplerError;
use crate::kernel::{Address, Kernel, PhaseSpace, Point, Workspace};
use octopus_density::DensityError;
use rayon::ScopeFifo;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Iterations after which a chain lets others have its thread. Threads that are done with their chains take over chains
/// that wait, so that slow cores, long trajectories and odd numbers of chains leave no thread idle.
const TURN: usize = 16;

/// What a chain owns.
pub(super) struct Chain {
    pub(super) point: Point,
    pub(super) averaging: DualAveraging,
    pub(super) step_size: f64,
    pub(super) window: Window,
}

/// What moves the chains: where they are, and what transitions overwrite.
pub(super) struct Mover<'a, 'd> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) shared: &'a Shared<'a, 'd>,
    pub(super) phase_space: PhaseSpace<'a, 'd>,
    pub(super) workspaces: &'a Workspaces,
}

/// The workspaces that chains are lent while a thread moves them: a few stay in the cache where one for each of a thousand
/// chains would not.
#[derive(Debug)]
pub(super) struct Workspaces {
    dim: usize,
    idle: Mutex<Vec<Workspace>>,
}

impl Workspaces {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, idle: Mutex::default() }
    }

    /// Does `work` with a workspace that nobody else uses meanwhile.
    pub(super) fn lend<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = idle().pop();
        let mut workspace = lent.unwrap_or_else(|| Workspace::new(self.dim));
        let done = work(&mut workspace);
        idle().push(workspace);
        done
    }
}

/// Moves all chains through the iterations `span`; returns their blocks in order of the chains.
pub(super) fn advance_together(
    mover: &Mover<'_, '_>,
    chains: &mut [Chain],
    span: Range<usize>,
) -> Result<Vec<ChainBlock>, SamplerError> {
    let mut jobs: Vec<Job<'_>> = chains
        .iter_mut()
        .enumerate()
        .map(|(number, chain)| Job { number, chain, left: span.clone(), block: ChainBlock::default(), failed: None })
        .collect();
    rayon::scope_fifo(|scope| {
        for job in &mut jobs {
            scope.spawn_fifo(move |scope| take_turn(mover, job, scope));
        }
    });
    jobs.into_iter().map(|job| job.failed.map_or(Ok(job.block), Err)).collect()
}

/// A chain, what it has still to do, and what it has done.
struct Job<'c> {
    number: usize,
    chain: &'c mut Chain,
    left: Range<usize>,
    block: ChainBlock,
    failed: Option<SamplerError>,
}

fn take_turn<'s>(mover: &'s Mover<'_, '_>, job: &'s mut Job<'_>, scope: &ScopeFifo<'s>) {
    if job.block.stats.is_empty() {
        job.block.positions.reserve_exact(job.left.len() * mover.shared.space.dim);
        job.block.stats.reserve_exact(job.left.len());
    }
    let Job { number, chain, left, block, failed } = job;
    mover.workspaces.lend(|workspace| {
        for iteration in left.by_ref().take(TURN) {
            if let Err(source) = chain.step(mover, *number, iteration, block, workspace) {
                *failed = Some(SamplerError::Density { chain: *number, iteration, source });
                return;
            }
        }
    });
    if job.failed.is_none() && !job.left.is_empty() {
        scope.spawn_fifo(move |scope| take_turn(mover, job, scope));
    }
}

impl Chain {
    /// Does one iteration and appends the draw to `block`.
    fn step(
        &mut self,
        mover: &Mover<'_, '_>,
        number: usize,
        iteration: usize,
        block: &mut ChainBlock,
        workspace: &mut Workspace,
    ) -> Result<(), DensityError> {
        let &Mover { kernel, shared, phase_space, .. } = mover;
        let &Shared { config, space, .. } = shared;
        let dim = space.dim;
        // Iteration 0 of the random numbers belongs to the starting points.
        let address = Address { seed: config.seed, chain: number as u32, iteration: iteration as u32 + 1 };
        let point = &mut self.point;
        let stats = kernel.step(phase_space, shared.tuned(self.step_size), address, point, workspace)?;
        let start = block.positions.len();
        block.positions.extend_from_slice(&point.x[..dim]);
        space.make_natural(&mut block.positions[start..]);
        block.stats.push(stats);
        self.learn(shared, iteration, stats.acceptance_rate)
    }

    /// Adapts the step size, and keeps the point for the metric, where warm-up asks for it.
    fn learn(&mut self, shared: &Shared<'_, '_>, iteration: usize, acceptance_rate: f64) -> Result<(), DensityError> {
        if shared.tuning == Tuning::EachChain {
            self.averaging.update(acceptance_rate);
            self.step_size = self.averaging.current();
        }
        if shared.windows.contains(&iteration) {
            self.window.push(shared.space, &self.point.x[..shared.space.dim])?;
        }
        Ok(())
    }
}
