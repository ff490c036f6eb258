//! Output: results to stdout, all else to stderr, in colour on a terminal (`NO_COLOR`); a broken pipe is no error.
//!
//! Warnings, notes and errors with their causes are printed here, and JSON. A pipe is broken when its reader went away.

use anyhow::{Context, Result};
use octopus::with_causes;
use serde::Serialize;
use std::io::{self, Write};

/// Prints a result.
///
/// # Errors
/// When stdout cannot be written, unless because its reader (`| head`) has ended.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    match writeln!(stdout, "{}", text.trim_end_matches('\n')).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

/// Prints a result as indented JSON.
///
/// # Errors
/// When stdout cannot be written, unless because its reader (`| head`) has ended.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value).context("cannot write the result as JSON")?)
}

/// Prints a note on stderr. A failure to print it is ignored.
pub(crate) fn note(text: impl AsRef<str>) {
    let _ = writeln!(anstream::stderr(), "{}", text.as_ref());
}

/// Returns the notes that are to be printed: none with `quiet`.
pub(crate) fn unless_quiet(quiet: bool, notes: &[String]) -> &[String] {
    if quiet { &[] } else { notes }
}

/// Returns the note that is a warning.
pub(crate) fn warning(text: impl AsRef<str>) -> String {
    format!("\x1b[1;33mwarning:\x1b[0m {}", text.as_ref())
}

/// Prints a warning on stderr.
pub(crate) fn warn(text: impl AsRef<str>) {
    note(warning(text));
}

/// Prints an error on stderr, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    note(format!("\x1b[1;31merror:\x1b[0m {}", chain(error)));
}

/// Returns the text of an error and its causes, without causes that the error itself quotes.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    with_causes(error.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn notes_are_told_but_with_quiet() {
        let notes = ["one".to_owned(), "two".to_owned()];
        assert_eq!(unless_quiet(false, &notes), notes);
        assert!(unless_quiet(true, &notes).is_empty());
    }

    #[test]
    fn no_cause_is_told_twice() {
        let quoted = anyhow!("disk full").context("cannot write x: disk full").context("sampling stopped");
        assert_eq!(chain(&quoted), "sampling stopped: cannot write x: disk full");
        assert_eq!(chain(&anyhow!("a").context("b")), "b: a");
    }
}
