//! `--profile FILE`: what each thread of a command did when, and each GPU by its own clock, in the form of Chrome's
//! traces.
//!
//! The profile is in memory until the command has ended: some 300 bytes for each span, of which a run makes about a
//! hundred a second.

mod on_device;

use anyhow::{Context, Result};
use octopus_device::{record_device_work, take_device_work};
use octopus_files::write_named;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tracing::Subscriber;
use tracing_chrome::{ChromeLayer, ChromeLayerBuilder, FlushGuard};
use tracing_subscriber::registry::LookupSpan;

/// The profile of a command.
pub(crate) struct Profile {
    file: PathBuf,
    text: Text,
    /// When the clock of the layer began.
    began: OnceLock<Instant>,
}

/// The text of a profile, to which a thread of the layer writes.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Profile {
    /// Begins a profile. An empty one is written where there is none, so that a file that cannot be written is known
    /// before the work; an earlier one stays until this one is complete.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn begin(file: &Path) -> Result<Self> {
        let profile = Self { file: file.to_owned(), text: Text::default(), began: OnceLock::new() };
        if !file.exists() {
            profile.write(b"[]\n")?;
        }
        record_device_work(true);
        Ok(profile)
    }

    /// Returns the layer that writes the profile, and the guard at whose end it is complete.
    pub(crate) fn layer<S>(&self) -> (ChromeLayer<S>, FlushGuard)
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let builder = ChromeLayerBuilder::new().writer(self.text.clone()).include_args(true).include_locations(false);
        let built = builder.build();
        self.began.get_or_init(Instant::now);
        built
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn keep(self) -> Result<()> {
        let text = self.text.0.lock().unwrap_or_else(PoisonError::into_inner);
        record_device_work(false);
        let work = take_device_work();
        match self.began.get() {
            Some(&began) if !work.is_empty() => self.write(&on_device::with_device_work(&text, &work, began)),
            _ => self.write(&text),
        }
    }

    fn write(&self, text: &[u8]) -> Result<()> {
        write_named(&self.file, text).with_context(|| format!("--profile {}", self.file.display()))
    }
}
