//! Timings: engines with repeats, strategies and sizes side by side. Nothing is written while the clock runs.

use super::Options;
use super::compare::error_of_means;
use super::gpu::OnGpu;
use super::gpu_benchmark::GpuBenchmarks;
use super::planned;
use super::speedup::{speedups, whole_device};
use super::strategies::strategies;
use super::target::{Engine, Reached};
use anyhow::{Context, Result};
use octopus_density::LogDensity;
use octopus_device::{Device, DeviceChoice, DeviceRequest, Source};
use octopus_diag::limits;
use octopus_diag::{DEFAULT_PROB, summary, summary_of_many};
use octopus_models::exact::ExactPosterior;
use octopus_models::{HierarchicalNormal, HierarchicalNormalProblem, Likelihood};
use octopus_report::{Benchmark, EngineRun, EngineTimes, Measured, Repeat};
use octopus_runs::{
    DeviceInventory, MemoryRun, Observer, Placement, StepCosts, StrategyPlan, posterior_of, sample_in_memory,
};
use octopus_sampler::{Block, SamplerConfig, Strategy};
use rayon::ThreadPool;
use std::time::Instant;

/// The number of repeats of each engine; [`QUICK_REPEATS`] with --quick.
const REPEATS: usize = 5;
const QUICK_REPEATS: usize = 2;
/// The number of repeats of each strategy; with --quick there is one.
const STRATEGY_REPEATS: usize = 3;
/// The least work in one repeat, in seconds: shorter runs are batched. Where the times vary too much, most likely
/// because of a neighbour on the machine, all repeats are timed again with the next, longer value, and the new times
/// count.
const REPEAT_SECONDS: [f64; 3] = [0.25, 0.5, 1.0];
/// The draws of the CPU's long run, as a multiple of the run's own. The long run is compared with a GPU's many chains.
const LONG: usize = 10;
/// The PRD's limit of the variation over repeats.
const MAX_VARIATION: f64 = 0.1;

/// The measurement of one configuration.
pub(super) struct Measurement {
    /// The configuration and its times.
    pub(super) run: EngineRun,
    /// The form in which the likelihood was evaluated.
    pub(super) likelihood: Likelihood,
    /// The quality of the draws.
    pub(super) quality: Quality,
    /// The leapfrog steps for each draw after warm-up.
    pub(super) leapfrogs_per_draw: f64,
    /// The number of runs in each repeat; a repeat's times are the means of its runs.
    pub(super) batch: usize,
    /// How often the configuration was timed again because the times varied too much.
    pub(super) again: usize,
}

impl Measurement {
    /// Returns the variation over the repeats; `None` for a single repeat.
    pub(super) fn variation(&self) -> Option<f64> {
        self.run.result.value().and_then(EngineTimes::variation)
    }
}

/// The quality of a run's draws. Runs that differ in threads only have the same quality.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    /// The smallest bulk effective sample size of all parameters.
    pub(super) min_ess_bulk: f64,
    /// The smallest tail effective sample size of all parameters.
    pub(super) min_ess_tail: f64,
    /// The largest R-hat of all parameters.
    pub(super) max_rhat: f64,
    /// The number of divergent transitions.
    pub(super) divergences: u64,
    /// The root mean square error of the means, in exact standard deviations, where it was asked for.
    pub(super) error: Option<f64>,
}

impl Quality {
    /// Returns whether the draws meet the PRD's limits of R-hat and effective sample sizes.
    pub(super) fn converged(&self) -> bool {
        self.max_rhat < limits::RHAT && self.min_ess_bulk > limits::ESS && self.min_ess_tail > limits::ESS
    }
}

