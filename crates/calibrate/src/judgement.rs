//! The verdict of a calibration on the ranks of all data sets, and on their chains.
//!
//! The limits stand here: R-hat of short chains, how far apart chains may be and in which share of data sets, and the
//! tests of whether ranks are uniform and chains independent.

use crate::quantities::Quantities;
use crate::{CalibrateError, CalibratedSet, CalibrationSettings, Found};
use octopus_diag::{MeanTest, RankCounts, holm, mean_zero};
use octopus_models::Simulator;
use octopus_sampler::SamplerConfig;
use serde::Serialize;

/// An R-hat above which chains have not agreed. Chains of a calibration are short: 1.01 is for the draws of an analysis.
pub(crate) const RHAT: f64 = 1.05;
/// For superchains: a nested R-hat of one draw of each chain is due to chance while the variance between the means of
/// superchains is at most this many standard deviations above that of chains that are all alike.
const DEVIATIONS: f64 = 5.0;
/// Chains are far apart where R-hat exceeds 1 by more than this many times what is allowed.
const FAR: f64 = 10.0;
/// The share of the data sets on which they may be: data that are simulated from a prior are now and then too few for any
/// sampler.
const MAY_BE_FAR: f64 = 0.01;

/// The verdict on all data sets of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether no test and no data set failed, all that was found is finite, and chains are far apart on hardly any data
    /// set: `far_apart` is at most `far_apart_allowed`.
    pub calibrated: bool,
    /// The largest probability that a sampler without fault is called miscalibrated, over all quantities and tests
    /// together.
    pub false_alarm: f64,
    /// The number of data sets.
    pub data_sets: usize,
    /// The number of data sets without ranks.
    pub failed: usize,
    /// Why the first of these has none.
    pub first_failure: Option<String>,
    /// The largest possible rank; the smallest is 0.
    pub kept: usize,
    /// The ranks of each quantity.
    pub quantities: Vec<RankedQuantity>,
    /// The test whether chains are independent of each other; `None` for one chain, and for fewer than three draws.
    pub independence: Option<Independence>,
    /// What short chains that began together still share; `None` for other chains.
    pub together: Option<Together>,
    /// The number of data sets whose smallest effective sample size is below `kept`: their ranks are less even than
    /// those of independent draws.
    pub low_ess: usize,
    /// The median over data sets of their smallest effective sample size.
    pub median_ess: f64,
    /// The number of data sets with an R-hat above `rhat_limit`.
    pub high_rhat: usize,
    /// The R-hat above which chains have not agreed.
    pub rhat_limit: f64,
    /// The number of data sets whose R-hat exceeds 1 by more than ten times what is allowed: a chain has not arrived,
    /// and ranks say nothing.
    pub far_apart: usize,
    /// The largest allowed value of `far_apart`.
    pub far_apart_allowed: usize,
    /// The number of data sets whose chains' correlations, or effective sample size, are infinite or NaN.
    pub not_finite: usize,
    /// The number of data sets with divergent transitions after warm-up.
    pub diverging: usize,
    /// The number of divergent transitions of all data sets.
    pub divergences: u64,
    /// The number of leapfrog steps of all data sets.
    pub leapfrogs: u64,
}

/// The ranks of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedQuantity {
    /// The quantity's name.
    pub name: String,
    /// The number of data sets with rank 0, 1, ..., `kept`.
    pub counts: Vec<u64>,
    /// The p-value of the empirical distribution function.
    pub ecdf_p: f64,
    /// The rank up to which the empirical distribution function has the least likely count.
    pub ecdf_at: usize,
    /// The number of bins of the chi-square test.
    pub bins: usize,
    /// The chi-square statistic.
    pub chi_square: f64,
    /// The p-value of the chi-square test.
    pub chi_square_p: f64,
    /// The smaller of both p-values, adjusted for all tests (Holm).
    pub adjusted_p: f64,
    /// Whether `adjusted_p` is above the rate of false alarms.
    pub uniform: bool,
}

/// The test whether chains of one data set know nothing of each other: the correlation of neighbours at equal
/// iterations should be 0 on average over data sets, however long each chain remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Independence {
    /// The mean correlation over data sets.
    pub correlation: f64,
    /// The mean correlation divided by its standard error.
    pub t: f64,
    /// Student's p-value of `t`.
    pub p: f64,
    /// The p-value adjusted for all tests (Holm).
    pub adjusted_p: f64,
    /// Whether `adjusted_p` is above the rate of false alarms.
    pub independent: bool,
}

