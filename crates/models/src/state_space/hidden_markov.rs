//! Two states that change by chance, seen through normal noise: the model of the program `hmm`, and the forward algorithm.

use super::{ExactFilter, shipped_observations};
use octopus_density::{StateNoise, StateSpaceModel};
use octopus_random::exact;
use pulp::{Arch, Simd, WithSimd};
use std::f64::consts::TAU;

/// Both states, 0 and 1, are as likely before the first step, in which they may change already. The mean of a state is the
/// probability of state 1.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenMarkov {
    /// The chance to stay in each state.
    pub stay: [f64; 2],
    /// The mean of the observations of each state.
    pub mu: [f64; 2],
    /// Their standard deviation.
    pub sigma: f64,
    /// The observations.
    pub y: Vec<f64>,
}

impl HiddenMarkov {
    /// Returns the data of the program that ships, with the parameters by which they were made.
    pub fn shipped() -> Self {
        Self { stay: [0.9, 0.8], mu: [-1.0, 1.5], sigma: 0.8, y: shipped_observations("hmm") }
    }

    /// Filters the states by the forward algorithm.
    pub fn forward(&self) -> ExactFilter {
        let [stay, other] = self.stay;
        let (mut first, mut log_likelihood) = (0.5, 0.0);
        let mut means = Vec::with_capacity(self.y.len());
        for &y in &self.y {
            first = first * stay + (1.0 - first) * (1.0 - other);
            let [low, high] = self.log_densities(y);
            let most = low.max(high);
            let [low, high] = [first * exact::exp(low - most), (1.0 - first) * exact::exp(high - most)];
            log_likelihood += most + exact::ln(low + high);
            first = low / (low + high);
            means.push(high / (low + high));
        }
        ExactFilter { log_likelihood, means }
    }

    /// The log density of an observation in each state.
    fn log_densities(&self, y: f64) -> [f64; 2] {
        self.mu.map(|mu| {
            let miss = (y - mu) / self.sigma;
            -0.5 * (miss * miss + exact::ln(TAU)) - exact::ln(self.sigma)
        })
    }
}

impl StateSpaceModel for HiddenMarkov {
    fn steps(&self) -> usize {
        self.y.len()
    }

    fn noise(&self) -> StateNoise {
        StateNoise::Uniform
    }

    fn advance(&self, step: usize, noise: &[f64], particles: &mut [f64]) {
        let [stay, other] = self.stay;
        // The chance of state 0 after each state; before the first step both states are as likely.
        let chances = if step == 0 { [0.5 * (stay + 1.0 - other); 2] } else { [stay, 1.0 - other] };
        if step == 0 {
            particles.fill(0.0);
        }
        Arch::new().dispatch(Change { chances, noise, particles });
    }

    fn log_likelihood(&self, step: usize, particles: &[f64], out: &mut [f64]) {
        Arch::new().dispatch(ObserveState { of_state: self.log_densities(self.y[step]), particles, out });
    }
}

/// Changes states.
struct Change<'a> {
    chances: [f64; 2],
    noise: &'a [f64],
    particles: &'a mut [f64],
}

impl WithSimd for Change<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let [after_low, after_high] = self.chances;
        for (state, noise) in self.particles.iter_mut().zip(self.noise) {
            let chance = if *state == 0.0 { after_low } else { after_high };
            *state = if *noise < chance { 0.0 } else { 1.0 };
        }
    }
}

/// The log density of an observation given each state.
struct ObserveState<'a> {
    of_state: [f64; 2],
    particles: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for ObserveState<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let [low, high] = self.of_state;
        for (out, state) in self.out.iter_mut().zip(self.particles) {
            *out = if *state == 0.0 { low } else { high };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all paths of states, one after the other.
    #[test]
    fn the_forward_algorithm_is_the_sum_over_all_paths() {
        const STEPS: usize = 12;
        let mut model = HiddenMarkov::shipped();
        assert_eq!(model.steps(), 100);
        model.y.truncate(STEPS);
        let found = model.forward();
        let (mut whole, mut with_one) = (0.0, 0.0);
        for path in 0_u32..1 << (STEPS + 1) {
            let state = |step: usize| (path >> step) as usize & 1;
            // Bit 0 is the state before the first step.
            let mut probability = 0.5;
            for step in 1..=STEPS {
                let (before, now) = (state(step - 1), state(step));
                probability *= if before == now { model.stay[now] } else { 1.0 - model.stay[before] };
                let miss = (model.y[step - 1] - model.mu[now]) / model.sigma;
                probability *= (-0.5 * miss * miss).exp() / (model.sigma * TAU.sqrt());
            }
            whole += probability;
            with_one += probability * state(STEPS) as f64;
        }
        assert!((found.log_likelihood - f64::ln(whole)).abs() < 1e-11, "{found:?}");
        assert!((found.means[STEPS - 1] - with_one / whole).abs() < 1e-12, "{found:?}");
    }
}
