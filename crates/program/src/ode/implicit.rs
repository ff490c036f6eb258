//! Kvaerno's implicit Runge-Kutta method of order 5, L-stable and stiffly accurate, whose sixth stage is a solution of order
//! 4: their difference is the error of a step.
//!
//! Kvaerno (2004), *BIT* 44, 489. Stages are solved by Newton's method. Their slopes are the exact derivatives of the
//! stages: a linear system with the same matrix, at the stage that was found (staggered direct, as in CVODES).

use super::control::{StepController, first_step, largest_error};
use super::equations::{Equations, padded};
use super::factors::{factorise, solve};
use super::{OdeProblem, OdeSettings, Solution, is_lost};

/// The weight of each stage in itself, but of the first one, which is explicit.
pub(super) const DIAGONAL: f64 = 0.26;
/// Where stages are in a step.
pub(super) const NODES: [f64; 7] =
    [0.0, 0.52, 1.230_333_209_967_908, 0.895_765_984_350_075_9, 0.436_393_609_858_647_56, 1.0, 1.0];
/// Weights of the stages before each stage.
pub(super) const STAGES: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.26, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.13, 0.840_333_209_967_908_1, 0.0, 0.0, 0.0, 0.0],
    [0.223_719_614_783_205_05, 0.476_755_323_197_997, -0.064_708_953_631_126_15, 0.0, 0.0, 0.0],
    [0.166_485_643_232_483_2, 0.104_500_188_415_917_2, 0.036_314_822_720_987_15, -0.130_907_044_510_739_98, 0.0, 0.0],
    [0.138_556_402_312_682_24, 0.0, -0.042_453_372_017_520_43, 0.024_466_578_980_031_41, 0.619_430_390_724_806_8, 0.0],
    [
        0.136_597_511_776_402_9,
        0.0,
        -0.054_969_087_965_383_76,
        -0.041_186_267_283_210_46,
        0.629_933_048_990_164,
        0.069_624_794_482_027_28,
    ],
];

/// Iterations of Newton's method; it is given up where they do not converge.
const MOST_ITERATIONS: usize = 10;
/// The error of a stage in units of the tolerance.
const STAGE_ERROR: f64 = 1e-2;

/// Integrates from a time to the last one; returns whether it was reached.
#[inline(always)]
pub(super) fn integrate(
    problem: &OdeProblem,
    from: f64,
    equations: &mut Equations<'_>,
    vectors: &mut [Vec<f64>],
    factors: &mut Factors,
    solution: &mut Solution<'_>,
) -> bool {
    let OdeProblem { times, settings, .. } = problem;
    let Some(&last) = times.last() else { return true };
    let [now, base, stage, fourth_order, slopes @ ..] = vectors else { return false };
    let mut time = from;
    equations.derivatives(time, now, &mut slopes[0]);
    let mut step = first_step(
        settings,
        (&now[..], &slopes[0][..]),
        (&mut base[..], &mut stage[..]),
        last - time,
        |ahead, at, to| {
            equations.derivatives(time + ahead, at, to);
        },
    );
    let mut controller = StepController::new();
    while let Some(&asked) = times.get(solution.count) {
        if time >= asked {
            solution.keep(now);
            continue;
        }
        if !solution.may_step() || is_lost(time, step) {
            return false;
        }
        // Two steps of equal lengths, rather than a short one at the end.
        let left = asked - time;
        let (h, end) = if left <= 1.000_1 * step {
            (left, asked)
        } else if left < 2.0 * step {
            (0.5 * left, time + 0.5 * left)
        } else {
            (step, time + step)
        };
        equations.evaluate(time, now, stage);
        let mut is_found = factors.take(equations, h * DIAGONAL);
        for k in 1..7 {
            let (before, own) = slopes.split_at_mut(k);
            let at = if k < 5 { time + NODES[k] * h } else { end };
            combine(base, now, h, &STAGES[k][..k], before);
            // The first guess has the derivative of the stage before.
            for ((x, base), slope) in stage.iter_mut().zip(&base[..]).zip(&before[k - 1]) {
                *x = base + h * DIAGONAL * slope;
            }
            is_found = is_found
                && find_stage(equations, settings, (at, h * DIAGONAL), (now, base), (stage, &mut own[0]), factors);
            if k == 5 {
                fourth_order.copy_from_slice(stage);
            }
        }
        for (fifth, fourth) in stage.iter().zip(&mut fourth_order[..]) {
            *fourth = fifth - *fourth;
        }
        let error = largest_error(settings, now, stage, fourth_order);
        let (is_taken, factor) = controller.judge(if is_found { error } else { f64::NAN });
        if !is_taken {
            step = h * factor;
            continue;
        }
        // A step that was cut says little of the next one.
        step = if h < step && factor >= 1.0 { step.max(h * factor) } else { h * factor };
        std::mem::swap(now, stage);
        slopes.swap(0, 6);
        time = end;
    }
    true
}

