//! The cost of a run: its work, in the units in which a machine's costs are measured, and the devices that can do it.

use crate::{MemoryNeed, RunError, turns};
use octopus_density::LogDensity;
use octopus_density::gpu::{GpuDensity, Precision};
use octopus_device::{CudaError, Device, DeviceMemory, MemoryAttempt, MemoryPlan, PlanPart, Work};
use octopus_sampler::plan::stages;
use octopus_sampler::{GpuConfig, GpuMemory, SamplerConfig, SamplerError, least_host_memory};

/// The numbers of groups of the models whose leapfrog steps `octopus device measure` times.
pub const MEASURED_GROUPS: [usize; 4] = [10, 100, 500, 1000];
/// The numbers of observations of further models that `octopus device measure` times. They have 100 groups, and
/// blocks of a GPU share their observations.
pub const MEASURED_OBSERVATIONS: [usize; 2] = [100_000, 1_000_000];
/// Why no GPU takes several data sets at once of which one has a team's work.
const SHARED: &str = "a data set has so many observations that a GPU takes it by itself only";
/// Why no GPU takes several data sets of a density at once that has kernels for one.
const NO_BATCH: &str = "its kernels take one data set, and none takes many at once";
/// The number of coordinates of the model besides one for each group.
const SCALARS: usize = 3;

/// The cost of a run: its work, and what keeps it off GPUs.
#[derive(Clone, Debug)]
pub struct RunCost {
    /// The work: what the run computes and copies.
    pub work: Work,
    /// The reason why no GPU can do the run, as a clause; `None` where a GPU can.
    pub no_gpu: Option<String>,
    /// The precision in which the run computes.
    pub precision: Precision,
    /// The memory that a GPU needs for the run: for all chains at once, then for fewer and fewer. Empty for many runs
    /// together and for populations.
    pub(crate) attempts: Vec<MemoryAttempt>,
    /// The least bytes of the host's memory that the run takes on the CPU; of many runs, those of the largest.
    pub host_bytes: u64,
    /// The number of chains of the run, or of each run.
    pub(crate) chains: usize,
}

impl RunCost {
    /// Returns the cost of a run of NUTS. All chains make their leapfrog steps side by side: a launch of the kernel
    /// `nuts_leapfrog_...` stands for one step of every chain, and its unit is one step of one chain.
    pub fn of_run(model: &dyn LogDensity, config: &SamplerConfig) -> Self {
        if config.algorithm.draws_population() {
            // Particles take as many turns as memory asks for.
            return Self::of_runs(model, config, 1);
        }
        let attempts = turns(&GpuConfig::default(), config.chains).map(|gpu| attempt(model, config, &gpu));
        let attempts = attempts.collect::<Result<_, _>>().unwrap_or_default();
        Self { attempts, ..Self::of_runs(model, config, 1) }
    }

    /// Returns the plan of the run's memory on a GPU; `None` where no GPU can do the run, or where it is many runs or a
    /// population.
    pub fn memory_plan(&self, memory: DeviceMemory) -> Option<MemoryPlan> {
        MemoryPlan::new(self.chains as u64, memory, self.attempts.iter().cloned())
    }

    /// Returns the cost of runs of NUTS for `count` data sets as large as this one, which all move at once.
    pub fn of_equals(model: &dyn LogDensity, config: &SamplerConfig, count: usize) -> Self {
        let runs = Self::of_runs(model, config, count.max(1));
        Self { no_gpu: runs.no_gpu.clone().or(alone(model)), ..runs }
    }

