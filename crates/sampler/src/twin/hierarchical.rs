//! The twin's density of the hierarchical normal, from its data, in any coordinates.
//!
//! It has no buffer that is laid out for a processor.

use super::coordinates::{CoordinateKind, Coordinates};
use super::lanes::{sums, sums_of};
use super::population::{Place, Scalars};
use super::real::{TwinReal, rounded, to};
use super::standardised::{Alike, Frame, Integrated, Measured, standard_normal};
use super::{Model, Modelled};
use octopus_models::{HierarchicalNormal, Likelihood};

/// Observations up to which a group is added up by one lane, in order.
const LONE: usize = 256;
/// Beyond, it is cut into tiles of so many observations, of which each is a virtual warp of [`TILE_LANES`].
const TILE: usize = 2048;
const TILE_LANES: usize = 32;

/// The data, less the prior's mean, and the constants, each rounded once from f64.
struct Normal<R, T> {
    groups: Vec<Group<R>>,
    alike: Alike<R>,
    pointwise: bool,
    /// The sum of squared deviations from the groups' means, and the number of observations.
    within: T,
    total: T,
    mu_mean: T,
    mu_sd: T,
    sigma_pop_scale: T,
    sigma_obs_scale: T,
}

struct Group<R> {
    /// The precision is the number of observations.
    measured: Measured<R>,
    observations: Vec<R>,
}

impl Modelled for HierarchicalNormal {
    fn model<R: TwinReal, T: TwinReal>(&self) -> Box<dyn Model<R, T>> {
        let (data, prior) = (self.data(), self.prior());
        let (mut within, mut means, mut counts) = (0.0, Vec::new(), Vec::new());
        let group = |j| {
            let shifted: Vec<f64> = data.group(j).iter().map(|y| y - prior.mu_mean).collect();
            let count = shifted.len() as f64;
            let mean = shifted.iter().sum::<f64>() / count;
            within += shifted.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>();
            means.push(mean);
            counts.push(count);
            Group { measured: Measured::new(mean, count), observations: rounded(&shifted) }
        };
        Box::new(Normal::<R, T> {
            groups: (0..data.groups()).map(group).collect(),
            alike: Alike::new(&means, &counts),
            pointwise: self.likelihood() == Likelihood::Pointwise,
            within: T::of(within),
            total: T::of(data.values().len() as f64),
            mu_mean: T::of(prior.mu_mean),
            mu_sd: T::of(prior.mu_sd),
            sigma_pop_scale: T::of(prior.sigma_pop_scale),
            sigma_obs_scale: T::of(prior.sigma_obs_scale),
        })
    }
}

/// What the sums over groups come to.
struct Sums<T> {
    /// Squared residuals (from the group's mean where collapsed).
    squares: T,
    /// z^2
    z2: T,
    /// Residuals times d mu_group / d mu_pop, and what comes through the coordinates.
    location: [T; 2],
    /// Residuals times d mu_group / d log sigma_pop, and what comes through the coordinates.
    scale: [T; 2],
    /// What comes through the coordinates for log sigma_obs.
    noise: T,
    /// The derivative of the groups' log-Jacobian by log sigma_pop, its sign changed.
    shares: T,
    /// The log-Jacobian, its sign changed: a power of sigma_pop, or half of a sum of logarithms.
    power: T,
    logs: T,
}

impl<R: TwinReal, T: TwinReal> Normal<R, T> {
    /// Returns the scalars where they are coordinates: mu_pop, log sigma_pop, log sigma_obs, which come after the
    /// groups.
    fn scalars(&self, x: &[R]) -> Scalars<T> {
        let [mu, log_scale, log_noise] = [0, 1, 2].map(|k| to::<R, T>(x[self.groups.len() + k]));
        let (scale, noise) = (log_scale.exp(), log_noise.exp());
        let (shift, weight) = (mu - self.mu_mean, T::ONE / (noise * noise));
        Scalars { shift, log_scale, scale, log_noise, noise, weight }
    }

