//! What precedes every run: its strategy is settled, its device chosen, and room for it checked.

use crate::{
    DeviceDecision, DeviceInventory, DrawsWanted, Goal, Init, ModelRecord, RunCost, RunError, RunRecord, StrategyPlan,
    bytes_on_disk, check_disk, plan, pool,
};
use octopus_density::{Layout, LogDensity};
use octopus_device::{Device, DeviceRequest};
use octopus_sampler::SamplerConfig;
use rayon::ThreadPool;
use std::path::Path;

/// What is asked of a run, beside its density.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The sampler's settings.
    pub sampler: SamplerConfig,
    /// How its chains start.
    pub init: Init,
    /// The goal at which the run ends before its last draw.
    pub goal: Goal,
    /// Whether the draws of warm-up are kept in a run folder.
    pub keep_warmup: bool,
    /// `Some` where strategy and number of chains are to be chosen; the value tells whether the user gave the number of
    /// draws.
    pub auto: Option<bool>,
    /// The device.
    pub device: DeviceRequest,
    /// Whether a GPU that is there and unfit, or fails, is an error. Otherwise the CPU takes its place.
    pub no_fallback: bool,
    /// The number of threads; `None` for as many as the machine offers.
    pub threads: Option<usize>,
}

impl From<SamplerConfig> for RunRequest {
    fn from(sampler: SamplerConfig) -> Self {
        Self { sampler, ..Self::default() }
    }
}

/// A run, or a batch of runs, that can begin.
pub struct PreparedRun {
    /// What was asked; strategy and chains are settled.
    pub request: RunRequest,
    /// Why this strategy and these chains were chosen; `None` where the user asked for them.
    pub plan: Option<StrategyPlan>,
    /// The cost of the run, or of the batch.
    pub cost: RunCost,
    /// The device, with the reason for it.
    pub device: DeviceDecision,
    /// The threads.
    pub pool: ThreadPool,
}

impl PreparedRun {
    /// Prepares a run of one density.
    ///
    /// # Errors
    /// When a setting is out of range, no run can draw as much as is wanted, or the device cannot be used.
    pub fn of_run(density: &dyn LogDensity, request: RunRequest) -> Result<Self, RunError> {
        Self::new(Some(density), request, &|sampler| RunCost::of_run(density, sampler))
    }

    /// Prepares a batch of runs, one for each density. The strategy and the device are those that suit the largest.
    ///
    /// # Errors
    /// As [`of_run`](Self::of_run).
    pub fn of_batch(densities: &[&dyn LogDensity], request: RunRequest) -> Result<Self, RunError> {
        let largest = densities.iter().copied().max_by_key(|density| density.dim());
        Self::new(largest, request, &|sampler| RunCost::of_batch(densities, sampler))
    }

    fn new(
        density: Option<&dyn LogDensity>,
        mut request: RunRequest,
        cost: &dyn Fn(&SamplerConfig) -> RunCost,
    ) -> Result<Self, RunError> {
        let plan = match density {
            Some(density) => request.settle_strategy(density)?,
            None => None,
        };
        let mut machine = DeviceInventory::look(request.device.clone());
        let pool = pool(request.threads)?;
        let cost = cost(&request.sampler);
        let device = machine.choose(density, &cost, request.no_fallback)?;
        Ok(Self { request, plan, cost, device, pool })
    }

    /// Checks that the host's memory holds the run, if it is on the CPU.
    ///
    /// # Errors
    /// When the memory is too small.
    pub fn check_memory(&self) -> Result<(), RunError> {
        if self.device.device == Device::Cpu { self.cost.host_memory().check() } else { Ok(()) }
    }

    /// Checks that runs of these densities fit the disk, and the host's memory if they are on the CPU. A run with a goal
    /// may make fewer draws than the disk lacks room for, and is warned of only.
    ///
    /// # Errors
    /// When there is less room than all draws or chains take.
    pub fn check_room(&self, out: &Path, densities: &[&dyn LogDensity]) -> Result<(), RunError> {
        self.check_memory()?;
        let RunRequest { sampler, keep_warmup, goal, .. } = &self.request;
        let bytes = |density: &&dyn LogDensity| bytes_on_disk(*density, sampler, *keep_warmup);
        let all = densities.iter().map(bytes).fold(0_u64, u64::saturating_add);
        match check_disk(out, all) {
            Err(why) if *goal != Goal::default() => {
                tracing::warn!("{why}");
                Ok(())
            }
            checked => checked,
        }
    }

    /// Returns the record of a run that begins now, by this process' command line. Of a batch, each run has its own
    /// `sampler`. The data are not in it yet.
    pub fn record(&self, model: ModelRecord, sampler: SamplerConfig, layout: Layout) -> RunRecord {
        RunRecord {
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            device: self.device.name(),
            device_reason: self.device.reason(),
            strategy_reason: self.plan.as_ref().map(StrategyPlan::reason).unwrap_or_default(),
            init: self.request.init.clone(),
            goal: (self.request.goal != Goal::default()).then_some(self.request.goal),
            ..RunRecord::new(model, sampler, layout)
        }
    }
}

impl RunRequest {
    /// Chooses strategy and chains if that was left to `auto`, and returns what was chosen and why.
    ///
    /// # Errors
    /// When a setting is out of range, or no run can draw as much as is wanted.
    pub fn settle_strategy(&mut self, density: &dyn LogDensity) -> Result<Option<StrategyPlan>, RunError> {
        let Some(draws_given) = self.auto else { return Ok(None) };
        let wanted = DrawsWanted::new(&self.sampler, &self.goal, draws_given);
        let plan = plan(&self.sampler, wanted, density.dim(), self.device.choice)?;
        self.sampler = plan.config.clone();
        Ok(Some(plan))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::DecisionReason;
    use octopus_density::gpu::Precision;
    use octopus_models::EightSchools;

    /// Draws of 2^30 chains are more than any disk has, and those of warm-up as many again.
    #[test]
    fn a_run_needs_room_for_all_draws_that_are_kept() {
        let density = EightSchools::rubin();
        let device = DeviceDecision {
            device: Device::Cuda(0),
            others: vec![],
            why: DecisionReason::OnlyGpus(Precision::F32),
            since: vec![],
            notes: vec![],
            is_asked_for: true,
            falls_back: false,
        };
        let sampler = SamplerConfig { chains: 1 << 30, draws: 1 << 20, tune: 1 << 20, ..SamplerConfig::default() };
        let room = |keep_warmup: bool, goal: Goal, runs: usize| {
            let request = RunRequest { sampler: sampler.clone(), keep_warmup, goal, ..RunRequest::default() };
            let cost = RunCost::of_run(&density, &sampler);
            let pool = pool(Some(1)).unwrap();
            let prepared = PreparedRun { request, plan: None, cost, device: device.clone(), pool };
            prepared.check_room(Path::new("run"), &vec![&density as &dyn LogDensity; runs])
        };
        let of_one = bytes_on_disk(&density, &sampler, false);
        for (keep_warmup, runs, times) in [(false, 1, 1), (true, 1, 2), (false, 3, 3)] {
            let error = room(keep_warmup, Goal::default(), runs).unwrap_err();
            assert!(matches!(error, RunError::DiskTooSmall { bytes, .. } if bytes == times * of_one), "{error:?}");
            // What ends at its goal may make fewer.
            let goal = Goal { target_ess: Some(100.0), ..Goal::default() };
            assert!(room(keep_warmup, goal, runs).is_ok());
        }
    }
}
