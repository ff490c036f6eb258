//! `cargo xtask hostile`: the command as a careless or hostile user would call it, thousands of times.
//!
//! Each run has a folder of its own with a user's files, of which some are damaged, and a command line made of the
//! command's own options with values that fit, do not fit, or name one of the user's files. Whatever it is, the command
//! ends by itself with one of its exit codes, does not panic, prints no control characters, loses none of the files and
//! leaves no half-written one.
//!
//! Run K is the same on every machine: `cargo xtask hostile --from K 1` repeats it.

mod chance;
mod damage;
mod judge;
mod line;
mod stock;

use crate::place::target;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result};
use chance::Chance;
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The runs where no number is given.
const RUNS: u64 = 1000;
/// The runs of a night.
const NIGHTLY: u64 = 10_000;
/// Seconds until a run is asked to end (Ctrl-C), and until it is killed after that. Commands that sample may take any
/// time that their settings ask for, but none may ignore Ctrl-C.
const SECONDS: (u32, u32) = (20, 20);
/// The address space of a run, in KiB: a file that claims more must be refused, not believed.
const MEMORY_KIB: u64 = 8 << 20;

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct HostileOptions {
    runs: u64,
    from: u64,
}

impl HostileOptions {
    /// Reads the arguments after `hostile`.
    ///
    /// # Errors
    /// A word that is neither a number nor `--from K`.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let number = |word: Option<&String>| {
            let word = word.ok_or("hostile: --from needs a number")?;
            word.parse::<u64>().map_err(|_| format!("hostile: {word:?} is no number of runs"))
        };
        let mut options = Self { runs: RUNS, from: 0 };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--from" => options.from = number(words.next())?,
                _ => options.runs = number(Some(word))?,
            }
        }
        Ok(options)
    }

    /// Returns what runs at night.
    pub(crate) fn nightly() -> Self {
        Self { runs: NIGHTLY, from: 0 }
    }
}

/// Makes the runs with the binary that the tests have built, and says what is wrong.
///
/// # Errors
/// When the binary or the user's files are missing, or a folder cannot be written.
pub(crate) fn run(root: &Path, options: &HostileOptions) -> Result<TaskOutcome> {
    run::timed("hostile", || {
        let program = run::released(root);
        let folder = target(root).join("hostile");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        let stock = folder.join("stock");
        stock::make(&program, &stock)?;
        let commands = line::commands(&program)?;
        let faults: Vec<String> = (options.from..options.from + options.runs)
            .into_par_iter()
            .map(|number| trial(&program, &folder, &commands, number))
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        for fault in &faults {
            eprintln!("xtask: hostile: {fault}\n");
        }
        eprintln!(
            "xtask: hostile: {} of {} runs are as they should be",
            options.runs - faults.len() as u64,
            options.runs
        );
        Ok(if faults.is_empty() { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
    })
}

/// Makes run `number`; returns what is wrong with it. Its folder stays where something is.
fn trial(program: &Path, folder: &Path, commands: &[line::Listed], number: u64) -> Result<Option<String>> {
    let mut chance = Chance::new(number);
    let dir = folder.join(number.to_string());
    stock::copy(&folder.join("stock"), &dir)?;
    let damaged = damage::some(&dir, &mut chance)?;
    let line = line::choose(commands, &stock::names(), &mut chance);
    let before = judge::user_files(&dir)?;
    let (wait, kill) = SECONDS;
    let script = format!("ulimit -v {MEMORY_KIB}; exec timeout -s INT -k {kill} {wait} \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program).args(&line.words).current_dir(&dir).stdin(Stdio::null());
    // Measured costs are kept where no user has them, and no variable of this terminal decides.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder.join("home")).env("XDG_CACHE_HOME", folder.join("home"));
    let output = command.output().context("cannot start sh")?;
    let wrong = judge::wrong(&output, &line, &before, &judge::user_files(&dir)?);
    if wrong.is_empty() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let end = said.char_indices().rev().nth(1500).map_or(0, |(at, _)| at);
    Ok(Some(format!("run {number}: octopus {}\n{damaged}{}\n{}", line.shown(), wrong.join("\n"), &said[end..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let parse = |line: &str| HostileOptions::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>());
        assert_eq!(parse("").unwrap(), HostileOptions { runs: RUNS, from: 0 });
        assert_eq!(parse("--from 7 1").unwrap(), HostileOptions { runs: 1, from: 7 });
        assert!(parse("--from").unwrap_err().contains("needs a number"));
        assert!(parse("many").unwrap_err().contains("many"));
    }
}
