//! `--init`: where chains start; `--proposal prior`: particles from the prior.

use crate::support::{fingerprints, run, stop};
use octopus_runs::RunFolder;
use std::fs;
use std::path::Path;

/// A term that says nothing of how its parameter is drawn.
const TERM: &str = "parameters { real x; } model { target += -x^2; }";
/// A prior far away from 0, of which the data say nothing.
const FAR: &str = "data { int N; vector[N] y; } parameters { real x; real<lower=0> s; }
    model { x ~ normal(1000, 1); s ~ exponential(1); y ~ normal(x, 1000 * s + 1000); }";
const SAMPLE: &str =
    "sample {}/p.stan --data {}/d.json --draws 40 --tune 60 --device cpu --quiet --force --keep-warmup";

/// Each way gives draws of its own, the same for any number of threads, and is in the record; what a model cannot do, it
/// says.
#[test]
fn chains_start_where_they_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("p.stan"), FAR).unwrap();
    fs::write(at("d.json"), r#"{"N": 2, "y": [980.0, 1030.0]}"#).unwrap();
    let mut all = Vec::new();
    for init in ["jitter", "prior", "pathfinder"] {
        for threads in [1, 3] {
            run(here, &format!("{SAMPLE} --init {init} --threads {threads} --out {{}}/{init}-{threads}")).sampled();
        }
        let [one, three] = [1, 3].map(|threads| fingerprints(&at(&format!("{init}-{threads}"))));
        assert_eq!(one, three, "{init}");
        assert!(!all.contains(&one), "{init} changes nothing");
        all.push(one);
        let record = fs::read_to_string(at(&format!("{init}-1")).join("run.toml")).unwrap();
        assert_eq!(record.contains(&format!("init = {init:?}")), init != "jitter", "{record}");
    }
    run(here, &format!("{SAMPLE} --out {{}}/plain")).sampled();
    assert_eq!(fingerprints(&at("plain")), all[0]);

    fs::write(at("p.stan"), TERM).unwrap();
    fs::write(at("d.json"), "{}").unwrap();
    run(here, &format!("{SAMPLE} --init prior --out {{}}/none"))
        .fails(3, &["--init prior", "p.stan:1", "take --init pathfinder"]);
    assert!(!at("none").exists(), "nothing is left behind");
}

/// One observation of a mean whose prior is a normal: the evidence is the density of a normal of variance 2 at 0.5.
const CONJUGATE: &str = "data { real y; } parameters { real x; } model { x ~ normal(0, 1); y ~ normal(x, 1); }";

/// The same draws for any number of threads, from a file of settings, and after an end before the population was drawn. The
/// evidence has all constants.
#[test]
fn particles_are_drawn_from_the_prior() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("p.stan"), CONJUGATE).unwrap();
    fs::write(at("d.json"), r#"{"y": 0.5}"#).unwrap();
    let sample = "sample {}/p.stan --data {}/d.json --draws 40 --chains 2 --device cpu --force";
    let prior = "--algorithm importance --proposal prior --particles 20000";
    let told = run(here, &format!("{sample} {prior} --threads 1 --out {{}}/one"));
    assert!(told.sampled().stdout.contains("log evidence -1.3"), "{told:#?}");
    assert!(!told.stdout.contains("without the constants"), "{told:#?}");
    run(here, &format!("{sample} {prior} --threads 3 --out {{}}/three")).sampled();
    fs::write(at("c.toml"), "[sampler.algorithm.importance]\nproposal = \"prior\"\nparticles = 20000\n").unwrap();
    run(here, &format!("{sample} --config {{}}/c.toml --out {{}}/file")).sampled();
    let one = fingerprints(&at("one"));
    assert_eq!([fingerprints(&at("three")), fingerprints(&at("file"))], [one.clone(), one.clone()]);
    let record: toml::Table = fs::read_to_string(at("one/run.toml")).unwrap().parse().unwrap();
    let found = &record["adaptation"]["population"];
    let (evidence, error) = (found["log_evidence"].as_float().unwrap(), found["standard_error"].as_float().unwrap());
    let exact = -0.5 * (4.0 * std::f64::consts::PI).ln() - 0.25 / 4.0;
    assert!((evidence - exact).abs() < 4.0 * error && error < 0.01, "{evidence} +- {error}, not {exact}");

    for (name, given) in [("prior", prior), ("mixture", "--algorithm importance")] {
        run(here, &format!("{sample} {given} --out {{}}/{name}")).sampled();
        let late = format!("{sample} {given} --max-seconds 1e-9 --out {{}}/late-{name}");
        run(here, &late).fails(3, &["--max-seconds", "before the population was drawn", "nothing is kept of it"]);
        let record = at(&format!("late-{name}/run.toml"));
        let text = fs::read_to_string(&record).unwrap();
        assert!(text.contains("status = \"interrupted\""), "{text}");
        fs::write(&record, text.replace("max_seconds = 0.000000001", "max_seconds = 1e9")).unwrap();
        run(here, &format!("resume {{}}/late-{name}")).sampled();
        assert_eq!(fingerprints(&at(&format!("late-{name}"))), fingerprints(&at(name)));
    }

    fs::write(at("p.stan"), TERM).unwrap();
    run(here, &format!("{sample} {prior} --out {{}}/none"))
        .fails(3, &["--proposal prior", "p.stan:1", "take --proposal mixture"]);
    assert!(!at("none").exists(), "nothing is left behind");
}

