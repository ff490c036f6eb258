//! The run of one data set on a device, and what it does until it is looked at next.

use super::super::host::HostChains;
use crate::adapt::WindowPool;
use crate::draw::{Block, ChainBlock};
use crate::engine::{ChainState, EngineChains, Shared};
use crate::error::SamplerError;
use crate::run::{BegunRun, PendingSteps, RunState};
use std::ops::Range;

/// A run whose chains are on a device.
pub(crate) struct Run<'d> {
    pub(super) run_state: RunState<'d>,
    pub(super) chains: Placed,
    /// The place of its device in the list, and its number there.
    pub(super) device: usize,
    pub(super) item: usize,
}

impl<'d> Run<'d> {
    pub(super) fn new(begun: BegunRun<'d>, device: usize, item: usize) -> Self {
        let host = HostChains::new(begun.run_state.density().dim(), begun.states);
        Self { run_state: begun.run_state, chains: Placed { host, changed: false }, device, item }
    }

    /// Returns the run as it stands, to go on elsewhere once this has happened.
    pub(super) fn leave(self, due: PendingSteps) -> BegunRun<'d> {
        BegunRun { run_state: self.run_state, states: self.chains.host.states(), particles: None, due }
    }
}

/// Chains of one data set; what the host changes of them the device is told for all data sets together.
pub(super) struct Placed {
    pub(super) host: HostChains,
    /// Whether the host has changed the chains and the device has not been told yet.
    pub(super) changed: bool,
}

/// What a run does until it is looked at next.
pub(super) struct Job<'a, 'd> {
    pub(super) set: usize,
    pub(super) run: &'a mut Run<'d>,
    pub(super) span: Range<usize>,
    pub(super) blocks: Vec<ChainBlock>,
    /// What must still happen before its chains go on, and whether they must be placed.
    pub(super) next: PendingSteps,
    pub(super) place: bool,
    pub(super) failed: Option<SamplerError>,
    /// The number of numbers in each chain's window before.
    window: usize,
}

impl<'a, 'd> Job<'a, 'd> {
    pub(super) fn new(set: usize, run: &'a mut Run<'d>, span: Range<usize>) -> Self {
        let host = &run.chains.host;
        let (blocks, window) = (host.blocks(span.len()), host.all.first().map_or(0, |c| c.window.positions.len()));
        Self { set, run, span, blocks, next: PendingSteps::default(), place: false, failed: None, window }
    }

    /// Returns the number of its chains.
    pub(super) fn chains(&self) -> usize {
        self.run.chains.host.all.len()
    }

    /// Takes chains that are not through their span back to its beginning: points and states are still those.
    pub(super) fn undo(&mut self) {
        let is_through = self.blocks.iter().all(|block| block.stats.len() == self.span.len());
        if is_through || self.failed.is_some() {
            return;
        }
        for chain in &mut self.run.chains.host.all {
            chain.window.positions.truncate(self.window);
            chain.window.gradients.truncate(self.window);
        }
        self.span.end = self.span.start;
        self.blocks.clear();
    }

    /// Learns from what was drawn.
    pub(super) fn learn(&mut self) -> Block {
        let Run { run_state, chains, .. } = &mut *self.run;
        let (phase, first) = run_state.place(self.span.start);
        let blocks = std::mem::take(&mut self.blocks);
        if self.failed.is_none() && !self.span.is_empty() {
            match run_state.take(&blocks, self.span.end, chains) {
                Ok(next) => self.next = next,
                Err(error) => self.failed = Some(error),
            }
        }
        Block { phase, first, draws: self.span.len(), chains: blocks }
    }

    /// Makes several chains of each, if that is due.
    pub(super) fn spread(&mut self) {
        if std::mem::take(&mut self.next.spread) && self.failed.is_none() {
            self.failed = self.run.run_state.spread(&mut self.run.chains).err();
            self.place = true;
        }
    }
}

impl EngineChains for Placed {
    fn pool(&mut self) -> Box<dyn WindowPool + '_> {
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

    fn spread(&mut self, _shared: &Shared<'_, '_>, each: usize) -> Result<(), SamplerError> {
        self.host.spread(each);
        Ok(())
    }

    fn settle(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        self.host.settle(shared);
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
