//! Running other programs, with what is run and how long it took said on standard error.

use crate::place::target;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskOutcome {
    /// All is well.
    Passed,
    /// It is not; the exit code to end with.
    Failed(u8),
}

/// Cargo: the one that runs this program, in the workspace's folder.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    // Set for this program by the cargo that runs it; cargo-machete takes it for a sign of how it was started.
    command.env_remove("CARGO_PKG_NAME");
    command
}

/// The profile in which everything is built, so that the program and the tests share their dependencies.
pub(crate) const PROFILE: &str = "release";

/// The binary `octopus` that [`build_octopus`] or the tests have built.
pub(crate) fn released(root: &Path) -> PathBuf {
    target(root).join(PROFILE).join(format!("octopus{}", std::env::consts::EXE_SUFFIX))
}

/// Builds the release binary `octopus`; whether that went well.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn build_octopus(root: &Path) -> Result<bool> {
    let mut build = cargo(root, &["build", "--release", "--package", "octopus-cli", "--bin", "octopus"]);
    Ok(status(&mut build)?.success())
}

/// Whether cargo has the subcommand `name` installed.
pub(crate) fn cargo_has(root: &Path, name: &str) -> bool {
    let mut command = cargo(root, &[name, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Whether a program of this name is on `PATH`.
pub(crate) fn on_path(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}

/// Whether this user is root, who needs no `sudo`.
pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// Runs `command` to its end.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    eprintln!("xtask: $ {}", show(command));
    command.status().with_context(|| format!("cannot start `{}`", show(command)))
}

/// Runs `command` as the step `name` and says how long it took. `failure` turns a bad exit status into this
/// program's exit code.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn step(name: &str, command: &mut Command, failure: fn(ExitStatus) -> u8) -> Result<TaskOutcome> {
    timed(name, || {
        let status = status(command)?;
        Ok(if status.success() { TaskOutcome::Passed } else { TaskOutcome::Failed(failure(status)) })
    })
}

/// Runs `work` and says how it ended and how long it took.
///
/// # Errors
/// Those of `work`.
pub(crate) fn timed(name: &str, work: impl FnOnce() -> Result<TaskOutcome>) -> Result<TaskOutcome> {
    let start = Instant::now();
    let outcome = work()?;
    let word = if outcome == TaskOutcome::Passed { "ok" } else { "FAILED" };
    eprintln!("xtask: {name}: {word} in {:.1} s", start.elapsed().as_secs_f64());
    Ok(outcome)
}

/// A check that did not hold, whatever the program's own code.
pub(crate) fn check_failed(_: ExitStatus) -> u8 {
    1
}

/// The program's own exit code; as a shell has it, 128 and the signal's number when one ended it.
pub(crate) fn own_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(3);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(3)
}

/// What git prints.
///
/// # Errors
/// When it fails.
pub(crate) fn git(root: &Path, words: &[&str]) -> Result<String> {
    output(Command::new("git").current_dir(root).args(words))
}

/// What `command` prints, without white space at its ends.
///
/// # Errors
/// When it cannot be started or fails; then it says what it printed as an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{:?} failed: {}", command.get_program(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command line as one would type it, variables that were set for it included.
pub(crate) fn show(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quote(&value?.to_string_lossy()))));
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(|word| quote(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["doc", "--bench", "*"]).env("RUSTDOCFLAGS", "-D warnings").env_remove("GONE");
        assert_eq!(show(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --bench '*'");
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(on_path("sh") || cfg!(windows));
        assert!(!on_path("a-program-that-nobody-has"));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_that_names_it() {
        let error = status(&mut Command::new("no-such-program-at-all")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-at-all"));
    }

    #[test]
    #[cfg(unix)]
    fn exit_codes_pass_through_and_signals_are_told_as_a_shell_does() {
        let outcome = |script: &str| step("probe", Command::new("sh").args(["-c", script]), own_code).unwrap();
        assert_eq!(outcome("exit 0"), TaskOutcome::Passed);
        assert_eq!(outcome("exit 4"), TaskOutcome::Failed(4));
        assert_eq!(outcome("kill -INT $$"), TaskOutcome::Failed(130));
        assert_eq!(
            step("probe", Command::new("sh").args(["-c", "exit 101"]), check_failed).unwrap(),
            TaskOutcome::Failed(1)
        );
    }
}
