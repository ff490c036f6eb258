//! What users call the ways in which chains start.

use serde::{Deserialize, Serialize};

/// How the chains of a run start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// Uniformly around the density's center.
    #[default]
    Jitter,
    /// At draws from the model's prior.
    Prior,
    /// At draws of normals along paths to the modes.
    Pathfinder,
}

impl Init {
    /// Returns whether chains start as they do where nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
