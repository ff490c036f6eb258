//! The measurement of many data sets at once: how many are done a second, on the GPU and on all cores.

use super::cell::Where;
use super::model::model;
use crate::error::BenchError;
use crate::json::null_is_nan;
use octopus_device::CudaContext;
use octopus_models::Likelihood;
use octopus_sampler::{Backend, BatchSampler, Begin, DataSet, GpuConfig, Precision, SamplerConfig};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The plan of a measurement: the PRD's model on many data sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchPlan {
    pub(super) place: Where,
    pub(super) groups: usize,
    pub(super) data_sets: usize,
    pub(super) precision: Precision,
    /// The iterations of warm-up and the draws of each of four chains.
    pub(super) iterations: (usize, usize),
}

/// The result of a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) place: Where,
    pub(crate) groups: usize,
    pub(crate) data_sets: usize,
    pub(crate) chains: usize,
    pub(crate) precision: Precision,
    pub(crate) tune: usize,
    pub(crate) draws: usize,
    pub(crate) leapfrogs: u64,
    /// The seconds, including those for starting points and buffers.
    pub(crate) seconds: f64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) data_sets_per_second: f64,
    /// The number of data sets that failed.
    pub(crate) failed: usize,
}

const CHAINS: usize = 4;

impl BatchPlan {
    pub(super) fn all() -> Vec<Self> {
        let of =
            |place, data_sets, precision| Self { place, groups: 100, data_sets, precision, iterations: (300, 200) };
        vec![
            of(Where::Gpu, 1000, Precision::F64),
            of(Where::Gpu, 1000, Precision::F32),
            of(Where::Cpu, 200, Precision::F64),
            of(Where::Gpu, 100, Precision::F64),
        ]
    }

    /// Returns plans that are just enough to run the code.
    pub(super) fn small() -> Vec<Self> {
        let of = |place| Self { place, groups: 10, data_sets: 3, precision: Precision::F64, iterations: (40, 10) };
        [Where::Gpu, Where::Cpu].map(of).into()
    }

    pub(super) fn name(&self) -> String {
        let Self { place, groups, data_sets, precision, .. } = self;
        format!("{data_sets} data sets of {groups} groups, {precision} on the {place}")
    }

    /// # Errors
    /// When the device fails.
    pub(super) fn measure(&self, context: &CudaContext) -> Result<Batch, BenchError> {
        let (model, (tune, draws)) = (model(self.groups, Likelihood::Collapsed)?, self.iterations);
        let base = SamplerConfig {
            chains: CHAINS,
            tune,
            draws,
            target_accept: 0.9,
            precision: self.precision,
            ..Default::default()
        };
        // All data sets have the same data and different seeds. So their trajectories differ, and the work is like that
        // of different data.
        let set = |seed| DataSet { density: &model, begin: Begin::Anew(SamplerConfig { seed, ..base.clone() }) };
        let sets: Vec<_> = (0..self.data_sets as u64).map(set).collect();
        let clock = Instant::now();
        let mut sampler = match self.place {
            Where::Gpu => BatchSampler::begin(&sets, sets.len(), Backend::gpu(context, &GpuConfig::default()))?,
            Where::Cpu => BatchSampler::begin(&sets, rayon::current_num_threads(), Backend::Cpu)?,
        };
        let (mut leapfrogs, mut failed) = (0, 0);
        while let Some(steps) = sampler.advance(usize::MAX)? {
            for step in steps {
                match step.block {
                    Ok(block) => leapfrogs += block.leapfrogs(),
                    Err(_) => failed += 1,
                }
            }
        }
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Batch {
            place: self.place,
            groups: self.groups,
            data_sets: self.data_sets,
            chains: CHAINS,
            precision: self.precision,
            tune,
            draws,
            leapfrogs,
            seconds,
            data_sets_per_second: self.data_sets as f64 / seconds,
            failed,
        })
    }
}
