//! Loops that carry state: scans held to the same loops bound pass by pass, to formulas by hand and to finite differences.

mod unrolled;

use octopus_bind::Data;
use octopus_program::Program;
use unrolled::{bound, compared, evaluated, numbers};

/// How a loop has to come out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// As this many scans, forward ones.
    Scans(usize),
    /// Pass by pass.
    Unrolled,
}

/// Numbers of steps of the scans, of all passes of a loop.
fn scans(program: &Program) -> usize {
    program.describe().lines().filter(|line| line.starts_with("scan of")).count()
}

/// Compares a program with the unrolled one, and asks for its form.
fn check(text: &str, data: &Data, form: Form) {
    let (program, other) = compared(text, data);
    let found = scans(&program);
    match form {
        // The backward scan of each is one too.
        Form::Scans(expected) => assert_eq!(found, 2 * expected, "{text}\n{}", program.describe()),
        Form::Unrolled => assert_eq!(found, 0, "{text}"),
    }
    assert_eq!(scans(&other), 0);
}

fn series(count: usize) -> Data {
    let groups: Vec<i64> = (0..count as i64).map(|t| 1 + t * t % 3).collect();
    let signs: Vec<i64> = (0..count as i64).map(|t| (t * 7 + t / 3) % 2).collect();
    Data::new("series")
        .with_int("T", count as i64)
        .with_reals("y", &numbers(count, 0.3))
        .with_reals("z", &numbers(count, 1.1))
        .with_ints("g", &groups)
        .with_ints("s", &signs)
}

const HEAD: &str = "data { int T; vector[T] y; vector[T] z; array[T] int g; array[T] int s; }";

/// A program with a loop in its transformed parameters.
fn check_loop(declared: &str, body: &str, form: Form) {
    let text = format!(
        "{HEAD} parameters {{ real a; real<lower=0, upper=1> b; real<lower=0> c; vector[3] m; }}
        transformed parameters {{ {declared} {body} }}
        model {{ m ~ std_normal(); a ~ normal(0, 1); c ~ exponential(1); b ~ beta(2, 2);
            target += -0.1 * dot_self(x); y ~ normal(x, c); }}"
    );
    check(&text, &series(40), form);
}

#[test]
fn an_element_before() {
    check_loop("vector[T] x;", "x[1] = a; for (t in 2:T) x[t] = a + b * x[t - 1] + z[t];", Form::Scans(1));
}

#[test]
fn elements_some_passes_before() {
    let body = "x[1] = a; x[2] = m[1]; x[3] = 0.5;
        for (t in 4:T) x[t] = a * y[t] + b * x[t - 1] - 0.3 * m[2] * x[t - 2] + 0.1 * sin(x[t - 3]);";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn two_series_that_read_each_other() {
    let body = "x[1] = a; e[1] = y[1] - a;
        for (t in 2:T) { x[t] = a + b * y[t - 1] + m[1] * e[t - 1]; e[t] = y[t] - x[t]; }";
    check_loop("vector[T] x; vector[T] e;", body, Form::Scans(1));
}

#[test]
fn a_variance_that_is_carried() {
    let body = "x[1] = 0.5; for (t in 2:T) x[t] = sqrt(c + b * square(y[t - 1] - a) + 0.2 * b * square(x[t - 1]));";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn parameters_by_an_index_of_data() {
    let body = "x[1] = a; for (t in 2:T) x[t] = m[g[t]] + b * x[t - 1] * z[g[t - 1]];";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn a_scalar_from_outside() {
    let body = "real level = a; for (t in 1:T) { level = level * b + m[1] * tanh(y[t] - level); x[t] = level; }
        x[1] = x[1] + level;";
    check_loop("vector[T] x;", body, Form::Scans(1));
    let body = "real sum = a; for (t in 1:T) { x[t] = 0.1 * sum; sum += b * z[t]; }";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn a_vector_that_is_carried() {
    let body = "{ vector[3] state = m; for (t in 1:T) {
            vector[3] old = state;
            state = b * old + z[t]; state[2] += 0.1 * old[1] * old[3]; x[t] = sum(state); } }";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn products_of_matrices_and_states() {
    let products = ["W * h + z[t]", "(h' * W)' .* exp(-square(z[t] - m))", "W * (W * h) / (1 + dot_self(h))"];
    for product in products {
        let body = format!(
            "{{ vector[3] h = m; matrix[3, 3] W = add_diag(0.1 * m * m', b);
            for (t in 1:T) {{ h = {product}; x[t] = h[1]; }} }}"
        );
        check_loop("vector[T] x;", &body, Form::Scans(1));
    }
}

