//! The choice that `--strategy auto` makes between four long chains and many short ones.
//!
//! It takes the run that is predicted to be done first among all that draw as much as is asked for.

use crate::step_time::cpu_step_seconds;
use crate::{DeviceInventory, Goal, RunCost, RunError};
use octopus_density::LogDensity;
use octopus_device::{Device, DeviceChoice, DeviceCosts, LinearCost, Seconds};
use octopus_diag::limits;
use octopus_sampler::plan::{alternatives, best, draws_for, least_draws};
use octopus_sampler::{Precision, SamplerConfig, Strategy};
use rayon::ThreadPool;

/// The number of chains on a GPU whose costs have not been measured.
const UNKNOWN_GPU: usize = 1024;
/// The most draws of a run that ends at its target, as a multiple of the draws that it is predicted to need.
const AT_MOST: usize = 4;

/// The costs of the machine's leapfrog steps.
#[derive(Clone, Debug)]
pub struct StepCosts {
    /// The number of threads of the processor.
    pub threads: u32,
    /// The cost of a step on one thread, where none was measured with a device.
    pub cpu: LinearCost,
    /// The devices that were measured, each with its number.
    pub gpus: Vec<(u32, DeviceCosts)>,
}

/// A run, with the time that it is predicted to take.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedRun {
    /// The run's settings.
    pub config: SamplerConfig,
    /// The device on which the run is to sample.
    pub device: Device,
    /// The predicted seconds from beginning to end.
    pub seconds: f64,
}

/// The run that was chosen, and the runs that it was chosen from.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyPlan {
    /// The settings of the chosen run.
    pub config: SamplerConfig,
    /// The reason for the choice, in one line.
    pub reason: String,
    /// All runs that were considered; those for the same device stand together.
    pub considered: Vec<PredictedRun>,
}

/// The number of draws of all chains together that a run is to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawsWanted {
    /// The number of draws; for a run with a target, the number that it is predicted to need.
    pub draws: usize,
    /// The limit on the number of draws.
    pub limit: DrawsLimit,
}

/// The limit on the number of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawsLimit {
    /// As many draws as are wanted, because there is no target.
    Wanted,
    /// Several times as many draws as the run is predicted to need to its target.
    Generous,
    /// This number of draws of all chains together.
    Given(usize),
}

impl DrawsWanted {
    /// Returns the draws that `base` makes, or those that the goal is predicted to need. If the user gave the number of
    /// draws (`draws_given`), the draws of `base` are the limit for a run with a goal.
    pub fn new(base: &SamplerConfig, goal: &Goal, draws_given: bool) -> Self {
        let own = base.chains.saturating_mul(base.draws);
        let draws = goal.target_ess.map_or(own, |target| draws_for(target).max(1));
        match (goal.target_ess.is_some() || goal.target_rhat.is_some(), draws_given) {
            (false, _) => Self { draws: own, limit: DrawsLimit::Wanted },
            (true, true) => Self { draws: draws.min(own), limit: DrawsLimit::Given(own) },
            (true, false) => Self { draws, limit: DrawsLimit::Generous },
        }
    }
}

