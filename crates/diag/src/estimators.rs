//! Statistics of the draws of one quantity.

pub(crate) mod autocov;
pub(crate) mod bfmi;
pub(crate) mod bridge;
pub(crate) mod definition;
pub(crate) mod ess;
pub(crate) mod evolution;
pub(crate) mod hdi_multimodal;
pub(crate) mod indicator;
pub(crate) mod interval;
pub(crate) mod kde;
pub(crate) mod many;
pub(crate) mod mcse;
pub(crate) mod pvalue;
pub(crate) mod ranks;
pub(crate) mod rhat;
