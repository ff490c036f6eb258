//! Chooses the kernels that a density runs with (lanes, rows, team, batch), and lists what they read.

use crate::config::SamplerConfig;
use crate::engine::Shared;
use crate::error::SamplerError;
use crate::kernel::Trajectories;
use octopus_cuda::{
    Context, Float, NutsBatch, NutsBatchKernels, NutsCentering, NutsChains, NutsData, NutsField, NutsFormat,
    NutsGeometry, NutsKernels, NutsTeamWork, NutsTrajectory,
};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule, KernelRoom, Precision, TeamWork};
use octopus_density::{Centering, Hierarchy, LogDensity, warp};
use std::time::Duration;

/// Returns the smallest kernels of the sampler that hold the density's coordinates; of NUTS those for a team where it has work
/// to share.
///
/// # Errors
/// [`SamplerError::NoKernel`] when none is compiled, and for more than one hierarchical block.
pub(super) fn choose<'d>(
    density: &'d dyn GpuDensity,
    config: &SamplerConfig,
) -> Result<&'d KernelModule, SamplerError> {
    let &SamplerConfig { precision, ref algorithm, .. } = config;
    let team = density.team_work().is_some();
    if sampler(config) == NUTS {
        return smallest(density, precision, density.kernel_modules(), team);
    }
    let modules = density.trajectory_modules();
    let why = match modules.iter().any(|module| module.precision == precision) {
        false if modules.is_empty() => "has none for this density",
        false => "has none in this precision",
        true if team => "has none for observations that are so many that blocks of threads share them",
        true => return smallest(density, precision, modules, false),
    };
    Err(refusal(density, precision, format!("the sampler {} {why}", algorithm.name())))
}

/// NUTS, as the names of its kernels begin, and the other sampler that has kernels.
const NUTS: &str = "nuts";
const HMC: &str = "hmc";

/// Returns the beginning of the names of the kernels that move the chains.
pub(super) fn sampler(config: &SamplerConfig) -> &'static str {
    if trajectories(config, None).is_some() { HMC } else { NUTS }
}

fn trajectories(config: &SamplerConfig, length: Option<f64>) -> Option<Trajectories> {
    config.algorithm.kernel()?.trajectories(length)
}

/// Returns the smallest kernels for many data sets that hold the density's coordinates.
///
/// # Errors
/// [`SamplerError::NoKernel`] when none is compiled, for more than one hierarchical block, and when blocks of threads
/// share the density's observations.
pub(super) fn choose_of_batch<'d>(
    density: &'d dyn GpuDensity,
    config: &SamplerConfig,
) -> Result<&'d KernelModule, SamplerError> {
    let &SamplerConfig { precision, ref algorithm, .. } = config;
    if sampler(config) != NUTS || algorithm.draws_population() {
        let why = format!("the sampler {} has none for a batch: sample it by itself", algorithm.name());
        return Err(refusal(density, precision, why));
    }
    if density.team_work().is_some() {
        let why = "its observations are so many that blocks of threads share them, which they do not in a batch: sample \
                   it by itself";
        return Err(refusal(density, precision, why.to_owned()));
    }
    if density.batch_modules().is_empty() {
        let why = "there are none that take many data sets at once: sample each by itself".to_owned();
        return Err(refusal(density, precision, why));
    }
    smallest(density, precision, density.batch_modules(), false)
}

/// Returns the density's kernels.
///
/// # Errors
/// [`SamplerError::NoKernel`] when it has none.
pub(crate) fn of_density<'d>(
    density: &'d dyn LogDensity,
    config: &SamplerConfig,
) -> Result<&'d dyn GpuDensity, SamplerError> {
    let &SamplerConfig { precision, ref algorithm, .. } = config;
    if !algorithm.is_on_gpu() {
        let prior = if algorithm.takes_particles() { " with the prior for its proposal" } else { "" };
        let why = format!("the sampler {}{prior} has no kernels", algorithm.name());
        return Err(refusal(density, precision, why));
    }
    if algorithm.draws_population() && precision != Precision::F64 {
        let why = format!("the sampler {} has none in this precision", algorithm.name());
        return Err(refusal(density, precision, why));
    }
    let kernels = density.kernels().ok_or_else(|| refusal(density, precision, "none is compiled for it".to_owned()))?;
    match kernels.missing() {
        None => Ok(kernels),
        Some(why) => Err(refusal(density, precision, why)),
    }
}

fn refusal(density: &dyn LogDensity, precision: Precision, why: String) -> SamplerError {
    SamplerError::NoKernel { density: density.name().to_owned(), dim: density.dim(), precision, why }
}

