//! A slot of a batch: the results that one launch of many items leaves on the device, and page-locked (pinned) memory
//! for their way to the host.

use super::places::{NutsBatchItem, PART, blocks, item_bytes};
use super::{NutsBatch, NutsBatchLaunch};
use crate::nuts::layout::NutsFormat;
use crate::nuts::output::NutsOutput;
use crate::nuts::regions::{LaunchSizes, Plan, Regions, window};
use crate::{Context, CudaError, DeviceBuffer, Event, PinnedBuffer, Stream, Transfer};

/// The table that one launch reads of its items, and the results that it leaves for the host. With two slots one is
/// copied while the next launch fills the other.
pub struct NutsBatchSlot {
    pub(crate) memory: DeviceBuffer<u8>,
    /// The table that kernels read of the items, and the item that each block works on.
    pub(crate) table: DeviceBuffer<u8>,
    /// The host's sides, unless a copy is under way.
    host: Option<PinnedBuffer<u8>>,
    copy: Option<Transfer<u8>>,
    table_host: Option<PinnedBuffer<u8>>,
    table_copy: Option<Transfer<u8>>,
    /// Behind the last launch, which reads the table; whether it is recorded there.
    last: Event,
    marked: bool,
    plan: Plan,
    /// Chains and coordinates of each launch.
    shapes: Vec<(usize, usize)>,
    format: NutsFormat,
}

