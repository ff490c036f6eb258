//! The twin as an engine of runs. Between two calls a chain is what a checkpoint has of it: everything else is made
//! again.

use super::coordinates::Coordinates;
use super::numbers::Numbers;
use super::real::{TwinReal, rounded};
use super::space::{Metric, Space, TwinPoint};
use super::step_size::{Averaging, search};
use super::trajectory::{Limits, transition};
use super::{Model, Modelled};
use crate::adapt::{DualAveraging, HostPool, Window, WindowPool};
use crate::draw::ChainBlock;
use crate::engine::{ChainState, EngineChains, SamplerEngine, Shared, Tuning};
use crate::error::SamplerError;
use octopus_density::DensityError;
use rayon::prelude::*;
use std::ops::Range;

/// All chains, in numbers of f64; `R` and `T` are what they are moved in.
pub(super) struct TwinEngine<R, T> {
    model: Box<dyn Model<R, T>>,
    chains: Vec<ChainState>,
}

impl<R: TwinReal, T: TwinReal> TwinEngine<R, T> {
    pub(super) fn new<D: Modelled>(density: &D, chains: Vec<ChainState>) -> Self {
        Self { model: density.model(), chains }
    }

    /// Evaluates the chains' points where a checkpoint has left them.
    ///
    /// # Errors
    /// When the log density there is not what it was.
    pub(super) fn resume<D: Modelled>(
        density: &D,
        shared: &Shared<'_, '_>,
        chains: Vec<ChainState>,
    ) -> Result<Self, SamplerError> {
        let engine = Self::new(density, chains);
        let space = space(engine.model.as_ref(), shared);
        for (c, chain) in engine.chains.iter().enumerate() {
            chain.expect_same_logp(c, place(&space, chain, c, shared.done)?.logp.wide())?;
        }
        Ok(engine)
    }
}

/// Returns what the chains move by, each number rounded once from f64.
fn space<'m, R: TwinReal, T: TwinReal>(model: &'m dyn Model<R, T>, shared: &Shared<'_, '_>) -> Space<'m, R, T> {
    let coordinates = Coordinates::new(&shared.space.density.hierarchies()[0], shared.space.centerings()[0]);
    Space { model, coordinates, metric: Metric::new(&shared.adaptation.metric) }
}

/// Returns a chain where the host knows it to be.
fn place<R: TwinReal, T: TwinReal>(
    space: &Space<'_, R, T>,
    chain: &ChainState,
    number: usize,
    iteration: usize,
) -> Result<TwinPoint<R, T>, SamplerError> {
    space.point(rounded(&chain.x)).ok_or_else(|| no_value(number, iteration))
}

fn no_value(chain: usize, iteration: usize) -> SamplerError {
    SamplerError::Density { chain, iteration, source: DensityError::NotFinite { value: f64::NAN } }
}

/// Moves chain `number` through `span`.
fn advance<R: TwinReal, T: TwinReal>(
    space: &Space<'_, R, T>,
    shared: &Shared<'_, '_>,
    number: usize,
    chain: &mut ChainState,
    span: Range<usize>,
) -> Result<ChainBlock, SamplerError> {
    let config = shared.config;
    let wide = |values: &[R]| values.iter().map(|value| value.wide()).collect::<Vec<f64>>();
    let limits = Limits { max_depth: config.max_depth, max_energy_error: T::of(config.max_energy_error) };
    let mut point = place(space, chain, number, shared.done)?;
    let mut averaging = Averaging::from_numbers(chain.averaging.numbers());
    let mut step_size = T::of(chain.step_size);
    let mut block = ChainBlock::default();
    for iteration in span {
        // Iteration 0 of the random numbers belongs to the starting points.
        let numbers = Numbers { seed: config.seed, chain: number as u32, iteration: iteration as u32 + 1 };
        let stats = transition(space, limits, numbers, step_size, &mut point);
        block.stats.push(stats);
        block.positions.extend(wide(&space.coordinates.make_natural(&point.x)));
        if shared.tuning == Tuning::EachChain {
            averaging.learn(T::of(stats.acceptance_rate));
            step_size = averaging.step();
        }
        if shared.windows.contains(&iteration) {
            // The density has a value at every point that a chain has come to.
            let (_, gradient) = space.model.evaluate(&space.coordinates, &point.x);
            chain.window.positions.extend(wide(&point.x));
            chain.window.gradients.extend(wide(&gradient));
        }
    }
    chain.x = wide(&point.x);
    chain.logp = point.logp.wide();
    chain.averaging = DualAveraging::from_numbers(averaging.numbers());
    chain.step_size = step_size.wide();
    Ok(block)
}

impl<R: TwinReal, T: TwinReal> EngineChains for TwinEngine<R, T> {
    fn pool(&mut self) -> Box<dyn WindowPool + '_> {
        let dim = self.chains.first().map_or(0, |chain| chain.x.len());
        Box::new(HostPool { windows: self.chains.iter_mut().map(|chain| &mut chain.window).collect(), dim })
    }

    fn clear_windows(&mut self) {
        self.chains.iter_mut().for_each(|chain| chain.window.clear());
    }

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.chains.iter_mut().map(|chain| chain.x.as_mut_slice()).collect()
    }

    fn set_step(&mut self, step: f64) -> Result<(), SamplerError> {
        self.chains.iter_mut().for_each(|chain| chain.step_size = step);
        Ok(())
    }

    fn spread(&mut self, _shared: &Shared<'_, '_>, each: usize) -> Result<(), SamplerError> {
        self.chains = self.chains.iter().flat_map(|chain| std::iter::repeat_n(chain.clone(), each)).collect();
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
        Ok(self.chains.clone())
    }
}

impl<R: TwinReal, T: TwinReal> SamplerEngine for TwinEngine<R, T> {
    fn advance(&mut self, shared: &Shared<'_, '_>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        let space = space(self.model.as_ref(), shared);
        let chains = self.chains.par_iter_mut().enumerate();
        chains.map(|(c, chain)| advance(&space, shared, c, chain, span.clone())).collect()
    }

    fn restart(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        let space = space(self.model.as_ref(), shared);
        self.chains.par_iter_mut().enumerate().try_for_each(|(c, chain)| {
            let point = place(&space, chain, c, shared.done)?;
            let numbers = Numbers { seed: shared.config.seed, chain: c as u32, iteration: shared.done as u32 };
            let from = Averaging::<T>::from_numbers(chain.averaging.numbers()).step();
            let step = search(&space, numbers, &point, from);
            let averaging = Averaging::start(step, T::of(shared.config.target_accept));
            chain.logp = point.logp.wide();
            chain.step_size = step.wide();
            chain.averaging = DualAveraging::from_numbers(averaging.numbers());
            Ok(())
        })
    }
}
