//! Traces of any format and of any program.

use crate::support::run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Traces that PyMC, nutpie, NumPyro and CmdStan have written.
fn theirs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/data").join(name)
}

/// Parameters by name: stores do not keep the order of variables.
fn rows(diagnosis: &serde_json::Value) -> BTreeMap<String, serde_json::Value> {
    let rows = diagnosis["parameters"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row.clone())).collect()
}

#[test]
fn every_format_is_diagnosed_alike() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample hierarchical-normal --groups 3 --draws 100 --tune 100 --device cpu --quiet --out {}/run");
    let diagnose = |trace: &str| run(dir.path(), &format!("diagnose {{}}/{trace} --json")).json();
    let own = diagnose("run");
    for format in ["netcdf", "zarr", "zarr-v2", "parquet", "stan-csv"] {
        run(dir.path(), &format!("export {{}}/run --to {format} --out {{}}/{format}")).succeeds();
        let found = diagnose(format);
        assert_eq!(rows(&found), rows(&own), "{format}");
        assert_eq!((&found["divergences"], &found["bfmi"]), (&own["divergences"], &own["bfmi"]), "{format}");
    }
    // From one format to another, without the run.
    run(dir.path(), "export {}/parquet --to zarr --out {}/again").succeeds();
    assert_eq!(rows(&diagnose("again")), rows(&own));
    for option in ["--prior 5", "--predictive 5"] {
        let words = format!("export {{}}/parquet --to netcdf --out {{}}/x.nc {option}");
        run(dir.path(), &words).fails(2, &["parquet does not tell its model", "the run folder"]);
        assert!(!dir.path().join("x.nc").exists(), "{option}");
    }
    run(dir.path(), "diagnose {}/netcdf {}/parquet").fails(3, &["netcdf"]);
}

#[test]
fn other_programs_traces_are_diagnosed_plotted_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["pymc/schools.nc", "nutpie/schools.nc", "numpyro/schools.nc", "cmdstan/dense.csv"] {
        let path = theirs(name);
        let path = path.to_str().unwrap();
        let found = run(dir.path(), &format!("diagnose {path}"));
        // A handful of draws is not enough, and that is what is said.
        assert_eq!(found.code, Some(1), "{name}: {found:?}");
        assert!(found.stdout.contains("rhat") && found.stdout.contains("divergences"), "{name}: {}", found.stdout);
        assert!(!found.stdout.contains("SKIPPED  divergences"), "{name}: {}", found.stdout);
    }
    let (first, second) = (theirs("cmdstan/warmup_1.csv"), theirs("cmdstan/warmup_2.csv"));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    let both = run(dir.path(), &format!("diagnose {first} {second}"));
    assert!(both.stdout.contains("2 chains of"), "{}", both.stdout);
    let schools = theirs("pymc/schools.nc");
    let plots = run(dir.path(), &format!("plot {} --out {{}}/plots --kind forest,energy", schools.display()));
    assert_eq!(plots.succeeds().stdout.lines().count(), 2);
    let others = theirs("nutpie/schools.nc");
    let compared = run(dir.path(), &format!("compare {} {} --out {{}}/both", schools.display(), others.display()));
    assert!(compared.stdout.contains("inference_library"), "{compared:?}");
    assert!(dir.path().join("both/run_comparison_plot.png").is_file());
}

#[test]
fn leave_one_out_of_a_run_and_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let sample = "sample hierarchical-normal --groups 12 --draws 400 --tune 300 --device cpu --quiet";
    run(dir.path(), &format!("{sample} --out {{}}/a")).succeeds();
    // A scale of observations that the prior forbids: the worse model.
    run(dir.path(), &format!("{sample} --sigma-obs-scale 0.05 --out {{}}/b")).succeeds();
    let one = run(dir.path(), "loo {}/a --json").succeeds().json();
    let elpd = one["models"][0]["elpd"].as_f64().unwrap();
    run(dir.path(), "export {}/a --to netcdf --out {}/a.nc --predictive 400").succeeds();
    let file = run(dir.path(), "loo {}/a.nc --json").succeeds().json();
    assert_eq!(file["models"][0]["elpd"].as_f64(), Some(elpd), "the file's log likelihoods are the model's");
    let ranked = run(dir.path(), "loo {}/b {}/a --json").json();
    assert!(ranked["comparison"][0]["name"].as_str().unwrap().ends_with("/a"), "{}", ranked["comparison"]);
    let text = run(dir.path(), "loo {}/a {}/b");
    assert!(text.stdout.contains("elpd_diff") && text.stdout.contains("weight"), "{}", text.stdout);
    let waic = run(dir.path(), "loo {}/a --waic");
    // Of so few observations a group some move the posterior too much for it.
    assert_eq!(waic.code, Some(1), "{waic:?}");
    assert!(waic.stdout.contains("elpd_waic") && waic.stdout.contains("WARN"), "{}", waic.stdout);
    run(dir.path(), "loo {}/a --draws 0").fails(2, &["--draws 0"]);
    run(dir.path(), "export {}/a --to parquet --out {}/p").succeeds();
    run(dir.path(), "loo {}/p").fails(3, &["log_likelihood"]);
}

