//! A model timed on engines with repeats, by strategies, by sizes, and to a quality target, side by side: the benchmark
//! of phase 0.
//!
//! The number of repeats of a strategy and the length of the CPU's long run stand here.

mod case;
mod evidence;
mod gpu;
mod known;
mod planned;
mod speedup;
mod strategies;
mod tables;
mod target;

pub use case::Measurement;
pub use known::known;

use crate::error::BenchError;
use case::{Case, Timed};
use evidence::MeasuredEvidence;
use gpu::GpuBenchmarks;
use octopus_device::{Device, DeviceChoice};
use octopus_models::exact::Exact;
use octopus_models::{NamedLikelihood, Problem};
use octopus_report::{Benchmark, EngineRun, Measured, WorstVariation};
use octopus_runs::{Observer, Placement, StrategyPlan};
use octopus_sampler::SamplerConfig;
use rayon::ThreadPool;
use std::sync::Arc;
use strategies::{samplers, strategies};
use target::{Reached, TimedEngine};

/// The number of repeats of each strategy, on the CPU and on a GPU; with --quick there is one.
const STRATEGY_REPEATS: usize = 3;
/// The draws of the CPU's long run, as a multiple of the run's own. The long run is compared with a GPU's many chains.
const LONG: usize = 10;

/// What is measured.
#[derive(Clone, Copy)]
pub struct EngineOptions<'a> {
    /// The settings of the run that all others are compared with.
    pub sampler: &'a SamplerConfig,
    /// Whether few and short runs are enough.
    pub quick: bool,
}

/// The model that is measured.
#[derive(Clone, Copy)]
pub struct TimedProblem<'a> {
    /// The problem of the run.
    pub own: &'a dyn Problem,
    /// The exact posterior of that problem, where it is known.
    pub exact: Option<&'a dyn Exact>,
    /// The same model with data of other sizes.
    pub sizes: &'a [Arc<dyn Problem>],
    /// Whether the problem is the PRD's, of whose times the PRD expects something.
    pub prds: bool,
}

/// A GPU to measure on.
#[derive(Clone, Copy)]
pub struct Gpu<'a> {
    /// The device, e.g. `cuda:0`.
    pub device: Device,
    /// The device made ready.
    pub place: &'a Placement,
    /// Whether it is the software GPU of the tests, whose times say nothing.
    pub test_double: bool,
    /// Whether the run has worked there; else nothing is measured.
    pub works: bool,
}

/// All measurements.
pub struct Benchmarks {
    /// The run on the CPU, with repeats: each form of the likelihood, on one thread and on all threads.
    engines: Vec<Measurement>,
    /// The chain strategies and configurations of the sampler on the CPU; the first is the choice of `--strategy auto`.
    pub strategies: Vec<Measurement>,
    /// The samplers on the CPU, the run's own settings otherwise.
    pub samplers: Vec<Measurement>,
    /// The evidence by the samplers that draw populations.
    evidence: Vec<MeasuredEvidence>,
    /// The other sizes on the CPU, each configuration once.
    pub sizes: Vec<Measurement>,
    /// The choice of `--strategy auto` on each engine that is there.
    plans: Vec<StrategyPlan>,
    /// The time to the quality target on each engine that is there.
    targets: Vec<Reached>,
    /// The GPU's measurements, or the reason why there are none.
    gpu: Result<GpuBenchmarks, String>,
    /// The form of the likelihood in all measurements that do not compare forms.
    likelihood: Option<&'static str>,
    /// Whether the problem is the PRD's.
    prds: bool,
    /// Other frameworks on the PRD's problem, measured by a suite.
    pub peers: Vec<PeerRatio>,
}

/// Another framework beside Octopus, in one run of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerRatio {
    /// The framework, the size of the problem and the cores.
    pub what: String,
    /// How many times as many effective draws a second Octopus makes.
    pub ratio: f64,
}

