//! The pictures of results, made of their tables alone.

use crate::judge::SuiteVerdict;
use crate::peer::OCTOPUS;
use crate::results::SuiteResults;
use crate::row::SuiteRow;
use crate::summary::SuiteSummary;
use octopus_report::{
    Figure, FrameworkMeasure, FrameworkRow, FrameworksPlot, FrontPoint, ParetoFrontPlot, ScalingMeasure, ScalingPlot,
    ScalingSeries,
};
use std::collections::BTreeSet;

/// The most rows of one picture: more are drawn for the largest data alone.
const MOST: usize = 60;

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuitePicture {
    /// Time against the size of the data, a picture for each method.
    Scaling,
    /// Time against particles, a picture for each method and size.
    Particles,
    /// Times of all frameworks in each case.
    Bars,
    /// Times over those of Octopus.
    Speedup,
    /// Memory.
    Memory,
    /// Effective draws a second.
    Ess,
    /// Effective draws a second against the error of means, a picture for each problem.
    Pareto,
}

impl SuitePicture {
    /// All kinds by name.
    pub const ALL: [(&'static str, Self); 7] = [
        ("scaling", Self::Scaling),
        ("particles", Self::Particles),
        ("bars", Self::Bars),
        ("speedup", Self::Speedup),
        ("memory", Self::Memory),
        ("ess", Self::Ess),
        ("pareto", Self::Pareto),
    ];

    /// Returns the pictures of this kind of the methods that are wanted, by their names, or of all; those of which the
    /// results have nothing to draw are left out.
    pub fn figures(self, results: &SuiteResults, methods: &[String]) -> Vec<Figure> {
        let wanted = |method: &String| methods.is_empty() || methods.iter().any(|own| method.starts_with(own.as_str()));
        let rows: Vec<&SuiteRow> = results.rows.iter().filter(|row| wanted(&row.method)).collect();
        let summary: Vec<SuiteSummary> = results.summary().into_iter().filter(|line| wanted(&line.method)).collect();
        let figures = match self {
            Self::Scaling => along(&rows, "n", |row| row.n),
            Self::Particles => along(&rows, "particles", |row| row.particles),
            Self::Bars => beside(&summary, "bars", FrameworkMeasure::Seconds),
            Self::Speedup => beside(&summary, "speedup", FrameworkMeasure::TimesOctopus),
            Self::Memory => beside(&summary, "memory", FrameworkMeasure::Bytes),
            Self::Ess => beside(&summary, "ess", FrameworkMeasure::EssPerSecond),
            Self::Pareto => pareto(results, &summary),
        };
        figures.into_iter().filter(|figure| figure.plot.check().is_ok()).collect()
    }
}

/// Returns the words of a case that stay the same along a size.
fn without(case: &str, size: &str) -> String {
    let is_other = |word: &&str| !word.trim_end_matches(';').starts_with(&format!("{size}="));
    let words: Vec<&str> = case.split(' ').filter(is_other).collect();
    // The size may have been the last word before the method.
    plain(&words.join(" "))
}

/// Returns a case without the settings of data that all suites have.
pub(crate) fn plain(case: &str) -> String {
    case.replace(" noise=0.05 seed=42", "")
}

/// Returns the device in the name of a case.
fn device(case: &str) -> &str {
    case.rsplit(", ").nth(1).unwrap_or_default()
}

/// Returns a name for a file.
fn stem(kind: &str, words: &str) -> String {
    let words = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    format!("{kind}_{}", words.collect::<Vec<_>>().join("-"))
}

/// Returns a picture of times against a size for all cases that differ in it alone.
fn along(rows: &[&SuiteRow], name: &str, size: impl Fn(&SuiteRow) -> Option<u64>) -> Vec<Figure> {
    let timed: Vec<&&SuiteRow> = rows.iter().filter(|row| row.counts() && size(row).is_some()).collect();
    // A GPU stands beside the CPU: where one pays is seen.
    let key = |row: &SuiteRow| {
        let case = without(&without(&row.case, name), "groups");
        case.replace(&format!(", {}", device(&row.case)), "")
    };
    let kinds: BTreeSet<String> = timed.iter().map(|row| key(row)).collect();
    let figure = |kind: &String| {
        let own: Vec<&&&SuiteRow> = timed.iter().filter(|row| key(row) == *kind).collect();
        let sizes: BTreeSet<Option<u64>> = own.iter().map(|row| size(row)).collect();
        if sizes.len() < 2 {
            return None;
        }
        // Octopus first: it has the same colour in all pictures.
        let frameworks: BTreeSet<(bool, &str)> =
            own.iter().map(|row| (row.framework != OCTOPUS, row.framework.as_str())).collect();
        let devices: BTreeSet<&str> = own.iter().map(|row| device(&row.case)).collect();
        let series = frameworks.iter().flat_map(|(_, framework)| devices.iter().map(move |on| (*framework, *on)));
        let series = series.filter_map(|(framework, on)| {
            let of = own.iter().filter(|row| row.framework == framework && device(&row.case) == on);
            let points: Vec<_> = of.filter_map(|row| Some((size(row)? as f64, row.seconds?))).collect();
            let name = if on == "cpu" { framework.to_owned() } else { format!("{framework}, {on}") };
            (!points.is_empty()).then_some(ScalingSeries { name, points })
        });
        let plot = ScalingPlot {
            title: kind.clone(),
            along: name.to_owned(),
            measured: ScalingMeasure::Seconds,
            series: series.collect(),
        };
        let plain = Figure::new(plot);
        Some(Figure { stem: stem(if name == "n" { "scaling" } else { name }, kind), title: kind.clone(), ..plain })
    };
    kinds.iter().filter_map(figure).collect()
}

/// Returns the picture of all frameworks in each case.
fn beside(summary: &[SuiteSummary], name: &str, measured: FrameworkMeasure) -> Vec<Figure> {
    let largest = summary.iter().filter_map(|line| line.n).max();
    let all = summary.len() <= MOST;
    let shown = summary.iter().filter(|line| all || line.n == largest);
    // Times beside a posterior that is wrong in every framework are marked.
    let expected = summary.iter().filter(|line| line.verdict == SuiteVerdict::Expected);
    let expected: BTreeSet<&str> = expected.map(|line| line.case.as_str()).collect();
    let row = |line: &SuiteSummary| {
        let interval = |median: Option<f64>, low: Option<f64>, high: Option<f64>| Some((median?, (low?, high?)));
        let value = match measured {
            FrameworkMeasure::Seconds => interval(line.seconds, line.seconds_low, line.seconds_high),
            FrameworkMeasure::TimesOctopus => {
                interval(line.times_octopus, line.times_octopus_low, line.times_octopus_high)
            }
            FrameworkMeasure::Bytes => line.peak_bytes.map(|bytes| (bytes as f64, (bytes as f64, bytes as f64))),
            FrameworkMeasure::EssPerSecond => {
                interval(line.ess_per_second, line.ess_per_second_low, line.ess_per_second_high)
            }
        };
        let why = if line.note.is_empty() { "not measured".to_owned() } else { line.note.clone() };
        let mark = if expected.contains(line.case.as_str()) { "no inference: " } else { "" };
        let case = format!("{mark}{}", plain(&line.case));
        FrameworkRow { case, framework: line.framework.clone(), value: value.ok_or(why) }
    };
    // Octopus is what the ratios are over.
    let rows = shown.filter(|line| measured != FrameworkMeasure::TimesOctopus || line.framework != OCTOPUS).map(row);
    vec![Figure { stem: name.to_owned(), ..Figure::new(FrameworksPlot { measured, rows: rows.collect() }) }]
}

/// Returns a method with the settings that not all labels of this method have: there is room for few words.
fn short(label: &str, all: &[String]) -> String {
    let mut words = label.split(' ');
    let name = words.next().unwrap_or_default();
    let same: Vec<Vec<&str>> = all.iter().map(|other| other.split(' ').collect()).collect();
    let same: Vec<&Vec<&str>> = same.iter().filter(|other| other[0] == name).collect();
    let others = words.filter(|word| !same.iter().all(|other| other.contains(word)));
    std::iter::once(name).chain(others).collect::<Vec<_>>().join(" ")
}

/// Returns a picture of speed against error for each problem.
fn pareto(results: &SuiteResults, summary: &[SuiteSummary]) -> Vec<Figure> {
    let problem = |case: &str| plain(case.split(';').next().unwrap_or_default());
    let problems: BTreeSet<String> = summary.iter().map(|line| problem(&line.case)).collect();
    let figure = |name: &String| {
        let point = |line: &SuiteSummary| {
            let own = |check: &&crate::PosteriorCheck| check.case == line.case && check.framework == line.framework;
            let check = results.checks.iter().find(own)?;
            let label = line.case.split(';').nth(1).unwrap_or_default().trim().to_owned();
            let ess_per_s = line.ess_per_second?;
            Some(FrontPoint { label, sampler: line.framework.clone(), error: check.mean_error?, ess_per_s })
        };
        let mut points: Vec<FrontPoint> =
            summary.iter().filter(|line| problem(&line.case) == *name).filter_map(point).collect();
        let labels: Vec<String> = points.iter().map(|point| point.label.clone()).collect();
        points.iter_mut().for_each(|point| point.label = short(&point.label, &labels));
        let error = "root mean square error of the means of all repetitions, in posterior sds".to_owned();
        let plain = Figure::new(ParetoFrontPlot { error, points });
        Figure { stem: stem("pareto", name), title: name.clone(), ..plain }
    };
    problems.iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_what_differs() {
        let all = ["nuts chains=2 draws=9", "nuts chains=4 draws=9", "hmc draws=9"].map(str::to_owned);
        let found: Vec<String> = all.iter().map(|label| short(label, &all)).collect();
        assert_eq!(found, ["nuts chains=2", "nuts chains=4", "hmc"]);
    }
}
