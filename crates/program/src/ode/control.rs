//! The size of steps: errors in units of the tolerance, a proportional-integral controller, and the first step.
//!
//! Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, II.4 (the first step: II.4.13; the controller and
//! its constants are the ones of DOPRI5).

use super::OdeSettings;
use super::equations::WIDTH;
use octopus_random::exact;

/// The largest of `errors`, in units of absolute plus relative tolerance; NaN where a value is not finite.
#[inline(always)]
pub(super) fn largest_error(settings: &OdeSettings, before: &[f64], after: &[f64], errors: &[f64]) -> f64 {
    let own = |a: f64, b: f64, error: f64| {
        let size = if a.abs() < b.abs() { b.abs() } else { a.abs() };
        (error / (settings.absolute + settings.relative * size)).abs()
    };
    let larger = |largest: f64, own: f64| if largest < own { own } else { largest };
    let [(before, a), (after, b), (errors, e)] = [before, after, errors].map(|all| all.as_chunks::<WIDTH>());
    let (mut lanes, mut is_finite) = ([0.0; WIDTH], true);
    for ((before, after), errors) in before.iter().zip(after).zip(errors) {
        for lane in 0..WIDTH {
            let own = own(before[lane], after[lane], errors[lane]);
            is_finite &= own < f64::INFINITY;
            lanes[lane] = larger(lanes[lane], own);
        }
    }
    let mut largest = lanes.into_iter().fold(0.0, larger);
    for ((&a, &b), &error) in a.iter().zip(b).zip(e) {
        let own = own(a, b, error);
        is_finite &= own < f64::INFINITY;
        largest = larger(largest, own);
    }
    if is_finite { largest } else { f64::NAN }
}

/// How large the next step is.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepController {
    /// The logarithm of the error of the last step that was taken.
    last: f64,
    was_rejected: bool,
}

const SAFETY: f64 = 0.9;
const BETA: f64 = 0.04;
const EXPONENT: f64 = 0.2 - 0.75 * BETA;
/// A step is at least this part of the one before, and at most so many times as long.
const SHORTEST: f64 = 0.2;
const LONGEST: f64 = 10.0;
/// What is tried after a step whose values are not finite.
const AFTER_FAILURE: f64 = 0.1;
/// ln 10^-4: the controller takes no error for a smaller one.
const SMALLEST: f64 = -9.210_340_371_976_182;

impl StepController {
    pub(super) fn new() -> Self {
        Self { last: SMALLEST, was_rejected: false }
    }

    /// Returns whether a step of this error, of order 5 in its length, is taken, and by what to multiply its length.
    pub(super) fn judge(&mut self, error: f64) -> (bool, f64) {
        if !error.is_finite() {
            self.was_rejected = true;
            return (false, AFTER_FAILURE);
        }
        let logarithm = exact::ln(error);
        if error <= 1.0 {
            let factor = SAFETY * exact::exp(BETA * self.last - EXPONENT * logarithm);
            let factor = factor.clamp(SHORTEST, if self.was_rejected { 1.0 } else { LONGEST });
            *self = Self { last: logarithm.max(SMALLEST), was_rejected: false };
            (true, factor)
        } else {
            self.was_rejected = true;
            (false, (SAFETY * exact::exp(-EXPONENT * logarithm)).max(SHORTEST))
        }
    }
}

/// The length of the first step: `slope` is the derivative at the first state, `derivative` gives it at another one, for
/// which there is room in `trial` and `there`.
pub(super) fn first_step(
    settings: &OdeSettings,
    (state, slope): (&[f64], &[f64]),
    (trial, there): (&mut [f64], &mut [f64]),
    span: f64,
    derivative: impl FnOnce(f64, &[f64], &mut [f64]),
) -> f64 {
    let size = largest_error(settings, state, state, state);
    let speed = largest_error(settings, state, state, slope);
    let guess = if size < 1e-5 || speed < 1e-5 { 1e-6 } else { 0.01 * size / speed };
    let guess = if guess.is_finite() { guess.min(span) } else { 1e-6_f64.min(span) };
    for ((trial, &x), &slope) in trial.iter_mut().zip(state).zip(slope) {
        *trial = x + guess * slope;
    }
    derivative(guess, trial, there);
    for (there, &slope) in there.iter_mut().zip(slope) {
        *there -= slope;
    }
    let bend = largest_error(settings, state, state, there) / guess;
    let steepest = speed.max(bend);
    let second = if steepest <= 1e-15 { (1e-3 * guess).max(1e-6) } else { exact::pow(0.01 / steepest, 0.2) };
    let step = if second.is_finite() { second.min(100.0 * guess) } else { guess };
    step.min(span)
}
