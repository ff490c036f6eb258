//! Predictive check by statistics: the rank of the observed data's value among the values of replicated data.
//!
//! Which p-values look odd, and the words for them, are decided here.

mod draw;

use super::axis::{extent, widened};
use crate::format::significant;
use crate::summary::PredictiveStatistic;

/// The data of a predictive check by statistics.
#[derive(Clone, Debug)]
pub struct PpcStatisticPlot {
    /// One panel for each, with its values on replicated data and its p-value as given.
    pub statistics: Vec<PredictiveStatistic>,
}

impl PredictiveStatistic {
    /// Returns the values to span; none when there is no finite one.
    fn span(&self) -> Option<(f64, f64)> {
        extent(self.replicated.iter().copied().chain([self.observed])).map(|range| widened(range, 0.05))
    }

    /// Returns the p-value as people read it: with 80 replicates none of which is as small, it is less than 1/80.
    fn p_words(&self) -> String {
        let least = 1.0 / self.replicated.len().max(1) as f64;
        match self.p_value {
            p if p == 0.0 && !self.replicated.is_empty() => format!("p < {}", significant(least, 2)),
            p if p == 1.0 && !self.replicated.is_empty() => format!("p > {}", significant(1.0 - least, 3)),
            p => format!("p = {}", significant(p, 2)),
        }
    }

    /// Near 0 or 1 the observed value is an odd one out.
    fn odd(&self) -> bool {
        !(0.025..=0.975).contains(&self.p_value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn statistic(name: &str, observed: f64, replicated: Vec<f64>, p_value: f64) -> PredictiveStatistic {
        PredictiveStatistic { name: name.to_owned(), observed, replicated, p_value }
    }

    #[test]
    fn p_values_at_the_ends_are_bounds() {
        let words = |p| statistic("mean", 0.0, vec![1.0; 80], p).p_words();
        assert_eq!([words(0.0), words(0.5), words(1.0)], ["p < 0.013", "p = 0.50", "p > 0.988"]);
        assert_eq!(statistic("mean", 0.0, vec![], 0.0).p_words(), "p = 0");
        assert!(statistic("mean", 0.0, vec![], f64::NAN).odd());
    }

    #[test]
    fn any_number_of_panels_and_odd_values() {
        let usual = |i: u32| {
            let values = (0..200).map(|k| f64::from(k * (i + 7) % 101)).collect();
            statistic(&format!("statistic {i}"), 42.0, values, 0.4)
        };
        for n in [1, 2, 3, 4, 5, 7, 12] {
            let plot = PpcStatisticPlot { statistics: (0..n).map(usual).collect() };
            assert_eq!(flaws(&plot), [""; 0], "{n}");
        }
        let odd = vec![
            statistic("constant", 2.0, vec![2.0; 9], 1.0),
            statistic("none", f64::NAN, vec![], f64::NAN),
            statistic(&"a very long name of a statistic ".repeat(5), f64::INFINITY, vec![1.0, f64::NAN], 0.0),
            statistic("far", 1e9, vec![-1.0, 0.0, 1e-3], 0.0),
        ];
        assert_eq!(flaws(&PpcStatisticPlot { statistics: odd }), [""; 0]);
        let error = PpcStatisticPlot { statistics: vec![] }.png().unwrap_err().to_string();
        assert!(error.contains("statistic"), "{error}");
    }
}
