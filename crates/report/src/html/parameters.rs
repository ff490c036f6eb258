//! The table of all parameters, each with its story.

use std::collections::HashSet;

use maud::{Markup, html};

use super::table::{Column, Table};
use crate::format::{rate, significant};
use crate::report::Report;
use crate::summary::{SummaryRow, by_worst_rhat};
use octopus_diag::limits;

/// Rows on paper beside the scalars: those with the worst R-hat.
const PRINTED: usize = 20;

const fn column(key: &'static str, name: &'static str, unit: &'static str, title: &'static str) -> Column<'static> {
    Column { name, unit, title, key: Some(key) }
}

const COLUMNS: [Column<'static>; 10] = [
    column("name", "parameter", "", "name of the variable, with its label in brackets"),
    column("mean", "mean", "", "posterior mean, in the parameter's own units"),
    column("sd", "sd", "", "posterior standard deviation, in the parameter's own units"),
    column("hdi", "89% HDI", "", "highest-density interval: the shortest with 89% of the draws"),
    column("eti", "89% ETI", "", "equal-tailed interval: 5.5% of the draws lie below it and 5.5% above"),
    column("rhat", "R-hat", "", "rank-normalised split R-hat; below 1.01 is good"),
    column("bulk", "bulk ESS", "draws", "effective sample size of the bulk; above 400 is good"),
    column("tail", "tail ESS", "draws", "effective sample size of the tails; above 400 is good"),
    column("mcse", "MCSE", "", "Monte Carlo standard error of the mean, in the parameter's own units"),
    column("truth", "truth", "", "the value that made the data"),
];

/// Returns the rows in the order of the page: scalars first, since among thousands of elements nobody would find them.
pub(super) fn ordered(report: &Report) -> impl Iterator<Item = &SummaryRow> {
    let of = |element: bool| report.parameters.iter().filter(move |row| row.is_element() == element);
    of(false).chain(of(true))
}

pub(super) fn content(report: &Report) -> Markup {
    let rows = &report.parameters;
    let truths = rows.iter().any(|row| row.truth.is_some());
    let columns = &COLUMNS[..if truths { COLUMNS.len() } else { COLUMNS.len() - 1 }];
    let mut elements: Vec<&SummaryRow> = rows.iter().filter(|row| row.is_element()).collect();
    elements.sort_by(|a, b| by_worst_rhat(a, b));
    let unprinted: HashSet<&str> = elements.iter().skip(PRINTED).map(|row| row.name.as_str()).collect();
    let body = html! { @for row in ordered(report) { (line(row, truths, unprinted.contains(row.name.as_str()))) } };
    let choices = [("all", ""), ("that miss a limit", ".bad"), ("truth outside", ".out")];
    let mut numbers = [true; COLUMNS.len()];
    numbers[0] = false;
    let table = Table {
        label: "parameters",
        id: Some("summary"),
        columns,
        numbers: &numbers[..columns.len()],
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

fn line(row: &SummaryRow, truths: bool, unprinted: bool) -> Markup {
    // NaN is not good.
    let (good_rhat, good) = (row.rhat < limits::RHAT, |ess: f64| ess > limits::ESS);
    let interval = |(low, high)| format!("{} to {}", significant(low, 4), significant(high, 4));
    html! {
        tr.m[unprinted] {
            td { (row.name) }
            td { (significant(row.mean, 4)) }
            td { (significant(row.sd, 3)) }
            td { (interval(row.hdi89)) }
            td { (interval(row.eti89)) }
            td.bad[!good_rhat] { (significant(row.rhat, 4)) }
            td.bad[!good(row.ess_bulk)] { (rate(row.ess_bulk)) }
            td.bad[!good(row.ess_tail)] { (rate(row.ess_tail)) }
            td { (significant(row.mcse_mean, 2)) }
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
