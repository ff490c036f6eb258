//! `octopus compare`: two runs of one posterior, and two that differ.

use crate::support::run;
use std::path::Path;

const COMMON: &str = "sample hierarchical-normal --groups 8 --draws 400 --tune 300 --device cpu --quiet";

fn sample(dir: &Path, name: &str, more: &str) {
    run(dir, &format!("{COMMON} {more} --out {{}}/{name}")).sampled();
}

#[test]
fn runs_of_one_posterior_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    sample(dir.path(), "b", "--seed 7 --parameterization centered --chains 3");
    let text = run(dir.path(), "compare {}/a {}/b --max-mean 0.2 --max-sd 0.3");
    let said = &text.succeeds().stdout;
    for words in ["the same posterior", "PASS     chance", "mu_group[7]", "sampler.seed", "centered", "each second"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("sampler.target_accept") && !said.contains("not told"), "{said}");

    let json =
        run(dir.path(), "compare {}/a {}/b --json --max-mean 0.2 --max-sd 0.3 --out {}/compared").succeeds().json();
    assert_eq!((&json["schema"], &json["same"]), (&1.into(), &true.into()));
    let parameters = json["posterior"]["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 19);
    for field in ["mean", "sd", "q5", "q50", "q95", "relative_mean", "z_mean", "z_sd", "wasserstein", "p_value"] {
        assert!(!parameters[0][field].is_null(), "{field}");
    }
    assert!(json["runs"][1]["speed"]["min_ess_per_1000_gradients"].as_f64().unwrap() > 0.0);
    let written = std::fs::read_to_string(dir.path().join("compared/comparison.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), json);

    // A file holds the same draws: nothing differs, and what it does not tell is said.
    run(dir.path(), "export {}/a --to netcdf --out {}/a.nc").succeeds();
    let own = run(dir.path(), "compare {}/a {}/a.nc --json --alpha 1 --max-mean 0 --max-sd 0").succeeds().json();
    assert_eq!(own["posterior"]["rmse"], 0.0);
    assert!(own["posterior"]["parameters"].as_array().unwrap().iter().all(|p| p["wasserstein"] == 0.0));
}

#[test]
fn runs_of_other_data_differ() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    sample(dir.path(), "b", "--data-seed 3");
    let text = run(dir.path(), "compare {}/a {}/b");
    assert_eq!(text.code, Some(1), "{text:#?}");
    for words in ["they differ", "FAIL     means", "FAIL     chance", "WARN     data", "data.sha256"] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    run(dir.path(), "compare {}/a {}/a --max-sd -1").fails(2, &["--max-sd", "-1", "0 or more"]);
    run(dir.path(), "compare {}/a {}/absent").fails(3, &["absent"]);
}
