//! Is a sampler right about a model? Simulation-based calibration, Geweke's test, and a self-check of the sampler.
//!
//! | You want | Use |
//! |--|--|
//! | a model that can be simulated: one that Octopus ships, or one of your own | [`octopus_models::Registry`], [`octopus_models::Simulator`] |
//! | ranks of true values among posterior draws, over many data sets, on threads or in batches on a GPU | [`run`], [`Mover`], [`CalibratedSet`] |
//! | whether those ranks are uniform | [`judge`], [`Judgement`] |
//! | to keep ranks in a file and go on later | [`Table`] |
//! | whether one data set is sampled well under thousands of seeds | [`sweep_seeds`], [`SeedSweep`] |
//! | the joint distribution test | [`geweke()`], [`Geweke`] |
//! | whether this program's transitions and warm-up are what they should be | [`self_check`] |
//!
//! Data set `k` takes all its random numbers from streams that are addressed by `k`: what is found does not depend on
//! threads, on the order of the data sets, nor on how they are split over sessions, machines or devices.
//!
//! ```
//! use octopus_calibrate::{CalibrationSettings, Mover, judge, run};
//! use octopus_models::{HierarchicalPrior, HierarchicalSimulator, Likelihood};
//! use octopus_sampler::SamplerConfig;
//!
//! let simulator = HierarchicalSimulator::new(vec![3; 4], HierarchicalPrior::default(), Likelihood::Collapsed)?;
//! let sampler = SamplerConfig { chains: 2, draws: 60, tune: 80, ..SamplerConfig::default() };
//! let settings = CalibrationSettings { seed: 1, kept: 9, sampler };
//! let mut found = Vec::new();
//! run(&simulator, &settings, 0..20, Mover::Threads(2), &|| false, &mut |data_set| {
//!     found.push(data_set);
//!     Ok::<(), std::convert::Infallible>(())
//! })?;
//! let judgement = judge(&simulator, &settings, &mut found, 1e-3)?;
//! assert_eq!(judgement.data_sets, 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate opens no file and no device, and prints nothing.
#![forbid(unsafe_code)]

mod address;
mod check;
mod data_set;
mod error;
mod geweke;
mod judgement;
mod kept;
mod likeness;
mod memory;
mod quantities;
mod run;
mod seeds;
mod table;

pub use check::{SelfCheck, self_check};
pub use data_set::{CalibratedSet, CalibrationSettings, Found};
pub use error::CalibrateError;
pub use geweke::{
    Geweke, GewekeSequence, GewekeSettings, Moment, SequenceMoment, geweke, geweke_sequences, judge_geweke,
};
pub use judgement::{Independence, Judgement, RankedQuantity, Together, judge};
pub use memory::{at_work_bytes, found_bytes, geweke_bytes, sweep_bytes};
pub use run::{BeginBatch, Mover, run};
pub use seeds::{SeedRun, SeedSweep, sweep_seeds};
pub use table::{Table, TableError};