/// Makes all measurements; returns `None` when the user stopped them.
///
/// # Errors
/// When a run fails.
pub fn run(
    options: EngineOptions<'_>,
    problem: TimedProblem<'_>,
    gpu: &Result<Gpu<'_>, String>,
    pool: &ThreadPool,
    observer: &dyn Observer,
) -> Result<Option<Benchmarks>, BenchError> {
    let reason = gpu.as_ref().err().cloned().unwrap_or_default();
    let own = Timed::of(problem.own);
    let (likelihood, prds) = (own.likelihood, problem.prds);
    let mut found = Benchmarks { gpu: Err(reason), likelihood, prds, ..Benchmarks::default() };
    let others = problem.own.likelihoods()?;
    let forms = forms(own, &others);
    let one = octopus_runs::pool(Some(1))?;
    let threads = pool.current_num_threads();
    for &model in &forms {
        let mut quality = None;
        for pool in if threads > 1 { vec![&one, pool] } else { vec![&one] } {
            if observer.stops() {
                return Ok(None);
            }
            let setting = setting(pool, model);
            let case = Case { setting, model, config: options.sampler, place: &Placement::Cpu, pool };
            found.engines.push(case.measure_until_steady(options.quick, &mut quality)?);
        }
    }
    let plan = planned::choose(own.density, options.sampler, DeviceChoice::Cpu)?;
    let auto = (planned::label(&plan.config), plan.config.clone());
    found.plans.push(plan);
    let repeats = if options.quick { 1 } else { STRATEGY_REPEATS };
    let hierarchical = !own.density.hierarchies().is_empty();
    let configurations = std::iter::once(auto).chain(strategies(options.sampler, hierarchical));
    for (list, configurations) in [
        (&mut found.strategies, configurations.collect::<Vec<_>>()),
        (&mut found.samplers, samplers(options.sampler, own.density.dim())),
    ] {
        for (label, config) in configurations {
            if observer.stops() {
                return Ok(None);
            }
            let case = Case { setting: label, model: own, config: &config, place: &Placement::Cpu, pool };
            list.push(case.measure_against(problem.exact, repeats, 0.0, &mut None)?);
        }
    }
    found.evidence = evidence::measure(options.sampler, own.density, problem.exact, pool)?;
    let on_cpu = TimedEngine { name: "CPU", place: &Placement::Cpu, choice: DeviceChoice::Cpu, pool };
    found.targets = on_cpu.measure(own.density, options.sampler, options.quick)?;
    // A GPU's many chains make so many draws that warm-up hardly counts. To be compared with them fairly, the CPU makes
    // a long run, too.
    let against_gpu = gpu.as_ref().is_ok_and(|gpu| !gpu.test_double);
    let long = against_gpu.then(|| SamplerConfig { draws: LONG * options.sampler.draws, ..options.sampler.clone() });
    let measure = |model: Timed<'_>, config: &SamplerConfig, repeats: usize| {
        let SamplerConfig { chains, draws, .. } = config;
        let setting = format!("{}, {chains} chains x {draws}", setting(pool, model));
        Case { setting, model, config, place: &Placement::Cpu, pool }.measure(repeats, 0.0, &mut None)
    };
    if let Some(long) = &long {
        found.strategies.push(measure(own, long, 1)?);
    }
    for size in problem.sizes {
        let model = Timed::of(&**size);
        let auto = planned::choose(model.density, options.sampler, DeviceChoice::Cpu)?.config;
        let once = std::iter::once(options.sampler).chain(&long).map(|config| (config, 1));
        for (config, repeats) in once.chain([(&auto, repeats)]) {
            if observer.stops() {
                return Ok(None);
            }
            found.sizes.push(measure(model, config, repeats)?);
        }
    }
    if let Ok(gpu) = gpu {
        let mut auto = None;
        if let (true, Device::Cuda(ordinal)) = (gpu.works, gpu.device) {
            let choice = DeviceChoice::Cuda(Some(ordinal));
            let plan = planned::choose(own.density, options.sampler, choice)?;
            auto = Some(plan.config.clone());
            found.plans.push(plan);
            if !gpu.test_double {
                let on_gpu = TimedEngine { name: "GPU", place: gpu.place, choice, pool };
                found.targets.extend(on_gpu.measure(own.density, options.sampler, options.quick)?);
            }
        }
        let models = gpu::Models { own, forms: &forms, sizes: problem.sizes };
        let Some(measured) = GpuBenchmarks::run(options, models, *gpu, auto.as_ref(), pool, observer)? else {
            return Ok(None);
        };
        found.gpu = Ok(measured);
    }
    Ok(Some(found))
}

