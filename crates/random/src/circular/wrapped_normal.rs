//! The wrapped normal distribution: the angle of a normal random number, taken modulo 2 pi.
//!
//! Mardia and Jupp, Directional Statistics (2000), section 3.5.7. Up to a scale of [`WIDE`] the density is a sum over
//! turns, above it a Fourier series; each has a handful of terms there.

use super::angle::{Arc, Offset};
use super::quadrature::{FALL, integral};
use crate::bessel::LN_TAU;
use std::f64::consts::PI;

/// From this scale, in radians, the Fourier series is used: its first coefficient is 0.04.
const WIDE: f64 = 2.5;

/// Returns the logarithm of the density at `angle`, per radian, for every angle; `scale` is the standard deviation
/// before wrapping, in radians.
///
/// The error is a few 1e-15 of the logarithm; where that crosses zero, of the terms that cancel.
/// A scale of 0 gives infinity at `loc` and -infinity elsewhere.
pub fn wrapped_normal_log_density(angle: f64, loc: f64, scale: f64) -> f64 {
    let offset = Offset::new(angle, loc);
    if is_undefined(offset, loc, scale) {
        f64::NAN
    } else if scale == 0.0 {
        if offset.high == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY }
    } else if scale < WIDE {
        let arc = offset.arc_modulo_turns();
        let nearest = log_normal(arc.from_loc, scale);
        // Where the square overflows, products of other turns may be infinity times 0.
        if nearest == f64::NEG_INFINITY { nearest } else { nearest + libm::log(other_turns(arc, scale)) }
    } else {
        libm::log1p(waves(offset.arc_modulo_turns().from_antipode, scale, |n, angle| libm::cos(n * angle))) - LN_TAU
    }
}

/// Returns the probability of an angle from `loc - pi` to `angle`: 0 below that range, 1 above `loc + pi`.
///
/// Below `loc` the error is within 2e-13 of the probability itself, down to 1e-305.
pub fn wrapped_normal_cdf(angle: f64, loc: f64, scale: f64) -> f64 {
    let offset = Offset::new(angle, loc);
    if is_undefined(offset, loc, scale) {
        return f64::NAN;
    }
    offset.mass_below(scale == 0.0, true, |arc| tail(arc, scale))
}

/// Returns the probability of an angle from `angle` to `loc + pi`: 1 - [`wrapped_normal_cdf`] with its own relative
/// accuracy.
pub fn wrapped_normal_survival(angle: f64, loc: f64, scale: f64) -> f64 {
    // The mirror image at `loc`; the point mass is not above itself.
    let offset = Offset::new(-angle, -loc);
    if is_undefined(offset, loc, scale) {
        return f64::NAN;
    }
    offset.mass_below(scale == 0.0, false, |arc| tail(arc, scale))
}

/// Whether there is no such distribution or angle.
fn is_undefined(offset: Offset, loc: f64, scale: f64) -> bool {
    offset.high.is_nan() || !loc.is_finite() || scale.is_nan() || scale < 0.0
}

/// The log density of the normal distribution before wrapping.
fn log_normal(distance: f64, scale: f64) -> f64 {
    let standard = distance / scale;
    -0.5 * standard * standard - libm::log(scale) - 0.5 * LN_TAU
}

/// The density over that of the normal distribution at the nearest turn: 1 and what other turns add.
fn other_turns(arc: Arc, scale: f64) -> f64 {
    let (mut sum, mut last, mut k) = (1.0, 1.0, 1.0);
    while last > 1e-18 && k < 32.0 {
        // (2 pi k -+ y)^2 - y^2 is 4 pi k (pi k -+ y), and pi k - y is pi (k - 1) and the distance from the antipode.
        let turn = 2.0 * PI * k / scale;
        last = libm::exp(-turn * ((PI * (k - 1.0) + arc.from_antipode) / scale));
        sum += last + libm::exp(-turn * ((PI * k + arc.from_loc) / scale));
        k += 1.0;
    }
    sum
}

/// The Fourier series around the antipode: twice the sum of (-1)^n rho^(n^2) `wave`(n, angle).
///
/// rho = e^(-scale^2/2) is the mean resultant length.
fn waves(from_antipode: f64, scale: f64, wave: impl Fn(f64, f64) -> f64) -> f64 {
    [6.0, 5.0, 4.0, 3.0, 2.0, 1.0].iter().fold(0.0, |sum, &n| {
        let amplitude = 2.0 * libm::exp(-0.5 * (n * scale) * (n * scale));
        let sign = if n % 2.0 == 0.0 { 1.0 } else { -1.0 };
        sum + sign * amplitude * wave(n, from_antipode)
    })
}

/// The probability beyond a distance from `loc` on one side: 1/2 at 0, and 0 at pi.
fn tail(arc: Arc, scale: f64) -> f64 {
    let Arc { from_loc, from_antipode } = arc;
    if scale >= WIDE {
        let excess = waves(from_antipode, scale, |n, angle| libm::sin(n * angle) / n);
        return (from_antipode + excess) / (2.0 * PI);
    }
    let standard = from_loc / scale;
    let fallen = libm::exp(-0.5 * standard * standard);
    if fallen == 0.0 {
        return 0.0;
    }
    // The step after which the normal density's logarithm is lower by FALL, without squares that vanish.
    let step = scale * (2.0 * FALL / (standard + (standard * standard + 2.0 * FALL).sqrt()));
    let mass = integral(step.min(from_antipode), |step| {
        let there = Arc { from_loc: from_loc + step, from_antipode: (from_antipode - step).max(0.0) };
        libm::exp(-(step / scale) * ((from_loc + 0.5 * step) / scale)) * other_turns(there, scale)
    });
    fallen / (2.0 * PI).sqrt() * (mass / scale)
}
