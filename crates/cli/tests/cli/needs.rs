//! The options that change something only beside another as a table: each is tried without it and must be refused, with
//! the names of both.
//!
//! Every option stands here, in the table, in the list of options that always have an effect, or in the table of
//! `ways.rs`, which also has the options that a way of running refuses.

use crate::options::{GLOBAL, listed};
use crate::support::{run, tree};
use crate::ways;
use std::collections::BTreeSet;
use std::fs;

/// A command line with an option that would change nothing.
struct Refused {
    command: &'static str,
    option: &'static str,
    line: &'static str,
    /// What is wrong with it: words of the answer.
    words: &'static [&'static str],
}

const fn refused(
    command: &'static str,
    option: &'static str,
    line: &'static str,
    words: &'static [&'static str],
) -> Refused {
    Refused { command, option, line, words }
}

#[rustfmt::skip]
const TABLE: &[Refused] = &[
    refused("verify", "--small", "verify --small --no-deep", &["--no-deep"]),
    refused("verify", "--report", "verify --report --json", &["--json"]),
    refused("device-exact", "--record", "device exact --record {}/x --small", &["--small"]),
    refused("device-exact", "--record", "device exact --record {}/x --expected {}/y", &["--expected"]),
    refused("bench-run", "--out", "bench run eight-schools hierarchical --out {}/x", &["one suite"]),
    refused("bench-run", "--part", "bench run eight-schools --part 1/2", &["--out"]),
    refused("bench-run", "--out", "bench run eight-schools --out {}/x --export-data {}/y", &["--export-data"]),

    refused("sample", "--data", "sample hierarchical-normal --data {}/y.csv --dry-run", &["--group", "--value"]),
    refused("sample", "--data", "sample eight-schools --data {}/y.csv --group g --value y --dry-run", &["eight-schools"]),
    refused("sample", "--group", "sample hierarchical-normal --group g --dry-run", &["--data or --batch"]),
    refused("sample", "--group", "sample hierarchical-normal --data {}/y.csv --group y --value y --dry-run", &["--value"]),
    refused("sample", "--value", "sample hierarchical-normal --value y --dry-run", &["--data or --batch"]),
    refused("sample", "--drop-missing", "sample hierarchical-normal --drop-missing --dry-run", &["--data or --batch"]),
    refused("sample", "--decimal", "sample hierarchical-normal --decimal , --dry-run", &["--data or --batch"]),
    refused("sample", "--groups", "sample hierarchical-normal --data {}/y.csv --group g --value y --groups 3 --dry-run", &["--data"]),
    refused("sample", "--per-group", "sample hierarchical-normal --data {}/y.csv --group g --value y --per-group 3 --dry-run", &["--data"]),
    refused("sample", "--data-seed", "sample hierarchical-normal --data {}/y.csv --group g --value y --data-seed 3 --dry-run", &["--data"]),
    refused("sample", "--batch", "sample hierarchical-normal --batch {}/in --out {}/x", &["--group", "--value"]),
    refused("sample", "--part", "sample eight-schools --part 1/2 --out {}/x", &["--batch"]),
    refused("sample", "--claim", "sample eight-schools --claim --out {}/x", &["--batch"]),
    refused("sample", "--claim", "sample hierarchical-normal --batch {}/in --group g --value y --part 1/2 --claim --out {}/x", &["--part"]),
    refused("sample", "--lease", "sample hierarchical-normal --batch {}/in --group g --value y --lease 9 --out {}/x", &["--claim"]),
    refused("sample", "--force", "sample hierarchical-normal --batch {}/in --group g --value y --claim --force --out {}/x", &["once without --part and --claim"]),
    refused("sample", "--strategy", "sample hierarchical-normal --batch {}/in --group g --value y --part 1/2 --strategy auto --out {}/x", &["give a strategy"]),
    refused("sweep", "--part", "sweep eight-schools --part 1/2", &["--keep"]),
    refused("sweep", "--claim", "sweep eight-schools --claim", &["--keep"]),
    refused("sweep", "--lease", "sweep eight-schools --lease 9 --keep {}/x", &["--claim"]),
    refused("sweep", "--keep", "sweep eight-schools --keep {}/x --out {}/y", &["--out"]),
    refused("sweep", "--strategy", "sweep eight-schools --keep {}/x --claim --strategy auto", &["give a strategy"]),
    refused("calibrate", "--part", "calibrate eight-schools --part 1/2 --geweke --out {}/x", &["--geweke"]),
    refused("calibrate", "--claim", "calibrate eight-schools --claim --geweke --out {}/x", &["--geweke"]),
    refused("calibrate", "--lease", "calibrate eight-schools --lease 9 --out {}/x", &["--claim"]),
    refused("calibrate", "--force", "calibrate eight-schools --part 1/2 --force --out {}/x", &["once without --part and --claim"]),
    refused("calibrate", "--force", "calibrate eight-schools --claim --force --out {}/x", &["once without --part and --claim"]),
    refused("sample", "--batch-by", "sample hierarchical-normal --batch-by g --batch {}/y.csv --group g --value y --out {}/x", &["--group"]),
    refused("sample", "--batch-by", "sample hierarchical-normal --batch-by s --batch {}/in --group g --value y --out {}/x", &["is a folder"]),
    refused("sample", "--keep-warmup", "sample eight-schools --keep-warmup --strategy many-short --dry-run", &["many short"]),
    refused("sample", "--keep-warmup", "sample eight-schools --keep-warmup --strategy auto --dry-run", &["--strategy"]),
    refused("sample", "--init", "sample eight-schools --init prior --algorithm smc --dry-run", &["smc moves no chains"]),
    refused("sample", "--superchains", "sample eight-schools --superchains 4 --dry-run", &["--strategy many-short"]),
    refused("sample", "--superchains", "sample eight-schools --superchains 4 --strategy four-long --dry-run", &["--strategy many-short"]),
    refused("sample", "--leapfrogs", "sample eight-schools --leapfrogs 4 --dry-run", &["nuts has no such setting"]),
    refused("sample", "--step-size", "sample eight-schools --step-size 4 --algorithm mams --dry-run", &["mams has no such setting"]),
    refused("sample", "--length", "sample eight-schools --length 4 --algorithm chees --dry-run", &["chees has no such setting"]),
    refused("sample", "--jitter", "sample eight-schools --jitter 1 --algorithm walnuts --dry-run", &["walnuts has no such setting"]),
    refused("sample", "--max-error", "sample eight-schools --max-error 1 --algorithm hmc --dry-run", &["hmc has no such setting"]),
    refused("sample", "--max-halvings", "sample eight-schools --max-halvings 4 --dry-run", &["nuts has no such setting"]),
    refused("sample", "--particles", "sample eight-schools --particles 400 --dry-run", &["nuts has no such setting"]),
    refused("sample", "--proposal", "sample eight-schools --proposal laplace --algorithm smc --dry-run", &["smc has no such setting"]),
    refused("sample", "--proposal", "sample hierarchical-normal --proposal prior --algorithm importance --batch {}/in --group g --value y --out {}/x", &["--batch draws particles from no prior"]),
    refused("sweep", "--proposal", "sweep eight-schools --proposal prior --algorithm importance", &["octopus sweep draws particles from no prior"]),
    refused("calibrate", "--proposal", "calibrate eight-schools --proposal prior --algorithm importance --out {}/x", &["octopus calibrate draws particles from no prior"]),
    refused("sample", "--degrees", "sample eight-schools --degrees 4 --algorithm pathfinder --dry-run", &["pathfinder has no such setting"]),
    refused("sample", "--ess-share", "sample eight-schools --ess-share 0.7 --algorithm hmc --dry-run", &["hmc has no such setting"]),
    refused("sample", "--paths", "sample eight-schools --paths 3 --algorithm importance --dry-run", &["importance has no such setting"]),
    refused("sample", "--elbo-draws", "sample eight-schools --elbo-draws 3 --dry-run", &["nuts has no such setting"]),
    refused("sample", "--draws-per-path", "sample eight-schools --draws-per-path 9 --dry-run", &["nuts has no such setting"]),
    refused("sample", "--strategy", "sample eight-schools --strategy auto --algorithm smc --dry-run", &["smc moves no chains"]),
    refused("sample", "--precision", "sample eight-schools --precision f32 --device cpu --dry-run", &["the CPU computes in f64"]),
    refused("sample", "--gpu-memory", "sample eight-schools --gpu-memory 1GiB --device cpu --dry-run", &["--device cpu"]),
    refused("sample", "--no-fallback", "sample eight-schools --no-fallback --device cpu --dry-run", &["--device cpu"]),
    refused("sample", "--mu-sd", "sample eight-schools --mu-sd 3 --dry-run", &["eight-schools has no such setting"]),
    refused("sample", "--mu-mean", "sample eight-schools --mu-mean 3 --dry-run", &["eight-schools has no such setting"]),
    refused("sample", "--sigma-pop-scale", "sample eight-schools --sigma-pop-scale 3 --dry-run", &["eight-schools has no such setting"]),
    refused("sample", "--sigma-obs-scale", "sample eight-schools --sigma-obs-scale 3 --dry-run", &["eight-schools has no such setting"]),
    refused("sample", "--likelihood", "sample eight-schools --likelihood pointwise --dry-run", &["eight-schools has no such setting"]),

    refused("resume", "--no-fallback", "resume {}/run --no-fallback --device cpu", &["--device cpu"]),

    refused("plot", "--var", "plot {}/profile.json --var x --kind profile --out {}/p", &["--kind profile"]),
    refused("plot", "--kind", "plot {}/profile.json --kind profile,forest --out {}/p", &["--kind profile"]),

    refused("compare", "--alpha", "compare {}/a.json {}/b.json --alpha 0.1", &["two reports"]),

    refused("loo", "--weights", "loo {}/y.csv --weights stacking", &["several TRACEs"]),
    refused("loo", "--draws", "loo {}/y.csv --draws 7", &["a run folder"]),

    refused("calibrate", "--config", "calibrate eight-schools --config {}/goal.toml --out {}/x", &["goal"]),
    refused("calibrate", "--config", "calibrate eight-schools --config {}/warm.toml --out {}/x", &["keep_warmup"]),
    refused("calibrate", "--config", "calibrate eight-schools --config {}/auto.toml --out {}/x --datasets 2", &["--strategy auto"]),
    refused("calibrate", "--sequences", "calibrate eight-schools --sequences 9 --out {}/x", &["--geweke"]),
    refused("calibrate", "--sequences", "calibrate eight-schools --sequences 9 --datasets 3 --out {}/x", &["--geweke"]),
    refused("calibrate", "--steps", "calibrate eight-schools --steps 9 --out {}/x", &["--geweke"]),
    refused("calibrate", "--steps", "calibrate eight-schools --steps 9 --kept 3 --out {}/x", &["--geweke"]),
    refused("calibrate", "--datasets", "calibrate eight-schools --geweke --datasets 3 --out {}/x", &["--geweke"]),
    refused("calibrate", "--kept", "calibrate eight-schools --geweke --kept 3 --out {}/x", &["--geweke"]),
    refused("calibrate", "--strategy", "calibrate eight-schools --geweke --strategy many-short --out {}/x", &["Geweke's test"]),
    refused("calibrate", "--strategy", "calibrate eight-schools --geweke --strategy cross-chain --out {}/x", &["Geweke's test"]),
    refused("calibrate", "--superchains", "calibrate eight-schools --superchains 4 --out {}/x", &["--strategy many-short"]),
    refused("calibrate", "--precision", "calibrate eight-schools --precision f32 --device cpu --out {}/x", &["the CPU computes in f64"]),
    refused("calibrate", "--gpu-memory", "calibrate eight-schools --gpu-memory 1GiB --device cpu --out {}/x", &["--device cpu"]),
    refused("calibrate", "--gpu-memory", "calibrate eight-schools --gpu-memory 1GiB --geweke --out {}/x", &["--geweke"]),
    refused("calibrate", "--no-fallback", "calibrate eight-schools --no-fallback --device cpu --out {}/x", &["--device cpu"]),
    refused("calibrate", "--no-fallback", "calibrate eight-schools --no-fallback --geweke --out {}/x", &["--geweke"]),
    refused("calibrate", "--groups", "calibrate hierarchical-normal --group-sizes 3,4 --groups 2 --out {}/x", &["leave it out"]),
    refused("calibrate", "--per-group", "calibrate hierarchical-normal --group-sizes 3,4 --per-group 2 --out {}/x", &["leave it out"]),
    refused("calibrate", "--group-sizes", "calibrate eight-schools --group-sizes 3,4 --out {}/x", &["eight-schools has no such setting"]),

    refused("check", "--data", "check hierarchical-normal --data {}/y.csv", &["--group", "--value"]),
    refused("check", "--group", "check hierarchical-normal --group g", &["--data"]),
    refused("check", "--group", "check hierarchical-normal --data {}/y.csv --group y --value y", &["--value"]),
    refused("check", "--value", "check hierarchical-normal --value g", &["--data"]),
    refused("check", "--drop-missing", "check hierarchical-normal --drop-missing", &["--data"]),
    refused("check", "--decimal", "check hierarchical-normal --decimal ,", &["--data"]),

    refused("sweep", "--data", "sweep hierarchical-normal --data {}/y.csv", &["--group", "--value"]),
    refused("sweep", "--group", "sweep hierarchical-normal --group g", &["--data"]),
    refused("sweep", "--group", "sweep hierarchical-normal --data {}/y.csv --group y --value y", &["--value"]),
    refused("sweep", "--value", "sweep hierarchical-normal --value g", &["--data"]),
    refused("sweep", "--drop-missing", "sweep hierarchical-normal --drop-missing", &["--data"]),
    refused("sweep", "--decimal", "sweep hierarchical-normal --decimal ,", &["--data"]),
    refused("sweep", "--groups", "sweep hierarchical-normal --data {}/y.csv --group g --value y --groups 3", &["--data"]),
    refused("sweep", "--superchains", "sweep eight-schools --superchains 4", &["--strategy many-short"]),
    refused("sweep", "--config", "sweep eight-schools --config {}/goal.toml", &["goal"]),
    refused("sweep", "--config", "sweep eight-schools --config {}/warm.toml", &["keep_warmup"]),
    refused("sweep", "--config", "sweep eight-schools --config {}/gpu.toml", &["`device`"]),

    refused("submit", "--image", "submit --slurm --image i sweep eight-schools --keep {}/x", &["--kubernetes"]),
    refused("submit", "--volume", "submit --slurm --volume v sweep eight-schools --keep {}/x", &["--kubernetes"]),
    refused("export", "--predictive", "export {}/run --predictive 3 --to csv --out {}/x.csv", &["csv"]),
    refused("export", "--prior", "export {}/run --prior 3 --to csv --out {}/x.csv", &["csv"]),

    refused("validate", "--peers", "validate eight-schools --peers {}/x --out {}/y", &["the PRD's model"]),
    refused("validate", "--data", "validate --data {}/y.csv --out {}/x", &["--group", "--value"]),
    refused("validate", "--group", "validate --group g --out {}/x", &["--data"]),
    refused("validate", "--group", "validate --data {}/y.csv --group y --value y --out {}/x", &["--value"]),
    refused("validate", "--value", "validate --value g --out {}/x", &["--data"]),
    refused("validate", "--drop-missing", "validate --drop-missing --out {}/x", &["--data"]),
    refused("validate", "--decimal", "validate --decimal , --out {}/x", &["--data"]),
    refused("validate", "--groups", "validate --data {}/y.csv --group g --value y --groups 3 --out {}/x", &["--data"]),
    refused("validate", "--gpu-memory", "validate --gpu-memory 1GiB --device cpu --out {}/x", &["--device cpu"]),
    refused("validate", "--no-fallback", "validate --no-fallback --device cpu --out {}/x", &["--device cpu"]),
    refused("validate", "--config", "validate --config {}/goal.toml --out {}/x", &["goal"]),
    refused("validate", "--config", "validate --config {}/warm.toml --out {}/x", &["keep_warmup"]),

    refused("random", "--part", "random normal --n 3 --part 1/2", &["--out"]),
    refused("random", "--resume", "random normal --n 3 --resume", &["--out"]),
    refused("random", "--resume", "random normal --n 3 --resume --force --out {}/x.npy", &["--force"]),
    refused("random", "--force", "random normal --n 3 --force", &["--out"]),
    refused("data-polynomial", "--force", "data polynomial --force", &["--out"]),
    refused("random", "--loc", "random exponential --n 3 --loc 1", &["exponential has no such parameter"]),
    refused("random", "--direction", "random normal --n 3 --direction 1,0", &["normal has no such parameter"]),
    refused("random", "--concentration", "random normal --n 3 --concentration 1", &["normal has no such parameter"]),
    refused("random", "--scale", "random uniform --n 3 --scale 1", &["uniform has no such parameter"]),
    refused("random", "--shape", "random normal --n 3 --shape 1", &["normal has no such parameter"]),
    refused("random", "--a", "random normal --n 3 --a 1", &["normal has no such parameter"]),
    refused("random", "--b", "random normal --n 3 --b 1", &["normal has no such parameter"]),
    refused("random", "--df", "random normal --n 3 --df 1", &["normal has no such parameter"]),
    refused("random", "--low", "random normal --n 3 --low 1", &["normal has no such parameter"]),
    refused("random", "--high", "random normal --n 3 --high 1", &["normal has no such parameter"]),
];

