//! Launches of kernels, with everything checked that can be checked without knowing what the kernel does.
//!
//! Arguments are compared with the PTX's parameters, and grid and block (blocks, threads) with the driver's limits.

use super::module::RawFunction;
use super::status::Operation;
use super::stream::RawStream;
use crate::ptx::{self, Parameter};
use crate::{CudaError, DeviceBuffer, DeviceWorkKind, Element};
use core::ffi::c_void;
use core::ptr;
use cust::sys;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The driver's limits, which all devices from compute capability 3.0 on share.
const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const MOST_THREADS: u32 = 1024;

/// One launch in the making: the kernel, its shape and its arguments.
///
/// Buffers are borrowed until the launch is queued, those that the kernel writes for writing, so that no two
/// arguments name the same memory. [`Launch::on`] compares the arguments to the parameters that the PTX declares, the
/// shape to the limits, and every object's context. What remains for the caller of `on` is what the kernel does.
pub(super) struct Launch<'a> {
    function: &'a RawFunction,
    blocks: [u32; 3],
    threads: [u32; 3],
    shared_bytes: u32,
    /// How long the host waits where all blocks run side by side.
    together: Option<Duration>,
    /// The bytes that the driver reads, each argument beginning at a word: aligned for every kind.
    words: Vec<u64>,
    arguments: Vec<Argument>,
    /// Whether a buffer is of another context.
    foreign: bool,
}

/// The place where an argument begins, and the type that it is passed as.
struct Argument {
    word: usize,
    kind: Parameter,
}

impl<'a> Launch<'a> {
    /// Blocks of the grid and threads of a block, in x, y and z.
    pub(super) fn new(function: &'a RawFunction, blocks: [u32; 3], threads: [u32; 3]) -> Self {
        let (words, arguments) = (Vec::with_capacity(8), Vec::with_capacity(8));
        Self { function, blocks, threads, shared_bytes: 0, together: None, words, arguments, foreign: false }
    }

    /// Runs all blocks side by side, so that they may wait for each other. There may be no more of them than
    /// [`RawFunction::blocks_at_once`] tells; otherwise the driver answers 720. Whoever waits for the device does so for
    /// `patience` and no longer.
    pub(super) fn together(self, patience: Duration) -> Self {
        Self { together: Some(patience), ..self }
    }

    /// A buffer that the kernel reads.
    pub(super) fn input<T: Element>(self, buffer: &'a DeviceBuffer<T>) -> Self {
        self.address(buffer)
    }

    /// A buffer that the kernel writes, and may read.
    pub(super) fn output<T: Element>(self, buffer: &'a mut DeviceBuffer<T>) -> Self {
        self.address(buffer)
    }

    /// A buffer from a byte on: what of it the kernel reads.
    pub(super) fn part(mut self, buffer: &'a DeviceBuffer<u8>, start: usize) -> Self {
        self.foreign |= self.function.session().same(buffer.memory().session(), "").is_err();
        self.value(buffer.memory().address() + start as u64)
    }

    /// A number.
    pub(super) fn value<T: Element>(mut self, value: T) -> Self {
        self.push(&value.argument(), Parameter::of::<T>());
        self
    }

    /// A structure by value, as the kernel's C++ lays it out. Its size is compared to the declaration; what its bytes
    /// mean is not: addresses in it are for the caller of [`Launch::on`] to vouch for, contexts included.
    pub(super) fn bytes(mut self, structure: &[u8]) -> Self {
        self.push(structure, Parameter::Structure(structure.len()));
        self
    }

    fn push(&mut self, bytes: &[u8], kind: Parameter) {
        self.arguments.push(Argument { word: self.words.len(), kind });
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        self.words.extend(bytes.chunks(8).map(word));
    }

    fn address<T: Element>(mut self, buffer: &DeviceBuffer<T>) -> Self {
        self.foreign |= self.function.session().same(buffer.memory().session(), "").is_err();
        self.value(buffer.memory().address())
    }

    /// Queues the launch.
    ///
    /// # Safety
    /// With these arguments and this shape the kernel reads and writes within its buffers only, and blocks wait for each
    /// other only if they run [`Launch::together`].
    ///
    /// # Errors
    /// When arguments, shape or contexts do not fit, and when the driver refuses.
    pub(super) unsafe fn on(self, stream: &RawStream) -> Result<(), CudaError> {
        self.check(stream)?;
        let session = self.function.session();
        let [blocks_x, blocks_y, blocks_z] = self.blocks;
        let [threads_x, threads_y, threads_z] = self.threads;
        let mut pointers: Vec<*mut c_void> =
            self.arguments.iter().map(|argument| self.words[argument.word..].as_ptr().cast_mut().cast()).collect();
        let (function, shared_bytes, stream) = (self.function.handle(), self.shared_bytes, stream.handle());
        let name = self.function.name();
        let operation = if self.together.is_some() { Operation::LaunchTogether(name) } else { Operation::Launch(name) };
        let launch = || {
            let pointers = pointers.as_mut_ptr();
            // SAFETY: function and stream are alive and of this context; there is one pointer for each parameter
            // that the kernel declares, to as many bytes as its kind has (checked), in `words`; the driver has copied them when
            // this returns. Memory that the kernel uses is freed only when the context is idle, and that it stays
            // within is this function's contract.
            unsafe {
                if self.together.is_some() {
                    sys::cuLaunchCooperativeKernel(
                        function,
                        blocks_x,
                        blocks_y,
                        blocks_z,
                        threads_x,
                        threads_y,
                        threads_z,
                        shared_bytes,
                        stream,
                        pointers,
                    )
                } else {
                    sys::cuLaunchKernel(
                        function,
                        blocks_x,
                        blocks_y,
                        blocks_z,
                        threads_x,
                        threads_y,
                        threads_z,
                        shared_bytes,
                        stream,
                        pointers,
                        ptr::null_mut(),
                    )
                }
            }
        };
        session.submit(
            stream,
            || (name.to_owned().into(), DeviceWorkKind::Kernel),
            || session.call(operation, launch),
        )?;
        session.counters.launched();
        session.has_queued();
        if let Some(patience) = self.together {
            session.patience.expect(self.function.name(), patience);
        }
        Ok(())
    }

    fn check(&self, stream: &RawStream) -> Result<(), CudaError> {
        let kernel = || self.function.name().to_owned();
        if self.foreign || self.function.session().same(stream.session(), "").is_err() {
            return Err(CudaError::ContextMismatch { operation: format!("launching {}", kernel()) });
        }
        let given: Vec<Parameter> = self.arguments.iter().map(|argument| argument.kind).collect();
        if given != self.function.parameters() {
            let expected = ptx::shown(self.function.parameters());
            return Err(CudaError::KernelSignature { kernel: kernel(), expected, found: ptx::shown(&given) });
        }
        let threads = self.threads.iter().map(|&count| u64::from(count)).product::<u64>();
        let too_many = self.blocks.iter().zip(MOST_BLOCKS).any(|(&count, most)| count == 0 || count > most);
        if too_many || threads == 0 || threads > u64::from(MOST_THREADS) {
            let detail = format!(
                "{:?} blocks of {:?} threads are not within {MOST_BLOCKS:?} blocks of {MOST_THREADS} threads",
                self.blocks, self.threads
            );
            return Err(CudaError::LaunchShape { kernel: kernel(), detail });
        }
        Ok(())
    }
}
