//! The stage that times engines, strategies and sizes.

use super::Options;
use super::gpu::OnGpu;
use anyhow::Result;
use octopus_bench::engines::{self, Benchmarks, Gpu};
use octopus_density::HierarchicalNormal;
use octopus_density::exact::ExactPosterior;
use octopus_runs::Observer;
use rayon::ThreadPool;

/// Makes all measurements; returns `None` when the user stopped them.
///
/// # Errors
/// When a run fails.
pub(super) fn run(
    options: &Options<'_>,
    model: &HierarchicalNormal,
    exact: &ExactPosterior,
    gpu: &std::result::Result<OnGpu, String>,
    pool: &ThreadPool,
    observer: &dyn Observer,
) -> Result<Option<Benchmarks>> {
    let Options { sampler, quick, asked, .. } = options;
    let gpu = gpu.as_ref().map_err(String::clone).map(|gpu| Gpu {
        device: gpu.device,
        place: &gpu.place,
        test_double: gpu.test_double,
        works: gpu.run.is_ok(),
    });
    let options = engines::Options { sampler, quick: *quick, asked: *asked };
    Ok(engines::run(options, model, exact, &gpu, pool, observer)?)
}
