//! Kernels that the driver compiles from PTX.

use crate::binding::RawModule;
use crate::{Context, CudaError};
use std::fmt;
use std::time::Duration;

/// Kernels that the driver compiled from a PTX text: to check that it can, and how long it takes.
///
/// To run this program's own kernels, see [`Kernels`](crate::Kernels).
pub struct Module {
    raw: RawModule,
}

impl Module {
    /// Gives a PTX text to the driver.
    ///
    /// # Errors
    /// [`CudaError::Ptx`] with the driver's log when it refuses the text.
    pub fn from_ptx(context: &Context, ptx: &str) -> Result<Self, CudaError> {
        Ok(Self { raw: RawModule::from_ptx(context.session(), ptx)? })
    }

    /// Returns the time that loading took. Drivers from CUDA 12.2 on compile a kernel only when it is looked up, and
    /// keep what they compiled in a cache on disk.
    #[must_use]
    pub fn load_time(&self) -> Duration {
        self.raw.load_time()
    }

    /// Returns the kernels that the text declares, by name in alphabetical order.
    #[must_use]
    pub fn kernel_names(&self) -> Vec<&str> {
        self.raw.kernel_names().collect()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("kernels", &self.kernel_names()).finish_non_exhaustive()
    }
}
