//! Dual averaging of the step size towards the target of acceptance.
//!
//! Nesterov (2009); Hoffman and Gelman (2014), section 3.2, of which gamma, t0 and kappa stand here.

use octopus_random::exact;
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 0.05;
const T0: f64 = 10.0;
const KAPPA: f64 = 0.75;

/// Dual averaging of the logarithm of the step size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DualAveraging {
    target: f64,
    mu: f64,
    count: f64,
    mean_error: f64,
    log_step: f64,
    log_step_mean: f64,
}

impl DualAveraging {
    /// Starts from `initial`, towards which (times 10) early steps are drawn.
    pub(crate) fn new(initial: f64, target: f64) -> Self {
        let log_step = exact::ln(initial);
        Self { target, mu: exact::ln(10.0 * initial), count: 0.0, mean_error: 0.0, log_step, log_step_mean: log_step }
    }

    /// Learns from one transition's mean acceptance probability.
    pub(crate) fn update(&mut self, acceptance: f64) {
        self.count += 1.0;
        let eta = 1.0 / (self.count + T0);
        self.mean_error = (1.0 - eta) * self.mean_error + eta * (self.target - acceptance.min(1.0));
        self.log_step = self.mu - self.mean_error * self.count.sqrt() / GAMMA;
        let weight = exact::exp(-KAPPA * exact::ln(self.count));
        self.log_step_mean = weight * self.log_step + (1.0 - weight) * self.log_step_mean;
    }

    /// Returns the step size to explore with.
    pub(crate) fn current(&self) -> f64 {
        exact::exp(self.log_step)
    }

    /// The state with these [numbers](Self::numbers).
    pub(crate) fn from_numbers([target, mu, count, mean_error, log_step, log_step_mean]: [f64; 6]) -> Self {
        Self { target, mu, count, mean_error, log_step, log_step_mean }
    }

    /// Returns the state in the order of its fields.
    pub(crate) fn numbers(&self) -> [f64; 6] {
        [self.target, self.mu, self.count, self.mean_error, self.log_step, self.log_step_mean]
    }

    /// Returns the step size to keep after warm-up.
    pub(crate) fn adapted(&self) -> f64 {
        exact::exp(self.log_step_mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    /// Hoffman and Gelman's recursion written with the standard library, step by step.
    #[test]
    fn dual_averaging_follows_the_paper() {
        let mut averaging = DualAveraging::new(0.3, 0.8);
        let (mut h_bar, mut log_bar) = (0.0f64, 0.3f64.ln());
        for (m, acceptance) in [0.9, 0.2, 1.0, 0.75, 0.0, 0.81].into_iter().enumerate() {
            averaging.update(acceptance);
            let m = m as f64 + 1.0;
            h_bar = (1.0 - 1.0 / (m + 10.0)) * h_bar + (0.8 - acceptance) / (m + 10.0);
            let log_step = 3f64.ln() - m.sqrt() / 0.05 * h_bar;
            log_bar = m.powf(-0.75) * log_step + (1.0 - m.powf(-0.75)) * log_bar;
            assert!((averaging.current() / log_step.exp() - 1.0).abs() < 1e-12);
            assert!((averaging.adapted() / log_bar.exp() - 1.0).abs() < 1e-12);
        }
    }

    /// A long warm-up with noise: the same recursion, and an acceptance above 1 counts as 1.
    #[test]
    fn a_long_trace_follows_the_paper() {
        let mut random = octopus_random::Stream::new(1, 0, 0, Purpose::User);
        for (initial, target) in [(1.0f64, 0.8), (1e-4, 0.95), (30.0, 0.6)] {
            let mut averaging = DualAveraging::new(initial, target);
            let (mut h_bar, mut log_bar) = (0.0f64, 0.0f64);
            for m in 1..=1000 {
                let acceptance = 1.2 * random.uniform();
                averaging.update(acceptance);
                let m = f64::from(m);
                h_bar += (target - acceptance.min(1.0) - h_bar) / (m + 10.0);
                let log_step = (10.0 * initial).ln() - m.sqrt() / 0.05 * h_bar;
                log_bar += m.powf(-0.75) * (log_step - log_bar);
                assert!((averaging.current().ln() - log_step).abs() < 1e-9, "{m}");
                assert!((averaging.adapted().ln() - log_bar).abs() < 1e-9, "{m}");
            }
        }
    }

    /// Where the acceptance falls with the step, the step of the target acceptance is found.
    #[test]
    fn dual_averaging_finds_the_target() {
        let mut random = octopus_random::Stream::new(2, 0, 0, Purpose::User);
        for target in [0.6, 0.8, 0.95] {
            let mut averaging = DualAveraging::new(5.0, target);
            for _ in 0..4000 {
                let mean = (-averaging.current()).exp();
                averaging.update((mean + 0.02 * random.normal()).clamp(0.0, 1.0));
            }
            let found = (-averaging.adapted()).exp();
            assert!((found - target).abs() < 0.01, "{found}, not {target}");
        }
    }
}
