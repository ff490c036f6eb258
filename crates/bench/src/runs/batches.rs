//! The batches: data sets of several sizes in one launch. Each data set must have the same draws as alone.

use super::Made;
use super::bits::Bits;
use crate::error::BenchError;
use crate::{model_of, of_sampler};
use octopus_device::CudaContext;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, Likelihood, ModelError};
use octopus_sampler::{Backend, BatchSampler, Begin, DataSet, GpuConfig, Precision, Sampler, SamplerConfig, Strategy};
use std::time::{Duration, Instant};

/// The numbers of groups of the data sets of each batch. Only the first batch is small; the second takes the kernels of
/// 128 lanes.
const GROUPS: [&[usize]; 2] = [&[25, 9, 17], &[300, 12, 450]];
/// The number of data sets of a batch on the device at once. It is one fewer than there are, so that one must wait.
const AT_ONCE: usize = 2;

/// A batch in one precision.
pub(super) struct Batch {
    groups: &'static [usize],
    precision: Precision,
}

/// Returns all batches, or with `small` those that are small enough for tools that slow kernels down a hundredfold.
pub(super) fn batches(small: bool) -> Vec<Batch> {
    let chosen = if small { &GROUPS[..1] } else { &GROUPS[..] };
    chosen.iter().flat_map(|&groups| Precision::ALL.map(|precision| Batch { groups, precision })).collect()
}

impl Batch {
    fn config(&self) -> SamplerConfig {
        let (strategy, precision) = (Strategy::FourLong, self.precision);
        let base = SamplerConfig { strategy, precision, ..SamplerConfig::default() };
        SamplerConfig { draws: 6, tune: 40, chains: 3, max_depth: 6, seed: 42, ..base }
    }

    fn name(&self, set: usize) -> String {
        format!("batch-{}-groups-{}-of-{}-{}", self.groups[set], set + 1, self.groups.len(), self.precision)
    }

    fn models(&self) -> Result<Vec<HierarchicalNormal>, ModelError> {
        let model = |&groups: &usize| {
            model_of(HierarchicalSpec { groups, ..HierarchicalSpec::default() }.unbalanced(), Likelihood::Pointwise)
        };
        self.groups.iter().map(model).collect()
    }

    /// Samples the data sets together on the device, and in f64 each by itself on the CPU.
    ///
    /// # Errors
    /// When the device fails.
    pub(super) fn make(&self, context: &CudaContext) -> Result<Vec<Made>, BenchError> {
        let (models, config, clock) = (self.models()?, self.config(), Instant::now());
        let begin = || Begin::Anew(config.clone());
        let sets: Vec<_> = models.iter().map(|density| DataSet { density, begin: begin() }).collect();
        // Launches end by their number of iterations, not by the clock, so that a slow device launches as a fast one.
        let gpu = GpuConfig { launch_time: Duration::from_secs(3600), most_iterations: 7, ..GpuConfig::default() };
        let failed = |error| of_sampler(error).at(self.name(0));
        let mut sampler = BatchSampler::begin(&sets, AT_ONCE, Backend::gpu(context, &gpu)).map_err(failed)?;
        let mut drawn: Vec<Bits> = models.iter().map(Bits::empty).collect();
        while let Some(steps) = sampler.advance(usize::MAX).map_err(failed)? {
            for step in steps {
                drawn[step.set].add(&step.block.map_err(failed)?);
            }
        }
        let seconds = clock.elapsed().as_secs_f64() / models.len() as f64;
        let made = |(set, (device, model)): (usize, (Bits, &HierarchicalNormal))| {
            let alone = || Sampler::new(model, config.clone()).and_then(|sampler| Bits::of_run(sampler, model));
            let cpu = (self.precision == Precision::F64)
                .then(alone)
                .transpose()
                .map_err(|error| BenchError::from(error).at(self.name(set)))?;
            Ok(Made { name: self.name(set), precision: self.precision, device, cpu, seconds })
        };
        drawn.into_iter().zip(&models).enumerate().map(made).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_data_set_has_a_name() {
        let names = |small| -> BTreeSet<String> {
            let all = batches(small);
            all.iter().flat_map(|batch| (0..batch.groups.len()).map(|set| batch.name(set))).collect()
        };
        assert_eq!((names(true).len(), names(false).len()), (9, 18));
        assert!(names(true).is_subset(&names(false)) && names(true).contains("batch-9-groups-2-of-3-f64"));
    }
}
