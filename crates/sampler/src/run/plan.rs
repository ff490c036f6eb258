//! Predicts what a run will take, before it begins, and lists other runs that draw as much.
//!
//! Predicted are leapfrog steps, warm-up and draws for an effective sample size; the figures stand here. Which of the
//! predicted runs `--strategy auto` takes on one device is decided here (`best`).
//!
//! The figures were measured with well-adapted chains on hierarchical models: they rank strategies, and predict the
//! times of runs that nobody has seen yet to within a factor of two.

use crate::adapt::{SPREADING, Schedule, f_quantile};
use crate::config::{SamplerConfig, Strategy};
use crate::kernel::Method;

/// While chains learn together, a transition takes longer by this factor: trajectories are longer before the metric is
/// known, and threads wait for what is learned.
const LEARNING: f64 = 1.5;
/// Windows after which what many chains learn has mostly settled, and iterations that this takes at the least.
const WINDOWS: usize = 3;
const SETTLED: usize = 40;
/// Windows after which what a few chains learn, all of them, has settled where they mix well.
const WINDOWS_OF_ALL: usize = 2;
/// The share of runs whose chains mix well that misses the limit of R-hat by chance.
const MISSED: f64 = 0.01;
/// Effective draws of the tails, which have fewer than the bulk, for each draw.
const TAIL_EFFICIENCY: f64 = 0.55;
/// More chains than this hardly draw faster anywhere.
const MOST_CHAINS: usize = 16_384;

/// A part of a run in which a fixed number of chains move side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// The number of chains that move side by side.
    pub chains: usize,
    /// The approximate number of leapfrog steps that each chain makes. Steps while chains learn together count 1.5
    /// times, because they take longer.
    pub steps: f64,
    /// The number of transitions of each chain.
    pub transitions: usize,
}

/// Returns the stages of a run of a density with `dim` coordinates. A run costs the sum over its stages of
/// [`Stage::steps`] times the time of one leapfrog step of all the stage's chains side by side.
pub fn stages(config: &SamplerConfig, dim: usize) -> Vec<Stage> {
    let leapfrogs = match config.algorithm.method() {
        Method::Chains(kernel) => kernel.leapfrogs(dim),
        Method::Population(method) => return vec![method.stage(config)],
    };
    let of = |chains, transitions: usize, times| Stage {
        chains,
        transitions,
        steps: transitions as f64 * leapfrogs * times,
    };
    if !config.warms_up_together() {
        return vec![of(config.chains, config.tune + config.draws, 1.0)];
    }
    let schedule = Schedule::of(config);
    let (settled, spreading) = match config.nested() {
        Some(_) => (schedule.end_of(WINDOWS).max(SETTLED), SPREADING),
        None => (schedule.end_of(WINDOWS_OF_ALL) + config.windows.term_buffer, 0),
    };
    vec![
        of(config.first_chains(), settled.min(config.tune), LEARNING),
        of(config.chains, config.draws + spreading, 1.0),
    ]
}

/// Returns about how many draws, of all chains together, make `effective` effective draws of every parameter's bulk and
/// tails.
pub fn draws_for(effective: f64) -> usize {
    (effective / TAIL_EFFICIENCY).ceil() as usize
}

/// Returns the number of draws of each chain from which on the largest R-hat of `dim` quantities is below `rhat`, where
/// chains mix well.
///
/// For g superchains (or chains) with m effective draws each, R-hat is about 1 + F / (2 m), where F is the ratio of an
/// analysis of variance with g - 1 degrees of freedom. The largest F of all quantities counts.
pub fn least_draws(config: &SamplerConfig, dim: usize, rhat: f64) -> usize {
    /// Degrees of freedom within the chains: draws are so many that their exact number does not matter.
    const MANY: f64 = 1e6;
    let groups = config.first_chains();
    if groups < 2 {
        return 1;
    }
    let largest = f_quantile(MISSED / dim.max(1) as f64, (groups - 1) as f64, MANY);
    let of_group = largest / (2.0 * (rhat - 1.0) * TAIL_EFFICIENCY);
    ((of_group * groups as f64 / config.chains as f64).ceil() as usize).max(1)
}

/// Lists runs that draw at least `draws` draws in all. The first has the chains of `base`, which all warm up together;
/// the others have many short chains, in numbers from 8 on that double each time, and make at least [`least_draws`] each. `dim` is the number of coordinates, `rhat` the limit of R-hat. All other settings are those of `base`.
pub fn alternatives(base: &SamplerConfig, draws: usize, dim: usize, rhat: f64) -> Vec<SamplerConfig> {
    let long = SamplerConfig { strategy: Strategy::CrossChain, ..base.clone() };
    let long = SamplerConfig { draws: draws.div_ceil(long.chains.max(1)), ..long };
    let counts = std::iter::successors(Some(8), |chains| Some(2 * chains)).take_while(|&chains| chains <= MOST_CHAINS);
    let many = counts.flat_map(|chains| {
        let most = SamplerConfig::many_short(chains).superchains;
        let fewer = (most > 16 && chains.is_multiple_of(16)).then_some(16);
        [Some(most), fewer].into_iter().flatten().map(move |superchains| {
            let draws = draws.div_ceil(chains);
            let config = SamplerConfig { strategy: Strategy::ManyShort, chains, superchains, draws, ..base.clone() };
            SamplerConfig { draws: draws.max(least_draws(&config, dim, rhat)), ..config }
        })
    });
    std::iter::once(long).chain(many).collect()
}

