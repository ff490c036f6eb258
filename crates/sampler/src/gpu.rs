//! Chains on a GPU: whole trajectories, windows and their sums on the device, what follows from the sums on the host.
//!
//! Chains' states and vectors stay on the device from launch to launch. What a launch leaves for the host goes to one
//! of two slots; while it is copied by a second stream, the next launch fills the other. So the device's memory does
//! not grow with the draws.
//!
//! Chains that do not fit at once take turns: between transitions a chain is its point and a few numbers, from which
//! the device makes the rest again to the same bits.

mod batch;
mod expander;
mod host;
mod kernel;
mod memory;
mod pace;
mod windows;

use crate::config::SamplerConfig;
use crate::draw::ChainBlock;
use crate::engine::{ChainState, Chains, Engine, Shared, Tuning};
use crate::pool::Pool;
use crate::run::SamplerError;
use host::HostChains;
use octopus_cuda::{
    Context, Event, NutsChain, NutsChains, NutsData, NutsGeometry, NutsKernels, NutsLaunch, NutsRestart, NutsSlot,
    NutsWindows, Stream,
};
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use pace::Pace;
use rayon::prelude::*;
use std::ops::Range;
use std::time::Duration;
use windows::DevicePool;

pub(crate) use batch::OnGpu;
pub use expander::GpuExpander;
pub use memory::GpuMemory;

/// How a run uses a GPU. Nothing here changes a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuConfig {
    /// The time that one launch should take: what Ctrl-C and other programs on the device wait for.
    pub launch_time: Duration,
    /// The most iterations of one launch.
    pub most_iterations: usize,
    /// Bytes of each of the two buffers through which draws leave the device; one iteration of every chain fits,
    /// whatever this says.
    pub slot_bytes: usize,
    /// The most chains on the device at once; more take turns.
    pub chains_at_once: usize,
    /// The most blocks of threads that share a chain's evaluations, where the data are so many that they do.
    pub blocks_per_chain: usize,
    /// The most bytes for the draws that warm-up learns from; where they need more, or chains take turns, the host
    /// learns from what has left the device, to the same bits.
    pub window_bytes: usize,
}

impl Default for GpuConfig {
    fn default() -> Self {
        Self {
            launch_time: Duration::from_millis(20),
            most_iterations: 1024,
            slot_bytes: 32 << 20,
            chains_at_once: usize::MAX,
            blocks_per_chain: usize::MAX,
            window_bytes: 1 << 30,
        }
    }
}

/// All chains, on a device.
pub(crate) struct GpuEngine {
    chains: HostChains,
    slots: [NutsSlot; 2],
    /// Launches of each slot: begun and done.
    marks: [(Event, Event); 2],
    device: NutsChains,
    /// The open window, if it is on the device.
    windows: Option<NutsWindows>,
    geometry: NutsGeometry,
    data: NutsData,
    kernels: NutsKernels,
    compute: Stream,
    copies: Stream,
    pace: Pace,
    /// Chains on the device at once.
    room: usize,
}

impl GpuEngine {
    /// Chains that start or go on at these states; their points are not evaluated yet.
    ///
    /// # Errors
    /// When no kernel is compiled for the density, or the device or its memory fails.
    pub(crate) fn new<D: GpuDensity + ?Sized>(
        density: &D,
        config: &SamplerConfig,
        context: &Context,
        gpu: &GpuConfig,
        states: Vec<ChainState>,
    ) -> Result<Self, SamplerError> {
        let dim = density.dim();
        let chosen = kernel::choose(density, config.precision)?;
        let format = kernel::format(chosen);
        let kernels = kernel::load(density, chosen, context)?;
        let data = kernel::upload(&kernel::fields(density), format, context)?;
        let geometry = NutsGeometry::new(context, format, memory::MOST_DIRECTIONS)?;
        let room = config.chains.min(gpu.chains_at_once.max(1));
        let device = kernel::chains(density, &kernels, context, room, config.max_depth, gpu.blocks_per_chain)?;
        let capacity = memory::slot_iterations(format, room, dim, gpu);
        let slot = || NutsSlot::new(context, &device, capacity);
        let windows = windows::on_device(config, context, gpu, dim, &states)?;
        let marks = || Ok::<_, SamplerError>((Event::new(context)?, Event::new(context)?));
        Ok(Self {
            slots: [slot()?, slot()?],
            marks: [marks()?, marks()?],
            chains: HostChains::new(dim, states),
            pace: Pace::new(gpu.launch_time, capacity),
            compute: Stream::new(context)?,
            copies: Stream::new(context)?,
            device,
            windows,
            geometry,
            data,
            kernels,
            room,
        })
    }

