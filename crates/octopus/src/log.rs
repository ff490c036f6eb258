//! What the library tells while it works, on stderr.

use tracing::Level;

/// Prints the library's events of this level and above to stderr: warnings are what a user must know, such as a GPU that
/// was given up; `INFO` adds decisions and stages. Returns whether it does: a program that has a `tracing` subscriber
/// already keeps it.
///
/// ```
/// octopus::log_to_stderr(octopus::tracing::Level::WARN);
/// ```
pub fn log_to_stderr(level: Level) -> bool {
    let events = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level);
    events.without_time().with_target(false).try_init().is_ok()
}
