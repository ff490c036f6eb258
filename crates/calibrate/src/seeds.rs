//! One data set, many seeds: does every run converge? This is the sweep of `octopus sweep`.
//!
//! A sampler can be right on average and still lose a chain in one run of a thousand. Ranks over many data sets hardly see
//! it; the same data under many seeds do.

use crate::CalibrateError;
use crate::judgement::RHAT;
use crate::run::{TURN, on_threads};
use octopus_density::LogDensity;
use octopus_diag::{Chains, limits, rhat, rhat_nested, rhat_split};
use octopus_sampler::{Phase, Sampler, SamplerConfig, Strategy};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// The outcome of one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// The largest R-hat of all quantities; infinite where one is not defined, because a chain never moved.
    pub rhat: f64,
    /// The quantity that has the largest R-hat.
    pub quantity: String,
    /// The number of divergent transitions after warm-up.
    pub divergences: u64,
    /// The number of trajectories after warm-up that were cut at the depth limit.
    pub saturated: u64,
    /// The smallest step size of all chains.
    pub step_size: f64,
    /// The number of iterations of warm-up.
    pub warm_up: usize,
    /// The number of leapfrog steps of warm-up, all chains together.
    pub warm_up_leapfrogs: u64,
    /// The number of leapfrog steps after warm-up, all chains together.
    pub leapfrogs: u64,
}

/// The outcomes of all seeds together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedSweep {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs with an R-hat of 1.01 or more.
    pub unfit: usize,
    /// The probability that a run of independent draws has an R-hat of 1.01 or more: up to this share nobody is to
    /// blame.
    pub chance: f64,
    /// The number of runs with an R-hat above 1.05.
    pub lost: usize,
    /// The number of runs with divergent transitions.
    pub diverging: usize,
    /// The number of divergent transitions of all runs.
    pub divergences: u64,
    /// The number of trajectories of all runs that were cut at the depth limit.
    pub saturated: u64,
    /// The median over runs of the largest R-hat.
    pub median_rhat: f64,
    /// The largest R-hat of all runs.
    pub largest_rhat: f64,
    /// Leapfrog steps of a run's warm-up, the mean over runs.
    pub warm_up_leapfrogs: f64,
    /// Leapfrog steps of a draw, the mean over runs.
    pub leapfrogs_a_draw: f64,
    /// The lost runs, worst first, at most 100 of them.
    pub worst: Vec<SeedRun>,
}

/// Runs the same density under each of `seeds`, one run on each of `threads` threads at a time, and hands each outcome
/// to `keep` on this thread, in any order.
///
/// R-hat is rank-normalised for scalars and the log density, split R-hat for the elements of arrays (no sorting: a sweep is
/// to cost little more than its runs), nested R-hat for [`Strategy::ManyShort`].
///
/// # Errors
/// When settings are out of range, a run fails, no thread can be started, or `keep` fails.
pub fn sweep_seeds<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    density: &dyn LogDensity,
    sampler: &SamplerConfig,
    seeds: impl IntoIterator<Item = u64, IntoIter: Send>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    keep: &mut dyn FnMut(SeedRun) -> Result<(), E>,
) -> Result<(), CalibrateError> {
    sampler.validate()?;
    if sampler.chains < 2 || sampler.draws < 4 {
        let (field, value) = if sampler.chains < 2 { ("chains", sampler.chains) } else { ("draws", sampler.draws) };
        let expected = "chains are compared with each other: at least 2 of them, of at least 4 draws".to_owned();
        return Err(CalibrateError::Setting { field, value, expected });
    }
    let work = |seed, stop: &dyn Fn() -> bool| {
        let config = SamplerConfig { seed, ..sampler.clone() };
        run_seed(density, config, stop).transpose()
    };
    let mut keep =
        |run: Result<SeedRun, CalibrateError>| keep(run?).map_err(|error| CalibrateError::Keep(error.into()));
    on_threads(seeds.into_iter(), threads, stop, &work, &mut keep)
}

