//! Hierarchies that give no information about their effects: counts of successes, counts of events, and measurements.
#![allow(dead_code, reason = "tests of other crates take what they need")]

use octopus_density::{
    DensityError, Dim, Hierarchy, Information, Labels, Layout, LogDensity, Role, Transform, Variable,
};
use octopus_random::{Purpose, Stream, exact};
use rayon::prelude::*;

/// The observation of one effect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Observed {
    /// Successes of so many trials, whose log odds are the effect.
    Successes(f64, f64),
    /// Events in this exposure, whose log rate is the effect.
    Events(f64, f64),
    /// The effect with a normal error of this standard deviation.
    Measured(f64, f64),
}

impl Observed {
    /// The log likelihood of an effect, without constants, and its slope.
    pub(crate) fn log_likelihood(self, theta: f64) -> (f64, f64) {
        match self {
            Self::Successes(successes, trials) => {
                let odds = exact::exp(-theta.abs());
                let log_all = theta.max(0.0) + exact::ln(1.0 + odds);
                let p = if theta > 0.0 { 1.0 / (1.0 + odds) } else { odds / (1.0 + odds) };
                (successes * theta - trials * log_all, successes - trials * p)
            }
            Self::Events(events, exposure) => {
                let expected = exposure * exact::exp(theta);
                (events * theta - expected, events - expected)
            }
            Self::Measured(y, sd) => {
                let z = (y - theta) / sd;
                (-0.5 * z * z, z / sd)
            }
        }
    }

    /// Another observation of the same kind and size.
    pub(crate) fn drawn(self, theta: f64, random: &mut Stream) -> Self {
        match self {
            Self::Successes(_, trials) => {
                let p = 1.0 / (1.0 + (-theta).exp());
                Self::Successes((0..trials as usize).filter(|_| random.uniform() < p).count() as f64, trials)
            }
            Self::Events(_, exposure) => {
                // Waiting times until the exposure is over.
                let (mut time, mut events) = (0.0, 0.0);
                loop {
                    time -= random.uniform().ln() / theta.exp();
                    if time > exposure {
                        return Self::Events(events, exposure);
                    }
                    events += 1.0;
                }
            }
            Self::Measured(_, sd) => Self::Measured(theta + sd * random.normal(), sd),
        }
    }
}

/// `theta_j = mu + tau z_j`, `z_j ~ N(0, 1)`, `mu ~ N(0, mu_sd)`, `tau ~ HalfNormal(tau_sd)`; the coordinates are z, mu and
/// log tau.
pub(crate) struct Effects {
    pub(crate) observed: Vec<Observed>,
    pub(crate) priors: (f64, f64),
    blocks: Vec<Hierarchy>,
    layout: Layout,
}

impl Effects {
    pub(crate) fn new(observed: Vec<Observed>, priors: (f64, f64)) -> Self {
        let groups = observed.len();
        let parameter = |name: &str, dims, offset, transform| Variable {
            name: name.into(),
            dims,
            role: Role::Parameter { offset, transform },
        };
        let dim = Dim { name: "group".into(), labels: Labels::Range(groups) };
        let layout = Layout {
            variables: vec![
                parameter("mu", vec![], groups, Transform::Identity),
                parameter("tau", vec![], groups + 1, Transform::Exp),
                parameter("z", vec![dim.clone()], 0, Transform::Identity),
                Variable { name: "theta".into(), dims: vec![dim], role: Role::Derived },
            ],
        };
        let block = Hierarchy { location: groups, log_scale: groups + 1, z: 0..groups, information: None };
        Self { observed, priors, blocks: vec![block], layout }
    }

    /// The same with information about the effects.
    pub(crate) fn informed(self, information: Information) -> Self {
        let blocks = self.blocks.into_iter().map(|block| Hierarchy { information: Some(information.clone()), ..block });
        Self { blocks: blocks.collect(), ..self }
    }

    /// Data of groups of these sizes: effects, and what is seen of them.
    pub(crate) fn simulated(seed: u64, (mu, tau): (f64, f64), kinds: Vec<Observed>, priors: (f64, f64)) -> Self {
        let mut random = Stream::new(seed, 0, 0, Purpose::User);
        let observed = kinds.into_iter().map(|kind| {
            let theta = mu + tau * random.normal();
            kind.drawn(theta, &mut random)
        });
        Self::new(observed.collect(), priors)
    }

    /// Parameters from the prior, and the same kinds of data from them.
    pub(crate) fn draw_from_prior(&self, random: &mut Stream) -> (Vec<f64>, Self) {
        let mut x: Vec<f64> = self.observed.iter().map(|_| random.normal()).collect();
        let (mu, tau) = (self.priors.0 * random.normal(), self.priors.1 * random.normal().abs());
        let observed = self.observed.iter().zip(&x).map(|(kind, z)| kind.drawn(mu + tau * z, random)).collect();
        x.extend([mu, tau.ln()]);
        (x, Self::new(observed, self.priors))
    }
}

impl LogDensity for Effects {
    fn dim(&self) -> usize {
        self.observed.len() + 2
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let groups = self.observed.len();
        let (mu, tau) = (x[groups], exact::exp(x[groups + 1]));
        let (m, t) = (mu / self.priors.0, tau / self.priors.1);
        let mut logp = x[groups + 1] - 0.5 * (m * m + t * t);
        let (mut by_mu, mut by_log_tau) = (-m / self.priors.0, 1.0 - t * t);
        for (j, observed) in self.observed.iter().enumerate() {
            let (value, slope) = observed.log_likelihood(mu + tau * x[j]);
            logp += value - 0.5 * x[j] * x[j];
            gradient[j] = tau * slope - x[j];
            by_mu += slope;
            by_log_tau += tau * x[j] * slope;
        }
        (gradient[groups], gradient[groups + 1]) = (by_mu, by_log_tau);
        if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        let groups = self.observed.len();
        let (mu, tau) = (x[groups], x[groups + 1].exp());
        out[..2].copy_from_slice(&[mu, tau]);
        for j in 0..groups {
            (out[2 + j], out[2 + groups + j]) = (x[j], mu + tau * x[j]);
        }
    }

