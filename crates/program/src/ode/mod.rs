//! Initial value problems: dy/dt = f(t, y, p) from y(t0) on, at some times, with the slopes of the states by what they
//! depend on.
//!
//! The slopes, or sensitivities, S = dy/d(y0, p) obey dS/dt = (df/dy) S + df/dp and are integrated along with y: the
//! derivative of the discretised solution itself. Their errors are held to the tolerances too, as in Stan.
//!
//! | | |
//! |--|--|
//! | `system.rs`, `scalars.rs`, `tape.rs` | f with its slopes, as arithmetic on registers |
//! | `explicit.rs` | Dormand & Prince 5(4), for what is not stiff |
//! | `implicit.rs`, `factors.rs` | Kvaerno 5(4), for what is |
//! | `control.rs` | the lengths of steps |
//! | `stiffness.rs` | when the explicit method hands over to the implicit one |
//! | `node.rs` | a solution as a node of a graph |

mod control;
mod equations;
mod explicit;
mod factors;
mod implicit;
mod node;
mod scalars;
mod stiffness;
mod system;
mod tape;
#[cfg(test)]
mod tests;

use crate::evaluate::VectorWidth;
use equations::{Equations, padded};
use implicit::Factors;
use pulp::{Simd, WithSimd};
use std::sync::Arc;
pub use system::OdeSystem;

/// Which equations a solver is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OdeMethod {
    /// For equations that are not stiff: Dormand & Prince's explicit method of order 5. Where they are stiff after all, as
    /// at absurd parameters, the other one goes on.
    NonStiff,
    /// For stiff equations: Kvaerno's implicit, L-stable method of order 5.
    Stiff,
}

/// How equations are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OdeSettings {
    /// The method.
    pub method: OdeMethod,
    /// The error of a step, of the state and of its slopes, relative to their sizes.
    pub relative: f64,
    /// The error besides.
    pub absolute: f64,
    /// The most steps between two times, those that are tried again included.
    pub most_steps: u64,
    /// The most operations of a solution, as [`OdeProblem::work_of_a_step`] counts them.
    pub most_work: usize,
}

/// Equations with all that does not depend on parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct OdeProblem {
    /// The solver's name and place, for messages.
    pub name: String,
    /// The right-hand side.
    pub system: OdeSystem,
    /// The states, counted from 0, whose first values depend on parameters: slopes by those are needed.
    pub varying: Vec<u32>,
    /// The first time.
    pub start: f64,
    /// The times at which states are asked for, above the first one, in order.
    pub times: Arc<[f64]>,
    /// How they are solved.
    pub settings: OdeSettings,
}

/// Steps of a solution at the most.
const MOST_STEPS: usize = 1_000_000;
/// Steps that a solution may have however large its equations are.
const FEWEST_STEPS: usize = 2_000;

impl OdeProblem {
    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.system.states
    }

    /// Returns the number of parameters.
    pub(crate) fn parameters(&self) -> usize {
        self.system.parameters
    }

    /// Returns the numbers of which there are slopes: first values, then parameters.
    pub(crate) fn directions(&self) -> usize {
        self.varying.len() + self.system.parameters
    }

    /// Returns the length of the result without slopes: the steps, then the states at each time.
    pub(crate) fn length(&self) -> usize {
        1 + self.times.len() * self.states()
    }

    /// Returns the length of the slopes: of each state at each time by each direction.
    pub(crate) fn slopes_length(&self) -> usize {
        self.times.len() * self.states() * self.directions()
    }

    /// Returns about how many operations a step takes.
    pub fn work_of_a_step(&self) -> usize {
        self.work_of_a_step_by(self.settings.method)
    }

    fn work_of_a_step_by(&self, method: OdeMethod) -> usize {
        let (n, directions) = (self.states(), self.directions());
        let stages = 8 * (self.system.slopes.len() + (1 + directions) * (n + self.system.by_state.len()) + 8);
        match method {
            OdeMethod::NonStiff => stages,
            OdeMethod::Stiff => 3 * stages + 8 * n * n * (n + directions),
        }
    }

    /// Returns the memory of a solution at a time.
    pub(crate) fn scratch(&self, with_slopes: bool) -> OdeScratch {
        let directions = if with_slopes { self.directions() } else { 0 };
        let n = self.states();
        OdeScratch {
            registers: [self.system.values.registers(), self.system.slopes.registers()],
            vectors: vec![vec![0.0; padded(n) + n * padded(directions)]; VECTORS],
            factors: Factors::new(n),
        }
    }

    /// Solves the equations. Writes the number of steps, below 0 if the end was not reached, and the states at each time
    /// to `out`, and the slopes to `slopes`: NaN is where nothing was reached.
    pub(crate) fn solve(
        &self,
        scratch: &mut OdeScratch,
        width: VectorWidth,
        (initial, parameters): (&[f64], &[f64]),
        out: &mut [f64],
        slopes: Option<&mut [f64]>,
    ) {
        let with_slopes = slopes.is_some();
        let OdeScratch { registers, vectors, factors } = scratch;
        let slopes = slopes.unwrap_or_default();
        out.fill(f64::NAN);
        slopes.fill(f64::NAN);
        let Some((steps, states)) = out.split_first_mut() else { return };
        let (n, most) = (self.states(), self.most_steps());
        let mut solution = Solution { states, slopes, count: 0, n, steps: 0, since: 0, most };
        vectors.iter_mut().for_each(|vector| vector.fill(0.0));
        let (mut method, mut from) = (self.settings.method, self.start);
        let reached = loop {
            let mut equations = Equations::new(self, method, registers, with_slopes, parameters);
            if from == self.start {
                equations.begin(initial, &mut vectors[0]);
            }
            let (equations, solution) = (&mut equations, &mut solution);
            match width.run(Integration { problem: self, method, from, equations, vectors, factors, solution }) {
                Integrated::Reached => break true,
                Integrated::GivenUp => break false,
                Integrated::Stiff(time) => (method, from) = (OdeMethod::Stiff, time),
            }
        };
        *steps = if reached { solution.steps as f64 } else { -(solution.steps as f64) };
    }

    fn most_steps(&self) -> (u64, usize) {
        let by_work = (self.settings.most_work / self.work_of_a_step()).clamp(FEWEST_STEPS, MOST_STEPS);
        (self.settings.most_steps, by_work)
    }
}

