//! Outputs against inputs, as a table: wherever a command is to write, nothing that it reads is lost, nor a file
//! of a user's, nor a run.
//!
//! The program is asked for its options, so that one that names a file and has no row here fails these tests.

use crate::options::listed;
use crate::support::{program, run, tree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a command does with the file or folder that an option names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Reads,
    Writes,
}
use Role::{Reads, Writes};

#[rustfmt::skip]
const ROLES: &[(&str, &str, Role)] = &[
    ("", "--log-file", Writes),
    ("", "--profile", Writes),
    ("sample", "--out", Writes),
    ("sample", "--config", Reads),
    ("sample", "--init", Reads),
    ("sample", "--data", Reads),
    ("sample", "--batch", Reads),
    ("sample", "--program", Reads),
    ("plot", "--out", Writes),
    ("compare", "--out", Writes),
    ("calibrate", "--out", Writes),
    ("calibrate", "--config", Reads),
    ("calibrate", "--data", Reads),
    ("calibrate", "--program", Reads),
    ("calibrate", "--simulator", Reads),
    ("check", "--config", Reads),
    ("check", "--data", Reads),
    ("check", "--program", Reads),
    ("model-check", "--data", Reads),
    ("model-show", "--data", Reads),
    ("sweep", "--out", Writes),
    ("sweep", "--keep", Writes),
    ("sweep", "--config", Reads),
    ("sweep", "--data", Reads),
    ("sweep", "--program", Reads),
    ("export", "--out", Writes),
    ("predict", "--out", Writes),
    ("predict", "--data", Reads),
    ("validate", "--out", Writes),
    ("validate", "--config", Reads),
    ("validate", "--peers", Reads),
    ("validate", "--data", Reads),
    ("validate", "--program", Reads),
    ("random", "--out", Writes),
    ("data-polynomial", "--out", Writes),
    ("man", "--out", Writes),
    ("bench-list", "--peers", Reads),
    ("bench-setup", "--peers", Reads),
    ("bench-run", "--peers", Reads),
    ("bench-run", "--out", Writes),
    ("bench-run", "--export-data", Writes),
    ("bench-plot", "--out", Writes),
    ("bench-test", "--peers", Reads),
    ("device-measure", "--cache", Writes),
    ("device-warm", "--kernel-cache", Writes),
    ("device-exact", "--expected", Reads),
    ("device-exact", "--record", Writes),
    ("device-sampler", "--out", Writes),
    ("device-accept", "--reports", Writes),
];

/// A command line without its outputs, and what it reads; `{}` stands for the folder of the test.
struct Line {
    command: &'static str,
    words: &'static str,
    reads: &'static [&'static str],
}

const fn line(command: &'static str, words: &'static str, reads: &'static [&'static str]) -> Line {
    Line { command, words, reads }
}

