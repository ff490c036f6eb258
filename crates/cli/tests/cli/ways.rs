//! The ways of running as a table: each option against each way, with what shows that it is heard there, or the words
//! with which it is refused.
//!
//! An option without its cells fails these tests, and so does a command that is neither a way of running nor known to
//! run nothing.

use crate::limits;
use crate::options::{GLOBAL, has_row, listed};
use crate::settings::is_setting;
use crate::support::{has_test, run, stop, tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way of running.
struct Way {
    command: &'static str,
    /// The word of a command line that makes it this way.
    word: &'static str,
    /// A short command line; `{}` stands for the folder of [`prepare`].
    line: &'static str,
    /// The test of `settings.rs` that takes settings through it.
    settings: &'static str,
}

const fn way(command: &'static str, word: &'static str, settings: &'static str, line: &'static str) -> Way {
    Way { command, word, line, settings }
}

const WAYS: [Way; 7] = [
    way(
        "sample",
        "sample",
        "each_option_changes_the_record_and_the_draws",
        "sample hierarchical-normal --data {}/y.csv --group g --value y --chains 2 --draws 9 --tune 9 --device cpu \
         --out {}/out",
    ),
    way(
        "sample",
        "--batch",
        "each_data_set_of_a_batch_has_every_setting",
        "sample hierarchical-normal --batch {}/in --group g --value y --chains 2 --draws 9 --tune 9 --device cpu \
         --out {}/out",
    ),
    way(
        "sample",
        "--dry-run",
        "a_dry_run_tells_every_setting",
        "sample hierarchical-normal --chains 2 --draws 9 --tune 9 --device cpu --dry-run",
    ),
    way("resume", "resume", "resume_takes_every_setting_from_the_record", "resume {}/stopped"),
    way(
        "sweep",
        "sweep",
        "a_sweep_runs_what_sample_runs",
        "sweep hierarchical-normal --seeds 1 --chains 2 --draws 9 --tune 9",
    ),
    way(
        "validate",
        "validate",
        "a_validation_samples_what_sample_samples",
        "validate eight-schools --quick --stages compare --device cpu --out {}/out",
    ),
    way(
        "calibrate",
        "calibrate",
        "a_calibration_has_every_setting",
        "calibrate eight-schools --datasets 2 --chains 2 --draws 9 --tune 9 --device cpu --out {}/out",
    ),
];

/// The commands that run no chains on a posterior of the user's.
const OTHERS: [&str; 38] = [
    "",
    "verify",
    "device-list",
    "device-info",
    "device-watch",
    "device-measure",
    "device-warm",
    "device-exact",
    "device-sampler",
    "device-accept",
    "diagnose",
    "plot",
    "compare",
    "loo",
    "evidence",
    "check",
    "model-list",
    "model-copy",
    "model-check",
    "model-show",
    "status",
    "submit",
    "export",
    "predict",
    "random",
    "data",
    "data-polynomial",
    "bench",
    "bench-list",
    "bench-setup",
    "bench-run",
    "bench-plot",
    "bench-compare",
    "bench-export",
    "bench-test",
    "bench-answer",
    "completions",
    "man",
];

/// What becomes of an option in a way of running.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// The row of its command in `options.rs` shows that it is heard.
    Row,
    /// It is a setting, and the way's test in `settings.rs` takes it through.
    Set,
    /// Another test shows that it is heard: by its file and its name; the test has the option and the way's word.
    In(&'static str, &'static str),
    /// The option with its value, perhaps others that it needs, and what is seen with it alone.
    Shows(&'static str, &'static str),
    /// The same for what is seen without it alone.
    Hides(&'static str, &'static str),
    /// The option with its value, perhaps others, and words beside its name with which it is refused.
    Refused(&'static str, &'static str),
    /// It makes the way another one, of this word.
    Makes(&'static str),
    /// The command does not have it.
    No,
}
use Cell::{Hides, In, Makes, No, Refused, Row, Set, Shows};

const JSON: Cell = Shows("--json", "stdout: {\n");
const TOLD: Cell = Shows("--verbose", "info: ");
const LOG: Cell = Shows("--log-file {}/log.jsonl", "file: log.jsonl");
const PROFILE: Cell = Shows("--profile {}/profile.json", "file: profile.json");
const BATCH: Cell = In("batch.rs", "a_folder_of_data_sets_is_sampled_and_one_that_fails_ends_alone");
const TABLES: Cell = In("tables.rs", "how_a_table_is_read_goes_every_way");
const OUTPUTS: Cell = In("outputs.rs", "a_dry_run_refuses_the_outputs_that_the_run_refuses");
const PROGRAM: Cell = In("programs.rs", "a_program_goes_every_way");
const POPULATION: Cell = In("algorithms.rs", "a_population_goes_every_way");
const ALGORITHM: Cell = In("algorithms.rs", "a_sampler_goes_every_way");
const ON_GPU: Cell = In("told.rs", "notes_on_a_gpu_are_told_unless_quiet");
const CLAIMED: Cell = In("sharing.rs", "data_sets_are_claimed_by_processes_that_are_killed");
const F32: Cell = Refused("--precision f32", "the CPU computes in f64");

/// In the order of [`WAYS`]: single, batch, dry run, resume, sweep, validate, calibrate.
#[rustfmt::skip]
const CELLS: &[(&str, [Cell; WAYS.len()])] = &[
    ("--json", [JSON; 7]),
    ("--quiet", [Hides("--quiet", "run: 2 chains"), Hides("--quiet", "each run: 2 chains"), Hides("--quiet", "run: 2 chains"),
                 Hides("--quiet", "going on at iteration 0"),
                 Hides("--quiet --data {}/holes.csv --group g --value y --drop-missing", "left out of"),
                 Hides("--quiet", "report: criteria"), Hides("--quiet", "of them are there")]),
    ("--verbose", [TOLD; 7]),
    ("--log-file", [LOG; 7]),
    ("--profile", [PROFILE; 7]),

    ("--out", [Row, BATCH, OUTPUTS, No, Row, Row, Row]),
    ("--force", [Row, In("outputs.rs", "places_of_their_own_are_written_to"), OUTPUTS, No, No, No, Row]),
    ("--dry-run", [Makes("--dry-run"), Refused("--dry-run", "--batch"), Makes("--dry-run"), No, No, No, No]),
    ("--config", [Row, Shows("--config {}/c.toml", "max_depth = 4\n"), Shows("--config {}/c.toml --json", "\"max_depth\": 4,"),
                  No, Row, Row, Row]),
    ("--keep-warmup", [Row, In("batch.rs", "a_batch_keeps_warm_up_as_each_run_alone_does"),
                       In("told.rs", "a_dry_run_counts_warm_up_where_it_is_kept"), No, No, No, No]),
    ("--checkpoint-every", [Row, Refused("--checkpoint-every 5", "--batch"),
                            Shows("--checkpoint-every 7 --json", "\"checkpoint_every\": 7,"), Row, No, No, No]),

    ("--data", [Row, Refused("--data {}/y.csv", "--batch"), TABLES, No, Row, Row, Row]),
    ("--group", [Row, BATCH, TABLES, No, Row, Row, No]),
    ("--value", [Row, BATCH, TABLES, No, Row, Row, No]),
    ("--drop-missing", [Row, TABLES, TABLES, No, Row, Row, No]),
    ("--decimal", [Row, TABLES, TABLES, No, Row, Row, No]),
    ("--groups", [Set, Refused("--groups 3", "the data come from --batch"), Set, No, Set, Set, Set]),
    ("--per-group", [Set, Refused("--per-group 3", "the data come from --batch"), Set, No, Set, Set, Set]),
    ("--data-seed", [Set, Refused("--data-seed 3", "the data come from --batch"), Set, No, Set, Set, No]),
    ("--group-sizes", [No, No, No, No, No, No, Row]),

    ("--batch", [Makes("--batch"), Makes("--batch"), Refused("--batch {}/in --group g --value y", "--dry-run"), No, No, No, No]),
    ("--batch-by", [Refused("--batch-by s", "needs --batch"), In("batch.rs", "one_table_of_many_data_sets"),
                    Refused("--batch-by s", "needs --batch"), No, No, No, No]),
    ("--part", [Refused("--part 1/2", "needs --batch"), In("batch.rs", "parts_of_a_batch_are_the_batch"),
                Refused("--part 1/2", "needs --batch"), No, Row, No, Row]),
    ("--claim", [Refused("--claim", "needs --batch"), CLAIMED, Refused("--claim", "needs --batch"), No, Row, No, Row]),
    ("--lease", [Refused("--lease 9", "needs --claim"), CLAIMED, Refused("--lease 9", "needs --claim"), No, Row, No, Row]),
    ("--keep", [No, No, No, No, Row, No, No]),

    ("--draws", [Set, Set, Set, No, Set, No, Set]),
    ("--tune", [Set, Set, Set, No, Set, No, Set]),
    ("--strategy", [Set, Set, Set, No, Set, No, Set]),
    ("--chains", [Set, Set, Set, No, Set, No, Set]),
    ("--superchains", [Set, Set, Set, No, Set, No, Set]),
    ("--target-accept", [Set, Set, Set, No, Set, No, Set]),
    ("--seed", [Set, Set, Set, No, Set, Set, Set]),
    ("--parameterization", [Set, Set, Set, No, Set, Set, Set]),
    ("--metric", [Set, Set, Set, No, Set, Set, Set]),
    ("--precision", [Row, F32, F32, No, F32, No, Row]),
    ("--max-depth", [Set, Set, Set, No, Set, No, Set]),
    ("--init", [Row, Shows("--init prior", "init = \"prior\"\n"), Shows("--init prior --json", "\"init\": \"prior\","), No, No, No, No]),
    ("--init-radius", [Set, Set, Set, No, Set, No, Set]),

    ("--algorithm", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--leapfrogs", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--step-size", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--length", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--jitter", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--max-error", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--max-halvings", [ALGORITHM, ALGORITHM, ALGORITHM, No, ALGORITHM, No, ALGORITHM]),
    ("--particles", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--proposal", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--degrees", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--ess-share", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--paths", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--elbo-draws", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),
    ("--draws-per-path", [POPULATION, POPULATION, POPULATION, No, POPULATION, No, POPULATION]),

    ("--target-ess", [Row, Refused("--target-ess 5", "--batch"), Shows("--target-ess 5 --json", "\"target_ess\": 5.0"), No, No, No, No]),
    ("--target-rhat", [Row, Refused("--target-rhat 5", "--batch"), Shows("--target-rhat 5 --json", "\"target_rhat\": 5.0"), No, No, No, No]),
    ("--max-seconds", [Row, Refused("--max-seconds 5", "--batch"), Shows("--max-seconds 5 --json", "\"max_seconds\": 5.0"), No, No, No, No]),

    ("--device", [Row, Shows("--device cpu", "device_reason = \"asked for\""), Shows("--device cpu", "device: cpu (asked for)"),
                  Row, No, Row, Row]),
    ("--no-fallback", [Row, In("gpu_faults.rs", "no_fallback_is_heard_by_each_command"), ON_GPU, Row, No, Row, Row]),
    ("--gpu-memory", [Row, In("gpu_sampling.rs", "the_memory_taken_of_a_gpu_is_limited"), ON_GPU, No, No, Row, Row]),
    ("--threads", [Row, In("told.rs", "notes_of_a_batch_are_told_unless_quiet"), Shows("--threads 5 --json", "\"threads\": 5"),
                   Row, Row, Row, Row]),

    ("--likelihood", [Set, Set, Set, No, Set, Set, Set]),
    ("--mu-mean", [Set, Set, Set, No, Set, Set, Set]),
    ("--mu-sd", [Set, Set, Set, No, Set, Set, Set]),
    ("--sigma-pop-scale", [Set, Set, Set, No, Set, Set, Set]),
    ("--sigma-obs-scale", [Set, Set, Set, No, Set, Set, Set]),

    ("--program", [PROGRAM, PROGRAM, PROGRAM, No, PROGRAM, PROGRAM, Row]),
    ("--set", [PROGRAM, PROGRAM, PROGRAM, No, PROGRAM, PROGRAM, Row]),
    ("--simulator", [No, No, No, No, No, No, Row]),

    ("--seeds", [No, No, No, No, Row, No, No]),
    ("--peers", [No, No, No, No, No, Row, No]),
    ("--require-gpu", [No, No, No, No, No, Row, No]),
    ("--quick", [No, No, No, No, No, Row, No]),
    ("--stages", [No, No, No, No, No, Row, No]),
    ("--datasets", [No, No, No, No, No, No, Row]),
    ("--kept", [No, No, No, No, No, No, Row]),
    ("--geweke", [No, No, No, No, No, No, Row]),
    ("--sequences", [No, No, No, No, No, No, Row]),
    ("--steps", [No, No, No, No, No, No, Row]),
    ("--false-alarm", [No, No, No, No, No, No, Row]),
    ("--format", [No, No, No, No, No, No, Row]),
];

/// Whether a command is a way of running, or several.
pub(crate) fn is_of(command: &str) -> bool {
    WAYS.iter().any(|way| way.command == command)
}

/// Each cell with its option and its way.
fn cells() -> impl Iterator<Item = (&'static str, &'static Way, Cell)> {
    CELLS.iter().flat_map(|(option, cells)| WAYS.iter().zip(cells).map(|(way, cell)| (*option, way, *cell)))
}

/// Fills a folder with what the command lines name.
fn prepare(dir: &Path, line: &str) {
    let at = |name: &str| dir.join(name);
    fs::write(at("y.csv"), "g,y\na,1\na,2\nb,3\nb,5\nc,4\nc,7\n").unwrap();
    fs::write(at("holes.csv"), "g,y\na,1\na,2\nb,3\nb,5\nc,\n").unwrap();
    fs::create_dir(at("in")).unwrap();
    fs::copy(at("y.csv"), at("in/one.csv")).unwrap();
    fs::write(at("c.toml"), "[sampler]\nmax_depth = 4\n").unwrap();
    if line.contains("{}/stopped") {
        run(dir, &format!("{} --quiet", WAYS[0].line.replace("{}/out", "{}/stopped"))).sampled();
        stop(&at("stopped"));
    }
}

/// What a command line shows.
struct Seen {
    code: Option<i32>,
    /// Everything that is said, the names of what is new, and the records of runs.
    text: String,
    wrote: bool,
}

/// Runs a command line in a folder of its own.
fn see(line: &str) -> Seen {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path(), line);
    let before = tree(dir.path());
    let answer = run(dir.path(), line);
    let mut text = format!("stderr: {}\nstdout: {}\n", answer.stderr, answer.stdout);
    let mut wrote = false;
    for name in tree(dir.path()).into_iter().filter(|name| !before.contains(name)) {
        wrote = true;
        text += &format!("file: {name}\n");
        if name.ends_with("run.toml") {
            text += &fs::read_to_string(dir.path().join(name)).unwrap();
        }
    }
    Seen { code: answer.code, text, wrote }
}

/// What several command lines show, seen on all threads.
fn see_all(lines: BTreeSet<String>) -> BTreeMap<String, Seen> {
    let lines: Vec<String> = lines.into_iter().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || lines.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(take).map(|line| (line.clone(), see(line))).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

/// A way's line without and with the first of these options; the others stand in both, in place of the line's own.
fn lines(way: &Way, given: &str) -> [String; 2] {
    let own = limits::without(way.line, |name| given.split(' ').any(|word| word == name));
    let beside = given[1..].find(" --").map_or("", |at| &given[1 + at..]);
    [format!("{own}{beside}"), format!("{own} {given}")]
}

#[test]
fn each_way_hears_or_refuses_each_option() {
    let given = cells().filter_map(|(_, way, cell)| match cell {
        Shows(given, _) | Hides(given, _) | Refused(given, _) => Some(lines(way, given)),
        _ => None,
    });
    let seen = see_all(given.flatten().chain(WAYS.iter().map(|way| way.line.to_owned())).collect());
    let mut wrong = Vec::new();
    for Way { line, .. } in &WAYS {
        let Seen { code, text, .. } = &seen[*line];
        assert!(matches!(code, Some(0 | 1)), "octopus {line}: {code:?}\n{text}");
    }
    for (option, way, cell) in cells() {
        let (given, what) = match cell {
            Shows(given, what) | Hides(given, what) | Refused(given, what) => (given, what),
            _ => continue,
        };
        assert_eq!(given.split(' ').next(), Some(option), "{given}");
        let [without, with] = lines(way, given);
        let (before, after) = (&seen[&without], &seen[&with]);
        let has = [before, after].map(|seen| seen.text.contains(what));
        let as_told = match cell {
            Shows(..) => has == [false, true],
            Hides(..) => has == [true, false],
            _ => after.code == Some(2) && has[1] && after.text.contains(option) && !after.wrote,
        };
        if !as_told || after.text.contains("panicked") || !matches!(cell, Refused(..)) && after.code != before.code {
            wrong.push(format!("octopus {with}, {what:?}: {:?}\n{}\nwithout: {}", after.code, after.text, before.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn other_tables_and_tests_prove_the_cells_that_name_them() {
    for (option, way, cell) in cells() {
        let command = way.command;
        match cell {
            Row => assert!(has_row(command, option), "{command} {option}: no row in options.rs"),
            Set => {
                assert!(is_setting(option), "{option} is no setting of settings.rs");
                assert!(has_test("settings.rs", way.settings, ""), "no test {} in settings.rs", way.settings);
            }
            In(file, name) => {
                for word in [option, way.word] {
                    assert!(has_test(file, name, word), "{command} {option}: no test {name} with {word} in {file}");
                }
            }
            Makes(word) => {
                assert!(word == option && WAYS.iter().any(|way| way.word == word && way.line.contains(word)), "{word}");
            }
            Shows(..) | Hides(..) | Refused(..) | No => {}
        }
    }
}

#[test]
fn every_option_of_every_way_has_its_cell() {
    let listed = listed();
    let mut wrong = Vec::new();
    for (command, options) in listed.iter().filter(|(command, _)| is_of(command)) {
        let unknown = options.iter().filter(|one| !CELLS.iter().any(|(option, _)| *option == one.option));
        wrong.extend(unknown.map(|one| format!("{command} {} has no cells", one.option)));
    }
    let dir = tempfile::tempdir().unwrap();
    let mut tried = BTreeSet::new();
    for (option, Way { command, .. }, cell) in cells() {
        let options = listed.iter().find(|(of, _)| of == command).map(|(_, options)| options);
        let offered = options.is_some_and(|options| options.iter().any(|one| one.option == option));
        if offered == matches!(cell, No) {
            wrong.push(format!("{command} {option} is {cell:?}, and offered: {offered}"));
        }
        // An option that help hides would be accepted all the same.
        if matches!(cell, No) && tried.insert((command, option)) {
            let answer = run(dir.path(), &format!("{command} {option}"));
            if answer.code != Some(2) || !answer.stderr.contains(&format!("unexpected argument '{option}'")) {
                wrong.push(format!("octopus {command} {option}: {answer:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: BTreeSet<_> = CELLS.iter().map(|(option, _)| option).collect();
    assert_eq!(names.len(), CELLS.len(), "an option stands twice");
    assert!(GLOBAL.iter().all(|option| names.contains(option)));
}

#[test]
fn every_command_is_a_way_of_running_or_runs_nothing() {
    let found: BTreeSet<String> = listed().into_iter().map(|(command, _)| command).collect();
    let known = OTHERS.into_iter().chain(WAYS.iter().map(|way| way.command));
    assert_eq!(found, known.map(str::to_owned).collect(), "give the new command cells in the table, or name it there");
}
