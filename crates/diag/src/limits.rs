//! The limits (thresholds) of convergence, for all who judge it: R-hat, effective sample sizes, E-BFMI.

/// R-hat must be below this (Vehtari et al. 2021, section 4).
pub const RHAT: f64 = 1.01;

/// Bulk and tail effective sample sizes must be above this, all chains together: 100 for each of the usual four.
pub const ESS: f64 = 4.0 * ESS_PER_CHAIN;

/// The effective draws that each chain must have on average (Vehtari et al. 2021, section 4).
pub const ESS_PER_CHAIN: f64 = 100.0;

/// E-BFMI of each chain must reach this (Betancourt 2016, arXiv:1604.00695).
pub const BFMI: f64 = 0.3;
