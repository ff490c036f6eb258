//! Solutions against exact ones, against SciPy's and published ones, and slopes against exact ones and differences.

use super::{OdeMethod, OdeProblem, OdeSettings, OdeSystem, explicit, implicit};
use crate::evaluate::VectorWidth;
use crate::graph::{Graph, NodeId};
use crate::number::Dual;
use crate::operation::Op;
use crate::program::Program;

const BOTH: [OdeMethod; 2] = [OdeMethod::NonStiff, OdeMethod::Stiff];

/// Derivatives of states: of the time, the states and the parameters.
type RightHandSide = fn(&mut Graph, NodeId, &[NodeId], &[NodeId]) -> Vec<NodeId>;

fn system(states: usize, parameters: usize, of: RightHandSide) -> OdeSystem {
    let mut graph = Graph::new();
    let all: Vec<NodeId> = (0..1 + states + parameters).map(|_| graph.parameter(1)).collect();
    let derivatives = of(&mut graph, all[0], &all[1..=states], &all[1 + states..]);
    let root = graph.concat(&derivatives);
    OdeSystem::compile(&graph, states, root).expect("a right-hand side")
}

fn problem(system: OdeSystem, times: &[f64], method: OdeMethod, tolerance: f64) -> OdeProblem {
    let (most_steps, most_work) = (1_000_000, usize::MAX);
    let settings = OdeSettings { method, relative: tolerance, absolute: tolerance, most_steps, most_work };
    let varying = (0..system.states as u32).collect();
    OdeProblem { name: "solver".into(), system, varying, start: 0.0, times: times.into(), settings }
}

/// The number of steps and the states.
fn solved(problem: &OdeProblem, initial: &[f64], parameters: &[f64]) -> (f64, Vec<f64>) {
    let mut out = problem.solve_plainly(initial, parameters, false).0;
    (out.remove(0), out)
}

fn worst(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, |worst, error| {
        // NaN is worse than anything.
        if error <= worst { worst } else { error }
    })
}

fn decay() -> OdeSystem {
    system(1, 1, |graph, _, y, p| {
        let rate = graph.neg(p[0]);
        vec![graph.mul(rate, y[0])]
    })
}

fn logistic() -> OdeSystem {
    system(1, 2, |graph, _, y, p| {
        let (one, share) = (graph.constant(1.0), graph.div(y[0], p[1]));
        let room = graph.sub(one, share);
        let growth = graph.mul(p[0], y[0]);
        vec![graph.mul(growth, room)]
    })
}

/// A matrix of parameters times the states.
fn linear() -> OdeSystem {
    system(3, 9, |graph, _, y, p| {
        (0..3)
            .map(|i| {
                let row = graph.concat(&p[3 * i..3 * i + 3]);
                let states = graph.concat(y);
                graph.dot(row, states)
            })
            .collect()
    })
}

fn lotka_volterra() -> OdeSystem {
    system(2, 4, |graph, _, y, p| {
        let (eaten, growth) = (graph.mul(p[1], y[1]), graph.mul(p[3], y[0]));
        let (prey, predator) = (graph.sub(p[0], eaten), graph.sub(growth, p[2]));
        vec![graph.mul(prey, y[0]), graph.mul(predator, y[1])]
    })
}

/// exp(A t) of a matrix of n rows: Taylor's series of a matrix divided by 2^20, then squared.
fn matrix_exponential(a: &[f64], n: usize, t: f64) -> Vec<f64> {
    let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..n * n).map(|k| (0..n).map(|j| a[k / n * n + j] * b[j * n + k % n]).sum()).collect()
    };
    let small: Vec<f64> = a.iter().map(|x| x * t / 64.0).collect();
    let mut sum: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
    let mut term = sum.clone();
    for k in 1..30 {
        term = product(&term, &small).into_iter().map(|x| x / f64::from(k)).collect();
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
    }
    (0..6).fold(sum, |power, _| product(&power, &power))
}

