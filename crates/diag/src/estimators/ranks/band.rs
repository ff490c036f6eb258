//! Simultaneous confidence bands of an empirical distribution function.
//!
//! Saeilynoja, T., Buerkner, P.-C. and Vehtari, A. (2022). Graphical test for discrete uniformity and its applications
//! in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32, 32. Section 2: of N ranks
//! the number at or below each of m outcomes is binomial, and the band joins the central intervals of all of them at one
//! level gamma, chosen so that the whole of the function stays inside with the wanted probability.

use super::binomial::{poisson, quantile};
use crate::error::{DiagError, open_probability};
use crate::numbers::tails::ln_gamma;

/// The band in which the counts of uniform ranks stay with a given probability, all of them together.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfBand {
    /// The probability that each interval by itself leaves out.
    pub gamma: f64,
    /// The smallest number of ranks at or below outcome `i`.
    pub lower: Vec<u64>,
    /// The largest number of ranks at or below outcome `i`.
    pub upper: Vec<u64>,
}

impl EcdfBand {
    /// Computes the band of `ranks` ranks with `outcomes` values each, which holds all counts with probability
    /// `coverage` or a little more: counts are whole numbers.
    ///
    /// # Errors
    /// [`DiagError::Ranks`] without ranks or outcomes, [`DiagError::Probability`] when `coverage` is not inside (0, 1).
    pub fn new(ranks: u64, outcomes: usize, coverage: f64) -> Result<Self, DiagError> {
        open_probability("coverage", coverage)?;
        if ranks == 0 || outcomes == 0 {
            return Err(DiagError::Ranks { ranks, outcomes });
        }
        // Bisection of a falling step function: what stays at `low` is inside the band for certain.
        let (mut low, mut high) = (0.0, 1.0 - coverage);
        for _ in 0..60 {
            let gamma = 0.5 * (low + high);
            if Self::at(gamma, ranks, outcomes).coverage(ranks) >= coverage {
                low = gamma;
            } else {
                high = gamma;
            }
            if high - low <= 1e-9 * high {
                break;
            }
        }
        Ok(Self::at(low, ranks, outcomes))
    }

    /// The central intervals at level gamma.
    fn at(gamma: f64, ranks: u64, outcomes: usize) -> Self {
        let lower: Vec<u64> =
            (1..=outcomes).map(|i| quantile(0.5 * gamma, ranks, i as f64 / outcomes as f64)).collect();
        // The other end by symmetry: what lies above outcome i is binomial as what lies below outcome m - i.
        let upper = (1..=outcomes).map(|i| ranks - if i < outcomes { lower[outcomes - i - 1] } else { 0 }).collect();
        Self { gamma, lower, upper }
    }

    fn coverage(&self, ranks: u64) -> f64 {
        let bounds: Vec<(u64, u64)> = self.lower.iter().copied().zip(self.upper.iter().copied()).collect();
        stays_inside(&bounds, ranks)
    }
}

