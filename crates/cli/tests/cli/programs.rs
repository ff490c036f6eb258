//! A Stan program as a model in every command.

use crate::support::{answer, fingerprints, octopus, program, run, stop};
use octopus_runs::{RunFolder, RunStatus};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINE: &str = "// A line\n\
    data { int<lower=1> N; vector[N] x; vector[N] y; real<lower=0> scale; }\n\
    parameters { real a; real b; real<lower=0> sigma; }\n\
    model { a ~ normal(0, scale); b ~ normal(0, scale); sigma ~ exponential(1); y ~ normal(a + b * x, sigma); }\n\
    generated quantities { real at_one = a + b; }\n";
const CLINICS: &str = "data { int<lower=1> N; int<lower=1> J; array[N] int<lower=1, upper=J> clinic;\n\
           array[N] int<lower=0, upper=1> ill; }\n\
    parameters { real mu; real<lower=0> tau; vector<multiplier=tau>[J] level; }\n\
    model { mu ~ normal(0, 1); tau ~ normal(0, 1); level ~ normal(mu, tau); ill ~ bernoulli_logit(level[clinic]); }\n";

/// A folder with programs and data.
fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("line.stan", LINE);
    write("clinics.stan", CLINICS);
    write("line.json", r#"{"N": 5, "x": [0, 1, 2, 3, 4], "y": [1.1, 1.9, 3.2, 3.8, 5.1], "scale": 5}"#);
    write("line.csv", "x,y\n0,1.1\n1,1.9\n2,3.2\n3,3.8\n4,5.1\n");
    write("line.R", "N <- 5\nx <- c(0, 1, 2, 3, 4)\ny <- c(1.1, 1.9, 3.2, 3.8, 5.1)\nscale <- 5\n");
    let rows: String = (0..60).map(|k| format!("{},{}\n", ["oslo", "rio", "kiel"][k % 3], (k * k) % 7 % 2)).collect();
    write("clinics.csv", &format!("clinic,ill\n{rows}"));
    dir
}

const SHORT: &str = "--draws 1000 --tune 500 --device cpu --quiet";

/// The draws are the same whichever file has the data, and however the program is named.
#[test]
fn data_are_read_from_json_r_and_tables() {
    let dir = prepared();
    let sampled = |words: &str, out: &str| {
        run(dir.path(), &format!("sample {words} {SHORT} --out {{}}/{out}")).sampled();
        fingerprints(&dir.path().join(out))
    };
    let json = sampled("{}/line.stan --data {}/line.json", "json");
    assert_eq!(sampled("{}/line.stan --data {}/line.R", "r"), json);
    assert_eq!(sampled("{}/line.stan --data {}/line.csv --set scale=5", "csv"), json);
    assert_eq!(sampled("stan --program {}/line.stan --data {}/line.json", "named"), json);
    fs::write(
        dir.path().join("c.toml"),
        format!(
            "program = {:?}\n[data.file]\npath = {:?}\n[set]\nscale = 5\n",
            dir.path().join("line.stan"),
            dir.path().join("line.csv")
        ),
    )
    .unwrap();
    assert_eq!(sampled("stan --config {}/c.toml", "config"), json);
    assert_ne!(sampled("stan --config {}/c.toml --set scale=0.5", "other"), json);
}

#[test]
fn labels_are_coordinates_of_the_trace() {
    let dir = prepared();
    let words = format!("sample {{}}/clinics.stan --data {{}}/clinics.csv {SHORT} --out {{}}/run");
    let told = run(dir.path(), &words).sampled().stdout.clone();
    assert!(told.contains("level[oslo]") && told.contains("level[kiel]"), "{told}");
    let record = RunFolder::open(&dir.path().join("run")).unwrap().record().clone();
    let data = record.data.unwrap();
    assert_eq!((data.observations, data.groups), (60, 3));
}

