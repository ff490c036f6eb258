//! The scalars of a standardised block, by the conditional distributions that they would have if all effects were
//! measured equally well: from the top the ratio of scale and noise, the noise given the ratio, the location given both.

use super::real::TwinReal;
use octopus_density::Information;

/// What the data say of the scalars, each number made in f64 and rounded once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Population<T> {
    /// What the center is relative to.
    pub(super) origin: T,
    /// The sum of the effects' precisions, and their mean.
    total: T,
    typical: T,
    center: T,
    /// 1 / variance of the location's prior.
    prior: T,
    /// Squared deviations within and between effects for each observation; 1 and 0 where the noise is 1.
    squares: [T; 2],
}

/// The scalars, whatever coordinates they come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scalars<T> {
    /// The location less the origin.
    pub(super) shift: T,
    pub(super) log_scale: T,
    pub(super) scale: T,
    pub(super) log_noise: T,
    pub(super) noise: T,
    /// 1 / noise^2
    pub(super) weight: T,
}

/// Where the scalars are, and how they move with their coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<T> {
    pub(super) scalars: Scalars<T>,
    /// scale^2 / noise^2
    pub(super) ratio: T,
    /// The logarithm of the precision of the location given scale and noise: of what its prior and the data say together.
    pub(super) log_precision: T,
    /// The share of the prior in what is known of a typical effect.
    inverse: T,
    /// -d log noise / d log ratio of scale and noise.
    slope: T,
    center: T,
    /// The share of the data in what is known of the location.
    held: T,
    /// d location / dx
    width: T,
    /// What x adds to the location.
    own: T,
}

impl<T: TwinReal> Population<T> {
    pub(super) fn new(information: &Information) -> Self {
        let measured = || information.mean().iter().zip(information.precision());
        let total: f64 = information.precision().iter().sum();
        // Precisions of 0 have no center, and the location is as its prior says.
        let mean = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
        let center = mean(measured().map(|(a, p)| a * p).sum());
        let between: f64 = measured().map(|(a, p)| p * (a - center) * (a - center)).sum();
        Self {
            origin: T::of(information.origin()),
            total: T::of(total),
            typical: T::of(total / information.precision().len() as f64),
            center: T::of(center),
            prior: T::of(information.prior_sd().map_or(0.0, |sd| 1.0 / (sd * sd))),
            squares: match information.noise() {
                Some(noise) => [noise.within, between].map(|s| T::of(s / noise.observations)),
                None => [T::ONE, T::ZERO],
            },
        }
    }

    /// Returns the place at these coordinates: `x` of the location, `v` of the log scale and, where there is one, `u`
    /// of the log noise.
    pub(super) fn place(&self, x: T, v: T, u: Option<T>) -> Place<T> {
        let u = u.unwrap_or(T::ZERO);
        let [within, between] = self.squares;
        let (r, factor) = (v.exp(), u.exp());
        let ratio = r * r;
        let d = T::ONE + self.typical * ratio;
        // The noise that the data ask for has the square scaled / d, and the noise itself q / d.
        let scaled = within * d + between;
        let q = scaled * (factor * factor);
        // The precision of the location is both / q.
        let both = self.prior * q + self.total;
        let inverse = T::ONE / d;
        let (held, width) = (self.total / both, (q / both).sqrt());
        let noise = (q / d).sqrt();
        let log_noise = u + T::of(0.5) * (scaled.ln() - d.ln());
        let own = width * x;
        let scalars = Scalars {
            shift: held * self.center + own,
            log_scale: v + log_noise,
            scale: r * noise,
            log_noise,
            noise,
            weight: d / q,
        };
        Place {
            scalars,
            ratio,
            log_precision: both.ln() - scaled.ln() - T::of(2.0) * u,
            inverse,
            slope: between * (T::ONE - inverse) / scaled,
            center: self.center,
            held,
            width,
            own,
        }
    }
}

impl<T: TwinReal> Place<T> {
    /// Returns the slopes of a function of location, log scale and log noise by their coordinates, those of this
    /// place's log-Jacobian included. Where the noise is 1, the last means nothing.
    pub(super) fn slopes(&self, [by_location, by_scale, by_noise]: [T; 3]) -> [T; 3] {
        let two = T::of(2.0);
        // By the logarithm of the noise, through what is known of the location, its sign changed.
        let turn = by_location * self.held * (two * (T::ONE - self.held) * self.center - self.own) - self.held;
        let sum = by_scale + by_noise - turn;
        let by_ratio = by_scale - self.slope * sum - (T::ONE - self.inverse) * turn;
        [by_location * self.width, by_ratio, sum]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Noise;

    /// By hand: the means 1 and 5 with the precisions 3 and 1 have the center 2, from which they are 1 and 3 away.
    #[test]
    fn populations_are_summed_up() {
        let information = Information::new(7.0, vec![1.0, 5.0], vec![3.0, 1.0]);
        let alone = Population { origin: 7.0, total: 4.0, typical: 2.0, center: 2.0, prior: 0.0, squares: [1.0, 0.0] };
        assert_eq!(Population::new(&information), alone);
        let noise = Noise { log_scale: 4, within: 6.0, observations: 4.0 };
        let expected = Population { prior: 4.0, squares: [1.5, 3.0], ..alone };
        assert_eq!(Population::new(&information.with_noise(noise).with_prior(0.5)), expected);
        let nothing = Information::new(7.0, vec![1.0, 5.0], vec![0.0; 2]).with_noise(noise).with_prior(0.5);
        let prior_only = Population { total: 0.0, typical: 0.0, center: 0.0, squares: [1.5, 0.0], ..expected };
        assert_eq!(Population::new(&nothing), prior_only);
    }

    /// By hand: half of the variance between effects is theirs at a ratio of 1, which leaves 1 + 6 / 2 for the noise.
    #[test]
    fn places_and_slopes_are_those_of_the_formulas() {
        let population =
            Population { origin: 7.0, total: 4.0, typical: 1.0, center: 3.0, prior: 0.5, squares: [1.0, 6.0] };
        let place = population.place(2.0, 0.0, Some(0.0));
        let Scalars { log_scale, log_noise, .. } = place.scalars;
        assert!((log_scale - 2f64.ln()).abs() < 1e-15 && (log_noise - 2f64.ln()).abs() < 1e-15);
        let expected = Scalars { shift: 3.5, log_scale, scale: 2.0, log_noise, noise: 2.0, weight: 0.25 };
        assert_eq!(place.scalars, expected);
        assert_eq!(
            [place.ratio, place.log_precision, place.inverse, place.held, place.width],
            [1.0, 0.0, 0.5, 0.5, 1.0]
        );
        assert_eq!(place.slope, 0.375);
        assert_eq!(place.slopes([8.0, 1.0, 2.0]), [8.0, 1.0 + 0.1875 - 1.75, -0.5]);

        // A noise of 1: the data say four times as much of the location.
        let place = Population { squares: [1.0, 0.0], prior: 2.0, ..population }.place(2.0, 0.0, None);
        let expected = Scalars { shift: 2.5, log_scale: 0.0, scale: 1.0, log_noise: 0.0, noise: 1.0, weight: 1.0 };
        assert_eq!(place.scalars, expected);
        assert_eq!(place.slopes([8.0, 1.0, 0.0])[..2], [4.0, 1.0 - 3.75]);
    }
}