impl NutsBatchSlot {
    /// Makes room for launches of at most `iterations` iterations of all chains of all items, on the device and on the
    /// host; for more iterations where fewer items or chains are launched.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(context: &Context, batch: &NutsBatch, iterations: usize) -> Result<Self, CudaError> {
        let format = batch.format();
        let sizes: Vec<(usize, usize)> = batch.items.iter().map(|item| (item.chains, item.dim)).collect();
        let too_large = CudaError::TooLarge { elements: sizes.len(), element_bytes: iterations };
        let (bytes, table) = sides(format, batch.item_bytes, &sizes, iterations).ok_or(too_large)?;
        Ok(Self {
            memory: DeviceBuffer::zeroed(context, bytes)?,
            table: DeviceBuffer::zeroed(context, table)?,
            host: Some(PinnedBuffer::zeroed(context, bytes)?),
            copy: None,
            table_host: Some(PinnedBuffer::zeroed(context, table)?),
            table_copy: None,
            last: Event::new(context)?,
            marked: true,
            plan: Plan::default(),
            shapes: Vec::new(),
            format,
        })
    }

    /// Returns the bytes of a slot for a batch of these items, on the device and again on the host; `None` for more
    /// than can be counted.
    #[must_use]
    pub fn bytes_for(format: NutsFormat, items: &[NutsBatchItem<'_>], iterations: usize) -> Option<usize> {
        let item = item_bytes(format, items.first().map_or(&[][..], |item| item.fields));
        let sizes: Vec<(usize, usize)> = items.iter().map(|item| (item.chains, item.dim)).collect();
        let (bytes, table) = sides(format, item, &sizes, iterations)?;
        bytes.checked_add(table)
    }

    /// Returns the bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.bytes() + self.table.bytes()
    }

    /// Starts to copy what the launch has left, in order with `stream`: the windows' points, too, if they are asked for
    /// and there are any.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn fetch(&mut self, stream: &Stream, points: bool) -> Result<(), CudaError> {
        self.settle()?;
        let host = match self.host.take() {
            Some(host) => host,
            // It went with a copy that failed.
            None => PinnedBuffer::zeroed(stream.context(), self.memory.len())?,
        };
        let end = if points { self.plan.end } else { self.plan.points };
        self.copy = Some(self.memory.download(0..end, host, stream)?);
        Ok(())
    }

    /// Waits for the copy; what each launch has left, in the order of the launches.
    ///
    /// # Errors
    /// When the copy or the launch failed.
    pub fn wait(&mut self) -> Result<Vec<NutsOutput<'_>>, CudaError> {
        self.settle()?;
        let bytes = self.host.as_deref().unwrap_or_default();
        if bytes.len() < self.plan.end {
            let operation = "taking what a launch has left".to_owned();
            let (what, expected) = ("what was copied", self.plan.end);
            return Err(CudaError::LengthMismatch { operation, what, expected, found: bytes.len() });
        }
        let output = |(regions, &(chains, dim))| NutsOutput { bytes, regions, chains, dim, format: self.format };
        Ok(self.plan.sets.iter().zip(&self.shapes).map(output).collect())
    }

    fn settle(&mut self) -> Result<(), CudaError> {
        if let Some(copy) = self.copy.take() {
            self.host = Some(copy.wait()?);
        }
        Ok(())
    }

    /// Lays the slot out for these launches of the batch's items.
    pub(super) fn prepare(&mut self, batch: &NutsBatch, launches: &[NutsBatchLaunch]) -> Result<(), CudaError> {
        let mut seen = vec![false; batch.len()];
        let mut left = Vec::with_capacity(launches.len());
        for NutsBatchLaunch { item, launch } in launches {
            batch.expect(*item)?;
            if std::mem::replace(&mut seen[*item], true) {
                return Err(CudaError::ItemTwice { item: *item });
            }
            let (own, chains) = (&batch.items[*item], launch.chains as usize);
            if chains > own.chains {
                let operation = format!("launching {chains} chains of data set {item}");
                let what = "the data set (chains)";
                return Err(CudaError::LengthMismatch { operation, what, expected: chains, found: own.chains });
            }
            let points = !window(launch).is_empty();
            left.push(LaunchSizes { chains, dim: own.dim, iterations: launch.iterations as usize, points });
        }
        let operation = || format!("launching {} data sets", launches.len());
        let mismatch =
            |what, expected, found| CudaError::LengthMismatch { operation: operation(), what, expected, found };
        let room = self.memory.len();
        let plan = Plan::new(self.format, &left).ok_or_else(|| mismatch("the slot (bytes)", usize::MAX, room))?;
        if plan.end > room {
            return Err(mismatch("the slot (bytes)", plan.end, room));
        }
        let parts: usize = left.iter().map(|left| blocks(self.format, left.chains)).sum();
        let table = launches.len() * batch.item_bytes + parts * PART;
        if table > self.table.len() {
            return Err(mismatch("the slot (its table, bytes)", table, self.table.len()));
        }
        // What the host has not taken of the launch before is gone.
        self.settle()?;
        self.plan = plan;
        self.plan.sets.iter_mut().zip(launches).for_each(|(regions, own)| regions.window = window(&own.launch));
        self.shapes = left.iter().map(|left| (left.chains, left.dim)).collect();
        Ok(())
    }

    /// Puts the points of each launch's chains where a restart reads them.
    pub(super) fn place(&mut self, positions: &[&[f64]]) -> Result<(), CudaError> {
        let refuse = |what, expected, found| {
            let operation = "placing the chains' points".to_owned();
            Err(CudaError::LengthMismatch { operation, what, expected, found })
        };
        if positions.len() != self.shapes.len() {
            return refuse("the list of data sets", self.shapes.len(), positions.len());
        }
        let mut bytes = Vec::new();
        for (points, (chains, dim)) in positions.iter().zip(&self.shapes) {
            if points.len() != chains * dim {
                return refuse("the list of a data set", chains * dim, points.len());
            }
            self.format.element.encode(points.iter().copied(), &mut bytes);
        }
        self.memory.copy_range_from(self.plan.end_positions, &bytes)
    }

    /// Starts to copy the table, behind the launch that reads what is there. There is room for it (`prepare`).
    pub(crate) fn send_table(&mut self, stream: &Stream, bytes: &[u8]) -> Result<(), CudaError> {
        if self.marked {
            stream.wait_for(&self.last)?;
        } else {
            // Nobody knows where the last launch is.
            stream.context().synchronize()?;
        }
        if let Some(copy) = self.table_copy.take() {
            self.table_host = Some(copy.wait()?);
        }
        let mut host = match self.table_host.take() {
            Some(host) => host,
            // It went with a copy that failed.
            None => PinnedBuffer::zeroed(stream.context(), self.table.len())?,
        };
        host[..bytes.len()].copy_from_slice(bytes);
        self.marked = false;
        self.table_copy = Some(self.table.upload(0..bytes.len(), host, stream)?);
        Ok(())
    }

    /// The launch that reads the table is queued, or will not be.
    pub(crate) fn mark(&mut self, stream: &Stream) -> Result<(), CudaError> {
        self.last.record(stream)?;
        self.marked = true;
        Ok(())
    }

    /// Returns where each launch's results lie, in the order of the launches.
    pub(crate) fn regions(&self) -> &[Regions] {
        &self.plan.sets
    }

    pub(super) fn format(&self) -> NutsFormat {
        self.format
    }
}

/// Returns the bytes of what launches leave and of the table, for items of these numbers of chains and coordinates.
fn sides(format: NutsFormat, item: usize, sizes: &[(usize, usize)], iterations: usize) -> Option<(usize, usize)> {
    let left: Vec<LaunchSizes> =
        sizes.iter().map(|&(chains, dim)| LaunchSizes { chains, dim, iterations, points: true }).collect();
    let parts = sizes.iter().try_fold(0_usize, |sum, &(chains, _)| sum.checked_add(blocks(format, chains)))?;
    let table = sizes.len().checked_mul(item)?.checked_add(parts.checked_mul(PART)?)?;
    Some((Plan::new(format, &left)?.end, table))
}