#[test]
fn a_program_goes_every_way() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    let line = "stan --program {}/line.stan --set scale=5 --data {}/line.csv";
    let dry = at(&format!("sample {line} --dry-run --device cpu --json")).succeeds().json();
    assert_eq!(dry["model"]["settings"]["set"]["scale"], 5);
    // A folder of JSON and tables.
    fs::create_dir(dir.path().join("in")).unwrap();
    fs::copy(dir.path().join("line.csv"), dir.path().join("in/a.csv")).unwrap();
    fs::copy(dir.path().join("line.json"), dir.path().join("in/b.json")).unwrap();
    let batch =
        format!("sample stan --program {{}}/line.stan --set scale=5 --batch {{}}/in {SHORT} --out {{}}/batch --json");
    let summary = at(&batch).succeeds().json();
    assert_eq!(summary["sets"].as_array().map(Vec::len), Some(2), "{summary}");
    assert_eq!(at(&batch).succeeds().json()["sets"], summary["sets"], "complete runs are not drawn again");
    let swept = at(&format!("sweep {line} --seeds 2 --draws 500 --tune 500 --quiet --json")).succeeds().json();
    assert_eq!(swept["sampler"]["draws"], 500);
    at(&format!("check {line}")).succeeds();
    let report = at(&format!("validate {line} --quick --stages compare --device cpu --quiet --json --out {{}}/report"));
    assert!(matches!(report.code, Some(0 | 1)), "{report:#?}");
    assert_eq!(report.json()["model"]["name"], "stan");
    at("calibrate stan --out {}/x").fails(2, &["no program is given"]);
    let many = "--strategy many-short --chains 64 --draws 20 --device cpu --quiet --out {}/many";
    at(&format!("sample {line} {many}")).sampled();
    at(&format!("sample {line} --device cuda:63 --out {{}}/x")).fails(4, &["--device cuda:63"]);
    at(&format!("sample {line} --target-ess 200 --device cpu --quiet --out {{}}/goal")).sampled();
}

#[test]
fn a_run_of_a_program_is_diagnosed_drawn_and_exported() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    at(&format!("sample {{}}/line.stan --data {{}}/line.json {SHORT} --out {{}}/one")).sampled();
    at(&format!("sample {{}}/line.stan --data {{}}/line.json {SHORT} --seed 7 --out {{}}/two")).sampled();
    let told = at("diagnose {}/one").stdout;
    assert!(["a ", "sigma ", "at_one "].iter().all(|name| told.contains(name)), "{told}");
    at("compare {}/one {}/two --max-mean 0.2 --max-sd 0.3").succeeds();
    at("plot {}/one --out {}/pictures --kind forest,trace").succeeds();
    let judged = at("loo {}/one --json").json();
    assert_eq!((&judged["models"][0]["observations"], &judged["models"][0]["samples"]), (&5.into(), &4000.into()));
    at("export {}/one --to netcdf --out {}/one.nc").succeeds();
    assert!(at("diagnose {}/one.nc").stdout.contains("at_one "));
    // A complete run; one whose data or program have changed is refused.
    at("resume {}/one").succeeds();
    stop(&dir.path().join("two"));
    fs::write(dir.path().join("line.json"), r#"{"N": 1, "x": [0], "y": [1], "scale": 5}"#).unwrap();
    at("resume {}/two").fails(3, &["line.json are not those of the run", "begin a new run"]);
    fs::write(dir.path().join("line.stan"), LINE.replace("exponential(1)", "exponential(2)")).unwrap();
    at("resume {}/two").fails(3, &["line.stan is not the run's", "`program_text`"]);
}

/// Where several data are observed, each has log likelihoods; the message says how to name those that are meant.
#[test]
fn log_likelihoods_of_several_data_are_named() {
    const STAGES: &str = "data { int N; array[N] int sends; array[N] int opens; array[N] int clicks; }
        parameters { real a; real b; }
        model { a ~ normal(0, 1); b ~ normal(0, 1); opens ~ binomial_logit(sends, a); clicks ~ binomial_logit(opens, b); }
        generated quantities { array[N] int opens_rep = binomial_rng(sends, inv_logit(a)); }";
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    fs::write(dir.path().join("stages.stan"), STAGES).unwrap();
    fs::write(dir.path().join("stages.csv"), "sends,opens,clicks\n50,20,6\n70,30,9\n90,40,12\n").unwrap();
    at(&format!("sample {{}}/stages.stan --data {{}}/stages.csv {SHORT} --out {{}}/stages")).sampled();
    at("loo {}/stages").fails(3, &["log likelihoods of opens,clicks", "--var opens or --var opens,clicks"]);
    for (names, count) in [("clicks", 3), ("opens,clicks", 6)] {
        let judged = at(&format!("loo {{}}/stages --var {names} --json")).json();
        assert_eq!(judged["models"][0]["observations"], count, "{judged}");
    }
    at("export {}/stages --to netcdf --predictive 5 --out {}/stages.nc").succeeds();
}