    /// One lambda for all groups: what is common to all is a number of the chain, rounded where it meets the groups.
    fn uniform(&self, [lambda, total]: [T; 2], s: &Scalars<T>, x: &[R], gradient: &mut Vec<R>) -> Sums<T> {
        let slope = ((T::ONE - lambda) * s.log_scale).exp();
        let inverse = slope * (T::ONE / s.scale);
        let origin: R = to(lambda * to(x[self.groups.len()]));
        let (slope_r, inverse_r, weight, shift): (R, R, R, R) = (to(slope), to(inverse), to(s.weight), to(s.shift));
        let terms = self.groups.iter().zip(x).map(|(group, &x)| {
            let centered = x - origin;
            let z = inverse_r * centered;
            let effect = slope_r * centered;
            let [residual, squares] = self.pull(group, shift + effect);
            gradient.push(weight * residual * slope_r - inverse_r * z);
            [squares, z * z, residual, z, residual * effect]
        });
        let [squares, z2, residuals, zs, stretches] = sums(x.len(), terms);
        Sums {
            squares,
            z2,
            location: [(T::ONE - lambda * slope) * residuals, lambda * inverse * zs],
            scale: [(T::ONE - lambda) * stretches, lambda * z2],
            noise: T::ZERO,
            shares: total,
            power: total,
            logs: T::ZERO,
        }
    }

    /// Standardised coordinates: given the scalars the groups are standard normal, and what they say of these is left.
    fn integrated(&self, place: &Place<T>, x: &[R], gradient: &mut Vec<R>) -> Sums<T> {
        let z2 = standard_normal(x.len(), &x[..self.groups.len()], gradient);
        let Integrated { shares, logs, pull, squares, drawn } = Frame::of(place).integrated(x.len(), &self.alike);
        let drawn = place.scalars.weight * drawn;
        Sums {
            squares,
            z2,
            location: [pull, T::ZERO],
            scale: [T::ZERO, drawn],
            noise: shares - drawn,
            shares,
            power: T::ZERO,
            logs: logs + place.log_precision,
        }
    }

    /// Sums what every single observation says.
    fn observed(&self, place: &Place<T>, x: &[R], gradient: &mut Vec<R>) -> Sums<T> {
        let frame = Frame::of(place);
        let weight: R = to(place.scalars.weight);
        let terms = self.groups.iter().zip(x).map(|(group, &x)| {
            let effect = frame.effect(group.measured, x);
            let z = effect.z;
            let [residual, squares] = self.pull(group, frame.shift + frame.scale * z);
            let slope = weight * residual * frame.scale - z;
            gradient.push(slope * effect.width);
            let toward = slope * effect.inverse * (effect.drawn + z);
            [squares, z * z, residual, slope * effect.push, toward, slope * effect.own]
        });
        let [squares, z2, residuals, pushed, toward, own] = sums(x.len(), terms);
        let Integrated { shares, logs, .. } = frame.integrated(x.len(), &self.alike);
        Sums {
            squares,
            z2,
            location: [residuals, -pushed],
            scale: [T::ZERO, z2 + toward],
            noise: own - toward + shares,
            shares,
            power: T::ZERO,
            logs: logs + place.log_precision,
        }
    }

    /// Returns what a group says of its mean, less the prior's: the sum of the residuals and of their squares.
    fn pull(&self, group: &Group<R>, location: R) -> [R; 2] {
        if self.pointwise {
            return pointwise::<R, T>(&group.observations, location);
        }
        let difference = group.measured.mean - location;
        let residual = group.measured.precision * difference;
        [residual, residual * difference]
    }
}

