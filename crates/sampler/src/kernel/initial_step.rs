//! The first step size that a chain begins to adapt from: doubled or halved until acceptance crosses 0.8.

use super::address::Address;
use super::phase_space::PhaseSpace;
use super::state::{Point, Scratch, State, StateMut};
use octopus_density::DensityError;
use octopus_density::warp::Buffer;
use octopus_random::{Purpose, exact};

/// Doubles or halves `step` until one leapfrog step's acceptance crosses 0.8 (as Stan).
pub(crate) fn find_reasonable(
    phase_space: PhaseSpace<'_, '_>,
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
    use crate::kernel::{Metric, Space, Vectors};
    use octopus_density::LogDensity;

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

    /// Where every step is accepted the search ends below 1e7, and where none is above 1e-12; what lies outside is taken in.
    #[test]
    fn the_first_guess_has_bounds() {
        let found = |value: f64, first: f64| {
            let density = Constant(value, octopus_density::Layout::default());
            let space = Space::new(&density, vec![]);
            let unit = crate::MetricEstimate { diagonal: vec![1.0], ..Default::default() };
            let (metric, vectors) = (Metric::new(&unit), Vectors::new(1));
            let phase_space = PhaseSpace { space: &space, metric: &metric, vectors: &vectors };
            let address = Address { seed: 1, chain: 0, iteration: 1 };
            find_reasonable(phase_space, address, &Point::zeros(1), first, &mut Scratch::new(1)).expect("ok")
        };
        assert_eq!((found(0.0, 1.0), found(0.0, 1e9), found(0.0, 1e7)), (2_f64.powi(23), 1e7, 1e7));
        let none = -1e300;
        assert_eq!((found(none, 1.0), found(none, 1e-20), found(none, 1e-12)), (2_f64.powi(-39), 1e-12, 1e-12));
    }

    /// A density without slopes: the same value everywhere.
    struct Constant(f64, octopus_density::Layout);

    impl LogDensity for Constant {
        fn dim(&self) -> usize {
            1
        }

        fn layout(&self) -> &octopus_density::Layout {
            &self.1
        }

        fn logp_grad(&self, _x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            gradient.fill(0.0);
            Ok(self.0)
        }

        fn expand(&self, _x: &[f64], _out: &mut [f64]) {}

        fn name(&self) -> &str {
            "constant"
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
