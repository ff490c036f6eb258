//! Forest plot: intervals of many variables, from one to thousands.
//!
//! Which variables, rows and intervals it has is decided here.

mod draw;
mod many;

pub(super) use draw::rhat_text;

use octopus_trace::Dataset;

use crate::draws;
use crate::summary::SummaryRow;
use octopus_diag::hdi_of_sorted;

/// The data of a forest plot.
#[derive(Clone, Debug)]
pub struct ForestPlot {
    /// One part of the picture for each variable.
    pub sections: Vec<ForestSection>,
}

/// One variable: a scalar has one row, an array one for each element.
#[derive(Clone, Debug)]
pub struct ForestSection {
    /// The variable's name.
    pub name: String,
    /// The variable's elements in order.
    pub rows: Vec<ForestRow>,
}

/// One scalar or element.
#[derive(Clone, Debug)]
pub struct ForestRow {
    /// The element's name, e.g. `mu_group[berlin]`.
    pub label: String,
    /// Posterior mean.
    pub mean: f64,
    /// Highest-density interval of 89%.
    pub hdi89: (f64, f64),
    /// Highest-density interval of 50%.
    pub hdi50: (f64, f64),
    /// R-hat, NaN where it is not defined.
    pub rhat: f64,
    /// The value that made the data.
    pub truth: Option<f64>,
}

impl ForestPlot {
    /// Takes every variable of `posterior` that has rows in `summary`; the 50% interval is computed from the draws.
    ///
    /// Only the first four arrays are shown.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        const MOST_ARRAYS: usize = 4;
        let by_name: std::collections::HashMap<&str, &SummaryRow> =
            summary.iter().map(|row| (row.name.as_str(), row)).collect();
        let mut sections: Vec<ForestSection> = Vec::new();
        for element in draws::elements(posterior) {
            let Some(row) = by_name.get(element.name.as_str()) else { continue };
            let mut sorted = element.pooled();
            sorted.retain(|v| v.is_finite());
            sorted.sort_by(f64::total_cmp);
            let row = ForestRow {
                label: element.name.clone(),
                mean: row.mean,
                hdi89: row.hdi.into(),
                hdi50: hdi_of_sorted(&sorted, 0.5).into(),
                rhat: row.rhat,
                truth: row.truth,
            };
            match sections.last_mut() {
                Some(section) if section.name == element.variable => section.rows.push(row),
                _ => sections.push(ForestSection { name: element.variable.to_owned(), rows: vec![row] }),
            }
        }
        let mut arrays = 0;
        sections.retain(|section| {
            arrays += usize::from(section.rows.len() > 1);
            section.rows.len() == 1 || arrays <= MOST_ARRAYS
        });
        Self { sections }
    }
}

impl ForestRow {
    /// The row less its mean: what is left is how uncertain it is, and how far the truth lies off.
    fn around_mean(&self) -> Self {
        let less = |(low, high): (f64, f64)| (low - self.mean, high - self.mean);
        Self {
            mean: 0.0 * self.mean,
            hdi89: less(self.hdi89),
            hdi50: less(self.hdi50),
            truth: self.truth.map(|truth| truth - self.mean).filter(|truth| truth.is_finite()),
            ..self.clone()
        }
    }
}

impl ForestSection {
    /// Returns how many rows have their truth inside their 89% HDI, and how many rows have a known truth.
    fn coverage(&self) -> Option<(usize, usize)> {
        let known: Vec<_> = self.rows.iter().filter_map(|row| Some((row.truth?, row.hdi89))).collect();
        let inside = known.iter().filter(|(truth, (low, high))| truth >= low && truth <= high).count();
        (!known.is_empty()).then_some((inside, known.len()))
    }

    /// Returns the values that the rows span.
    fn range(&self) -> (f64, f64) {
        let ends = self.rows.iter().flat_map(|row| [row.hdi89.0, row.hdi89.1, row.mean].into_iter().chain(row.truth));
        super::axis::widened(super::axis::extent(ends).unwrap_or((0.0, 1.0)), 0.03)
    }

