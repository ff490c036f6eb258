//! Log density and gradient of the hierarchical normal in vector code, in the order of the virtual warp.

mod pull;
mod standardised;
#[cfg(test)]
mod tests;

use super::{HierarchicalNormal, Likelihood};
use octopus_density::warp::{Terms, lanes, reduce_with_tail};
use octopus_density::{Centering, LogDensity};
use octopus_random::exact;
use pull::{Collapsed, Data, Pointwise};
use pulp::{Simd, WithSimd};

/// One evaluation; `gradient` has no other content before.
pub(super) struct Evaluate<'a> {
    pub(super) model: &'a HierarchicalNormal,
    pub(super) centering: Centering,
    pub(super) position: &'a [f64],
    pub(super) gradient: &'a mut [f64],
}

impl WithSimd for Evaluate<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let model = self.model;
        match (self.centering.lambda(), model.likelihood) {
            (Some(lambda), Likelihood::Collapsed) => self.uniform(simd, lambda, Collapsed::new(model)),
            (Some(lambda), Likelihood::Pointwise) => self.uniform(simd, lambda, Pointwise::new(model)),
            (None, Likelihood::Collapsed) => self.integrated(simd),
            (None, Likelihood::Pointwise) => self.pointwise(simd),
        }
    }
}

/// The sums over groups from which the value and the gradients of the three scalars are made.
struct GroupSums {
    /// Squared residuals (from the group's mean where collapsed).
    squares: f64,
    /// z^2.
    z2: f64,
    /// Residuals times d mu_group / d mu_pop, where that is not in `centered_location`.
    location: f64,
    /// The slope of the log density by each z times d z / d mu_pop: through the coordinates.
    centered_location: f64,
    /// Residuals times d mu_group / d log sigma_pop, where that is not in `centered_scale`.
    scale: f64,
    /// The slope of the log density by each z times d z / d log sigma_pop: through the coordinates.
    centered_scale: f64,
    /// The slope through the coordinates by log sigma_obs, the log-Jacobian included.
    noise: f64,
    /// The power of sigma_pop that the log-Jacobian is, and what is left of it.
    power: f64,
    logs: f64,
    /// The slope of the log-Jacobian by log sigma_pop, negative.
    shares: f64,
}

impl Evaluate<'_> {
    /// Non-centered or centered: factors that are common to all groups stay out of the sums.
    #[inline(always)]
    fn uniform<S: Simd>(self, simd: S, lambda: f64, data: impl Data<S>) -> f64 {
        let scalars = self.scalars();
        let mu = self.position[self.model.data.groups()];
        let slope = exact::exp((1.0 - lambda) * scalars.log_pop);
        let inverse = slope * (1.0 / scalars.sigma_pop);
        let model = self.model;
        let groups = model.data.groups();
        let (z_gradient, scalar_gradient) = self.gradient.split_at_mut(groups);
        let (x, x_tail) = S::as_simd_f64s(&self.position[..groups]);
        let (out, out_tail) = S::as_mut_simd_f64s(z_gradient);
        let whole = x.len();
        let mut terms = UniformTerms {
            slope: simd.splat_f64s(slope),
            inverse: simd.splat_f64s(inverse),
            origin: simd.splat_f64s(lambda * mu),
            // Lanes beyond the last group are to be zero: no origin is taken from them.
            origin_tail: simd.partial_load_f64s(&[lambda * mu; 8][..x_tail.len()]),
            shift: simd.splat_f64s(scalars.shift),
            weight: simd.splat_f64s(scalars.weight),
            data,
            x,
            x_tail,
            out: &mut out[..whole],
            out_tail,
        };
        let [squares, z2, residuals, zs, stretches] =
            reduce_with_tail(simd, lanes(model.dim()), whole, !x_tail.is_empty(), &mut terms);
        let total = lambda * groups as f64;
        let sums = GroupSums {
            squares,
            z2,
            location: (1.0 - lambda * slope) * residuals,
            centered_location: lambda * inverse * zs,
            scale: (1.0 - lambda) * stretches,
            centered_scale: lambda * z2,
            noise: 0.0,
            power: total,
            logs: 0.0,
            shares: total,
        };
        finish(model, &scalars, &sums, scalar_gradient)
    }

    /// Returns the scalars where they are coordinates.
    #[inline(always)]
    fn scalars(&self) -> Scalars {
        let groups = self.model.data.groups();
        let (mu, log_pop, log_obs) = (self.position[groups], self.position[groups + 1], self.position[groups + 2]);
        let sigma_obs = exact::exp(log_obs);
        Scalars {
            log_pop,
            log_obs,
            sigma_pop: exact::exp(log_pop),
            sigma_obs,
            weight: 1.0 / (sigma_obs * sigma_obs),
            shift: mu - self.model.prior.mu_mean,
        }
    }
}

