//! `octopus calibrate`: verdicts and their exit codes, and a calibration that goes on where it was left.

use crate::double::Double;
use crate::support::{program, run};
use octopus_softgpu::{Lanes, SoftwareGpu};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SMALL: &str = "calibrate hierarchical-normal --group-sizes 3,4,5 --mu-mean 3 --mu-sd 2 --sigma-pop-scale 1.5 \
                     --sigma-obs-scale 1 --chains 2 --draws 60 --tune 80 --quiet --json";

/// The chains among them.
const FEW: &str = "--chains 2 --draws 60";

fn file(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn ranks_in_one_go_or_two_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let small = |rest: &str| run(dir.path(), &format!("{SMALL} {rest}"));
    let first = small("--datasets 60 --threads 1 --out {}/whole");
    assert!(!first.stderr.contains("data sets of"), "{}", first.stderr);
    let whole = first.succeeds().json();
    assert_eq!((&whole["calibrated"], &whole["ranks"]["data_sets"]), (&true.into(), &60.into()));
    assert_eq!(whole["ranks"]["quantities"].as_array().unwrap().len(), 11);
    assert!(whole["self_check"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{whole}");
    for name in ["settings.json", "ranks.csv", "calibration.json", "rank_ecdf.png", "rank_histogram.png"] {
        assert!(fs::metadata(dir.path().join("whole").join(name)).unwrap().len() > 100, "{name}");
    }
    assert_eq!(file(dir.path(), "whole/ranks.csv").lines().count(), 61);
    assert!(!dir.path().join("whole/ranks").exists(), "parts have become one file");

    small("--datasets 25 --threads 2 --out {}/parts").succeeds();
    let loud = SMALL.replace("--quiet --json", "--datasets 60 --threads 2 --out {}/parts --format svg");
    let told = run(dir.path(), &loud).succeeds().stderr.clone();
    assert!(told.contains("60 data sets of ") && told.contains("25 of them are there"), "{told}");
    for name in ["ranks.csv", "calibration.json"] {
        assert_eq!(file(dir.path(), &format!("parts/{name}")), file(dir.path(), &format!("whole/{name}")), "{name}");
    }
    assert!(dir.path().join("parts/rank_ecdf.svg").exists());

    small("--datasets 60 --seed 5 --out {}/parts").fails(2, &["other settings", "--force"]);
    small("--datasets 20 --seed 5 --out {}/parts --force").succeeds();
    assert_eq!(file(dir.path(), "parts/ranks.csv").lines().count(), 21);
}

#[test]
fn many_short_chains_are_ranked_and_what_they_share_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let words = format!("{} --strategy many-short --datasets 20 --out {{}}/x", SMALL.replace(FEW, ""));
    let found = run(dir.path(), &words.replace("--json", "")).succeeds().stdout.clone();
    for said in ["63 draws kept of each", "chains that began together: correlation", "nested R-hat above 1.31"] {
        assert!(found.contains(said), "{said}: {found}");
    }
    let ranks = run(dir.path(), &words).succeeds().json()["ranks"].clone();
    assert!(ranks["together"]["correlation"].as_f64().unwrap().abs() < 0.3, "{ranks}");
    assert_eq!((&ranks["kept"], &ranks["independence"]["independent"]), (&63.into(), &true.into()));
}

/// Begun on the one and ended on the other.
#[test]
fn a_gpu_gives_the_ranks_of_the_cpu() {
    let unit = "nuts_batch_hierarchical_normal_f64_32x1";
    let Some(gpu) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &[unit]) else { return };
    let double = Double::of(gpu);
    for chains in [FEW, "--strategy many-short --chains 16 --draws 6"] {
        let small = |rest: &str| {
            let words = format!("{} {rest}", SMALL.replace(FEW, chains));
            double.run(&mut double.octopus(""), &words).succeeds().json()
        };
        small("--force --device cpu --datasets 12 --out {}/cpu");
        small("--force --device cuda --datasets 5 --out {}/both");
        small("--device cpu --datasets 7 --out {}/both");
        let last = small("--device cuda --datasets 12 --out {}/both");
        assert_eq!(last["ranks"]["failed"], 0, "{last}");
        for name in ["ranks.csv", "calibration.json", "settings.json"] {
            let of = |folder: &str| file(&double.scratch(), &format!("{folder}/{name}"));
            assert_eq!(of("both"), of("cpu"), "{chains}: {name}");
        }
    }
    let lost = format!("{SMALL} --force --datasets 12 --device cuda --no-fallback --out {{}}/lost");
    double
        .run(&mut double.octopus("lost=40"), &lost)
        .fails(3, &["the GPU failed", "the same command goes on", "--device cpu"]);
    double
        .run(&mut double.octopus(""), "calibrate hierarchical-normal --groups 1100 --device cuda --out {}/large")
        .fails(2, &["1103 coordinates", "--device cpu"]);
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
    // So little warm-up loses chains now and then, which is exit code 1.
    let code = command("whole").status().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
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
    assert_eq!(command("run").status().unwrap().code(), code);
    for name in ["ranks.csv", "calibration.json"] {
        assert_eq!(file(dir.path(), &format!("run/{name}")), file(dir.path(), &format!("whole/{name}")), "{name}");
    }
}

