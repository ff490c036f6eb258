//! Convergence diagnostics, summaries and predictive checks, equal to ArviZ to 1e-10.
//!
//! Functions of the posterior:
//!
//! | You have | You want | Use |
//! |--|--|--|
//! | a trace (also another program's) | is it fit for use, and why not | [`diagnose`] |
//! | a posterior group | the table of `az.summary` | [`summary`] |
//! | two posteriors | do they differ, by more than chance | [`posterior_difference`] |
//! | labels of two traces | which element is which | [`pair_labels`] |
//! | `chains x draws` of one number ([`Chains`]) | have the chains converged | [`rhat`]; its parts [`rhat_z_scale`], [`rhat_folded`], and [`rhat_split`], [`rhat_identity`] |
//! | the same | what the draws are worth | [`ess_bulk`], [`ess_tail`], [`ess_mean`], [`ess_sd`], [`ess_median`], [`ess_mad`], [`ess_quantile`], [`ess_local`], [`ess_folded`], [`ess_z_scale`], [`ess_identity`] |
//! | the same | how far an estimate may be off | [`mcse_mean`], [`mcse_sd`], [`mcse_median`], [`mcse_quantile`] |
//! | the same | where the posterior lies | [`hdi`], [`hdi_multimodal`], [`eti`], [`kde`] |
//! | the same | curves of these against draws and over the distribution | [`evolution`], [`ess_quantile_curve`], [`ess_local_curve`] |
//! | chains of different lengths | the draws that all have | [`Chains::cut_to_shortest`] |
//! | many chains of few draws each | the same | [`rhat_nested`]; [`ess_bulk_of_chains`], [`ess_tail_of_chains`], [`ess_mean_of_chains`]; [`bfmi_of_chains`] |
//! | a density over a proposal, at draws of both | its integral, with its error (evidence) | [`bridge`], [`bridge_covariance`] |
//! | energies of the draws | does the momentum refresh suffice | [`bfmi`] |
//! | ranks of true values among draws | are they uniform (simulation-based calibration) | [`rank`], [`RankCounts`], [`EcdfBand`] |
//! | many tests at once | which of them fail | [`holm`] |
//! | a ratio of variances | whether chance makes one as large | [`fisher_above`] |
//! | one series | how long it remembers | [`autocov`], [`autocorr`] |
//!
//! Functions of predictions:
//!
//! | You have | You want | Use |
//! |--|--|--|
//! | a group `log_likelihood`, or `samples x observations` ([`LogLikelihood`]) | how well the model predicts, and where that cannot be said | [`loo`] with [`relative_eff`], [`waic`] |
//! | the [`Elpd`] of several models | which is best, and their weights | [`compare`] |
//! | importance weights | smoothed ones, and can they be relied on | [`psis`], [`pareto_k_threshold`], [`pareto_min_ss`], [`pareto_convergence_rate`] |
//! | predictions with the log likelihood | is each observation where the others say | [`loo_pit`] |
//! | replicated data | does the model reproduce a statistic | [`bayesian_p_value`], [`bayesian_p_values`], [`bayesian_u_values`] |
//!
//! Names and definitions are ArviZ 0.23's: rank-normalised split R-hat and bulk and tail effective
//! sample sizes of Vehtari et al. (2021), Geyer's initial monotone sequence. Where arviz-stats 0.8 or the R package
//! posterior differ, [`Definition`] has a table of the differences and their estimators. What is not defined is NaN, never
//! an error or a guess:
//!
//! | draws | R-hat | effective sample size | standard error |
//! |--|--|--|--|
//! | fewer than 4 of each chain, or a NaN | NaN | NaN | NaN |
//! | one chain | NaN | defined | defined |
//! | all equal | NaN | the number of draws | 0, of the sd NaN |
//! | one infinite | of ranks only | of ranks only | of quantiles only |
//!
//! Doubtful findings come with advice: [`Check::advice`], [`Elpd::advice`].
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
//! // No statistics of transitions: nobody has looked at divergences.
//! assert!(diagnosis.usable() && !diagnosis.good());
//! println!("{diagnosis}");
//! # Ok::<(), octopus_diag::DiagError>(())
//! ```
//!
//! This crate reads draws and nothing else: it opens no file and no device, and prints nothing.
#![forbid(unsafe_code)]

mod chains;
mod counted;
mod diagnosis;
mod difference;
mod error;
mod estimators;
pub mod limits;
mod numbers;
mod pairing;
mod predictive;
mod summary;
mod text_table;

pub use chains::Chains;
pub use counted::counted;
pub use diagnosis::check::{Check, CheckStatus};
pub use diagnosis::{CoordinatesInUse, DiagnoseOptions, Diagnosis, SettingsInUse, diagnose, unusable_statistics};
pub use difference::{COMPARED_QUANTILES, ParameterDifference, PosteriorDifference, posterior_difference};
pub use error::DiagError;
pub use estimators::autocov::{autocorr, autocov};
pub use estimators::bfmi::{bfmi, bfmi_of_chains};
pub use estimators::bridge::{BridgeEstimate, bridge, bridge_covariance};
pub use estimators::definition::Definition;
pub use estimators::ess::{
    ess_bulk, ess_folded, ess_identity, ess_local, ess_mad, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail,
    ess_z_scale,
};
pub use estimators::evolution::{Evolution, ess_local_curve, ess_quantile_curve, evolution};
pub use estimators::hdi_multimodal::hdi_multimodal;
pub use estimators::interval::{eti, hdi, hdi_of_sorted};
pub use estimators::kde::{Bandwidth, Kde, KdeOptions, kde, kde_with};
pub use estimators::many::{ess_bulk_of_chains, ess_mean_of_chains, ess_tail_of_chains, rhat_nested};
pub use estimators::mcse::{mcse_mean, mcse_median, mcse_quantile, mcse_sd};
pub use estimators::pvalue::{BayesianPValue, Statistic, bayesian_p_value, bayesian_p_values, bayesian_u_values};
pub use estimators::ranks::{
    ChiSquare, EcdfBand, EcdfTest, MeanTest, RankCounts, holm, mean_zero, rank, student_limit,
};
pub use estimators::rhat::{rhat, rhat_folded, rhat_identity, rhat_split, rhat_z_scale};
pub use numbers::order::quantile_of_sorted;
pub use numbers::tails::fisher_above;
pub use pairing::{LabelPairing, pair_labels};
pub use predictive::compare::{ComparedModel, WeightMethod, compare};
pub use predictive::elpd::{Elpd, ElpdMethod, relative_eff, waic};
pub use predictive::likelihood::LogLikelihood;
pub use predictive::loo::loo;
pub use predictive::loo_pit::{Ties, loo_pit};
pub use predictive::psis::{Psis, pareto_convergence_rate, pareto_k_threshold, pareto_min_ss, psis};
pub use summary::digits::{UncertainNumber, moments_as_text, number_column};
pub use summary::parameter;
pub use summary::parameter::{ParameterSummary, fixed_elements};
pub use summary::table::Rows;
pub use summary::{DEFAULT_PROB, Summary, summary, summary_of_many};
pub use text_table::{TableLook, TextColumn, text_table};
