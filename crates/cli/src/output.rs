//! Output: results to stdout, all else to stderr, in colour on a terminal (`NO_COLOR`); a broken pipe is no error.
//!
//! Warnings, notes and errors with their causes are printed here, and JSON. A pipe is broken when its reader went away.
//! Names and labels of others in them cannot move the cursor or turn the writing.

use anyhow::{Context, Result};
use octopus::with_causes;
use octopus_files::WithInfinities;
use octopus_trace::harmless;
use serde::Serialize;
use std::borrow::Cow;
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

/// Prints a result as indented JSON; infinite numbers are words.
///
/// # Errors
/// When stdout cannot be written, unless because its reader (`| head`) has ended.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&json_text(value)?)
}

/// Returns a value as indented JSON, in which what a terminal would obey is escaped: such characters stand only in
/// strings.
fn json_text(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(&WithInfinities(value)).context("cannot write the result as JSON")?;
    if harmless(&text) == text {
        return Ok(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if harmless(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8() {
            let mut units = [0; 2];
            escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

/// What begins a warning.
const WARNING: &str = "\x1b[1;33mwarning:\x1b[0m";

/// Prints a note on stderr. A failure to print it is ignored.
pub(crate) fn note(text: impl AsRef<str>) {
    let text = text.as_ref();
    match text.strip_prefix(WARNING) {
        Some(text) => styled(WARNING, text),
        None => styled("", text),
    }
}

fn styled(before: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{before}{}", harmless(text));
}

/// Returns the notes that are to be printed: none with `quiet`.
pub(crate) fn unless_quiet(quiet: bool, notes: &[String]) -> &[String] {
    if quiet { &[] } else { notes }
}

/// Returns the note that is a warning.
pub(crate) fn warning(text: impl AsRef<str>) -> String {
    format!("{WARNING} {}", text.as_ref())
}

/// Prints a warning on stderr.
pub(crate) fn warn(text: impl AsRef<str>) {
    note(warning(text));
}

/// Prints an error on stderr, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    styled("\x1b[1;31merror:\x1b[0m ", &chain(error));
}

/// Prints what clap says of a command line: help on stdout, errors on stderr. An error repeats the user's words, so that
/// one with characters that a terminal would obey is told without them and without colours.
pub(crate) fn misuse(error: &clap::Error) {
    let is_odd = error.context().any(|(_, word)| matches!(harmless(&word.to_string()), Cow::Owned(_)));
    // If the message cannot be printed, the exit code still tells of the error.
    let _ =
        if is_odd { write!(anstream::stderr(), "{}", harmless(&error.render().to_string())) } else { error.print() };
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
    fn json_is_the_same_without_what_a_terminal_obeys() {
        let value = serde_json::json!({ "a\u{9b}2J": "\u{202e}\u{7f}\n é \u{1ffff}" });
        let text = json_text(&value).unwrap();
        assert!(text.contains(r"a\u009b2J") && text.contains(r"\u202e\u007f\n é \ud83f\udfff"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn no_cause_is_told_twice() {
        let quoted = anyhow!("disk full").context("cannot write x: disk full").context("sampling stopped");
        assert_eq!(chain(&quoted), "sampling stopped: cannot write x: disk full");
        assert_eq!(chain(&anyhow!("a").context("b")), "b: a");
    }
}
