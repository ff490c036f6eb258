//! The commands as they should be used: results on stdout, notes on stderr, JSON everywhere.

use crate::support::{answer, fingerprints, octopus, run, tree};
use octopus::Picture;
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use std::fs;

const SMALL: &str = "sample hierarchical-normal --groups 6 --draws 500 --tune 300 --device cpu --out {}/run";

#[test]
fn sample_diagnose_plot_and_export() {
    let dir = tempfile::tempdir().unwrap();
    let sampled = run(dir.path(), SMALL);
    sampled.succeeds();
    for word in ["mu_pop", "sigma_obs", "r_hat", "4 chains of 500 draws", "run folder:"] {
        assert!(sampled.stdout.contains(word), "{word}: {}", sampled.stdout);
    }
    assert!(sampled.stderr.contains("60 observations in 6 groups") && !sampled.stdout.contains("observations in"));

    let text = run(dir.path(), "diagnose {}/run");
    assert!(text.succeeds().stdout.contains("mu_group[5]"));
    let json = run(dir.path(), "diagnose {}/run --json").succeeds().json();
    assert_eq!((&json["schema"], &json["prob"]), (&2.into(), &0.89.into()));
    let names: Vec<&str> = json["parameters"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 15);
    assert_eq!((names[0], names[3], names[14]), ("mu_pop", "z[0]", "mu_group[5]"));
    for field in ["mean", "sd", "hdi", "eti", "rhat", "ess_bulk", "ess_tail", "mcse_mean"] {
        assert!(!json["parameters"][0][field].is_null(), "{field}");
    }
    assert!(json["max_rhat"].as_f64().unwrap() < 1.02 && json["min_ess_bulk"].as_f64().unwrap() > 200.0);

    let plots = run(dir.path(), "plot {}/run --out {}/plots --format png,svg");
    let files = plots.succeeds().stdout.lines().count();
    // A picture of divergences is left out where there are none.
    assert!(plots.stderr.contains("no parallel: no transition diverged"), "{plots:#?}");
    let kinds = Picture::all().filter(|kind| kind.name() != "parallel");
    let mut stems: Vec<_> = kinds.flat_map(|kind| ["png", "svg"].map(|end| format!("{}.{end}", kind.stem()))).collect();
    stems.sort();
    assert_eq!(tree(&dir.path().join("plots")), stems, "each kind in two formats: {plots:?}");
    assert_eq!(files, stems.len());
    let json = run(dir.path(), "plot {}/run --out {}/again --kind trace,pareto-k --var mu*,sigma_obs --json");
    let json = json.succeeds().json();
    let names: Vec<&str> =
        json["files"].as_array().unwrap().iter().filter_map(|file| file.as_str()?.rsplit('/').next()).collect();
    assert_eq!(names, ["pareto_k_plot.png", "trace_plot.png"]);
    run(dir.path(), "plot {}/run --out {}/none --var nu").fails(3, &["--var nu", "mu_group", "sigma_obs"]);

    run(dir.path(), "export {}/run --to netcdf --out {}/run.nc --predictive 20 --prior 30").succeeds();
    let of_file = run(dir.path(), "diagnose {}/run.nc --json");
    let own = run(dir.path(), "diagnose {}/run --json");
    assert_eq!(of_file.succeeds().json()["parameters"], own.json()["parameters"], "the file holds the same draws");
    let plots = run(dir.path(), "plot {}/run.nc --out {}/of_file");
    assert_eq!(plots.succeeds().stdout.lines().count(), Picture::all().count() - 2);
    assert!(["no shrinkage: ", "no parallel: "].iter().all(|words| plots.stderr.contains(words)), "{}", plots.stderr);
    run(dir.path(), "plot {}/run.nc --out {}/no --kind shrinkage").fails(3, &["which group"]);
    let json = run(dir.path(), "export {}/run --to zarr --out {}/run.zarr --json").succeeds().json();
    let has = |name: &str| json["groups"].as_array().unwrap().iter().any(|group| group == name);
    assert!(has("observed_data"));
    assert!(!["prior", "posterior_predictive", "log_likelihood"].into_iter().any(has), "nobody has asked for them");
}