/// A program that says how parameters and data are drawn is calibrated by itself; another one by a second program.
#[test]
fn a_program_is_calibrated() {
    const SHORT: &str = "--datasets 8 --chains 2 --draws 60 --tune 100 --device cpu --quiet --json";
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    let line = "calibrate {}/line.stan --data {}/line.json";
    let ranks = at(&format!("{line} {SHORT} --out {{}}/ranks")).json();
    let names: Vec<&str> =
        ranks["ranks"]["quantities"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["a", "b", "sigma", "log likelihood", "log density"], "{ranks}");
    assert_eq!(ranks["ranks"]["failed"], 0);
    let named = at(&format!(
        "calibrate stan --program {{}}/line.stan --data {{}}/line.csv --set scale=5 {SHORT} --out {{}}/named"
    ));
    assert_eq!(named.json()["ranks"], ranks["ranks"], "the same data, from a table");
    // Without a prior of sigma.
    let improper = LINE.replace("sigma ~ exponential(1);", "");
    fs::write(dir.path().join("improper.stan"), &improper).unwrap();
    let words = ["`sigma` has no sampling statement", "improper.stan:3:", "^^^^^", "--simulator"];
    at(&format!("calibrate {{}}/improper.stan --data {{}}/line.json {SHORT} --out {{}}/x")).fails(2, &words);
    let second = "data { int N; vector[N] x; real scale; } generated quantities {
        real a = normal_rng(0, scale); real b = normal_rng(0, scale); real sigma_ = exponential_rng(1);
        array[N] real y = normal_rng(a + b * x, sigma_); }";
    fs::write(dir.path().join("second.stan"), second).unwrap();
    let by = format!("{line} --simulator {{}}/second.stan");
    let drawn = at(&format!("{by} {SHORT} --out {{}}/second")).json();
    assert_eq!((&drawn["ranks"]["data_sets"], &drawn["ranks"]["failed"]), (&8.into(), &0.into()));
    assert_ne!(drawn["ranks"]["quantities"], ranks["ranks"]["quantities"]);
    at(&format!("{by} --geweke --out {{}}/x")).fails(2, &["--simulator", "data given parameters"]);
}

/// Prior draws are in the trace and in the picture; a program without them says which statement is missing.
#[test]
fn a_prior_is_drawn() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    at(&format!("sample {{}}/line.stan --data {{}}/line.json {SHORT} --out {{}}/one")).sampled();
    at("plot {}/one --kind prior,ppc --out {}/pictures").succeeds();
    at("export {}/one --to netcdf --prior 50 --predictive 4 --out {}/one.nc").succeeds();
    let groups = octopus::Trace::open(&[dir.path().join("one.nc")]).unwrap().data;
    for (group, variable, count) in [
        ("prior", "sigma", 50),
        ("prior_predictive", "y", 250),
        ("posterior_predictive", "y", 80),
        ("log_likelihood", "y", 80),
        ("observed_data", "y", 5),
    ] {
        assert_eq!(groups.group(group).unwrap().variables[variable].values.len(), count, "{group}");
    }
    fs::write(dir.path().join("improper.stan"), LINE.replace("sigma ~ exponential(1);", "")).unwrap();
    at(&format!("sample {{}}/improper.stan --data {{}}/line.json {SHORT} --out {{}}/two")).sampled();
    at("plot {}/two --kind prior --out {}/pictures")
        .fails(3, &["`sigma` has no sampling statement", "improper.stan:3:"]);
}

