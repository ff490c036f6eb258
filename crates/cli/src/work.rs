//! What a run takes, in the terms that a machine's costs are measured in.

use octopus_density::gpu::GpuDensity;
use octopus_device::Work;
use octopus_sampler::SamplerConfig;

/// Leapfrog steps of a transition, for a prediction: what trajectories of well-adapted chains mostly take.
const LEAPFROGS: u64 = 15;

/// A run of NUTS. All chains make their leapfrog steps side by side: a launch of the kernel `nuts_leapfrog_...` stands
/// for one step of every chain, its unit is one step of one chain.
pub(crate) fn of_run<D: GpuDensity>(density: &D, config: &SamplerConfig) -> Work {
    let steps = (config.tune + config.draws) as u64 * LEAPFROGS;
    let chains = config.chains as u64;
    let bytes = (config.draws + config.tune) as u64 * chains * density.dim() as u64 * 8;
    Work::new(format!("{} chains x {} iterations", config.chains, config.tune + config.draws))
        .step(kernel_name(density, config), steps, (steps * chains) as f64)
        .download(steps.div_ceil(1000), bytes)
        .in_parts(u32::try_from(config.chains).unwrap_or(u32::MAX))
}

/// Under which name the cost of a density's leapfrog step is kept.
pub(crate) fn kernel_name<D: GpuDensity>(density: &D, config: &SamplerConfig) -> String {
    let size = density.dim().next_power_of_two();
    format!("nuts_leapfrog_{}_{}_{size}", density.kernel_name(), config.precision)
}
