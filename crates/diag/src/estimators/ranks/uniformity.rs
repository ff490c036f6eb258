//! Tests of whether ranks are uniform: by the empirical distribution function, and chi-square of counts in bins.
//!
//! The number of bins of rank histograms is chosen here.

use super::band::stays_inside;
use super::binomial::{at_least, at_most, quantile};
use crate::error::DiagError;
use crate::numbers::tails::chi_square_above;

/// Below this the exact probability is lost in rounding, and an upper bound stands for it.
const EXACT: f64 = 1e-9;
/// Ranks expected in each bin of a chi-square test, at least: far in its tail the statistic is chi-square only roughly.
const EXPECTED_IN_BIN: u64 = 20;
/// Bins of a chi-square test, at most: more of them see less of the shapes that faults leave.
const MOST_BINS: usize = 32;

/// How many data sets have each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankCounts {
    counts: Vec<u64>,
}

/// The largest departure of the empirical distribution function, as [`EcdfBand`](super::EcdfBand) measures it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcdfTest {
    /// The level of the widest band that the function leaves.
    pub gamma: f64,
    /// The outcome at which it does.
    pub at: usize,
    /// The probability that uniform ranks leave such a band somewhere; exact above 1e-9, an upper bound below.
    pub p_value: f64,
}

/// Pearson's chi-square of counts in bins of equal probability.
#[derive(Clone, Debug, PartialEq)]
pub struct ChiSquare {
    /// Ranks in each bin.
    pub counts: Vec<u64>,
    /// Their chi-square about equal counts.
    pub statistic: f64,
    /// The probability of a larger one with uniform ranks, by the chi-square distribution with bins - 1 degrees of
    /// freedom.
    pub p_value: f64,
}

impl RankCounts {
    /// Counts ranks of `outcomes` values, 0 to `outcomes - 1`.
    ///
    /// # Errors
    /// [`DiagError::Ranks`] without ranks or outcomes, [`DiagError::Rank`] when a rank is too large.
    pub fn new(ranks: &[usize], outcomes: usize) -> Result<Self, DiagError> {
        if ranks.is_empty() || outcomes == 0 {
            return Err(DiagError::Ranks { ranks: ranks.len() as u64, outcomes });
        }
        let mut counts = vec![0; outcomes];
        for &rank in ranks {
            *counts.get_mut(rank).ok_or(DiagError::Rank { rank, outcomes })? += 1;
        }
        Ok(Self { counts })
    }

    /// Counts that were made elsewhere: how many ranks are 0, 1, 2, ...
    ///
    /// # Errors
    /// [`DiagError::Ranks`] without ranks.
    pub fn from_counts(counts: Vec<u64>) -> Result<Self, DiagError> {
        match counts.iter().sum() {
            0 => Err(DiagError::Ranks { ranks: 0, outcomes: counts.len() }),
            _ => Ok(Self { counts }),
        }
    }

    /// Returns how many ranks are 0, 1, 2, ...
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of ranks.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns how many ranks are at most 0, 1, 2, ...
    pub fn cumulative(&self) -> Vec<u64> {
        let add = |sum: &mut u64, n: &u64| {
            *sum += n;
            Some(*sum)
        };
        self.counts.iter().scan(0, add).collect()
    }

