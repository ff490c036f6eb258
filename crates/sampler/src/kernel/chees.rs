//! ChEES-HMC: Hamiltonian Monte Carlo that learns the length of its trajectories from all chains.
//!
//! Hoffman, Radul and Sountsov (2021), "An adaptive-MCMC scheme for setting trajectory lengths in Hamiltonian Monte Carlo":
//! the length climbs the change of the estimator of the expected square. `adapt/length.rs` climbs, here is what moves.

use super::address::Address;
use super::hmc::{self, Trajectories, share, transition};
use super::phase_space::PhaseSpace;
use super::state::Point;
use super::workspace::Workspace;
use super::{Kernel, Tuned};
use crate::config::ConfigError;
use crate::draw::DrawStats;
use octopus_density::DensityError;
use serde::{Deserialize, Serialize};

/// The mean length that warm-up begins with, in standard deviations.
const FIRST_LENGTH: f64 = 1.0;

/// Settings of ChEES-HMC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Chees {
    /// Lengths are uniform within this share of their mean, from 0 (all are the same) to 1.
    pub jitter: f64,
}

impl Default for Chees {
    /// Uniform from 0 on, as in the paper.
    fn default() -> Self {
        Self { jitter: 1.0 }
    }
}

impl Chees {
    fn all(&self, length: Option<f64>) -> Trajectories {
        Trajectories { leapfrogs: None, length: length.unwrap_or(FIRST_LENGTH), jitter: self.jitter }
    }
}

impl Kernel for Chees {
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError> {
        let steps = self.all(tuned.length).steps(tuned, address);
        transition(phase_space, tuned, steps, address, point, workspace)
    }

    fn statistics(&self) -> &'static [&'static str] {
        hmc::STATISTICS
    }

    fn leapfrogs(&self, dim: usize) -> f64 {
        hmc::leapfrogs(FIRST_LENGTH, dim)
    }

    fn target_accept(&self) -> f64 {
        // The optimum of normals is 0.651 (Beskos et al. 2013), but of 1000 seeds of eight schools, non-centered, one was lost
        // there and 987 diverged; at 0.8 none is lost.
        0.8
    }

    fn first_length(&self, _dim: usize) -> Option<f64> {
        Some(FIRST_LENGTH)
    }

    fn trajectories(&self, length: Option<f64>) -> Option<Trajectories> {
        Some(self.all(length))
    }

    fn validate(&self) -> Result<(), ConfigError> {
        share("jitter", self.jitter)
    }
}
