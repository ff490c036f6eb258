//! `--profile FILE`, and its picture.

use crate::support::{answer, octopus, run, tree};
use std::collections::BTreeSet;
use std::fs;

/// Returns whether a span is one of draws; `None` where it is of neither phase of a run.
fn is_of_draws(span: &str) -> Option<bool> {
    match span {
        "warm up" => Some(false),
        "draw" => Some(true),
        _ => None,
    }
}

#[test]
fn a_profile_has_what_was_done_when() {
    let dir = tempfile::tempdir().unwrap();
    let spans = |file: &str| -> Vec<String> {
        let events: serde_json::Value = serde_json::from_slice(&fs::read(dir.path().join(file)).unwrap()).unwrap();
        let begins = events.as_array().unwrap().iter().filter(|event| event["ph"] == "B");
        let name = |event: &serde_json::Value| match event["args"]["name"].as_str() {
            Some(stage) => format!("{} {stage}", event["name"].as_str().unwrap()),
            None => event["name"].as_str().unwrap().to_owned(),
        };
        begins.map(name).collect()
    };
    let kinds = |file: &str| BTreeSet::from_iter(spans(file));
    let phases = |file: &str| -> Vec<bool> { spans(file).iter().filter_map(|span| is_of_draws(span)).collect() };
    let run_it = |words: &str| run(dir.path(), words);
    run_it("sample eight-schools --draws 200 --tune 200 --device cpu -q --out {}/run --profile {}/run.json").sampled();
    for kind in ["warm up", "draw", "learn a metric", "keep draws", "encode draws", "write a file", "diagnose"] {
        assert!(kinds("run.json").contains(kind), "{kind}: {:?}", kinds("run.json"));
    }
    run_it("validate eight-schools --quick --stages compare --device cpu -q --out {}/report --profile {}/all.json");
    for kind in ["stage verify", "stage sample", "stage compare", "stage plot", "stage report"] {
        assert!(kinds("all.json").contains(kind), "{kind}: {:?}", kinds("all.json"));
    }
    // Spans of warm-up come before those of draws, and there is none where nothing is tuned.
    assert!(phases("run.json").is_sorted() && !phases("run.json")[0], "{:?}", phases("run.json"));
    run_it("sample eight-schools --draws 20 --tune 0 --device cpu -q --out {}/untuned --profile {}/untuned.json")
        .sampled();
    assert!(phases("untuned.json").iter().all(|&draws| draws) && !phases("untuned.json").is_empty());
    // A command that fails leaves what it did.
    run_it("diagnose {}/none --profile {}/failed.json").fails(3, &["none"]);
    assert_eq!(kinds("failed.json"), BTreeSet::new());
    run_it("diagnose {}/run --profile {}/run.json/p.json").fails(3, &["--profile", "run.json/p.json"]);

    let plots = run_it("plot {}/run.json --kind profile --format png,svg --out {}/plots --json").succeeds().json();
    assert_eq!(plots["files"].as_array().unwrap().len(), 2);
    let svg = fs::read_to_string(dir.path().join("plots/profile_plot.svg")).unwrap();
    assert!(svg.contains("warm up") && svg.contains("learn a metric"), "{svg}");
    assert_eq!(tree(&dir.path().join("plots")), ["profile_plot.png", "profile_plot.svg"]);
}

#[test]
fn what_is_no_profile_has_no_picture() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), "[{\"ph\":\"B\",\"ts\":1,\"name\":\"draw\"}]").unwrap();
    fs::write(dir.path().join("empty.json"), "[]").unwrap();
    fs::write(dir.path().join("text.json"), "a run").unwrap();
    let plot = |words: &str| run(dir.path(), &format!("plot {words} --out {{}}/plots"));
    plot("{}/a.json --kind profile").succeeds();
    plot("{}/a.json --kind profile,forest").fails(2, &["--kind profile", "no other kind"]);
    plot("{}/a.json {}/a.json --kind profile").fails(2, &["the one file"]);
    plot("{}/a.json --kind profile --var mu").fails(2, &["--var"]);
    plot("{}/text.json --kind profile").fails(3, &["text.json", "no trace in Chrome's form"]);
    plot("{}/empty.json --kind profile").fails(3, &["empty.json", "nothing to draw"]);
    plot("{}/none.json --kind profile").fails(3, &["cannot read", "none.json"]);
    let help = answer(octopus().args(["plot", "--help"]));
    assert!(help.succeeds().stdout.contains("--profile"), "{}", help.stdout);
}
