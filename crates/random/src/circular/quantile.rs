//! Quantiles of the von Mises distribution: the distribution function solved for the angle.

use super::angle::Arc;
use super::von_mises::{density, log_fall, mass_within, tail, tail_over_density, width};
use crate::exact::normal_quantile;
use std::f64::consts::PI;

/// The part of the distribution beyond which the tail is solved for, and within which the mass from `loc`.
const TAIL: f64 = 0.25;

/// More steps than the slowest search takes: halving alone has all bits after 60 in an interval that holds no 0.
const STEPS: usize = 200;

/// Returns the angle within pi of `loc` below which the probability is `p`: `loc - pi` at 0 and `loc + pi` at 1.
///
/// The distance from `loc` is within 1e-14 of itself for the `p` that was given, at every `p` from the smallest number
/// to the last below 1. What `p` itself has lost is lost: near 1/2 its last bit moves the distance by 1e-16/|p - 1/2|
/// of itself, and near 1 few digits are left of 1 - p. For small upper tails take the quantile of 1 - p and mirror it
/// at `loc`. Added to a `loc` that is not 0, the distance is rounded to the bits of the sum. An answer nearer to the
/// antipode than [`PI`] is to pi is given as `loc - PI` or `loc + PI`.
///
/// Halley's method within a bracket, from a normal or uniform start, on the logarithm of a tail below 1/4 and else on
/// the mass between `loc` and the angle, so that neither is a small difference.
/// NaN for `p` outside of 0 to 1, for a negative concentration, and for a `loc` that is infinite. The quantiles of an
/// infinite concentration are `loc`.
pub fn von_mises_quantile(p: f64, loc: f64, concentration: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || !loc.is_finite() || concentration.is_nan() || concentration < 0.0 {
        f64::NAN
    } else if concentration == f64::INFINITY {
        loc
    } else if p < 0.5 {
        loc - distance(p, 0.5 - p, concentration)
    } else {
        loc + distance(1.0 - p, p - 0.5, concentration)
    }
}

/// How far from `loc` the mass beyond is `beyond` and that from `loc` is `within`, which add up to 1/2.
fn distance(beyond: f64, within: f64, concentration: f64) -> f64 {
    if concentration == 0.0 {
        2.0 * PI * within
    } else if within == 0.0 {
        0.0
    } else if beyond <= tail(Arc::at(PI), concentration) {
        PI
    } else if beyond < TAIL {
        let target = libm::log(beyond);
        solve(start(beyond, within, concentration), |y| by_tail(y, target, concentration))
    } else {
        solve(start(beyond, within, concentration), |y| by_mass(y, within, concentration))
    }
}

/// A first distance: 2 sqrt(kappa) sin(y/2) is nearly normal at large concentrations, and y nearly uniform at small.
fn start(beyond: f64, within: f64, concentration: f64) -> f64 {
    let sine = -normal_quantile(beyond.max(f64::MIN_POSITIVE)) / (2.0 * concentration.sqrt());
    if sine < 0.9 { 2.0 * libm::asin(sine) } else { 2.0 * PI * within }
}

/// A function near its root.
struct Slope {
    /// Newton's step to the root.
    newton: f64,
    /// The second derivative over the first.
    bend: f64,
    /// A distance over which the function bends little.
    scale: f64,
}

/// The logarithm of the tail beyond `y` over its target.
///
/// Its derivative is -1/J with J the tail over the density, and that of ln(1/J) is 1/J - kappa sin(y).
fn by_tail(y: f64, target: f64, concentration: f64) -> Slope {
    let length = tail_over_density(Arc::at(y), concentration);
    // The length and the width are alike, and their quotient has no large logarithm.
    let excess = (log_fall(y, concentration) - target) + libm::log(length / width(concentration));
    Slope { newton: excess * length, bend: 1.0 / length - concentration * libm::sin(y), scale: length.min(y) }
}

/// The mass from `loc` to `y` less its target, whose derivative is the density.
fn by_mass(y: f64, target: f64, concentration: f64) -> Slope {
    let lack = target - mass_within(Arc::at(y), concentration);
    Slope { newton: lack / density(y, concentration), bend: -concentration * libm::sin(y), scale: y }
}

/// The root between 0 and pi, where Newton's steps from below it go up and from above it down.
fn solve(start: f64, slope: impl Fn(f64) -> Slope) -> f64 {
    let (mut low, mut high, mut y) = (0.0, PI, start);
    for _ in 0..STEPS {
        let Slope { newton, bend, scale } = slope(y);
        if newton > 0.0 {
            low = y;
        } else {
            high = y;
        }
        // Halley's denominator, kept from making a step more than twice Newton's.
        let next = y + newton / (1.0 + 0.5 * newton * bend).max(0.5);
        // The error of a step is of the order of its cube. Close to pi the steps end at the last bit of y.
        if (next - y).abs() <= (1e-6 * scale).max(f64::EPSILON * y) {
            return next.min(PI);
        }
        y = if low < next && next < high { next } else { 0.5 * (low + high) };
    }
    y
}
