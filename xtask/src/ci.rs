//! `cargo xtask ci`: everything that must pass before a change lands, in the order of what fails fastest.
//!
//! The list of steps stands here.

use crate::aligned::aligned;
use crate::place::target;
use crate::run::{self, PROFILE, TaskOutcome, cargo, cargo_has};
use crate::{frameworks, interpret, mutants, outside, ptx, rehearse, test, tidy, validate};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// One step: its name and what it does.
type Step = (&'static str, fn(&Path) -> Result<TaskOutcome>);

const STEPS: [Step; 14] = [
    ("format", format),
    ("clippy", clippy),
    ("test", |root| test::run(root, &test::TestOptions::default())),
    ("docs", docs),
    ("tidy", tidy::run),
    ("deny", deny),
    ("machete", machete),
    ("ptx", ptx::step),
    ("outside", outside::run),
    ("validate", quick_validation),
    // With the binary that the tests have built, as `validate`.
    ("rehearse", rehearse::run),
    ("frameworks", frameworks::step),
    ("interpret", |root| interpret::run(root, false)),
    // Last: what it builds takes the place of the program that the tests have built.
    ("mutants of the change", mutants::of_change),
];

/// Runs every step, also after a failure, and ends with what took how long.
///
/// # Errors
/// When a step cannot be run at all.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    let start = Instant::now();
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        eprintln!("\nxtask: === {name} ===");
        let begun = Instant::now();
        // A step that cannot run is a failed step: the others still have something to say.
        let outcome = step(root).unwrap_or_else(|error| {
            eprintln!("xtask: {name}: {error:#}");
            TaskOutcome::Failed(3)
        });
        let word = if outcome == TaskOutcome::Passed { "ok" } else { "FAILED" };
        lines.push([name, word, &format!("{:.1} s", begun.elapsed().as_secs_f64())].map(str::to_owned).into());
        if outcome != TaskOutcome::Passed {
            failed.push(name);
        }
    }
    eprintln!("\nxtask: ci took {:.1} s\n{}", start.elapsed().as_secs_f64(), aligned(2, lines));
    if failed.is_empty() {
        eprintln!("xtask: every step is ok");
        return Ok(TaskOutcome::Passed);
    }
    eprintln!("xtask: FAILED: {}", failed.join(", "));
    Ok(TaskOutcome::Failed(1))
}

fn format(root: &Path) -> Result<TaskOutcome> {
    run::step("format", &mut cargo(root, &["fmt", "--all", "--check"]), run::check_failed)
}

fn clippy(root: &Path) -> Result<TaskOutcome> {
    // In the profile of the tests, so that build scripts and macros are built once for both.
    let words = ["clippy", "--workspace", "--all-targets", "--profile", PROFILE, "--", "-D", "warnings"];
    run::step("clippy", &mut cargo(root, &words), run::check_failed)
}

fn docs(root: &Path) -> Result<TaskOutcome> {
    let mut docs = cargo(root, &["doc", "--workspace", "--no-deps", "--profile", PROFILE]);
    run::step("docs", docs.env("RUSTDOCFLAGS", "-D warnings"), run::check_failed)
}

fn deny(root: &Path) -> Result<TaskOutcome> {
    // Advisories need a database from the network: `cargo deny check` by hand has them too.
    optional(root, "deny", &["deny", "check", "licenses", "bans", "sources"])
}

fn machete(root: &Path) -> Result<TaskOutcome> {
    optional(root, "machete", &["machete"])
}

/// Does a step of a tool that need not be there.
fn optional(root: &Path, tool: &str, words: &[&str]) -> Result<TaskOutcome> {
    if !cargo_has(root, tool) {
        eprintln!("xtask: SKIPPED: cargo-{tool} is not installed (`cargo install cargo-{tool} --locked`)");
        return Ok(TaskOutcome::Passed);
    }
    run::step(tool, &mut cargo(root, words), run::check_failed)
}

fn quick_validation(root: &Path) -> Result<TaskOutcome> {
    let out = target(root).join("ci-phase0");
    // Octopus does not overwrite what it finds.
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    validate::step(root, &["--quick".into(), "--out".into(), out.to_string_lossy().into_owned()])
}
