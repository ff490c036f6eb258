//! One data set of a calibration: parameters from the prior, data, draws, and where the truth ranks among them.
//!
//! Its R-hat and effective sample size are computed here, too; `kept.rs` says which draws the truth is ranked among.

use crate::CalibrateError;
use crate::address::{StreamPurpose, sampler_seed, stream};
use crate::kept::kept;
use crate::likeness::{neighbours, together};
use crate::quantities::{DensityScratch, Quantities};
use octopus_density::{DensityError, LogDensity};
use octopus_diag::{
    Chains, DiagError, ess_bulk, ess_bulk_of_chains, ess_tail, ess_tail_of_chains, rank, rhat, rhat_nested,
};
use octopus_models::Simulator;
use octopus_sampler::{Block, Phase, SamplerConfig};

/// The settings that all data sets of a calibration share.
#[derive(Clone, Debug)]
pub struct CalibrationSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The number of draws kept of each data set, evenly of all its chains: ranks go from 0 to `kept`. With many short
    /// chains, each chain gives at most one draw where there are enough chains, taken evenly from its first to its last.
    pub kept: usize,
    /// The sampler's settings; its seed is replaced for each data set.
    pub sampler: SamplerConfig,
}

impl CalibrationSettings {
    /// # Errors
    /// When a setting of the sampler is out of range, or more draws are to be kept than there are.
    pub fn validate(&self) -> Result<(), CalibrateError> {
        self.sampler.validate()?;
        let all = self.sampler.chains.saturating_mul(self.sampler.draws);
        if self.kept == 0 || self.kept > all {
            let expected = format!("at least 1 and at most the {all} draws of all chains");
            return Err(CalibrateError::Setting { field: "kept", value: self.kept, expected });
        }
        Ok(())
    }
}

/// The outcome of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedSet {
    /// The number of the data set, from 0 on.
    pub number: u32,
    /// The result, or the reason why there is none.
    pub outcome: Result<Found, String>,
}

/// The result of a data set's draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The rank of the true value of each quantity among the kept draws.
    pub ranks: Vec<usize>,
    /// The largest R-hat of all quantities; for many short chains nested R-hat. NaN for one chain.
    pub rhat: f64,
    /// The smallest effective sample size, bulk or tail, of all quantities, in draws. For many short chains it is the
    /// effective sample size from the spread of superchains.
    pub ess: f64,
    /// The mean correlation, over pairs and quantities, of chains that share nothing, at equal iterations. The pairs
    /// are neighbouring chains, or with many short chains those in neighbouring superchains. NaN for one chain, and for
    /// fewer than three draws.
    pub correlation: f64,
    /// The mean correlation, over quantities, of draws at equal iterations of short chains that began together; `None`
    /// for other chains.
    pub together: Option<f64>,
    /// Divergent transitions after warm-up.
    pub divergences: u64,
    /// Leapfrog steps of all chains, warm-up included.
    pub leapfrogs: u64,
}

/// A data set that waits for its draws.
pub(crate) struct Posed {
    pub(crate) number: u32,
    pub(crate) density: Box<dyn LogDensity>,
    /// The settings of the data set's run.
    pub(crate) config: SamplerConfig,
    /// The true value of each quantity.
    truth: Vec<f64>,
}

impl Posed {
    /// Draws parameters, and data from them.
    ///
    /// # Errors
    /// When that gives no data that the density takes.
    pub(crate) fn new(
        simulator: &dyn Simulator,
        settings: &CalibrationSettings,
        quantities: &Quantities,
        number: u32,
    ) -> Result<Self, CalibrateError> {
        let truth = simulator.draw_parameters(&mut stream(settings.seed, number, StreamPurpose::Parameters));
        let density = simulator.simulate(&truth, &mut stream(settings.seed, number, StreamPurpose::Data))?;
        let config = SamplerConfig { seed: sampler_seed(settings.seed, number), ..settings.sampler.clone() };
        let truth = quantities.evaluate(&*density, &truth, &mut quantities.scratch(&*density))?;
        Ok(Self { number, density, config, truth })
    }
}

/// The draws of a data set so far.
pub(crate) struct Drawn<'a> {
    posed: &'a Posed,
    quantities: &'a Quantities,
    scratch: DensityScratch,
    /// The draws of each quantity and chain.
    values: Vec<Vec<Vec<f64>>>,
    divergences: u64,
    leapfrogs: u64,
}

impl<'a> Drawn<'a> {
    pub(crate) fn new(posed: &'a Posed, quantities: &'a Quantities) -> Self {
        let (scratch, values) = (quantities.scratch(&*posed.density), vec![Vec::new(); posed.truth.len()]);
        Self { posed, quantities, scratch, values, divergences: 0, leapfrogs: 0 }
    }

