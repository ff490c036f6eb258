//! The twin's density of eight schools, from its data, in any coordinates.

use super::coordinates::{CoordinateKind, Coordinates};
use super::lanes::sums;
use super::population::Place;
use super::real::{TwinReal, to};
use super::standardised::{Alike, Frame, Integrated, Measured, standard_normal};
use super::{Model, Modelled};
use octopus_models::EightSchools;

/// Standard deviation of the normal prior of mu, and scale of the half-Cauchy prior of tau.
const MU_SD: f64 = 5.0;
const TAU_SCALE: f64 = 5.0;

/// The measured effects and 1 / sigma^2 of each.
struct Schools<R> {
    effects: Vec<Measured<R>>,
    alike: Alike<R>,
}

impl Modelled for EightSchools {
    fn model<R: TwinReal, T: TwinReal>(&self) -> Box<dyn Model<R, T>> {
        let precisions: Vec<f64> = self.sigma().iter().map(|sigma| 1.0 / (sigma * sigma)).collect();
        let effects = self.y().iter().zip(&precisions).map(|(&y, &precision)| Measured::new(y, precision)).collect();
        Box::new(Schools::<R> { effects, alike: Alike::new(self.y(), &precisions) })
    }
}

/// What the sums over schools come to.
struct Sums<T> {
    /// Squared residuals in units of their standard errors.
    squares: T,
    /// z^2
    z2: T,
    /// Residuals times d theta / d mu, and what comes through the coordinates.
    location: [T; 2],
    /// Residuals times d theta / d log tau, and what comes through the coordinates.
    scale: [T; 2],
    /// The derivative of the schools' log-Jacobian by log tau, its sign changed.
    shares: T,
    /// The log-Jacobian, its sign changed: a power of tau, or half of a sum of logarithms.
    power: T,
    logs: T,
}

impl<R: TwinReal> Schools<R> {
    /// One lambda for all schools.
    fn uniform<T: TwinReal>(&self, [lambda, total]: [T; 2], tau: T, x: &[R], gradient: &mut Vec<R>) -> Sums<T> {
        let schools = self.effects.len();
        let (mu, log_tau, lambda) = (x[schools], x[schools + 1], to::<T, R>(lambda));
        let slope = ((R::ONE - lambda) * log_tau).exp();
        let inverse = slope * to(T::ONE / tau);
        let terms = self.effects.iter().zip(x).map(|(measured, &x)| {
            let centered = x - lambda * mu;
            let z = inverse * centered;
            let effect = slope * centered;
            let difference = measured.mean - (mu + effect);
            let residual = measured.precision * difference;
            let slope_z = inverse * z;
            gradient.push(residual * slope - slope_z);
            let location = residual * (R::ONE - lambda * slope);
            let scale = residual * ((R::ONE - lambda) * effect);
            [residual * difference, z * z, location, lambda * slope_z, scale, lambda * (z * z)]
        });
        let [squares, z2, location, through_location, scale, through_scale] = sums(x.len(), terms);
        Sums {
            squares,
            z2,
            location: [location, through_location],
            scale: [scale, through_scale],
            shares: total,
            power: total,
            logs: T::ZERO,
        }
    }

    /// Standardised coordinates: given mu and tau the schools are standard normal, and what they say of these is left.
    fn standardised<T: TwinReal>(&self, place: &Place<T>, x: &[R], gradient: &mut Vec<R>) -> Sums<T> {
        let z2 = standard_normal(x.len(), &x[..self.effects.len()], gradient);
        let Integrated { shares, logs, pull, squares, drawn } = Frame::of(place).integrated(x.len(), &self.alike);
        Sums {
            squares,
            z2,
            location: [pull, T::ZERO],
            scale: [T::ZERO, drawn],
            shares,
            power: T::ZERO,
            logs: logs + place.log_precision,
        }
    }
}

impl<R: TwinReal, T: TwinReal> Model<R, T> for Schools<R> {
    fn evaluate(&self, at: &Coordinates<R, T>, x: &[R]) -> (T, Vec<R>) {
        let schools = self.effects.len();
        let mut gradient = Vec::with_capacity(x.len());
        let ([mu, log_tau, tau], sums, place) = match &at.kind {
            CoordinateKind::Uniform { lambda, total } => {
                let [mu, log_tau] = [0, 1].map(|k| to::<R, T>(x[schools + k]));
                let tau = log_tau.exp();
                ([mu, log_tau, tau], self.uniform([*lambda, *total], tau, x, &mut gradient), None)
            }
            CoordinateKind::Standardised(known) => {
                let place = known.place(x);
                let s = place.scalars;
                // Effects are measured from 0: mu is the shift.
                ([s.shift, s.log_scale, s.scale], self.standardised(&place, x, &mut gradient), Some(place))
            }
        };
        let standard = mu / T::of(MU_SD);
        let ratio = tau / T::of(TAU_SCALE);
        let ratio2 = ratio * ratio;
        let by_mu = sums.location[0] + sums.location[1] - standard / T::of(MU_SD);
        let cauchy = T::of(2.0) * ratio2 / (T::ONE + ratio2);
        let by_tau = sums.scale[0] + sums.scale[1] - sums.shares + T::ONE - cauchy;
        let slopes = [by_mu, by_tau, T::ZERO];
        let [by_mu, by_tau, _] = place.map_or(slopes, |place| place.slopes(slopes));
        gradient.extend([by_mu, by_tau].map(to::<T, R>));
        let logp = T::of(-0.5) * (sums.squares + sums.z2 + standard * standard) - (T::ONE + ratio2).ln()
            + (T::ONE - sums.power) * log_tau
            - T::of(0.5) * sums.logs;
        (logp, gradient)
    }
}
