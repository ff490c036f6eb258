//! `cargo xtask bench`: the criterion benchmarks, whose times can be kept and held against kept ones.

mod kept;

use crate::run::{self, TaskOutcome, cargo};
use anyhow::{Context, Result, bail};
use kept::KeptTimes;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A benchmark is slower than a kept one when its median is so many times the kept median, and the intervals of both
/// medians do not meet.
const LIMIT: f64 = 1.1;

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct BenchOptions {
    /// The file that keeps the times.
    keep: Option<PathBuf>,
    /// The kept file that they are held against.
    against: Option<PathBuf>,
    limit: f64,
    /// Arguments of criterion: a filter, `--quick`, `--save-baseline NAME`.
    criterion: Vec<String>,
}

impl BenchOptions {
    /// Returns the options of a nightly run: times are held against those of the last good night, and kept for the next if
    /// none is slower.
    pub(crate) fn nightly(file: PathBuf) -> Self {
        let against = file.is_file().then(|| file.clone());
        Self { keep: Some(file), against, limit: LIMIT, criterion: Vec::new() }
    }

    /// Reads the arguments after `bench`; those that are not known go to criterion.
    ///
    /// # Errors
    /// An option without its value, or a limit that is no ratio.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { keep: None, against: None, limit: LIMIT, criterion: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--keep" => options.keep = Some(value()?.into()),
                "--against" => options.against = Some(value()?.into()),
                "--limit" => {
                    let text = value()?;
                    let ratio = text.parse().ok().filter(|ratio: &f64| ratio.is_finite() && *ratio >= 1.0);
                    options.limit = ratio.ok_or_else(|| format!("--limit {text}: a ratio of at least 1 is needed"))?;
                }
                _ => options.criterion.push(argument.clone()),
            }
        }
        Ok(options)
    }
}

/// Runs the benchmarks, keeps their times and compares them, as asked. It fails when one is slower than it was.
///
/// # Errors
/// When cargo cannot be started, or a file cannot be read or written.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<TaskOutcome> {
    // Read first: the same file may be written afterwards.
    let earlier = options.against.as_deref().map(KeptTimes::read).transpose()?;
    let start = SystemTime::now();
    // Benchmark targets by name: the library's own empty harness does not know criterion's flags.
    let mut command = cargo(root, &["bench", "--package", "octopus-benchmarks", "--bench", "*", "--"]);
    let outcome = run::step("bench", command.args(&options.criterion), run::check_failed)?;
    if outcome != TaskOutcome::Passed || (options.keep.is_none() && earlier.is_none()) {
        return Ok(outcome);
    }
    let times = KeptTimes::of_criterion(root, start).context("cannot read what criterion has measured")?;
    if times.benchmarks.is_empty() {
        bail!("criterion has measured nothing: does the filter fit a benchmark?");
    }
    let comparison = earlier.map(|earlier| times.against(&earlier, options.limit));
    // A slower run must not become what the next one is held against: the slowness would be told once, and then be the rule.
    let is_slower = comparison.as_ref().is_some_and(|comparison| comparison.slower > 0);
    if let Some(file) = options.keep.as_ref().filter(|_| options.keep != options.against || !is_slower) {
        times.write(file)?;
        eprintln!("xtask: the times of {} benchmarks are in {}", times.benchmarks.len(), file.display());
    }
    comparison.iter().for_each(|comparison| print!("{}", comparison.text));
    Ok(if is_slower { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<BenchOptions, String> {
        BenchOptions::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_not_known_goes_to_criterion() {
        let options = parse("loo --keep new.json --quick --against old.json --limit 1.25").unwrap();
        assert_eq!(options.criterion, ["loo", "--quick"]);
        let files = [options.keep, options.against].map(Option::unwrap);
        assert_eq!((files, options.limit), (["new.json", "old.json"].map(PathBuf::from), 1.25));
        assert_eq!(parse("").unwrap(), BenchOptions { keep: None, against: None, limit: 1.1, criterion: vec![] });
    }

    #[test]
    fn a_night_is_held_against_the_one_before() {
        let file = std::env::temp_dir().join(format!("octopus-night-{}.json", std::process::id()));
        let first = BenchOptions::nightly(file.clone());
        assert_eq!((&first.keep, &first.against), (&Some(file.clone()), &None));
        std::fs::write(&file, "").unwrap();
        assert_eq!(BenchOptions::nightly(file.clone()).against, Some(file.clone()));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn values_are_needed_and_limits_are_ratios() {
        assert_eq!(parse("--keep").unwrap_err(), "--keep needs a value");
        assert_eq!(parse("--against").unwrap_err(), "--against needs a value");
        for wrong in ["0.99", "nan", "inf", "ten"] {
            let error = parse(&format!("--limit {wrong}")).unwrap_err();
            assert_eq!(error, format!("--limit {wrong}: a ratio of at least 1 is needed"));
        }
        assert_eq!(parse("--limit 1").unwrap().limit, 1.0);
    }
}
