//! `cargo xtask mutants --wiring`: cargo-mutants makes the faults, thousands of them, in the crates that join, judge,
//! read and write.
//!
//! A build for each would take days, so they are tried in one build. Survivors that mean the same as what they replace
//! stand in a list, each with its reason.

use super::one_build::{self, Clock, ListedFault, Staged, TrialOptions};
use super::own;
use super::workshop::Workshop;
use crate::run::{self, PROFILE, TaskOutcome, cargo, cargo_has, git};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(super) const CRATES: [&str; 9] =
    ["cli", "report", "diag", "calibrate", "device", "array", "fitness", "runs", "formats"];

/// What the faults of a change may take in CI, from listing and building them to the last test.
const LIMIT_IN_CI: Duration = Duration::from_secs(280);

/// Which faults are put in; all by default.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GeneratedOptions {
    /// Only those of these crates.
    pub(super) crates: Vec<&'static str>,
    /// Only those of files whose paths contain one of these.
    pub(super) files: Vec<String>,
    /// Only those in lines that have changed since this revision.
    pub(super) since: Option<String>,
    /// Only every n-th, from the k-th on: `K/N`.
    pub(super) part: Option<(usize, usize)>,
    /// The trial ends after so many minutes, which building counts in with `since` alone.
    minutes: Option<u32>,
}

impl GeneratedOptions {
    /// Reads the arguments after `task`, which has faults in the crates `known`.
    ///
    /// # Errors
    /// When an argument is not known, or its value is none.
    pub(super) fn parse(task: &str, known: &[&'static str], arguments: &[String]) -> Result<Self> {
        let mut options = Self { crates: known.to_vec(), files: Vec::new(), since: None, part: None, minutes: None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--crates" => options.crates = crates(known, value()?)?,
                "--files" => options.files = value()?.split(',').map(str::to_owned).collect(),
                "--since" => options.since = Some(value()?.clone()),
                "--part" => options.part = Some(part(value()?)?),
                "--minutes" => options.minutes = Some(minutes(value()?)?),
                other => {
                    bail!("mutants {task} takes --crates, --files, --since, --part and --minutes, not {other:?}")
                }
            }
        }
        if options.since.is_some() && (options.part.is_some() || !options.files.is_empty()) {
            bail!("--files and --part go without --since only: the lines of the change are what is put in");
        }
        Ok(options)
    }

    /// Returns how long the trial may take.
    pub(super) fn limit(&self) -> Option<Duration> {
        self.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)))
    }
}

fn crates(known: &[&'static str], text: &str) -> Result<Vec<&'static str>> {
    let one = |name: &str| {
        let found = known.iter().copied().find(|known| *known == name);
        found.with_context(|| format!("--crates {name}: the crates are {}", known.join(", ")))
    };
    text.split(',').map(one).collect()
}

fn part(text: &str) -> Result<(usize, usize)> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((k, n)) if (1..=n).contains(&k) => Ok((k, n)),
        _ => bail!("--part {text}: K/N is needed, K from 1 to N"),
    }
}

fn minutes(text: &str) -> Result<u32> {
    text.parse().with_context(|| format!("--minutes {text}: a whole number is needed"))
}

/// Puts the faults into a copy of the sources.
///
/// # Errors
/// When cargo-mutants is not installed or fails, the sources cannot be copied, or the tests fail without any fault.
pub(super) fn run(root: &Path, options: &GeneratedOptions) -> Result<TaskOutcome> {
    if !cargo_has(root, "mutants") {
        bail!("cargo-mutants is not installed: cargo install cargo-mutants --locked");
    }
    let limit = options.limit();
    let clock = Clock::begin(limit);
    let cargo_mutants = CargoMutants::new(root, options.since.as_deref(), &options.crates)?;
    run::timed("mutants --wiring", || {
        if options.since.is_some() {
            let faults = one_build::read(&cargo_mutants.list_changed()?)?;
            return try_changed(&faults, cargo_mutants.workshop(), root, clock);
        }
        let GeneratedOptions { crates, files, part, .. } = options;
        one_build::run(&cargo_mutants, TrialOptions { crates, files, part: *part, limit })
    })
}

/// Tries the faults of the lines that the last commit, or what is not committed yet, has changed: ours, and those of
/// cargo-mutants where it is installed.
///
/// # Errors
/// When [`run()`] has one.
pub(crate) fn of_change(root: &Path) -> Result<TaskOutcome> {
    if git(root, &["rev-parse", "--verify", "--quiet", "HEAD~1"]).is_err() {
        eprintln!("xtask: SKIPPED: this clone does not know the commit before");
        return Ok(TaskOutcome::Passed);
    }
    let clock = Clock::begin(Some(LIMIT_IN_CI));
    let mut faults = own::of_change(root, "HEAD~1")?;
    let cargo_mutants = CargoMutants::new(root, Some("HEAD~1"), &CRATES)?;
    if cargo_has(root, "mutants") {
        faults.extend(one_build::read(&cargo_mutants.list_changed()?)?);
    } else {
        eprintln!(
            "xtask: cargo-mutants is not installed (`cargo install cargo-mutants --locked`): only our own faults"
        );
    }
    try_changed(&faults, cargo_mutants.workshop(), root, clock)
}

fn try_changed(faults: &[ListedFault], workshop: &Workshop, root: &Path, clock: Clock) -> Result<TaskOutcome> {
    let lines = one_build::source_lines(root, faults)?;
    let outcome = one_build::staged(faults, &lines, &Staged { workshop, root, clock, profile: PROFILE, alone: false });
    // A program with faults stands where users look for theirs: cargo puts that back when it builds next.
    let _ = fs::remove_file(run::released(root));
    outcome
}

