//! The types of numbers that are computed with: f32 and f64.

use crate::ArrayElement;
use crate::cpu::CompiledScalar;
use octopus_cuda::Real;
use octopus_random::{FloatingPoint, exact};

/// `f32` or `f64`; sealed, as [`octopus_cuda::Real`] is.
///
/// Elementary functions are those of [`octopus_random::exact`], the same as the kernels': every machine gives the same bits.
pub trait Scalar: ArrayElement + Real + FloatingPoint + CompiledScalar {
    /// One.
    const ONE: Self;
    /// The minimum of nothing.
    const INFINITY: Self;
    /// The maximum of nothing.
    const NEG_INFINITY: Self;

    /// The first half of the natural logarithm ([`octopus_random::exact::ln_quotient`]).
    #[must_use]
    fn ln_quotient(self) -> Self;

    /// The natural logarithm, given its first half.
    #[must_use]
    fn ln_of_quotient(self, quotient: Self) -> Self;

    /// The hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;

    /// The logistic function.
    #[must_use]
    fn sigmoid(self) -> Self;

    /// The nearest to a whole number, ties to even.
    #[must_use]
    fn from_u64(value: u64) -> Self;
}

impl Scalar for f32 {
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn ln_quotient(self) -> Self {
        exact::single::ln_quotient(self)
    }

    #[inline(always)]
    fn ln_of_quotient(self, quotient: Self) -> Self {
        exact::single::ln_of_quotient(self, quotient)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        exact::single::tanh(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        exact::single::sigmoid(self)
    }

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as Self
    }
}

impl Scalar for f64 {
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    #[inline(always)]
    fn ln_quotient(self) -> Self {
        exact::ln_quotient(self)
    }

    #[inline(always)]
    fn ln_of_quotient(self, quotient: Self) -> Self {
        exact::ln_of_quotient(self, quotient)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        exact::tanh(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        exact::sigmoid(self)
    }

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as Self
    }
}
