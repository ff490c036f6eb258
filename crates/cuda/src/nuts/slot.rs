//! What one launch leaves on the device, and how it comes to the host.

use super::layout::{Float, NutsFormat};
use super::output::NutsOutput;
use super::record::RECORD;
use super::{NutsChains, NutsLaunch};
use crate::{Context, CudaError, DeviceBuffer, PinnedBuffer, Stream, Transfer};
use std::ops::Range;

/// Regions of a slot begin at multiples of so many bytes.
const REGION: usize = 16;

/// Where the regions of a slot begin, in bytes, for one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) end_positions: usize,
    pub(crate) records: usize,
    pub(crate) draws: usize,
    pub(crate) gradients: usize,
    end: usize,
    pub(super) iterations: usize,
    /// Iterations of this launch whose gradients are kept.
    pub(super) window: Range<usize>,
}

impl Regions {
    /// End states are at the front; what does not always leave the device is at the end.
    fn new(format: NutsFormat, chains: usize, dim: usize, iterations: usize) -> Option<Self> {
        let after = |start: usize, bytes: Option<usize>| start.checked_add(bytes?)?.checked_next_multiple_of(REGION);
        let vectors = chains.checked_mul(dim)?.checked_mul(format.element.bytes());
        let all = |bytes: Option<usize>| bytes?.checked_mul(iterations);
        let end_positions = after(0, chains.checked_mul(format.state_bytes()))?;
        let records = after(end_positions, vectors)?;
        let draws = after(records, all(chains.checked_mul(RECORD)))?;
        let gradients = after(draws, all(vectors))?;
        let end = after(gradients, all(vectors))?;
        Some(Self { end_positions, records, draws, gradients, end, iterations, window: 0..0 })
    }
}

/// What one launch leaves for the host. With two slots one is copied while the next launch fills the other.
pub struct NutsSlot {
    pub(crate) memory: DeviceBuffer<u8>,
    /// The host's side, unless a copy is under way.
    host: Option<PinnedBuffer<u8>>,
    copy: Option<Transfer<u8>>,
    pub(crate) regions: Regions,
    chains: usize,
    dim: usize,
    capacity: usize,
    format: NutsFormat,
}

impl NutsSlot {
    /// Room for launches of at most `capacity` iterations, on the device and on the host.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(context: &Context, chains: &NutsChains, capacity: usize) -> Result<Self, CudaError> {
        let NutsChains { chains, dim, format, .. } = *chains;
        let bytes = Self::bytes_for(format, chains, dim, capacity)
            .ok_or(CudaError::TooLarge { elements: chains, element_bytes: capacity.saturating_mul(dim) })?;
        Ok(Self {
            memory: DeviceBuffer::zeroed(context, bytes)?,
            host: Some(PinnedBuffer::zeroed(context, bytes)?),
            copy: None,
            regions: Regions::default(),
            chains,
            dim,
            capacity,
            format,
        })
    }

    /// Bytes of a slot, on the device and again on the host; `None` for more than can be counted.
    #[must_use]
    pub fn bytes_for(format: NutsFormat, chains: usize, dim: usize, capacity: usize) -> Option<usize> {
        Regions::new(format, chains, dim, capacity).map(|regions| regions.end)
    }

    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Iterations of the launch that it is laid out for at whose draws the gradient is kept.
    pub(crate) fn window(&self) -> Range<usize> {
        self.regions.window.clone()
    }

    pub(crate) fn iterations(&self) -> usize {
        self.regions.iterations
    }

    pub(crate) fn element(&self) -> Float {
        self.format.element
    }

    /// Puts the points of the first chains in the sampler's coordinates, `chains x dim`, where a restart reads them.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for more chains than there is room for; and when the copy or any work before failed.
    pub fn place(&mut self, positions: &[f64]) -> Result<(), CudaError> {
        let (expected, found) = (self.chains * self.dim, positions.len());
        if found > expected {
            let operation = "placing the chains' points".to_owned();
            return Err(CudaError::LengthMismatch { operation, what: "the list", expected, found });
        }
        let mut bytes = Vec::with_capacity(found * self.format.element.bytes());
        self.format.element.encode(positions.iter().copied(), &mut bytes);
        // They come right after the end states, whatever the number of iterations.
        let start = (self.chains * self.format.state_bytes()).next_multiple_of(REGION);
        self.memory.copy_range_from(start, &bytes)
    }

    /// Lays the slot out for a launch.
    pub(super) fn prepare(&mut self, chains: &NutsChains, launch: &NutsLaunch) -> Result<(), CudaError> {
        let (iterations, running) = (launch.iterations as usize, launch.chains as usize);
        let refuse = |what, expected, found| {
            let operation = format!("launching {iterations} iterations of {running} chains");
            Err(CudaError::LengthMismatch { operation, what, expected, found })
        };
        for (what, expected, found) in [
            ("the slot (chains)", chains.chains, self.chains),
            ("the slot (coordinates)", chains.dim, self.dim),
            ("the slot (a vector)", chains.format.vector(), self.format.vector()),
        ] {
            if expected != found {
                return refuse(what, expected, found);
            }
        }
        if running > self.chains {
            return refuse("the slot (chains)", running, self.chains);
        }
        if iterations > self.capacity {
            return refuse("the slot (iterations)", iterations, self.capacity);
        }
        let too_large =
            CudaError::TooLarge { elements: self.chains, element_bytes: iterations.saturating_mul(self.dim) };
        self.regions = Regions::new(self.format, self.chains, self.dim, iterations).ok_or(too_large)?;
        let within = |iteration: u32| iteration.saturating_sub(launch.first_iteration).min(launch.iterations) as usize;
        let window = within(launch.window.start.min(launch.tune))..within(launch.window.end.min(launch.tune));
        self.regions.window = window;
        Ok(())
    }

    /// Starts to copy what the launch has left, in order with `stream`; gradients if they are asked for and there are
    /// any.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn fetch(&mut self, stream: &Stream, gradients: bool) -> Result<(), CudaError> {
        let Some(host) = self.host.take() else { return Ok(()) };
        let all = gradients && !self.regions.window.is_empty();
        let end = if all { self.regions.end } else { self.regions.gradients };
        self.copy = Some(self.memory.download(0..end, host, stream)?);
        Ok(())
    }

    /// Waits for the copy; what the launch has left.
    ///
    /// # Errors
    /// When the copy or the launch failed.
    pub fn wait(&mut self) -> Result<NutsOutput<'_>, CudaError> {
        if let Some(copy) = self.copy.take() {
            self.host = Some(copy.wait()?);
        }
        let bytes = self.host.as_deref().unwrap_or_default();
        Ok(NutsOutput { bytes, regions: &self.regions, chains: self.chains, dim: self.dim, format: self.format })
    }
}