const MATRIX: [f64; 9] = [-0.5, 0.3, 0.1, 0.2, -0.8, 0.25, 0.0, 0.4, -0.3];
const FIRST: [f64; 3] = [1.0, 2.0, -1.0];

/// exp(A t) x0 for the derivative `by` of A as well: both are parts of one matrix's exponential.
fn linear_truth(t: f64, by: usize) -> (Vec<f64>, Vec<f64>) {
    let mut both = vec![0.0; 36];
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        both[i * 6 + j] = MATRIX[3 * i + j];
        both[(i + 3) * 6 + j + 3] = MATRIX[3 * i + j];
        both[i * 6 + j + 3] = f64::from(u8::from(3 * i + j == by));
    }
    let power = matrix_exponential(&both, 6, t);
    let times = |column: usize| (0..3).map(|i| (0..3).map(|j| power[i * 6 + column + j] * FIRST[j]).sum()).collect();
    (times(0), times(3))
}

#[test]
fn the_weights_have_the_order_they_say() {
    // Quadrature of x^k, and for each stage the sum of its weights, and that of order 2 where the method has it.
    let explicit = (explicit::NODES, explicit::STAGES, explicit::STAGES[6], 0.0);
    let implicit = (implicit::NODES, implicit::STAGES, implicit::STAGES[6], implicit::DIAGONAL);
    for (nodes, stages, weights, diagonal) in [explicit, implicit] {
        let last = if diagonal == 0.0 { 0.0 } else { diagonal };
        for power in 0..5 {
            let of_stages: f64 = weights.iter().zip(nodes).map(|(b, c)| b * f64::powi(c, power)).sum();
            let sum = of_stages + last;
            assert!((sum - 1.0 / f64::from(power + 1)).abs() < 4e-15, "x^{power}: {sum}");
        }
        for (k, stage) in stages.iter().enumerate() {
            let own = if k == 0 { 0.0 } else { diagonal };
            assert!((stage.iter().sum::<f64>() + own - nodes[k]).abs() < 4e-15, "stage {k}");
            let moment: f64 = stage.iter().zip(nodes).map(|(a, c)| a * c).sum::<f64>() + own * nodes[k];
            assert!(k < 2 || (moment - 0.5 * nodes[k] * nodes[k]).abs() < 4e-15, "stage {k}: {moment}");
        }
    }
    // An error of order 4 sees no polynomial below x^4.
    for power in 0..4 {
        let sum: f64 = explicit::ERROR.iter().zip(explicit::NODES).map(|(e, c)| e * c.powi(power)).sum();
        assert!(sum.abs() < 4e-16, "x^{power}: {sum}");
    }
}

#[test]
fn solutions_are_the_exact_ones() {
    let times = [0.3, 0.7, 0.7, 2.0, 5.0];
    for method in BOTH {
        let (_, found) = solved(&problem(decay(), &times, method, 1e-9), &[3.0], &[0.8]);
        assert!(worst(&found, &times.map(|t| 3.0 * (-0.8 * t).exp())) < 2e-8, "{method:?} {found:?}");
        let (_, found) = solved(&problem(logistic(), &times, method, 1e-9), &[0.5], &[1.3, 7.0]);
        let truth = times.map(|t| 7.0 / (1.0 + 13.0 * (-1.3 * t).exp()));
        assert!(worst(&found, &truth) < 2e-8, "{method:?} {found:?}");
        let oscillator = system(2, 0, |graph, _, y, _| vec![y[1], graph.neg(y[0])]);
        let (_, found) = solved(&problem(oscillator, &times, method, 1e-9), &[1.0, 0.0], &[]);
        assert!(worst(&found, &times.map(|t| [t.cos(), -t.sin()]).concat()) < 3e-8, "{method:?} {found:?}");
        // y' = -2 t y: the time enters.
        let bell = system(1, 0, |graph, t, y, _| {
            let minus_two = graph.constant(-2.0);
            let slope = graph.mul(minus_two, t);
            vec![graph.mul(slope, y[0])]
        });
        let (_, found) = solved(&problem(bell, &times, method, 1e-9), &[2.0], &[]);
        assert!(worst(&found, &times.map(|t| 2.0 * (-t * t).exp())) < 2e-8, "{method:?} {found:?}");
        let (_, found) = solved(&problem(linear(), &times, method, 1e-9), &FIRST, &MATRIX);
        let truth: Vec<f64> = times.iter().flat_map(|&t| linear_truth(t, 0).0).collect();
        assert!(worst(&found, &truth) < 2e-8, "{method:?} {found:?}");
    }
}

