//! Benchmarks of Octopus against itself and its peers.
//!
//! `cargo xtask bench` runs them all; `cargo xtask bench gradient` those whose name contains `gradient`.
//!
//! | benchmark | measures |
//! |--|--|
//! | `gradient/<likelihood>/<groups>` | one log density and gradient of the PRD's model, centered |
//! | `leapfrog/<likelihood>/<groups>` | one leapfrog step with all that NUTS does around it |
//! | `filter/<model>/<particles>` | one particle filter over the data that ship, 50 or 100 steps |
//! | `diagnostics/<estimator>` | one estimator of one quantity, 4 chains of 2000 draws |
//! | `summary/<variables>` | the summary of this number of quantities |
//! | `loo/<observations>` | leave-one-out cross-validation of 8000 draws |
//! | `run/<likelihood>/<groups>` | a whole PRD run: 4 chains, 1000 + 2000 iterations, all cores |
#![forbid(unsafe_code)]

use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood, ModelError};
use octopus_sampler::{SamplerConfig, Strategy};

/// The PRD's model on its own data with another number of groups.
///
/// # Errors
/// When `groups` is 0.
pub fn prd_model(groups: usize, likelihood: Likelihood) -> Result<HierarchicalNormal, ModelError> {
    let synthetic = HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate()?;
    HierarchicalNormal::new(synthetic.data, HierarchicalPrior::default(), likelihood)
}

/// The PRD's settings, with all of their warm-up.
pub fn prd_config() -> SamplerConfig {
    let base = SamplerConfig { strategy: Strategy::FourLong, ..SamplerConfig::default() };
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..base }
}