/// The options that are heard whatever is beside them, of commands other than those of `ways.rs`.
#[rustfmt::skip]
const HEARD: &[(&str, &[&str])] = &[
    ("verify", &["--device", "--no-deep"]),
    ("device-watch", &["--every", "--count"]),
    ("device-measure", &["--device", "--cache"]),
    ("device-warm", &["--device", "--model", "--precision", "--kernel-cache"]),
    ("device-exact", &["--device", "--runs", "--small", "--expected"]),
    ("device-sampler", &["--device", "--small", "--seconds", "--out"]),
    ("device-accept", &["--reports"]),
    ("bench-list", &["--peers"]),
    ("bench-setup", &["--peers"]),
    ("bench-run", &["--peers", "--frameworks", "--repeats", "--data-size", "--n-particles", "--device", "--export-data"]),
    ("bench-plot", &["--plot-type", "--methods", "--page", "--out", "--format"]),
    ("bench-compare", &["--force"]),
    ("bench-export", &["--format"]),
    ("bench-test", &["--frameworks", "--peers"]),
    ("check", &["--config", "--groups", "--per-group", "--data-seed", "--likelihood", "--mu-mean", "--mu-sd",
                "--sigma-pop-scale", "--sigma-obs-scale", "--program", "--set"]),
    ("model-check", &["--data", "--set"]),
    ("model-show", &["--data", "--set"]),
    ("diagnose", &["--all", "--prob"]),
    ("plot", &["--out", "--format"]),
    ("compare", &["--out", "--all", "--max-mean", "--max-sd"]),
    ("loo", &["--waic", "--var"]),
    ("evidence", &["--draws", "--seed"]),
    ("export", &["--to", "--out", "--force"]),
    ("predict", &["--data", "--set", "--draws", "--to", "--out", "--force"]),
    ("random", &["--n", "--out", "--dtype", "--seed", "--device", "--memory", "--threads"]),
    ("data-polynomial", &["--n", "--seed", "--noise", "--out"]),
    ("status", &["--wait"]),
    ("submit", &["--slurm", "--kubernetes", "--pbs", "--run", "--parts", "--threads", "--memory", "--minutes", "--gpus"]),
    ("man", &["--out"]),
];