    /// Evaluates the chains' points where a checkpoint has left them.
    ///
    /// # Errors
    /// When the log density there is not what it was, or the device fails.
    pub(crate) fn resume<D: LogDensity + ?Sized>(&mut self, shared: &Shared<'_, '_, D>) -> Result<(), SamplerError> {
        let saved = self.chains.states();
        kernel::set_geometry(&mut self.geometry, shared)?;
        for group in self.groups() {
            self.place(shared, group, NutsRestart::Place)?;
        }
        self.chains.expect_same(&saved)
    }

    /// Tells the device what the host has changed of its chains; chains that take turns bring their states with them.
    fn set_states(&mut self) -> Result<(), SamplerError> {
        if self.chains.all.len() <= self.room {
            self.device.set_states(&self.chains.on_device())?;
        }
        Ok(())
    }

    /// The chains that are on the device at once, by their numbers.
    fn groups(&self) -> Vec<Range<usize>> {
        let (chains, room) = (self.chains.all.len(), self.room);
        (0..chains).step_by(room).map(|first| first..chains.min(first + room)).collect()
    }

    /// Takes the points of a group to the device and evaluates them there.
    fn place<D: LogDensity + ?Sized>(
        &mut self,
        shared: &Shared<'_, '_, D>,
        group: Range<usize>,
        kind: NutsRestart,
    ) -> Result<(), SamplerError> {
        let launch = launch(shared, &group, shared.done..shared.done);
        let Self { kernels, compute, data, geometry, device, slots: [slot, _], chains, .. } = self;
        let chains = &mut chains.all[group.clone()];
        let positions: Vec<f64> = chains.iter().flat_map(|chain| chain.x.iter().copied()).collect();
        slot.place(&positions)?;
        let states: Vec<NutsChain> = chains.iter().map(|chain| chain.state).collect();
        device.set_states(&states)?;
        kernels.restart(compute, kind, &launch, data, geometry, device, slot)?;
        for ((c, chain), state) in group.zip(chains).zip(device.states(launch.chains as usize)?) {
            let failed = |source| SamplerError::Density { chain: c, iteration: shared.done, source };
            chain.placed(state).map_err(failed)?;
        }
        Ok(())
    }

    /// Queues the iterations `span` of a group into slot `at`, and the copy of what they leave.
    fn queue<D: ?Sized>(
        &mut self,
        shared: &Shared<'_, '_, D>,
        group: &Range<usize>,
        span: Range<usize>,
        at: usize,
    ) -> Result<(), SamplerError> {
        let launch = launch(shared, group, span);
        let Self { kernels, compute, copies, data, geometry, device, windows, slots, marks, .. } = self;
        let (slot, (begun, done)) = (&mut slots[at], &marks[at]);
        begun.record(compute)?;
        kernels.run(compute, &launch, data, geometry, device, slot)?;
        if let Some(windows) = windows {
            windows.append(compute, slot)?;
        }
        done.record(compute)?;
        copies.wait_for(done)?;
        slot.fetch(copies, windows.is_none())?;
        Ok(())
    }

    /// Waits for what slot `at` holds of a group from iteration `first` on, and takes it; how many iterations that were.
    /// Where the chains are is asked for at iteration `end` only.
    fn take(
        &mut self,
        group: &Range<usize>,
        first: usize,
        end: usize,
        at: usize,
        blocks: &mut [ChainBlock],
    ) -> Result<usize, SamplerError> {
        let Self { slots, marks, chains, windows, pace, compute, .. } = self;
        let dim = chains.dim;
        let output = slots[at].wait()?;
        let (begun, done) = &marks[at];
        let time = done.elapsed_since(begun)?;
        compute.context().count_measured(time);
        pace.learn(output.iterations(), time);
        let chains = &mut chains.all[group.clone()];
        if first + output.iterations() == end {
            let (states, positions) = (output.end_states(), output.end_positions());
            for ((chain, state), x) in chains.iter_mut().zip(states).zip(positions.chunks_exact(dim)) {
                chain.state = state;
                chain.x.copy_from_slice(x);
            }
        }
        let blocks = &mut blocks[group.clone()];
        let keep = windows.is_none();
        chains.par_iter_mut().zip(blocks).enumerate().try_for_each(|(c, (chain, block))| {
            chain.take(&output, c, dim, keep, block).map_err(|(row, source)| SamplerError::Density {
                chain: group.start + c,
                iteration: first + row,
                source,
            })
        })?;
        Ok(output.iterations())
    }
}