/// Steps grow as the fifth root of the tolerance, and errors fall with it: the methods have order 5.
#[test]
fn errors_and_steps_follow_the_tolerance() {
    for method in BOTH {
        let at = |tolerance: f64| {
            let (steps, found) = solved(&problem(logistic(), &[4.0], method, tolerance), &[0.5], &[1.3, 7.0]);
            (steps, (found[0] - 7.0 / (1.0 + 13.0 * (-5.2_f64).exp())).abs())
        };
        let ((steps, error), (more_steps, less_error)) = (at(1e-6), at(1e-11));
        assert!((6.0..14.0).contains(&(more_steps / steps)), "{method:?}: {steps} and {more_steps} steps");
        assert!(less_error < 1e-4 * error && error < 1e-4, "{method:?}: errors {error:e} and {less_error:e}");
    }
}

/// Lotka & Volterra's equations as SciPy 1.18.1 solves them: DOP853 with both tolerances 1e-12.
#[test]
fn solutions_are_scipys() {
    let times = [1.0, 5.0, 10.0, 20.0];
    let truth = [
        [49.089_517_465_812_97, 7.429_096_247_182_708_4],
        [16.800_792_062_394_112, 36.531_427_708_144_88],
        [35.252_930_042_520_71, 5.935_477_165_389_845_5],
        [36.655_007_345_161_586, 5.992_982_616_651_78],
    ];
    for method in BOTH {
        let problem = problem(lotka_volterra(), &times, method, 1e-11);
        let (_, found) = solved(&problem, &[33.9, 5.9], &[0.55, 0.028, 0.84, 0.026]);
        assert!(worst(&found, &truth.concat()) < 1e-8, "{method:?} {found:?}");
    }
}

/// Robertson's reactions and van der Pol's oscillator at the values of the Test Set for IVP Solvers (Mazzia & Magherini
/// 2008), which SciPy's Radau has too; and a linear system with rates of -1 and -10^6.
#[test]
fn stiff_solutions_are_the_published_ones() {
    let robertson = system(3, 3, |graph, _, y, p| {
        let slow = graph.mul(p[0], y[0]);
        let (both, square) = (graph.mul(y[1], y[2]), graph.square(y[1]));
        let (back, fast) = (graph.mul(p[1], both), graph.mul(p[2], square));
        let first = graph.sub(back, slow);
        let sum = graph.add(first, fast);
        vec![first, graph.neg(sum), fast]
    });
    let mut stiff = problem(robertson, &[40.0, 1e11], OdeMethod::Stiff, 1e-9);
    stiff.settings.absolute = 1e-18;
    let (steps, found) = solved(&stiff, &[1.0, 0.0, 0.0], &[0.04, 1e4, 3e7]);
    let truth = [
        0.715_827_068_719_4,
        9.185_534_764_558e-6,
        0.284_163_745_745_82,
        2.083_340_149_701_3e-8,
        8.333_360_770_334_7e-14,
        0.999_999_979_166_650_5,
    ];
    let relative: Vec<f64> = found.iter().zip(truth).map(|(a, b)| (a - b).abs() / b).collect();
    assert!(relative.iter().all(|&error| error < 1e-6) && steps < 3000.0, "{steps} steps, {relative:?}");
    let oscillator = system(2, 1, |graph, _, y, p| {
        let (one, square) = (graph.constant(1.0), graph.square(y[0]));
        let damping = graph.sub(one, square);
        let damped = graph.mul(damping, y[1]);
        let force = graph.sub(damped, y[0]);
        vec![y[1], graph.div(force, p[0])]
    });
    let (steps, found) = solved(&problem(oscillator, &[2.0], OdeMethod::Stiff, 1e-8), &[2.0, 0.0], &[1e-6]);
    assert!(
        worst(&found, &[1.706_167_732_170_48, -0.892_809_701_024_79]) < 1e-5 && steps < 3000.0,
        "{steps} {found:?}"
    );
    let (steps, found) = solved(&problem(decay(), &[1e-6, 1.0], OdeMethod::Stiff, 1e-8), &[1.0], &[1e6]);
    assert!(worst(&found, &[(-1.0_f64).exp(), 0.0]) < 1e-7 && steps < 300.0, "{steps} {found:?}");
}

