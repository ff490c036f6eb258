//! One data set, many seeds: does every run converge? This is the sweep of `octopus sweep`.
//!
//! A sampler can be right on average and still lose a chain in one run of a thousand. Ranks over many data sets hardly see
//! it; the same data under many seeds do.

use crate::CalibrateError;
use crate::judgement::RHAT;
use crate::run::{TURN, on_threads};
use octopus_density::LogDensity;
use octopus_diag::{Chains, fisher_above, limits, rhat, rhat_nested, rhat_split};
use octopus_sampler::{Phase, Sampler, SamplerConfig};
use serde::{Deserialize, Serialize};

/// The outcome of one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// The largest R-hat of all quantities but those that the model fixes; infinite where one is not defined, because a
    /// chain never moved.
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
/// to cost little more than its runs), nested R-hat for [many short chains](octopus_sampler::Strategy::ManyShort).
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
    let ids: Vec<usize> = (0..chains).map(|chain| chain * config.first_chains() / chains).collect();
    let size = chains * draws;
    let numbers_of = |quantity: usize| &values[quantity * size..][..size];
    let draws_of = |quantity: usize| Chains::new(numbers_of(quantity), chains, draws);
    // As the zeros of a Cholesky factor are: chains that never move are apart, since they start apart.
    let is_fixed = |quantity: usize| numbers_of(quantity).windows(2).all(|pair| pair[0] == pair[1]);
    for (variable, range) in density.layout().ranges() {
        for (i, place) in range.enumerate() {
            if is_fixed(place) {
                continue;
            }
            let chains = draws_of(place)?;
            let of_quantity = match config.nested() {
                Some(_) => rhat_nested(&chains, &ids)?,
                None if variable.len() == 1 => rhat(&chains),
                None => rhat_split(&chains),
            };
            run.see(of_quantity, || variable.element_name(i));
        }
    }
    let chains = draws_of(width)?;
    let of_density = if config.nested().is_some() { rhat_nested(&chains, &ids)? } else { rhat(&chains) };
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
    let SamplerConfig { chains, draws, .. } = *sampler;
    let excess = limit * limit - 1.0;
    let (groups, size, chances) = match sampler.nested() {
        None => (2 * chains, draws / 2, 2.0),
        Some(superchains) => (superchains, chains / superchains * draws, 1.0),
    };
    let (m, n) = (groups as f64, size as f64);
    let f = match sampler.nested() {
        None => n * excess + 1.0,
        Some(_) if draws > 1 => n * (1.0 + 1.0 / draws as f64) * excess,
        Some(_) => n * excess,
    };
    // Too few draws for a variance: anything may happen.
    let above = fisher_above(f, m - 1.0, m * (n - 1.0));
    let above = if above.is_nan() { 1.0 } else { above };
    (chances * quantities as f64 * above).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Layout, Role, Transform, Variable};
    use octopus_models::EightSchools;
    use octopus_random::{Purpose, Stream};
    use octopus_sampler::Strategy;
    use std::convert::Infallible;

    /// Independent draws, split and nested R-hat: as many are above the limit as is said, within four standard deviations.
    #[test]
    fn chance_is_what_independent_draws_show() {
        let sets = 4000;
        let long = SamplerConfig { chains: 4, draws: 100, ..SamplerConfig::default() };
        let many = SamplerConfig { draws: 2, superchains: 8, ..SamplerConfig::many_short(32) };
        let one = SamplerConfig { draws: 1, ..many.clone() };
        for (sampler, limit) in [(long, 1.01), (many, 1.11), (one, 1.25)] {
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

    /// Upper tails in closed form: (1 + 2 f / d)^(-d / 2) of F(2, d), and 1 - sqrt(f / (2 + f)) of F(1, 2). With a limit
    /// of 1.25 the excess of its square above 1 is 9 / 16.
    #[test]
    fn chance_in_closed_form() {
        let many = |draws| {
            let strategy = Strategy::ManyShort;
            SamplerConfig { strategy, chains: 6, superchains: 3, draws, ..SamplerConfig::default() }
        };
        let long = |draws| SamplerConfig { chains: 1, draws, ..SamplerConfig::default() };
        for (sampler, quantities, expected) in [
            (many(1), 1, (1.0 + 2.0 * (2.0 * 9.0 / 16.0) / 3.0f64).powf(-1.5)),
            (many(2), 2, 2.0 * (1.0 + 2.0 * (4.0 * 1.5 * 9.0 / 16.0) / 9.0f64).powf(-4.5)),
            (long(4), 1, 2.0 * (1.0 - (2.125f64 / 4.125).sqrt())),
            (long(4), 3, 1.0),
            // The draw in the middle is in neither half.
            (long(5), 1, 2.0 * (1.0 - (2.125f64 / 4.125).sqrt())),
            // One draw in each half, or in all of a superchain, has no variance.
            (long(2), 1, 1.0),
            (SamplerConfig { chains: 3, ..many(1) }, 1, 1.0),
        ] {
            let found = chance_above(&sampler, quantities, 1.25);
            assert!((found - expected).abs() < 1e-9, "{sampler:?}: {found}, not {expected}");
        }
    }

    /// The run itself, with the R-hat of each quantity computed from all its draws at once.
    fn expected(model: &dyn LogDensity, sampler: &SamplerConfig, seed: u64) -> SeedRun {
        let config = SamplerConfig { seed, ..sampler.clone() };
        let mut run = SeedRun { rhat: 0.0, warm_up_leapfrogs: 0, leapfrogs: 0, divergences: 0, ..run(seed, 0.0) };
        let mut sampling = Sampler::new(model, config).unwrap();
        let width = model.layout().width();
        let mut rows: Vec<Vec<Vec<f64>>> = vec![Vec::new(); sampler.chains];
        while let Some(block) = sampling.advance(usize::MAX).unwrap() {
            if block.phase == Phase::Warmup {
                run.warm_up_leapfrogs += block.leapfrogs();
                continue;
            }
            run.leapfrogs += block.leapfrogs();
            for (chain, rows) in block.chains.iter().zip(&mut rows) {
                for (position, stats) in chain.positions.chunks_exact(model.dim()).zip(&chain.stats) {
                    let mut row = vec![stats.lp; width + 1];
                    model.expand(position, &mut row[..width]);
                    rows.push(row);
                    run.divergences += u64::from(stats.diverging);
                    run.saturated += u64::from(stats.reached_max_treedepth);
                }
            }
        }
        run.step_size = sampling.step_sizes().into_iter().fold(f64::INFINITY, f64::min);
        run.warm_up = sampling.warm_up().unwrap();
        let nested = sampler.strategy == Strategy::ManyShort;
        let size = (sampler.chains / sampler.superchains).max(1);
        let ids: Vec<usize> = (0..sampler.chains).map(|chain| chain / size).collect();
        let variables = model.layout().variables.iter();
        let mut quantities: Vec<(String, bool)> = variables
            .flat_map(|variable| (0..variable.len()).map(move |i| (variable.element_name(i), variable.len() == 1)))
            .collect();
        quantities.push(("log density".to_owned(), true));
        for (q, (name, is_scalar)) in quantities.into_iter().enumerate() {
            let all: Vec<f64> = rows.iter().flatten().map(|row| row[q]).collect();
            let chains = Chains::new(&all, sampler.chains, sampler.draws).unwrap();
            let rhat = match (nested, is_scalar) {
                (true, _) => rhat_nested(&chains, &ids).unwrap(),
                (false, true) => rhat(&chains),
                (false, false) => rhat_split(&chains),
            };
            if rhat > run.rhat {
                (run.rhat, run.quantity) = (rhat, name);
            }
        }
        run
    }

    /// Small limits of depth and energy error let transitions be cut and diverge. Blocks of 100 draws are put together.
    #[test]
    fn a_seed_is_what_its_run_shows() {
        let model = EightSchools::rubin();
        let long = SamplerConfig {
            chains: 2,
            draws: 150,
            tune: 120,
            max_depth: 2,
            max_energy_error: 0.2,
            ..SamplerConfig::default()
        };
        let many = SamplerConfig { draws: 5, tune: 60, superchains: 4, ..SamplerConfig::many_short(16) };
        let many = SamplerConfig { max_depth: 2, max_energy_error: 0.2, ..many };
        for sampler in [long, many] {
            let mut found: Vec<SeedRun> = Vec::new();
            sweep_seeds(&model, &sampler, [11, 12, 13], 1, &|| false, &mut |run| {
                found.push(run);
                Ok::<(), Infallible>(())
            })
            .unwrap();
            for (found, seed) in found.iter().zip(11..) {
                assert_eq!(*found, expected(&model, &sampler, seed));
            }
            assert_eq!(found.len(), 3);
            assert!(found.iter().any(|run| run.divergences > 0) && found.iter().any(|run| run.saturated > 0));
        }
    }

    /// A standard normal, and zeros beside it.
    struct Normal {
        layout: Layout,
    }

    impl LogDensity for Normal {
        fn dim(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            gradient[0] = -x[0];
            Ok(-0.5 * x[0] * x[0])
        }

        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.fill(0.0);
            out[0] = x[0];
        }

        fn name(&self) -> &str {
            "normal"
        }
    }

    /// Where all chains have nearly the same mean, even the largest R-hat is below 1. That of a scalar is
    /// rank-normalised.
    #[test]
    fn the_largest_r_hat_may_be_below_1() {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let variables = vec![Variable { name: "x".into(), dims: Vec::new(), role }];
        let model = Normal { layout: Layout { variables: variables.clone() } };
        let sampler = SamplerConfig { chains: 2, draws: 24, tune: 40, ..SamplerConfig::default() };
        let mut found: Vec<SeedRun> = Vec::new();
        sweep_seeds(&model, &sampler, 0..60, 1, &|| false, &mut |run| {
            found.push(run);
            Ok::<(), Infallible>(())
        })
        .unwrap();
        for (found, seed) in found.iter().zip(0..) {
            assert_eq!(*found, expected(&model, &sampler, seed));
        }
        assert!(found.iter().any(|run| run.rhat < 1.0) && found.iter().any(|run| run.quantity == "x"), "{found:#?}");
        // What the model fixes is no chain that has stuck: a factor of a correlation matrix made each run a lost one.
        let zero = Variable { name: "zero".into(), dims: Vec::new(), role: Role::Derived };
        let model = Normal { layout: Layout { variables: [variables, vec![zero]].concat() } };
        let mut again: Vec<SeedRun> = Vec::new();
        sweep_seeds(&model, &sampler, 0..60, 1, &|| false, &mut |run| {
            again.push(run);
            Ok::<(), Infallible>(())
        })
        .unwrap();
        assert_eq!(again, found);
    }

    #[test]
    fn a_sweep_needs_two_chains_of_four_draws() {
        let model = EightSchools::rubin();
        let swept = |chains: usize, draws: usize| {
            let sampler = SamplerConfig { chains, draws, tune: 20, ..SamplerConfig::default() };
            let swept = sweep_seeds(&model, &sampler, [1], 1, &|| false, &mut |_| Ok::<(), Infallible>(()));
            swept.map_err(|error| error.to_string())
        };
        assert_eq!(swept(2, 4), Ok(()));
        assert!(swept(1, 4).unwrap_err().starts_with("chains = 1: "));
        assert!(swept(2, 3).unwrap_err().starts_with("draws = 3: "));
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
        assert_eq!((sweep.median_rhat, sweep.largest_rhat, sweep.warm_up_leapfrogs), (1.05, f64::INFINITY, 300.0));
        assert!(SeedSweep::count(&runs[..3], &sampler, 2).good());
    }

    /// A table of all that are lost may have thousands of rows; their number is told all the same.
    #[test]
    fn the_hundred_worst_are_named() {
        let runs: Vec<SeedRun> = (0..103).map(|seed| run(seed, 2.0 + seed as f64)).collect();
        let sweep = SeedSweep::count(&runs, &SamplerConfig::default(), 2);
        assert_eq!((sweep.lost, sweep.worst.len()), (103, 100));
        assert_eq!((sweep.worst[0].seed, sweep.worst[99].seed), (102, 3));
    }

    /// An R-hat that is not defined, as of a chain that never moved, must not look like a good one.
    #[test]
    fn what_is_not_a_number_is_lost() {
        let mut of = run(1, 1.0);
        of.see(f64::NAN, || "sigma".to_owned());
        of.see(3.0, || "mu".to_owned());
        assert_eq!((of.rhat, of.quantity.as_str()), (f64::INFINITY, "sigma"));
        // Of equal ones the first is told.
        of.see(f64::INFINITY, || "tau".to_owned());
        assert_eq!(of.quantity, "sigma");
    }
}
