//! `cargo xtask mutants --wiring [--since REV] [--part K/N]`: cargo-mutants makes the faults, thousands of them, in the
//! crates that join, judge, read and write.
//!
//! All of them take days on two cores, so that a night has a part of them, and a change those of its own lines. Survivors
//! that mean the same as what they replace stand in `.cargo/mutants.toml`, each with its reason.

use super::workshop::Workshop;
use crate::run::{self, TaskOutcome, cargo, cargo_has, git};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATES: [&str; 7] = ["cli", "report", "diag", "calibrate", "device", "runs", "formats"];

/// The most faults of a change that CI puts in: each takes up to a minute.
const MOST_IN_CI: usize = 5;

/// Which faults are put in; all by default.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GeneratedOptions {
    /// Only those in lines that have changed since this revision.
    since: Option<String>,
    /// Only every n-th, from the k-th on: `K/N`.
    part: Option<(usize, usize)>,
}

impl GeneratedOptions {
    /// Reads the arguments after `--wiring`.
    ///
    /// # Errors
    /// When an argument is not known, or is no part.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--since" => options.since = Some(value()?.clone()),
                "--part" => options.part = Some(part(value()?)?),
                other => bail!("mutants --wiring takes --since REV and --part K/N, not {other:?}"),
            }
        }
        Ok(options)
    }
}

fn part(text: &str) -> Result<(usize, usize)> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((k, n)) if (1..=n).contains(&k) => Ok((k, n)),
        _ => bail!("--part {text}: K/N is needed, K from 1 to N"),
    }
}

/// Puts the faults into a copy of the sources, one after the other.
///
/// # Errors
/// When cargo-mutants is not installed or fails, the sources cannot be copied, or the tests fail without any fault.
pub(super) fn run(root: &Path, options: &GeneratedOptions) -> Result<TaskOutcome> {
    if !cargo_has(root, "mutants") {
        bail!("cargo-mutants is not installed: cargo install cargo-mutants --locked");
    }
    let faults = Faults::new(root, options.since.as_deref())?;
    run::timed("mutants --wiring", || faults.put_in(options.part))
}

/// Puts in the faults of the lines that the last commit, or what is not committed yet, has changed: at most
/// [`MOST_IN_CI`] of them.
///
/// # Errors
/// When [`run()`] has one.
pub(crate) fn of_change(root: &Path) -> Result<TaskOutcome> {
    if git(root, &["rev-parse", "--verify", "--quiet", "HEAD~1"]).is_err() {
        eprintln!("xtask: SKIPPED: this clone does not know the commit before");
        return Ok(TaskOutcome::Passed);
    }
    let faults = Faults::new(root, Some("HEAD~1"))?;
    let count = faults.count()?;
    eprintln!("xtask: {count} faults in the changed lines");
    match count {
        0 => Ok(TaskOutcome::Passed),
        _ => faults.put_in(Some((1, count.div_ceil(MOST_IN_CI)))),
    }
}

/// The faults, and the copy of the sources for them.
struct Faults {
    workshop: Workshop,
    /// The lines that they are limited to.
    diff: Option<PathBuf>,
}

impl Faults {
    fn new(root: &Path, since: Option<&str>) -> Result<Self> {
        let workshop = Workshop::open(root)?;
        let of_change = |revision: &str| -> Result<PathBuf> {
            let path = workshop.build().with_extension("diff");
            let diff = git(root, &["diff", revision, "--", "crates"])?;
            fs::write(&path, diff + "\n").with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        let diff = since.map(of_change).transpose()?;
        Ok(Self { workshop, diff })
    }

    fn command(&self) -> Command {
        let source = self.workshop.source();
        let mut command = cargo(source, &["mutants", "--in-place", "--colors=never", "--no-shuffle", "--dir"]);
        command.arg(source).args(CRATES.map(|name| format!("--package=octopus-{name}")));
        if let Some(diff) = &self.diff {
            command.arg("--in-diff").arg(diff);
        }
        command.env("CARGO_TARGET_DIR", self.workshop.build()).env("CARGO_INCREMENTAL", "1");
        command
    }

    fn count(&self) -> Result<usize> {
        Ok(run::output(self.command().arg("--list"))?.lines().filter(|line| line.starts_with("crates/")).count())
    }

    fn put_in(&self, part: Option<(usize, usize)>) -> Result<TaskOutcome> {
        let mut command = self.command();
        if let Some((k, n)) = part {
            command.args(["--sharding=round-robin", "--shard"]).arg(format!("{}/{n}", k - 1));
        }
        command.arg("--output").arg(self.workshop.build());
        match run::status(&mut command)?.code() {
            Some(0) => Ok(TaskOutcome::Passed),
            // Faults that no test noticed, or that tests could not end with.
            Some(2 | 3) => Ok(TaskOutcome::Failed(1)),
            code => bail!("cargo-mutants ended with {code:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            GeneratedOptions::parse(&words).map_err(|error| error.to_string())
        };
        assert_eq!(parse(&[]), Ok(GeneratedOptions::default()));
        let found = parse(&["--since", "main", "--part", "2/9"]).unwrap();
        assert_eq!(found, GeneratedOptions { since: Some("main".into()), part: Some((2, 9)) });
        for (words, said) in [
            (&["--part", "0/3"][..], "--part 0/3"),
            (&["--part", "4/3"], "--part 4/3"),
            (&["--since"], "--since needs a value"),
            (&["--all"], "\"--all\""),
        ] {
            assert!(parse(words).unwrap_err().contains(said), "{words:?}");
        }
    }
}
