//! `cargo xtask test`: every test of the workspace.

use crate::run::{self, PROFILE, TaskOutcome, cargo, cargo_has};
use crate::{chromium, skipped, venv};
use anyhow::Result;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;

/// What the user asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Make no Python environment; tests that need one skip themselves aloud.
    pub(crate) no_python: bool,
    /// Tests for which any GPU will do run on this machine's instead of the software GPU.
    pub(crate) gpu: bool,
    /// Names, or parts of names, of the tests to run; all when empty.
    pub(crate) filters: Vec<String>,
}

impl TestOptions {
    /// Reads the arguments after `test`.
    ///
    /// # Errors
    /// A flag that is not known.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--no-python" => options.no_python = true,
                "--gpu" => options.gpu = true,
                flag if flag.starts_with('-') => return Err(format!("test does not know {flag:?}")),
                filter => options.filters.push(filter.to_owned()),
            }
        }
        Ok(options)
    }
}

/// Runs the tests.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn run(root: &Path, options: &TestOptions) -> Result<TaskOutcome> {
    let nextest = cargo_has(root, "nextest");
    let (name, mut tests) = if nextest {
        let mut tests = cargo(root, &["nextest", "run", "--workspace", "--cargo-profile", PROFILE, "--no-fail-fast"]);
        tests.args(["--test-threads", &test_threads().to_string()]);
        tests.args(&options.filters);
        ("tests", tests)
    } else {
        eprintln!("xtask: cargo-nextest is not installed (`cargo install cargo-nextest --locked`): using `cargo test`");
        let mut tests =
            cargo(root, &["test", "--workspace", "--profile", PROFILE, "--no-fail-fast", "--", "--show-output"]);
        tests.args(&options.filters);
        ("tests and doctests", tests)
    };
    // Environments wait for the network, and the compiler does not.
    let (built, pythons) = thread::scope(|scope| {
        let environments = scope.spawn(|| prepare(root, options));
        let mut build = cargo(root, &["test", "--workspace", "--profile", PROFILE, "--no-run"]);
        let built = run::step("building the tests", &mut build, |_| NOT_BUILT);
        (built, environments.join().unwrap_or_default())
    });
    let mut outcomes = vec![built?];
    if outcomes != [TaskOutcome::Passed] {
        return Ok(TaskOutcome::Failed(NOT_BUILT));
    }
    match gpus(root) {
        Ok(found) if options.gpu => tests.env("OCTOPUS_TEST_GPU", found),
        Err(why) if options.gpu => {
            eprintln!("xtask: --gpu: {why}; without --gpu a software GPU takes its place");
            return Ok(TaskOutcome::Failed(NOT_BUILT));
        }
        Ok(found) => {
            eprintln!("xtask: {found} is not tested: `cargo xtask test --gpu` does");
            &mut tests
        }
        Err(_) => &mut tests,
    };
    tests.envs(pythons);
    skipped::forget(root);
    outcomes.push(run::step(name, &mut tests, test_code)?);
    if nextest {
        skipped::announce(root);
    }
    // `cargo test` has run the doctests already; a filter names tests, not doctests.
    if nextest && options.filters.is_empty() {
        let mut doctests = cargo(root, &["test", "--doc", "--workspace", "--profile", PROFILE, "--no-fail-fast"]);
        outcomes.push(run::step("doctests", &mut doctests, test_code)?);
    }
    Ok(outcomes.into_iter().find(|outcome| *outcome != TaskOutcome::Passed).unwrap_or(TaskOutcome::Passed))
}

/// Returns how many tests run side by side: one more than there are cores, since a test waits for the processes that it
/// starts, and the first that need a kernel for the one that compiles it.
fn test_threads() -> usize {
    thread::available_parallelism().map_or(2, |cores| cores.get() + 1)
}

/// Returns the name of this machine's GPU, or why it has none that can be used, by the program that the tests have built.
fn gpus(root: &Path) -> Result<String, String> {
    let listed = run::output(Command::new(run::released(root)).args(["device", "list", "--json"]));
    first_gpu(&listed.map_err(|error| format!("{error:#}"))?)
}

/// Reads what `octopus device list --json` prints.
fn first_gpu(json: &str) -> Result<String, String> {
    let listed: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let device = &listed["devices"][0];
    match (device["name"].as_str(), device["problem"].as_str()) {
        (Some(name), None) => Ok(name.to_owned()),
        (Some(name), Some(problem)) => Err(format!("{name}: {problem}")),
        (None, _) => Err("this machine has no GPU (`octopus verify` says why)".to_owned()),
    }
}

/// Makes what tests use if it is there; returns the environment variables that tell them of it.
fn prepare(root: &Path, options: &TestOptions) -> Vec<(&'static str, OsString)> {
    if options.filters.is_empty() {
        chromium::ensure();
    }
    if options.no_python {
        eprintln!("xtask: --no-python: tests that need ArviZ will be SKIPPED");
        return Vec::new();
    }
    venv::pythons(root)
}

/// The exit code when tests could not be built or found.
const NOT_BUILT: u8 = 3;

/// 1 when tests failed.
fn test_code(status: ExitStatus) -> u8 {
    match status.code() {
        Some(100 | 101) => 1,
        _ => NOT_BUILT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<TestOptions, String> {
        TestOptions::parse(&arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_flags_and_filters() {
        assert_eq!(parse(&[]), Ok(TestOptions::default()));
        let filters = vec!["philox".to_owned(), "rhat".to_owned()];
        assert_eq!(parse(&["philox", "--no-python", "rhat"]), Ok(TestOptions { no_python: true, gpu: false, filters }));
        assert_eq!(parse(&["--gpu"]), Ok(TestOptions { gpu: true, ..TestOptions::default() }));
        assert!(parse(&["--nopython"]).unwrap_err().contains("--nopython"));
    }

    #[test]
    fn the_first_gpu_that_can_be_used_is_named() {
        let of = |devices: &str| first_gpu(&format!("{{\"devices\": {devices}}}"));
        assert_eq!(of(r#"[{"name": "A", "problem": null}, {"name": "B", "problem": null}]"#), Ok("A".to_owned()));
        assert_eq!(of(r#"[{"name": "A", "problem": "busy"}]"#), Err("A: busy".to_owned()));
        assert!(of("[]").unwrap_err().contains("octopus verify"));
        assert!(first_gpu("error").is_err());
    }
}
