//! The cost of a leapfrog step of a chain whose observations are shared by several blocks. The same run is made by
//! more and more blocks, and on the CPU.

use crate::error::BenchError;
use crate::json::null_is_nan;
use crate::model_of;
use octopus_device::CudaContext;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{Backend, Begin, GpuConfig, Precision, Sampler, SamplerConfig, Strategy};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The plan of a measurement: a data set with a pointwise likelihood, and the numbers of blocks of a chain to run it
/// by.
#[derive(Clone, Debug)]
pub(super) struct TeamPlan {
    pub(super) groups: usize,
    pub(super) per_group: usize,
    pub(super) precision: Precision,
    pub(super) chains: usize,
    /// The numbers of blocks of a chain; `None` for as many as the device holds.
    pub(super) blocks: Vec<Option<usize>>,
    /// The number of iterations; half of them are warm-up.
    pub(super) iterations: usize,
}

/// The result of a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TeamCost {
    pub(crate) groups: usize,
    pub(crate) observations: usize,
    pub(crate) precision: Precision,
    pub(crate) chains: usize,
    pub(crate) points: Vec<TeamPoint>,
    /// The microseconds of a leapfrog step by the CPU's engine with as many chains on all cores; `None` except in f64.
    pub(crate) cpu_us_per_leapfrog: Option<f64>,
}

/// The times of the run by one number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TeamPoint {
    /// The number of blocks of a chain; `None` for as many as the device holds.
    pub(crate) blocks: Option<usize>,
    pub(crate) leapfrogs: u64,
    /// The device's time of launches, divided by the leapfrog steps of one chain.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) device_us_per_leapfrog: f64,
    /// The rate at which all chains together read observations.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) gigabytes_per_second: f64,
}

impl TeamPoint {
    /// Returns the number of blocks in words.
    pub(crate) fn blocks(&self) -> String {
        self.blocks.map_or_else(|| "all".into(), |blocks| blocks.to_string())
    }
}

impl TeamPlan {
    pub(super) fn name(&self) -> String {
        let Self { groups, per_group, precision, chains, .. } = self;
        format!("teams, {} observations, {precision}, {chains} chains", groups * per_group)
    }

    /// # Errors
    /// When the device fails, or the draws depend on the blocks.
    pub(super) fn measure(&self, context: &CudaContext) -> Result<TeamCost, BenchError> {
        let spec = HierarchicalSpec { groups: self.groups, per_group: self.per_group, ..HierarchicalSpec::default() };
        let model = model_of(spec.generate(), Likelihood::Pointwise)?;
        let points = self.blocks.iter().map(|&blocks| self.point(&model, context, blocks));
        let points = points.collect::<Result<Vec<_>, _>>()?;
        if points.iter().any(|point| point.leapfrogs != points[0].leapfrogs) {
            let what = format!("{}: runs by other numbers of blocks take other leapfrogs: {points:?}", self.name());
            return Err(BenchError::Contradiction(what));
        }
        let Self { groups, per_group, precision, chains, .. } = *self;
        let cpu_us_per_leapfrog = (precision == Precision::F64).then(|| self.on_cpu(&model)).transpose()?;
        Ok(TeamCost { groups, observations: groups * per_group, precision, chains, points, cpu_us_per_leapfrog })
    }

    fn config(&self) -> SamplerConfig {
        let (tune, draws) = (self.iterations / 2, self.iterations - self.iterations / 2);
        let (chains, precision) = (self.chains, self.precision);
        let strategy = Strategy::FourLong;
        SamplerConfig { tune, draws, chains, strategy, precision, max_depth: 5, seed: 42, ..SamplerConfig::default() }
    }

    fn point(
        &self,
        model: &HierarchicalNormal,
        context: &CudaContext,
        blocks: Option<usize>,
    ) -> Result<TeamPoint, BenchError> {
        let gpu = GpuConfig { blocks_per_chain: blocks.unwrap_or(usize::MAX), ..GpuConfig::default() };
        let mut sampler = Sampler::begin(model, Begin::Anew(self.config()), Backend::gpu(context, &gpu))?;
        let before = context.usage().measured_time;
        let leapfrogs = leapfrogs(&mut sampler)?;
        let seconds = (context.usage().measured_time - before).as_secs_f64();
        let bytes = leapfrogs as f64 * (self.groups * self.per_group * self.precision.vector_bytes()) as f64;
        Ok(TeamPoint {
            blocks,
            leapfrogs,
            device_us_per_leapfrog: seconds * 1e6 * self.chains as f64 / leapfrogs as f64,
            gigabytes_per_second: bytes / seconds / 1e9,
        })
    }

    fn on_cpu(&self, model: &HierarchicalNormal) -> Result<f64, BenchError> {
        let mut sampler = Sampler::new(model, self.config())?;
        let clock = Instant::now();
        let leapfrogs = leapfrogs(&mut sampler)?;
        Ok(clock.elapsed().as_secs_f64() * 1e6 * self.chains as f64 / leapfrogs as f64)
    }
}

/// Returns the number of leapfrog steps of the whole run.
fn leapfrogs(sampler: &mut Sampler<'_>) -> Result<u64, BenchError> {
    let mut leapfrogs = 0;
    while let Some(block) = sampler.advance(usize::MAX)? {
        leapfrogs += block.leapfrogs();
    }
    Ok(leapfrogs)
}