    /// Takes what the chains have drawn.
    ///
    /// # Errors
    /// When the density has no value at a draw.
    pub(crate) fn take(&mut self, block: &Block) -> Result<(), DensityError> {
        self.leapfrogs += block.leapfrogs();
        if block.phase == Phase::Warmup {
            return Ok(());
        }
        let density = &*self.posed.density;
        self.values.iter_mut().for_each(|chains| chains.resize(block.chains.len(), Vec::new()));
        for (c, chain) in block.chains.iter().enumerate() {
            self.divergences += chain.stats.iter().filter(|stats| stats.diverging).count() as u64;
            for position in chain.positions.chunks_exact(density.dim()) {
                let found = self.quantities.evaluate(density, position, &mut self.scratch)?;
                found.into_iter().zip(&mut self.values).for_each(|(value, chains)| chains[c].push(value));
            }
        }
        Ok(())
    }

    /// Ranks the truth among all draws.
    ///
    /// # Errors
    /// When a quantity is not a number.
    pub(crate) fn found(self, settings: &CalibrationSettings) -> Result<Found, CalibrateError> {
        let Self { posed, values, divergences, leapfrogs, .. } = self;
        let mut ties = stream(settings.seed, posed.number, StreamPurpose::Ties);
        let quantities = values.len() as f64;
        let (rhat, ess) = (f64::NAN, f64::INFINITY);
        let mut found =
            Found { ranks: Vec::new(), rhat, ess, correlation: 0.0, together: None, divergences, leapfrogs };
        let superchains = settings.sampler.nested();
        for (&truth, chains) in posed.truth.iter().zip(&values) {
            let kept: Vec<f64> = kept(settings).map(|(chain, draw)| chains[chain][draw]).collect();
            let rank = rank(truth, &kept, ties.uniform()).ok_or(DensityError::NotFinite { value: f64::NAN })?;
            found.ranks.push(rank);
            let (rhat, ess) = convergence(chains, superchains)?;
            found.rhat = found.rhat.max(rhat);
            // NaN, where it is not defined, must not look like enough.
            found.ess = if ess.is_nan() { 0.0 } else { found.ess.min(ess) };
            let size = superchains.map_or(1, |groups| chains.len() / groups);
            found.correlation += neighbours(chains, size) / quantities;
            if size > 1 {
                *found.together.get_or_insert(0.0) += together(chains, size) / quantities;
            }
        }
        Ok(found)
    }
}

