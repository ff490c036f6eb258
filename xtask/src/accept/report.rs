//! A machine's folder below `reports/`.

use super::results::{files, json};
use super::{Judgement, sampler};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes `README.md`, `sampler.md` and the raw output.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn write(results: &Path, report: &Path, judgement: &Judgement) -> Result<()> {
    let raw = report.join("raw");
    fs::create_dir_all(&raw).with_context(|| format!("cannot make {}", raw.display()))?;
    for path in files(results)? {
        let name = path.file_name().unwrap_or_default();
        fs::copy(&path, raw.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    let manifest = json(results, "manifest.json")?;
    let machine = fs::read_to_string(results.join("machine.out")).unwrap_or_default();
    let mut text = format!("# {}\n\n", judgement.device);
    let _ = write!(
        text,
        "Measured by `./run-acceptance.sh` of the bundle of {}; raw output is in `raw/`, the sampler's figures are in \
         [sampler.md](sampler.md).\n\n```\n{}\n```\n\n| step | status | seconds | note |\n|---|---|---|---|\n",
        commit(&manifest),
        machine.trim()
    );
    for step in &judgement.steps {
        let _ = writeln!(text, "| {} | {} | {} | {} |", step.step, step.status, step.seconds, step.reason);
    }
    let sampler = sampler::report(results, &judgement.device)?;
    for (name, text) in [("README.md", text), ("sampler.md", sampler)] {
        let path = report.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The commit of a bundle, in words.
pub(super) fn commit(manifest: &Value) -> String {
    let commit = manifest.get("commit").and_then(Value::as_str).unwrap_or("unknown");
    let modified = manifest.get("modified") == Some(&Value::Bool(true));
    format!("commit `{commit}`{}", if modified { ", with changes not committed" } else { "" })
}
