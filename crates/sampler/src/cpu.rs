//! The CPU engine: chains on the processor's threads.

mod chain;

use crate::adaptation::{DualAveraging, HostPool, Window, WindowPool};
use crate::draw::ChainBlock;
use crate::engine::{ChainState, EngineChains, SamplerEngine, Shared};
use crate::error::SamplerError;
use crate::trajectory::{Address, Metric, PhaseSpace, Point, Vectors, find_reasonable};
use chain::{Chain, Mover, Workspaces, advance_together};
use octopus_density::LogDensity;
use octopus_density::warp::Buffer;
use rayon::prelude::*;
use std::ops::Range;

/// All chains, with vectors and metric in this processor's form.
pub(crate) struct CpuEngine {
    dim: usize,
    vectors: Vectors,
    metric: Metric,
    chains: Vec<Chain>,
    workspaces: Workspaces,
}

impl CpuEngine {
    /// Makes chains that start or go on at these states; their points are not evaluated yet.
    pub(crate) fn new(dim: usize, states: Vec<ChainState>) -> Self {
        let chain = |state: ChainState| Chain {
            point: Point { x: Buffer::from_slice(&state.x), logp: state.logp, ..Point::zeros(dim) },
            averaging: state.averaging,
            step_size: state.step_size,
            window: state.window,
        };
        Self {
            dim,
            vectors: Vectors::new(dim),
            metric: Metric::new(&Default::default()),
            chains: states.into_iter().map(chain).collect(),
            workspaces: Workspaces::new(dim),
        }
    }

    /// Evaluates the chains' points where a checkpoint has left them.
    ///
    /// # Errors
    /// When the log density there is not what it was.
    pub(crate) fn resume<D: LogDensity + ?Sized>(
        shared: &Shared<'_, '_, D>,
        states: Vec<ChainState>,
    ) -> Result<Self, SamplerError> {
        let mut engine = Self::new(shared.space.density.dim(), states.clone());
        engine.metric = Metric::new(&shared.adaptation.metric);
        let Self { metric, vectors, workspaces, chains, .. } = &mut engine;
        for ((c, chain), saved) in chains.iter_mut().enumerate().zip(&states) {
            let phase_space = PhaseSpace { space: shared.space, metric, vectors };
            workspaces
                .lend(|workspace| phase_space.evaluate(&mut chain.point, &mut workspace.scratch))
                .map_err(|source| SamplerError::Density { chain: c, iteration: shared.done, source })?;
            saved.expect_same_logp(c, chain.point.logp)?;
        }
        Ok(engine)
    }
}

impl<D: LogDensity + ?Sized> EngineChains<D> for CpuEngine {
    fn pool(&mut self) -> Box<dyn WindowPool + '_> {
        let windows = self.chains.iter_mut().map(|chain| &mut chain.window).collect();
        Box::new(HostPool { windows, dim: self.dim })
    }

    fn clear_windows(&mut self) {
        self.chains.iter_mut().for_each(|chain| chain.window.clear());
    }

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.chains.iter_mut().map(|chain| &mut chain.point.x[..self.dim]).collect()
    }

    fn set_step(&mut self, step: f64) -> Result<(), SamplerError> {
        self.chains.iter_mut().for_each(|chain| chain.step_size = step);
        Ok(())
    }

    fn spread(&mut self, _shared: &Shared<'_, '_, D>, each: usize) -> Result<(), SamplerError> {
        let copy = |chain: &Chain| Chain {
            point: chain.point.clone(),
            averaging: chain.averaging.clone(),
            step_size: chain.step_size,
            window: Window::default(),
        };
        self.chains = self.chains.iter().flat_map(|chain| (0..each).map(move |_| copy(chain))).collect();
        Ok(())
    }

    fn settle(&mut self, shared: &Shared<'_, '_, D>) -> Result<(), SamplerError> {
        for chain in &mut self.chains {
            chain.step_size = shared.kept_step(chain.step_size, &chain.averaging);
            chain.window = Window::default();
        }
        Ok(())
    }

    fn step_sizes(&self) -> Vec<f64> {
        self.chains.iter().map(|chain| chain.step_size).collect()
    }

    fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        let state = |chain: &Chain| ChainState {
            x: chain.point.x[..self.dim].to_vec(),
            logp: chain.point.logp,
            averaging: chain.averaging.clone(),
            step_size: chain.step_size,
            window: chain.window.clone(),
        };
        Ok(self.chains.iter().map(state).collect())
    }
}

impl<D: LogDensity + ?Sized> SamplerEngine<D> for CpuEngine {
    fn advance(&mut self, shared: &Shared<'_, '_, D>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        let Self { vectors, metric, workspaces, chains, .. } = self;
        let phase_space = PhaseSpace { space: shared.space, metric, vectors };
        advance_together(&Mover { shared, phase_space, workspaces }, chains, span)
    }

    fn restart(&mut self, shared: &Shared<'_, '_, D>) -> Result<(), SamplerError> {
        self.metric = Metric::new(&shared.adaptation.metric);
        let Self { metric, vectors, workspaces, chains, .. } = self;
        let &Shared { config, space, done, .. } = shared;
        let phase_space = PhaseSpace { space, metric, vectors };
        chains.par_iter_mut().enumerate().try_for_each(|(c, chain)| {
            let address = Address { seed: config.seed, chain: c as u32, iteration: done as u32 };
            let Chain { point, averaging, step_size, .. } = chain;
            let first = averaging.current();
            let found = workspaces.lend(|workspace| {
                phase_space.evaluate(point, &mut workspace.scratch)?;
                find_reasonable(phase_space, address, point, first, &mut workspace.scratch)
            });
            *step_size = found.map_err(|source| SamplerError::Density { chain: c, iteration: done, source })?;
            *averaging = DualAveraging::new(*step_size, config.target_accept);
            Ok(())
        })
    }
}
