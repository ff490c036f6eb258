//! Tells the program its compiler and its commit, for the report.

use std::path::Path;
use std::process::Command;

/// What a change of makes the program another: its sources, and the commits below them.
const SOURCES: [&str; 4] = ["../../crates", "../../kernels", "../../Cargo.toml", "../../Cargo.lock"];

fn main() {
    for path in SOURCES {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rustc-env=OCTOPUS_COMMIT={}", commit().unwrap_or_else(|| "unknown: built without git".to_owned()));
    let rustc = std::env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(rustc).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo:rustc-env=OCTOPUS_RUSTC={}", version.unwrap_or_else(|_| "unknown".to_owned()));
}

/// Returns the commit of the sources, with `-dirty` where files differ from it.
fn commit() -> Option<String> {
    // The log of HEAD grows with each commit; `--git-path` finds it in a worktree too.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"])
}

/// Returns what git prints, where it is installed and the sources are a clone's.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
