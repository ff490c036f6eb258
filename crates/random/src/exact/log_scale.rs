//! Sums, differences and complements of numbers given by their logarithms.
//!
//! Errors are in units in the last place.

use super::double::Double;
use super::exponential::{exp_m1, power_of_e};
use super::logarithm::{ln_1p, ln_of_sum};
use std::f64::consts::LN_2;

/// e^x within 0.6 units, also below the normal range, where [`exp`](super::exp) is 0 already.
#[inline(always)]
fn exp(x: f64) -> f64 {
    power_of_e(Double::new(x, 0.0)).rounded()
}

/// Computes ln(1 + e^x), the softplus function, within 1.6 units.
#[inline(always)]
pub fn log1p_exp(x: f64) -> f64 {
    let above = if x > 0.0 { x } else { 0.0 };
    let value = above + ln_1p(exp(-x.abs()));
    if x.is_nan() { x } else { value }
}

/// Computes ln(1 - e^x) for x below 0, within 1.7 units; -infinity at 0, NaN above.
#[inline(always)]
pub fn log1m_exp(x: f64) -> f64 {
    let small = exp(x);
    let near = -exp_m1(x);
    // Beside a small power the 1 has the digits; near 0 the difference has.
    let far = x < -LN_2;
    let log = ln_of_sum(Double::select(far, Double::ordered_sum(1.0, -small), Double::new(near, 0.0)));
    let log = if x < -40.0 { -small } else { log };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { log };
    if x <= 0.0 { value } else { f64::NAN }
}

/// Computes ln(e^a + e^b), within 1 unit of the larger of its absolute value and |max(a, b)|.
#[inline(always)]
pub fn log_sum_exp(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let value = large + ln_1p(exp(small - large));
    let value = if large.abs() == f64::INFINITY { large } else { value };
    if a.is_nan() || b.is_nan() { f64::NAN } else { value }
}

/// Computes ln(e^a - e^b) for a above b, within 2 units of the larger of its absolute value and |a|.
///
/// -infinity where both are equal, NaN where a is below b or both are infinity.
#[inline(always)]
pub fn log_diff_exp(a: f64, b: f64) -> f64 {
    let value = a + log1m_exp(b - a);
    let value = if a == b { f64::NEG_INFINITY } else { value };
    let value = if b == f64::NEG_INFINITY { a } else { value };
    if a < b || b == f64::INFINITY { f64::NAN } else { value }
}

/// Computes the logistic function 1 / (1 + e^-x), the inverse of [`logit`](super::logit): [`sigmoid`](super::sigmoid).
#[inline(always)]
pub fn inv_logit(x: f64) -> f64 {
    super::sigmoid(x)
}

/// Computes 1 - exp(-e^x), the inverse of the complementary log-log function, within 1.4 units.
#[inline(always)]
pub fn inv_cloglog(x: f64) -> f64 {
    -exp_m1(-exp(x))
}
