//! What short commands tell: notes that `--quiet` silences, and settings that are seen to be heard in a start or two.

use crate::double::Double;
use crate::support::{Answer, run, stop};
use octopus_diag::{Rows, diagnose};
use octopus_formats::write_netcdf;
use octopus_runs::{RunFolder, diagnose_options};
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::fs;
use std::path::Path;

const SHORT: &str = "sample eight-schools --draws 20 --tune 20 --chains 2 --device cpu --force";

/// Asserts that a command tells a note, and with `--quiet` the same without it.
#[track_caller]
fn silenced(dir: &Path, words: &str, note: &str) -> Answer {
    let answer = run(dir, words);
    assert!(answer.stderr.contains(note), "{note}: {answer:#?}");
    let quiet = run(dir, &format!("{words} --quiet"));
    assert_eq!(quiet.code, answer.code, "{quiet:#?}");
    assert!(!quiet.stderr.contains(note), "{note}: {quiet:#?}");
    answer
}

#[test]
fn notes_of_a_run_are_told_unless_quiet() {
    let dir = tempfile::tempdir().unwrap();
    let told = silenced(dir.path(), &format!("{SHORT} --threads 3 --out {{}}/run"), "run: 2 chains x");
    assert!(told.stderr.contains("data: 8 observations"), "{told:#?}");
    let verbose = run(dir.path(), &format!("{SHORT} --threads 3 --out {{}}/run --profile {{}}/profile.json -v"));
    assert!(verbose.stderr.contains("threads 3"), "{verbose:#?}");
    // A profile has spans with their fields, but no source files.
    let profile = fs::read_to_string(dir.path().join("profile.json")).unwrap();
    assert!(profile.contains("\"device\":\"cpu\"") && !profile.contains(".rs\""), "{profile}");
    // Begun and stopped before its first draw.
    let resumed = |at: &str| {
        stop(&dir.path().join("run"));
        run(dir.path(), &format!("resume {{}}/run {at}"))
    };
    let told = resumed("--threads 5 -v");
    assert!(told.stderr.contains("going on at iteration 0") && told.stderr.contains("threads 5"), "{told:#?}");
    assert!(!resumed("--quiet").stderr.contains("going on"));
}

#[test]
fn a_dry_run_counts_warm_up_where_it_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = |more: &str| {
        let words = format!("sample eight-schools --draws 30 --tune 60 --device cpu --dry-run --json {more}");
        run(dir.path(), &words).succeeds().json()["draws_bytes"].as_u64().unwrap()
    };
    assert!(bytes("") > 0 && bytes("--keep-warmup") == 3 * bytes(""), "{}", bytes(""));
}

#[test]
fn warm_up_is_kept_where_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for (more, kept) in [("--keep-warmup", true), ("", false)] {
        run(dir.path(), &format!("{SHORT} --out {{}}/run {more}")).sampled();
        assert_eq!(dir.path().join("run/warmup").exists(), kept);
    }
}

/// Where the system tells how much memory there is.
#[test]
fn a_dry_run_of_too_many_chains_does_not_fit_the_memory() {
    if octopus_device::HostInfo::read().memory_available.is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dry = run(dir.path(), "sample eight-schools --chains 1000000000 --draws 9 --device cpu --dry-run");
    assert_eq!(dry.code, Some(3), "{dry:#?}");
    assert!(dry.stdout.contains("the run does not fit: --chains 1000000000: "), "{dry:#?}");
}

#[test]
fn a_sweep_runs_on_as_many_threads_as_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = run(dir.path(), "sweep eight-schools --seeds 1 --chains 2 --draws 20 --tune 20 --threads 5 -v");
    assert!(sweep.stderr.contains("threads 5\n"), "{sweep:#?}");
}

/// A device is chosen before its folder cannot be made.
#[test]
fn the_device_of_a_validation_is_told_unless_quiet() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    silenced(dir.path(), "validate eight-schools --quick --stages compare --out {}/file/report", "device: ");
}

/// The draws can be used, and their goal is missed all the same.
#[test]
fn good_draws_that_miss_their_goal_are_exit_code_1() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample eight-schools --draws 1000 --tune 300 --seed 3 --device cpu --quiet --out {}/run";
    let missed = run(dir.path(), &format!("{words} --target-ess 100000"));
    missed.fails(1, &["ended after 1000 draws of each chain", "no more draws were allowed"]);
    assert!(!missed.stderr.contains("should not be used"), "{missed:#?}");
}

