//! `index.html`: the whole report on one page that needs nothing else, on screen, in the dark, and on paper.

mod figure;
mod parameters;
mod sections;

#[cfg(test)]
pub(crate) use sections::CONTENTS;

use maud::{DOCTYPE, PreEscaped, html};

use crate::ReportError;
use crate::bundle::Figure;
use crate::plot::dark_rules;
use crate::report::Report;
use crate::verdict::Outcome;

/// Allows nothing from outside, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The page as HTML.
pub(crate) fn page(report: &Report, figures: &[Figure]) -> Result<String, ReportError> {
    let dark = dark_rules("figure svg");
    let dark = format!("@media screen and (prefers-color-scheme: dark) {{{dark}}}");
    let (badge, word) = match report.verdict.outcome {
        Outcome::Passed => ("pass", "PASSED"),
        Outcome::Failed => ("fail", "FAILED"),
        Outcome::GpuMissing => ("fail", "NO GPU"),
    };
    let figures = figures.iter().map(figure::embedded).collect::<Result<Vec<_>, _>>()?;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (report.title) ": " (word) }
                style { (PreEscaped(include_str!("style.css"))) (PreEscaped(dark)) }
            }
            body {
                header {
                    h1 { (report.title) " " span class={ "badge " (badge) } { (word) } }
                    p.muted { (report.created) " · " (report.program) " · " (report.machine.cpu) }
                }
                nav {
                    @for (id, name) in sections::CONTENTS { a href={ "#" (id) } { (name) } " " }
                }
                main {
                    (sections::verdict(report))
                    (sections::data_and_model(report))
                    (parameters::section(report))
                    section #pictures { h2 { "Pictures" } @for figure in &figures { (figure) } }
                    (sections::convergence(report))
                    (sections::benchmark(report))
                    (sections::comparisons(report))
                    (sections::machine(report))
                    (sections::reproduce(report))
                }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    Ok(markup.into_string())
}
