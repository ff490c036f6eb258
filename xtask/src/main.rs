//! Developer tasks of the Octopus workspace: `cargo xtask <task>`.
//!
//! Thin on purpose: what users run lives in the `octopus` binary, here is only what a checkout needs.

mod accept;
mod aligned;
mod bench;
mod bundle;
mod chromium;
mod ci;
mod cycles;
mod ffi;
mod frameworks;
mod hostile;
mod interpret;
mod kills;
mod mutants;
mod nightly;
mod outside;
mod place;
mod ptx;
mod record;
mod rehearse;
mod run;
mod seeds;
mod setup;
mod skipped;
mod suites;
mod test;
mod tidy;
mod validate;
mod venv;

use crate::place::root;
use anyhow::Result;
use run::TaskOutcome;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task> [arguments]

tasks:
  setup                            what this machine has and lacks, with the commands for it; changes nothing
  validate [args]                  build in release and run `octopus validate args`
  test [--no-python] [--gpu] [filter ...]
                                   all tests; doctests too unless filtered; --gpu: on this machine's GPU what any GPU
                                   can run, which is otherwise the software GPU's
  bench [--keep FILE] [--against FILE] [--limit RATIO] [args]
                                   criterion benchmarks; their times are kept in a file, or held against kept ones: a
                                   median RATIO (1.1) times as long is a failure; other args go to criterion
  bench --budget MINUTES [--quick] [--force]
                                   the benchmark suites of a night, against the last good ones of this kind of machine;
                                   --quick: Octopus alone, three times; --force: of another kind, too
  ptx [--check]                    the kernels' PTX from their CUDA C++; --check compares it with the committed one
  cycles --counts DIR [--kernels BEGINNING,...] [--arch NAME,...] [--newest] [--json FILE]
                                   registers, instructions, stalls and cycles of kernels by ptxas' own schedule and by
                                   how often each line of their PTX was executed: files DIR/<kernel>.counts
  bundle [DIR]                     a folder that proves Octopus on a machine with a GPU, without cargo and network
  record                           what kernels and runs must give, anew, on the software GPU; commit kernels/expected*
  rehearse                         that bundle on the software GPU, with the release binary that is there
  interpret [--whole]              the committed PTX by the interpreter: small runs and arrays, with the binary that the
                                   tests have built; --whole: all recorded runs, longer ones, more orders
  interpret --counts DIR           how often runs do each instruction of each kernel, for cycles
  accept RESULTS                   judge what the bundle brought back; writes reports/<machine>/
  seeds [N] [--data NAME,...]      data sets of benchmarks/seeds under N seeds (1000), those that RESULTS.md lacks
  hostile [--from K] [N]           N careless or hostile command lines (1000) over damaged files, from run K (0) on, with
                                   the binary that the tests have built: no panic, no hang, nothing lost
  outside                          a crate of another workspace depends on ours, builds and runs
  mutants [name ...]               deliberate faults in a copy of the sources, each of which a test must catch
  mutants --calibrate [name ...]   eight of them, each of which `octopus calibrate` must catch
  mutants --ptx                    faults in lines of the committed PTX, which the interpreter must show
  mutants --wiring [--crates NAME,...] [--files PART,...] [--minutes N] [--part K/N]
                                   those that cargo-mutants makes in the crates that join, judge, read and write, in one
                                   build; a trial that ends after N minutes goes on with the next call
  mutants --wiring --since REV [--crates NAME,...] [--minutes N]
                                   those of the lines that have changed since REV
  mutants --own [--list] [--crates NAME,...] [--files PART,...] [--minutes N] [--part K/N] [--since REV] [--alone]
          [--profile NAME]         those of kinds that cargo-mutants does not make: numbers, roundings, settings that are
                                   dropped; --list: only says which; --alone: the tests of these crates only
  kills [NAME]                     commands that write files, or those with NAME in their names, killed at each of
                                   their operations on files: they go on, and what the user had is whole
  nightly                          tests that take minutes, benchmarks against those of the last good night, and all
                                   deliberate faults
  tidy                             the repository's tests of itself
  ci                               everything that must pass: formatting, clippy, tests, docs, tidy, ptx, validate

