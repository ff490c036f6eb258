//! The measurement of the shortest run: the time that a number of chains takes to a number of effective draws of every
//! quantity, including warm-up.
//!
//! The effective draws to reach, the most draws, and the number of seeds stand here.

use super::cell::Where;
use super::model::model;
use super::quality::quality;
use crate::error::BenchError;
use crate::quality::Quality;
use octopus_device::CudaContext;
use octopus_diag::limits;
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_runs::{Reach, reach};
use octopus_sampler::{Backend, Begin, GpuConfig, Precision, Sampler, SamplerConfig};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The effective draws, of bulk and tails of every quantity, that a run must reach.
const ESS: f64 = 8000.0;
/// The most draws of all chains together; a run that needs more has failed.
const MOST_DRAWS: usize = 100_000;
/// The number of runs, each with another seed; the median counts.
const SEEDS: u64 = 3;

/// The plan of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoalPlan {
    pub(super) place: Where,
    pub(super) groups: usize,
    pub(super) precision: Precision,
    pub(super) chains: usize,
    /// Whether there is only one run, to a tenth of the effective draws, to try things out.
    pub(super) short: bool,
}

/// The result of a measurement: the run with the median time among several seeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GoalTime {
    pub(crate) place: Where,
    pub(crate) groups: usize,
    pub(crate) precision: Precision,
    pub(crate) chains: usize,
    pub(crate) superchains: usize,
    pub(crate) target_ess: f64,
    pub(crate) target_rhat: f64,
    /// Whether the run of every seed met both targets.
    pub(crate) reached: bool,
    /// The iterations of warm-up and the draws of each chain.
    pub(crate) warm_up: usize,
    pub(crate) draws: usize,
    /// The seconds for starting points, buffers and the module.
    pub(crate) setup_seconds: f64,
    pub(crate) warmup_seconds: f64,
    pub(crate) sampling_seconds: f64,
    pub(crate) quality: Option<Quality>,
}

impl GoalPlan {
    /// Returns plans of the PRD's size with various numbers of chains, on the GPU and, with fewer chains, on the
    /// processor.
    pub(super) fn all() -> Vec<Self> {
        let of = |place, precision, chains| Self { place, groups: 100, precision, chains, short: false };
        let on_gpu = [1024, 4096, 256, 16_384, 64]
            .map(|chains| [Precision::F64, Precision::F32].map(|precision| of(Where::Gpu, precision, chains)));
        let on_cpu = [64, 1024].map(|chains| of(Where::Cpu, Precision::F64, chains));
        on_gpu.into_iter().flatten().chain(on_cpu).collect()
    }

    /// Returns plans that are just enough to run the code.
    pub(super) fn small() -> Vec<Self> {
        let of = |place| Self { place, groups: 10, precision: Precision::F64, chains: 64, short: true };
        [Where::Gpu, Where::Cpu].map(of).into()
    }

    pub(super) fn name(&self) -> String {
        let Self { place, groups, precision, chains, .. } = self;
        format!("goal of {chains} chains, {groups} groups, {precision} on the {place}")
    }

    /// # Errors
    /// When the device fails.
    pub(super) fn measure(&self, context: &CudaContext) -> Result<GoalTime, BenchError> {
        let model = &model(self.groups, Likelihood::Collapsed)?;
        let seeds = if self.short { 1 } else { SEEDS };
        let mut all = (0..seeds).map(|seed| self.once(model, context, 42 + seed)).collect::<Result<Vec<_>, _>>()?;
        let reached = all.iter().all(|goal| goal.reached);
        all.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Ok(GoalTime { reached, ..all.swap_remove(all.len() / 2) })
    }

    fn once(&self, model: &HierarchicalNormal, context: &CudaContext, seed: u64) -> Result<GoalTime, BenchError> {
        let (chains, precision) = (self.chains, self.precision);
        let draws = MOST_DRAWS.div_ceil(chains);
        let base = SamplerConfig::many_short(chains);
        let config = SamplerConfig { tune: 1000, draws, target_accept: 0.95, seed, precision, ..base };
        let target = if self.short { ESS / 10.0 } else { ESS };
        let clock = Instant::now();
        let mut sampler = match self.place {
            Where::Gpu => {
                Sampler::begin(model, Begin::Anew(config.clone()), Backend::gpu(context, &GpuConfig::default()))?
            }
            Where::Cpu => Sampler::new(model, config.clone())?,
        };
        let setup_seconds = clock.elapsed().as_secs_f64();
        let mut found = None;
        let enough = |q: &Quality| q.min_ess_bulk.min(q.min_ess_tail) >= target && q.max_rhat < limits::RHAT;
        let Reach { met, warm_up, draws, warmup_s, sampling_s } = reach(&mut sampler, |blocks| {
            // While there are far fewer draws than the target's effective draws, a look at them is not needed.
            let drawn: usize = blocks.iter().map(|block| block.draws * chains).sum();
            found = (drawn as f64 >= target / 2.0).then(|| quality(model, blocks, &config)).flatten();
            Ok::<_, BenchError>(found.as_ref().is_some_and(enough))
        })?;
        Ok(GoalTime {
            place: self.place,
            groups: self.groups,
            precision,
            chains,
            superchains: config.superchains,
            target_ess: target,
            target_rhat: limits::RHAT,
            reached: met,
            warm_up,
            draws,
            setup_seconds,
            warmup_seconds: warmup_s,
            sampling_seconds: sampling_s,
            quality: found,
        })
    }
}

impl GoalTime {
    pub(super) fn seconds(&self) -> f64 {
        self.setup_seconds + self.warmup_seconds + self.sampling_seconds
    }
}
