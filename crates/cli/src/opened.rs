//! Opens the traces that commands are given, and prints what their readers have to say.

use crate::args::Global;
use crate::output;
use octopus::{Trace, TraceError};
use std::path::PathBuf;

/// Opens a trace, and prints what was left out of it, or is not there that should be.
///
/// # Errors
/// When there is no trace at a path, or it is damaged.
pub(crate) fn open(paths: &[PathBuf], global: Global) -> Result<Trace, TraceError> {
    let trace = Trace::open(paths)?;
    let notes: Vec<String> = trace.data.notes.iter().map(|note| format!("note: {note}")).collect();
    output::unless_quiet(global.quiet, &notes).iter().for_each(output::note);
    Ok(trace)
}