/// Every command; those that can be forced, by force, which must not help.
const LINES: &[Line] = &[
    line(
        "sample",
        "sample hierarchical-normal --data {}/d.csv --group g --value y --config {}/c.toml --device cpu --force",
        &["d.csv", "c.toml"],
    ),
    line("sample", "sample hierarchical-normal --config {}/names.toml --device cpu --force", &["d.csv", "names.toml"]),
    line(
        "sample",
        "sample hierarchical-normal --batch {}/sets --group g --value y --device cpu --force",
        &["sets/a.csv", "sets"],
    ),
    line("sample", "sample eight-schools --init {}/run --device cpu --force", &["run/run.toml", "d.csv"]),
    line("resume", "resume {}/run", &["run/run.toml", "run/draws/part-00000.parquet", "d.csv"]),
    line("diagnose", "diagnose {}/run", &["run/run.toml", "d.csv"]),
    line("diagnose", "diagnose {}/t.nc", &["t.nc"]),
    line("loo", "loo {}/run {}/t.nc", &["run/run.toml", "t.nc", "d.csv"]),
    line("evidence", "evidence {}/run", &["run/run.toml", "d.csv"]),
    line("plot", "plot {}/run --kind trace", &["run/run.toml", "run/draws/part-00000.parquet", "d.csv"]),
    line("plot", "plot {}/t.nc --kind trace", &["t.nc"]),
    line("compare", "compare {}/run {}/t.nc", &["run/run.toml", "t.nc"]),
    line("export", "export {}/run --to csv --force", &["run/run.toml", "run/draws/part-00000.parquet", "d.csv"]),
    line("export", "export {}/t.nc --to netcdf --force", &["t.nc"]),
    line("export", "export {}/t.zarr --to zarr --force", &["t.zarr"]),
    line("predict", "predict {}/run --data {}/d.csv --to netcdf --force", &["run/run.toml", "d.csv"]),
    line("calibrate", "calibrate eight-schools --datasets 2 --device cpu --config {}/c.toml", &["c.toml"]),
    line("check", "check hierarchical-normal --config {}/names.toml", &["d.csv", "names.toml"]),
    line("sweep", "sweep hierarchical-normal --config {}/names.toml", &["d.csv", "names.toml"]),
    line("validate", "validate hierarchical-normal --config {}/names.toml --device cpu", &["d.csv", "names.toml"]),
    line("random", "random normal --n 10 --force", &[]),
    line("data-polynomial", "data polynomial --force", &[]),
    line("man", "man", &[]),
    line("bench-run", "bench run {}/suite.toml", &["suite.toml"]),
    line("bench-plot", "bench plot {}/results", &["results/metadata.json"]),
    line("verify", "verify --no-deep", &[]),
    line("device-measure", "device measure", &[]),
    line("device-warm", "device warm", &[]),
    line("device-exact", "device exact --expected {}/expected.json", &["expected.json"]),
    line("device-exact", "device exact", &[]),
    line("device-sampler", "device sampler", &[]),
    line("device-accept", "device accept {}/accepted", &["accepted/MANIFEST"]),
];

impl Line {
    /// The options of the command that name what it writes.
    fn outputs(&self) -> impl Iterator<Item = &'static str> {
        let own = self.command;
        let role = move |(command, _, role): &&(&str, &str, Role)| [own, ""].contains(command) && *role == Writes;
        ROLES.iter().filter(role).map(|(_, option, _)| *option)
    }

    /// The options that it needs beside one: every other output that it must have.
    fn others(&self, option: &str) -> &'static str {
        const MUST: [&str; 6] = ["sample", "plot", "calibrate", "export", "man", "random"];
        if !MUST.contains(&self.command) || option == "--out" {
            ""
        } else if self.command == "random" {
            "--out {}/elsewhere/o.npy"
        } else {
            "--out {}/elsewhere/o"
        }
    }
}

/// Fills a folder with all that the lines read.
fn prepare(dir: &Path) {
    let rows = (0..12).map(|row| format!("{},{}\n", row % 3, row * row % 7));
    fs::write(dir.join("d.csv"), format!("g,y\n{}", rows.collect::<String>())).unwrap();
    fs::create_dir(dir.join("sets")).unwrap();
    fs::copy(dir.join("d.csv"), dir.join("sets/a.csv")).unwrap();
    fs::write(dir.join("c.toml"), "[sampler]\nseed = 3\n").unwrap();
    let names = format!("[data.file]\npath = {:?}\ngroup = \"g\"\nvalue = \"y\"\n", dir.join("d.csv"));
    fs::write(dir.join("names.toml"), names).unwrap();
    fs::write(dir.join("expected.json"), "{\"schema\": 1, \"kernels\": [").unwrap();
    fs::create_dir(dir.join("accepted")).unwrap();
    fs::write(dir.join("accepted/MANIFEST"), "measured").unwrap();
    run(dir, "sample hierarchical-normal --data {}/d.csv --group g --value y --draws 20 --tune 20 --device cpu -q --out {}/run")
        .sampled();
    run(dir, "export {}/run --to netcdf --out {}/t.nc").succeeds();
    run(dir, "export {}/run --to zarr --out {}/t.zarr").succeeds();
    fs::write(dir.join("suite.toml"), "about = \"no suite yet\"").unwrap();
    fs::create_dir(dir.join("results")).unwrap();
    fs::write(dir.join("results/metadata.json"), "{}").unwrap();
    fs::write(dir.join("thesis"), "years of work").unwrap();
    fs::create_dir(dir.join("below")).unwrap();
}

