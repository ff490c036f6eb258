//! Log density and gradient of eight schools, in the order of the virtual warp.

use super::{EightSchools, MU_SD, TAU_SCALE};
use crate::warp::lanes;
use crate::{Centering, DensityError};
use octopus_random::exact;

/// The sums over schools from which the value and the gradients of mu and log tau are made.
struct Sums {
    /// Squared residuals in units of their standard errors.
    squares: f64,
    /// z^2.
    z2: f64,
    /// Weighted residuals times d theta / d mu.
    location: f64,
    /// lambda tau^-lambda z: through the centered coordinates.
    centered_location: f64,
    /// Weighted residuals times d theta / d log tau.
    scale: f64,
    /// lambda z^2: through the centered coordinates.
    centered_scale: f64,
}

impl EightSchools {
    /// The log density in the coordinates of `centering`, the Jacobian included; its gradient goes to `gradient`.
    pub(super) fn evaluate(
        &self,
        centering: &Centering,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        let schools = self.schools();
        let (mu, log_tau) = (position[schools], position[schools + 1]);
        let tau = exact::exp(log_tau);
        // Eight schools in a warp: the lanes are a constant, so that the partial sums are vectors of the compiler's.
        let sums = match lanes(schools + 2) {
            32 => self.sums::<32>(centering, mu, log_tau, tau, position, gradient),
            _ => self.sums::<128>(centering, mu, log_tau, tau, position, gradient),
        };
        let standard = mu / MU_SD;
        let ratio = tau / TAU_SCALE;
        let ratio2 = ratio * ratio;
        gradient[schools] = sums.location + sums.centered_location - standard / MU_SD;
        gradient[schools + 1] =
            sums.scale + sums.centered_scale - centering.total() + 1.0 - 2.0 * ratio2 / (1.0 + ratio2);
        let value = -0.5 * (sums.squares + sums.z2 + standard * standard) - exact::ln(1.0 + ratio2)
            + (1.0 - centering.total()) * log_tau;
        if value.is_finite() { Ok(value) } else { Err(DensityError::NotFinite { value }) }
    }

    /// One pass over the schools, which writes their gradients.
    #[inline(always)]
    fn sums<const L: usize>(
        &self,
        centering: &Centering,
        mu: f64,
        log_tau: f64,
        tau: f64,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Sums {
        let inverse_tau = 1.0 / tau;
        let power = |lambda: f64| exact::exp((1.0 - lambda) * log_tau);
        // One exponential serves all schools that share lambda; its bits are those that each would get.
        let shared = centering.uniform().map(power);
        let mut parts = [[0.0; L]; 6];
        for (j, &lambda) in centering.lambda().iter().enumerate() {
            let slope = shared.unwrap_or_else(|| power(lambda));
            let inverse = slope * inverse_tau;
            let centered = position[j] - lambda * mu;
            let z = inverse * centered;
            let effect = slope * centered;
            let difference = self.effect[j] - (mu + effect);
            let residual = self.precision[j] * difference;
            let slope_z = inverse * z;
            gradient[j] = residual * slope - slope_z;
            let z2 = z * z;
            let terms = [
                residual * difference,
                z2,
                residual * (1.0 - lambda * slope),
                lambda * slope_z,
                residual * ((1.0 - lambda) * effect),
                lambda * z2,
            ];
            for (part, term) in parts.iter_mut().zip(terms) {
                part[j % L] += term;
            }
        }
        let [squares, z2, location, centered_location, scale, centered_scale] = parts.map(halve);
        Sums { squares, z2, location, centered_location, scale, centered_scale }
    }
}

/// The sum of the lanes as a halving tree.
#[inline(always)]
fn halve<const L: usize>(mut lanes: [f64; L]) -> f64 {
    let mut half = L / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}
