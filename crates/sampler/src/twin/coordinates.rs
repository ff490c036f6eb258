//! The coordinates that a chain walks in: x_j = s^lambda_j z_j + lambda_j m, with z_j the density's own.

use super::real::{Real, rounded, to};
use octopus_density::{Centering, Hierarchy};

/// The coordinates of the one hierarchical block that a kernel knows.
#[derive(Clone, Debug)]
pub(super) struct Coordinates<R, T> {
    block: Hierarchy,
    pub(super) lambda: Vec<R>,
    /// The sum of all lambdas.
    pub(super) total: T,
    /// The lambda of all effects, if they share it.
    pub(super) uniform: Option<T>,
    natural: bool,
}

impl<R: Real, T: Real> Coordinates<R, T> {
    pub(super) fn new(block: &Hierarchy, centering: &Centering) -> Self {
        Self {
            block: block.clone(),
            lambda: rounded(centering.lambda()),
            total: T::of(centering.total()),
            uniform: centering.uniform().map(T::of),
            natural: centering.lambda().iter().all(|&lambda| lambda == 0.0),
        }
    }

    /// The density's own.
    pub(super) fn natural(block: &Hierarchy) -> Self {
        Self::new(block, &Centering::constant(0.0, block.z.len()))
    }

    /// `x` in the density's own coordinates: z_j = s^-lambda_j (x_j - lambda_j m).
    pub(super) fn make_natural(&self, x: &[R]) -> Vec<R> {
        let mut natural = x.to_vec();
        if self.natural {
            return natural;
        }
        let (location, log_scale) = (x[self.block.location], x[self.block.log_scale]);
        // The one power of all is a number of the chain, and rounded where it meets the effects; each one's own is of
        // the effects' type from the start.
        let shared: Option<R> = self.uniform.map(|lambda| to((-lambda * to::<R, T>(log_scale)).exp()));
        for (i, &lambda) in self.block.z.clone().zip(&self.lambda) {
            let power = shared.unwrap_or_else(|| (-lambda * log_scale).exp());
            natural[i] = power * (x[i] - lambda * location);
        }
        natural
    }

    /// The log-Jacobian, which is in the log density at `x` and not in that of the density's own coordinates.
    pub(super) fn log_jacobian(&self, x: &[R]) -> T {
        if self.natural { T::ZERO } else { -self.total * to(x[self.block.log_scale]) }
    }
}
