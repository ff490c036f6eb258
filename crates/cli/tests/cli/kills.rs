//! Kills at every operation on files: whatever a command was doing when it was killed, the same command goes on or begins
//! anew and ends as if it had not been, what the user had is whole, and nothing half-written stays.
//!
//! `kills/tracer.c` counts the operations by which a command changes files and kills it before the k-th, for each k
//! until it survives, and once more in the middle of each write. `cargo xtask kills` runs all commands, which takes
//! minutes; one export is part of every test run.

use crate::support::{fingerprints, program, run, tree};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A command that is killed; `{}` stands for the folder that it works in.
struct Killed {
    name: &'static str,
    /// Commands that make what it finds.
    before: &'static [&'static str],
    command: &'static str,
    /// The command that goes on where the same one may not, by its own words on stderr.
    goes_on: Option<(&'static str, &'static str)>,
    /// What it replaces: after each kill the old one or the new one is there, and whole.
    replaces: Option<&'static str>,
}

const RUN: Killed = Killed { name: "", before: &[], command: "", goes_on: None, replaces: None };
const SAMPLE: &str = "sample hierarchical-normal --data {}/d.csv --group g --value y --draws 24 --tune 20 --chains 2 \
                      --keep-warmup --checkpoint-every 11 --device cpu --threads 1 -q --out {}/run";

const RESUME: (&str, &str) = ("exists and is not empty", "resume {}/run --checkpoint-every 11 --threads 1 -q");

/// The exports: over nothing, and with --force over an earlier one.
macro_rules! exports {
    ($($format:literal),*) => {
        [$(
            Killed {
                name: concat!("export --to ", $format),
                command: concat!("export {}/in/a.csv -q --out {}/out --to ", $format),
                goes_on: Some(("exists: choose another name", "diagnose {}/in/a.csv")),
                ..RUN
            },
            Killed {
                name: concat!("export --force --to ", $format),
                before: &[concat!("export {}/in/b.csv -q --out {}/out --to ", $format)],
                command: concat!("export {}/in/a.csv -q --force --out {}/out --to ", $format),
                replaces: Some("out"),
                ..RUN
            },
        )*]
    };
}
const EXPORTS: [Killed; 12] = exports!("csv", "netcdf", "zarr", "zarr-v2", "parquet", "stan-csv");

const OTHERS: [Killed; 14] = [
    Killed { name: "sample", command: SAMPLE, goes_on: Some(RESUME), ..RUN },
    Killed {
        name: "sample --force",
        before: &["sample eight-schools --draws 20 --tune 20 --chains 2 --device cpu --threads 1 -q --out {}/run"],
        command: "sample hierarchical-normal --data {}/d.csv --group g --value y --draws 24 --tune 20 --chains 2 \
                  --checkpoint-every 11 --device cpu --threads 1 -q --force --out {}/run",
        ..RUN
    },
    Killed {
        name: "sample --log-file --profile",
        before: &["diagnose {}/in/a.csv -q --log-file {}/log --profile {}/profile"],
        command: "sample eight-schools --draws 20 --tune 20 --chains 2 --checkpoint-every 15 --device cpu --threads 1 -q --force \
                  --out {}/run --log-file {}/log --profile {}/profile",
        replaces: Some("profile"),
        ..RUN
    },
    Killed { name: "resume", before: &[SAMPLE], command: "resume {}/run --checkpoint-every 11 --threads 1 -q", ..RUN },
    Killed {
        name: "sample --batch",
        command: "sample hierarchical-normal --batch {}/sets --group g --value y --draws 20 --tune 20 --chains 2 \
                  --keep-warmup --device cpu --threads 1 -q --out {}/batch",
        ..RUN
    },
    Killed {
        name: "sample --batch --force",
        before: &["sample hierarchical-normal --batch {}/sets --group g --value y --draws 10 --tune 20 --chains 2 \
                   --device cpu --threads 1 -q --out {}/batch"],
        command: "sample hierarchical-normal --batch {}/sets --group g --value y --draws 20 --tune 20 --chains 2 \
                  --device cpu --threads 1 -q --out {}/batch --force",
        ..RUN
    },
    Killed {
        name: "random, .npy",
        command: "random normal --n 300000 --memory 1MiB --threads 1 -q --out {}/draws.npy",
        goes_on: Some((
            "draws.npy",
            "random normal --n 300000 --memory 1MiB --threads 1 -q --out {}/draws.npy --resume",
        )),
        ..RUN
    },
    Killed {
        name: "random --force, .parquet",
        before: &["random normal --n 300 --seed 3 --threads 1 -q --out {}/draws.parquet"],
        command: "random normal --n 300000 --threads 1 -q --force --out {}/draws.parquet",
        replaces: Some("draws.parquet"),
        ..RUN
    },
    Killed {
        name: "random --resume",
        before: &["random normal --n 300000 --threads 1 -q --out {}/draws.npy"],
        command: "random normal --n 300000 --threads 1 -q --resume --out {}/draws.npy",
        ..RUN
    },
    Killed {
        name: "calibrate",
        command: "calibrate eight-schools --datasets 3 --chains 2 --draws 60 --tune 60 --device cpu --threads 1 -q \
                  --format svg --out {}/ranks",
        ..RUN
    },
    Killed {
        name: "calibrate --force",
        before: &["calibrate eight-schools --datasets 2 --chains 2 --draws 60 --tune 50 --device cpu --threads 1 -q \
                   --format svg --out {}/ranks"],
        command: "calibrate eight-schools --datasets 3 --chains 2 --draws 60 --tune 60 --device cpu --threads 1 -q \
                  --format svg --force --out {}/ranks",
        ..RUN
    },
    Killed {
        name: "sweep --out",
        before: &["sweep eight-schools --seeds 1 --draws 40 --tune 40 --threads 1 -q --out {}/sweep.json"],
        command: "sweep eight-schools --seeds 2 --draws 40 --tune 40 --threads 1 -q --out {}/sweep.json",
        replaces: Some("sweep.json"),
        ..RUN
    },
    Killed { name: "plot", command: "plot {}/in/a.csv --kind trace,forest --format svg -q --out {}/plots", ..RUN },
    Killed { name: "compare --out", command: "compare {}/in/a.csv {}/in/b.csv -q --out {}/comparison", ..RUN },
];

