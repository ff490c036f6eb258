//! Every row of the table of operations: slopes against dual numbers and finite differences, bits, special values.

use crate::same::{bits_agree, check, differences_agree};
use octopus_program::{Domain, Graph, NodeId, Op, Program};

/// Rows of the vectors: more than a block's lanes.
const ROWS: usize = 45;

/// A number of the domain.
fn number(domain: Domain, row: usize, side: usize) -> f64 {
    // No two operands are equal: larger and smaller numbers have no slope there.
    let share = ((row * 37 + side * 11) % 101) as f64 / 101.0 + 0.003 + 0.001 * side as f64;
    match domain {
        Domain::Real => 6.0 * share - 3.0,
        Domain::Positive => 4.0 * share + 0.05,
        Domain::Unit => 0.98 * share + 0.01,
        Domain::AboveMinusOne => 3.0 * share - 0.9,
        Domain::BelowOne => 0.9 - 3.0 * share,
        Domain::Negative => -2.0 * share - 0.01,
        Domain::Truth => f64::from(u8::from(share > 0.5)),
    }
}

/// A weighted sum of an operation's rows; operands of `scalars` serve all rows.
fn program(op: Op, scalars: u32) -> (Program, Vec<f64>) {
    let mut m = Graph::new();
    let (mut args, mut position): (Vec<NodeId>, Vec<f64>) = Default::default();
    for (side, &domain) in op.domains().iter().enumerate() {
        let rows = if scalars >> side & 1 == 1 { 1 } else { ROWS };
        position.extend((0..rows).map(|row| number(domain, row, side)));
        args.push(m.parameter(rows));
    }
    let value = m.apply(op, &args);
    let weights = m.column((0..ROWS).map(|i| 1.0 + (i % 4) as f64).collect::<Vec<_>>());
    let weighted = m.mul(weights, value);
    let target = m.sum(weighted);
    (Program::compile(&m, target).expect("a program"), position)
}

#[test]
fn every_row_has_its_slopes_and_one_set_of_bits() {
    // Trigamma has no slope yet, and a held number none on purpose.
    for &op in Op::ALL.iter().filter(|&&op| !matches!(op, Op::Trigamma | Op::Held)) {
        for scalars in 0..1 << op.arity() {
            let (program, position) = program(op, scalars);
            let (_, gradient) = check(&program, &position);
            let jumps = op.domains().contains(&Domain::Truth) || matches!(op, Op::Sign | Op::Less);
            if !jumps {
                differences_agree(&program, &position, &gradient, 3e-5);
            }
        }
    }
}

/// The square root and the power 1.5 of e^(-x^2), which underflows at 40: both are 0 there, and so are the true slopes,
/// -40 e^-800 and -120 e^-2400.
#[test]
fn roots_and_powers_of_what_underflows_have_slopes() {
    let mut m = Graph::new();
    let x = m.parameter(2);
    let square = m.mul(x, x);
    let minus = m.apply(Op::Neg, &[square]);
    let bell = m.apply(Op::Exp, &[minus]);
    let (root, power) = (m.apply(Op::Sqrt, &[bell]), m.constant(1.5));
    let power = m.apply(Op::Pow, &[bell, power]);
    let both = m.add(root, power);
    let target = m.sum(both);
    let program = Program::compile(&m, target).expect("a program");
    let (value, gradient) = check(&program, &[40.0, 1.0]);
    let (root, power) = ((-0.5_f64).exp(), (-1.5_f64).exp());
    assert!((value - root - power).abs() < 1e-15, "{value}");
    assert_eq!(gradient[0], 0.0);
    assert!((gradient[1] + root + 3.0 * power).abs() < 1e-14, "{}", gradient[1]);
}

#[test]
fn a_slope_that_is_missing_is_an_error() {
    let mut m = Graph::new();
    let (a, data) = (m.parameter(1), m.constant(2.0));
    let known = m.apply(Op::Trigamma, &[data]);
    let product = m.mul(a, known);
    assert!(Program::compile(&m, product).is_ok());
    let unknown = m.apply(Op::Trigamma, &[a]);
    let error = Program::compile(&m, unknown).expect_err("no slope");
    assert_eq!(error.to_string(), "trigamma: its slope is not supported; its operand must be data");
}

#[test]
fn special_values_are_the_same_everywhere() {
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 5e-324, 1e-310];
    for &op in Op::ALL {
        let mut m = Graph::new();
        let args: Vec<NodeId> = (0..op.arity()).map(|_| m.parameter(100)).collect();
        let value = m.apply(op, &args);
        // Infinities and NaNs become numbers that a sum keeps apart.
        let zero = m.constant(0.0);
        let above = m.apply(Op::Less, &[zero, value]);
        let below = m.apply(Op::Less, &[value, zero]);
        let two = m.constant(2.0);
        let kind = m.apply(Op::MulAdd, &[two, above, below]);
        let weights = m.column((0..100).map(f64::from).collect::<Vec<_>>());
        let weighted = m.mul(weights, kind);
        let target = m.sum(weighted);
        let program = Program::compile(&m, target).expect("a program");
        let position: Vec<f64> = (0..100 * op.arity()).map(|k| special[k * 7 / 3 % 10]).collect();
        let mut gradient = vec![0.0; program.dim()];
        let value = program.logp_grad(&mut program.workspace(), &position, &mut gradient).expect("counts");
        bits_agree(&program, &position, value, &gradient);
    }
}