/// Chooses the run that is predicted to be done first, from [`alternatives`] on the devices that `device` allows. `dim`
/// is the number of coordinates, and `cost` returns the cost of a run.
///
/// # Errors
/// When the settings are out of range, or no run can draw as much.
pub fn plan(
    base: &SamplerConfig,
    wanted: DrawsWanted,
    dim: usize,
    device: DeviceChoice,
    cost: &dyn Fn(&SamplerConfig) -> RunCost,
    costs: &StepCosts,
) -> Result<StrategyPlan, RunError> {
    let runs = alternatives(base, wanted.draws, dim, costs.threads as usize, limits::RHAT);
    // With a target, R-hat lets the run end only after a least number of draws; without one, runs draw as asked.
    let least = |config: &SamplerConfig| {
        if wanted.limit == DrawsLimit::Wanted { 1 } else { least_draws(config, dim, limits::RHAT) }
    };
    let runs: Vec<(SamplerConfig, RunCost)> = runs
        .into_iter()
        .map(|config| SamplerConfig { draws: config.draws.max(least(&config)), ..config })
        .filter(|config| config.validate().is_ok())
        .map(|config| (config.clone(), cost(&config)))
        .collect();
    let on_cpu = device == DeviceChoice::Cpu || device == DeviceChoice::Auto && base.precision == Precision::F64;
    let on_gpu = |number: u32| match device {
        DeviceChoice::Cpu => false,
        DeviceChoice::Cuda(ordinal) => number == ordinal.unwrap_or(0),
        // Several devices are predicted by what one of them does alone, though the others take shares of its chains.
        DeviceChoice::Auto | DeviceChoice::Several(_) | DeviceChoice::All => true,
    };
    let mut considered = Vec::new();
    if on_cpu {
        considered.extend(runs.iter().filter_map(|(config, cost)| {
            let measured = costs.gpus.first().and_then(|(_, device_costs)| cost.work.predict(device_costs));
            let seconds = match measured {
                Some(predicted) => predicted.cpu_seconds,
                None => cost.work.cpu_seconds(costs.threads, |_| Some(costs.cpu))?,
            };
            Some(PredictedRun { config: config.clone(), device: Device::Cpu, seconds })
        }));
    }
    for (ordinal, device_costs) in costs.gpus.iter().filter(|(number, _)| on_gpu(*number)) {
        considered.extend(runs.iter().filter(|(_, cost)| cost.no_gpu.is_none()).filter_map(|(config, cost)| {
            let seconds = cost.work.predict(device_costs)?.device_seconds;
            Some(PredictedRun { config: config.clone(), device: Device::Cuda(*ordinal), seconds })
        }));
    }
    let mut bests: Vec<PredictedRun> = Vec::new();
    for of_device in considered.chunk_by(|a, b| a.device == b.device) {
        let seconds: Vec<_> = of_device.iter().map(|run| (run.config.clone(), run.seconds)).collect();
        let device = of_device[0].device;
        bests.extend(best(&seconds).map(|(config, seconds)| PredictedRun {
            config: config.clone(),
            device,
            seconds: *seconds,
        }));
    }
    bests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let Some(first) = bests.first() else { return unknown(base, wanted, dim, &runs) };
    let long = considered.iter().find(|run| run.device == first.device && run.config.strategy == Strategy::FourLong);
    let others = bests[1..].iter().chain(long.filter(|long| long.config != first.config));
    let others: Vec<String> = others.map(|run| format!("{} on {}", words(&run.config), when(run))).collect();
    let against = if others.is_empty() { String::new() } else { format!(", against {}", others.join(", ")) };
    let reason = format!("{}, predicted to be done first: on {}{against}", words(&first.config), when(first));
    Ok(StrategyPlan { config: limited(first.config.clone(), wanted, dim), reason, considered })
}

/// Chooses the run for a device whose costs are unknown: many chains, which is what a GPU is good at.
fn unknown(
    base: &SamplerConfig,
    wanted: DrawsWanted,
    dim: usize,
    runs: &[(SamplerConfig, RunCost)],
) -> Result<StrategyPlan, RunError> {
    let Some((config, _)) = runs.iter().find(|(config, _)| config.chains == UNKNOWN_GPU) else {
        // A setting that is out of range is so in every run.
        let error = base.validate().err().map_or_else(|| "no run draws as much".to_owned(), |error| error.to_string());
        return Err(RunError::CannotRun(format!("--strategy auto: {error}")));
    };
    let reason =
        format!("{}, a guess: the GPU's costs were never measured, which `octopus device measure` does", words(config));
    Ok(StrategyPlan { config: limited(config.clone(), wanted, dim), reason, considered: Vec::new() })
}

/// Returns the settings with as many draws as the run may make.
fn limited(config: SamplerConfig, wanted: DrawsWanted, dim: usize) -> SamplerConfig {
    let draws = match wanted.limit {
        DrawsLimit::Wanted => config.draws,
        DrawsLimit::Generous => AT_MOST * config.draws.max(least_draws(&config, dim, limits::RHAT)),
        DrawsLimit::Given(all) => all.div_ceil(config.chains).max(1),
    };
    SamplerConfig { draws, ..config }
}

fn words(config: &SamplerConfig) -> String {
    let SamplerConfig { chains, draws, superchains, .. } = config;
    match config.strategy {
        Strategy::FourLong => format!("four-long with {chains} chains x {draws} draws"),
        Strategy::ManyShort => format!("many-short with {chains} chains in {superchains} superchains x {draws} draws"),
    }
}

fn when(run: &PredictedRun) -> String {
    format!("{} after {}", run.device, Seconds(run.seconds))
}