/// The pass over the groups in non-centered or centered coordinates.
struct UniformTerms<'a, S: Simd, D> {
    slope: S::f64s,
    inverse: S::f64s,
    origin: S::f64s,
    origin_tail: S::f64s,
    shift: S::f64s,
    weight: S::f64s,
    data: D,
    x: &'a [S::f64s],
    x_tail: &'a [f64],
    out: &'a mut [S::f64s],
    out_tail: &'a mut [f64],
}

impl<S: Simd, D: Data<S>> UniformTerms<'_, S, D> {
    /// Returns the gradient at vector `at`, and the summands: squares, z^2, residuals, z, residuals times effects.
    #[inline(always)]
    fn evaluate(&self, simd: S, at: usize, centered: S::f64s) -> (S::f64s, [S::f64s; 5]) {
        let z = simd.mul_f64s(self.inverse, centered);
        let effect = simd.mul_f64s(self.slope, centered);
        let pull = self.data.pull(simd, at, simd.add_f64s(self.shift, effect));
        let force = simd.mul_f64s(simd.mul_f64s(self.weight, pull.residual), self.slope);
        let gradient = simd.sub_f64s(force, simd.mul_f64s(self.inverse, z));
        let stretch = simd.mul_f64s(pull.residual, effect);
        (gradient, [pull.squares, simd.mul_f64s(z, z), pull.residual, z, stretch])
    }
}

impl<S: Simd, D: Data<S>> Terms<S, 5> for UniformTerms<'_, S, D> {
    #[inline(always)]
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; 5] {
        let (gradient, terms) = self.evaluate(simd, at, simd.sub_f64s(self.x[at], self.origin));
        self.out[at] = gradient;
        terms
    }

    #[inline(always)]
    fn tail(&mut self, simd: S) -> [S::f64s; 5] {
        let centered = simd.sub_f64s(simd.partial_load_f64s(self.x_tail), self.origin_tail);
        let (gradient, terms) = self.evaluate(simd, self.x.len(), centered);
        simd.partial_store_f64s(self.out_tail, gradient);
        terms
    }
}

/// The three scalar parameters and what follows from them alone.
struct Scalars {
    log_pop: f64,
    log_obs: f64,
    sigma_pop: f64,
    sigma_obs: f64,
    /// 1 / sigma_obs^2
    weight: f64,
    /// mu_pop less its prior mean.
    shift: f64,
}

/// Returns the value, and the gradients of the three scalars.
#[inline(always)]
fn finish(model: &HierarchicalNormal, scalars: &Scalars, sums: &GroupSums, gradient: &mut [f64]) -> f64 {
    let (observed, prior) = (&model.observed, &model.prior);
    let squares = match model.likelihood {
        Likelihood::Collapsed => sums.squares + observed.within,
        Likelihood::Pointwise => sums.squares,
    };
    let weight = scalars.weight;
    let standard = scalars.shift / prior.mu_sd;
    let pop = scalars.sigma_pop / prior.sigma_pop_scale;
    let obs = scalars.sigma_obs / prior.sigma_obs_scale;
    let (pop2, obs2) = (pop * pop, obs * obs);
    gradient[0] = weight * sums.location + sums.centered_location - standard / prior.mu_sd;
    gradient[1] = weight * sums.scale + sums.centered_scale - sums.shares - pop2 + 1.0;
    gradient[2] = weight * squares - observed.total - obs2 + 1.0 + sums.noise;
    -observed.total * scalars.log_obs - 0.5 * (weight * squares + sums.z2 + standard * standard + pop2 + obs2)
        + (1.0 - sums.power) * scalars.log_pop
        + scalars.log_obs
        - 0.5 * sums.logs
}
