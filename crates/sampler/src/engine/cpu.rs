//! The CPU engine: chains on the processor's threads.

mod chain;

use crate::adapt::{DualAveraging, HostPool, Window, WindowPool};
use crate::draw::ChainBlock;
use crate::engine::{ChainState, EngineChains, SamplerEngine, Shared};
use crate::error::SamplerError;
use crate::kernel::{Address, Kernel, Metric, PhaseSpace, Point, Vectors, find_reasonable};
use chain::{Chain, Mover, Workspaces, advance_together};
use octopus_density::warp::Buffer;
use rayon::prelude::*;
use std::ops::Range;

/// All chains, with vectors and metric in this processor's form.
pub(crate) struct CpuEngine {
    kernel: Box<dyn Kernel>,
    dim: usize,
    vectors: Vectors,
    metric: Metric,
    chains: Vec<Chain>,
    workspaces: Workspaces,
}

impl CpuEngine {
    /// Makes chains that start or go on at these states and are moved by `kernel`; their points are not evaluated yet.
    pub(crate) fn new(kernel: Box<dyn Kernel>, dim: usize, states: Vec<ChainState>) -> Self {
        let chain = |state: ChainState| Chain {
            point: Point { x: Buffer::from_slice(&state.x), logp: state.logp, ..Point::zeros(dim) },
            averaging: state.averaging,
            step_size: state.step_size,
            window: state.window,
        };
        Self {
            kernel,
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
    pub(crate) fn resume(
        kernel: Box<dyn Kernel>,
        shared: &Shared<'_, '_>,
        states: Vec<ChainState>,
    ) -> Result<Self, SamplerError> {
        let mut engine = Self::new(kernel, shared.space.dim, states.clone());
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

impl EngineChains for CpuEngine {
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

    fn spread(&mut self, _shared: &Shared<'_, '_>, each: usize) -> Result<(), SamplerError> {
        let copy = |chain: &Chain| Chain {
            point: chain.point.clone(),
            averaging: chain.averaging.clone(),
            step_size: chain.step_size,
            window: Window::default(),
        };
        self.chains = self.chains.iter().flat_map(|chain| (0..each).map(move |_| copy(chain))).collect();
        Ok(())
    }

    fn settle(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
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

impl SamplerEngine for CpuEngine {
    fn advance(&mut self, shared: &Shared<'_, '_>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        let Self { kernel, vectors, metric, workspaces, chains, .. } = self;
        let phase_space = PhaseSpace { space: shared.space, metric, vectors };
        advance_together(&Mover { kernel: &**kernel, shared, phase_space, workspaces }, chains, span)
    }

    fn restart(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        self.metric = Metric::new(&shared.adaptation.metric);
        let Self { kernel, metric, vectors, workspaces, chains, .. } = self;
        let &Shared { config, space, done, .. } = shared;
        let phase_space = PhaseSpace { space, metric, vectors };
        chains.par_iter_mut().enumerate().try_for_each(|(c, chain)| {
            let address = Address { seed: config.seed, chain: c as u32, iteration: done as u32 };
            let Chain { point, averaging, step_size, .. } = chain;
            let speed = kernel.steps_of_leapfrog(space.dim);
            let first = averaging.current() / speed;
            let found = workspaces.lend(|workspace| {
                phase_space.evaluate(point, &mut workspace.scratch)?;
                match kernel.fixed_step() {
                    Some(step) => Ok(step),
                    None => find_reasonable(phase_space, address, point, first, &mut workspace.scratch)
                        .map(|step| step * speed),
                }
            });
            *step_size = found.map_err(|source| SamplerError::Density { chain: c, iteration: done, source })?;
            *averaging = DualAveraging::new(*step_size, config.target_accept);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapt::Adaptation;
    use crate::engine::{NEVER, Tuning};
    use crate::kernel::{Nuts, Space};
    use crate::{MetricEstimate, SamplerConfig};
    use octopus_density::{DensityError, Layout, LogDensity};

    /// Independent coordinates of standard deviation 1.
    struct Normal(Layout);

    impl LogDensity for Normal {
        fn name(&self) -> &str {
            "normal"
        }

        fn dim(&self) -> usize {
            2
        }

        fn layout(&self) -> &Layout {
            &self.0
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
            Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
        }

        fn expand(&self, _x: &[f64], _values: &mut [f64]) {}
    }

    fn states(chains: usize) -> Vec<ChainState> {
        let state = |c: usize| {
            let mut state = ChainState::start(vec![0.5 + c as f64, -1.0], 0.7, 1.0);
            (state.logp, state.step_size) = (-3.0 - c as f64, 0.25 * (c + 1) as f64);
            state.averaging.update(0.9 / (c + 1) as f64);
            state.window.positions.extend([c as f64, 2.0]);
            state.window.gradients.extend([1.0, c as f64]);
            state
        };
        (0..chains).map(state).collect()
    }

    /// Calls `test` with an engine of two chains and what it needs to know.
    fn with_two_chains(test: impl FnOnce(&mut CpuEngine, &Shared<'_, '_>)) {
        let density = Normal(Layout::default());
        let space = Space::new(&density, vec![]);
        let config = SamplerConfig { seed: 5, target_accept: 0.7, ..SamplerConfig::default() };
        let metric = MetricEstimate { diagonal: vec![1.0, 4.0], ..MetricEstimate::default() };
        let adaptation = Adaptation { metric, ..Adaptation::default() };
        let shared = Shared {
            config: &config,
            space: &space,
            adaptation: &adaptation,
            done: 30,
            tuning: Tuning::EachChain,
            length: None,
            center: None,
            windows: 0..0,
            stop: NEVER,
        };
        test(&mut CpuEngine::new(Box::new(Nuts), 2, states(2)), &shared);
    }

    fn saved(engine: &CpuEngine) -> Vec<ChainState> {
        engine.states().unwrap()
    }

    fn assert_same(found: &ChainState, expected: &ChainState) {
        assert_eq!((&found.x, found.logp, found.step_size), (&expected.x, expected.logp, expected.step_size));
        assert_eq!((&found.averaging, &found.window), (&expected.averaging, &expected.window));
    }

    #[test]
    fn chains_are_what_their_states_say() {
        with_two_chains(|engine, _| {
            saved(engine).iter().zip(&states(2)).for_each(|(found, expected)| assert_same(found, expected));
            let mut pool = engine.pool();
            assert_eq!(pool.count(), 2);
            assert_eq!(pool.every(crate::adapt::Side::Positions, 1).unwrap(), [0.0, 2.0, 1.0, 2.0]);
        });
    }

    /// Three of each, one after the other, with empty windows.
    #[test]
    fn chains_become_several() {
        with_two_chains(|engine, shared| {
            engine.spread(shared, 3).unwrap();
            let found = saved(engine);
            assert_eq!(found.len(), 6);
            for (c, found) in found.iter().enumerate() {
                let expected = ChainState { window: Window::default(), ..states(2)[c / 3].clone() };
                assert_same(found, &expected);
            }
        });
    }

    /// The step is searched from that of dual averaging, with the random numbers of the run, the chain and the iteration.
    #[test]
    fn steps_are_searched_anew_after_a_restart() {
        with_two_chains(|engine, shared| {
            engine.restart(shared).unwrap();
            let (metric, vectors) = (Metric::new(&shared.adaptation.metric), Vectors::new(2));
            let phase_space = PhaseSpace { space: shared.space, metric: &metric, vectors: &vectors };
            for (c, (found, before)) in saved(engine).iter().zip(&states(2)).enumerate() {
                let mut scratch = crate::kernel::Workspace::new(2).scratch;
                let mut point = Point { x: Buffer::from_slice(&before.x), ..Point::zeros(2) };
                phase_space.evaluate(&mut point, &mut scratch).unwrap();
                let address = Address { seed: 5, chain: c as u32, iteration: 30 };
                let first = before.averaging.current();
                let step = find_reasonable(phase_space, address, &point, first, &mut scratch).unwrap();
                assert_eq!((found.step_size, found.logp), (step, point.logp));
                assert_eq!(found.averaging, DualAveraging::new(step, 0.7));
            }
        });
    }
}