/// Every file with its contents; what a folder is, and where a symlink leads.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    tree(dir).into_iter().map(|name| (name.clone(), fs::read(dir.join(&name)).unwrap_or_default())).collect()
}

/// Asserts that a command line is refused and changes nothing.
#[track_caller]
fn refused(dir: &Path, words: &str, before: &BTreeMap<String, Vec<u8>>) {
    let answer = run(dir, words);
    assert!(matches!(answer.code, Some(2 | 3)) && !answer.stderr.contains("panicked"), "octopus {words}: {answer:#?}");
    let after = contents(dir);
    let changed: Vec<&String> =
        before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(changed.is_empty(), "octopus {words} changed {changed:?}: {answer:#?}");
}

#[test]
fn every_option_that_names_a_file_has_a_role() {
    const NAMES: [&str; 3] = ["FILE", "DIR", "PATH"];
    let mut missing = Vec::new();
    let all = listed();
    for (command, options) in &all {
        for one in options {
            let value = one.value.as_deref().unwrap_or_default();
            let global = ["--log-file", "--profile"].contains(&one.option.as_str());
            let of = if global { "" } else { command };
            let has_role = ROLES.iter().any(|(command, option, _)| *command == of && *option == one.option);
            if NAMES.iter().any(|name| value.contains(name)) != has_role {
                missing.push(format!("{command} {} {value}", one.option));
            }
        }
    }
    assert!(missing.is_empty(), "the table of roles needs {missing:#?}");
    for (command, option, role) in ROLES.iter().filter(|(_, _, role)| *role == Writes) {
        let walked = LINES.iter().any(|line| line.command == *command || command.is_empty());
        assert!(walked, "{command} {option} {role:?}: no line of {command}");
    }
}

/// The names under which an input may be meant.
#[cfg(unix)]
fn disguises(dir: &Path, input: &str) -> Vec<String> {
    let own = format!("{{}}/{input}");
    let hard = dir.join("below/hard");
    let soft = dir.join("below/soft");
    let _ = (fs::remove_file(&hard), fs::remove_file(&soft));
    std::os::unix::fs::symlink(dir.join(input), &soft).unwrap();
    let mut names = vec![own, format!("{{}}/below/../{input}"), "{}/below/soft".to_owned()];
    if fs::hard_link(dir.join(input), &hard).is_ok() {
        names.push("{}/below/hard".to_owned());
    }
    names
}

#[cfg(unix)]
#[test]
fn what_a_command_reads_is_never_what_it_writes() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    for line in LINES {
        for input in line.reads {
            for name in disguises(dir.path(), input) {
                let before = contents(dir.path());
                for option in
                    line.outputs().filter(|option| !(*option == "--record" && line.words.contains("--expected")))
                {
                    let words = format!("{} {option} {name} {}", line.words, line.others(option));
                    refused(dir.path(), &words, &before);
                }
            }
        }
    }
}

