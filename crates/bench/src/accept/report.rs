//! Writes the acceptance report of a machine: a folder with `README.md`, `sampler.md` and the raw output.

use super::results::Results;
use super::{Acceptance, sampler};
use crate::error::BenchError;
use octopus_files::write_file;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Returns `README.md` and `sampler.md`; the latter only where there are figures.
pub(super) fn pages(results: &Results, device: &str) -> Vec<(&'static str, String)> {
    let mut text = format!("# {device}\n\n");
    let _ = write!(
        text,
        "Measured by `./run-acceptance.sh` of the bundle of {}; raw output is in `raw/`, the sampler's figures are in \
         [sampler.md](sampler.md).\n\n```\n{}\n```\n\n| step | status | seconds | note |\n|---|---|---|---|\n",
        results.manifest.commit(),
        results.machine
    );
    for step in &results.steps {
        let _ = writeln!(text, "| {} | {} | {} | {} |", step.step, step.status, step.seconds, step.reason);
    }
    let figures = results.sampler.as_ref().map(|figures| ("sampler.md", sampler::report(figures, results, device)));
    std::iter::once(("README.md", text)).chain(figures).collect()
}

/// Writes the pages and the raw output into the folder.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn write(acceptance: &Acceptance, folder: &Path) -> Result<(), BenchError> {
    let raw = folder.join("raw");
    fs::create_dir_all(&raw).map_err(BenchError::io("make", &raw))?;
    for path in acceptance.results.files()? {
        fs::copy(&path, raw.join(path.file_name().unwrap_or_default())).map_err(BenchError::io("copy", &path))?;
    }
    for (name, text) in &acceptance.pages {
        write_file(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}
