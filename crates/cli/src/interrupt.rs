//! Ctrl-C (SIGINT), SIGTERM and SIGHUP: the first one asks the program to stop, a second one ends it at once.

use anyhow::{Context, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<()> = OnceLock::new();

/// A handle that tells whether the user wants to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt(&'static AtomicBool);

impl Interrupt {
    /// Installs the handler. From then on Ctrl-C (SIGINT, and SIGTERM and SIGHUP of batch systems) sets a flag instead
    /// of ending the process. A second one ends the process as if it were killed; the last checkpoint stays good.
    ///
    /// # Errors
    /// When the system refuses the handler.
    pub(crate) fn install() -> Result<Self> {
        if INSTALLED.set(()).is_ok() {
            ctrlc::set_handler(|| {
                if ASKED.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
            })
            .context("cannot listen for Ctrl-C")?;
        }
        Ok(Self(&ASKED))
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
