//! Densities (KDE) as curves in pictures: their grid, how far it reaches, and their edge at 0.

use octopus_diag::{Bandwidth, Kde, KdeOptions, kde, kde_with};

/// A density on an even grid, [`kde`]'s, which says 0 outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Density(Kde);

impl Density {
    /// Estimates the density of the finite values of `sample`; `None` when fewer than two differ: there is no density
    /// to draw.
    ///
    /// The grid reaches three bandwidths beyond the values, so that curves come down to nothing, but not below 0 where no
    /// value is: a scale's density ends there.
    pub(crate) fn of(sample: &[f64]) -> Option<Self> {
        Self::from(sample, 0.0)
    }

    /// Estimates like [`of`](Self::of) the density of a sample of what can be below 0, even if no value of this sample
    /// is.
    pub(crate) fn of_unbounded(sample: &[f64]) -> Option<Self> {
        Self::from(sample, f64::NEG_INFINITY)
    }

    /// Estimates a density that ends at `bound` where no value is below.
    fn from(sample: &[f64], bound: f64) -> Option<Self> {
        let Kde { grid, bandwidth, .. } = kde(sample)?;
        let half = 0.5 * (grid[1] - grid[0]);
        let (first, last) = (grid[0] - half, grid[grid.len() - 1] + half);
        let start = first - 3.0 * bandwidth;
        // The first value is an edge but for rounding.
        let start = if first > bound - half { start.max(bound) } else { start };
        let limits = Some([start, last + 3.0 * bandwidth]);
        kde_with(sample, &KdeOptions { bandwidth: Bandwidth::Fixed(bandwidth), limits, ..KdeOptions::default() })
            .map(Self)
    }

    /// Points `(x, density)` in order.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.0.grid.iter().copied().zip(self.0.density.iter().copied())
    }

    /// Returns the density at `x`, linear between grid points, 0 outside.
    pub(crate) fn at(&self, x: f64) -> f64 {
        let Kde { grid, density, .. } = &self.0;
        let position = (x - grid[0]) / (grid[1] - grid[0]);
        let last = grid.len() - 1;
        if !(0.0..=last as f64).contains(&position) {
            return 0.0;
        }
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        density[below] + (position - below as f64) * (density[above] - density[below])
    }

    /// Returns the highest density.
    pub(crate) fn peak(&self) -> f64 {
        self.0.density.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_density_of_a_logistic() {
        let n = 40_000;
        let sample: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).map(|p| (p / (1.0 - p)).ln()).collect();
        let density = Density::of(&sample).unwrap();
        for x in [-3.0f64, -1.0, 0.0, 0.5, 2.0] {
            let exact = (-x).exp() / (1.0 + (-x).exp()).powi(2);
            assert!((density.at(x) - exact).abs() < 0.01, "{x}: {} {exact}", density.at(x));
        }
        assert!((density.peak() - 0.25).abs() < 0.01, "{}", density.peak());
        assert_eq!(density.at(1e9), 0.0);
        assert_eq!(density.at(f64::NAN), 0.0);
        let (first, last) = (density.points().next().unwrap(), density.points().last().unwrap());
        assert!(first.0 < -10.0 && last.0 > 10.0 && first.1 < 1e-3, "{first:?} {last:?}");
    }

    #[test]
    fn curves_come_down_to_nothing_but_not_below_a_bound() {
        let even =
            |low: f64, high: f64| (0..200).map(|i| low + (high - low) * f64::from(i) / 199.0).collect::<Vec<_>>();
        let ends = |sample: &[f64]| {
            let density = Density::of(sample).unwrap();
            let points: Vec<(f64, f64)> = density.points().collect();
            (points[0], points[points.len() - 1], density.peak())
        };
        let (first, last, peak) = ends(&even(-1.0, 1.0));
        assert!(first.0 < -1.1 && first.1 < 0.01 * peak && last.0 > 1.1 && last.1 < 0.01 * peak);
        assert!(ends(&even(0.0, 1.0)).0.0 > -1e-9, "0 may be reached, and is a bound all the same");
        // Exponential(1) has density 1 at 0, and no value is below.
        let exponential: Vec<f64> = (0..20_000).map(|i| -(1.0 - (i as f64 + 0.5) / 20_000.0).ln()).collect();
        let (first, _, _) = ends(&exponential);
        assert!(first.0 > 0.0 && first.0 < 0.02 && first.1 > 0.9, "{first:?}");
    }

    /// Eight numbers that happen to be positive are no scale.
    #[test]
    fn a_small_sample_of_what_can_be_negative_has_no_bound() {
        let sample = [0.1, 0.4, 0.7, 1.1, 1.3, 1.6, 2.0, 2.4];
        let (bounded, free) = (Density::of(&sample).unwrap(), Density::of_unbounded(&sample).unwrap());
        assert!(bounded.points().next().unwrap().0 > 0.0 && bounded.at(-0.2) == 0.0);
        assert!(free.points().next().unwrap().0 < -1.0 && free.at(-0.2) > 0.01);
        assert!(free.at(0.05) < bounded.at(0.05));
    }

    #[test]
    fn nothing_to_draw() {
        for sample in [vec![], vec![1.0], vec![2.0; 9], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0]] {
            assert_eq!(Density::of(&sample), None, "{sample:?}");
        }
    }
}