fn smallest<'d>(
    density: &dyn GpuDensity,
    precision: Precision,
    modules: &'d [KernelModule],
    team: bool,
) -> Result<&'d KernelModule, SamplerError> {
    let (dim, blocks) = (density.dim(), density.hierarchies().len());
    if blocks > 1 {
        let why = format!("it has {blocks} hierarchical blocks, and kernels know one");
        return Err(refusal(density, precision, why));
    }
    // Lanes are the virtual warp's: another number would give other bits.
    let own = modules.iter().filter(|module| module.precision == precision && module.team == team);
    let holds = |module: &&KernelModule| {
        module.lanes as usize == warp::lanes(dim) && (module.lanes * module.rows) as usize >= dim
    };
    own.clone().filter(holds).min_by_key(|module| module.rows).ok_or_else(|| {
        let most = own.map(|module| module.lanes * module.rows).max();
        let why = most.map_or_else(
            || "none is compiled in this precision".to_owned(),
            |most| format!("those that are compiled hold at most {most} coordinates"),
        );
        refusal(density, precision, why)
    })
}

/// Returns the format that a module is compiled for.
pub(super) fn format(module: &KernelModule) -> NutsFormat {
    let KernelModule { precision, lanes, rows, .. } = *module;
    let float = |bytes| if bytes == 4 { Float::F32 } else { Float::F64 };
    NutsFormat { element: float(precision.vector_bytes()), scalar: float(precision.scalar_bytes()), lanes, rows }
}

/// Gives a module to the driver.
///
/// # Errors
/// When its text is damaged, or the driver refuses it.
pub(super) fn load(
    density: &dyn GpuDensity,
    module: &KernelModule,
    config: &SamplerConfig,
    context: &Context,
) -> Result<NutsKernels, SamplerError> {
    let _span = tracing::debug_span!("load kernels").entered();
    let name = name(density, module);
    Ok(NutsKernels::load(context, &density.kernel_text(module)?, sampler(config), &name, format(module))?)
}

/// Gives a module for many data sets to the driver.
///
/// # Errors
/// When the module's text is damaged, or the driver refuses it.
pub(super) fn load_of_batch(
    density: &dyn GpuDensity,
    module: &KernelModule,
    context: &Context,
) -> Result<NutsBatchKernels, SamplerError> {
    let _span = tracing::debug_span!("load kernels").entered();
    Ok(NutsBatchKernels::load(context, &module.ptx.text()?, &name(density, module), format(module))?)
}

/// Returns the part of the entries' names that stands for density and module.
pub(super) fn name(density: &dyn GpuDensity, module: &KernelModule) -> String {
    format!("{}_{}", density.kernel_name(), module.kernel())
}

/// Returns the work that the blocks of a chain share, if the density has any.
pub(super) fn team_work(density: &dyn GpuDensity) -> Option<NutsTeamWork> {
    density.team_work().map(|TeamWork { tasks, answers }| NutsTeamWork { tasks, answers })
}

/// The work that blocks share, and the memory of evaluations: what some densities need for their chains.
#[derive(Clone, Copy)]
pub(super) struct ChainNeeds {
    pub(super) team: Option<NutsTeamWork>,
    pub(super) room: Option<KernelRoom>,
}

impl ChainNeeds {
    pub(super) fn of(density: &dyn GpuDensity) -> Self {
        Self { team: team_work(density), room: density.room() }
    }
}

/// Makes room for `chains` chains of `dim` coordinates. Where blocks share work, each chain has as many blocks as there
/// are for it: all blocks of a team must be on the device. The host waits for them for `patience`.
///
/// # Errors
/// When the device or its memory fails.
pub(super) fn chains(
    needs: ChainNeeds,
    kernels: &NutsKernels,
    context: &Context,
    (chains, dim): (usize, usize),
    max_depth: u32,
    (most_blocks, patience): (usize, Duration),
) -> Result<NutsChains, SamplerError> {
    let mut device = NutsChains::new(context, kernels.format(), chains, dim, max_depth)?;
    if let Some(room) = needs.room {
        device = device.with_room(context, room.numbers)?;
    }
    let Some(work) = needs.team else { return Ok(device) };
    let blocks = (kernels.blocks_at_once()? / chains.max(1)).min(most_blocks);
    Ok(device.by_teams(context, work, blocks, patience)?)
}

/// Returns the fields that the kernels of a run read: more of them for a team.
pub(super) fn fields(density: &dyn GpuDensity) -> Vec<KernelField<'_>> {
    let mut fields = density.kernel_data();
    if density.team_work().is_some() {
        fields.extend(density.team_data());
    }
    fields
}

