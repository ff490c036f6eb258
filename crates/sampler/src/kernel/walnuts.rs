//! WALNUTS: NUTS whose steps are halved, inside a tree, until the energy is kept.
//!
//! Bou-Rabee, Carpenter, Kleppe and Liu (2025), "The within-orbit adaptive leapfrog No-U-Turn sampler", arXiv 2506.18746. A
//! step of the tree is the smallest number of halvings of one leapfrog step along which the energy stays within
//! `max_error`. The way back must choose as many halvings: a tree ends before a leaf from which it does not, which keeps
//! the transition reversible.

use super::address::Address;
use super::hmc::positive;
use super::nuts::{self, Arrival, Integrator, NutsSettings, transition_by};
use super::phase_space::PhaseSpace;
use super::state::{Point, Scratch, State, StateMut};
use super::workspace::{Path, Workspace};
use super::{Kernel, Tuned};
use crate::config::ConfigError;
use crate::draw::DrawStats;
use octopus_density::DensityError;
use serde::{Deserialize, Serialize};

/// Settings of WALNUTS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Walnuts {
    /// The most that the energy may vary along a step of the tree.
    pub max_error: f64,
    /// The most halvings of a step.
    pub max_halvings: u32,
}

impl Default for Walnuts {
    /// The defaults of the authors' program.
    fn default() -> Self {
        Self { max_error: 0.5, max_halvings: 10 }
    }
}

impl Kernel for Walnuts {
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError> {
        transition_by(*self, phase_space, NutsSettings::of(tuned), address, point, workspace)
    }

    fn statistics(&self) -> &'static [&'static str] {
        nuts::STATISTICS
    }

    fn leapfrogs(&self, dim: usize) -> f64 {
        nuts::leapfrogs(dim)
    }

    fn target_accept(&self) -> f64 {
        0.8
    }

    fn validate(&self) -> Result<(), ConfigError> {
        const MOST: u32 = 20;
        if self.max_halvings > MOST {
            let value = self.max_halvings.to_string();
            return Err(ConfigError { field: "max_halvings", value, expected: "must be at most 20" });
        }
        positive("max_error", self.max_error)
    }
}

impl Integrator for Walnuts {
    fn step(
        self,
        phase_space: PhaseSpace<'_, '_>,
        step: f64,
        from: State<'_>,
        to: StateMut<'_>,
        scratch: &mut Scratch,
        path: &mut Path,
    ) -> Result<Arrival, DensityError> {
        let start = 0.5 * phase_space.vectors.dot(from.momentum, from.momentum) - from.point.logp;
        let StateMut { point, momentum } = to;
        let mut gradients = 0;
        for halvings in 0..=self.max_halvings {
            let kept =
                self.walk(phase_space, SplitStep { step, halvings, start }, from, path, scratch, &mut gradients)?;
            let Some(square) = kept else { continue };
            point.copy_from(&path.points[0]);
            momentum.copy_from_slice(&path.momenta[0]);
            let start = 0.5 * square - point.logp;
            let arrived = State { point, momentum };
            for fewer in 0..halvings {
                let back = SplitStep { step: -step, halvings: fewer, start };
                if self.walk(phase_space, back, arrived, path, scratch, &mut gradients)?.is_some() {
                    return Ok(Arrival { square: Some(square), gradients, leads_back: false, is_whole: false });
                }
            }
            return Ok(Arrival { square: Some(square), gradients, leads_back: true, is_whole: halvings == 0 });
        }
        // No number of halvings keeps the energy: the trajectory diverges here.
        Ok(Arrival { square: None, gradients, leads_back: true, is_whole: false })
    }
}

/// A step of a tree in smaller ones.
#[derive(Clone, Copy)]
struct SplitStep {
    /// The whole step, with its sign.
    step: f64,
    halvings: u32,
    /// The energy where it starts.
    start: f64,
}

impl Walnuts {
    /// Walks to the first point of `path`; returns the square of the momentum there, or `None` where the energy was not
    /// kept.
    fn walk(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        walk: SplitStep,
        from: State<'_>,
        path: &mut Path,
        scratch: &mut Scratch,
        gradients: &mut u32,
    ) -> Result<Option<f64>, DensityError> {
        let SplitStep { step, halvings, start } = walk;
        let Path { points: [near, far], momenta: [momentum, next] } = path;
        let steps = 1_u32 << halvings;
        let step = step / f64::from(steps);
        let (mut least, mut most) = (start, start);
        let mut arrived = 0.0;
        for number in 0..steps {
            let from = if number == 0 { from } else { State { point: near, momentum } };
            *gradients += 1;
            let square = phase_space.leapfrog(step, from, StateMut { point: far, momentum: next }, scratch)?;
            std::mem::swap(near, far);
            std::mem::swap(momentum, next);
            let Some(square) = square else { return Ok(None) };
            let energy = 0.5 * square - near.logp;
            (least, most, arrived) = (least.min(energy), most.max(energy), square);
            if energy.is_nan() || most - least > self.max_error {
                return Ok(None);
            }
        }
        Ok(Some(arrived))
    }
}
