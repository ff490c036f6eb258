//! Phase 0 from end to end.

use crate::double::Double;
use crate::support::{answer, has_gpu, octopus, run, tree};
use std::fs;
use std::time::Instant;

#[test]
fn a_quick_validation_passes_and_leaves_every_deliverable() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), "validate --quick --out {}/phase0 --device cpu");
    found.succeeds();
    let gpu = has_gpu("a validation where no GPU is");
    let headline = if gpu { "PASSED: " } else { "\nCPU only: 9 passed, " };
    for words in
        [headline, "P0.3", "\nCPU time: ", "samples/s, max R-hat 1.0", "\nGPU time: not measured: ", "\nspeed-up: "]
    {
        assert!(found.stdout.contains(words), "{words} is not in {}", found.stdout);
    }
    assert!(gpu || found.stderr.contains("no GPU took part"), "{}", found.stderr);
    let files = tree(&dir.path().join("phase0"));
    for name in [
        "trace_plot.png",
        "posterior_plot.png",
        "forest_plot.png",
        "ppc_plot.png",
        "rank_plot.png",
        "energy_plot.png",
        "pair_plot.png",
        "autocorr_plot.png",
        "ess_evolution_plot.png",
        "convergence_plot.png",
        "ppc_ecdf_plot.png",
        "prior_posterior_plot.png",
        "loo_pit_plot.png",
        "pareto_k_plot.png",
        "shrinkage_plot.png",
        "pareto_front_plot.png",
        "performance_comparison.png",
        "benchmark_report.txt",
        "report.json",
        "junit.xml",
        "index.html",
        "verification.json",
        "guide/setup.md",
        "guide/troubleshooting.md",
        "traces/phase0_test_trace.nc",
        "run/run.toml",
    ] {
        assert!(files.iter().any(|file| file == name), "{name} is not in {files:?}");
    }
    let page = fs::metadata(dir.path().join("phase0/index.html")).unwrap().len();
    assert!(page < 3_000_000, "{page} bytes");
    let text = fs::read_to_string(dir.path().join("phase0/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].as_str().unwrap().to_owned();
    for id in ["P0.3", "P0.5", "P2.2", "P2.3", "P2.4", "Q.1", "Q.2", "Q.3", "Q.4"] {
        assert_eq!(status(id), "PASS", "{id}");
    }
    assert_eq!(status("P0.1"), if gpu { "PASS" } else { "SKIPPED" });
    for id in ["P0.2", "P0.4", "P1.1", "P1.2", "P1.3", "P1.4", "P2.1"] {
        assert_eq!(status(id), "SKIPPED", "{id}");
    }
    // The PRD's own configuration has a row of its own, and does not fail the whole.
    let literal = rows.iter().find(|row| row["id"] == "Q.5").unwrap();
    assert_eq!(literal["status"], "WARN", "{literal:#}");
    assert!(literal["value"].as_str().unwrap().starts_with("4 chains: max R-hat 1."), "{literal:#}");
    assert!(literal["advice"].as_str().unwrap().contains("01-centering.md"), "{literal:#}");
    let (versions, peak) = (&report["versions"], report["machine"]["host_peak_bytes"].as_u64().unwrap());
    assert!(versions["rustc"].as_str().unwrap().starts_with("rustc 1."), "{versions:#}");
    assert_eq!(versions["kernels"], octopus_device::kernels_fingerprint());
    assert!(peak > 10_000_000, "{peak}");
    let record = fs::read_to_string(dir.path().join("phase0/verification.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!((&record["provider"], record["findings"].is_array()), (&"system".into(), true), "{record:#}");
    let text = fs::read_to_string(dir.path().join("phase0/benchmark_report.txt")).unwrap();
    for words in ["max R-hat", "samples/s", "PASS", "WARN", "(a) the PRD's own: wall time of the same 4 chains"] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let trace = run(dir.path(), "diagnose {}/phase0/traces/phase0_test_trace.nc --json");
    assert_eq!(trace.succeeds().json()["parameters"].as_array().unwrap().len(), 203);
    if gpu {
        return;
    }
    // Again into the same folder, as JSON, with a GPU required.
    let again = run(dir.path(), "validate --quick --out {}/phase0 --require-gpu --json --quiet");
    let report = again.json();
    let wants = report["verdict"]["outcome"].as_str().unwrap().to_owned();
    assert_eq!((again.code, wants.as_str()), (Some(4), "gpu_missing"), "{}", again.stderr);
    run(dir.path(), "validate --out {}/other --device cuda").fails(4, &["--device cuda"]);
    assert!(!dir.path().join("other").exists());
}

#[test]
fn the_plain_settings_fail_and_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let words = "validate --quick --out {}/phase0 --stages compare --parameterization non-centered --metric diag \
                 --quiet --device cpu";
    let found = run(dir.path(), words);
    assert_eq!(found.code, Some(1), "{found:#?}");
    let words = ["FAILED", "P0.3", "FAIL", "R-hat", "--parameterization adaptive"];
    assert!(words.iter().all(|word| found.stdout.contains(word)), "{}", found.stdout);
    let junit = fs::read_to_string(dir.path().join("phase0/junit.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("P0.3"), "{junit}");
}

/// The commit of these sources, as the program says it.
fn head() -> String {
    let sources = env!("CARGO_MANIFEST_DIR");
    let git = std::process::Command::new("git").args(["rev-parse", "HEAD"]).current_dir(sources).output();
    let commit = git.ok().filter(|git| git.status.success()).map(|git| String::from_utf8(git.stdout).unwrap());
    commit.map_or("unknown: built without git".to_owned(), |commit| commit.trim().to_owned())
}

/// What is left out is skipped with that reason, and nothing else changes.
#[test]
fn stages_can_be_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let report = |stages: &str| {
        let out = dir.path().join(stages);
        let words = ["validate", "--quick", "--groups", "12", "--device", "cpu", "--json", "--quiet"];
        let mut command = octopus();
        command.args(words).args(["--stages", stages, "--out"]).arg(out);
        answer(&mut command).succeeds().json()
    };
    let left = |report: &serde_json::Value| {
        let rows = report["verdict"]["rows"].as_array().unwrap();
        let of = |row: &&serde_json::Value| row["reason"].as_str().is_some_and(|why| why.contains("`--stages` leaves"));
        rows.iter().filter(of).map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let predicted = report("predict");
    assert_eq!(left(&predicted), ["P0.2", "P0.4", "P0.5", "P1.1", "P1.2", "P1.3", "P2.1", "Q.3"].map(str::to_owned));
    let commit = predicted["versions"]["commit"].as_str().unwrap();
    assert!(commit.starts_with(&head()), "{commit}");
    assert!(predicted["benchmark"].is_null() && !predicted["predictive"].as_array().unwrap().is_empty());
    let files = tree(&dir.path().join("predict"));
    assert!(!files.iter().any(|file| file.ends_with(".png")), "{files:?}");
    assert!(files.iter().any(|file| file == "traces/phase0_test_trace.nc"), "{files:?}");
    let drawn = report("compare,plot");
    assert!(
        drawn["predictive"].as_array().unwrap().is_empty() && left(&drawn).contains(&"Q.2".to_owned()),
        "{drawn:#}"
    );
    let files = tree(&dir.path().join("compare,plot"));
    assert!(files.iter().any(|file| file == "trace_plot.png"), "{files:?}");
    run(dir.path(), "validate --stages plots --out {}/x").fails(2, &["'plots'", "a similar value", "'plot'"]);
}

#[test]
fn bad_values_are_usage() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "validate --groups 0 --out {}/x").fails(2, &["--groups 0"]);
    run(dir.path(), "validate --metric dense --out {}/x").fails(2, &["dense"]);
    run(dir.path(), "validate eight-school --out {}/x")
        .fails(2, &["'eight-school'", "a similar value", "'eight-schools'"]);
    run(dir.path(), "validate eight-schools --groups 5 --out {}/x").fails(2, &["--groups", "hierarchical-normal"]);
    assert!(tree(dir.path()).is_empty());
    let settings = dir.path().join("settings.toml");
    for (text, words) in [
        ("[sampler]\nstrategy = 'auto'", "sampler.strategy"),
        ("[sampler]\nstrategy = 'many-short'", "sampler.strategy"),
        ("[sampler]\nprecision = 'f32'", "sampler.precision"),
    ] {
        fs::write(&settings, text).unwrap();
        run(dir.path(), "validate eight-schools --config {}/settings.toml --out {}/x").fails(2, &[words]);
    }
    assert_eq!(tree(dir.path()), ["settings.toml"]);
}

/// Every row says of this model what can be said of it, and no file speaks of the PRD's.
#[test]
fn another_model_is_validated_by_its_own_facts() {
    let dir = tempfile::tempdir().unwrap();
    // An earlier validation of the PRD's problem left its trace here.
    fs::create_dir_all(dir.path().join("schools/traces")).unwrap();
    fs::write(dir.path().join("schools/traces/phase0_test_trace.nc"), "of another problem").unwrap();
    let earlier = r#"{ "schema": 1, "verdict": {}, "reproduce": "" }"#;
    fs::write(dir.path().join("schools/report.json"), earlier).unwrap();
    let found = run(dir.path(), "validate eight-schools --quick --out {}/schools --device cpu");
    found.succeeds();
    assert!(found.stderr.contains("data: Rubin's eight schools"), "{}", found.stderr);
    let text = fs::read_to_string(dir.path().join("schools/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let judged: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["id"].as_str().unwrap(), row["status"].as_str().unwrap())).collect();
    let gpu = has_gpu("a validation where no GPU is");
    let expected = [
        ("P0.1", if gpu { "PASS" } else { "SKIPPED" }),
        ("P0.2", "SKIPPED"),
        ("P0.3", "PASS"),
        ("P0.4", "SKIPPED"),
        ("P0.5", "PASS"),
        ("P1.2", "SKIPPED"),
        ("P1.3", "SKIPPED"),
        ("P1.4", "SKIPPED"),
        ("P2.2", "PASS"),
        ("P2.4", "PASS"),
        ("Q.1", "SKIPPED"),
        ("Q.2", "PASS"),
        ("Q.3", "PASS"),
    ];
    assert_eq!(judged, expected, "{}", found.stdout);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("Q.1")["reason"], "the values that made these data are not known");
    assert_eq!(row("Q.3")["threshold"], "within 4 MCSE, 5 for theta and theta_trans");
    assert_eq!(row("P0.4")["threshold"], "told, no limit");
    assert_eq!(report["model"]["name"], "eight-schools");
    assert_eq!(report["model"]["statements"][1], "tau ~ HalfCauchy(5)");
    let files = tree(&dir.path().join("schools"));
    for name in ["traces/trace.nc", "shrinkage_plot.png", "ppc_plot.png", "pareto_front_plot.png", "run/run.toml"] {
        assert!(files.iter().any(|file| file == name), "{name} is not in {files:?}");
    }
    assert!(!files.iter().any(|file| file.contains("phase0")), "{files:?}");
    for name in ["report.json", "index.html", "benchmark_report.txt", "junit.xml"] {
        let text = fs::read_to_string(dir.path().join("schools").join(name)).unwrap();
        for word in
            ["phase 0", "PRD", "mu_pop", "sigma_obs", "100 groups", "hierarchical-normal", "NumPy's", "collapsed"]
        {
            assert!(!text.contains(word), "{name} speaks of {word}");
        }
    }
    let trace = run(dir.path(), "diagnose {}/schools/traces/trace.nc --json");
    assert_eq!(trace.succeeds().json()["parameters"].as_array().unwrap().len(), 18);
}

/// Data of the user's own are not the PRD's: its limits of speed and NumPy's hash are not asked of them.
#[test]
fn own_data_of_the_prds_model() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|k| format!("{},{}\n", k % 6, 5 * (k % 6) + (k * k) % 7)).collect();
    fs::write(dir.path().join("y.csv"), format!("city,y\n{rows}")).unwrap();
    let words = "validate --data {}/y.csv --group city --value y --quick --out {}/own --device cpu --json --quiet";
    let report = run(dir.path(), words).json();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).map(|row| row["status"].as_str().unwrap());
    assert_eq!((status("Q.4"), status("P1.1"), status("Q.1")), (None, None, Some("SKIPPED")), "{rows:#?}");
    assert_eq!((status("Q.3"), status("P0.5")), (Some("PASS"), Some("PASS")), "{rows:#?}");
    assert_eq!(report["title"], "Octopus validation of hierarchical-normal");
    assert_eq!(report["data"]["group_sizes"], serde_json::json!([10, 10]));
}

/// Nothing that a test double does may pass for a GPU's doing.
#[test]
fn a_validation_on_a_test_double_says_so_and_claims_no_speed() {
    let Some(double) = Double::with_sampler(&["f64_32x4", "mixed_32x4"]) else { return };
    let clock = Instant::now();
    // No GPU of this machine is calibrated: `auto` samples on the CPU, and the GPU's stage runs all the same.
    let found = double.run(&mut double.octopus(""), "validate --quick --out {}/phase0");
    let took = clock.elapsed();
    eprintln!("validate --quick on the software GPU took {:.1} s", took.as_secs_f64());
    found.succeeds();
    let text = fs::read_to_string(double.scratch().join("phase0/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    let peak = row("P1.2")["value"].as_str().unwrap();
    assert!(peak.starts_with("peak ") && peak.contains(", foretold "), "{peak}");
    for id in ["P0.1", "P0.2", "P1.2", "P1.3"] {
        assert_eq!(row(id)["status"], "PASS", "{:#}", row(id));
        assert!(row(id)["value"].as_str().unwrap().contains("test double"), "{:#}", row(id));
    }
    let ran = row("P0.2")["value"].as_str().unwrap();
    assert!(ran.contains("6000 transitions") && ran.contains("the bits of the CPU's draws"), "{ran}");
    for id in ["P0.4", "P1.1", "P2.1"] {
        assert_eq!(row(id)["status"], "SKIPPED", "{:#}", row(id));
        assert_eq!(row(id)["reason"], "a test double's speed says nothing", "{:#}", row(id));
    }
    // No time on the double is anywhere among the timings.
    let runs = report["benchmark"]["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["gpu"] == false || run["result"]["value"].is_null()), "{runs:#?}");
    let speedups = report["benchmark"]["speedups"].as_array().unwrap();
    assert!(speedups.len() == 3 && speedups.iter().all(|s| s["ratio"]["value"].is_null()), "{speedups:#?}");
    let tables = report["comparisons"].as_array().unwrap();
    let table = |title: &str| tables.iter().find(|table| table["title"] == title).unwrap();
    assert!(table("On the GPU")["note"].as_str().unwrap().contains("A test double"));
    let parameters = table("Posteriors of CPU and GPU")["rows"].as_array().unwrap();
    assert_eq!(parameters.len(), 203);
    assert!(parameters.iter().all(|row| row[7] == "MATCH"), "{parameters:#?}");
    assert!(report["machine"]["gpu_facts"]["memory_bytes"].as_u64().unwrap() > 0);
    let benchmark = table("Runs on the GPU");
    assert!(benchmark["note"].as_str().unwrap().contains("says nothing"));
    assert!(benchmark["rows"].as_array().unwrap().iter().all(|row| row[2] == "-" && row[8] == "-"), "{benchmark:#}");
    // A test double is no GPU where one is required.
    let required =
        double.run(&mut double.octopus(""), "validate --quick --stages gpu --out {}/phase0 --require-gpu --quiet");
    assert_eq!(required.code, Some(4), "{required:#?}");
}

#[test]
fn a_validation_can_run_on_the_gpu_itself() {
    let Some(double) = Double::with_sampler(&["f64_32x1", "mixed_32x1"]) else { return };
    let words = "validate --quick --groups 10 --stages gpu --out {}/phase0 --device cuda --quiet --json";
    let report = double.run(&mut double.octopus(""), words).json();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let ran = rows.iter().find(|row| row["id"] == "P0.2").unwrap();
    assert!(ran["status"] == "PASS" && ran["value"].as_str().unwrap().contains("the bits of the CPU's"), "{ran:#}");
    let record = fs::read_to_string(double.scratch().join("phase0/run/run.toml")).unwrap();
    assert!(record.contains("device = \"cuda:0\"") && record.contains("(test double)"), "{record}");
}

#[test]
fn a_gpu_that_fails_in_the_middle_fails_its_row_and_not_the_validation_of_the_cpu() {
    let Some(double) = Double::with_sampler(&["f64_32x1", "mixed_32x1"]) else { return };
    let words = "validate --quick --groups 10 --out {}/phase0 --quiet --json";
    let found = double.run(&mut double.octopus("sticky=700@3"), words);
    assert_eq!(found.code, Some(1), "{found:#?}");
    let report = found.json();
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].as_str().unwrap().to_owned();
    assert_eq!(
        (status("P0.2").as_str(), status("P1.3").as_str(), status("P0.4").as_str()),
        ("FAIL", "SKIPPED", "SKIPPED")
    );
    assert_eq!((status("Q.3").as_str(), status("P0.3").as_str()), ("PASS", "PASS"));
    assert!(double.scratch().join("phase0/index.html").exists());
}

/// Results of a suite, in which another framework takes twice the time of Octopus for the same draws.
#[test]
fn other_frameworks_stand_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let suite = "about = \"\"\nframeworks = [\"octopus\", \"numpyro\"]\nrepeats = 3\n\
                 [[problem]]\nprogram = \"hierarchical-normal-stan\"\ngroups = 10\n\
                 [[method]]\nname = \"nuts\"\nchains = 4\ndraws = 500\ntune = 500\n";
    fs::write(at("small.toml"), suite).unwrap();
    run(dir.path(), "bench run {}/small.toml --peers {}/none --out {}/results -q").succeeds();
    let path = at("results/octopus.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|own| own == name).unwrap();
    let mut writer = csv::Writer::from_path(at("results/numpyro.csv")).unwrap();
    writer.write_record(&head).unwrap();
    for row in reader.records() {
        let mut row: Vec<String> = row.unwrap().iter().map(str::to_owned).collect();
        row[column("framework")] = "numpyro".to_owned();
        row[column("seconds")] = (2.0 * row[column("seconds")].parse::<f64>().unwrap()).to_string();
        writer.write_record(&row).unwrap();
    }
    writer.flush().unwrap();
    let line = "validate --quick --stages benchmark --device cpu -q --out {}/phase0";
    run(dir.path(), &format!("{line} --peers {{}}/results"));
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(at("phase0/report.json")).unwrap()).unwrap();
    let speedups = report["benchmark"]["speedups"].as_array().unwrap();
    let found = speedups.iter().find(|row| row["definition"] == "baselines").unwrap();
    assert!(found["what"].as_str().unwrap().starts_with("10 groups, nuts, 1 core(s): numpyro"), "{found:#}");
    assert!((found["ratio"]["value"].as_f64().unwrap() - 2.0).abs() < 0.01, "{found:#}");
    let text = fs::read_to_string(at("phase0/benchmark_report.txt")).unwrap();
    assert!(text.contains("numpyro"), "{text}");

    // Without another framework there is nothing to report.
    fs::remove_file(at("results/numpyro.csv")).unwrap();
    run(dir.path(), &format!("{line} --peers {{}}/results")).fails(3, &["--peers", "octopus bench run hierarchical"]);
}
