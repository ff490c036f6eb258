use super::*;
use crate::sampler::SamplerFigures;
use std::fs;
use tempfile::TempDir;

const STEPS: &str = include_str!("good/steps.jsonl");
const EXACT: &str = include_str!("good/exact.out");
const RUNS: &str = include_str!("good/exact_runs.out");
const SAMPLER: &str = include_str!("good/sampler.json");
const NUMPYRO: &str = include_str!("good/numpyro_f32.json");

/// The files of results, of which one has one text replaced.
const FILES: [(&str, &str); 5] = [
    ("steps.jsonl", STEPS),
    ("exact.out", EXACT),
    ("exact_runs.out", RUNS),
    ("sampler.json", SAMPLER),
    ("numpyro_f32.json", NUMPYRO),
];

fn folder((file, from, to): (&str, &str, &str)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for (own, text) in FILES {
        assert!(own != file || text.contains(from), "{from} is not in {file}");
        write(own, &if own == file { text.replace(from, to) } else { text.to_owned() });
    }
    write("manifest.json", include_str!("good/manifest.json"));
    write("machine.out", include_str!("good/machine.out"));
    folder
}

/// What is objected to when one text of one file is another.
fn objections(change: (&str, &str, &str)) -> Vec<String> {
    judge(folder(change).path()).unwrap().objections
}

#[test]
fn good_results_have_no_objection() {
    assert_eq!(objections(("", "", "")), Vec::<String>::new());
}

#[test]
fn each_mismatch_is_an_objection() {
    for (name, file, from, to, word) in [
        (
            "failed",
            "steps.jsonl",
            "\"machine\", \"status\": \"PASS\"",
            "\"machine\", \"status\": \"FAIL\"",
            "step machine failed",
        ),
        (
            "race",
            "steps.jsonl",
            "\"racecheck_runs\", \"status\": \"PASS\"",
            "\"racecheck_runs\", \"status\": \"FAIL\"",
            "step racecheck_runs",
        ),
        ("missing", "steps.jsonl", "\"exact\"", "\"other\"", "step exact was not run"),
        ("device", "exact.out", "\"hash\": \"1\"", "\"hash\": \"2\"", "array_sum_f64 gives 2"),
        ("cpu", "exact.out", "\"cpu\": \"1\"", "\"cpu\": \"3\"", "the CPU 3"),
        ("recorded", "exact.out", "\"expected\": \"1\"", "\"expected\": null", "recorded is nothing"),
        ("ptx", "exact.out", "\"ab\"", "\"cd\"", "PTX"),
        ("run", "exact_runs.out", "\"hash\": \"2\"", "\"hash\": \"5\"", "ten-f64 differs"),
        ("run-cpu", "exact_runs.out", "\"cpu\": \"2\"", "\"cpu\": null", "ten-f64 differs"),
        ("run-record", "exact_runs.out", "\"expected\": \"4\"", "\"expected\": null", "ten-mixed differs"),
        ("run-none", "exact_runs.out", "\"precision\": \"f32\"", "\"precision\": \"f64\"", "no run in f32"),
        ("batch-none", "exact_runs.out", "batch-nine", "another-nine", "nothing that is called batch-"),
        ("batch", "exact_runs.out", "\"cpu\": \"8\"", "\"cpu\": \"9\"", "batch-nine-f64 differs"),
        ("run-problem", "exact_runs.out", "\"problems\": []", "\"problems\": [\"lost\"]", "lost"),
        (
            "speed",
            "sampler.json",
            "\"device_us_per_leapfrog\": 1.125",
            "\"device_us_per_leapfrog\": null",
            "no speed of 100 groups",
        ),
        ("memory", "sampler.json", "\"foretold_bytes\": 2097152", "\"foretold_bytes\": 1", "foretold were 1"),
        ("batch-failed", "sampler.json", "\"failed\": 0", "\"failed\": 3", "3 of 1000 data sets failed"),
        ("cells", "sampler.json", "\"place\": \"cpu\"", "\"place\": \"gpu\"", "nothing was measured on the CPU"),
        ("json", "sampler.json", "{\"schema\"", "[", "it has left no figures"),
    ] {
        let objections = objections((file, from, to));
        assert!(objections.iter().any(|text| text.contains(word)), "{name}: {objections:?}");
    }
}

