//! Pareto k of each observation: which of them the posterior without them is too far from the posterior to be
//! reached by importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024).
//!
//! The classes of k, and from how many observations on points become columns, stand here.

mod draw;

use octopus_diag::pareto_k_threshold;

/// Up to here each observation is a point.
const MOST_POINTS: usize = 2000;
/// Columns of a picture of more.
const COLUMNS: usize = 320;
/// Of those above the threshold as many are drawn as points of their own, the largest.
const MOST_SINGLE: usize = 400;
/// k from which the mean does not exist.
const NO_MEAN: f64 = 1.0;

/// The data of a plot of Pareto k.
#[derive(Clone, Debug)]
pub struct ParetoKPlot {
    /// k of each observation, NaN where it is not defined.
    pub k: Vec<f64>,
    /// The number of draws, which decides up to where k is good ([`pareto_k_threshold`]).
    pub draws: usize,
    /// A name for each observation, e.g. its group; empty: they are numbered from 0.
    pub labels: Vec<String>,
}

/// What k says of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    Good,
    Bad,
    VeryBad,
    Undefined,
}

/// Neighbouring observations of a picture of many.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    /// The middle observation's index.
    at: f64,
    low: f64,
    median: f64,
    high: f64,
}

impl ParetoKPlot {
    /// Returns up to where k is good; not finite for a single draw.
    fn threshold(&self) -> f64 {
        pareto_k_threshold(self.draws)
    }

    fn class(&self, k: f64) -> Class {
        match k {
            k if k.is_nan() => Class::Undefined,
            k if k <= self.threshold() => Class::Good,
            k if k <= NO_MEAN => Class::Bad,
            _ => Class::VeryBad,
        }
    }

    fn number(&self, class: Class) -> usize {
        self.k.iter().filter(|&&k| self.class(k) == class).count()
    }

    fn label(&self, index: usize) -> String {
        self.labels.get(index).cloned().unwrap_or_else(|| index.to_string())
    }

    /// Observations above the threshold, the worst first.
    fn worst(&self) -> Vec<usize> {
        let mut worst: Vec<usize> = (0..self.k.len()).filter(|&i| self.k[i] > self.threshold()).collect();
        worst.sort_by(|&a, &b| self.k[b].total_cmp(&self.k[a]).then(a.cmp(&b)));
        worst
    }

    /// Returns the values to span: all finite ones, with 0 and the line at 1.
    fn range(&self) -> (f64, f64) {
        let (low, high) = super::axis::extent(self.k.iter().copied().chain([0.0, 1.08])).unwrap_or((0.0, 1.08));
        (low - 0.04 * (high - low), high + 0.04 * (high - low))
    }

    /// What points would drown: smallest, median and largest k of neighbouring observations.
    fn columns(&self) -> Vec<Column> {
        let each = self.k.len().div_ceil(COLUMNS).max(1);
        let column = |(i, k): (usize, &[f64])| {
            let mut sorted: Vec<f64> = k.iter().copied().filter(|k| k.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let (&low, &high) = (sorted.first()?, sorted.last()?);
            let at = (i * each) as f64 + 0.5 * (k.len() - 1) as f64;
            Some(Column { at, low, median: octopus_diag::quantile_of_sorted(&sorted, 0.5), high })
        };
        self.k.chunks(each).enumerate().filter_map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn plot(n: usize, bad: usize) -> ParetoKPlot {
        let k = (0..n).map(|i| {
            if i % (n / bad.max(1)).max(1) == 3 {
                0.6 + 0.1 * (i % 8) as f64
            } else {
                0.1 + 0.3 * ((i * 7919) % 1000) as f64 / 1000.0
            }
        });
        ParetoKPlot { k: k.collect(), draws: 1682, labels: vec![] }
    }

    #[test]
    fn classes_are_arviz_s() {
        let plot = ParetoKPlot { k: vec![-0.2, 0.69, 0.7, 1.0, 1.01, f64::INFINITY, f64::NAN], ..plot(1, 0) };
        let numbers = [Class::Good, Class::Bad, Class::VeryBad, Class::Undefined].map(|class| plot.number(class));
        assert_eq!(numbers, [2, 2, 2, 1]);
        assert_eq!(plot.worst(), [5, 4, 3, 2]);
    }

    #[test]
    fn columns_hold_every_observation() {
        let plot = plot(100_000, 50);
        let columns = plot.columns();
        assert_eq!(columns.len(), 320);
        let largest = plot.k.iter().copied().fold(0.0, f64::max);
        assert_eq!(columns.iter().map(|c| c.high).fold(0.0, f64::max), largest);
        assert!(columns.iter().all(|c| c.low <= c.median && c.median <= c.high));
    }

    #[test]
    fn from_one_to_many_observations_and_odd_values() {
        for n in [1, 3, 8, 100, 1003, 2001, 100_000] {
            let plot = plot(n, 20);
            assert_eq!(flaws(&plot), [""; 0], "{n}");
            if n == 100_000 {
                let svg = plot.svg().unwrap();
                assert!(svg.len() < 400_000, "{}", svg.len());
            }
        }
        let odd = ParetoKPlot {
            k: vec![f64::NAN, f64::INFINITY, -3.0, 12.0, 0.5],
            labels: vec!["a very long name of an observation ".repeat(6); 5],
            ..plot(1, 0)
        };
        assert_eq!(flaws(&odd), [""; 0]);
        let undefined = ParetoKPlot { k: vec![f64::NAN; 4], draws: 1, ..plot(1, 0) };
        assert_eq!(flaws(&undefined), [""; 0]);
        let all_bad = ParetoKPlot { k: vec![0.9; 3000], draws: 27, ..plot(1, 0) };
        assert_eq!(flaws(&all_bad), [""; 0]);
        let error = ParetoKPlot { k: vec![], ..plot(1, 0) }.png();
        assert!(error.unwrap_err().to_string().contains("observation"));
    }
}
