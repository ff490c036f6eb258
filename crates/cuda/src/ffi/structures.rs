//! Structures that kernels take by value, with addresses in them.

use super::module::RawFunction;
use crate::nuts::{NutsData, structures};
use crate::{CudaError, DeviceBuffer, Element};

/// Addresses as they come into a kernel's structures; whether they are of the kernel's context is noted.
pub(super) struct Addresses<'a> {
    function: &'a RawFunction,
    foreign: bool,
}

impl<'a> Addresses<'a> {
    /// Collects the addresses in an argument of this kernel.
    pub(super) fn of(function: &'a RawFunction) -> Self {
        Self { function, foreign: false }
    }

    pub(super) fn address<T: Element>(&mut self, buffer: &DeviceBuffer<T>) -> u64 {
        self.foreign |= self.function.session().same(buffer.memory().session(), "").is_err();
        buffer.memory().address()
    }

    /// # Errors
    /// [`CudaError::ContextMismatch`] when an address was of another context than the kernel's.
    pub(super) fn are_the_function_s(&self) -> Result<(), CudaError> {
        if self.foreign {
            return Err(CudaError::ContextMismatch { operation: format!("launching {}", self.function.name()) });
        }
        Ok(())
    }
}

/// Lays out the data that a density reads, in its own order.
pub(super) fn data_structure(addresses: &mut Addresses<'_>, data: &NutsData) -> Vec<u8> {
    structures::data_structure(data.format().scalar, data.parts(), |buffer| addresses.address(buffer)).finished()
}