#[test]
fn outputs_are_apart_and_no_run_nor_a_user_s_file_is_written_to() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let before = contents(dir.path());
    for line in LINES {
        let outputs: Vec<&str> = line.outputs().filter(|_| !line.words.contains("--expected")).collect();
        for (number, option) in outputs.iter().enumerate() {
            let others = line.others(option);
            for place in ["run/new", "run/draws", "run/run.toml", "run/.lock"] {
                // Pictures have folders of their own there.
                if place == "run/new" && *option == "--out" && ["plot", "compare"].contains(&line.command) {
                    continue;
                }
                refused(dir.path(), &format!("{} {option} {{}}/{place} {others}", line.words), &before);
            }
            let unforced = line.words.replace("--force", "");
            refused(dir.path(), &format!("{unforced} {option} {{}}/thesis {others}"), &before);
            for other in &outputs[..number] {
                let beside = if *other == "--out" { "" } else { others };
                refused(
                    dir.path(),
                    &format!("{} {option} {{}}/new.npy {other} {{}}/below/../new.npy {beside}", line.words),
                    &before,
                );
            }
        }
    }
}

/// A table may be a folder of Parquet files: whatever lies in it is read, by this command or the next.
#[test]
fn nothing_is_written_into_a_table() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    fs::create_dir(dir.path().join("table")).unwrap();
    run(dir.path(), "export {}/run --to parquet --out {}/p").succeeds();
    fs::rename(dir.path().join("p/posterior.parquet"), dir.path().join("table/1.parquet")).unwrap();
    let table =
        "sample hierarchical-normal --group chain --value mu_pop --draws 20 --tune 20 --device cpu -q --data {}/table";
    run(dir.path(), &format!("{table} --out {{}}/of-table")).sampled();
    let config = format!("[data.file]\npath = {:?}\ngroup = \"chain\"\nvalue = \"mu_pop\"\n", dir.path().join("table"));
    fs::write(dir.path().join("table.toml"), config).unwrap();
    let before = contents(dir.path());
    for words in [
        &*format!("{table} --out {{}}/table/r"),
        &*format!("{table} --out {{}}/table --force"),
        &*format!("{table} --out {{}}/new --log-file {{}}/below/../table/log"),
        "sample hierarchical-normal --config {}/table.toml --out {}/table/year=2021",
        "validate hierarchical-normal --quick --data {}/table --group chain --value mu_pop --out {}/table/report",
        "export {}/of-table --to netcdf --out {}/table/x.nc",
        "export {}/of-table --to csv --out {}/table/t.csv",
        "plot {}/of-table --out {}/table",
        "plot {}/of-table --out {}/table/plots",
        "compare {}/of-table {}/t.nc --out {}/table/comparison",
    ] {
        let answer = run(dir.path(), words);
        answer.fails(2, &["table", "name a place outside"]);
        refused(dir.path(), words, &before);
    }
}

/// Reports and manual pages take the place of earlier ones, and of nothing else.
#[test]
fn pages_of_a_user_s_are_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("pages/octopus.1", "mine"), ("site/index.html", "mine"), ("figures/energy_plot.png", "mine")]
    {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let before = contents(dir.path());
    let man = "man -q --out {}/";
    let validate = "validate eight-schools --quick --stages compare --device cpu -q --out {}/";
    for (words, names) in [
        (format!("{man}pages"), ["octopus.1", "none of octopus'"]),
        (format!("{validate}site"), ["index.html", "none of octopus'"]),
        (format!("{validate}figures"), ["energy_plot.png", "none of octopus'"]),
    ] {
        run(dir.path(), &words).fails(2, &names);
        refused(dir.path(), &words, &before);
    }
    for _ in 0..2 {
        run(dir.path(), &format!("{man}other")).succeeds();
    }
}