    fn name(&self) -> &str {
        "effects"
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        &self.blocks
    }
}

/// Twelve groups of 4 to 1000 trials, of log odds about -2.
pub(crate) fn unbalanced() -> Effects {
    let trials = [4, 8, 15, 30, 60, 120, 250, 500, 1000, 5, 50, 700];
    let kinds = trials.map(|trials| Observed::Successes(0.0, f64::from(trials))).to_vec();
    Effects::simulated(7, (-2.0, 0.8), kinds, (2.5, 1.0))
}

/// Hierarchies of several kinds, with what they are.
pub(crate) fn kinds() -> Vec<(&'static str, Effects)> {
    let successes = |trials: f64, groups: usize| vec![Observed::Successes(0.0, trials); groups];
    let priors = (2.5, 1.0);
    let exposures = (0..25).map(|j| Observed::Events(0.0, 0.2 * 1.25_f64.powi(j))).collect();
    let schools = octopus_models::EightSchools::rubin();
    let measured = schools.y().iter().zip(schools.sigma()).map(|(&y, &sigma)| Observed::Measured(y, sigma)).collect();
    vec![
        ("12 groups of 4 to 1000 trials", unbalanced()),
        ("8 groups of 5 trials", Effects::simulated(1, (0.3, 0.5), successes(5.0, 8), priors)),
        ("20 groups of 500 trials", Effects::simulated(2, (-1.0, 0.7), successes(500.0, 20), priors)),
        ("200 groups of 20 trials", Effects::simulated(3, (0.5, 0.6), successes(20.0, 200), priors)),
        ("30 groups of 100 trials, few successes", Effects::simulated(4, (-4.5, 0.6), successes(100.0, 30), priors)),
        ("10 groups of 50 trials that do not differ", Effects::simulated(5, (0.0, 0.0), successes(50.0, 10), priors)),
        ("events in 25 exposures from 0.2 to 42", Effects::simulated(6, (1.0, 0.7), exposures, priors)),
        ("eight schools, silent", Effects::new(measured, (5.0, 5.0))),
    ]
}

/// E[mu] and E[tau] by quadrature: given both, effects are independent, and each is integrated out by itself.
pub(crate) fn exact_scalars(density: &Effects) -> (f64, f64) {
    const EACH: usize = 60;
    let (mu_sd, tau_sd) = density.priors;
    let marginal = |mu: f64, tau: f64| {
        let of_effect = |observed: &Observed| {
            // The integrand's top by Newton's steps, and a grid of 12 of its widths about it.
            let log = |z: f64| observed.log_likelihood(mu + tau * z).0 - 0.5 * z * z;
            let slope = |z: f64| tau * observed.log_likelihood(mu + tau * z).1 - z;
            let (mut low, mut high) = (-60.0, 60.0);
            for _ in 0..36 {
                let middle = 0.5 * (low + high);
                if slope(middle) > 0.0 { low = middle } else { high = middle }
            }
            let top = 0.5 * (low + high);
            let width = ((slope(top - 1e-4) - slope(top + 1e-4)) / 2e-4).recip().sqrt();
            let sum: f64 = (-24..=24).map(|k| (log(top + 0.25 * width * f64::from(k)) - log(top)).exp()).sum();
            log(top) + (sum * 0.25 * width).ln()
        };
        let (m, t) = (mu / mu_sd, tau / tau_sd);
        density.observed.iter().map(of_effect).sum::<f64>() - 0.5 * (m * m + t * t)
    };
    // A coarse grid finds where the posterior is, a fine one integrates there.
    let (mut mus, mut taus) = ((-4.0 * mu_sd, 4.0 * mu_sd), (0.0, 5.0 * tau_sd));
    let mut found = (0.0, 0.0);
    for points in [30, 30, EACH] {
        let at = |(low, high): (f64, f64), k: usize| low + (high - low) * (k as f64 + 0.5) / points as f64;
        let cell = |k: usize| (at(mus, k / points), at(taus, k % points));
        let logs: Vec<f64> = (0..points * points).into_par_iter().map(|k| marginal(cell(k).0, cell(k).1)).collect();
        let most = logs.iter().fold(f64::NEG_INFINITY, |most, &log| most.max(log));
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(usize) -> f64| weights.iter().enumerate().map(|(k, w)| w * of(k)).sum::<f64>() / total;
        found = (mean(&|k| cell(k).0), mean(&|k| cell(k).1));
        let inside: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > 1e-9).collect();
        let range = |of: &dyn Fn(usize) -> f64, step: f64| {
            let values = inside.iter().map(|&k| of(k));
            (values.clone().fold(f64::INFINITY, f64::min) - step, values.fold(f64::NEG_INFINITY, f64::max) + step)
        };
        let steps = ((mus.1 - mus.0) / points as f64, (taus.1 - taus.0) / points as f64);
        let next = (range(&|k| cell(k).0, steps.0), range(&|k| cell(k).1, steps.1));
        (mus, taus) = next;
        taus.0 = taus.0.max(0.0);
    }
    found
}
