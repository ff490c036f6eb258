//! Modified Bessel functions of the first kind I0, I1 and I_nu: logarithms, scaled values and ratios, without overflow.
//!
//! They normalise distributions on circles and spheres ([`circular`](crate::circular)).
//!
//! | you want | use |
//! |--|--|
//! | e^-x I0(x), e^-x I1(x) | [`i0_scaled`], [`i1_scaled`] |
//! | ln I0(x), ln(e^-x I0(x)), ln I1(x) | [`log_i0`], [`log_i0_scaled`], [`log_i1`] |
//! | I1(x)/I0(x), a mean resultant length | [`i1_over_i0`] |
//! | 1 - I1(x)/I0(x), a circular variance | [`one_minus_i1_over_i0`] |
//! | ln I_nu(x), ln(e^-x I_nu(x)) for any order | [`log_i`], [`log_i_scaled`] |
//! | ln(e^-x I_nu(x)/x^nu), finite at 0 | [`log_i_without_power`] |
//! | I_nu(x)/I_nu-1(x) for any order | [`i_ratio`] |
//!
//! Arguments run from 0 to infinity, the limits included. A negative or NaN argument gives NaN, and so does an order out
//! of range. Errors are a few 1e-15 of the value. Where a logarithm crosses zero they are a few 1e-15 of the terms that
//! cancel there, x and for other orders than 0 and 1 `order * ln(x)` and ln Gamma(order + 1).
//!
//! Elementary functions come from the crate `libm`, which is Rust on every platform: none of the bits here depends on
//! the C library. A GPU has other bits.
//!
//! "A & S" is Abramowitz and Stegun, Handbook of Mathematical Functions; "DLMF" is the NIST Digital Library of
//! Mathematical Functions.

mod any_order;
mod uniform;

pub use any_order::{i_ratio, log_i, log_i_scaled, log_i_without_power};

use std::f64::consts::{LN_2, PI};

/// Up to here sums of powers are used, above it Hankel's expansion, whose smallest term is about e^-2x.
const POWERS_END: f64 = 30.0;
/// ln(2 pi)
pub(crate) const LN_TAU: f64 = 1.837_877_066_409_345_3;

/// Returns e^-x I0(x), which falls from 1 at 0 to 0 at infinity.
///
/// The power series (A & S 9.6.12) for x up to 30, Hankel's expansion (A & S 9.7.1) above.
pub fn i0_scaled(x: f64) -> f64 {
    if x <= POWERS_END { libm::exp(-x) * (1.0 + powers(0.0, x)) } else { hankel_factor(x) * hankel(0.0, x) }
}

/// Returns e^-x I1(x), which rises from 0 at 0 to 0.22 at 1.5 and falls to 0 at infinity.
///
/// The power series (A & S 9.6.10) for x up to 30, Hankel's expansion (A & S 9.7.1) above.
pub fn i1_scaled(x: f64) -> f64 {
    if x <= POWERS_END { 0.5 * x * libm::exp(-x) * (1.0 + powers(1.0, x)) } else { hankel_factor(x) * hankel(1.0, x) }
}

/// Returns ln I0(x): x^2/4 close to 0 with its relative accuracy, and x - ln(2 pi x)/2 at large x.
pub fn log_i0(x: f64) -> f64 {
    if x == f64::INFINITY {
        x
    } else if x <= POWERS_END {
        libm::log1p(powers(0.0, x))
    } else {
        x + log_hankel(0.0, x)
    }
}

/// Returns ln(e^-x I0(x)), which is ln I0(x) - x without the difference of two large numbers.
pub fn log_i0_scaled(x: f64) -> f64 {
    if x <= POWERS_END { libm::log1p(powers(0.0, x)) - x } else { log_hankel(0.0, x) }
}

/// Returns ln I1(x), which is -infinity at 0 and crosses zero at 1.5.
pub fn log_i1(x: f64) -> f64 {
    if x == f64::INFINITY {
        x
    } else if x <= POWERS_END {
        (libm::log(x) - LN_2) + libm::log1p(powers(1.0, x))
    } else {
        x + log_hankel(1.0, x)
    }
}