/// Rows and groups that were not there: those that were keep their effects, by their labels.
#[test]
fn new_rows_and_groups_are_predicted() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    at(&format!("sample {{}}/clinics.stan --data {{}}/clinics.csv {SHORT} --out {{}}/one")).sampled();
    fs::write(dir.path().join("new.csv"), "clinic\nkiel\nbergen\noslo\nbergen\n").unwrap();
    let words = "predict {}/one --data {}/new.csv --draws 400";
    let found = at(&format!("{words} --json")).succeeds().json();
    assert_eq!(found["draws"], 1600);
    let new: Vec<&str> = found["new"].as_array().unwrap().iter().filter_map(|one| one.as_str()).collect();
    assert_eq!(new, ["new in clinic: bergen", "level: 1 of 4 elements are new, and drawn from its distribution"]);
    let mean = |row: usize| found["numbers"][row]["mean"].as_f64().unwrap();
    // The means of the levels that were sampled, on the scale of probabilities.
    let trace = octopus::Trace::open(&[dir.path().join("one")]).unwrap();
    let levels = trace.posterior().unwrap().get("level").unwrap().values.to_f64();
    let expected = |clinic: usize| {
        let all: Vec<f64> = levels.iter().skip(clinic).step_by(3).map(|x| 1.0 / (1.0 + (-x).exp())).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    // Labels are numbered as they appear: oslo, rio, kiel. Four standard errors of 1600 draws of 0 or 1 are 0.05.
    assert!((mean(0) - expected(2)).abs() < 0.05 && (mean(2) - expected(0)).abs() < 0.05, "{found}");
    assert!((mean(1) - mean(3)).abs() < 0.07, "both of bergen: {found}");
    let told = at(&format!("{words} --to netcdf --out {{}}/new.nc"));
    assert!(told.stdout.contains("ill[4]") && told.stderr.contains("new in clinic: bergen"), "{told:#?}");
    let groups = octopus::Trace::open(&[dir.path().join("new.nc")]).unwrap().data;
    assert_eq!(groups.group("predictions").unwrap().variables["ill"].values.len(), 4 * 1600);
    assert!(groups.group("predictions_constant_data").is_some() && groups.group("posterior").is_some());
    at(&format!("{words} --to netcdf --out {{}}/new.nc")).fails(3, &["new.nc", "--force"]);
    at(&format!("{words} --to csv --out {{}}/new.csv.gz")).succeeds();
    at(&format!("{words} --to netcdf --out {{}}/new.nc --force")).succeeds();
    at("predict {}/one --set N=2 --set clinic=[1,3]").succeeds();
    at("predict {}/one").fails(2, &["--data FILE", "--set"]);
    at("predict {}/one --set N=2").fails(3, &["`clinic` has sizes [60], but [2] are needed"]);
}