#[test]
fn the_users_own_labels_and_a_settings_file() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..30).map(|i| format!("{},{}\n", ["berlin", "rom", "oslo"][i % 3], i % 7)).collect();
    fs::write(dir.path().join("obs.csv"), format!("city,value\n{rows}")).unwrap();
    let settings = format!(
        "[data.file]\npath = {:?}\ngroup = \"city\"\nvalue = \"value\"\n\
         [sampler]\ndraws = 100\ntune = 100\nchains = 2\n[prior]\nmu_mean = 3.0\n",
        dir.path().join("obs.csv")
    );
    fs::write(dir.path().join("settings.toml"), settings).unwrap();
    let words =
        "sample hierarchical-normal --config {}/settings.toml --chains 3 --out {}/run --device cpu --json --quiet";
    let sampled = run(dir.path(), words);
    let json = sampled.sampled().json();
    assert_eq!((&json["sampler"]["chains"], &json["sampler"]["draws"]), (&3.into(), &100.into()));
    let names: Vec<&str> =
        json["diagnosis"]["parameters"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert!(names.contains(&"mu_group[oslo]"), "{names:?}");
    // Warnings may be there, notes may not.
    assert!(!sampled.stderr.contains("data:") && !sampled.stderr.contains("device:"), "{}", sampled.stderr);
    // The same run by options alone.
    let words = "sample hierarchical-normal --data {}/obs.csv --group city --value value --draws 100 --tune 100 \
                 --chains 3 --mu-mean 3 --out {}/options --device cpu --quiet";
    run(dir.path(), words).sampled();
    assert_eq!(fingerprints(&dir.path().join("options")), fingerprints(&dir.path().join("run")));
}

#[test]
fn bad_draws_are_said_aloud() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample hierarchical-normal --groups 30 --draws 60 --tune 30 --parameterization non-centered \
                 --metric diag --device cpu --out {}/run";
    let sampled = run(dir.path(), words);
    sampled.fails(1, &["should not be used as they are"]);
    let diagnosed = run(dir.path(), "diagnose {}/run");
    assert_eq!(diagnosed.code, Some(1));
    assert!(diagnosed.stdout.contains("FAIL") && diagnosed.stdout.contains("--parameterization adaptive"));
    run(dir.path(), "diagnose {}/run --prob 2").fails(2, &["--prob 2"]);
    // What is in use is not recommended: the same with the defaults is bad for want of draws.
    let short =
        run(dir.path(), "sample hierarchical-normal --groups 30 --draws 20 --tune 100 --device cpu --out {}/short");
    short.fails(1, &["should not be used as they are"]);
    assert!(short.stdout.contains("in use already") && !short.stdout.contains("--metric"), "{}", short.stdout);
}

/// A resumed run is judged as one that was not interrupted, and so is one that ends at its time limit.
#[test]
fn bad_draws_are_exit_code_1_however_the_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let words =
        "sample hierarchical-normal --groups 30 --draws 20 --tune 100 --device cpu --max-seconds 100 --out {}/run";
    run(dir.path(), words).fails(1, &["should not be used as they are"]);
    let good = "sample hierarchical-normal --groups 30 --draws 1000 --tune 300 --device cpu --out {}/good";
    run(dir.path(), good).succeeds();
    assert_eq!(run(dir.path(), "diagnose {}/good").code, Some(0));
}

/// Models that ship are sound, and so are they with a user's data.
#[test]
fn a_model_is_checked_with_its_data() {
    let dir = tempfile::tempdir().unwrap();
    for words in [
        "check eight-schools",
        "check hierarchical-normal",
        "check hierarchical-normal --groups 300 --likelihood pointwise",
    ] {
        let checked = run(dir.path(), words);
        let lines: Vec<&str> = checked.succeeds().stdout.lines().collect();
        assert_eq!(lines.last(), Some(&"good: nothing is wrong at these points"), "{words}: {}", checked.stdout);
        // layout, values, variables, gradient, hierarchies, effects, coordinates, information, likelihood
        assert_eq!(lines.iter().filter(|line| line.starts_with("PASS")).count(), 9, "{words}: {}", checked.stdout);
    }
    std::fs::write(dir.path().join("d.csv"), "city,sales\na,1\na,2\nb,4\nb,6\nc,3\n").unwrap();
    let table = "check hierarchical-normal --data {}/d.csv --group city --value sales --json";
    let checked = run(dir.path(), table).succeeds().json();
    assert_eq!(checked["coordinates"], 6, "three cities and three scalars: {checked}");
    run(dir.path(), "check hierarchical-normal --data {}/none.csv --group g --value y").fails(3, &["none.csv"]);
}