/// Fills a folder with what all commands read: two traces of CmdStan, a table, and two data sets.
fn inputs(dir: &Path) {
    fs::create_dir_all(dir.join("in")).unwrap();
    fs::create_dir_all(dir.join("sets")).unwrap();
    for (name, draws, step) in [("a", 30, 7), ("b", 20, 11)] {
        let mut text = format!(
            "# stan_version_major = 2\n# method = sample (Default)\n#   sample\n#     num_samples = {draws}\n#     num_warmup = 0\n\
             #     save_warmup = 0 (Default)\n#     thin = 1 (Default)\n# id = 1\n\
             lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,tau\n"
        );
        for draw in 0..draws {
            let x = f64::from(draw * step % 13) / 7.0;
            text += &format!("{},0.9,0.5,2,3,0,{},{x},{}\n", -x, x + 1.0, x * x);
        }
        fs::write(dir.join(format!("in/{name}.csv")), text).unwrap();
    }
    let table = |shift: f64| {
        let rows = (0..24).map(|row| format!("{},{}\n", row % 4, shift + f64::from(row * row % 17)));
        format!("g,y\n{}", rows.collect::<String>())
    };
    for (name, shift) in [("d.csv", 0.0), ("sets/s1.csv", 3.0), ("sets/s2.csv", 5.0)] {
        fs::write(dir.join(name), table(shift)).unwrap();
    }
}