/// Returns the sum of the residuals of a group's observations and of their squares.
fn pointwise<R: TwinReal, T: TwinReal>(observations: &[R], location: R) -> [R; 2] {
    let terms = |observations: &[R]| {
        let difference = |&y: &R| y - location;
        observations.iter().map(difference).map(|d| [d, d * d]).collect::<Vec<_>>()
    };
    if observations.len() <= LONE {
        let add = |[sum, squares]: [R; 2], [d, d2]: [R; 2]| [sum + d, squares + d2];
        return terms(observations).into_iter().fold([R::ZERO; 2], add);
    }
    let tiles = observations.chunks(TILE).map(|tile| sums_of::<R, T, 2>(TILE_LANES, terms(tile).into_iter()));
    let total = tiles.reduce(|[sum, squares], [d, d2]| [sum + d, squares + d2]);
    total.unwrap_or([T::ZERO; 2]).map(to)
}

impl<R: TwinReal, T: TwinReal> Model<R, T> for Normal<R, T> {
    fn evaluate(&self, at: &Coordinates<R, T>, x: &[R]) -> (T, Vec<R>) {
        let mut gradient = Vec::with_capacity(x.len());
        let (s, sums, place) = match &at.kind {
            CoordinateKind::Uniform { lambda, total } => {
                let s = self.scalars(x);
                (s, self.uniform([*lambda, *total], &s, x, &mut gradient), None)
            }
            CoordinateKind::Standardised(known) => {
                let place = known.place(x);
                let sums = match self.pointwise {
                    true => self.observed(&place, x, &mut gradient),
                    false => self.integrated(&place, x, &mut gradient),
                };
                (place.scalars, sums, Some(place))
            }
        };
        let squares = if self.pointwise { sums.squares } else { sums.squares + self.within };
        // The scalars in units of their priors.
        let standard = s.shift / self.mu_sd;
        let (pop, obs) = (s.scale / self.sigma_pop_scale, s.noise / self.sigma_obs_scale);
        let (pop2, obs2) = (pop * pop, obs * obs);
        let by_mu = s.weight * sums.location[0] + sums.location[1] - standard / self.mu_sd;
        let by_pop = s.weight * sums.scale[0] + sums.scale[1] - sums.shares - pop2 + T::ONE;
        let by_obs = s.weight * squares - self.total - obs2 + T::ONE + sums.noise;
        let slopes = [by_mu, by_pop, by_obs];
        gradient.extend(place.map_or(slopes, |place| place.slopes(slopes)).map(to::<T, R>));
        let exponent = s.weight * squares + sums.z2 + standard * standard + pop2 + obs2;
        let logp =
            -self.total * s.log_noise - T::of(0.5) * exponent + (T::ONE - sums.power) * s.log_scale + s.log_noise
                - T::of(0.5) * sums.logs;
        (logp, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The observation 2^24 takes up no 1 that is added to it in f32: the sum tells who met it. By hand.
    #[test]
    fn large_groups_are_tiles_of_lanes() {
        const BIG: f32 = 16_777_216.0;
        let group = |size: usize| [vec![BIG], vec![1.0; size - 1]].concat();
        for (size, expected) in [
            // One lane, in order.
            (LONE, 0.0),
            // Lane 0 has the observations 0, 32, ... 256: 8 ones are lost.
            (LONE + 1, 248.0),
            // Lane 0 has 64 of each tile, and the ones of the second tile meet no other number than 1.
            (TILE, 1984.0),
            (2 * TILE, 1984.0 + 2048.0),
        ] {
            assert_eq!(pointwise::<f32, f64>(&group(size), 0.0)[0], BIG + expected, "{size}");
            assert_eq!(pointwise::<f32, f32>(&group(size), 0.0)[0], BIG + expected, "{size}");
        }
        // 2^24 + 1985 is a tie in f32, and goes to the even neighbour: in mixed once, at the end.
        assert_eq!(pointwise::<f32, f64>(&group(TILE + 1), 0.0)[0], BIG + 1984.0);
        assert_eq!(pointwise::<f32, f64>(&group(TILE + 2), 0.0)[0], BIG + 1986.0);
        // The squares of what is left of a mean.
        assert_eq!(pointwise::<f64, f64>(&[3.0, 5.0], 1.0), [6.0, 20.0]);
        assert_eq!(pointwise::<f64, f64>(&[3.0; LONE + 1], 1.0), [514.0, 1028.0]);
    }
}
