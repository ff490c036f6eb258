//! Predictive check by distribution functions (ECDF): no bandwidth and no bins, and ties are steps.
//!
//! The share of replicates inside the envelope, and how many there are, stand here.

mod draw;

use super::axis::{extent, widened};
use octopus_diag::quantile_of_sorted;

/// Replicates that are drawn as curves: more turn into a blot.
const MOST_CURVES: usize = 100;
/// Replicates that the envelope is made of.
const MOST_REPLICATES: usize = 500;
/// Points of the grid on which functions are compared.
const POINTS: usize = 361;
/// The share of the replicated functions inside the envelope at each value.
const ENVELOPE: f64 = 0.95;

/// The data of a predictive check by empirical distribution functions.
#[derive(Clone, Debug)]
pub struct PpcEcdfPlot {
    /// The observations.
    pub observed: Vec<f64>,
    /// Replicated data sets, each with as many values; 100 to 500 are enough.
    pub replicates: Vec<Vec<f64>>,
}

impl PpcEcdfPlot {
    /// All functions on one grid; none without finite observations or replicates.
    fn functions(&self) -> Option<Functions> {
        let every = self.replicates.len().div_ceil(MOST_REPLICATES).max(1);
        let replicates: Vec<Vec<f64>> = self.replicates.iter().step_by(every).map(|values| sorted(values)).collect();
        let replicates: Vec<Vec<f64>> = replicates.into_iter().filter(|values| !values.is_empty()).collect();
        let observed = sorted(&self.observed);
        let mut pooled = replicates.concat();
        pooled.sort_by(f64::total_cmp);
        let (&first, &last) = (observed.first()?, observed.last()?);
        pooled.first()?;
        // A replicate far out would squeeze the rest: all but the outermost 0.1%.
        let ends = [first, last, quantile_of_sorted(&pooled, 0.0005), quantile_of_sorted(&pooled, 0.9995)];
        let (low, high) = widened(extent(ends)?, 0.03);
        let (low, high) = if high > low { (low, high) } else { (low - 1.0, high + 1.0) };
        let x: Vec<f64> = (0..POINTS).map(|i| low + (high - low) * i as f64 / (POINTS - 1) as f64).collect();
        let replicated: Vec<Vec<f64>> = replicates.iter().map(|values| ecdf(values, &x)).collect();
        let mean = ecdf(&pooled, &x);
        let tail = 0.5 * (1.0 - ENVELOPE);
        let envelope = (0..POINTS).map(|i| {
            let mut at: Vec<f64> = replicated.iter().map(|function| function[i]).collect();
            at.sort_by(f64::total_cmp);
            (quantile_of_sorted(&at, tail), quantile_of_sorted(&at, 1.0 - tail))
        });
        Some(Functions { envelope: envelope.collect(), observed: ecdf(&observed, &x), replicated, mean, x })
    }
}

/// Distribution functions at the same values.
struct Functions {
    x: Vec<f64>,
    observed: Vec<f64>,
    replicated: Vec<Vec<f64>>,
    /// The distribution function of all replicates together.
    mean: Vec<f64>,
    /// The range in which 95% of the replicated functions lie at each value.
    envelope: Vec<(f64, f64)>,
}

impl Functions {
    /// Returns the replicated functions to draw, evenly chosen.
    fn curves(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.replicated.iter().step_by(self.replicated.len().div_ceil(MOST_CURVES).max(1))
    }

    /// Returns the share of the range at which the observed function lies outside the envelope.
    fn outside(&self) -> f64 {
        let out = self.observed.iter().zip(&self.envelope).filter(|(v, (low, high))| *v < low || *v > high);
        out.count() as f64 / self.x.len() as f64
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns the share of ascending `sorted` at or below each of ascending `x`.
fn ecdf(sorted: &[f64], x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| sorted.partition_point(|&v| v <= x) as f64 / sorted.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    /// Replicates 0, 1, ..., each of `n` even values shifted a little.
    fn plot(n: u32, replicates: u32) -> PpcEcdfPlot {
        let values = |shift: f64| (0..n).map(|i| f64::from(i) + 0.5 + shift).collect::<Vec<f64>>();
        let replicates = (0..replicates).map(|k| values(f64::from(k) / f64::from(replicates) - 0.5)).collect();
        PpcEcdfPlot { observed: values(0.0), replicates }
    }

    #[test]
    fn the_share_at_or_below() {
        assert_eq!(ecdf(&[1.0, 2.0, 2.0, 4.0], &[0.0, 1.0, 2.0, 3.9, 9.0]), [0.0, 0.25, 0.75, 0.75, 1.0]);
    }

    #[test]
    fn what_is_alike_stays_inside_and_what_is_shifted_leaves() {
        let mut alike = plot(100, 200);
        let functions = alike.functions().unwrap();
        assert_eq!((functions.replicated.len(), functions.curves().count()), (200, 100));
        assert_eq!(functions.outside(), 0.0);
        alike.observed.iter_mut().for_each(|v| *v *= 0.8);
        assert!(alike.functions().unwrap().outside() > 0.5);
    }

    #[test]
    fn odd_values_are_drawn_and_nothing_is_an_error() {
        let mut odd = plot(5, 3);
        odd.observed = vec![7.0; 5];
        odd.replicates[0] = vec![7.0; 5];
        odd.replicates[1] = vec![f64::NAN; 5];
        odd.replicates[2][0] = f64::INFINITY;
        let constant = PpcEcdfPlot { observed: vec![2.0], replicates: vec![vec![2.0]] };
        let x = constant.functions().unwrap().x;
        assert_eq!((x[0], x[POINTS - 1]), (1.0, 3.0), "around the only value");
        for (what, plot) in [("odd", odd), ("constant", constant), ("many", plot(2000, 700))] {
            assert_eq!(flaws(&plot), [""; 0], "{what}");
        }
        let empty = PpcEcdfPlot { observed: vec![f64::NAN], replicates: vec![vec![1.0]] };
        let error = empty.png().unwrap_err().to_string();
        assert!(error.contains("observations"), "{error}");
    }
}
