//! The twin's step size: searched by doubling, then dual averaging (Hoffman and Gelman 2014, section 3.2).

use super::lanes::dot;
use super::numbers::Numbers;
use super::real::TwinReal;
use super::space::{Space, TwinPoint};
use octopus_random::Purpose;

/// Dual averaging of the logarithm of the step size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averaging<T> {
    target: T,
    mu: T,
    count: T,
    mean_error: T,
    log_step: T,
    log_step_mean: T,
}

impl<T: TwinReal> Averaging<T> {
    /// The state with these numbers, each rounded once.
    pub(super) fn from_numbers(numbers: [f64; 6]) -> Self {
        let [target, mu, count, mean_error, log_step, log_step_mean] = numbers.map(T::of);
        Self { target, mu, count, mean_error, log_step, log_step_mean }
    }

    /// Returns the state in the order of its numbers.
    pub(super) fn numbers(&self) -> [f64; 6] {
        [self.target, self.mu, self.count, self.mean_error, self.log_step, self.log_step_mean].map(T::wide)
    }

    pub(super) fn start(step: T, target: T) -> Self {
        let (mu, log_step) = ((T::of(10.0) * step).ln(), step.ln());
        Self { target, mu, count: T::ZERO, mean_error: T::ZERO, log_step, log_step_mean: log_step }
    }

    pub(super) fn learn(&mut self, acceptance: T) {
        let acceptance = if acceptance < T::ONE { acceptance } else { T::ONE };
        self.count = self.count + T::ONE;
        let eta = T::ONE / (self.count + T::of(10.0));
        self.mean_error = (T::ONE - eta) * self.mean_error + eta * (self.target - acceptance);
        self.log_step = self.mu - self.mean_error * self.count.sqrt() / T::of(0.05);
        let weight = (T::of(-0.75) * self.count.ln()).exp();
        self.log_step_mean = weight * self.log_step + (T::ONE - weight) * self.log_step_mean;
    }

    pub(super) fn step(&self) -> T {
        self.log_step.exp()
    }
}

/// Doubles or halves `step` until the acceptance of one leapfrog step crosses 0.8.
pub(super) fn search<R: TwinReal, T: TwinReal>(
    space: &Space<'_, R, T>,
    numbers: Numbers,
    point: &TwinPoint<R, T>,
    step: T,
) -> T {
    let (smallest, largest) = (T::of(R::SMALLEST_STEP), T::of(1e7));
    let r: Vec<R> = numbers.normals(Purpose::StepSize, point.x.len());
    let start = T::of(0.5) * dot::<R, T>(&r, &r) - point.logp;
    let threshold = T::of(0.8).ln();
    let accepts = |step: T| {
        let Some((next, _, square)) = space.leapfrog(step, point, &r) else { return false };
        // An energy that is no number is no gain either.
        start - (T::of(0.5) * square - next.logp) > threshold
    };
    let mut step = if step < smallest { smallest } else { step };
    step = if step > largest { largest } else { step };
    let grow = accepts(step);
    loop {
        let next = if grow { T::of(2.0) * step } else { T::of(0.5) * step };
        if !(next >= smallest && next <= largest) {
            return step;
        }
        step = next;
        if accepts(step) != grow {
            return step;
        }
    }
}