    /// Returns the cost of `count` equal runs side by side.
    fn of_runs(model: &dyn LogDensity, config: &SamplerConfig, count: usize) -> Self {
        let stages = stages(config, model.dim());
        let iterations: usize = stages.iter().map(|stage| stage.transitions).sum();
        let name = format!("{} chains x {iterations} iterations", config.chains.saturating_mul(count));
        let (mut work, mut bytes, mut steps) = (Work::new(name), 0_u64, 0_u64);
        for stage in &stages {
            let chains = stage.chains.saturating_mul(count);
            let parts = u32::try_from(chains).unwrap_or(u32::MAX);
            let launches = stage.steps.round() as u64;
            let kernel = kernel_name(model, config.precision);
            work = work.step(kernel, launches, stage.steps * chains as f64).in_parts(parts);
            let copied = [stage.transitions, model.dim(), 8, chains].map(|factor| factor as u64);
            bytes = copied.into_iter().fold(1_u64, u64::saturating_mul).saturating_add(bytes);
            steps = launches.saturating_add(steps);
        }
        let work = work.download(steps.div_ceil(1000), bytes);
        let host_bytes = least_host_memory(config, model.dim());
        let no_gpu = match GpuMemory::of_run(model, config, &GpuConfig::default()) {
            Err(SamplerError::NoKernel { dim, precision, why, .. }) => {
                Some(format!("no GPU kernel takes {dim} coordinates in {precision}: {why}"))
            }
            Err(other) => Some(other.to_string()),
            Ok(_) => None,
        };
        Self { work, no_gpu, precision: config.precision, attempts: Vec::new(), host_bytes, chains: config.chains }
    }

    /// Returns the cost of runs of NUTS for many data sets, which all move at once. Each run counts as much as the
    /// largest.
    pub fn of_batch(models: &[&dyn LogDensity], config: &SamplerConfig) -> Self {
        let Some(&largest) = models.iter().max_by_key(|model| model.dim()) else {
            return Self {
                work: Work::new("no run"),
                no_gpu: None,
                precision: config.precision,
                attempts: Vec::new(),
                host_bytes: 0,
                chains: 0,
            };
        };
        let runs = Self::of_runs(largest, config, models.len());
        Self { no_gpu: runs.no_gpu.clone().or(models.iter().find_map(|&model| alone(model))), ..runs }
    }

    /// Checks that the device can do the run.
    ///
    /// # Errors
    /// [`RunError::CannotRun`] when the device cannot do the run; the message says what to do.
    pub fn fits(&self, device: Device) -> Result<(), RunError> {
        let in_f64 = if self.precision == Precision::F64 { "" } else { " --precision f64" };
        match (device, &self.no_gpu) {
            (Device::Cpu, _) if !in_f64.is_empty() => Err(RunError::CannotRun(format!(
                "--precision {}: the CPU computes in f64; other precisions need a GPU: `--device cuda`",
                self.precision
            ))),
            (Device::Cuda(_), Some(why)) => {
                Err(RunError::CannotRun(format!("--device {device}: {why}; sample on the CPU: `--device cpu{in_f64}`")))
            }
            _ => Ok(()),
        }
    }
}

impl RunCost {
    /// Returns what a run on the CPU takes of the host's memory; of many runs, what the largest takes.
    pub fn host_memory(&self) -> MemoryNeed {
        MemoryNeed {
            what: format!("--chains {}: the run", self.chains),
            bytes: self.host_bytes,
            advice: "ask for fewer --chains, or a shorter --tune".to_owned(),
        }
    }
}

impl RunCost {
    /// Returns by number what would fit where `error` says that a GPU's memory did not hold the run, of a model with
    /// so many `groups`; `None` for other errors.
    pub fn memory_advice(&self, error: &SamplerError, groups: usize) -> Option<String> {
        let &SamplerError::Device(CudaError::OutOfMemory { free, total, .. }) = error else { return None };
        let plan = self.memory_plan(DeviceMemory { free, total })?;
        let Self { chains, .. } = self;
        let (needed, usable) = (plan.total_bytes.div_ceil(1 << 20), plan.memory.usable() >> 20);
        Some(match plan.turns() {
            None => {
                // What a run takes grows with its groups. What it held when it failed is not free, so more may fit.
                let fewer = match (groups as u64).saturating_mul(usable) / needed.max(1) {
                    0 => "fewer groups".to_owned(),
                    most => format!("at most {most} groups"),
                };
                format!(
                    "one chain at a time of {groups} groups takes {needed} MiB, and {usable} MiB are usable there: free \
                     memory, ask for {fewer}, or sample with --device cpu"
                )
            }
            Some(1) => format!(
                "all {chains} chains of {groups} groups take {needed} MiB, and {usable} MiB are usable there now: something \
                 else had the memory, try again"
            ),
            Some(turns) => format!(
                "{} of {chains} chains of {groups} groups fit at once, in {turns} turns of {needed} MiB, and {usable} MiB \
                 are usable there now: ask for --chains {}, or end what else uses the device",
                plan.chains_at_once, plan.chains_at_once
            ),
        })
    }
}

