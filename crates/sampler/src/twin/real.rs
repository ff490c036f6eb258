//! The twin's two types of numbers (precisions), and how one becomes the other.

use octopus_random::exact;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// f32 or f64.
pub(crate) trait TwinReal:
    Copy
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Beyond every number.
    const INFINITY: Self;
    /// The gain in log density over the reference from which weights get a new reference: e^x is still a number.
    const RESCALE: Self;
    /// Shorter steps would not move a point made of such numbers.
    const SMALLEST_STEP: f64;

    /// The nearest to `value`.
    fn of(value: f64) -> Self;
    /// Returns the same number.
    fn wide(self) -> f64;
    /// e^x
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The quantile function of the standard normal distribution.
    fn normal_quantile(self) -> Self;
    /// (k + 1/2) / 2^n, k being the first n bits of two random words and n as many as make that exact.
    fn uniform(high: u32, low: u32) -> Self;
}

/// Returns a number of one type as one of another: exact, or rounded once.
pub(super) fn to<A: TwinReal, B: TwinReal>(value: A) -> B {
    B::of(value.wide())
}

/// Numbers of f64, each rounded once.
pub(super) fn rounded<X: TwinReal>(values: &[f64]) -> Vec<X> {
    values.iter().map(|&value| X::of(value)).collect()
}

impl TwinReal for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const RESCALE: Self = 300.0;
    const SMALLEST_STEP: f64 = 1e-12;

    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn exp(self) -> Self {
        exact::exp(self)
    }

    fn ln(self) -> Self {
        exact::ln(self)
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }

    fn normal_quantile(self) -> Self {
        exact::normal_quantile(self)
    }

    fn uniform(high: u32, low: u32) -> Self {
        let k = (u64::from(high) << 20) | u64::from(low >> 12);
        (k as f64 + 0.5) / (1u64 << 52) as f64
    }
}

impl TwinReal for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const RESCALE: Self = 40.0;
    const SMALLEST_STEP: f64 = 1e-6;

    fn of(value: f64) -> Self {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn exp(self) -> Self {
        exact::single::exp(self)
    }

    fn ln(self) -> Self {
        exact::single::ln(self)
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }

    fn normal_quantile(self) -> Self {
        exact::single::normal_quantile(self)
    }

    fn uniform(high: u32, _: u32) -> Self {
        ((high >> 9) as f32 + 0.5) / (1u32 << 23) as f32
    }
}
