//! What the host knows of the chains on a device after the last launch.

use crate::adapt::{DualAveraging, HostPool, Window, WindowPool};
use crate::draw::{ChainBlock, DrawStats};
use crate::engine::{ChainState, Shared};
use crate::error::SamplerError;
use octopus_cuda::{NutsChain, NutsOutput, NutsRecord};
use octopus_density::DensityError;

/// All chains of a run.
pub(super) struct HostChains {
    pub(super) all: Vec<HostChain>,
    /// Coordinates.
    pub(super) dim: usize,
}

/// One of them.
pub(super) struct HostChain {
    /// The point in the sampler's coordinates.
    pub(super) x: Vec<f64>,
    pub(super) state: NutsChain,
    pub(super) window: Window,
}

impl HostChains {
    pub(super) fn new(dim: usize, states: Vec<ChainState>) -> Self {
        Self { all: states.into_iter().map(HostChain::from).collect(), dim }
    }

    /// Makes room for `draws` draws of each chain.
    pub(super) fn blocks(&self, draws: usize) -> Vec<ChainBlock> {
        let block = |_: &HostChain| ChainBlock {
            positions: Vec::with_capacity(draws * self.dim),
            stats: Vec::with_capacity(draws),
        };
        self.all.iter().map(block).collect()
    }

    /// Returns the chains in the form that the device reads.
    pub(super) fn on_device(&self) -> Vec<NutsChain> {
        self.all.iter().map(|chain| chain.state).collect()
    }

    pub(super) fn pool(&mut self) -> Box<dyn WindowPool + '_> {
        let windows = self.all.iter_mut().map(|chain| &mut chain.window).collect();
        Box::new(HostPool { windows, dim: self.dim })
    }

    pub(super) fn clear_windows(&mut self) {
        self.all.iter_mut().for_each(|chain| chain.window.clear());
    }

    pub(super) fn points(&mut self) -> Vec<&mut [f64]> {
        self.all.iter_mut().map(|chain| chain.x.as_mut_slice()).collect()
    }

    pub(super) fn set_step(&mut self, step: f64) {
        self.all.iter_mut().for_each(|chain| chain.state.step_size = step);
    }

    /// Gives all chains the step size that nobody searches, from which dual averaging would begin.
    pub(super) fn fix_step(&mut self, step: f64, target_accept: f64) {
        let averaging = DualAveraging::new(step, target_accept).numbers();
        for HostChain { state, .. } in &mut self.all {
            (state.step_size, state.averaging) = (step, averaging);
        }
    }

    pub(super) fn spread(&mut self, each: usize) {
        let copy = |chain: &HostChain| HostChain { x: chain.x.clone(), state: chain.state, window: Window::default() };
        self.all = self.all.iter().flat_map(|chain| (0..each).map(move |_| copy(chain))).collect();
    }

    pub(super) fn settle(&mut self, shared: &Shared<'_, '_>) {
        for HostChain { state, window, .. } in &mut self.all {
            let averaging = DualAveraging::from_numbers(state.averaging);
            state.step_size = shared.kept_step(state.step_size, &averaging);
            *window = Window::default();
        }
    }

    pub(super) fn step_sizes(&self) -> Vec<f64> {
        self.all.iter().map(|chain| chain.state.step_size).collect()
    }

    /// Checks that the log density at every point is what it was when the chains were `saved`.
    pub(super) fn expect_same(&self, saved: &[ChainState]) -> Result<(), SamplerError> {
        let mut chains = self.all.iter().zip(saved).enumerate();
        chains.try_for_each(|(c, (chain, saved))| saved.expect_same_logp(c, chain.state.logp))
    }

    /// Returns the chains in the form that a checkpoint stores.
    pub(super) fn states(&self) -> Vec<ChainState> {
        self.all.iter().map(HostChain::saved).collect()
    }
}

/// Checks that the density has a value at the points of chains, which begin with number `first`, after so many iterations.
pub(super) fn expect_values(first: usize, chains: &[HostChain], iteration: usize) -> Result<(), SamplerError> {
    let mut chains = chains.iter().enumerate();
    chains.try_for_each(|(c, chain)| {
        let chain_number = first + c;
        chain.expect_value().map_err(|source| SamplerError::Density { chain: chain_number, iteration, source })
    })
}

impl HostChain {
    fn saved(&self) -> ChainState {
        ChainState {
            x: self.x.clone(),
            logp: self.state.logp,
            averaging: DualAveraging::from_numbers(self.state.averaging),
            step_size: self.state.step_size,
            window: self.window.clone(),
        }
    }

    /// Takes what a placement has made of the chain; an error when the density has no value at its point.
    pub(super) fn placed(&mut self, state: NutsChain) -> Result<(), DensityError> {
        self.state = state;
        self.expect_value()
    }

    /// Checks that the density has a value at the chain's point.
    fn expect_value(&self) -> Result<(), DensityError> {
        let value = self.state.logp;
        if value.is_finite() { Ok(()) } else { Err(DensityError::NotFinite { value }) }
    }

    /// Appends the draws of chain `c` to `block` and, if the window is `kept` here, its points to that; if the span `ends`
    /// here, takes where the chain is. The row of a draw at which the density has no value, if there is one.
    pub(super) fn take(
        &mut self,
        output: &NutsOutput<'_>,
        c: usize,
        (ends, kept): (bool, bool),
        block: &mut ChainBlock,
    ) -> Result<(), (usize, DensityError)> {
        if ends {
            self.state = output.end_state(c);
            self.x.clear();
            output.end_position(c, &mut self.x);
        }
        output.draws(c, &mut block.positions);
        for (row, record) in output.records(c).enumerate() {
            if record.without_gradient {
                return Err((row, DensityError::NotFinite { value: f64::NAN }));
            }
            block.stats.push(record.into());
        }
        if kept {
            output.points(c, &mut self.window.positions, &mut self.window.gradients);
        }
        Ok(())
    }
}

