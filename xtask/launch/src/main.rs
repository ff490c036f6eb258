//! `cargo xtask`: builds what a task needs, and no more, and becomes it.
//!
//! A stranger's first command is `cargo xtask validate`. It needs the program `octopus` and nothing of the other tasks,
//! whose package `xtask` takes half a minute to build. So this package, which depends on nothing, chooses.

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The program that users run.
const OCTOPUS: [&str; 5] = ["--release", "--package", "octopus-cli", "--bin", "octopus"];

/// The exit code of a task that could not run.
const NOT_RUN: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(run(&arguments).unwrap_or_else(|error| {
        eprintln!("xtask: cannot start cargo: {error}");
        NOT_RUN
    }))
}

fn run(arguments: &[String]) -> io::Result<u8> {
    if arguments.first().is_none_or(|task| task != "validate") {
        let mut tasks = cargo();
        tasks.args(["run", "--release", "--package", "xtask", "--"]).args(arguments);
        return become_it(tasks);
    }
    // A build of its own, which says what it compiles: its failure is none of Octopus' exit codes.
    eprintln!("xtask: $ cargo build {}", OCTOPUS.join(" "));
    if !at_root(cargo().arg("build").args(OCTOPUS)).status()?.success() {
        return Ok(NOT_RUN);
    }
    let mut octopus = cargo();
    at_root(octopus.args(["run", "--quiet"]).args(OCTOPUS).arg("--").args(arguments));
    become_it(octopus)
}

/// Returns the cargo that runs this program.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Has a command run in the workspace's folder, where reports go. Cargo tells where this package lies.
fn at_root(command: &mut Command) -> &mut Command {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    match Path::new(&package).ancestors().nth(2) {
        Some(root) => command.current_dir(root),
        None => command,
    }
}

/// Runs a command in place of this program, so that Ctrl-C reaches it alone and its exit code is ours.
#[cfg(unix)]
fn become_it(mut command: Command) -> io::Result<u8> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> io::Result<u8> {
    Ok(command.status()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_RUN))
}
