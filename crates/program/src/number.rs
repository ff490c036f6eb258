//! The numbers that a program can be evaluated over: f64 with the exact functions, f32, and dual numbers for tests.

use octopus_random::exact;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number as programs need it. The primitive operations of the table are written with these methods only.
pub trait Number:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Returns the nearest number to `x`.
    fn from_f64(x: f64) -> Self;
    /// Returns the value, without a slope if the number has one.
    fn to_f64(self) -> f64;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the size without its sign.
    fn abs(self) -> Self;
    /// Returns e to this power.
    fn exp(self) -> Self;
    /// Returns the natural logarithm.
    fn ln(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Returns the standard normal quantile.
    fn normal_quantile(self) -> Self;
    /// Returns whether this value is below the other.
    fn below(self, other: Self) -> bool;
}

impl Number for f64 {
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exact::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        exact::ln(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        exact::tanh(self)
    }
    #[inline(always)]
    fn normal_quantile(self) -> Self {
        exact::normal_quantile(self)
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }
}

impl Number for f32 {
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    fn abs(self) -> Self {
        f32::abs(self)
    }
    fn exp(self) -> Self {
        exact::single::exp(self)
    }
    fn ln(self) -> Self {
        exact::single::ln(self)
    }
    fn tanh(self) -> Self {
        exact::single::tanh(self)
    }
    fn normal_quantile(self) -> Self {
        exact::normal_quantile(self.into()) as f32
    }
    fn below(self, other: Self) -> bool {
        self < other
    }
}

/// A number with its slope along one direction: forward-mode derivatives, which tests hold the reverse mode to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// Its derivative along the direction.
    pub slope: f64,
}

impl Dual {
    fn chain(value: f64, slope: f64) -> Self {
        Self { value, slope }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::chain(self.value + other.value, self.slope + other.slope)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::chain(self.value - other.value, self.slope - other.slope)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::chain(self.value * other.value, self.slope * other.value + self.value * other.slope)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self::chain(value, (self.slope - value * other.slope) / other.value)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self::chain(-self.value, -self.slope)
    }
}

impl Number for Dual {
    fn from_f64(x: f64) -> Self {
        Self::chain(x, 0.0)
    }
    fn to_f64(self) -> f64 {
        self.value
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::chain(root, 0.5 * self.slope / root)
    }
    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }
    fn exp(self) -> Self {
        let value = exact::exp(self.value);
        Self::chain(value, value * self.slope)
    }
    fn ln(self) -> Self {
        Self::chain(exact::ln(self.value), self.slope / self.value)
    }
    fn tanh(self) -> Self {
        let value = exact::tanh(self.value);
        Self::chain(value, (1.0 - value * value) * self.slope)
    }
    fn normal_quantile(self) -> Self {
        let value = exact::normal_quantile(self.value);
        let density = (-0.5 * value * value).exp() / std::f64::consts::TAU.sqrt();
        Self::chain(value, self.slope / density)
    }
    fn below(self, other: Self) -> bool {
        self.value < other.value
    }
}
