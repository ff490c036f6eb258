//! Users' own tables, through every command that reads one: missing cells and decimal commas, folders, other encodings.

use crate::support::{fingerprints, run, stop};
use octopus_runs::RunFolder;
use std::fs;
use std::path::Path;

/// The same observations twice: as they are read by default, and with decimal commas and missing cells.
fn tables(dir: &Path) {
    let (mut plain, mut other) = ("g,y\n".to_owned(), "# exported\ng;y\nNA;1,5\na;\n".to_owned());
    let mut sets = "s;g;y\n".to_owned();
    for row in 0..24 {
        let y = 45.0 + f64::from(row * 29 % 17) * 0.75 + f64::from(row % 4);
        let comma = y.to_string().replace('.', ",");
        plain += &format!("c{},{y}\n", row % 4);
        other += &format!("c{};{comma}\n", row % 4);
        sets += &format!("other;c{};{comma}\n", row % 4);
    }
    sets += "other;a;\nother;NA;1,5\n;a;1\n";
    fs::write(dir.join("plain.csv"), plain).unwrap();
    fs::write(dir.join("sets.csv"), sets).unwrap();
    fs::create_dir(dir.join("in")).unwrap();
    fs::write(dir.join("in/other.csv"), other).unwrap();
}

/// The run has the observations of the plain table, and its record says what was left out.
#[track_caller]
fn is_plain(run: &Path, plain: &Path, comments: usize) {
    let record = |run: &Path| RunFolder::open(run).unwrap().record().data.clone().unwrap();
    let (own, plain) = (record(run), record(plain));
    assert_eq!((own.sha256, own.observations, own.groups), (plain.sha256, 24, 4), "{}", run.display());
    let left_out = own.left_out;
    assert_eq!(
        (left_out.without_value, left_out.without_group, left_out.comments),
        (1, 1, comments),
        "{}",
        run.display()
    );
    assert!(plain.left_out.is_nothing());
}

#[test]
fn how_a_table_is_read_goes_every_way() {
    const READ: &str = "--group g --value y --drop-missing --decimal ,";
    const SHORT: &str = "--draws 40 --tune 60 --device cpu";
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let at = |name: &str| dir.path().join(name);
    let sample = "sample hierarchical-normal";
    run(dir.path(), &format!("{sample} --data {{}}/plain.csv --group g --value y {SHORT} -q --out {{}}/plain"))
        .sampled();
    let expected = fingerprints(&at("plain"));
    let answer = run(dir.path(), &format!("{sample} --data {{}}/in/other.csv {READ} {SHORT} --out {{}}/other"));
    let told = "1 row without a value, 1 row without a group, 1 comment line before the header";
    assert!(answer.sampled().stderr.contains(told), "{answer:#?}");
    assert_eq!(fingerprints(&at("other")), expected);
    is_plain(&at("other"), &at("plain"), 1);
    let dry = run(dir.path(), &format!("{sample} --data {{}}/in/other.csv {READ} --dry-run --json"));
    assert_eq!(dry.succeeds().json()["data"]["left_out"]["without_value"], 1);

    // A file of settings.
    let path = at("in/other.csv");
    let table = format!("path = {path:?}\ngroup = 'g'\nvalue = 'y'\ndrop_missing = true\ndecimal = ','");
    fs::write(at("c.toml"), format!("[data.file]\n{table}\n")).unwrap();
    run(dir.path(), &format!("{sample} --config {{}}/c.toml {SHORT} -q --out {{}}/file")).sampled();
    assert_eq!(fingerprints(&at("file")), expected);
    is_plain(&at("file"), &at("plain"), 1);

    // Resumed before its first draw, the run reads the table again.
    stop(&at("file"));
    run(dir.path(), "resume {}/file -q").sampled();
    assert_eq!(fingerprints(&at("file")), expected);

    // Batches.
    let answer = run(dir.path(), &format!("{sample} --batch {{}}/in {READ} {SHORT} --out {{}}/batch"));
    assert!(answer.stderr.contains(&format!("data set `other`: left out: {told}")), "{answer:#?}");
    is_plain(&at("batch/sets/other"), &at("plain"), 1);
    let answer = run(dir.path(), &format!("{sample} --batch {{}}/sets.csv --batch-by s {READ} {SHORT} --out {{}}/by"));
    assert!(answer.stderr.contains("1 row without a value in `s` left out"), "{answer:#?}");
    is_plain(&at("by/sets/other"), &at("plain"), 0);
    for (batch, comments) in [("batch", 1), ("by", 0)] {
        stop(&at(batch).join("sets/other"));
        run(dir.path(), &format!("resume {{}}/{batch}/sets/other -q")).sampled();
        is_plain(&at(batch).join("sets/other"), &at("plain"), comments);
    }

    // Checks, sweeps, and validations.
    let answer = run(dir.path(), &format!("check hierarchical-normal --data {{}}/in/other.csv {READ} --json"));
    assert!(answer.succeeds().stderr.contains(told) && answer.json()["coordinates"] == 7, "{answer:#?}");
    let sweep = |words: &str| {
        let found =
            run(dir.path(), &format!("sweep hierarchical-normal --seeds 1 --draws 40 --tune 60 -q --json {words}"));
        found.json()["sweep"]["leapfrogs_a_draw"].as_f64().unwrap()
    };
    let plain = sweep("--data {}/plain.csv --group g --value y");
    assert_eq!(sweep(&format!("--data {{}}/in/other.csv {READ}")), plain);
    assert_eq!(sweep("--config {}/c.toml"), plain);
    let words = format!("validate --data {{}}/in/other.csv {READ} --quick --stages compare --device cpu --out {{}}/v");
    let answer = run(dir.path(), &words);
    assert!(matches!(answer.code, Some(0 | 1)) && answer.stderr.contains(told), "{answer:#?}");
    is_plain(&at("v/run"), &at("plain"), 1);
}

