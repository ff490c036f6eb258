//! Many short chains, and runs that end when their draws suffice.

use crate::support::{fingerprints, run};
use std::fs;

const MANY: &str =
    "sample hierarchical-normal --groups 12 --strategy many-short --chains 96 --device cpu --quiet --out {}/";

#[test]
fn many_short_chains_are_sampled_and_judged_by_superchains() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &format!("{MANY}run --draws 12 --json")).sampled().json();
    assert_eq!(found["sampler"]["superchains"], 24, "as suits 96 chains");
    assert_eq!((&found["diagnosis"]["superchains"], &found["diagnosis"]["chains"]), (&24.into(), &96.into()));
    assert!(found["diagnosis"]["min_ess_bulk"].as_f64().unwrap() > 200.0, "{found}");
    let record = fs::read_to_string(dir.path().join("run/run.toml")).unwrap();
    let iterations: usize = record.lines().find_map(|line| line.strip_prefix("iterations = ")?.parse().ok()).unwrap();
    assert!((20..300).contains(&iterations), "warm-up ends by itself: {iterations}");

    let text = run(dir.path(), "diagnose {}/run");
    assert!(text.stdout.contains("96 chains of 12 draws in 24 superchains"), "{}", text.stdout);
    assert!(text.stdout.contains("nested_r_hat") && text.stdout.contains("of all chains together"), "{}", text.stdout);
    run(dir.path(), "export {}/run --to netcdf --out {}/run.nc").succeeds();
    run(dir.path(), "plot {}/run --out {}/plots").succeeds();
}

/// Also when the run is cut by checkpoints, and on another number of threads.
#[test]
fn many_short_chains_have_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &format!("{MANY}0 --draws 6 --threads 1")).sampled();
    let expected = fingerprints(&dir.path().join("0"));
    run(dir.path(), &format!("{MANY}1 --draws 6 --threads 3 --checkpoint-every 3")).sampled();
    assert_eq!(fingerprints(&dir.path().join("1")), expected);
}

const GOAL: &str = "sample hierarchical-normal --groups 12 --tune 200 --device cpu --quiet --json --out {}/";

#[test]
fn a_run_ends_at_its_goal_and_always_there() {
    let dir = tempfile::tempdir().unwrap();
    let goal = format!("{GOAL}run --draws 20000 --target-ess 600 --target-rhat 1.02");
    let found = run(dir.path(), &goal).sampled().json();
    let draws = found["ending"]["draws"].as_u64().unwrap();
    assert_eq!(found["ending"]["by"], "target");
    assert!((124..2000).contains(&draws), "{found}");
    let last = found["ending"]["last"].as_str().unwrap();
    assert!(last.contains("wanted") && (last.contains("ESS of") || last.contains("R-hat of")), "{last}");
    let diagnosis = &found["diagnosis"];
    assert_eq!(diagnosis["draws"], draws);
    for field in ["min_ess_bulk", "min_ess_tail"] {
        assert!(diagnosis[field].as_f64().unwrap() >= 600.0, "{diagnosis}");
    }
    assert!(diagnosis["max_rhat"].as_f64().unwrap() < 1.02);
    // The draws are those of a run that was asked for so many, whatever was drawn while they were looked at.
    run(dir.path(), &format!("{GOAL}plain --draws {draws}")).sampled();
    let expected = fingerprints(&dir.path().join("plain"));
    assert_eq!(fingerprints(&dir.path().join("run")), expected);
    let goal = goal.replace("/run ", "/again --threads 1 --checkpoint-every 10 ");
    run(dir.path(), &goal).sampled();
    assert_eq!(fingerprints(&dir.path().join("again")), expected);
}

#[test]
fn a_goal_that_is_not_reached_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let words = format!("{GOAL}run --draws 100 --target-ess 100000").replace("--quiet --json", "");
    run(dir.path(), &words)
        .fails(1, &["ended after 100 draws of each chain", "no more draws", "farthest from its target"]);
    let words = format!("{GOAL}late --draws 1000000000 --target-ess 1e9 --max-seconds 0.5");
    let late = run(dir.path(), &words);
    assert_eq!(late.code, Some(1), "{late:#?}");
    assert_eq!(late.json()["ending"]["by"], "time");
    // A limit of the time alone is no target that could be missed.
    let words = format!("{GOAL}only --draws 1000000000 --max-seconds 0.3");
    assert_eq!(run(dir.path(), &words).sampled().json()["ending"]["by"], "time");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |words: &str, said: &[&str]| run(dir.path(), &format!("{MANY}run {words}")).fails(2, said);
    refused("--superchains 7", &["--superchains 7", "must divide"]);
    refused("--tune 10", &["--tune 10", "20 iterations"]);
    refused("--keep-warmup", &["--keep-warmup", "many short chains"]);
    refused("--target-rhat 1", &["--target-rhat 1", "above 1"]);
    refused("--target-ess -3", &["--target-ess -3", "positive"]);
    refused("--max-seconds 0", &["--max-seconds 0", "positive"]);
    let words = "sample hierarchical-normal --superchains 4 --out {}/run";
    run(dir.path(), words).fails(2, &["--superchains", "--strategy many-short"]);
    assert!(!dir.path().join("run").exists());
}

