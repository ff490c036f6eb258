//! NUTS over several chains, on the CPU or on GPUs, reproducible to the bit.
//!
//! | you want | use |
//! |--|--|
//! | draws of one density | [`Sampler::new`], then [`Sampler::advance`] until it returns `None` |
//! | the same on GPUs, or to go on with a run | [`Sampler::begin`] with a [`Backend`] and a [`Begin`] |
//! | draws for many data sets at once | [`BatchSampler`] |
//! | the memory that a run takes of a GPU | [`GpuMemory`] |
//! | the evidence, or draws without a chain | [`importance`], [`smc`], [`pathfinder`] |
//! | how many chains reach a number of effective draws soonest | [`plan`] |
//!
//! A run is described by one [`SamplerConfig`]. Draws depend on it and on the density only: not on threads, not on how many
//! iterations are asked for at a time, not on interruptions, and in f64 not on whether the CPU or a GPU moves the chains.
//!
//! Warm-up learns a low-rank metric from all chains together (`--metric` of the command line names the others), each
//! chain's step size by dual averaging (Hoffman and Gelman 2014), and walks hierarchies in standardised coordinates
//! (`docs/decisions/01-centering.md`). Transitions are multinomial NUTS with Stan's two extra U-turn checks (Betancourt
//! 2017).
//!
//! This crate writes no file and prints nothing: run folders are `octopus-runs`, diagnostics `octopus-diag`.
//!
//! ```
//! use octopus_density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
//! use octopus_sampler::{Phase, Sampler, SamplerConfig};
//!
//! /// Independent normals with these standard deviations.
//! struct Normals {
//!     sd: Vec<f64>,
//!     layout: Layout,
//! }
//!
//! impl LogDensity for Normals {
//!     fn dim(&self) -> usize {
//!         self.sd.len()
//!     }
//!     fn layout(&self) -> &Layout {
//!         &self.layout
//!     }
//!     fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
//!         let mut logp = 0.0;
//!         for ((x, sd), slope) in x.iter().zip(&self.sd).zip(gradient) {
//!             let z = x / sd;
//!             logp -= 0.5 * z * z;
//!             *slope = -z / sd;
//!         }
//!         Ok(logp)
//!     }
//!     fn expand(&self, x: &[f64], out: &mut [f64]) {
//!         out.copy_from_slice(x);
//!     }
//!     fn name(&self) -> &str {
//!         "normals"
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let variable = |name: &str, offset| Variable {
//!     name: name.into(),
//!     dims: vec![],
//!     role: Role::Parameter { offset, transform: Transform::Identity },
//! };
//! let layout = Layout { variables: vec![variable("a", 0), variable("b", 1)] };
//! let density = Normals { sd: vec![1.0, 100.0], layout };
//!
//! let config = SamplerConfig { chains: 4, tune: 300, draws: 1000, seed: 42, ..SamplerConfig::default() };
//! let mut sampler = Sampler::new(&density, config)?;
//! let mut b = Vec::new();
//! while let Some(block) = sampler.advance(usize::MAX)? {
//!     if block.phase == Phase::Sampling {
//!         // Positions of a chain are draws x coordinates.
//!         b.extend(block.chains.iter().flat_map(|chain| chain.positions.chunks(2).map(|x| x[1])));
//!     }
//! }
//! assert_eq!(b.len(), 4000);
//! let mean = b.iter().sum::<f64>() / 4000.0;
//! let sd = (b.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 3999.0).sqrt();
//! assert!(mean.abs() < 10.0 && (sd - 100.0).abs() < 10.0, "{mean} {sd}");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod adapt;
mod config;
mod draw;
mod engine;
mod error;
mod kernel;
mod population;
#[doc(hidden)]
pub mod reference;
mod run;
#[cfg(test)]
mod twin;

pub use adapt::{Adaptation, LearnedInformation};
pub use config::{ConfigError, MetricKind, Parameterization, SamplerConfig, Strategy, WindowConfig};
pub use draw::{Block, ChainBlock, DrawStats, Phase, ReadStatistic};
pub use engine::{Backend, GpuConfig, GpuMemory, GpuNote, least_host_memory};
pub use error::{SamplerError, WrongGradient};
pub use kernel::{Algorithm, Chees, Hmc, Mams, MetricEstimate, Walnuts};
pub use octopus_density::gpu::Precision;
pub use population::{
    FilterSize, FilteredStates, ImportanceConfig, ImportanceProposal, ParticlePopulation, PathfinderConfig,
    PopulationEvidence, PopulationFindings, SmcConfig, SmcPopulation, SmcSize, SmcStage, importance,
    importance_from_prior, particle_filter, particles_of_prior, pathfinder, smc,
};
pub use run::plan;
pub use run::{BatchSampler, BatchStep, Begin, DataSet, Sampler, Starts, WarmStart, jittered};

// The software GPU's scenario is the one of `tests/gpu_engine`, which knows this crate by its name.
#[cfg(test)]
extern crate self as octopus_sampler;
#[cfg(test)]
#[path = "../tests/gpu_engine/scenario.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod scenario;
