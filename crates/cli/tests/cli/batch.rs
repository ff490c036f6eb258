//! Many data sets in one command: a run folder for each, one summary, and what happens when one fails.

use crate::support::{fingerprints, run};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const OPTIONS: &str = "--group city --value y --draws 600 --tune 300 --device cpu --quiet";

/// Tables of different sizes, in a folder and in one file; numbers that need no generator.
pub(crate) fn tables(dir: &Path) {
    fs::create_dir(dir.join("in")).unwrap();
    let mut all = "study,city,y\n".to_owned();
    for (name, groups, each) in [("10", 6, 8), ("2", 9, 4), ("oslo", 12, 3)] {
        let mut own = "city,y\n".to_owned();
        for j in 0..groups {
            for i in 0..each {
                let y = 50.0 + f64::from(j * 37 % 11) * 2.5 + f64::from((i * 29 + j * 13) % 17) * 0.7;
                writeln!(own, "c{j},{y}").unwrap();
                writeln!(all, "{name},c{j},{y}").unwrap();
            }
        }
        fs::write(dir.join(format!("in/{name}.csv")), own).unwrap();
    }
    fs::write(dir.join("all.csv"), all).unwrap();
}

#[test]
fn a_folder_of_data_sets_is_sampled_and_one_that_fails_ends_alone() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    fs::write(dir.path().join("in/torn.csv"), "city,y\na,1\nb,two\n").unwrap();
    let words = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/out {OPTIONS}");
    let found = run(dir.path(), &format!("{words} --json"));
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(!found.stderr.contains("are complete"), "{}", found.stderr);
    let found = found.json();
    assert_eq!(found["failed"], 1, "{found}");
    let sets = found["sets"].as_array().unwrap();
    let names: Vec<&str> = sets.iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["2", "10", "oslo", "torn"], "numbers in their order");
    assert_eq!((&sets[1]["observations"], &sets[1]["groups"]), (&48.into(), &6.into()));
    assert!(sets[3]["error"].as_str().unwrap().contains("torn.csv: line 3 (row 2)"), "{found}");
    let own: Vec<&str> =
        sets[0]["parameters"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(own, ["mu_pop", "sigma_pop", "sigma_obs"]);
    let csv = fs::read_to_string(dir.path().join("out/summary.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.starts_with("name,status,seed,") && csv.lines().nth(4).unwrap().starts_with("torn,failed,"), "{csv}");
    let kept: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("out/batch.json")).unwrap()).unwrap();
    assert_eq!(kept["sets"], found["sets"]);

    // Each is an ordinary run, which its seed gives alone too.
    let expected = fingerprints(&dir.path().join("out/sets/oslo"));
    let seed = &sets[2]["seed"];
    let alone = format!(
        "sample hierarchical-normal --data {{}}/in/oslo.csv --out {{}}/alone {OPTIONS} --seed {seed} --threads 1"
    );
    run(dir.path(), &alone).succeeds();
    assert_eq!(fingerprints(&dir.path().join("alone")), expected);

    // Given again, what is complete stays and what is missing is drawn, to the same bits.
    let record = |name: &str| fs::read_to_string(dir.path().join(format!("out/sets/{name}/run.toml"))).unwrap();
    let before = record("2");
    fs::remove_dir_all(dir.path().join("out/sets/oslo")).unwrap();
    assert_eq!(run(dir.path(), &format!("{words} --threads 3")).code, Some(1));
    assert_eq!(record("2"), before);
    assert_eq!(fingerprints(&dir.path().join("out/sets/oslo")), expected);
    run(dir.path(), &words.replace("--draws 600", "--draws 7")).fails(2, &["other settings", "--force"]);
}

/// Each run of a batch keeps its warm-up where it is asked to, as the run alone does.
#[test]
fn a_batch_keeps_warm_up_as_each_run_alone_does() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let options = OPTIONS.replace("--draws 600 --tune 300", "--draws 40 --tune 30");
    let batch = format!("sample hierarchical-normal --batch {{}}/in {options}");
    let kept = run(dir.path(), &format!("{batch} --keep-warmup --json --out {{}}/kept")).json();
    run(dir.path(), &format!("{batch} --out {{}}/plain"));
    for set in kept["sets"].as_array().unwrap() {
        let (name, seed) = (set["name"].as_str().unwrap(), &set["seed"]);
        let own = fingerprints(&dir.path().join(format!("kept/sets/{name}")));
        assert!(own.keys().any(|array| array.starts_with("warmup_posterior/")), "{name}: {own:?}");
        let alone =
            format!("sample hierarchical-normal --data {{}}/in/{name}.csv {options} --seed {seed} --keep-warmup");
        run(dir.path(), &format!("{alone} --out {{}}/alone-{name}")).sampled();
        assert_eq!(fingerprints(&dir.path().join(format!("alone-{name}"))), own);
        let plain = fingerprints(&dir.path().join(format!("plain/sets/{name}")));
        assert!(!plain.keys().any(|array| array.starts_with("warmup_")), "{plain:?}");
    }
}

