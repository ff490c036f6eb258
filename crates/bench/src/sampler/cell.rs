//! Cells: a cell is one run with a size, a likelihood, a precision and a number of chains, on the GPU or on all cores.

use super::quality::quality;
use crate::error::BenchError;
use crate::json::null_is_nan;
use crate::quality::Quality;
use octopus_density::LogDensity;
use octopus_device::CudaContext;
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{
    Backend, Begin, Block, GpuConfig, GpuMemory, Phase, Precision, Sampler, SamplerConfig, SamplerError, Strategy,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, Instant};

/// The engine of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Where {
    #[default]
    Cpu,
    Gpu,
}

impl Where {
    /// Returns the name in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label().to_lowercase())
    }
}

/// The plan of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellPlan {
    pub(super) place: Where,
    pub(super) groups: usize,
    pub(super) likelihood: Likelihood,
    pub(super) precision: Precision,
    pub(super) chains: usize,
    /// Whether the run makes only a fifth of the iterations, to try things out.
    pub(super) short: bool,
}

/// The results of a cell; times are in seconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SamplerCell {
    pub(crate) place: Where,
    pub(crate) groups: usize,
    pub(crate) likelihood: Likelihood,
    pub(crate) precision: Precision,
    pub(crate) chains: usize,
    pub(crate) target_accept: f64,
    pub(crate) strategy: Strategy,
    /// The iterations of warm-up that were planned for each chain; for chains that warm up together, the most allowed.
    pub(crate) tune: usize,
    /// The iterations that warm-up took; `None` when it was not done in the time of a cell.
    pub(crate) warm_up: Option<usize>,
    pub(crate) planned_draws: usize,
    /// The draws of each chain that were made in the time of a cell.
    pub(crate) draws: usize,
    /// The seconds for starting points, buffers, and the module, which the driver has compiled before.
    pub(crate) setup_seconds: f64,
    pub(crate) warmup_seconds: f64,
    pub(crate) sampling_seconds: f64,
    /// The leapfrog steps after warm-up, or in warm-up when that was not done.
    pub(crate) leapfrogs: u64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) leapfrogs_per_draw: f64,
    /// The leapfrog steps a second by the host's clock, including launches, copies and the host's work.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) leapfrogs_per_second: f64,
    /// The seconds of these leapfrog steps by the device's clock: launches from begin to end.
    pub(crate) device_seconds: Option<f64>,
    /// The device's time of one leapfrog step of one chain, in microseconds.
    pub(crate) device_us_per_leapfrog: Option<f64>,
    /// The most device memory held at once, and the memory that was foretold.
    pub(crate) device_bytes: Option<u64>,
    pub(crate) foretold_bytes: Option<u64>,
    pub(crate) divergences: u64,
    /// The quality of the draws; `None` when there are too few draws to tell.
    pub(crate) quality: Option<Quality>,
    /// The effective draws a second of the worst quantity, over the whole time including setup and warm-up; for
    /// converged runs only.
    pub(crate) min_ess_per_second: Option<f64>,
    /// The reason why there are no figures; as a rule, memory did not suffice.
    pub(crate) error: Option<String>,
}

/// The leapfrog steps of a run, and the time they took.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    iterations: usize,
    leapfrogs: u64,
    divergences: u64,
    seconds: f64,
    device: Duration,
}

impl CellPlan {
    pub(super) fn new(
        place: Where,
        groups: usize,
        likelihood: Likelihood,
        precision: Precision,
        chains: usize,
    ) -> Self {
        Self { place, groups, likelihood, precision, chains, short: false }
    }

    pub(super) fn name(&self) -> String {
        let Self { place, groups, likelihood, precision, chains, .. } = self;
        format!("{place:?}, {groups} groups, {likelihood:?}, {precision}, {chains} chains").to_lowercase()
    }

