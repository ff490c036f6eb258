//! `cargo xtask nightly`: what takes too long for every change, and must hold all the same.
//!
//! It runs the tests that are ignored although they judge something, the whole of `interpret`, hostile command lines,
//! damaged Stan programs, the examples in workspaces of their own, and the benchmarks and their suites, whose times are held
//! against the last good night's. Then come the deliberate faults: ours in the sources and in the committed PTX, a part of our own
//! kinds, and cargo-mutants' where it is installed.
//! `cargo xtask tidy` checks that each ignored test is known here.

use crate::bench::{self, BenchOptions};
use crate::hostile::{self, HostileOptions};
use crate::run::{self, PROFILE, TaskOutcome, cargo, cargo_has, check_failed};
use crate::suites::{self, SuiteOptions};
use crate::{interpret, mutants, outside};
use anyhow::Result;
use std::path::Path;

/// The file in the target folder that keeps the times of the benchmarks; who accepts slower ones removes it.
const TIMES: &str = "nightly-times.json";

/// The tests that are ignored because they take minutes.
pub(crate) const LONG: [&str; 5] = [
    "every_seed",
    "many_chains_of_many_groups",
    "a_late_device_of_a_hundred_seeds",
    "kills_at_every_operation",
    "mutations_of_a_night",
];

/// What the fuzzer of Stan programs is started with: its seeds, then ten minutes in 2 GiB of memory.
const FUZZ: [&str; 10] = [
    "fuzz",
    "run",
    "stan",
    "--sanitizer=none",
    "corpus/stan",
    "../crates/stan/tests/programs",
    "--",
    "-max_total_time=600",
    "-rss_limit_mb=2048",
    "-timeout=20",
];

/// The parts that our own kinds of faults are tried in, one a night.
const PARTS: u64 = 8;

/// Runs the long tests, the PTX and the benchmarks, then puts in every deliberate fault.
///
/// # Errors
/// When cargo cannot be started, or the faults cannot be put in.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    let filter = LONG.map(|name| format!("test(/{name}$/)")).join(" + ");
    let mut tests = cargo(root, &["nextest", "run", "--workspace", "--cargo-profile", PROFILE, "--no-fail-fast"]);
    tests.args(["--run-ignored", "only", "--filterset", &filter]);
    let generated = || {
        if cargo_has(root, "mutants") {
            return mutants::run(root, &["--wiring".to_owned()]);
        }
        eprintln!("xtask: SKIPPED: cargo-mutants is not installed (`cargo install cargo-mutants --locked`)");
        Ok(TaskOutcome::Passed)
    };
    let fuzzed = || {
        if !cargo_has(root, "fuzz") {
            eprintln!("xtask: SKIPPED: cargo-fuzz is not installed (`cargo install cargo-fuzz --locked`)");
            return Ok(TaskOutcome::Passed);
        }
        let mut fuzzer = cargo(&root.join("fuzz"), &FUZZ);
        // It stands for a nightly compiler.
        fuzzer.env("RUSTC_BOOTSTRAP", "1");
        run::step("fuzzed programs", &mut fuzzer, check_failed)
    };
    let times = BenchOptions::nightly(crate::place::target(root).join(TIMES));
    let outcomes = [
        run::step("long tests", &mut tests, check_failed)?,
        interpret::run(root, true)?,
        hostile::run(root, &HostileOptions::nightly())?,
        fuzzed()?,
        outside::examples(root)?,
        bench::run(root, &times)?,
        suites::run(root, &SuiteOptions::nightly())?,
        mutants::run(root, &[])?,
        mutants::run(root, &["--ptx".to_owned()])?,
        mutants::of_today(root, PARTS)?,
        generated()?,
    ];
    Ok(outcomes.into_iter().find(|outcome| *outcome != TaskOutcome::Passed).unwrap_or(TaskOutcome::Passed))
}
