//! Results go to stdout, everything else to stderr; a reader that went away is no error.

use anyhow::{Context, Result};
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
/// As [`print()`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value).context("cannot write the result as JSON")?)
}

/// Says something on stderr. What cannot be said is not worth failing for.
pub(crate) fn note(text: impl AsRef<str>) {
    let _ = writeln!(anstream::stderr(), "{}", text.as_ref());
}

/// Warns on stderr.
pub(crate) fn warn(text: impl AsRef<str>) {
    note(format!("\x1b[1;33mwarning:\x1b[0m {}", text.as_ref()));
}

/// Reports a failure on stderr, causes included.
pub(crate) fn error(error: &anyhow::Error) {
    note(format!("\x1b[1;31merror:\x1b[0m {}", chain(error)));
}

/// An error and its causes, without those that the error itself quotes.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        said if said.contains(&cause) => text,
        said => format!("{said}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn no_cause_is_told_twice() {
        let quoted = anyhow!("disk full").context("cannot write x: disk full").context("sampling stopped");
        assert_eq!(chain(&quoted), "sampling stopped: cannot write x: disk full");
        assert_eq!(chain(&anyhow!("a").context("b")), "b: a");
    }
}