/// Returns I1(x)/I0(x), from 0 at 0 over x/2 to 1 at infinity: the A1 of directional statistics.
pub fn i1_over_i0(x: f64) -> f64 {
    if x <= POWERS_END {
        0.5 * x * (1.0 + powers(1.0, x)) / (1.0 + powers(0.0, x))
    } else {
        hankel(1.0, x) / hankel(0.0, x)
    }
}

/// Returns 1 - I1(x)/I0(x), from 1 at 0 to 1/(2x) at large x, with its relative accuracy everywhere.
///
/// For x up to 30 both I0(x) - I1(x) and I0(x) are sums of positive terms: the integral representation A & S 9.6.19
/// with e^(x cos t) = e^-x e^(2x cos^2(t/2)), the second factor expanded. Above 30 the first terms of Hankel's
/// expansions cancel and all others have the same sign.
pub fn one_minus_i1_over_i0(x: f64) -> f64 {
    if x <= POWERS_END { difference_of_powers(x) } else { difference_of_hankels(x) }
}

/// The power series of I_order(x) over its first term, without that 1.
///
/// It is the sum over k > 0 of (x/2)^2k / (k! (order + 1)_k).
fn powers(order: f64, x: f64) -> f64 {
    if !(0.0..=POWERS_END).contains(&x) {
        return f64::NAN;
    }
    let square = 0.25 * x * x;
    let (mut term, mut sum, mut k) = (1.0, 0.0, 1.0);
    while term > 1e-17 * sum {
        term *= square / (k * (order + k));
        sum += term;
        k += 1.0;
    }
    sum
}

/// (I0(x) - I1(x)) / I0(x) by positive terms, for x up to 30.
///
/// With c_k the mean of cos^2k over a turn, e^x I0(x) is the sum of (2x)^k c_k / k!, and e^x (I0(x) - I1(x)) that of
/// the same terms over k + 1.
fn difference_of_powers(x: f64) -> f64 {
    if !(0.0..=POWERS_END).contains(&x) {
        return f64::NAN;
    }
    let (mut term, mut whole, mut difference, mut k) = (1.0, 1.0, 1.0, 1.0);
    while term > 1e-17 * difference {
        term *= x * (2.0 * k - 1.0) / (k * k);
        whole += term;
        difference += term / (k + 1.0);
        k += 1.0;
    }
    difference / whole
}

/// The factor before Hankel's expansion: 1/sqrt(2 pi x).
fn hankel_factor(x: f64) -> f64 {
    1.0 / ((2.0 * PI).sqrt() * x.sqrt())
}

/// ln(e^-x I_order(x)) by Hankel's expansion, for x above 30 and orders 0 and 1.
fn log_hankel(order: f64, x: f64) -> f64 {
    libm::log(hankel(order, x)) - 0.5 * (LN_TAU + libm::log(x))
}

/// The sum of Hankel's expansion of e^-x I_order(x) sqrt(2 pi x), for x above 30 and orders 0 and 1.
fn hankel(order: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 1.0, 0.0);
    while f64::abs(term) > 1e-17 {
        term = next_of_hankel(order, x, k, term);
        sum += term;
        k += 1.0;
    }
    // No order has been added for NaN, whose comparisons are all false.
    if x.is_nan() { f64::NAN } else { sum }
}

/// The quotient of the two expansions of I0 - I1 and I0, for x above 30.
fn difference_of_hankels(x: f64) -> f64 {
    let (mut zero, mut one, mut difference, mut k) = (1.0, 1.0, 0.0, 0.0);
    while zero > 1e-17 * difference {
        zero = next_of_hankel(0.0, x, k, zero);
        one = next_of_hankel(1.0, x, k, one);
        difference += zero - one;
        k += 1.0;
    }
    difference / hankel(0.0, x)
}

/// Term k + 1 of Hankel's expansion, given term k.
fn next_of_hankel(order: f64, x: f64, k: f64, term: f64) -> f64 {
    let odd = 2.0 * k + 1.0;
    term * ((odd - 2.0 * order) * (odd + 2.0 * order) / (8.0 * (k + 1.0)) / x)
}
