//! NUTS with pooled low-rank metrics and adaptive centering, reproducible to the bit.
#![forbid(unsafe_code)]

mod config;
mod draw;

pub use config::{ConfigError, MetricKind, Parameterization, SamplerConfig};
pub use draw::{Block, ChainBlock, DrawStats, Phase};