    /// Returns the sampler's settings. Four chains make the PRD's run. More chains warm up together, and each draws
    /// less. All have the PRD's target of acceptance.
    fn config(&self) -> SamplerConfig {
        let (tune, draws): (usize, usize) = match self.chains {
            0..=1 => (500, 1500),
            2..=4 => (1000, 2000),
            5..=64 => (500, 500),
            65..=1024 => (500, 48),
            1025..=4096 => (500, 24),
            4097..=16_384 => (500, 12),
            _ => (500, 8),
        };
        let (tune, draws) = if self.short { (tune.div_ceil(5), draws.div_ceil(5)) } else { (tune, draws) };
        let (chains, precision) = (self.chains, self.precision);
        let few = SamplerConfig { strategy: Strategy::FourLong, ..SamplerConfig::default() };
        let base = if chains > 4 { SamplerConfig::many_short(chains) } else { few };
        SamplerConfig { tune, draws, chains, target_accept: 0.95, precision, seed: 42, ..base }
    }

    /// Runs the cell for at most about `time`. A failure of memory or of the density is noted in the result.
    ///
    /// # Errors
    /// When the device is lost: nothing more can be measured.
    pub(super) fn measure(
        &self,
        model: &HierarchicalNormal,
        context: Option<&CudaContext>,
        time: Duration,
    ) -> Result<SamplerCell, BenchError> {
        let config = self.config();
        let mut cell = self.empty(&config);
        if let Err(error) = fill(&mut cell, model, &config, context, time) {
            cell.error = Some(error.to_string());
            if let Some(context) = context {
                context.healthy()?;
            }
        }
        Ok(cell)
    }

    /// Returns a cell in which nothing was measured.
    #[cfg(test)]
    pub(super) fn empty_for_test(&self) -> SamplerCell {
        self.empty(&self.config())
    }

    fn empty(&self, config: &SamplerConfig) -> SamplerCell {
        SamplerCell {
            place: self.place,
            groups: self.groups,
            likelihood: self.likelihood,
            precision: self.precision,
            chains: self.chains,
            target_accept: config.target_accept,
            strategy: config.strategy,
            tune: config.tune,
            planned_draws: config.draws,
            ..SamplerCell::default()
        }
    }
}

fn fill(
    cell: &mut SamplerCell,
    model: &HierarchicalNormal,
    config: &SamplerConfig,
    context: Option<&CudaContext>,
    time: Duration,
) -> Result<(), SamplerError> {
    let gpu = GpuConfig::default();
    if let Some(context) = context {
        context.reset_usage();
        cell.foretold_bytes = Some(GpuMemory::of_run(model, config, &gpu)?.total());
    }
    let clock = Instant::now();
    let mut sampler = match context {
        Some(context) => Sampler::begin(model, Begin::Anew(config.clone()), Backend::gpu(context, &gpu))?,
        None => Sampler::new(model, config.clone())?,
    };
    cell.setup_seconds = clock.elapsed().as_secs_f64();
    let (mut warmup, mut sampling) = (Work::default(), Work::default());
    let mut blocks = Vec::new();
    let mut pieces = Pieces::default();
    let clock = Instant::now();
    while clock.elapsed() < time {
        let (begin, before) = (Instant::now(), context.map(|context| context.usage().measured_time));
        let Some(block) = sampler.advance(pieces.next())? else { break };
        let took = begin.elapsed();
        pieces.learn(took, time);
        let device =
            context.zip(before).map_or(Duration::ZERO, |(context, before)| context.usage().measured_time - before);
        let work = if block.phase == Phase::Sampling { &mut sampling } else { &mut warmup };
        work.add(&block, took, device);
        if block.phase == Phase::Sampling {
            blocks.push(block);
        }
    }
    cell.warm_up = sampler.warm_up();
    drop(sampler);
    (cell.warmup_seconds, cell.sampling_seconds) = (warmup.seconds, sampling.seconds);
    cell.draws = sampling.iterations;
    cell.divergences = sampling.divergences;
    cell.device_bytes = context.map(|context| context.usage().peak_device_bytes);
    cell.speed(if sampling.iterations > 0 { sampling } else { warmup }, context.is_some());
    cell.quality = quality(model, &blocks, config);
    let seconds = cell.setup_seconds + cell.warmup_seconds + cell.sampling_seconds;
    let converged = cell.quality.as_ref().filter(|quality| quality.converged());
    cell.min_ess_per_second = converged.map(|quality| quality.min_ess_bulk / seconds);
    debug_assert_eq!(model.dim(), cell.groups + 3);
    Ok(())
}

