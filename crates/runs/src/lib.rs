//! Runs on disk: one folder for one run, readable while it grows.
//!
//! | task | begin with |
//! |--|--|
//! | keep the draws of a run while it samples | [`RunWriter::create`], [`RunWriter::append`], [`RunWriter::checkpoint`] |
//! | go on with a run that was killed | [`RunWriter::resume`] |
//! | read a run, also one that still grows | [`RunFolder::open`], [`RunFolder::read`] |
//! | read a run or a trace of any format | [`open_trace`] |
//!
//! A run is a folder:
//!
//! | file | holds |
//! |--|--|
//! | `run.toml` | [`RunRecord`]: settings, versions, data, device, status |
//! | `draws/part-00000.parquet`, ... | draws and statistics, readable by DuckDB, Polars and pandas |
//! | `warmup/part-00000.parquet`, ... | draws and statistics of warm-up, when it is kept |
//! | `state/checkpoint.bin` | the sampler's state, until the run is complete |
//!
//! Every file appears whole or not at all, and a process may be killed at any moment: what has been drawn
//! stays readable, and [`RunWriter::resume`] goes on from the last checkpoint.
//!
//! ```
//! use octopus_density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
//! use octopus_sampler::{Block, ChainBlock, DrawStats, Phase, SamplerConfig};
//! use octopus_formats::write_netcdf;
//! use octopus_runs::{CreateOptions, ModelRecord, RunFolder, RunRecord, RunWriter};
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
//!     tree_depth: 2, n_steps: 3, index_in_trajectory: 1, ..DrawStats::default()
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

mod checkpoint;
mod collect;
mod columns;
pub mod device;
mod diagnosis;
mod disk;
mod draws;
mod drive;
mod error;
#[cfg(test)]
mod faulty;
mod first_costs;
mod folder;
mod goal;
mod init;
mod memory;
mod open;
mod part;
mod placement;
mod prepare;
mod reach;
mod read;
mod record;
mod run_cost;
mod step_time;
mod strategy;
mod tally;
#[cfg(test)]
mod tests;
mod timestamp;
mod under_way;
mod writer;

pub use collect::{MemoryRun, groups_of, posterior_of, sample_in_memory};
pub use columns::check_names;
pub use device::{DecisionReason, DeviceDecision, DeviceInventory, no_gpu};
pub use diagnosis::diagnose_options;
pub use disk::{bytes_on_disk, check_disk, free_space};
pub use drive::{Checkpoints, Driven, Observer, Pace, Progress, Session, adaptation, add_time, describe, drive, pool};
pub use error::RunError;
pub use folder::is_vacant;
pub use init::Init;
pub use memory::MemoryNeed;
pub use open::open_trace;
pub use placement::{Placement, recorded, turns, warn};
pub use prepare::{PreparedRun, RunRequest};
pub use reach::{Reach, reach};
pub use read::RunFolder;
pub use record::{EndedBy, Ending, Goal, ModelRecord, PartRecord, RECORD_SCHEMA, RunRecord, RunStatus, Timing};
pub use run_cost::{MEASURED_GROUPS, MEASURED_OBSERVATIONS, RunCost, kernel_name};
pub use step_time::{cpu_step_seconds, seconds_a_step};
pub use strategy::{CountedRun, DrawsLimit, DrawsWanted, StrategyPlan, plan};
pub use tally::Tally;
pub use timestamp::now_utc;
pub use writer::{CreateOptions, Resumed, RunWriter};
