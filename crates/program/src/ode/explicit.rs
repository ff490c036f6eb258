//! Dormand & Prince's explicit Runge-Kutta method of order 5 with an error of order 4 and an interpolant of order 4.
//!
//! Dormand & Prince (1980), *J. Comput. Appl. Math.* 6, 19; the interpolant is the one of DOPRI5: Hairer, Norsett & Wanner,
//! *Solving Ordinary Differential Equations I*, II.6.

use super::control::{StepController, first_step, largest_error};
use super::equations::{Equations, WIDTH, plus};
use super::stiffness::StiffnessWatch;
use super::{Integrated, OdeProblem, Solution, is_lost};

/// Where stages are in a step.
pub(super) const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Weights of the stages before each stage; those of the last one are the weights of the step.
pub(super) const STAGES: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Weights of the error: those of order 5 minus those of order 4.
pub(super) const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];
/// Weights of the interpolant's last term.
const DENSE: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// Integrates from a time to the last one.
#[inline(always)]
pub(super) fn integrate(
    problem: &OdeProblem,
    from: f64,
    equations: &mut Equations<'_>,
    vectors: &mut [Vec<f64>],
    solution: &mut Solution<'_>,
) -> Integrated {
    let OdeProblem { times, settings, .. } = problem;
    let Some(&last) = times.last() else { return Integrated::Reached };
    let [now, next, k1, k2, k3, k4, k5, k6, k7, sixth, ..] = vectors else { return Integrated::GivenUp };
    let length = now.len();
    let mut time = from;
    equations.derivatives(time, now, k1);
    let mut step =
        first_step(settings, (&now[..], &k1[..]), (&mut next[..], &mut k2[..]), last - time, |ahead, at, to| {
            equations.derivatives(time + ahead, at, to);
        });
    let mut controller = StepController::new();
    let mut watch = StiffnessWatch::new(problem);
    while solution.count < times.len() {
        if !solution.may_step() || is_lost(time, step) {
            return Integrated::GivenUp;
        }
        let is_last = time + 1.000_1 * step >= last;
        let h = if is_last { last - time } else { step };
        let end = if is_last { last } else { time + h };
        let at = |stage: usize| if stage < 5 { time + NODES[stage] * h } else { end };
        combine(next, now, h, STAGES[1], [&k1[..length]]);
        equations.derivatives(at(1), next, k2);
        combine(next, now, h, STAGES[2], [&k1[..length], &k2[..length]]);
        equations.derivatives(at(2), next, k3);
        combine(next, now, h, STAGES[3], [&k1[..length], &k2[..length], &k3[..length]]);
        equations.derivatives(at(3), next, k4);
        combine(next, now, h, STAGES[4], [&k1[..length], &k2[..length], &k3[..length], &k4[..length]]);
        equations.derivatives(at(4), next, k5);
        combine(next, now, h, STAGES[5], [&k1[..length], &k2[..length], &k3[..length], &k4[..length], &k5[..length]]);
        equations.derivatives(at(5), next, k6);
        let may_be_stiff = watch.looks(last - time, h);
        if may_be_stiff {
            sixth.copy_from_slice(next);
        }
        // The second stage has no weight in the step.
        let [b1, _, b3, b4, b5, b6] = STAGES[6];
        let all = [&k1[..length], &k3[..length], &k4[..length], &k5[..length], &k6[..length]];
        combine(next, now, h, [b1, b3, b4, b5, b6], all);
        equations.derivatives(end, next, k7);
        let slopes = [&k1[..length], &k3[..length], &k4[..length], &k5[..length], &k6[..length], &k7[..length]];
        weigh(k2, h, ERROR, slopes);
        let error = largest_error(settings, now, next, k2);
        let (is_taken, factor) = controller.judge(error);
        step = h * factor;
        if !is_taken {
            continue;
        }
        while let Some(&asked) = times.get(solution.count).filter(|asked| **asked <= end) {
            if asked == end {
                solution.keep(next);
                continue;
            }
            weigh(k2, h, DENSE, slopes);
            let part = (asked - time) / h;
            let rest = 1.0 - part;
            for (i, dense) in k2.iter_mut().enumerate() {
                let change = next[i] - now[i];
                let bend = h * slopes[0][i] - change;
                let twist = change - h * slopes[5][i] - bend;
                *dense = now[i] + part * (change + rest * (bend + part * (twist + rest * *dense)));
            }
            solution.keep(k2);
        }
        let is_stiff = may_be_stiff && watch.is_stiff(h, (k6, k7), (sixth, next));
        std::mem::swap(now, next);
        std::mem::swap(k1, k7);
        time = end;
        if is_stiff && solution.count < times.len() {
            return Integrated::Stiff(time);
        }
    }
    Integrated::Reached
}

/// to = from + h (weights . stages)
#[inline(always)]
fn combine<const MORE: usize, const S: usize>(
    to: &mut [f64],
    from: &[f64],
    h: f64,
    weights: [f64; MORE],
    stages: [&[f64]; S],
) {
    let (to, from) = (to.as_chunks_mut::<WIDTH>().0, from.as_chunks::<WIDTH>().0);
    let count = to.len();
    let (from, stages) = (&from[..count], stages.map(|stage| &stage.as_chunks::<WIDTH>().0[..count]));
    for i in 0..count {
        // Whole chunks in registers, so that the compiler takes them as vectors.
        let mut sum = stages[0][i].map(|k| weights[0] * k);
        for (weight, stage) in weights[1..S].iter().zip(&stages[1..]) {
            sum = plus(sum, *weight, stage[i]);
        }
        to[i] = plus(from[i], h, sum);
    }
}

/// to = h (weights . stages), without the second stage.
#[inline(always)]
fn weigh(to: &mut [f64], h: f64, [w1, _, w3, w4, w5, w6, w7]: [f64; 7], stages: [&[f64]; 6]) {
    let to = to.as_chunks_mut::<WIDTH>().0;
    let count = to.len();
    let [k1, k3, k4, k5, k6, k7] = stages.map(|stage| &stage.as_chunks::<WIDTH>().0[..count]);
    for i in 0..count {
        let sum = plus(plus(k1[i].map(|k| w1 * k), w3, k3[i]), w4, k4[i]);
        to[i] = plus(plus(plus(sum, w5, k5[i]), w6, k6[i]), w7, k7[i]).map(|sum| h * sum);
    }
}
