//! The lines that tell how far a command has come: every ten seconds where stderr is no terminal, never with `--quiet`.
//!
//! `lines/clock.c` is a clock by which ten seconds have passed at each look.

use crate::support::{Answer, answer, octopus, run, stop};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clock, compiled; `None`, with a word about it, where it cannot be.
fn clock(dir: &Path) -> Option<PathBuf> {
    let skipped = |why: &str| {
        eprintln!("SKIPPED: lines of progress: {why}");
        None
    };
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return skipped("the clock is of Linux with glibc");
    }
    let (source, path) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/lines/clock.c"), dir.join("clock.so"));
    let compiled =
        Command::new("gcc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&path).arg(source).arg("-ldl").status();
    if compiled.is_ok_and(|status| status.success()) { Some(path) } else { skipped("no gcc here") }
}

const SAMPLE: &str = "sample eight-schools --chains 2 --draws 2 --tune 2 --device cpu --out {}/run --force";
const BATCH: &str = "sample hierarchical-normal --batch {}/in --group g --value y --chains 2 --draws 2 --tune 2 \
                     --device cpu --out {}/out --force";
const CALIBRATE: &str = "calibrate eight-schools --datasets 2 --chains 2 --draws 2 --tune 2 --kept 2 --device cpu \
                         --format svg --out {}/ranks --force";

/// Runs a command by the clock that runs ahead.
fn ahead(clock: &Path, dir: &Path, words: &str) -> Answer {
    let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    let found = answer(octopus().env("LD_PRELOAD", clock).args(words));
    assert!(matches!(found.code, Some(0 | 1)), "{found:#?}");
    found
}

#[test]
fn lines_of_progress_come_in_time_and_never_with_quiet() {
    let dir = tempfile::tempdir().unwrap();
    let Some(clock) = clock(dir.path()) else { return };
    fs::create_dir(dir.path().join("in")).unwrap();
    fs::write(dir.path().join("in/one.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    run(dir.path(), &format!("{SAMPLE} --quiet")).sampled();
    for (words, line) in [
        ("resume {}/run", "/4: 2 chains, "),
        (SAMPLE, "/4: 2 chains, "),
        (BATCH, " of 1 data sets have ended"),
        (CALIBRATE, "/2 data sets, "),
        ("sweep eight-schools --seeds 2 --chains 2 --draws 4 --tune 4", "/2 runs, "),
        ("random normal --n 300000 --memory 1MiB --threads 1 --force --out {}/a.npy", " % of 300000 draws, "),
    ] {
        stop(&dir.path().join("run"));
        let told = ahead(&clock, dir.path(), words).stderr;
        // After the first line come others.
        assert!(told.matches(line).count() > 1, "{words}: {told}");
        stop(&dir.path().join("run"));
        let told = ahead(&clock, dir.path(), &format!("{words} --quiet")).stderr;
        assert!(!told.contains(line), "{words}: {told}");
    }
}

#[test]
fn a_validation_tells_of_its_run_unless_quiet() {
    let dir = tempfile::tempdir().unwrap();
    let Some(clock) = clock(dir.path()) else { return };
    for (quiet, least) in [("", 2), ("--quiet", 0)] {
        let words = format!("validate eight-schools --quick --stages compare --device cpu --out {{}}/report {quiet}");
        let told = ahead(&clock, dir.path(), &words).stderr;
        let lines = told.matches(": 4 chains, ").count();
        assert!(lines >= least && (lines > 0) == (least > 0), "{told}");
    }
}
