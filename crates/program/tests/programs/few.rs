//! Few rows and small matrices: loops that are done in chunks or filled up, and systems side by side, have the bits of the
//! plain evaluator for every length.

use crate::same::{bits_agree, check};
use octopus_program::{Graph, Matrix, Op, Program};

fn numbers(count: usize, turn: f64) -> Vec<f64> {
    (0..count).map(|k| (turn + 1.3 * k as f64).sin()).collect()
}

/// Vectors that begin within others, at every length around chunks, lanes and blocks.
#[test]
fn loops_of_every_length() {
    for rows in (1..70).chain([95, 121, 511, 513, 4095, 4096, 4097]) {
        let mut m = Graph::new();
        let (all, scale) = (m.parameter(rows + 3), m.parameter(1));
        let x = m.slice(all, 3, rows);
        let data = m.column(numbers(rows, 0.3));
        let index: Vec<u32> = (0..rows as u32).map(|k| (k * 7 + 2) % (rows as u32 + 3)).collect();
        let (gathered, moved) = (m.gather(all, index.clone()), m.mul(x, scale));
        let exponential = m.exp(moved);
        let ratio = m.div(gathered, exponential);
        let groups = m.segment_sum(ratio, index.iter().map(|k| k % 3).collect::<Vec<_>>(), 3);
        let (sum, product) = (m.sum(ratio), m.dot(data, exponential));
        let (groups, of_groups) = (m.square(groups), m.constant(0.5));
        let groups = m.dot(groups, of_groups);
        // No row of it is 0, all are -0.
        let zero = m.constant(-0.0);
        let size = m.apply(Op::Abs, &[x]);
        let zeros = m.mul(zero, size);
        let zeros = m.sum(zeros);
        let most = m.apply(Op::Max, &[sum, zeros]);
        let target = m.add(most, product);
        let target = m.add(target, groups);
        let program = Program::compile(&m, target).expect("a program");
        let position = numbers(rows + 4, 0.1);
        let mut gradient = vec![0.0; program.dim()];
        let value = program.logp_grad(&mut program.workspace(), &position, &mut gradient).expect("finite");
        bits_agree(&program, &position, value, &gradient);
        if rows < 40 {
            check(&program, &position);
        }
    }
}

#[test]
fn factors_and_systems_of_every_size() {
    for n in [1, 2, 7, 8, 9, 11, 16, 17, 25, 37, 70] {
        for (columns, transposed) in [(1, false), (1, true), (2, true), (8, false), (11, false), (17, true), (41, true)]
        {
            let mut m = Graph::new();
            let scale = m.parameter(3);
            let data = m.column(numbers(n * n, 0.9));
            let scales = m.gather(scale, (0..(n * n) as u32).map(|k| k % 3).collect::<Vec<_>>());
            let some = m.mul(data, scales);
            let some = Matrix::new(some, n, n);
            let product = m.product(some, some.t());
            let identity = m.column((0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0))).collect::<Vec<_>>());
            let positive = m.add(product, identity);
            let factor = m.cholesky(positive, n);
            let sides = m.column(numbers(n * columns, 1.7));
            let first = m.element(scale, 0);
            let sides = m.mul(sides, first);
            let solved = m.solve(factor, sides, n, columns, transposed);
            let weights = m.column(numbers(n * columns, 0.2));
            let target = m.dot(weights, solved);
            check(&Program::compile(&m, target).expect("a program"), &[0.7, -0.4, 1.2]);
        }
    }
}

/// Matrices of data are kept turned as well.
#[test]
fn products_of_data_and_parameters() {
    for (rows, inner) in [
        (1, 5),
        (7, 9),
        (8, 8),
        (9, 25),
        (40, 33),
        (65, 34),
        (13, 128),
        (140, 3),
        (30, 257),
        (300, 5),
        (517, 24),
        (71, 29),
        (300, 40),
    ] {
        let mut m = Graph::new();
        let (weights, data) = (m.parameter(inner), m.column(numbers(rows * inner, 0.4)));
        let (data, vector) = (Matrix::new(data, rows, inner), Matrix::new(weights, inner, 1));
        let mut product = m.product(data, vector);
        for turn in [0.6, 1.1] {
            let more = m.column(numbers(inner, turn));
            let weighted = m.mul(weights, more);
            let other = m.product(data, Matrix::new(weighted, inner, 1));
            product = m.mul(product, other);
        }
        let target = m.sum(product);
        check(&Program::compile(&m, target).expect("a program"), &numbers(inner, 2.0));
    }
}

/// Long sums of matrices of parameters, one of which is turned for them.
#[test]
fn products_of_matrices_with_long_sums() {
    for (rows, inner, columns) in [(3, 129, 2), (2, 300, 9), (1, 2049, 3)] {
        let mut m = Graph::new();
        let scale = m.parameter(2);
        let mut matrix = |count: usize, turn: f64, k: usize| {
            let (data, factor) = (m.column(numbers(count, turn)), m.element(scale, k));
            m.mul(data, factor)
        };
        let (a, b) = (matrix(rows * inner, 0.2, 0), matrix(inner * columns, 1.4, 1));
        let product = m.product(Matrix::new(a, rows, inner), Matrix::new(b, inner, columns));
        let target = m.dot(product, product);
        check(&Program::compile(&m, target).expect("a program"), &[0.8, -1.1]);
    }
}

/// ln p, ln(1 - p) twice and ln(e^x), where p is 1 to the last digit, and e^x is infinite.
#[test]
fn logarithms_of_transforms_are_right_far_out() {
    let mut m = Graph::new();
    let x = m.parameter(4);
    let (p, e, one) = (m.apply(Op::Sigmoid, &[x]), m.exp(x), m.constant(1.0));
    let rest = m.sub(one, p);
    let terms = [m.ln(p), m.apply(Op::Ln1m, &[p]), m.ln(rest), m.ln(e)];
    let mut target = m.constant(0.0);
    for (k, term) in terms.into_iter().enumerate() {
        let (sum, weight) = (m.sum(term), m.constant(10_f64.powi(k as i32)));
        let weighted = m.mul(weight, sum);
        target = m.add(target, weighted);
    }
    let program = Program::compile(&m, target).expect("a program");
    let position = [50.0, -40.0, 0.7, 800.0];
    let (value, gradient) = check(&program, &position);
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let expected: f64 = position.iter().map(|&x| -softplus(-x) - 110.0 * softplus(x) + 1000.0 * x).sum();
    assert!((value - expected).abs() < 1e-12 * expected.abs(), "{value} {expected}");
    for (slope, x) in gradient.iter().zip(position) {
        let expected = 1.0 / (1.0 + x.exp()) - 110.0 / (1.0 + (-x).exp()) + 1000.0;
        assert!((slope - expected).abs() < 1e-12 * expected.abs(), "{x}: {slope} {expected}");
    }
}

/// A row for each segment, as in a loop whose passes add one number each.
#[test]
fn sums_of_single_rows_are_the_rows() {
    let mut m = Graph::new();
    let x = m.parameter(50);
    let all: Vec<u32> = (0..50).collect();
    assert_eq!(m.segment_sum(x, all.clone(), 50), x);
    assert_eq!(m.gather(x, all), x);
    let turned: Vec<u32> = (0..50).rev().collect();
    assert_ne!(m.segment_sum(x, turned, 50), x);
}
