//! The simulator of the hierarchical normal model: parameters from the prior, and data from parameters.

use crate::{HierarchicalNormal, HierarchicalPrior, Likelihood, ModelError, Simulator};
use octopus_density::{GroupedData, Labels, Layout, LogDensity};
use octopus_random::{Stream, exact};

/// A simulator that makes data of [`HierarchicalNormal`]: `mu_pop ~ N(mu_mean, mu_sd)`, `sigma_pop` and `sigma_obs`
/// half-normal, `z_j ~ N(0, 1)`, `y ~ N(mu_pop + sigma_pop z_j, sigma_obs)`.
#[derive(Clone, Debug)]
pub struct HierarchicalSimulator {
    prior: HierarchicalPrior,
    likelihood: Likelihood,
    groups: usize,
    /// The group of each observation.
    group: Vec<usize>,
    layout: Layout,
}

impl HierarchicalSimulator {
    /// Makes a simulator of groups of these sizes.
    ///
    /// # Errors
    /// When there is no group, a group is empty, or a constant of the prior is out of range.
    pub fn new(sizes: Vec<usize>, prior: HierarchicalPrior, likelihood: Likelihood) -> Result<Self, ModelError> {
        let mut group = Vec::with_capacity(sizes.iter().sum());
        group.extend(sizes.iter().enumerate().flat_map(|(j, &n)| std::iter::repeat_n(j, n)));
        let data = GroupedData::new(Labels::Range(sizes.len()), &group, &vec![0.0; group.len()])?;
        let layout = HierarchicalNormal::new(data, prior, likelihood)?.layout().clone();
        Ok(Self { prior, likelihood, groups: sizes.len(), group, layout })
    }
}

impl Simulator for HierarchicalSimulator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        let HierarchicalPrior { mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale } = self.prior;
        let mut position: Vec<f64> = (0..self.groups).map(|_| random.normal()).collect();
        position.push(mu_mean + mu_sd * random.normal());
        position.push(exact::ln(sigma_pop_scale * random.normal().abs()));
        position.push(exact::ln(sigma_obs_scale * random.normal().abs()));
        position
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        Ok(Box::new(self.with_data(position, random)?))
    }
}

impl HierarchicalSimulator {
    fn with_data(&self, position: &[f64], random: &mut Stream) -> Result<HierarchicalNormal, ModelError> {
        let (z, scalars) = position.split_at(self.groups);
        let (mu_pop, sigma_pop, sigma_obs) = (scalars[0], exact::exp(scalars[1]), exact::exp(scalars[2]));
        let observe = |&j: &usize| mu_pop + sigma_pop * z[j] + sigma_obs * random.normal();
        let values: Vec<f64> = self.group.iter().map(observe).collect();
        let data = GroupedData::new(Labels::Range(self.groups), &self.group, &values)?;
        HierarchicalNormal::new(data, self.prior, self.likelihood)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    /// Compares moments of 20,000 draws of everything that is made with the model's statement.
    #[test]
    fn moments_are_those_of_the_model() {
        let prior = HierarchicalPrior { mu_mean: 3.0, mu_sd: 2.0, sigma_pop_scale: 1.5, sigma_obs_scale: 0.5 };
        let simulator = HierarchicalSimulator::new(vec![1, 2], prior, Likelihood::Collapsed).unwrap();
        let n = 20_000;
        let mut sums = [[0.0; 2]; 5];
        for k in 0..n {
            let mut random = Stream::new(1, k, 0, Purpose::User);
            let position = simulator.draw_parameters(&mut random);
            let y = simulator.with_data(&position, &mut random).unwrap().data().group(1)[1];
            let values = [position[1], position[2], position[3].exp(), position[4].exp(), y];
            for (sum, value) in sums.iter_mut().zip(values) {
                sum[0] += value / f64::from(n);
                sum[1] += value * value / f64::from(n);
            }
        }
        // E x and E x^2; of a half-normal s sqrt(2 / pi) and s^2; Var y = 2^2 + E (sigma_pop z)^2 + E sigma_obs^2.
        let half = (2.0 / std::f64::consts::PI).sqrt();
        let expected =
            [[0.0, 1.0], [3.0, 13.0], [1.5 * half, 2.25], [0.5 * half, 0.25], [3.0, 9.0 + 4.0 + 2.25 + 0.25]];
        for (found, expected) in sums.iter().flatten().zip(expected.iter().flatten()) {
            // The limit is four standard errors; the fourth moments are at most 5 times the squares of the second here.
            let room = 4.0 * expected.abs().max(1.0) * (5.0 / f64::from(n)).sqrt();
            assert!((found - expected).abs() < room, "{sums:?}");
        }
    }

    #[test]
    fn settings_without_sense_are_errors() {
        let of = |sizes: &[usize], prior| HierarchicalSimulator::new(sizes.to_vec(), prior, Likelihood::Collapsed);
        assert!(of(&[], HierarchicalPrior::default()).is_err());
        assert!(of(&[3, 0], HierarchicalPrior::default()).is_err());
        assert!(of(&[3], HierarchicalPrior { mu_sd: -1.0, ..Default::default() }).is_err());
    }

    #[test]
    fn data_have_the_prior_and_the_likelihood_of_their_simulator() {
        let prior = HierarchicalPrior { mu_mean: 3.0, mu_sd: 2.0, sigma_pop_scale: 1.5, sigma_obs_scale: 0.5 };
        let simulator = HierarchicalSimulator::new(vec![1, 2], prior, Likelihood::Pointwise).unwrap();
        let mut random = Stream::new(1, 0, 0, Purpose::User);
        let position = simulator.draw_parameters(&mut random);
        let model = simulator.with_data(&position, &mut random).unwrap();
        assert_eq!((model.prior(), model.likelihood(), position.len()), (&prior, Likelihood::Pointwise, 5));
        let mut same = Stream::new(1, 0, 0, Purpose::User);
        let normals: Vec<f64> = (0..5).map(|_| same.normal()).collect();
        assert_eq!((position[1], position[2]), (normals[1], 3.0 + 2.0 * normals[2]));
        assert_eq!(position[3..], [exact::ln(1.5 * normals[3].abs()), exact::ln(0.5 * normals[4].abs())]);
    }
}