/// The contents of everything in a folder, but for what a clock says. A clock also decides how draws are cut into blocks
/// and parts: of runs that are complete there are the hashes of their draws, and no part but those of the record.
fn contents(dir: &Path, with_draws: bool) -> BTreeMap<String, Vec<u8>> {
    /// Words of lines that differ from run to run.
    const CLOCKS: [&str; 10] =
        ["created", "_s = ", "_s\": ", "timestamp", "\"ts\"", "seconds", "command", "crc32", "rows = ", "/part-"];
    let is_part = |name: &str| name.contains("/part-") && name.ends_with(".parquet");
    let names = tree(dir);
    let mut found = BTreeMap::new();
    for name in &names {
        let path = dir.join(name);
        if is_part(name) {
            continue;
        }
        if path.is_dir() {
            let record = fs::read_to_string(path.join("run.toml")).unwrap_or_default();
            if with_draws && record.contains("status = \"complete\"") {
                let hashes = fingerprints(&path).into_iter();
                found.extend(hashes.map(|(array, hash)| (format!("{name}: {array}"), hash.into_bytes())));
                let parts =
                    names.iter().filter_map(|part| part.strip_prefix(&format!("{name}/"))).filter(|part| is_part(part));
                let strays: Vec<&str> = parts.filter(|part| !record.contains(&format!("\"{part}\""))).collect();
                found.insert(format!("{name}: parts that the record lacks"), strays.join(" ").into_bytes());
            }
            found.insert(format!("{name}/"), Vec::new());
            continue;
        }
        let bytes = match String::from_utf8(fs::read(&path).unwrap()) {
            _ if name == "log" || name == "profile" => Vec::new(),
            Ok(text) if name.ends_with(".csv") => text.into_bytes(),
            Ok(text) => {
                let lines = text.lines().filter(|line| !CLOCKS.iter().any(|word| line.contains(word)));
                lines
                    .filter(|line| *line != "[[parts]]" && !line.is_empty())
                    .flat_map(|line| [line, "\n"])
                    .collect::<String>()
                    .into_bytes()
            }
            Err(bytes) => bytes.into_bytes(),
        };
        found.insert(name.clone(), bytes);
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in tree(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            fs::create_dir(to).unwrap();
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// What the tracer has reported of a command: its operations, its exit code unless it was killed, and where it was.
struct Report {
    operations: usize,
    code: Option<i32>,
    at: String,
}

/// The tracer, compiled; `None`, with a word about it, where it cannot be.
fn tracer(dir: &Path) -> Option<PathBuf> {
    let skipped = |why: &str| {
        eprintln!("SKIPPED: kills at every operation: {why}");
        None
    };
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return skipped("the tracer is of Linux on x86-64");
    }
    let (source, path) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/kills/tracer.c"), dir.join("tracer"));
    let compiled = Command::new("gcc").arg("-O1").arg("-o").arg(&path).arg(source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skipped("no gcc here");
    }
    let tried = trace(&path, "0", dir, &["/bin/true".into()]);
    if tried.is_none_or(|report| report.code != Some(0)) {
        return skipped("this process may not trace another (ptrace, seccomp)");
    }
    Some(path)
}

fn trace(tracer: &Path, kill: &str, folder: &Path, command: &[String]) -> Option<Report> {
    let report = folder.with_extension("report");
    let mut traced = Command::new(tracer);
    traced.arg(kill).arg(folder).arg(&report).args(command).env("XDG_CACHE_HOME", folder.with_extension("cache"));
    let status = traced.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    let text = fs::read_to_string(&report).ok().filter(|_| status.success())?;
    let mut words = text.trim_end().splitn(3, ' ');
    let operations = words.next()?.parse().ok()?;
    let code: i32 = words.next()?.parse().ok()?;
    Some(Report { operations, code: (code >= 0).then_some(code), at: words.next().unwrap_or_default().to_owned() })
}

fn words(dir: &Path, line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    std::iter::once(program().to_owned()).chain(words).collect()
}

/// What came of killing one command everywhere.
struct Found {
    operations: usize,
    kills: usize,
    failures: Vec<String>,
}

impl Killed {
    /// Kills the command at each of its operations, and in the middle of each write.
    fn everywhere(&self, tracer: &Path, scratch: &Path) -> Found {
        // Every one of them works at the same path, which some write into their results.
        let (begin, dir) = (scratch.join("begin"), scratch.join("work"));
        inputs(&begin);
        for line in self.before {
            let ended = run(&begin, line);
            assert!(matches!(ended.code, Some(0 | 1)), "{}: {ended:#?}", self.name);
        }
        self.stop_halfway(tracer, &begin);
        copy(&begin, &dir);
        let survived = trace(tracer, "0", &dir, &words(&dir, self.command)).unwrap();
        let (code, operations) = (survived.code, survived.operations);
        assert!(matches!(code, Some(0 | 1)) && operations > 0, "{}: {code:?}, {operations} operations", self.name);
        let (before, after) = (contents(&begin, true), contents(&dir, true));
        fs::remove_dir_all(&dir).unwrap();
        let mut found = Found { operations, kills: 0, failures: Vec::new() };
        for half in [false, true] {
            let mut kill = 1;
            loop {
                copy(&begin, &dir);
                let word = format!("{kill}{}", if half { "h" } else { "" });
                let report = trace(tracer, &word, &dir, &words(&dir, self.command)).unwrap();
                if report.code.is_some() {
                    fs::remove_dir_all(&dir).unwrap();
                    break;
                }
                // Half of what is no write is nothing: it was killed there before.
                if !half || report.at.starts_with("write") || report.at.starts_with("pwrite") {
                    found.kills += 1;
                    if let Err(why) = self.after_kill(&dir, &before, &after) {
                        found.failures.push(format!("{}, killed at {word} ({}): {why}", self.name, report.at));
                    }
                }
                fs::remove_dir_all(&dir).unwrap();
                kill += 1;
            }
        }
        found
    }

    /// What a command that goes on finds was stopped halfway by a kill.
    fn stop_halfway(&self, tracer: &Path, begin: &Path) {
        let (Some(line), true) = (self.before.last(), self.command.contains("resume")) else { return };
        let dir = begin.with_extension("halfway");
        inputs(&dir);
        let all = trace(tracer, "0", &dir, &words(&dir, line)).unwrap().operations;
        fs::remove_dir_all(&dir).unwrap();
        fs::remove_dir_all(begin).unwrap();
        inputs(begin);
        let killed = trace(tracer, &(2 * all / 3).to_string(), begin, &words(begin, line)).unwrap();
        assert_eq!(killed.code, None, "{}", self.name);
    }

    /// Looks at what a kill has left, has the command go on, and compares with what it leaves when it is not killed.
    fn after_kill(
        &self,
        dir: &Path,
        before: &BTreeMap<String, Vec<u8>>,
        after: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), String> {
        let left = contents(dir, false);
        let of = |all: &BTreeMap<String, Vec<u8>>, beginning: &str| -> BTreeMap<String, Vec<u8>> {
            let belongs = |name: &str| name == beginning || name.starts_with(&format!("{beginning}/"));
            all.iter().filter(|(name, _)| belongs(name)).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
        };
        for input in ["in", "sets", "d.csv"] {
            if of(&left, input) != of(before, input) {
                return Err(format!("the input {input} is not what it was"));
            }
        }
        if let Some(name) = self.replaces {
            let there = of(&left, name);
            if there != of(before, name) && there != of(after, name) {
                return Err(format!("{name} is neither the old one nor the new one"));
            }
        }
        let mut again = run(dir, self.command);
        if let Some((words, line)) = self.goes_on
            && again.stderr.contains(words)
        {
            again = run(dir, line);
        }
        if !matches!(again.code, Some(0 | 1)) {
            return Err(format!("it does not go on: {:?} {}", again.code, again.stderr));
        }
        let ended = contents(dir, true);
        if ended == *after {
            return Ok(());
        }
        let names: Vec<&String> =
            ended.keys().chain(after.keys()).filter(|name| ended.get(*name) != after.get(*name)).collect();
        let text = |all: &BTreeMap<String, Vec<u8>>| {
            let first = names.first().and_then(|name| String::from_utf8(all.get(*name)?.clone()).ok());
            first.unwrap_or_default()
        };
        Err(format!("it ends otherwise: {names:?}\n{}\n--- uninterrupted:\n{}", text(&ended), text(after)))
    }
}

/// Kills the commands everywhere, several at a time, and tells what came of it.
fn kill(commands: &[&Killed]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let Some(tracer) = tracer(dir.path()) else { return Vec::new() };
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, command)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, commands.get(n)?)))
        {
            let found = command.everywhere(&tracer, &dir.path().join(number.to_string()));
            let (Found { operations, kills, failures: own }, name) = (found, command.name);
            println!("{name:40} {operations:5} operations {kills:5} kills {:5} failures", own.len());
            failures.lock().unwrap().extend(own);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(commands.len());
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    failures.into_inner().unwrap()
}

/// `OCTOPUS_TEST_KILLED` names a part of the commands by words of their names.
#[test]
#[ignore = "takes minutes; `cargo xtask kills` and `cargo xtask nightly` run it"]
fn kills_at_every_operation() {
    let asked = std::env::var("OCTOPUS_TEST_KILLED").unwrap_or_default();
    let commands: Vec<&Killed> = OTHERS.iter().chain(&EXPORTS).filter(|one| one.name.contains(&asked)).collect();
    assert!(!commands.is_empty(), "no command has {asked:?} in its name");
    let failures = kill(&commands);
    assert!(
        failures.is_empty(),
        "{} failures, the first ones:\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n")
    );
}

#[test]
fn an_export_survives_a_kill_at_every_operation() {
    let commands: Vec<&Killed> = EXPORTS.iter().filter(|one| one.name == "export --force --to stan-csv").collect();
    let failures = kill(&commands);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