/// A density whose value is a weighted sum of the states: its first coordinates are the first states, then parameters.
fn density(problem: OdeProblem, first: usize) -> Program {
    let mut graph = Graph::new();
    let (initial, parameters) = (graph.parameter(first), graph.parameter(problem.parameters()));
    let known: Vec<f64> = (first..problem.states()).map(|i| FIRST[i]).collect();
    let (known, rows) = (graph.column(known), problem.length() - 1);
    let initial = graph.concat(&[initial, known]);
    let (states, _) = graph.solve_ode(problem, initial, parameters);
    let weights = graph.column((0..rows).map(|k| 1.0 + (k % 3) as f64).collect::<Vec<f64>>());
    let target = graph.dot(weights, states);
    Program::compile(&graph, target).expect("a program")
}

fn gradient(program: &Program, at: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; at.len()];
    let value = program.logp_grad(&mut program.workspace(), at, &mut gradient).expect("a value");
    (value, gradient)
}

#[test]
fn slopes_are_the_exact_ones() {
    let times = [0.5, 2.0, 3.0];
    for method in BOTH {
        // The third state's first value is data.
        let mut linear = problem(linear(), &times, method, 1e-10);
        linear.varying = vec![0, 1];
        let program = density(linear, 2);
        let at = [&FIRST[..2], &MATRIX].concat();
        let (_, found) = gradient(&program, &at);
        let weighted = |of: &dyn Fn(f64) -> Vec<f64>| -> f64 {
            times.iter().map(|&t| of(t).iter().zip([1.0, 2.0, 3.0]).map(|(x, weight)| weight * x).sum::<f64>()).sum()
        };
        let mut truth = Vec::new();
        for k in 0..2 {
            truth.push(weighted(&|t| (0..3).map(|i| matrix_exponential(&MATRIX, 3, t)[3 * i + k]).collect()));
        }
        truth.extend((0..9).map(|k| weighted(&|t| linear_truth(t, k).1)));
        assert!(worst(&found, &truth) < 1e-8, "{method:?}: {found:?} {truth:?}");
    }
}

#[test]
fn slopes_are_differences() {
    for (method, tolerance) in [(OdeMethod::NonStiff, 1e-11), (OdeMethod::Stiff, 1e-10)] {
        let program = density(problem(lotka_volterra(), &[2.0, 7.0, 11.0], method, tolerance), 2);
        let at = [33.9, 5.9, 0.55, 0.028, 0.84, 0.026];
        let (_, found) = gradient(&program, &at);
        for k in 0..at.len() {
            let value = |by: f64| {
                let mut at = at;
                at[k] += by;
                gradient(&program, &at).0
            };
            let h = 1e-4 * at[k];
            let difference = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
            assert!(
                (found[k] - difference).abs() < 2e-6 * difference.abs(),
                "{method:?} {k}: {} {difference}",
                found[k]
            );
        }
    }
}