/// Returns the probability that uniform ranks keep all their counts inside `bounds` (first and last allowed; the last
/// count is all ranks whatever its bound).
///
/// The numbers of ranks in the outcomes are independent Poisson numbers given their sum, so the counts are a Markov
/// chain with one kernel for each step: exact, all terms positive.
pub(super) fn stays_inside(bounds: &[(u64, u64)], ranks: u64) -> f64 {
    let Some((_, inner)) = bounds.split_last() else { return 1.0 };
    let n = ranks as f64;
    let last = [(ranks, ranks)];
    let steps = || inner.iter().chain(&last);
    let widest = steps().scan(0, |from, &(low, high)| Some(high.saturating_sub(std::mem::replace(from, low)))).max();
    let kernel = poisson(n / bounds.len() as f64, widest.unwrap_or(ranks).min(ranks));
    let (mut first, mut inside) = (0, vec![1.0]);
    for &(low, high) in steps() {
        if low > high {
            return 0.0;
        }
        inside = (low..=high)
            .map(|x| {
                let from = inside.iter().zip(first..=x);
                from.map(|(p, before)| p * kernel.get((x - before) as usize).copied().unwrap_or(0.0)).sum()
            })
            .collect();
        first = low;
    }
    let sum_is_n = (n * n.ln() - n - ln_gamma(n + 1.0)).exp();
    inside[0] / sum_is_n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of `ranks` ranks with `outcomes` values: the share of those inside.
    fn by_enumeration(bounds: &[(u64, u64)], ranks: u32) -> f64 {
        let outcomes = bounds.len();
        let all = outcomes.pow(ranks);
        let inside = (0..all).filter(|&code| {
            let mut counts = vec![0u64; outcomes];
            (0..ranks).fold(code, |rest, _| {
                counts[rest % outcomes] += 1;
                rest / outcomes
            });
            let sums = counts.iter().scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            });
            sums.zip(&bounds[..outcomes - 1]).all(|(sum, &(low, high))| (low..=high).contains(&sum))
        });
        inside.count() as f64 / all as f64
    }

    #[test]
    fn coverage_is_that_of_all_sequences() {
        for (bounds, ranks) in [
            (vec![(0, 2), (1, 4), (5, 5)], 5),
            (vec![(1, 3), (2, 5), (3, 6), (6, 6)], 6),
            (vec![(0, 7), (0, 7), (7, 7)], 7),
            (vec![(2, 1), (3, 3)], 3),
        ] {
            let (found, expected) = (stays_inside(&bounds, u64::from(ranks)), by_enumeration(&bounds, ranks));
            assert!((found - expected).abs() < 1e-12, "{bounds:?}: {found} {expected}");
        }
    }

    /// Bands of `tests/ranks/expected.py`: bayesplot's `adjust_gamma_optimize` in SciPy, and ArviZ 0.23.4's
    /// `ecdf_confidence_band`. Each is the band nearest to the coverage, ours the narrowest of at least that coverage.
    #[test]
    fn bands_of_bayesplot_and_arviz() {
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/ranks/expected.json")).unwrap();
        let bands = expected["bands"].as_array().unwrap();
        assert!(bands.len() >= 5);
        for case in bands {
            let number = |name: &str| case[name].as_f64().unwrap();
            let counts = |name: &str| -> Vec<u64> {
                case[name].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
            };
            let (ranks, outcomes) = (number("ranks") as u64, number("outcomes") as usize);
            let band = EcdfBand::new(ranks, outcomes, number("coverage")).unwrap();
            // The exact coverage of our band by SciPy's binomial chain.
            let exact =
                stays_inside(&band.lower.iter().copied().zip(band.upper.iter().copied()).collect::<Vec<_>>(), ranks);
            assert!(exact >= number("coverage"), "{case}: {exact}");
            let theirs = EcdfBand { gamma: 0.0, lower: counts("lower"), upper: counts("upper") };
            assert!((theirs.coverage(ranks) - number("exact_coverage")).abs() < 1e-9, "{case}");
            assert_eq!((&band.lower, &band.upper), (&counts("conservative_lower"), &counts("conservative_upper")));
            for (ours, theirs) in band.lower.iter().chain(&band.upper).zip(theirs.lower.iter().chain(&theirs.upper)) {
                assert!(ours.abs_diff(*theirs) <= 1, "{case}: {band:?}");
            }
        }
    }

    /// 4000 sets of 100 uniform ranks: those inside the band of 95% are as many as its exact coverage says.
    #[test]
    fn coverage_by_simulation() {
        let (ranks, outcomes, sets) = (100u32, 20usize, 4000u32);
        let band = EcdfBand::new(u64::from(ranks), outcomes, 0.95).unwrap();
        let exact = band.coverage(u64::from(ranks));
        assert!((0.95..0.965).contains(&exact), "{exact}");
        let inside = (0..sets)
            .filter(|&set| {
                let mut random = octopus_random::Stream::new(11, set, 0, octopus_random::Purpose::User);
                let mut counts = vec![0u64; outcomes];
                (0..ranks).for_each(|_| counts[(random.uniform() * outcomes as f64) as usize] += 1);
                let mut sum = 0;
                counts.iter().zip(band.lower.iter().zip(&band.upper)).all(|(n, (&low, &high))| {
                    sum += n;
                    (low..=high).contains(&sum)
                })
            })
            .count();
        let share = inside as f64 / f64::from(sets);
        assert!((share - exact).abs() < 4.0 * (0.05f64 * 0.95 / f64::from(sets)).sqrt(), "{share} {exact}");
    }

    #[test]
    fn what_has_no_band_is_an_error() {
        assert!(EcdfBand::new(0, 5, 0.9).is_err() && EcdfBand::new(5, 0, 0.9).is_err());
        assert!(EcdfBand::new(5, 5, 1.0).is_err());
        let one = EcdfBand::new(5, 1, 0.9).unwrap();
        assert_eq!((one.lower, one.upper), (vec![5], vec![5]));
    }

    /// Bands of one outcome and of levels far from 0.95 have their coverage, and the next wider level has not.
    #[test]
    fn a_band_is_the_narrowest_of_its_coverage() {
        for (ranks, outcomes, coverage) in [(40, 5, 0.5), (25, 4, 0.2), (60, 10, 0.9), (100, 3, 0.99)] {
            let band = EcdfBand::new(ranks, outcomes, coverage).unwrap();
            assert!(band.coverage(ranks) >= coverage, "{ranks} {outcomes}");
            let wider = EcdfBand::at(band.gamma * (1.0 + 1e-8), ranks, outcomes);
            assert!(wider.coverage(ranks) < coverage, "{ranks} {outcomes}");
        }
        assert_eq!(stays_inside(&[], 5), 1.0);
        // scipy.stats.binom.ppf([0.05, 0.95], 100, 0.5)
        let band = EcdfBand::at(0.1, 100, 2);
        assert_eq!((band.lower, band.upper), (vec![42, 100], vec![58, 100]));
    }
}