/// What is allowed stays allowed: pictures in a run folder, an export beside it, logs and results over earlier ones.
#[test]
fn places_of_their_own_are_written_to() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let trees = |name: &str| tree(&dir.path().join(name));
    run(dir.path(), "plot {}/run --kind trace --out {}/run/plots").succeeds();
    assert_eq!(trees("run/plots"), ["trace_plot.png"]);
    run(dir.path(), "compare {}/run {}/t.nc --out {}/run/comparison").succeeds();
    run(dir.path(), "compare {}/run {}/t.nc --out {}/run/comparison").succeeds();
    run(dir.path(), "diagnose {}/run -q");
    for _ in 0..2 {
        run(dir.path(), "verify --no-deep -q --log-file {}/log.jsonl --profile {}/profile.json");
        run(dir.path(), "sweep eight-schools --seeds 1 --draws 40 --tune 40 -q --out {}/sweep.json");
    }
    let empty = dir.path().join("empty");
    fs::write(&empty, "").unwrap();
    run(dir.path(), "sweep eight-schools --seeds 1 --draws 40 --tune 40 -q --log-file {}/empty");
    assert!(fs::read_to_string(&empty).unwrap().starts_with("{\"timestamp\""));
    // A summary that is no batch's own is a user's.
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("out/summary.csv"), "mine").unwrap();
    let batch = "sample hierarchical-normal --batch {}/sets --group g --value y --draws 20 --tune 20 --device cpu -q --out {}/out";
    run(dir.path(), batch).fails(2, &["--out", "summary.csv", "no earlier summary of a batch"]);
    run(dir.path(), &format!("{batch} --force"));
    assert!(fs::read_to_string(dir.path().join("out/summary.csv")).unwrap().starts_with("name,status"));
    run(dir.path(), batch);
    // A folder of a user's is no calibration's.
    let calibrate =
        "calibrate eight-schools --datasets 2 --chains 2 --draws 40 --tune 40 --device cpu -q --out {}/mine";
    fs::create_dir(dir.path().join("mine")).unwrap();
    fs::write(dir.path().join("mine/ranks.csv"), "mine").unwrap();
    run(dir.path(), calibrate).fails(2, &["has a ranks.csv of no calibration", "--force"]);
    assert_eq!(fs::read(dir.path().join("mine/ranks.csv")).unwrap(), b"mine");
    fs::write(dir.path().join("mine/settings.json"), "mine").unwrap();
    run(dir.path(), calibrate).fails(2, &["has a settings.json of no calibration", "--force"]);
}

#[test]
fn a_folder_takes_no_file_s_place_and_this_is_asked_first() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("dir.npy/inside")).unwrap();
    for words in ["random normal --n 1e12 --out {}/dir.npy --force", "random normal --n 1e12 --out {}/dir.npy --resume"]
    {
        run(dir.path(), words).fails(2, &["--out", "dir.npy", "it is a folder; name a file"]);
    }
    run(dir.path(), "sweep eight-schools --seeds 1000000 --out {}/dir.npy").fails(2, &["it is a folder; name a file"]);
    assert_eq!(tree(dir.path()), ["dir.npy", "dir.npy/inside"]);
}

/// Makes a device of the folder's own, of the kind of `/dev/null` (3) or `/dev/full` (7): a fault must not cost the
/// machine its own. Only root may; for anybody else this part is SKIPPED.
#[cfg(unix)]
fn device(dir: &Path, name: &str, minor: &str) -> bool {
    let mut mknod = Command::new("mknod");
    let made = mknod.arg(dir.join(name)).args(["c", "1", minor]).stderr(Stdio::null()).status();
    let made =
        made.is_ok_and(|status| status.success()) && fs::File::options().write(true).open(dir.join(name)).is_ok();
    if !made {
        eprintln!("SKIPPED: outputs that are devices: this user makes none (mknod)");
    }
    made
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_and_modes_are_kept() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let at = |name: &str| dir.path().join(name);
    if device(dir.path(), "null", "3") {
        run(dir.path(), "verify --no-deep -q --log-file {}/null --profile {}/null");
        run(dir.path(), "sweep eight-schools --seeds 1 --draws 40 --tune 40 -q --out {}/null");
        run(dir.path(), "export {}/run --to csv --out {}/null").succeeds();
        run(dir.path(), "export {}/run --to zarr --out {}/null --force").fails(3, &["/null", "exists"]);
        assert!(fs::symlink_metadata(at("null")).unwrap().file_type().is_char_device());
    }
    symlink("/proc/self/fd/1", at("stdout")).unwrap();
    let csv = run(dir.path(), "export {}/run --to csv --out {}/stdout");
    assert!(csv.succeeds().stdout.starts_with("chain,draw,mu_pop") && at("stdout").is_symlink(), "{csv:?}");
    run(dir.path(), "export {}/run --to csv --out {}/far.csv").succeeds();
    symlink(at("far.csv"), at("near.csv")).unwrap();
    fs::set_permissions(at("far.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    run(dir.path(), "export {}/t.nc --to csv --out {}/near.csv --force").succeeds();
    assert!(at("near.csv").is_symlink() && at("far.csv").metadata().unwrap().permissions().mode() & 0o777 == 0o600);
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = at("fifo");
        move || fs::read_to_string(fifo).unwrap()
    });
    run(dir.path(), "export {}/run --to csv --out {}/fifo").succeeds();
    assert!(reader.join().unwrap().starts_with("chain,draw,") && !at("fifo").is_file());
}

