//! The kernels of this program as safe functions over device buffers.
//!
//! They are element-wise operations (add, exp, axpy), sums, dot products, minima and maxima (reductions), the matrix
//! product (matmul), and uniform and normal random numbers. A reduction's passes, and the device memory for its partial
//! results, are here.

use crate::binding::{KernelSet, RawModule};
use crate::{Context, CudaError, DeviceBuffer, PTX, Real, Stream};
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
/// All kernels are exact: each operation is rounded once, to the nearest, and nothing is fused or approximated, so
/// their CPU twins give the same bits. `exp` and `ln` are those of `octopus-random`.
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
    /// Between low and low + width.
    Uniform,
    /// Of a loc and a scale.
    Normal,
    /// Of a scale.
    Exponential,
    /// Of a shape and a scale.
    Gamma,
    /// Of a and b.
    Beta,
    /// Of degrees of freedom, loc and scale.
    StudentT,
    /// Of a loc, in [-pi, pi], and a concentration.
    VonMises,
    /// Of a loc, in [-pi, pi], and a scale.
    WrappedNormal,
}

impl DrawnFrom {
    /// Returns the kernel's name without its precision.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            Self::Uniform => "draw_uniform",
            Self::Normal => "draw_normal",
            Self::Exponential => "draw_exponential",
            Self::Gamma => "draw_gamma",
            Self::Beta => "draw_beta",
            Self::StudentT => "draw_student_t",
            Self::VonMises => "draw_von_mises",
            Self::WrappedNormal => "draw_wrapped_normal",
        }
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

/// An array of parameters in two dimensions, of which each draw has its own element: that of row r and column c is
/// `values[r * row + c * column]`.
#[derive(Clone, Copy, Debug)]
pub struct DrawParameter<'a, T: Real> {
    /// The elements.
    pub values: &'a DeviceBuffer<T>,
    /// From one row to the next; 0 where all rows share theirs.
    pub row: usize,
    /// From one column to the next; 0 where all columns share theirs.
    pub column: usize,
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
    Unary { Copy = "array_copy", Exp = "array_exp", Ln = "array_ln", Sqrt = "array_sqrt" }
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
    pub fn copy<T: Real>(
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
        self.set.scale(stream.raw(), a, x, out)
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
        [loc, concentration]: [DrawParameter<'_, T>; 2],
        columns: usize,
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        self.set.draw_von_mises_each(stream.raw(), [loc, concentration], columns, range, (refused, out))
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
