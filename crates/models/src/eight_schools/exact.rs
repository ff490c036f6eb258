//! The exact posterior of eight schools by quadrature over tau: given tau everything else is jointly normal.

use super::density::{EightSchools, MU_SD, TAU_SCALE};
use crate::exact::Exact;
use crate::moments::Moments;

/// The posterior means and standard deviations of [`EightSchools`].
///
/// ```
/// use octopus_models::{EightSchools, exact::SchoolsPosterior};
///
/// let posterior = SchoolsPosterior::compute(&EightSchools::rubin());
/// // posteriordb's reference draws: 4.41 and 3.60, each with a standard error of 0.03.
/// assert!((posterior.mu.mean - 4.41).abs() < 0.1 && (posterior.tau.mean - 3.60).abs() < 0.1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SchoolsPosterior {
    /// The common mean.
    pub mu: Moments,
    /// The standard deviation of the effects. With one school alone, its posterior standard deviation is infinite.
    pub tau: Moments,
    /// Each school's effect.
    pub theta: Vec<Moments>,
    /// Each school's standardised deviation from the mean.
    pub theta_trans: Vec<Moments>,
    /// log p(y): the evidence, all normalising constants included.
    pub log_marginal_likelihood: f64,
}

/// Step of the trapezoidal rule over log tau. The integrands are analytic for arguments within pi / 2 of the real axis
/// (tau^2 = -sigma_j^2 and tau^2 = -25 are the nearest singularities), so that its error falls with exp(-pi^2 / step);
/// effects of many standard errors put a factor before it.
const STEP: f64 = 0.1;

/// How far the rule goes beyond the smallest and the largest scale of the problem, in units of log tau. Towards 0 the
/// posterior of log tau falls as tau; beyond, with J schools, its product with tau^2 falls as tau^(1 - J).
const REACH: f64 = 50.0;

impl SchoolsPosterior {
    /// Computes the posterior of `model`, by the trapezoidal rule over log tau, to about ten digits.
    pub fn compute(model: &EightSchools) -> Self {
        Self::with_step(model, STEP)
    }

    fn with_step(model: &EightSchools, step: f64) -> Self {
        let schools = model.schools();
        let (highest, nodes) = nodes(model, step);
        let total: f64 = nodes.iter().map(|(weight, _)| weight).sum();
        let moments = |of: &dyn Fn(&GivenTau) -> (f64, f64)| {
            let mean = nodes.iter().map(|(weight, given)| weight * of(given).0).sum::<f64>() / total;
            let square = |(weight, given): &(f64, GivenTau)| {
                let (center, variance) = of(given);
                weight * (variance + (center - mean) * (center - mean))
            };
            Moments { mean, sd: (nodes.iter().map(square).sum::<f64>() / total).sqrt() }
        };
        let mut tau = moments(&|given| (given.tau, 0.0));
        if schools == 1 {
            tau.sd = f64::INFINITY;
        }
        Self {
            mu: moments(&|given| (given.mean, given.variance)),
            tau,
            theta: (0..schools).map(|j| moments(&|given| given.theta(model, j))).collect(),
            theta_trans: (0..schools).map(|j| moments(&|given| given.theta_trans(model, j))).collect(),
            log_marginal_likelihood: highest + (step * total).ln() + GivenTau::log_constant(schools),
        }
    }
}

/// The fewest schools with which draws estimate the standard deviation of tau. The density of tau falls as
/// tau^(-2 - J), and the standard error of that estimate needs its fourth moment.
const TELLING_SCHOOLS: usize = 4;

impl Exact for SchoolsPosterior {
    fn method(&self) -> &'static str {
        "by quadrature over tau, good to ten digits"
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.log_marginal_likelihood)
    }

    fn moments_of(&self, variable: &str, index: usize) -> Option<Moments> {
        let heavy = self.theta.len() < TELLING_SCHOOLS;
        match variable {
            "mu" => Some(self.mu),
            "tau" => Some(self.tau).filter(|_| !heavy),
            "theta" => self.theta.get(index).copied(),
            "theta_trans" => self.theta_trans.get(index).copied(),
            _ => None,
        }
    }
}

/// Values of tau with their weights: the posterior of log tau, up to a factor, of which the logarithm comes first.
fn nodes(model: &EightSchools, step: f64) -> (f64, Vec<(f64, GivenTau)>) {
    let scales = || model.sigma().iter().copied().chain([MU_SD, TAU_SCALE]);
    let far = model.y().iter().fold(0.0, |a: f64, y| a.max(y.abs()));
    let first = scales().fold(f64::INFINITY, f64::min).ln() - REACH;
    let last = scales().fold(far, f64::max).ln() + REACH;
    let count = ((last - first) / step).ceil() as usize + 1;
    let of = |k: usize| {
        let log_tau = first + k as f64 * step;
        let given = GivenTau::new(model, log_tau.exp());
        (log_tau + given.log_density, given)
    };
    let logs: Vec<(f64, GivenTau)> = (0..count).map(of).collect();
    let highest = logs.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    (highest, logs.into_iter().map(|(log, given)| ((log - highest).exp(), given)).collect())
}

/// What is known given tau: mu is normal, and so is each theta_j given mu.
struct GivenTau {
    tau: f64,
    /// log p(tau) + log p(y | tau), up to a constant.
    log_density: f64,
    /// Mean and variance of mu.
    mean: f64,
    variance: f64,
}

