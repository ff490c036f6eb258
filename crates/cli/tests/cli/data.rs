//! `octopus data`: data of which the truth is known, printed or in a file, as the program that ships takes them.

use crate::support::run;
use octopus_models::polynomial::PolynomialSpec;
use std::fs;

#[test]
fn data_are_those_of_the_library_printed_or_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |words: &str| run(dir.path(), &format!("data polynomial {words}"));
    let own = PolynomialSpec { points: 7, seed: 3, noise: 0.2 }.generate().unwrap();
    let printed = at("--n 7 --seed 3 --noise 0.2");
    assert_eq!(printed.succeeds().stdout, own.json());
    assert!(printed.stderr.contains(&format!("7 points, seed 3: SHA-256 {}", own.sha256())), "{}", printed.stderr);
    assert_eq!(at("--n 7 --quiet").succeeds().stderr, "");
    let json = at("--n 7 --seed 3 --noise 0.2 --json").succeeds().json();
    assert_eq!((&json["sha256"], &json["data"]["N"]), (&own.sha256().into(), &7.into()));
    // By its name, and as the program has it without any data.
    let medium = PolynomialSpec::default().generate().unwrap();
    assert_eq!(at("").stdout, medium.json());
    assert_eq!(at("--n medium").stdout, medium.json());
    let large = at("--n large --out {}/new/large.json --json").succeeds().json();
    assert_eq!((&large["points"], &large["data"]), (&100.into(), &serde_json::Value::Null));
    let file = dir.path().join("new/large.json");
    assert_eq!(large["file"], file.to_str().unwrap());
    // A file stays unless it is to be replaced.
    let written = fs::read(&file).unwrap();
    at("--out {}/new/large.json").fails(3, &["large.json already exists", "--force"]);
    assert_eq!(fs::read(&file).unwrap(), written);
    at("--n large --seed 8 --out {}/new/large.json --force").succeeds();
    assert_ne!(fs::read(&file).unwrap(), written);
    fs::write(&file, written).unwrap();
    // A run has their hash in its record.
    run(dir.path(), "sample polynomial --data {}/new/large.json --draws 200 --device cpu --out {}/run").sampled();
    let record = fs::read_to_string(dir.path().join("run/run.toml")).unwrap();
    assert!(record.contains(large["sha256"].as_str().unwrap()), "{record}");
}
