//! Log density and gradient of eight schools, in the order of the virtual warp.

use super::{EightSchools, MU_SD, TAU_SCALE};
use octopus_density::warp::{halve, lanes};
use octopus_density::{Centering, DensityError, IntegratedEffects, StandardisedScalars};
use octopus_random::exact;

/// The sums over schools from which the value and the gradients of mu and log tau are made.
struct SchoolSums {
    /// Squared residuals in units of their standard errors.
    squares: f64,
    /// z^2.
    z2: f64,
    /// Weighted residuals times d theta / d mu, where that is not in `centered_location`.
    location: f64,
    /// The slope of the log density by each z times d z / d mu: through the coordinates.
    centered_location: f64,
    /// Weighted residuals times d theta / d log tau, where that is not in `centered_scale`.
    scale: f64,
    /// The slope of the log density by each z times d z / d log tau: through the coordinates.
    centered_scale: f64,
    /// The power of tau that the log-Jacobian is, and what is left of it.
    power: f64,
    logs: f64,
    /// The slope of the log-Jacobian by log tau, negative.
    shares: f64,
}

/// mu and tau.
struct SchoolScalars {
    mu: f64,
    log_tau: f64,
    tau: f64,
}

impl SchoolScalars {
    #[inline(always)]
    fn at(mu: f64, log_tau: f64, standard: Option<&StandardisedScalars>) -> Self {
        match standard {
            Some(standard) => Self { mu: standard.shift, log_tau: standard.log_scale, tau: standard.scale },
            None => Self { mu, log_tau, tau: exact::exp(log_tau) },
        }
    }
}

impl EightSchools {
    /// Returns the log density in the coordinates of `centering`, the Jacobian included; its gradient goes to
    /// `gradient`.
    pub(super) fn evaluate(
        &self,
        centering: Centering,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        let schools = self.schools();
        let standard = match centering {
            Centering::Standardised => {
                Some(StandardisedScalars::at(&self.information, [position[schools], position[schools + 1], 0.0]))
            }
            _ => None,
        };
        let scalars = SchoolScalars::at(position[schools], position[schools + 1], standard.as_ref());
        let SchoolScalars { mu, log_tau, tau } = scalars;
        // Eight schools in a warp: the lanes are a constant, so that the partial sums are vectors of the compiler's.
        let lambda = centering.lambda().unwrap_or(0.0);
        let sums = match (lanes(schools + 2), &standard) {
            (32, None) => self.uniform::<32>(lambda, &scalars, position, gradient),
            (_, None) => self.uniform::<128>(lambda, &scalars, position, gradient),
            (32, Some(standard)) => self.integrated::<32>(standard, position, gradient),
            (_, Some(standard)) => self.integrated::<128>(standard, position, gradient),
        };
        let from_prior = mu / MU_SD;
        let ratio = tau / TAU_SCALE;
        let ratio2 = ratio * ratio;
        let by_mu = sums.location + sums.centered_location - from_prior / MU_SD;
        let by_tau = sums.scale + sums.centered_scale - sums.shares + 1.0 - 2.0 * ratio2 / (1.0 + ratio2);
        let [by_mu, by_tau, _] = match standard {
            Some(standard) => standard.slopes(&self.information, [by_mu, by_tau, 0.0]),
            None => [by_mu, by_tau, 0.0],
        };
        (gradient[schools], gradient[schools + 1]) = (by_mu, by_tau);
        let value = -0.5 * (sums.squares + sums.z2 + from_prior * from_prior) - exact::ln(1.0 + ratio2)
            + (1.0 - sums.power) * log_tau
            - 0.5 * sums.logs;
        if value.is_finite() { Ok(value) } else { Err(DensityError::NotFinite { value }) }
    }