/// The first values of a variable in the draws of warm-up, chain by chain: those after one tiny step.
fn first_of(run: &Path, name: &str) -> Vec<f64> {
    let data = RunFolder::open(run).unwrap().read().unwrap();
    let array = data.group("warmup_posterior").unwrap().get(name).unwrap();
    let (values, each) = (array.values.to_f64(), array.draws() * array.elements(2));
    values.chunks(each).map(|chain| chain[0]).collect()
}

/// One object is for all chains, a list has one for each; parameters without a value start by jitter, which is said.
/// Threads change no bit.
#[test]
fn chains_start_at_values_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("p.stan"), FAR).unwrap();
    fs::write(at("d.json"), r#"{"N": 2, "y": [980.0, 1030.0]}"#).unwrap();
    let sample = format!("{SAMPLE} --algorithm hmc --leapfrogs 1 --step-size 1e-9 --verbose").replace(" --quiet", "");
    fs::write(at("one.json"), r#"{"x": 1002.5}"#).unwrap();
    let each: Vec<String> = (1..=4).map(|k| format!("{{\"x\": {}, \"s\": 0.{k}}}", 1000 + k)).collect();
    fs::write(at("each.json"), format!("[{}]", each.join(", "))).unwrap();
    for (file, x) in [("one", [1002.5; 4]), ("each", [1001.0, 1002.0, 1003.0, 1004.0])] {
        for threads in [1, 3] {
            let found =
                run(here, &format!("{sample} --init {{}}/{file}.json --threads {threads} --out {{}}/{file}-{threads}"));
            found.sampled();
            assert_eq!(found.stderr.contains("one.json: without a value, and started by jitter: s"), file == "one");
        }
        let [one, three] = [1, 3].map(|threads| at(&format!("{file}-{threads}")));
        assert_eq!(fingerprints(&one), fingerprints(&three));
        let starts = first_of(&one, "x");
        assert!(starts.iter().zip(x).all(|(found, x)| (found - x).abs() < 1e-6), "{starts:?}");
        let s = first_of(&one, "s");
        assert_eq!(s[2] > 0.299 && s[2] < 0.301 && s[0] < 0.101, file == "each", "{s:?}");
        assert!(s[0] != s[1], "each chain has a jitter of its own");
        assert!(fs::read_to_string(one.join("run.toml")).unwrap().contains(&format!("{file}.json\"")));
    }
    let fails = |text: &str, words: &[&str]| {
        fs::write(at("bad.json"), text).unwrap();
        run(here, &format!("{SAMPLE} --init {{}}/bad.json --out {{}}/none")).fails(3, words);
        assert!(!at("none").exists(), "nothing is left behind");
    };
    fails(r#"{"s": -2}"#, &["bad.json: `s` is -2, but must be > 0: `s` is declared real<lower=0> (", "p.stan:1:"]);
    fails(r#"{"mu": 1}"#, &["bad.json: the program has no parameter `mu`: it has x, s"]);
    fails(r#"[{"x": 1}, {"x": 2}]"#, &["bad.json: it has 2 objects of values, and 4 chains start"]);
    fails("[]", &["bad.json: it has 0 objects"]);
    fails(
        r#"[{"x": 1}, {"x": 2}, {"x": 3}, {"x": [4]}]"#,
        &["bad.json (object 4): `x` has sizes [1], but [] are needed"],
    );
    fails("{\n\"x\": }", &["bad.json:2: expected value"]);
    fails(
        r#"{"x": 1e200, "s": 1}"#,
        &["chain 0 cannot start where it is to", "the term of `x ~ normal(1000, 1)` (", "p.stan:2:13) is -inf"],
    );
    fails(r#"{"x": 1e200}"#, &["chain 0 cannot start where it is to", "`x ~ normal(1000, 1)`"]);
    run(here, &format!("{SAMPLE} --init {{}}/nowhere.json --out {{}}/none"))
        .fails(2, &["--init", "nowhere.json", "no such file or run folder, and none of jitter, prior, pathfinder"]);
}

/// Where no jitter finds a density, the statement and the parameter are named, as with a file of values.
#[test]
fn a_bad_start_names_its_statement() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("p.stan"),
        "parameters { real x; }\nmodel { x ~ normal(0, 1);\n target += log(-1 - x); }",
    )
    .unwrap();
    run(dir.path(), "sample {}/p.stan --init-radius 0.5 --device cpu --out {}/none").fails(
        3,
        &["chain 0: no starting point", "the term of `target += log(-1 - x)` (", "p.stan:3:2) is NaN", ", where x = "],
    );
}

/// A program whose effects are written centered, and what its parameters are given.
const EFFECTS: &str = "data { int J; vector[J] y; } parameters { real mu; real<lower=0> tau; vector[J] theta; }
    model { mu ~ normal(0, 5); tau ~ normal(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, 1); }";

/// The chains of a warm start begin at the last draws of the run's chains; threads and an interruption change no bit, and the
/// run needs nothing else.
#[test]
fn chains_start_at_draws_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("p.stan"), EFFECTS).unwrap();
    fs::write(at("d.json"), r#"{"J": 4, "y": [1.0, -2.0, 3.0, 0.5]}"#).unwrap();
    let sample = "sample {}/p.stan --data {}/d.json --device cpu --draws 200 --keep-warmup";
    run(here, &format!("{sample} --tune 300 --quiet --out {{}}/first")).sampled();
    for threads in [1, 3] {
        let words = format!("{sample} --tune 100 --init {{}}/first --threads {threads} --out {{}}/warm-{threads}");
        let found = run(here, &words);
        found.sampled();
        assert!(!found.stderr.contains("--init"), "nothing differs: {}", found.stderr);
    }
    let warm = fingerprints(&at("warm-1"));
    assert_eq!(warm, fingerprints(&at("warm-3")));
    let record = fs::read_to_string(at("warm-1/run.toml")).unwrap();
    assert!(record.contains("first\""), "{record}");
    stop(&at("warm-3"));
    run(here, "resume {}/warm-3").sampled();
    let drawn = |all: &std::collections::BTreeMap<String, String>| {
        all.iter().filter(|(name, _)| !name.starts_with("warmup")).map(|(_, hash)| hash.clone()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&warm), drawn(&fingerprints(&at("warm-3"))));
    // With steps that go nowhere the starts themselves are seen.
    let still = "--algorithm hmc --leapfrogs 1 --step-size 1e-9 --tune 5 --draws 5 --quiet --force --out {}/still";
    let first = RunFolder::open(&at("first")).unwrap().read().unwrap();
    let last = |name: &str| -> Vec<f64> {
        let array = first.posterior().unwrap().get(name).unwrap();
        let (values, width) = (array.values.to_f64(), array.elements(2));
        values.chunks(array.draws() * width).map(|chain| chain[chain.len() - width]).collect()
    };
    run(here, &format!("sample {{}}/p.stan --data {{}}/d.json --device cpu --keep-warmup --init {{}}/first {still}"))
        .sampled();
    for name in ["mu", "tau", "theta"] {
        let (found, expected) = (first_of(&at("still"), name), last(name));
        assert!(found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-5), "{name}: {found:?} {expected:?}");
    }

    // Other data, far away: both are said.
    fs::write(at("far.json"), r#"{"J": 4, "y": [101.0, 98.0, 103.0, 100.5]}"#).unwrap();
    let far = run(here, &format!("{sample} --tune 100 --init {{}}/first --out {{}}/far").replace("d.json", "far.json"));
    let words = ["the data differ (then", "in the run it was from", "coordinates have moved by 2 or more", "--tune"];
    assert!(words.iter().all(|word| far.stderr.contains(word)), "{}", far.stderr);
    // Another program with the same parameters is one more thing that differs; one that lacks a parameter cannot go on.
    let other = |text: &str| {
        fs::write(at("q.stan"), text).unwrap();
        run(
            here,
            &format!("{sample} --tune 100 --init {{}}/first --force --out {{}}/other").replace("p.stan", "q.stan"),
        )
    };
    let wider = other(&EFFECTS.replace("mu ~ normal(0, 5)", "mu ~ normal(0, 6)"));
    assert!(
        wider.stderr.contains("the text of the program differs") && !wider.stderr.contains("moved"),
        "{}",
        wider.stderr
    );
    other(&EFFECTS.replace("tau", "sigma"))
        .fails(3, &["first: the run has no parameter `sigma`: it has mu, tau, theta"]);
    let sizes = EFFECTS.replace("real<lower=0> tau;", "array[1] real<lower=0> tau;").replace("tau ~", "tau[1] ~");
    other(&sizes.replace("(mu, tau)", "(mu, tau[1])")).fails(3, &["`tau` has sizes [] in the run, but [1] are needed"]);
    other(&EFFECTS.replace("real mu", "real<lower=100> mu"))
        .fails(3, &["first (chain 0, draw 199): `mu` is", "must be > 100"]);
}

/// A file of settings says it as the option does, which comes first; each data set of a batch starts so.
#[test]
fn starts_go_every_way() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("c.toml"), "init = \"pathfinder\"\n").unwrap();
    fs::write(at("bad.toml"), "init = \"nowhere\"\n").unwrap();
    let sample = "sample eight-schools --draws 20 --tune 30 --device cpu --quiet --out {}";
    run(here, &format!("{sample}/option --init pathfinder")).sampled();
    run(here, &format!("{sample}/file --config {{}}/c.toml")).sampled();
    run(here, &format!("{sample}/both --config {{}}/c.toml --init prior")).sampled();
    run(here, &format!("{sample}/prior --init prior")).sampled();
    let of = |name: &str| fingerprints(&at(name));
    assert_eq!(of("option"), of("file"));
    assert_eq!(of("both"), of("prior"));
    assert_ne!(of("file"), of("both"));
    run(here, &format!("{sample}/none --config {{}}/bad.toml"))
        .fails(2, &["--init nowhere: no such file or run folder"]);
    for command in ["sweep eight-schools --seeds 1", "calibrate eight-schools --datasets 2 --out {}/none"] {
        run(here, &format!("{command} --config {{}}/c.toml")).fails(2, &["leave `init` out of the file of --config"]);
    }

    fs::create_dir(at("in")).unwrap();
    for (name, shift) in [("a", 0), ("b", 5)] {
        let rows: Vec<String> = (0..12).map(|k| format!("g{},{}", k % 3, (k * 7 + shift) % 11)).collect();
        fs::write(at("in").join(format!("{name}.csv")), format!("g,y\n{}\n", rows.join("\n"))).unwrap();
    }
    let batch =
        "sample hierarchical-normal --batch {}/in --group g --value y --draws 20 --tune 30 --device cpu --quiet";
    for threads in [1, 3] {
        // Draws so few are fit for nothing.
        run(here, &format!("{batch} --init prior --threads {threads} --out {{}}/batch-{threads}")).fails(1, &[]);
    }
    run(here, &format!("{batch} --out {{}}/plain")).fails(1, &[]);
    for name in ["a", "b"] {
        let one = of(&format!("batch-1/sets/{name}"));
        assert_eq!(one, of(&format!("batch-3/sets/{name}")));
        assert_ne!(one, of(&format!("plain/sets/{name}")));
        let record = fs::read_to_string(at(&format!("batch-1/sets/{name}/run.toml"))).unwrap();
        assert!(record.contains("init = \"prior\""), "{record}");
        // The same data set by itself, with its own seed.
        let seed = record.lines().find_map(|line| line.strip_prefix("seed = ")).unwrap();
        run(
            here,
            &format!(
                "sample hierarchical-normal --data {{}}/in/{name}.csv --group g --value y --draws 20 --tune 30 \
             --device cpu --quiet --init prior --seed {seed} --out {{}}/alone-{name}"
            ),
        )
        .sampled();
        assert_eq!(one, of(&format!("alone-{name}")));
    }
    run(here, &format!("{batch} --init pathfinder --out {{}}/batch-1")).fails(2, &["holds a run of other settings"]);
    run(here, &format!("{batch} --init {{}}/c.toml --out {{}}/none")).fails(2, &["--init", "a batch start by jitter"]);
}
