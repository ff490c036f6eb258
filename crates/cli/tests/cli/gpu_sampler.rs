//! `octopus device exact --runs` and `octopus device sampler` on a software GPU with the sampler's kernels.

use crate::double::Double;
use octopus_softgpu::{Lanes, SoftwareGpu};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The kernels of small runs: 10, 100 and 500 groups, and of data sets together.
const UNITS: [&str; 17] = [
    "nuts_hierarchical_normal_f64_32x1",
    "nuts_hierarchical_normal_f32_32x1",
    "nuts_hierarchical_normal_mixed_32x1",
    "nuts_hierarchical_normal_f64_32x4",
    "nuts_hierarchical_normal_f32_32x4",
    "nuts_hierarchical_normal_mixed_32x4",
    "nuts_hierarchical_normal_f64_128x4",
    "nuts_hierarchical_normal_f32_128x4",
    "nuts_hierarchical_normal_mixed_128x4",
    "nuts_hierarchical_normal_f64_32x8_team",
    "nuts_hierarchical_normal_f32_32x8_team",
    "nuts_hierarchical_normal_mixed_32x8_team",
    "hmc_hierarchical_normal_f64_32x4",
    "hmc_hierarchical_normal_f64_128x4",
    "nuts_batch_hierarchical_normal_f64_32x1",
    "nuts_batch_hierarchical_normal_f32_32x1",
    "nuts_batch_hierarchical_normal_mixed_32x1",
];

fn double() -> Option<Double> {
    SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &UNITS).map(Double::of)
}

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/expected-runs.json")
}

#[test]
fn small_runs_are_exact_and_as_recorded() {
    let Some(double) = double() else { return };
    let mut command = double.octopus("");
    command.args(["device", "exact", "--runs", "--small", "--json", "--expected"]).arg(record());
    let exact = double.run(&mut command, "");
    let json = exact.json();
    assert_eq!(exact.code, Some(0), "kernels/expected-runs.json is not current: `cargo xtask record`; {json:#}");
    let runs = json["runs"].as_array().unwrap();
    // Two sizes of runs, one of a team, many short chains, chains that all learn, three data sets at once: each in three
    // precisions. And two sizes by each of two other samplers.
    assert_eq!(runs.len(), 3 * (2 + 1 + 1 + 1 + 3) + 2 * 2);
    for run in runs {
        assert!(run["hash"] == run["expected"] && run["equal"] == true && run["difference"].is_null(), "{run}");
        let cpu = if run["precision"] == "f64" { run["hash"].clone() } else { Value::Null };
        assert_eq!(run["cpu"], cpu, "{run}");
    }
    assert_eq!(json["device"]["test_double"], true);
}

#[test]
fn what_differs_from_the_record_is_told() {
    let Some(double) = double() else { return };
    let mut wrong: Value = serde_json::from_str(&std::fs::read_to_string(record()).unwrap()).unwrap();
    let runs = wrong["runs"].as_array_mut().unwrap();
    for (name, iteration, chain) in [
        ("100-balanced-collapsed-lowrank-adaptive-4-mixed", 33, 2),
        ("batch-25-groups-1-of-3-f32", 45, 0),
        ("batch-9-groups-2-of-3-mixed", 4, 1),
    ] {
        let run = runs.iter_mut().find(|run| run["name"] == name).unwrap();
        for (field, digit) in [("hash", 0), ("iterations", 4 * iteration), ("chains", 4 * chain)] {
            let mut text = run[field].as_str().unwrap().to_owned();
            let other = if text.as_bytes()[digit] == b'0' { "1" } else { "0" };
            text.replace_range(digit..=digit, other);
            run[field] = text.into();
        }
    }
    let path = double.scratch().join("wrong.json");
    std::fs::write(&path, wrong.to_string()).unwrap();
    let exact = double.run(&mut double.octopus(""), "device exact --runs --small --expected {}/wrong.json");
    assert_eq!(exact.code, Some(1), "{exact:#?}");
    for words in [
        "DIFFERS  100-balanced-collapsed-lowrank-adaptive-4-mixed",
        "first in iteration 33; chains that differ: 1, the first is 2",
        "DIFFERS  batch-25-groups-1-of-3-f32",
        "first in iteration 45; chains that differ: 1, the first is 0",
        "DIFFERS  batch-9-groups-2-of-3-mixed",
        "first in iteration 4; chains that differ: 1, the first is 1",
    ] {
        assert!(exact.stdout.contains(words), "{words}: {}", exact.stdout);
    }
    assert!(exact.stdout.contains("25 of 28 runs") && exact.stdout.contains("test double"), "{}", exact.stdout);
    let mut gone = double.octopus_without_driver("bare");
    if !Double::has_real_driver() {
        double.run(&mut gone, "device exact --runs").fails(4, &["libcuda"]);
    }
}

#[test]
fn the_sampler_s_figures_are_there_and_say_that_they_are_none() {
    let Some(double) = double() else { return };
    let answer = double.run(&mut double.octopus(""), "device sampler --out {}/sampler.json");
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    for words in
        ["no measurements of a GPU", "cold, 10 groups, f64", "warm, 10 groups, f64", "us a launch", "(b) min ESS/s"]
    {
        assert!(answer.stdout.contains(words), "{words}: {}", answer.stdout);
    }
    let text = std::fs::read_to_string(double.scratch().join("sampler.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["test_double"], &json["complete"], &json["schema"]), (&true.into(), &true.into(), &2.into()));
    assert!(!text.contains("GPU-4f63"), "a UUID is no figure");
    for cell in json["cells"].as_array().unwrap() {
        assert!(cell["error"].is_null() && cell["leapfrogs_per_second"].as_f64().unwrap() > 0.0, "{cell}");
        assert_eq!(cell["device_bytes"], cell["foretold_bytes"], "{cell}");
        assert_eq!(cell["device_us_per_leapfrog"].is_f64(), cell["place"] == "gpu", "{cell}");
    }
    let many = json["cells"].as_array().unwrap().iter().filter(|cell| cell["chains"].as_u64() > Some(4));
    assert!(many.clone().count() > 0 && many.clone().all(|cell| cell["strategy"] == "many-short"));
    for (goal, place) in json["goals"].as_array().unwrap().iter().zip(["gpu", "cpu"]) {
        assert_eq!((&goal["place"], &goal["reached"]), (&place.into(), &true.into()), "{goal}");
        assert!(goal["quality"]["max_rhat"].as_f64().unwrap() < 1.01, "{goal}");
    }
    // Both engines count the same leapfrogs.
    let batches = &json["batches"];
    assert_eq!((&batches[0]["place"], &batches[0]["failed"]), (&"gpu".into(), &0.into()), "{batches}");
    assert!(batches[0]["leapfrogs"] == batches[1]["leapfrogs"] && batches[0]["draws"] == 10, "{batches}");
    let team = &json["teams"][0];
    assert_eq!((&team["observations"], team["points"].as_array().unwrap().len()), (&30_000.into(), 3), "{team}");
    assert!(team["cpu_us_per_leapfrog"].as_f64().unwrap() > 0.0, "{team}");
    // Without time nothing is begun, and that is said.
    let none = double.run(&mut double.octopus(""), "device sampler --seconds 0 --json").json();
    assert_eq!((&none["complete"], none["cells"].as_array().unwrap().len()), (&false.into(), 0));
    assert!(none["not_measured"].as_array().unwrap().len() > 10, "{none}");
}