/// The plain evaluator, its dual numbers, and all widths and threads.
#[test]
fn all_ways_have_the_same_bits() {
    for method in BOTH {
        let program = density(problem(lotka_volterra(), &[2.0, 7.0], method, 1e-7), 2);
        let at = [33.9, 5.9, 0.55, 0.028, 0.84, 0.026];
        let (value, slopes) = gradient(&program, &at);
        assert_eq!(program.plain(&at), (value, slopes.clone()), "{method:?}");
        for width in VectorWidth::available() {
            let other = program.clone().with_width(width).with_threads(false);
            // The memory is used again.
            let mut workspace = other.workspace();
            for _ in 0..2 {
                let mut found = vec![0.0; 6];
                let again = other.logp_grad(&mut workspace, &at, &mut found).expect("a value");
                assert_eq!((again, &found), (value, &slopes), "{method:?} {width:?}");
                other.logp_grad(&mut workspace, &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0], &mut found).expect("a value");
            }
        }
        let direction = [0.1, -0.3, 0.01, 0.002, -0.01, 0.001];
        let dual: Vec<Dual> = at.iter().zip(direction).map(|(&value, slope)| Dual { value, slope }).collect();
        let along: f64 = slopes.iter().zip(direction).map(|(slope, by)| slope * by).sum();
        assert!((program.plain(&dual).0.slope - along).abs() < 1e-12 * along.abs(), "{method:?}");
    }
}

#[test]
fn what_cannot_be_solved_is_said_and_ends() {
    // y' = y^2 from 1 on has no value at 1.
    let explosion = || system(1, 0, |graph, _, y, _| vec![graph.square(y[0])]);
    for method in BOTH {
        let (steps, found) = solved(&problem(explosion(), &[0.5, 2.0], method, 1e-6), &[1.0], &[]);
        assert!(
            steps < 0.0 && steps > -20_000.0 && (found[0] - 2.0).abs() < 1e-4 && found[1].is_nan(),
            "{steps} {found:?}"
        );
        // Too few steps.
        let mut few = problem(lotka_volterra(), &[20.0], method, 1e-9);
        few.settings.most_steps = 20;
        let (steps, _) = solved(&few, &[33.9, 5.9], &[0.55, 0.028, 0.84, 0.026]);
        assert_eq!(steps, -21.0, "{method:?}");
        // The density says so.
        let program = density(few, 2);
        let mut slopes = [0.0; 6];
        let error = program.logp_grad(&mut program.workspace(), &[33.9, 5.9, 0.55, 0.028, 0.84, 0.026], &mut slopes);
        let message = error.expect_err("no value").to_string();
        assert!(message.contains("solver: ") && message.contains("more than 20 steps"), "{message}");
        // A right-hand side that is no number at the start.
        let (steps, _) = solved(&problem(decay(), &[1.0], method, 1e-6), &[1.0], &[f64::NAN]);
        assert!(steps < 0.0 && steps > -2000.0, "{steps}");
    }
    // However many steps are allowed, the work has an end: 10^12 turns of a wheel.
    let wheel = system(2, 0, |graph, _, y, _| vec![y[1], graph.neg(y[0])]);
    let mut endless = problem(wheel, &[1e12], OdeMethod::NonStiff, 1e-3);
    endless.settings.most_steps = u64::MAX;
    assert_eq!(solved(&endless, &[1.0, 0.0], &[]).0, -1_000_001.0);
}

