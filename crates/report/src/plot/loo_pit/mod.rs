//! LOO-PIT: for each observation, the probability of a value at or below it under the model fitted to the other
//! observations. For a calibrated model these are uniform (Gelfand, Dey and Chang 1992); the band comes from Saeilynoja
//! et al. (2022).
//!
//! The band's coverage, and the bins of its histogram, stand here.

mod draw;

use octopus_diag::{EcdfBand, RankCounts};

use crate::error::ReportError;

/// The probability that uniform values stay inside the band everywhere.
const COVERAGE: f64 = 0.95;
/// The most places at which the distribution function is compared; the band is exact for these.
const PLACES: usize = 100;
/// With this many observations the exact band takes seconds at [`PLACES`] places; then half of them are used.
const MANY: usize = 20_000;
/// The most bins of the histogram.
const BINS: usize = 25;
/// The least expected number of observations in a bin.
const IN_BIN: usize = 5;

/// The data of a LOO-PIT check.
#[derive(Clone, Debug)]
pub struct LooPitPlot {
    /// The probability of each observation, between 0 and 1.
    pub pit: Vec<f64>,
}

/// Counts of the values that lie between 0 and 1.
struct Counts {
    values: usize,
    /// The number of values that are NaN or outside 0 to 1.
    dropped: usize,
    /// The share of values at or below each of evenly spaced places, less the place; and the band's ends there.
    difference: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    bins: Vec<u64>,
    /// The range in which the count of a bin lies with 95% probability.
    expected: (u64, u64),
}

impl LooPitPlot {
    fn counts(&self) -> Result<Counts, ReportError> {
        let empty = || ReportError::Empty { plot: "the LOO-PIT plot", missing: "values between 0 and 1" };
        let values: Vec<f64> = self.pit.iter().copied().filter(|v| (0.0..=1.0).contains(v)).collect();
        let n = values.len();
        // Of few observations a place for each two: more only show the steps of single ones.
        let places = if n > MANY { PLACES / 2 } else { (n / 2).clamp(10, PLACES) };
        let ranks = RankCounts::from_counts(in_bins(&values, places)).map_err(|_| empty())?;
        let band = EcdfBand::new(n as u64, places, COVERAGE).map_err(|_| empty())?;
        let less = |counts: &[u64]| -> Vec<f64> {
            let place = |i: usize| (i + 1) as f64 / places as f64;
            counts.iter().enumerate().map(|(i, &count)| count as f64 / n as f64 - place(i)).collect()
        };
        let bins = (n / IN_BIN).clamp(1, BINS);
        let coarse = RankCounts::from_counts(in_bins(&values, bins)).map_err(|_| empty())?;
        Ok(Counts {
            values: n,
            dropped: self.pit.len() - n,
            difference: less(&ranks.cumulative()),
            lower: less(&band.lower),
            upper: less(&band.upper),
            expected: coarse.bin_interval(bins, COVERAGE),
            bins: in_bins(&values, bins),
        })
    }
}

impl Counts {
    /// Returns the places where the function leaves the band.
    fn outside(&self) -> Vec<usize> {
        let inside = |i: usize| self.difference[i] >= self.lower[i] && self.difference[i] <= self.upper[i];
        (0..self.difference.len()).filter(|&i| !inside(i)).collect()
    }
}

/// Counts the values in [0, 1] that lie in each of `bins` intervals. An edge belongs to the interval below it, so that
/// sums count what is at or below.
fn in_bins(values: &[f64], bins: usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    for value in values {
        let bin = (value * bins as f64).ceil() as usize;
        counts[bin.saturating_sub(1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn even(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect()
    }

    #[test]
    fn an_edge_belongs_below() {
        assert_eq!(in_bins(&[0.0, 0.1, 0.25, 0.26, 0.5, 1.0], 4), [3, 2, 0, 1]);
    }

    #[test]
    fn even_values_stay_inside_and_a_hill_leaves() {
        let counts = LooPitPlot { pit: even(500) }.counts().unwrap();
        assert!(counts.outside().is_empty() && counts.difference.iter().all(|d| d.abs() < 0.003));
        // scipy.stats.binom.interval(0.95, 500, 1 / 25)
        assert_eq!((counts.bins.len(), counts.expected), (25, (12, 29)));
        let hill = even(500).into_iter().map(|v| 0.5 + 0.8 * (v - 0.5)).chain([f64::NAN, 1.5]).collect();
        let counts = LooPitPlot { pit: hill }.counts().unwrap();
        assert_eq!((counts.values, counts.dropped), (500, 2));
        assert!(counts.outside().len() > 20);
    }

    #[test]
    fn from_one_to_many_observations() {
        for pit in [vec![0.3], vec![0.5; 40], even(8), even(1003), vec![0.0, 1.0, f64::NAN], even(20_000), even(20_001)]
        {
            assert_eq!(flaws(&LooPitPlot { pit }), [""; 0]);
        }
        let error = LooPitPlot { pit: vec![f64::NAN] }.png().unwrap_err().to_string();
        assert!(error.contains("between 0 and 1"), "{error}");
    }
}
