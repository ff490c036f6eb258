//! Timings on the GPU: the run's chains in each precision, many chains, and other sizes.
//!
//! The numbers of chains and draws that are timed stand here.

use super::case::{Case, Measurement, Timed};
use super::{EngineOptions, Gpu, STRATEGY_REPEATS};
use crate::error::BenchError;
use octopus_models::Problem;
use octopus_runs::{Observer, Placement, RunCost};
use octopus_sampler::{Precision, SamplerConfig};
use rayon::ThreadPool;
use std::sync::Arc;

/// Numbers of short chains, from few to so many that they fill a device, each with the number of draws of a chain.
const MANY: [(usize, usize); 6] = [(16, 1000), (32, 500), (64, 400), (1024, 64), (4096, 16), (16384, 8)];
/// The numbers of chains and draws for other sizes. There are fewer of them, because the host could not hold
/// more draws of so many parameters.
const MANY_OF_OTHER_SIZES: [(usize, usize); 2] = [(64, 400), (4096, 16)];

/// The measurements on a GPU.
pub(super) struct GpuBenchmarks {
    /// Whether the GPU is a test double, whose times say nothing.
    pub(super) test_double: bool,
    /// The run's chains with repeats, in each precision and form of the likelihood.
    pub(super) engines: Vec<Measurement>,
    /// Runs of many chains with fewer draws.
    pub(super) many: Vec<Measurement>,
    /// Runs of other sizes.
    pub(super) sizes: Vec<Measurement>,
}

/// What is measured on a GPU.
#[derive(Clone, Copy)]
pub(super) struct Models<'a> {
    /// The density of the run.
    pub(super) own: Timed<'a>,
    /// The same with each form of its likelihood.
    pub(super) forms: &'a [Timed<'a>],
    /// The same model with data of other sizes.
    pub(super) sizes: &'a [Arc<dyn Problem>],
}

impl GpuBenchmarks {
    /// Makes all measurements on the GPU; returns `None` when the user stopped them.
    ///
    /// `auto` is the choice of `--strategy auto` on this GPU.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn run(
        options: EngineOptions<'_>,
        models: Models<'_>,
        gpu: Gpu<'_>,
        auto: Option<&SamplerConfig>,
        pool: &ThreadPool,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, BenchError> {
        let mut found = Self { test_double: gpu.test_double, engines: Vec::new(), many: Vec::new(), sizes: Vec::new() };
        if !gpu.works {
            return Ok(Some(found));
        }
        let Models { own, forms, sizes } = models;
        let repeats = if options.quick || gpu.test_double { 1 } else { STRATEGY_REPEATS };
        let bench = GpuBench { place: gpu.place, pool, repeats };
        if gpu.test_double {
            // These small runs are enough to run the code.
            let config = SamplerConfig { draws: 100, tune: 100, ..options.sampler.clone() };
            found.engines.push(bench.measure(own, &config)?);
            found.many.push(bench.measure(own, &SamplerConfig { chains: 32, draws: 20, ..config })?);
            return Ok(Some(found));
        }
        for &model in forms {
            for precision in Precision::ALL {
                if observer.stops() {
                    return Ok(None);
                }
                let config = SamplerConfig { precision, ..options.sampler.clone() };
                if !can_run(model, &config) {
                    continue;
                }
                found.engines.push(bench.case(model, &config).measure_until_steady(options.quick, &mut None)?);
            }
        }
        for config in auto.cloned().into_iter().chain(many(options, &MANY)).filter(|config| can_run(own, config)) {
            if observer.stops() {
                return Ok(None);
            }
            found.many.push(bench.measure(own, &config)?);
        }
        for size in sizes {
            let model = Timed::of(&**size);
            let all = std::iter::once(options.sampler.clone()).chain(many(options, &MANY_OF_OTHER_SIZES));
            for config in all.filter(|config| can_run(model, config)) {
                if observer.stops() {
                    return Ok(None);
                }
                found.sizes.push(bench.measure(model, &config)?);
            }
        }
        Ok(Some(found))
    }

    /// Returns all measurements.
    pub(super) fn all(&self) -> impl Iterator<Item = &Measurement> {
        self.engines.iter().chain(&self.many).chain(&self.sizes)
    }
}

/// Returns the settings of runs of many chains, in each precision, or with --quick in f32 only.
fn many(options: EngineOptions<'_>, runs: &[(usize, usize)]) -> Vec<SamplerConfig> {
    let precisions = if options.quick { &Precision::ALL[1..2] } else { &Precision::ALL[..] };
    let of = |&precision: &Precision| {
        let of = move |&(chains, draws): &(usize, usize)| {
            let SamplerConfig { strategy, superchains, .. } = SamplerConfig::many_short(chains);
            SamplerConfig { strategy, chains, superchains, draws, precision, ..options.sampler.clone() }
        };
        runs.iter().map(of)
    };
    precisions.iter().flat_map(of).collect()
}

/// Returns whether the model has kernels for a run: not every model is compiled in every precision.
fn can_run(model: Timed<'_>, config: &SamplerConfig) -> bool {
    RunCost::of_run(model.density, config).no_gpu.is_none()
}

struct GpuBench<'a> {
    place: &'a Placement,
    pool: &'a ThreadPool,
    /// How often each of many chains and of other sizes is timed: as often as the CPU's, with which they are compared.
    repeats: usize,
}

impl<'a> GpuBench<'a> {
    fn case(&self, model: Timed<'a>, config: &'a SamplerConfig) -> Case<'a> {
        let SamplerConfig { chains, draws, precision, .. } = config;
        let form = model.likelihood.map(|form| format!("{form}, ")).unwrap_or_default();
        let setting = format!("{precision}, {form}{chains} chains x {draws}");
        Case { setting, model, config, place: self.place, pool: self.pool }
    }

    fn measure(&self, model: Timed<'_>, config: &SamplerConfig) -> Result<Measurement, BenchError> {
        GpuBench { ..*self }.case(model, config).measure(self.repeats, 0.0, &mut None)
    }
}