/// The forward step of a hidden Markov model as people write it: the state before as a copy, its elements one by one.
#[test]
fn forward_steps_of_a_hidden_markov_model() {
    let steps = [
        "vector[K] before = now;
            for (j in 1:K) now[j] = log_sum_exp(before + next[, j]) + normal_lpdf(y[t] | mu[j], 1);",
        "vector[K] before = now; vector[K] way;
            for (j in 1:K) {
                for (i in 1:K) way[i] = before[i] + next[i, j];
                now[j] = log_sum_exp(way) + normal_lpdf(y[t] | mu[j], 1);
            }",
        "vector[K] after;
            for (j in 1:K) after[j] = log_sum_exp(now + next[, j]) + normal_lpdf(y[t] | mu[j], 1);
            now = after;",
    ];
    for step in steps {
        let text = format!(
            "{HEAD} transformed data {{ int K = 3; }}
            parameters {{ array[K] simplex[K] A; vector[K] mu; }}
            model {{
                matrix[K, K] next; vector[K] now = -0.5 * square(y[1] - mu);
                for (i in 1:K) next[i] = log(A[i])';
                mu ~ normal(0, 2);
                for (t in 2:T) {{ {step} }}
                target += log_sum_exp(now);
            }}"
        );
        check(&text, &series(25), Form::Scans(1));
    }
}

#[test]
fn arrays_of_vectors_and_scratch_from_outside() {
    for states in [2, 3, 5] {
        let text = format!(
            "{HEAD} transformed data {{ int K = {states}; }}
            parameters {{ array[K] simplex[K] A; vector[K] mu; simplex[K] p; real<lower=0> sigma; }}
            transformed parameters {{
                array[T] vector[K] la;
                {{
                    array[K] real acc;
                    la[1] = log(p) + normal_lpdf(y[1] | mu, sigma);
                    for (t in 2:T) for (j in 1:K) {{
                        for (i in 1:K) acc[i] = la[t - 1, i] + log(A[i, j]) + normal_lpdf(y[t] | mu[j], sigma);
                        la[t, j] = log_sum_exp(acc);
                    }}
                }}
            }}
            model {{ mu ~ normal(0, 1); sigma ~ exponential(1); target += log_sum_exp(la[T]); }}"
        );
        check(&text, &series(30), Form::Scans(1));
    }
}

#[test]
fn whole_vectors_of_the_pass_before() {
    let text = format!(
        "{HEAD} parameters {{ vector[2] a; vector<lower=0, upper=1>[2] b; }}
        transformed parameters {{ array[T] vector[2] x; x[1] = a;
            for (t in 2:T) x[t] = b .* x[t - 1] + y[t]; }}
        model {{ a ~ std_normal(); for (t in 1:T) target += -0.5 * dot_self(x[t]); }}"
    );
    check(&text, &series(30), Form::Scans(1));
}

#[test]
fn functions_of_the_program() {
    let text = format!(
        "functions {{
            real next(real x, real a, real u) {{ real h = tanh(x); return a * h + u; }}
            vector path(real start, real a, vector u, int T) {{
                vector[T] x; real before = start;
                for (t in 1:T) {{ x[t] = next(before, a, u[t]) / (1 + square(before)); before = x[t]; }}
                return x;
            }}
        }} {HEAD} parameters {{ real a; real start; }}
        transformed parameters {{ vector[T] x = path(start, a, z, T); }}
        model {{ a ~ std_normal(); start ~ std_normal(); y ~ normal(x, 1); }}"
    );
    check(&text, &series(35), Form::Scans(1));
}

#[test]
fn terms_of_the_density_and_guards_inside() {
    let text = format!(
        "{HEAD} parameters {{ real a; real<lower=0> c; }}
        model {{
            real level = c; a ~ std_normal(); c ~ exponential(1);
            for (t in 1:T) {{ y[t] ~ normal(a * level, level + 0.1); level = 0.5 * level + c * square(z[t]); }}
            target += -level;
        }}"
    );
    check(&text, &series(35), Form::Scans(1));
    // The scale becomes negative in some pass, which is an error of the evaluation and not a number.
    let text = text.replace("level + 0.1", "level - 5");
    let program = bound(&text, &series(35), true).compile().expect("a program");
    assert_eq!(scans(&program), 2);
    let mut gradient = [0.0; 2];
    assert!(program.logp_grad(&mut program.workspace(), &[0.1, 0.2], &mut gradient).is_err());
}

#[test]
fn a_branch_on_the_first_passes_splits_the_loop() {
    let body = "for (t in 1:T) { if (t == 1) x[t] = a; else if (t <= 3) x[t] = b * x[1] + z[t];
        else x[t] = a + b * x[t - 1] - c * x[t - 2]; }";
    check_loop("vector[T] x;", body, Form::Scans(1));
}

