//! Symmetric eigendecompositions: NumPy's numbers, dual numbers, finite differences, bits.

use crate::same::{check, differences_agree};
use octopus_program::{Graph, Matrix, NodeId, Op, Program};

/// The symmetric matrix whose lower triangle has these elements, row by row.
fn from_triangle(m: &mut Graph, triangle: NodeId, n: usize) -> NodeId {
    let place = |k: usize| {
        let (i, j) = ((k / n).max(k % n), (k / n).min(k % n));
        (i * (i + 1) / 2 + j) as u32
    };
    m.gather(triangle, (0..n * n).map(place).collect::<Vec<_>>())
}

/// Elements of a triangle, without a rule that makes eigenvalues equal.
fn triangle(n: usize) -> Vec<f64> {
    (0..n * (n + 1) / 2).map(|k| (1.7 * k as f64 + 0.3).sin() + 0.1 * (0.9 * k as f64 * k as f64).cos()).collect()
}

/// Numbers that differ, one for each element.
fn weights(m: &mut Graph, count: usize, seed: f64) -> NodeId {
    m.column((0..count).map(|k| (1.3 * k as f64 + seed).cos()).collect::<Vec<_>>())
}

/// Any function of both eigenvalues and eigenvectors.
fn of_everything(n: usize) -> Program {
    let mut m = Graph::new();
    let free = m.parameter(n * (n + 1) / 2);
    let a = from_triangle(&mut m, free, n);
    let (vectors, values) = m.eigendecompose_sym(a, n);
    let (of_vectors, of_values) = (weights(&mut m, n * n, 0.2), weights(&mut m, n, 2.5));
    let bent = m.apply(Op::Tanh, &[values]);
    let first = m.dot(vectors, of_vectors);
    let second = m.dot(bent, of_values);
    let target = m.add(first, second);
    Program::compile(&m, target).expect("a program")
}

#[test]
fn slopes_are_the_dual_numbers_and_differences() {
    for n in 1..=20 {
        let program = of_everything(n);
        let x = triangle(n);
        let (_, gradient) = check(&program, &x);
        differences_agree(&program, &x, &gradient, 1e-5);
    }
}

/// v' log(A) v and the sum of the logarithms, of a positive definite A.
#[test]
fn functions_without_signs_have_numpys_values_and_slopes() {
    let mut m = Graph::new();
    let free = m.parameter(6);
    let a = from_triangle(&mut m, free, 3);
    let (vectors, values) = m.eigendecompose_sym(a, 3);
    let v = m.column(vec![1.0, -2.0, 0.5]);
    let turned = m.product(Matrix::new(vectors, 3, 3).t(), Matrix::new(v, 3, 1));
    let square = m.square(turned);
    let logs = m.ln(values);
    let (form, sum) = (m.dot(logs, square), m.sum(logs));
    let target = m.add(form, sum);
    let program = Program::compile(&m, target).expect("a program");
    let (value, gradient) = check(&program, &[4.0, 1.0, 3.0, 0.3, -0.4, 2.0]);
    assert!((value - NUMPY.0).abs() < 1e-14, "{value}");
    for (found, expected) in gradient.iter().zip(NUMPY.1) {
        assert!((found - expected).abs() < 1e-14, "{gradient:?}");
    }
}

/// By `numpy.linalg.eigh`; slopes by divided differences of the logarithm: V (L o V' v v' V) V' + A^-1, once more off the
/// diagonal.
const NUMPY: (f64, [f64; 6]) = (
    7.9599547044741925,
    [
        0.7321711045237493,
        -1.9023176143925324,
        1.976974312834493,
        0.12390351089017843,
        -0.29128972640607864,
        0.5695116569822841,
    ],
);