impl GivenTau {
    /// y_j ~ N(mu, tau^2 + sigma_j^2) with mu ~ N(0, 5): the conjugate normal.
    fn new(model: &EightSchools, tau: f64) -> Self {
        let mut precision = 1.0 / (MU_SD * MU_SD);
        let (mut weighted, mut log_density) = (0.0, 0.0);
        for (y, sigma) in model.y().iter().zip(model.sigma()) {
            let variance = tau * tau + sigma * sigma;
            precision += 1.0 / variance;
            weighted += y / variance;
            log_density -= 0.5 * (variance.ln() + y * y / variance);
        }
        let mean = weighted / precision;
        log_density += 0.5 * (mean * weighted - precision.ln()) - (tau / TAU_SCALE).powi(2).ln_1p();
        Self { tau, log_density, mean, variance: 1.0 / precision }
    }

    /// What `log_density` leaves out: the constants of mu's normal prior, tau's half-Cauchy and the measurements; mu is
    /// integrated out.
    fn log_constant(schools: usize) -> f64 {
        let pi = std::f64::consts::PI;
        (2.0 / (pi * TAU_SCALE)).ln() - MU_SD.ln() - 0.5 * schools as f64 * (2.0 * pi).ln()
    }

    /// Returns the mean and variance of theta_j: shrunk towards mu by sigma^2 / (tau^2 + sigma^2).
    fn theta(&self, model: &EightSchools, j: usize) -> (f64, f64) {
        let variance = model.sigma()[j].powi(2);
        let tau2 = self.tau * self.tau;
        let shrinkage = variance / (tau2 + variance);
        let mean = shrinkage * self.mean + (1.0 - shrinkage) * model.y()[j];
        (mean, tau2 * shrinkage + shrinkage * shrinkage * self.variance)
    }

    /// Returns the mean and variance of (theta_j - mu) / tau.
    fn theta_trans(&self, model: &EightSchools, j: usize) -> (f64, f64) {
        let variance = model.sigma()[j].powi(2);
        let slope = self.tau / (self.tau * self.tau + variance);
        let mean = slope * (model.y()[j] - self.mean);
        (mean, variance / (self.tau * self.tau + variance) + slope * slope * self.variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of effects that lie 30 standard errors from 0, too: 1e-6 at a step of 0.25, nothing at the step that is used.
    #[test]
    fn the_rule_has_converged() {
        let other = EightSchools::new(&[1e3, -40.0, 0.2], &[30.0, 7.0, 0.05]).unwrap();
        for (model, model_name) in [(EightSchools::rubin(), "rubin"), (other, "other")] {
            let all = |posterior| {
                let SchoolsPosterior { mu, tau, theta, theta_trans, .. } = posterior;
                [vec![mu, tau], theta, theta_trans].concat()
            };
            let by = |step| all(SchoolsPosterior::with_step(&model, step));
            let (coarse, used, fine) = (by(0.25), all(SchoolsPosterior::compute(&model)), by(0.05));
            for ((coarse, used), fine) in coarse.iter().zip(&used).zip(&fine) {
                assert!((used.mean - fine.mean).abs() < 1e-12 * fine.sd, "{model_name}: {used:?}, {fine:?}");
                assert!((used.sd / fine.sd - 1.0).abs() < 1e-12, "{model_name}: {used:?}, {fine:?}");
                assert!((coarse.mean - fine.mean).abs() < 1e-5 * fine.sd, "{model_name}: {coarse:?}, {fine:?}");
            }
        }
    }

    /// Rubin's mu, tau, first and last theta, and last theta_trans, and mu and the mean of tau of one school, by the same
    /// sum with mpmath's numbers of 25 digits and a step of 0.05.
    #[test]
    fn moments_are_those_of_many_digits() {
        let near = |found: Moments, [mean, sd]: [f64; 2]| {
            assert!(
                (found.mean - mean).abs() < 1e-12 * sd && (found.sd / sd - 1.0).abs() < 1e-12,
                "{found:?}, not {mean} {sd}"
            );
        };
        let rubin = SchoolsPosterior::compute(&EightSchools::rubin());
        // By SciPy's `quad` over tau and mu.
        assert!(
            (rubin.log_marginal_likelihood + 31.311_347_352_292_79).abs() < 1e-9,
            "{}",
            rubin.log_marginal_likelihood
        );
        near(rubin.mu, [4.396_820_713_833_003, 3.317_704_463_139_564]);
        near(rubin.tau, [3.597_705_484_097_663_8, 3.219_958_414_662_765_5]);
        near(rubin.theta[0], [6.211_884_204_056_291, 5.593_126_195_330_704]);
        near(rubin.theta[7], [4.854_253_319_881_532, 5.290_801_064_554_744]);
        near(rubin.theta_trans[0], [0.316_659_797_035_986_6, 0.988_474_575_143_285_8]);
        near(rubin.theta_trans[7], [0.075_607_242_369_742_33, 0.974_123_513_136_103_6]);
        assert_eq!((rubin.theta.len(), rubin.theta_trans.len()), (8, 8));
        let one = SchoolsPosterior::compute(&EightSchools::new(&[6.0], &[4.0]).unwrap());
        near(one.mu, [2.461_840_873_386_030_5, 3.990_689_759_838_78]);
        assert!((one.tau.mean / 6.289_133_871_286_22 - 1.0).abs() < 1e-12 && one.tau.sd.is_infinite(), "{:?}", one.tau);
        let two = SchoolsPosterior::compute(&EightSchools::new(&[6.0, 1.0], &[4.0, 2.0]).unwrap());
        assert!(two.tau.sd.is_finite());
    }

    /// From four schools on draws tell the standard deviation of tau.
    #[test]
    fn tau_is_told_from_four_schools_on() {
        let tells = |schools: usize| {
            let y: Vec<f64> = (0..schools).map(|j| j as f64).collect();
            let posterior = SchoolsPosterior::compute(&EightSchools::new(&y, &vec![2.0; schools]).unwrap());
            posterior.moments_of("tau", 0).is_some()
        };
        assert_eq!([3, 4].map(tells), [false, true]);
    }
}
