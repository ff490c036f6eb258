//! The step size: a first guess by doubling, then dual averaging (Nesterov 2009; Hoffman and Gelman 2014, section 3.2).

use crate::phase_space::{PhaseSpace, Point, Scratch, State, StateMut};
use crate::tree::Address;
use octopus_density::warp::Buffer;
use octopus_density::{DensityError, LogDensity};
use octopus_random::{Purpose, exact};
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

/// Doubles or halves `step` until one leapfrog step's acceptance crosses 0.8 (as Stan).
pub(crate) fn find_reasonable<D: LogDensity + ?Sized>(
    phase_space: PhaseSpace<'_, '_, D>,
    address: Address,
    point: &Point,
    step: f64,
    scratch: &mut Scratch,
) -> Result<f64, DensityError> {
    const SMALLEST: f64 = 1e-12;
    const LARGEST: f64 = 1e7;
    let dim = phase_space.dim();
    let target = exact::ln(0.8);
    let (mut momentum, mut next) = (Buffer::zeros(dim), Buffer::zeros(dim));
    let start = 0.5 * phase_space.draw_momentum(&address.stream(Purpose::StepSize), &mut momentum) - point.logp;
    let mut trial = Point::zeros(dim);
    let mut gain = |step: f64| -> Result<f64, DensityError> {
        let from = State { point, momentum: &momentum };
        let to = StateMut { point: &mut trial, momentum: &mut next };
        let square = phase_space.leapfrog(step, from, to, scratch)?;
        let energy = square.map_or(f64::INFINITY, |square| 0.5 * square - trial.logp);
        Ok(if energy.is_nan() { f64::NEG_INFINITY } else { start - energy })
    };
    let mut step = step.clamp(SMALLEST, LARGEST);
    let grow = gain(step)? > target;
    loop {
        let trial = if grow { 2.0 * step } else { 0.5 * step };
        if !(SMALLEST..=LARGEST).contains(&trial) {
            return Ok(step);
        }
        step = trial;
        if (gain(step)? > target) != grow {
            return Ok(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::space::Space;
    use crate::vector::Vectors;

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

    /// A standard normal of one leapfrog step from any start, by hand: the acceptance is on one side of 0.8 at the
    /// step that is returned and on the other at the one before.
    #[test]
    fn the_first_guess_brackets_an_acceptance_of_0_8() {
        let density = Standard::default();
        let space = Space::new(&density, vec![]);
        let unit = crate::MetricEstimate { diagonal: vec![1.0; 3], ..Default::default() };
        let (metric, vectors) = (Metric::new(&unit), Vectors::new(3));
        let phase_space = PhaseSpace { space: &space, metric: &metric, vectors: &vectors };
        let mut scratch = Scratch::new(3);
        for (iteration, first) in [1e-3, 0.3, 1.0, 40.0].into_iter().cycle().take(40).enumerate() {
            let address = Address { seed: 1, chain: 0, iteration: iteration as u32 };
            let mut point = Point { x: Buffer::from_slice(&[0.5, -1.0, 2.0]), ..Point::zeros(3) };
            phase_space.evaluate(&mut point, &mut scratch).expect("finite");
            let found = find_reasonable(phase_space, address, &point, first, &mut scratch).expect("ok");
            let mut r = Buffer::zeros(3);
            phase_space.draw_momentum(&address.stream(Purpose::StepSize), &mut r);
            let accepted = |step: f64| {
                let (mut start, mut end) = (0.0, 0.0);
                for i in 0..3 {
                    let (x, r) = (point.x[i], r[i]);
                    let half = r - 0.5 * step * x;
                    let next = x + step * half;
                    let last = half - 0.5 * step * next;
                    start += 0.5 * (x * x + r * r);
                    end += 0.5 * (next * next + last * last);
                }
                (start - end).exp() > 0.8
            };
            let before = if accepted(first) { 0.5 * found } else { 2.0 * found };
            assert!(accepted(found) != accepted(before), "from {first}: {found}");
            let doublings = (found / first).log2();
            assert!((doublings - doublings.round()).abs() < 1e-9, "{doublings}");
        }
    }

    #[derive(Default)]
    struct Standard(octopus_density::Layout);

    impl LogDensity for Standard {
        fn dim(&self) -> usize {
            3
        }

        fn layout(&self) -> &octopus_density::Layout {
            &self.0
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            for (g, x) in gradient.iter_mut().zip(x) {
                *g = -x;
            }
            Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
        }

        fn expand(&self, _x: &[f64], _out: &mut [f64]) {}

        fn name(&self) -> &str {
            "standard"
        }
    }
}