/// Whether many short chains have forgotten that they began together when their draws count: the correlation of their
/// draws, over data sets. It does not decide the verdict. Shared memory costs effective draws, and where chains
/// remember a point that is not of the posterior, ranks show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Together {
    /// The mean correlation over data sets.
    pub correlation: f64,
    /// The mean correlation divided by its standard error.
    pub t: f64,
}

/// Returns the R-hat above which chains have not agreed.
fn rhat_limit(sampler: &SamplerConfig) -> f64 {
    let Some(superchains) = sampler.nested() else { return RHAT };
    let (superchains, size) = (superchains as f64, (sampler.chains / superchains) as f64);
    (1.0 + (1.0 + DEVIATIONS * (2.0 / (superchains - 1.0)).sqrt()) / size).sqrt()
}

/// Judges the data sets; they are sorted by number first, so that the order in which they were done does not matter.
///
/// Each quantity has two tests, the empirical distribution function and chi-square, and chains a third: the verdict
/// adjusts all of them by Holm's method, so that together they raise a false alarm with probability `false_alarm` at most.
///
/// # Errors
/// When there is no data set with ranks, or a rank is too large for the settings.
pub fn judge(
    simulator: &dyn Simulator,
    settings: &CalibrationSettings,
    data_sets: &mut [CalibratedSet],
    false_alarm: f64,
) -> Result<Judgement, CalibrateError> {
    data_sets.sort_by_key(|data_set| data_set.number);
    let names = Quantities::of(simulator.layout()).names;
    let found: Vec<&Found> = data_sets.iter().filter_map(|data_set| data_set.outcome.as_ref().ok()).collect();
    let first_failure = data_sets.iter().find_map(|data_set| {
        let why = data_set.outcome.as_ref().err()?;
        Some(format!("data set {}: {why}", data_set.number))
    });
    if found.is_empty() {
        let first = first_failure.unwrap_or_else(|| "there is none".to_owned());
        return Err(CalibrateError::NoRanks { first });
    }
    let mut quantities = Vec::new();
    for (q, name) in names.into_iter().enumerate() {
        let ranks: Vec<usize> = found.iter().map(|found| found.ranks[q]).collect();
        let counts = RankCounts::new(&ranks, settings.kept + 1)?;
        let (ecdf, bins) = (counts.ecdf_test(), counts.bins());
        let chi_square = counts.chi_square(bins)?;
        quantities.push(RankedQuantity {
            name,
            counts: counts.counts().to_vec(),
            ecdf_p: ecdf.p_value,
            ecdf_at: ecdf.at,
            bins,
            chi_square: chi_square.statistic,
            chi_square_p: chi_square.p_value,
            adjusted_p: f64::NAN,
            uniform: false,
        });
    }
    let correlations: Vec<f64> = found.iter().map(|found| found.correlation).filter(|r| r.is_finite()).collect();
    let mut independence = (correlations.len() > 1).then(|| {
        let MeanTest { mean, t, p_value, .. } = mean_zero(&correlations);
        Independence { correlation: mean, t, p: p_value, adjusted_p: f64::NAN, independent: false }
    });

    let of_superchains: Vec<f64> = found.iter().filter_map(|found| found.together).filter(|r| r.is_finite()).collect();
    let together = (of_superchains.len() > 1).then(|| {
        let MeanTest { mean, t, .. } = mean_zero(&of_superchains);
        Together { correlation: mean, t }
    });

    let of_ranks = quantities.iter().flat_map(|q| [q.ecdf_p, q.chi_square_p]);
    let adjusted = holm(&of_ranks.chain(independence.iter().map(|i| i.p)).collect::<Vec<_>>());
    for (quantity, both) in quantities.iter_mut().zip(adjusted.chunks(2)) {
        quantity.adjusted_p = both[0].min(both[1]);
        quantity.uniform = quantity.adjusted_p > false_alarm;
    }
    if let (Some(independence), Some(&adjusted)) = (&mut independence, adjusted.last()) {
        independence.adjusted_p = adjusted;
        independence.independent = adjusted > false_alarm;
    }

    let how_many = |is: &dyn Fn(&Found) -> bool| found.iter().filter(|found| is(found)).count();
    let failed = data_sets.len() - found.len();
    let rhat_limit = rhat_limit(&settings.sampler);
    let far_apart = how_many(&|found| found.rhat - 1.0 > FAR * (rhat_limit - 1.0));
    let far_apart_allowed = (MAY_BE_FAR * found.len() as f64) as usize;
    // One chain has no correlation: that alone is no finding.
    let of_one = settings.sampler.chains < 2 || settings.sampler.draws < 3;
    let not_finite = how_many(&|found| {
        let known = of_one || found.correlation.is_finite();
        !known || !found.ess.is_finite() || found.together.is_some_and(|r| !r.is_finite())
    });
    Ok(Judgement {
        calibrated: failed == 0
            && not_finite == 0
            && far_apart <= far_apart_allowed
            && quantities.iter().all(|quantity| quantity.uniform)
            && independence.is_none_or(|independence| independence.independent),
        false_alarm,
        data_sets: data_sets.len(),
        failed,
        first_failure,
        kept: settings.kept,
        quantities,
        independence,
        together,
        low_ess: how_many(&|found| found.ess < settings.kept as f64),
        median_ess: median(found.iter().map(|found| found.ess).collect()),
        high_rhat: how_many(&|found| found.rhat > rhat_limit),
        rhat_limit,
        far_apart,
        far_apart_allowed,
        not_finite,
        diverging: how_many(&|found| found.divergences > 0),
        divergences: found.iter().map(|found| found.divergences).sum(),
        leapfrogs: found.iter().map(|found| found.leapfrogs).sum(),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) { 0.5 * (values[half - 1] + values[half]) } else { values[half] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::SchoolsSimulator;
    use octopus_random::{Purpose, Stream};
    use octopus_sampler::SamplerConfig;

    const KEPT: usize = 19;

    /// Data sets whose ranks are uniform, and whose chains are independent.
    fn uniform(set: u32, data_sets: u32) -> Vec<CalibratedSet> {
        (0..data_sets)
            .map(|number| {
                let mut random = Stream::new(u64::from(set), number, 1, Purpose::User);
                let ranks = (0..10).map(|_| (random.uniform() * (KEPT + 1) as f64) as usize).collect();
                let correlation = 0.1 * random.normal();
                let (rhat, ess, together) = (1.01, 100.0, None);
                let found = Found { ranks, rhat, ess, correlation, together, divergences: 0, leapfrogs: 1 };
                CalibratedSet { number, outcome: Ok(found) }
            })
            .collect()
    }

    fn judged(data_sets: &mut [CalibratedSet], false_alarm: f64) -> Judgement {
        let settings = CalibrationSettings { seed: 0, kept: KEPT, sampler: SamplerConfig::default() };
        judge(&SchoolsSimulator::rubin(), &settings, data_sets, false_alarm).unwrap()
    }

    /// The verdict's false alarms over ten quantities, two statistics each, and the chains: with 400 calibrations of
    /// 200 data sets at a rate of 5%, at most as many as four standard deviations above it.
    #[test]
    fn false_alarms_are_no_more_than_promised() {
        let alarms = (0..400).filter(|&set| !judged(&mut uniform(set, 200), 0.05).calibrated).count();
        assert!(alarms <= 20 + 4 * 4, "{alarms} of 400");
        assert!(alarms >= 4, "{alarms} of 400: tests that hardly ever fail see nothing");
    }

    #[test]
    fn one_bad_quantity_is_named_and_no_other() {
        let mut data_sets = uniform(3, 400);
        for data_set in &mut data_sets {
            let found = data_set.outcome.as_mut().unwrap();
            // Half of the low ranks move up.
            found.ranks[4] = if found.ranks[4] < 5 && data_set.number % 2 == 0 { KEPT } else { found.ranks[4] };
        }
        let judgement = judged(&mut data_sets, 1e-3);
        assert!(!judgement.calibrated);
        let bad: Vec<usize> = (0..10).filter(|&q| !judgement.quantities[q].uniform).collect();
        assert_eq!(bad, [4], "{judgement:?}");
        // 71 instead of 20 have the last rank.
        assert_eq!(judgement.quantities[4].ecdf_at, 18, "{judgement:?}");
    }

    #[test]
    fn chains_that_move_together_are_seen() {
        let mut data_sets = uniform(5, 100);
        data_sets.iter_mut().for_each(|data_set| data_set.outcome.as_mut().unwrap().correlation += 0.2);
        let judgement = judged(&mut data_sets, 1e-3);
        let independence = judgement.independence.unwrap();
        assert!(!judgement.calibrated && !independence.independent && independence.t > 10.0, "{independence:?}");
        // One chain has no neighbour.
        data_sets.iter_mut().for_each(|data_set| data_set.outcome.as_mut().unwrap().correlation = f64::NAN);
        let sampler = SamplerConfig { chains: 1, ..SamplerConfig::default() };
        let settings = CalibrationSettings { seed: 0, kept: KEPT, sampler };
        let judgement = judge(&SchoolsSimulator::rubin(), &settings, &mut data_sets, 1e-3).unwrap();
        assert!(judgement.calibrated && judgement.independence.is_none());
    }

    /// A quotient by a variance of 0, and sums that are too large: counted, said, and no test is made of them.
    #[test]
    fn what_is_not_finite_is_a_finding() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let with = |change: &dyn Fn(&mut Found)| {
                let mut data_sets = uniform(8, 100);
                change(data_sets[3].outcome.as_mut().unwrap());
                judged(&mut data_sets, 1e-3)
            };
            for judgement in [with(&|found| found.correlation = bad), with(&|found| found.together = Some(bad))] {
                assert!(!judgement.calibrated && judgement.not_finite == 1, "{bad} {judgement:?}");
                assert!(judgement.independence.is_some_and(|found| found.independent && found.t.is_finite()));
            }
        }
        assert_eq!(judged(&mut uniform(8, 100), 1e-3).not_finite, 0);
    }

    #[test]
    fn what_superchains_share_is_said_and_does_not_decide() {
        let mut data_sets = uniform(8, 100);
        assert!(judged(&mut data_sets, 1e-3).together.is_none());
        for data_set in &mut data_sets {
            data_set.outcome.as_mut().unwrap().together = Some(0.1 + 0.01 * f64::from(data_set.number % 2));
        }
        let judgement = judged(&mut data_sets, 1e-3);
        let together = judgement.together.unwrap();
        assert!(judgement.calibrated && (together.correlation - 0.105).abs() < 1e-12 && together.t > 100.0);
        let many = SamplerConfig { superchains: 16, ..SamplerConfig::many_short(64) };
        assert!((rhat_limit(&many) - (1.0 + (1.0 + 5.0 * (2.0f64 / 15.0).sqrt()) / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(rhat_limit(&SamplerConfig::default()), RHAT);
    }

    /// One data set in a hundred may have chains far apart, and no more; chains that disagree somewhat are counted only.
    #[test]
    fn chains_far_apart_fail_the_whole() {
        let with_bad = |bad: usize, rhat: f64| {
            let mut data_sets = uniform(9, 200);
            data_sets.iter_mut().take(bad).for_each(|data_set| data_set.outcome.as_mut().unwrap().rhat = rhat);
            judged(&mut data_sets, 1e-3)
        };
        assert!(with_bad(2, 1.51).calibrated && !with_bad(3, 1.51).calibrated && with_bad(3, 1.49).calibrated);
        let judgement = with_bad(3, 1.51);
        assert_eq!((judgement.high_rhat, judgement.far_apart, judgement.far_apart_allowed), (3, 3, 2));
        assert_eq!((with_bad(3, 1.04).high_rhat, with_bad(3, RHAT).high_rhat), (0, 0));
        // Just at the limit they are not beyond it.
        assert_eq!(with_bad(3, 1.0 + 10.0 * (RHAT - 1.0)).far_apart, 0);
        // The hundredth part of 199 is 1.99: one is allowed, and two are not.
        assert_eq!(judged(&mut uniform(9, 199), 1e-3).far_apart_allowed, 1);
    }

    #[test]
    fn what_is_at_the_rate_of_false_alarms_fails() {
        let mut data_sets = uniform(4, 100);
        let judgement = judged(&mut data_sets, 1e-3);
        let uniform = |alarm, data_sets: &mut [CalibratedSet]| judged(data_sets, alarm).quantities[0].uniform;
        let p = judgement.quantities[0].adjusted_p;
        assert!(!uniform(p, &mut data_sets) && uniform(0.999 * p, &mut data_sets), "{p}");
        let independent = |alarm, data_sets: &mut [CalibratedSet]| {
            let independence = judged(data_sets, alarm).independence.unwrap();
            independence.independent
        };
        let p = judgement.independence.unwrap().adjusted_p;
        assert!(!independent(p, &mut data_sets) && independent(0.999 * p, &mut data_sets), "{p}");
    }

    #[test]
    fn one_data_set_says_nothing_of_its_chains() {
        let mut one = uniform(1, 1);
        one[0].outcome.as_mut().unwrap().together = Some(0.1);
        let judgement = judged(&mut one, 1e-3);
        assert!(judgement.independence.is_none() && judgement.together.is_none(), "{judgement:?}");
        // Two have a mean, and a standard error of it.
        let mut two = uniform(1, 2);
        two.iter_mut().for_each(|data_set| {
            data_set.outcome.as_mut().unwrap().together = Some(0.1 + 0.2 * f64::from(data_set.number));
        });
        let judgement = judged(&mut two, 1e-3);
        let together = judgement.together.unwrap();
        assert!(judgement.independence.is_some() && (together.correlation - 0.2).abs() < 1e-15, "{judgement:?}");
    }

    /// One chain has no neighbour, and any two draws lie on a line.
    #[test]
    fn a_correlation_that_cannot_be_is_no_finding() {
        for (chains, draws, not_finite) in [(1, 3, 0), (2, 2, 0), (2, 3, 20)] {
            let mut data_sets = uniform(8, 20);
            data_sets.iter_mut().for_each(|data_set| data_set.outcome.as_mut().unwrap().correlation = f64::NAN);
            let sampler = SamplerConfig { chains, draws, ..SamplerConfig::default() };
            let settings = CalibrationSettings { seed: 0, kept: KEPT, sampler };
            let judgement = judge(&SchoolsSimulator::rubin(), &settings, &mut data_sets, 1e-3).unwrap();
            assert_eq!(judgement.not_finite, not_finite, "{chains} chains, {draws} draws");
        }
    }

    /// Pearson's statistic is computed from the counts anew.
    #[test]
    fn each_quantity_has_the_counts_of_its_ranks() {
        let mut data_sets = uniform(2, 300);
        let judgement = judged(&mut data_sets, 1e-3);
        let names: Vec<&str> = judgement.quantities.iter().map(|quantity| quantity.name.as_str()).collect();
        assert_eq!((names[0], names[1], names[9], judgement.kept), ("mu", "tau", "log density", KEPT));
        for (q, quantity) in judgement.quantities.iter().enumerate() {
            let mut counts = vec![0; KEPT + 1];
            data_sets.iter().for_each(|data_set| counts[data_set.outcome.as_ref().unwrap().ranks[q]] += 1);
            assert_eq!(quantity.counts, counts);
            assert!((KEPT + 1).is_multiple_of(quantity.bins), "equal bins");
            let expected = 300.0 / quantity.bins as f64;
            let bins = counts.chunks((KEPT + 1) / quantity.bins).map(|bin| bin.iter().sum::<u64>() as f64);
            let statistic: f64 = bins.map(|count| (count - expected) * (count - expected) / expected).sum();
            assert!((quantity.chi_square - statistic).abs() < 1e-9 * statistic, "{quantity:?}, not {statistic}");
        }
        data_sets[0].outcome.as_mut().unwrap().ranks[0] = KEPT + 1;
        let settings = CalibrationSettings { seed: 0, kept: KEPT, sampler: SamplerConfig::default() };
        assert!(judge(&SchoolsSimulator::rubin(), &settings, &mut data_sets, 1e-3).is_err(), "a rank too large");
    }

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(vec![4.0, 1.0, 2.0, 8.0]), 3.0);
        assert_eq!(median(vec![5.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![6.0, 1.0, 2.0, 9.0, 3.0, 7.0]), 4.5);
    }

    #[test]
    fn a_failed_data_set_is_counted_and_fails_the_whole() {
        let mut data_sets = uniform(6, 50);
        data_sets[7].outcome = Err("no start".to_owned());
        let (found, low) = (data_sets[9].outcome.as_mut().unwrap(), 5.0);
        (found.ess, found.rhat, found.divergences) = (low, 2.0, 3);
        data_sets[11].outcome.as_mut().unwrap().ess = KEPT as f64 - 0.5;
        // As many as are kept are enough.
        data_sets[10].outcome.as_mut().unwrap().ess = KEPT as f64;
        data_sets[12].outcome.as_mut().unwrap().divergences = 1;
        data_sets.reverse();
        let judgement = judged(&mut data_sets, 1e-3);
        assert!(!judgement.calibrated && judgement.failed == 1 && judgement.data_sets == 50);
        assert_eq!(judgement.first_failure.as_deref(), Some("data set 7: no start"));
        let counted = (judgement.low_ess, judgement.high_rhat, judgement.diverging, judgement.divergences);
        assert_eq!((counted, judgement.median_ess, judgement.leapfrogs), ((2, 1, 2, 4), 100.0, 49));
        let mut none = vec![CalibratedSet { number: 0, outcome: Err("why".to_owned()) }];
        let settings = CalibrationSettings { seed: 0, kept: KEPT, sampler: SamplerConfig::default() };
        assert!(judge(&SchoolsSimulator::rubin(), &settings, &mut none, 1e-3).unwrap_err().to_string().contains("why"));
    }
}
