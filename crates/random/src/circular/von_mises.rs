//! The von Mises distribution of an angle: density e^(kappa cos(angle - loc)) / (2 pi I0(kappa)).
//!
//! Mardia and Jupp, Directional Statistics (2000), section 3.5.4. Every cosine is written 1 - 2 sin^2 of the half, and
//! I0 without its factor e^kappa, so that kappa itself never stands in a difference.
//!
//! The distribution function is an integral of the density, by quadrature at every concentration. Hill's algorithm
//! (ACM Transactions on Mathematical Software 3, 1977) goes over to a normal approximation, with which SciPy 1.17 is
//! off by 7e-7 at a concentration of 100, and keeps no digits of small tails.

use super::angle::{Arc, Offset};
use super::quadrature::{FALL, integral};
use crate::bessel::{LN_TAU, i0_scaled, i1_over_i0, log_i0_scaled, one_minus_i1_over_i0};
use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the logarithm of the density at `angle`, per radian, for every angle and every `concentration` from 0.
///
/// The error is a few 1e-15 of the logarithm. Above a concentration of 6.5 the logarithm crosses zero at some angle,
/// and there the error is a few 1e-15 of the two terms that cancel, `concentration * (cos - 1)` and the logarithm at
/// `loc`. An infinite concentration gives infinity at `loc` and -infinity elsewhere.
pub fn von_mises_log_density(angle: f64, loc: f64, concentration: f64) -> f64 {
    let offset = Offset::new(angle, loc);
    if is_undefined(offset, loc, concentration) {
        f64::NAN
    } else if concentration == f64::INFINITY {
        if offset.high == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY }
    } else {
        log_kernel(offset.sine_of_half(), concentration) - LN_TAU - log_i0_scaled(concentration)
    }
}

/// Returns the probability of an angle from `loc - pi` to `angle`: 0 below that range, 1 above `loc + pi`.
///
/// Below `loc` the error is within 2e-13 of the probability itself, down to 1e-305, and a few 1e-15 for probabilities
/// above 1e-20; above `loc` it is 1e-15. Use [`von_mises_survival`] for small upper tails, and
/// [`von_mises_mass_from_loc`] for the difference from 1/2.
///
/// The condition number, by which a relative error of the distance d from `loc` grows, is about `concentration * d^2` in
/// the tails: where the result is 1e-300, a last bit of the angle moves it by 1.5e-13 of itself.
pub fn von_mises_cdf(angle: f64, loc: f64, concentration: f64) -> f64 {
    let offset = Offset::new(angle, loc);
    if is_undefined(offset, loc, concentration) {
        return f64::NAN;
    }
    offset.mass_below(concentration == f64::INFINITY, true, |arc| tail(arc, concentration))
}

/// Returns the probability of an angle from `angle` to `loc + pi`: 1 - [`von_mises_cdf`], with the
/// relative accuracy of a lower tail.
pub fn von_mises_survival(angle: f64, loc: f64, concentration: f64) -> f64 {
    // The mirror image at `loc`; the point mass is not above itself.
    let offset = Offset::new(-angle, -loc);
    if is_undefined(offset, loc, concentration) {
        return f64::NAN;
    }
    offset.mass_below(concentration == f64::INFINITY, false, |arc| tail(arc, concentration))
}

/// Returns [`von_mises_cdf`] - 1/2, which is 0 at `loc` and odd around it, with its relative accuracy there.
///
/// The point mass of an infinite concentration has -1/2 below `loc`, 0 at it and 1/2 above.
pub fn von_mises_mass_from_loc(angle: f64, loc: f64, concentration: f64) -> f64 {
    let offset = Offset::new(angle, loc);
    if is_undefined(offset, loc, concentration) {
        f64::NAN
    } else if concentration == f64::INFINITY {
        if offset.high == 0.0 { 0.0 } else { 0.5f64.copysign(offset.high) }
    } else {
        mass_within(offset.arc(), concentration).copysign(offset.high)
    }
}

