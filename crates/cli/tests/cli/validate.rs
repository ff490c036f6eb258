//! Phase 0 from end to end.

use crate::support::{run, tree};
use std::fs;

#[test]
fn a_quick_validation_passes_and_leaves_every_deliverable() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), "validate --quick --out {}/phase0 --device cpu");
    found.succeeds();
    assert!(found.stdout.contains("PASSED") && found.stdout.contains("P0.3"), "{}", found.stdout);
    assert!(found.stderr.contains("no GPU took part"), "{}", found.stderr);
    let files = tree(&dir.path().join("phase0"));
    for name in [
        "trace_plot.png",
        "posterior_plot.png",
        "forest_plot.png",
        "ppc_plot.png",
        "performance_comparison.png",
        "benchmark_report.txt",
        "report.json",
        "junit.xml",
        "index.html",
        "traces/phase0_test_trace.nc",
        "run/run.toml",
    ] {
        assert!(files.iter().any(|file| file == name), "{name} is not in {files:?}");
    }
    let text = fs::read_to_string(dir.path().join("phase0/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].as_str().unwrap().to_owned();
    for id in ["P0.3", "P0.5", "P2.2", "P2.4", "Q.1", "Q.2", "Q.3", "Q.4"] {
        assert_eq!(status(id), "PASS", "{id}");
    }
    for id in ["P0.1", "P0.2", "P0.4", "P1.1", "P1.2", "P1.3", "P1.4", "P2.1", "P2.3"] {
        assert_eq!(status(id), "SKIPPED", "{id}");
    }
    let trace = run(dir.path(), "diagnose {}/phase0/traces/phase0_test_trace.nc --json");
    assert_eq!(trace.succeeds().json()["parameters"].as_array().unwrap().len(), 203);
    // Again into the same folder, as JSON, with a GPU required.
    let again = run(dir.path(), "validate --quick --out {}/phase0 --require-gpu --json --quiet");
    let report = again.json();
    let wants = report["verdict"]["outcome"].as_str().unwrap().to_owned();
    assert_eq!((again.code, wants.as_str()), (Some(4), "gpu_missing"), "{}", again.stderr);
    run(dir.path(), "validate --out {}/other --device cuda").fails(4, &["--device cuda"]);
    assert!(!dir.path().join("other").exists());
}

#[test]
fn the_plain_settings_fail_and_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let words = "validate --quick --out {}/phase0 --parameterization non-centered --metric diag --quiet --device cpu";
    let found = run(dir.path(), words);
    assert_eq!(found.code, Some(1), "{found:#?}");
    let words = ["FAILED", "P0.3", "FAIL", "R-hat", "--parameterization adaptive"];
    assert!(words.iter().all(|word| found.stdout.contains(word)), "{}", found.stdout);
    let junit = fs::read_to_string(dir.path().join("phase0/junit.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("P0.3"), "{junit}");
}

#[test]
fn bad_values_are_usage() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "validate --groups 0 --out {}/x").fails(2, &["--groups 0"]);
    run(dir.path(), "validate --metric dense --out {}/x").fails(2, &["dense"]);
    assert!(tree(dir.path()).is_empty());
}