#[test]
fn notes_of_a_batch_are_told_unless_quiet() {
    let dir = tempfile::tempdir().unwrap();
    let rows = "s,g,y\n1,a,1\n1,a,2\n1,b,4\n1,b,5\n,c,1\n";
    fs::write(dir.path().join("all.csv"), rows).unwrap();
    let batch = "sample hierarchical-normal --batch {}/all.csv --batch-by s --group g --value y --drop-missing --draws 9 \
                 --tune 20 --chains 2 --device cpu --out {}/out";
    let shorter = batch.replace("--draws 9", "--draws 8");
    let told = silenced(dir.path(), &format!("{batch} --force"), "each run: 2 chains x (at most 20 warm-up + 9 draws)");
    assert!(told.stderr.contains("1 row without a value in `s` left out"), "{told:#?}");
    // What is complete is judged again: nobody has interrupted it.
    let again = silenced(dir.path(), batch, "complete already, and not drawn again: 1 data set");
    assert_eq!(again.code, Some(1), "so few draws are unfit: {again:#?}");
    run(dir.path(), &shorter).fails(2, &["other settings", "--force"]);
    let json = run(dir.path(), &format!("{shorter} --json --force --threads 3 -v"));
    assert!(json.stderr.contains("threads 3"), "{json:#?}");
    let json = json.json();
    let set = &json["sets"][0];
    assert_eq!((&json["schema"], &set["name"], &set["observations"]), (&1.into(), &"1".into(), &4.into()));
    assert!(set["run"].as_str().unwrap().ends_with("out/sets/1"), "{set}");
    assert!(fs::read_to_string(dir.path().join("out/sets/1/run.toml")).unwrap().contains("label = \"1\""));
}

/// A device is chosen before a folder of other settings is refused.
#[test]
fn the_device_of_a_calibration_is_told_unless_quiet() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("out/settings.json"), "{}").unwrap();
    let words = "calibrate eight-schools --datasets 2 --out {}/out";
    silenced(dir.path(), words, "device: ").fails(2, &["other settings"]);
}

#[test]
fn draws_are_told_as_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let random = "random normal --n 1 --out {}/a.npy";
    silenced(dir.path(), &format!("{random} --force"), "1 draws of normal(loc=0, scale=1) in ");
    let json = |more: &str| run(dir.path(), &format!("{random} {more} --json")).succeeds().json();
    assert_eq!((&json("--force")["made"], &json("--resume")["made"]), (&1.into(), &0.into()));
    silenced(dir.path(), &format!("{random} --resume"), "has all of its 1 draws");
    run(dir.path(), "random normal --n 100001").fails(2, &["--n 100001: more than 100000 numbers go into a file"]);
}

/// Draws of one variable, always the same.
fn trace(dir: &Path, name: &str, scale: f64) {
    let draws = (0..200).map(|i| scale * f64::from(i * 37 % 101)).collect();
    let mut posterior = Dataset::default();
    posterior.insert("mu", Array::new([("chain", 2), ("draw", 100)], Values::F64(draws)));
    posterior.insert("scale", Array::new([], Values::F64(vec![0.5])));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    write_netcdf(&dir.join(name), &data, false).unwrap();
}

#[test]
fn a_diagnosis_and_a_comparison_hear_their_limits() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), "a.nc", 1.0);
    trace(dir.path(), "b.nc", 3.0);
    silenced(dir.path(), "diagnose {}/a.nc", "left out, since they have no dimensions");
    let prob = |more: &str| run(dir.path(), &format!("diagnose {{}}/a.nc --json {more}")).json()["prob"].clone();
    assert_eq!([prob(""), prob("--prob 0.5")], [0.89, 0.5]);
    let compare = |other: &str, more: &str| run(dir.path(), &format!("compare {{}}/a.nc {{}}/{other} --json {more}"));
    let same = compare("a.nc", "");
    let limits = &same.succeeds().json()["limits"];
    assert_eq!([&limits["mean"], &limits["sd"], &limits["alpha"]].map(|one| one.as_f64().unwrap()), [0.05, 0.1, 0.001]);
    assert_eq!((compare("b.nc", "").code, same.json()["same"].as_bool()), (Some(1), Some(true)));
    let limits = compare("a.nc", "--max-mean 0.5 --max-sd 0 --alpha 1").succeeds().json()["limits"].clone();
    assert_eq!([&limits["mean"], &limits["sd"], &limits["alpha"]].map(|one| one.as_f64().unwrap()), [0.5, 0.0, 1.0]);
    compare("a.nc", "--alpha 1.001").fails(2, &["--alpha 1.001: must be a probability from 0 to 1"]);
    compare("a.nc", "--max-mean -0.001").fails(2, &["--max-mean -0.001: must be a number, 0 or more"]);
}

