//! The stand-in for `ffi` without the feature `cuda`: the same items, of which none can be made.
//!
//! Every entry answers [`CudaError::NotBuilt`]. The types have no values, so their methods need no code, and the
//! compiler leaves out what is built on them. A function that is given a session cannot be called either: a session
//! holds a [`PrimaryContext`], which has no value.

// The signatures are those of `ffi`, where the type parameters are used.
#![allow(clippy::extra_unused_type_parameters)]

use crate::kernels::{
    AxisReduction, Binary, BroadcastOperand, DrawRange, DrawnFrom, MatrixShape, NumberStream, Numbers, Reduction,
    Unary, WindowPlace, WithScalar,
};
use crate::nuts::windows::WindowShape;
use crate::nuts::{
    NutsBatch, NutsBatchLaunch, NutsBatchSlot, NutsChains, NutsData, NutsEntry, NutsGeometry, NutsLaunch, NutsSlot,
};
use crate::session::DeviceSession;
use crate::{CudaError, DeviceAttribute, DeviceBuffer, Element, Real, Stored, Stream};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

type Answer<T> = Result<T, CudaError>;

pub(crate) fn set_library(_: &Path) -> Answer<()> {
    Err(CudaError::NotBuilt)
}

pub(crate) fn driver_version() -> Answer<(u32, u32)> {
    Err(CudaError::NotBuilt)
}

pub(crate) fn device_count() -> Answer<u32> {
    Err(CudaError::NotBuilt)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawDevice {}
pub(crate) enum PrimaryContext {}
pub(crate) enum RawDeviceMemory {}
pub(crate) enum PinnedMemory {}
pub(crate) enum InFlight {}
pub(crate) enum RawStream {}
pub(crate) enum RawEvent {}
pub(crate) enum RawModule {}
pub(crate) enum KernelSet {}
pub(crate) enum NutsFunctions {}
pub(crate) enum BatchFunctions {}
pub(crate) enum WindowFunctions {}

impl RawDevice {
    pub(crate) fn get(_: u32) -> Answer<Self> {
        Err(CudaError::NotBuilt)
    }

    pub(crate) fn name(self) -> Answer<String> {
        match self {}
    }

    pub(crate) fn pci_bus_id(self) -> Answer<String> {
        match self {}
    }

    pub(crate) fn uuid(self) -> Answer<[u8; 16]> {
        match self {}
    }

    pub(crate) fn total_memory(self) -> Answer<u64> {
        match self {}
    }

    pub(crate) fn attribute(self, _: DeviceAttribute) -> Answer<i32> {
        match self {}
    }
}

impl PrimaryContext {
    pub(crate) fn retain(device: RawDevice) -> Answer<Self> {
        match device {}
    }

    pub(crate) fn abandon(&mut self) {
        match *self {}
    }
}

#[derive(Default)]
pub(crate) struct EventPool {}

impl EventPool {
    pub(crate) fn end(&self, session: &DeviceSession) {
        match session.primary {}
    }
}

#[derive(Default)]
pub(crate) struct Timeline {}

impl Timeline {
    pub(crate) fn read(&self, session: &DeviceSession) {
        match session.primary {}
    }

    pub(crate) fn end(&self, session: &DeviceSession) {
        match session.primary {}
    }
}

impl DeviceSession {
    pub(crate) fn wait_for_all(&self) -> Answer<()> {
        match self.primary {}
    }

    pub(crate) fn memory_info(&self) -> Answer<(u64, u64)> {
        match self.primary {}
    }
}

impl RawDeviceMemory {
    pub(crate) fn allocate<T: Element>(session: &Arc<DeviceSession>, _: usize) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn zero(&mut self) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn write<T: Element>(&mut self, _: usize, _: &[T]) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn read<T: Element>(&self, _: usize, _: &mut [T]) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn write_from<T: Element>(&mut self, _: &Self, _: usize) -> Answer<()> {
        match *self {}
    }
}

impl PinnedMemory {
    pub(crate) fn zeroed<T: Element>(session: &Arc<DeviceSession>, _: usize) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn slice<T: Element>(&self) -> &[T] {
        match *self {}
    }

    pub(crate) fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        match *self {}
    }
}

impl InFlight {
    pub(crate) fn upload<T: Element>(
        device: &mut RawDeviceMemory,
        _: Range<usize>,
        _: PinnedMemory,
        _: &RawStream,
    ) -> Answer<Self> {
        match *device {}
    }

    pub(crate) fn download<T: Element>(
        device: &RawDeviceMemory,
        _: Range<usize>,
        _: PinnedMemory,
        _: &RawStream,
    ) -> Answer<Self> {
        match *device {}
    }

    pub(crate) fn is_done(&self) -> Answer<bool> {
        match *self {}
    }

    pub(crate) fn wait(self) -> Answer<PinnedMemory> {
        match self {}
    }
}

impl RawStream {
    pub(crate) fn new(session: &Arc<DeviceSession>) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn synchronize(&self) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn is_idle(&self) -> Answer<bool> {
        match *self {}
    }

    pub(crate) fn wait_for(&self, _: &RawEvent) -> Answer<()> {
        match *self {}
    }
}

impl RawEvent {
    pub(crate) fn new(session: &Arc<DeviceSession>) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn spare(session: &Arc<DeviceSession>) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn record(&self, _: &RawStream) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn is_done(&self) -> Answer<bool> {
        match *self {}
    }

    pub(crate) fn synchronize(&self) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn elapsed_since(&self, _: &Self) -> Answer<Duration> {
        match *self {}
    }
}

