//! Ctrl-C (SIGINT), SIGTERM and SIGHUP, and files that grow beyond their limit (`ulimit -f`).
//!
//! A command that listens is asked to stop by the first signal and ends at the second; any other command ends at the
//! first. Whichever it is, no half-written file stays.

use anyhow::{Context, Result};
use octopus_files::remove_unfinished;
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
    // A file that grows beyond its limit is then an error of writing, and no longer the end of the process.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())
        .context("cannot listen for files that are too large")?;
    ctrlc::set_handler(|| {
        if !LISTENS.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
            remove_unfinished();
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")
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
