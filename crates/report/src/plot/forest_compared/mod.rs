//! The forest of several runs or models: their intervals beside each other, grouped by variable.
//!
//! How many rows of an array are shown, and which, is decided here.

mod draw;

use octopus_trace::Dataset;

use super::axis::{extent, widened};
use super::forest::{ForestPlot, ForestRow};
use crate::summary::SummaryRow;

/// The most rows of a variable that are all shown.
const MOST_ROWS: usize = 40;
/// The number of rows shown of a variable with more rows: those whose runs differ most.
const MOST_DIFFERENT: usize = 20;

/// The data of a forest of several runs.
#[derive(Clone, Debug)]
pub struct ForestComparisonPlot {
    /// Names of the runs.
    pub runs: Vec<String>,
    /// The variables, one section for each.
    pub sections: Vec<ComparedSection>,
}

/// One variable of several runs.
#[derive(Clone, Debug)]
pub struct ComparedSection {
    /// The variable's name.
    pub name: String,
    /// The variable's elements that are shown.
    pub rows: Vec<ComparedRow>,
    /// The number of the variable's elements; there are fewer rows where only the most different are shown.
    pub elements: usize,
}

/// One scalar or element of several runs.
#[derive(Clone, Debug)]
pub struct ComparedRow {
    /// The element's name.
    pub label: String,
    /// The interval of each run, in the order of the runs; `None` where a run does not have the element.
    pub runs: Vec<Option<ForestRow>>,
}

impl ForestPlot {
    /// Makes the forest of several runs or models, each with its name, posterior and summary, row beside row:
    /// `az.plot_forest` with a list. Variables are in the order of the first run that has them. A variable with more
    /// than 40 elements shows the 20 whose means differ most, in units of their 89% intervals.
    pub fn compared(runs: &[(&str, &Dataset, &[SummaryRow])]) -> ForestComparisonPlot {
        let mut sections: Vec<ComparedSection> = Vec::new();
        for (run, (_, posterior, summary)) in runs.iter().enumerate() {
            for section in Self::from_posterior(posterior, summary).sections {
                let at = sections.iter().position(|s| s.name == section.name).unwrap_or_else(|| {
                    sections.push(ComparedSection { name: section.name.clone(), rows: Vec::new(), elements: 0 });
                    sections.len() - 1
                });
                sections[at].add(run, runs.len(), section.rows);
            }
        }
        sections.iter_mut().for_each(ComparedSection::cut);
        ForestComparisonPlot { runs: runs.iter().map(|(name, _, _)| (*name).to_owned()).collect(), sections }
    }
}

impl ComparedSection {
    fn add(&mut self, run: usize, runs: usize, rows: Vec<ForestRow>) {
        let known: std::collections::HashMap<String, usize> =
            self.rows.iter().enumerate().map(|(i, row)| (row.label.clone(), i)).collect();
        for row in rows {
            let at = known.get(&row.label).copied().unwrap_or_else(|| {
                self.rows.push(ComparedRow { label: row.label.clone(), runs: vec![None; runs] });
                self.rows.len() - 1
            });
            self.rows[at].runs[run] = Some(row);
        }
        self.elements = self.rows.len();
    }

    /// Cuts many rows to those that differ most, in their order.
    fn cut(&mut self) {
        if self.rows.len() <= MOST_ROWS {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|&a, &b| self.rows[b].difference().total_cmp(&self.rows[a].difference()).then(a.cmp(&b)));
        order.truncate(MOST_DIFFERENT);
        order.sort_unstable();
        self.rows = order.into_iter().map(|i| self.rows[i].clone()).collect();
    }

    /// Returns the values that the rows span.
    fn range(&self) -> (f64, f64) {
        let rows = self.rows.iter().flat_map(|row| row.runs.iter().flatten());
        let ends = rows.flat_map(|row| [row.hdi89.0, row.hdi89.1, row.mean].into_iter().chain(row.truth));
        widened(extent(ends).unwrap_or((0.0, 1.0)), 0.03)
    }
}