#[test]
fn what_does_not_fit_is_unrolled() {
    // A branch on data that goes to and fro.
    let body = "x[1] = a; for (t in 2:T) { if (s[t] == 1) x[t] = b * x[t - 1]; else x[t] = a + 0.5 * x[t - 1]; }";
    check_loop("vector[T] x;", body, Form::Unrolled);
    // A distance that differs between passes.
    let body = "x[1] = a; for (t in 2:T) x[t] = a + b * x[(t + 1) %/% 2];";
    check_loop("vector[T] x;", body, Form::Unrolled);
    // A system of equations.
    let body = "{ vector[3] h = m; matrix[3, 3] W = add_diag(0.1 * m * m', 1 + b);
        for (t in 1:T) { h = W \\ h + z[t]; x[t] = h[1]; } }";
    check_loop("vector[T] x;", body, Form::Unrolled);
    // A whole number that is carried.
    let body = "{ int k = 1; x[1] = a; for (t in 2:T) { x[t] = b * x[t - 1] + m[k]; k = 1 + k % 3; } }";
    check_loop("vector[T] x;", body, Form::Unrolled);
}

#[test]
fn few_passes_and_none() {
    for count in [1, 2, 3] {
        let text = format!(
            "{HEAD} parameters {{ real a; real b; }}
            transformed parameters {{ vector[T] x; x[1] = a; for (t in 2:T) x[t] = a + b * x[t - 1]; }}
            model {{ a ~ std_normal(); b ~ std_normal(); y ~ normal(x, 1); }}"
        );
        check(&text, &series(count), Form::Unrolled);
    }
}

#[test]
fn what_passes_write_without_state_is_no_scan() {
    // Pass t reads what pass t - 1 wrote, which is a vector of data and parameters.
    let body = "vector[T] w; w[1] = a; x[1] = a; for (t in 2:T) { w[t] = b * z[t]; x[t] = w[t - 1] + c; }";
    let text = format!(
        "{HEAD} parameters {{ real a; real b; real c; }} transformed parameters {{ vector[T] x; {body} }}
        model {{ a ~ std_normal(); b ~ std_normal(); c ~ std_normal(); y ~ normal(x, 1); }}"
    );
    check(&text, &series(40), Form::Scans(0));
}

/// A moving average and a variance, derived by hand.
#[test]
fn values_are_the_formulas() {
    let count = 50;
    let text = format!(
        "{HEAD} parameters {{ real mu; real phi; real theta; }}
        model {{ vector[T] e; vector[T] v; e[1] = y[1] - mu; v[1] = 0.5;
            for (t in 2:T) {{ e[t] = y[t] - mu - phi * y[t - 1] - theta * e[t - 1];
                v[t] = 0.3 + 0.2 * square(e[t - 1]) + 0.4 * v[t - 1]; }}
            target += -0.5 * sum(square(e) ./ v) - 0.5 * sum(log(v)); }}"
    );
    let data = series(count);
    let (model, y) = (bound(&text, &data, true), numbers(count, 0.3));
    let x = [0.2, -0.4, 0.6];
    let (mut e, mut v) = (y[0] - x[0], 0.5_f64);
    let mut expected = -0.5 * e * e / v - 0.5 * v.ln();
    for t in 1..count {
        v = 0.3 + 0.2 * e * e + 0.4 * v;
        e = y[t] - x[0] - x[1] * y[t - 1] - x[2] * e;
        expected += -0.5 * e * e / v - 0.5 * v.ln();
    }
    let program = model.compile().expect("a program");
    assert_eq!(scans(&program), 2);
    assert!((evaluated(&program, &x).0 - expected).abs() < 1e-12 * expected.abs());
    check(&text, &data, Form::Scans(1));
}

#[test]
fn a_long_loop_is_as_small_as_a_short_one() {
    let text = format!(
        "{HEAD} parameters {{ real a; real<lower=0, upper=1> b; }}
        model {{ vector[T] x; x[1] = 1; for (t in 2:T) x[t] = sqrt(0.1 + b * square(x[t - 1]) + 0.1 * square(y[t - 1] - a));
            y ~ normal(a, x); }}"
    );
    let size = |count: usize| {
        let program = bound(&text, &series(count), true).compile().expect("a program");
        assert_eq!(scans(&program), 2);
        let (value, gradient) = evaluated(&program, &[0.1, 0.2]);
        assert!(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()));
        program.loops().iter().map(|of| of.1).sum::<usize>()
    };
    assert_eq!(size(100), size(100_000));
}