#[test]
fn an_option_that_would_change_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("y.csv"), "s,g,y\n1,a,1\n1,a,2\n1,b,3\n1,b,5\n").unwrap();
    fs::create_dir(at("in")).unwrap();
    fs::write(at("in/y.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    fs::write(at("goal.toml"), "[goal]\nmax_seconds = 5.0\n").unwrap();
    fs::write(at("warm.toml"), "keep_warmup = true\n").unwrap();
    fs::write(at("gpu.toml"), "device = \"cuda\"\n").unwrap();
    fs::write(at("auto.toml"), "sampler = { strategy = \"auto\" }\n").unwrap();
    run(dir.path(), "sample eight-schools --draws 50 --tune 50 --device cpu --quiet --out {}/run").sampled();
    let before = tree(dir.path());
    let mut wrong = Vec::new();
    for Refused { command, option, line, words } in TABLE {
        assert!(line.starts_with(&command.replace('-', " ")) && line.contains(option), "{line}");
        let answer = run(dir.path(), line);
        let named = answer.stderr.contains(option) && words.iter().all(|word| answer.stderr.contains(word));
        if answer.code != Some(2) || !named {
            wrong.push(format!("octopus {line}, {words:?}: {:?}\n{}", answer.code, answer.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(tree(dir.path()), before, "nothing is written");
}

/// Settings in files are heard under the same conditions.
#[test]
fn a_setting_of_a_file_that_would_change_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (text, option, words) in [
        ("[sampler]\nsuperchains = 8\n", "", ["sampler.superchains", "many-short"]),
        ("device = \"cpu\"\n", "--gpu-memory 1GiB", ["--gpu-memory", "device = \"cpu\""]),
        ("device = \"cpu\"\n", "--no-fallback", ["--no-fallback", "device = \"cpu\""]),
    ] {
        fs::write(dir.path().join("c.toml"), text).unwrap();
        let line = format!("sample eight-schools --config {{}}/c.toml --dry-run {option}");
        run(dir.path(), &line).fails(2, &words);
    }
    // What the command line overrides is heard where it is not overridden.
    fs::write(dir.path().join("c.toml"), "[sampler]\nstrategy = \"many-short\"\nsuperchains = 8\n").unwrap();
    run(dir.path(), "sample eight-schools --config {}/c.toml --dry-run --strategy four-long --device cpu").succeeds();
}

/// A setting without an option keeps its name.
#[test]
fn a_setting_of_a_file_is_called_by_an_option_only_where_there_is_one() {
    let dir = tempfile::tempdir().unwrap();
    for (text, words) in [
        ("[data.synthetic]\nwithin_sd = 0.0\n", "error: within_sd 0: a standard deviation"),
        ("[data.synthetic]\nbetween_sd = -1.0\n", "error: between_sd -1: a standard deviation"),
        ("[data.synthetic]\nper_group = 0\n", "error: --per-group 0: at least one observation"),
    ] {
        fs::write(dir.path().join("c.toml"), text).unwrap();
        let answer = run(dir.path(), "sample hierarchical-normal --config {}/c.toml --dry-run");
        answer.fails(2, &[words]);
        assert!(!answer.stderr.contains("--within") && !answer.stderr.contains("--between"), "{}", answer.stderr);
    }
}

#[test]
fn every_option_is_in_the_table_or_always_heard() {
    let mut missing = Vec::new();
    let mut there = BTreeSet::new();
    for (command, options) in listed() {
        for option in options.into_iter().map(|listed| listed.option).filter(|one| !GLOBAL.contains(&one.as_str())) {
            let in_ways = ways::is_of(&command);
            let in_table = TABLE.iter().any(|row| row.command == command && row.option == option);
            let is_heard = HEARD.iter().any(|(of, heard)| *of == command && heard.contains(&option.as_str()));
            if !in_table && !is_heard && !in_ways {
                missing.push(format!("{command} {option}"));
            }
            assert!(!(is_heard && (in_table || in_ways)), "{command} {option} is in both lists");
            there.insert((command.clone(), option));
        }
    }
    assert!(missing.is_empty(), "say what these need, or that they are always heard: {missing:#?}");
    let listed = HEARD.iter().flat_map(|(command, options)| options.iter().map(move |option| (*command, *option)));
    for (command, option) in listed.chain(TABLE.iter().map(|row| (row.command, row.option))) {
        assert!(there.contains(&(command.to_owned(), option.to_owned())), "`octopus {command}` has no {option}");
    }
}
