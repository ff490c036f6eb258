//! The von Mises-Fisher distribution of directions in d dimensions: C_d(kappa) e^(kappa cos) on the unit sphere.
//!
//! Mardia and Jupp, Directional Statistics (2000), section 9.3.2: C_d(kappa) is
//! kappa^(d/2 - 1) / ((2 pi)^(d/2) I_(d/2 - 1)(kappa)). In two dimensions it is the von Mises distribution.

use crate::bessel::{LN_TAU, i_ratio, log_i_without_power};

/// Returns ln C_d(kappa), the logarithm of what e^(kappa cos) is multiplied by, per unit of the sphere's surface.
///
/// At a concentration of 0 it is minus the logarithm of the sphere's surface; at large ones it is about -kappa, and
/// [`von_mises_fisher_log_normalizer_scaled`] is what to add to kappa (cos - 1).
/// NaN in fewer than two dimensions and for a negative concentration, -infinity for an infinite one.
pub fn von_mises_fisher_log_normalizer(dimension: u32, concentration: f64) -> f64 {
    if concentration == f64::INFINITY {
        return if dimension >= 2 { f64::NEG_INFINITY } else { f64::NAN };
    }
    von_mises_fisher_log_normalizer_scaled(dimension, concentration) - concentration
}

/// Returns ln C_d(kappa) + kappa, the log density at the mean direction; infinity for an infinite concentration.
///
/// For unit vectors x and mu the log density is this less kappa |x - mu|^2 / 2, without a difference of large numbers.
/// The error is about 1e-15 of the largest of d ln(kappa), d ln(d) and the result.
pub fn von_mises_fisher_log_normalizer_scaled(dimension: u32, concentration: f64) -> f64 {
    // In fewer than two dimensions the order is negative, and of no negative order is there a value.
    let half = 0.5 * f64::from(dimension);
    -half * LN_TAU - log_i_without_power(half - 1.0, concentration)
}

/// Returns the length of the mean of unit vectors, I_(d/2)/I_(d/2 - 1): 0 for the uniform distribution, 1 for a point.
///
/// NaN in fewer than two dimensions and for a negative concentration.
pub fn von_mises_fisher_mean_resultant_length(dimension: u32, concentration: f64) -> f64 {
    if dimension < 2 { f64::NAN } else { i_ratio(0.5 * f64::from(dimension), concentration) }
}
