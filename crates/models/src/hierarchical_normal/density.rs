//! The density of the hierarchical normal model of phase 0: its variables, the constants of its priors and their
//! defaults. The values and gradients of the priors are in `density/kernel.rs`.
//!
//! Predictions, log likelihoods, starting points and the form of the likelihood (collapsed, pointwise) are here, too.

mod gpu;
mod kernel;
mod observed;

use crate::ModelError;
use kernel::Evaluate;
use observed::Observed;
use octopus_density::gpu::GpuDensity;
use octopus_density::warp::padded;
use octopus_density::{
    Centering, DensityError, Dim, GroupedData, Hierarchy, Information, Layout, LogDensity, Noise, Role, Transform,
    Variable,
};
use octopus_random::{Stream, exact};
use pulp::Arch;
use serde::{Deserialize, Serialize};

/// The constants of the priors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HierarchicalPrior {
    /// Mean of the normal prior of `mu_pop`.
    pub mu_mean: f64,
    /// Standard deviation of the normal prior of `mu_pop`.
    pub mu_sd: f64,
    /// Scale of the half-normal prior of `sigma_pop`.
    pub sigma_pop_scale: f64,
    /// Scale of the half-normal prior of `sigma_obs`.
    pub sigma_obs_scale: f64,
}

impl Default for HierarchicalPrior {
    fn default() -> Self {
        Self { mu_mean: 50.0, mu_sd: 20.0, sigma_pop_scale: 15.0, sigma_obs_scale: 5.0 }
    }
}

impl HierarchicalPrior {
    /// Checks every constant.
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a constant is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ModelError> {
        let fail = |field, value, expected| Err(ModelError::Setting { field, value, expected });
        if !self.mu_mean.is_finite() {
            return fail("mu_mean", self.mu_mean, "must be finite");
        }
        for (field, value) in [
            ("mu_sd", self.mu_sd),
            ("sigma_pop_scale", self.sigma_pop_scale),
            ("sigma_obs_scale", self.sigma_obs_scale),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return fail(field, value, "a scale must be positive and finite");
            }
        }
        Ok(())
    }
}

/// How the likelihood is evaluated; both forms have the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Likelihood {
    /// The likelihood is evaluated from each group's count, mean and sum of squares: O(groups) per gradient.
    #[default]
    Collapsed,
    /// The likelihood is evaluated from every observation at each gradient, as general-purpose samplers do:
    /// O(observations).
    Pointwise,
}

impl Likelihood {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Collapsed, Self::Pointwise];

    /// Returns the form's name, as users give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collapsed => "collapsed",
            Self::Pointwise => "pointwise",
        }
    }
}

/// Groups with normal means and normal observations, non-centered:
///
/// ```text
/// mu_pop ~ N(50, 20)      sigma_pop ~ HalfNormal(15)      sigma_obs ~ HalfNormal(5)
/// z_j ~ N(0, 1)           mu_group_j = mu_pop + sigma_pop z_j
/// y_i ~ N(mu_group[group_i], sigma_obs)
/// ```
///
/// Unconstrained coordinates, `groups + 3`: `z_0 .. z_{G-1}`, `mu_pop`, `log sigma_pop`, `log sigma_obs`.
/// The effects come first so that group `j` and its `z_j` share a lane of the virtual warp.
///
/// ```
/// use octopus_density::{GroupedData, Labels, LogDensity};
/// use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
///
/// let data = GroupedData::new(Labels::Range(2), &[0, 0, 1], &[48.0, 51.0, 62.0])?;
/// let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed)?;
/// let mut gradient = vec![0.0; model.dim()];
/// let logp = model.logp_grad(&[0.1, 0.9, 50.0, 2.0, 1.0], &mut gradient)?;
/// assert!(logp.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HierarchicalNormal {
    data: GroupedData,
    prior: HierarchicalPrior,
    likelihood: Likelihood,
    layout: Layout,
    hierarchies: [Hierarchy; 1],
    information: Information,
    observed: Observed,
    arch: Arch,
}

