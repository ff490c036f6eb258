//! Eight schools from its data, in any centering.

use super::coordinates::Coordinates;
use super::lanes::sums;
use super::real::{Real, rounded, to};
use super::{Model, Modelled};
use octopus_density::EightSchools;

/// Standard deviation of the normal prior of mu, and scale of the half-Cauchy prior of tau.
const MU_SD: f64 = 5.0;
const TAU_SCALE: f64 = 5.0;

/// The measured effects and 1 / sigma^2 of each.
struct Schools<R> {
    effects: Vec<R>,
    precisions: Vec<R>,
}

impl Modelled for EightSchools {
    fn model<R: Real, T: Real>(&self) -> Box<dyn Model<R, T>> {
        let precisions: Vec<f64> = self.sigma().iter().map(|sigma| 1.0 / (sigma * sigma)).collect();
        Box::new(Schools::<R> { effects: rounded(self.y()), precisions: rounded(&precisions) })
    }
}

impl<R: Real, T: Real> Model<R, T> for Schools<R> {
    fn evaluate(&self, at: &Coordinates<R, T>, x: &[R]) -> (T, Vec<R>) {
        let schools = self.effects.len();
        let (mu, log_tau) = (x[schools], x[schools + 1]);
        let tau = to::<R, T>(log_tau).exp();
        let inverse_tau: R = to(T::ONE / tau);
        let mut gradient = Vec::with_capacity(x.len());
        let terms = (0..schools).map(|j| {
            let lambda = at.lambda[j];
            let slope = ((R::ONE - lambda) * log_tau).exp();
            let inverse = slope * inverse_tau;
            let centered = x[j] - lambda * mu;
            let z = inverse * centered;
            let effect = slope * centered;
            let difference = self.effects[j] - (mu + effect);
            let residual = self.precisions[j] * difference;
            let slope_z = inverse * z;
            gradient.push(residual * slope - slope_z);
            let location = residual * (R::ONE - lambda * slope);
            let scale = residual * ((R::ONE - lambda) * effect);
            [residual * difference, z * z, location, lambda * slope_z, scale, lambda * (z * z)]
        });
        let [squares, z2, location, through_location, scale, through_scale]: [T; 6] = sums(x.len(), terms);
        let standard = to::<R, T>(mu) / T::of(MU_SD);
        let ratio = tau / T::of(TAU_SCALE);
        let ratio2 = ratio * ratio;
        let by_mu = location + through_location - standard / T::of(MU_SD);
        let cauchy = T::of(2.0) * ratio2 / (T::ONE + ratio2);
        let by_tau = scale + through_scale - at.total + T::ONE - cauchy;
        gradient.extend([by_mu, by_tau].map(to::<T, R>));
        let logp = T::of(-0.5) * (squares + z2 + standard * standard) - (T::ONE + ratio2).ln()
            + (T::ONE - at.total) * to(log_tau);
        (logp, gradient)
    }
}
