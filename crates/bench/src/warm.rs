//! Has the driver compile the kernels that runs use most, so that no later run waits for it: `octopus device warm`.
//!
//! The driver compiles a module when it is first loaded and keeps the result in a cache of its own, a folder.

use crate::error::BenchError;
use crate::of_cuda;
use octopus_array::Array;
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use octopus_device::{Device, DeviceIdentity, with_device};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormalModel, Likelihood, Model};
use octopus_runs::{MEASURED_GROUPS, Placement, RunCost};
use octopus_sampler::SamplerConfig;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

/// The variable that moves the driver's cache.
pub const CACHE_VARIABLE: &str = "CUDA_CACHE_PATH";
/// The variable that switches the driver's cache off.
const DISABLE_VARIABLE: &str = "CUDA_CACHE_DISABLE";

/// The kernels that were made ready.
#[derive(Debug, Serialize)]
pub struct WarmedDevice {
    /// The version of this form.
    pub schema: u32,
    /// The device.
    pub device: DeviceIdentity,
    /// The folder in which the driver keeps compiled kernels; `None` where it keeps none, or where that is not known.
    pub cache: Option<PathBuf>,
    /// The kernels.
    pub kernels: Vec<WarmedKernels>,
}

/// The kernels of one model in one size and precision.
#[derive(Debug, Serialize)]
pub struct WarmedKernels {
    /// The model, or `arrays`.
    pub model: String,
    /// The number of the model's coordinates.
    pub coordinates: Option<usize>,
    /// The precision of the model's vectors and scalars.
    pub precision: Option<Precision>,
    /// Seconds until they had run once: a second or so where the driver compiles them, less where it has them.
    pub seconds: f64,
}

/// Loads and runs once, on cuda:N, the kernels of arrays and those of `models` with their own data, in these
/// precisions; of the model of phase 0 in further sizes. Tells what comes next by `say`.
///
/// # Errors
/// When there is no such device, or it fails.
pub fn run(
    ordinal: u32,
    models: &[&'static dyn Model],
    precisions: &[Precision],
    say: &dyn Fn(String),
) -> Result<WarmedDevice, BenchError> {
    let device = DeviceIdentity::read(ordinal).map_err(of_cuda)?;
    let mut kernels = Vec::new();
    say("arrays".to_owned());
    let clock = Instant::now();
    with_device(Device::Cuda(ordinal), || Array::from_slice(&[1.0_f64])?.sum())?;
    let seconds = clock.elapsed().as_secs_f64();
    kernels.push(WarmedKernels { model: "arrays".to_owned(), coordinates: None, precision: None, seconds });
    let place = Placement::open(&[Device::Cuda(ordinal)])?;
    let mut warm = |density: &dyn LogDensity| warm(density, precisions, &place, &mut kernels, say);
    for model in models {
        // A model without data of its own is compiled for in its first run.
        let Ok(problem) = model.build(&toml::Table::new(), None) else { continue };
        warm(problem.density())?;
        if model.name() == HierarchicalNormalModel.name() {
            for groups in MEASURED_GROUPS {
                let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
                warm(&crate::model_of(spec.generate(), Likelihood::Collapsed)?)?;
            }
        }
    }
    let cache = cache_folder(|name| std::env::var_os(name));
    Ok(WarmedDevice { schema: 1, device, cache, kernels })
}

/// Runs the kernels of a density once in each precision, unless its size was run before.
fn warm(
    density: &dyn LogDensity,
    precisions: &[Precision],
    place: &Placement,
    kernels: &mut Vec<WarmedKernels>,
    say: &dyn Fn(String),
) -> Result<(), BenchError> {
    for &precision in precisions {
        let config =
            SamplerConfig { chains: 1, tune: 1, draws: 1, max_depth: 1, precision, ..SamplerConfig::default() };
        let (model, coordinates) = (density.name().to_owned(), Some(density.dim()));
        let done = |ready: &WarmedKernels| {
            (&ready.model, ready.coordinates, ready.precision) == (&model, coordinates, Some(precision))
        };
        if kernels.iter().any(done) || RunCost::of_run(density, &config).no_gpu.is_some() {
            continue;
        }
        say(format!("{model} with {} coordinates in {precision}", density.dim()));
        let clock = Instant::now();
        let mut sampler = place.start(density, &config)?;
        while sampler.advance(usize::MAX)?.is_some() {}
        let seconds = clock.elapsed().as_secs_f64();
        kernels.push(WarmedKernels { model, coordinates, precision: Some(precision), seconds });
    }
    Ok(())
}

/// Returns the folder in which the driver keeps compiled kernels on Linux.
fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    if given(DISABLE_VARIABLE).is_some_and(|value| value != "0") {
        return None;
    }
    given(CACHE_VARIABLE).map(PathBuf::from).or_else(|| Some(PathBuf::from(given("HOME")?).join(".nv/ComputeCache")))
}

impl fmt::Display for WarmedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, cache, kernels, .. } = self;
        let double = if device.test_double { " (these are no measurements of a GPU)" } else { "" };
        writeln!(f, "{}{double}", device.name)?;
        let columns = [
            TextColumn::left("kernels"),
            TextColumn::right("coordinates"),
            TextColumn::left("precision"),
            TextColumn::right("seconds"),
        ];
        let row = |ready: &WarmedKernels| {
            let coordinates = ready.coordinates.map(|count| count.to_string()).unwrap_or_default();
            let precision = ready.precision.map(|precision| precision.to_string()).unwrap_or_default();
            vec![ready.model.clone(), coordinates, precision, format!("{:.2}", ready.seconds)]
        };
        let rows: Vec<_> = kernels.iter().map(row).collect();
        f.write_str(&text_table(&columns, &rows, TableLook::default()))?;
        match cache {
            Some(folder) => writeln!(f, "the driver keeps them in {}", folder.display()),
            None => writeln!(f, "the driver keeps none of them: {DISABLE_VARIABLE} is set, or there is no HOME"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_cache_is_where_its_variables_say() {
        let of = |variables: &[(&str, &str)]| {
            let variables = variables.to_vec();
            cache_folder(move |name| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into()))
        };
        assert_eq!(of(&[("HOME", "/people/a")]), Some("/people/a/.nv/ComputeCache".into()));
        assert_eq!(of(&[("HOME", "/people/a"), ("CUDA_CACHE_PATH", "/c")]), Some("/c".into()));
        assert_eq!(of(&[("HOME", "/people/a"), ("CUDA_CACHE_PATH", "")]), Some("/people/a/.nv/ComputeCache".into()));
        assert_eq!(of(&[("HOME", "/people/a"), ("CUDA_CACHE_DISABLE", "1")]), None);
        assert_eq!(of(&[("CUDA_CACHE_DISABLE", "0"), ("CUDA_CACHE_PATH", "/c")]), Some("/c".into()));
        assert_eq!(of(&[]), None);
    }
}
