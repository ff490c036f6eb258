//! Log density and gradient of the hierarchical normal in standardised coordinates: see [`crate::centering`].

use super::pull::{Data, Pointwise};
use super::{Evaluate, GroupSums, HierarchicalNormal, Scalars, finish};
use octopus_density::warp::{Terms, lanes, reduce_with_tail};
use octopus_density::{IntegratedEffects, LogDensity, StandardisedScalars};
use pulp::Simd;

impl Evaluate<'_> {
    /// Evaluates with the groups' means integrated out: given the scalars each `x_j` is standard normal, whatever the
    /// scalars are, and [`IntegratedEffects`] is what the data say of the scalars. No residual is taken, which would be a
    /// rounding error where the noise is small.
    #[inline(always)]
    pub(super) fn integrated<S: Simd>(self, simd: S) -> f64 {
        let (model, standard) = (self.model, self.standard());
        let (effects_gradient, scalar_gradient) = self.gradient.split_at_mut(model.data.groups());
        let (x, x_tail) = S::as_simd_f64s(&self.position[..model.data.groups()]);
        let (out, out_tail) = S::as_mut_simd_f64s(effects_gradient);
        let mut terms = NormalTerms { x, x_tail, out: &mut out[..x.len()], out_tail };
        let [x2] = reduce_with_tail(simd, lanes(model.dim()), x.len(), !x_tail.is_empty(), &mut terms);
        let IntegratedEffects { shares, logs, pull, squares, drawn } =
            standard.integrated(&model.information, model.dim());
        let drawn = standard.weight * drawn;
        let sums = GroupSums {
            squares,
            z2: x2,
            location: pull,
            centered_location: 0.0,
            scale: 0.0,
            centered_scale: drawn,
            noise: -drawn + shares,
            power: 0.0,
            logs: logs + standard.log_precision,
            shares,
        };
        finish_standardised(model, &standard, &sums, scalar_gradient)
    }

    /// Evaluates as [`integrated`](Self::integrated) does, from every observation, for the pointwise likelihood.
    #[inline(always)]
    pub(super) fn pointwise<S: Simd>(self, simd: S) -> f64 {
        let (model, standard) = (self.model, self.standard());
        let information = &model.information;
        // Groups of one size share their widths: no division and no root for each.
        let alike = match information.kinds().precision[..] {
            // Counts are whole numbers: their mean is exact.
            [size] => Some((size, standard.inverse)),
            _ => None,
        };
        let (effects_gradient, scalar_gradient) = self.gradient.split_at_mut(model.data.groups());
        let (x, x_tail) = S::as_simd_f64s(&self.position[..model.data.groups()]);
        let (out, out_tail) = S::as_mut_simd_f64s(effects_gradient);
        let whole = x.len();
        let count = S::as_simd_f64s(&model.observed.count).0;
        let shared = Shared {
            one: simd.splat_f64s(1.0),
            gain: simd.splat_f64s(standard.gain),
            ratio: simd.splat_f64s(standard.ratio),
            scale: simd.splat_f64s(standard.scale),
            shift: simd.splat_f64s(standard.shift),
            weight: simd.splat_f64s(standard.weight),
        };
        let groups = Groups {
            shared,
            count,
            mean: &S::as_simd_f64s(&model.observed.mean).0[..count.len()],
            data: Pointwise::new(model),
            x,
            x_tail,
            out: &mut out[..whole],
            out_tail,
        };
        let tail = !x_tail.is_empty();
        // Before the groups: its logarithm and its divisions do not wait for them.
        let IntegratedEffects { shares, logs, .. } = standard.integrated(information, model.dim());
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
        finish_standardised(model, &standard, &GroupSums::pointwise(sums, jacobian), scalar_gradient)
    }

    #[inline(always)]
    fn standard(&self) -> StandardisedScalars {
        let at = &self.position[self.model.data.groups()..];
        StandardisedScalars::at(&self.model.information, [at[0], at[1], at[2]])
    }
}

/// Returns the value, and the gradients of the three scalars' coordinates.
#[inline(always)]
fn finish_standardised(
    model: &HierarchicalNormal,
    standard: &StandardisedScalars,
    sums: &GroupSums,
    gradient: &mut [f64],
) -> f64 {
    let scalars = Scalars {
        log_pop: standard.log_scale,
        log_obs: standard.log_noise,
        sigma_pop: standard.scale,
        sigma_obs: standard.noise,
        weight: standard.weight,
        shift: standard.shift,
    };
    let value = finish(model, &scalars, sums, gradient);
    let slopes = standard.slopes(&model.information, [gradient[0], gradient[1], gradient[2]]);
    gradient.copy_from_slice(&slopes);
    value
}

/// The pass over effects that are standard normal.
struct NormalTerms<'a, S: Simd> {
    x: &'a [S::f64s],
    x_tail: &'a [f64],
    out: &'a mut [S::f64s],
    out_tail: &'a mut [f64],
}

impl<S: Simd> Terms<S, 1> for NormalTerms<'_, S> {
    #[inline(always)]
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; 1] {
        let x = self.x[at];
        self.out[at] = simd.neg_f64s(x);
        [simd.mul_f64s(x, x)]
    }

    #[inline(always)]
    fn tail(&mut self, simd: S) -> [S::f64s; 1] {
        let x = simd.partial_load_f64s(self.x_tail);
        simd.partial_store_f64s(self.out_tail, simd.neg_f64s(x));
        [simd.mul_f64s(x, x)]
    }
}

impl GroupSums {
    /// Makes the sums from those of [`StandardTerms`], the slope of the log-Jacobian, and -2 times the log-Jacobian.
    #[inline(always)]
    fn pointwise(sums: [f64; 6], jacobian: [f64; 2]) -> Self {
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

/// The standardised coordinates of a vector of groups: `inverse` is 1 / (1 + n s^2 / o^2), `width` its root, and `push`
/// is n s / o^2 times `inverse`.
struct Row<V> {
    inverse: V,
    width: V,
    push: V,
}

/// A way to make a row.
trait Widths<S: Simd> {
    /// Returns the row of a vector of groups.
    fn row(&self, simd: S, groups: &Shared<S>, count: S::f64s) -> Row<S::f64s>;

    /// Returns the row of a vector that ends with padding: its count is 0 there, and so is its push.
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
struct Groups<'a, S: Simd> {
    shared: Shared<S>,
    /// Padding has no observations and the mean 0.
    count: &'a [S::f64s],
    mean: &'a [S::f64s],
    data: Pointwise<'a, S>,
    x: &'a [S::f64s],
    x_tail: &'a [f64],
    out: &'a mut [S::f64s],
    out_tail: &'a mut [f64],
}

/// A pass over the groups in standardised coordinates.
struct StandardTerms<'a, S: Simd, W> {
    groups: Groups<'a, S>,
    widths: W,
}

impl<S: Simd, W: Widths<S>> StandardTerms<'_, S, W> {
    /// Returns the gradient at vector `at`, and the summands: squares, z^2, residuals, what pulls mu_pop, log sigma_pop
    /// and log sigma_obs through the coordinates.
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

impl<S: Simd, W: Widths<S>> Terms<S, 6> for StandardTerms<'_, S, W> {
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
