//! The kernels of warm-up's windows, with the reason why each launch is sound.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::stream::RawStream;
use crate::nuts::layout::THREADS;
use crate::nuts::windows::WindowShape;
use crate::nuts::{Float, NutsSlot};
use crate::{CudaError, DeviceBuffer};
use std::sync::Arc;

/// More threads than any device runs at a time: the kernels go through the rest in turns.
const MOST_BLOCKS: usize = 1 << 14;

/// The kernels, looked up.
pub(crate) struct WindowFunctions {
    append_f32: RawFunction,
    append_f64: RawFunction,
    sums: RawFunction,
    pool: RawFunction,
    gather: RawFunction,
}

fn blocks(items: usize) -> [u32; 3] {
    [items.div_ceil(THREADS as usize).clamp(1, MOST_BLOCKS) as u32, 1, 1]
}

impl WindowFunctions {
    pub(crate) fn find(module: &Arc<RawModule>) -> Result<Self, CudaError> {
        let find = |name: &str| RawFunction::find(module, &format!("nuts_windows_{name}"));
        Ok(Self {
            append_f32: find("append_f32")?,
            append_f64: find("append_f64")?,
            sums: find("sums")?,
            pool: find("pool")?,
            gather: find("gather")?,
        })
    }

    /// There is room for the slot's rows in both buffers, and all are of the same chains (`NutsWindows::append`).
    pub(crate) fn append(
        &self,
        stream: &RawStream,
        shape: WindowShape,
        slot: &NutsSlot,
        positions: &mut DeviceBuffer<f64>,
        gradients: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let window = slot.window();
        let function = if slot.element() == Float::F32 { &self.append_f32 } else { &self.append_f64 };
        let launch = Launch::new(function, blocks(shape.chains * window.len() * shape.dim), [THREADS, 1, 1]);
        let launch = launch.part(&slot.memory, slot.regions.points).output(positions).output(gradients);
        let launch = in_shape(launch, shape).value(slot.iterations() as u32);
        let launch = launch.value(window.start as u32).value(window.len() as u32);
        // SAFETY: the kernel reads rows start..start + len of each chain in a region of chains x iterations x 2 dim
        // elements (`Regions`), and writes rows of both buffers for which there is room (checked by the caller).
        unsafe { launch.on(stream) }
    }

    /// `x` has the window's shape; `about` a number for each coordinate; `out` one for each chain and coordinate.
    pub(crate) fn sums(
        &self,
        stream: &RawStream,
        shape: WindowShape,
        x: &DeviceBuffer<f64>,
        about: &DeviceBuffer<f64>,
        squared: bool,
        out: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let launch = Launch::new(&self.sums, blocks(shape.chains * shape.dim), [THREADS, 1, 1]);
        let launch = in_shape(launch.input(x).input(about).value(u32::from(squared)).output(out), shape);
        // SAFETY: reads `rows` <= `capacity` rows of each chain and `about[0..dim]`, writes `out[0..chains*dim]`.
        unsafe { launch.on(stream) }
    }

    /// `of_chains` has a number for each chain and coordinate, `total` one for each coordinate.
    pub(crate) fn pool(
        &self,
        stream: &RawStream,
        shape: WindowShape,
        of_chains: &DeviceBuffer<f64>,
        total: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let launch = Launch::new(&self.pool, blocks(shape.dim), [THREADS, 1, 1]).input(of_chains).output(total);
        let launch = launch.value(shape.chains as u32).value(shape.dim as u32);
        // SAFETY: reads `of_chains[0..chains*dim]` and writes `total[0..dim]`.
        unsafe { launch.on(stream) }
    }

    /// `x` has the window's shape, and `out` has room for `count` draws (`NutsWindows::every`).
    pub(crate) fn gather(
        &self,
        stream: &RawStream,
        shape: WindowShape,
        x: &DeviceBuffer<f64>,
        stride: usize,
        count: usize,
        out: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let launch = Launch::new(&self.gather, blocks(count * shape.dim), [THREADS, 1, 1]).input(x).output(out);
        let launch = in_shape(launch.value(stride as u32).value(count as u32), shape);
        // SAFETY: draw `k stride` is below chains * rows for every k below `count`, which the caller has from both;
        // `out` has count * dim elements at least (checked by the caller).
        unsafe { launch.on(stream) }
    }
}

/// The four numbers of `Window` in kernels/nuts/windows.cuh.
fn in_shape(launch: Launch<'_>, WindowShape { chains, rows, capacity, dim }: WindowShape) -> Launch<'_> {
    launch.value(chains as u32).value(rows as u32).value(capacity as u32).value(dim as u32)
}