#[test]
fn a_damaged_file_is_an_error_and_no_more() {
    // The parquet crate panics at it.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/parquet/negative_column_start");
    let done = run(Path::new("."), &format!("diagnose {file}"));
    done.fails(3, &["negative_column_start", "damaged", "copy or write it again"]);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
}

/// A chain of Stan of 100 draws whose tree depth is 8 once in ten; the values are those of a fixed sequence.
fn chain_of_stan(seed: u64) -> String {
    let mut state = seed;
    let mut number = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let rows: String = (0..100).map(|row| format!("-1,{},{}\n", if row % 10 == 0 { 8 } else { 3 }, number())).collect();
    format!("# num_samples = 120\n# max_depth = 8\n# id = {seed}\nlp__,treedepth__,mu\n{rows}")
}

#[test]
fn settings_of_stan_decide_and_notes_say_what_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("stan");
    std::fs::create_dir(&folder).unwrap();
    for chain in 1..=4 {
        std::fs::write(folder.join(format!("m_{chain}.csv")), chain_of_stan(chain)).unwrap();
    }
    std::fs::write(folder.join("m-profile-1.csv"), "name,thread_id\nx,0x7f\n").unwrap();
    std::fs::copy(folder.join("m_1.csv"), folder.join("m_1 (copy).csv")).unwrap();
    let notes = ["note: ", "m-profile-1.csv", "m_1 (copy).csv", "count once", "m_2.csv has 100 of 120 draws"];
    for command in ["diagnose {}/stan", "diagnose {}/stan --json", "plot {}/stan --out {}/p --kind forest --format svg"]
    {
        let told = run(dir.path(), command);
        assert!(notes.iter().all(|note| told.stderr.contains(note)), "{command}: {told:?}");
        let quiet = run(dir.path(), &format!("{command} --quiet"));
        assert!(!quiet.stderr.contains("note: "), "{command}: {quiet:?}");
    }
    let text = run(dir.path(), "diagnose {}/stan").stdout;
    assert!(text.contains("4 chains of 100 draws"), "{text}");
    assert!(text.contains("40 of 400 trajectories reached the depth limit"), "{text}");
    // The limit is kept by what is made of them.
    run(dir.path(), "export {}/stan --to netcdf --out {}/stan.nc").succeeds();
    let text = run(dir.path(), "diagnose {}/stan.nc").stdout;
    assert!(text.contains("40 of 400 trajectories reached the depth limit"), "{text}");
}

#[test]
fn draws_of_warm_up_alone_are_no_draws() {
    let dir = tempfile::tempdir().unwrap();
    let text = "# iter=20\n# warmup=10\n# save_warmup=1\n# thin=1\nlp__,mu\n-1,2\n-1,3\n";
    std::fs::write(dir.path().join("a.csv"), text).unwrap();
    for command in
        ["diagnose {}/a.csv", "plot {}/a.csv --out {}/p", "loo {}/a.csv", "export {}/a.csv --to csv --out {}/o.csv"]
    {
        run(dir.path(), command).fails(3, &["a.csv has no draws yet, only those of warm-up"]);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.path().join("pipe.csv")).status().unwrap().success());
    run(dir.path(), "diagnose {}/pipe.csv").fails(3, &["pipe.csv: it is a named pipe, and a file is needed"]);
    run(dir.path(), "diagnose /dev/zero").fails(3, &["/dev/zero: it is a device, and a file is needed"]);
}
