//! Results as one page of HTML, made of their tables alone.

use crate::export::{COLUMNS, cells, seconds_text};
use crate::judge::PosteriorCheck;
use crate::results::SuiteResults;
use octopus_report::{Comparison, Figure, ReportError, ResultsPage, ResultsPart, significant};

/// Returns the page of results: times, these pictures, what each result was held to, the machine.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn results_page(results: &SuiteResults, figures: Vec<Figure>) -> Result<String, ReportError> {
    let metadata = &results.metadata;
    let summary = results.summary();
    let table = |columns: &[&str], rows: Vec<Vec<String>>| Comparison {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows,
        ..Comparison::default()
    };
    let times = table(&COLUMNS, summary.iter().map(cells).collect());
    let compiled = summary.iter().filter_map(|line| {
        let bytes =
            line.peak_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{:.1} MiB", bytes as f64 / 1_048_576.0));
        Some(vec![line.case.clone(), line.framework.clone(), seconds_text(line.compile_seconds?), bytes])
    });
    let compiled = table(&["case", "framework", "compilation and a first run", "peak memory"], compiled.collect());
    let columns = [
        "case",
        "framework",
        "verdict",
        "log density off by",
        "least ESS",
        "R-hat",
        "error of means, sd",
        "worst z",
        "evidence off by",
        "result, share of the limit",
    ];
    let checks = table(&columns, results.checks.iter().map(check_cells).collect());
    let part = |name: &str, words: &str, tables: Vec<Comparison>| ResultsPart {
        name: name.to_owned(),
        words: words.to_owned(),
        tables,
        ..ResultsPart::default()
    };
    let mut facts =
        vec![("machine".to_owned(), metadata.machine_id.clone()), ("begun".to_owned(), metadata.begun.clone())];
    facts.extend(metadata.program.iter().chain(&metadata.versions).map(|(name, text)| (name.clone(), text.clone())));
    let command = format!("octopus bench run {}", metadata.name);
    let parts = vec![
        part(
            "Times",
            "Medians of repetitions in which the frameworks took turns, with 95 % bootstrap intervals. A time counts only \
             beside a result that passes; times Octopus above 1 mean that Octopus is faster.",
            vec![times],
        ),
        ResultsPart { figures, ..part("Pictures", "", Vec::new()) },
        part("Checks", "What each framework's result was held to.", vec![checks]),
        part("Compilation and memory", "What stands beside the times, of frameworks that ran.", vec![compiled]),
        ResultsPart { facts, ..part("Machine and versions", "", Vec::new()) },
        part("Reproduce", &command, Vec::new()),
    ];
    let line = format!("{}; {}", metadata.suite.about, metadata.machine_id);
    Ok(ResultsPage { title: metadata.name.clone(), line, parts }.html()?)
}

fn check_cells(check: &PosteriorCheck) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, 3));
    vec![
        check.case.clone(),
        check.framework.clone(),
        check.verdict.name().to_owned(),
        shown(check.log_density_error),
        shown(check.least_ess),
        check.largest_rhat.map_or_else(|| "-".to_owned(), |rhat| format!("{rhat:.4}")),
        shown(check.mean_error),
        shown(check.worst_z),
        shown(check.evidence_error),
        shown(check.result_error),
    ]
}
