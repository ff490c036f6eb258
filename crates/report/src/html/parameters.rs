//! The page's table of all parameters, each with its story.
//!
//! Order, filters and how many rows are printed on paper are decided here.

use std::collections::HashSet;

use maud::{Markup, html};

use super::table::{Column as Heading, Table};
use crate::format::{rate, significant};
use crate::report::Report;
use crate::summary::SummaryRow;
use octopus_diag::ParameterSummary;
use octopus_diag::parameter::{Cell, Column, Print, REPORT};

/// Rows on paper beside the scalars: those with the worst R-hat.
const PRINTED: usize = 20;

/// Returns the rows in the order of the page: scalars first, since among thousands of elements nobody would find them.
pub(super) fn ordered(report: &Report) -> impl Iterator<Item = &SummaryRow> {
    let of = |element: bool| report.parameters.iter().filter(move |row| row.is_element() == element);
    of(false).chain(of(true))
}

pub(super) fn content(report: &Report) -> Markup {
    let rows = &report.parameters;
    let truths = rows.iter().any(|row| row.truth.is_some());
    let meanings: Vec<String> = REPORT.iter().map(meaning).collect();
    let mut columns = vec![column("name", "parameter", "name of the variable, with its label in brackets")];
    columns.extend(REPORT.iter().zip(&meanings).map(|(of, title)| Heading {
        unit: if of.print == Print::Draws { "draws" } else { "" },
        ..column(of.key, of.heading, title)
    }));
    if truths {
        columns.push(column("truth", "truth", "the value that made the data"));
    }
    let (_, elements) = report.scalars_and_elements();
    let unprinted: HashSet<&str> = elements.iter().skip(PRINTED).map(|row| row.name.as_str()).collect();
    let in_order: Vec<&SummaryRow> = ordered(report).collect();
    let summaries: Vec<&ParameterSummary> = in_order.iter().map(|row| &row.summary).collect();
    let texts: Vec<Vec<Vec<String>>> = REPORT.iter().map(|column| column.texts(&summaries, 0)).collect();
    let body = html! {
        @for (i, row) in in_order.iter().enumerate() {
            (line(row, texts.iter().map(|column| &*column[i]), truths, unprinted.contains(row.name.as_str())))
        }
    };
    let choices = [("all", ""), ("that miss a limit", ".bad"), ("truth outside", ".out")];
    let numbers: Vec<bool> = (0..columns.len()).map(|column| column > 0).collect();
    let table = Table {
        label: "parameters",
        id: Some("summary"),
        columns: &columns,
        numbers: &numbers,
        by_name: true,
        choices: &choices[..if truths { 3 } else { 2 }],
        framed: true,
    };
    html! {
        p.screen { "Select a row to read how that parameter converged. Headings sort; R-hat and effective sample sizes that miss their limit are marked." }
        noscript {
            p.muted {
                "Without JavaScript the table is not sorted and rows do not open: what they tell is in "
                code { "report.json" } ", under " code { "stories" } "."
            }
        }
        (table.markup(rows.len(), &body))
        @if !unprinted.is_empty() {
            p.paper.muted {
                "On paper: the scalars and the " (PRINTED) " elements with the worst R-hat of "
                (elements.len()) "; all are on the page and in report.json."
            }
        }
    }
}

/// One row, whose numbers have these texts.
fn line<'a>(row: &SummaryRow, texts: impl Iterator<Item = &'a [String]>, truths: bool, unprinted: bool) -> Markup {
    html! {
        tr.m[unprinted] {
            td { (row.name) }
            @for (column, texts) in REPORT.iter().zip(texts) {
                @match (column.cell(row), column.limit) {
                    (Cell::One(value), limit) => {
                        @let text = if column.print == Print::Draws { rate(value) } else { texts.concat() };
                        td.bad[limit.is_some_and(|limit| !limit.is_met(value))] { (text) }
                    }
                    (Cell::Two(_), _) => { td { (texts.join(" to ")) } }
                }
            }
            @if truths {
                @match row.truth {
                    Some(truth) => {
                        td.out[row.truth_inside() == Some(false)] { (significant(truth, 4)) }
                    }
                    None => { td { } }
                }
            }
        }
    }
}

fn column<'a>(key: &'a str, name: &'a str, title: &'a str) -> Heading<'a> {
    Heading { name, unit: "", title, key: Some(key) }
}

/// Returns the meaning of a column, and what is good.
fn meaning(column: &Column) -> String {
    let meaning = column.meaning;
    column.limit.map_or_else(|| meaning.to_owned(), |limit| format!("{meaning}; {limit} is good"))
}
