//! Functions of the library against NumPy and SciPy: of data, of parameters, and their slopes against finite differences.

#[path = "library/numbers.rs"]
mod numbers;

use numbers::{OF_ANY, OF_DATA, OF_INTS};
use octopus_bind::{BoundModel, Data};
use octopus_stan::StanProgram;

/// What the expressions are about; `h` is 0, and depends on parameters where the test is about them.
const VALUES: &str = "real x = 0.37 + h; real y = -1.4 - 0.5 * h; real l = 0.7 + h;
    vector[3] v = [1, -2, 0.5]' * (1 + h);
    matrix[3, 3] A = [[4, 1, 0.5], [1, 3, 0.2], [0.3, -0.4, 2]] + h * [[0.2, -0.1, 0.3], [0.1, 0.5, 0.1], [-0.2, 0.3, 0.1]];
    matrix[3, 2] B = [[1, 2], [3, -1], [0.5, 0.25]] - h;
    matrix[3, 3] S = A * A';
    matrix[4, 2] X = [[1, 2], [0, -1], [3, 0.5], [2, 2]] * (1 + 0.1 * h) + h;
    array[3] real p = {0.1, 0.5, 1.2}; array[2] real q = {0.0, 0.9};
    array[3] vector[2] P = {[0.1, 1]', [0.5, -1]', [1.2, 0.3]'};";

fn model(text: &str) -> Result<BoundModel, String> {
    let program = StanProgram::parse("library.stan", text).map_err(|error| format!("{text}\n{error}"))?;
    BoundModel::new(&program, &Data::new("none")).map_err(|error| format!("{text}\n{error}"))
}

/// All numbers of an expression in Stan's order of rows, added up with weights that differ.
fn weighted(expression: &str, numbers: &[f64]) -> (String, f64) {
    let weight = |k: usize| 1.0 + 0.3 * (k as f64 * 1.7).sin();
    let sum = numbers.iter().enumerate().map(|(k, x)| weight(k) * x).sum();
    let weights: Vec<String> = (0..numbers.len()).map(|k| format!("{:?}", weight(k))).collect();
    // A matrix is read row by row.
    (format!("dot_product(by_rows({expression}), [{}]')", weights.join(", ")), sum)
}

/// Functions that make a vector of anything, row by row.
const BY_ROWS: &str = "functions {
    vector by_rows(matrix m) { return to_vector(m'); }
    vector by_rows(vector m) { return m; }
    vector by_rows(row_vector m) { return m'; }
    vector by_rows(array[] real m) { return to_vector(m); }
    vector by_rows(array[] int m) { return to_vector(m); }
}";

fn of_data(expression: &str, numbers: &[f64]) -> Result<(), String> {
    let (sum, expected) = weighted(expression, numbers);
    let text = format!(
        "{BY_ROWS} transformed data {{ real h = 0; {VALUES} real result = {sum}; }}
         parameters {{ real a; }} model {{ target += a * result; }}"
    );
    let found = model(&text)?.log_density(&[1.0]);
    let error = (found - expected).abs() / (1.0 + expected.abs());
    if error < 2e-14 { Ok(()) } else { Err(format!("{expression}: {found} of data, not {expected}")) }
}

fn of_parameters(expression: &str, numbers: &[f64]) -> Result<(), String> {
    let (sum, expected) = weighted(expression, numbers);
    let text = format!("{BY_ROWS} parameters {{ real h; }} model {{ {VALUES} target += {sum}; }}");
    let program = model(&text)?.compile().map_err(|error| format!("{expression}: {error}"))?;
    let mut slope = [0.0];
    let mut at = |h: f64| -> Result<(f64, f64), String> {
        let value = program.logp_grad(&mut program.workspace(), &[h], &mut slope);
        Ok((value.map_err(|error| format!("{expression}: {error}"))?, slope[0]))
    };
    let (found, slope) = at(0.0)?;
    let error = (found - expected).abs() / (1.0 + expected.abs());
    if error > 5e-14 {
        return Err(format!("{expression}: {found} of parameters, not {expected}"));
    }
    let h = 1e-3;
    let side = [at(h)?.0, at(-h)?.0, at(2.0 * h)?.0, at(-2.0 * h)?.0];
    let difference = (8.0 * (side[0] - side[1]) - (side[2] - side[3])) / (12.0 * h);
    if (slope - difference).abs() > 1e-7 * (1.0 + slope.abs()) {
        return Err(format!("{expression}: a slope of {slope}, not {difference}"));
    }
    Ok(())
}

fn all_good(results: impl Iterator<Item = Result<(), String>>) {
    let wrong: Vec<String> = results.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_of_data_have_scipys_values() {
    all_good(OF_ANY.iter().chain(&OF_DATA).chain(&OF_INTS).map(|(expression, numbers)| of_data(expression, numbers)));
}

#[test]
fn functions_of_parameters_have_scipys_values_and_right_slopes() {
    all_good(OF_ANY.iter().map(|(expression, numbers)| of_parameters(expression, numbers)));
}

#[test]
fn functions_with_wrong_arguments_say_so() {
    for (statement, words) in [
        ("real r = sum(inverse(B));", "square"),
        ("vector[3] r = mdivide_left(A, [1, 2]');", "3 rows"),
        ("real r = sum(block(A, 2, 2, 3, 1));", "outside"),
        ("real r = one_hot_vector(3, 4)[1];", "element 4 is outside"),
        ("int r = rank(v, 0);", "element 0 is outside"),
        ("real r = quantile(v, 1.5);", "from 0 to 1"),
        ("int r = to_int(1e10);", "32 bits"),
        ("int r = choose(100, 50);", "no whole number"),
        ("vector[2] r = csr_matrix_times_vector(2, 2, [1]', {3}, {1, 2, 2}, [1, 2]');", "column 3 is outside"),
        ("vector[2] r = csr_matrix_times_vector(2, 2, [1]', {1}, {1, 5, 2}, [1, 2]');", "rise from 1 to 2"),
        ("matrix[2, 3] r = qr_thin_Q(B');", "at least as many rows"),
    ] {
        let text = format!("transformed data {{ real h = 0; {VALUES} {statement} }} model {{ }}");
        let message = model(&text).map(|_| ()).expect_err("an error");
        assert!(message.contains(words) && message.contains("library.stan"), "{message}");
    }
}

#[test]
fn a_rejection_that_depends_on_parameters_is_a_divergence() {
    let text = "parameters { real a; } model { a ~ normal(0, 1); if (a > 1 || is_nan(a)) reject(\"a is \", a); }";
    let program = model(text).expect("a model").compile().expect("a program");
    let (mut workspace, mut slope) = (program.workspace(), [0.0]);
    assert!(program.logp_grad(&mut workspace, &[0.5], &mut slope).is_ok());
    let error = program.logp_grad(&mut workspace, &[1.5], &mut slope).expect_err("rejected").to_string();
    assert!(error.contains("the program rejects: a is ..") && error.contains("library.stan:1:54"), "{error}");
    let data = model("transformed data { if (1 > 0) reject(\"never\"); } model { }").map(|_| ()).expect_err("rejected");
    assert!(data.contains("the program rejects its data: never"), "{data}");
}