/// Copies what a density's kernels read to the device.
///
/// # Errors
/// When an array is longer than the coordinates are many, or the device or its memory fails.
pub(super) fn upload(
    fields: &[KernelField<'_>],
    format: NutsFormat,
    context: &Context,
) -> Result<NutsData, SamplerError> {
    Ok(NutsData::upload(context, format, &given(fields))?)
}

/// Fields as the device takes them.
pub(super) fn given<'a>(fields: &'a [KernelField<'_>]) -> Vec<NutsField<'a>> {
    fields.iter().map(as_given).collect()
}

fn as_given<'a>(field: &'a KernelField<'_>) -> NutsField<'a> {
    match field {
        KernelField::Word(word) => NutsField::Word(*word),
        KernelField::Scalar(scalar) => NutsField::Scalar(*scalar),
        KernelField::PerCoordinate(values) => NutsField::PerCoordinate(values),
        KernelField::Reals(values) => NutsField::Reals(values),
        KernelField::Words(words) => NutsField::Words(words),
    }
}

/// Takes the coordinates and the metric of an adaptation to the device.
///
/// # Errors
/// When the device fails.
pub(super) fn set_geometry(
    geometry: &mut NutsGeometry,
    context: &Context,
    shared: &Shared<'_, '_>,
) -> Result<(), SamplerError> {
    let KernelSpace { centering, scale, directions, stretch } = KernelSpace::of(shared);
    geometry.set_centering(centering);
    if let Some(inputs) = shared.space.effect_inputs() {
        geometry.set_inputs(context, &inputs)?;
    }
    geometry.set_metric(&scale, &directions, &stretch)?;
    Ok(())
}

/// Takes how far trajectories go to the device, and the middle of the chains while the run learns how far.
///
/// # Errors
/// When the device or its memory fails.
pub(super) fn set_trajectory(
    geometry: &mut NutsGeometry,
    context: &Context,
    shared: &Shared<'_, '_>,
) -> Result<(), SamplerError> {
    let Some(own) = trajectories(shared.config, shared.length) else { return Ok(()) };
    let leapfrogs = own.leapfrogs.map_or(0.0, f64::from);
    let trajectory = NutsTrajectory { leapfrogs, length: own.length, jitter: own.jitter };
    Ok(geometry.set_trajectory(context, trajectory, shared.center)?)
}

/// Sets the geometry of one data set of a batch.
///
/// # Errors
/// When there is no such data set.
pub(super) fn set_geometry_of(batch: &mut NutsBatch, item: usize, shared: &Shared<'_, '_>) -> Result<(), SamplerError> {
    let KernelSpace { centering, scale, directions, stretch } = KernelSpace::of(shared);
    batch.set_centering(item, centering)?;
    batch.set_metric(item, &scale, &directions, &stretch)?;
    Ok(())
}

/// Coordinates and metric as kernels read them.
struct KernelSpace<'a> {
    centering: NutsCentering,
    scale: Vec<f64>,
    directions: Vec<&'a [f64]>,
    stretch: Vec<f64>,
}

impl<'a> KernelSpace<'a> {
    fn of(shared: &Shared<'a, '_>) -> Self {
        let blocks = shared.space.density.hierarchies().iter().zip(shared.space.centerings());
        let of_block = |(block, centering): (&Hierarchy, &Centering)| match centering.lambda() {
            Some(lambda) => NutsCentering { lambda, total: lambda * block.z.len() as f64, standardised: false },
            None => NutsCentering { standardised: true, ..NutsCentering::default() },
        };
        let of_effects = NutsCentering { standardised: !shared.space.is_natural(), ..NutsCentering::default() };
        let centering = blocks.map(of_block).next().unwrap_or(of_effects);
        let metric = &shared.adaptation.metric;
        let roots = |values: &[f64]| values.iter().map(|value| value.sqrt()).collect::<Vec<f64>>();
        let stretch = roots(&metric.variances).into_iter().map(|root| root - 1.0).collect();
        let directions = metric.directions.iter().map(Vec::as_slice).collect();
        Self { centering, scale: roots(&metric.diagonal), directions, stretch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Layout};
    use octopus_models::EightSchools;

    /// Eight schools with more blocks.
    struct OfBlocks {
        inner: EightSchools,
        blocks: Vec<Hierarchy>,
    }

    impl LogDensity for OfBlocks {
        fn name(&self) -> &str {
            "of blocks"
        }

        fn dim(&self) -> usize {
            self.inner.dim()
        }

        fn layout(&self) -> &Layout {
            self.inner.layout()
        }

        fn hierarchies(&self) -> &[Hierarchy] {
            &self.blocks
        }

        fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            self.inner.logp_grad(position, gradient)
        }

        fn logp_grad_centered(
            &self,
            centerings: &[Centering],
            position: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, DensityError> {
            self.inner.logp_grad_centered(centerings, position, gradient)
        }

        fn expand(&self, position: &[f64], out: &mut [f64]) {
            self.inner.expand(position, out);
        }
    }

    impl GpuDensity for OfBlocks {
        fn kernel_name(&self) -> &str {
            self.inner.kernel_name()
        }

        fn kernel_modules(&self) -> &[KernelModule] {
            self.inner.kernel_modules()
        }

        fn batch_modules(&self) -> &[KernelModule] {
            self.inner.batch_modules()
        }

        fn kernel_data(&self) -> Vec<KernelField<'_>> {
            self.inner.kernel_data()
        }
    }

    #[test]
    fn kernels_know_one_hierarchical_block() {
        let (inner, config) = (EightSchools::rubin(), SamplerConfig::default());
        for count in 0..4 {
            let blocks = inner.hierarchies().iter().cycle().take(count).cloned().collect();
            let density = OfBlocks { blocks, inner: inner.clone() };
            for chosen in [choose(&density, &config), choose_of_batch(&density, &config)] {
                let refused = chosen.err().map(|error| error.to_string());
                assert_eq!(refused.is_some(), count > 1, "{count} blocks: {refused:?}");
                let expected = format!("it has {count} hierarchical blocks");
                assert!(refused.is_none_or(|told| told.contains(&expected)), "{expected}");
            }
        }
    }
}
