//! Traces in memory and on disk: run folders, NetCDF, Zarr, Parquet, CSV of CmdStan.
//!
//! | task | begin with |
//! |--|--|
//! | keep the draws of a run while it samples | [`RunWriter::create`], [`RunWriter::append`], [`RunWriter::checkpoint`] |
//! | go on with a run that was killed | [`RunWriter::resume`] |
//! | read a run, also one that still grows | [`RunFolder::open`], [`RunFolder::read`] |
//! | read a trace of any format, also of PyMC, NumPyro, nutpie, CmdStan | [`open_trace`], [`TraceFormat::detect`] |
//! | work with draws in memory | [`InferenceData`], [`Dataset`], [`Array`] |
//! | hand draws to ArviZ, xarray, pandas, Stan's tools, a spreadsheet | the writers below, [`write_csv`] |
//! | take over a metric of CmdStan, or give it one | [`read_metric_json`], [`write_metric_json`] |
//! | read a user's observations | [`observations::read_grouped`] |
//!
//! | format | write | read | keeps |
//! |--|--|--|--|
//! | NetCDF-4 | [`write_netcdf`] | [`read_netcdf`] | all but groups and dimensions of length 0 |
//! | Zarr 3 | [`write_zarr`] | [`read_zarr`] | all |
//! | Zarr 2, for ArviZ 0.23 | [`write_zarr_v2`] | [`read_zarr`] | all |
//! | Parquet, a file for each group | [`write_parquet`] | [`read_parquet`] | all |
//! | CSV of CmdStan, a file for each chain | [`write_stan_csv`] | [`read_stan_csv`] | numbers of the posterior, CmdStan's statistics |
//!
//! "All" are the groups, variables, dimensions, labels and attributes of [`InferenceData`], whose groups have
//! ArviZ's names: `posterior`, `sample_stats`, `log_likelihood`, `observed_data`, ... Attributes that are not
//! finite become words in Zarr and Parquet, whose metadata are JSON.
//!
//! A run is a folder:
//!
//! | file | holds |
//! |--|--|
//! | `run.toml` | [`RunRecord`]: settings, versions, data, device, status |
//! | `draws/part-00000.parquet`, ... | draws and statistics, readable by DuckDB, Polars and pandas |
//! | `warmup/part-00000.parquet`, ... | the same of warm-up, when it is kept |
//! | `state/checkpoint.bin` | the sampler's state, until the run is complete |
//!
//! Every file appears whole or not at all, and a process may be killed at any moment: what has been drawn
//! stays readable, and [`RunWriter::resume`] goes on from the last checkpoint.
//!
//! ```
//! use octopus_density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
//! use octopus_sampler::{Block, ChainBlock, DrawStats, Phase, SamplerConfig};
//! use octopus_trace::{CreateOptions, ModelRecord, RunFolder, RunRecord, RunWriter, write_netcdf};
//!
//! /// A standard normal.
//! struct Normal(Layout);
//!
//! impl LogDensity for Normal {
//!     fn dim(&self) -> usize {
//!         1
//!     }
//!     fn layout(&self) -> &Layout {
//!         &self.0
//!     }
//!     fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
//!         gradient[0] = -x[0];
//!         Ok(-0.5 * x[0] * x[0])
//!     }
//!     fn expand(&self, x: &[f64], out: &mut [f64]) {
//!         out[0] = x[0];
//!     }
//!     fn name(&self) -> &str {
//!         "normal"
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let folder = temporary.path();
//! let role = Role::Parameter { offset: 0, transform: Transform::Identity };
//! let x = Variable { name: "x".into(), dims: vec![], role };
//! let density = Normal(Layout { variables: vec![x] });
//!
//! // What a sampler hands over: two draws of one chain.
//! let stats = DrawStats {
//!     lp: -0.5, acceptance_rate: 0.9, step_size: 1.1, energy: 0.7, energy_error: 0.0, max_energy_error: 0.1,
//!     tree_depth: 2, n_steps: 3, index_in_trajectory: 1, diverging: false, reached_max_treedepth: false,
//! };
//! let chain = ChainBlock { positions: vec![0.5, -1.0], stats: vec![stats; 2] };
//! let block = Block { phase: Phase::Sampling, first: 0, draws: 2, chains: vec![chain] };
//!
//! let config = SamplerConfig { chains: 1, draws: 2, ..SamplerConfig::default() };
//! let model = ModelRecord { name: "normal".into(), ..ModelRecord::default() };
//! let record = RunRecord::new(model, config, density.layout().clone());
//! let mut run = RunWriter::create(&folder.join("run"), record, CreateOptions::default())?;
//! run.append(&block, &density)?;
//! run.checkpoint(b"the sampler's state")?;
//! run.finish(|record| record.timing.sampling_s = 0.01)?;
//!
//! let data = RunFolder::open(&folder.join("run"))?.read()?;
//! let x = &data.groups["posterior"].variables["x"];
//! assert_eq!(x.dims, ["chain", "draw"]);
//! assert_eq!(x.values.to_f64(), [0.5, -1.0]);
//! write_netcdf(&folder.join("run.nc"), &data, false)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod checked;
mod chunks;
mod error;
mod format;
mod guard;
mod json;
mod labels;
mod model;
mod netcdf;
pub mod observations;
mod parquet_files;
mod run;
mod stan;
mod storage;
mod table;
#[cfg(test)]
mod tests;
mod timestamp;
mod zarr;

pub use error::TraceError;
pub use format::{TraceFormat, open_trace};
pub use guard::panics_become_errors;
pub use model::{Array, Attribute, Dataset, InferenceData, Values};
pub use netcdf::{read_netcdf, write_netcdf};
pub use parquet_files::{read_parquet, write_parquet};
pub use run::{
    CreateOptions, DataRecord, EndedBy, Ending, Goal, ModelRecord, PartRecord, RECORD_SCHEMA, Resumed, RunFolder,
    RunRecord, RunWriter, Status, Timing,
};
pub use stan::{
    InverseMetric, StanCsv, StanMetric, read_metric_json, read_stan_csv, write_metric_json, write_stan_csv,
};
pub use storage::write_file;
pub use table::write_csv;
pub use timestamp::now_utc;
pub use zarr::{read_zarr, write_zarr, write_zarr_v2};
