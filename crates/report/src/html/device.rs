//! The CPU against the GPU: what is compared, what came out, or why nothing did.

use maud::{Markup, html};

use super::table::{Column, of_words};
use crate::benchmark::EXPECTATION_COLUMNS;
use crate::measured::Measured;
use crate::report::Report;
use crate::verdict::Status;

pub(super) fn content(report: &Report) -> Markup {
    html! {
        @match &report.machine.gpu {
            Measured::Value(name) => { p { "The GPU is " b { (name) } "; the CPU is " (report.machine.cpu) "." } }
            Measured::NotMeasured(reason) => {
                p.callout {
                    span.badge.skipped { "SKIPPED" } " " (reason) ". "
                    "No figure below is an estimate: where a GPU is needed, the reason stands instead."
                }
            }
        }
        p {
            @if report.benchmark.as_ref().is_some_and(|benchmark| benchmark.other_model) {
                "A fast CPU makes an honest ratio hard, so there are two: the same chains on both; "
                "and the best that each whole device can do, in effective draws a second with warm-up."
            } @else {
                "A fast CPU makes an honest ratio hard, so there are three: the same four chains on both; "
                "the best that each whole device can do, in effective draws a second with warm-up, which decides; "
                "and the samplers that people use today."
            }
        }
        h3 { "Criteria" }
        (criteria(report))
        @if let Some(benchmark) = &report.benchmark {
            h3 { "Speed-up of the GPU" }
            @let rows: Vec<Vec<String>> = benchmark.definitions().into_iter().flat_map(|(definition, words)| {
                let lines = benchmark.speedup_lines(definition).into_iter();
                lines.map(move |(what, value)| vec![words.to_owned(), what, value])
            }).collect();
            (of_words("speed-ups", &["what is compared", "problem", "speed-up"].map(Column::named), &rows, &[]))
            @if !benchmark.expectations().is_empty() {
                h3 { "What the PRD expects of an RTX A6000, beside this machine" }
                (of_words("expectations", &EXPECTATION_COLUMNS.map(Column::named), &benchmark.expectation_rows(), &[]))
            }
        }
    }
}

/// Returns the rows of the verdict that only a GPU can decide.
fn criteria(report: &Report) -> Markup {
    let rows: Vec<Vec<String>> = report
        .verdict
        .rows
        .iter()
        .filter(|row| row.wants_gpu)
        .map(|row| {
            let value = match &row.status {
                Status::Skipped { reason } => format!("SKIPPED ({reason})"),
                status => format!("{}: {}", status.word(), row.value),
            };
            vec![row.id.clone(), row.criterion.clone(), row.threshold.clone(), value]
        })
        .collect();
    of_words("criteria of the GPU", &["id", "criterion", "threshold", "outcome"].map(Column::named), &rows, &[])
}