#[test]
fn a_killed_run_of_a_program_goes_on_to_the_same_bits() {
    let dir = prepared();
    let words = "sample {}/line.stan --data {}/line.json --draws 100000 --tune 500 --device cpu --quiet --checkpoint-every 2000";
    let of = |out: &str| {
        let words = format!("{words} --out {{}}/{out}");
        words.split_whitespace().map(|word| word.replace("{}", dir.path().to_str().unwrap())).collect::<Vec<_>>()
    };
    let mut command = Command::new(program());
    let mut child = command.args(of("killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (killed, begin) = (dir.path().join("killed"), Instant::now());
    while !killed.join("draws/part-00000.parquet").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(RunFolder::open(&killed).unwrap().record().status, RunStatus::Running);
    run(dir.path(), "resume {}/killed --quiet").sampled();
    answer(octopus().args(of("whole"))).sampled();
    assert_eq!(fingerprints(&killed), fingerprints(&dir.path().join("whole")));
}

#[test]
fn wrong_programs_and_data_are_told_with_their_place() {
    let dir = prepared();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("typo.stan", &LINE.replace("normal(a", "nromal(a"));
    write("torn.stan", "parameters { real a }\nmodel { a ~ normal(0, 1); }\n");
    write("complex.stan", "parameters { complex z; } model { }\n");
    let fails = |words: &str, code, told: &[&str]| {
        let answer = run(dir.path(), &format!("sample {words} --device cpu --out {{}}/x"));
        answer.fails(code, told);
        assert_eq!(answer.stderr.matches("error:").count(), 1, "{}", answer.stderr);
        assert!(!dir.path().join("x").exists());
    };
    fails("{}/typo.stan --data {}/line.json", 2, &["nromal", "typo.stan:4:", "did you mean", "^^^^^^"]);
    fails("{}/torn.stan", 2, &["torn.stan:1:19", "^"]);
    fails("{}/complex.stan", 2, &["not supported", "complex", "complex.stan:1:14"]);
    fails("{}/none.stan", 2, &["cannot read the Stan program", "none.stan"]);
    fails("stan", 2, &["give FILE.stan"]);
    fails("{}/line.stan --program {}/line.stan", 2, &["--program", "already"]);
    fails("{}/line.stan --set scale", 2, &["NAME=VALUE"]);
    fails("{}/line.stan --set scale='much'", 2, &["--set scale=", "is no number"]);
    fails("eight-schools --set scale=1", 2, &["--set: eight-schools has no such setting; it is one of stan"]);
    fails("{}/line.stan --data {}/none.json", 3, &["none.json"]);
    fails("{}/line.stan --data {}/line.csv", 3, &["line.csv: `scale` is missing", "--set scale=VALUE"]);
    fails("{}/line.stan --data {}/line.json --set N=4", 3, &["`x` has sizes [5], but [4] are needed"]);
    fails("{}/line.stan --data {}/line.json --group x", 2, &["--group"]);
    fails("{}/line.stan --data {}/line.json --drop-missing", 3, &["is no table"]);
    let odd =
        run(dir.path(), &format!("sample {{}}/line.stan --data {{}}/line.json --set odd=1 {SHORT} --out {{}}/odd"));
    assert!(odd.sampled().stderr.contains("warning: --set: the program has no data `odd`"), "{}", odd.stderr);
    // No output takes the place of the program.
    let over = run(dir.path(), "sample {}/line.stan --data {}/line.json --log-file {}/line.stan --out {}/x");
    over.fails(2, &["--log-file", "--program reads this"]);
    assert_eq!(fs::read_to_string(dir.path().join("line.stan")).unwrap(), LINE);
}

#[test]
fn a_program_is_described_and_checked() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), &format!("model check {words}"));
    let alone = at("{}/line.stan");
    for line in ["  vector[N] x", "  real<lower=0> sigma", "distributions: exponential, normal", "OK"] {
        assert!(alone.succeeds().stdout.lines().any(|one| one == line), "{line}: {}", alone.stdout);
    }
    assert!(alone.stderr.contains("--data FILE"), "{}", alone.stderr);
    let whole = at("{}/line.stan --data {}/line.csv --set scale=5");
    for word in ["3 unconstrained coordinates", "vector[N] x   (5)", "PASS     gradient", "\nOK"] {
        assert!(whole.succeeds().stdout.contains(word), "{word}: {}", whole.stdout);
    }
    let json = at("{}/line.stan --data {}/line.json --json").succeeds().json();
    assert_eq!((&json["good"], &json["program"]["coordinates"]), (&true.into(), &3.into()));
    let short = at("{}/line.stan --data {}/line.csv");
    assert_eq!(short.code, Some(1), "{short:#?}");
    assert!(short.stdout.contains("FAIL") && short.stdout.contains("`scale` is missing"), "{}", short.stdout);
    fs::write(dir.path().join("typo.stan"), "parameters { real a; } model { a ~ nromal(0, 1); }").unwrap();
    at("{}/typo.stan").fails(2, &["typo.stan:1:36", "nromal"]);
    let many: String = (0..300).map(|k| format!("real a{k};")).collect();
    fs::write(dir.path().join("many.stan"), format!("data {{ int n; }} parameters {{ {many} }}")).unwrap();
    let many = at("{}/many.stan");
    assert!(many.succeeds().stdout.contains("real a99\n  and 200 more\n"), "{}", many.stdout);
    // A name that no run folder can hold is told before anything is sampled, with data and without.
    for declared in ["parameters { real energy; }", "data { int n; } parameters { real energy; }"] {
        fs::write(dir.path().join("taken.stan"), format!("{declared} model {{ energy ~ normal(0, 1); }}")).unwrap();
        let taken = at("{}/taken.stan");
        assert_eq!(taken.code, Some(1), "{taken:#?}");
        assert!(taken.stdout.contains("`energy` is the name of a column of the run folder"), "{}", taken.stdout);
    }
}

