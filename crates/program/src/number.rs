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
    /// Whether numbers have slopes, which a method that stops by values must add at its end.
    const HAS_SLOPE: bool = false;
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
    /// Returns ln(1 + x).
    fn ln_1p(self) -> Self;
    /// Returns e^x - 1.
    fn exp_m1(self) -> Self;
    /// Returns ln |Gamma(x)|.
    fn ln_gamma(self) -> Self;
    /// Returns the slope of ln Gamma.
    fn digamma(self) -> Self;
    /// Returns the slope of digamma.
    fn trigamma(self) -> Self;
    /// Returns the standard normal distribution function.
    fn phi(self) -> Self;
    /// Returns the logarithm of the standard normal distribution function.
    fn ln_phi(self) -> Self;
    /// Returns the slope of that logarithm.
    fn ln_phi_slope(self) -> Self;
    /// Returns the sine.
    fn sin(self) -> Self;
    /// Returns the cosine.
    fn cos(self) -> Self;
    /// Returns the inverse tangent.
    fn atan(self) -> Self;
    /// Returns this number to a power.
    fn pow(self, power: Self) -> Self;
    /// Returns whether this value is below the other.
    fn below(self, other: Self) -> bool;
}

/// 1 / sqrt(2 pi), the standard normal density at 0.
pub(crate) const FRAC_1_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

/// Functions of one number, as the exact ones of f64.
macro_rules! exact_functions {
    ($number:ty: $($name:ident)+) => { $(
        #[inline(always)]
        fn $name(self) -> Self {
            exact::$name(self.into()) as $number
        }
    )+ };
}

/// Functions of one number with their slopes.
macro_rules! dual_functions {
    ($($name:ident |$x:ident, $value:ident| $slope:expr;)+) => { $(
        fn $name(self) -> Self {
            let $x = self.value;
            let $value = exact::$name($x);
            Self::chain($value, $slope * self.slope)
        }
    )+ };
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
    exact_functions! { f64: ln_1p exp_m1 ln_gamma digamma trigamma phi ln_phi ln_phi_slope sin cos atan }
    #[inline(always)]
    fn pow(self, power: Self) -> Self {
        exact::pow(self, power)
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
    exact_functions! { f32: ln_1p exp_m1 ln_gamma digamma trigamma phi ln_phi ln_phi_slope sin cos atan }
    fn pow(self, power: Self) -> Self {
        exact::pow(self.into(), power.into()) as f32
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
    const HAS_SLOPE: bool = true;
    fn from_f64(x: f64) -> Self {
        Self::chain(x, 0.0)
    }
    fn to_f64(self) -> f64 {
        self.value
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::chain(root, if root == 0.0 { 0.0 } else { 0.5 * self.slope / root })
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
    dual_functions! {
        ln_1p |x, _value| 1.0 / (1.0 + x);
        exp_m1 |x, _value| exact::exp(x);
        ln_gamma |x, _value| exact::digamma(x);
        digamma |x, _value| exact::trigamma(x);
        trigamma |_x, _value| f64::NAN;
        phi |x, _value| exact::exp(-0.5 * x * x) * FRAC_1_SQRT_TAU;
        ln_phi |x, _value| exact::ln_phi_slope(x);
        ln_phi_slope |x, value| -value * (x + value);
        sin |x, _value| exact::cos(x);
        cos |x, _value| -exact::sin(x);
        atan |x, _value| 1.0 / (1.0 + x * x);
    }
    fn pow(self, power: Self) -> Self {
        let value = exact::pow(self.value, power.value);
        if self.value == 0.0 {
            return Self::chain(value, 0.0);
        }
        let by_base = power.value * value / self.value * self.slope;
        Self::chain(value, by_base + value * exact::ln(self.value) * power.slope)
    }
    fn below(self, other: Self) -> bool {
        self.value < other.value
    }
}
