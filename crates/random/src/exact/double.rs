//! Sums and products with their rounding errors, and polynomials: the parts of which the other modules are made.
//!
//! A [`Double`] is a sum of two f64, the second below half a unit in the last place of the first: 106 bits in all.

use std::ops::{Add, Mul, Neg};

/// An unevaluated sum `high + low`, where `high` is the sum rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Double {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Double {
    pub(super) const ZERO: Self = Self::new(0.0, 0.0);

    #[inline(always)]
    pub(super) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// Returns `a + b` exactly, where `a` is 0 or not below `b` in size.
    #[inline(always)]
    pub(super) fn ordered_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// Returns `a + b` exactly.
    #[inline(always)]
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let of_b = high - a;
        Self { high, low: (a - (high - of_b)) + (b - of_b) }
    }

    /// Returns `a * b`, exactly where no part of it is below the normal range.
    ///
    /// Dekker's product: each factor is split into two of 26 bits, whose products are exact. There is no fused
    /// multiply-add in it, which older processors lack.
    #[inline(always)]
    pub(super) fn product(a: f64, b: f64) -> Self {
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let high = a * b;
        Self { high, low: (((a1 * b1 - high) + a1 * b2) + a2 * b1) + a2 * b2 }
    }

    /// Returns `1 / x` to 100 bits or more.
    #[inline(always)]
    pub(super) fn reciprocal(x: f64) -> Self {
        let high = 1.0 / x;
        let back = Self::product(high, x);
        Self { high, low: ((1.0 - back.high) - back.low) * high }
    }

    /// Returns `self / divisor`, to about 100 bits.
    #[inline(always)]
    pub(super) fn over(self, divisor: Self) -> Self {
        let inverse = 1.0 / divisor.high;
        let quotient = self.high * inverse;
        let back = Self::product(quotient, divisor.high);
        let rest = ((self.high - back.high) - back.low) + (self.low - quotient * divisor.low);
        Self::ordered_sum(quotient, rest * inverse)
    }

    /// Chooses between two numbers without a branch.
    #[inline(always)]
    pub(super) fn select(condition: bool, yes: Self, no: Self) -> Self {
        Self { high: if condition { yes.high } else { no.high }, low: if condition { yes.low } else { no.low } }
    }

    /// Returns the nearest f64.
    #[inline(always)]
    pub(super) fn rounded(self) -> f64 {
        self.high + self.low
    }
}

impl Add for Double {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::ordered_sum(sum.high, sum.low + (self.low + other.low))
    }
}

impl Add<f64> for Double {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: f64) -> Self {
        let sum = Self::sum(self.high, other);
        Self::ordered_sum(sum.high, sum.low + self.low)
    }
}

impl Neg for Double {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Mul for Double {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::ordered_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Mul<f64> for Double {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: f64) -> Self {
        let product = Self::product(self.high, other);
        Self::ordered_sum(product.high, product.low + self.low * other)
    }
}

/// Splits a number into two of 26 bits each; infinity and the largest numbers into two that mean nothing.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits().wrapping_add(1 << 26) & !((1 << 27) - 1));
    (high, x - high)
}

/// Returns a polynomial of 4 to 28 coefficients, lowest first.
///
/// Each fourth coefficient goes into a sum of its own by Horner's rule in x^4: four sums have a quarter of one's latency.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let x2 = x * x;
    let x4 = x2 * x2;
    let sum = |first| every_fourth(x4, coefficients, first);
    (sum(0) + sum(1) * x) + (sum(2) + sum(3) * x) * x2
}

/// Returns c[first] + c[first + 4] x4 + c[first + 8] x4^2 + ...
///
/// It is written without a loop. Compilers write out loops of known length too, but long ones too late: a loop over the
/// function would not become vector code.
#[inline(always)]
fn every_fourth<const N: usize>(x4: f64, c: &[f64; N], first: usize) -> f64 {
    let step = |sum: f64, i: usize| {
        if i + 4 < N {
            sum * x4 + c[i]
        } else if i < N {
            c[i]
        } else {
            sum
        }
    };
    let sum = step(0.0, first + 24);
    let sum = step(sum, first + 20);
    let sum = step(sum, first + 16);
    let sum = step(sum, first + 12);
    let sum = step(sum, first + 8);
    let sum = step(sum, first + 4);
    step(sum, first)
}

/// Returns the number nearest to `x` among the integers, for |x| below 2^51, and the sum whose low bits have it.
#[inline(always)]
pub(super) fn nearest_integer(x: f64) -> (f64, f64) {
    let shifted = x + super::ROUND;
    (shifted - super::ROUND, shifted)
}

/// Returns 2^n for an integer n of -1022 to 1023.
#[inline(always)]
pub(super) fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n + super::ROUND).to_bits().wrapping_add(1023) << 52)
}

/// Returns `size` with the sign of `x`, where `size` is not negative.
#[inline(always)]
pub(super) fn with_sign_of(size: f64, x: f64) -> f64 {
    f64::from_bits(size.to_bits() | (x.to_bits() & SIGN))
}

/// 2^54: it brings every number below the normal range into it.
pub(super) const TWO_TO_54: f64 = 18_014_398_509_481_984.0;

/// The bit of the sign.
pub(super) const SIGN: u64 = 1 << 63;

/// ln 2, its inverse, and the two of base 10.
pub(super) const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
pub(super) const LOG2_E: Double = Double::new(std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);
pub(super) const LOG10_E: Double = Double::new(std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);
pub(super) const LOG10_2: Double = Double::new(std::f64::consts::LOG10_2, -2.803_728_127_785_170_4e-18);
