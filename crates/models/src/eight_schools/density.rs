//! The density of eight schools: effects of known accuracy about a common mean.
//!
//! Its priors, variables and Rubin's data are here, and which data it refuses.

mod gpu;
mod kernel;

use crate::ModelError;
use octopus_density::gpu::GpuDensity;
use octopus_density::warp::Buffer;
use octopus_density::{
    Centering, DataError, DensityError, Dim, Hierarchy, Information, Labels, Layout, LogDensity, Role, Transform,
    Variable,
};
use octopus_random::{Stream, exact};

/// Standard deviation of the normal prior of mu.
pub(super) const MU_SD: f64 = 5.0;
/// Scale of the half-Cauchy prior of tau.
pub(super) const TAU_SCALE: f64 = 5.0;

/// Effects measured with known standard errors in several schools, or studies, non-centered:
///
/// ```text
/// mu ~ N(0, 5)              tau ~ HalfCauchy(5)
/// theta_trans_j ~ N(0, 1)   theta_j = mu + tau theta_trans_j
/// y_j ~ N(theta_j, sigma_j)
/// ```
///
/// Priors and names are those of posteriordb's `eight_schools-eight_schools_noncentered`. Unconstrained coordinates,
/// `schools + 2`: `theta_trans_0 .. theta_trans_{J-1}`, `mu`, `log tau`. Where the schools hardly differ, tau goes to 0
/// and a centered posterior has a funnel's neck there (Betancourt and Girolami 2015).
///
/// ```
/// use octopus_density::LogDensity;
/// use octopus_models::EightSchools;
///
/// let model = EightSchools::rubin();
/// let mut gradient = vec![0.0; model.dim()];
/// let logp = model.logp_grad(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.4, 1.0], &mut gradient)?;
/// assert!(logp.is_finite());
/// # Ok::<(), octopus_density::DensityError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EightSchools {
    y: Vec<f64>,
    sigma: Vec<f64>,
    /// The effects, and 1 / sigma^2; both are 0 in the padding.
    effect: Buffer,
    precision: Buffer,
    layout: Layout,
    hierarchies: [Hierarchy; 1],
    information: Information,
}

impl EightSchools {
    /// Returns the coaching of eight schools for the verbal SAT (Rubin 1981, Journal of Educational Statistics 6, table
    /// 1).
    pub fn rubin() -> Self {
        let labels = Labels::Strings(["A", "B", "C", "D", "E", "F", "G", "H"].map(String::from).to_vec());
        Self::labelled(
            labels,
            vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0],
            vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0],
        )
    }

    /// Makes the model of the effects `y` with their standard errors `sigma`: two slices of equal length, of 1 school
    /// or more.
    ///
    /// # Errors
    /// When the lengths differ, there is no effect, an effect is not finite, or a standard error is not positive or so
    /// small or large that 1 / sigma^2 is no number.
    pub fn new(y: &[f64], sigma: &[f64]) -> Result<Self, ModelError> {
        if y.len() != sigma.len() {
            return Err(ModelError::StandardErrors { effects: y.len(), errors: sigma.len() });
        }
        if y.is_empty() {
            return Err(DataError::NoObservations.into());
        }
        for (row, (&y, &sigma)) in y.iter().zip(sigma).enumerate() {
            if !y.is_finite() {
                return Err(DataError::NotFinite { row, value: y }.into());
            }
            if !(sigma > 0.0 && precision(sigma).is_normal()) {
                return Err(ModelError::StandardError { row, value: sigma });
            }
        }
        Ok(Self::labelled(Labels::Range(y.len()), y.to_vec(), sigma.to_vec()))
    }

    fn labelled(labels: Labels, y: Vec<f64>, sigma: Vec<f64>) -> Self {
        let schools = y.len();
        let (mut effects, mut precisions) = (Buffer::zeros(schools + 2), Buffer::zeros(schools + 2));
        effects[..schools].copy_from_slice(&y);
        precisions.iter_mut().zip(&sigma).for_each(|(out, &sigma)| *out = precision(sigma));
        let dims = vec![Dim { name: "school".into(), labels }];
        let sampled = |offset, transform| Role::Parameter { offset, transform };
        let variable = |name: &str, dims: &[Dim], role| Variable { name: name.into(), dims: dims.to_vec(), role };
        let layout = Layout {
            variables: vec![
                variable("mu", &[], sampled(schools, Transform::Identity)),
                variable("tau", &[], sampled(schools + 1, Transform::Exp)),
                variable("theta", &dims, Role::Derived),
                variable("theta_trans", &dims, sampled(0, Transform::Identity)),
            ],
        };
        let information = Information::new(0.0, y.clone(), precisions[..schools].to_vec()).with_prior(MU_SD);
        Self {
            effect: effects,
            precision: precisions,
            layout,
            hierarchies: [Hierarchy {
                location: schools,
                log_scale: schools + 1,
                z: 0..schools,
                information: Some(information.clone()),
            }],
            information,
            y,
            sigma,
        }
    }

    /// Returns the number of schools.
    pub fn schools(&self) -> usize {
        self.y.len()
    }

    /// Returns the measured effect of each school.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Returns the standard error of each effect.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// `(mu, tau)` at an unconstrained position.
    fn scalars(&self, position: &[f64]) -> (f64, f64) {
        let schools = self.schools();
        (position[schools], exact::exp(position[schools + 1]))
    }
}

