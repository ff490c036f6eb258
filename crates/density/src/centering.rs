//! Partially centered coordinates for hierarchical blocks.
//!
//! A density is written with non-centered effects `z_j ~ N(0, 1)`, `theta_j = m + s z_j`. Samplers may walk in
//!
//! ```text
//! x_j = s^lambda_j z_j + lambda_j m,        z_j = s^-lambda_j (x_j - lambda_j m)
//! ```
//!
//! instead: lambda 0 is non-centered, lambda 1 centered (`x_j = theta_j`). The log-Jacobian of x -> z is
//! `- sum_j lambda_j log s`. Which lambda is best depends on how much the data say about each `theta_j`
//! (Papaspiliopoulos, Roberts and Skoeld 2007, Statistical Science 22).

use crate::{DensityError, Hierarchy, LogDensity};
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// The lambdas of one hierarchical block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Centering {
    lambda: Vec<f64>,
    /// Their sum: the power of the scale in the Jacobian.
    total: f64,
    /// The one value that all have, if so.
    uniform: Option<f64>,
}

impl Centering {
    /// The centering with these lambdas, each in [0, 1].
    pub fn new(lambda: Vec<f64>) -> Self {
        let total = lambda.iter().sum();
        let uniform = match lambda.split_first() {
            Some((&first, rest)) if rest.iter().all(|l| l.to_bits() == first.to_bits()) => Some(first),
            _ => None,
        };
        Self { lambda, total, uniform }
    }

    /// The same lambda for `len` effects.
    pub fn constant(lambda: f64, len: usize) -> Self {
        Self::new(vec![lambda; len])
    }

    /// One lambda for each effect.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// The sum of all lambdas.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The value that all lambdas share, if they do.
    pub fn uniform(&self) -> Option<f64> {
        self.uniform
    }
}

/// `s^(sign lambda_j)` for each effect; where all lambdas are equal it is computed once.
fn powers(centering: &Centering, sign: f64, log_scale: f64) -> impl Iterator<Item = f64> {
    let power = move |lambda: f64| exact::exp(sign * lambda * log_scale);
    let shared = centering.uniform().map(power);
    centering.lambda().iter().map(move |&lambda| shared.unwrap_or_else(|| power(lambda)))
}

/// Non-centered to centered coordinates, in place.
pub fn to_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        let effects = position[block.z.clone()].iter_mut().zip(centering.lambda());
        for ((x, &lambda), power) in effects.zip(powers(centering, 1.0, log_scale)) {
            *x = power * *x + lambda * location;
        }
    }
}

/// Centered to non-centered coordinates, in place.
pub fn to_non_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        let effects = position[block.z.clone()].iter_mut().zip(centering.lambda());
        for ((x, &lambda), power) in effects.zip(powers(centering, -1.0, log_scale)) {
            *x = power * (*x - lambda * location);
        }
    }
}

/// The log-Jacobian of centered -> non-centered coordinates at a position (in either).
pub fn log_jacobian(hierarchies: &[Hierarchy], centerings: &[Centering], position: &[f64]) -> f64 {
    hierarchies.iter().zip(centerings).map(|(block, c)| -c.total() * position[block.log_scale]).sum()
}

/// The gradient in centered coordinates, in place, given the non-centered `position` and the `gradient` there.
pub fn gradient_to_centered(
    hierarchies: &[Hierarchy],
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let log_scale = position[block.log_scale];
        let (mut location_part, mut scale_part) = (0.0, 0.0);
        let effects = block.z.clone().zip(centering.lambda());
        for ((i, &lambda), slope) in effects.zip(powers(centering, -1.0, log_scale)) {
            // dz/dx = s^-lambda, dz/dm = -lambda s^-lambda, dz/d(log s) = -lambda z.
            location_part += lambda * slope * gradient[i];
            scale_part += lambda * position[i] * gradient[i];
            gradient[i] *= slope;
        }
        gradient[block.location] -= location_part;
        gradient[block.log_scale] -= scale_part + centering.total();
    }
}

/// [`LogDensity::logp_grad_centered`] for any density, by the chain rule around [`LogDensity::logp_grad`].
pub(crate) fn logp_grad_by_chain_rule<D: LogDensity + ?Sized>(
    density: &D,
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) -> Result<f64, DensityError> {
    let blocks = density.hierarchies();
    let mut natural = position.to_vec();
    to_non_centered(blocks, centerings, &mut natural);
    let logp = density.logp_grad(&natural, gradient)?;
    gradient_to_centered(blocks, centerings, &natural, gradient);
    Ok(logp + log_jacobian(blocks, centerings, &natural))
}