/// The strategy that is chosen for a batch is that of its runs, and their records say why. The same command goes on, even
/// if another version has chosen otherwise.
#[test]
fn a_batch_uses_the_strategy_that_it_chooses() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let options = "--group city --value y --device cpu --quiet --strategy auto --draws 4000 --chains 4";
    let words = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/out {options} --json");
    let found = run(dir.path(), &words).json();
    let (chosen, reason) = (&found["sampler"], found["strategy_reason"].as_str().unwrap());
    assert!(reason.contains("leapfrog steps"), "{found}");
    let record = |name: &str| -> toml::Table {
        fs::read_to_string(dir.path().join(format!("out/sets/{name}/run.toml"))).unwrap().parse().unwrap()
    };
    for name in ["2", "10", "oslo"] {
        let record = record(name);
        for field in ["strategy", "chains", "draws", "tune"] {
            let (of_run, of_batch) = (serde_json::to_value(&record["sampler"][field]).unwrap(), &chosen[field]);
            assert_eq!(&of_run, of_batch, "{name}: {field}");
        }
        assert_eq!(record["strategy_reason"].as_str(), Some(reason));
    }
    // As a run that another machine has begun, with other chains.
    let text = fs::read_to_string(dir.path().join("out/sets/oslo/run.toml")).unwrap();
    let tune = chosen["tune"].as_u64().unwrap();
    let other = text.replacen(&format!("tune = {tune}"), &format!("tune = {}", tune + 1), 1);
    fs::write(dir.path().join("out/sets/oslo/run.toml"), other).unwrap();
    let again = run(dir.path(), &words).json();
    assert_eq!(again["sets"], found["sets"]);
}

/// A batch that was killed before a run had its record goes on; what is no left-over stays and is told.
#[test]
fn a_folder_that_a_killed_batch_has_only_begun_is_taken_up() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let options = OPTIONS.replace("--draws 600 --tune 300", "--draws 40 --tune 30");
    let words = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/out {options}");
    let sets = dir.path().join("out/sets");
    for (name, left) in [("2", vec![]), ("10", vec![".lock"]), ("oslo", vec![".lock", ".run.toml.71-0.tmp"])] {
        fs::create_dir_all(sets.join(name)).unwrap();
        left.iter().for_each(|file| fs::write(sets.join(name).join(file), "").unwrap());
    }
    let found = run(dir.path(), &words);
    assert!(matches!(found.code, Some(0 | 1)), "{found:#?}");
    for name in ["2", "10", "oslo"] {
        assert!(sets.join(name).join("draws/part-00000.parquet").exists(), "{name}");
        let names = crate::support::tree(&sets.join(name));
        assert!(!names.iter().any(|name| name.contains(".tmp")), "{names:?}");
    }
    fs::remove_dir_all(sets.join("2")).unwrap();
    fs::create_dir(sets.join("2")).unwrap();
    fs::write(sets.join("2/thesis"), "years of work").unwrap();
    run(dir.path(), &words).fails(3, &["2 is not a run folder"]);
    assert_eq!(fs::read(sets.join("2/thesis")).unwrap(), b"years of work");
}

/// Processes that share a batch draw what one would, and the whole is summed up without drawing again.
#[test]
fn parts_of_a_batch_are_the_batch() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let of = |out: &str| format!("sample hierarchical-normal --batch {{}}/in --out {{}}/{out} {OPTIONS}");
    let whole = run(dir.path(), &format!("{} --json", of("whole"))).json();
    for (part, own) in [("1/2", 2), ("2/2", 1)] {
        let found = run(dir.path(), &format!("{} --part {part} --threads 1 --json", of("parts"))).json();
        assert_eq!(found["sets"].as_array().unwrap().len(), own, "{found}");
    }
    let record = || fs::read_to_string(dir.path().join("parts/sets/10/run.toml")).unwrap();
    assert!(dir.path().join("parts/summary-2-of-2.csv").exists() && !dir.path().join("parts/summary.csv").exists());
    let before = record();
    let parts = run(dir.path(), &format!("{} --json", of("parts"))).json();
    assert_eq!(record(), before, "it was complete");
    for (one, other) in parts["sets"].as_array().unwrap().iter().zip(whole["sets"].as_array().unwrap()) {
        assert_eq!(
            (&one["name"], &one["seed"], &one["parameters"]),
            (&other["name"], &other["seed"], &other["parameters"])
        );
    }
    for name in ["2", "10", "oslo"] {
        let of = |kind: &str| fingerprints(&dir.path().join(format!("{kind}/sets/{name}")));
        assert_eq!(of("parts"), of("whole"), "{name}");
    }
    for wrong in ["0/2", "3/2", "1", "a/b", "1/0"] {
        run(dir.path(), &format!("{} --part {wrong}", of("x"))).fails(2, &["--part", "K/N"]);
    }
    run(dir.path(), &format!("{} --part 4/4", of("x"))).fails(2, &["--part", "3 data sets"]);
}

