//! The parts that a device needs to compute: its context, the kernels, one stream.
//!
//! Each device has one engine in a process, which is made once, when an array first needs it.

use crate::ArrayError;
use crate::pool::Pool;
use octopus_cuda::{Context, CudaError, Kernels, Stream};
use octopus_device::Device;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One CUDA device made ready: its context, the kernels loaded in it, and the one stream on which all arrays of the
/// device are worked on.
///
/// There is one for each device and process, made on first use and kept until [`Engine::release`], so that the kernels
/// are loaded once. All threads share the stream: what they queue runs in the order in which it was queued, and nothing
/// can overtake what it depends on.
pub struct Engine {
    ordinal: u32,
    kernels: Kernels,
    stream: Stream,
    startup: Duration,
    /// Bytes of the device's memory.
    memory: u64,
    pool: Pool,
}

/// Few devices, few look-ups: a list. A device that could not be made ready is not in it, and is tried again.
static ENGINES: Mutex<Vec<Arc<Engine>>> = Mutex::new(Vec::new());

impl Engine {
    /// Returns the engine of a CUDA device, made ready if this is its first use.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be made ready; and, with the first error again, after the device was
    /// lost to this process.
    pub fn of(ordinal: u32) -> Result<Arc<Self>, CudaError> {
        // Held while a device is made ready, so that two threads do not both do it.
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.iter().find(|engine| engine.ordinal == ordinal) {
            engine.context().healthy()?;
            return Ok(Arc::clone(engine));
        }
        let clock = Instant::now();
        let context = Context::primary(&octopus_cuda::Device::get(ordinal)?)?;
        let startup = clock.elapsed();
        let kernels = Kernels::load(&context)?;
        let stream = Stream::new(&context)?;
        let memory = context.device().total_memory()?;
        let engine = Arc::new(Self { ordinal, kernels, stream, startup, memory, pool: Pool::default() });
        engines.push(Arc::clone(&engine));
        Ok(engine)
    }

    /// [`Engine::of`] with the device's name in the error.
    pub(crate) fn ready(ordinal: u32) -> Result<Arc<Self>, ArrayError> {
        Self::of(ordinal).map_err(|source| ArrayError::Cuda { device: Device::Cuda(ordinal), source })
    }

    /// Returns whether this process has made the device ready.
    #[must_use]
    pub fn is_ready(ordinal: u32) -> bool {
        ENGINES.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|engine| engine.ordinal == ordinal)
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        Device::Cuda(self.ordinal)
    }

    /// Returns the kernels, loaded.
    #[must_use]
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Returns the stream that all arrays of the device are worked on.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the device's context.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.kernels.context()
    }

    /// Returns the time it took to start the driver and to create the context, where this process had not done so
    /// before.
    #[must_use]
    pub fn startup(&self) -> Duration {
        self.startup
    }

    /// Gives the memory of arrays that are gone back to the driver: up to a sixteenth of the device is kept for those that
    /// come. Returns the number of bytes.
    pub fn trim(&self) -> u64 {
        self.pool.clear()
    }

    /// Lets go of the engine of a CUDA device, with its stream, its kernels and its memory, if no array and nobody else
    /// uses it; the next use makes the device ready anew. Returns whether this process has no engine there now.
    pub fn release(ordinal: u32) -> bool {
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        // Where only the list has it, nobody can come to use it meanwhile: they would ask the list.
        engines.retain(|engine| engine.ordinal != ordinal || Arc::strong_count(engine) > 1);
        !engines.iter().any(|engine| engine.ordinal == ordinal)
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns a driver's error with the device's name.
    pub(crate) fn failed(&self, source: CudaError) -> ArrayError {
        ArrayError::Cuda { device: self.device(), source }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("device", &self.device()).field("startup", &self.startup).finish_non_exhaustive()
    }
}