impl StepCosts {
    /// Gathers the costs on this machine: those of the devices are what [`DeviceInventory::learn_for_strategy`] or
    /// `octopus device measure` have measured, and that of the processor comes from a short run of the model.
    ///
    /// # Errors
    /// When the model cannot be sampled at all.
    pub fn measure(model: &dyn LogDensity, pool: &ThreadPool, machine: &DeviceInventory) -> Result<Self, RunError> {
        let gpus = machine
            .usable()
            .into_iter()
            .filter_map(|ordinal| Some((ordinal, machine.device_costs(ordinal).ok()?)))
            .collect();
        let cpu = LinearCost { fixed_seconds: 0.0, unit_seconds: cpu_step_seconds(model)? };
        let threads = u32::try_from(pool.current_num_threads()).unwrap_or(u32::MAX);
        Ok(Self { threads, cpu, gpus })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name;
    use octopus_device::{CostsKey, KernelCost, TransferCost};
    use octopus_models::synthetic::HierarchicalSpec;
    use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};

    /// The PRD's settings.
    fn prd_sampler() -> SamplerConfig {
        SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..SamplerConfig::default() }
    }

    const CPU: LinearCost = LinearCost { fixed_seconds: 0.0, unit_seconds: 1e-6 };

    fn model() -> HierarchicalNormal {
        let data = HierarchicalSpec::default().generate().unwrap().data;
        HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::default()).unwrap()
    }

    /// Returns the costs of a device that takes `step` seconds for a step, and a thousandth of that more for each
    /// chain.
    fn gpu(model: &HierarchicalNormal, step: f64) -> DeviceCosts {
        let none = LinearCost { fixed_seconds: 0.0, unit_seconds: 0.0 };
        let device = LinearCost { fixed_seconds: step, unit_seconds: step / 1000.0 };
        DeviceCosts {
            key: CostsKey::new("GPU-0", "550.54.15"),
            device_name: "a GPU".into(),
            measured_at: 0,
            cpu_threads: 2,
            startup_seconds: 0.01,
            launch_seconds: 0.0,
            transfer: TransferCost { upload: none, download: none },
            device_bytes_per_second: 1e12,
            kernels: [(kernel_name(model, Precision::F64), KernelCost { cpu: CPU, device })].into(),
        }
    }

    fn planned(draws: usize, device: &str, gpus: Vec<(u32, DeviceCosts)>) -> StrategyPlan {
        let (model, wanted) = (model(), DrawsWanted { draws, limit: DrawsLimit::Wanted });
        let costs = StepCosts { threads: 2, cpu: CPU, gpus };
        plan(&prd_sampler(), wanted, 103, device.parse().unwrap(), &|config| RunCost::of_run(&model, config), &costs)
            .unwrap()
    }

    #[test]
    fn warm_up_together_pays_on_the_processor_too() {
        let plan = planned(8000, "auto", vec![]);
        assert_eq!(plan.config.strategy, Strategy::ManyShort);
        // More superchains than threads would each wait for the others.
        assert!(plan.config.chains <= 64 && plan.config.chains * plan.config.draws >= 8000, "{:?}", plan.config);
        // 8000 draws of 15 leapfrog steps on two threads at a microsecond each.
        let chosen = plan.considered.iter().find(|run| run.config == plan.config).unwrap();
        assert!((0.06..0.075).contains(&chosen.seconds), "{chosen:?}");
        assert!(
            plan.reason.contains("against four-long with 4 chains x 2000 draws on cpu after 90.0 ms"),
            "{}",
            plan.reason
        );
        assert_eq!(planned(8000, "cpu", vec![(0, gpu(&model(), 1e-9))]).config, plan.config);
    }

    #[test]
    fn to_a_target_all_strategies_draw_as_r_hat_needs() {
        let (model, costs) = (model(), StepCosts { threads: 2, cpu: CPU, gpus: vec![] });
        let wanted = DrawsWanted { draws: draws_for(400.0), limit: DrawsLimit::Generous };
        let cost = |config: &SamplerConfig| RunCost::of_run(&model, config);
        let short = SamplerConfig { tune: 300, ..prd_sampler() };
        let plan = plan(&short, wanted, 103, DeviceChoice::Cpu, &cost, &costs).unwrap();
        assert_eq!(plan.config.strategy, Strategy::ManyShort, "{}", plan.reason);
        assert!(plan.considered.iter().all(|run| run.config.draws >= least_draws(&run.config, 103, limits::RHAT)));
    }

    #[test]
    fn a_gpu_has_many_chains_where_it_pays() {
        let fast = || gpu(&model(), 1e-6);
        let large = planned(1_000_000, "auto", vec![(0, fast())]);
        assert!(large.config.chains >= 1024 && large.reason.contains("on cuda:0 after"), "{large:?}");
        assert!(large.reason.contains("on cpu after"), "{}", large.reason);
        // The last clause is on what users may expect: few chains on the same device.
        let long = large.reason.split(", ").last().unwrap();
        assert!(long.starts_with("four-long with 4 chains") && long.contains(" on cuda:0 after "), "{}", large.reason);
        let slow = gpu(&model(), 1e-4);
        let small = planned(1000, "auto", vec![(0, slow.clone())]);
        assert!(small.reason.contains("predicted to be done first: on cpu"), "{}", small.reason);
        // Of two GPUs the faster is chosen, or the one that is asked for.
        let two = || vec![(0, slow.clone()), (1, fast())];
        assert!(planned(1_000_000, "auto", two()).reason.contains("first: on cuda:1"));
        assert!(planned(1_000_000, "cuda:0", two()).reason.contains("first: on cuda:0"));
        assert!(
            planned(1_000_000, "cuda", two()).reason.contains("first: on cuda:0"),
            "the first, unless one is named"
        );
        let unknown = planned(8000, "cuda", vec![]);
        assert_eq!((unknown.config.chains, unknown.considered.len()), (1024, 0));
        assert!(unknown.reason.contains("device measure"), "{}", unknown.reason);
    }

    #[test]
    fn a_target_says_how_many_draws_and_the_user_how_many_at_most() {
        let base = prd_sampler();
        let target = |ess| Goal { target_ess: Some(ess), ..Goal::default() };
        let of = |draws, limit| DrawsWanted { draws, limit };
        assert_eq!(DrawsWanted::new(&base, &Goal::default(), true), of(8000, DrawsLimit::Wanted));
        assert_eq!(DrawsWanted::new(&base, &target(1100.0), false), of(2000, DrawsLimit::Generous));
        assert_eq!(DrawsWanted::new(&base, &target(11_000.0), true), of(8000, DrawsLimit::Given(8000)));
        // As many as are needed, and one at the least.
        assert_eq!([0.0, 0.5, 0.6].map(|ess| DrawsWanted::new(&base, &target(ess), false).draws), [1, 1, 2]);
        for (draws, long) in [(0, 1), (1, 1), (5, 2)] {
            assert_eq!(planned(draws, "cpu", vec![]).considered[0].config.draws, long, "{draws} by four chains");
        }
        let rhat = Goal { target_rhat: Some(1.01), ..Goal::default() };
        assert_eq!(DrawsWanted::new(&base, &rhat, false), of(8000, DrawsLimit::Generous));
        let config = SamplerConfig { draws: 100, ..SamplerConfig::many_short(64) };
        let draws = |limit| limited(config.clone(), of(2000, limit), 103).draws;
        assert_eq!(
            (draws(DrawsLimit::Wanted), draws(DrawsLimit::Generous), draws(DrawsLimit::Given(8000))),
            (100, 400, 125)
        );
        assert_eq!(draws(DrawsLimit::Given(8001)), 126, "part of a draw of each chain is a draw");
        assert_eq!(draws(DrawsLimit::Given(0)), 1, "no run is without draws");
        // Few draws of few chains would not let R-hat come below its limit.
        let few = SamplerConfig { draws: 50, ..base };
        assert!(limited(few, of(200, DrawsLimit::Generous), 103).draws > 4 * 400);
    }

    #[test]
    fn a_machine_without_gpus_has_threads_and_the_time_of_a_step() {
        let asked = octopus_device::DeviceRequest {
            choice: DeviceChoice::Cpu,
            source: octopus_device::Source::Flag,
            note: None,
        };
        let machine = DeviceInventory::look(asked);
        let costs = StepCosts::measure(&model(), &crate::pool(Some(3)).unwrap(), &machine).unwrap();
        assert_eq!((costs.threads, costs.gpus.len(), costs.cpu.fixed_seconds), (3, 0, 0.0));
        assert!((1e-9..0.1).contains(&costs.cpu.unit_seconds), "{:?}", costs.cpu);
    }
}