#[test]
fn a_data_set_whose_rows_are_all_left_out_fails_alone() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path());
    let text = fs::read_to_string(dir.path().join("sets.csv")).unwrap();
    fs::write(dir.path().join("sets.csv"), format!("{text}empty;a;\n")).unwrap();
    let words = "sample hierarchical-normal --batch {}/sets.csv --batch-by s --group g --value y --drop-missing --decimal , \
                 --draws 40 --tune 60 --device cpu -q --json --out {}/out";
    let found = run(dir.path(), words).json();
    assert_eq!(found["failed"], 1, "{found}");
    assert!(found["sets"][0]["error"].as_str().unwrap().contains("1 row without a value"), "{found}");
}

/// A comma must not be taken for nothing, and what cannot be read is said with what to do.
#[test]
fn tables_that_cannot_be_read_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, bytes: &[u8], words: &[&str]| {
        fs::write(dir.path().join(name), bytes).unwrap();
        let line = format!("sample hierarchical-normal --data {{}}/{name} --group g --value y --dry-run --device cpu");
        run(dir.path(), &line).fails(3, words);
    };
    refused("y.csv", b"g;y\r\na;1\r\nb;1.234,5\r\n", &["line 3 (row 2)", "`1.234,5`", "between thousands"]);
    refused("y.xlsx", b"PK\x03\x04[Content_Types].xml", &["y.xlsx is an Excel workbook", "CSV UTF-8"]);
    refused("y.csv", b"g,y\nS\xe3o,1\n", &["line 2, column 2", "0xE3", "iconv -f WINDOWS-1252 -t UTF-8"]);
    refused("y.csv", b"\xff\xfeg\x00,\x00y\x00", &["UTF-16", "iconv -f UTF-16"]);
    refused("y.json", b"{\"g\": [1], \"y\": [2]}", &["is JSON"]);
    fs::create_dir(dir.path().join("folder")).unwrap();
    let line = "sample hierarchical-normal --data {}/folder --group g --value y --dry-run --device cpu";
    run(dir.path(), line).fails(3, &["folder is a folder", "holds no Parquet files"]);
}

/// A table that the settings name is not put aside for data that are made up.
#[test]
fn a_table_of_the_settings_is_used_or_the_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("d.csv"), "g,y\na,1\na,2\nb,4\nb,3\n").unwrap();
    let config = format!("[data.file]\npath = {:?}\ngroup = \"g\"\nvalue = \"y\"\n", dir.path().join("d.csv"));
    std::fs::write(dir.path().join("c.toml"), config).unwrap();
    for (option, value) in [("--groups", 3), ("--data-seed", 3), ("--per-group", 4)] {
        let words =
            format!("sample hierarchical-normal --config {{}}/c.toml --device cpu {option} {value} --out {{}}/run");
        run(dir.path(), &words)
            .fails(2, &[option, "the data come from data.file in", "c.toml", "leave out one of both"]);
    }
}
