//! Ctrl-C (SIGINT), SIGTERM and SIGHUP, files that grow beyond their limit (`ulimit -f`), and memory that is refused.
//!
//! A command that listens is asked to stop by the first signal and ends at the second; any other command ends at the
//! first. Whichever it is, no half-written file stays.

use anyhow::{Context, Result};
use octopus_files::exit_without_unfinished;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the command listens.
static LISTENS: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// A handle that tells whether the user wants to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt(&'static AtomicBool);

/// Installs the handlers, for a process that runs a command: SIGTERM and SIGHUP come from batch systems.
///
/// # Errors
/// When the system refuses a handler.
pub(crate) fn watch() -> Result<()> {
    if INSTALLED.set(()).is_err() {
        return Ok(());
    }
    install().context("cannot listen for Ctrl-C")
}

#[cfg(unix)]
fn install() -> std::io::Result<()> {
    use crate::exit::Exit;
    use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    // A file that grows beyond its limit is then an error of writing, and no longer the end of the process.
    signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default())?;
    // What needs much memory is asked about before it begins. Where the system refuses some all the same, the allocator
    // says how much it was asked for and aborts: that is a command that failed, and none that was killed.
    let always = std::sync::Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGABRT, Exit::Failed as i32, always)?;
    // A hang-up that `nohup` has the process ignore stays ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let hang_up = (!ignores(&status, SIGHUP)).then_some(SIGHUP);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up))?;
    let listen = move || signals.forever().for_each(|_| asked_to_end());
    std::thread::Builder::new().name("signals".into()).spawn(listen).map(drop)
}

#[cfg(not(unix))]
fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(asked_to_end)
}

/// Ends the process, or asks the command that listens to end it.
fn asked_to_end() {
    if !LISTENS.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
        exit_without_unfinished(130);
    }
}

/// Returns whether the process ignores a signal, by the text of `/proc/self/status`; no where that is not there.
#[cfg(unix)]
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

impl Interrupt {
    /// Listens: from then on the first Ctrl-C sets a flag instead of ending the process. A second one ends it as if it
    /// were killed; the last checkpoint stays good.
    pub(crate) fn listen() -> Self {
        LISTENS.store(true, Ordering::Relaxed);
        Self(&ASKED)
    }

    /// Returns a handle that tells what a test has put into `asked`; nothing listens for Ctrl-C.
    #[cfg(test)]
    pub(crate) fn by_flag(asked: &'static AtomicBool) -> Self {
        Self(asked)
    }

    /// Returns whether the user wants to stop.
    pub(crate) fn asked(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_a_bit_of_the_mask() {
        let status = "Name:\toctopus\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        assert_eq!([1, 2, 13, 14].map(|signal| ignores(status, signal)), [true, false, true, false]);
        assert!(!ignores("", 1) && !ignores("SigIgn:\tnone\n", 1));
    }

    /// The second one would end the process.
    #[test]
    fn the_first_signal_asks_a_command_that_listens() {
        let interrupt = Interrupt::listen();
        assert!(!interrupt.asked());
        asked_to_end();
        assert!(interrupt.asked());
    }
}
