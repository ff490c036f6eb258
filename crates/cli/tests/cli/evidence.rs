//! `octopus evidence` gives the evidence of runs of programs whose evidence is known in closed form, compares them, and refuses
//! what cannot be compared.

use crate::support::run;
use std::fs;
use std::path::Path;

/// A polynomial whose coefficients have the standard deviation 2, with a known noise of 0.5.
const POLYNOMIAL: &str = "data { int K; int N; vector[N] x; vector[N] y; }
    parameters { vector[K] b; }
    model { b ~ normal(0, 2); vector[N] mean = rep_vector(0, N); for (k in 1:K) mean += b[k] * x^(k - 1);
            y ~ normal(mean, 0.5); }";
const DATA: &str =
    r#"{"N": 8, "x": [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0], "y": [-0.9, -1.1, 0.2, 0.4, 0.3, 1.2, 1.9, 1.6]}"#;

/// The logarithm of the density of y by the degree: `multivariate_normal(0, 4 X X' + I / 4)` of SciPy.
const CONSTANT: f64 = -20.861_353_302_408_617;
const LINE: f64 = -8.578_247_260_887_382;
const PARABOLA: f64 = -11.109_679_183_279_265;

fn sample(dir: &Path, name: &str, coefficients: usize) {
    let line = format!(
        "sample {{}}/p.stan --data {{}}/d.json --set K={coefficients} --draws 500 --tune 300 --device cpu --quiet --out {{}}/{name}"
    );
    run(dir, &line).sampled();
}

fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.stan"), POLYNOMIAL).unwrap();
    fs::write(dir.path().join("d.json"), DATA).unwrap();
    dir
}

#[test]
fn evidence_of_runs_is_the_librarys_and_models_are_compared() {
    let dir = prepared();
    for (name, coefficients) in [("constant", 1), ("line", 2), ("parabola", 3)] {
        sample(dir.path(), name, coefficients);
    }
    let all = run(dir.path(), "evidence {}/constant {}/line {}/parabola --json").succeeds().json();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    for (found, truth) in all["runs"].as_array().unwrap().iter().zip([CONSTANT, LINE, PARABOLA]) {
        let (log, error) = (number(&found["log_evidence"]), number(&found["standard_error"]));
        assert!((log - truth).abs() < 0.02 && (log - truth).abs() < 4.0 * error && error < 0.01, "{found} {truth}");
        assert_eq!((&found["draws"], &found["doubt"], &found["prior"]), (&2000.into(), &().into(), &().into()));
    }
    // The line is the best.
    let rows = all["comparison"].as_array().unwrap();
    let of = |row: usize, name: &str| number(&rows[row][name]);
    assert!((of(1, "log_bayes_factor") - (PARABOLA - LINE)).abs() < 0.03 && of(0, "log_bayes_factor") == 0.0);
    let probability = 1.0 / (1.0 + f64::exp(PARABOLA - LINE) + f64::exp(CONSTANT - LINE));
    assert!((of(0, "probability") - probability).abs() < 0.005, "{rows:?}");
    assert!(rows[0]["name"].as_str().unwrap().ends_with("line"), "{rows:?}");
    let text = run(dir.path(), "evidence {}/constant {}/line");
    text.succeeds();
    assert!(
        ["PASS", "log Bayes factor", "-12.", "probability"].iter().all(|word| text.stdout.contains(word)),
        "{text:#?}"
    );
    // A seed has its own draws, always the same ones.
    let seeded = |options: &str| run(dir.path(), &format!("evidence {{}}/line {options}")).stdout;
    assert_eq!(seeded(""), seeded("--seed 0"));
    assert_ne!(seeded("--seed 1 --json"), seeded("--seed 0 --json"));
}

/// With all constants, by the sampler's own weights.
#[test]
fn what_a_population_found_stands_beside() {
    let dir = prepared();
    let words =
        "sample {}/p.stan --data {}/d.json --set K=2 --algorithm importance --draws 500 --device cpu --out {}/line";
    let sampled = run(dir.path(), words);
    sampled.succeeds();
    let shown = sampled.stdout.split_once("log evidence ").unwrap().1;
    let shown: f64 = shown.split_once(" +-").unwrap().0.parse().unwrap();
    let found = &run(dir.path(), "evidence {}/line --json").succeeds().json()["runs"][0]["population"];
    let [log, error] = ["log_evidence", "standard_error"].map(|name| found[name].as_f64().unwrap());
    assert!((log - LINE).abs() < 4.0 * error && error < 0.05 && (shown - log).abs() < 0.001, "{found} {shown}");
    let text = run(dir.path(), "evidence {}/line");
    text.succeeds();
    assert!(text.stdout.contains(&format!("  importance itself found {log:.3} +- ")), "{text:#?}");
}

#[test]
fn what_has_no_evidence_is_refused_or_warned_of() {
    let dir = prepared();
    sample(dir.path(), "line", 2);
    let at = |words: &str| run(dir.path(), words);
    at("export {}/line --to netcdf --out {}/line.nc").succeeds();
    at("evidence {}/line.nc").fails(3, &["line.nc", "name the folder of a run"]);
    // Other observations.
    fs::write(dir.path().join("other.json"), DATA.replace("1.6]", "1.7]")).unwrap();
    let rest = "--set K=2 --draws 100 --tune 100 --device cpu --quiet";
    at(&format!("sample {{}}/p.stan --data {{}}/other.json {rest} --out {{}}/other")).sampled();
    at("evidence {}/line {}/other").fails(3, &["other observations", "the same data"]);
    // A prior that is flat.
    fs::write(dir.path().join("flat.stan"), POLYNOMIAL.replace("b ~ normal(0, 2);", "")).unwrap();
    at(&format!("sample {{}}/flat.stan --data {{}}/d.json {rest} --out {{}}/flat")).sampled();
    at("evidence {}/flat")
        .fails(0, &["the prior may not integrate to 1", "`b` has no sampling statement", "flat.stan:2:"]);
}
