//! One device and the chains that are there, which take turns where its memory does not hold all.

use super::host::{HostChain, expect_values};
use super::kernel::ChainNeeds;
use super::pace::Pace;
use super::watchdog::Watchdog;
use super::{GpuConfig, in_turns, kernel, launch, memory, patience};
use crate::config::SamplerConfig;
use crate::draw::ChainBlock;
use crate::engine::Shared;
use crate::engine::gpu_note::GpuNote;
use crate::error::SamplerError;
use octopus_cuda::{
    Context, Event, NutsChain, NutsChains, NutsData, NutsGeometry, NutsKernels, NutsRestart, NutsSlot, NutsWindows,
    Stream,
};
use octopus_density::gpu::GpuDensity;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;

/// A device with all that moves chains there.
pub(super) struct DeviceShard {
    buffers: ChainBuffers,
    /// The events at which the launches of each slot began and were done.
    marks: [(Event, Event); 2],
    /// The open window, if it is on the device.
    pub(super) windows: Option<NutsWindows>,
    pub(super) geometry: NutsGeometry,
    data: NutsData,
    kernels: NutsKernels,
    pub(super) compute: Stream,
    copies: Stream,
    pace: Pace,
    /// The chains whose vectors are there as the last launch has left them.
    pub(super) holds: Option<Range<usize>>,
    needs: Needs,
    gpu: GpuConfig,
}

/// The numbers that set the size of a chain's part of the device.
struct Needs {
    context: Context,
    dim: usize,
    max_depth: u32,
    chain: ChainNeeds,
    /// Bytes of what the density reads.
    data_bytes: usize,
    /// The run's draws of each chain, and whether the host learns from what warm-up draws.
    draws: usize,
    host_learns: bool,
}

/// Room for chains: for their states and vectors, and for what one launch leaves for the host.
struct ChainBuffers {
    device: NutsChains,
    slots: [NutsSlot; 2],
    /// The number of chains on the device at once, and the number that there were to be.
    count: usize,
    wanted: usize,
}

impl Needs {
    fn device(&self) -> u32 {
        self.context.device().ordinal()
    }
}

impl ChainBuffers {
    fn new(needs: &Needs, kernels: &NutsKernels, count: usize, gpu: &GpuConfig) -> Result<Self, SamplerError> {
        let Needs { context, dim, max_depth, chain, data_bytes, draws, host_learns } = needs;
        let wanted = count;
        let count = count.min(gpu.chains_at_once).max(1);
        let by_blocks = (gpu.blocks_per_chain, patience::of_launch(gpu, count, *max_depth, *data_bytes));
        let device = kernel::chains(*chain, kernels, context, (count, *dim), *max_depth, by_blocks)?;
        let capacity = memory::slot_iterations(kernels.format(), (count, *dim), *draws, gpu);
        let slot = || NutsSlot::new(context, &device, capacity, *host_learns);
        Ok(Self { slots: [slot()?, slot()?], device, count, wanted })
    }
}

/// Chains of a device that are there at once.
struct ChainGroup<'a> {
    /// The number of the first chain.
    first: usize,
    chains: &'a mut [HostChain],
    blocks: &'a mut [ChainBlock],
    /// How the chains must be placed before they move.
    due: Option<NutsRestart>,
}

impl ChainGroup<'_> {
    fn range(&self) -> Range<usize> {
        self.first..self.first + self.chains.len()
    }
}

/// The way of a device's chains through a span, group after group.
pub(super) struct SpanProgress<'a> {
    groups: VecDeque<ChainGroup<'a>>,
    span: Range<usize>,
    /// The iteration up to which launches of the first group are queued.
    queued: usize,
    taken: usize,
    launches: usize,
    takes: usize,
}

