//! The table of all parameters: sortable, filterable.

use maud::{Markup, html};

use crate::format::{rate, significant};
use crate::report::Report;
use crate::summary::{SummaryRow, by_worst_rhat};

/// Rows on paper beside the scalars: those with the worst R-hat.
const PRINTED: usize = 20;

const COLUMNS: [(&str, &str); 10] = [
    ("parameter", "name of the variable, with its label in brackets"),
    ("mean", "posterior mean"),
    ("sd", "posterior standard deviation"),
    ("89% HDI", "highest-density interval: the shortest with 89% of the draws"),
    ("89% ETI", "equal-tailed interval"),
    ("R-hat", "rank-normalised split R-hat; below 1.01 is good"),
    ("bulk ESS", "effective sample size of the bulk; above 400 is good"),
    ("tail ESS", "effective sample size of the tails; above 400 is good"),
    ("MCSE", "Monte Carlo standard error of the mean"),
    ("truth", "the value that made the data"),
];

/// The section with the table.
pub(super) fn section(report: &Report) -> Markup {
    let rows = &report.parameters;
    let truths = rows.iter().any(|row| row.truth.is_some());
    let columns = &COLUMNS[..if truths { COLUMNS.len() } else { COLUMNS.len() - 1 }];
    let mut elements: Vec<&SummaryRow> = rows.iter().filter(|row| row.is_element()).collect();
    elements.sort_by(|a, b| by_worst_rhat(a, b));
    let unprinted: std::collections::HashSet<&str> =
        elements.iter().skip(PRINTED).map(|row| row.name.as_str()).collect();
    html! {
        section #parameters {
            h2 { "Parameters" }
            div.tools {
                input #filter type="search" placeholder="filter by name" aria-label="filter by name";
                label { input #missed type="checkbox"; " only those that miss a limit" }
                span #shown .muted { (rows.len()) " of " (rows.len()) }
            }
            div.scroll {
                table #summary {
                    thead { tr { @for (name, title) in columns { th title=(title) tabindex="0" { (name) } } } }
                    tbody {
                        // Scalars first: among thousands of elements nobody would find them.
                        @for row in rows.iter().filter(|row| !row.is_element()) { (line(row, truths, false)) }
                        @for row in rows.iter().filter(|row| row.is_element()) {
                            (line(row, truths, unprinted.contains(row.name.as_str())))
                        }
                    }
                }
            }
            @if !unprinted.is_empty() {
                p.paper.muted {
                    "On paper: the scalars and the " (PRINTED) " elements with the worst R-hat of "
                    (elements.len()) "; all are on the page and in report.json."
                }
            }
        }
    }
}

fn line(row: &SummaryRow, truths: bool, unprinted: bool) -> Markup {
    // NaN is not good.
    let (good_rhat, good_bulk, good_tail) = (row.rhat < 1.01, row.ess_bulk > 400.0, row.ess_tail > 400.0);
    let interval = |(low, high)| format!("{} to {}", significant(low, 4), significant(high, 4));
    html! {
        tr.m[unprinted] {
            td { (row.name) }
            td { (significant(row.mean, 4)) }
            td { (significant(row.sd, 3)) }
            td { (interval(row.hdi89)) }
            td { (interval(row.eti89)) }
            td.bad[!good_rhat] { (significant(row.rhat, 4)) }
            td.bad[!good_bulk] { (rate(row.ess_bulk)) }
            td.bad[!good_tail] { (rate(row.ess_tail)) }
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
