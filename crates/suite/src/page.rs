//! Results as one page of HTML, made of their tables alone.

use crate::export::{COLUMNS, cells, seconds_text};
use crate::judge::{PosteriorCheck, SuiteVerdict};
use crate::peer::OCTOPUS;
use crate::plots::plain;
use crate::results::SuiteResults;
use crate::summary::SuiteSummary;
use octopus_report::{Comparison, Figure, ReportError, ResultsPage, ResultsPart, significant};

/// The most cases that have a table each: the frameworks of more are one long table, which can be filtered.
const MOST: usize = 40;

/// Returns the page of results: times, these pictures, what each result was held to, the machine.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn results_page(results: &SuiteResults, figures: Vec<Figure>) -> Result<String, ReportError> {
    let metadata = &results.metadata;
    let times: Vec<_> = results.summary().iter().map(|line| (line.case.clone(), time_cells(line))).collect();
    let mut columns = COLUMNS[1..7].to_vec();
    columns.extend(["compilation", "peak memory", "note"]);
    let checks: Vec<_> = results.checks.iter().map(|check| (check.case.clone(), check_cells(check))).collect();
    let check_columns = [
        "framework",
        "verdict",
        "log density off by",
        "least ESS",
        "R-hat",
        "error of means, sd",
        "worst z",
        "evidence off by",
        "result / limit",
    ];
    let part = |name: &str, words: &str| ResultsPart {
        name: name.to_owned(),
        words: words.to_owned(),
        ..ResultsPart::default()
    };
    let mut facts = vec![
        ("machine".to_owned(), metadata.machine_id.clone()),
        ("begun".to_owned(), metadata.begun.clone()),
        ("command".to_owned(), format!("octopus bench run {}", metadata.name)),
    ];
    facts.extend(metadata.program.iter().map(|(name, text)| (name.clone(), text.clone())));
    facts.extend(
        metadata.versions.iter().filter(|(name, _)| *name != OCTOPUS).map(|(name, text)| (name.clone(), text.clone())),
    );
    let words = "Medians of repetitions in which the frameworks took turns, with 95 % bootstrap intervals. A time counts only \
                 beside a result that passes; times Octopus above 1: Octopus is faster. Compilation is with a first run.";
    let held = "What each framework's result was held to, over all repetitions.";
    let parts = vec![
        ResultsPart { tables: by_case(&columns, times), ..part("Times", words) },
        ResultsPart { figures, ..part("Pictures", "") },
        ResultsPart { tables: by_case(&check_columns, checks), ..part("Checks", held) },
        ResultsPart { facts, ..part("Machine and versions", "") },
    ];
    ResultsPage { title: metadata.name.clone(), line: metadata.suite.about.clone(), parts }.html()
}

/// Returns a table for each case, or of very many cases one. Columns in which there is nothing are left out.
fn by_case(columns: &[&str], mut rows: Vec<(String, Vec<String>)>) -> Vec<Comparison> {
    let is_empty = |cell: &String| cell == "-" || cell.is_empty();
    let filled = |column: usize| !rows.iter().all(|(_, cells)| is_empty(&cells[column]));
    let kept: Vec<usize> = (0..columns.len()).filter(|column| filled(*column)).collect();
    let columns: Vec<&str> = kept.iter().map(|column| columns[*column]).collect();
    for (_, cells) in &mut rows {
        *cells = kept.iter().map(|column| cells[*column].clone()).collect();
    }
    let names = |first: &[&str]| first.iter().chain(&columns).map(|name| (*name).to_owned()).collect();
    let cases: Vec<Comparison> = rows
        .chunk_by(|a, b| a.0 == b.0)
        .map(|own| Comparison {
            title: plain(&own[0].0),
            columns: names(&[]),
            rows: own.iter().map(|(_, cells)| cells.clone()).collect(),
            note: String::new(),
        })
        .collect();
    if cases.len() <= MOST {
        return cases;
    }
    let rows = rows.into_iter().map(|(case, cells)| [vec![plain(&case)], cells].concat()).collect();
    vec![Comparison { columns: names(&["case"]), rows, ..Comparison::default() }]
}

fn time_cells(line: &SuiteSummary) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut row = cells(line)[1..7].to_vec();
    row.iter_mut().filter(|cell| cell.is_empty()).for_each(|cell| *cell = dash());
    row.push(line.compile_seconds.map_or_else(dash, seconds_text));
    row.push(line.peak_bytes.map_or_else(dash, |bytes| format!("{:.1} MiB", bytes as f64 / 1_048_576.0)));
    // What passes needs no reason.
    row.push(if line.verdict == SuiteVerdict::Passed { String::new() } else { line.note.clone() });
    row
}

fn check_cells(check: &PosteriorCheck) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, 3));
    vec![
        check.framework.clone(),
        check.verdict.name().to_owned(),
        shown(check.log_density_error),
        shown(check.least_ess),
        check.largest_rhat.map_or_else(|| "-".to_owned(), |rhat| significant(rhat, 5)),
        shown(check.mean_error),
        shown(check.worst_z),
        shown(check.evidence_error),
        shown(check.result_error),
    ]
}