impl From<ChainState> for HostChain {
    fn from(state: ChainState) -> Self {
        let mut own = NutsChain::new(state.averaging.numbers(), state.step_size);
        own.logp = state.logp;
        Self { x: state.x, state: own, window: state.window }
    }
}

impl From<NutsRecord> for DrawStats {
    fn from(record: NutsRecord) -> Self {
        Self {
            lp: record.lp,
            acceptance_rate: record.acceptance_rate,
            step_size: record.step_size,
            energy: record.energy,
            energy_error: record.energy_error,
            max_energy_error: record.max_energy_error,
            tree_depth: record.tree_depth,
            n_steps: record.n_steps,
            index_in_trajectory: record.index_in_trajectory,
            length_slope: record.length_slope,
            diverging: record.diverging,
            reached_max_treedepth: record.reached_max_treedepth,
            ..DrawStats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use crate::adapt::Side;
    use crate::draw::ReadStatistic;

    fn states() -> Vec<ChainState> {
        let state = |c: usize| {
            let mut state = ChainState::start(vec![0.5 + c as f64, -1.0], 0.7, 1.0);
            (state.logp, state.step_size) = (-3.0 - c as f64, 0.25 * (c + 1) as f64);
            state.averaging.update(0.9 / (c + 1) as f64);
            state.window.positions.extend([c as f64, 2.0]);
            state.window.gradients.extend([1.0, c as f64]);
            state
        };
        (0..2).map(state).collect()
    }

    fn assert_same(found: &[ChainState], expected: &[ChainState]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((&found.x, found.logp, found.step_size), (&expected.x, expected.logp, expected.step_size));
            assert_eq!((&found.averaging, &found.window), (&expected.averaging, &expected.window));
        }
    }

    #[test]
    fn chains_are_what_their_states_say() {
        let mut chains = HostChains::new(2, states());
        assert_same(&chains.states(), &states());
        let mut pool = chains.pool();
        assert_eq!(pool.count(), 2);
        assert_eq!(pool.every(Side::Gradients, 1).unwrap(), [1.0, 0.0, 1.0, 1.0]);
        drop(pool);
        chains.spread(2);
        let twice = states().into_iter().flat_map(|state| [state.clone(), state]);
        let expected: Vec<ChainState> = twice.map(|state| ChainState { window: Window::default(), ..state }).collect();
        assert_same(&chains.states(), &expected);
    }

    /// What a sampler with kernels reports is in the record: each statistic of the table that it names is taken from there.
    #[test]
    fn the_record_has_what_samplers_report() {
        let record = NutsRecord {
            lp: 1.0,
            acceptance_rate: 1.0,
            step_size: 1.0,
            energy: 1.0,
            energy_error: 1.0,
            max_energy_error: 1.0,
            tree_depth: 1,
            n_steps: 1,
            index_in_trajectory: 1,
            length_slope: 1.0,
            diverging: true,
            without_gradient: false,
            reached_max_treedepth: true,
        };
        let (given, nothing) = (DrawStats::from(record), DrawStats::default());
        let of = |stats: &DrawStats, read: ReadStatistic| match read {
            ReadStatistic::Real(read) => read(stats),
            ReadStatistic::Count(read) => read(stats) as f64,
            ReadStatistic::Flag(read) => f64::from(u8::from(read(stats))),
        };
        let mut looked_at = 0;
        for algorithm in Algorithm::NAMES.iter().filter_map(|name| Algorithm::named(name)) {
            if algorithm.kernel().is_none_or(|kernel| !kernel.is_on_gpu()) {
                continue;
            }
            for (statistic, read) in algorithm.statistics() {
                let found = (of(&given, read), of(&nothing, read));
                assert_eq!(found, (1.0, 0.0), "{}: {statistic} is not in the record", algorithm.name());
                looked_at += 1;
            }
        }
        assert_eq!(looked_at, 11 + 8 + 8, "NUTS, and two by trajectories");
    }

    #[test]
    fn statistics_are_those_of_the_record() {
        let record = |diverging, reached_max_treedepth| NutsRecord {
            lp: 1.0,
            acceptance_rate: 2.0,
            step_size: 3.0,
            energy: 4.0,
            energy_error: 5.0,
            max_energy_error: 6.0,
            tree_depth: 7,
            n_steps: 8,
            index_in_trajectory: 9,
            length_slope: 10.0,
            diverging,
            without_gradient: false,
            reached_max_treedepth,
        };
        for (diverging, reached_max_treedepth) in [(true, false), (false, true)] {
            let expected = DrawStats {
                lp: 1.0,
                acceptance_rate: 2.0,
                step_size: 3.0,
                energy: 4.0,
                energy_error: 5.0,
                max_energy_error: 6.0,
                tree_depth: 7,
                n_steps: 8,
                index_in_trajectory: 9,
                length_slope: 10.0,
                diverging,
                reached_max_treedepth,
                ..DrawStats::default()
            };
            assert_eq!(DrawStats::from(record(diverging, reached_max_treedepth)), expected);
        }
    }
}
