//! Element-wise operations on the CPU: arithmetic, exp, ln, sqrt, tanh, sigmoid, relu, abs, clip.
//!
//! The elements of the parts of `ln` stand here.
//!
//! The loops have no branch and no call, so that the compiler makes vector code of them; vectors change no bit, since
//! no element depends on another.

use super::same_length;
use crate::{ArrayElement, ArrayError, Scalar};
use half::f16;
use pulp::{Arch, Simd, WithSimd};

/// Elements of the parts in which [`ln`] goes through its two loops: the second finds in the first-level cache what the
/// first has made.
const LN_PART: usize = 512;

/// A loop over one array. A type and not a closure, so that all of it is compiled for each level of vector instructions;
/// the processor's own is chosen as the program runs.
struct Unary<'a, T, U, F> {
    x: &'a [T],
    out: &'a mut [U],
    function: F,
}

impl<T: Copy, U, F: Fn(T) -> U> WithSimd for Unary<'_, T, U, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = (self.function)(x);
        }
    }
}

/// A loop over two arrays.
struct Binary<'a, T, F> {
    x: &'a [T],
    y: &'a [T],
    out: &'a mut [T],
    function: F,
}

impl<T: Scalar, F: Fn(T, T) -> T> WithSimd for Binary<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((out, &x), &y) in self.out.iter_mut().zip(self.x).zip(self.y) {
            *out = (self.function)(x, y);
        }
    }
}

/// A second loop over one array, of each element and what the first loop has made of it.
struct Again<'a, T, F> {
    x: &'a [T],
    out: &'a mut [T],
    function: F,
}

impl<T: Scalar, F: Fn(T, T) -> T> WithSimd for Again<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = (self.function)(x, *out);
        }
    }
}

fn unary<T: Copy, U>(
    operation: &'static str,
    x: &[T],
    out: &mut [U],
    function: impl Fn(T) -> U,
) -> Result<(), ArrayError> {
    same_length(operation, x.len(), out.len())?;
    Arch::new().dispatch(Unary { x, out, function });
    Ok(())
}

fn binary<T: Scalar>(
    operation: &'static str,
    x: &[T],
    y: &[T],
    out: &mut [T],
    function: impl Fn(T, T) -> T,
) -> Result<(), ArrayError> {
    same_length(operation, x.len(), y.len())?;
    same_length(operation, x.len(), out.len())?;
    Arch::new().dispatch(Binary { x, y, out, function });
    Ok(())
}

/// Computes `out[i] = x[i] + y[i]`.
///
/// # Errors
/// When lengths differ.
pub fn add<T: Scalar>(x: &[T], y: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_pairs)(PairFunction::Add, x, y, out)
}

/// Computes `out[i] = x[i] - y[i]`.
///
/// # Errors
/// When lengths differ.
pub fn sub<T: Scalar>(x: &[T], y: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_pairs)(PairFunction::Sub, x, y, out)
}

/// Computes `out[i] = x[i] * y[i]`.
///
/// # Errors
/// When lengths differ.
pub fn mul<T: Scalar>(x: &[T], y: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_pairs)(PairFunction::Mul, x, y, out)
}

/// Computes `out[i] = x[i] / y[i]`.
///
/// # Errors
/// When lengths differ.
pub fn div<T: Scalar>(x: &[T], y: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_pairs)(PairFunction::Div, x, y, out)
}

/// Computes `out[i] = a * x[i]`.
///
/// # Errors
/// When lengths differ.
pub fn scale<T: Scalar>(a: T, x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Scale(a), x, out)
}

/// Computes `out[i] = a * x[i] + y[i]`, rounded after the product and after the sum.
///
/// # Errors
/// When lengths differ.
pub fn axpy<T: Scalar>(a: T, x: &[T], y: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_pairs)(PairFunction::Axpy(a), x, y, out)
}

/// Computes `out[i] = exp(x[i])`: 0 below -708 (`f32`: -87), infinity above 709 (88).
///
/// # Errors
/// When lengths differ.
pub fn exp<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Exp, x, out)
}

/// Computes `out[i] = ln(x[i])`: minus infinity at 0 and below the normal range, NaN for negative numbers.
///
/// # Errors
/// When lengths differ.
pub fn ln<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Ln, x, out)
}

/// Computes `out[i] = sqrt(x[i])`, correctly rounded.
///
/// # Errors
/// When lengths differ.
pub fn sqrt<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Sqrt, x, out)
}

/// Computes `out[i] = tanh(x[i])`.
///
/// # Errors
/// When lengths differ.
pub fn tanh<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Tanh, x, out)
}

/// Computes `out[i] = 1 / (1 + exp(-x[i]))`; 0 below -708 (`f32`: -87).
///
/// # Errors
/// When lengths differ.
pub fn sigmoid<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Sigmoid, x, out)
}

/// Computes `out[i] = 0` where `x[i] < 0`, else `x[i]`: a NaN stays, and so does -0.
///
/// # Errors
/// When lengths differ.
pub fn relu<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Relu, x, out)
}

/// Computes `out[i] = |x[i]|`.
///
/// # Errors
/// When lengths differ.
pub fn abs<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Abs, x, out)
}

