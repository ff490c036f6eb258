//! Standardised coordinates: given the scalars, an effect's prior and what the data say of it are one normal
//! distribution, and its coordinate is how many standard deviations of that it is from the mean.

use super::lanes::sums;
use super::population::Place;
use super::real::{TwinReal, to};

/// What the data say of one effect: its mean less the origin, and its precision in units of the noise's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<R> {
    pub(super) mean: R,
    pub(super) precision: R,
}

impl<R: TwinReal> Measured<R> {
    pub(super) fn new(mean: f64, precision: f64) -> Self {
        Self { mean: R::of(mean), precision: R::of(precision) }
    }
}

/// Effects of the same precision, ascending by that.
#[derive(Clone, Debug)]
pub(super) struct Alike<R>(Vec<Group<R>>);

/// Effects of the same precision are as good as their number, their mean and the squares of what deviates from it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group<R> {
    precision: R,
    times: R,
    mean: R,
    spread: R,
}

impl<R: TwinReal> Alike<R> {
    /// Groups effects that are measured at `means` with `precisions`.
    pub(super) fn new(means: &[f64], precisions: &[f64]) -> Self {
        let mut distinct = precisions.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let group = |precision: f64| {
            let own = || means.iter().zip(precisions).filter(move |(_, p)| **p == precision).map(|(mean, _)| *mean);
            let times = own().count() as f64;
            let mean = own().sum::<f64>() / times;
            let spread = own().map(|a| (a - mean) * (a - mean)).sum();
            Group { precision: R::of(precision), times: R::of(times), mean: R::of(mean), spread: R::of(spread) }
        };
        Self(distinct.into_iter().map(group).collect())
    }
}

/// What effects say of the scalars once they are integrated out: of what is measured of each, which is normal with the
/// variance (1 / precision + ratio) noise^2 about the location, in units of the noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integrated<T> {
    /// The data's shares in what is known of the effects.
    pub(super) shares: T,
    /// The logarithms of 1 + precision ratio.
    pub(super) logs: T,
    /// Deviations from the location over their variances.
    pub(super) pull: T,
    /// Squared deviations over their variances.
    pub(super) squares: T,
    /// Squared deviations over their variances, of which only the effects' own share counts.
    pub(super) drawn: T,
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

impl<R: TwinReal> Frame<R> {
    /// The frame of effects whose scalars are at `place`.
    pub(super) fn of<T: TwinReal>(place: &Place<T>) -> Self {
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

    /// Sums over all effects. A vector has `dim` coordinates.
    pub(super) fn integrated<T: TwinReal>(&self, dim: usize, Alike(groups): &Alike<R>) -> Integrated<T> {
        let terms = groups.iter().map(|&Group { precision, times, mean, spread }| {
            let inverse = R::ONE / (R::ONE + precision * self.by_ratio);
            let by_variance = precision * inverse;
            let deviation = mean - self.shift;
            let all = times * deviation;
            let squares = by_variance * (spread + all * deviation);
            let share = R::ONE - inverse;
            let log = (R::ONE + precision * self.by_ratio).ln();
            [times * share, times * log, by_variance * all, squares, squares * share]
        });
        let [shares, logs, pull, squares, drawn] = sums(dim, terms);
        Integrated { shares, logs, pull, squares, drawn }
    }
}

/// The gradient of effects that are standard normal goes to `gradient`; returns the sum of their squares. A vector has
/// `dim` coordinates, the effects first.
pub(super) fn standard_normal<R: TwinReal, T: TwinReal>(dim: usize, effects: &[R], gradient: &mut Vec<R>) -> T {
    gradient.extend(effects.iter().map(|&x| -x));
    let [squares] = sums(dim, effects.iter().map(|&x| [x * x]));
    squares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: precisions 3, 1, 3 and a scale of 1 make D = 4, 2, 4. The means of the first kind and of the second, 1.5
    /// and 4.5, are 1 and 4 from the shift.
    #[test]
    fn effects_and_sums_are_those_of_the_formulas() {
        let alike = Alike::<f64>::new(&[2.5, 1.5, 6.5], &[3.0, 1.0, 3.0]);
        let [one, three] = [(1.0, 1.0, 1.5, 0.0), (3.0, 2.0, 4.5, 8.0)].map(|(precision, times, mean, spread)| Group {
            precision,
            times,
            mean,
            spread,
        });
        assert_eq!(alike.0, [one, three]);
        let frame = Frame { scale: 1.0, shift: 0.5, by_gain: 1.0, by_ratio: 1.0 };
        let found: Integrated<f64> = frame.integrated(5, &alike);
        assert_eq!(found.shares, 2.0 * 0.75 + 0.5);
        assert!((found.logs - 5.0 * 2f64.ln()).abs() < 1e-15);
        // p / D is 1/2 and 3/4, and the deviations are 1, and 2 and 6.
        assert_eq!(found.pull, 0.5 * 1.0 + 0.75 * (2.0 + 6.0));
        assert_eq!(found.squares, 0.5 * 1.0 + 0.75 * (4.0 + 36.0));
        assert_eq!(found.drawn, 0.5 * 0.5 * 1.0 + 0.75 * 0.75 * (4.0 + 36.0));
        let mut gradient = vec![9.0];
        assert_eq!(standard_normal::<f64, f64>(5, &[1.0, -2.0], &mut gradient), 5.0);
        assert_eq!(gradient, [9.0, -1.0, 2.0]);
        let effect = frame.effect(Measured { mean: 2.5, precision: 3.0 }, 4.0);
        let found = [effect.inverse, effect.width, effect.push, effect.drawn, effect.own, effect.z];
        assert_eq!(found, [0.25, 0.5, 0.75, 1.5, 2.0, 3.5]);
    }
}