/// Chooses among runs with predicted costs: of all runs that cost hardly more than the cheapest, the one with the most
/// chains, since more chains show better whether they differ. Returns `None` for an empty list.
pub fn best(costs: &[(SamplerConfig, f64)]) -> Option<&(SamplerConfig, f64)> {
    /// Costs within this factor are equal: predictions are not more accurate.
    const HARDLY: f64 = 1.1;
    let least = costs.iter().map(|(_, cost)| *cost).min_by(f64::total_cmp)?;
    costs.iter().filter(|(_, cost)| *cost <= HARDLY * least).max_by_key(|(config, _)| config.chains)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prd() -> SamplerConfig {
        SamplerConfig { chains: 4, draws: 2000, tune: 1000, strategy: Strategy::FourLong, ..SamplerConfig::default() }
    }

    #[test]
    fn alternatives_can_be_run_and_draw_enough() {
        for draws in [8000, 100, 1, 1_000_000] {
            let all = alternatives(&prd(), draws, 103, 1.01);
            assert!(all.len() > 11 && all[0].strategy == Strategy::CrossChain);
            for config in all {
                assert_eq!(config.validate(), Ok(()), "{config:?}");
                assert!(config.chains * config.draws >= draws, "{config:?}");
                assert!(
                    config.strategy == Strategy::CrossChain || config.draws >= least_draws(&config, 103, 1.01),
                    "{config:?}"
                );
            }
        }
    }

    /// Warm-up as it was measured with 4, 8, 16 and 64 superchains: 108 to 140 iterations, 60 to 76, 44 to 60, 44 to 50, the
    /// spreading of 4 included.
    #[test]
    fn warm_up_takes_as_long_as_it_did() {
        for (superchains, measured) in [(4, 104..=136), (8, 56..=72), (16, 40..=56), (64, 40..=46)] {
            let config = SamplerConfig { superchains, ..SamplerConfig::many_short(1024) };
            let stages = stages(&config, 103);
            assert!(measured.contains(&stages[0].transitions), "{stages:?}");
            assert_eq!((stages[0].chains, stages[1].chains, stages[1].transitions), (superchains, 1024, 1004));
        }
        let long = stages(&prd(), 1003);
        assert_eq!(long, [Stage { chains: 4, transitions: 3000, steps: 93_000.0 }]);
    }

    /// R-hat as it was measured (docs/performance.md, `octopus validate`): 1.0124 with 728 draws in each of 4 superchains
    /// and 1000 groups, 1.0137 with 248 in each of 16, 1.0115 of 500 groups; 1.0093 with 500 in each of 8, 1.0075 with 192
    /// in each of 64 of 100 groups, 1.0083 in 4 chains of 743.
    #[test]
    fn so_many_draws_have_an_r_hat_below_the_limit() {
        let least = |superchains, dim| {
            let config = SamplerConfig { chains: superchains, superchains, ..SamplerConfig::many_short(4) };
            least_draws(&config, dim, 1.01)
        };
        assert!(least(4, 1003) > 728 && least(16, 1003) > 248 && least(16, 503) > 248);
        assert!(least(8, 503) < 550 && least(64, 103) < 192 && least(4, 103) < 743);
        assert_eq!(least_draws(&SamplerConfig { chains: 1, ..prd() }, 103, 1.01), 1);
        let many = SamplerConfig::many_short(16_384);
        assert!((1..=2).contains(&least_draws(&many, 103, 1.01)), "{}", least_draws(&many, 103, 1.01));
    }

    #[test]
    fn the_most_chains_of_the_fastest() {
        let of = |chains, seconds| (SamplerConfig { chains, ..SamplerConfig::default() }, seconds);
        let all = [of(4, 1.0), of(16, 1.05), of(64, 1.2), of(8, 1.09)];
        assert_eq!(best(&all).map(|(config, _)| config.chains), Some(16));
        assert_eq!(best(&[]), None);
    }

    /// 15 leapfrog steps of up to 256 coordinates and 31 of more; chains that learn together take 1.5 times as long.
    #[test]
    fn stages_by_hand() {
        let long = SamplerConfig { chains: 3, draws: 70, tune: 30, ..prd() };
        assert_eq!(stages(&long, 256), [Stage { chains: 3, transitions: 100, steps: 1500.0 }]);
        assert_eq!(stages(&long, 257), [Stage { chains: 3, transitions: 100, steps: 3100.0 }]);
        // Two windows end after 55 iterations, and 50 follow.
        let together = |tune| stages(&SamplerConfig { strategy: Strategy::CrossChain, tune, ..long.clone() }, 256);
        let learning = |transitions| Stage { chains: 3, transitions, steps: transitions as f64 * 22.5 };
        let drawing = Stage { chains: 3, transitions: 70, steps: 1050.0 };
        assert_eq!(together(1000), [learning(105), drawing]);
        assert_eq!(
            (together(90), together(19)),
            (vec![learning(90), drawing], stages(&SamplerConfig { tune: 19, ..long.clone() }, 256))
        );
        let many = |superchains, tune| {
            let config = SamplerConfig { superchains, tune, draws: 96, ..SamplerConfig::many_short(64) };
            let [learning, drawing] = <[Stage; 2]>::try_from(stages(&config, 10)).unwrap();
            assert_eq!(drawing, Stage { chains: 64, transitions: 100, steps: 1500.0 });
            assert_eq!((learning.chains, learning.steps), (superchains, learning.transitions as f64 * 22.5));
            learning.transitions
        };
        // Three windows of 32 iterations after the first 8, of 4 iterations, and what is left of short warm-ups.
        assert_eq!((many(4, 1000), many(16, 1000), many(16, 39), many(4, 1000 - 1)), (104, 40, 39, 104));
    }

    #[test]
    fn draws_for_so_many_effective_draws() {
        assert_eq!((draws_for(400.0), draws_for(1000.0), draws_for(55.1), draws_for(0.0)), (728, 1819, 101, 0));
    }

    /// The rule with its numbers written out.
    #[test]
    fn least_draws_follow_the_rule() {
        let least = |groups: usize, chains, dim, rhat| {
            let config = SamplerConfig { superchains: groups, chains, ..SamplerConfig::many_short(chains) };
            least_draws(&config, dim, rhat)
        };
        for (groups, chains, quantities) in [
            (2, 2, 1),
            (3, 3, 10),
            (4, 4, 103),
            (4, 12, 103),
            (5, 15, 7),
            (16, 64, 1003),
            (64, 4096, 5),
            (64, 4096, 9000),
        ] {
            for rhat in [1.01, 1.013, 1.05, 1.2, f64::INFINITY] {
                let largest = f_quantile(0.01 / quantities as f64, groups as f64 - 1.0, 1e6);
                let of_all = groups as f64 * largest / (1.1 * (rhat - 1.0));
                let expected = ((of_all / chains as f64).ceil() as usize).max(1);
                assert_eq!(least(groups, chains, quantities, rhat), expected, "{groups} {chains} {quantities} {rhat}");
                let long = SamplerConfig { chains: groups, ..prd() };
                assert_eq!(least_draws(&long, quantities, rhat), least(groups, groups, quantities, rhat));
            }
        }
        assert_eq!((least(1, 8, 103, 1.01), least(4, 4, 0, 1.01)), (1, least(4, 4, 1, 1.01)));
    }

    /// All runs, listed by a loop over numbers of chains.
    #[test]
    fn alternatives_are_all_numbers_that_double() {
        let base =
            SamplerConfig { seed: 7, tune: 300, target_accept: 0.9, chains: 3, draws: 5, superchains: 3, ..prd() };
        for (draws, rhat) in [(8001, 1.5), (8001, 1.01), (20, 1.01), (3, 2.0), (77, 1.5)] {
            let all = alternatives(&base, draws, 103, rhat);
            let strategy = Strategy::CrossChain;
            assert_eq!(all[0], SamplerConfig { draws: draws.div_ceil(3), strategy, ..base.clone() });
            let mut expected = Vec::new();
            for chains in (8..=16_384_usize).filter(|chains| chains.is_power_of_two()) {
                let most = (4..=64).rev().find(|&groups| chains.is_multiple_of(groups) && chains / groups >= 4);
                let most = most.unwrap_or(chains);
                let fewer = most > 16 && chains.is_multiple_of(16);
                for superchains in [most, 16].into_iter().take(1 + usize::from(fewer)) {
                    let config = SamplerConfig { strategy: Strategy::ManyShort, chains, superchains, ..base.clone() };
                    let draws = draws.div_ceil(chains).max(least_draws(&config, 103, rhat));
                    expected.push(SamplerConfig { draws, ..config });
                }
            }
            assert_eq!(all[1..], expected, "{draws} draws");
        }
        let all = alternatives(&base, 100, 103, 1.5);
        let first: Vec<(usize, usize)> = all[1..7].iter().map(|config| (config.chains, config.superchains)).collect();
        assert_eq!(first, [(8, 8), (16, 4), (32, 8), (64, 16), (128, 32), (128, 16)]);
        // The first run has at least one chain, or is not a run.
        assert_eq!(alternatives(&SamplerConfig { chains: 0, ..prd() }, 10, 3, 1.1)[0].draws, 10);
        assert_eq!(alternatives(&SamplerConfig { chains: 1, ..prd() }, 10, 3, 1.1)[0].draws, 10);
    }

    #[test]
    fn costs_within_a_tenth_are_equal() {
        let of = |chains, seconds| (SamplerConfig { chains, ..SamplerConfig::default() }, seconds);
        let all = [of(4, 1.0), of(16, 1.09), of(64, 1.11)];
        assert_eq!(best(&all).map(|(config, _)| config.chains), Some(16));
    }
}
