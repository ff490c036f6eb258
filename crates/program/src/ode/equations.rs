//! The equations at work: derivatives of the state and of its slopes.

use super::system::SlopeEntry;
use super::tape::Tape;
use super::{OdeMethod, OdeProblem};

/// A right-hand side with its registers. Vectors are the state, then, for each state, its slopes by all directions.
pub(super) struct Equations<'a> {
    pub(super) n: usize,
    /// Directions whose slopes are integrated; 0 if none are.
    pub(super) directions: usize,
    /// The first of them that is a parameter.
    first_parameter: usize,
    varying: &'a [u32],
    tape: &'a Tape,
    pub(super) by_state: &'a [SlopeEntry],
    by_parameter: &'a [SlopeEntry],
    registers: &'a mut [f64],
}

impl<'a> Equations<'a> {
    pub(super) fn new(problem: &'a OdeProblem, registers: &'a mut [f64], with_slopes: bool) -> Self {
        let system = &problem.system;
        let has_slopes = with_slopes || problem.settings.method == OdeMethod::Stiff;
        Self {
            n: system.states,
            directions: if with_slopes { problem.directions() } else { 0 },
            first_parameter: problem.varying.len(),
            varying: &problem.varying,
            tape: if has_slopes { &system.slopes } else { &system.values },
            by_state: &system.by_state,
            by_parameter: &system.by_parameter,
            registers,
        }
    }

    /// Begins a solution: the first state with its slopes.
    pub(super) fn begin(&mut self, initial: &[f64], parameters: &[f64], state: &mut [f64]) {
        self.tape.begin(self.registers, parameters);
        let (values, slopes) = state.split_at_mut(self.n);
        values.copy_from_slice(initial);
        slopes.fill(0.0);
        if self.directions > 0 {
            for (k, &i) in self.varying.iter().enumerate() {
                slopes[i as usize * self.directions + k] = 1.0;
            }
        }
    }

    /// Evaluates at a time and a state: f goes to `out`, slopes stay in their registers.
    #[inline(always)]
    pub(super) fn evaluate(&mut self, time: f64, state: &[f64], out: &mut [f64]) {
        self.tape.evaluate(self.registers, time, &state[..self.n]);
        for (out, &register) in out[..self.n].iter_mut().zip(&self.tape.outputs) {
            *out = self.registers[register as usize];
        }
    }

    /// The value of a slope where the equations were evaluated last.
    #[inline(always)]
    pub(super) fn slope(&self, entry: &SlopeEntry) -> f64 {
        self.registers[entry.register as usize]
    }

    /// Adds `factor` df/dp to slopes.
    #[inline(always)]
    pub(super) fn add_by_parameter(&self, factor: f64, slopes: &mut [f64]) {
        for entry in self.by_parameter {
            let place = entry.row as usize * self.directions + self.first_parameter + entry.column as usize;
            slopes[place] += factor * self.slope(entry);
        }
    }

    /// The derivatives of the state and of its slopes.
    #[inline(always)]
    pub(super) fn derivatives(&mut self, time: f64, state: &[f64], out: &mut [f64]) {
        self.evaluate(time, state, out);
        let m = self.directions;
        if m == 0 {
            return;
        }
        let (slopes, out) = (&state[self.n..], &mut out[self.n..]);
        out.fill(0.0);
        self.add_by_parameter(1.0, out);
        for entry in self.by_state {
            let (factor, row, column) = (self.slope(entry), entry.row as usize * m, entry.column as usize * m);
            for (out, slope) in out[row..row + m].iter_mut().zip(&slopes[column..column + m]) {
                *out += factor * slope;
            }
        }
    }
}
