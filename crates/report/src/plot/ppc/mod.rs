//! Posterior predictive check: do data replicated from the posterior look like the observed ones?
//!
//! How many replicated curves are drawn stands here.

mod draw;

use crate::estimate::Density;
use crate::summary::PredictiveStatistic;
use octopus_diag::quantile_of_sorted;

/// Replicated densities that are drawn: more turn into a blot.
const MOST_CURVES: usize = 100;

/// The data of a posterior predictive check.
#[derive(Clone, Debug)]
pub struct PpcPlot {
    /// The observations.
    pub observed: Vec<f64>,
    /// Replicated data sets, each with as many values; 50 to 100 are enough.
    pub replicates: Vec<Vec<f64>>,
    /// Test statistics with their replicated values and p-values.
    pub statistics: Vec<PredictiveStatistic>,
}

impl PpcPlot {
    /// Estimates the density of a data set. It may go below 0 where any of the data do: a few replicated values that
    /// happen to be positive have no bound there.
    fn density(&self, values: &[f64]) -> Option<Density> {
        let negative = |values: &[f64]| values.iter().any(|value| *value < 0.0);
        let any = negative(&self.observed) || self.replicates.iter().any(|replicate| negative(replicate));
        if any { Density::of_unbounded(values) } else { Density::of(values) }
    }

    /// Densities of the replicated data sets, evenly chosen when there are more than fit.
    fn curves(&self) -> Vec<Density> {
        let every = self.replicates.len().div_ceil(MOST_CURVES).max(1);
        self.replicates.iter().step_by(every).filter_map(|values| self.density(values)).collect()
    }

    /// Returns the values to show: observations and all but the outermost 0.1% of the replicates.
    fn range(&self) -> Option<(f64, f64)> {
        let mut pooled: Vec<f64> = self.replicates.iter().flatten().copied().filter(|v| v.is_finite()).collect();
        pooled.sort_by(f64::total_cmp);
        let bulk = [quantile_of_sorted(&pooled, 0.0005), quantile_of_sorted(&pooled, 0.9995)];
        super::axis::extent(self.observed.iter().copied().chain(bulk)).map(|range| super::axis::widened(range, 0.04))
    }
}

/// Returns the mean of densities on an even grid of the range: the predictive density.
fn mean_curve(curves: &[Density], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    const POINTS: usize = 300;
    if curves.is_empty() {
        return Vec::new();
    }
    (0..POINTS)
        .map(|i| low + (high - low) * i as f64 / (POINTS - 1) as f64)
        .map(|x| (x, curves.iter().map(|curve| curve.at(x)).sum::<f64>() / curves.len() as f64))
        .collect()
}

/// Counts of the finite values in `bins` equal bins of the range.
pub(in crate::plot) fn histogram(values: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for value in values.iter().filter(|v| v.is_finite()) {
        let share = (value - low) / (high - low);
        if (0.0..=1.0).contains(&share) {
            counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_densities_integrates_to_one() {
        let curves: Vec<Density> = (0..5)
            .map(|k| (0..200).map(|i| f64::from(i * i % 97 + k)).collect::<Vec<_>>())
            .filter_map(|v| Density::of(&v))
            .collect();
        let mean = mean_curve(&curves, (-5.0, 110.0));
        let step = mean[1].0 - mean[0].0;
        let mass: f64 = mean.iter().map(|point| point.1 * step).sum();
        assert!((mass - 1.0).abs() < 0.01, "{mass}");
        assert_eq!((mean[0].0, mean[mean.len() - 1].0), (-5.0, 110.0));
        assert!(mean_curve(&[], (0.0, 1.0)).is_empty());
    }

    #[test]
    fn a_density_has_no_bound_at_0_where_any_value_of_the_data_is_below() {
        let positive = [0.1, 0.4, 0.7, 1.1, 1.3, 1.6, 2.0, 2.4];
        for (observed, replicated, bounded) in [(1.0, 0.0, true), (-1.0, 2.0, false), (1.0, -2.0, false)] {
            let plot = PpcPlot { observed: vec![observed], replicates: vec![vec![replicated]], statistics: vec![] };
            let density = plot.density(&positive).unwrap();
            assert_eq!(density.points().all(|(x, _)| x >= 0.0), bounded, "{observed} {replicated}");
        }
    }

    #[test]
    fn histogram_counts_both_ends() {
        assert_eq!(histogram(&[0.0, 0.1, 0.5, 1.0, 2.0, f64::NAN], (0.0, 1.0), 2), [2, 2]);
    }

    #[test]
    fn at_most_a_hundred_curves() {
        let replicates = (0..250).map(|k| vec![f64::from(k), f64::from(k) + 1.0]).collect();
        let plot = PpcPlot { observed: vec![1.0], replicates, statistics: vec![] };
        assert_eq!(plot.curves().len(), 84);
        let empty = PpcPlot { observed: vec![], replicates: vec![], statistics: vec![] };
        assert!(empty.curves().is_empty() && empty.range().is_none());
    }
}
