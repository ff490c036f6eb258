//! Opens any trace: a run folder, or a file or folder of another format.

use crate::{RunError, RunFolder};
use octopus_formats::{FormatError, read_trace};
use octopus_trace::InferenceData;
use std::path::PathBuf;

/// Reads a trace of any format: a run folder, another single path, or the CSV files of CmdStan's chains.
///
/// ```no_run
/// # fn main() -> Result<(), octopus_runs::RunError> {
/// let run = octopus_runs::open_trace(&["run".into()])?;
/// let data = octopus_runs::open_trace(&["schools.nc".into()])?;
/// let chains = octopus_runs::open_trace(&["chain-1.csv".into(), "chain-2.csv".into()])?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When a trace cannot be read (see [`RunFolder::read`] and [`read_trace`]), or several paths are given and one of them
/// is a run.
pub fn open_trace(paths: &[PathBuf]) -> Result<InferenceData, RunError> {
    match (paths, paths.iter().find(|path| RunFolder::is_run(path))) {
        ([path], Some(_)) => RunFolder::open(path)?.read(),
        (_, Some(run)) => Err(FormatError::SeveralTraces { path: run.clone(), format: "run folder".to_owned() }.into()),
        _ => Ok(read_trace(paths)?),
    }
}
