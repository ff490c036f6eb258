//! Effects whose location and scale are any functions of other coordinates, and the coordinates that a sampler may walk
//! them in.
//!
//! Effect j of a block is `theta_j ~ N(m_j, s_j)`. A density's own coordinate of it is `z_j = (theta_j - m_j) / s_j`, and a
//! sampler walks in
//!
//! ```text
//! z_j = p_j s_j / d_j (a_j - m_j) + x_j / sqrt(d_j),     d_j = c_j + p_j s_j^2
//! ```
//!
//! `p_j` and `a_j` are what the data say of the effect itself; for effects that are the locations of others, what the data say
//! of the others given their scales is added. With c = 1 this is the conditional distribution of `z_j` where the data measure `theta_j` as `a_j` with the precision
//! `p_j`: `x_j ~ N(0, 1)` whatever the scale is. With p = 0 and c = 1 it is `x_j = z_j`, and with a = 0, p = 1 and c = 0 it is
//! `x_j = theta_j`.
//!
//! A block may also be one vector `theta = m + L z` with a lower triangle L. The matrices C and P have c and p on their
//! diagonals, and R is a Cholesky factor:
//!
//! ```text
//! z = R'^-1 (R^-1 L' P (a - m) + x),     R R' = C + L' P L
//! ```

use crate::{Centering, DensityError};
use std::fmt;

/// Some effects of a density, which are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectBlock {
    /// What they are, for people: the statement that says so.
    pub label: String,
    /// The coordinate of each effect.
    pub coordinates: Vec<usize>,
    /// The form in which the model was written, centered or not.
    pub written: Centering,
    /// The block whose effects are the locations of these.
    pub parent: Option<usize>,
    /// Whether the block is a plain parameter that is the location of others: its own coordinate is the parameter, and its
    /// prior counts as what the data say.
    pub is_plain: bool,
}

impl fmt::Display for EffectBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, label) = (self.coordinates.len(), &self.label);
        let form = match self.written {
            _ if self.is_plain => "a plain parameter",
            Centering::Centered => "centered",
            Centering::NonCentered | Centering::Standardised => "non-centered",
        };
        let effects = if count == 1 { "effect" } else { "effects" };
        write!(f, "{label}: {count} {effects}, {form}")
    }
}

/// The coordinates of all effects: four numbers for each, block after block.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectCoordinates {
    /// Where the data put the effect, `a`.
    pub tops: Vec<f64>,
    /// How precisely, `p`.
    pub precisions: Vec<f64>,
    /// The share of the prior in the unit, `c`: 1, or 0 for the effect itself as the coordinate.
    pub priors: Vec<f64>,
    /// Whether an effect that is the location of others takes over what is known of those, 1, or not, 0.
    pub links: Vec<f64>,
}

impl EffectCoordinates {
    /// Returns the density's own coordinates of so many effects.
    pub fn natural(effects: usize) -> Self {
        Self {
            tops: vec![0.0; effects],
            precisions: vec![0.0; effects],
            priors: vec![1.0; effects],
            links: vec![0.0; effects],
        }
    }

    /// Returns all numbers in the order in which programs read them: tops, precisions, priors, links.
    pub fn inputs(&self) -> impl Iterator<Item = f64> {
        [&self.tops, &self.precisions, &self.priors, &self.links].into_iter().flatten().copied()
    }

    /// Makes the effects `range` themselves the coordinates.
    pub fn center(&mut self, range: std::ops::Range<usize>) {
        self.precisions[range.clone()].fill(1.0);
        self.priors[range].fill(0.0);
    }
}

/// What a density does with its effects: [`LogDensity::effects`](crate::LogDensity::effects).
pub trait DensityEffects: Send + Sync {
    /// Returns the blocks.
    fn blocks(&self) -> &[EffectBlock];

    /// Returns the log density at `x` in these coordinates, the Jacobian included, and writes its gradient.
    ///
    /// # Errors
    /// As [`LogDensity::logp_grad`](crate::LogDensity::logp_grad).
    fn logp_grad_in(&self, own: &EffectCoordinates, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError>;

    /// Converts `x` from these coordinates to the density's own, in place; returns the log-Jacobian of the map.
    fn make_natural(&self, own: &EffectCoordinates, x: &mut [f64]) -> f64;

    /// Converts `x` from the density's own coordinates to these, in place.
    fn take_natural(&self, own: &EffectCoordinates, x: &mut [f64]);

    /// Returns each effect `theta` and its scale at a point in the density's own coordinates, block after block.
    fn values(&self, natural: &[f64]) -> (Vec<f64>, Vec<f64>);

    /// Returns the point in the coordinates in which the model was written, given the one in the density's own coordinates.
    fn as_written(&self, natural: &[f64]) -> Vec<f64> {
        let (values, _) = self.values(natural);
        let mut written = natural.to_vec();
        let places = self.blocks().iter().flat_map(|block| block.coordinates.iter().map(move |&at| (block, at)));
        for ((block, at), value) in places.zip(values) {
            if block.written == Centering::Centered {
                written[at] = value;
            }
        }
        written
    }

    /// Returns the logarithm of the factor by which volumes grow from the density's own coordinates to those in which the
    /// model was written: the sum of the logarithms of the scales of centered effects.
    fn log_scales_as_written(&self, natural: &[f64]) -> f64 {
        let (_, scales) = self.values(natural);
        let blocks = self.blocks().iter().flat_map(|block| std::iter::repeat_n(block, block.coordinates.len()));
        let centered = blocks.zip(scales).filter(|(block, _)| block.written == Centering::Centered);
        centered.map(|(_, scale)| octopus_random::exact::ln(scale)).sum()
    }

    /// Returns the point in the density's own coordinates, given the one in the coordinates in which the model was written.
    fn natural_of(&self, written: &[f64]) -> Vec<f64> {
        let places = || self.blocks().iter().flat_map(|block| block.coordinates.iter().map(move |&at| (block, at)));
        let mut natural = written.to_vec();
        // The first pass is right for blocks whose locations and scales depend on no others, the next for those that
        // depend on these.
        for _ in self.blocks() {
            let (effects, scales) = self.values(&natural);
            for (((block, at), effect), scale) in places().zip(effects).zip(scales) {
                if block.written == Centering::Centered {
                    let location = effect - scale * natural[at];
                    natural[at] = (written[at] - location) / scale;
                }
            }
        }
        natural
    }

    /// Returns the log density without the effects' own terms, and writes its gradient. `position` has the effects themselves
    /// as their coordinates: they do not move with their locations and scales.
    ///
    /// # Errors
    /// As [`LogDensity::logp_grad`](crate::LogDensity::logp_grad).
    fn likelihood_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError>;
}
