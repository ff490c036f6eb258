//! Asynchronous copies, which run while the program goes on.

use crate::binding::InFlight;
use crate::{CudaError, Element, PinnedBuffer};
use std::fmt;
use std::marker::PhantomData;

/// A copy between a pinned and a device buffer that is under way; it keeps the pinned buffer.
///
/// Dropped before it is done, it waits for the device; forgotten, it leaks the pinned buffer. Neither lets the program
/// touch memory that the device still writes:
/// ```compile_fail,E0382
/// # use octopus_cuda::*;
/// fn early(device: &DeviceBuffer<f64>, host: PinnedBuffer<f64>, stream: &Stream) -> Result<f64, CudaError> {
///     let transfer = device.download(0..1, host, stream)?;
///     let value = host[0];
///     transfer.wait()?;
///     Ok(value)
/// }
/// ```
#[must_use = "the pinned buffer comes back from `wait`"]
pub struct Transfer<T: Element> {
    copy: InFlight,
    element: PhantomData<T>,
}

impl<T: Element> Transfer<T> {
    pub(crate) fn new(copy: InFlight) -> Self {
        Self { copy, element: PhantomData }
    }

    /// Returns whether the copy is done, without waiting.
    ///
    /// # Errors
    /// When the copy or any work before it failed.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.copy.is_done()
    }

    /// Waits for the copy and gives the pinned buffer back.
    ///
    /// # Errors
    /// When the copy or any work before it failed. The pinned buffer is then gone.
    pub fn wait(self) -> Result<PinnedBuffer<T>, CudaError> {
        self.copy.wait().map(PinnedBuffer::of)
    }
}

impl<T: Element> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfer<{}>", std::any::type_name::<T>())
    }
}
