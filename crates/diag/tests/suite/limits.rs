//! The limits by which a diagnosis judges unless told otherwise: their numbers, and traces just within and just beyond.

use crate::support::SplitMix;
use octopus_diag::{Check, CheckStatus, DiagnoseOptions, diagnose, limits};
use octopus_trace::{Array, Dataset, Values};

const CHAINS: usize = 4;
const DRAWS: usize = 500;

#[test]
fn the_numbers_are_those_of_the_papers() {
    assert_eq!(limits::RHAT, 1.01);
    assert_eq!(limits::ESS, 400.0);
    assert_eq!(limits::ESS_PER_CHAIN, 100.0);
    assert_eq!(limits::BFMI, 0.3);
}

fn array(values: Vec<f64>) -> Array {
    let chains = values.len() / DRAWS;
    Array::new([("chain", chains), ("draw", DRAWS)], Values::F64(values))
}

/// Returns the check `id` of a diagnosis of the variable `x`, with an energy, by the default limits.
fn check(id: &str, x: Vec<f64>, energy: Vec<f64>) -> Check {
    let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
    posterior.insert("x", array(x));
    stats.insert("energy", array(energy));
    let found = diagnose(&posterior, Some(&stats), &DiagnoseOptions::default()).unwrap();
    found.checks.into_iter().find(|check| check.id == id).unwrap()
}

/// Independent numbers of mean 0 and variance 1.
fn bells(chains: usize, seed: u64) -> Vec<f64> {
    let mut rng = SplitMix(seed);
    (0..chains * DRAWS).map(|_| rng.bell()).collect()
}

/// Halves the interval from `good`, where the check passes, to `bad`, where it fails, until both are within `share` of
/// the check's limit; returns the two checks.
fn around_the_limit(of: impl Fn(f64) -> Check, good: f64, bad: f64, share: f64) -> [Check; 2] {
    let (mut good, mut bad) = (good, bad);
    for _ in 0..60 {
        let ends = [of(good), of(bad)];
        let near = |check: &Check| (check.observed.unwrap() / check.threshold.unwrap() - 1.0).abs() < share;
        if ends.iter().all(near) {
            return ends;
        }
        let middle = 0.5 * (good + bad);
        if of(middle).status == CheckStatus::Pass { good = middle } else { bad = middle }
    }
    panic!("nothing lies near the limit: {:?} {:?}", of(good), of(bad));
}

/// Asserts that a check by `limit` passed what it observed on the good side and failed what lies on the other.
#[track_caller]
fn divided_by(limit: f64, checks: &[Check; 2], is_good: fn(f64, f64) -> bool) {
    for (check, status) in checks.iter().zip([CheckStatus::Pass, CheckStatus::Fail]) {
        let observed = check.observed.unwrap();
        assert_eq!((check.status, check.threshold), (status, Some(limit)), "{check:?}");
        assert_eq!(is_good(observed, limit), status == CheckStatus::Pass, "{check:?}");
    }
}

/// One of four chains, moved away from the others.
#[test]
fn rhat_is_below_1_01() {
    let moved = |by: f64| {
        let x = bells(CHAINS, 3).into_iter().enumerate().map(|(i, x)| if i < DRAWS { x + by } else { x });
        check("rhat", x.collect(), bells(CHAINS, 4))
    };
    divided_by(1.01, &around_the_limit(moved, 0.0, 1.0, 1e-4), |found, limit| found < limit);
}

/// Returns R-hat's check of `parameters` numbers of four chains of `draws` draws, made by `value` of generator and place.
fn rhat_of_many(parameters: usize, draws: usize, mut value: impl FnMut(usize, usize) -> f64) -> (Check, Vec<f64>) {
    let mut values = vec![0.0; CHAINS * draws * parameters];
    for parameter in 0..parameters {
        for k in 0..CHAINS * draws {
            values[k * parameters + parameter] = value(parameter, k / draws);
        }
    }
    let mut posterior = Dataset::default();
    let axes = [("chain", CHAINS), ("draw", draws), ("k", parameters)];
    posterior.insert("x", Array::new(axes, Values::F64(values)));
    let found = diagnose(&posterior, None, &DiagnoseOptions::default()).unwrap();
    let rhats = found.summary.parameters.iter().map(|p| p.rhat).collect();
    (found.checks.into_iter().find(|check| check.id == "rhat").unwrap(), rhats)
}

