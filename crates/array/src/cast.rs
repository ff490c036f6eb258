//! Arrays of another type: NumPy's and CuPy's `astype`.

use crate::storage::{Storage, on_whole_host};
use crate::{Array, ArrayElement, ArrayError, cpu};
use half::f16;

impl<T: ArrayElement> Array<T> {
    /// Converts to half precision, to the nearest, ties to even, and infinity from 65520 on: half the memory of `f32`, for
    /// numbers that are stored and not computed with. `f64` is rounded once, and not by way of `f32`.
    ///
    /// ```
    /// use octopus_array::Array;
    ///
    /// let stored = Array::from_slice(&[0.1_f32, 2.0, 1e5])?.to_f16()?;
    /// // Arithmetic is done in f32, after a cast.
    /// assert_eq!(stored.to_f32()?.scale(2.0)?.to_host()?, [0.199_951_17, 4.0, f32::INFINITY]);
    /// # Ok::<(), octopus_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn to_f16(&self) -> Result<Array<f16>, ArrayError> {
        self.cast(cpu::to_f16)
    }

    /// Converts to f32, to the nearest, ties to even. Of an array of f32 it is a copy.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn to_f32(&self) -> Result<Array<f32>, ArrayError> {
        self.cast(cpu::to_f32)
    }

    /// Converts to f64, which holds each value exactly. Of an array of f64 it is a copy.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn to_f64(&self) -> Result<Array<f64>, ArrayError> {
        self.cast(cpu::to_f64)
    }

    fn cast<U: ArrayElement>(
        &self,
        on_cpu: impl Fn(&[T], &mut [U]) -> Result<(), ArrayError>,
    ) -> Result<Array<U>, ArrayError> {
        match &self.storage {
            Storage::Host(x) => on_whole_host(self.shape, |out| on_cpu(x, out)),
            Storage::Cuda(x) => {
                let engine = x.engine();
                Array::made_on(engine, self.shape, |out| engine.kernels().cast(engine.stream(), x, out))
            }
        }
    }
}