impl HierarchicalNormal {
    /// Makes the model of `data`.
    ///
    /// # Errors
    /// When a constant of the prior is out of range.
    pub fn new(data: GroupedData, prior: HierarchicalPrior, likelihood: Likelihood) -> Result<Self, ModelError> {
        prior.validate()?;
        let groups = data.groups();
        let dim = Dim { name: "group".into(), labels: data.labels().clone() };
        let scalar = |name: &str, offset, transform| Variable {
            name: name.into(),
            dims: Vec::new(),
            role: Role::Parameter { offset, transform },
        };
        let layout = Layout {
            variables: vec![
                scalar("mu_pop", groups, Transform::Identity),
                scalar("sigma_pop", groups + 1, Transform::Exp),
                scalar("sigma_obs", groups + 2, Transform::Exp),
                Variable {
                    name: "z".into(),
                    dims: vec![dim.clone()],
                    role: Role::Parameter { offset: 0, transform: Transform::Identity },
                },
                Variable { name: "mu_group".into(), dims: vec![dim], role: Role::Derived },
            ],
        };
        let observed = Observed::new(&data, prior.mu_mean);
        let (mean, count) = (observed.mean[..groups].to_vec(), observed.count[..groups].to_vec());
        let noise = Noise { log_scale: groups + 2, within: observed.within, observations: observed.total };
        let information = Information::new(prior.mu_mean, mean, count).with_noise(noise).with_prior(prior.mu_sd);
        Ok(Self {
            observed,
            hierarchies: [Hierarchy {
                location: groups,
                log_scale: groups + 1,
                z: 0..groups,
                information: Some(information.clone()),
            }],
            information,
            arch: Arch::new(),
            data,
            prior,
            likelihood,
            layout,
        })
    }

    /// Returns the observations.
    pub fn data(&self) -> &GroupedData {
        &self.data
    }

    /// Returns the constants of the priors.
    pub fn prior(&self) -> &HierarchicalPrior {
        &self.prior
    }

    /// Returns the form in which the likelihood is evaluated.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    fn evaluate(&self, centering: Centering, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        debug_assert_eq!(padded(position.len()), padded(self.dim()));
        let value = self.arch.dispatch(Evaluate { model: self, centering, position, gradient });
        if value.is_finite() { Ok(value) } else { Err(DensityError::NotFinite { value }) }
    }

    /// `(mu_pop, sigma_pop, sigma_obs)` at an unconstrained position.
    fn scalars(&self, position: &[f64]) -> (f64, f64, f64) {
        let groups = self.data.groups();
        (position[groups], exact::exp(position[groups + 1]), exact::exp(position[groups + 2]))
    }
}

impl LogDensity for HierarchicalNormal {
    fn dim(&self) -> usize {
        self.data.groups() + 3
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn name(&self) -> &str {
        "hierarchical-normal"
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.evaluate(Centering::NonCentered, position, gradient)
    }

    /// Returns the constants of `groups + 3` normal densities of the prior, two of them halved, and of one for each
    /// observation.
    fn log_constant(&self) -> Option<f64> {
        let densities = self.observed.total + self.dim() as f64;
        let HierarchicalPrior { mu_sd, sigma_pop_scale, sigma_obs_scale, .. } = self.prior;
        let scales: f64 = [mu_sd, sigma_pop_scale, sigma_obs_scale].map(exact::ln).iter().sum();
        Some(2.0 * exact::ln(2.0) - 0.5 * densities * exact::ln(2.0 * std::f64::consts::PI) - scales)
    }

    fn has_tested_gradient(&self) -> bool {
        true
    }

    fn kernels(&self) -> Option<&dyn GpuDensity> {
        Some(self)
    }

    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        let centering = match centerings {
            [Centering::Standardised, ..] if !self.hierarchies[0].is_informed() => Centering::NonCentered,
            [centering, ..] => *centering,
            [] => Centering::NonCentered,
        };
        self.evaluate(centering, position, gradient)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        let groups = self.data.groups();
        let (mu_pop, sigma_pop, sigma_obs) = self.scalars(position);
        let (scalars, arrays) = out.split_at_mut(3);
        scalars.copy_from_slice(&[mu_pop, sigma_pop, sigma_obs]);
        let (z, mu_group) = arrays.split_at_mut(groups);
        z.copy_from_slice(&position[..groups]);
        for (mean, z) in mu_group.iter_mut().zip(z) {
            *mean = mu_pop + sigma_pop * *z;
        }
    }

