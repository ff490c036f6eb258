//! Performance comparison: wall time, samples a second and effective draws a second of engines and settings.

mod draw;

use crate::benchmark::{Benchmark, EngineRun, EngineTimes};
use crate::measured::Measured;

/// The data of a performance comparison.
#[derive(Clone, Debug)]
pub struct PerformancePlot {
    /// Measurements, those of one problem size beside each other.
    pub rows: Vec<PerformanceRow>,
}

/// One engine with one setting on one problem.
#[derive(Clone, Debug)]
pub struct PerformanceRow {
    /// The problem, e.g. `100 groups x 10`; rows with equal problems stand together under it.
    pub problem: String,
    /// Engine and setting, e.g. `CPU, 2 threads, collapsed`.
    pub label: String,
    /// The result of the row.
    pub result: PerformanceResult,
}

/// The result that a row of the comparison shows.
#[derive(Clone, Debug)]
pub enum PerformanceResult {
    /// Ours, or a peer's, measured here or not.
    Run {
        /// Wall time with warm-up in seconds (the median of the repeats).
        wall_s: Measured<f64>,
        /// Kept draws of all chains for each second of wall time.
        samples_per_s: Option<f64>,
        /// The smallest bulk effective sample size of all parameters for each second of wall time.
        min_ess_per_s: Option<f64>,
        /// Whether it ran on a GPU.
        gpu: bool,
        /// How many times as fast a run on a GPU is as the CPU with the same chains, by their wall times.
        speedup: Option<f64>,
    },
    /// A range of wall times that somebody expects, drawn hatched.
    Expected {
        /// Shortest and longest wall time in seconds.
        wall_s: (f64, f64),
    },
}

impl PerformancePlot {
    /// Returns the rows of each problem, problems in order of appearance.
    fn problems(&self) -> Vec<(&str, Vec<&PerformanceRow>)> {
        let mut problems: Vec<(&str, Vec<&PerformanceRow>)> = Vec::new();
        for row in &self.rows {
            match problems.iter_mut().find(|(name, _)| *name == row.problem) {
                Some((_, rows)) => rows.push(row),
                None => problems.push((&row.problem, vec![row])),
            }
        }
        problems
    }

    /// Returns the times to span, widened to whole decades so that bars start at a round value.
    fn wall_range(&self) -> Option<(f64, f64)> {
        decades(self.rows.iter().flat_map(|row| match &row.result {
            PerformanceResult::Run { wall_s, .. } => vec![wall_s.value().copied().unwrap_or(f64::NAN)],
            PerformanceResult::Expected { wall_s } => vec![wall_s.0, wall_s.1],
        }))
    }

    /// Returns the samples a second to span.
    fn samples_range(&self) -> Option<(f64, f64)> {
        decades(self.rows.iter().filter_map(|row| match &row.result {
            PerformanceResult::Run { samples_per_s, .. } => *samples_per_s,
            PerformanceResult::Expected { .. } => None,
        }))
    }

    /// Returns the effective draws a second to span.
    fn ess_range(&self) -> Option<(f64, f64)> {
        decades(self.rows.iter().filter_map(|row| match &row.result {
            PerformanceResult::Run { min_ess_per_s, .. } => *min_ess_per_s,
            PerformanceResult::Expected { .. } => None,
        }))
    }
}

/// Returns the smallest range of whole powers of ten around the positive values, the lower end strictly below them.
fn decades(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = super::axis::extent(values.into_iter().filter(|v| *v > 0.0))?;
    let first = (low * 0.8).log10().floor();
    Some((10f64.powf(first), 10f64.powf(high.log10().ceil())))
}

impl Benchmark {
    /// Returns the comparison as a picture: our rows by problem, and the PRD's ranges where it names the size.
    pub fn plot(&self) -> PerformancePlot {
        let mut rows: Vec<PerformanceRow> = Vec::new();
        let mut sizes: Vec<(String, usize)> = Vec::new();
        for run in &self.runs {
            if !sizes.iter().any(|(problem, _)| *problem == run.problem()) {
                sizes.push((run.problem(), run.groups));
            }
            let label = [run.engine.as_str(), run.setting.as_str()];
            let label: Vec<&str> = label.into_iter().filter(|part| !part.is_empty()).collect();
            let wall = |run: &EngineRun| run.result.value().map(EngineTimes::wall_s);
            // The last of the CPU's runs that are alike has the most threads.
            let on_cpu = self.runs.iter().rfind(|cpu| run.gpu && !cpu.gpu && cpu.alike(run));
            let result = PerformanceResult::Run {
                wall_s: run.result.clone().map(|times| times.wall_s()),
                samples_per_s: wall(run).map(|wall| run.samples() as f64 / wall).filter(|rate| rate.is_finite()),
                min_ess_per_s: run.result.value().map(EngineTimes::min_ess_per_s).filter(|rate| rate.is_finite()),
                gpu: run.gpu,
                speedup: on_cpu.and_then(wall).zip(wall(run)).map(|(cpu, gpu)| cpu / gpu),
            };
            rows.push(PerformanceRow { problem: run.problem(), label: label.join(", "), result });
        }
        for (problem, groups) in sizes {
            let Some(expected) = self.expectations().iter().find(|expected| expected.groups == groups) else {
                continue;
            };
            for (label, wall_s) in [("PRD expects, CPU", expected.cpu_s), ("PRD expects, GPU", expected.gpu_s)] {
                let result = PerformanceResult::Expected { wall_s };
                rows.push(PerformanceRow { problem: problem.clone(), label: label.to_owned(), result });
            }
        }
        PerformancePlot { rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_decades() {
        assert_eq!(decades([0.06, 90.0]), Some((0.01, 100.0)));
        assert_eq!(decades([1.0]), Some((0.1, 1.0)), "a bar of the lowest value has a length");
        assert_eq!(decades([0.0, -1.0, f64::NAN]), None);
    }

    #[test]
    fn rows_of_a_problem_stand_together() {
        let row = |problem: &str, label: &str| PerformanceRow {
            problem: problem.to_owned(),
            label: label.to_owned(),
            result: PerformanceResult::Expected { wall_s: (1.0, 2.0) },
        };
        let plot = PerformancePlot { rows: vec![row("a", "1"), row("b", "2"), row("a", "3")] };
        let problems = plot.problems();
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[0].1.iter().map(|r| r.label.as_str()).collect::<Vec<_>>(), ["1", "3"]);
    }
}