/// Returns the differential entropy in nats: ln(2 pi) for the uniform distribution, falling to -infinity.
///
/// It is ln(2 pi I0) - kappa I1/I0, which crosses zero at a concentration of 17.6: there the error is 1e-15, elsewhere
/// it is that small beside the entropy.
pub fn von_mises_entropy(concentration: f64) -> f64 {
    if concentration == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    LN_TAU + log_i0_scaled(concentration) + concentration * one_minus_i1_over_i0(concentration)
}

/// Returns the length of the mean of unit vectors, I1/I0: from 0 for the uniform distribution to 1 for a point mass.
pub fn von_mises_mean_resultant_length(concentration: f64) -> f64 {
    i1_over_i0(concentration)
}

/// Returns 1 less the mean resultant length, with its own relative accuracy: 1/(2 kappa) at large concentrations.
pub fn von_mises_circular_variance(concentration: f64) -> f64 {
    one_minus_i1_over_i0(concentration)
}

/// Whether there is no such distribution or angle.
fn is_undefined(offset: Offset, loc: f64, concentration: f64) -> bool {
    offset.high.is_nan() || !loc.is_finite() || concentration.is_nan() || concentration < 0.0
}

/// The logarithm of the density beside that at `loc`: kappa (cos - 1) by the sine of half the angle.
fn log_kernel(sine_of_half: f64, concentration: f64) -> f64 {
    // In this order the square of a small sine does not vanish before a large concentration has multiplied it.
    -2.0 * (concentration * sine_of_half * sine_of_half)
}

/// The logarithm of the density at a distance from `loc` beside that at `loc`.
pub(super) fn log_fall(from_loc: f64, concentration: f64) -> f64 {
    log_kernel(libm::sin(0.5 * from_loc), concentration)
}

/// The inverse of the density at `loc`, in radians.
pub(super) fn width(concentration: f64) -> f64 {
    2.0 * PI * i0_scaled(concentration)
}

/// The density at a distance from `loc`, per radian.
pub(super) fn density(from_loc: f64, concentration: f64) -> f64 {
    libm::exp(log_fall(from_loc, concentration)) / width(concentration)
}

/// The probability beyond a distance from `loc` on one side: 1/2 at 0, and 0 at pi.
pub(super) fn tail(arc: Arc, concentration: f64) -> f64 {
    density(arc.from_loc, concentration) * tail_over_density(arc, concentration)
}

/// The probability beyond a distance from `loc` on one side, over the density there: a length in radians.
///
/// The density falls by e^(-2 kappa sin(s/2) sin(y + s/2)) from y to y + s.
pub(super) fn tail_over_density(arc: Arc, concentration: f64) -> f64 {
    let Arc { from_loc, from_antipode } = arc;
    let length = reach(from_loc, concentration).unwrap_or(from_antipode);
    integral(length, |step| {
        let half = 0.5 * step;
        let middle = if from_loc < FRAC_PI_2 { from_loc + half } else { from_antipode - half };
        libm::exp(-2.0 * (concentration * libm::sin(half) * libm::sin(middle)))
    })
}

/// The probability up to a distance from `loc` on one side: 0 at 0, and 1/2 at pi.
pub(super) fn mass_within(arc: Arc, concentration: f64) -> f64 {
    let length = reach(0.0, concentration).unwrap_or(PI).min(arc.from_loc);
    let mass = integral(length, |step| libm::exp(log_fall(step, concentration)));
    density(0.0, concentration) * mass
}

/// How far beyond a distance from `loc` the density's logarithm has fallen by [`FALL`], if it falls so far.
///
/// With a and b the sines of half the two distances, b^2 - a^2 is FALL/(2 kappa), and the sine of half the way between
/// is sin(B - A) = (b^2 - a^2)/(b cos A + a cos B), in which nothing cancels.
fn reach(from_loc: f64, concentration: f64) -> Option<f64> {
    let (near, near_cosine) = (libm::sin(0.5 * from_loc), libm::cos(0.5 * from_loc));
    // A concentration of -0 is one of 0.
    let rise = 0.5 * FALL / concentration.abs();
    let square = near * near + rise;
    (square < 1.0).then(|| 2.0 * libm::asin(rise / (square.sqrt() * near_cosine + near * (1.0 - square).sqrt())))
}