    /// Tests the empirical distribution function with the band of Saeilynoja et al. (2022), of which it takes the
    /// widest that is left: one p-value instead of one picture for each level.
    pub fn ecdf_test(&self) -> EcdfTest {
        let (total, outcomes) = (self.total(), self.counts.len());
        let place = |i: usize| (i + 1) as f64 / outcomes as f64;
        let level = |(i, count): (usize, u64)| {
            let count = count as i64;
            let tail = at_most(count, total, place(i)).min(at_least(count, total, place(i)));
            (i, (2.0 * tail).min(1.0))
        };
        let inner = self.cumulative().into_iter().enumerate().take(outcomes - 1);
        let Some((at, gamma)) = inner.map(level).min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return EcdfTest { gamma: 1.0, at: 0, p_value: 1.0 };
        };
        // Counts whose own level is above gamma; the room for rounding keeps the observed one out.
        let beyond = 0.5 * gamma * (1.0 + 1e-9);
        let lowest: Vec<u64> = (0..outcomes).map(|i| quantile(beyond, total, place(i))).collect();
        let highest = |i: usize| total - lowest[outcomes - i - 2];
        let bounds: Vec<(u64, u64)> =
            (0..outcomes).map(|i| if i + 1 < outcomes { (lowest[i], highest(i)) } else { (total, total) }).collect();
        let exact = 1.0 - stays_inside(&bounds, total);
        let union = (gamma * (outcomes - 1) as f64).min(1.0);
        let p_value = if exact > EXACT { exact.clamp(gamma, union) } else { union };
        EcdfTest { gamma, at, p_value }
    }

    /// Returns the number of bins for [`chi_square`](Self::chi_square): the largest divisor of the number of outcomes
    /// that leaves at least 20 ranks to be expected in each bin, and at most 32; 1 when there is none.
    pub fn bins(&self) -> usize {
        let outcomes = self.counts.len();
        let fits = |bins: &usize| {
            outcomes.is_multiple_of(*bins) && *bins as u64 * EXPECTED_IN_BIN <= self.total() && *bins <= MOST_BINS
        };
        (1..=outcomes).filter(fits).max().unwrap_or(1)
    }

    /// Returns the central interval of at least the probability `coverage` that a bin's count lies in when ranks are
    /// uniform.
    pub fn bin_interval(&self, bins: usize, coverage: f64) -> (u64, u64) {
        let (total, share) = (self.total(), 1.0 / bins.max(1) as f64);
        let tail = 0.5 * (1.0 - coverage);
        (quantile(tail, total, share), quantile(1.0 - tail, total, share))
    }

    /// Pearson's test of equal counts in `bins` bins of neighbouring ranks.
    ///
    /// # Errors
    /// [`DiagError::Bins`] when the bins do not divide the outcomes evenly.
    pub fn chi_square(&self, bins: usize) -> Result<ChiSquare, DiagError> {
        let outcomes = self.counts.len();
        if bins == 0 || !outcomes.is_multiple_of(bins) {
            return Err(DiagError::Bins { bins, outcomes });
        }
        let counts: Vec<u64> = self.counts.chunks(outcomes / bins).map(|bin| bin.iter().sum()).collect();
        let expected = self.total() as f64 / bins as f64;
        let statistic = counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        let p_value = chi_square_above(statistic, (bins - 1) as f64);
        Ok(ChiSquare { counts, statistic, p_value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_counts(counts: &[u64]) -> RankCounts {
        RankCounts::from_counts(counts.to_vec()).unwrap()
    }

    /// scipy.stats.chisquare of the bins' counts; tests/ranks/expected.py.
    #[test]
    fn chi_square_of_scipy() {
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/ranks/expected.json")).unwrap();
        let cases = expected["chi_square"].as_array().unwrap();
        assert!(cases.len() >= 3);
        for case in cases {
            let counts: Vec<u64> = case["counts"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
            let found = of_counts(&counts).chi_square(case["bins"].as_u64().unwrap() as usize).unwrap();
            let close = |found: f64, name: &str| {
                let expected = case[name].as_f64().unwrap();
                assert!((found - expected).abs() <= 1e-9 * expected, "{name}: {found} {expected}");
            };
            close(found.statistic, "statistic");
            close(found.p_value, "p_value");
        }
    }

    /// Of all sequences of 5 ranks with 4 values, those that leave a band as wide or wider.
    #[test]
    fn ecdf_p_value_is_the_share_of_all_sequences() {
        let sequences = |code: usize| [code % 4, code / 4 % 4, code / 16 % 4, code / 64 % 4, code / 256];
        let tests: Vec<EcdfTest> =
            (0..1024).map(|code| RankCounts::new(&sequences(code), 4).unwrap().ecdf_test()).collect();
        for test in &tests {
            let as_wide = tests.iter().filter(|other| other.gamma <= test.gamma * (1.0 + 1e-9)).count();
            assert!((test.p_value - as_wide as f64 / 1024.0).abs() < 1e-9, "{test:?}: {as_wide}");
        }
    }

    #[test]
    fn shapes_are_seen() {
        let flat = of_counts(&[50; 20]);
        assert_eq!((flat.total(), flat.bins()), (1000, 20));
        assert_eq!(flat.ecdf_test().p_value, 1.0);
        let slope: Vec<u64> = (0..20).map(|i| 12 + 4 * i).collect();
        let tilted = of_counts(&slope).ecdf_test();
        assert!(tilted.p_value < 1e-9 && tilted.p_value >= tilted.gamma, "{tilted:?}");
        // The bound is that of any of 19 places.
        assert!((tilted.p_value / tilted.gamma - 19.0).abs() < 1e-12, "{tilted:?}");
        let mut spike = vec![50; 20];
        spike[10] = 100;
        let spiked = of_counts(&spike).chi_square(20).unwrap();
        assert!(spiked.p_value < 1e-3, "{spiked:?}");
    }

    /// Levels by scipy.stats.binom (SciPy 1.17), and probabilities by mpmath with 50 digits: 1.63e-9, and 8.15e-10, for
    /// which three times its level stands.
    #[test]
    fn a_bound_stands_for_probabilities_below_1e_9() {
        for (counts, expected) in
            [(&[38, 6, 6][..], 1.631_725_809_793_483_9e-9), (&[24, 2, 2, 2], 2.445_046_061_450_018e-9)]
        {
            let found = of_counts(counts).ecdf_test().p_value;
            assert!((found / expected - 1.0).abs() < 1e-4, "{counts:?}: {found}");
        }
    }

    /// scipy.stats.binom.interval(0.99, 1000, 1 / 25)
    #[test]
    fn bin_interval_of_scipy() {
        assert_eq!(of_counts(&[10; 100]).bin_interval(25, 0.99), (25, 57));
    }

    #[test]
    fn bins_divide_the_outcomes() {
        assert_eq!(of_counts(&[10; 100]).bins(), 25);
        assert_eq!(of_counts(&[1; 64]).bins(), 2);
        assert_eq!(of_counts(&[1; 7]).bins(), 1);
        let one = of_counts(&[1; 7]).chi_square(1).unwrap();
        assert_eq!((one.statistic, one.p_value), (0.0, 1.0));
        assert!(of_counts(&[1; 7]).chi_square(2).is_err() && of_counts(&[1; 7]).chi_square(0).is_err());
    }

    #[test]
    fn what_is_no_rank_is_an_error() {
        assert!(RankCounts::from_counts(vec![0; 3]).is_err());
        assert!(RankCounts::new(&[], 3).is_err() && RankCounts::new(&[0], 0).is_err());
        assert_eq!(RankCounts::new(&[3], 3), Err(DiagError::Rank { rank: 3, outcomes: 3 }));
        assert_eq!(RankCounts::new(&[2, 0, 2], 3).unwrap().cumulative(), [1, 1, 3]);
        assert_eq!(RankCounts::new(&[0, 0], 1).unwrap().ecdf_test().p_value, 1.0);
    }

    #[test]
    fn one_outcome_tells_nothing() {
        let one = RankCounts::new(&[0, 0], 1).unwrap();
        assert_eq!(one.ecdf_test(), EcdfTest { gamma: 1.0, at: 0, p_value: 1.0 });
        assert_eq!((one.bin_interval(1, 0.99), one.bin_interval(0, 0.99)), ((2, 2), (2, 2)));
        assert_eq!(RankCounts::from_counts(vec![0; 3]), Err(DiagError::Ranks { ranks: 0, outcomes: 3 }));
    }

    /// With 20 ranks to each bin, and up to 32 bins.
    #[test]
    fn as_many_bins_as_the_ranks_fill() {
        for (counts, bins) in [(vec![20; 4], 4), (vec![20, 20, 20, 19], 2), (vec![50; 32], 32), (vec![50; 33], 11)] {
            assert_eq!(of_counts(&counts).bins(), bins, "{counts:?}");
        }
    }
}