    /// Returns the rows by ascending mean; those without a mean come last.
    fn sorted(&self) -> Vec<&ForestRow> {
        let mut rows: Vec<&ForestRow> = self.rows.iter().collect();
        rows.sort_by(|a, b| a.mean.is_nan().cmp(&b.mean.is_nan()).then(a.mean.total_cmp(&b.mean)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::{Array, Values};

    fn summary(name: &str, mean: f64) -> SummaryRow {
        let mut row = SummaryRow::with_rhat(name, 1.0);
        (row.mean, row.hdi) = (mean, [mean - 1.6, mean + 1.6]);
        row
    }

    #[test]
    fn sections_follow_the_variables() {
        let mut posterior = Dataset::default();
        let array = |dims: &[&str], shape: &[usize]| Array {
            dims: dims.iter().map(|&d| d.to_owned()).collect(),
            shape: shape.to_vec(),
            values: Values::F64((0..shape.iter().product()).map(|i: usize| i as f64).collect()),
        };
        posterior.variables.insert("mu".into(), array(&["chain", "draw"], &[1, 11]));
        posterior.variables.insert("g".into(), array(&["chain", "draw", "j"], &[1, 11, 2]));
        posterior.variables.insert("hidden".into(), array(&["chain", "draw"], &[1, 11]));
        let rows = [summary("mu", 5.0), summary("g[0]", 10.0), summary("g[1]", 3.0)];
        let plot = ForestPlot::from_posterior(&posterior, &rows);
        let names: Vec<_> = plot.sections.iter().map(|s| (s.name.as_str(), s.rows.len())).collect();
        assert_eq!(names, [("mu", 1), ("g", 2)]);
        // floor(0.5 * 11) = 5 steps between 11 even values.
        assert_eq!(plot.sections[0].rows[0].hdi50, (0.0, 5.0));
        assert_eq!(plot.sections[1].sorted()[0].label, "g[1]");
    }

    #[test]
    fn four_arrays_and_every_scalar_are_shown() {
        let mut posterior = Dataset::default();
        let mut rows = Vec::new();
        for (name, elements) in [("a", 2), ("b", 3), ("mu", 1), ("c", 2), ("d", 2), ("e", 2), ("nu", 1)] {
            let axes = [("chain", 1), ("draw", 4), ("j", elements)];
            let axes = if elements == 1 { &axes[..2] } else { &axes[..] };
            let values = Values::F64((0..4 * elements).map(|i| i as f64).collect());
            posterior.insert(name, Array::new(axes.iter().copied(), values));
            rows.extend((0..elements).map(|j| summary(&format!("{name}[{j}]"), 1.0)));
            rows.push(summary(name, 1.0));
        }
        let plot = ForestPlot::from_posterior(&posterior, &rows);
        let names: Vec<&str> = plot.sections.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "mu", "c", "d", "nu"]);
    }

    #[test]
    fn coverage_and_rows_about_their_means() {
        let row = |mean: f64, truth| ForestRow {
            label: String::new(),
            mean,
            hdi89: (mean - 2.0, mean + 2.0),
            hdi50: (mean - 1.0, mean + 1.0),
            rhat: 1.0,
            truth,
        };
        let rows = vec![row(5.0, Some(6.5)), row(5.0, Some(8.0)), row(5.0, None)];
        let around = rows[0].around_mean();
        assert_eq!((around.mean, around.hdi89, around.hdi50, around.truth), (0.0, (-2.0, 2.0), (-1.0, 1.0), Some(1.5)));
        assert_eq!(ForestSection { name: "x".into(), rows }.coverage(), Some((1, 2)));
        assert_eq!(ForestSection { name: "x".into(), rows: vec![row(1.0, None)] }.coverage(), None);
    }

    #[test]
    fn rows_without_a_mean_sort_last() {
        let row = |mean| ForestRow {
            label: String::new(),
            mean,
            hdi89: (mean, mean),
            hdi50: (mean, mean),
            rhat: f64::NAN,
            truth: None,
        };
        let section = ForestSection { name: "x".into(), rows: vec![row(f64::NAN), row(2.0), row(-1.0)] };
        assert_eq!(section.sorted()[0].mean, -1.0);
        assert!(section.sorted()[2].mean.is_nan());
        assert!(section.range().0 < -1.0 && section.range().1 > 2.0);
    }
}
