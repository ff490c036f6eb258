//! NUTS with pooled low-rank metrics and standardised hierarchies, reproducible to the bit.
#![forbid(unsafe_code)]

mod adaptation;
mod batch;
mod chain;
mod config;
mod course;
mod cpu;
mod draw;
mod engine;
mod gpu;
mod low_rank;
mod metric;
pub mod plan;
mod pool;
mod pooled;
#[doc(hidden)]
pub mod reference;
mod run;
mod schedule;
mod settled;
mod space;
mod step_size;
mod superchains;
mod tree;
#[cfg(test)]
mod twin;
mod vector;

pub use adaptation::Adaptation;
pub use batch::{BatchSampler, Begin, DataSet, Moved};
pub use config::{ConfigError, MetricKind, Parameterization, SamplerConfig, Strategy};
pub use draw::{Block, ChainBlock, DrawStats, Phase};
pub use gpu::{GpuConfig, GpuExpander, GpuMemory, GpuNote};
pub use metric::MetricEstimate;
pub use octopus_density::gpu::Precision;
pub use run::{Sampler, SamplerError};
pub use schedule::WindowConfig;

// The software GPU's scenario is the one of `tests/gpu_engine`, which knows this crate by its name.
#[cfg(test)]
extern crate self as octopus_sampler;
#[cfg(test)]
#[path = "../tests/gpu_engine/scenario.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod scenario;