#[test]
fn what_says_nothing_of_the_results_is_noted_only() {
    for (name, from, to) in [
        // A criterion of speed that is not met.
        ("validate", "\"validate\", \"status\": \"PASS\"", "\"validate\", \"status\": \"FAIL\""),
        // A sanitizer that was too slow.
        (
            "slow",
            "\"racecheck_runs\", \"status\": \"PASS\", \"seconds\": 9, \"code\": 0",
            "\"racecheck_runs\", \"status\": \"FAIL\", \"seconds\": 9, \"code\": 124",
        ),
    ] {
        assert_eq!(objections(("steps.jsonl", from, to)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_report_is_a_gpu_s_only() {
    let reports = tempfile::tempdir().unwrap();
    for file in ["exact.out", "exact_runs.out", "sampler.json"] {
        let double = folder((file, "\"test_double\": false", "\"test_double\": true"));
        let judgement = judge(double.path()).unwrap();
        assert!(judgement.accepted(), "{judgement}");
        let error = judgement.write_report(reports.path()).unwrap_err();
        assert!(error.to_string().contains("no report"), "{file}");
    }
    let real = folder(("", "", ""));
    fs::write(real.path().join("ncu_sampler.out"), "\"Host Name\",\"alices-box\"").unwrap();
    let written = judge(real.path()).unwrap().write_report(reports.path()).unwrap();
    assert_eq!(written, reports.path().join("h200"));
    let read = |name: &str| fs::read_to_string(written.join(name)).unwrap();
    let text = read("README.md");
    assert!(text.contains("c0ffee") && text.contains("driver 550") && text.contains("| exact | PASS |"), "{text}");
    assert!(read("raw/exact.out").contains("array_sum_f64") && !written.join("raw/ncu_sampler.out").exists());
    let text = read("sampler.md");
    for words in [
        "c0ffee",
        "550.54",
        "| 100 | pointwise | f64 | 1.125 | 8.000e5 | 31.50 |",
        "| cold, 100 groups, f64 | 100.0 | 200.0 | 300.0 | 10.00 | 750.0 |",
        "| 10 groups, f64 | 6.500 | 0.9000 | 9.500 | 0.9500 |",
        "| 100000 | f64 | 1 | all | 3.500 | 228.5 | 62.50 |",
        "| GPU | 1024 in 64 | f64 | 44 | 12 | 10.00 | 20.00 | 5.000 | yes |",
        "| GPU | 1000 | f64 | 2.000 | 500.0 |",
        // 25 ms of 1024 chains; no cell of 4096 chains, and break-even at 7.
        "| 8000 effective draws, 100 groups, in under 50 ms of warm-up and sampling | 25.00 ms | yes |",
        "| more leapfrogs a second than all cores from at most 64 chains on, 100 groups | 7.000 | yes |",
        "| at least 20 times the CPU's effective draws a second, 100 groups | - | - |",
        // Two seconds less a quarter; two MiB.
        "| 1.750 | 1500 | - | - | 4000 | 2.000 |",
        "| (b) min ESS/s | 100 | pointwise | 1000 (4 chains, f64) | 4000 (1 chains, f64) | 4.000 |",
        // 2000 effective draws in 10 and in 20 seconds, against 4000 a second.
        "| 2000 | 1.0020 | 200.0 | 4000 | 20.00 | 40.00 | gpu |",
        "Not measured: Nsight Compute",
        "- cpu, 10 groups",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

/// What is written is read to the same figures: numbers that JSON does not have are null in it.
#[test]
fn figures_are_read_as_they_were_written() {
    let answer: SamplerFigures = serde_json::from_str(SAMPLER).unwrap();
    assert!(answer.cells[1].quality.as_ref().unwrap().max_rhat.is_nan());
    let again = serde_json::to_string(&answer).unwrap();
    let known: serde_json::Value = serde_json::from_str(&again).unwrap();
    let read: SamplerFigures = serde_json::from_str(&again).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), known);
    for (pointer, value) in [("/goals/0/place", "gpu"), ("/ratios/0/kind", "b"), ("/cells/0/strategy", "four-long")] {
        assert_eq!(known.pointer(pointer).unwrap(), value);
    }
    assert!(known.pointer("/cells/1/quality/max_rhat").unwrap().is_null());
}

/// A rate of a run that took no time is no number: that costs the reader one cell and not the whole file.
#[test]
fn a_rate_that_is_no_number_is_read() {
    let written: serde_json::Value = serde_json::from_str(SAMPLER).unwrap();
    for pointer in [
        "/batches/0/data_sets_per_second",
        "/cells/0/leapfrogs_per_draw",
        "/cells/0/leapfrogs_per_second",
        "/ratios/0/ratio",
        "/ratios/0/gpu/figure",
        "/break_even/0/cpu_leapfrogs_per_second",
    ] {
        let mut without = written.clone();
        *without.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = serde_json::Value::Null;
        let read = serde_json::from_value::<SamplerFigures>(without);
        assert!(read.is_ok(), "{pointer}: {:?}", read.err());
    }
}

#[test]
fn machines_have_short_names() {
    assert_eq!(machine_name("NVIDIA H200"), "h200");
    assert_eq!(machine_name("NVIDIA RTX A6000"), "rtx-a6000");
    assert_eq!(machine_name("NVIDIA H100 80GB HBM3"), "h100-80gb-hbm3");
}