/// A = s I + x x' has the eigenvalue s at every point, n - 1 times. A function without signs and bases has right slopes.
#[test]
fn eigenvalues_that_are_always_equal_give_right_slopes() {
    let n = 5;
    let mut m = Graph::new();
    let (log_scale, x) = (m.parameter(1), m.parameter(n));
    let scale = m.exp(log_scale);
    let identity = m.column((0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect::<Vec<_>>());
    let outer = m.product(Matrix::new(x, n, 1), Matrix::new(x, 1, n));
    let scaled = m.mul(scale, identity);
    let a = m.add(scaled, outer);
    let (vectors, values) = m.eigendecompose_sym(a, n);
    let y = weights(&mut m, n, 0.4);
    let turned = m.product(Matrix::new(vectors, n, n).t(), Matrix::new(y, n, 1));
    let square = m.square(turned);
    let shares = m.div(square, values);
    let form = m.sum(shares);
    let program = Program::compile(&m, form).expect("a program");
    for x in [[0.3, 0.7, -0.4, 1.1, 0.2, -0.9], [-0.5, 0.0, 0.0, 1.5, 0.0, 0.0]] {
        // Sherman and Morrison: y' A^-1 y = (y'y - (x'y)^2 / (s + x'x)) / s.
        let y: Vec<f64> = (0..n).map(|k| (1.3 * k as f64 + 0.4).cos()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (s, x_only) = (f64::exp(x[0]), &x[1..]);
        let (along, size) = (dot(x_only, &y), s + dot(x_only, x_only));
        let mut gradient = [0.0; 6];
        let value = program.logp_grad(&mut program.workspace(), &x, &mut gradient).expect("a value");
        let expected = (dot(&y, &y) - along * along / size) / s;
        assert!((value - expected).abs() < 1e-13 * expected, "{value} {expected}");
        let by_scale = s * (along * along / (size * size * s)) - expected;
        assert!((gradient[0] - by_scale).abs() < 1e-12, "{} {by_scale}", gradient[0]);
        for k in 0..n {
            let slope = (2.0 * along * along * x_only[k] / (size * size) - 2.0 * along * y[k] / size) / s;
            assert!((gradient[k + 1] - slope).abs() < 1e-12, "{k}: {} {slope}", gradient[k + 1]);
        }
    }
}

/// The log density of a Gaussian process, times -2, by eigenvalues or by a Cholesky factor; logarithms of the kernel's
/// size, its rate and the noise are parameters.
fn gaussian_process(n: usize, by_eigenvalues: bool) -> Program {
    let mut m = Graph::new();
    let [size, rate, noise] = [0; 3].map(|_| {
        let free = m.parameter(1);
        m.exp(free)
    });
    let squares = (0..n * n).map(|k| -((k / n) as f64 - (k % n) as f64).powi(2) * 0.04).collect::<Vec<_>>();
    let (squares, y) = (m.column(squares), weights(&mut m, n, 0.1));
    let identity = m.column((0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect::<Vec<_>>());
    let exponent = m.mul(rate, squares);
    let shape = m.exp(exponent);
    let kernel = m.mul(size, shape);
    let target = if by_eigenvalues {
        let (vectors, values) = m.eigendecompose_sym(kernel, n);
        let variances = m.add(noise, values);
        let turned = m.product(Matrix::new(vectors, n, n).t(), Matrix::new(y, n, 1));
        let square = m.square(turned);
        let (shares, logs) = (m.div(square, variances), m.ln(variances));
        let both = m.add(shares, logs);
        m.sum(both)
    } else {
        let noises = m.mul(noise, identity);
        let covariance = m.add(kernel, noises);
        let factor = m.cholesky(covariance, n);
        let z = m.solve(factor, y, n, 1, false);
        let diagonal = m.diagonal(factor, n);
        let (form, logs) = (m.dot(z, z), m.ln(diagonal));
        let half = m.sum(logs);
        let logs = m.add(half, half);
        m.add(form, logs)
    };
    Program::compile(&m, target).expect("a program")
}

/// Most eigenvalues of a smooth kernel are 0 up to rounding: 1 / (w_j - w_i) is noise as large as 1e17.
#[test]
fn slopes_of_nearly_equal_eigenvalues_are_a_cholesky_factors() {
    let programs = [true, false].map(|by_eigenvalues| gaussian_process(30, by_eigenvalues));
    for x in [[0.2, -0.3, 0.1], [-0.2, 0.3, -0.7], [0.7, -3.0, -4.0], [0.0, 1.0, -2.0]] {
        let [(value, found), (expected, slopes)] = programs.each_ref().map(|program| {
            let mut gradient = [0.0; 3];
            (program.logp_grad(&mut program.workspace(), &x, &mut gradient).expect("a value"), gradient)
        });
        assert!((value - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{value} {expected}");
        for (found, slope) in found.iter().zip(slopes) {
            assert!((found - slope).abs() < 1e-9 * (1.0 + slope.abs()), "{x:?}: {found} {slope}");
        }
    }
}

/// At a point where two eigenvalues are equal and only there, slopes are finite; eigenvalues' sum keeps its own.
#[test]
fn equal_eigenvalues_give_no_infinite_slopes() {
    let program = of_everything(3);
    let mut gradient = [0.0; 6];
    let identity = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
    let value = program.logp_grad(&mut program.workspace(), &identity, &mut gradient).expect("a value");
    assert!(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()));
}

#[test]
fn a_matrix_that_is_no_number_gives_an_error() {
    let program = of_everything(3);
    let mut x = triangle(3);
    x[4] = f64::INFINITY;
    program.logp_grad(&mut program.workspace(), &x, &mut [0.0; 6]).expect_err("no value");
}

#[test]
fn a_vector_of_another_length_is_refused() {
    let mut m = Graph::new();
    let x = m.parameter(5);
    let (_, values) = m.eigendecompose_sym(x, 2);
    let sum = m.sum(values);
    let error = Program::compile(&m, sum).expect_err("a misuse").to_string();
    assert!(error.contains("eigendecompose_sym"), "{error}");
}
