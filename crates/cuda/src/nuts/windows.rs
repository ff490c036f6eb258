//! Windows of warm-up on the device: the points of all chains and the gradients there, from which the host learns.

use super::NutsSlot;
use crate::binding::{RawModule, WindowFunctions};
use crate::{Context, CudaError, DeviceBuffer, Stream};
use std::sync::Arc;

/// The numbers of a window that are meant: positions or gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSide {
    /// The points.
    Positions,
    /// The gradients there.
    Gradients,
}

/// The open window of all chains, in f64 and in the sampler's coordinates. Element `i` of draw `r` of chain `c` is at
/// `(c capacity + r) dim + i`.
pub struct NutsWindows {
    functions: WindowFunctions,
    positions: DeviceBuffer<f64>,
    gradients: DeviceBuffer<f64>,
    /// One number for each chain and coordinate, and one for each coordinate.
    of_chains: DeviceBuffer<f64>,
    total: DeviceBuffer<f64>,
    about: DeviceBuffer<f64>,
    /// Draws on their way to the host.
    gathered: DeviceBuffer<f64>,
    shape: WindowShape,
}

/// `Window` of kernels/nuts/windows.cuh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowShape {
    pub(crate) chains: usize,
    /// Draws of each chain.
    pub(crate) rows: usize,
    /// Draws of each chain for which there is room.
    pub(crate) capacity: usize,
    pub(crate) dim: usize,
}

impl NutsWindows {
    /// Returns the bytes of device memory for windows of at most `capacity` draws of each chain, of which at most
    /// `fetched` are fetched one by one; `None` for more than can be counted.
    #[must_use]
    pub fn bytes_for(chains: usize, capacity: usize, dim: usize, fetched: usize) -> Option<usize> {
        let row = chains.checked_mul(dim)?;
        let vectors = dim.checked_mul(fetched.checked_add(2)?)?;
        let numbers = row.checked_mul(capacity)?.checked_mul(2)?.checked_add(row)?.checked_add(vectors)?;
        numbers.checked_mul(size_of::<f64>())
    }

    /// Gives the kernels' PTX to the driver and makes room.
    ///
    /// # Errors
    /// [`CudaError::Ptx`], [`CudaError::KernelMissing`], [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when
    /// the driver fails.
    pub fn new(
        context: &Context,
        ptx: &str,
        chains: usize,
        capacity: usize,
        dim: usize,
        fetched: usize,
    ) -> Result<Self, CudaError> {
        let module = Arc::new(RawModule::from_ptx(context.session(), ptx)?);
        let functions = WindowFunctions::find(&module)?;
        let zeroed = |numbers: usize| DeviceBuffer::zeroed(context, numbers);
        let row = chains.saturating_mul(dim);
        Ok(Self {
            functions,
            positions: zeroed(row.saturating_mul(capacity))?,
            gradients: zeroed(row.saturating_mul(capacity))?,
            of_chains: zeroed(row)?,
            total: zeroed(dim)?,
            about: zeroed(dim)?,
            gathered: zeroed(dim.saturating_mul(fetched))?,
            shape: WindowShape { chains, rows: 0, capacity, dim },
        })
    }

    /// Returns the draws of all chains together.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.shape.chains * self.shape.rows
    }

    /// Forgets all draws.
    pub fn clear(&mut self) {
        self.shape.rows = 0;
    }

    /// Queues to append what a launch has left in `slot` within the window, behind the launch.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when there is no room, or the launch was of other chains; [`CudaError::ContextMismatch`];
    /// and when the driver refuses.
    pub fn append(&mut self, stream: &Stream, slot: &NutsSlot) -> Result<(), CudaError> {
        let (window, shape) = (slot.window(), self.shape);
        let refuse = |what, expected, found| {
            let operation = format!("adding {} draws to a window of {} chains", window.len(), shape.chains);
            Err(CudaError::LengthMismatch { operation, what, expected, found })
        };
        let (chains, dim) = slot.shape();
        if (chains, dim) != (shape.chains, shape.dim) {
            return refuse("the slot", shape.chains * shape.dim, chains * dim);
        }
        if shape.rows + window.len() > shape.capacity {
            return refuse("the window", shape.rows + window.len(), shape.capacity);
        }
        if window.is_empty() {
            return Ok(());
        }
        self.functions.append(stream.raw(), shape, slot, &mut self.positions, &mut self.gradients)?;
        self.shape.rows += window.len();
        Ok(())
    }

    /// Returns for each coordinate the sum of x over all draws, or, with `about`, the sum of (x - about)^2. Each
    /// chain's draws are summed in their order, and then the chains' sums in order of the chains. Waits for the result.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for another number of coordinates; and when any work failed.
    pub fn sums(&mut self, stream: &Stream, side: WindowSide, about: Option<&[f64]>) -> Result<Vec<f64>, CudaError> {
        if let Some(about) = about {
            self.about.copy_from(about)?;
        }
        let x = match side {
            WindowSide::Positions => &self.positions,
            WindowSide::Gradients => &self.gradients,
        };
        self.functions.sums(stream.raw(), self.shape, x, &self.about, about.is_some(), &mut self.of_chains)?;
        self.functions.pool(stream.raw(), self.shape, &self.of_chains, &mut self.total)?;
        self.total.to_vec()
    }

    /// Returns every `stride`-th of all draws, chain after chain, `count x dim`. Waits for it.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when these are more than it was made for; and when any work failed.
    pub fn every(&mut self, stream: &Stream, side: WindowSide, stride: usize) -> Result<Vec<f64>, CudaError> {
        let count = self.draws().div_ceil(stride.max(1));
        let (length, end) = (self.gathered.len(), count * self.shape.dim);
        if end > length {
            return Err(CudaError::RangeOutside { operation: "fetching draws of a window", start: 0, end, length });
        }
        let x = match side {
            WindowSide::Positions => &self.positions,
            WindowSide::Gradients => &self.gradients,
        };
        self.functions.gather(stream.raw(), self.shape, x, stride.max(1), count, &mut self.gathered)?;
        let mut out = vec![0.0; end];
        self.gathered.copy_range_to(0, &mut out)?;
        Ok(out)
    }

    /// Returns the numbers of one chain, `rows x dim`, after all work that is queued.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such chain; and when the copy or any work before failed.
    pub fn read(&self, side: WindowSide, chain: usize) -> Result<Vec<f64>, CudaError> {
        let WindowShape { rows, capacity, dim, .. } = self.shape;
        let mut out = vec![0.0; rows * dim];
        self.side(side).copy_range_to(chain * capacity * dim, &mut out)?;
        Ok(out)
    }

    /// Puts one chain's numbers, `rows x dim`; all chains must be given as many, and their number is set by
    /// [`set_rows`](Self::set_rows).
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such chain or no room; and when the copy or any work before failed.
    pub fn write(&mut self, side: WindowSide, chain: usize, numbers: &[f64]) -> Result<(), CudaError> {
        let start = chain * self.shape.capacity * self.shape.dim;
        match side {
            WindowSide::Positions => self.positions.copy_range_from(start, numbers),
            WindowSide::Gradients => self.gradients.copy_range_from(start, numbers),
        }
    }

    /// Says how many draws of each chain were [written](Self::write), at most as many as there is room for.
    pub fn set_rows(&mut self, rows: usize) {
        self.shape.rows = rows.min(self.shape.capacity);
    }

    fn side(&self, side: WindowSide) -> &DeviceBuffer<f64> {
        match side {
            WindowSide::Positions => &self.positions,
            WindowSide::Gradients => &self.gradients,
        }
    }
}