/// The matrix 1 - g df/dy of the stages, with g the step times the diagonal, as its factors.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    matrix: Vec<f64>,
    pivots: Vec<u32>,
}

impl Factors {
    /// Room for so many states.
    pub(super) fn new(states: usize) -> Self {
        Self { matrix: vec![0.0; states * states], pivots: vec![0; states] }
    }

    /// Takes the slopes from where the equations were evaluated last; returns whether the matrix has an inverse.
    #[inline(always)]
    fn take(&mut self, equations: &Equations<'_>, g: f64) -> bool {
        let n = equations.n;
        self.matrix.fill(0.0);
        for entry in equations.by_state {
            self.matrix[entry.row as usize * n + entry.column as usize] = -g * equations.slope(entry);
        }
        for i in 0..n {
            self.matrix[i * n + i] += 1.0;
        }
        factorise(&mut self.matrix, &mut self.pivots)
    }

    #[inline(always)]
    fn solve(&self, x: &mut [f64], columns: usize) {
        solve(&self.matrix, &self.pivots, x, columns);
    }
}

/// Solves Y = base + g f(at, Y) from a first guess in `stage` on, and then the equations of its slopes. Writes the stage's
/// derivatives to `own`; returns whether the stage was found.
#[inline(always)]
fn find_stage(
    equations: &mut Equations<'_>,
    settings: &OdeSettings,
    (at, g): (f64, f64),
    (now, base): (&[f64], &[f64]),
    (stage, own): (&mut [f64], &mut [f64]),
    factors: &mut Factors,
) -> bool {
    let (n, stride) = (equations.n, equations.stride);
    let enough = STAGE_ERROR.max(8.0 * f64::EPSILON / settings.relative);
    let mut before = f64::NAN;
    let mut is_found = false;
    for _ in 0..MOST_ITERATIONS {
        let change = &mut own[..n];
        equations.evaluate(at, stage, change);
        for ((change, base), x) in change.iter_mut().zip(base).zip(&*stage) {
            *change = base + g * *change - x;
        }
        factors.solve(change, 1);
        for (x, change) in stage.iter_mut().zip(&*change) {
            *x += change;
        }
        let size = largest_error(settings, &now[..n], &stage[..n], change);
        // The rate at which the errors fall says how large the next ones together are.
        let rate = size / before;
        is_found =
            if before.is_nan() { size <= 1e-3 * enough } else { rate < 1.0 && size * rate / (1.0 - rate) <= enough };
        if is_found || !size.is_finite() || rate >= 2.0 {
            break;
        }
        before = size;
    }
    if !is_found {
        return false;
    }
    if stride > 0 {
        equations.evaluate(at, stage, own);
        if !factors.take(equations, g) {
            return false;
        }
        let slopes = &mut stage[padded(n)..];
        slopes.copy_from_slice(&base[padded(n)..]);
        equations.add_by_parameter(g, slopes);
        factors.solve(slopes, stride);
    }
    for ((own, x), base) in own.iter_mut().zip(&*stage).zip(base) {
        *own = (x - base) / g;
    }
    true
}

/// to = from + h (weights . stages)
#[inline(always)]
fn combine(to: &mut [f64], from: &[f64], h: f64, weights: &[f64], stages: &[Vec<f64>]) {
    to.fill(0.0);
    for (&weight, stage) in weights.iter().zip(stages).filter(|(weight, _)| **weight != 0.0) {
        for (to, stage) in to.iter_mut().zip(stage) {
            *to += weight * stage;
        }
    }
    for (to, from) in to.iter_mut().zip(from) {
        *to = from + h * *to;
    }
}
