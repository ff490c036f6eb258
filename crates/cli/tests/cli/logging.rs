//! What the program tells while it works: on stderr as asked for, and in a log file.

use crate::support::{answer, octopus, run};
use std::fs;

const RUN: &str = "sample eight-schools --draws 200 --tune 200 --device cpu --quiet --force --out {}/run";

#[test]
fn stderr_has_what_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let silent = run(dir.path(), RUN);
    assert!(!silent.sampled().stderr.contains("info:"), "{silent:#?}");
    let told = run(dir.path(), &RUN.replace("--quiet", ""));
    assert!(told.sampled().stderr.contains("run: 4 chains") && !silent.stderr.contains("run: "), "{told:#?}");
    let verbose = run(dir.path(), &format!("{RUN} -v"));
    for words in
        ["info: the device is chosen: asked for, device cpu", "info: sampling begins: ", "info: warm-up has ended"]
    {
        assert!(verbose.sampled().stderr.contains(words), "{words}: {verbose:#?}");
    }
    assert!(!verbose.stderr.contains("debug:"), "{verbose:#?}");
    let details = run(dir.path(), &format!("{RUN} -vv"));
    assert!(
        details.sampled().stderr.contains("debug: octopus_files::storage: a file is written, file "),
        "{details:#?}"
    );
}

#[test]
fn the_environment_chooses_by_crate() {
    let dir = tempfile::tempdir().unwrap();
    let with = |filter: &str| {
        let words: Vec<String> =
            RUN.split_whitespace().map(|word| word.replace("{}", dir.path().to_str().unwrap())).collect();
        answer(octopus().env("RUST_LOG", filter).args(words))
    };
    let files = with("octopus_files=debug");
    assert!(files.sampled().stderr.contains("a file is written") && !files.stderr.contains("info:"), "{files:#?}");
    with("a=b=c").fails(2, &["RUST_LOG=a=b=c", "octopus_runs=debug"]);
    assert!(!with("").sampled().stderr.contains("info:"));
}

#[test]
fn a_log_file_has_an_object_on_each_line() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &format!("{RUN} --log-file {{}}/log.jsonl")).sampled();
    let log = fs::read_to_string(dir.path().join("log.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |level: &str, words: &str| {
        lines
            .iter()
            .any(|line| line["level"] == level && line["fields"]["message"].as_str().unwrap().starts_with(words))
    };
    assert!(has("INFO", "sampling has ended") && has("DEBUG", "a file is written"), "{log}");
    run(dir.path(), "verify --log-file {}/none/log.jsonl").fails(3, &["none/log.jsonl", "cannot write the log"]);
}

#[test]
fn each_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    let pages = run(dir.path(), "man --out {}/man --json").succeeds().json();
    assert!(pages["files"].as_array().unwrap().len() > 15, "{pages}");
    let page = fs::read_to_string(dir.path().join("man/octopus-sample.1")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("target\\-accept") && page.contains("mu\\-sd"), "{page}");
}