/// Tables of 16 parameters are whole, and of longer ones there are 16 rows at most.
#[test]
fn a_run_ends_with_a_table_of_16_rows_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let schools = |n: usize| format!("[data]\ny = {:?}\nsigma = {:?}\n", vec![2.5; n], vec![1.5; n]);
    fs::write(dir.path().join("seven.toml"), schools(7)).unwrap();
    let seven = run(dir.path(), &format!("{SHORT} --config {{}}/seven.toml --out {{}}/a"));
    let groups = "sample hierarchical-normal --groups 7 --draws 9 --tune 20 --chains 2 --device cpu --out {}/b";
    for (name, answer, whole) in [("a", seven, true), ("b", run(dir.path(), groups), false)] {
        let folder = RunFolder::open(&dir.path().join(name)).unwrap();
        let data = folder.read().unwrap();
        let options = diagnose_options(folder.record());
        let diagnosis = diagnose(data.posterior().unwrap(), data.group("sample_stats"), &options).unwrap();
        assert_eq!(diagnosis.summary.parameters.len(), if whole { 16 } else { 17 });
        assert!(answer.sampled().stdout.starts_with(&diagnosis.to_text(Rows::AtMost(16))), "{answer:#?}");
        assert_eq!(answer.stdout.contains("... "), !whole, "{answer:#?}");
    }
}

#[test]
fn one_draw_of_the_prior_or_of_each_chain_is_exported() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &format!("{SHORT} --out {{}}/run")).sampled();
    trace(dir.path(), "a.nc", 1.0);
    let export = |words: &str| run(dir.path(), &format!("export {words} --force --out {{}}/x.nc --json"));
    let has = |words: &str, group: &str| {
        let json = export(&format!("{{}}/run --to netcdf {words}")).succeeds().json();
        json["groups"].as_array().unwrap().iter().any(|one| one == group)
    };
    assert_eq!((has("--predictive 1", "posterior_predictive"), has("", "posterior_predictive")), (true, false));
    assert_eq!((has("--prior 1", "prior_predictive"), has("", "prior")), (true, false));
    for option in ["--predictive", "--prior"] {
        export(&format!("{{}}/run --to csv {option} 1")).fails(2, &[&format!("{option} 1: csv holds draws alone")]);
        export(&format!("{{}}/a.nc --to netcdf {option} 1")).fails(2, &[option, "does not tell its model"]);
    }
    // Where the model cannot be made again, the draws are exported, and what needs the model is refused.
    let record = dir.path().join("run/run.toml");
    fs::write(&record, fs::read_to_string(&record).unwrap().replace("eight-schools", "nine-schools")).unwrap();
    let plain = export("{}/run --to netcdf");
    assert!(plain.succeeds().stderr.contains("no observations in the file"), "{plain:#?}");
    for option in ["--predictive 1", "--prior 1"] {
        export(&format!("{{}}/run --to netcdf {option}")).fails(3, &["nine-schools"]);
    }
}

/// Notes on a GPU that is there and not sound, and what a run would take of it.
#[test]
fn notes_on_a_gpu_are_told_unless_quiet() {
    let Some(double) = Double::new() else { return };
    let said = |words: &str| double.run(&mut double.octopus("mode=2"), words).stderr;
    for (words, note) in [
        ("sample eight-schools --dry-run", "nvidia-smi"),
        ("random normal --n 3 --device cuda", "a check failed and may spoil the run"),
    ] {
        assert!(said(words).contains(note), "{words}: {}", said(words));
        assert!(!said(&format!("{words} --quiet")).contains(note), "{words}: {}", said(words));
    }
    let plan = |more: &str| {
        let words = format!("sample hierarchical-normal --chains 64 --dry-run --json {more}");
        double.run(&mut double.octopus(""), &words).succeeds().json()["places"].clone()
    };
    assert!(plan("") == plan("--gpu-memory 100GiB") && plan("") != plan("--gpu-memory 1GiB"), "{}", plan(""));
    assert!(plan("")[0]["refusal"].is_null() && plan("--groups 1100")[0]["refusal"].is_string(), "{}", plan(""));
    let list = double.run(&mut double.octopus(""), "device list --json").succeeds().json();
    let devices = list["devices"].as_array().unwrap();
    assert_eq!((&list["schema"], &list["driver_version"], devices.len()), (&1.into(), &"550.90.07".into(), 1));
    fs::write(double.scratch().join("one.csv"), "s,g,y\n1,a,1\n1,a,2\n1,b,3\n1,b,5\n").unwrap();
    fs::write(double.scratch().join("file"), "").unwrap();
    for words in [
        "sample eight-schools --dry-run",
        "sample hierarchical-normal --batch {}/one.csv --batch-by s --group g --value y --draws 9 --tune 9 --out {}/x",
        "calibrate eight-schools --out {}/file/ranks",
    ] {
        let answer = double.run(&mut double.octopus("mode=2"), &format!("{words} --no-fallback"));
        answer.fails(4, &["--no-fallback: a GPU is there and cannot be used: "]);
        assert_ne!(double.run(&mut double.octopus("mode=2"), words).code, Some(4), "{words}");
    }
}
