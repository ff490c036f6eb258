//! The verdict: the numbers that matter, and each criterion, failed ones first.

use maud::{Markup, html};

use super::overview;
use super::table::{Column, Table};
use crate::report::Report;
use crate::verdict::{Status, VerdictRow};

const COLUMNS: [&str; 5] = ["id", "status", "criterion", "threshold", "value"];

pub(super) fn content(report: &Report) -> Markup {
    let mut rows: Vec<&VerdictRow> = report.verdict.rows.iter().collect();
    // A stable sort: the rows stay in the order of their ids, which begin with what matters most. A warning has no
    // place above them: Q.5 warns in each report, of a configuration that the reader did not choose.
    rows.sort_by_key(|row| match row.status {
        Status::Fail => 0,
        Status::Pass | Status::Warn => 1,
        Status::Skipped { .. } => 2,
    });
    let body = html! { @for row in &rows { (line(row)) } };
    let choices = [
        ("all", ""),
        ("FAIL", ".badge.fail"),
        ("WARN", ".badge.warn"),
        ("PASS", ".badge.pass"),
        ("SKIPPED", ".badge.skipped"),
    ];
    let table = Table {
        label: "criteria",
        id: Some("criteria"),
        columns: &COLUMNS.map(Column::named),
        numbers: &[false; 5],
        by_name: false,
        choices: &choices,
        framed: false,
    };
    html! {
        p.lead { (report.verdict.sentence()) }
        (overview::content(report))
        (table.markup(rows.len(), &body))
    }
}

fn line(row: &VerdictRow) -> Markup {
    let class = row.status.word().to_lowercase();
    html! {
        tr {
            td { b { (row.id) } }
            td { span class={ "badge " (class) } { (row.status.word()) } }
            td { (row.criterion) }
            td { (row.threshold) }
            td {
                @match &row.status {
                    Status::Skipped { reason } => {
                        @if row.value != "not measured" { (row.value) br; }
                        span.muted { (reason) }
                    }
                    _ => { (row.value) }
                }
                @if let Some(advice) = &row.advice {
                    br;
                    @if row.status == Status::Warn { span.muted { "Note: " (advice) } }
                    @else { span.advice { "To do: " (advice) } }
                }
            }
        }
    }
}