/// Links that somebody has put where temporary files and locks were once made lead nowhere.
#[cfg(unix)]
#[test]
fn planted_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let victim = dir.path().join("thesis");
    for name in [".o.csv.tmp", ".o.nc.tmp", ".o.npy.partial.json.tmp"] {
        symlink(&victim, dir.path().join(name)).unwrap();
    }
    run(dir.path(), "export {}/run --to csv --out {}/o.csv").succeeds();
    run(dir.path(), "export {}/run --to netcdf --out {}/o.nc").succeeds();
    run(dir.path(), "random normal --n 10 --out {}/o.npy").succeeds();
    fs::create_dir(dir.path().join("linked")).unwrap();
    for (name, words) in [
        ("linked/.lock", "sample eight-schools --draws 20 --tune 20 --device cpu --out {}/linked"),
        ("p.npy.partial", "random normal --n 10 --out {}/p.npy --force"),
        ("linked/.lock", "calibrate eight-schools --datasets 2 --device cpu --out {}/linked"),
    ] {
        let link = dir.path().join(name);
        let _ = fs::remove_file(&link);
        symlink(&victim, &link).unwrap();
        run(dir.path(), words).fails(3, &["symlink", "remove it"]);
    }
    assert_eq!(fs::read(&victim).unwrap(), b"years of work");
}

#[cfg(unix)]
#[test]
fn a_log_that_loses_lines_says_so() {
    let dir = tempfile::tempdir().unwrap();
    if !device(dir.path(), "full", "7") {
        return;
    }
    let sample = "sample eight-schools --draws 2000 --tune 500 --device cpu -q --out {}/run --log-file {}/full";
    run(dir.path(), sample).fails(3, &["--log-file ", "/full: ", "lines could not be written", "No space left"]);
    run(dir.path(), "diagnose {}/run -q --profile {}/full").fails(3, &["--profile ", "/full", "No space left"]);
}

/// Starts eight processes at once and waits for them: their exit codes, and what they said.
fn eight(dir: &Path, words: impl Fn(usize) -> String) -> Vec<(Option<i32>, String)> {
    let start = |number: usize| {
        let words: Vec<String> =
            words(number).split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap())).collect();
        Command::new(program()).args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(start).collect();
    let end = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    children.into_iter().map(end).collect()
}

