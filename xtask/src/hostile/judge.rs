//! What is wrong with a run.

use super::line::Line;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

/// The exit codes that `octopus help` explains.
const CODES: [i32; 6] = [0, 1, 2, 3, 4, 130];
/// What `timeout` ends with where it had to send Ctrl-C.
const ASKED_TO_END: i32 = 124;

/// What is at a path: the bytes of a file, or the kind of anything else.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    File(Vec<u8>),
    Other(fs::FileType),
}

/// Returns what is below a folder, by path.
pub(super) fn user_files(dir: &Path) -> Result<BTreeMap<String, Found>> {
    let mut found = BTreeMap::new();
    collect(dir, dir, &mut found)?;
    Ok(found)
}

fn collect(root: &Path, dir: &Path, found: &mut BTreeMap<String, Found>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            collect(root, &path, found)?;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let what = if kind.is_file() { Found::File(fs::read(&path)?) } else { Found::Other(kind) };
        found.insert(name, what);
    }
    Ok(())
}

/// Returns what is wrong, a line each.
pub(super) fn wrong(
    output: &Output,
    line: &Line,
    before: &BTreeMap<String, Found>,
    after: &BTreeMap<String, Found>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let code = output.status.code();
    let asked = code == Some(ASKED_TO_END);
    if !asked && !code.is_some_and(|code| CODES.contains(&code)) {
        wrong.push(format!("it ended with {}", output.status));
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if stderr.contains("panicked at") {
        wrong.push("it panicked".into());
    }
    // The command ends with an exit code of its own then, as if it had foreseen it.
    if stderr.contains("memory allocation of") {
        wrong.push("it was refused memory that it had not asked about".into());
    }
    // An archive or a script goes to stdout as it is where the user says so.
    let told = if line.has("/dev/stdout") { vec![&stderr] } else { vec![&stderr, &stdout] };
    if let Some(control) = told.iter().find_map(|text| text.chars().find(|&c| is_odd(c))) {
        wrong.push(format!("it printed {control:?}"));
    }
    for (name, was) in before {
        if may_change(name, line) {
            continue;
        }
        match after.get(name) {
            None => wrong.push(format!("{name} is gone")),
            Some(is) if is != was => wrong.push(format!("{name} is another")),
            Some(_) => {}
        }
    }
    for name in after.keys().filter(|name| !asked && !before.contains_key(*name)) {
        let last = name.rsplit('/').next().unwrap_or(name);
        if last.starts_with('.') && last != ".lock" {
            wrong.push(format!("{name} is left over"));
        }
    }
    wrong
}

/// Whether a character does something to a terminal beside standing there.
fn is_odd(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the line asks for a change of this file: by `--force`, where it is named once, so not as an input too; a run
/// that is resumed.
fn may_change(name: &str, line: &Line) -> bool {
    let named = line.named(name.split('/').next().unwrap_or(name));
    named > 0 && line.words[0] == "resume" || named == 1 && line.has("--force")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn judged(words: &str, status: i32, stderr: &str, after: &[(&str, &str)]) -> Vec<String> {
        let files = |all: &[(&str, &str)]| -> BTreeMap<String, Found> {
            all.iter().map(|(name, text)| ((*name).to_owned(), Found::File(text.as_bytes().to_vec()))).collect()
        };
        let output =
            Output { status: ExitStatus::from_raw(status), stdout: Vec::new(), stderr: stderr.as_bytes().to_vec() };
        let line = Line { words: words.split(' ').map(str::to_owned).collect() };
        wrong(&output, &line, &files(&[("t.csv", "1"), ("run/run.toml", "2")]), &files(after))
    }

    #[test]
    fn what_is_wrong_is_told() {
        let whole = [("t.csv", "1"), ("run/run.toml", "2"), ("new.nc", "")];
        assert_eq!(judged("export run --out new.nc", 0, "a note\n", &whole), [""; 0]);
        assert_eq!(judged("plot run", 6, "", &whole).len(), 1, "a signal");
        assert_eq!(judged("plot run", 101 << 8, "thread main panicked at x", &whole).len(), 2);
        assert_eq!(judged("plot run", 3 << 8, "memory allocation of 8 bytes failed", &whole).len(), 1);
        assert_eq!(judged("plot run", 0, "\u{9b}31m", &whole), ["it printed '\\u{9b}'"]);
        assert_eq!(
            judged("sample m --out t.csv", 0, "", &[("t.csv", "9"), ("run/run.toml", "2")]),
            ["t.csv is another"]
        );
        assert_eq!(judged("plot run", 0, "", &[("t.csv", "1")]), ["run/run.toml is gone"]);
        let left = [("t.csv", "1"), ("run/run.toml", "2"), (".new.nc.tmp", "")];
        assert_eq!(judged("export run --out new.nc", 0, "", &left), [".new.nc.tmp is left over"]);
        assert_eq!(judged("export run --out new.nc", 124 << 8, "", &left), [""; 0]);
    }

    #[test]
    fn force_and_resume_may_change_what_they_name() {
        let other = [("t.csv", "9"), ("run/run.toml", "3")];
        assert_eq!(judged("export x --force --out t.csv", 0, "", &other), ["run/run.toml is another"]);
        assert_eq!(judged("sample m --data t.csv --force --out t.csv", 0, "", &other).len(), 2, "an input too");
        assert_eq!(judged("resume run", 0, "", &other), ["t.csv is another"]);
    }
}
