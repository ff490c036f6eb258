//! Reads the files that `run-acceptance.sh` has left: steps, manifest, figures, NumPyro's measurements.

use super::ncu::{self, Launch};
use crate::error::BenchError;
use crate::{exact, runs, sampler};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

/// What a machine has left.
pub(super) struct Results {
    pub(super) folder: PathBuf,
    pub(super) steps: Vec<Step>,
    pub(super) manifest: Manifest,
    pub(super) exact: exact::KernelBits,
    /// These are none when their steps were not done.
    pub(super) runs: Option<runs::RunBits>,
    pub(super) sampler: Option<sampler::SamplerFigures>,
    pub(super) sampler_again: Option<sampler::SamplerFigures>,
    /// NumPyro's measurements of both precisions.
    pub(super) peers: Vec<Peer>,
    /// What Nsight Compute has counted.
    pub(super) launches: Vec<Launch>,
    /// The machine in its own words.
    pub(super) machine: String,
}

/// A line of `steps.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub(super) step: String,
    pub(super) status: String,
    pub(super) seconds: u64,
    code: Option<i32>,
    pub(super) reason: String,
}

/// What is of interest in the bundle's `manifest.json`.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    commit: String,
    modified: bool,
    pub(super) rustc: String,
    pub(super) ptx_sha256: String,
}

/// A measurement of `benchmarks/peers/numpyro_prd.py`.
#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub(super) groups: usize,
    pub(super) precision: String,
    pub(super) chains: usize,
    pub(super) metric: String,
    pub(super) cold_seconds: f64,
    pub(super) warm_seconds: f64,
    pub(super) min_ess: f64,
    pub(super) max_rhat: f64,
    pub(super) converged: bool,
    pub(super) leapfrogs: u64,
    pub(super) platform: String,
}

impl Results {
    /// Reads what is in `folder`.
    ///
    /// # Errors
    /// When a file without which there is no judgement is missing or is not what it should be.
    pub(super) fn read(folder: &Path) -> Result<Self, BenchError> {
        let peers = ["numpyro_f32.json", "numpyro_f64.json"].map(|name| json::<Vec<Peer>>(folder, name));
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        Ok(Self {
            folder: folder.to_owned(),
            steps: steps(folder)?,
            exact: json(folder, "exact.out")?,
            manifest: json(folder, "manifest.json")?,
            runs: json(folder, "exact_runs.out").ok(),
            sampler: json(folder, "sampler.json").ok(),
            sampler_again: json(folder, "sampler_again.json").ok(),
            peers: peers.into_iter().flatten().flatten().collect(),
            launches: ncu::launches(&text("ncu_sampler.out")),
            machine: text("machine.out").trim().to_owned(),
        })
    }

    /// Returns the files that say something, in alphabetical order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, BenchError> {
        let listed = fs::read_dir(&self.folder).and_then(|entries| {
            let mut files = Vec::new();
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Nsight writes the host's name into every line; what is of use is in the report.
                if path.is_file() && fs::metadata(&path)?.len() > 0 && !name.starts_with("ncu_") {
                    files.push(path);
                }
            }
            files.sort();
            Ok(files)
        });
        listed.map_err(BenchError::io("read", &self.folder))
    }
}

impl Step {
    /// Returns whether it was ended because its time was over.
    pub(super) fn timed_out(&self) -> bool {
        matches!(self.code, Some(124 | 137))
    }
}

impl Manifest {
    /// Returns the commit of the bundle, in words.
    pub(super) fn commit(&self) -> String {
        let Self { commit, modified, .. } = self;
        format!("commit `{commit}`{}", if *modified { ", with changes not committed" } else { "" })
    }
}

fn steps(folder: &Path) -> Result<Vec<Step>, BenchError> {
    let path = folder.join("steps.jsonl");
    let text = fs::read_to_string(&path).map_err(|source| {
        let what = format!("cannot read {}: is this a folder of run-acceptance.sh?", path.display());
        BenchError::Io { what, source }
    })?;
    let line = |(at, line): (usize, &str)| {
        let what = || format!("{}, line {}: {line}", path.display(), at + 1);
        serde_json::from_str(line).map_err(BenchError::json(what))
    };
    text.lines().enumerate().map(line).collect()
}

fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, BenchError> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).map_err(BenchError::io("read", &path))?;
    serde_json::from_str(&text).map_err(|source| {
        let what = if source.is_data() { "is not what this program writes" } else { "is not JSON" };
        BenchError::Json { what: format!("{} {what}", path.display()), source }
    })
}