#[test]
fn eight_exports_to_one_name_leave_one_of_them_whole() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    run(dir.path(), "sample eight-schools --draws 30 --tune 20 --device cpu -q --out {}/other").sampled();
    let traces = ["run", "other"];
    for format in ["csv", "netcdf", "zarr", "zarr-v2", "parquet", "stan-csv"] {
        let whole = |trace: &str| {
            let out = format!("whole-{format}-{trace}");
            run(dir.path(), &format!("export {{}}/{trace} --to {format} --out {{}}/{out}")).succeeds();
            let path = dir.path().join(out);
            if path.is_dir() { contents(&path) } else { BTreeMap::from([(String::new(), fs::read(path).unwrap())]) }
        };
        let expected = traces.map(whole);
        for force in ["", "--force"] {
            let out = format!("{format}{force}");
            let ended = eight(dir.path(), |number| {
                format!("export {{}}/{} --to {format} --out {{}}/{out} {force}", traces[number % 2])
            });
            let won = ended.iter().filter(|(code, _)| *code == Some(0)).count();
            assert_eq!(won, if force.is_empty() { 1 } else { 8 }, "{out}: {ended:?}");
            assert!(ended.iter().all(|(code, said)| *code == Some(0) || said.contains("exists: choose")), "{ended:?}");
            let path = dir.path().join(&out);
            let found = if path.is_dir() {
                contents(&path)
            } else {
                BTreeMap::from([(String::new(), fs::read(path).unwrap())])
            };
            assert!(expected.contains(&found), "{out} is neither of the two");
        }
    }
    let left: Vec<String> = tree(dir.path()).into_iter().filter(|name| name.contains(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn eight_who_draw_one_file_leave_it_whole() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "random normal --n 300000 --threads 1 --out {}/whole.npy").succeeds();
    for force in ["", "--force"] {
        let out = format!("shared{force}.npy");
        let ended = eight(dir.path(), |_| format!("random normal --n 300000 --threads 1 --out {{}}/{out} {force}"));
        let told = ["another program is writing it", "already exists", "was begun and not finished"];
        let is_told = |said: &str| told.iter().any(|words| said.contains(words));
        assert!(ended.iter().all(|(code, said)| *code == Some(0) || is_told(said)), "{ended:?}");
        assert!(ended.iter().any(|(code, _)| *code == Some(0)), "{ended:?}");
        assert!(fs::read(dir.path().join(&out)).unwrap() == fs::read(dir.path().join("whole.npy")).unwrap(), "{out}");
    }
    assert_eq!(tree(dir.path()).len(), 3, "{:?}", tree(dir.path()));
}

#[test]
fn eight_calibrations_in_one_folder_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let line = "calibrate eight-schools --datasets 6 --chains 2 --draws 60 --tune 60 --device cpu --threads 1 -q --out";
    let code = run(dir.path(), &format!("{line} {{}}/whole")).code;
    let ended = eight(dir.path(), |_| format!("{line} {{}}/shared"));
    assert!(ended.iter().any(|(one, _)| *one == code), "{ended:?}");
    assert!(ended.iter().all(|(one, said)| *one == code || said.contains("in use by another octopus")), "{ended:?}");
    let [whole, shared] = ["whole", "shared"].map(|name| contents(&dir.path().join(name)));
    assert_eq!(whole.keys().collect::<Vec<_>>(), shared.keys().collect::<Vec<_>>());
    assert!(whole["ranks.csv"] == shared["ranks.csv"] && whole["calibration.json"] == shared["calibration.json"]);
}

/// A dry run asks about its output what the run asks.
#[test]
fn a_dry_run_refuses_the_outputs_that_the_run_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let sample = "sample eight-schools --chains 2 --draws 5 --tune 5 --device cpu -q";
    run(dir.path(), &format!("{sample} --out {{}}/run")).sampled();
    fs::write(dir.path().join("ok.csv"), "g,v\n").unwrap();
    let before = tree(dir.path());
    for out in
        ["--out {}/run", "--out {}/run/x", "--force --out {}/run/x", "--out {}/ok.csv", "--force --out {}/ok.csv"]
    {
        let [real, dry] = ["", "--dry-run"].map(|more| run(dir.path(), &format!("{sample} {out} {more}")));
        assert!(matches!(real.code, Some(2 | 3)), "{out}: {real:?}");
        assert_eq!((dry.code, &dry.stderr), (real.code, &real.stderr), "{out}");
    }
    for out in ["--out {}/new", "--force --out {}/run"] {
        run(dir.path(), &format!("{sample} {out} --dry-run")).succeeds();
    }
    assert_eq!(tree(dir.path()), before);
}
