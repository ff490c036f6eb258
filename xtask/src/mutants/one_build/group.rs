//! Programs in process groups of their own, each ended with all that it has started when its time is up.

use crate::run;
use anyhow::{Context, Result};
use std::fmt;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The error of work that was broken off because its time was up.
#[derive(Debug)]
pub(super) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is up")
    }
}

impl std::error::Error for Late {}

/// Starts `command` in a process group of its own.
///
/// # Errors
/// When it cannot be started.
pub(super) fn start(command: &mut Command) -> Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.spawn().with_context(|| format!("cannot start `{}`", run::show(command)))
}

/// Waits with short sleeps, as most tests take milliseconds. Returns nothing when the program has not ended by then.
///
/// # Errors
/// When the system cannot tell.
pub(super) fn wait(child: &mut Child, until: Option<Instant>) -> Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a program")? {
            return Ok(Some(status));
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(50));
    }
}

/// Ends a program that did not end by itself, and what it has started.
///
/// # Errors
/// When the system cannot tell that it has ended.
pub(super) fn end(child: &mut Child) -> Result<()> {
    // The standard library ends one process only.
    let kill = format!("kill -s KILL -- -{}", child.id());
    let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    let _ = child.kill();
    child.wait().context("cannot wait for a program").map(drop)
}

/// Runs `command` and returns what it has printed, if it ends before it is late.
///
/// # Errors
/// [`Late`] when it did not; else when it cannot be started.
pub(super) fn output(command: &mut Command, until: Option<Instant>) -> Result<Output> {
    eprintln!("xtask: $ {}", run::show(command));
    let mut child = start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stdout = scope.spawn(|| all_of(stdout));
        let stderr = scope.spawn(|| all_of(stderr));
        let status = wait(&mut child, until)?;
        if status.is_none() {
            end(&mut child)?;
        }
        let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        Ok(Output { status: status.ok_or(Late)?, stdout, stderr })
    })
}

fn all_of(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is missed by whoever reads the rest.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    bytes
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_late_is_ended_with_what_it_has_started() {
        let begun = Instant::now();
        // The second sleep keeps the pipe open: without its end nobody could read to the end.
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]);
        let error = output(&mut command, Some(begun + Duration::from_millis(100))).unwrap_err();
        assert!(error.is::<Late>() && error.context("building").is::<Late>());
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_program_in_time_is_heard() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo a; echo b >&2; exit 3"]);
        let output = output(&mut command, Some(Instant::now() + Duration::from_secs(60))).unwrap();
        assert_eq!((output.stdout, output.stderr), (b"a\n".to_vec(), b"b\n".to_vec()));
        assert_eq!(output.status.code(), Some(3));
    }
}