/// Returns why a data set has to be sampled by itself on a GPU, where it has kernels at all.
fn alone(model: &dyn LogDensity) -> Option<String> {
    let kernels = model.kernels()?;
    if kernels.team_work().is_some() {
        return Some(SHARED.to_owned());
    }
    kernels.batch_modules().is_empty().then(|| NO_BATCH.to_owned())
}

/// Returns the memory that the run takes on a GPU with these settings.
fn attempt(model: &dyn LogDensity, config: &SamplerConfig, gpu: &GpuConfig) -> Result<MemoryAttempt, SamplerError> {
    let GpuMemory { data, shared, chains, slots, windows } = GpuMemory::of_run(model, config, gpu)?;
    let parts = [("data", data), ("shared", shared), ("chains", chains), ("draws", slots), ("windows", windows)];
    let parts = parts.map(|(name, bytes)| PlanPart { name: name.to_owned(), bytes }).into();
    Ok(MemoryAttempt { chains_at_once: gpu.chains_at_once as u64, parts })
}

/// Returns the name under which measured costs have that of a leapfrog step of a model. The name has the size of
/// the smallest timed model that is not smaller than this model, or else of the largest timed model. Where blocks share
/// the observations, a model's size is its number of observations, otherwise its number of coordinates.
pub fn kernel_name(model: &dyn LogDensity, precision: Precision) -> String {
    let kernels = model.kernels();
    let kernel = kernels.map_or_else(|| model.name().replace('-', "_"), |kernels| kernels.kernel_name().to_owned());
    if kernels.is_some_and(|kernels| kernels.team_work().is_some()) {
        let size = next(&MEASURED_OBSERVATIONS, model.observations());
        return format!("nuts_leapfrog_{kernel}_shared_{precision}_{size}");
    }
    let size = next(&MEASURED_GROUPS.map(|groups| groups + SCALARS), model.dim());
    let form = kernels.map(GpuDensity::form).filter(|form| !form.is_empty());
    let form = form.map(|form| format!("_{form}")).unwrap_or_default();
    format!("nuts_leapfrog_{kernel}{form}_{precision}_{size}")
}

