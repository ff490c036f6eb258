//! The trait `LogDensity`, the interface between models and samplers.
//!
//! It asks for log density and gradient, variables, log likelihoods, predictions, and where chains start.

use crate::gpu::GpuDensity;
use crate::{Centering, DensityEffects, DensityError, Hierarchy, Layout, centering, coordinate_name};
use octopus_random::{Purpose, Stream};

/// Operations that are guessed for each coordinate and each observation.
const OPERATIONS_OF_A_NUMBER: usize = 16;

/// Slopes that are told of a point at the most.
const FAULTS: usize = 3;

/// The address of a draw: which draw of which run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrawAddress {
    /// The run's seed.
    pub seed: u64,
    /// The chain, from 0.
    pub chain: u32,
    /// The draw after warm-up within its chain, from 0.
    pub draw: u32,
}

impl DrawAddress {
    /// Returns the stream of all that is drawn for this draw: replicated observations, and variables that are random.
    pub fn stream(self) -> Stream {
        Stream::new(self.seed, self.chain, self.draw, Purpose::Predictive)
    }
}

/// A differentiable log density over unconstrained coordinates.
///
/// Implementations must be deterministic: the same position gives the same bits.
pub trait LogDensity: Send + Sync {
    /// Returns the number of unconstrained coordinates.
    fn dim(&self) -> usize;

    /// Returns the variables that [`expand`](Self::expand) writes.
    fn layout(&self) -> &Layout;

    /// Returns the log density at `position` and writes its gradient to `gradient`. The log density includes the
    /// log-Jacobians of the transforms; constants are optional. Both slices have length [`dim`](Self::dim).
    ///
    /// # Errors
    /// [`DensityError::NotFinite`] where the density vanishes or overflows (a divergence, not a crash);
    /// [`DensityError::Broken`] stops the run.
    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError>;

    /// Returns what keeps log density or slopes from being finite at `position`: sentences that name terms and parameters,
    /// for the error of a run that cannot start there. The default names parameters whose slopes are not.
    fn faults(&self, position: &[f64]) -> Vec<String> {
        let mut gradient = vec![0.0; self.dim()];
        // Where there is no value the gradient may be anything, and tells what it can.
        let _ = self.logp_grad(position, &mut gradient);
        let slopes = gradient.iter().enumerate().filter(|(_, slope)| !slope.is_finite());
        let said = |(k, slope): (usize, &f64)| format!("the slope by {} is {slope}", coordinate_name(self.layout(), k));
        slopes.take(FAULTS).map(said).collect()
    }

    /// Returns the constant that [`logp_grad`](Self::logp_grad) leaves out; `None` where it is not known. The value of
    /// `logp_grad` plus this constant is the logarithm of prior density times likelihood, with all of their constants, in the
    /// same coordinates. The evidence of a model needs it, draws do not.
    fn log_constant(&self) -> Option<f64> {
        None
    }

    /// Writes all variables of the layout at `position` to `out`, which has the layout's width.
    fn expand(&self, position: &[f64], out: &mut [f64]);

    /// Writes all variables of the layout at the position of a draw, as [`expand`](Self::expand) does. Variables that are
    /// random given the position come from the [stream](DrawAddress::stream) of `address`.
    ///
    /// # Errors
    /// [`DensityError::Broken`] stops the run: no value can be had, not even NaN, as of a loop without an end.
    fn expand_draw(&self, position: &[f64], _address: DrawAddress, out: &mut [f64]) -> Result<(), DensityError> {
        self.expand(position, out);
        Ok(())
    }

    /// Returns a short name that stands in traces and reports.
    fn name(&self) -> &str;

    /// Returns the number of observations, each with a log likelihood; 0 when the density is not a likelihood.
    fn observations(&self) -> usize {
        0
    }

    /// Returns how many numbers [`predict`](Self::predict) writes: more than one for each observation where vectors are
    /// observed.
    fn predictions(&self) -> usize {
        self.observations()
    }

    /// Returns whether [`log_likelihood`](Self::log_likelihood) writes something.
    fn has_log_likelihood(&self) -> bool {
        self.observations() > 0
    }

    /// Returns whether [`predict`](Self::predict) draws something.
    fn has_predictions(&self) -> bool {
        self.observations() > 0
    }

    /// Writes the log likelihood of each observation at `position`, constants included, to `out`.
    fn log_likelihood(&self, _position: &[f64], _out: &mut [f64]) {}

    /// Returns the sum of the log likelihoods of all observations at `position`, constants included; overwrites `terms`, which
    /// has room for each of them.
    fn total_log_likelihood(&self, position: &[f64], terms: &mut [f64]) -> f64 {
        self.log_likelihood(position, terms);
        terms.iter().sum()
    }

    /// Draws all observations once from the posterior predictive distribution at `position`, into `out`.
    fn predict(&self, _position: &[f64], _random: &mut Stream, _out: &mut [f64]) {}

    /// Returns the point around which chains start; the origin when `None`.
    fn center(&self) -> Option<Vec<f64>> {
        None
    }

    /// Returns the unit of each coordinate in which chains start around [`center`](Self::center); 1 for all when
    /// `None`. A sampler starts within `init_radius` of these units. A coordinate in the data's units should give its
    /// unit here: then chains start equally well whatever units the data are measured in.
    fn init_scale(&self) -> Option<Vec<f64>> {
        None
    }

    /// Returns the hierarchical blocks whose coordinates the sampler may choose.
    fn hierarchies(&self) -> &[Hierarchy] {
        &[]
    }

    /// Returns what the density does with effects whose location and scale are any functions of its other coordinates, if it
    /// has such effects. It has no [`hierarchies`](Self::hierarchies) then, and each effect's own coordinate is standard
    /// normal and non-centered.
    fn effects(&self) -> Option<&dyn DensityEffects> {
        None
    }

    /// Returns the compiled kernels that compute this density, if there are any: only a density with kernels is sampled
    /// on a GPU.
    fn kernels(&self) -> Option<&dyn GpuDensity> {
        None
    }

    /// Returns whether tests of the density's own hold its gradient to finite differences. A run of any other density
    /// begins with a few of them ([`check_gradient`](crate::check_gradient)), and is refused where they differ.
    fn has_tested_gradient(&self) -> bool {
        false
    }

    /// Returns whether the log density has errors of a numerical method, as solutions of differential equations have
    /// within their tolerances: finite differences see them, and accuse no slope then.
    fn is_approximate(&self) -> bool {
        false
    }

    /// Returns about how many operations on numbers a gradient takes. Checks of a density choose by it how much they look
    /// at, so that they look at the same on every machine; the default is a guess of [`dim`](Self::dim) and
    /// [`observations`](Self::observations).
    fn operations(&self) -> usize {
        OPERATIONS_OF_A_NUMBER.saturating_mul(self.dim().saturating_add(self.observations()))
    }

    /// Returns the log density in the coordinates of `centerings` (one for each of [`hierarchies`](Self::hierarchies)),
    /// the Jacobian included, and writes the gradient to `gradient`. The default applies the chain rule to
    /// [`logp_grad`](Self::logp_grad); a density may do both in one pass.
    ///
    /// # Errors
    /// [`DensityError::NotFinite`] where the density vanishes or overflows; [`DensityError::Broken`] when the model is
    /// broken.
    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        centering::logp_grad_by_chain_rule(self, self.hierarchies(), centerings, position, gradient)
    }
}
