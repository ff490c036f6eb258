//! I_nu(x) of any order from 0: logarithms, and ratios of neighbours.

use super::uniform::{Expansion, LEAST_ORDER};
use super::{POWERS_END, log_i0, log_i0_scaled, powers};
use std::f64::consts::LN_2;

/// Returns ln I_order(x) for orders from 0, which is -infinity at x = 0 but for order 0.
///
/// The power series (A & S 9.6.10) for orders below 32 and x up to 30, the uniform expansion (DLMF 10.41.3) for orders
/// from 32, and else the latter at a higher order with the ratios of all orders between.
/// The logarithm's error is about 1e-15 of its largest term, `order * ln(x)`, `ln Gamma(order + 1)` or x.
pub fn log_i(order: f64, x: f64) -> f64 {
    if order == 0.0 {
        log_i0(x)
    } else if !in_range(order, x) {
        f64::NAN
    } else if x == f64::INFINITY {
        x
    } else if by_powers(order, x) {
        order * (libm::log(x) - LN_2) - libm::lgamma(order + 1.0) + libm::log1p(powers(order, x))
    } else {
        x + log_i_scaled(order, x)
    }
}

/// Returns ln(e^-x I_order(x)) for orders from 0, without the difference of large numbers at large x.
pub fn log_i_scaled(order: f64, x: f64) -> f64 {
    if order == 0.0 {
        log_i0_scaled(x)
    } else if !in_range(order, x) {
        f64::NAN
    } else if x == 0.0 || x == f64::INFINITY {
        f64::NEG_INFINITY
    } else if by_powers(order, x) {
        log_i(order, x) - x
    } else {
        let above = Expansion::new(order + rise(order), x).log_scaled();
        above - libm::log(ratios_down_to(order, x).product_above)
    }
}

/// Returns ln(e^-x I_order(x) / x^order) for orders from 0; at x = 0 it is -ln(2^order Gamma(order + 1)).
///
/// This is what normalises a von Mises-Fisher density: the powers of x have cancelled before they are computed.
pub fn log_i_without_power(order: f64, x: f64) -> f64 {
    if !in_range(order, x) {
        f64::NAN
    } else if x == f64::INFINITY {
        f64::NEG_INFINITY
    } else if by_powers(order, x) {
        libm::log1p(powers(order, x)) - x - order * LN_2 - libm::lgamma(order + 1.0)
    } else if order < LEAST_ORDER {
        log_i_scaled(order, x) - order * libm::log(x)
    } else {
        Expansion::new(order, x).log_without_power()
    }
}

/// Returns I_order(x) / I_order-1(x) for orders above 0: from 0 at x = 0 over x/(2 order) to 1 at infinity.
///
/// With order = d/2 it is the mean resultant length of a von Mises-Fisher distribution in d dimensions. It begins with
/// the uniform expansion at an order from 32 and goes down by r_n = 1/(2n/x + r_n+1) (A & S 9.6.26), which lessens
/// errors at each step.
pub fn i_ratio(order: f64, x: f64) -> f64 {
    if in_range(order, x) && order > 0.0 { ratios_down_to(order, x).lowest } else { f64::NAN }
}

/// Whether there is a value: NaN is in no range.
fn in_range(order: f64, x: f64) -> bool {
    (0.0..f64::INFINITY).contains(&order) && x >= 0.0
}

/// Whether the power series is used.
fn by_powers(order: f64, x: f64) -> bool {
    order < LEAST_ORDER && x <= POWERS_END
}

/// By how much the order must rise for the uniform expansion, a whole number.
fn rise(order: f64) -> f64 {
    (LEAST_ORDER - order).ceil().max(0.0)
}

/// The ratios I_n/I_n-1 from a high order down.
struct Ratios {
    /// The ratio at the lowest order.
    lowest: f64,
    /// The product of all ratios above the lowest order.
    product_above: f64,
}

/// The ratios from an order with a uniform expansion down to `order`.
fn ratios_down_to(order: f64, x: f64) -> Ratios {
    let mut steps = rise(order);
    let mut ratio = Expansion::new(order + steps, x).ratio();
    let mut product = 1.0;
    while steps > 0.0 {
        product *= ratio;
        steps -= 1.0;
        ratio = if x == f64::INFINITY { 1.0 } else { x / (2.0 * (order + steps) + x * ratio) };
    }
    Ratios { lowest: ratio, product_above: product }
}
