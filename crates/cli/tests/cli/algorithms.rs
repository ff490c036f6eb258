//! The samplers and their settings, taken through every way in which they can be given.

use crate::batch::tables;
use crate::settings::leapfrogs_a_draw;
use crate::support::{fingerprints, run};
use std::fs;

/// Settings of samplers as options; each is off its default and changes the draws.
const GIVEN: [&str; 4] = [
    "--algorithm hmc --step-size 0.2 --length 2 --jitter 0.25",
    "--algorithm hmc --leapfrogs 3",
    "--algorithm chees --jitter 0.5",
    "--algorithm walnuts --max-error 0.01 --max-halvings 1",
];

const SAMPLE: &str = "sample hierarchical-normal --groups 9 --draws 40 --tune 60 --device cpu --quiet --json --force";

/// The options of a line, each with its value.
fn pairs(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    words.chunks(2).map(|pair| pair.join(" ")).collect()
}

/// The settings that a file would have for the options.
fn file(line: &str) -> String {
    let options = pairs(line);
    let name = options[0].trim_start_matches("--algorithm ");
    let settings =
        options[1..].iter().map(|option| option.trim_start_matches("--").replace('-', "_").replace(' ', " = "));
    format!("[sampler.algorithm.{name}]\n{}\n", settings.collect::<Vec<_>>().join("\n"))
}

fn sampler(run: &std::path::Path) -> toml::Value {
    let record: toml::Table = fs::read_to_string(run.join("run.toml")).unwrap().parse().unwrap();
    record["sampler"]["algorithm"].clone()
}