/// One run; none when it was stopped.
fn run_seed(
    density: &dyn LogDensity,
    config: SamplerConfig,
    stop: &dyn Fn() -> bool,
) -> Result<Option<SeedRun>, CalibrateError> {
    let (seed, dim, width) = (config.seed, density.dim(), density.layout().width());
    let mut sampler = Sampler::new(density, config.clone())?;
    // For each quantity the draws of one chain after the other, and the log density behind them.
    let (chains, draws) = (config.chains, config.draws);
    let mut values = vec![0.0; (width + 1) * chains * draws];
    let mut rows = vec![0.0; TURN * (width + 1)];
    let mut run = SeedRun {
        seed,
        rhat: 0.0,
        quantity: String::new(),
        divergences: 0,
        saturated: 0,
        step_size: f64::INFINITY,
        warm_up: 0,
        warm_up_leapfrogs: 0,
        leapfrogs: 0,
    };
    while let Some(block) = sampler.advance(TURN)? {
        if stop() {
            return Ok(None);
        }
        if block.phase == Phase::Warmup {
            run.warm_up_leapfrogs += block.leapfrogs();
            continue;
        }
        run.leapfrogs += block.leapfrogs();
        for (c, chain) in block.chains.iter().enumerate() {
            for ((position, stats), row) in
                chain.positions.chunks_exact(dim).zip(&chain.stats).zip(rows.chunks_exact_mut(width + 1))
            {
                density.expand(position, &mut row[..width]);
                row[width] = stats.lp;
                run.divergences += u64::from(stats.diverging);
                run.saturated += u64::from(stats.reached_max_treedepth);
            }
            // Quantity by quantity, so that each is written to neighbouring places.
            for (quantity, own) in values.chunks_exact_mut(chains * draws).enumerate() {
                let own = &mut own[c * draws + block.first..][..block.draws];
                own.iter_mut().zip(rows.chunks_exact(width + 1)).for_each(|(own, row)| *own = row[quantity]);
            }
        }
    }
    run.step_size = sampler.step_sizes().into_iter().fold(f64::INFINITY, f64::min);
    run.warm_up = sampler.warm_up().unwrap_or(config.tune);
    let ids: Vec<usize> = (0..chains).map(|chain| chain * config.superchains / chains).collect();
    let size = chains * draws;
    let draws_of = |quantity: usize| Chains::new(&values[quantity * size..][..size], chains, draws);
    for (variable, range) in density.layout().ranges() {
        for (i, place) in range.enumerate() {
            let chains = draws_of(place)?;
            let of_quantity = match config.strategy {
                Strategy::ManyShort => rhat_nested(&chains, &ids)?,
                Strategy::FourLong if variable.len() == 1 => rhat(&chains),
                Strategy::FourLong => rhat_split(&chains),
            };
            run.see(of_quantity, || variable.element_name(i));
        }
    }
    let chains = draws_of(width)?;
    let of_density = if config.strategy == Strategy::ManyShort { rhat_nested(&chains, &ids)? } else { rhat(&chains) };
    run.see(of_density, || "log density".to_owned());
    Ok(Some(run))
}

impl SeedRun {
    /// Takes the R-hat of a quantity; what is not a number is the worst there is, with one chain it says nothing.
    fn see(&mut self, rhat: f64, name: impl Fn() -> String) {
        let rhat = if rhat.is_nan() { f64::INFINITY } else { rhat };
        if rhat > self.rhat {
            (self.rhat, self.quantity) = (rhat, name());
        }
    }
}

impl SeedSweep {
    /// Counts the runs of `sampler` on a density with this many quantities.
    pub fn count(runs: &[SeedRun], sampler: &SamplerConfig, quantities: usize) -> Self {
        let mut rhats: Vec<f64> = runs.iter().map(|run| run.rhat).collect();
        rhats.sort_by(f64::total_cmp);
        let how_many = |is: &dyn Fn(&SeedRun) -> bool| runs.iter().filter(|run| is(run)).count();
        let mean = |value: &dyn Fn(&SeedRun) -> u64| runs.iter().map(value).sum::<u64>() as f64 / runs.len() as f64;
        let mut worst: Vec<SeedRun> = runs.iter().filter(|run| run.rhat > RHAT).cloned().collect();
        worst.sort_by(|a, b| b.rhat.total_cmp(&a.rhat).then(a.seed.cmp(&b.seed)));
        let lost = worst.len();
        worst.truncate(100);
        Self {
            runs: runs.len(),
            unfit: how_many(&|run| run.rhat >= limits::RHAT),
            chance: chance_above(sampler, quantities, limits::RHAT),
            lost,
            diverging: how_many(&|run| run.divergences > 0),
            divergences: runs.iter().map(|run| run.divergences).sum(),
            saturated: runs.iter().map(|run| run.saturated).sum(),
            median_rhat: rhats.get(rhats.len() / 2).copied().unwrap_or(f64::NAN),
            largest_rhat: rhats.last().copied().unwrap_or(f64::NAN),
            warm_up_leapfrogs: mean(&|run| run.warm_up_leapfrogs),
            leapfrogs_a_draw: mean(&|run| run.leapfrogs) / (sampler.chains * sampler.draws) as f64,
            worst,
        }
    }

    /// Returns whether no run has lost a chain.
    pub fn good(&self) -> bool {
        self.lost == 0
    }
}