/// Vectors that a method needs: states with their slopes.
const VECTORS: usize = 11;

/// The memory of a solution.
#[derive(Clone, Debug)]
pub(crate) struct OdeScratch {
    /// The registers of the right-hand side's two tapes: the first computes values alone, the second slopes too.
    registers: [Vec<f64>; 2],
    /// The first is the state with its slopes.
    vectors: Vec<Vec<f64>>,
    factors: Factors,
}

/// What has been found.
struct Solution<'a> {
    states: &'a mut [f64],
    slopes: &'a mut [f64],
    /// Times that are done.
    count: usize,
    n: usize,
    steps: usize,
    /// Steps since the last time.
    since: u64,
    /// The most between two times, and of all.
    most: (u64, usize),
}

impl Solution<'_> {
    /// Begins a step; returns whether it may be taken.
    #[inline(always)]
    fn may_step(&mut self) -> bool {
        self.steps += 1;
        self.since += 1;
        self.since <= self.most.0 && self.steps <= self.most.1
    }

    /// Keeps a state with its slopes as the one at the next time.
    #[inline(always)]
    fn keep(&mut self, vector: &[f64]) {
        let (n, directions) = (self.n, self.slopes.len() / self.states.len().max(1));
        let from = self.count * n;
        self.states[from..from + n].copy_from_slice(&vector[..n]);
        for i in 0..n {
            let place = padded(n) + i * padded(directions);
            let to = &mut self.slopes[(from + i) * directions..][..directions];
            to.copy_from_slice(&vector[place..place + directions]);
        }
        self.count += 1;
        self.since = 0;
    }
}

/// How an integration ended.
enum Integrated {
    /// At the last time.
    Reached,
    /// Before it: there are too many steps, or they have no length any more.
    GivenUp,
    /// At this time, since the equations are stiff there: the first vector is the state.
    Stiff(f64),
}

/// A solution under way, from a time on; the first vector is the state there. Compiled for each width of vectors.
struct Integration<'a, 'e, 's> {
    problem: &'a OdeProblem,
    method: OdeMethod,
    from: f64,
    equations: &'a mut Equations<'e>,
    vectors: &'a mut [Vec<f64>],
    factors: &'a mut Factors,
    solution: &'a mut Solution<'s>,
}

impl WithSimd for Integration<'_, '_, '_> {
    type Output = Integrated;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Integrated {
        let Self { problem, method, from, equations, vectors, factors, solution } = self;
        match method {
            OdeMethod::NonStiff => explicit::integrate(problem, from, equations, vectors, solution),
            OdeMethod::Stiff if implicit::integrate(problem, from, equations, vectors, factors, solution) => {
                Integrated::Reached
            }
            OdeMethod::Stiff => Integrated::GivenUp,
        }
    }
}

/// Whether a step is too short to change the time.
fn is_lost(time: f64, step: f64) -> bool {
    step <= 4.0 * f64::EPSILON * time.abs().max(f64::MIN_POSITIVE)
}
