//! The parts of the page but for pictures and parameters.

use maud::{Markup, html};

use crate::benchmark::{
    EXPECTATION_COLUMNS, SpeedupDefinition, TIMING_COLUMNS, data_facts, machine_facts, settings_facts,
};
use crate::format::{count, rate, significant};
use crate::report::Report;
use crate::summary::SummaryRow;
use crate::verdict::Status;

/// The sections' ids and names, in order.
pub(crate) const CONTENTS: [(&str, &str); 9] = [
    ("verdict", "Verdict"),
    ("data", "Data and model"),
    ("parameters", "Parameters"),
    ("pictures", "Pictures"),
    ("convergence", "Convergence"),
    ("benchmark", "Benchmark"),
    ("comparisons", "Comparisons"),
    ("machine", "Machine"),
    ("reproduce", "Do it again"),
];

pub(super) fn verdict(report: &Report) -> Markup {
    html! {
        section #verdict {
            h2 { "Verdict" }
            p.lead { (report.verdict.sentence()) }
            div.wide { table.verdict {
                thead { tr { th { "id" } th { "status" } th { "criterion" } th { "threshold" } th { "value" } } }
                tbody {
                    @for row in &report.verdict.rows {
                        @let class = row.status.word().to_lowercase();
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
                                @if let Some(advice) = &row.advice { br; span.advice { "To do: " (advice) } }
                            }
                        }
                    }
                }
            } }
        }
    }
}

pub(super) fn data_and_model(report: &Report) -> Markup {
    let model = &report.model;
    html! {
        section #data {
            h2 { "Data and model" }
            div.columns {
                div { h3 { "Data" } (facts(&data_facts(report))) }
                div {
                    h3 { "Model " code { (model.name) } }
                    pre { (model.statements.join("\n")) }
                    p.muted { "likelihood: " (model.likelihood) "; " (model.dimension) " unconstrained dimensions" }
                }
                div { h3 { "Settings" } (facts(&settings_facts(report))) }
            }
        }
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
            let cell = |values: &[f64], digits| values.get(chain).map_or(String::new(), |v| significant(*v, digits));
            vec![
                chain.to_string(),
                cell(&found.step_size, 3),
                cell(&found.acceptance_rate, 3),
                cell(&found.n_steps, 3),
                cell(&found.bfmi, 3),
            ]
        })
        .collect();
    html! {
        section #convergence {
            h2 { "Convergence" }
            p { (found.chains) " chains, each " (count(found.draws as u64)) " draws after " (count(found.tune as u64)) " of warm-up." }
            (facts(&list))
            div.scroll { (plain_table(&["chain", "step size", "acceptance rate", "leapfrogs a draw", "E-BFMI"], &chains)) }
            @if !report.predictive.is_empty() {
                h3 { "Posterior predictive test statistics" }
                @let rows: Vec<Vec<String>> = report.predictive.iter().map(|s| {
                    vec![s.name.clone(), significant(s.observed, 4), significant(s.p_value, 2)]
                }).collect();
                (plain_table(&["statistic", "observed", "p"], &rows))
            }
        }
    }
}

pub(super) fn benchmark(report: &Report) -> Markup {
    html! {
        section #benchmark {
            h2 { "Benchmark" }
            @match &report.benchmark {
                None => { p { "Nothing was timed in this run." } }
                Some(benchmark) => {
                    div.wide { (plain_table(&TIMING_COLUMNS, &benchmark.timing_rows())) }
                    @for run in &benchmark.runs {
                        @if let crate::Measured::NotMeasured(reason) = &run.result {
                            p.muted { (run.engine) " at " (run.groups) " groups: not measured: " (reason) }
                        }
                    }
                    h3 { "Speed-up of the GPU" }
                    dl {
                        @for definition in SpeedupDefinition::ALL {
                            dt { (definition.words()) }
                            @for (what, value) in benchmark.speedup_lines(definition) { dd { (what) ": " (value) } }
                        }
                    }
                    h3 { "What the PRD expects, on an RTX A6000, beside this machine" }
                    div.wide { (plain_table(&EXPECTATION_COLUMNS, &benchmark.expectation_rows())) }
                }
            }
        }
    }
}

pub(super) fn comparisons(report: &Report) -> Markup {
    html! {
        section #comparisons {
            h2 { "Comparisons" }
            @if report.comparisons.is_empty() { p { "Nothing was compared in this run." } }
            @for comparison in &report.comparisons {
                h3 { (comparison.title) }
                @if !comparison.note.is_empty() { p.muted { (comparison.note) } }
                @let columns: Vec<&str> = comparison.columns.iter().map(String::as_str).collect();
                div.wide { (plain_table(&columns, &comparison.rows)) }
            }
        }
    }
}

pub(super) fn machine(report: &Report) -> Markup {
    let versions: Vec<(String, String)> =
        report.versions.iter().map(|(name, version)| (name.clone(), version.clone())).collect();
    html! {
        section #machine {
            h2 { "Machine" }
            div.columns {
                div { h3 { "Hardware" } (facts(&machine_facts(report))) }
                div { h3 { "Versions" } (facts(&versions)) }
            }
        }
    }
}

pub(super) fn reproduce(report: &Report) -> Markup {
    html! {
        section #reproduce {
            h2 { "Do it again" }
            pre { (report.reproduce.join("\n")) }
            p.muted { "The same seed gives the same draws, to the bit, on any number of threads." }
        }
    }
}

fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        table.facts { tbody { @for (name, value) in facts { tr { th { (name) } td { (value) } } } } }
    }
}

fn plain_table(columns: &[&str], rows: &[Vec<String>]) -> Markup {
    html! {
        table {
            thead { tr { @for column in columns { th { (column) } } } }
            tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
        }
    }
}