/// Sequences of Geweke's test stop on their way, be they of a million steps; those that are done are kept.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_sequences_and_the_same_command_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let spawn = |words: &str, name: &str| {
        let mut command = Command::new(program());
        command.args(["calibrate", "hierarchical-normal", "--geweke", "--quiet"]).args(words.split_whitespace());
        command.arg("--out").arg(dir.path().join(name)).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let interrupt = |child: &std::process::Child| {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    };
    let mut endless = spawn("--steps 1000000 --threads 1", "endless");
    sleep(Duration::from_secs(1));
    let begin = Instant::now();
    interrupt(&endless);
    assert_eq!(endless.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());

    let short = "--sequences 60 --steps 100 --threads 1";
    let begin = Instant::now();
    let code = spawn(short, "whole").wait().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    let whole = begin.elapsed();
    let mut wait = whole / 2;
    loop {
        let mut child = spawn(short, "run");
        sleep(wait);
        interrupt(&child);
        let ended = child.wait().unwrap().code();
        if ended == Some(130) && dir.path().join("run/sequences.json").exists() {
            break;
        }
        assert!(wait > Duration::from_millis(5) && wait < 20 * whole, "no interruption was in time: {ended:?}");
        wait = if ended == Some(130) { wait * 2 } else { wait / 2 };
        fs::remove_dir_all(dir.path().join("run")).unwrap();
    }
    assert!(!dir.path().join("run/calibration.json").exists(), "there is no verdict yet");
    assert_eq!(spawn(short, "run").wait().unwrap().code(), code);
    assert_eq!(file(dir.path(), "run/calibration.json"), file(dir.path(), "whole/calibration.json"));
}

