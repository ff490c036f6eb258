//! Reductions of whole arrays: their passes, and the device memory for partial results.

use super::operands::Reduction;
use crate::{CudaError, DeviceBuffer, Kernels, Real, Stream};

/// Elements that one block of a reduction takes: set in kernels/src/reduce.cu.
pub(crate) const CHUNK: usize = 16_384;

impl Kernels {
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
