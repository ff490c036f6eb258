//! `octopus calibrate`: verdicts and their exit codes, and a calibration that goes on where it was left.

use crate::support::{program, run};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SMALL: &str = "calibrate hierarchical-normal --group-sizes 3,4,5 --mu-mean 3 --mu-sd 2 --sigma-pop-scale 1.5 \
                     --sigma-obs-scale 1 --chains 2 --draws 60 --tune 80 --quiet --json";

fn file(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn ranks_in_one_go_or_two_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let small = |rest: &str| run(dir.path(), &format!("{SMALL} {rest}"));
    let whole = small("--datasets 60 --threads 1 --out {}/whole").succeeds().json();
    assert_eq!((&whole["calibrated"], &whole["ranks"]["data_sets"]), (&true.into(), &60.into()));
    assert_eq!(whole["ranks"]["quantities"].as_array().unwrap().len(), 11);
    assert!(whole["self_check"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{whole}");
    for name in ["settings.json", "ranks.csv", "calibration.json", "rank_ecdf.png", "rank_histogram.png"] {
        assert!(fs::metadata(dir.path().join("whole").join(name)).unwrap().len() > 100, "{name}");
    }
    assert_eq!(file(dir.path(), "whole/ranks.csv").lines().count(), 61);
    assert!(!dir.path().join("whole/ranks").exists(), "parts have become one file");

    small("--datasets 25 --threads 2 --out {}/parts").succeeds();
    small("--datasets 60 --threads 2 --out {}/parts --format svg").succeeds();
    for name in ["ranks.csv", "calibration.json"] {
        assert_eq!(file(dir.path(), &format!("parts/{name}")), file(dir.path(), &format!("whole/{name}")), "{name}");
    }
    assert!(dir.path().join("parts/rank_ecdf.svg").exists());

    small("--datasets 60 --seed 5 --out {}/parts").fails(2, &["other settings", "--force"]);
    small("--datasets 20 --seed 5 --out {}/parts --force").succeeds();
    assert_eq!(file(dir.path(), "parts/ranks.csv").lines().count(), 21);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_data_sets_and_the_same_command_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let long = "calibrate hierarchical-normal --groups 30 --per-group 5 --datasets 150 --chains 4 --draws 150 --tune 150 \
                --quiet --out";
    let command = |name: &str| {
        let mut command = Command::new(program());
        command.args(long.split_whitespace()).arg(dir.path().join(name)).stdout(Stdio::null());
        command
    };
    let begin = Instant::now();
    assert!(command("whole").status().unwrap().success());
    let whole = begin.elapsed();
    // At once when another process has the cores: later then.
    let mut wait = whole / 3;
    loop {
        let mut child = command("run").stderr(Stdio::null()).spawn().unwrap();
        sleep(wait);
        let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let ended = child.wait().unwrap();
        if signalled.success() && ended.code() == Some(130) && dir.path().join("run/ranks/part-00000.csv").exists() {
            break;
        }
        assert!(wait > Duration::from_millis(5) && wait < 20 * whole, "no interruption was in time: {ended:?}");
        wait = if ended.code() == Some(0) { wait / 2 } else { wait * 2 };
        fs::remove_dir_all(dir.path().join("run")).unwrap();
    }
    assert!(!dir.path().join("run/calibration.json").exists(), "there is no verdict yet");
    assert!(command("run").status().unwrap().success());
    for name in ["ranks.csv", "calibration.json"] {
        assert_eq!(file(dir.path(), &format!("run/{name}")), file(dir.path(), &format!("whole/{name}")), "{name}");
    }
}

#[test]
fn geweke_needs_draws_to_decide() {
    let dir = tempfile::tempdir().unwrap();
    let few = run(
        dir.path(),
        "calibrate hierarchical-normal --geweke --groups 5 --per-group 20 --sequences 8 --steps 4 --out {}/few",
    );
    few.fails(1, &["8 sequences of 4 steps of hierarchical-normal"]);
    assert!(few.stdout.contains("NOT DECIDED") && few.stdout.contains("log sigma_obs^2"), "{few:?}");
    let result: serde_json::Value = serde_json::from_str(&file(dir.path(), "few/calibration.json")).unwrap();
    assert_eq!((&result["calibrated"], &result["geweke"]["decided"]), (&false.into(), &false.into()));
    assert!(dir.path().join("few/geweke_moments.png").exists());
}

#[test]
fn options_without_sense_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for (words, said) in [
        ("eight-schools --mu-sd 3", "hierarchical-normal's"),
        ("hierarchical-normal --group-sizes 3,0", "one observation"),
        ("hierarchical-normal --kept 5000", "--kept 5000: at least 1 and at most the 1600 draws"),
        ("hierarchical-normal --false-alarm 2", "--false-alarm 2"),
        ("hierarchical-normal --precision f32", "--precision f32"),
        ("hierarchical-normal --geweke --sequences 2", "--sequences 2: at least 8"),
        ("hierarchical-normal --draws 0", "--draws 0"),
    ] {
        run(dir.path(), &format!("calibrate {words} --out {{}}/x")).fails(2, &[said]);
    }
}
