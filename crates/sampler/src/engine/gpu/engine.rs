//! The GPU engine: all chains of a run, on one device or divided over several.
//!
//! One thread drives all devices: it queues launches on each, one ahead, and takes what they leave in turns. When a
//! device fails, the others repeat its work from where the span began, which the host knows.

use super::host::{HostChain, HostChains, expect_values};
use super::shard::{DeviceShard, SpanProgress};
use super::shares::shares;
use super::windows::DevicePool;
use super::{GpuConfig, in_turns, windows};
use crate::adapt::WindowPool;
use crate::config::{ConfigError, SamplerConfig};
use crate::draw::ChainBlock;
use crate::engine::gpu_note::{GpuNote, is_loss, loss};
use crate::engine::{ChainState, EngineChains, SamplerEngine, Shared};
use crate::error::SamplerError;
use octopus_cuda::{Context, CudaError, NutsRestart, NutsWindows};
use octopus_density::gpu::GpuDensity;
use std::ops::Range;

/// All chains of a run, and the devices that move them.
pub(crate) struct GpuEngine {
    chains: HostChains,
    /// The devices that have not failed, in the order that they were given.
    shards: Vec<DeviceShard>,
    /// The numbers of the devices' multiprocessors, in proportion to which chains are divided over them.
    weights: Vec<u32>,
    /// The number of chains of the run at its end; there may be fewer yet.
    most: usize,
    notes: Vec<GpuNote>,
    /// The error of the device that was given up last.
    last: Option<CudaError>,
}

/// Devices by their places in the list, and how they failed.
type Failed = Vec<(usize, CudaError)>;

impl GpuEngine {
    /// Makes chains that start or go on at these states; their points are not evaluated yet.
    ///
    /// # Errors
    /// When no kernel is compiled for the density, or all devices or their memories fail.
    pub(crate) fn new(
        density: &dyn GpuDensity,
        config: &SamplerConfig,
        contexts: &[Context],
        gpu: &GpuConfig,
        states: Vec<ChainState>,
    ) -> Result<Self, SamplerError> {
        let (dim, most) = (density.dim(), config.chains);
        let mut notes = Vec::new();
        let alone = match contexts {
            [context] => {
                let (device, turn) = (context.device().ordinal(), gpu.first_turn(most));
                Some(in_turns(device, turn, &mut notes, |turn| {
                    // Chains that have spread learn no more.
                    let learns = states.len() == config.first_chains();
                    let room = windows::Room::for_windows(config, turn, dim).filter(|_| learns);
                    let mut shard = DeviceShard::new(density, config, context, turn, (most, room.is_none()), None)?;
                    shard.windows = room.map(|room| room.on_device(context, dim, &states)).transpose()?;
                    Ok(shard)
                })?)
            }
            _ => None,
        };
        let chains = HostChains::new(dim, states);
        let mut engine = Self { chains, shards: vec![], weights: vec![], most, notes, last: None };
        if let Some(shard) = alone {
            (engine.shards, engine.weights) = (vec![shard], vec![1]);
            return Ok(engine);
        }
        let weights: Vec<u32> = contexts.iter().map(weight).collect::<Result<_, _>>()?;
        for ((context, &weight), count) in contexts.iter().zip(&weights).zip(shares(most, &weights)) {
            let shard = DeviceShard::new(density, config, context, gpu, (count, true), Some(&mut engine.notes));
            engine.keep(context.device().ordinal(), weight, shard)?;
        }
        engine.make_room()?;
        Ok(engine)
    }

    /// Evaluates the chains' points where a checkpoint has left them.
    ///
    /// # Errors
    /// When the log density there is not what it was, or the devices fail.
    pub(crate) fn resume(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        let saved = self.chains.states();
        self.set_geometry(shared)?;
        self.place(shared, NutsRestart::Place)?;
        self.chains.expect_same(&saved)
    }

    /// Tells every device what the host has changed of its chains.
    fn set_states(&mut self) -> Result<(), SamplerError> {
        let states = self.chains.on_device();
        self.tell(|shard| shard.set_states(&states))
    }

    /// Returns the open window, where it is on the device.
    fn windows(&mut self) -> impl Iterator<Item = &mut NutsWindows> {
        self.shards.iter_mut().filter_map(|shard| shard.windows.as_mut())
    }

