//! The loops of each type, compiled once, in this crate.
//!
//! A function with a type parameter is compiled again in each crate that calls it, and each of these loops for every level
//! of vector instructions: a megabyte. A table of functions that has its type is compiled here, with all that is in it;
//! other crates read the table and call.

use super::broadcast::{SliceOperand, broadcast_loop, select_loop};
use super::columns::{reduce_columns_loop, squares_along_columns};
use super::elementwise::{ElementFunction, PairFunction, cast_to_f16, cast_to_f32, cast_to_f64, of_each, of_pairs};
use super::layout::arange_loop;
use super::matmul::matmul_loop;
use super::warp::{dot_loop, reduce_loop, reduce_rows_loop, squares_along_rows, sum_of_squares_loop};
use crate::{ArrayElement, ArrayError, Scalar};
use half::f16;
use octopus_cuda::{Arithmetic, AxisReduction, MatrixShape};

/// What most loops answer: they fail where lengths do not fit.
type Done = Result<(), ArrayError>;
/// Rows and columns.
type Sides = (usize, usize);
type PairLoop<T> = fn(PairFunction<T>, &[T], &[T], &mut [T]) -> Done;
type BroadcastLoop<T> = fn(Arithmetic, Sides, SliceOperand<'_, T>, SliceOperand<'_, T>, &mut [T]) -> Done;
type SelectLoop<T> = fn(Sides, SliceOperand<'_, T>, [SliceOperand<'_, T>; 2], &mut [T]) -> Done;

/// The loops of a type of numbers. Arguments are as of the functions of their names in [`cpu`](crate::cpu).
pub struct ScalarLoops<T> {
    pub(crate) of_each: fn(ElementFunction<T>, &[T], &mut [T]) -> Done,
    pub(crate) of_pairs: PairLoop<T>,
    pub(crate) broadcast: BroadcastLoop<T>,
    pub(crate) select: SelectLoop<T>,
    pub(crate) reduce: fn(AxisReduction, &[T]) -> T,
    pub(crate) dot: fn(&[T], &[T]) -> Result<T, ArrayError>,
    pub(crate) sum_of_squares: fn(T, &[T]) -> T,
    pub(crate) reduce_rows: fn(AxisReduction, Sides, &[T], &mut [T]) -> Done,
    pub(crate) squares_along_rows: fn(usize, &[T], &[T], &mut [T]),
    pub(crate) reduce_columns: fn(AxisReduction, Sides, &[T], &mut [T]) -> Done,
    pub(crate) squares_along_columns: fn(Sides, &[T], &[T], &mut [T]),
    pub(crate) matmul: fn(MatrixShape, &[T], &[T], &mut [T]) -> Done,
    pub(crate) arange: fn(T, T, usize, &mut [T]),
}

impl<T: Scalar> ScalarLoops<T> {
    const fn new() -> Self {
        Self {
            of_each,
            of_pairs,
            broadcast: broadcast_loop,
            select: select_loop,
            reduce: reduce_loop,
            dot: dot_loop,
            sum_of_squares: sum_of_squares_loop,
            reduce_rows: reduce_rows_loop,
            squares_along_rows,
            reduce_columns: reduce_columns_loop,
            squares_along_columns,
            matmul: matmul_loop,
            arange: arange_loop,
        }
    }
}

/// The casts of a type of elements.
pub struct CastLoops<T> {
    pub(crate) to_f16: fn(&[T], &mut [f16]) -> Done,
    pub(crate) to_f32: fn(&[T], &mut [f32]) -> Done,
    pub(crate) to_f64: fn(&[T], &mut [f64]) -> Done,
}

impl<T: ArrayElement> CastLoops<T> {
    const fn new() -> Self {
        Self { to_f16: cast_to_f16, to_f32: cast_to_f32, to_f64: cast_to_f64 }
    }
}

/// A type of numbers whose loops are compiled.
pub trait CompiledScalar: Sized {
    /// Returns the loops.
    fn loops() -> &'static ScalarLoops<Self>;
}

/// A type of elements whose casts are compiled.
pub trait CompiledElement: Sized {
    /// Returns the casts.
    fn casts() -> &'static CastLoops<Self>;
}

// Statics, which other crates refer to; a constant would be made anew in each.
static LOOPS_F32: ScalarLoops<f32> = ScalarLoops::new();
static LOOPS_F64: ScalarLoops<f64> = ScalarLoops::new();
static CASTS_F16: CastLoops<f16> = CastLoops::new();
static CASTS_F32: CastLoops<f32> = CastLoops::new();
static CASTS_F64: CastLoops<f64> = CastLoops::new();

impl CompiledScalar for f32 {
    fn loops() -> &'static ScalarLoops<Self> {
        &LOOPS_F32
    }
}

impl CompiledScalar for f64 {
    fn loops() -> &'static ScalarLoops<Self> {
        &LOOPS_F64
    }
}

impl CompiledElement for f16 {
    fn casts() -> &'static CastLoops<Self> {
        &CASTS_F16
    }
}

impl CompiledElement for f32 {
    fn casts() -> &'static CastLoops<Self> {
        &CASTS_F32
    }
}

impl CompiledElement for f64 {
    fn casts() -> &'static CastLoops<Self> {
        &CASTS_F64
    }
}
