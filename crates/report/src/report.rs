//! The report of a run: the one structure from which `report.json`, `junit.xml`, `benchmark_report.txt` and
//! `index.html` are made.
//!
//! The version of the schema of `report.json` stands here.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::benchmark::Benchmark;
use crate::measured::Measured;
use crate::nullable;
use crate::story::Stories;
use crate::summary::{PredictiveStatistic, SummaryRow, by_worst_rhat};
use crate::verdict::Verdict;

/// The version of `report.json`; it grows when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The title, e.g. `Octopus phase 0`.
    pub title: String,
    /// The time when the report was made, RFC 3339.
    pub created: String,
    /// The program's name and version, e.g. `octopus 0.1.0`.
    pub program: String,
    /// The commands that make the same report again, one a line.
    pub reproduce: Vec<String>,
    /// Each criterion judged.
    pub verdict: Verdict,
    /// The data.
    pub data: DataFacts,
    /// The model.
    pub model: ModelFacts,
    /// The sampler's settings by name, as in `run.toml`.
    pub settings: IndexMap<String, serde_json::Value>,
    /// The machine of the run.
    pub machine: Machine,
    /// The versions of programs and libraries that took part, by name.
    pub versions: IndexMap<String, String>,
    /// The convergence of the chains.
    pub convergence: Convergence,
    /// The summary of every parameter.
    pub parameters: Vec<SummaryRow>,
    /// The convergence of each parameter, by chain and by draws; empty if it was not asked for.
    #[serde(default)]
    pub stories: Stories,
    /// Test statistics of the predictive check; empty if there was none.
    #[serde(default)]
    pub predictive: Vec<PredictiveStatistic>,
    /// Times; `None` if nothing was timed.
    #[serde(default)]
    pub benchmark: Option<Benchmark>,
    /// Further tables: chain strategies, samplers, this posterior against the exact one.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
}

/// The data of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataFacts {
    /// The source of the data: `NumPy's legacy generator, seed 42`, or a file's name.
    pub source: String,
    /// The number of groups.
    pub groups: usize,
    /// The number of observations.
    pub observations: usize,
    /// The numbers of observations of the smallest and of the largest group; `None` where the observations are in no
    /// groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_sizes: Option<(usize, usize)>,
    /// SHA-256 of the observations as little-endian f64, in hexadecimal digits.
    pub sha256: String,
}

/// The model of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The model's name, e.g. `hierarchical-normal`.
    pub name: String,
    /// The model's statements, one a line: `mu_pop ~ Normal(50, 20)`; there may be none.
    pub statements: Vec<String>,
    /// The form of the likelihood, e.g. `collapsed`, where the model has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<String>,
    /// The number of unconstrained dimensions.
    pub dimension: usize,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// The number of logical cores.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Operating system and architecture.
    pub os: String,
    /// The most memory that the program held, in bytes, where the system tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_peak_bytes: Option<u64>,
    /// The GPU's name, or why there is none.
    pub gpu: Measured<String>,
    /// What is known of the GPU beside its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_facts: Option<GpuFacts>,
}

/// A GPU and its driver; a field is `None` where the driver does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuFacts {
    /// The driver's version, e.g. `550.54.15`.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver supports, e.g. `12.4`.
    pub cuda: Option<String>,
    /// The compute capability, e.g. `8.6`.
    pub compute_capability: Option<String>,
    /// Installed memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The highest clock of the streaming multiprocessors in MHz.
    pub sm_clock_max_mhz: Option<u32>,
    /// Their clock in MHz when the machine was looked at, before anything ran.
    pub sm_clock_mhz: Option<u32>,
    /// The highest clock of the memory in MHz.
    pub memory_clock_max_mhz: Option<u32>,
    /// The limit of the power in watts.
    pub power_limit_watts: Option<f64>,
}

/// The convergence of the chains of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// The number of chains.
    pub chains: usize,
    /// The number of draws kept of each chain.
    pub draws: usize,
    /// The number of warm-up iterations of each chain.
    pub tune: usize,
    /// The number of divergent transitions after warm-up.
    pub divergences: u64,
    /// The number of transitions that ended at the depth limit.
    pub max_depth_hits: u64,
    /// E-BFMI of each chain (below 0.3: the momenta explore the energy badly).
    #[serde(with = "nullable::list")]
    pub bfmi: Vec<f64>,
    /// Step size of each chain.
    #[serde(with = "nullable::list")]
    pub step_size: Vec<f64>,
    /// Mean acceptance rate of each chain.
    #[serde(with = "nullable::list")]
    pub acceptance_rate: Vec<f64>,
    /// Mean number of leapfrog steps of a draw, for each chain.
    #[serde(with = "nullable::list")]
    pub n_steps: Vec<f64>,
}

/// A further table of the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The table's heading.
    pub title: String,
    /// Advice on how to read the table; may be empty.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells, each row as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

impl Comparison {
    /// Makes a table with the columns `a | b | c`, whose rows have as many cells.
    pub fn new(
        title: impl Into<String>,
        note: impl Into<String>,
        columns: &str,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let columns = columns.split(" | ").map(str::to_owned).collect();
        Self { title: title.into(), note: note.into(), columns, rows: rows.into_iter().collect() }
    }
}

impl Report {
    /// Returns the scalars in their order, and the elements of arrays, those with the worst R-hat first.
    pub(crate) fn scalars_and_elements(&self) -> (Vec<&SummaryRow>, Vec<&SummaryRow>) {
        let (mut elements, scalars): (Vec<&SummaryRow>, Vec<_>) =
            self.parameters.iter().partition(|row| row.is_element());
        elements.sort_by(|a, b| by_worst_rhat(a, b));
        (scalars, elements)
    }

    /// Returns the parameter with the worst R-hat; NaN is worse than any number.
    pub fn worst_rhat(&self) -> Option<&SummaryRow> {
        self.parameters.iter().min_by(|a, b| by_worst_rhat(a, b))
    }

    /// Returns the parameter with the smallest of `ess_bulk` or another figure; NaN is less than any number.
    pub fn least(&self, figure: fn(&SummaryRow) -> f64) -> Option<&SummaryRow> {
        let key = |row: &&SummaryRow| if figure(row).is_nan() { f64::NEG_INFINITY } else { figure(row) };
        self.parameters.iter().min_by(|a, b| key(a).total_cmp(&key(b)))
    }
}
