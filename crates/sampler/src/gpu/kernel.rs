//! Which kernels a density runs with, and what they read.

use crate::engine::Shared;
use crate::run::SamplerError;
use octopus_cuda::{
    Context, Float, NutsChains, NutsData, NutsField, NutsFormat, NutsGeometry, NutsKernels, NutsTeamWork,
};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule, Precision, TeamWork};
use octopus_density::{LogDensity, warp};

/// The smallest kernels that hold the density's coordinates, for a team where it has work to share.
///
/// # Errors
/// [`SamplerError::NoKernel`] when none is compiled, and for more than one hierarchical block.
pub(super) fn choose<D: GpuDensity + ?Sized>(density: &D, precision: Precision) -> Result<&KernelModule, SamplerError> {
    let dim = density.dim();
    let refuse = |why: String| SamplerError::NoKernel { density: density.name().to_owned(), dim, precision, why };
    let blocks = density.hierarchies().len();
    if blocks > 1 {
        return Err(refuse(format!("it has {blocks} hierarchical blocks, and kernels know one")));
    }
    // Lanes are the virtual warp's: another number would give other bits.
    let team = density.team_work().is_some();
    let own = density.kernel_modules().iter().filter(|module| module.precision == precision && module.team == team);
    let holds = |module: &&KernelModule| {
        module.lanes as usize == warp::lanes(dim) && (module.lanes * module.rows) as usize >= dim
    };
    own.clone().filter(holds).min_by_key(|module| module.rows).ok_or_else(|| {
        let most = own.map(|module| module.lanes * module.rows).max();
        refuse(most.map_or_else(
            || "none is compiled in this precision".to_owned(),
            |most| format!("those that are compiled hold at most {most} coordinates"),
        ))
    })
}

/// What a module is compiled for.
pub(super) fn format(module: &KernelModule) -> NutsFormat {
    let float = |bytes| if bytes == 4 { Float::F32 } else { Float::F64 };
    NutsFormat {
        element: float(module.precision.vector_bytes()),
        scalar: float(module.precision.scalar_bytes()),
        lanes: module.lanes,
        rows: module.rows,
    }
}

/// Gives a module to the driver.
///
/// # Errors
/// When its text is damaged, or the driver refuses it.
pub(super) fn load<D: GpuDensity + ?Sized>(
    density: &D,
    module: &KernelModule,
    context: &Context,
) -> Result<NutsKernels, SamplerError> {
    let name = format!("{}_{}", density.kernel_name(), module.kernel());
    Ok(NutsKernels::load(context, &module.ptx.text()?, &name, format(module))?)
}

/// The work that the blocks of a chain share, if the density has any.
pub(super) fn team_work<D: GpuDensity + ?Sized>(density: &D) -> Option<NutsTeamWork> {
    density.team_work().map(|TeamWork { tasks, answers }| NutsTeamWork { tasks, answers })
}

/// Room for `chains` chains, each with as many blocks as there are for it: all blocks of a team must be on the device.
///
/// # Errors
/// When the device or its memory fails.
pub(super) fn chains<D: GpuDensity + ?Sized>(
    density: &D,
    kernels: &NutsKernels,
    context: &Context,
    chains: usize,
    max_depth: u32,
    most_blocks: usize,
) -> Result<NutsChains, SamplerError> {
    let device = NutsChains::new(context, kernels.format(), chains, density.dim(), max_depth)?;
    let Some(work) = team_work(density) else { return Ok(device) };
    let blocks = (kernels.blocks_at_once()? / chains.max(1)).min(most_blocks);
    Ok(device.by_teams(context, work, blocks)?)
}

/// Copies what the density reads to the device.
///
/// # Errors
/// When an array is longer than the coordinates are many, or the device or its memory fails.
pub(super) fn upload<D: GpuDensity + ?Sized>(
    density: &D,
    format: NutsFormat,
    context: &Context,
) -> Result<NutsData, SamplerError> {
    let data = density.kernel_data();
    let fields: Vec<NutsField<'_>> = data.iter().map(as_given).collect();
    Ok(NutsData::upload(context, format, &fields)?)
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
pub(super) fn set_geometry<D: LogDensity + ?Sized>(
    geometry: &mut NutsGeometry,
    shared: &Shared<'_, '_, D>,
) -> Result<(), SamplerError> {
    match shared.space.centerings().first() {
        Some(centering) => geometry.set_centering(centering.lambda(), centering.total(), centering.uniform())?,
        None => geometry.set_centering(&[], 0.0, Some(0.0))?,
    }
    let metric = &shared.adaptation.metric;
    let roots = |values: &[f64]| values.iter().map(|value| value.sqrt()).collect::<Vec<f64>>();
    let directions: Vec<&[f64]> = metric.directions.iter().map(Vec::as_slice).collect();
    let stretch: Vec<f64> = roots(&metric.variances).into_iter().map(|root| root - 1.0).collect();
    geometry.set_metric(&roots(&metric.diagonal), &directions, &stretch)?;
    Ok(())
}
