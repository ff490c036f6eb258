//! The data sets that are on the device at once, and the launches of all of them.

use super::super::host::HostChain;
use super::super::pace::Pace;
use super::super::watchdog::Watchdog;
use super::super::{GpuConfig, kernel, launch, memory};
use super::job::{Job, Run};
use crate::engine::Shared;
use crate::error::SamplerError;
use crate::run::BegunRun;
use octopus_cuda::{
    Context, Event, NutsBatch, NutsBatchItem, NutsBatchKernels, NutsBatchLaunch, NutsBatchSlot, NutsChain, NutsField,
    NutsOutput, NutsRestart, Stream,
};
use octopus_density::gpu::{GpuDensity, KernelModule};
use rayon::prelude::*;
use std::ops::Range;

/// Data sets on the device, and what moves them.
pub(super) struct ResidentBatch {
    slots: [NutsBatchSlot; 2],
    /// The events at which the launches of each slot began and were done.
    marks: [(Event, Event); 2],
    device: NutsBatch,
    kernels: Loaded,
    compute: Stream,
    copies: Stream,
    pace: Pace,
}

/// How far the runs of a turn are on their ways through their spans.
pub(super) struct BatchProgress {
    queued: Vec<usize>,
    under_way: [Vec<Option<Range<usize>>>; 2],
    launches: usize,
    takes: usize,
    pub(super) is_done: bool,
}

impl BatchProgress {
    pub(super) fn new(jobs: &[Job<'_, '_>]) -> Self {
        let queued: Vec<usize> = jobs.iter().map(|job| job.span.start).collect();
        Self { is_done: queued.is_empty(), queued, under_way: Default::default(), launches: 0, takes: 0 }
    }
}

/// Kernels, which the next turn may need again.
pub(super) struct Loaded {
    /// The entry's name.
    name: String,
    kernels: NutsBatchKernels,
}

/// Returns the bytes of device memory that a turn of these data sets takes.
pub(super) fn bytes(sets: &[&BegunRun<'_>], gpu: &GpuConfig) -> usize {
    let Ok((_, module, max_depth)) = kernels(sets) else { return 0 };
    let format = kernel::format(module);
    with_items(sets, |items| {
        let iterations = memory::batch_slot_iterations(format, items, gpu);
        let slots = NutsBatchSlot::bytes_for(format, items, iterations)?.checked_mul(2)?;
        NutsBatch::bytes_for(format, items, max_depth, memory::MOST_DIRECTIONS)?.checked_add(slots)
    })
    .unwrap_or(usize::MAX)
}

/// Returns the largest of the data sets, the kernels that hold it, and the deepest tree.
fn kernels<'a>(sets: &[&'a BegunRun<'_>]) -> Result<(&'a dyn GpuDensity, &'a KernelModule, u32), SamplerError> {
    let largest = sets.iter().max_by_key(|begun| begun.run_state.density().dim());
    let largest = largest.ok_or_else(|| SamplerError::Checkpoint("a turn without data sets".to_owned()))?;
    let config = largest.run_state.config();
    let density = kernel::of_density(largest.run_state.density(), config)?;
    Ok((density, kernel::choose_of_batch(density, config)?, config.max_depth))
}

fn with_items<R>(sets: &[&BegunRun<'_>], take: impl FnOnce(&[NutsBatchItem<'_>]) -> R) -> R {
    let fields: Vec<_> = sets
        .iter()
        .map(|begun| begun.run_state.density().kernels().map_or_else(Vec::new, GpuDensity::kernel_data))
        .collect();
    let given: Vec<Vec<NutsField<'_>>> = fields.iter().map(|fields| kernel::given(fields)).collect();
    let items: Vec<NutsBatchItem<'_>> = sets
        .iter()
        .zip(&given)
        .map(|(begun, fields)| NutsBatchItem {
            fields,
            chains: begun.run_state.config().chains,
            dim: begun.run_state.density().dim(),
        })
        .collect();
    take(&items)
}