#[test]
fn loops_and_costs_are_shown() {
    let dir = prepared();
    let shown = run(dir.path(), "model show {}/line.stan --data {}/line.csv --set scale=5");
    for word in ["3 coordinates", "ns for a gradient", "loop", "x 5"] {
        assert!(shown.succeeds().stdout.contains(word), "{word}: {}", shown.stdout);
    }
    let json = run(dir.path(), "model show {}/line.stan --data {}/line.json --json").succeeds().json();
    assert!(json["nanoseconds_per_gradient"].as_f64().is_some_and(|time| time > 0.0), "{json}");
    assert!(json["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{json}");
    // Equal steps share a line. Of many different steps, the cheapest share the last line.
    let unrolled = "parameters { vector[300] a; } model { for (i in 1:299) target += -sum(square(a[i:300] - a[i])); }";
    fs::write(dir.path().join("unrolled.stan"), unrolled).unwrap();
    let shown = run(dir.path(), "model show {}/unrolled.stan");
    let lines: Vec<&str> = shown.succeeds().stdout.lines().collect();
    assert!(lines.len() < 60 && shown.stdout.contains("more steps of less work each"), "{}", shown.stdout);
    let alike =
        "parameters { vector[40] a; } model { real b = a[1]; for (i in 1:40) b = sum(exp(b * a)); target += b; }";
    fs::write(dir.path().join("alike.stan"), alike).unwrap();
    let shown = run(dir.path(), "model show {}/alike.stan");
    assert!(shown.succeeds().stdout.contains("more like it"), "{}", shown.stdout);
}

/// Programs that ship need no file. Their record has the text, and a run is taken up; files come out, and take no place.
#[test]
fn a_program_that_ships_is_sampled_by_its_name() {
    let dir = prepared();
    let at = |words: &str| run(dir.path(), words);
    let sampled = |words: &str, out: &str| {
        at(&format!("sample {words} {SHORT} --out {{}}/{out}")).sampled();
        fingerprints(&dir.path().join(out))
    };
    let own = sampled("polynomial", "own");
    let record = RunFolder::open(&dir.path().join("own")).unwrap().record().clone();
    assert_eq!(record.model.name, "polynomial");
    let text = &record.model.settings["program_text"]["polynomial.stan"];
    assert!(text.as_str().is_some_and(|text| text.contains("c * x^2")), "{text}");
    assert_ne!(sampled("polynomial --set noise=0.1", "noisy"), own);
    assert_ne!(sampled("polynomial --set noise=0.1 --data {}/line.csv", "line"), own);
    at("resume {}/own").succeeds();
    stop(&dir.path().join("own"));
    at("resume {}/own --quiet").sampled();
    assert_eq!(fingerprints(&dir.path().join("own")), own);
    // Its files, to change them.
    let listed = at("model list").succeeds().stdout.clone();
    assert!(listed.lines().any(|line| line.starts_with("polynomial ")), "{listed}");
    let copied = at("model copy polynomial {}/mine").succeeds().stdout.clone();
    assert_eq!(copied.lines().count(), 2, "{copied}");
    assert_eq!(sampled("{}/mine/polynomial.stan --data {}/mine/polynomial.json", "copied"), own);
    at("model copy polynomial {}/mine").fails(2, &["polynomial.stan is there already"]);
    at("model copy eight-schools").fails(2, &["no program that ships is called `eight-schools`", "eight-schools-stan"]);
    assert!(at("model check polynomial").succeeds().stdout.contains("3 unconstrained coordinates"));
    at("model show polynomial").succeeds();
    at("sample polynomial --mu-sd 3 --out {}/x").fails(2, &["--mu-sd: polynomial has no such setting"]);
    at("sample polynomial --device cuda:63 --out {}/x").fails(4, &["--device cuda:63"]);
    at("sample nothing --out {}/x").fails(2, &["invalid value 'nothing'", "polynomial"]);
}

/// The examples that `docs/stan.md` runs.
#[test]
fn the_examples_run() {
    let dir = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stan");
    for (words, name) in [
        ("eight_schools.stan --data eight_schools.json", "theta"),
        ("clinics.stan --data clinics.csv", "level[old town]"),
        ("doses.stan --data doses.csv --set new_dose=7.5", "expected"),
    ] {
        let out = dir.path().join(name);
        let mut command = octopus();
        command.current_dir(&examples).arg("sample").args(words.split(' '));
        command.args(["--draws", "1000", "--device", "cpu", "--quiet", "--out"]).arg(out);
        let told = answer(&mut command);
        assert!(told.sampled().stdout.contains(name), "{words}: {}", told.stdout);
    }
}

/// The programs of `examples/funnel` and `examples/energy`, whose own workspaces run at night: they bind and draw.
#[test]
fn the_programs_of_other_workspaces_run() {
    let dir = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let energy = "energy.stan --data meter.csv --set K=3 --set nameplate=[0.5,1.25,3.5]";
    for (folder, words, names) in [
        ("funnel", "prior.stan --data campaigns.csv", ["typical[1]", "conversions_again[20]"]),
        ("funnel", "funnel.stan --data campaigns.csv --set new_sends=20000", ["typical[1]", "new_conversions"]),
        ("energy", energy, ["log_power[1]", "rest"]),
    ] {
        let out = dir.path().join(names[1]);
        let mut command = octopus();
        command.current_dir(examples.join(folder)).arg("sample").args(words.split(' '));
        command
            .args(["--chains", "2", "--tune", "60", "--draws", "40", "--device", "cpu", "--quiet", "--out"])
            .arg(out);
        let told = answer(&mut command);
        for name in names {
            assert!(told.sampled().stdout.contains(name), "{words}: {}", told.stdout);
        }
    }
}
