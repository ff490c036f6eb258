//! A page of tables and pictures that is no report of a run: results of benchmarks.

use maud::{Markup, html};

use super::sections::tables;
use super::{PageSection, Shell, facts, figure};
use crate::error::ReportError;
use crate::plot::Figure;
use crate::report::Comparison;

/// The script of the report's page without the stories of parameters.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/theme.js"),
    include_str!("script/table.js"),
    include_str!("script/tip.js"),
    include_str!("script/page.js"),
    "})();\n"
);

/// A page of results.
#[derive(Debug, Default)]
pub struct ResultsPage {
    /// Its heading.
    pub title: String,
    /// The line below it.
    pub line: String,
    /// Its parts, in order.
    pub parts: Vec<ResultsPart>,
}

/// A part of a page: words, facts side by side, tables and pictures, each as far as there are any.
#[derive(Debug, Default)]
pub struct ResultsPart {
    /// Its heading, and its name in the contents.
    pub name: String,
    /// How to read it.
    pub words: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// Tables.
    pub tables: Vec<Comparison>,
    /// Pictures.
    pub figures: Vec<Figure>,
}

impl ResultsPage {
    /// Returns the page as HTML that needs nothing else.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn html(&self) -> Result<String, ReportError> {
        let ids: Vec<String> = (1..=self.parts.len()).map(|number| format!("part-{number}")).collect();
        let section = |(part, id)| -> Result<PageSection<'_>, ReportError> {
            let (part, id): (&ResultsPart, &String) = (part, id);
            Ok(PageSection { id, name: &part.name, content: part.content()? })
        };
        let shell = Shell {
            title: &self.title,
            heading: html! { (self.title) },
            line: html! { (self.line) },
            parts: self.parts.iter().zip(&ids).map(section).collect::<Result<_, _>>()?,
            data: html! {},
            script: SCRIPT,
        };
        Ok(shell.text())
    }
}

impl ResultsPart {
    fn content(&self) -> Result<Markup, ReportError> {
        let figures = if self.figures.is_empty() {
            html! {}
        } else {
            figure::content(&self.figures)?
        };
        Ok(html! {
            @if !self.words.is_empty() { p { (self.words) } }
            @if !self.facts.is_empty() { (facts::table(&self.facts)) }
            (tables(&self.tables))
            (figures)
        })
    }
}
