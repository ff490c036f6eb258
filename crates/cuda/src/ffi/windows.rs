//! The kernels of warm-up's windows, with the reason why each launch is sound.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::stream::RawStream;
use crate::nuts::{Float, NutsSlot, NutsWindows, WindowBlock, WindowSide};
use crate::{CudaError, DeviceBuffer};
use std::sync::Arc;

/// Threads of a block: set in kernels/nuts/units/nuts_windows.cu.
const THREADS: u32 = 128;
/// More threads than any device runs at a time: the kernels go through the rest in turns.
const MOST_BLOCKS: usize = 1 << 14;

/// The kernels, looked up.
pub(crate) struct WindowFunctions {
    append_f32: RawFunction,
    append_f64: RawFunction,
    sums: RawFunction,
    pool: RawFunction,
    center: RawFunction,
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
            center: find("center")?,
            gather: find("gather")?,
        })
    }

    /// There is room for the slot's rows, and both are of the same chains (`NutsWindows::append`).
    pub(crate) fn append(
        &self,
        stream: &RawStream,
        windows: &NutsWindows,
        slot: &NutsSlot,
        side: WindowSide,
    ) -> Result<(), CudaError> {
        let (element, window) = (slot.element(), slot.window());
        let function = if element == Float::F32 { &self.append_f32 } else { &self.append_f64 };
        let region = match side {
            WindowSide::Positions => slot.regions.draws,
            WindowSide::Gradients => slot.regions.gradients,
        };
        let items = windows.chains * window.len() * windows.dim;
        let launch = Launch::new(function, blocks(items), [THREADS, 1, 1]);
        let launch = launch.part(&slot.memory, region).input(windows.side(side));
        let launch = shape(launch, windows).value(slot.iterations() as u32);
        let launch = launch.value(window.start as u32).value(window.len() as u32);
        // SAFETY: the kernel reads rows start..start + len of each chain in a region of chains x iterations x dim
        // elements (`Regions`), and writes rows of the window for which there is room (checked by the caller). The
        // window is written though only lent for reading here: its owner, `NutsWindows::append`, holds it for writing.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn sums(
        &self,
        stream: &RawStream,
        windows: &NutsWindows,
        side: WindowSide,
        squared: bool,
    ) -> Result<(), CudaError> {
        let launch = Launch::new(&self.sums, blocks(windows.chains * windows.dim), [THREADS, 1, 1]);
        let launch = launch.input(windows.side(side)).input(&windows.about).value(u32::from(squared));
        let launch = shape(launch.input(&windows.of_chains), windows);
        // SAFETY: reads `rows` <= `capacity` rows of each chain and `about[0..dim]`, writes `of_chains[0..chains*dim]`,
        // which the caller holds for writing.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn pool(&self, stream: &RawStream, windows: &NutsWindows) -> Result<(), CudaError> {
        let launch = Launch::new(&self.pool, blocks(windows.dim), [THREADS, 1, 1]);
        let launch = launch.input(&windows.of_chains).input(&windows.total);
        let launch = launch.value(windows.chains as u32).value(windows.dim as u32);
        // SAFETY: reads `of_chains[0..chains*dim]` and writes `total[0..dim]`, which the caller holds for writing.
        unsafe { launch.on(stream) }
    }

    /// The block is within the coordinates (`NutsWindows::center`).
    pub(crate) fn center(
        &self,
        stream: &RawStream,
        windows: &NutsWindows,
        block: &WindowBlock<'_>,
        lambda: &DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let items = windows.chains * windows.rows;
        let launch = Launch::new(&self.center, blocks(items), [THREADS, 1, 1]);
        let launch = launch.input(&windows.positions).input(&windows.gradients).input(lambda);
        let launch = launch.value(block.total).value(block.uniform.unwrap_or(0.0));
        let launch = launch.value(u32::from(block.uniform.is_some()));
        let launch = launch.value(block.location as u32).value(block.log_scale as u32);
        let launch = shape(launch.value(block.first as u32).value(block.lambda.len() as u32), windows);
        // SAFETY: each thread reads and writes its own draw's `dim` elements, of which location, log scale and effects
        // are some (checked by the caller), and reads as many lambdas as there are effects.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn gather(
        &self,
        stream: &RawStream,
        windows: &NutsWindows,
        side: WindowSide,
        stride: usize,
        count: usize,
        out: &DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let launch = Launch::new(&self.gather, blocks(count * windows.dim), [THREADS, 1, 1]);
        let launch = launch.input(windows.side(side)).input(out);
        let launch = shape(launch.value(stride as u32).value(count as u32), windows);
        // SAFETY: draw `k stride` is below chains * rows for every k below `count`, which the caller has from both;
        // `out` has count * dim elements (checked by the caller, which holds it for writing).
        unsafe { launch.on(stream) }
    }
}

/// The four numbers of `Window` in kernels/nuts/windows.cuh.
fn shape<'a>(launch: Launch<'a>, windows: &NutsWindows) -> Launch<'a> {
    let NutsWindows { chains, rows, capacity, dim, .. } = *windows;
    launch.value(chains as u32).value(rows as u32).value(capacity as u32).value(dim as u32)
}
