//! The files that `run-acceptance.sh` has left.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A line of `steps.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub(super) step: String,
    pub(super) status: String,
    pub(super) seconds: u64,
    code: Option<i32>,
    pub(super) reason: String,
}

impl Step {
    /// Whether it was ended because its time was over.
    pub(super) fn timed_out(&self) -> bool {
        matches!(self.code, Some(124 | 137))
    }
}

pub(super) fn steps(folder: &Path) -> Result<Vec<Step>> {
    let path = folder.join("steps.jsonl");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}: is this a folder of run-acceptance.sh?", path.display()))?;
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}: {line}", path.display(), at + 1))
    };
    text.lines().enumerate().map(line).collect()
}

pub(super) fn json(folder: &Path, name: &str) -> Result<Value> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// None when there is no such file or it is no JSON.
pub(super) fn optional_json(folder: &Path, name: &str) -> Option<Value> {
    json(folder, name).ok()
}

/// The files that say something, in alphabetical order.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Nsight writes the host's name into every line; what is of use is in the report.
        if path.is_file() && fs::metadata(&path)?.len() > 0 && !name.starts_with("ncu_") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