    fn observations(&self) -> usize {
        self.data.values().len()
    }

    fn log_likelihood(&self, position: &[f64], out: &mut [f64]) {
        let (mu_pop, sigma_pop, sigma_obs) = self.scalars(position);
        let constant = -exact::ln(sigma_obs) - 0.5 * exact::ln(2.0 * std::f64::consts::PI);
        let mut out = out.iter_mut();
        for (j, z) in position[..self.data.groups()].iter().enumerate() {
            let mean = mu_pop + sigma_pop * z;
            for (&y, out) in self.data.group(j).iter().zip(&mut out) {
                let standard = (y - mean) / sigma_obs;
                *out = constant - 0.5 * standard * standard;
            }
        }
    }

    fn predict(&self, position: &[f64], random: &mut Stream, out: &mut [f64]) {
        let (mu_pop, sigma_pop, sigma_obs) = self.scalars(position);
        let mut out = out.iter_mut();
        for (j, z) in position[..self.data.groups()].iter().enumerate() {
            let mean = mu_pop + sigma_pop * z;
            for out in out.by_ref().take(self.data.group(j).len()) {
                *out = mean + sigma_obs * random.normal();
            }
        }
    }

    /// Returns the prior's medians, with all groups at the population mean.
    fn center(&self) -> Option<Vec<f64>> {
        const HALF_NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
        let mut center = vec![0.0; self.data.groups()];
        center.extend([
            self.prior.mu_mean,
            exact::ln(self.prior.sigma_pop_scale * HALF_NORMAL_MEDIAN),
            exact::ln(self.prior.sigma_obs_scale * HALF_NORMAL_MEDIAN),
        ]);
        Some(center)
    }

    /// `mu_pop` starts in units of its prior, so that data in any units are sampled alike.
    fn init_scale(&self) -> Option<Vec<f64>> {
        let mut scale = vec![1.0; self.dim()];
        scale[self.data.groups()] = self.prior.mu_sd;
        Some(scale)
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Labels;

    fn model() -> HierarchicalNormal {
        let data = GroupedData::new(Labels::Range(2), &[0, 0, 1], &[48.0, 51.0, 62.0]).unwrap();
        HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed).unwrap()
    }

    /// The median of a half-normal is 0.674 of its scale, the third quartile of the normal (SciPy's `norm.ppf(0.75)`).
    #[test]
    fn chains_start_about_the_priors_of_the_prd() {
        let prior = HierarchicalPrior { mu_mean: 50.0, mu_sd: 20.0, sigma_pop_scale: 15.0, sigma_obs_scale: 5.0 };
        assert_eq!(HierarchicalPrior::default(), prior);
        let center = model().center().unwrap();
        let median = 0.674_489_750_196_081_7_f64;
        let expected = [0.0, 0.0, 50.0, (15.0 * median).ln(), (5.0 * median).ln()];
        assert!(center.len() == 5 && center.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{center:?}");
        assert_eq!(model().init_scale().unwrap(), [1.0, 1.0, 20.0, 1.0, 1.0]);
    }

    /// At mu_pop = 50, sigma_pop = 4 and sigma_obs = 2, by hand: the groups' means are 51 and 44.
    #[test]
    fn variables_log_likelihoods_and_predictions_are_those_of_the_definition() {
        let model = model();
        let position = [0.25, -1.5, 50.0, 4_f64.ln(), 2_f64.ln()];
        let near = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{found:?}, not {expected:?}");
        };
        let mut out = [0.0; 7];
        model.expand(&position, &mut out);
        near(&out, &[50.0, 4.0, 2.0, 0.25, -1.5, 51.0, 44.0]);
        let mut out = [0.0; 3];
        model.log_likelihood(&position, &mut out);
        let normal = |standard: f64| -0.5 * (2.0 * std::f64::consts::PI).ln() - 2_f64.ln() - 0.5 * standard * standard;
        near(&out, &[normal(1.5), normal(0.0), normal(9.0)]);
        model.predict(&position, &mut Stream::new(1, 0, 0, octopus_random::Purpose::User), &mut out);
        let mut random = Stream::new(1, 0, 0, octopus_random::Purpose::User);
        near(&out, &[51.0, 51.0, 44.0].map(|mean| mean + 2.0 * random.normal()));
    }
}
