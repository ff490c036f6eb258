//! Log density and gradient of the hierarchical normal in vector code, in the order of the virtual warp.

mod pull;
#[cfg(test)]
mod tests;

use super::{HierarchicalNormal, Likelihood};
use crate::centering::Standard;
use crate::warp::{Terms, lanes, reduce_with_tail};
use crate::{Centering, LogDensity};
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
            (None, Likelihood::Collapsed) => self.standardised(simd, Collapsed::new(model)),
            (None, Likelihood::Pointwise) => self.standardised(simd, Pointwise::new(model)),
        }
    }
}

/// The sums over groups from which the value and the gradients of the three scalars are made.
struct Sums {
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
    /// The same for log sigma_pop.
    centered_scale: f64,
    /// The same for log sigma_obs, the log-Jacobian included.
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
        let sums = Sums {
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

    /// Effects and scalars in units of their conditional distributions: see [`crate::centering`].
    #[inline(always)]
    fn standardised<S: Simd>(self, simd: S, data: impl Data<S>) -> f64 {
        let model = self.model;
        let information = &model.information;
        let at = &self.position[model.data.groups()..];
        let standard = Standard::at(information, [at[0], at[1], at[2]]);
        let Standard { log_scale, log_noise, scale, noise, .. } = standard;
        let scalars = Scalars {
            log_pop: log_scale,
            log_obs: log_noise,
            sigma_pop: scale,
            sigma_obs: noise,
            weight: standard.weight,
            shift: standard.shift,
        };
        // Groups of one size share their widths: no division and no root for each.
        let alike = match information.distinct().0 {
            // Counts are whole numbers: their mean is exact.
            &[size] => Some((size, standard.inverse)),
            _ => None,
        };
        let groups = model.data.groups();
        let (z_gradient, scalar_gradient) = self.gradient.split_at_mut(groups);
        let (x, x_tail) = S::as_simd_f64s(&self.position[..groups]);
        let (out, out_tail) = S::as_mut_simd_f64s(z_gradient);
        let whole = x.len();
        let count = S::as_simd_f64s(&model.observed.count).0;
        let shared = Shared {
            one: simd.splat_f64s(1.0),
            gain: simd.splat_f64s(standard.gain),
            ratio: simd.splat_f64s(standard.ratio),
            scale: simd.splat_f64s(scalars.sigma_pop),
            shift: simd.splat_f64s(scalars.shift),
            weight: simd.splat_f64s(scalars.weight),
        };
        let groups = Groups {
            shared,
            count,
            mean: &S::as_simd_f64s(&model.observed.mean).0[..count.len()],
            data,
            x,
            x_tail,
            out: &mut out[..whole],
            out_tail,
        };
        let tail = !x_tail.is_empty();
        // Before the groups: its logarithm and its divisions do not wait for them.
        let [shares, logs] = standard.shares_and_logs(information, model.dim());
        let jacobian = [shares, logs + standard.log_precision];
        let sums = match alike {
            Some((size, inverse)) => {
                let splat = |value| simd.splat_f64s(value);
                let push = splat((size * standard.gain) * inverse);
                let widths = Alike { inverse: splat(inverse), width: splat(inverse.sqrt()), push };
                reduce_with_tail(simd, lanes(model.dim()), whole, tail, &mut StandardTerms { groups, widths })
            }
            None => reduce_with_tail(simd, lanes(model.dim()), whole, tail, &mut StandardTerms { groups, widths: Own }),
        };
        let value = finish(model, &scalars, &Sums::standardised(sums, jacobian), scalar_gradient);
        let slopes = [scalar_gradient[0], scalar_gradient[1], scalar_gradient[2]];
        scalar_gradient.copy_from_slice(&standard.slopes(information, slopes));
        value
    }

    /// The scalars where they are coordinates.
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
    /// The gradient at vector `at`, and the summands: squares, z^2, residuals, z, residuals times effects.
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

impl Sums {
    /// From the sums of [`StandardTerms`], the slope of the log-Jacobian and that itself, negative and doubled.
    #[inline(always)]
    fn standardised(sums: [f64; 6], jacobian: [f64; 2]) -> Self {
        let [squares, z2, residuals, pushes, toward, own] = sums;
        let [shares, logs] = jacobian;
        Self {
            squares,
            z2,
            location: residuals,
            centered_location: -pushes,
            scale: 0.0,
            centered_scale: z2 + toward,
            noise: (own - toward) + shares,
            power: 0.0,
            logs,
            shares,
        }
    }
}

/// What standardised coordinates have to do with a vector of groups: `inverse` is 1 / (1 + n s^2 / o^2), `width` its root,
/// `push` is n s / o^2 of the inverse.
struct Row<V> {
    inverse: V,
    width: V,
    push: V,
}

/// A way to make a row.
trait Widths<S: Simd> {
    /// The row of a vector of groups.
    fn row(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s>;

    /// The row of a vector that ends with padding: its count is 0 there, and so is its push.
    fn padded(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s>;
}

/// All groups have as many observations.
struct Alike<V> {
    inverse: V,
    width: V,
    push: V,
}

/// Each group has its own.
struct Own;

impl<S: Simd> Widths<S> for Alike<S::f64s> {
    #[inline(always)]
    fn row(&self, _: S, _: &Shared<S>, _: S::f64s) -> Row<S::f64s> {
        Row { inverse: self.inverse, width: self.width, push: self.push }
    }

    #[inline(always)]
    fn padded(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s> {
        let push = simd.mul_f64s(simd.mul_f64s(count, groups.gain), self.inverse);
        Row { inverse: self.inverse, width: self.width, push }
    }
}

impl<S: Simd> Widths<S> for Own {
    #[inline(always)]
    fn row(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s> {
        let Shared { one, gain, ratio, .. } = *groups;
        let inverse = simd.div_f64s(one, simd.add_f64s(one, simd.mul_f64s(count, ratio)));
        let push = simd.mul_f64s(simd.mul_f64s(count, gain), inverse);
        Row { inverse, width: simd.sqrt_f64s(inverse), push }
    }

    #[inline(always)]
    fn padded(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s> {
        self.row(simd, groups, count)
    }
}

/// What all groups meet in a pass in standardised coordinates.
struct Shared<S: Simd> {
    one: S::f64s,
    gain: S::f64s,
    ratio: S::f64s,
    scale: S::f64s,
    shift: S::f64s,
    weight: S::f64s,
}

/// What a pass in standardised coordinates reads and writes.
struct Groups<'a, S: Simd, D> {
    shared: Shared<S>,
    /// Padding has no observations and the mean 0.
    count: &'a [S::f64s],
    mean: &'a [S::f64s],
    data: D,
    x: &'a [S::f64s],
    x_tail: &'a [f64],
    out: &'a mut [S::f64s],
    out_tail: &'a mut [f64],
}

/// A pass over the groups in standardised coordinates.
struct StandardTerms<'a, S: Simd, D, W> {
    groups: Groups<'a, S, D>,
    widths: W,
}

impl<S: Simd, D: Data<S>, W: Widths<S>> StandardTerms<'_, S, D, W> {
    /// The gradient at vector `at`, and the summands: squares, z^2, residuals, what pulls mu_pop, log sigma_pop and
    /// log sigma_obs through the coordinates.
    #[inline(always)]
    fn evaluate(&self, simd: S, at: usize, x: S::f64s, row: Row<S::f64s>) -> (S::f64s, [S::f64s; 6]) {
        let Shared { scale, shift, weight, .. } = self.groups.shared;
        let Row { inverse, width, push } = row;
        let drawn = simd.mul_f64s(push, simd.sub_f64s(self.groups.mean[at], shift));
        let own = simd.mul_f64s(width, x);
        let z = simd.add_f64s(drawn, own);
        let effect = simd.mul_f64s(scale, z);
        let pull = self.groups.data.pull(simd, at, simd.add_f64s(shift, effect));
        let slope = simd.sub_f64s(simd.mul_f64s(simd.mul_f64s(weight, pull.residual), scale), z);
        let gradient = simd.mul_f64s(slope, width);
        let toward = simd.mul_f64s(simd.mul_f64s(slope, inverse), simd.add_f64s(drawn, z));
        let terms = [
            pull.squares,
            simd.mul_f64s(z, z),
            pull.residual,
            simd.mul_f64s(slope, push),
            toward,
            simd.mul_f64s(slope, own),
        ];
        (gradient, terms)
    }
}

impl<S: Simd, D: Data<S>, W: Widths<S>> Terms<S, 6> for StandardTerms<'_, S, D, W> {
    #[inline(always)]
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; 6] {
        let row = self.widths.row(simd, &self.groups.shared, self.groups.count[at]);
        let (gradient, terms) = self.evaluate(simd, at, self.groups.x[at], row);
        self.groups.out[at] = gradient;
        terms
    }

    #[inline(always)]
    fn tail(&mut self, simd: S) -> [S::f64s; 6] {
        let (at, x) = (self.groups.x.len(), simd.partial_load_f64s(self.groups.x_tail));
        let row = self.widths.padded(simd, &self.groups.shared, self.groups.count[at]);
        let (gradient, terms) = self.evaluate(simd, at, x, row);
        simd.partial_store_f64s(self.groups.out_tail, gradient);
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

/// The value, and the gradients of the three scalars.
#[inline(always)]
fn finish(model: &HierarchicalNormal, scalars: &Scalars, sums: &Sums, gradient: &mut [f64]) -> f64 {
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