/// A table of settings without those that nobody gave, which TOML leaves out.
fn without_nulls(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(settings) => {
            let given = settings.iter().filter(|(_, value)| !value.is_null());
            given.map(|(name, value)| (name.clone(), without_nulls(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// As options and in a file, alone, in a `--batch`, a `--dry-run`, a `sweep` and a `calibrate`: the same draws, and others
/// without any one of them.
#[test]
fn a_sampler_goes_every_way() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    tables(here);
    for given in GIVEN {
        run(here, &format!("{SAMPLE} --out {{}}/whole {given}")).sampled();
        let (whole, algorithm) = (fingerprints(&at("whole")), sampler(&at("whole")));
        for left_out in &pairs(given)[1..] {
            let rest = given.replace(&format!(" {left_out}"), "");
            run(here, &format!("{SAMPLE} --out {{}}/rest {rest}")).sampled();
            assert_ne!(fingerprints(&at("rest")), whole, "{left_out} changes nothing");
        }
        fs::write(at("c.toml"), file(given)).unwrap();
        run(here, &format!("{SAMPLE} --out {{}}/file --config {{}}/c.toml")).sampled();
        assert_eq!((fingerprints(&at("file")), sampler(&at("file"))), (whole, algorithm.clone()), "{given}");
        let as_json = serde_json::to_value(&algorithm).unwrap();
        let told = run(here, &format!("{SAMPLE} --dry-run {given}").replace(" --force", "")).succeeds().json();
        assert_eq!(without_nulls(&told["sampler"]["algorithm"]), as_json, "{given}");
        let swept = "sweep hierarchical-normal --groups 9 --draws 40 --tune 60 --seeds 1 --quiet --json";
        let swept = run(here, &format!("{swept} {given}")).json();
        assert_eq!(swept["sweep"]["leapfrogs_a_draw"].as_f64().unwrap(), leapfrogs_a_draw(&at("whole")), "{given}");
        let calibrated =
            "calibrate eight-schools --datasets 2 --chains 2 --draws 9 --tune 20 --quiet --force --out {}/c";
        run(here, &format!("{calibrated} {given}"));
        let settings = fs::read_to_string(at("c/settings.json")).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
        assert_eq!(without_nulls(&settings["sampler"]["algorithm"]), as_json, "{given}");
        let of_data = "--group city --value y --draws 30 --tune 40 --device cpu --quiet --json --force";
        let batch = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/batch {of_data} {given}");
        let seed = run(here, &batch).json()["sets"]
            .as_array()
            .unwrap()
            .iter()
            .find(|set| set["name"] == "oslo")
            .unwrap()["seed"]
            .clone();
        let alone =
            format!("sample hierarchical-normal --data {{}}/in/oslo.csv --out {{}}/alone {of_data} --seed {seed}");
        run(here, &format!("{alone} {given}")).sampled();
        assert_eq!(fingerprints(&at("batch/sets/oslo")), fingerprints(&at("alone")), "{given}");
    }
}

/// Settings of methods that draw populations, each off its default; it changes the draws.
const POPULATIONS: [&str; 3] = [
    "--algorithm importance --particles 500 --proposal laplace --degrees 7",
    "--algorithm smc --ess-share 0.9",
    "--algorithm pathfinder --paths 2 --elbo-draws 1 --draws-per-path 300",
];

/// As options and in a file, alone, in a `--batch`, a `--dry-run`, a `sweep` and a `calibrate`. The record has what they
/// find, and a run has no warm-up.
#[test]
fn a_population_goes_every_way() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    tables(here);
    for given in POPULATIONS {
        run(here, &format!("{SAMPLE} --out {{}}/whole {given}")).sampled();
        let (whole, algorithm) = (fingerprints(&at("whole")), sampler(&at("whole")));
        let record: toml::Table = fs::read_to_string(at("whole/run.toml")).unwrap().parse().unwrap();
        assert_eq!(record["sampler"]["tune"].as_integer(), Some(0), "{given}");
        assert!(record["adaptation"]["population"]["log_evidence"].is_float(), "{given}");
        for left_out in &pairs(given)[1..] {
            let rest = given.replace(&format!(" {left_out}"), "");
            run(here, &format!("{SAMPLE} --out {{}}/rest {rest}")).sampled();
            assert_ne!(fingerprints(&at("rest")), whole, "{left_out} changes nothing");
        }
        fs::write(at("c.toml"), file(given).replace("laplace", "\"laplace\"")).unwrap();
        run(here, &format!("{SAMPLE} --out {{}}/file --config {{}}/c.toml")).sampled();
        assert_eq!((fingerprints(&at("file")), sampler(&at("file"))), (whole, algorithm.clone()), "{given}");
        let as_json = serde_json::to_value(&algorithm).unwrap();
        let told = run(here, &format!("{SAMPLE} --dry-run {given}").replace(" --force", "")).succeeds().json();
        assert_eq!(without_nulls(&told["sampler"]["algorithm"]), as_json, "{given}");
        let swept = "sweep hierarchical-normal --groups 9 --draws 40 --tune 60 --seeds 1 --quiet --json";
        assert!(run(here, &format!("{swept} {given}")).json()["sweep"].is_object(), "{given}");
        let calibrated = "calibrate eight-schools --datasets 2 --chains 2 --draws 20 --quiet --force --out {}/c";
        run(here, &format!("{calibrated} {given}"));
        let settings = fs::read_to_string(at("c/settings.json")).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
        assert_eq!(without_nulls(&settings["sampler"]["algorithm"]), as_json, "{given}");
        let batch = "sample hierarchical-normal --batch {}/in --out {}/batch --group city --value y --draws 30 --quiet";
        run(here, &format!("{batch} --device cpu --json --force {given}"));
        assert_eq!(sampler(&at("batch/sets/oslo")), algorithm, "{given}");
    }
}

/// Neal's funnel is near no normal: Pathfinder says so, and the exit code, too.
#[test]
fn a_doubtful_population_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let funnel = "parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }";
    fs::write(dir.path().join("f.stan"), funnel).unwrap();
    let told = run(dir.path(), "sample {}/f.stan --out {}/run --algorithm pathfinder --draws 100 --device cpu");
    told.fails(1, &["should not be used as they are", "Pareto k", "neither the draws nor the evidence"]);
}

/// A target of acceptance that nobody gives is the sampler's own; one that is given stays.
#[test]
fn the_target_of_acceptance_suits_the_sampler() {
    let dir = tempfile::tempdir().unwrap();
    let target = |given: &str| {
        let told =
            run(dir.path(), &format!("sample eight-schools --dry-run --device cpu --json {given}")).succeeds().json();
        told["sampler"]["target_accept"].as_f64().unwrap()
    };
    assert_eq!(target(""), 0.95);
    assert_eq!((target("--algorithm hmc"), target("--algorithm mams"), target("--algorithm walnuts")), (0.8, 0.8, 0.8));
    assert_eq!(target("--algorithm hmc --target-accept 0.9"), 0.9);
    fs::write(dir.path().join("c.toml"), "[sampler]\nalgorithm = \"chees\"\ntarget_accept = 0.7\n").unwrap();
    assert_eq!(target("--config {}/c.toml"), 0.7);
    assert_eq!(target("--config {}/c.toml --algorithm nuts"), 0.7);
}

/// A sampler that is none is refused, with the names of all.
#[test]
fn an_unknown_sampler_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let told = run(dir.path(), "sample eight-schools --algorithm gibbs --dry-run");
    told.fails(2, &["gibbs", "nuts, hmc, chees, mams, walnuts, importance, smc, pathfinder"]);
    fs::write(dir.path().join("c.toml"), "[sampler]\nalgorithm = \"gibbs\"\n").unwrap();
    let told = run(dir.path(), "sample eight-schools --config {}/c.toml --dry-run");
    told.fails(
        2,
        &["c.toml", "sampler.algorithm", "\"gibbs\"", "nuts, hmc, chees, mams, walnuts, importance, smc, pathfinder"],
    );
}
