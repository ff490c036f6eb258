//! Results in the forms that other programs read.

use crate::judge::SuiteVerdict;
use crate::results::SuiteResults;
use crate::row::SuiteRow;
use crate::summary::{MedianInterval, SuiteSummary};
use octopus_diag::{TableLook, TextColumn, text_table};
use serde_json::{Value, json};

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteExport {
    /// The summary as CSV.
    Csv,
    /// The summary as a table in Markdown.
    Markdown,
    /// A baseline for `critcmp`, as it exports those of criterion.
    Criterion,
    /// Entries for the action `benchmark-action/github-action-benchmark`, tool `customSmallerIsBetter`.
    Gha,
}

impl SuiteExport {
    /// The forms by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("csv", Self::Csv), ("markdown", Self::Markdown), ("criterion", Self::Criterion), ("gha", Self::Gha)];

    /// Returns the results in this form.
    pub fn of(self, results: &SuiteResults) -> String {
        let summary = results.summary();
        match self {
            Self::Csv => csv_of(&summary),
            Self::Markdown => markdown(&summary),
            Self::Criterion => format!("{:#}\n", criterion(results, &summary)),
            Self::Gha => format!("{:#}\n", gha(&summary)),
        }
    }
}

fn csv_of(summary: &[SuiteSummary]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Nothing can fail: the table is written into memory, and CSV has all of its types.
    let written = summary.iter().try_for_each(|line| writer.serialize(line));
    let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns seconds with the unit that suits them.
pub(crate) fn seconds_text(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

pub(crate) const COLUMNS: [&str; 8] =
    ["case", "framework", "verdict", "median", "95 %", "ESS/s", "times Octopus", "note"];

/// Returns the cells of a line as people read them.
pub(crate) fn cells(line: &SuiteSummary) -> Vec<String> {
    let range = |low: Option<f64>, high: Option<f64>, text: &dyn Fn(f64) -> String| match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", text(low), text(high)),
        _ => String::new(),
    };
    let times = line.times_octopus.map(|times| {
        let mark = if line.significant == Some(true) { "" } else { " (not significant)" };
        format!("{times:.2}{mark}")
    });
    vec![
        line.case.clone(),
        line.framework.clone(),
        line.verdict.name().to_owned(),
        line.seconds.map(seconds_text).unwrap_or_default(),
        range(line.seconds_low, line.seconds_high, &seconds_text),
        line.ess_per_second.map(|rate| format!("{rate:.0}")).unwrap_or_default(),
        times.unwrap_or_default(),
        line.note.clone(),
    ]
}

fn markdown(summary: &[SuiteSummary]) -> String {
    let row = |cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let head = row(COLUMNS.map(str::to_owned).to_vec());
    let rule = format!("|{}\n", "--|".repeat(COLUMNS.len()));
    head + &rule + &summary.iter().map(|line| row(cells(line))).collect::<String>()
}

/// Returns the summary for a terminal: a table for each case, and under it why times are missing.
pub fn summary_text(summary: &[SuiteSummary]) -> String {
    let columns: Vec<TextColumn> = COLUMNS[1..7]
        .iter()
        .enumerate()
        .map(|(place, name)| if place < 2 { TextColumn::left(name) } else { TextColumn::right(name) })
        .collect();
    let of_case = |lines: &[SuiteSummary]| {
        let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)[1..7].to_vec()).collect();
        let told = lines.iter().filter(|line| line.verdict != SuiteVerdict::Passed && !line.note.is_empty());
        let notes: String = told.map(|line| format!("  {}: {}\n", line.framework, line.note)).collect();
        format!("{}\n{}{notes}\n", lines[0].case, text_table(&columns, &rows, TableLook::default()))
    };
    summary.chunk_by(|a, b| a.case == b.case).map(of_case).collect()
}

/// Nanoseconds of each case that counts, with the fields that `critcmp` reads.
fn criterion(results: &SuiteResults, summary: &[SuiteSummary]) -> Value {
    let baseline = &results.metadata.name;
    let entries = summary.iter().filter_map(|line| {
        let (median, low, high) = (line.seconds?, line.seconds_low?, line.seconds_high?);
        let own = |row: &&SuiteRow| row.case == line.case && row.framework == line.framework && row.counts();
        let all: Vec<f64> = results.rows.iter().filter(own).filter_map(|row| row.seconds).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let sd = (all.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        let estimate = |point: f64, low: f64, high: f64| {
            json!({
                "confidence_interval": { "confidence_level": 0.95, "lower_bound": low * 1e9, "upper_bound": high * 1e9 },
                "point_estimate": point * 1e9,
                "standard_error": (high - low) * 1e9 / (2.0 * 1.96),
            })
        };
        let away: Vec<f64> = all.iter().map(|s| (s - median).abs()).collect();
        let mad = MedianInterval::of(&away)?;
        let spread = 1.96 * sd / (all.len() as f64).sqrt();
        let name = format!("{}/{}", line.case, line.framework);
        Some((name.clone(), json!({
            "baseline": baseline,
            "fullname": name,
            "criterion_benchmark_v1": {
                "group_id": line.case, "function_id": line.framework, "value_str": null, "throughput": null,
                "full_id": name, "directory_name": name,
            },
            "criterion_estimates_v1": {
                "mean": estimate(mean, mean - spread, mean + spread),
                "median": estimate(median, low, high),
                "median_abs_dev": estimate(mad.median, mad.low, mad.high),
                "slope": null,
                "std_dev": estimate(sd, sd, sd),
            },
        })))
    });
    json!({ "name": baseline, "benchmarks": entries.collect::<serde_json::Map<_, _>>() })
}

fn gha(summary: &[SuiteSummary]) -> Value {
    let entries = summary.iter().filter_map(|line| {
        let (median, low, high) = (line.seconds?, line.seconds_low?, line.seconds_high?);
        Some(json!({
            "name": format!("{} ({})", line.case, line.framework),
            "unit": "s",
            "value": median,
            "range": format!("{low} to {high}"),
            "extra": format!("{} repetitions", line.repeats),
        }))
    });
    entries.collect()
}
