//! `index.html`: the whole report on one page that needs nothing else, on screen, in the dark, and on paper.
//!
//! One file for each part of the page. The script (`script/`, joined here) sorts, filters, shows what a picture says and
//! tells a parameter's story; without it the page holds the same facts.

mod device;
mod facts;
mod figure;
mod glossary;
mod overview;
mod parameters;
mod results;
mod sections;
mod stories;
mod table;
mod verdict;

pub use results::{ResultsPage, ResultsPart};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::error::ReportError;
use crate::plot::{Figure, theme_rules};
use crate::report::Report;
use crate::verdict::Outcome;

/// Allows nothing from outside, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Before anything is painted: the reader's choice of light or dark.
const CHOSEN_THEME: &str = "try{const t=localStorage.getItem('octopus-theme');\
    if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}";

/// The script, a block for each part; within one function, so that nothing of it is global.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/theme.js"),
    include_str!("script/table.js"),
    include_str!("script/story.js"),
    include_str!("script/tip.js"),
    include_str!("script/page.js"),
    "})();\n"
);

/// One part of the page: its anchor, its name in the contents, and what it holds.
struct PageSection<'a> {
    id: &'a str,
    name: &'a str,
    content: Markup,
}

/// A page before it is text.
struct Shell<'a> {
    /// The title of the window.
    title: &'a str,
    /// The heading, and the line below it.
    heading: Markup,
    line: Markup,
    parts: Vec<PageSection<'a>>,
    /// What the script reads.
    data: Markup,
    script: &'a str,
}

/// Returns the page as HTML.
pub(crate) fn page(report: &Report, figures: &[Figure]) -> Result<String, ReportError> {
    let word = report.verdict.headline();
    let badge = if report.verdict.outcome == Outcome::Passed { "pass" } else { "fail" };
    let shell = Shell {
        title: &format!("{}: {word}", report.title),
        heading: html! { (report.title) " " span class={ "badge " (badge) } { (word) } },
        line: html! { (report.created) " · " (report.program) " · " (report.machine.cpu) },
        parts: parts(report, figures)?,
        data: stories::data(report),
        script: SCRIPT,
    };
    Ok(shell.text())
}

impl Shell<'_> {
    fn text(&self) -> String {
        let Self { title, heading, line, parts, data, script } = self;
        let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style {
                    (PreEscaped(include_str!("style/page.css"))) (PreEscaped(include_str!("style/table.css")))
                    (PreEscaped(include_str!("style/figure.css"))) (PreEscaped(theme_rules("figure svg")))
                    (PreEscaped(include_str!("style/print.css")))
                }
                script { (PreEscaped(CHOSEN_THEME)) }
            }
            body {
                header {
                    button #theme type="button" hidden title="light or dark" {}
                    h1 { (heading) }
                    p.muted { (line) }
                }
                nav aria-label="contents" { @for part in parts { a href={ "#" (part.id) } { (part.name) } " " } }
                main {
                    @for part in parts {
                        section id=(part.id) { h2 { (part.name) } (part.content) }
                    }
                }
                (data)
                script { (PreEscaped(script)) }
            }
        }
        };
        markup.into_string()
    }
}

/// All parts, in order.
fn parts(report: &Report, figures: &[Figure]) -> Result<Vec<PageSection<'static>>, ReportError> {
    let part = |id, name, content| PageSection { id, name, content };
    Ok(vec![
        part("verdict", "Verdict", verdict::content(report)),
        part("data", "Data", facts::table(&crate::benchmark::data_facts(report))),
        part("model", "Model", sections::model(report)),
        part("settings", "Settings", sections::settings(report)),
        part("parameters", "Parameters", parameters::content(report)),
        part("convergence", "Convergence", sections::convergence(report)),
        part("figures", "Figures", figure::content(figures)?),
        part("device", "CPU against GPU", device::content(report)),
        part("benchmark", "Benchmark", sections::benchmark(report)),
        part("comparisons", "Comparisons", sections::comparisons(report)),
        part("machine", "Machine", sections::machine(report)),
        part("glossary", "Glossary", glossary::content(report)),
        part("reproduce", "Reproduce", sections::reproduce(report)),
    ])
}