/// All measurements.
pub(super) struct Benchmarks {
    /// The run on the CPU, with repeats: both forms of the likelihood, on one thread and on all threads.
    pub(super) engines: Vec<Measurement>,
    /// The chain strategies and configurations of the sampler on the CPU; the first is the choice of `--strategy auto`.
    pub(super) strategies: Vec<Measurement>,
    /// The PRD's other sizes on the CPU, each configuration once.
    pub(super) sizes: Vec<Measurement>,
    /// The choice of `--strategy auto` on each engine that is there.
    pub(super) plans: Vec<StrategyPlan>,
    /// The time to the quality target on each engine that is there.
    pub(super) targets: Vec<Reached>,
    /// The GPU's measurements, or the reason why there are none.
    pub(super) gpu: std::result::Result<GpuBenchmarks, String>,
}

/// Makes all measurements; returns `None` when the user stopped them.
///
/// # Errors
/// When a run fails.
pub(super) fn run(
    options: &Options<'_>,
    problem: &HierarchicalNormalProblem,
    exact: &ExactPosterior,
    gpu: &std::result::Result<OnGpu, String>,
    pool: &ThreadPool,
    observer: &dyn Observer,
) -> Result<Option<Benchmarks>> {
    let repeats = if options.quick { QUICK_REPEATS } else { REPEATS };
    let reason = gpu.as_ref().err().cloned().unwrap_or_default();
    let mut found = Benchmarks { gpu: Err(reason), ..Benchmarks::default() };
    let one = octopus_runs::pool(Some(1))?;
    let threads = pool.current_num_threads();
    for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
        let model = problem.with_likelihood(likelihood)?;
        let mut quality = None;
        for pool in if threads > 1 { vec![&one, pool] } else { vec![&one] } {
            if observer.stops() {
                return Ok(None);
            }
            let setting = setting(pool, likelihood);
            let case = Case { setting, model: &model, config: &options.sampler, place: &Placement::Cpu, pool };
            let mut measured = case.measure(repeats, REPEAT_SECONDS[0], &mut quality)?;
            for (again, seconds) in REPEAT_SECONDS.into_iter().enumerate().skip(1) {
                if options.quick || measured.variation().is_none_or(|variation| variation < MAX_VARIATION) {
                    break;
                }
                measured = Measurement { again, ..case.measure(repeats, seconds, &mut quality)? };
            }
            found.engines.push(measured);
        }
    }
    let machine = DeviceInventory::look(DeviceRequest { choice: options.asked, source: Source::Flag, note: None });
    let costs = StepCosts::measure(problem.model(), pool, &machine)?;
    let plan = planned::choose(problem.model(), &options.sampler, DeviceChoice::Cpu, &costs)?;
    let auto = (planned::label(&plan.config), plan.config.clone());
    found.plans.push(plan);
    let repeats = if options.quick { 1 } else { STRATEGY_REPEATS };
    for (label, config) in std::iter::once(auto).chain(strategies(&options.sampler)) {
        if observer.stops() {
            return Ok(None);
        }
        let case = Case { setting: label, model: problem.model(), config: &config, place: &Placement::Cpu, pool };
        let mut measured = None;
        let strategy = case.measure_against(Some(exact), repeats, 0.0, &mut measured)?;
        found.strategies.push(strategy);
    }
    let on_cpu = Engine { name: "CPU", place: &Placement::Cpu, choice: DeviceChoice::Cpu, costs: &costs, pool };
    found.targets = on_cpu.measure(problem.model(), &options.sampler, options.quick)?;
    // A GPU's many chains make so many draws that warm-up hardly counts. To be compared with them fairly, the CPU makes
    // a long run, too.
    let against_gpu = gpu.as_ref().is_ok_and(|gpu| !gpu.test_double);
    let long = against_gpu.then(|| SamplerConfig { draws: LONG * options.sampler.draws, ..options.sampler.clone() });
    let once = |model: &HierarchicalNormal, config: &SamplerConfig| {
        let SamplerConfig { chains, draws, .. } = config;
        let setting = format!("{}, {chains} chains x {draws}", setting(pool, model.likelihood()));
        Case { setting, model, config, place: &Placement::Cpu, pool }.measure(1, 0.0, &mut None)
    };
    if let Some(long) = &long {
        found.strategies.push(once(problem.model(), long)?);
    }
    for groups in other_sizes(options) {
        let problem = super::data::of_size(groups)?;
        let auto = planned::choose(problem.model(), &options.sampler, DeviceChoice::Cpu, &costs)?.config;
        for config in std::iter::once(&options.sampler).chain(&long).chain([&auto]) {
            if observer.stops() {
                return Ok(None);
            }
            found.sizes.push(once(problem.model(), config)?);
        }
    }
    if let Ok(gpu) = gpu {
        let mut auto = None;
        if let (Ok(_), Device::Cuda(ordinal)) = (&gpu.run, gpu.device) {
            let choice = DeviceChoice::Cuda(Some(ordinal));
            let plan = planned::choose(problem.model(), &options.sampler, choice, &costs)?;
            auto = Some(plan.config.clone());
            found.plans.push(plan);
            if !gpu.test_double {
                let on_gpu = Engine { name: "GPU", place: &gpu.place, choice, costs: &costs, pool };
                found.targets.extend(on_gpu.measure(problem.model(), &options.sampler, options.quick)?);
            }
        }
        let Some(measured) = GpuBenchmarks::run(options, problem, gpu, auto.as_ref(), pool, observer)? else {
            return Ok(None);
        };
        found.gpu = Ok(measured);
    }
    Ok(Some(found))
}

