//! Expands draws on a GPU: variables and replicated observations.

use super::kernel;
use crate::error::SamplerError;
use octopus_cuda::{Context, ExpansionShape, NutsExpansion, NutsPrediction, Stream};
use octopus_density::LogDensity;
use octopus_density::gpu::{ExpansionModule, GpuDensity, Precision};

/// Computes the variables of draws and replicated observations on a GPU: [`LogDensity::expand`] and
/// [`LogDensity::predict`] for any number of draws.
///
/// In f64 it gives the CPU's bits. In other precisions draws, data and results are rounded to f32; the random numbers
/// are the first 23 of the 52 bits that f64 takes.
///
/// Draws go to the device in parts and come back before the next ones go: its memory does not grow with them. The size
/// of the parts changes no bit. Copying the draws takes longer than the arithmetic: the GPU is of use where the CPU has
/// more to do than copying, and for proving what a device computes.
///
/// [`LogDensity::expand`]: octopus_density::LogDensity::expand
/// [`LogDensity::predict`]: octopus_density::LogDensity::predict
///
/// # Example
/// ```
/// use octopus_cuda::{Context, Device};
/// use octopus_density::LogDensity;
/// use octopus_models::EightSchools;
/// use octopus_sampler::{GpuExpander, Precision, SamplerError};
///
/// fn on_gpu(model: &EightSchools, draws: &[f64]) -> Result<Vec<f64>, SamplerError> {
///     let context = Context::primary(&Device::get(0)?)?;
///     GpuExpander::new(model, Precision::F64, &context)?.expand(draws)
/// }
///
/// let model = EightSchools::rubin();
/// let draw = vec![0.5; model.dim()];
/// match on_gpu(&model, &draw) {
///     Ok(variables) => {
///         let mut expected = vec![0.0; model.layout().width()];
///         model.expand(&draw, &mut expected);
///         assert_eq!(variables, expected);
///     }
///     // Says what is missing and what to do.
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Debug)]
pub struct GpuExpander {
    expansion: NutsExpansion,
    stream: Stream,
    shape: ExpansionShape,
}

impl GpuExpander {
    /// The default size of the buffers through which draws and results go, in bytes: 64 MiB.
    pub const BYTES: usize = 64 << 20;

    /// Loads the kernels that expand this density's draws, and makes room for [`BYTES`](Self::BYTES) of them.
    ///
    /// # Errors
    /// [`SamplerError::NoKernel`] when none is compiled for the density in this precision; [`SamplerError::Device`]
    /// when the device or its memory fails.
    pub fn new<D: LogDensity + ?Sized>(
        density: &D,
        precision: Precision,
        context: &Context,
    ) -> Result<Self, SamplerError> {
        Self::with_bytes(density, precision, context, Self::BYTES)
    }

    /// Loads the kernels as [`new`](Self::new) does, with buffers of at most `bytes` bytes; the buffers are larger
    /// where one draw and its results need more.
    ///
    /// # Errors
    /// [`SamplerError::NoKernel`] when no kernel is compiled for the density in this precision;
    /// [`SamplerError::Device`] when the device or its memory fails.
    pub fn with_bytes<D: LogDensity + ?Sized>(
        density: &D,
        precision: Precision,
        context: &Context,
        bytes: usize,
    ) -> Result<Self, SamplerError> {
        let density = kernel::of_density(density, precision)?;
        let module = choose(density, precision)?;
        let dim = density.dim();
        let format = kernel::format_of_any_shape(precision, dim);
        let data = kernel::upload(&density.kernel_data(), format, context)?;
        let observations = kernel::upload(&density.observation_data(), format, context)?;
        let shape = ExpansionShape { dim, width: density.layout().width(), observations: density.observations() };
        let name = format!("{}_{precision}", density.kernel_name());
        let text = module.ptx.text()?;
        let expansion = NutsExpansion::load(context, &text, &name, data, observations, shape, bytes)?;
        Ok(Self { expansion, stream: Stream::new(context)?, shape })
    }

    /// Returns the bytes of device memory taken: the buffers, and what the density reads.
    #[must_use]
    pub fn device_bytes(&self) -> usize {
        self.expansion.bytes()
    }

    /// Returns the variables of draws given in the density's own coordinates: `rows x dim` become `rows x width`, in
    /// the order of the layout.
    ///
    /// # Errors
    /// [`SamplerError::Draws`] when the draws are no whole rows; [`SamplerError::Device`] when the device fails.
    pub fn expand(&mut self, draws: &[f64]) -> Result<Vec<f64>, SamplerError> {
        self.rows(draws, 1)?;
        Ok(self.expansion.expand(&self.stream, draws)?)
    }

    /// Returns replicated observations of the picked draws of each chain: `chains x draws x dim` coordinates become
    /// `chains x picks x observations`. Chains and draws count from 0, as they do in a run; picks may be in any order.
    ///
    /// The random numbers are those of `Stream::new(seed, chain, draw, Purpose::Predictive)`: a replicate depends neither
    /// on which other draws are picked nor on how they go to the device.
    ///
    /// # Errors
    /// [`SamplerError::Draws`] when the chains do not have equally many whole rows of draws, or a draw is picked that
    /// is not there; [`SamplerError::Device`] when the device fails.
    pub fn predict(
        &mut self,
        seed: u64,
        chains: usize,
        draws: &[f64],
        picks: &[usize],
    ) -> Result<Vec<f64>, SamplerError> {
        let of_chain = self.rows(draws, chains)?;
        if let Some(pick) = picks.iter().find(|&&pick| pick >= of_chain) {
            return Err(SamplerError::Draws(format!("draw {pick} is picked, and each chain has {of_chain}")));
        }
        let beyond = || SamplerError::Draws("chains and draws are counted in 32 bits".to_owned());
        let picks: Vec<u32> =
            picks.iter().map(|&pick| u32::try_from(pick)).collect::<Result<_, _>>().map_err(|_| beyond())?;
        let chains = u32::try_from(chains).map_err(|_| beyond())?;
        let prediction = NutsPrediction { seed, chains, picks: &picks };
        Ok(self.expansion.predict(&self.stream, &prediction, draws)?)
    }

    /// Returns the number of draws of each of `chains` chains.
    fn rows(&self, draws: &[f64], chains: usize) -> Result<usize, SamplerError> {
        let (numbers, dim) = (draws.len(), self.shape.dim);
        let rows = numbers.checked_div(chains.saturating_mul(dim)).unwrap_or(0);
        if rows * chains * dim == numbers {
            return Ok(rows);
        }
        let of = if chains == 1 { String::new() } else { format!(" for each of {chains} chains") };
        Err(SamplerError::Draws(format!("{numbers} numbers are no whole rows of {dim} coordinates{of}")))
    }
}

/// Returns the module that expands the density's draws in this precision.
fn choose(density: &dyn GpuDensity, precision: Precision) -> Result<&ExpansionModule, SamplerError> {
    density.expansion_modules().iter().find(|module| module.precision == precision).ok_or_else(|| {
        let why = "none that expands draws is compiled in this precision".to_owned();
        SamplerError::NoKernel { density: density.name().to_owned(), dim: density.dim(), precision, why }
    })
}
