//! The equations at work: derivatives of the state and of its slopes.

use super::system::SlopeEntry;
use super::tape::Tape;
use super::{OdeMethod, OdeProblem};

/// Numbers that are computed together: vectors have zeros up to a multiple of it behind the states, and behind the slopes
/// of each state.
pub(super) const WIDTH: usize = 4;

/// A right-hand side with its registers. Vectors are the state, then, for each state, its slopes by all directions.
pub(super) struct Equations<'a> {
    pub(super) n: usize,
    /// The numbers of a state's slopes, with the zeros behind them; 0 if none are integrated.
    pub(super) stride: usize,
    /// The first of them that is a parameter.
    first_parameter: usize,
    varying: &'a [u32],
    tape: &'a Tape,
    pub(super) by_state: &'a [SlopeEntry],
    by_parameter: &'a [SlopeEntry],
    registers: &'a mut [f64],
}

impl<'a> Equations<'a> {
    /// Begins a solution by a method, with these parameters. `registers` are those without and with slopes.
    pub(super) fn new(
        problem: &'a OdeProblem,
        method: OdeMethod,
        [of_values, of_slopes]: &'a mut [Vec<f64>; 2],
        with_slopes: bool,
        parameters: &[f64],
    ) -> Self {
        let system = &problem.system;
        let (tape, registers) = match with_slopes || method == OdeMethod::Stiff {
            true => (&system.slopes, of_slopes),
            false => (&system.values, of_values),
        };
        tape.begin(registers, parameters);
        Self {
            n: system.states,
            stride: if with_slopes { padded(problem.directions()) } else { 0 },
            first_parameter: problem.varying.len(),
            varying: &problem.varying,
            tape,
            by_state: &system.by_state,
            by_parameter: &system.by_parameter,
            registers,
        }
    }

    /// Writes the first state with its slopes.
    pub(super) fn begin(&self, initial: &[f64], state: &mut [f64]) {
        state.fill(0.0);
        state[..self.n].copy_from_slice(initial);
        if self.stride > 0 {
            let slopes = &mut state[padded(self.n)..];
            for (k, &i) in self.varying.iter().enumerate() {
                slopes[i as usize * self.stride + k] = 1.0;
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
            let place = entry.row as usize * self.stride + self.first_parameter + entry.column as usize;
            slopes[place] += factor * self.slope(entry);
        }
    }

    /// The derivatives of the state and of its slopes.
    #[inline(always)]
    pub(super) fn derivatives(&mut self, time: f64, state: &[f64], out: &mut [f64]) {
        self.evaluate(time, state, out);
        let stride = self.stride;
        if stride == 0 {
            return;
        }
        let (slopes, out) = (&state[padded(self.n)..], &mut out[padded(self.n)..]);
        out.fill(0.0);
        self.add_by_parameter(1.0, out);
        for entry in self.by_state {
            let (factor, row, column) =
                (self.slope(entry), entry.row as usize * stride, entry.column as usize * stride);
            let out = out[row..row + stride].as_chunks_mut::<WIDTH>().0;
            let slopes = slopes[column..column + stride].as_chunks::<WIDTH>().0;
            for (out, slopes) in out.iter_mut().zip(slopes) {
                *out = plus(*out, factor, *slopes);
            }
        }
    }
}

/// x + factor y
#[inline(always)]
pub(super) fn plus(x: [f64; WIDTH], factor: f64, y: [f64; WIDTH]) -> [f64; WIDTH] {
    let mut sum = x;
    for lane in 0..WIDTH {
        sum[lane] = x[lane] + factor * y[lane];
    }
    sum
}

/// The length of a vector of this many numbers with the zeros behind them.
#[inline(always)]
pub(super) fn padded(count: usize) -> usize {
    count.next_multiple_of(WIDTH)
}
