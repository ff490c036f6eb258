//! Model, settings, convergence, benchmark, comparisons, machine, and how to make it all again.

use maud::{Markup, html};

use super::facts;
use super::table::{Column, of_words};
use crate::benchmark::{TIMING_COLUMNS, machine_facts, settings_facts};
use crate::format::{count, rate, significant};
use crate::report::{Comparison, Report};
use crate::summary::SummaryRow;

pub(super) fn model(report: &Report) -> Markup {
    let model = &report.model;
    html! {
        p {
            code { (model.name) } ", "
            @if let Some(form) = &model.likelihood { (form) " likelihood, " }
            (count(model.dimension as u64)) " unconstrained dimension" @if model.dimension != 1 { "s" } "."
        }
        @if !model.statements.is_empty() { pre { (model.statements.join("\n")) } }
    }
}

pub(super) fn settings(report: &Report) -> Markup {
    html! {
        dl.settings { @for (name, value) in settings_facts(report) { div { dt { (name) } dd { (value) } } } }
    }
}

pub(super) fn convergence(report: &Report) -> Markup {
    let found = &report.convergence;
    let named = |row: Option<&SummaryRow>, figure: fn(&SummaryRow) -> String| {
        row.map_or("not sampled".to_owned(), |row| format!("{} ({})", figure(row), row.name))
    };
    let list = [
        ("largest R-hat", named(report.worst_rhat(), |row| significant(row.rhat, 4))),
        ("smallest bulk ESS", named(report.least(|row| row.ess_bulk), |row| rate(row.ess_bulk))),
        ("smallest tail ESS", named(report.least(|row| row.ess_tail), |row| rate(row.ess_tail))),
        ("divergent transitions", count(found.divergences)),
        ("transitions at the depth limit", count(found.max_depth_hits)),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let chains: Vec<Vec<String>> = (0..found.chains)
        .map(|chain| {
            let cell = |values: &[f64]| values.get(chain).map_or("-".to_owned(), |v| significant(*v, 3));
            let figures = [&found.step_size, &found.acceptance_rate, &found.n_steps, &found.bfmi];
            std::iter::once(chain.to_string()).chain(figures.map(|values| cell(values))).collect()
        })
        .collect();
    let columns = [
        Column::named("chain"),
        Column::named("step size"),
        Column::named("acceptance rate"),
        Column { unit: "leapfrogs", ..Column::named("work a draw") },
        Column { title: "below 0.3 the momenta explore the energy badly", ..Column::named("E-BFMI") },
    ];
    html! {
        p { (found.chains) " chains, each " (count(found.draws as u64)) " draws after " (count(found.tune as u64)) " of warm-up." }
        (facts::table(&list))
        h3 { "Chains" }
        (of_words("chains", &columns, &chains, &[]))
        @if !report.predictive.is_empty() {
            h3 { "Posterior predictive test statistics" }
            @let rows: Vec<Vec<String>> = report.predictive.iter().map(|s| {
                vec![s.name.clone(), significant(s.observed, 4), significant(s.p_value, 2)]
            }).collect();
            (of_words("test statistics", &["statistic", "observed", "p"].map(Column::named), &rows, &[]))
        }
    }
}

/// Explanations of the columns of the timings, beyond their names.
const TIMING_TITLES: [(&str, &str); 8] = [
    ("wall", "median of the repeats, from the start of warm-up to the last draw"),
    ("warm-up", "the part of it before the first kept draw"),
    ("sampling", "the rest"),
    ("samples/s", "kept draws of all chains for each second of wall time"),
    ("time/1000", "wall time for 1000 kept draws"),
    ("leapfrogs", "of one run, all chains, warm-up included"),
    ("min ESS/s", "smallest bulk effective sample size for each second of wall time"),
    ("variation", "standard deviation over mean of the repeats' wall times (number of repeats)"),
];

pub(super) fn benchmark(report: &Report) -> Markup {
    let Some(benchmark) = &report.benchmark else {
        return html! { p { "Nothing was timed in this run." } };
    };
    let columns = TIMING_COLUMNS.map(|name| {
        let title = TIMING_TITLES.iter().find(|(column, _)| *column == name).map_or("", |(_, title)| title);
        Column { title, ..Column::named(name) }
    });
    // A run without times has a dash in every column of times.
    let choices = [("all", ""), ("measured", "td:nth-child(4):not(.none)"), ("not measured", "td.none:nth-child(4)")];
    html! {
        p { "Wall times count warm-up; they are medians of repeats, and the variation is between repeats." }
        (of_words("timings", &columns, &benchmark.timing_rows(), &choices))
        @for run in &benchmark.runs {
            @if let crate::measured::Measured::NotMeasured(reason) = &run.result {
                p.muted { (run.engine) " at " (run.size()) ": not measured: " (reason) }
            }
        }
    }
}

pub(super) fn comparisons(report: &Report) -> Markup {
    html! {
        @if report.comparisons.is_empty() { p { "Nothing was compared in this run." } }
        (tables(&report.comparisons))
    }
}

/// Tables one below the other.
pub(super) fn tables(all: &[Comparison]) -> Markup {
    html! {
        @for comparison in all {
            @if !comparison.title.is_empty() { h3 { (comparison.title) } }
            @if !comparison.note.is_empty() { p.muted { (comparison.note) } }
            @let columns: Vec<Column<'_>> = comparison.columns.iter().map(|name| Column::named(name)).collect();
            (of_words(&comparison.title, &columns, &comparison.rows, &[]))
        }
    }
}

pub(super) fn machine(report: &Report) -> Markup {
    let versions: Vec<(String, String)> =
        report.versions.iter().map(|(name, version)| (name.clone(), version.clone())).collect();
    html! {
        div.columns {
            div { h3 { "Hardware" } (facts::table(&machine_facts(report))) }
            div { h3 { "Versions" } (facts::table(&versions)) }
        }
    }
}

pub(super) fn reproduce(report: &Report) -> Markup {
    html! {
        pre { (report.reproduce.join("\n")) }
        p {
            "The same seed gives the same draws, to the bit, on any number of threads. The data must have the SHA-256 "
            code.long { (report.data.sha256) } "; settings, versions and machine are above, and all numbers of this page in "
            code { "report.json" } " (schema " (report.schema) ")."
        }
    }
}
