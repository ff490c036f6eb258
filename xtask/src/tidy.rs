//! `cargo xtask tidy`: the repository tests itself, by the rules in this list.
//!
//! One check a file, each a function over a [`Tree`], so that each is tested on made-up trees.

mod crate_docs;
mod direction;
mod file_size;
mod format;
mod ignored;
mod leftovers;
mod licences;
mod lints;
mod lockfile;
mod machine_paths;
mod manifest;
mod module_names;
mod orphans;
mod tree;
mod type_names;
mod unsafe_door;
mod words;

pub(crate) use tree::Tree;

use crate::run::{self, TaskOutcome};
use anyhow::Result;
use std::fmt;
use std::path::Path;

/// What a check has to say about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Complaint {
    severity: Severity,
    path: String,
    /// Counted from 1.
    line: Option<usize>,
    message: String,
}

/// Whether a complaint fails the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// Worth a second look.
    Warning,
    /// Must be mended.
    Error,
}

impl Complaint {
    fn error(path: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, path: path.into(), line: None, message: message.into() }
    }

    fn warning(path: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, message) }
    }

    fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.severity == Severity::Error { "error" } else { "warning" };
        match self.line {
            Some(line) => write!(f, "{word}: {}:{line}: {}", self.path, self.message),
            None => write!(f, "{word}: {}: {}", self.path, self.message),
        }
    }
}

/// A check's name and its function.
type Check = (&'static str, fn(&Tree) -> Vec<Complaint>);

const CHECKS: [Check; 14] = [
    ("file size", file_size::check),
    ("machine paths", machine_paths::check),
    ("crate direction", direction::check),
    ("lints", lints::check),
    ("unsafe code", unsafe_door::check),
    ("crate documentation", crate_docs::check),
    ("module names", module_names::check),
    ("type names", type_names::check),
    ("files that are compiled", orphans::check),
    ("leftovers", leftovers::check),
    ("words", words::check),
    ("ignored tests", ignored::check),
    ("lock file", lockfile::check),
    ("licences", licences::check),
];

/// Runs every check and the formatter on the checkout at `root`.
///
/// # Errors
/// When the checkout cannot be read or the formatter cannot be started.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    run::timed("tidy", || {
        let tree = Tree::read(root)?;
        let mut errors = 0;
        for (name, check) in CHECKS {
            let complaints = check(&tree);
            for complaint in &complaints {
                eprintln!("{complaint} [{name}]");
            }
            errors += complaints.iter().filter(|complaint| complaint.severity == Severity::Error).count();
        }
        if let Some(difference) = format::difference(root)? {
            eprintln!("error: not formatted, run `cargo fmt --all` [formatting]\n{difference}");
            errors += 1;
        }
        eprintln!("xtask: {} files, {} checks, {errors} errors", tree.paths().count(), CHECKS.len() + 1);
        Ok(if errors == 0 { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        assert_eq!(run(&crate::place::root()).unwrap(), TaskOutcome::Passed, "the complaints are above");
    }

    #[test]
    fn complaints_name_file_line_and_weight() {
        let complaint = Complaint::error("a/b.rs", "no").at(7);
        assert_eq!(complaint.to_string(), "error: a/b.rs:7: no");
        assert_eq!(Complaint::warning("a/b.rs", "hm").to_string(), "warning: a/b.rs: hm");
    }
}
