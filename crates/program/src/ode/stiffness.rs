//! Are the explicit method's steps short because longer ones would be unstable? Then the implicit method takes a few instead
//! of up to a million: a sampler that tries its first steps meets rates that are e^20 times too high.
//!
//! The last two stages of a step stand at one time: what their derivatives differ by, over what their states do, is about
//! the largest eigenvalue (Hairer & Wanner, *Solving Ordinary Differential Equations II*, IV.2).

use super::{OdeMethod, OdeProblem};

/// Steps times eigenvalues that are above this, where the method is stable to 3.3, are at the limit of stability.
const LIMIT: f64 = 3.25;
/// Steps at the limit that say that equations are stiff, and steps below it, one after the other, that say they are not.
const STIFF: u32 = 15;
const NOT_STIFF: u32 = 6;
/// Steps of the implicit method whose work must be less than that of the explicit one's steps to the end.
const WORTH: f64 = 200.0;

/// What steps so far say.
#[derive(Clone, Copy, Debug)]
pub(super) struct StiffnessWatch {
    /// The fewest steps to the end that are too many.
    most: f64,
    at_limit: u32,
    below: u32,
}

impl StiffnessWatch {
    pub(super) fn new(problem: &OdeProblem) -> Self {
        let work = |method| problem.work_of_a_step_by(method) as f64;
        Self { most: WORTH * work(OdeMethod::Stiff) / work(OdeMethod::NonStiff), at_limit: 0, below: 0 }
    }

    /// Returns whether a step of length `h` is so short that what is `left` takes too many of them.
    #[inline(always)]
    pub(super) fn looks(&self, left: f64, h: f64) -> bool {
        left > self.most * h
    }

    /// Takes a step of length `h`, with the derivatives of its last two stages and their states; returns whether the equations
    /// are stiff by now.
    pub(super) fn is_stiff(&mut self, h: f64, derivatives: (&[f64], &[f64]), states: (&[f64], &[f64])) -> bool {
        if h * apart(derivatives) > LIMIT * apart(states) {
            self.at_limit += 1;
            self.below = 0;
        } else {
            self.below += 1;
            if self.below == NOT_STIFF {
                self.at_limit = 0;
            }
        }
        self.at_limit >= STIFF
    }
}

/// The largest difference of two vectors.
fn apart((a, b): (&[f64], &[f64])) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |most, own| if most < own { own } else { most })
}
