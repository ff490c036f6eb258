//! Draws of distributions on any device: arrays of them, and streams of batches that are larger than memory.
//!
//! | You want | Use |
//! |--|--|
//! | an array of draws that stays where it is made | [`Array::drawn`] |
//! | more draws than memory holds, batch by batch, in order | [`draw_batches`] |
//!
//! Draw `i` depends on the key and on `i` alone (`octopus-random`), and has the same bits on every device: how draws are
//! cut into batches, and which device makes which, changes nothing.

mod batches;
mod on_cpu;
mod on_gpu;

pub use batches::{BatchConfig, DrawError, draw_batches};

use crate::array::pool::{HostBuffer, PooledBuffer};
use crate::{Array, ArrayError, ArrayShape, Device, Engine, Scalar};
use octopus_cuda::{DeviceBuffer, DrawRange, DrawnFrom};
use octopus_random::distribution::MOST_TURNS;
use octopus_random::{Draw, Family, FloatingPoint, Key};

/// Returns the kernel of a distribution, with its parameters.
pub(crate) fn kernel_of<T: FloatingPoint>(distribution: &dyn Draw<T>) -> (DrawnFrom, [T; 3]) {
    let (family, parameters) = distribution.family();
    let kernel = match family {
        Family::Uniform => DrawnFrom::Uniform,
        Family::Normal => DrawnFrom::Normal,
        Family::Exponential => DrawnFrom::Exponential,
        Family::Gamma => DrawnFrom::Gamma,
        Family::Beta => DrawnFrom::Beta,
        Family::StudentT => DrawnFrom::StudentT,
        Family::VonMises => DrawnFrom::VonMises,
        Family::WrappedNormal => DrawnFrom::WrappedNormal,
    };
    (kernel, parameters)
}

/// Returns what a kernel is asked for, to make draws from `first` on.
fn range_of(key: Key, first: u64) -> DrawRange {
    DrawRange { key: key.bits(), first, most_turns: MOST_TURNS }
}

impl<T: Scalar + FloatingPoint> Array<T> {
    /// Makes an array of the first draws of a distribution, in C order, on this thread's [`Device::current`], on all cores
    /// where that is the CPU.
    ///
    /// On a GPU the draws are queued and the call returns. A draw that is refused in all of its turns, one in 10^58, is NaN
    /// there.
    ///
    /// ```
    /// use octopus_device::Array;
    /// use octopus_random::{Key, VonMises};
    ///
    /// let angles = Array::<f32>::drawn(&VonMises::new(0.0, 5.0)?, Key::new(42), (10, 100))?;
    /// assert!(angles.max()? <= std::f32::consts::PI);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn drawn(distribution: &dyn Draw<T>, key: Key, shape: impl Into<ArrayShape>) -> Result<Self, DrawError> {
        let shape = shape.into();
        let Device::Cuda(ordinal) = Device::current() else {
            let mut out = HostBuffer::unfilled(shape.elements("drawn")?)?;
            distribution.par_fill(key, 0, &mut out)?;
            return Ok(Self::from(out).reshape(shape)?);
        };
        let engine = Engine::ready(ordinal)?;
        // It goes back to the pool and not to the driver, which would wait for the draws. Nobody reads it.
        let mut refused = PooledBuffer::filled(&engine, 1, |_| Ok(()))?;
        let (kernels, stream) = (engine.kernels(), engine.stream());
        let fill = |out: &mut DeviceBuffer<T>| {
            kernels.draw(stream, kernel_of(distribution), range_of(key, 0), &mut refused, out)
        };
        Ok(Self::made_on(&engine, shape, fill)?)
    }
}

impl From<ArrayError> for DrawError {
    fn from(error: ArrayError) -> Self {
        Self::Array(error)
    }
}
