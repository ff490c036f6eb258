//! Draws of distributions on any device: arrays of them, and streams of batches that are larger than memory.
//!
//! | You want | Use |
//! |--|--|
//! | an array of draws that stays where it is made | [`Array::drawn`] |
//! | an array of von Mises draws with parameters of their own | [`Array::drawn_von_mises`] |
//! | more draws than memory holds, batch by batch, in order | [`draw_batches`] |
//! | a pipeline: one GPU draws while another works on what it has drawn | [`draw_batches_onto`] |
//!
//! Draw `i` depends on the key and on `i` alone (`octopus-random`), and has the same bits on every device: how draws are
//! cut into batches, and which device makes which, changes nothing.

mod batches;
mod on_cpu;
mod on_gpu;
mod onto;
mod with_parameters;

pub use batches::{BatchConfig, DrawError, draw_batches};
pub use onto::draw_batches_onto;

use crate::pool::{HostBuffer, PooledBuffer};
use crate::{Array, ArrayError, ArrayShape, Engine, Scalar};
use octopus_cuda::{Context, CudaError, DeviceBuffer, DrawRange, DrawnFrom, Kernels, Stream};
use octopus_device::Device;
use octopus_random::distribution::MOST_TURNS;
use octopus_random::{Draw, Family, FloatingPoint, Key};

/// A distribution as a GPU draws from it: a kernel with its parameters.
pub enum DrawSource<T: Scalar> {
    /// Draws that are numbers.
    Numbers(DrawnFrom, [T; 3]),
    /// Unit vectors.
    Vectors {
        /// The mean direction, on the device.
        direction: DeviceBuffer<T>,
        /// The concentration.
        concentration: T,
    },
}

impl<T: Scalar> DrawSource<T> {
    /// Takes what a distribution needs to a device.
    ///
    /// # Errors
    /// When the device fails, or its memory does not suffice.
    pub fn new(context: &Context, distribution: &dyn Draw<T>) -> Result<Self, CudaError> {
        let (family, parameters) = distribution.family();
        let kernel = match family {
            Family::Uniform => DrawnFrom::Uniform,
            Family::Normal => DrawnFrom::Normal,
            Family::Exponential => DrawnFrom::Exponential,
            Family::Gamma => DrawnFrom::Gamma,
            Family::Beta => DrawnFrom::Beta,
            Family::StudentT => DrawnFrom::StudentT,
            Family::VonMises => DrawnFrom::VonMises,
            Family::VonMisesFisher => {
                let direction = DeviceBuffer::from_slice(context, distribution.direction())?;
                return Ok(Self::Vectors { direction, concentration: parameters[0] });
            }
            Family::WrappedNormal => DrawnFrom::WrappedNormal,
        };
        Ok(Self::Numbers(kernel, parameters))
    }

    /// Returns how many numbers a draw is.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Numbers(..) => 1,
            Self::Vectors { direction, .. } => direction.len(),
        }
    }

    /// Fills `out` with the draws of a range, by work that is queued on a stream. `refused[0]` becomes 1, and the draw NaN,
    /// where one is refused in all of its turns.
    ///
    /// # Errors
    /// When `refused` is empty, `out` does not hold whole draws, the objects are of different devices, or the driver fails.
    pub fn fill(
        &self,
        kernels: &Kernels,
        stream: &Stream,
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        match self {
            Self::Numbers(kernel, parameters) => kernels.draw(stream, (*kernel, *parameters), range, refused, out),
            Self::Vectors { direction, concentration } => {
                kernels.draw_von_mises_fisher(stream, (direction, *concentration), range, refused, out)
            }
        }
    }
}

impl ArrayShape {
    /// Returns the shape of so many draws of a distribution: a vector of numbers, or a matrix whose rows are vectors.
    #[must_use]
    pub fn of_draws<T: FloatingPoint>(distribution: &dyn Draw<T>, draws: usize) -> Self {
        match distribution.dimensions() {
            1 => Self::Vector(draws),
            dimensions => Self::Matrix(draws, dimensions),
        }
    }
}

/// Returns what a kernel is asked for, to make draws from `first` on.
fn range_of(key: Key, first: u64) -> DrawRange {
    DrawRange { key: key.bits(), first, most_turns: MOST_TURNS }
}

impl<T: Scalar> Array<T> {
    /// Makes an array of the first draws of a distribution, in C order, on this thread's [`Device::current`], on all cores
    /// where that is the CPU. Draws that are vectors are the rows of a matrix.
    ///
    /// On a GPU the draws are queued and the call returns. A draw that is refused in all of its turns, one in 10^58, is NaN
    /// there.
    ///
    /// ```
    /// use octopus_array::Array;
    /// use octopus_random::{Key, VonMises, VonMisesFisher};
    ///
    /// let angles = Array::<f32>::drawn(&VonMises::new(0.0, 5.0)?, Key::new(42), (10, 100))?;
    /// assert!(angles.max()? <= std::f32::consts::PI);
    ///
    /// let points = Array::<f64>::drawn(&VonMisesFisher::new(&[0.0, 0.0, 1.0], 5.0)?, Key::new(42), (1000, 3))?;
    /// assert!((points.mean_axis(0)?.to_host()?[2] - 0.8).abs() < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails, or the shape has no place for vectors.
    pub fn drawn(distribution: &dyn Draw<T>, key: Key, shape: impl Into<ArrayShape>) -> Result<Self, DrawError> {
        let (shape, dimensions) = (shape.into(), distribution.dimensions());
        if dimensions > 1 && !matches!(shape, ArrayShape::Matrix(_, columns) if columns == dimensions) {
            return Err(DrawError::Rows { dimensions, shape });
        }
        let Device::Cuda(ordinal) = Device::current() else {
            let mut out = HostBuffer::unfilled(shape.elements("drawn")?)?;
            distribution.par_fill(key, 0, &mut out)?;
            return Ok(Self::from(out).reshape(shape)?);
        };
        let engine = Engine::ready(ordinal)?;
        let source = DrawSource::new(engine.context(), distribution).map_err(|error| engine.failed(error))?;
        // It goes back to the pool and not to the driver, which would wait for the draws. Nobody reads it.
        let mut refused = PooledBuffer::filled(&engine, 1, |_| Ok(()))?;
        let (kernels, stream) = (engine.kernels(), engine.stream());
        let fill = |out: &mut DeviceBuffer<T>| source.fill(kernels, stream, range_of(key, 0), (&mut refused, out));
        Ok(Self::made_on(&engine, shape, fill)?)
    }
}

impl From<ArrayError> for DrawError {
    fn from(error: ArrayError) -> Self {
        Self::Array(error)
    }
}