exit codes: 0 fine, 1 a check failed, 2 usage, 3 a task could not run; validate: those of octopus";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((task, rest)) = arguments.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match dispatch(task, rest) {
        Ok(TaskOutcome::Passed) => ExitCode::SUCCESS,
        Ok(TaskOutcome::Failed(code)) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask {task}: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn dispatch(task: &str, arguments: &[String]) -> Result<TaskOutcome> {
    let root = root();
    match (task, arguments) {
        ("test", _) => match test::TestOptions::parse(arguments) {
            Ok(options) => test::run(&root, &options),
            Err(message) => Ok(misuse(&message)),
        },
        ("bench", _) if arguments.iter().any(|argument| argument == "--budget") => {
            match suites::SuiteOptions::parse(arguments) {
                Ok(options) => suites::run(&root, &options),
                Err(message) => Ok(misuse(&message)),
            }
        }
        ("bench", _) => match bench::BenchOptions::parse(arguments) {
            Ok(options) => bench::run(&root, &options),
            Err(message) => Ok(misuse(&message)),
        },
        ("setup", []) => Ok(setup::run(&root)),
        ("ptx", _) => match ptx::Mode::parse(arguments) {
            Ok(mode) => ptx::run(&root, mode),
            Err(message) => Ok(misuse(&message)),
        },
        ("cycles", _) => match cycles::CyclesOptions::parse(arguments) {
            Ok(options) => cycles::run(&root, &options),
            Err(message) => Ok(misuse(&message)),
        },
        ("bundle", []) => bundle::run(&root, None),
        ("bundle", [folder]) => bundle::run(&root, Some(folder)),
        ("outside", []) => outside::run(&root),
        ("record", []) => record::run(&root),
        ("rehearse", []) => rehearse::run(&root),
        ("interpret", []) => interpret::run(&root, false),
        ("interpret", [one]) if one == "--whole" => interpret::run(&root, true),
        ("interpret", [counts, folder]) if counts == "--counts" => interpret::count(&root, Path::new(folder)),
        ("interpret", _) => Ok(misuse("interpret takes --whole, --counts DIR or nothing")),
        ("seeds", _) => match seeds::SeedsOptions::parse(arguments) {
            Ok(options) => seeds::run(&root, &options),
            Err(message) => Ok(misuse(&message)),
        },
        ("hostile", _) => match hostile::HostileOptions::parse(arguments) {
            Ok(options) => hostile::run(&root, &options),
            Err(message) => Ok(misuse(&message)),
        },
        ("accept", [results]) => accept::run(&root, Path::new(results)),
        ("accept", []) => Ok(misuse("accept needs the folder of results")),
        ("kills", []) => kills::run(&root, None),
        ("kills", [name]) => kills::run(&root, Some(name)),
        ("kills", _) => Ok(misuse("kills takes a part of a command's name, or nothing")),
        ("mutants", _) => mutants::run(&root, arguments),
        ("nightly", []) => nightly::run(&root),
        ("tidy", []) => tidy::run(&root),
        ("ci", []) => ci::run(&root),
        ("bundle" | "accept", [_, second, ..]) => Ok(misuse(&format!("{task} takes one folder, got also {second:?}"))),
        ("nightly" | "tidy" | "ci" | "record" | "rehearse" | "outside" | "setup", [first, ..]) => {
            Ok(misuse(&format!("{task} takes no argument, got {first:?}")))
        }
        ("help" | "-h" | "--help", _) => {
            println!("{USAGE}");
            Ok(TaskOutcome::Passed)
        }
        _ => Ok(misuse(&format!("there is no task {task:?}"))),
    }
}

fn misuse(message: &str) -> TaskOutcome {
    eprintln!("xtask: {message}\n\n{USAGE}");
    TaskOutcome::Failed(2)
}