#[test]
fn misuse_is_refused() {
    let refused = |change: fn(&mut OdeProblem)| {
        let mut wrong = problem(decay(), &[1.0, 2.0], OdeMethod::NonStiff, 1e-6);
        change(&mut wrong);
        let mut graph = Graph::new();
        let (initial, rate) = (graph.parameter(1), graph.parameter(1));
        graph.solve_ode(wrong, initial, rate);
        graph.fault().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(refused(|_| {}), "");
    assert!(refused(|wrong| wrong.times = vec![2.0, 1.0].into()).contains("in order"));
    assert!(refused(|wrong| wrong.start = 1.0).contains("above the first one"));
    assert!(refused(|wrong| wrong.varying = vec![1]).contains("no such state"));
    assert!(refused(|wrong| wrong.times = Vec::new().into()).contains("times"));
    // A right-hand side of the wrong length, and one with a factor of a matrix.
    let mut graph = Graph::new();
    let all = graph.parameter(4);
    assert!(OdeSystem::compile(&graph, 3, all).is_err());
    let factor = graph.cholesky(all, 2);
    let error = OdeSystem::compile(&graph, 4, factor).expect_err("a factor").to_string();
    assert!(error.contains("not supported in it"), "{error}");
}

/// Constants, sums, products of matrices and choices in a right-hand side of vectors.
#[test]
fn right_hand_sides_may_be_vectors() {
    let mut graph = Graph::new();
    let t = graph.parameter(1);
    let y: Vec<NodeId> = (0..3).map(|_| graph.parameter(1)).collect();
    let y = graph.concat(&y);
    let matrix = graph.column(MATRIX.to_vec());
    let product = graph.product(crate::Matrix::new(matrix, 3, 3), crate::Matrix::new(y, 3, 1));
    // Before 1, what flows is doubled.
    let (one, two) = (graph.constant(1.0), graph.constant(2.0));
    let early = graph.apply(Op::Less, &[t, one]);
    let twice = graph.mul(two, product);
    let flow = graph.apply(Op::Select, &[early, twice, product]);
    let system = OdeSystem::compile(&graph, 3, flow).expect("a right-hand side");
    let (_, found) = solved(&problem(system, &[1.0, 2.5], OdeMethod::NonStiff, 1e-9), &FIRST, &[]);
    let truth = [linear_truth(2.0, 0).0, linear_truth(3.5, 0).0].concat();
    assert!(worst(&found, &truth) < 1e-6, "{found:?} {truth:?}");
}

/// y' = -rate (y - p cos t) - p sin t: the state is p cos t, and its slope by p is cos t as soon as exp(-rate t) is nothing.
fn pulled() -> OdeSystem {
    system(1, 2, |graph, t, y, p| {
        let (sine, cosine) = (graph.apply(Op::Sin, &[t]), graph.apply(Op::Cos, &[t]));
        let (goal, away) = (graph.mul(p[1], cosine), graph.mul(p[1], sine));
        let off = graph.sub(goal, y[0]);
        let pull = graph.mul(p[0], off);
        vec![graph.sub(pull, away)]
    })
}

/// Where a rate is absurd, the implicit method goes on, with slopes and without.
#[test]
fn the_explicit_method_leaves_stiff_equations_to_the_implicit_one() {
    let times = [1.0, 2.0, 3.0, 4.0, 5.0];
    let problem = problem(pulled(), &times, OdeMethod::NonStiff, 1e-6);
    for rate in [1.0, 1e2, 1e4, 1e6, 1e9, 1e12] {
        for with_slopes in [false, true] {
            let (found, slopes) = problem.solve_plainly(&[0.7], &[rate, 0.7], with_slopes);
            // A step of the explicit method at the limit of stability is 3.3 / rate long.
            assert!(found[0] > 0.0 && found[0] < 2000.0, "rate {rate}: {} steps", found[0]);
            let expected: Vec<f64> = times.iter().map(|t: &f64| 0.7 * t.cos()).collect();
            assert!(worst(&found[1..], &expected) < 1e-5, "rate {rate}: {found:?}");
            if with_slopes && rate > 10.0 {
                // By the first state, the rate, and p.
                let by_p: Vec<f64> = slopes.iter().skip(2).step_by(3).copied().collect();
                let expected: Vec<f64> = times.iter().map(|t| t.cos()).collect();
                assert!(worst(&by_p, &expected) < 1e-5, "rate {rate}: {slopes:?}");
            }
        }
    }
}
