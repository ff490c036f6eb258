//! The simulator of the model of eight schools: parameters from the prior, and data from parameters.

use super::density::{MU_SD, TAU_SCALE};
use crate::{EightSchools, ModelError, Simulator};
use octopus_density::{Layout, LogDensity};
use octopus_random::{Stream, exact};

/// A simulator that makes effects of [`EightSchools`]: `mu ~ N(0, 5)`, `tau ~ HalfCauchy(5)`, `theta_trans_j ~ N(0,
/// 1)`, `y_j ~ N(mu + tau theta_trans_j, sigma_j)`.
#[derive(Clone, Debug)]
pub struct SchoolsSimulator {
    sigma: Vec<f64>,
    layout: Layout,
}

impl SchoolsSimulator {
    /// Makes a simulator with the number of Rubin's schools and standard errors that are `times` as large.
    pub fn rubin_with_errors(times: f64) -> Self {
        let mut rubin = Self::rubin();
        rubin.sigma.iter_mut().for_each(|sigma| *sigma *= times);
        rubin
    }

    /// Makes a simulator with the number and the standard errors of Rubin's schools.
    pub fn rubin() -> Self {
        Self::new(&EightSchools::rubin())
    }

    /// Makes a simulator with the number and the standard errors of `schools`.
    pub fn new(schools: &EightSchools) -> Self {
        Self { sigma: schools.sigma().to_vec(), layout: schools.layout().clone() }
    }
}

impl Simulator for SchoolsSimulator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        let mut position: Vec<f64> = self.sigma.iter().map(|_| random.normal()).collect();
        position.push(MU_SD * random.normal());
        // A Cauchy number is the quotient of two normal numbers. A tangent would give one too, but its bits differ
        // between machines.
        let (above, below) = (random.normal().abs(), random.normal().abs());
        position.push(exact::ln(TAU_SCALE * above / below));
        position
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        Ok(Box::new(self.with_data(position, random)?))
    }
}

impl SchoolsSimulator {
    fn with_data(&self, position: &[f64], random: &mut Stream) -> Result<EightSchools, ModelError> {
        let (z, scalars) = position.split_at(self.sigma.len());
        let (mu, tau) = (scalars[0], exact::exp(scalars[1]));
        let y: Vec<f64> = z.iter().zip(&self.sigma).map(|(z, sigma)| mu + tau * z + sigma * random.normal()).collect();
        EightSchools::new(&y, &self.sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    /// Checks quartiles of log tau: a half-Cauchy number is below its scale times tan(pi p / 2) with probability p.
    #[test]
    fn tau_is_half_cauchy_and_effects_have_their_errors() {
        let simulator = SchoolsSimulator::rubin();
        let n = 20_000;
        let (mut below, mut squares) = ([0.0; 3], 0.0);
        for k in 0..n {
            let mut random = Stream::new(2, k, 0, Purpose::User);
            let position = simulator.draw_parameters(&mut random);
            for (below, p) in below.iter_mut().zip([0.25, 0.5, 0.75]) {
                let quantile = 5.0 * (std::f64::consts::FRAC_PI_2 * p).tan();
                *below += f64::from(u8::from(position[9].exp() < quantile)) / f64::from(n);
            }
            let model = simulator.with_data(&position, &mut random).unwrap();
            let mean = position[8] + position[9].exp() * position[3];
            squares += ((model.y()[3] - mean) / 11.0).powi(2) / f64::from(n);
        }
        for (below, p) in below.iter().zip([0.25, 0.5, 0.75]) {
            assert!((below - p).abs() < 4.0 * (0.25 / f64::from(n)).sqrt(), "{below} {p}");
        }
        assert!((squares - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{squares}");
    }
}
