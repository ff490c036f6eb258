//! `cargo xtask interpret`: the committed PTX, run by the interpreter as a GPU's driver would get it.
//!
//! Every kernel and the recorded runs must give the CPU's bits in lock-step, in random orders of lanes, warps and
//! blocks, and with all checks, which must find nothing.

use crate::aligned::aligned;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, bail};
use octopus_softgpu::{Lanes, Settings, SoftwareGpu};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The random orders of `--whole`.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// The random order of CI.
const SEED: u64 = 1;

/// What is run of the program, and how the interpreter runs it.
struct Case {
    name: String,
    words: Vec<OsString>,
    settings: Settings,
}

/// Runs the small cases, or with `--whole` all.
///
/// # Errors
/// When there are other arguments, or the program or the software GPU cannot be built or started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<TaskOutcome> {
    match arguments {
        [] => {}
        [one] if one == "--whole" => {}
        _ => bail!("`cargo xtask interpret` knows --whole only, not `{}`", arguments.join(" ")),
    }
    if !run::build_tested(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    step(root, !arguments.is_empty())
}

/// The step of CI: the small cases, with the program that the tests have built.
///
/// # Errors
/// When it or the software GPU cannot be started.
pub(crate) fn small(root: &Path) -> Result<TaskOutcome> {
    step(root, false)
}

fn step(root: &Path, whole: bool) -> Result<TaskOutcome> {
    run::timed("interpret", || {
        let gpu = match SoftwareGpu::build().and_then(|gpu| gpu.with_sampler(Lanes::Ptx, &[""; 0])) {
            Err(unavailable) if unavailable.is_absence() => {
                eprintln!("xtask: interpret: SKIPPED: {unavailable}");
                return Ok(TaskOutcome::Passed);
            }
            gpu => gpu?,
        };
        let scratch = tempfile::tempdir().context("cannot make a folder")?;
        let mut cases = cases(root, scratch.path(), false);
        if whole {
            cases.extend(self::cases(root, scratch.path(), true));
        }
        let failed = AtomicUsize::new(0);
        let lines = Mutex::new(Vec::new());
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let begun = Instant::now();
                let output = output(root, &gpu, case)?;
                let word = if output.status.success() { "ok" } else { "FAILED" };
                if !output.status.success() {
                    failed.fetch_add(1, Ordering::Relaxed);
                    let said = String::from_utf8_lossy(&output.stderr);
                    eprintln!("xtask: {}: {}\n{said}", case.name, output.status);
                }
                let line = [&case.name, word, &format!("{:.1} s", begun.elapsed().as_secs_f64())].map(String::from);
                lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line.into());
            }
            Ok(())
        };
        // Two at a time: each is one thread, but for the CPU's runs.
        std::thread::scope(|scope| {
            let other = scope.spawn(work);
            let own = work();
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(own)
        })?;
        let lines = lines.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        eprintln!("{}", aligned(2, lines));
        let failed = failed.into_inner();
        eprintln!("xtask: {} of {} cases give the CPU's bits, and nothing was found", cases.len() - failed, cases.len());
        Ok(if failed == 0 { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
    })
}

/// The cases, those that take longest first. `long` are those of `--whole` alone.
fn cases(root: &Path, scratch: &Path, long: bool) -> Vec<Case> {
    let expected = root.join("kernels/expected-runs.json");
    let small = || words(&["device", "exact", "--runs", "--small", "--expected"]).with(&expected);
    let arrays = || words(&["device", "exact"]);
    let checked = || Settings::new().checked();
    let sample = |name: &str, more: &[&str]| {
        let fixed = ["sample", "hierarchical-normal", "--device", "cuda", "--quiet", "--out"];
        words(&fixed).with(&scratch.join(name)).and(more)
    };
    let case = |name: &str, words: Words, settings: Settings| Case { name: name.to_owned(), words: words.0, settings };
    if !long {
        return vec![
            case("small runs, checked", small(), checked()),
            case(&format!("small runs, order {SEED}"), small(), Settings::new().order(SEED)),
            case("small runs, in lock-step", small(), Settings::new()),
            case("arrays, checked", arrays(), checked()),
            case(&format!("arrays, order {SEED}"), arrays(), Settings::new().order(SEED)),
            case("arrays, in lock-step", arrays(), Settings::new()),
        ];
    }
    let all = words(&["device", "exact", "--runs", "--expected"]).with(&expected);
    let mut cases = vec![
        case("all runs, in lock-step", all, Settings::new()),
        case("a PRD run, checked", sample("prd", &["--draws", "500", "--tune", "250"]), checked()),
        case("many short chains, checked", sample("short", &["--strategy", "many-short", "--chains", "64"]), checked()),
        case("verify, checked", words(&["verify"]), checked()),
    ];
    cases.extend(
        SEEDS.skip(1).map(|seed| case(&format!("small runs, order {seed}"), small(), Settings::new().order(seed))),
    );
    cases
}

/// Words of a command.
struct Words(Vec<OsString>);

fn words(words: &[&str]) -> Words {
    Words(words.iter().map(OsString::from).collect())
}

impl Words {
    fn with(mut self, path: &Path) -> Self {
        self.0.push(path.into());
        self
    }

    fn and(mut self, words: &[&str]) -> Self {
        self.0.extend(words.iter().map(OsString::from));
        self
    }
}

fn output(root: &Path, gpu: &SoftwareGpu, case: &Case) -> Result<Output> {
    let mut octopus = Command::new(run::tested(root));
    octopus.args(&case.words);
    gpu.command(&mut octopus, &case.settings);
    octopus.output().with_context(|| format!("cannot start {}", octopus.get_program().display()))
}
