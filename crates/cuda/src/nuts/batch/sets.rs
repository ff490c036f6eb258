//! The data, coordinates and chains of all items on the device.

use super::places::{Item, NutsBatchItem, Sizes, item_bytes, packed, same_kinds};
use crate::nuts::NutsChain;
use crate::nuts::geometry::{MetricBytes, NutsCentering};
use crate::nuts::layout::NutsFormat;
use crate::{Context, CudaError, DeviceBuffer};
use std::ops::Range;

/// The data, coordinates and metrics of all items, and the states and vectors of their chains.
pub struct NutsBatch {
    pub(crate) data: DeviceBuffer<u8>,
    /// The diagonal of each item's metric.
    pub(crate) scales: Mirror,
    /// The directions of each item's metric, and their stretches.
    pub(crate) directions: Mirror,
    pub(crate) states: DeviceBuffer<u8>,
    pub(crate) workspaces: DeviceBuffer<u8>,
    pub(crate) items: Vec<Item>,
    pub(crate) sizes: Sizes,
    pub(crate) max_depth: u32,
    /// Bytes of what kernels read of an item.
    pub(super) item_bytes: usize,
    format: NutsFormat,
}

impl NutsBatch {
    /// Returns the bytes of device memory for these items, with trees of at most `max_depth` doublings and metrics of
    /// at most `most_rank` directions; `None` for more than can be counted. Slots are apart.
    #[must_use]
    pub fn bytes_for(
        format: NutsFormat,
        items: &[NutsBatchItem<'_>],
        max_depth: u32,
        most_rank: usize,
    ) -> Option<usize> {
        Sizes::new(format, max_depth, most_rank).bytes(items)
    }

    /// Makes room for these items, and their data; unit metrics, the density's own coordinates.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the format is too narrow for an item or its fields are of other kinds than the
    /// first one's, [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(
        context: &Context,
        format: NutsFormat,
        items: &[NutsBatchItem<'_>],
        max_depth: u32,
        most_rank: usize,
    ) -> Result<Self, CudaError> {
        let sizes = Sizes::new(format, max_depth, most_rank);
        let too_large = CudaError::TooLarge { elements: items.len(), element_bytes: sizes.workspace() };
        sizes.bytes(items).ok_or(too_large)?;
        let shape = items.first().map_or(&[][..], |item| item.fields);
        let (mut data, mut chains) = (Vec::new(), 0);
        let mut made = Vec::with_capacity(items.len());
        for (number, item) in items.iter().enumerate() {
            let refuse = |what, expected, found| {
                let operation = format!("making room for data set {number} in {format}");
                Err(CudaError::LengthMismatch { operation, what, expected, found })
            };
            if item.dim > format.vector() {
                return refuse("a vector", item.dim, format.vector());
            }
            if !same_kinds(shape, item.fields) {
                return refuse("the list of fields (kinds as in data set 0)", shape.len(), item.fields.len());
            }
            let parts = packed(format, item.fields, &mut data)?;
            let geometry = Default::default();
            made.push(Item { parts, chains: item.chains, dim: item.dim, first_chain: chains, geometry });
            chains += item.chains;
        }
        let mut batch = Self {
            data: DeviceBuffer::from_slice(context, &data)?,
            scales: Mirror::zeroed(context, items.len() * sizes.vector())?,
            directions: Mirror::zeroed(context, items.len() * sizes.directions())?,
            states: DeviceBuffer::zeroed(context, chains * format.state_bytes())?,
            workspaces: DeviceBuffer::zeroed(context, chains * sizes.workspace())?,
            items: made,
            sizes,
            max_depth,
            item_bytes: item_bytes(format, shape),
            format,
        };
        for (number, item) in items.iter().enumerate() {
            batch.set_metric(number, &vec![1.0; item.dim], &[], &[])?;
        }
        Ok(batch)
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let buffers = [&self.data, &self.scales.device, &self.directions.device, &self.states, &self.workspaces];
        buffers.map(DeviceBuffer::bytes).iter().sum()
    }

    /// Sets an item's coordinates, for the launches from now on.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such item.
    pub fn set_centering(&mut self, item: usize, centering: NutsCentering) -> Result<(), CudaError> {
        self.expect(item)?;
        self.items[item].geometry.centering = centering;
        Ok(())
    }

    /// Sets an item's metric, for the launches from now on: square roots of the diagonal, unit vectors, and for each the
    /// square root of its variance, less 1. It goes to the device with the next launch, in one copy with those of other
    /// items.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such item; [`CudaError::LengthMismatch`] for longer vectors than there
    /// are coordinates, for more directions than there is room for, and for another number of stretches.
    pub fn set_metric(
        &mut self,
        item: usize,
        scale: &[f64],
        directions: &[&[f64]],
        stretch: &[f64],
    ) -> Result<(), CudaError> {
        self.expect(item)?;
        let bytes = MetricBytes::new(self.format, self.sizes.most_rank, scale, directions, stretch)?;
        self.scales.write(item * self.sizes.vector(), &bytes.scale);
        let start = item * self.sizes.directions();
        self.directions.write(start, &bytes.directions);
        self.directions.write(start + self.sizes.stretch(), &bytes.stretch);
        self.items[item].geometry.rank = bytes.rank;
        Ok(())
    }

    /// Returns the states of all chains of these items, after all work that is queued.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such item; and when the copy or any work before failed.
    pub fn states(&self, items: &[usize]) -> Result<Vec<Vec<NutsChain>>, CudaError> {
        items.iter().try_for_each(|&item| self.expect(item))?;
        let bytes = self.format.state_bytes();
        let chains = |item: usize| self.items[item].first_chain..self.items[item].first_chain + self.items[item].chains;
        // One copy, of what lies between them too.
        let first = items.iter().map(|&item| chains(item).start).min().unwrap_or(0);
        let end = items.iter().map(|&item| chains(item).end).max().unwrap_or(first);
        let mut all = vec![0; (end - first) * bytes];
        self.states.copy_range_to(first * bytes, &mut all)?;
        let of_item = |&item: &usize| {
            let Range { start, end } = chains(item);
            let own = all[(start - first) * bytes..(end - first) * bytes].chunks_exact(bytes);
            own.map(|bytes| NutsChain::decode(self.format.scalar, bytes)).collect()
        };
        Ok(items.iter().map(of_item).collect())
    }

    /// Sets the states of the first chains of these items, after all work that is queued: one copy for items that follow
    /// each other and are given all their chains.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] when there is no such item, [`CudaError::LengthMismatch`] for more chains than it has;
    /// and when the copy or any work before failed.
    pub fn set_states(&mut self, states: &[(usize, &[NutsChain])]) -> Result<(), CudaError> {
        let each = self.format.state_bytes();
        for &(item, chains) in states {
            self.expect(item)?;
            let (expected, found) = (chains.len(), self.items[item].chains);
            if expected > found {
                let operation = format!("setting the states of data set {item}");
                return Err(CudaError::LengthMismatch { operation, what: "the data set (chains)", expected, found });
            }
        }
        let (mut start, mut bytes) = (0, Vec::new());
        for &(item, chains) in states {
            let own = self.items[item].first_chain * each;
            if start + bytes.len() != own {
                self.states.copy_range_from(start, &bytes)?;
                (start, bytes) = (own, Vec::new());
            }
            chains.iter().for_each(|state| state.encode(self.format.scalar, &mut bytes));
        }
        self.states.copy_range_from(start, &bytes)
    }

    pub(crate) fn format(&self) -> NutsFormat {
        self.format
    }

    pub(super) fn upload_geometry(&mut self) -> Result<(), CudaError> {
        self.scales.upload()?;
        self.directions.upload()
    }

    pub(super) fn expect(&self, item: usize) -> Result<(), CudaError> {
        if item < self.items.len() {
            return Ok(());
        }
        let (operation, length) = ("choosing data sets of a batch", self.items.len());
        Err(CudaError::RangeOutside { operation, start: item, end: item.saturating_add(1), length })
    }
}

/// Bytes of the host that the device gets when it is told to.
pub(crate) struct Mirror {
    host: Vec<u8>,
    pub(crate) device: DeviceBuffer<u8>,
    /// The range that contains everything the device has not got yet.
    changed: Range<usize>,
}

impl Mirror {
    fn zeroed(context: &Context, bytes: usize) -> Result<Self, CudaError> {
        Ok(Self { host: vec![0; bytes], device: DeviceBuffer::zeroed(context, bytes)?, changed: 0..0 })
    }

    fn write(&mut self, start: usize, bytes: &[u8]) {
        let end = start + bytes.len();
        self.host[start..end].copy_from_slice(bytes);
        if !bytes.is_empty() {
            let before = self.changed.clone();
            self.changed = if before.is_empty() { start..end } else { before.start.min(start)..before.end.max(end) };
        }
    }

    /// One copy, after all work that is queued; none when nothing has changed.
    fn upload(&mut self) -> Result<(), CudaError> {
        if !self.changed.is_empty() {
            self.device.copy_range_from(self.changed.start, &self.host[self.changed.clone()])?;
            self.changed = 0..0;
        }
        Ok(())
    }
}