impl<'a> SpanProgress<'a> {
    /// Begins with no chains yet to take through this span; an empty span is for chains that are only placed.
    pub(super) fn new(span: Range<usize>) -> Self {
        Self { groups: VecDeque::new(), queued: span.start, taken: span.start, span, launches: 0, takes: 0 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    /// Goes on with the next group.
    fn next_group(&mut self) {
        self.groups.pop_front();
        (self.queued, self.taken, self.launches, self.takes) = (self.span.start, self.span.start, 0, 0);
    }

    /// Takes the chains that are not through back to where they were when their windows held `window` numbers: points
    /// and states are still those of that time.
    pub(super) fn undo(self, window: usize) -> impl Iterator<Item = Range<usize>> {
        self.groups.into_iter().map(move |group| {
            for (chain, block) in group.chains.iter_mut().zip(group.blocks.iter_mut()) {
                chain.window.positions.truncate(window);
                chain.window.gradients.truncate(window);
                block.positions.clear();
                block.stats.clear();
            }
            group.range()
        })
    }
}

impl DeviceShard {
    /// Makes room for `chains` chains of a run on a device, for the points of windows on the host too if the host learns
    /// from them. With `turns`, the device takes fewer where memory does not suffice, which is noted in `turns`.
    ///
    /// # Errors
    /// When no kernel is compiled for the density, or the device or its memory fails.
    pub(super) fn new(
        density: &dyn GpuDensity,
        config: &SamplerConfig,
        context: &Context,
        gpu: &GpuConfig,
        (count, host_learns): (usize, bool),
        turns: Option<&mut Vec<GpuNote>>,
    ) -> Result<Self, SamplerError> {
        let chosen = kernel::choose(density, config)?;
        let format = kernel::format(chosen);
        let kernels = kernel::load(density, chosen, config, context)?;
        let data = kernel::upload(&kernel::fields(density), format, context)?;
        let geometry = NutsGeometry::new(context, format, memory::MOST_DIRECTIONS)?;
        let (dim, chain) = (density.dim(), ChainNeeds::of(density));
        let (context_of, draws, max_depth) = (context.clone(), config.draws, config.max_depth);
        let needs = Needs { context: context_of, dim, max_depth, chain, data_bytes: data.bytes(), draws, host_learns };
        let buffers = match turns {
            None => ChainBuffers::new(&needs, &kernels, count, gpu)?,
            Some(notes) => in_turns(needs.device(), gpu.first_turn(count), notes, |turn| {
                ChainBuffers::new(&needs, &kernels, count, turn)
            })?,
        };
        let side_by_side = buffers.device.chains_of(context.device().multiprocessors()? as usize);
        let watchdog = Watchdog::of_device(context, gpu.kernel_time, max_depth, side_by_side)?;
        let marks = || Ok::<_, SamplerError>((Event::new(context)?, Event::new(context)?));
        Ok(Self {
            marks: [marks()?, marks()?],
            pace: Pace::new(gpu.launch_time, gpu.most_iterations.max(1), watchdog),
            compute: Stream::new(context)?,
            copies: Stream::new(context)?,
            windows: None,
            holds: None,
            buffers,
            geometry,
            data,
            kernels,
            needs,
            gpu: gpu.clone(),
        })
    }

    /// Makes room for `count` chains, if they are more than before and memory has sufficed so far; where memory does
    /// not suffice now, for fewer, which is noted.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(super) fn with_room(self, count: usize, notes: &mut Vec<GpuNote>) -> Result<Self, SamplerError> {
        let count = count.min(self.gpu.chains_at_once);
        let ChainBuffers { count: has, wanted, .. } = self.buffers;
        if count <= wanted || has < wanted {
            return Ok(self);
        }
        let Self { buffers, needs, kernels, gpu, pace, .. } = self;
        // First what it has goes back.
        #[allow(clippy::drop_non_drop, reason = "without the feature `cuda` there is nothing to drop")]
        drop(buffers);
        let turn = gpu.first_turn(count);
        let buffers = in_turns(needs.device(), turn, notes, |turn| ChainBuffers::new(&needs, &kernels, count, turn))?;
        Ok(Self { buffers, pace: pace.anew(), needs, kernels, gpu, holds: None, ..self })
    }

    /// Tells the device coordinates and metric.
    pub(super) fn set_geometry(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        kernel::set_geometry(&mut self.geometry, &self.needs.context, shared)
    }

    /// Tells the device how far trajectories go from now on.
    pub(super) fn set_trajectory(&mut self, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
        kernel::set_trajectory(&mut self.geometry, &self.needs.context, shared)
    }

    /// Returns the device's number.
    pub(super) fn number(&self) -> u32 {
        self.needs.device()
    }

    /// Tells the device what the host has changed of its chains; those that take turns bring their states with them.
    pub(super) fn set_states(&mut self, all: &[NutsChain]) -> Result<(), SamplerError> {
        match self.holds.clone().and_then(|range| all.get(range)) {
            Some(own) => Ok(self.buffers.device.set_states(own)?),
            None => Ok(()),
        }
    }

    /// Adds chains, which begin with number `first`, to those on their way, after they are placed in this way; without
    /// one, as they are where they are here already.
    pub(super) fn join<'a>(
        &mut self,
        progress: &mut SpanProgress<'a>,
        first: usize,
        chains: &'a mut [HostChain],
        blocks: &'a mut [ChainBlock],
        kind: Option<NutsRestart>,
    ) {
        let range = first..first + chains.len();
        let alone = progress.groups.is_empty() && range.len() <= self.buffers.count;
        let stays = alone && self.holds.as_ref() == Some(&range);
        let due = kind.or((!stays).then_some(NutsRestart::Place));
        self.holds = alone.then_some(range);
        let groups = chains.chunks_mut(self.buffers.count).zip(blocks.chunks_mut(self.buffers.count));
        let mut first = first;
        for (chains, blocks) in groups {
            let next = first + chains.len();
            progress.groups.push_back(ChainGroup { first, chains, blocks, due });
            first = next;
        }
    }

