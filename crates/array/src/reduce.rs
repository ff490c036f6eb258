//! Sums, means, dot products, minima and maxima of whole arrays (reductions), in one order: see the [module](super).
//!
//! Which kernel does a reduction is decided here; its passes and their memory are in `octopus_cuda::Kernels`.

use crate::storage::{Pair, Storage};
use crate::{Array, ArrayError, Scalar, cpu};
use octopus_cuda::{CudaError, DeviceBuffer, Kernels, Stream};

/// Returns what the squares' sum of so many elements is divided by for a standard deviation.
pub(crate) fn freedom<T: Scalar>(elements: usize, ddof: usize) -> T {
    T::from_u64(elements.saturating_sub(ddof) as u64)
}

impl<T: Scalar> Array<T> {
    /// Returns the sum of all elements; +0 for none.
    ///
    /// # Errors
    /// When memory for partial results does not suffice, or the device fails.
    pub fn sum(&self) -> Result<T, ArrayError> {
        self.reduce(cpu::sum, Kernels::sum)
    }

    /// Returns the smallest element; NaN when there is one, infinity for no elements.
    ///
    /// # Errors
    /// When memory for partial results does not suffice, or the device fails.
    pub fn min(&self) -> Result<T, ArrayError> {
        self.reduce(cpu::min, Kernels::min)
    }

    /// Returns the largest element; NaN when there is one, minus infinity for no elements.
    ///
    /// # Errors
    /// When memory for partial results does not suffice, or the device fails.
    pub fn max(&self) -> Result<T, ArrayError> {
        self.reduce(cpu::max, Kernels::max)
    }

    /// Returns the mean of all elements, the sum over their number; NaN for none.
    ///
    /// # Errors
    /// When memory for partial results does not suffice, or the device fails.
    pub fn mean(&self) -> Result<T, ArrayError> {
        Ok(self.sum()? / T::from_u64(self.len() as u64))
    }

    /// Returns the standard deviation of all elements: the root of the squares' sum, about the mean, over their number less
    /// `ddof` (0 for the elements' own, 1 for an estimate). Two passes: first the mean, then the distances from it.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn std(&self, ddof: usize) -> Result<T, ArrayError> {
        let mean = self.mean()?;
        let squares = match &self.storage {
            Storage::Host(x) => cpu::sum_of_squares(mean, x),
            Storage::Cuda(_) => {
                let distances = self.add_scalar(T::ZERO - mean)?;
                distances.dot(&distances)?
            }
        };
        Ok((squares / freedom(self.len(), ddof)).sqrt())
    }

    /// Returns the Euclidean norm, the root of the sum of all elements' squares; 0 for none.
    ///
    /// # Errors
    /// When memory for partial results does not suffice, or the device fails.
    pub fn norm(&self) -> Result<T, ArrayError> {
        Ok(self.dot(self)?.sqrt())
    }

    /// Returns the sum of `self[i] * other[i]`, each product rounded; +0 for no elements.
    ///
    /// # Errors
    /// When lengths or devices differ, memory for partial results does not suffice, or the device fails.
    pub fn dot(&self, other: &Self) -> Result<T, ArrayError> {
        match self.with("dot", other)? {
            Pair::Host(x, y) => cpu::dot(x, y),
            Pair::Cuda(engine, x, y) => {
                engine.kernels().dot(engine.stream(), x, y).map_err(|error| engine.failed(error))
            }
        }
    }

    fn reduce(
        &self,
        on_cpu: impl FnOnce(&[T]) -> T,
        on_device: impl FnOnce(&Kernels, &Stream, &DeviceBuffer<T>) -> Result<T, CudaError>,
    ) -> Result<T, ArrayError> {
        match &self.storage {
            Storage::Host(x) => Ok(on_cpu(x)),
            Storage::Cuda(buffer) => {
                let engine = buffer.engine();
                on_device(engine.kernels(), engine.stream(), buffer).map_err(|error| engine.failed(error))
            }
        }
    }
}
