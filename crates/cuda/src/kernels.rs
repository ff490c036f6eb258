//! The kernels of this program as safe functions over device buffers.
//!
//! Here are element-wise operations (add, exp, axpy) with broadcasting, reductions of rows and columns, parts of arrays
//! (transpose, window) and matrix products (matmul); `reductions` has sums, dot products, minima and maxima of whole
//! arrays, `draws` random numbers, `operands` what operations take and what their kernels are called.

mod draws;
mod operands;
mod reductions;

use crate::binding::{KernelSet, RawModule};
use crate::{Context, CudaError, DeviceBuffer, PTX, Real, Stored, Stream};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use draws::{DrawRange, DrawnFrom, NumberStream};
pub use operands::{Arithmetic, AxisReduction, BroadcastOperand, COLUMN_PART, MatrixShape, ROW_PART, WindowPlace};
pub(crate) use operands::{Binary, Numbers, Reduction, Unary, WithScalar};
#[cfg(feature = "cuda")]
pub(crate) use reductions::CHUNK;

/// The kernels, loaded on one device.
///
/// Every function queues its work on a stream and returns; what is computed is there after
/// [`Stream::synchronize`], and any synchronous copy of a result waits for it. Reductions return their value, and so
/// wait. Work on two streams is ordered only by [`Stream::wait_for`]: without it, a kernel may read what another is
/// still writing, and the numbers are then of no use (though nothing else can go wrong).
///
/// All kernels are exact: each operation is rounded once, to the nearest, and nothing is fused or approximated, so their
/// CPU twins give the same bits. `exp` and `ln` are those of `octopus-random`.
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
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernels").field("context", &self.context).field("load_time", &self.load_time).finish()
    }
}