/// The default, whose warm-up is kept as any other; a warm-up of all iterations is one flag away.
#[test]
fn a_few_chains_warm_up_together_until_they_have_settled() {
    let dir = tempfile::tempdir().unwrap();
    let few = "sample hierarchical-normal --groups 12 --draws 20 --device cpu --keep-warmup --out {}/";
    let told = run(dir.path(), &format!("{few}0 --threads 1"));
    told.sampled();
    assert!(told.stderr.contains("run: 4 chains x (at most 1000 warm-up + 20 draws)"), "{}", told.stderr);
    let iterations = |name: &str| -> usize {
        let record = fs::read_to_string(dir.path().join(name).join("run.toml")).unwrap();
        record.lines().find_map(|line| line.strip_prefix("iterations = ")?.parse().ok()).unwrap()
    };
    assert!((105..300).contains(&iterations("0")), "{}", iterations("0"));
    run(dir.path(), "export {}/0 --to csv --out {}/0.csv").succeeds();
    run(dir.path(), &format!("{few}1 --threads 3 --checkpoint-every 7 --strategy cross-chain --chains 4")).sampled();
    assert_eq!(fingerprints(&dir.path().join("1")), fingerprints(&dir.path().join("0")));
    run(dir.path(), &format!("{few}long --strategy four-long")).sampled();
    assert_eq!(iterations("long"), 1000);
}

/// What is chosen does not depend on the machine, and draws as if it had been asked for.
#[test]
fn auto_chooses_says_why_and_draws_what_was_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let auto = format!("{GOAL}auto --chains 4 --draws 2000 --strategy auto --threads 2").replace("--tune 200", "");
    let found = run(dir.path(), &auto).sampled().json();
    let reason = found["strategy_reason"].as_str().unwrap();
    assert!(
        reason.starts_with("many-short with ")
            && reason.contains("leapfrog steps, cross-chain with 4 chains x 2000 draws"),
        "{reason}"
    );
    let of = |name: &str| found["sampler"][name].as_u64().unwrap();
    let (chains, draws, superchains) = (of("chains"), of("draws"), of("superchains"));
    assert!(found["sampler"]["strategy"] == "many-short" && chains * draws >= 8000, "{found}");
    assert!(fs::read_to_string(dir.path().join("auto/run.toml")).unwrap().contains(reason));
    let named = format!("--strategy many-short --chains {chains} --superchains {superchains} --draws {draws}");
    run(dir.path(), &format!("{GOAL}named {named}").replace("--tune 200", "")).sampled();
    assert_eq!(fingerprints(&dir.path().join("auto")), fingerprints(&dir.path().join("named")));

    let loud = format!("{GOAL}target --strategy auto --target-ess 500")
        .replace("--quiet --json", "")
        .replace("--tune 200", "");
    let target = run(dir.path(), &loud);
    target.sampled();
    assert!(target.stderr.contains("strategy: many-short with"), "{}", target.stderr);
    run(dir.path(), &format!("{GOAL}none --strategy auto --keep-warmup")).fails(2, &["--keep-warmup", "four-long"]);
    run(dir.path(), &format!("{GOAL}none --strategy auto --superchains 4")).fails(2, &["--superchains"]);
    run(dir.path(), "calibrate hierarchical-normal --strategy auto --out {}/c")
        .fails(2, &["--strategy auto", "must be said"]);
}

/// A settings file says what options say.
#[test]
fn settings_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let settings = "[sampler]\nstrategy = \"many-short\"\nchains = 32\ndraws = 5\n[goal]\ntarget_ess = 50.0\n";
    fs::write(dir.path().join("settings.toml"), settings).unwrap();
    let words =
        "sample hierarchical-normal --groups 5 --config {}/settings.toml --out {}/run --device cpu --json --quiet";
    let found = run(dir.path(), words).json();
    assert_eq!((&found["sampler"]["superchains"], &found["sampler"]["draws"]), (&8.into(), &5.into()));
    assert_eq!(found["goal"]["target_ess"], 50.0);
    let settings = settings.replace("many-short", "auto");
    fs::write(dir.path().join("settings.toml"), settings).unwrap();
    let found = run(dir.path(), &format!("{words} --force")).json();
    assert!(found["strategy_reason"].as_str().unwrap().contains("leapfrog steps"), "{found}");
}
