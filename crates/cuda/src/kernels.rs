//! The kernels of this program as safe functions over device buffers.
//!
//! They are element-wise operations (add, exp, axpy) with broadcasting, sums, dot products, minima and maxima (reductions)
//! of arrays, rows and columns, parts of arrays (transpose, window), matrix products (matmul), and random numbers. A reduction's passes, and the device memory for its partial
//! results, are here.

use crate::binding::{KernelSet, RawModule};
use crate::{Context, CudaError, DeviceBuffer, PTX, Real, Stored, Stream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements that one block of a reduction takes: set in kernels/src/reduce.cu.
pub(crate) const CHUNK: usize = 16_384;

/// The kernels, loaded on one device.
///
/// Every function queues its work on a stream and returns; what is computed is there after
/// [`Stream::synchronize`], and any synchronous copy of a result waits for it. Reductions return their value, and so
/// wait. Work on two streams is ordered only by [`Stream::wait_for`]: without it, a kernel may read what another is
/// still writing, and the numbers are then of no use (though nothing else can go wrong).
///
/// All kernels but [`Kernels::matmul_fast`] and [`DrawnFrom::VonMisesFast`] are exact: each operation is rounded once, to
/// the nearest, and nothing is fused or approximated, so their CPU twins give the same bits. `exp` and `ln` are
/// those of `octopus-random`.
///
/// What a kernel writes is borrowed for writing, so it is none of what it reads:
/// ```compile_fail,E0502
/// # use octopus_cuda::*;
/// fn twice(kernels: &Kernels, stream: &Stream, x: &mut DeviceBuffer<f64>) -> Result<(), CudaError> {
///     kernels.add(stream, x, x, x)
/// }
/// ```
pub struct Kernels {
    set: KernelSet,
    context: Context,
    load_time: Duration,
}

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

/// Elements of a row that one block of [`Kernels::reduce_rows`] takes.
pub const ROW_PART: usize = CHUNK;
/// Rows that one thread of [`Kernels::reduce_columns`] joins: set in kernels/src/reduce.cu.
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

/// The address of a stream of random numbers, as in `octopus-random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberStream {
    /// The run's seed.
    pub seed: u64,
    /// The chain.
    pub chain: u32,
    /// The iteration.
    pub iteration: u32,
    /// The purpose of the numbers.
    pub purpose: u32,
}

/// A distribution of `octopus-random` that a kernel draws from. What its parameters are is said there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnFrom {
    /// The parameters are low and width.
    Uniform,
    /// The parameters are loc and scale.
    Normal,
    /// The parameter is the scale.
    Exponential,
    /// The parameters are shape and scale.
    Gamma,
    /// The parameters are a and b.
    Beta,
    /// The parameters are degrees of freedom, loc and scale.
    StudentT,
    /// The parameters are loc, in [-pi, pi], and concentration.
    VonMises,
    /// As `VonMises`, fused and approximated, in `f32` alone.
    VonMisesFast,
    /// The parameters are loc, in [-pi, pi], and scale.
    WrappedNormal,
}

impl DrawnFrom {
    /// Returns the kernel's name without its precision, and what follows that.
    pub(crate) fn name(self) -> (&'static str, &'static str) {
        let stem = match self {
            Self::Uniform => "draw_uniform",
            Self::Normal => "draw_normal",
            Self::Exponential => "draw_exponential",
            Self::Gamma => "draw_gamma",
            Self::Beta => "draw_beta",
            Self::StudentT => "draw_student_t",
            Self::VonMises | Self::VonMisesFast => "draw_von_mises",
            Self::WrappedNormal => "draw_wrapped_normal",
        };
        (stem, if self == Self::VonMisesFast { "_fast" } else { "" })
    }
}

/// Which draws a kernel makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRange {
    /// The key's bits.
    pub key: u64,
    /// The number of the first draw.
    pub first: u64,
    /// Turns of a draw at the most.
    pub most_turns: u32,
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

impl Kernels {
    /// Loads the kernels that are built into this program.
    ///
    /// # Errors
    /// [`CudaError::Ptx`] when the driver refuses them, [`CudaError::KernelMissing`] when one is not among them.
    pub fn load(context: &Context) -> Result<Self, CudaError> {
        context.healthy()?;
        let multiprocessors = context.device().multiprocessors()?;
        let clock = Instant::now();
        let module = Arc::new(RawModule::from_ptx(context.session(), PTX)?);
        let set = KernelSet::find(&module, multiprocessors)?;
        Ok(Self { set, context: context.clone(), load_time: clock.elapsed() })
    }

