//! Numbers to write a model over: `f64`, and dual numbers that carry a derivative along.

use std::ops::{Add, Div, Mul, Sub};

pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn constant(value: f64) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }

    fn exp(self) -> Self {
        f64::exp(self)
    }

    fn ln(self) -> Self {
        f64::ln(self)
    }

    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
}

/// `value + derivative * epsilon` with `epsilon^2 = 0`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) derivative: f64,
}

impl Number for Dual {
    fn constant(value: f64) -> Self {
        Self { value, derivative: 0.0 }
    }

    fn exp(self) -> Self {
        let value = self.value.exp();
        Self { value, derivative: self.derivative * value }
    }

    fn ln(self) -> Self {
        Self { value: self.value.ln(), derivative: self.derivative / self.value }
    }

    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        Self { value, derivative: self.derivative / (2.0 * value) }
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, derivative: self.derivative + other.derivative }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, derivative: self.derivative - other.derivative }
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            derivative: self.derivative * other.value + self.value * other.derivative,
        }
    }
}

impl Div for Dual {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, derivative: (self.derivative - value * other.derivative) / other.value }
    }
}

#[test]
fn dual_numbers_follow_the_rules_of_calculus() {
    let x = Dual { value: 1.7, derivative: 1.0 };
    // d/dx [x^2 e^x / ln x - sqrt x] by hand.
    let f = x * x * x.exp() / x.ln() - x.sqrt();
    let (v, e, l) = (1.7f64, 1.7f64.exp(), 1.7f64.ln());
    let expected = ((2.0 * v * e + v * v * e) * l - v * e) / (l * l) - 0.5 / v.sqrt();
    assert!((f.value - (v * v * e / l - v.sqrt())).abs() < 1e-13);
    assert!((f.derivative - expected).abs() < 1e-13);
}
