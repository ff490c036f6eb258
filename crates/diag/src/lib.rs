//! Convergence diagnostics and summaries, equal to ArviZ to 1e-10.
//!
//! | You have | You want | Use |
//! |--|--|--|
//! | a trace (also another program's) | is it fit for use, and why not | [`diagnose`] |
//! | a posterior group | the table of `az.summary` | [`summary`] |
//! | `chains x draws` of one number | have the chains converged | [`rhat`] |
//! | the same | what the draws are worth | [`ess_bulk`], [`ess_tail`], [`ess_mean`], [`ess_sd`], [`ess_median`], [`ess_quantile`] |
//! | the same | how far an estimate may be off | [`mcse_mean`], [`mcse_sd`], [`mcse_median`], [`mcse_quantile`] |
//! | the same | where the posterior lies | [`hdi`], [`eti`] |
//! | many chains of few draws each | the same two | [`rhat_nested`]; [`ess_bulk_of_chains`], [`ess_tail_of_chains`], [`ess_mean_of_chains`]; [`bfmi_of_chains`] |
//! | energies of the draws | does the momentum refresh suffice | [`bfmi`] |
//! | ranks of true values among draws | are they uniform (simulation-based calibration) | [`rank`], [`RankCounts`], [`EcdfBand`] |
//! | many tests at once | which of them fail | [`holm`] |
//! | one series | how long it remembers | [`autocov`], [`autocorr`] |
//!
//! Names and definitions are those of ArviZ 0.23: rank-normalised split R-hat and bulk and tail effective
//! sample sizes of Vehtari et al. (2021), Geyer's initial monotone sequence, a unimodal highest-density
//! interval. What is not defined (one chain, fewer than 4 draws, NaN) is NaN, never an error or a guess.
//!
//! ```
//! use octopus_diag::{Chains, DiagnoseOptions, diagnose, ess_bulk, rhat};
//! use octopus_trace::{Array, Dataset, Values};
//!
//! // Two chains of 500 draws of a scalar `mu`; any numbers that look independent will do here.
//! let draws: Vec<f64> = (0..1000u32).map(|i| f64::from(i * 7919 % 1009) / 1009.0).collect();
//! let chains = Chains::new(&draws, 2, 500)?;
//! assert!(rhat(&chains) < 1.01);
//! assert!(ess_bulk(&chains) > 500.0);
//!
//! let mut posterior = Dataset::default();
//! posterior.variables.insert("mu".into(), Array {
//!     dims: vec!["chain".into(), "draw".into()],
//!     shape: vec![2, 500],
//!     values: Values::F64(draws),
//! });
//! let diagnosis = diagnose(&posterior, None, &DiagnoseOptions::default())?;
//! assert!(diagnosis.good());
//! println!("{diagnosis}");
//! # Ok::<(), octopus_diag::DiagError>(())
//! ```
//!
//! This crate reads draws and nothing else: it opens no file and no device, and prints nothing.
#![forbid(unsafe_code)]

mod autocov;
mod beta;
mod bfmi;
mod chains;
mod check;
mod diagnosis;
mod element;
mod error;
mod ess;
mod interval;
mod json;
mod many;
mod mcse;
mod moments;
mod normal;
mod order;
mod ranks;
mod rhat;
mod summary;
mod table;

pub use autocov::{autocorr, autocov};
pub use bfmi::{bfmi, bfmi_of_chains};
pub use chains::Chains;
pub use check::{Check, Status};
pub use diagnosis::{DiagnoseOptions, Diagnosis, diagnose};
pub use error::DiagError;
pub use ess::{ess_bulk, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail};
pub use interval::{eti, hdi};
pub use many::{ess_bulk_of_chains, ess_mean_of_chains, ess_tail_of_chains, rhat_nested};
pub use mcse::{mcse_mean, mcse_median, mcse_quantile, mcse_sd};
pub use ranks::{ChiSquare, EcdfBand, EcdfTest, MeanTest, RankCounts, holm, mean_zero, rank, student_limit};
pub use rhat::{rhat, rhat_folded, rhat_identity, rhat_split};
pub use summary::{DEFAULT_PROB, ParameterSummary, Summary, summary, summary_of_many};
pub use table::Rows;