    /// Returns the time that loading took: the driver's compilation of the PTX, which newer drivers put off until a
    /// kernel is looked up, or reading the result from its cache.
    #[must_use]
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// Returns the context in which they are loaded.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Computes `out[i] = value`.
    ///
    /// # Errors
    /// When the objects are of different devices, or the driver fails.
    pub fn fill<T: Real>(&self, stream: &Stream, value: T, out: &mut DeviceBuffer<T>) -> Result<(), CudaError> {
        self.set.fill(stream.raw(), value, out)
    }

    /// Computes `out[i] = x[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn copy<T: Stored>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Copy, stream.raw(), x, out)
    }

    /// Computes `out[i] = exp(x[i])`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn exp<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Exp, stream.raw(), x, out)
    }

    /// Computes `out[i] = ln(x[i])`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn ln<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Ln, stream.raw(), x, out)
    }

    /// Computes `out[i] = sqrt(x[i])`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn sqrt<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Sqrt, stream.raw(), x, out)
    }

    /// Computes `out[i] = tanh(x[i])`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn tanh<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Tanh, stream.raw(), x, out)
    }

    /// Computes `out[i] = 1 / (1 + exp(-x[i]))`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn sigmoid<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Sigmoid, stream.raw(), x, out)
    }

    /// Computes `out[i] = 0` where `x[i] < 0`, else `x[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn relu<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Relu, stream.raw(), x, out)
    }

    /// Computes `out[i] = |x[i]|`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn abs<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.unary(Unary::Abs, stream.raw(), x, out)
    }

    /// Computes `out[i] = x[i] + y[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn add<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.binary(Binary::Add, stream.raw(), x, y, out)
    }

    /// Computes `out[i] = x[i] - y[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn sub<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.binary(Binary::Sub, stream.raw(), x, y, out)
    }

    /// Computes `out[i] = x[i] * y[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn mul<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.binary(Binary::Mul, stream.raw(), x, y, out)
    }

    /// Computes `out[i] = x[i] / y[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn div<T: Real>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.binary(Binary::Div, stream.raw(), x, y, out)
    }

    /// Computes `out[i] = a * x[i]`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn scale<T: Real>(
        &self,
        stream: &Stream,
        a: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.scalar(WithScalar::Scale, stream.raw(), a, x, out)
    }

    /// Computes `out[i] = x[i] + a`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn add_scalar<T: Real>(
        &self,
        stream: &Stream,
        a: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.scalar(WithScalar::Add, stream.raw(), a, x, out)
    }

    /// Computes `out[i] = x[i] / a`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn div_scalar<T: Real>(
        &self,
        stream: &Stream,
        a: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.scalar(WithScalar::Div, stream.raw(), a, x, out)
    }

    /// Computes `out[i] = x[i]`, raised to `low` where it is below and then lowered to `high` where it is above.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn clip<T: Real>(
        &self,
        stream: &Stream,
        low: T,
        high: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.clip(stream.raw(), low, high, x, out)
    }

    /// Computes an operation of two arrays that are broadcast to `rows` x `columns` elements.
    ///
    /// # Errors
    /// When an operand or `out` does not have the elements that its distances reach, the objects are of different devices,
    /// or the driver fails.
    pub fn broadcast<T: Real>(
        &self,
        stream: &Stream,
        operation: Arithmetic,
        (rows, columns): (usize, usize),
        x: BroadcastOperand<'_, T>,
        y: BroadcastOperand<'_, T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.broadcast(operation.stem(), stream.raw(), (rows, columns), &[x, y], out)
    }

    /// Takes `x` where `condition` is not 0, and `y` elsewhere; all three are broadcast to `rows` x `columns` elements.
    ///
    /// # Errors
    /// When an operand or `out` does not have the elements that its distances reach, the objects are of different devices,
    /// or the driver fails.
    pub fn select<T: Real>(
        &self,
        stream: &Stream,
        (rows, columns): (usize, usize),
        condition: BroadcastOperand<'_, T>,
        [x, y]: [BroadcastOperand<'_, T>; 2],
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.broadcast("array_select", stream.raw(), (rows, columns), &[condition, x, y], out)
    }

    /// Does one pass of a reduction of each row of `x`, which has `rows` x `columns` elements: `partial` gets one number for
    /// each [`ROW_PART`] columns of each row, at least one, row after row. Each row is reduced as an array of its own.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails; [`CudaError::LaunchShape`] for more
    /// parts than a launch has blocks.
    pub fn reduce_rows<T: Real>(
        &self,
        stream: &Stream,
        reduction: AxisReduction,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.reduce_rows(reduction, stream.raw(), (rows, columns), x, partial)
    }

    /// Does one pass of a reduction of each column of `x`, which has `rows` x `columns` elements: `partial` gets a row for
    /// each [`COLUMN_PART`] rows, at least one, in which the numbers of a column are joined one after the other.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn reduce_columns<T: Real>(
        &self,
        stream: &Stream,
        reduction: AxisReduction,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.reduce_columns(reduction, stream.raw(), (rows, columns), x, partial)
    }

    /// Computes `out[i] = start + step * i`, with `i` rounded to the type, then the product, then the sum.
    ///
    /// # Errors
    /// When the objects are of different devices, or the driver fails.
    pub fn arange<T: Real>(
        &self,
        stream: &Stream,
        start: T,
        step: T,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.arange(stream.raw(), start, step, out)
    }

    /// Makes `out` the identity with `side` rows.
    ///
    /// # Errors
    /// When `out` is of another length, the objects are of different devices, or the driver fails.
    pub fn eye<T: Real>(&self, stream: &Stream, side: usize, out: &mut DeviceBuffer<T>) -> Result<(), CudaError> {
        self.set.eye(stream.raw(), side, out)
    }

    /// Turns `x`, of `rows` x `columns` elements, over into `out`.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn transpose<T: Stored>(
        &self,
        stream: &Stream,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.transpose(stream.raw(), (rows, columns), x, out)
    }

    /// Copies a window of `rows` x `columns` elements from one place to another; the rest of `out` stays as it is.
    ///
    /// # Errors
    /// When a window ends beyond its buffer, the objects are of different devices, or the driver fails.
    pub fn window<T: Stored>(
        &self,
        stream: &Stream,
        (rows, columns): (usize, usize),
        (x, from): (&DeviceBuffer<T>, WindowPlace),
        (out, to): (&mut DeviceBuffer<T>, WindowPlace),
    ) -> Result<(), CudaError> {
        self.set.window(stream.raw(), (rows, columns), (x, from), (out, to))
    }

    /// Converts `x[i]` to another type, to the nearest, ties to even; to the same type is to copy.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn cast<T: Stored, U: Stored>(
        &self,
        stream: &Stream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<U>,
    ) -> Result<(), CudaError> {
        self.set.cast(stream.raw(), x, out)
    }

    /// Computes `out[i] = a * x[i] + y[i]`, rounded after the product and after the sum.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails.
    pub fn axpy<T: Real>(
        &self,
        stream: &Stream,
        a: T,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.axpy(stream.raw(), a, x, y, out)
    }

    /// Returns the sum of all elements in the virtual warp's order; +0 for none.
    ///
    /// # Errors
    /// When the objects are of different devices, memory for partial results is out, or the driver fails.
    pub fn sum<T: Real>(&self, stream: &Stream, x: &DeviceBuffer<T>) -> Result<T, CudaError> {
        self.reduce(Reduction::Sum, stream, x)
    }

    /// Returns the smallest element; NaN when there is one, infinity for no elements.
    ///
    /// # Errors
    /// When the objects are of different devices, memory for partial results is out, or the driver fails.
    pub fn min<T: Real>(&self, stream: &Stream, x: &DeviceBuffer<T>) -> Result<T, CudaError> {
        self.reduce(Reduction::Min, stream, x)
    }

    /// Returns the largest element; NaN when there is one, minus infinity for no elements.
    ///
    /// # Errors
    /// When the objects are of different devices, memory for partial results is out, or the driver fails.
    pub fn max<T: Real>(&self, stream: &Stream, x: &DeviceBuffer<T>) -> Result<T, CudaError> {
        self.reduce(Reduction::Max, stream, x)
    }

    /// Returns the sum of `x[i] * y[i]`, each product rounded, in the virtual warp's order; +0 for no elements.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, memory for partial results is out, or the driver
    /// fails.
    pub fn dot<T: Real>(&self, stream: &Stream, x: &DeviceBuffer<T>, y: &DeviceBuffer<T>) -> Result<T, CudaError> {
        let mut partial = self.partial(x.len())?;
        self.set.dot(stream.raw(), x, y, &mut partial)?;
        self.finish(Reduction::Sum, stream, partial)
    }

    /// Computes `c = a b`: each element of `c` is summed over k in order, rounded after each product and each sum.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails; [`CudaError::LaunchShape`] when
    /// m is above 1 048 560.
    pub fn matmul<T: Real>(
        &self,
        stream: &Stream,
        shape: MatrixShape,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.matmul(stream.raw(), shape, a, b, c)
    }

    /// Computes `c = a b` as fast as this program can: products and sums are fused, and the bits are no part of the promise.
    ///
    /// # Errors
    /// When lengths differ, the objects are of different devices, or the driver fails; [`CudaError::LaunchShape`] when
    /// m is above 4 194 240.
    pub fn matmul_fast<T: Real>(
        &self,
        stream: &Stream,
        shape: MatrixShape,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.matmul_fast(stream.raw(), shape, a, b, c)
    }

    /// Fills `out`: `out[i]` is number i of a stream of uniform numbers between 0 and 1.
    ///
    /// # Errors
    /// When the objects are of different devices, or the driver fails.
    pub fn random_uniform(
        &self,
        stream: &Stream,
        numbers: NumberStream,
        out: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        self.set.random(Numbers::Uniform, stream.raw(), numbers, out)
    }

    /// Fills `out`: `out[i]` is the standard normal number made of number i of a stream.
    ///
    /// # Errors
    /// When the objects are of different devices, or the driver fails.
    pub fn random_normal(
        &self,
        stream: &Stream,
        numbers: NumberStream,
        out: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        self.set.random(Numbers::Normal, stream.raw(), numbers, out)
    }

    /// Fills `out` with draws of a distribution: `out[i]` is draw `range.first + i`. `refused[0]` becomes 1, and the draw
    /// NaN, where one is refused in all of its turns.
    ///
    /// # Errors
    /// When `refused` is empty, the objects are of different devices, or the driver fails.
    pub fn draw<T: Real>(
        &self,
        stream: &Stream,
        (distribution, parameters): (DrawnFrom, [T; 3]),
        range: DrawRange,
        refused: &mut DeviceBuffer<u32>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.draw(distribution, stream.raw(), parameters, range, (refused, out))
    }

    /// Fills `out` with draws of von Mises distributions with parameters of their own, in rows of `columns`.
    ///
    /// # Errors
    /// When a draw has no element among the parameters, `columns` is 0, `refused` is empty, the objects are of different
    /// devices, or the driver fails.
    pub fn draw_von_mises_each<T: Real>(
        &self,
        stream: &Stream,
        [loc, concentration]: [BroadcastOperand<'_, T>; 2],
        columns: usize,
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        self.set.draw_von_mises_each(stream.raw(), [loc, concentration], columns, range, (refused, out))
    }

    /// Fills `out` with unit vectors of the von Mises-Fisher distribution around `direction`, in rows of as many numbers:
    /// row i is draw `range.first + i`.
    ///
    /// # Errors
    /// When `direction` has fewer than 2 numbers, `out` is no whole number of rows, `refused` is empty, the objects are of
    /// different devices, or the driver fails.
    pub fn draw_von_mises_fisher<T: Real>(
        &self,
        stream: &Stream,
        (direction, concentration): (&DeviceBuffer<T>, T),
        range: DrawRange,
        refused: &mut DeviceBuffer<u32>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        self.set.draw_von_mises_fisher(stream.raw(), (direction, concentration), range, (refused, out))
    }

    fn reduce<T: Real>(&self, kernel: Reduction, stream: &Stream, x: &DeviceBuffer<T>) -> Result<T, CudaError> {
        let mut partial = self.partial(x.len())?;
        self.set.reduce(kernel, stream.raw(), x, &mut partial)?;
        self.finish(kernel, stream, partial)
    }

    /// Reduces partial results until one is left, and fetches it.
    fn finish<T: Real>(
        &self,
        kernel: Reduction,
        stream: &Stream,
        mut partial: DeviceBuffer<T>,
    ) -> Result<T, CudaError> {
        while partial.len() > 1 {
            let mut next = self.partial(partial.len())?;
            self.set.reduce(kernel, stream.raw(), &partial, &mut next)?;
            partial = next;
        }
        let mut value = [T::default()];
        partial.copy_to(&mut value)?;
        Ok(value[0])
    }

    /// Returns a buffer for the partial results of `length` elements; the kernel fills it.
    fn partial<T: Real>(&self, length: usize) -> Result<DeviceBuffer<T>, CudaError> {
        DeviceBuffer::unfilled(&self.context, length.div_ceil(CHUNK).max(1))
    }
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernels").field("context", &self.context).field("load_time", &self.load_time).finish()
    }
}
