//! What the runner and a framework say to each other: one JSON object a line (docs/benchmarks.md has the words).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the runner asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Take a problem and a method, compile and run once.
    Start(StartRequest),
    /// Evaluate the framework's own log density.
    LogDensity {
        /// Points of the unconstrained coordinates, in the program's order.
        points: Vec<Vec<f64>>,
    },
    /// Infer, and time it.
    Run {
        /// The seed of this repetition.
        seed: u64,
    },
    /// Write the draws of the last run.
    Draws {
        /// The folder to write into.
        to: PathBuf,
    },
}

/// A problem and a method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StartRequest {
    /// The name of the program, by which a framework finds its own form of it, or of the kind of work.
    pub(crate) program: String,
    /// The problem as the suite has it: its program and size.
    pub(crate) problem: Map<String, Value>,
    /// The program in Stan's language; a kind of work has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stan: Option<PathBuf>,
    /// Its data, as Stan's JSON; what a kind of work is done on, as an array, where it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<PathBuf>,
    /// The name of the method and its settings.
    pub(crate) method: Map<String, Value>,
    /// `f64` or `f32`.
    pub(crate) precision: String,
    /// `cpu` or `cuda:N`.
    pub(crate) device: String,
    /// The number of cores.
    pub(crate) threads: usize,
    /// The seed of the first run.
    pub(crate) seed: u64,
}

/// What a framework answers; which fields there are depends on the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    /// Why the framework does not do this: a result, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cannot: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Versions of the framework and of what it stands on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) versions: BTreeMap<String, String>,
    /// The device that computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// How it was set up beyond the request, such as vectorized chains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<String>,
    /// Known bugs of these versions that touch the case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) known_bugs: Vec<String>,
    /// The seconds of compilation and of the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compile_seconds: Option<f64>,
    /// The log densities at the points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<Option<f64>>>,
    /// The seconds of inference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// The most memory that processes of the framework's own held in this run, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) child_bytes: Option<u64>,
    /// The logarithm of the evidence, with all constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_evidence: Option<f64>,
    /// Gradients that were computed, of all chains, warm-up included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gradients: Option<u64>,
    /// Divergent transitions after warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) divergences: Option<u64>,
}
