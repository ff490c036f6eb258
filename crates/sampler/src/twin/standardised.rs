//! Standardised coordinates: given the scalars, an effect's prior and what the data say of it are one normal
//! distribution, and its coordinate is how many standard deviations of that it is from the mean.

use super::lanes::sums;
use super::population::Place;
use super::real::{Real, to};

/// What the data say of one effect: its mean less the origin, and its precision in units of the noise's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<R> {
    pub(super) mean: R,
    pub(super) precision: R,
}

impl<R: Real> Measured<R> {
    pub(super) fn of(mean: f64, precision: f64) -> Self {
        Self { mean: R::of(mean), precision: R::of(precision) }
    }
}

/// Each distinct precision, ascending, and how many effects have it.
#[derive(Clone, Debug)]
pub(super) struct Precisions<R>(Vec<[R; 2]>);

impl<R: Real> Precisions<R> {
    pub(super) fn of(precisions: &[f64]) -> Self {
        let mut ascending = precisions.to_vec();
        ascending.sort_by(f64::total_cmp);
        let row = |equal: &[f64]| [R::of(equal[0]), R::of(equal.len() as f64)];
        Self(ascending.chunk_by(|a, b| a == b).map(row).collect())
    }
}

/// What is common to all effects at a point, each number rounded once where it meets them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<R> {
    pub(super) scale: R,
    pub(super) shift: R,
    by_gain: R,
    by_ratio: R,
}

/// An effect's place in a frame.
pub(super) struct Effect<R> {
    /// The share of the prior in what is known of the effect.
    pub(super) inverse: R,
    /// dz / dx
    pub(super) width: R,
    /// -dz / d location
    pub(super) push: R,
    /// z at x = 0.
    pub(super) drawn: R,
    /// What x adds.
    pub(super) own: R,
    pub(super) z: R,
}

impl<R: Real> Frame<R> {
    /// The frame of effects whose scalars are at `place`.
    pub(super) fn of<T: Real>(place: &Place<T>) -> Self {
        let s = &place.scalars;
        let gain = s.scale * s.weight;
        Self { scale: to(s.scale), shift: to(s.shift), by_gain: to(gain), by_ratio: to(place.ratio) }
    }

    pub(super) fn effect(&self, measured: Measured<R>, x: R) -> Effect<R> {
        let inverse = R::ONE / (R::ONE + measured.precision * self.by_ratio);
        let width = inverse.sqrt();
        let push = measured.precision * self.by_gain * inverse;
        let drawn = push * (measured.mean - self.shift);
        let own = width * x;
        Effect { inverse, width, push, drawn, own, z: drawn + own }
    }

    /// Sums over effects that the data's precisions alone decide: of the data's shares in what is known of an effect,
    /// and of the logarithms of 1 / inverse. A vector has `dim` coordinates.
    pub(super) fn shares_and_logs<T: Real>(&self, dim: usize, Precisions(rows): &Precisions<R>) -> [T; 2] {
        let terms = rows.iter().map(|&[precision, times]| {
            let d = R::ONE + precision * self.by_ratio;
            [times * (R::ONE - R::ONE / d), times * d.ln()]
        });
        sums(dim, terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: precisions 3, 1, 3 and a scale of 1 make D = 4, 2, 4.
    #[test]
    fn effects_and_sums_are_those_of_the_formulas() {
        let precisions = Precisions::<f64>::of(&[3.0, 1.0, 3.0]);
        assert_eq!(precisions.0, [[1.0, 1.0], [3.0, 2.0]]);
        let frame = Frame { scale: 1.0, shift: 0.5, by_gain: 1.0, by_ratio: 1.0 };
        let [shares, logs] = frame.shares_and_logs::<f64>(5, &precisions);
        assert_eq!(shares, 2.0 * 0.75 + 0.5);
        assert!((logs - 5.0 * 2f64.ln()).abs() < 1e-15);
        let effect = frame.effect(Measured { mean: 2.5, precision: 3.0 }, 4.0);
        let found = [effect.inverse, effect.width, effect.push, effect.drawn, effect.own, effect.z];
        assert_eq!(found, [0.25, 0.5, 0.75, 1.5, 2.0, 3.5]);
    }
}
