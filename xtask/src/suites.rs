//! `cargo xtask bench --budget 20m`: the benchmark suites of a night, held against the last good ones of this machine.
//!
//! Results are in `nightly-suites` of the target folder: `kept` has the last good night, `new` the latest.

use crate::place::target;
use crate::run::{self, TaskOutcome, build_octopus, check_failed, released};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Each suite of a night with what is asked of it, the most telling first. A GPU that is not there is a row that says so.
const NIGHTLY: &[(&str, &[&str])] = &[
    ("hierarchical", &["--data-size", "100,1000", "--device", "cpu,cuda:0"]),
    ("eight-schools", &[]),
    ("polynomial-hmc", &["--data-size", "50,1000"]),
    ("polynomial-is", &["--data-size", "50", "--repeats", "30"]),
    ("beta-bernoulli", &[]),
    ("state-space", &[]),
    ("scaling", &["--data-size", "100,1600"]),
    ("arrays", &["--data-size", "262144", "--repeats", "5"]),
    ("random", &["--data-size", "1000000", "--repeats", "3", "--frameworks", "octopus,numpy"]),
    ("diagnostics", &["--data-size", "1000", "--repeats", "3"]),
];

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct SuiteOptions {
    /// No suite begins after so long.
    budget: Duration,
    /// Whether results of another kind of machine are compared, too.
    force: bool,
    /// Whether the suites run with few repetitions, of Octopus alone.
    quick: bool,
}

impl SuiteOptions {
    /// Returns the options of a nightly run.
    pub(crate) fn nightly() -> Self {
        Self { budget: Duration::from_secs(20 * 60), force: false, quick: false }
    }

    /// Reads the arguments after `bench`.
    ///
    /// # Errors
    /// An unknown option, or a budget that is no time.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::nightly();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--budget" => {
                    let text = arguments.next().ok_or("--budget needs a value")?;
                    options.budget =
                        minutes(text).ok_or_else(|| format!("--budget {text}: write minutes, such as 20m"))?;
                }
                "--force" => options.force = true,
                "--quick" => options.quick = true,
                other => return Err(format!("bench --budget has no option {other}")),
            }
        }
        Ok(options)
    }
}

/// Reads `20m` or `20`.
fn minutes(text: &str) -> Option<Duration> {
    let number: u32 = text.strip_suffix('m').unwrap_or(text).parse().ok()?;
    (number > 0).then(|| Duration::from_secs(60 * u64::from(number)))
}

/// Runs the suites and compares them. A suite that became slower stays compared with the times before it.
///
/// # Errors
/// When a program cannot be started, or a folder not be moved.
pub(crate) fn run(root: &Path, options: &SuiteOptions) -> Result<TaskOutcome> {
    if !build_octopus(root)? {
        return Ok(TaskOutcome::Failed(1));
    }
    let folder = target(root).join("nightly-suites");
    let began = Instant::now();
    let mut worst = TaskOutcome::Passed;
    for (suite, arguments) in NIGHTLY {
        if began.elapsed() > options.budget {
            eprintln!("xtask: SKIPPED: {suite}: the budget is spent");
            continue;
        }
        let (new, kept) = (folder.join("new").join(suite), folder.join("kept").join(suite));
        remove(&new)?;
        let mut run = Command::new(released(root));
        run.current_dir(root).args(["bench", "run", suite]).args(*arguments).arg("--out").arg(&new);
        if options.quick {
            run.args(["--frameworks", "octopus", "--repeats", "3"]);
        }
        let mut outcome = run::step(suite, &mut run, check_failed)?;
        if outcome == TaskOutcome::Passed && kept.is_dir() {
            let mut compare = Command::new(released(root));
            compare.current_dir(root).args(["bench", "compare"]).arg(&kept).arg(&new);
            if options.force {
                compare.arg("--force");
            }
            outcome = run::step(&format!("{suite} against the last good night"), &mut compare, check_failed)?;
        }
        if outcome == TaskOutcome::Passed {
            remove(&kept)?;
            fs::create_dir_all(folder.join("kept")).context("cannot make the folder of kept results")?;
            fs::rename(&new, &kept).with_context(|| format!("cannot move {}", new.display()))?;
        } else {
            worst = outcome;
        }
    }
    Ok(worst)
}

fn remove(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<SuiteOptions, String> {
        SuiteOptions::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_budget_is_minutes() {
        assert_eq!(parse("").unwrap(), SuiteOptions::nightly());
        let options = parse("--budget 5m --force").unwrap();
        assert_eq!((options.budget, options.force, options.quick), (Duration::from_secs(300), true, false));
        assert_eq!(parse("--budget 7").unwrap().budget, Duration::from_secs(420));
        for wrong in ["0m", "-1", "1h", "soon"] {
            assert!(parse(&format!("--budget {wrong}")).unwrap_err().contains("write minutes"), "{wrong}");
        }
        assert_eq!(parse("--budget").unwrap_err(), "--budget needs a value");
        assert_eq!(parse("--fast").unwrap_err(), "bench --budget has no option --fast");
    }
}