    /// Queues what is next on the way through the span: the group's placement, or launches, one ahead of what the host takes.
    pub(super) fn queue(
        &mut self,
        shared: &Shared<'_, '_>,
        progress: &mut SpanProgress<'_>,
    ) -> Result<(), SamplerError> {
        let Some(group) = progress.groups.front() else { return Ok(()) };
        if let Some(kind) = group.due {
            return self.queue_placement(shared, group, kind);
        }
        while progress.queued < progress.span.end && progress.launches < progress.takes + 2 {
            let at = progress.launches % 2;
            let wished = self.pace.next(progress.span.end - progress.queued, group.chains.len());
            let window = &shared.windows;
            let points = window.start < progress.queued + wished && progress.queued < window.end;
            let fit = self.buffers.slots[at].most_iterations(group.chains.len(), wished, points);
            let next = progress.queued + fit.max(1);
            self.queue_launch(shared, &group.range(), progress.queued..next, at)?;
            (progress.queued, progress.launches) = (next, progress.launches + 1);
        }
        Ok(())
    }

    /// Waits for the first of what was queued, and takes what it has left.
    pub(super) fn take(
        &mut self,
        shared: &Shared<'_, '_>,
        progress: &mut SpanProgress<'_>,
    ) -> Result<(), SamplerError> {
        let Some(group) = progress.groups.front_mut() else { return Ok(()) };
        if group.due.is_some() {
            self.take_placement(group)?;
            group.due = None;
            if progress.span.is_empty() {
                progress.next_group();
                return Ok(());
            }
            return expect_values(group.first, group.chains, shared.done);
        }
        progress.taken += self.take_launch(group, progress.taken, progress.span.end, progress.takes % 2)?;
        progress.takes += 1;
        if progress.taken == progress.span.end {
            progress.next_group();
        }
        Ok(())
    }

    /// Takes the points of a group to the device and queues their evaluation there.
    fn queue_placement(
        &mut self,
        shared: &Shared<'_, '_>,
        group: &ChainGroup<'_>,
        kind: NutsRestart,
    ) -> Result<(), SamplerError> {
        let launch = launch(shared, &group.range(), shared.done..shared.done);
        let Self { kernels, compute, data, geometry, buffers, pace, .. } = self;
        let ChainBuffers { device, slots: [slot, _], .. } = buffers;
        let positions: Vec<f64> = group.chains.iter().flat_map(|chain| chain.x.iter().copied()).collect();
        slot.place(&positions)?;
        let states: Vec<NutsChain> = group.chains.iter().map(|chain| chain.state).collect();
        device.set_states(&states)?;
        kernels.limit_chains(pace.chains_of_kernel());
        Ok(kernels.restart(compute, kind, &launch, data, geometry, device, slot)?)
    }

    /// Waits for the placement of a group and takes what it has made of the chains.
    fn take_placement(&self, group: &mut ChainGroup<'_>) -> Result<(), SamplerError> {
        let states = self.buffers.device.states(group.chains.len())?;
        group.chains.iter_mut().zip(states).for_each(|(chain, state)| chain.state = state);
        Ok(())
    }

    /// Queues the iterations `span` of a group into slot `at`, and the copy of what they leave.
    fn queue_launch(
        &mut self,
        shared: &Shared<'_, '_>,
        group: &Range<usize>,
        span: Range<usize>,
        at: usize,
    ) -> Result<(), SamplerError> {
        let _span = tracing::debug_span!("queue a launch", chains = group.len(), iterations = span.len()).entered();
        tracing::debug!(chains = group.len(), first = span.start, iterations = span.len(), "a launch is queued");
        let launch = launch(shared, group, span);
        let Self { kernels, compute, copies, data, geometry, buffers, windows, marks, pace, .. } = self;
        let (slot, (begun, done)) = (&mut buffers.slots[at], &marks[at]);
        begun.record(compute)?;
        kernels.limit_chains(pace.chains_of_kernel());
        kernels.run(compute, &launch, data, geometry, &mut buffers.device, slot)?;
        if let Some(windows) = windows {
            windows.append(compute, slot)?;
        }
        done.record(compute)?;
        copies.wait_for(done)?;
        slot.fetch(copies, windows.is_none())?;
        Ok(())
    }

    /// Waits for what slot `at` holds of a group from iteration `first` on, and takes it; how many iterations that were.
    /// The host asks where the chains are at iteration `end` only.
    fn take_launch(
        &mut self,
        group: &mut ChainGroup<'_>,
        first: usize,
        end: usize,
        at: usize,
    ) -> Result<usize, SamplerError> {
        let Self { buffers, marks, windows, pace, compute, .. } = self;
        let output = tracing::debug_span!("wait for the GPU").in_scope(|| buffers.slots[at].wait())?;
        let _span = tracing::debug_span!("take draws from the GPU").entered();
        let (begun, done) = &marks[at];
        let time = done.elapsed_since(begun)?;
        compute.context().count_measured(time);
        pace.learn(output.iterations(), time, || output.steps());
        let (ends, keep) = (first + output.iterations() == end, windows.is_none());
        let start = group.first;
        group.chains.par_iter_mut().zip(&mut *group.blocks).enumerate().try_for_each(|(c, (chain, block))| {
            chain.take(&output, c, (ends, keep), block).map_err(|(row, source)| SamplerError::Density {
                chain: start + c,
                iteration: first + row,
                source,
            })
        })?;
        Ok(output.iterations())
    }
}
