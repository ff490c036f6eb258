//! What operations of arrays take beside their buffers, and the names of their kernels.

use super::reductions::CHUNK;
use crate::{DeviceBuffer, Real};

/// The sides of a matrix product: `c[m, n] = a[m, k] b[k, n]`, all in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    /// Rows of `a` and `c`.
    pub m: usize,
    /// Columns of `a`, rows of `b`.
    pub k: usize,
    /// Columns of `b` and `c`.
    pub n: usize,
}

/// Elements of a row that one block of [`Kernels::reduce_rows`](crate::Kernels::reduce_rows) takes.
pub const ROW_PART: usize = CHUNK;
/// Rows that one thread of [`Kernels::reduce_columns`](crate::Kernels::reduce_columns) joins: set in kernels/src/reduce.cu.
pub const COLUMN_PART: usize = 64;

/// An operation of two numbers whose arrays are broadcast to a common shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `x + y`
    Add,
    /// `x - y`
    Sub,
    /// `x * y`
    Mul,
    /// `x / y`
    Div,
}

/// How the numbers of a row or of a column are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisReduction {
    /// Their sum; +0 for none.
    Sum,
    /// The smallest; NaN when one is, infinity for none.
    Min,
    /// The largest; NaN when one is, minus infinity for none.
    Max,
}

impl Arithmetic {
    /// Returns the name of the kernel that broadcasts, without its precision.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            Self::Add => "array_broadcast_add",
            Self::Sub => "array_broadcast_sub",
            Self::Mul => "array_broadcast_mul",
            Self::Div => "array_broadcast_div",
        }
    }
}

impl AxisReduction {
    /// Returns the names of the kernels of rows and of columns, without their precision.
    pub(crate) fn stems(self) -> [&'static str; 2] {
        match self {
            Self::Sum => ["rows_sum", "columns_sum"],
            Self::Min => ["rows_min", "columns_min"],
            Self::Max => ["rows_max", "columns_max"],
        }
    }
}

/// An operand that is broadcast: its elements, and the distances of the next row and of the next column, which are 0 where
/// it has one only.
#[derive(Debug)]
pub struct BroadcastOperand<'a, T: Real> {
    /// The elements.
    pub elements: &'a DeviceBuffer<T>,
    /// The distance of the next row.
    pub row: usize,
    /// The distance of the next column.
    pub column: usize,
}

impl<T: Real> Clone for BroadcastOperand<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Real> Copy for BroadcastOperand<'_, T> {}

/// The place of a window in a matrix: its first element, and the distance of the matrix's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPlace {
    /// The index of the window's first element.
    pub first: usize,
    /// The distance of the next row.
    pub row: usize,
}

macro_rules! families {
    ($($(#[$words:meta])* $family:ident { $($kernel:ident = $stem:literal),* })*) => {$(
        $(#[$words])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum $family {
            $($kernel),*
        }

        impl $family {
            /// Returns the kernel's name without its precision.
            pub(crate) fn stem(self) -> &'static str {
                match self {
                    $(Self::$kernel => $stem),*
                }
            }
        }
    )*};
}

families! {
    /// Kernels of one array.
    Unary { Copy = "array_copy", Exp = "array_exp", Ln = "array_ln", Sqrt = "array_sqrt", Tanh = "array_tanh",
        Sigmoid = "array_sigmoid", Relu = "array_relu", Abs = "array_abs" }
    /// Kernels of a number and one array.
    WithScalar { Scale = "array_scale", Add = "array_add_scalar", Div = "array_div_scalar" }
    /// Kernels of two arrays.
    Binary { Add = "array_add", Sub = "array_sub", Mul = "array_mul", Div = "array_div" }
    /// Kernels that make one value of many.
    Reduction { Sum = "array_sum", Min = "array_min", Max = "array_max" }
    /// Kernels that make random numbers.
    Numbers { Uniform = "random_uniform", Normal = "random_normal" }
}