/// Returns the first of the ascending sizes `timed` that is not smaller than `size`, or else the last of them.
fn next(timed: &[usize], size: usize) -> usize {
    timed.iter().copied().find(|&timed| timed >= size).or(timed.last().copied()).unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::synthetic::HierarchicalSpec;
    use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
    use octopus_sampler::Strategy;

    fn model(groups: usize, likelihood: Likelihood) -> HierarchicalNormal {
        let data = HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate().unwrap().data;
        HierarchicalNormal::new(data, HierarchicalPrior::default(), likelihood).unwrap()
    }

    #[test]
    fn sizes_between_those_timed_take_the_next_larger() {
        for (groups, size) in [(1, 13), (10, 13), (11, 103), (100, 103), (101, 503), (1000, 1003), (1010, 1003)] {
            let name = kernel_name(&model(groups, Likelihood::Collapsed), Precision::F32);
            assert_eq!(name, format!("nuts_leapfrog_hierarchical_normal_f32_{size}"), "{groups} groups");
        }
        let name = kernel_name(&model(100, Likelihood::Pointwise), Precision::F64);
        assert_eq!(name, "nuts_leapfrog_hierarchical_normal_pointwise_f64_103");
        for (per_group, size) in [(257, 100_000), (10_000, 100_000), (10_001, 1_000_000), (200_000, 1_000_000)] {
            let spec = HierarchicalSpec { groups: 10, per_group, ..HierarchicalSpec::default() };
            let data = spec.generate().unwrap().data;
            let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).unwrap();
            let name = kernel_name(&model, Precision::F32);
            assert_eq!(name, format!("nuts_leapfrog_hierarchical_normal_shared_f32_{size}"), "{per_group}");
        }
    }

    #[test]
    fn a_batch_with_a_teams_work_is_not_for_a_gpu() {
        let config = SamplerConfig::default();
        let large = {
            let spec = HierarchicalSpec { groups: 2, per_group: 3000, ..HierarchicalSpec::default() };
            let data = spec.generate().unwrap().data;
            HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).unwrap()
        };
        let small = model(3, Likelihood::Pointwise);
        let no_gpu = |models: &[&dyn LogDensity]| RunCost::of_batch(models, &config).no_gpu;
        assert_eq!(no_gpu(&[&small, &small]), None);
        assert!(no_gpu(&[&small, &large]).is_some_and(|why| why.contains("so many observations")));
    }

    #[test]
    fn what_would_fit_a_full_gpu_is_told_by_number() {
        let model = model(10, Likelihood::Collapsed);
        let config = SamplerConfig { chains: 8, ..SamplerConfig::default() };
        let attempt = |chains_at_once: u64| {
            let parts = vec![PlanPart { name: "chains".to_owned(), bytes: chains_at_once * (100 << 20) - 1 }];
            MemoryAttempt { chains_at_once, parts }
        };
        let attempts = [8, 4, 2, 1].map(attempt).to_vec();
        let cost = RunCost { attempts, ..RunCost::of_run(&model, &config) };
        // 256 MiB are left alone.
        let advice = |free: u64| {
            let error = CudaError::OutOfMemory { requested: 1, free: (free + 256) << 20, total: 1 << 30 };
            cost.memory_advice(&SamplerError::Device(error), 10).unwrap()
        };
        for (free, said) in [
            (800, "all 8 chains of 10 groups take 800 MiB, and 800 MiB are usable there now: "),
            (
                799,
                "4 of 8 chains of 10 groups fit at once, in 2 turns of 400 MiB, and 799 MiB are usable there now: ask for --chains 4,",
            ),
            (
                99,
                "one chain at a time of 10 groups takes 100 MiB, and 99 MiB are usable there: free memory, ask for at most 9 groups,",
            ),
            (
                9,
                "one chain at a time of 10 groups takes 100 MiB, and 9 MiB are usable there: free memory, ask for fewer groups,",
            ),
        ] {
            assert!(advice(free).starts_with(said), "{}", advice(free));
        }
        assert_eq!(cost.memory_advice(&SamplerError::Device(CudaError::NotBuilt), 10), None);
    }

    /// Four chains make 150 transitions of 15 leapfrog steps, in 13 coordinates of 8 bytes.
    #[test]
    fn work_is_counted_in_steps_and_bytes() {
        let (small, large) = (model(9, Likelihood::Collapsed), model(10, Likelihood::Collapsed));
        let strategy = Strategy::FourLong;
        let config = SamplerConfig { chains: 4, tune: 50, draws: 100, strategy, ..SamplerConfig::default() };
        for (count, cost) in [(1, RunCost::of_run(&large, &config)), (2, RunCost::of_batch(&[&small, &large], &config))]
        {
            let Work { name, steps, downloads, uploads, .. } = cost.work;
            assert_eq!(name, format!("{} chains x 150 iterations", 4 * count));
            assert_eq!((uploads, downloads), ((0, 0), (3, count * 4 * 150 * 13 * 8)));
            assert_eq!(steps.len(), 1);
            assert_eq!((steps[0].launches, steps[0].units), (150 * 15, (count * 4 * 150 * 15) as f64));
            assert_eq!(u64::from(steps[0].cpu_parts), 4 * count);
            assert_eq!(steps[0].kernel, kernel_name(&large, Precision::F64));
        }
        for (count, runs) in [(0, 1), (1, 1), (3, 3)] {
            let work = RunCost::of_equals(&large, &config, count).work;
            assert_eq!(
                (work.name, work.steps[0].cpu_parts),
                (format!("{} chains x 150 iterations", 4 * runs), 4 * runs)
            );
        }
        let one = RunCost::of_batch(&[&large], &config);
        assert_eq!(one.work, RunCost::of_run(&large, &config).work);
        // Draws are copied once for every thousand steps, the last of them for what is left.
        for (transitions, downloads) in [(1, 1), (1000, 15), (1001, 16)] {
            let config = SamplerConfig { draws: transitions, tune: 0, ..config.clone() };
            let work = RunCost::of_run(&large, &config).work;
            assert_eq!((work.steps[0].launches, work.downloads.0), (15 * transitions as u64, downloads));
        }
        let single = SamplerConfig { precision: Precision::F32, ..config };
        let RunCost { work, no_gpu, precision, attempts, host_bytes, chains } = RunCost::of_batch(&[], &single);
        assert!(work.steps.is_empty() && no_gpu.is_none() && attempts.is_empty() && precision == Precision::F32);
        assert_eq!((host_bytes, chains), (0, 0));
        // Superchains warm up, then each becomes several chains: both copy their draws.
        let many = SamplerConfig { tune: 300, draws: 16, ..SamplerConfig::many_short(64) };
        let stages = stages(&many, large.dim());
        let bytes: usize = stages.iter().map(|stage| stage.chains * stage.transitions * 13 * 8).sum();
        assert_eq!((stages.len(), RunCost::of_run(&large, &many).work.downloads.1), (2, bytes as u64));
        // Part of a step is none that can be launched: the nearest whole number is.
        let odd = SamplerConfig { tune: 39, ..many };
        let launched: Vec<u64> = RunCost::of_run(&large, &odd).work.steps.iter().map(|step| step.launches).collect();
        assert_eq!(launched, [878, 20 * 15], "39 transitions of 15 steps that count 1.5 times, then 16 + 4");
    }

    #[test]
    fn the_plan_of_the_memory_is_that_of_all_chains_where_there_is_much() {
        let config = SamplerConfig { chains: 8, ..SamplerConfig::default() };
        let cost = RunCost::of_run(&model(10, Likelihood::Collapsed), &config);
        let plan = cost.memory_plan(DeviceMemory { free: 1 << 40, total: 1 << 40 }).unwrap();
        assert_eq!((plan.chains, plan.chains_at_once), (8, 8));
        assert!(plan.total_bytes > 0 && plan.parts.iter().all(|part| part.bytes <= plan.total_bytes), "{plan:?}");
    }

    #[test]
    fn a_run_that_the_host_has_no_memory_for_is_refused() {
        let config = SamplerConfig { chains: 1000, ..SamplerConfig::default() };
        let cost = RunCost::of_run(&model(10, Likelihood::Collapsed), &config);
        let bytes = cost.host_bytes;
        assert_eq!(bytes, least_host_memory(&config, 13));
        let need = cost.host_memory();
        assert!(need.fits(Some(bytes)).is_ok());
        let error = need.fits(Some(bytes - 1)).unwrap_err().to_string();
        assert!(
            error.starts_with("--chains 1000: the run takes at least ") && error.contains("fewer --chains"),
            "{error}"
        );
    }

    #[test]
    fn what_a_device_cannot_do_is_refused_with_what_to_do() {
        let config = SamplerConfig { precision: Precision::Mixed, ..SamplerConfig::default() };
        let large = RunCost::of_run(&model(1100, Likelihood::Collapsed), &config);
        assert_eq!(
            large.fits(Device::Cuda(0)).unwrap_err().to_string(),
            "--device cuda:0: no GPU kernel takes 1103 coordinates in mixed: those that are compiled hold at most 1024 \
             coordinates; sample on the CPU: `--device cpu --precision f64`"
        );
        assert!(large.fits(Device::Cpu).unwrap_err().to_string().contains("`--device cuda`"));
        let small = RunCost::of_run(&model(10, Likelihood::Collapsed), &SamplerConfig::default());
        assert!(small.fits(Device::Cpu).is_ok() && small.fits(Device::Cuda(0)).is_ok());
    }
}
