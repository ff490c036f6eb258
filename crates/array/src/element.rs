//! The types of elements that arrays store: f16, f32 and f64.

use crate::cpu::CompiledElement;
use crate::half as conversions;
use half::f16;
use octopus_cuda::Stored;
use octopus_files::NpyElement;

/// A type of which an [`Array`](crate::Array) stores its elements: `f16`, `f32` or `f64`; sealed, as
/// [`octopus_cuda::Stored`] is. Arithmetic is for those that are a [`Scalar`](crate::Scalar), too.
pub trait ArrayElement: Stored + NpyElement + CompiledElement {
    /// Zero.
    const ZERO: Self;

    /// The nearest half, ties to even; infinity from 65520 on.
    #[must_use]
    fn into_half(self) -> f16;

    /// The nearest number of single precision, ties to even.
    #[must_use]
    fn into_single(self) -> f32;

    /// Converts to f64, which holds the value exactly.
    #[must_use]
    fn into_double(self) -> f64;

    /// The nearest to a number in f64.
    #[must_use]
    fn nearest(value: f64) -> Self;
}

impl ArrayElement for f16 {
    const ZERO: Self = Self::ZERO;

    #[inline(always)]
    fn into_half(self) -> f16 {
        self
    }

    #[inline(always)]
    fn into_single(self) -> f32 {
        conversions::to_f32(self)
    }

    #[inline(always)]
    fn into_double(self) -> f64 {
        conversions::to_f64(self)
    }

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        conversions::from_f64(value)
    }
}

impl ArrayElement for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn into_half(self) -> f16 {
        conversions::from_f32(self)
    }

    #[inline(always)]
    fn into_single(self) -> f32 {
        self
    }

    #[inline(always)]
    fn into_double(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl ArrayElement for f64 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn into_half(self) -> f16 {
        conversions::from_f64(self)
    }

    #[inline(always)]
    fn into_single(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn into_double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}