/// A launch of the iterations `span` of a group of chains.
fn launch<D: ?Sized>(shared: &Shared<'_, '_, D>, group: &Range<usize>, span: Range<usize>) -> NutsLaunch {
    let config = shared.config;
    let window = &shared.windows;
    // Chains and iterations are below 2^31: `SamplerConfig::validate`.
    NutsLaunch {
        seed: config.seed,
        first_chain: group.start as u32,
        chains: group.len() as u32,
        first_iteration: span.start as u32,
        iterations: span.len() as u32,
        tune: if shared.tuning == Tuning::EachChain { config.tune as u32 } else { 0 },
        window: window.start as u32..window.end as u32,
        max_energy_error: config.max_energy_error,
        target_accept: config.target_accept,
    }
}

impl<D: LogDensity + ?Sized> Chains<D> for GpuEngine {
    fn pool(&mut self) -> Box<dyn Pool + '_> {
        let Self { windows, chains, compute, .. } = self;
        match windows {
            Some(windows) => Box::new(DevicePool { windows, stream: compute }),
            None => chains.pool(),
        }
    }

    fn clear_windows(&mut self) {
        self.windows.iter_mut().for_each(NutsWindows::clear);
        self.chains.clear_windows();
    }

    fn points(&mut self) -> Vec<&mut [f64]> {
        self.chains.points()
    }

    fn set_step(&mut self, step: f64) -> Result<(), SamplerError> {
        self.chains.set_step(step);
        self.set_states()
    }

    fn spread(&mut self, shared: &Shared<'_, '_, D>, each: usize) -> Result<(), SamplerError> {
        self.chains.spread(each);
        self.windows = None;
        self.groups().into_iter().try_for_each(|group| self.place(shared, group, NutsRestart::Place))
    }

    fn settle(&mut self, tuning: Tuning) -> Result<(), SamplerError> {
        self.chains.settle(tuning);
        self.windows = None;
        self.set_states()
    }

    fn step_sizes(&self) -> Vec<f64> {
        self.chains.step_sizes()
    }

    fn states(&self) -> Result<Vec<ChainState>, SamplerError> {
        let mut states = self.chains.states();
        if let Some(windows) = &self.windows {
            for (c, state) in states.iter_mut().enumerate() {
                state.window = windows::read(windows, c)?;
            }
        }
        Ok(states)
    }
}

impl<D: LogDensity + ?Sized> Engine<D> for GpuEngine {
    fn advance(&mut self, shared: &Shared<'_, '_, D>, span: Range<usize>) -> Result<Vec<ChainBlock>, SamplerError> {
        let mut blocks = self.chains.blocks(span.len());
        let groups = self.groups();
        for group in &groups {
            if groups.len() > 1 {
                self.place(shared, group.clone(), NutsRestart::Place)?;
            }
            // One launch ahead of what the host takes, in turns.
            let (mut queued, mut taken) = (span.start, span.start);
            let (mut launches, mut takes) = (0, 0);
            while taken < span.end {
                while queued < span.end && launches < takes + 2 {
                    let next = queued + self.pace.next(span.end - queued);
                    self.queue(shared, group, queued..next, launches % 2)?;
                    (queued, launches) = (next, launches + 1);
                }
                taken += self.take(group, taken, span.end, takes % 2, &mut blocks)?;
                takes += 1;
            }
        }
        Ok(blocks)
    }

    fn restart(&mut self, shared: &Shared<'_, '_, D>) -> Result<(), SamplerError> {
        kernel::set_geometry(&mut self.geometry, shared)?;
        for group in self.groups() {
            self.place(shared, group, NutsRestart::Search)?;
        }
        Ok(())
    }
}