    /// One pass over the schools in non-centered or centered coordinates, which writes their gradients.
    #[inline(always)]
    fn uniform<const L: usize>(
        &self,
        lambda: f64,
        &SchoolScalars { mu, log_tau, tau }: &SchoolScalars,
        position: &[f64],
        gradient: &mut [f64],
    ) -> SchoolSums {
        let slope = exact::exp((1.0 - lambda) * log_tau);
        let inverse = slope * (1.0 / tau);
        let mut parts = [[0.0; L]; 6];
        for j in 0..self.schools() {
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
        let total = lambda * self.schools() as f64;
        SchoolSums {
            squares,
            z2,
            location,
            centered_location,
            scale,
            centered_scale,
            power: total,
            logs: 0.0,
            shares: total,
        }
    }

    /// Evaluates in standardised coordinates, where the effects are standard normal and [`IntegratedEffects`] is what they say
    /// of the scalars once integrated out.
    #[inline(always)]
    fn integrated<const L: usize>(
        &self,
        standard: &StandardisedScalars,
        position: &[f64],
        gradient: &mut [f64],
    ) -> SchoolSums {
        let mut parts = [0.0; L];
        for j in 0..self.schools() {
            let x = position[j];
            gradient[j] = -x;
            parts[j % L] += x * x;
        }
        let IntegratedEffects { shares, logs, pull, squares, drawn } =
            standard.integrated(&self.information, self.schools() + 2);
        SchoolSums {
            squares,
            z2: halve(parts),
            location: pull,
            centered_location: 0.0,
            scale: 0.0,
            centered_scale: drawn,
            power: 0.0,
            logs: logs + standard.log_precision,
            shares,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 256 coordinates have 32 lanes and 257 have 128, in which sums over many kinds have other bits.
    #[test]
    fn integrated_effects_are_summed_in_the_lanes_of_all_coordinates() {
        for schools in [254, 255] {
            let of = |start: usize| -> Vec<f64> {
                (0..schools).map(|j| 1.0 + ((start + j * 7919) % 1009) as f64 / 97.0).collect()
            };
            let model = EightSchools::new(&of(5), &of(500)).unwrap();
            let standard = StandardisedScalars::at(&model.information, [0.4, 0.3, 0.0]);
            let (position, mut gradient) = (vec![0.1; schools + 2], vec![0.0; schools + 2]);
            let sums = match schools {
                254 => model.integrated::<32>(&standard, &position, &mut gradient),
                _ => model.integrated::<128>(&standard, &position, &mut gradient),
            };
            let integrated = |dim: usize| {
                let IntegratedEffects { shares, pull, squares, drawn, .. } =
                    standard.integrated(&model.information, dim);
                [shares, pull, squares, drawn]
            };
            let found = [sums.shares, sums.location, sums.squares, sums.centered_scale];
            assert_eq!(found, integrated(schools + 2));
            assert_ne!(found, integrated(if schools == 254 { 257 } else { 256 }), "the order shows");
        }
    }

    /// The slope of mu, where mu and its prior's part are 0, is a sum over schools in the lanes of 256 and of 257
    /// coordinates.
    #[test]
    fn slopes_are_summed_in_the_lanes_of_all_coordinates() {
        for schools in [254, 255] {
            let of = |start: usize| -> Vec<f64> {
                (0..schools).map(|j| 1.0 + ((start + j * 7919) % 1009) as f64 / 97.0).collect()
            };
            let model = EightSchools::new(&of(5), &of(500)).unwrap();
            let scalars = SchoolScalars::at(0.0, 0.3, None);
            let mut all = Vec::new();
            for start in [77, 150, 333, 612] {
                let (mut position, mut gradient) = (of(start), vec![0.0; schools + 2]);
                position.extend([0.0, 0.3]);
                let by_32 = model.uniform::<32>(0.0, &scalars, &position, &mut gradient);
                let by_128 = model.uniform::<128>(0.0, &scalars, &position, &mut gradient);
                model.evaluate(Centering::NonCentered, &position, &mut gradient).unwrap();
                let by_mu = |sums: &SchoolSums| sums.location + sums.centered_location;
                all.push([gradient[schools], by_mu(&by_32), by_mu(&by_128)]);
            }
            assert!(all.iter().any(|[_, by_32, by_128]| by_32 != by_128), "the order shows: {all:?}");
            let expected = if schools == 254 { 1 } else { 2 };
            assert!(all.iter().all(|of_one| of_one[0] == of_one[expected]), "{schools}: {all:?}");
        }
    }
}
