//! Powers and cube roots: [`pow`] and [`cbrt`].

use super::double::{Double, SIGN, TWO_TO_54, nearest_integer, polynomial, power_of_two, with_sign_of};
use super::exponential::power_of_e;
use super::ln_parts;
use super::logarithm::logarithm;

/// 2^52: from here on every number is an integer.
const INTEGERS: f64 = 4_503_599_627_370_496.0;

/// Computes x^y, within 1.3 units, also below the normal range.
///
/// Special cases are as C's `pow` has them (IEEE 754): x^0 and 1^y are 1 whatever the other is, NaN included; a negative x
/// has a power only for integers y, negative where y is odd; powers of 0 and infinity are 0, infinity or 1.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let size = x.abs();
    let natural = logarithm(Double::new(size, 0.0)).natural();
    let exponent = Double::product(natural.high, y);
    let value = power_of_e(Double::new(exponent.high, exponent.low + natural.low * y)).rounded();
    // The logarithm of 0 and infinity is not asked for.
    let end = if (size > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 };
    let value = if size == 0.0 || size == f64::INFINITY { end } else { value };
    let value = if size == 1.0 { 1.0 } else { value };
    let negative = x.to_bits() & SIGN != 0;
    let integer = is_integer(y);
    let odd = integer && !is_integer(0.5 * y);
    let value = if negative && odd { -value } else { value };
    let undefined = x < 0.0 && size < f64::INFINITY && !integer;
    let value = if undefined || x.is_nan() || y.is_nan() { f64::NAN } else { value };
    if x == 1.0 || y == 0.0 { 1.0 } else { value }
}

/// Whether a number is an integer; infinity is one.
#[inline(always)]
fn is_integer(x: f64) -> bool {
    let size = x.abs();
    // Adding 2^52 rounds to an integer.
    size >= INTEGERS || (size + INTEGERS) - INTEGERS == size
}

/// The cube root of [0.35, 2.83], to 1 part in 80.
const CUBE_ROOT: [f64; 4] =
    [0.506_153_960_924_942_2, 0.658_896_009_336_514_4, -0.193_152_845_095_218_43, 0.026_152_974_249_019_75];

/// Computes the cube root, within 0.7 units; of negative numbers too.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let size = x.abs();
    let tiny = size < f64::MIN_POSITIVE;
    let (e, beyond, _) = ln_parts(if tiny { size * TWO_TO_54 } else { size });
    let e = if tiny { e - 54.0 } else { e };
    // x = m 2^(3 third) with m of [0.35, 2.83].
    let (third, _) = nearest_integer(e * (1.0 / 3.0));
    let m = (1.0 + beyond) * power_of_two(e - 3.0 * third);
    let guess = polynomial(m, &CUBE_ROOT);
    // Halley's rule makes 6 bits 19.
    let cube = guess * guess * guess;
    let near = guess * ((cube + 2.0 * m) / (2.0 * cube + m));
    // With 23 bits its square is exact, and the second step is rounded in its small correction only.
    let near = f64::from_bits(near.to_bits().wrapping_add(1 << 29) & !((1 << 30) - 1));
    let ratio = m / (near * near);
    let root = near + near * ((ratio - near) / (2.0 * near + ratio));
    let value = with_sign_of(root * power_of_two(third), x);
    // Zeros, infinities and NaN are their own.
    if size > 0.0 && size < f64::INFINITY { value } else { x }
}