/// Returns the PRD's sizes in groups other than the run's own; there are none with --quick.
pub(super) fn other_sizes(options: &Options<'_>) -> impl Iterator<Item = usize> {
    let (quick, own) = (options.quick, options.groups);
    [100, 500, 1000].into_iter().filter(move |&groups| !quick && groups != own)
}

impl Default for Benchmarks {
    fn default() -> Self {
        let gpu = Err(String::new());
        let (plans, targets) = (Vec::new(), Vec::new());
        Self { engines: Vec::new(), strategies: Vec::new(), sizes: Vec::new(), plans, targets, gpu }
    }
}

impl Benchmarks {
    /// Returns the benchmark for the report: every engine and size, the GPU, and the speedups. A GPU without figures
    /// has a row with the reason.
    pub(super) fn summary(&self) -> Benchmark {
        let mut runs: Vec<EngineRun> = self.engines.iter().chain(&self.sizes).map(|m| m.run.clone()).collect();
        match (self.gpu_figures(), runs.first().cloned()) {
            (Ok(gpu), _) => runs.extend(gpu.all().map(|m| m.run.clone())),
            (Err(reason), Some(first)) => {
                let result = Measured::missing(reason);
                runs.push(EngineRun { engine: "GPU".into(), gpu: true, setting: String::new(), result, ..first });
            }
            (Err(_), None) => {}
        }
        Benchmark { runs, speedups: speedups(self) }
    }

    /// Returns the speedup that decides P0.4, P1.1 and P2.1: the best run of each side at the run's size.
    pub(super) fn whole_device(&self) -> Measured<f64> {
        let groups = self.engines.first().map_or(0, |m| m.run.groups);
        whole_device(self, groups).ratio
    }