#[test]
fn one_table_of_many_data_sets() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let of = |source: &str, out: &str| {
        format!("sample hierarchical-normal --batch {{}}/{source} --out {{}}/{out} {OPTIONS}")
    };
    let folder = run(dir.path(), &of("in", "folder"));
    let table = run(dir.path(), &format!("{} --batch-by study", of("all.csv", "table")));
    assert_eq!((table.code, folder.code), (Some(0), Some(0)), "{table:#?}");
    assert!(table.stdout.contains("3 data sets: ") && table.stdout.contains("mu_pop "), "{}", table.stdout);
    for name in ["2", "10", "oslo"] {
        let run = |kind: &str| fingerprints(&dir.path().join(format!("{kind}/sets/{name}")));
        assert_eq!(run("table"), run("folder"), "{name}");
    }
    // Whatever reads a run's data again reads its rows only.
    run(dir.path(), "plot {}/table/sets/oslo --out {}/plots").succeeds();
    run(dir.path(), &of("all.csv", "x")).fails(2, &["--batch-by"]);
    run(dir.path(), &of("none", "x")).fails(3, &["--batch: cannot read", "none", "No such file"]);
    run(dir.path(), &format!("{} --batch-by study", of("none.csv", "x"))).fails(3, &["--batch: cannot read"]);
    run(dir.path(), &format!("{} --batch-by study", of("in", "x"))).fails(2, &["is a folder"]);
    run(dir.path(), &format!("{} --target-ess 100", of("in", "x"))).fails(2, &["--target-ess"]);
    assert!(!dir.path().join("x").exists());
}

/// Draws that have not converged are said to be unfit, one data set after the other, and so says the exit code.
#[test]
fn data_sets_that_have_not_converged_are_unfit() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let sample = |out: &str, draws: &str| {
        let options = OPTIONS.replace("--draws 600 --tune 300", draws);
        let words = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/{out} {options} --json");
        let answer = run(dir.path(), &words);
        let found = answer.json();
        let status: Vec<_> = found["sets"].as_array().unwrap().iter().map(|set| set["status"].clone()).collect();
        let counts = ["fit", "unfit", "failed", "open"].map(|count| found[count].as_u64().unwrap());
        (answer.code, status, counts)
    };
    assert_eq!(sample("few", "--draws 20 --tune 20"), (Some(1), vec!["unfit".into(); 3], [0, 3, 0, 0]));
    let csv = fs::read_to_string(dir.path().join("few/summary.csv")).unwrap();
    assert!(csv.lines().skip(1).all(|line| line.contains(",unfit,")), "{csv}");
    assert_eq!(sample("many", "--draws 2000 --tune 500"), (Some(0), vec!["fit".into(); 3], [3, 0, 0, 0]));
}

/// What earlier sessions took is so much that it cannot be this session's own.
#[test]
fn a_batch_that_goes_on_adds_to_the_recorded_times() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let words = format!("sample hierarchical-normal --batch {{}}/in --out {{}}/out {OPTIONS}");
    run(dir.path(), &words);
    let path = dir.path().join("out/sets/2/run.toml");
    let record = || fs::read_to_string(&path).unwrap().parse::<toml::Table>().unwrap();
    let mut stopped = record();
    stopped["status"] = "interrupted".into();
    stopped["timing"] = toml::Table::from_iter(
        [("warmup_s", 1000.0), ("sampling_s", 2000.0)].map(|(name, seconds)| (name.to_owned(), seconds.into())),
    )
    .into();
    fs::write(&path, stopped.to_string()).unwrap();
    run(dir.path(), &words);
    let found = record();
    assert_eq!(found["status"].as_str(), Some("complete"));
    let seconds = |name: &str| found["timing"][name].as_float().unwrap();
    assert!(seconds("warmup_s") > 1000.0 && seconds("sampling_s") > 2000.0, "{}", found["timing"]);
}