impl ResidentBatch {
    /// Puts these data sets on the device, their chains not yet; they are known by their places in the list.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(super) fn new(
        sets: &[&BegunRun<'_>],
        context: &Context,
        gpu: &GpuConfig,
        last: Option<Loaded>,
    ) -> Result<Self, SamplerError> {
        let (density, module, max_depth) = kernels(sets)?;
        let name = kernel::name(density, module);
        let kernels = match last.filter(|last| last.name == name) {
            Some(last) => last,
            None => Loaded { kernels: kernel::load_of_batch(density, module, context)?, name },
        };
        let format = kernel::format(module);
        let (device, capacity) = with_items(sets, |items| {
            let capacity = memory::batch_slot_iterations(format, items, gpu);
            Ok::<_, SamplerError>((
                NutsBatch::new(context, format, items, max_depth, memory::MOST_DIRECTIONS)?,
                capacity,
            ))
        })?;
        let side_by_side = format.chains_of_block() * context.device().multiprocessors()? as usize;
        let watchdog = Watchdog::of_device(context, gpu.kernel_time, max_depth, side_by_side)?;
        let slot = || NutsBatchSlot::new(context, &device, capacity);
        let marks = || Ok::<_, SamplerError>((Event::new(context)?, Event::new(context)?));
        Ok(Self {
            slots: [slot()?, slot()?],
            marks: [marks()?, marks()?],
            device,
            kernels,
            compute: Stream::new(context)?,
            copies: Stream::new(context)?,
            pace: Pace::new(gpu.launch_time, capacity, watchdog),
        })
    }

    pub(super) fn into_kernels(self) -> Loaded {
        self.kernels
    }

    /// Does what is due of the runs before they go on: takes them to new coordinates and metrics, makes several chains of
    /// each, places those that are not here, and tells the device what else the host has changed.
    pub(super) fn set_off(&mut self, jobs: &mut [Job<'_, '_>]) -> Result<(), SamplerError> {
        self.restart(jobs)?;
        jobs.iter_mut().for_each(Job::spread);
        self.place(jobs, NutsRestart::Place, |job| job.place)?;
        self.tell(jobs)
    }

    /// Takes the runs that are due to new coordinates and metrics, and searches step sizes there.
    fn restart(&mut self, jobs: &mut [Job<'_, '_>]) -> Result<(), SamplerError> {
        self.place(jobs, NutsRestart::Search, |job| job.next.restart)?;
        for job in jobs.iter_mut().filter(|job| job.next.restart && job.failed.is_none()) {
            let Run { run_state, chains, .. } = &mut *job.run;
            job.failed = run_state.restarted(chains).err();
            job.next.restart = false;
        }
        Ok(())
    }