/// cargo-mutants, and the copy of the sources for it.
#[derive(Clone)]
pub(super) struct CargoMutants {
    workshop: Workshop,
    /// The lines that the faults are limited to.
    diff: Option<PathBuf>,
    /// The crates that they are limited to.
    crates: Vec<&'static str>,
}

impl CargoMutants {
    fn new(root: &Path, since: Option<&str>, crates: &[&'static str]) -> Result<Self> {
        let workshop = Workshop::open(root)?;
        let of_change = |revision: &str| -> Result<PathBuf> {
            let path = workshop.build().with_extension("diff");
            let diff = git(root, &["diff", revision, "--", "crates"])?;
            fs::write(&path, diff + "\n").with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        let diff = since.map(of_change).transpose()?;
        Ok(Self { workshop, diff, crates: crates.to_vec() })
    }

    /// Returns the copy of the sources.
    pub(super) fn workshop(&self) -> &Workshop {
        &self.workshop
    }

    fn command(&self, crates: &[&str]) -> Command {
        let source = self.workshop.source();
        let mut command = cargo(source, &["mutants", "--in-place", "--colors=never", "--no-shuffle", "--dir"]);
        command.arg(source).args(crates.iter().map(|name| format!("--package=octopus-{name}")));
        if let Some(diff) = &self.diff {
            command.arg("--in-diff").arg(diff);
        }
        command.env("CARGO_TARGET_DIR", self.workshop.build()).env("CARGO_INCREMENTAL", "1");
        command
    }

    /// Returns all faults of the seven crates as JSON, also those outside the changed lines.
    ///
    /// # Errors
    /// When cargo-mutants fails.
    pub(super) fn list(&self) -> Result<String> {
        let all = Self { diff: None, ..self.clone() };
        run::output(all.command(&CRATES).args(["--list", "--json"]))
    }

    /// Returns the faults of the changed lines as JSON.
    ///
    /// # Errors
    /// When cargo-mutants fails.
    pub(super) fn list_changed(&self) -> Result<String> {
        run::output(self.command(&self.crates).args(["--list", "--json"])).map(list_or_none)
    }

    /// Puts in all faults but those of these names.
    ///
    /// # Errors
    /// When cargo-mutants fails, or the tests fail without any fault.
    pub(super) fn put_in_all_but<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<TaskOutcome> {
        // They are said to be caught. Not `--re` with the names of the others: cargo-mutants 27 puts in the faults of
        // fields all the same.
        let folder = self.outcomes_folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("previously_caught.txt");
        let lines: String = names.map(|name| format!("{name}\n")).collect();
        fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
        let mut command = self.command(&self.crates);
        command.arg("--iterate");
        self.finish(command)
    }

    fn finish(&self, mut command: Command) -> Result<TaskOutcome> {
        command.arg("--output").arg(self.workshop.build());
        match run::status(&mut command)?.code() {
            Some(0) => Ok(TaskOutcome::Passed),
            // Faults that no test noticed.
            Some(2) if self.only_equivalent_missed()? => Ok(TaskOutcome::Passed),
            // The same, or those that tests could not end with.
            Some(2 | 3) => Ok(TaskOutcome::Failed(1)),
            code => bail!("cargo-mutants ended with {code:?}"),
        }
    }

    /// Returns whether all that was missed stands in the list of equivalent faults.
    fn only_equivalent_missed(&self) -> Result<bool> {
        let missed = self.outcomes("missed.txt")?;
        one_build::all_are_equivalent(self, &missed)
    }

    fn outcomes_folder(&self) -> PathBuf {
        self.workshop.build().join("mutants.out")
    }

    /// Returns the names in one of the lists that cargo-mutants leaves behind, such as `missed.txt`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn outcomes(&self, list: &str) -> Result<Vec<String>> {
        let path = self.outcomes_folder().join(list);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// Returns what cargo-mutants has listed; an empty list where it printed nothing, as for a change outside the crates.
fn list_or_none(listed: String) -> String {
    if listed.is_empty() { "[]".to_owned() } else { listed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fault_is_an_empty_list() {
        assert_eq!([String::new(), "[1]".to_owned()].map(list_or_none), ["[]", "[1]"]);
    }

    #[test]
    fn options_are_read() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            GeneratedOptions::parse("--wiring", &CRATES, &words).map_err(|error| error.to_string())
        };
        let all = || parse(&[]).unwrap();
        assert_eq!(all().crates, CRATES);
        let found = parse(&["--since", "main", "--minutes", "9"]).unwrap();
        assert_eq!(found, GeneratedOptions { since: Some("main".into()), minutes: Some(9), ..all() });
        assert_eq!(parse(&["--part", "2/9"]).unwrap().part, Some((2, 9)));
        let found = parse(&["--crates", "runs,cli", "--minutes", "90", "--files", "a.rs,plot/"]).unwrap();
        let expected = GeneratedOptions {
            crates: vec!["runs", "cli"],
            files: vec!["a.rs".to_owned(), "plot/".to_owned()],
            minutes: Some(90),
            ..all()
        };
        assert_eq!(found, expected);
        for (words, said) in [
            (&["--part", "0/3"][..], "--part 0/3"),
            (&["--part", "4/3"], "--part 4/3"),
            (&["--since"], "--since needs a value"),
            (&["--all"], "\"--all\""),
            (&["--crates", "runs,cuda"], "--crates cuda: the crates are cli, report, diag"),
            (&["--minutes", "soon"], "--minutes soon"),
            (&["--part", "1/2", "--since", "main"], "without --since"),
            (&["--files", "a.rs", "--since", "main"], "--files and --part go without --since"),
        ] {
            assert!(parse(words).unwrap_err().contains(said), "{words:?}");
        }
    }
}
