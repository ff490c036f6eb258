//! Random numbers and draws of distributions.

use super::operands::{BroadcastOperand, Numbers};
use crate::{CudaError, DeviceBuffer, Kernels, Real, Stream};

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
    /// The parameters are loc, in [-pi, pi], and scale.
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

impl Kernels {
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
}