    /// Takes coordinates, metrics, states and points of the `chosen` runs to the device and evaluates the points there.
    fn place<'a, 'd>(
        &mut self,
        jobs: &mut [Job<'a, 'd>],
        kind: NutsRestart,
        chosen: impl Fn(&Job<'a, 'd>) -> bool,
    ) -> Result<(), SamplerError> {
        let mut jobs: Vec<_> = jobs.iter_mut().filter(|job| job.failed.is_none() && chosen(job)).collect();
        if jobs.is_empty() {
            return Ok(());
        }
        let (mut launches, mut states, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for job in &jobs {
            let Run { run_state, chains, item, .. } = &*job.run;
            let shared = run_state.shared();
            kernel::set_geometry_of(&mut self.device, *item, &shared)?;
            let done = shared.done..shared.done;
            launches.push(NutsBatchLaunch { item: *item, launch: launch(&shared, &(0..chains.host.all.len()), done) });
            states.push((*item, chains.host.on_device()));
            points.push(chains.host.all.iter().flat_map(|chain| chain.x.iter().copied()).collect::<Vec<f64>>());
        }
        self.send(&states)?;
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let Self { kernels: Loaded { kernels, .. }, compute, device, slots: [slot, _], pace, .. } = self;
        kernels.limit_chains(pace.chains_of_kernel());
        kernels.restart(compute, kind, &launches, &points, device, slot)?;
        let items: Vec<usize> = states.iter().map(|&(item, _)| item).collect();
        for (job, states) in jobs.iter_mut().zip(device.states(&items)?) {
            let iteration = job.run.run_state.done();
            job.run.chains.changed = false;
            for ((chain, own), state) in job.run.chains.host.all.iter_mut().enumerate().zip(states) {
                if let Err(source) = own.placed(state) {
                    job.failed = Some(SamplerError::Density { chain, iteration, source });
                    break;
                }
            }
        }
        Ok(())
    }

    /// Tells the device what the host has changed.
    fn tell(&mut self, jobs: &mut [Job<'_, '_>]) -> Result<(), SamplerError> {
        let changed = jobs.iter_mut().filter(|job| job.failed.is_none() && job.run.chains.changed);
        let states: Vec<(usize, Vec<NutsChain>)> = changed
            .map(|job| {
                job.run.chains.changed = false;
                (job.run.item, job.run.chains.host.on_device())
            })
            .collect();
        self.send(&states)
    }

    fn send(&mut self, states: &[(usize, Vec<NutsChain>)]) -> Result<(), SamplerError> {
        let states: Vec<(usize, &[NutsChain])> = states.iter().map(|(item, own)| (*item, own.as_slice())).collect();
        Ok(self.device.set_states(&states)?)
    }

    /// Queues launches of all runs that are not at the end of their spans, one ahead of what the host takes.
    pub(super) fn queue(&mut self, jobs: &[Job<'_, '_>], progress: &mut BatchProgress) -> Result<(), SamplerError> {
        while progress.launches < progress.takes + 2 {
            let left: Vec<usize> = jobs
                .iter()
                .zip(&progress.queued)
                .map(|(job, from)| if job.failed.is_none() { job.span.end - from } else { 0 })
                .collect();
            let chains_of = |(job, &left): (&Job<'_, '_>, &usize)| if left > 0 { job.chains() } else { 0 };
            let chains = jobs.iter().zip(&left).map(chains_of).sum();
            let next = |(&left, &from): (&usize, &usize)| (left > 0).then(|| from..from + self.pace.next(left, chains));
            let spans: Vec<_> = left.iter().zip(&progress.queued).map(next).collect();
            if spans.iter().all(Option::is_none) {
                break;
            }
            self.queue_launch(jobs, &spans, progress.launches % 2)?;
            for (queued, span) in progress.queued.iter_mut().zip(&spans) {
                *queued = span.as_ref().map_or(*queued, |span| span.end);
            }
            progress.under_way[progress.launches % 2] = spans;
            progress.launches += 1;
        }
        Ok(())
    }

    /// Waits for the first launch that was queued, and takes what it has left; when there is none, all are at their ends.
    pub(super) fn take(&mut self, jobs: &mut [Job<'_, '_>], progress: &mut BatchProgress) -> Result<(), SamplerError> {
        if progress.takes == progress.launches {
            progress.is_done = true;
            return Ok(());
        }
        self.take_launch(jobs, &progress.under_way[progress.takes % 2], progress.takes % 2)?;
        progress.takes += 1;
        Ok(())
    }

    /// Queues these iterations of the runs into slot `at`, and the copy of what they leave.
    fn queue_launch(
        &mut self,
        jobs: &[Job<'_, '_>],
        spans: &[Option<Range<usize>>],
        at: usize,
    ) -> Result<(), SamplerError> {
        let one = |(job, span): (&Job<'_, '_>, &Option<Range<usize>>)| {
            let shared: Shared<'_, '_> = job.run.run_state.shared();
            let chains = 0..job.chains();
            Some(NutsBatchLaunch { item: job.run.item, launch: launch(&shared, &chains, span.clone()?) })
        };
        let launches: Vec<NutsBatchLaunch> = jobs.iter().zip(spans).filter_map(one).collect();
        let _span = tracing::debug_span!("queue a launch", data_sets = launches.len()).entered();
        tracing::debug!(data_sets = launches.len(), "a launch is queued");
        let Self { slots, marks, device, kernels: Loaded { kernels, .. }, compute, copies, pace, .. } = self;
        let (slot, (begun, done)) = (&mut slots[at], &marks[at]);
        begun.record(compute)?;
        kernels.limit_chains(pace.chains_of_kernel());
        kernels.run(compute, &launches, device, slot)?;
        done.record(compute)?;
        copies.wait_for(done)?;
        slot.fetch(copies, true)?;
        Ok(())
    }

    /// Waits for the draws of these iterations in slot `at`, and takes them.
    fn take_launch(
        &mut self,
        jobs: &mut [Job<'_, '_>],
        spans: &[Option<Range<usize>>],
        at: usize,
    ) -> Result<(), SamplerError> {
        let Self { slots, marks, compute, pace, .. } = self;
        let outputs = tracing::debug_span!("wait for the GPU").in_scope(|| slots[at].wait())?;
        let _span = tracing::debug_span!("take draws from the GPU").entered();
        let (begun, done) = &marks[at];
        let time = done.elapsed_since(begun)?;
        compute.context().count_measured(time);
        let steps = || outputs.iter().map(NutsOutput::steps).sum();
        pace.learn(outputs.iter().map(NutsOutput::iterations).max().unwrap_or(0), time, steps);
        let moved = jobs.iter_mut().zip(spans).filter_map(|(job, span)| Some((job, span.as_ref()?)));
        let moved: Vec<_> = moved.zip(&outputs).filter(|((job, _), _)| job.failed.is_none()).collect();
        moved.into_par_iter().for_each(|((job, span), output)| take_one(job, span, output));
        Ok(())
    }
}

/// Takes what one run has drawn; where its chains are only at the end of its span.
fn take_one(job: &mut Job<'_, '_>, span: &Range<usize>, output: &NutsOutput<'_>) {
    let host = &mut job.run.chains.host;
    let ends = span.end == job.span.end;
    let one = |(c, (chain, block)): (usize, (&mut HostChain, &mut _))| {
        chain.take(output, c, (ends, true), block).map_err(|(row, source)| SamplerError::Density {
            chain: c,
            iteration: span.start + row,
            source,
        })
    };
    job.failed = host.all.par_iter_mut().zip(&mut job.blocks).enumerate().try_for_each(one).err();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SamplerConfig;
    use crate::run::Begin;
    use octopus_cuda::{Float, NutsFormat};
    use octopus_models::EightSchools;

    #[test]
    fn a_turn_takes_its_data_sets_and_two_slots() {
        let (model, gpu) = (EightSchools::rubin(), GpuConfig::default());
        let prepared: Vec<BegunRun<'_>> = [2, 5]
            .map(|chains| SamplerConfig { chains, max_depth: 6, ..SamplerConfig::default() })
            .map(|config| BegunRun::new(&model, &Begin::Anew(config)).expect("starts"))
            .into();
        let sets: Vec<&BegunRun<'_>> = prepared.iter().collect();
        let format = NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 1 };
        let expected = with_items(&sets, |items| {
            assert_eq!(items.iter().map(|item| (item.chains, item.dim)).collect::<Vec<_>>(), [(2, 10), (5, 10)]);
            let iterations = memory::batch_slot_iterations(format, items, &gpu);
            let slot = NutsBatchSlot::bytes_for(format, items, iterations).expect("is counted");
            let chains = NutsBatch::bytes_for(format, items, 6, memory::MOST_DIRECTIONS).expect("are counted");
            chains + slot + slot
        });
        assert_eq!(bytes(&sets, &gpu), expected);
    }
}