    fn drop_windows(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.windows = None);
    }

    /// Takes coordinates, metric and the length of trajectories to every device.
    fn set_geometry(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        self.tell(|shard| {
            shard.set_geometry(shared)?;
            shard.set_trajectory(shared)
        })
    }

    /// Tells every device something; those that fail are given up.
    fn tell(&mut self, mut one: impl FnMut(&mut DeviceShard) -> Result<(), SamplerError>) -> Result<(), SamplerError> {
        let (mut failed, count) = (Failed::new(), self.shards.len());
        for (at, shard) in self.shards.iter_mut().enumerate() {
            if let Err(error) = one(shard) {
                failed.push((at, loss(error, failed.len() + 1 < count)?));
            }
        }
        self.give_up(failed)
    }

    /// Evaluates all chains' points and does what `kind` asks for.
    ///
    /// # Errors
    /// When the density has no value at one, or the devices fail.
    fn place(&mut self, shared: &Shared<'_, '_>, kind: NutsRestart) -> Result<(), SamplerError> {
        self.evaluate(shared, kind)?;
        expect_values(0, &self.chains.all, shared.done)
    }

    /// Returns the log density at each of these points in the coordinates of `shared`, whatever it is. The chains are
    /// there from then on.
    ///
    /// # Errors
    /// When the devices fail.
    pub(super) fn log_densities<'p>(
        &mut self,
        shared: &Shared<'_, '_>,
        points: impl Iterator<Item = &'p [f64]>,
    ) -> Result<impl Iterator<Item = f64>, SamplerError> {
        let target = shared.config.target_accept;
        self.chains.all = points.map(|x| HostChain::from(ChainState::start(x.to_vec(), target, 1.0))).collect();
        self.set_geometry(shared)?;
        self.evaluate(shared, NutsRestart::Place)?;
        Ok(self.chains.all.iter().map(|chain| chain.state.logp))
    }

    fn evaluate(&mut self, shared: &Shared<'_, '_>, kind: NutsRestart) -> Result<(), SamplerError> {
        let _span = tracing::debug_span!("place chains", chains = self.chains.all.len()).entered();
        let mut blocks = self.chains.blocks(0);
        self.move_through(shared, Some(kind), &(shared.done..shared.done), &mut blocks)
    }

    /// Places all chains in this way, or where that is needed only, and moves them through `span`. What a device that
    /// fails has not done is done again by those that are left.
    fn move_through(
        &mut self,
        shared: &Shared<'_, '_>,
        kind: Option<NutsRestart>,
        span: &Range<usize>,
        blocks: &mut [ChainBlock],
    ) -> Result<(), SamplerError> {
        // All windows are equally long.
        let window = self.chains.all.first().map_or(0, |chain| chain.window.positions.len());
        let all = 0..self.chains.all.len();
        let mut left = vec![all];
        while !left.is_empty() {
            let Self { shards, weights, chains, last, .. } = self;
            if let (Some(last), true) = (last, shards.is_empty()) {
                return Err(last.clone().into());
            }
            let mut under_way: Vec<SpanProgress<'_>> = shards.iter().map(|_| SpanProgress::new(span.clone())).collect();
            set_out(shards, weights, &left, kind, (&mut chains.all, blocks), &mut under_way);
            let mut failed = Failed::new();
            let driven = drive(shards, shared, &mut under_way, &mut failed);
            if let Err(error) = driven {
                // The run ends, or goes on on the CPU, and tells of the devices that were lost before the last.
                failed.into_iter().for_each(|(at, cause)| self.note(self.shards[at].number(), cause));
                return Err(error);
            }
            left = under_way.into_iter().flat_map(|progress| progress.undo(window)).collect();
            left.sort_unstable_by_key(|range| range.start);
            self.give_up(failed)?;
        }
        Ok(())
    }

    /// Goes on without devices that have failed.
    fn give_up(&mut self, mut failed: Failed) -> Result<(), SamplerError> {
        if failed.is_empty() {
            return Ok(());
        }
        failed.sort_by_key(|&(at, _)| at);
        for (gone, (at, cause)) in failed.into_iter().enumerate() {
            let shard = self.shards.remove(at - gone);
            self.weights.remove(at - gone);
            self.note(shard.number(), cause);
        }
        self.make_room()
    }

    fn note(&mut self, device: u32, cause: CudaError) {
        self.last = Some(cause.clone());
        self.notes.push(GpuNote::GivenUp { device, cause });
    }

    /// Keeps a device that is ready, and gives up a device that failed.
    ///
    /// # Errors
    /// When the error is not a failure of the device.
    fn keep(&mut self, device: u32, weight: u32, shard: Result<DeviceShard, SamplerError>) -> Result<(), SamplerError> {
        match shard {
            Ok(shard) => {
                self.shards.push(shard);
                self.weights.push(weight);
            }
            Err(SamplerError::Device(cause)) if is_loss(&cause) => self.note(device, cause),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Makes room on each of the devices that are left for its share of all chains, which none has placed any more.
    fn make_room(&mut self) -> Result<(), SamplerError> {
        loop {
            let (shards, weights) = (std::mem::take(&mut self.shards), std::mem::take(&mut self.weights));
            let (count, shares) = (shards.len(), shares(self.most, &weights));
            for ((mut shard, weight), share) in shards.into_iter().zip(weights).zip(shares) {
                shard.holds = None;
                let (device, shard) = (shard.number(), shard.with_room(share, &mut self.notes));
                self.keep(device, weight, shard)?;
            }
            match &self.last {
                Some(last) if self.shards.is_empty() => return Err(last.clone().into()),
                None if self.shards.is_empty() => return Err(no_device().into()),
                _ if self.shards.len() == count => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Returns the number of multiprocessors of a device, in proportion to which chains are divided over devices.
pub(super) fn weight(context: &Context) -> Result<u32, CudaError> {
    Ok(context.device().multiprocessors()?.max(1))
}

/// Returns the error that a run on devices was given none.
pub(super) fn no_device() -> ConfigError {
    ConfigError { field: "devices", value: "none".to_owned(), expected: "a run on GPUs needs at least one" }
}

/// Divides these chains over the devices, in order.
fn set_out<'a>(
    shards: &mut [DeviceShard],
    weights: &[u32],
    left: &[Range<usize>],
    kind: Option<NutsRestart>,
    (mut chains, mut blocks): (&'a mut [HostChain], &'a mut [ChainBlock]),
    under_way: &mut [SpanProgress<'a>],
) {
    let mut first = 0;
    for range in left {
        (_, chains) = chains.split_at_mut(range.start - first);
        (_, blocks) = blocks.split_at_mut(range.start - first);
        first = range.start;
        for ((shard, progress), count) in shards.iter_mut().zip(&mut *under_way).zip(shares(range.len(), weights)) {
            let (own, own_blocks);
            (own, chains) = chains.split_at_mut(count);
            (own_blocks, blocks) = blocks.split_at_mut(count);
            if count > 0 {
                shard.join(progress, first, own, own_blocks, kind);
            }
            first += count;
        }
    }
}

/// Moves all chains to the end of their spans, except those of devices that fail; adds these devices and their errors
/// to `failed`.
///
/// # Errors
/// When the last device fails, or the error is not the failure of a device.
fn drive(
    shards: &mut [DeviceShard],
    shared: &Shared<'_, '_>,
    under_way: &mut [SpanProgress<'_>],
    failed: &mut Failed,
) -> Result<(), SamplerError> {
    let count = shards.len();
    loop {
        let mut all_done = true;
        // While one device is waited for, the others have work.
        for wait in [false, true] {
            for (at, (shard, progress)) in shards.iter_mut().zip(&mut *under_way).enumerate() {
                if progress.is_done() || failed.iter().any(|&(gone, _)| gone == at) {
                    continue;
                }
                all_done = false;
                let done = if wait { shard.take(shared, progress) } else { shard.queue(shared, progress) };
                if let Err(error) = done {
                    failed.push((at, loss(error, failed.len() + 1 < count)?));
                }
            }
        }
        if all_done {
            return Ok(());
        }
    }
}

impl EngineChains for GpuEngine {
    fn pool(&mut self) -> Box<dyn WindowPool + '_> {
        let Self { shards, chains, .. } = self;
        match shards.first_mut() {
            Some(DeviceShard { windows: Some(windows), compute, .. }) => {
                Box::new(DevicePool { windows, stream: compute })
            }
            _ => chains.pool(),
        }
    }

    fn clear_windows(&mut self) {
        self.windows().for_each(NutsWindows::clear);
        self.chains.clear_windows();
    }

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.chains.points()
    }

    fn set_step(&mut self, step: f64) -> Result<(), SamplerError> {
        self.chains.set_step(step);
        self.set_states()
    }

    fn spread(&mut self, shared: &Shared<'_, '_>, each: usize) -> Result<(), SamplerError> {
        let _span = tracing::debug_span!("spread chains", each).entered();
        self.chains.spread(each);
        self.drop_windows();
        self.place(shared, NutsRestart::Place)
    }

    fn settle(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        self.chains.settle(shared);
        self.drop_windows();
        self.set_states()
    }

    fn step_sizes(&self) -> Vec<f64> {
        self.chains.step_sizes()
    }

    fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        let mut states = self.chains.states();
        if let Some(DeviceShard { windows: Some(windows), .. }) = self.shards.first() {
            for (c, state) in states.iter_mut().enumerate() {
                state.window = windows::read(windows, c)?;
            }
        }
        Ok(states)
    }
}

impl SamplerEngine for GpuEngine {
    fn advance(&mut self, shared: &Shared<'_, '_>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        if shared.length.is_some() {
            self.tell(|shard| shard.set_trajectory(shared))?;
        }
        let mut blocks = self.chains.blocks(span.len());
        self.move_through(shared, None, &span, &mut blocks)?;
        Ok(blocks)
    }

    fn restart(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        self.set_geometry(shared)?;
        match shared.config.algorithm.kernel().and_then(|kernel| kernel.fixed_step()) {
            None => self.place(shared, NutsRestart::Search),
            Some(step) => {
                self.chains.fix_step(step, shared.config.target_accept);
                self.place(shared, NutsRestart::Place)
            }
        }
    }

    fn take_notes(&mut self) -> Vec<GpuNote> {
        std::mem::take(&mut self.notes)
    }
}