impl RawModule {
    pub(crate) fn from_ptx(session: &Arc<DeviceSession>, _: &str) -> Answer<Self> {
        match session.primary {}
    }

    pub(crate) fn kernel_names(&self) -> impl Iterator<Item = &str> {
        match *self {}
        std::iter::empty()
    }
}

impl KernelSet {
    pub(crate) fn find(module: &Arc<RawModule>, _: u32) -> Answer<Self> {
        match **module {}
    }

    pub(crate) fn fill<T: Real>(&self, _: &RawStream, _: T, _: &mut DeviceBuffer<T>) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn unary<T: Stored>(
        &self,
        _: Unary,
        _: &RawStream,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn binary<T: Real>(
        &self,
        _: Binary,
        _: &RawStream,
        _: &DeviceBuffer<T>,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn scalar<T: Real>(
        &self,
        _: WithScalar,
        _: &RawStream,
        _: T,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn axpy<T: Real>(
        &self,
        _: &RawStream,
        _: T,
        _: &DeviceBuffer<T>,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn reduce<T: Real>(
        &self,
        _: Reduction,
        _: &RawStream,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn dot<T: Real>(
        &self,
        _: &RawStream,
        _: &DeviceBuffer<T>,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn matmul<T: Real>(
        &self,
        _: &RawStream,
        _: MatrixShape,
        _: &DeviceBuffer<T>,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn clip<T: Real>(
        &self,
        _: &RawStream,
        _: T,
        _: T,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn cast<T: Stored, U: Stored>(
        &self,
        _: &RawStream,
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<U>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn arange<T: Real>(&self, _: &RawStream, _: T, _: T, _: &mut DeviceBuffer<T>) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn eye<T: Real>(&self, _: &RawStream, _: usize, _: &mut DeviceBuffer<T>) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn broadcast<T: Real>(
        &self,
        _: &str,
        _: &RawStream,
        _: (usize, usize),
        _: &[BroadcastOperand<'_, T>],
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn reduce_rows<T: Real>(
        &self,
        _: AxisReduction,
        _: &RawStream,
        _: (usize, usize),
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn reduce_columns<T: Real>(
        &self,
        _: AxisReduction,
        _: &RawStream,
        _: (usize, usize),
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn transpose<T: Stored>(
        &self,
        _: &RawStream,
        _: (usize, usize),
        _: &DeviceBuffer<T>,
        _: &mut DeviceBuffer<T>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn window<T: Stored>(
        &self,
        _: &RawStream,
        _: (usize, usize),
        _: (&DeviceBuffer<T>, WindowPlace),
        _: (&mut DeviceBuffer<T>, WindowPlace),
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn random(&self, _: Numbers, _: &RawStream, _: NumberStream, _: &mut DeviceBuffer<f64>) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn draw<T: Real>(
        &self,
        _: DrawnFrom,
        _: &RawStream,
        _: [T; 3],
        _: DrawRange,
        _: (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn draw_von_mises_each<T: Real>(
        &self,
        _: &RawStream,
        _: [BroadcastOperand<'_, T>; 2],
        _: usize,
        _: DrawRange,
        _: (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn draw_von_mises_fisher<T: Real>(
        &self,
        _: &RawStream,
        _: (&DeviceBuffer<T>, T),
        _: DrawRange,
        _: (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Answer<()> {
        match *self {}
    }
}

impl NutsFunctions {
    pub(crate) fn find(module: &Arc<RawModule>, _: &str, _: &str) -> Answer<Self> {
        match **module {}
    }

    pub(crate) fn blocks_at_once(&self) -> Answer<usize> {
        match *self {}
    }

    #[allow(clippy::too_many_arguments, reason = "as in `ffi`")]
    pub(crate) fn queue(
        &self,
        _: NutsEntry,
        _: &RawStream,
        _: &NutsLaunch,
        _: u32,
        _: &NutsData,
        _: &NutsGeometry,
        _: &mut NutsChains,
        _: &mut NutsSlot,
    ) -> Answer<()> {
        match *self {}
    }
}

impl BatchFunctions {
    pub(crate) fn find(module: &Arc<RawModule>, _: &str) -> Answer<Self> {
        match **module {}
    }

    pub(crate) fn queue(
        &self,
        _: NutsEntry,
        _: &Stream,
        _: &[NutsBatchLaunch],
        _: usize,
        _: &mut NutsBatch,
        _: &mut NutsBatchSlot,
    ) -> Answer<()> {
        match *self {}
    }
}

impl WindowFunctions {
    pub(crate) fn find(module: &Arc<RawModule>) -> Answer<Self> {
        match **module {}
    }

    pub(crate) fn append(
        &self,
        _: &RawStream,
        _: WindowShape,
        _: &NutsSlot,
        _: &mut DeviceBuffer<f64>,
        _: &mut DeviceBuffer<f64>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn sums(
        &self,
        _: &RawStream,
        _: WindowShape,
        _: &DeviceBuffer<f64>,
        _: &DeviceBuffer<f64>,
        _: bool,
        _: &mut DeviceBuffer<f64>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn pool(
        &self,
        _: &RawStream,
        _: WindowShape,
        _: &DeviceBuffer<f64>,
        _: &mut DeviceBuffer<f64>,
    ) -> Answer<()> {
        match *self {}
    }

    pub(crate) fn gather(
        &self,
        _: &RawStream,
        _: WindowShape,
        _: &DeviceBuffer<f64>,
        _: usize,
        _: usize,
        _: &mut DeviceBuffer<f64>,
    ) -> Answer<()> {
        match *self {}
    }
}