/// So few draws have not converged, which is for the data to show, and nothing is wrong with the sampler.
#[test]
fn data_sets_are_judged_and_their_seed_is_that_of_the_calibration() {
    const FEWEST: &str =
        "calibrate eight-schools --datasets 2 --chains 2 --device cpu --format svg --json --out {}/out";
    let dir = tempfile::tempdir().unwrap();
    let enough = run(dir.path(), &format!("{FEWEST} --draws 60 --tune 80"));
    assert!(enough.stderr.contains("0 of them are there"), "{enough:#?}");
    let ranks = file(dir.path(), "out/ranks.csv");
    assert_eq!((&enough.succeeds().json()["calibrated"], ranks.lines().count()), (&true.into(), 3));
    let again = run(dir.path(), &format!("{FEWEST} --draws 60 --tune 80 --quiet"));
    assert_eq!((&again.succeeds().json(), again.stderr.as_str()), (&enough.json(), ""));
    let others = format!("{FEWEST} --draws 60 --tune 80 --seed 7");
    run(dir.path(), &others).fails(2, &["other settings", "--force"]);
    run(dir.path(), &format!("{others} --force")).succeeds();
    assert_ne!(file(dir.path(), "out/ranks.csv"), ranks);
    let few = run(dir.path(), &format!("{FEWEST} --draws 9 --tune 9 --force"));
    let json = few.json();
    assert_eq!((few.code, &json["calibrated"], &json["ranks"]["calibrated"]), (Some(1), &false.into(), &false.into()));
    assert!(json["self_check"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{json}");
}

/// What is out of range is refused before it is said what will be done.
#[test]
fn sequences_out_of_range_are_refused_before_anything_is_said() {
    let dir = tempfile::tempdir().unwrap();
    for (words, range) in [
        ("--geweke --sequences 1", "1 is not in 8..=1073741823"),
        ("--geweke --sequences 99999999999", "99999999999 is not in 8..=1073741823"),
        ("--geweke --steps 18446744073709551615", "18446744073709551615 is not in 4..=1073741823"),
        ("--datasets 1073741824", "1073741824 is not in 2..=1073741823"),
    ] {
        let answer = run(dir.path(), &format!("calibrate eight-schools {words} --out {{}}/c"));
        answer.fails(2, &[range]);
        assert!(!answer.stderr.contains("sequences of"), "{answer:#?}");
        assert!(!dir.path().join("c").exists());
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
    assert!(few.stdout.contains("NOT DECIDED") && few.stdout.contains("(log sigma_obs)^2"), "{few:?}");
    let result: serde_json::Value = serde_json::from_str(&file(dir.path(), "few/calibration.json")).unwrap();
    assert_eq!((&result["calibrated"], &result["geweke"]["decided"]), (&false.into(), &false.into()));
    assert!(dir.path().join("few/geweke_moments.png").exists());
}

/// As little as can be asked for, in which nothing is found.
#[test]
fn a_short_test_of_geweke_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let words =
        "calibrate eight-schools --geweke --sequences 8 --steps 4 --tune 5 --format svg --quiet --json --out {}/out";
    let answer = run(dir.path(), words);
    let found = answer.succeeds().json();
    assert_eq!((&found["calibrated"], &found["geweke"]["decided"]), (&true.into(), &true.into()));
    assert_eq!((&found["geweke"]["false_alarm"], &found["geweke"]["sequences"]), (&0.001.into(), &8.into()));
    assert_eq!((answer.stderr.as_str(), found["settings"]["sequences"].as_u64()), ("", Some(8)));
    run(dir.path(), &format!("{words} --seed 5")).fails(2, &["other settings", "--force"]);
    let other = run(dir.path(), &format!("{words} --seed 5 --force --false-alarm 0.002")).succeeds().json();
    assert_eq!((&other["settings"]["sampler"]["seed"], &other["geweke"]["false_alarm"]), (&5.into(), &0.002.into()));
    assert_ne!(other["geweke"]["moments"], found["geweke"]["moments"]);
}

#[test]
fn options_without_sense_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for (words, said) in [
        ("eight-schools --mu-sd 3", "--mu-sd: eight-schools has no such setting; it is one of hierarchical-normal"),
        ("hierarchical-normal --group-sizes 3,1 --groups 3", "--groups 3: leave it out"),
        ("hierarchical-normal --group-sizes 3,0", "one observation"),
        ("hierarchical-normal --kept 5000", "--kept 5000: at least 1 and at most the 1600 draws"),
        ("hierarchical-normal --false-alarm 2", "--false-alarm 2"),
        ("hierarchical-normal --precision f32 --device cpu", "--precision f32"),
        ("hierarchical-normal --geweke --sequences 2", "2 is not in 8..=1073741823"),
        ("hierarchical-normal --draws 0", "--draws 0"),
        ("hierarchical-normal --superchains 4", "--superchains: needs --strategy many-short"),
        ("hierarchical-normal --strategy many-short --superchains 5", "--superchains 5"),
        ("hierarchical-normal --strategy many-short --kept 513", "--kept 513: at least 1 and at most the 512 draws"),
        ("hierarchical-normal --strategy many-short --geweke", "--strategy many-short: Geweke's test"),
        ("hierarchical-normal --geweke --device cuda", "--device cpu"),
    ] {
        run(dir.path(), &format!("calibrate {words} --out {{}}/x")).fails(2, &[said]);
    }
}