/// Computes `out[i] = x[i] + a`.
///
/// # Errors
/// When lengths differ.
pub fn add_scalar<T: Scalar>(a: T, x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::AddScalar(a), x, out)
}

/// Computes `out[i] = x[i] / a`.
///
/// # Errors
/// When lengths differ.
pub fn div_scalar<T: Scalar>(a: T, x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::DivScalar(a), x, out)
}

/// Computes `out[i] = x[i]`, raised to `low` where it is below and then lowered to `high` where it is above; a NaN stays.
///
/// # Errors
/// When lengths differ.
pub fn clip<T: Scalar>(low: T, high: T, x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().of_each)(ElementFunction::Clip(low, high), x, out)
}

/// Converts to f16, to the nearest, ties to even; infinity from 65520 on.
///
/// # Errors
/// When lengths differ.
pub fn to_f16<T: ArrayElement>(x: &[T], out: &mut [f16]) -> Result<(), ArrayError> {
    (T::casts().to_f16)(x, out)
}

/// Converts to f32, to the nearest, ties to even.
///
/// # Errors
/// When lengths differ.
pub fn to_f32<T: ArrayElement>(x: &[T], out: &mut [f32]) -> Result<(), ArrayError> {
    (T::casts().to_f32)(x, out)
}

/// Converts to f64, which holds each value exactly.
///
/// # Errors
/// When lengths differ.
pub fn to_f64<T: ArrayElement>(x: &[T], out: &mut [f64]) -> Result<(), ArrayError> {
    (T::casts().to_f64)(x, out)
}

/// A function of each element, with its numbers.
#[derive(Clone, Copy)]
pub(crate) enum ElementFunction<T> {
    Scale(T),
    Exp,
    Ln,
    Sqrt,
    Tanh,
    Sigmoid,
    Relu,
    Abs,
    AddScalar(T),
    DivScalar(T),
    Clip(T, T),
}

/// A function of the elements of two arrays, with its number.
#[derive(Clone, Copy)]
pub(crate) enum PairFunction<T> {
    Add,
    Sub,
    Mul,
    Div,
    Axpy(T),
}

/// The loop of [`ElementFunction`], which the table of loops has.
pub(super) fn of_each<T: Scalar>(function: ElementFunction<T>, x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    match function {
        ElementFunction::Scale(a) => unary("scale", x, out, move |x| a * x),
        ElementFunction::Exp => unary("exp", x, out, T::exp),
        ElementFunction::Ln => ln_by_parts(x, out),
        ElementFunction::Sqrt => unary("sqrt", x, out, T::sqrt),
        ElementFunction::Tanh => unary("tanh", x, out, T::tanh),
        ElementFunction::Sigmoid => unary("sigmoid", x, out, T::sigmoid),
        ElementFunction::Relu => unary("relu", x, out, |x| if x < T::ZERO { T::ZERO } else { x }),
        ElementFunction::Abs => unary("abs", x, out, T::abs),
        ElementFunction::AddScalar(a) => unary("add_scalar", x, out, move |x| x + a),
        ElementFunction::DivScalar(a) => unary("div_scalar", x, out, move |x| x / a),
        ElementFunction::Clip(low, high) => unary("clip", x, out, move |x| {
            let raised = if x < low { low } else { x };
            if raised > high { high } else { raised }
        }),
    }
}

/// The loop of [`PairFunction`], which the table of loops has.
pub(super) fn of_pairs<T: Scalar>(
    function: PairFunction<T>,
    x: &[T],
    y: &[T],
    out: &mut [T],
) -> Result<(), ArrayError> {
    match function {
        PairFunction::Add => binary("add", x, y, out, |x, y| x + y),
        PairFunction::Sub => binary("sub", x, y, out, |x, y| x - y),
        PairFunction::Mul => binary("mul", x, y, out, |x, y| x * y),
        PairFunction::Div => binary("div", x, y, out, |x, y| x / y),
        PairFunction::Axpy(a) => binary("axpy", x, y, out, move |x, y| a * x + y),
    }
}

/// The two loops of the logarithm, part by part.
fn ln_by_parts<T: Scalar>(x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    same_length("ln", x.len(), out.len())?;
    let arch = Arch::new();
    for (x, out) in x.chunks(LN_PART).zip(out.chunks_mut(LN_PART)) {
        arch.dispatch(Unary { x, out, function: T::ln_quotient });
        arch.dispatch(Again { x, out, function: T::ln_of_quotient });
    }
    Ok(())
}

/// The loop of [`to_f16`], which the table of casts has.
pub(super) fn cast_to_f16<T: ArrayElement>(x: &[T], out: &mut [f16]) -> Result<(), ArrayError> {
    unary("to_f16", x, out, T::into_half)
}

/// The loop of [`to_f32`], which the table of casts has.
pub(super) fn cast_to_f32<T: ArrayElement>(x: &[T], out: &mut [f32]) -> Result<(), ArrayError> {
    unary("to_f32", x, out, T::into_single)
}

/// The loop of [`to_f64`], which the table of casts has.
pub(super) fn cast_to_f64<T: ArrayElement>(x: &[T], out: &mut [f64]) -> Result<(), ArrayError> {
    unary("to_f64", x, out, T::into_double)
}
