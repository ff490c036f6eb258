//! Logging of the events that the crates below report: warnings go to stderr, more with `-v` or `RUST_LOG`, and details
//! go to a log file.

use crate::exit::UsageError;
use crate::output;
use crate::profile::Profile;
use anyhow::{Context, Result};
use octopus_diag::counted;
use octopus_files::Destination;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_chrome::FlushGuard;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Context as LayerContext, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The environment variable with the filter for stderr, e.g. `octopus_runs=debug`; it takes precedence over `-v`.
/// Crates that it does not name keep their warnings.
const VARIABLE: &str = "RUST_LOG";

/// Starts logging, and the profile where there is one; it is complete when the guard is dropped. Warnings go to stderr, with one `-v` also information, with two also details; the file gets details.
///
/// # Errors
/// When the environment's filter is not valid.
pub(crate) fn start(verbose: u8, file: Option<&LogFile>, profile: Option<&Profile>) -> Result<Option<FlushGuard>> {
    let filter = chosen(verbose, &std::env::var(VARIABLE).unwrap_or_default())?;
    let to_file = file.map(|file| {
        let file = file.clone();
        fmt::layer().json().with_writer(move || file.clone()).with_filter(LevelFilter::DEBUG)
    });
    let (layer, guard) = profile.map(Profile::layer).unzip();
    let layer = layer.map(|layer| layer.with_filter(LevelFilter::DEBUG));
    // In a process that calls the program twice, such as a test, logging has been started already.
    let _ = tracing_subscriber::registry().with(layer).with(ToStderr.with_filter(filter)).with(to_file).try_init();
    Ok(guard)
}

/// The file of `--log-file`, which counts the lines that it could not take.
#[derive(Clone)]
pub(crate) struct LogFile(Arc<Mutex<OpenLog>>);

struct OpenLog {
    path: PathBuf,
    file: File,
    lost: u64,
    /// Why the first line was lost.
    why: Option<io::Error>,
}

impl LogFile {
    /// Makes the file, or empties an earlier log; a device or a FIFO is only opened.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = match Destination::of(path)? {
            Destination::File(path) => File::create(path),
            Destination::Stream(path) => OpenOptions::new().append(true).open(path),
        };
        let file = file.with_context(|| format!("cannot write the log to {}", path.display()))?;
        Ok(Self(Arc::new(Mutex::new(OpenLog { path: path.to_owned(), file, lost: 0, why: None }))))
    }

    fn open(&self) -> MutexGuard<'_, OpenLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the log.
    ///
    /// # Errors
    /// When lines are missing in it.
    pub(crate) fn end(&self) -> Result<()> {
        let mut log = self.open();
        let (lost, shown) = (log.lost, log.path.display().to_string());
        match log.why.take() {
            Some(why) => Err(why).with_context(|| {
                format!("--log-file {shown}: {} could not be written", counted(lost as usize, "line"))
            }),
            None => Ok(()),
        }
    }
}

impl Write for LogFile {
    /// Takes a whole line, or counts it as lost: a line that is not kept is told at the end, and is no reason to stop.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut log = self.open();
        if let Err(error) = log.file.write_all(line) {
            log.lost += 1;
            log.why.get_or_insert(error);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the filter for stderr: that of the environment, or else, where its text is empty, that of `-v`.
fn chosen(verbose: u8, text: &str) -> Result<Targets, UsageError> {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    if text.is_empty() { Ok(Targets::new().with_default(level)) } else { filter(text) }
}

/// Reads the environment's filter.
fn filter(text: &str) -> Result<Targets, UsageError> {
    format!("{},{text}", LevelFilter::WARN).parse().map_err(|error| {
        UsageError(format!("{VARIABLE}={text}: {error}; give a level (info), or levels of crates (octopus_runs=debug)"))
    })
}

/// A layer that writes events to stderr in the form of the program's other notes.
struct ToStderr;

impl<S: Subscriber> Layer<S> for ToStderr {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        let text = format!("{}{}", words.message, words.fields);
        output::note(note(*event.metadata().level(), event.metadata().target(), &text));
    }
}

/// Returns the note on an event of this level and origin.
fn note(level: Level, target: &str, text: &str) -> String {
    match level {
        Level::ERROR | Level::WARN => output::warning(text),
        Level::INFO => format!("info: {text}"),
        _ => format!("debug: {target}: {text}"),
    }
}

/// The text of an event.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to text in memory cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, ", {name} {value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `RUST_LOG` of another program, or of one crate, must not hide what a user has to know.
    #[test]
    fn a_filter_for_one_crate_leaves_warnings_of_the_others() {
        let level = |text: &str| filter(text).map(|filter| filter.to_string()).unwrap_or_default();
        assert!(level("octopus_files=debug").contains("warn"), "{}", level("octopus_files=debug"));
        assert!(!level("info").contains("warn") && level("info").contains("info"), "{}", level("info"));
        assert!(!level("off").contains("warn"), "who says off gets it: {}", level("off"));
        assert!(filter("a=b=c").unwrap_err().to_string().contains("RUST_LOG=a=b=c"));
    }

    #[test]
    fn the_environment_comes_before_the_command_line_unless_it_says_nothing() {
        let level = |verbose, text: &str| chosen(verbose, text).unwrap().to_string();
        assert_eq!([0, 1, 2, 3].map(|verbose| level(verbose, "")), ["warn", "info", "debug", "debug"]);
        assert!(level(2, "info").contains("info") && !level(2, "info").contains("debug"), "{}", level(2, "info"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_that_are_lost_are_counted() {
        let mut log = LogFile::create(Path::new("/dev/full")).unwrap();
        log.clone().write_all(b"one\n").unwrap();
        log.write_all(b"two\n").unwrap();
        let error = output::chain(&log.end().unwrap_err());
        assert!(error.starts_with("--log-file /dev/full: 2 lines could not be written: No space left"), "{error}");
        let log = LogFile::create(Path::new("/dev/null")).unwrap();
        log.clone().write_all(b"one\n").unwrap();
        assert!(log.end().is_ok());
    }

    #[test]
    fn an_event_is_told_by_its_level() {
        let told = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG].map(|level| note(level, "runs", "a disk"));
        let warning = "\x1b[1;33mwarning:\x1b[0m a disk";
        assert_eq!(told, [warning, warning, "info: a disk", "debug: runs: a disk"]);
    }
}