/// 1 / sigma^2
fn precision(sigma: f64) -> f64 {
    1.0 / (sigma * sigma)
}

impl LogDensity for EightSchools {
    fn dim(&self) -> usize {
        self.schools() + 2
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn name(&self) -> &str {
        "eight-schools"
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.evaluate(Centering::NonCentered, position, gradient)
    }

    /// Returns the constants of a normal density for each effect, each measurement and mu, and of tau's half-Cauchy.
    fn log_constant(&self) -> Option<f64> {
        let densities = (2 * self.schools() + 1) as f64;
        let scales: f64 = self.sigma.iter().copied().chain([MU_SD, TAU_SCALE]).map(exact::ln).sum();
        let pi = std::f64::consts::PI;
        Some(exact::ln(2.0 / pi) - 0.5 * densities * exact::ln(2.0 * pi) - scales)
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
        self.evaluate(centerings.first().copied().unwrap_or(Centering::NonCentered), position, gradient)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        let (mu, tau) = self.scalars(position);
        let (scalars, arrays) = out.split_at_mut(2);
        scalars.copy_from_slice(&[mu, tau]);
        let (theta, z) = arrays.split_at_mut(self.schools());
        z.copy_from_slice(&position[..self.schools()]);
        for (theta, z) in theta.iter_mut().zip(z) {
            *theta = mu + tau * *z;
        }
    }

    fn observations(&self) -> usize {
        self.schools()
    }

    fn log_likelihood(&self, position: &[f64], out: &mut [f64]) {
        let (mu, tau) = self.scalars(position);
        let half_log_2_pi = 0.5 * exact::ln(2.0 * std::f64::consts::PI);
        for (j, out) in out.iter_mut().enumerate() {
            let standard = (self.y[j] - (mu + tau * position[j])) / self.sigma[j];
            *out = -exact::ln(self.sigma[j]) - half_log_2_pi - 0.5 * standard * standard;
        }
    }

    fn predict(&self, position: &[f64], random: &mut Stream, out: &mut [f64]) {
        let (mu, tau) = self.scalars(position);
        for (j, out) in out.iter_mut().enumerate() {
            *out = mu + tau * position[j] + self.sigma[j] * random.normal();
        }
    }

    /// Returns the prior's medians, with all schools at the mean.
    fn center(&self) -> Option<Vec<f64>> {
        let mut center = vec![0.0; self.schools()];
        center.extend([0.0, exact::ln(TAU_SCALE)]);
        Some(center)
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::warp::padded;

    /// Table 1 of Rubin (1981), and the priors of posteriordb.
    #[test]
    fn the_data_are_rubins() {
        let model = EightSchools::rubin();
        assert_eq!(model.y(), [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]);
        assert_eq!(model.sigma(), [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]);
        assert_eq!(model.hierarchies()[0].information.as_ref().unwrap().prior_sd(), Some(5.0));
        let mut center = vec![0.0; 9];
        center.push(exact::ln(5.0));
        assert_eq!(model.center(), Some(center));
    }

    /// Effects and precisions are as long as the coordinates with their padding, as the kernels read them.
    #[test]
    fn the_data_are_padded_as_coordinates_are() {
        for schools in 28..=33 {
            let model = EightSchools::new(&vec![1.0; schools], &vec![2.0; schools]).unwrap();
            let expected = padded(schools + 2);
            assert_eq!((model.dim(), model.effect.len(), model.precision.len()), (schools + 2, expected, expected));
            assert!(model.precision.iter().enumerate().all(|(j, &p)| p == if j < schools { 0.25 } else { 0.0 }));
        }
    }

    /// At mu = 1 and tau = 2, by hand.
    #[test]
    fn variables_and_log_likelihoods_are_those_of_the_definition() {
        let model = EightSchools::new(&[3.0, -1.0], &[2.0, 0.5]).unwrap();
        let position = [0.25, -1.5, 1.0, 2_f64.ln()];
        let near = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}, not {expected:?}");
        };
        let mut out = [0.0; 6];
        model.expand(&position, &mut out);
        near(&out, &[1.0, 2.0, 1.5, -2.0, 0.25, -1.5]);
        let mut out = [0.0; 2];
        model.log_likelihood(&position, &mut out);
        let normal =
            |standard: f64, sd: f64| -0.5 * (2.0 * std::f64::consts::PI).ln() - sd.ln() - 0.5 * standard * standard;
        near(&out, &[normal(0.75, 2.0), normal(2.0, 0.5)]);
        assert_eq!(model.observations(), 2);
    }
}
