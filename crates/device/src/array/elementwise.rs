//! Element-wise operations on arrays (add, axpy, exp, ln, sqrt, ...): one twin on each side.

use super::storage::{Storage, host_memory};
use super::{Array, ArrayError, Engine, Scalar, cpu};
use octopus_cuda::{CudaError, DeviceBuffer, Kernels, Stream};

impl<T: Scalar> Array<T> {
    /// Computes `self[i] + other[i]`.
    ///
    /// # Errors
    /// When lengths or devices differ, memory does not suffice, or the device fails.
    pub fn add(&self, other: &Self) -> Result<Self, ArrayError> {
        self.binary("add", other, cpu::add, Kernels::add)
    }

    /// Computes `self[i] - other[i]`.
    ///
    /// # Errors
    /// When lengths or devices differ, memory does not suffice, or the device fails.
    pub fn sub(&self, other: &Self) -> Result<Self, ArrayError> {
        self.binary("sub", other, cpu::sub, Kernels::sub)
    }

    /// Computes `self[i] * other[i]`.
    ///
    /// # Errors
    /// When lengths or devices differ, memory does not suffice, or the device fails.
    pub fn mul(&self, other: &Self) -> Result<Self, ArrayError> {
        self.binary("mul", other, cpu::mul, Kernels::mul)
    }

    /// Computes `self[i] / other[i]`.
    ///
    /// # Errors
    /// When lengths or devices differ, memory does not suffice, or the device fails.
    pub fn div(&self, other: &Self) -> Result<Self, ArrayError> {
        self.binary("div", other, cpu::div, Kernels::div)
    }

    /// Computes `a * self[i]`.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn scale(&self, a: T) -> Result<Self, ArrayError> {
        self.unary(|x, out| cpu::scale(a, x, out), |kernels, stream, x, out| kernels.scale(stream, a, x, out))
    }

    /// Computes `a * self[i] + other[i]`, rounded after the product and after the sum.
    ///
    /// # Errors
    /// When lengths or devices differ, memory does not suffice, or the device fails.
    pub fn axpy(&self, a: T, other: &Self) -> Result<Self, ArrayError> {
        self.binary(
            "axpy",
            other,
            |x, y, out| cpu::axpy(a, x, y, out),
            |kernels, stream, x, y, out| kernels.axpy(stream, a, x, y, out),
        )
    }

    /// Computes e to the power of each element: 0 below -708 (`f32`: -87), infinity above 709 (88).
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn exp(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::exp, Kernels::exp)
    }

    /// Computes the natural logarithm of each element: minus infinity at 0 and below the normal range, NaN for negative
    /// numbers.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn ln(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::ln, Kernels::ln)
    }

    /// Computes the square root of each element, correctly rounded.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn sqrt(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::sqrt, Kernels::sqrt)
    }

    fn unary(
        &self,
        on_cpu: impl FnOnce(&[T], &mut [T]) -> Result<(), ArrayError>,
        on_device: impl FnOnce(&Kernels, &Stream, &DeviceBuffer<T>, &mut DeviceBuffer<T>) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        match &self.storage {
            Storage::Host(x) => on_host(x.len(), |out| on_cpu(x, out)),
            Storage::Cuda(buffer) => {
                let engine = buffer.engine();
                Self::made_on(engine, buffer.len(), |out| on_device(engine.kernels(), engine.stream(), buffer, out))
            }
        }
    }

    fn binary(
        &self,
        operation: &'static str,
        other: &Self,
        on_cpu: impl FnOnce(&[T], &[T], &mut [T]) -> Result<(), ArrayError>,
        on_device: impl FnOnce(
            &Kernels,
            &Stream,
            &DeviceBuffer<T>,
            &DeviceBuffer<T>,
            &mut DeviceBuffer<T>,
        ) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        match self.with(operation, other)? {
            Pair::Host(x, y) => on_host(x.len(), |out| on_cpu(x, y, out)),
            Pair::Cuda(engine, x, y) => {
                Self::made_on(engine, x.len(), |out| on_device(engine.kernels(), engine.stream(), x, y, out))
            }
        }
    }

    /// Pairs both operands, once they are known to be of one length and on one device.
    pub(super) fn with<'a>(&'a self, operation: &'static str, other: &'a Self) -> Result<Pair<'a, T>, ArrayError> {
        let pair = self.beside(operation, other)?;
        let (left, right) = (self.len(), other.len());
        if left == right { Ok(pair) } else { Err(ArrayError::Length { operation, left, right }) }
    }

    /// Pairs both operands, once they are known to be on one device.
    pub(super) fn beside<'a>(&'a self, operation: &'static str, other: &'a Self) -> Result<Pair<'a, T>, ArrayError> {
        match (&self.storage, &other.storage) {
            (Storage::Host(x), Storage::Host(y)) => Ok(Pair::Host(x, y)),
            (Storage::Cuda(x), Storage::Cuda(y)) if x.engine().device() == y.engine().device() => {
                Ok(Pair::Cuda(x.engine(), x, y))
            }
            _ => Err(ArrayError::Devices { operation, left: self.device(), right: other.device() }),
        }
    }
}

/// Two operands on one device.
pub(super) enum Pair<'a, T: Scalar> {
    Host(&'a [T], &'a [T]),
    Cuda(&'a std::sync::Arc<Engine>, &'a DeviceBuffer<T>, &'a DeviceBuffer<T>),
}

/// A new array on the CPU, filled by `fill`.
pub(super) fn on_host<T: Scalar>(
    length: usize,
    fill: impl FnOnce(&mut [T]) -> Result<(), ArrayError>,
) -> Result<Array<T>, ArrayError> {
    let mut out = host_memory(length, T::ZERO)?;
    fill(&mut out)?;
    Ok(out.into())
}