/// Returns the largest probability that chance alone lifts the largest R-hat of this many quantities above `limit`,
/// where all draws are independent (Bonferroni).
///
/// With `m` groups of `n` draws (halves of chains; superchains with the draws of all their chains) `n (R^2 - 1) + 1` of
/// split R-hat is distributed as `F(m - 1, m (n - 1))`, folded R-hat being a second chance. So is `n (R^2 - 1)` of nested
/// R-hat where chains have one draw; with `N` draws the variance within superchains counts that of chains' means twice, and
/// it is `n (1 + 1 / N) (R^2 - 1)`.
fn chance_above(sampler: &SamplerConfig, quantities: usize, limit: f64) -> f64 {
    let SamplerConfig { chains, draws, superchains, strategy, .. } = *sampler;
    let excess = limit * limit - 1.0;
    let (groups, size, chances) = match strategy {
        Strategy::FourLong => (2 * chains, draws / 2, 2.0),
        Strategy::ManyShort => (superchains, chains / superchains * draws, 1.0),
    };
    let (m, n) = (groups as f64, size as f64);
    let f = match strategy {
        Strategy::FourLong => n * excess + 1.0,
        Strategy::ManyShort if draws > 1 => n * (1.0 + 1.0 / draws as f64) * excess,
        Strategy::ManyShort => n * excess,
    };
    // Too few draws for a variance: anything may happen.
    let above = FisherSnedecor::new(m - 1.0, m * (n - 1.0)).map_or(1.0, |chance| chance.sf(f));
    (chances * quantities as f64 * above).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// Independent draws, split and nested R-hat: as many are above the limit as is said, within four standard deviations.
    #[test]
    fn chance_is_what_independent_draws_show() {
        let sets = 4000;
        let long = SamplerConfig { chains: 4, draws: 100, ..SamplerConfig::default() };
        let many = SamplerConfig { draws: 2, superchains: 8, ..SamplerConfig::many_short(32) };
        for (sampler, limit) in [(long, 1.01), (many, 1.11)] {
            let above = (0..sets).filter(|&set| {
                let mut random = Stream::new(3, set, 0, Purpose::User);
                let all: Vec<f64> = (0..sampler.chains * sampler.draws).map(|_| random.normal()).collect();
                let chains = Chains::new(&all, sampler.chains, sampler.draws).unwrap();
                let ids: Vec<usize> = (0..sampler.chains).map(|c| c * sampler.superchains / sampler.chains).collect();
                let nested = sampler.strategy == Strategy::ManyShort;
                (if nested { rhat_nested(&chains, &ids).unwrap() } else { rhat_split(&chains) }) > limit
            });
            let folded = if sampler.strategy == Strategy::ManyShort { 1.0 } else { 2.0 };
            let expected = chance_above(&sampler, 1, limit) / folded * f64::from(sets);
            let found = above.count() as f64;
            assert!(expected > 50.0 && (found - expected).abs() < 4.0 * expected.sqrt(), "{found}, not {expected}");
        }
    }

    fn run(seed: u64, rhat: f64) -> SeedRun {
        let (quantity, step_size) = ("mu".to_owned(), 0.5);
        let (saturated, warm_up, warm_up_leapfrogs) = (0, 100, 300);
        SeedRun {
            seed,
            rhat,
            quantity,
            divergences: seed,
            saturated,
            step_size,
            warm_up,
            warm_up_leapfrogs,
            leapfrogs: 80,
        }
    }

    /// Just inside each limit and just beyond.
    #[test]
    fn runs_are_counted_at_their_limits() {
        let sampler = SamplerConfig { chains: 4, draws: 10, ..SamplerConfig::default() };
        let runs = [run(0, 1.009), run(1, 1.01), run(2, 1.05), run(3, 1.051), run(4, f64::INFINITY)];
        let sweep = SeedSweep::count(&runs, &sampler, 2);
        assert_eq!((sweep.runs, sweep.unfit, sweep.lost, sweep.good()), (5, 4, 2, false));
        assert_eq!((sweep.diverging, sweep.divergences, sweep.leapfrogs_a_draw), (4, 10, 2.0));
        assert_eq!(sweep.worst.iter().map(|run| run.seed).collect::<Vec<_>>(), [4, 3]);
        assert!(SeedSweep::count(&runs[..3], &sampler, 2).good());
    }

    /// An R-hat that is not defined, as of a chain that never moved, must not look like a good one.
    #[test]
    fn what_is_not_a_number_is_lost() {
        let mut of = run(1, 1.0);
        of.see(f64::NAN, || "sigma".to_owned());
        of.see(3.0, || "mu".to_owned());
        assert_eq!((of.rhat, of.quantity.as_str()), (f64::INFINITY, "sigma"));
    }
}
