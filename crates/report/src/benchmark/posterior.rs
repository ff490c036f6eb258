//! The posterior in `benchmark_report.txt`: the table of parameters, and tables that compare runs.

use crate::format::{count, significant};
use crate::report::{Comparison, Report};
use crate::summary::SummaryRow;
use crate::text::{Charset, ROWS, heading};
use octopus_diag::parameter::REPORT;
use octopus_diag::{ParameterSummary, TextColumn, text_table};

/// The rows beside the scalars: elements with the worst R-hat.
const ELEMENTS: usize = 5;

/// The most rows of a table that compares.
const COMPARED: usize = 20;

/// Returns the table of the scalars and of the elements with the worst R-hat; nothing where there is no parameter.
pub(super) fn parameters(report: &Report, charset: Charset) -> String {
    let (scalars, elements) = report.scalars_and_elements();
    let rows: Vec<&SummaryRow> = scalars.into_iter().chain(elements.iter().copied().take(ELEMENTS)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let summaries: Vec<&ParameterSummary> = rows.iter().map(|row| &row.summary).collect();
    let mut lines: Vec<Vec<String>> = rows.iter().map(|row| vec![row.name.clone()]).collect();
    let mut columns = vec![TextColumn::wrapped("parameter", 40)];
    for column in REPORT {
        columns.push(TextColumn::right(column.heading));
        lines.iter_mut().zip(column.texts(&summaries, 0)).for_each(|(line, texts)| line.push(texts.join(" to ")));
    }
    if rows.iter().any(|row| row.truth.is_some()) {
        columns.push(TextColumn::right("truth"));
        let truth = |row: &SummaryRow| row.truth.map_or_else(String::new, |truth| significant(truth, 4));
        lines.iter_mut().zip(&rows).for_each(|(line, row)| line.push(truth(row)));
    }
    let mut text = heading("Posterior", charset) + &text_table(&columns, &lines, charset.table());
    if elements.len() > ELEMENTS {
        let all = count(elements.len() as u64);
        text += &format!(
            "\n  the scalars, and of {all} elements of arrays the {ELEMENTS} with the worst R-hat; all are in report.json\n"
        );
    }
    text + "\n"
}

/// Returns a table that compares, with its note; rows beyond the 20th are counted.
pub(super) fn comparison(table: &Comparison, charset: Charset) -> String {
    let columns: Vec<TextColumn<'_>> = table.columns.iter().map(|name| TextColumn::wrapped(name, 40)).collect();
    let shown = &table.rows[..table.rows.len().min(COMPARED)];
    let mut text = heading(&table.title, charset) + &text_table(&columns, shown, charset.table());
    if table.rows.len() > shown.len() {
        text += &format!("  and {} more rows in report.json\n", count((table.rows.len() - shown.len()) as u64));
    }
    if !table.note.is_empty() {
        text += &format!("\n{}", text_table(&[TextColumn::wrapped("", 100)], &[[table.note.clone()]], ROWS));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, Shape, report};

    /// What is left out is said, and only then.
    #[test]
    fn elements_beyond_the_fifth_are_left_out() {
        let shape = Shape { groups: 3, chains: 2, draws: 120, truth: false, divergences: false };
        let report = report(&Sample::new(shape), shape);
        let text = |elements: usize| {
            let rows = (0..elements).map(|j| SummaryRow::with_rhat(&format!("g[{j}]"), 1.0 + j as f64));
            parameters(&Report { parameters: rows.collect(), ..report.clone() }, Charset::Ascii)
        };
        let (five, six) = (text(5), text(6));
        let shown = |text: &str| text.lines().filter(|line| line.trim_start().starts_with("g[")).count();
        assert_eq!([shown(&five), shown(&six)], [5, 5]);
        assert!(five.contains("g[0]") && !five.contains("with the worst R-hat"), "{five}");
        assert!(!six.contains("g[0]") && six.contains("of 6 elements of arrays the 5 with the worst R-hat"), "{six}");
    }

    #[test]
    fn rows_of_a_comparison_are_limited() {
        let table = |rows: usize| {
            Comparison::new("Runs", "A note.", "run | R-hat", (0..rows).map(|i| vec![format!("run {i}"), "1".into()]))
        };
        let lines = |rows: usize| {
            comparison(&table(rows), Charset::Ascii).lines().filter(|line| line.starts_with("  run ")).count()
        };
        assert_eq!([lines(3), lines(20), lines(21)], [4, 21, 21]);
        assert!(!comparison(&table(20), Charset::Ascii).contains("more rows"));
        assert!(comparison(&table(21), Charset::Ascii).contains("  and 1 more rows in report.json\n\n  A note.\n"));
    }
}