    /// Returns the GPU's measurements where they are figures of a real GPU, else the reason why there are none.
    pub(super) fn gpu_figures(&self) -> std::result::Result<&GpuBenchmarks, String> {
        match &self.gpu {
            Ok(gpu) if gpu.test_double => Err("a test double's speed says nothing".into()),
            Ok(gpu) => Ok(gpu),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Returns the largest variation over the repeats of an engine; `None` where each engine has a single repeat.
    pub(super) fn worst_variation(&self) -> Option<f64> {
        self.engines.iter().filter_map(Measurement::variation).max_by(f64::total_cmp)
    }
}

/// A configuration to time, and the place where it runs.
pub(super) struct Case<'a> {
    pub(super) setting: String,
    pub(super) model: &'a HierarchicalNormal,
    pub(super) config: &'a SamplerConfig,
    pub(super) place: &'a Placement,
    pub(super) pool: &'a ThreadPool,
}

impl Case<'_> {
    /// Times the case, and computes the quality of its draws unless it is known.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn measure(&self, repeats: usize, seconds: f64, quality: &mut Option<Quality>) -> Result<Measurement> {
        self.measure_against(None, repeats, seconds, quality)
    }

    /// Times the case like [`measure`](Self::measure), and with `exact` also computes the error of the means.
    fn measure_against(
        &self,
        exact: Option<&ExactPosterior>,
        repeats: usize,
        seconds: f64,
        quality: &mut Option<Quality>,
    ) -> Result<Measurement> {
        let mut batch = 1;
        if repeats > 1 {
            // This run lets caches, clocks and the allocator settle, and tells how many runs a repeat needs.
            let begin = Instant::now();
            sample_in_memory(self.model, self.config, self.place, self.pool)?;
            batch = (seconds / begin.elapsed().as_secs_f64()).ceil().clamp(1.0, 1000.0) as usize;
        }
        let mut times = Vec::with_capacity(repeats);
        let mut last: Option<MemoryRun> = None;
        for _ in 0..repeats {
            let (mut warmup_s, mut sampling_s) = (0.0, 0.0);
            for _ in 0..batch {
                // The last run's draws are freed while the clock stands still, since a user would keep them.
                drop(last.take());
                let run = sample_in_memory(self.model, self.config, self.place, self.pool)?;
                warmup_s += run.warmup_s / batch as f64;
                sampling_s += run.sampling_s / batch as f64;
                last = Some(run);
            }
            times.push(Repeat { wall_s: warmup_s + sampling_s, warmup_s, sampling_s });
        }
        let run = last.context("no repeat was asked for")?;
        let quality = match quality {
            Some(quality) => *quality,
            None => *quality.insert(quality_of(self.model, &run.blocks, self.config, exact)?),
        };
        let (config, gpu) = (self.config, !self.place.is_cpu());
        let result = EngineTimes { repeats: times, leapfrogs: run.tally.leapfrogs, min_ess_bulk: quality.min_ess_bulk };
        Ok(Measurement {
            run: EngineRun {
                engine: if gpu { "GPU" } else { "CPU" }.into(),
                gpu,
                setting: self.setting.clone(),
                groups: self.model.data().groups(),
                observations: self.model.observations(),
                chains: config.chains,
                draws: config.draws,
                tune: config.tune,
                result: Measured::Value(result),
            },
            likelihood: self.model.likelihood(),
            quality,
            leapfrogs_per_draw: run.tally.sampling_leapfrogs as f64 / (config.chains * config.draws) as f64,
            batch,
            again: 0,
        })
    }
}

pub(super) fn quality_of(
    model: &dyn LogDensity,
    blocks: &[Block],
    config: &SamplerConfig,
    exact: Option<&ExactPosterior>,
) -> Result<Quality> {
    let posterior = posterior_of(model, blocks);
    let draws = blocks.iter().flat_map(|block| &block.chains).flat_map(|chain| &chain.stats);
    let summary = match config.strategy {
        Strategy::FourLong => summary(&posterior, DEFAULT_PROB)?,
        Strategy::ManyShort => summary_of_many(&posterior, DEFAULT_PROB, config.superchains)?,
    };
    Ok(Quality {
        min_ess_bulk: summary.min_ess_bulk(),
        min_ess_tail: summary.min_ess_tail(),
        max_rhat: summary.max_rhat(),
        divergences: draws.filter(|draw| draw.diverging).count() as u64,
        error: exact.map(|exact| error_of_means(model, &summary, exact)),
    })
}

/// Returns the name of a form of the likelihood.
pub(super) fn name(likelihood: Likelihood) -> &'static str {
    match likelihood {
        Likelihood::Collapsed => "collapsed",
        Likelihood::Pointwise => "pointwise",
    }
}

fn setting(pool: &ThreadPool, likelihood: Likelihood) -> String {
    let threads = pool.current_num_threads();
    format!("{threads} thread{}, {}", if threads == 1 { "" } else { "s" }, name(likelihood))
}