impl ComparedRow {
    /// Returns the largest difference of two runs' means over the mean length of their 89% intervals; 0 where it is not
    /// defined.
    fn difference(&self) -> f64 {
        let rows: Vec<&ForestRow> = self.runs.iter().flatten().collect();
        let Some((low, high)) = extent(rows.iter().map(|row| row.mean)) else { return 0.0 };
        let length = rows.iter().map(|row| row.hdi89.1 - row.hdi89.0).sum::<f64>() / rows.len() as f64;
        let difference = (high - low) / length;
        if difference.is_nan() { 0.0 } else { difference }
    }

    /// Returns the worst R-hat of the runs.
    fn rhat(&self) -> f64 {
        self.runs.iter().flatten().map(|row| row.rhat).fold(f64::NAN, f64::max)
    }

    /// Returns the value that made the data, where a run knows it.
    fn truth(&self) -> Option<f64> {
        self.runs.iter().flatten().find_map(|row| row.truth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;
    use crate::sample::{Sample, Shape};

    fn sample(groups: usize) -> Sample {
        Sample::new(Shape { groups, chains: 2, draws: 60, truth: true, divergences: false })
    }

    #[test]
    fn runs_stand_beside_each_other_and_the_most_different_are_kept() {
        let (a, mut b) = (sample(100), sample(100));
        let moved = b.summary.iter_mut().find(|row| row.name == "mu_group[77]").unwrap();
        moved.mean += 100.0;
        b.posterior.variables.shift_remove("sigma_obs");
        let plot = ForestPlot::compared(&[("a", &a.posterior, &a.summary), ("b", &b.posterior, &b.summary)]);
        let names: Vec<_> = plot.sections.iter().map(|s| (s.name.as_str(), s.rows.len(), s.elements)).collect();
        let expected =
            [("mu_pop", 1, 1), ("sigma_pop", 1, 1), ("z", 20, 100), ("sigma_obs", 1, 1), ("mu_group", 20, 100)];
        assert_eq!(names, expected);
        assert!(plot.sections[3].rows[0].runs[1].is_none(), "b has no sigma_obs");
        let groups = &plot.sections[4].rows;
        assert!(groups.iter().any(|row| row.label == "mu_group[77]" && row.difference() > 10.0));
    }

    #[test]
    fn a_difference_is_counted_in_mean_lengths_of_the_intervals() {
        let run = |mean: f64, length: f64| ForestRow {
            label: String::new(),
            mean,
            hdi89: (mean - 0.5 * length, mean + 0.5 * length),
            hdi50: (mean, mean),
            rhat: 1.0,
            truth: None,
        };
        let row = |runs| ComparedRow { label: String::new(), runs };
        assert_eq!(row(vec![Some(run(0.0, 2.0)), None, Some(run(6.0, 4.0))]).difference(), 2.0);
        assert_eq!(row(vec![Some(run(1.0, 2.0))]).difference(), 0.0);
        assert_eq!(row(vec![None]).difference(), 0.0);
    }

    #[test]
    fn any_number_of_runs_and_groups() {
        for groups in [1, 3, 41, 1000] {
            let one = sample(groups);
            for runs in [1, 2, 5] {
                let names: Vec<String> = (0..runs).map(|i| format!("run {i}")).collect();
                let runs: Vec<_> =
                    names.iter().map(|name| (name.as_str(), &one.posterior, one.summary.as_slice())).collect();
                assert_eq!(flaws(&ForestPlot::compared(&runs)), [""; 0], "{groups}");
            }
        }
    }

    #[test]
    fn odd_values_and_long_names() {
        let one = sample(3);
        let long = "a very long name of a run ".repeat(4);
        let mut plot = ForestPlot::compared(&[
            (&long, &one.posterior, &one.summary),
            (&long, &one.posterior, &one.summary),
            ("c", &one.posterior, &one.summary),
        ]);
        for section in &mut plot.sections {
            section.name = "a very long name of a variable ".repeat(5);
            section.rows[0].label = "a very long name of an element ".repeat(5);
            if let Some(row) = &mut section.rows[0].runs[0] {
                (row.mean, row.rhat, row.hdi89, row.truth) = (f64::NAN, f64::NAN, (f64::NAN, f64::INFINITY), None);
            }
        }
        assert_eq!(flaws(&plot), [""; 0]);
        plot.sections[0].rows[0].runs = vec![None; 3];
        assert_eq!(flaws(&plot), [""; 0]);
        let error = ForestPlot::compared(&[]).png().unwrap_err().to_string();
        assert!(error.contains("draws"), "{error}");
    }
}