impl SamplerCell {
    fn speed(&mut self, work: Work, on_gpu: bool) {
        let leapfrogs = work.leapfrogs as f64;
        self.leapfrogs = work.leapfrogs;
        self.leapfrogs_per_draw = leapfrogs / (work.iterations * self.chains).max(1) as f64;
        self.leapfrogs_per_second = if work.seconds > 0.0 { leapfrogs / work.seconds } else { 0.0 };
        let device = on_gpu.then_some(work.device.as_secs_f64());
        self.device_seconds = device;
        let per_leapfrog = |seconds: f64| seconds * 1e6 * self.chains as f64 / leapfrogs;
        self.device_us_per_leapfrog = device.filter(|_| work.leapfrogs > 0).map(per_leapfrog);
    }

    /// Returns the seconds of setup, warm-up and draws together.
    pub(crate) fn seconds(&self) -> f64 {
        self.setup_seconds + self.warmup_seconds + self.sampling_seconds
    }

    /// Returns whether all planned draws were made.
    pub(super) fn finished(&self) -> bool {
        self.draws == self.planned_draws
    }
}

impl Work {
    fn add(&mut self, block: &Block, took: Duration, device: Duration) {
        let stats = block.chains.iter().flat_map(|chain| &chain.stats);
        self.iterations += block.draws;
        self.leapfrogs += block.leapfrogs();
        self.divergences += stats.filter(|stats| stats.diverging).count() as u64;
        self.seconds += took.as_secs_f64();
        self.device += device;
    }
}

/// The number of iterations asked for at once, kept so small that a slow run can be ended in time.
#[derive(Debug)]
struct Pieces {
    iterations: usize,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { iterations: 4 }
    }
}

impl Pieces {
    fn next(&self) -> usize {
        self.iterations
    }

    fn learn(&mut self, took: Duration, time: Duration) {
        if took * 8 < time {
            self.iterations *= 2;
        } else if took * 3 > time && self.iterations > 1 {
            self.iterations /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::model::model;

    #[test]
    fn a_cell_on_the_cpu_has_figures_that_fit_together() {
        let plan = CellPlan::new(Where::Cpu, 10, Likelihood::Collapsed, Precision::F64, 4);
        let model = model(10, Likelihood::Collapsed).unwrap();
        let cell = plan.measure(&model, None, Duration::from_secs(60)).unwrap();
        assert!(cell.warm_up == Some(1000) && cell.finished() && cell.error.is_none(), "{cell:?}");
        assert_eq!((cell.draws, cell.tune, cell.target_accept), (2000, 1000, 0.95));
        let by_hand = cell.leapfrogs as f64 / cell.sampling_seconds;
        assert!((cell.leapfrogs_per_second / by_hand - 1.0).abs() < 1e-9);
        assert!((3.0..100.0).contains(&cell.leapfrogs_per_draw), "{}", cell.leapfrogs_per_draw);
        let quality = cell.quality.as_ref().unwrap();
        assert!(quality.max_rhat < 1.01 && quality.min_ess_bulk > 400.0, "{quality:?}");
        let rate = cell.min_ess_per_second.unwrap();
        assert!((rate * cell.seconds() / quality.min_ess_bulk - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_cell_without_time_is_no_finished_run() {
        let plan = CellPlan::new(Where::Cpu, 100, Likelihood::Pointwise, Precision::F64, 64);
        let model = model(100, Likelihood::Pointwise).unwrap();
        let cell = plan.measure(&model, None, Duration::from_millis(1)).unwrap();
        assert!(
            cell.warm_up.is_none() && !cell.finished() && cell.quality.is_none() && cell.min_ess_per_second.is_none()
        );
        assert!(cell.leapfrogs > 0 && cell.leapfrogs_per_second > 0.0, "{cell:?}");
    }
}
