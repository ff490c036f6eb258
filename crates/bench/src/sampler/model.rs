//! The model that is timed.

use crate::model_of;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, Likelihood, ModelError};

/// Makes the model of phase 0 with its data, with this many groups of ten observations.
pub(crate) fn model(groups: usize, likelihood: Likelihood) -> Result<HierarchicalNormal, ModelError> {
    model_of(HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate(), likelihood)
}
