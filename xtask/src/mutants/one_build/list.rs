//! The faults that are tried: cargo-mutants' as `cargo mutants --list --json` has them, and our own.

use super::sites::SiteKind;
use crate::mutants::equivalent;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// One fault. What the sources say in its place is not kept: it stands in the sources.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::mutants) struct ListedFault {
    /// Place and words, `crates/a/src/b.rs:12:5: replace + with - in f`: one fault has it.
    pub(in crate::mutants) name: String,
    /// The file, from the workspace's folder.
    pub(in crate::mutants) file: String,
    /// The package, `octopus-runs`.
    pub(in crate::mutants) package: String,
    /// What kind of change it is.
    pub(in crate::mutants) genre: Genre,
    /// What stands there instead; empty when something is left out.
    pub(in crate::mutants) replacement: String,
    /// What is replaced.
    pub(in crate::mutants) span: Span,
    /// Where one of our own stands, which may be several places; those of cargo-mutants are looked for.
    #[serde(skip)]
    pub(in crate::mutants) places: Vec<Place>,
}

impl ListedFault {
    /// Returns its package, and for one of our own those of the places where it stands: some more than once.
    pub(in crate::mutants) fn packages(&self) -> impl Iterator<Item = String> {
        let of_file =
            |place: &Place| Some(format!("octopus-{}", place.file.strip_prefix("crates/")?.split('/').next()?));
        std::iter::once(self.package.clone()).chain(self.places.iter().filter_map(of_file))
    }
}

/// A place where a fault of our own is put.
#[derive(Clone, Debug)]
pub(in crate::mutants) struct Place {
    /// The file, from the workspace's folder.
    pub(in crate::mutants) file: String,
    /// What is replaced, in bytes.
    pub(in crate::mutants) range: Range<usize>,
    pub(in crate::mutants) kind: SiteKind,
    /// What stands there with the fault.
    pub(in crate::mutants) text: String,
}

/// The kinds of faults: cargo-mutants' by its names, and ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(in crate::mutants) enum Genre {
    BinaryOperator,
    UnaryOperator,
    /// A function that does nothing but return a value.
    FnValue,
    /// An arm that is left out.
    MatchArm,
    /// A guard that is always or never true.
    MatchArmGuard,
    /// A field that is left to the `..base` of its struct.
    StructField,
    /// Our own: another number.
    Number,
    /// Our own: a number is rounded in another way.
    Rounding,
    /// Our own: the default of what is passed on.
    Setting,
    /// One that a later cargo-mutants makes.
    #[serde(other)]
    Unknown,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(in crate::mutants) struct Span {
    pub(in crate::mutants) start: Position,
}

/// Lines and columns, in characters, are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(in crate::mutants) struct Position {
    pub(in crate::mutants) line: usize,
    pub(in crate::mutants) column: usize,
}

/// Reads what `cargo mutants --list --json` printed.
///
/// # Errors
/// When it is no such list.
pub(in crate::mutants) fn read(json: &str) -> Result<Vec<ListedFault>> {
    serde_json::from_str(json).context("cargo-mutants' list of faults is not of the form that is known here")
}

/// Returns the line of the sources, below `root`, that each fault is in. Where a line has several faults with the same
/// words, the second ends with ` (2)`, and so on.
///
/// # Errors
/// When a file cannot be read.
pub(in crate::mutants) fn source_lines(root: &Path, faults: &[ListedFault]) -> Result<Vec<String>> {
    let mut texts: HashMap<&str, String> = HashMap::new();
    let mut lines = Vec::with_capacity(faults.len());
    let mut times: HashMap<String, usize> = HashMap::new();
    for fault in faults {
        if !texts.contains_key(&*fault.file) {
            let text =
                fs::read_to_string(root.join(&fault.file)).with_context(|| format!("cannot read {}", fault.file))?;
            texts.insert(&fault.file, text);
        }
        let line = texts[&*fault.file].lines().nth(fault.span.start.line.saturating_sub(1));
        let line = line.unwrap_or_default().trim().to_owned();
        let time = times.entry(equivalent::entry(&fault.name, &line)).or_default();
        *time += 1;
        lines.push(if *time > 1 { format!("{line} ({time})") } else { line });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_the_line_that_they_begin_in() {
        let folder = std::env::temp_dir().join(format!("octopus-source-lines-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), "one\n  two\n").unwrap();
        let fault = |line: usize| {
            let json = format!(
                r#"[{{"name": "a.rs:{line}:1: words", "file": "a.rs", "package": "", "genre": "FnValue", "replacement": "",
                "span": {{"start": {{"line": {line}, "column": 1}}}}}}]"#
            );
            read(&json).unwrap().remove(0)
        };
        // Two of the same words in one line are told apart.
        let lines = source_lines(&folder, &[fault(2), fault(1), fault(2)]).unwrap();
        assert_eq!(lines, ["two", "one", "two (2)"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_list_is_read() {
        let json = r#"[{"name": "a.rs:2:9: replace + with - in f", "file": "a.rs", "package": "octopus-runs",
            "genre": "BinaryOperator", "replacement": "-", "diff": "", "function": {"function_name": "f"},
            "span": {"start": {"line": 2, "column": 9}, "end": {"line": 2, "column": 10}}},
            {"name": "b", "file": "b.rs", "package": "octopus-runs", "genre": "Comet", "replacement": "",
            "function": null, "span": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 2}}}]"#;
        let [first, second] = &read(json).unwrap()[..] else { panic!("two faults") };
        assert_eq!((first.genre, first.span.start), (Genre::BinaryOperator, Position { line: 2, column: 9 }));
        assert_eq!(second.genre, Genre::Unknown);
        assert!(read("{}").is_err());
    }
}
