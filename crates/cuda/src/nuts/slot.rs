//! A slot: the results that one launch leaves on the device, and page-locked (pinned) memory for their way to the host.

use super::layout::{Float, NutsFormat};
use super::output::NutsOutput;
use super::regions::{LaunchSizes, Plan, Regions, window};
use super::{NutsChains, NutsLaunch};
use crate::{Context, CudaError, DeviceBuffer, PinnedBuffer, Stream, Transfer};
use std::ops::Range;

/// The results that one launch leaves for the host. With two slots one is copied while the next launch fills the other.
pub struct NutsSlot {
    pub(crate) memory: DeviceBuffer<u8>,
    /// The host's side, unless a copy is under way, and its bytes.
    host: Option<PinnedBuffer<u8>>,
    host_bytes: usize,
    copy: Option<Transfer<u8>>,
    pub(crate) regions: Regions,
    /// The places where points begin and where everything ends, for the launch that the slot is laid out for.
    points: usize,
    end: usize,
    chains: usize,
    /// Chains of the launch that it is laid out for.
    launched: usize,
    /// Chains whose points are where a restart of so many reads them.
    placed: usize,
    dim: usize,
    format: NutsFormat,
}

impl NutsSlot {
    /// Makes room for launches of `capacity` iterations of all chains, or more of fewer chains
    /// ([`Self::most_iterations`]): on the device with the points of windows, on the host with them only if they are to
    /// be fetched.
    ///
    /// Memory of the host is the expensive side: a driver takes some 0.3 ms to lock 1 MiB.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(
        context: &Context,
        chains: &NutsChains,
        capacity: usize,
        fetches_points: bool,
    ) -> Result<Self, CudaError> {
        let NutsChains { chains, dim, format, .. } = *chains;
        let plan = plan(format, chains, dim, capacity, true)
            .ok_or(CudaError::TooLarge { elements: chains, element_bytes: capacity.saturating_mul(dim) })?;
        let host_bytes = if fetches_points { plan.end } else { plan.points };
        Ok(Self {
            memory: DeviceBuffer::zeroed(context, plan.end)?,
            host: Some(PinnedBuffer::zeroed(context, host_bytes)?),
            host_bytes,
            copy: None,
            regions: Regions::default(),
            points: 0,
            end: 0,
            chains,
            launched: 0,
            placed: 0,
            dim,
            format,
        })
    }

    /// Returns the bytes of a slot on the device; `None` for more than can be counted.
    #[must_use]
    pub fn bytes_for(format: NutsFormat, chains: usize, dim: usize, capacity: usize) -> Option<usize> {
        plan(format, chains, dim, capacity, true).map(|plan| plan.end)
    }

    /// Returns the bytes of what a launch leaves beside points, which always goes to the host; `None` for more than can
    /// be counted.
    #[must_use]
    pub fn fetched_bytes_for(format: NutsFormat, chains: usize, dim: usize, iterations: usize) -> Option<usize> {
        plan(format, chains, dim, iterations, false).map(|plan| plan.points)
    }

    /// Returns the most iterations, up to `wished`, of a launch of the first `chains` chains that there is room for, with
    /// or without points.
    #[must_use]
    pub fn most_iterations(&self, chains: usize, wished: usize, points: bool) -> usize {
        let fits = |iterations| {
            let plan = plan(self.format, chains, self.dim, iterations, points);
            plan.is_some_and(|plan| plan.end <= self.memory.len() && plan.points <= self.host_bytes)
        };
        let (mut most, mut beyond) = (0, wished + 1);
        while most + 1 < beyond {
            let middle = most.midpoint(beyond);
            *(if fits(middle) { &mut most } else { &mut beyond }) = middle;
        }
        most
    }

    /// Returns where the results lie of the chains from `first` on.
    pub(crate) fn regions_from(&self, first: usize) -> Regions {
        self.regions.from(self.format, self.dim, first)
    }

    /// Chains and coordinates of the launch that it is laid out for.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.launched, self.dim)
    }

    /// Returns the iterations of the launch that it is laid out for of which the points are kept.
    pub(crate) fn window(&self) -> Range<usize> {
        self.regions.window.clone()
    }

    pub(crate) fn iterations(&self) -> usize {
        self.regions.iterations
    }

    pub(crate) fn element(&self) -> Float {
        self.format.element
    }

    /// Puts the points of the first chains in the sampler's coordinates, `chains x dim`, where a restart of these chains
    /// reads them.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for more chains than there is room for; and when the copy or any work before failed.
    pub fn place(&mut self, positions: &[f64]) -> Result<(), CudaError> {
        let (expected, found) = (self.chains * self.dim, positions.len());
        let chains = found / self.dim.max(1);
        if found > expected {
            let operation = "placing the chains' points".to_owned();
            return Err(CudaError::LengthMismatch { operation, what: "the list", expected, found });
        }
        let mut bytes = Vec::with_capacity(found * self.format.element.bytes());
        self.format.element.encode(positions.iter().copied(), &mut bytes);
        // The same place whatever the number of iterations.
        let start = plan(self.format, chains, self.dim, 0, false).map_or(usize::MAX, |plan| plan.end_positions);
        self.memory.copy_range_from(start, &bytes)?;
        self.placed = chains;
        Ok(())
    }

    /// Refuses to restart other chains than those whose points are here: how many they are decides where their points
    /// are read.
    pub(super) fn expect_placed(&self, launch: &NutsLaunch) -> Result<(), CudaError> {
        let (found, expected) = (self.placed, launch.chains as usize);
        if found == expected {
            return Ok(());
        }
        let operation = format!("restarting {expected} chains");
        Err(CudaError::LengthMismatch { operation, what: "the slot (chains placed)", expected, found })
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
        let window = window(launch);
        let too_large = CudaError::TooLarge { elements: running, element_bytes: iterations.saturating_mul(self.dim) };
        let mut plan = plan(self.format, running, self.dim, iterations, !window.is_empty()).ok_or(too_large)?;
        for (what, expected, found) in [
            ("the slot (bytes)", plan.end, self.memory.len()),
            ("the slot (bytes on the host)", plan.points, self.host_bytes),
        ] {
            if expected > found {
                return refuse(what, expected, found);
            }
        }
        (self.points, self.end) = (plan.points, plan.end);
        self.regions = plan.sets.pop().unwrap_or_default();
        self.regions.window = window;
        // A launch leaves points there, too.
        (self.launched, self.placed) = (running, running);
        Ok(())
    }

    /// Starts to copy what the launch has left, in order with `stream`: the window's points, too, if they are asked for
    /// and there are any.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for points that there is no room for on the host; and when the driver fails.
    pub fn fetch(&mut self, stream: &Stream, points: bool) -> Result<(), CudaError> {
        let all = points && !self.regions.window.is_empty();
        let end = if all { self.end } else { self.points };
        if end > self.host_bytes {
            let operation = "fetching the points of a window".to_owned();
            let (what, found) = ("the slot (bytes on the host)", self.host_bytes);
            return Err(CudaError::LengthMismatch { operation, what, expected: end, found });
        }
        let Some(host) = self.host.take() else { return Ok(()) };
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
        let Self { regions, launched: chains, dim, format, .. } = self;
        Ok(NutsOutput { bytes, regions, chains: *chains, dim: *dim, format: *format })
    }
}

fn plan(format: NutsFormat, chains: usize, dim: usize, iterations: usize, points: bool) -> Option<Plan> {
    Plan::new(format, &[LaunchSizes { chains, dim, iterations, points }])
}
