//! The kernels for many data sets: the table that they read, and the reason why a launch is sound.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::structures::Addresses;
use crate::nuts::batch::places::{Item, PART, blocks, item_structure};
use crate::nuts::layout::{Structure, THREADS};
use crate::nuts::regions::Regions;
use crate::nuts::structures::Places;
use crate::nuts::{NutsBatch, NutsBatchLaunch, NutsBatchSlot, NutsEntry};
use crate::{CudaError, DeviceBuffer, Stream};
use std::sync::Arc;

/// The kernels of one density, precision and format.
pub(crate) struct BatchFunctions {
    run: RawFunction,
    restart: RawFunction,
}

impl BatchFunctions {
    pub(crate) fn find(module: &Arc<RawModule>, name: &str) -> Result<Self, CudaError> {
        Ok(Self {
            run: RawFunction::find(module, &format!("nuts_run_batch_{name}"))?,
            restart: RawFunction::find(module, &format!("nuts_restart_batch_{name}"))?,
        })
    }

    /// Queues kernels of at most `most_blocks` blocks, one after the other. The slot is laid out for the launches, each
    /// of another item, and all parts are of the kernels' format (`NutsBatchKernels`).
    pub(crate) fn queue(
        &self,
        entry: NutsEntry,
        stream: &Stream,
        launches: &[NutsBatchLaunch],
        most_blocks: usize,
        batch: &mut NutsBatch,
        slot: &mut NutsBatchSlot,
    ) -> Result<(), CudaError> {
        let function = match entry {
            NutsEntry::Run => &self.run,
            NutsEntry::Restart => &self.restart,
        };
        let mut addresses = Addresses::of(function);
        let items = items(&mut addresses, launches, batch, slot);
        let parts = parts(launches, batch);
        let Some(first) = items.first().filter(|_| !parts.is_empty()) else { return Ok(()) };
        let table = addresses.address(&slot.table);
        addresses.are_the_function_s()?;
        let bytes = [items.concat(), parts.concat()].concat();
        let of_blocks = table + (first.len() * items.len()) as u64;
        slot.send_table(stream, &bytes)?;
        let mut queued = Ok(());
        for begin in (0..parts.len()).step_by(most_blocks) {
            queued = queued.and_then(|()| {
                let blocks = most_blocks.min(parts.len() - begin);
                queue(function, stream, first, [table, of_blocks + (begin * PART) as u64], blocks)?;
                if begin + blocks < parts.len() { stream.raw().send_off() } else { Ok(()) }
            });
        }
        slot.mark(stream)?;
        queued
    }
}

/// Queues the kernel of so many blocks over a table's items and its parts from some block on.
fn queue(
    function: &RawFunction,
    stream: &Stream,
    item: &[u8],
    [items, parts]: [u64; 2],
    blocks: usize,
) -> Result<(), CudaError> {
    // `Batch` of `kernels/nuts/batch.cuh`.
    let mut places = Structure::default();
    places.long(items).long(parts);
    // More blocks than a u32 counts are refused as too many by the launch.
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    let launch = Launch::new(function, [blocks, 1, 1], [THREADS, 1, 1]).bytes(item).bytes(&places.finished());
    // SAFETY: the table has an item for each launch, all of the size that the PTX declares (`on` compares the first,
    // and all have the same kinds of members: `NutsBatch::new`), and a part for each block, which names one of them.
    // It is on the device before the launch, in order with the stream, and is written again only behind it
    // (`send_table` waits for the mark below, or for the whole context where there is none). Chain c of an item reads
    // and writes its own state and workspace, of which the batch has some for each chain of each item
    // (`NutsBatch::new`), and its regions of the slot, which do not overlap and are within it (`prepare`); no item is
    // there twice. Batch and slot are borrowed for writing. The metric of an item has room for whole vectors and
    // `most_rank` directions (`MetricBytes`). That the density reads within its own data is what
    // `NutsBatchKernels::load` trusts the kernels for. Buffers are freed only when the context is idle.
    unsafe { launch.on(stream.raw()) }
}

/// Lays out what kernels read of each launch's item.
fn items(
    addresses: &mut Addresses<'_>,
    launches: &[NutsBatchLaunch],
    batch: &NutsBatch,
    slot: &NutsBatchSlot,
) -> Vec<Vec<u8>> {
    let format = batch.format();
    let mut of = |buffer: &DeviceBuffer<u8>| addresses.address(buffer);
    let (data, scales, directions) = (of(&batch.data), of(&batch.scales.device), of(&batch.directions.device));
    let (states, workspaces, memory) = (of(&batch.states), of(&batch.workspaces), of(&slot.memory));
    let after = |buffer: u64, bytes: usize| buffer + bytes as u64;
    let launches = launches.iter().zip(slot.regions());
    let item = |(NutsBatchLaunch { item: number, launch }, regions): (&NutsBatchLaunch, &Regions)| {
        let item: &Item = &batch.items[*number];
        let directions = after(directions, number * batch.sizes.directions());
        let at = Places {
            scale: after(scales, number * batch.sizes.vector()),
            directions,
            stretch: after(directions, batch.sizes.stretch()),
            states: after(states, item.first_chain * format.state_bytes()),
            workspaces: after(workspaces, item.first_chain * batch.sizes.workspace()),
            draws: after(memory, regions.draws),
            records: after(memory, regions.records),
            points: after(memory, regions.points),
            end_states: after(memory, regions.end_states),
            end_positions: after(memory, regions.end_positions),
        };
        item_structure(format, launch, batch.max_depth, item, data, &at)
    };
    launches.map(item).collect()
}

/// `Part` of `kernels/nuts/batch.cuh` for each block: the number of the launch, and the first chain.
fn parts(launches: &[NutsBatchLaunch], batch: &NutsBatch) -> Vec<[u8; PART]> {
    let each = batch.format().chains_of_block();
    let of_launch = |(number, own): (usize, &NutsBatchLaunch)| {
        let blocks = blocks(batch.format(), own.launch.chains as usize);
        (0..blocks).map(move |block| {
            // Both are below 2^32: chains are, and launches are no more than blocks.
            let words = [number as u32, (block * each) as u32].map(u32::to_ne_bytes);
            let mut part = [0; PART];
            part.as_chunks_mut().0.copy_from_slice(&words);
            part
        })
    };
    launches.iter().enumerate().flat_map(of_launch).collect()
}