/// Returns the density in each form of its likelihood that the model has: `others`, or where there are none its own.
fn forms<'a>(own: Timed<'a>, others: &'a [NamedLikelihood]) -> Vec<Timed<'a>> {
    let of = |form: &'a NamedLikelihood| Timed { density: &*form.density, likelihood: Some(form.name), ..own };
    if others.is_empty() { vec![own] } else { others.iter().map(of).collect() }
}

impl Default for Benchmarks {
    fn default() -> Self {
        let gpu = Err(String::new());
        let (engines, strategies, samplers, sizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (plans, targets, evidence) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            engines,
            strategies,
            samplers,
            evidence,
            sizes,
            plans,
            targets,
            gpu,
            likelihood: None,
            prds: false,
            peers: Vec::new(),
        }
    }
}

impl Benchmarks {
    /// Returns the benchmark for the report: every engine and size, the GPU, and the speedups. A GPU without figures
    /// has a row with the reason.
    pub fn summary(&self) -> Benchmark {
        let mut runs: Vec<EngineRun> = self.engines.iter().chain(&self.sizes).map(|m| m.run.clone()).collect();
        match (self.gpu_figures(), runs.first().cloned()) {
            (Ok(gpu), _) => runs.extend(gpu.all().map(|m| m.run.clone())),
            (Err(reason), Some(first)) => {
                let result = Measured::missing(reason);
                runs.push(EngineRun { engine: "GPU".into(), gpu: true, setting: String::new(), result, ..first });
            }
            (Err(_), None) => {}
        }
        Benchmark { runs, speedups: speedup::speedups(self), other_model: !self.prds }
    }

    /// Returns the speedup that decides P0.4, P1.1 and P2.1: the best run of each side at the run's size.
    pub fn whole_device(&self) -> Measured<f64> {
        let groups = self.engines.first().map_or(0, |m| m.run.groups);
        speedup::whole_device(self, groups).ratio
    }

    /// Returns the GPU's measurements where they are figures of a real GPU, else the reason why there are none.
    fn gpu_figures(&self) -> Result<&GpuBenchmarks, String> {
        match &self.gpu {
            Ok(gpu) if gpu.test_double => Err("a test double's speed says nothing".into()),
            Ok(gpu) => Ok(gpu),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Returns the engine whose repeats vary most, on the CPU or on a real GPU; `None` where each has a single repeat.
    pub fn worst_variation(&self) -> Option<WorstVariation> {
        let of = |m: &Measurement| {
            Some(WorstVariation { variation: m.variation()?, engine: format!("{}, {}", m.run.engine, m.run.setting) })
        };
        self.repeated().filter_map(of).max_by(|a, b| a.variation.total_cmp(&b.variation))
    }

    /// Returns the engines that were timed with repeats, those of a real GPU included.
    fn repeated(&self) -> impl Iterator<Item = &Measurement> {
        self.engines.iter().chain(self.gpu_figures().into_iter().flat_map(|gpu| &gpu.engines))
    }

    /// Returns the run with the configuration of the PRD's words: non-centered, with a diagonal metric.
    pub fn literal(&self) -> Option<&Measurement> {
        self.strategies.iter().find(|m| m.run.setting == strategies::LITERAL)
    }
}

fn setting(pool: &ThreadPool, model: Timed<'_>) -> String {
    let threads = pool.current_num_threads();
    let form = model.likelihood.map(|form| format!(", {form}")).unwrap_or_default();
    format!("{threads} thread{}{form}", if threads == 1 { "" } else { "s" })
}
