//! Expansions: what draws mean, as variables and replicated observations, which every sound device makes bit for bit.

use super::bits::{Bits, Names};
use super::{Made, of_sampler};
use crate::error::BenchError;
use crate::model_of;
use octopus_density::gpu::GpuDensity;
use octopus_device::CudaContext;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{EightSchools, HierarchicalNormal, Likelihood, ModelError};
use octopus_random::{Purpose, Stream};
use octopus_sampler::{GpuExpander, Precision, SamplerError};
use std::time::{Duration, Instant};

const SEED: u64 = 42;
const CHAINS: usize = 3;
/// The number of draws of each chain: more than a block's warps, so that a launch has several blocks.
const DRAWS: usize = 50;
/// The draws that are replicated: some are neighbours, and some lie apart.
const PICKS: [usize; 5] = [0, 1, 7, 30, 49];

/// An expansion: draws of one model that are expanded and replicated in one precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    model: Model,
    precision: Precision,
    /// The bytes of buffers, by which draws are cut into parts; this must not change a bit.
    bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum Model {
    /// The hierarchical normal model on groups of different sizes.
    Groups(usize),
    Schools,
}

/// Returns all expansions, or with `small` those that are small enough for tools that slow kernels down a hundredfold.
pub(super) fn expansions(small: bool) -> Vec<Expansion> {
    let models = [
        (Model::Groups(100), 100_000),
        (Model::Schools, 8_000),
        (Model::Groups(10), 0),
        (Model::Groups(1000), GpuExpander::BYTES),
    ];
    let models = if small { &models[..2] } else { &models[..] };
    let in_all = |&(model, bytes)| Precision::ALL.map(|precision| Expansion { model, precision, bytes });
    models.iter().flat_map(in_all).collect()
}

impl Expansion {
    /// Returns the name of the expansion, without spaces and without settings that do not change the bits.
    pub(super) fn name(&self) -> String {
        let model = match self.model {
            Model::Groups(groups) => format!("hierarchical-normal-{groups}-unbalanced"),
            Model::Schools => "eight-schools".to_owned(),
        };
        format!("{model}-{}", self.precision)
    }

    /// Makes variables and replicates on the device, and in f64 on the CPU, too.
    ///
    /// # Errors
    /// When the device fails.
    pub(super) fn make(&self, context: &CudaContext) -> Result<[Made; 2], BenchError> {
        let made = match self.model {
            Model::Schools => self.make_with(&EightSchools::rubin(), context),
            Model::Groups(groups) => self.make_with(&unbalanced(groups)?, context),
        };
        made.map_err(|error| of_sampler(error).at(self.name()))
    }

    fn make_with(&self, model: &impl GpuDensity, context: &CudaContext) -> Result<[Made; 2], SamplerError> {
        let draws = draws(model);
        let clock = Instant::now();
        let mut gpu = GpuExpander::with_bytes(model, self.precision, context, self.bytes)?;
        let variables = gpu.expand(&draws)?;
        let expanded = clock.elapsed();
        let replicates = gpu.predict(SEED, CHAINS, &draws, &PICKS)?;
        let replicated = clock.elapsed() - expanded;
        let twins = (self.precision == Precision::F64)
            .then(|| (expanded_on_cpu(model, &draws), replicated_on_cpu(model, &draws)))
            .unzip();
        let of_variables = |rows: &[f64]| Bits::of_rows(Names::VARIABLES, model.layout().width(), CHAINS, rows);
        let of_observations = |rows: &[f64]| Bits::of_rows(Names::OBSERVATIONS, model.observations(), CHAINS, rows);
        let made = |what: &str, device: Bits, cpu: Option<Bits>, time: Duration| Made {
            name: format!("{what}-{}", self.name()),
            precision: self.precision,
            device,
            cpu,
            seconds: time.as_secs_f64(),
        };
        Ok([
            made("expand", of_variables(&variables), twins.0.as_deref().map(of_variables), expanded),
            made("predict", of_observations(&replicates), twins.1.as_deref().map(of_observations), replicated),
        ])
    }
}

/// # Errors
/// Never, since the data are fixed.
fn unbalanced(groups: usize) -> Result<HierarchicalNormal, ModelError> {
    model_of(HierarchicalSpec { groups, ..HierarchicalSpec::default() }.unbalanced(), Likelihood::Collapsed)
}

/// Returns draws in the density's own coordinates, `chains x draws x dim`. They are from no posterior, and reach far
/// enough to meet the ends of the exponential's range and sums that lose digits.
fn draws(model: &impl GpuDensity) -> Vec<f64> {
    let mut random = Stream::new(SEED, 0, 0, Purpose::User);
    (0..CHAINS * DRAWS * model.dim()).map(|_| 1.5 * random.normal()).collect()
}

fn expanded_on_cpu(model: &impl GpuDensity, draws: &[f64]) -> Vec<f64> {
    let width = model.layout().width();
    let mut all = vec![0.0; CHAINS * DRAWS * width];
    draws.chunks_exact(model.dim()).zip(all.chunks_exact_mut(width)).for_each(|(x, out)| model.expand(x, out));
    all
}

fn replicated_on_cpu(model: &impl GpuDensity, draws: &[f64]) -> Vec<f64> {
    let (dim, observations) = (model.dim(), model.observations());
    let mut all = vec![0.0; CHAINS * PICKS.len() * observations];
    for (row, out) in all.chunks_exact_mut(observations).enumerate() {
        let (chain, draw) = (row / PICKS.len(), PICKS[row % PICKS.len()]);
        let mut random = Stream::new(SEED, chain as u32, draw as u32, Purpose::Predictive);
        model.predict(&draws[(chain * DRAWS + draw) * dim..][..dim], &mut random, out);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_small_ones_are_among_all() {
        let names = |small| expansions(small).iter().map(Expansion::name).collect::<BTreeSet<_>>();
        let all = names(false);
        assert_eq!(all.len(), expansions(false).len());
        assert!(names(true).is_subset(&all) && names(true).len() == 6);
        assert!(all.contains("hierarchical-normal-1000-unbalanced-mixed") && all.contains("eight-schools-f32"));
    }

    /// Checks that draws reach both tails of the exponential's range without leaving it: an infinity would hide what is
    /// added to it.
    #[test]
    fn draws_are_far_and_what_they_mean_is_finite() {
        let model = unbalanced(10).unwrap();
        let draws = draws(&model);
        let scales: Vec<f64> = draws.chunks_exact(13).map(|draw| draw[11].exp()).collect();
        let within =
            |low: f64, high: f64| scales.iter().any(|scale| *scale < low) && scales.iter().any(|scale| *scale > high);
        assert!(within(0.1, 10.0), "{scales:?}");
        let all = [expanded_on_cpu(&model, &draws), replicated_on_cpu(&model, &draws)].concat();
        assert!(all.iter().all(|x| x.is_finite()));
    }
}
