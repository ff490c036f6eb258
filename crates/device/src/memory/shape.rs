//! What a run needs memory for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The type that a run computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 4 bytes.
    F32,
    /// 8 bytes.
    F64,
}

impl Precision {
    /// Bytes of one number.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

/// A run as its memory sees it. Draws that have left the device do not count: they go through buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShape {
    /// Chains in all.
    pub chains: u64,
    /// Coordinates of the density.
    pub dim: u64,
    /// The deepest tree.
    pub max_depth: u64,
    /// Draws of each chain that one buffer holds: the transitions of one launch.
    pub draws_in_flight: u64,
    /// Buffers of draws: two, so that one is copied while the next fills.
    pub draw_buffers: u64,
    /// What is computed in.
    pub precision: Precision,
    /// Bytes of the data on the device.
    pub data_bytes: u64,
}

impl Default for RunShape {
    /// Four chains of one coordinate, with the sampler's defaults: trees of depth 10, 16 draws a launch, in f64.
    fn default() -> Self {
        Self {
            chains: 4,
            dim: 1,
            max_depth: 10,
            draws_in_flight: 16,
            draw_buffers: 2,
            precision: Precision::F64,
            data_bytes: 0,
        }
    }
}
