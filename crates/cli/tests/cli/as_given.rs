//! What users give as it comes: pipes, compressed tables, files of settings, symlinks; and what they are warned of.

use crate::support::{answer, octopus, run};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

const SHORT: &str = "--group city --value y --draws 20 --tune 20 --device cpu";

fn table(factor: f64) -> String {
    let rows: String =
        (0..60).map(|k| format!("{},{}\n", k % 6, factor * f64::from(5 * (k % 6) + (k * k) % 7))).collect();
    format!("city,y\n{rows}")
}

fn draws_of(dir: &Path, name: &str) -> serde_json::Value {
    run(dir, &format!("diagnose {{}}/{name} --json")).json()["parameters"].clone()
}

#[cfg(unix)]
#[test]
fn tables_come_through_pipes_and_compressed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("y.csv"), table(1.0)).unwrap();
    let mut gzip = GzEncoder::new(fs::File::create(dir.path().join("y.csv.gz")).unwrap(), Compression::default());
    gzip.write_all(table(1.0).as_bytes()).unwrap();
    gzip.finish().unwrap();
    let file = run(dir.path(), &format!("sample hierarchical-normal --data {{}}/y.csv {SHORT} --out {{}}/file"));
    assert!(!file.sampled().stderr.contains("is no file"), "{file:#?}");
    run(dir.path(), &format!("sample hierarchical-normal --data {{}}/y.csv.gz {SHORT} --out {{}}/gz")).sampled();
    for (name, data) in [("dash", "-"), ("stdin", "/dev/stdin")] {
        let words = format!("sample hierarchical-normal --data {data} {SHORT} --out {{}}/{name}");
        let words = words.split(' ').map(|word| word.replace("{}", dir.path().to_str().unwrap()));
        let found = answer(octopus().args(words).write_stdin(table(1.0)));
        assert!(found.sampled().stderr.contains("/dev/stdin is no file"), "{found:#?}");
    }
    let expected = draws_of(dir.path(), "file");
    for name in ["gz", "dash", "stdin"] {
        assert_eq!(draws_of(dir.path(), name), expected, "{name}");
    }
}

#[test]
fn made_up_data_and_contradicted_priors_are_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    let made_up =
        run(dir.path(), "sample hierarchical-normal --draws 20 --tune 20 --groups 3 --quiet --out {}/made-up");
    assert!(made_up.sampled().stderr.contains("the observations are made up (synthetic: 3 groups"), "{made_up:#?}");
    // Of a model with data of its own nothing is made up.
    let schools = run(dir.path(), "sample eight-schools --draws 20 --tune 20 --out {}/schools");
    assert!(!schools.sampled().stderr.contains("made up"), "{schools:#?}");
    assert!(schools.stderr.contains("model: mu ~ Normal(0, 5), "), "{schools:#?}");
    for (name, factor, words) in [("fits", 1.0, ""), ("far", 1e3, "the data contradict the prior of sigma_pop")] {
        fs::write(dir.path().join("y.csv"), table(factor)).unwrap();
        let words_of = format!("sample hierarchical-normal --data {{}}/y.csv {SHORT} --quiet --out {{}}/{name}");
        let found = run(dir.path(), &words_of);
        let told = found.sampled().stderr.contains("the data contradict the prior");
        assert_eq!(told, !words.is_empty(), "{found:#?}");
        assert!(found.stderr.contains(words) && !found.stderr.contains("made up"), "{found:#?}");
    }
}

/// Whoever gave a value in a file is told of the file, and ends as one who misused an option.
#[test]
fn wrong_settings_in_a_file_are_named_as_they_stand_there() {
    let dir = tempfile::tempdir().unwrap();
    let sample = |text: &str, options: &str| {
        fs::write(dir.path().join("settings.toml"), text).unwrap();
        let words = "sample hierarchical-normal --config {}/settings.toml --out {}/x --device cpu";
        run(dir.path(), &format!("{words} {options}"))
    };
    for (text, words) in [
        ("[sampler]\ndraws = 0", "settings.toml: sampler.draws = 0: at least 1"),
        ("[goal]\nmax_seconds = -1.0", "settings.toml: goal.max_seconds = -1: a positive"),
        ("[sampler]\ndrawz = 1", "settings.toml: field `sampler.drawz`"),
        ("likelihoods = 1", "settings.toml: field `likelihoods`"),
        ("[sampler", "settings.toml is no TOML file"),
    ] {
        sample(text, "").fails(2, &[words]);
    }
    // An option that stands over the file's value is the fault.
    sample("[sampler]\ndraws = 10", "--draws 0").fails(2, &["--draws 0: at least 1"]);
    sample("[sampler]\ndraws = 0", "--chains 0").fails(2, &["settings.toml: sampler.draws = 0"]);
    sample("[sampler]\ndraws = 0", "--draws 10 --tune 10").sampled();
    fs::write(dir.path().join("long.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    run(dir.path(), "sample eight-schools --config {}/long.toml --out {}/y").fails(2, &["long.toml", "1048576 bytes"]);
    #[cfg(unix)]
    run(dir.path(), "sample eight-schools --config /dev/zero --out {}/y").fails(2, &["/dev/zero", "1048576 bytes"]);
}

#[test]
fn chains_that_make_no_superchains_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan = |options: &str| {
        run(dir.path(), &format!("sample eight-schools --strategy many-short --dry-run --device cpu {options}"))
    };
    plan("--chains 1009").fails(2, &["--chains 1009: no number of superchains up to 64", "take 1008"]);
    plan("--chains 67").fails(2, &["take 64"]);
    plan("--chains 1009 --superchains 1009").succeeds();
    for chains in ["61", "64", "1008"] {
        plan(&format!("--chains {chains}")).succeeds();
    }
}

#[cfg(unix)]
#[test]
fn exports_go_through_symlinks_and_to_no_device() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample eight-schools --draws 20 --tune 20 --quiet --out {}/run").sampled();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("far")).unwrap();
    std::os::unix::fs::symlink("far/real.nc", at("link.nc")).unwrap();
    for force in ["", "--force"] {
        run(dir.path(), &format!("export {{}}/run --to netcdf --out {{}}/link.nc {force}")).succeeds();
        assert!(at("link.nc").is_symlink() && fs::symlink_metadata(at("far/real.nc")).unwrap().is_file(), "{force}");
    }
    run(dir.path(), "export {}/run --to netcdf --out {}/link.nc").fails(3, &["real.nc", "--force"]);
    run(dir.path(), "diagnose {}/link.nc --json").json();
    // A socket stands for a device: the machine's own would be gone for good if this test found a fault.
    let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("socket", at("to_socket.nc")).unwrap();
    for out in ["socket", "to_socket.nc"] {
        run(dir.path(), &format!("export {{}}/run --to netcdf --force --out {{}}/{out}"))
            .fails(2, &["no regular file"]);
        assert!(!fs::metadata(at("socket")).unwrap().is_file());
    }
    drop(socket);
}