/// Seeds, counts and exit codes of a sweep, whatever the threads; and what it refuses.
#[test]
fn a_sweep_counts_runs_over_seeds() {
    let dir = tempfile::tempdir().unwrap();
    let few = "sweep hierarchical-normal --groups 20 --seeds 6 --draws 400 --tune 300 --json --quiet";
    let good = run(dir.path(), &format!("{few} --threads 2 --out {{}}/sweep.json")).succeeds().json();
    assert_eq!((&good["sweep"]["runs"], &good["sweep"]["lost"], &good["good"]), (&6.into(), &0.into(), &true.into()));
    let written = std::fs::read_to_string(dir.path().join("sweep.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), good);
    assert_eq!(run(dir.path(), &format!("{few} --threads 1")).succeeds().json(), good);
    // The seed of a run that a sweep names gives that run alone.
    let bad =
        "sweep hierarchical-normal --groups 20 --seeds 3 --seed 7 --draws 20 --tune 20 --parameterization non-centered";
    let bad = run(dir.path(), &format!("{bad} --metric diag --json --quiet"));
    assert_eq!(bad.code, Some(1), "{bad:#?}");
    assert_eq!((&bad.json()["good"], &bad.json()["sweep"]["runs"]), (&false.into(), &3.into()));
    let schools = run(dir.path(), "sweep eight-schools --seeds 2 --draws 300 --tune 300 --quiet");
    assert!(schools.succeeds().stdout.contains("2 runs of"), "{schools:#?}");
    run(dir.path(), "sweep eight-schools --mu-sd 3").fails(2, &["--mu-sd", "hierarchical-normal"]);
    run(dir.path(), "sweep eight-schools --seeds 2 --strategy auto --quiet").succeeds();
    run(dir.path(), "sweep hierarchical-normal --chains 1").fails(2, &["--chains 1", "at least 2"]);
    run(dir.path(), "sweep hierarchical-normal --draws 3").fails(2, &["--draws 3", "at least 4"]);
    run(dir.path(), "sweep hierarchical-normal --seeds 0").fails(2, &["--seeds"]);
}

#[test]
fn verify_answers_for_this_machine() {
    let found = answer(octopus().args(["verify", "--json"]));
    let json = found.json();
    let expected = match json["overall"].as_str() {
        Some("fit") => 0,
        Some("broken") => 1,
        Some("absent") => 4,
        other => panic!("{other:?}"),
    };
    assert_eq!((found.code, &json["schema"]), (Some(expected), &2.into()));
    let text = answer(octopus().arg("verify"));
    assert_eq!(text.code, Some(expected));
    assert!(text.stdout.contains(json["summary"].as_str().unwrap()));
}

#[test]
fn completions_and_help() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = answer(octopus().args(["completions", shell]));
        assert!(script.succeeds().stdout.contains("target-accept"), "{shell}");
    }
    let json = answer(octopus().args(["completions", "bash", "--json"])).json();
    assert_eq!((&json["schema"], &json["shell"]), (&1.into(), &"bash".into()));
    let help = answer(octopus().arg("--help"));
    for command in ["verify", "device", "sample", "resume", "diagnose", "plot", "export", "validate", "completions"] {
        assert!(help.succeeds().stdout.contains(command), "{command}");
    }
    assert_eq!(answer(octopus().arg("--version")).stdout.trim(), concat!("octopus ", env!("CARGO_PKG_VERSION")));
    answer(octopus().arg("sing")).fails(2, &["sing"]);
}

#[test]
fn colours_only_where_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none");
    let plain = answer(octopus().arg("diagnose").arg(&missing));
    assert!(!plain.stderr.contains('\x1b'), "no terminal, no colour: {:?}", plain.stderr);
    let forced = answer(octopus().arg("diagnose").arg(&missing).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stderr.contains("\x1b["), "{:?}", forced.stderr);
    let off = answer(octopus().arg("diagnose").arg(&missing).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!off.stderr.contains('\x1b'), "NO_COLOR: {:?}", off.stderr);
}

/// Rubin's eight schools from end to end: means of their exact posterior, and what follows a run.
#[test]
fn eight_schools_are_sampled_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample eight-schools --target-accept 0.95 --draws 5000 --device cpu --json --quiet --out {}/run";
    let found = run(dir.path(), words).succeeds().json();
    let exact = SchoolsPosterior::compute(&EightSchools::rubin());
    let parameters = found["diagnosis"]["parameters"].as_array().unwrap();
    for (name, exact) in [("mu", exact.mu), ("tau", exact.tau)] {
        let row = parameters.iter().find(|row| row["name"] == name).unwrap();
        let [mean, error] = ["mean", "mcse_mean"].map(|field| row[field].as_f64().unwrap());
        assert!((mean - exact.mean).abs() < 4.0 * error, "{name}: {mean} {error} {exact:?}");
    }
    assert_eq!(found["data"]["source"], "Rubin's eight schools");
    let drawn = run(dir.path(), "plot {}/run --out {}/pictures --kind shrinkage,ppc,prior,loo-pit --quiet");
    assert_eq!(drawn.succeeds().stdout.lines().count(), 4, "{drawn:#?}");
    run(dir.path(), "sample eight-schools --mu-sd 3 --out {}/x").fails(2, &["--mu-sd: eight-schools has no such"]);
    let table = "sample eight-schools --data a.csv --group g --value y --out {}/x";
    run(dir.path(), table).fails(2, &["--data: eight-schools reads no table"]);
    std::fs::write(dir.path().join("own.toml"), "[data]\ny = [1.0, 2.0]\nsigma = [1.0, 0.0]").unwrap();
    run(dir.path(), "sample eight-schools --config {}/own.toml --out {}/x")
        .fails(3, &["row 2: the standard error is 0"]);
}