/// Well-mixed chains of 100 draws: one parameter reaches 1.01 in some tenth of all runs. The largest of 50 nearly always
/// does, and is judged by what chance makes of 50: the whole fails as often as one does (decision 8).
#[test]
fn many_parameters_fail_by_chance_as_often_as_one() {
    const RUNS: u64 = 300;
    const PARAMETERS: usize = 50;
    let (mut failed, mut largest, mut one) = (0, 0, 0);
    for seed in 0..RUNS {
        let mut rng = SplitMix(1000 + seed);
        let (check, rhats) = rhat_of_many(PARAMETERS, 100, |_, _| rng.bell());
        let above = rhats.iter().filter(|&&rhat| rhat >= limits::RHAT).count();
        failed += u64::from(check.status == CheckStatus::Fail);
        largest += u64::from(above > 0);
        one += above as u64;
    }
    let runs = RUNS as f64;
    let [failed, largest, one] = [failed as f64 / runs, largest as f64 / runs, one as f64 / (runs * PARAMETERS as f64)];
    println!("of one parameter {one:.3}, of {PARAMETERS} {failed:.3}; by the limit of one {largest:.3}");
    assert!((0.05..0.2).contains(&one) && largest > 0.95, "{one} {largest}");
    assert!((failed - one).abs() < 4.0 * (one / runs).sqrt(), "{failed} of 50 parameters, {one} of one");
}

/// One chain in one of 2000 parameters is elsewhere by a fifth of its standard deviation or more; or all parameters
/// disagree by so little that each could be chance.
#[test]
fn what_is_not_mixed_fails_among_many() {
    const PARAMETERS: usize = 2000;
    let with = |away: f64, of: std::ops::Range<usize>| {
        let mut rng = SplitMix(9);
        rhat_of_many(PARAMETERS, 200, |k, chain| rng.bell() + if chain == 2 && of.contains(&k) { away } else { 0.0 })
    };
    let (check, rhats) = with(0.0, 0..0);
    let above = rhats.iter().filter(|&&rhat| rhat >= limits::RHAT).count();
    assert!(check.status == CheckStatus::Pass && above > 0, "{check:?}");
    let said: f64 = check.message.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((said - above as f64).abs() < 4.0 * said.sqrt() + 1.0, "{above} are above: {check}");
    let (check, rhats) = with(0.6, 77..78);
    assert!(check.status == CheckStatus::Fail && check.message.contains("(x[77])"), "{check:?} {}", rhats[77]);
    let (check, rhats) = with(0.25, 0..PARAMETERS);
    let largest = rhats.iter().copied().fold(0.0, f64::max);
    assert_eq!(check.status, CheckStatus::Fail, "{check:?} {largest}");
}

/// Draws that remember the ones before, more and more: 100 effective ones are asked of each chain.
#[test]
fn effective_sample_sizes_are_100_of_each_chain() {
    for id in ["ess_bulk", "ess_tail"] {
        for (chains, limit) in [(4, 400.0), (2, 200.0)] {
            let slow = |memory: f64| {
                let innovations = bells(chains, 5);
                let x = innovations.chunks_exact(DRAWS).flat_map(|row| {
                    row.iter().scan(0.0, |x, new| {
                        *x = memory * *x + new;
                        Some(*x)
                    })
                });
                check(id, x.collect(), bells(chains, 6))
            };
            // Estimates jump where one more lag is added up.
            divided_by(limit, &around_the_limit(slow, 0.0, 0.99, 0.05), |found, limit| found >= limit);
        }
    }
}

/// Many short chains are asked for 400 together, however many they are.
#[test]
fn effective_sample_sizes_of_superchains_are_400() {
    let (chains, draws) = (64, 20);
    let mut rng = SplitMix(7);
    let mut posterior = Dataset::default();
    let x = (0..chains * draws).map(|_| rng.bell()).collect();
    posterior.insert("x", Array::new([("chain", chains), ("draw", draws)], Values::F64(x)));
    let options = DiagnoseOptions { superchains: Some(8), ..DiagnoseOptions::default() };
    let found = diagnose(&posterior, None, &options).unwrap();
    for (id, limit) in [("rhat", 1.01), ("ess_bulk", 400.0), ("ess_tail", 400.0)] {
        let check = found.checks.iter().find(|check| check.id == id).unwrap();
        assert_eq!(check.threshold, Some(limit), "{check:?}");
    }
}

/// The E-BFMI of a sine is twice 1 less the cosine of its step: the steps' mean square over the variance.
#[test]
fn e_bfmi_is_at_least_0_3() {
    let of = |periods: f64| {
        let step = std::f64::consts::TAU * periods / DRAWS as f64;
        let row = (0..DRAWS).map(|draw| (step * draw as f64).sin());
        let energy = (0..CHAINS).flat_map(|_| row.clone()).collect();
        let found = check("bfmi", bells(CHAINS, 8), energy);
        let exact = 2.0 * (1.0 - step.cos());
        // A window of draws has one step less than it has draws, which is 0.2 %.
        assert!((found.observed.unwrap() / exact - 1.0).abs() < 0.01, "{found:?}, {exact}");
        found
    };
    // 0.311 and 0.298.
    divided_by(0.3, &[of(45.0), of(44.0)], |found, limit| found >= limit);
}
