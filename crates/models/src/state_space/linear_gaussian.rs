//! A level that returns to zero, seen through noise: the model of the program `state-space`, and the Kalman filter.

use super::{ExactFilter, shipped_observations};
use octopus_density::{StateNoise, StateSpaceModel};
use octopus_random::exact;
use pulp::{Arch, Simd, WithSimd};
use std::f64::consts::TAU;

/// The first level is standard normal; each other is `phi` times the one before, plus a shock; each is seen through noise.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearGaussian {
    /// How much of the level stays from step to step.
    pub phi: f64,
    /// The standard deviation of the shocks.
    pub q: f64,
    /// The standard deviation of the measurements.
    pub r: f64,
    /// The measurements.
    pub y: Vec<f64>,
}

impl LinearGaussian {
    /// Returns the data of the program that ships, with the parameters by which they were made.
    pub fn shipped() -> Self {
        Self { phi: 0.85, q: 0.6, r: 0.5, y: shipped_observations("state-space") }
    }

    /// Filters the levels by Kalman's recursion.
    pub fn kalman(&self) -> ExactFilter {
        let (mut mean, mut variance, mut log_likelihood) = (0.0, 1.0, 0.0);
        let mut means = Vec::with_capacity(self.y.len());
        for (step, y) in self.y.iter().enumerate() {
            if step > 0 {
                (mean, variance) = (self.phi * mean, self.phi * self.phi * variance + self.q * self.q);
            }
            let (miss, total) = (y - mean, variance + self.r * self.r);
            log_likelihood -= 0.5 * (miss * miss / total + exact::ln(TAU * total));
            mean += variance / total * miss;
            variance *= self.r * self.r / total;
            means.push(mean);
        }
        ExactFilter { log_likelihood, means }
    }
}

impl StateSpaceModel for LinearGaussian {
    fn steps(&self) -> usize {
        self.y.len()
    }

    fn noise(&self) -> StateNoise {
        StateNoise::Normal
    }

    fn advance(&self, step: usize, noise: &[f64], particles: &mut [f64]) {
        if step == 0 {
            particles.copy_from_slice(noise);
        } else {
            Arch::new().dispatch(Move { phi: self.phi, q: self.q, noise, particles });
        }
    }

    fn log_likelihood(&self, step: usize, particles: &[f64], out: &mut [f64]) {
        let constant = -exact::ln(self.r) - 0.5 * exact::ln(TAU);
        Arch::new().dispatch(Measure {
            y: self.y[step],
            precision: -0.5 / (self.r * self.r),
            constant,
            particles,
            out,
        });
    }
}

/// Moves levels.
struct Move<'a> {
    phi: f64,
    q: f64,
    noise: &'a [f64],
    particles: &'a mut [f64],
}

impl WithSimd for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (level, noise) in self.particles.iter_mut().zip(self.noise) {
            *level = self.phi * *level + self.q * noise;
        }
    }
}

/// The log density of a measurement given each level.
struct Measure<'a> {
    y: f64,
    /// Minus half of 1 over the variance.
    precision: f64,
    constant: f64,
    particles: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, level) in self.out.iter_mut().zip(self.particles) {
            let miss = self.y - level;
            *out = self.constant + self.precision * (miss * miss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By SciPy 1.17.1, without a recursion: levels and measurements are jointly normal, with
    /// `cov(level[s], level[t]) = phi^|s - t| v[min(s, t)]`, `v[0] = 1`, `v[t] = phi^2 v[t - 1] + q^2`.
    #[test]
    fn kalman_is_the_joint_normal() {
        let model = LinearGaussian::shipped();
        let found = model.kalman();
        assert_eq!((model.steps(), found.means.len()), (50, 50));
        assert!((found.log_likelihood - (-56.745_732_103_972)).abs() < 1e-9, "{}", found.log_likelihood);
        for (step, mean) in [(0, -0.172_000_000_000), (10, 0.507_152_830_765), (49, -1.840_420_718_139)] {
            assert!((found.means[step] - mean).abs() < 1e-10, "{step}: {}", found.means[step]);
        }
    }
}