/// R-hat, and the effective sample size: with superchains nested R-hat, and what the spread of superchains' means says,
/// which counts in that their chains began together.
fn convergence(chains: &[Vec<f64>], superchains: Option<usize>) -> Result<(f64, f64), DiagError> {
    let (all, draws) = (chains.concat(), chains.first().map_or(0, Vec::len));
    let view = Chains::new(&all, chains.len(), draws)?;
    let Some(groups) = superchains else { return Ok((rhat(&view), ess_bulk(&view).min(ess_tail(&view)))) };
    let size = chains.len() / groups;
    let ids: Vec<usize> = (0..chains.len()).map(|chain| chain / size).collect();
    let of_groups = Chains::new(&all, groups, size * draws)?;
    Ok((rhat_nested(&view, &ids)?, ess_bulk_of_chains(&of_groups).min(ess_tail_of_chains(&of_groups))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{Layout, Role, Transform, Variable};
    use octopus_sampler::Strategy;
    use octopus_sampler::{ChainBlock, DrawStats};

    /// A density whose quantities are x, the log likelihood -x and the log density x.
    struct Line {
        layout: Layout,
    }

    impl LogDensity for Line {
        fn dim(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            gradient[0] = 1.0;
            Ok(x[0])
        }

        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out[0] = x[0];
        }

        fn name(&self) -> &str {
            "line"
        }

        fn observations(&self) -> usize {
            1
        }

        fn log_likelihood(&self, x: &[f64], out: &mut [f64]) {
            out[0] = -x[0];
        }
    }

    /// Returns what is found when `chains` are drawn after as many iterations of warm-up. Transitions take five
    /// leapfrog steps in warm-up, then two, and the first of each phase diverges.
    fn found(sampler: SamplerConfig, kept: usize, truth: f64, chains: &[Vec<f64>]) -> Found {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let layout = Layout { variables: vec![Variable { name: "x".into(), dims: Vec::new(), role }] };
        let quantities = Quantities::of(&layout);
        let settings = CalibrationSettings { seed: 0, kept, sampler: sampler.clone() };
        let density = Box::new(Line { layout });
        let posed = Posed { number: 3, density, config: sampler, truth: vec![truth, -truth, truth] };
        let mut drawn = Drawn::new(&posed, &quantities);
        for (phase, n_steps) in [(Phase::Warmup, 5), (Phase::Sampling, 2)] {
            let stats = |draw: usize| DrawStats {
                lp: 0.0,
                acceptance_rate: 1.0,
                step_size: 1.0,
                energy: 0.0,
                energy_error: 0.0,
                max_energy_error: 0.0,
                tree_depth: 1,
                n_steps,
                index_in_trajectory: 1,
                diverging: draw == 0,
                reached_max_treedepth: false,
                ..DrawStats::default()
            };
            let chain = |x: &Vec<f64>| ChainBlock { positions: x.clone(), stats: (0..x.len()).map(stats).collect() };
            let chains: Vec<ChainBlock> = chains.iter().map(chain).collect();
            drawn.take(&Block { phase, first: 0, draws: chains[0].stats.len(), chains }).unwrap();
        }
        drawn.found(&settings).unwrap()
    }

    /// The worst R-hat and effective sample size of x and -x.
    fn worst(chains: &[Vec<f64>], of: impl Fn(&[f64]) -> (f64, f64)) -> (f64, f64) {
        let all = chains.concat();
        let negative: Vec<f64> = all.iter().map(|x| -x).collect();
        let (a, b) = (of(&all), of(&negative));
        (a.0.max(b.0), a.1.min(b.1))
    }

    /// Neighbours are swapped from chain to chain: their correlation is 1 - 6 (1 + ... + 1) / (8 (64 - 1)) = 19 / 21.
    /// Below 2.5 are two draws of each chain, above it 12 of both.
    #[test]
    fn long_chains_are_ranked_and_compared() {
        let chains =
            [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.25, 1.25, 4.25, 3.25, 6.25, 5.25, 8.25, 7.25]].map(Vec::from);
        let sampler = SamplerConfig { chains: 2, draws: 8, ..SamplerConfig::default() };
        let found = found(sampler, 16, 2.5, &chains);
        assert_eq!(found.ranks, [4, 12, 4]);
        assert_eq!((found.divergences, found.leapfrogs, found.together), (2, 2 * 8 * (5 + 2), None));
        assert!((found.correlation - 19.0 / 21.0).abs() < 1e-12, "{found:?}");
        let (expected_rhat, expected_ess) = worst(&chains, |all| {
            let view = Chains::new(all, 2, 8).unwrap();
            (rhat(&view), ess_bulk(&view).min(ess_tail(&view)))
        });
        assert_eq!((found.rhat, found.ess), (expected_rhat, expected_ess));
    }

    /// At each iteration the chains of two superchains are 1, 2 and 4, 7, times a number: the intraclass correlation is
    /// that of the test in `likeness.rs`, and chains of different superchains are multiples of each other. One draw of
    /// each chain is kept: 1, 4, 12 and 28.
    #[test]
    fn short_chains_are_compared_by_superchains() {
        let chains = [1.0, 2.0, 4.0, 7.0].map(|x| (1..=6).map(|draw| x * f64::from(draw)).collect::<Vec<f64>>());
        let sampler =
            SamplerConfig { strategy: Strategy::ManyShort, chains: 4, superchains: 2, draws: 6, ..Default::default() };
        let found = found(sampler, 4, 2.0, &chains);
        assert_eq!(found.ranks, [1, 3, 1]);
        assert_eq!((found.divergences, found.leapfrogs), (4, 4 * 6 * (5 + 2)));
        assert!((found.correlation - 1.0).abs() < 1e-12, "{found:?}");
        assert!((found.together.unwrap() - (2.75 / 5.25 + 1.0 / 3.0)).abs() < 1e-12, "{found:?}");
        let (expected_rhat, expected_ess) = worst(&chains, |all| {
            let superchains = Chains::new(all, 2, 12).unwrap();
            let rhat = rhat_nested(&Chains::new(all, 4, 6).unwrap(), &[0, 0, 1, 1]).unwrap();
            (rhat, ess_bulk_of_chains(&superchains).min(ess_tail_of_chains(&superchains)))
        });
        assert_eq!((found.rhat, found.ess), (expected_rhat, expected_ess));
    }

    /// Three draws are too few for an effective sample size.
    #[test]
    fn an_effective_sample_size_that_is_not_defined_is_none() {
        let sampler = SamplerConfig { chains: 2, draws: 3, ..SamplerConfig::default() };
        assert_eq!(found(sampler, 2, 2.5, &[vec![1.0, 2.0, 4.0], vec![1.0, 3.0, 2.0]]).ess, 0.0);
    }

    #[test]
    fn a_data_set_has_the_settings_and_a_seed_of_its_own() {
        let simulator = octopus_models::SchoolsSimulator::rubin();
        let sampler = SamplerConfig { chains: 3, draws: 12, tune: 34, seed: 56, ..SamplerConfig::default() };
        let settings = CalibrationSettings { seed: 1, kept: 9, sampler: sampler.clone() };
        let posed = Posed::new(&simulator, &settings, &Quantities::of(simulator.layout()), 7).unwrap();
        let expected = SamplerConfig { seed: sampler_seed(1, 7), ..sampler };
        assert_eq!((format!("{:?}", posed.config), posed.number), (format!("{expected:?}"), 7));
        assert_eq!(posed.truth.len(), 10, "the quantities of eight schools");
    }

    #[test]
    fn settings_are_checked() {
        let sampler = SamplerConfig { chains: 2, draws: 10, ..Default::default() };
        let of = |kept| CalibrationSettings { seed: 0, kept, sampler: sampler.clone() }.validate();
        assert!(of(20).is_ok() && of(1).is_ok());
        assert!(of(21).unwrap_err().to_string().contains("20 draws") && of(0).is_err());
    }
}
