//! Solvers of differential equations in programs: values and slopes held to exact solutions and to differences, branches on
//! the time, what is folded, and messages.

use octopus_bind::{BoundModel, Data, GenerativeModel, JointDraw, NewData};
use octopus_density::LogDensity;
use octopus_random::{Purpose, Stream};
use octopus_stan::StanProgram;

fn program(text: &str) -> StanProgram {
    StanProgram::parse("ode.stan", text).unwrap_or_else(|error| panic!("{error}"))
}

fn bound(text: &str) -> BoundModel {
    BoundModel::new(&program(text), &Data::new("none")).unwrap_or_else(|error| panic!("{error}"))
}

/// The first message of a program that is not taken.
fn message(text: &str) -> String {
    match StanProgram::parse("ode.stan", text) {
        Err(error) => error.to_string(),
        Ok(program) => BoundModel::new(&program, &Data::new("none")).expect_err("it is taken").to_string(),
    }
}

fn gradient(model: &BoundModel, x: &[f64]) -> (f64, Vec<f64>) {
    let program = model.compile().expect("a program");
    let mut gradient = vec![0.0; x.len()];
    let value = program.logp_grad(&mut program.workspace(), x, &mut gradient).expect("a value");
    (value, gradient)
}

/// Holds a gradient to differences of order 4.
fn need_slopes(model: &BoundModel, x: &[f64], tolerance: f64) {
    let (_, slopes) = gradient(model, x);
    for k in 0..x.len() {
        let value = |by: f64| {
            let mut x = x.to_vec();
            x[k] += by;
            gradient(model, &x).0
        };
        let h = 1e-3;
        let difference = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
        let error = (slopes[k] - difference).abs() / (1.0 + difference.abs());
        assert!(error < tolerance, "coordinate {k}: {} and {difference}", slopes[k]);
    }
}

const SOLVERS: [(&str, f64); 12] = [
    ("ode_rk45(f, [1.5]', 0, {0.5, 2.0}, rate)", 1e-5),
    ("ode_ckrk(f, [1.5]', 0, {0.5, 2.0}, rate)", 1e-5),
    ("ode_bdf(f, [1.5]', 0, {0.5, 2.0}, rate)", 1e-8),
    ("ode_adams(f, [1.5]', 0, {0.5, 2.0}, rate)", 1e-8),
    ("ode_rk45_tol(f, [1.5]', 0, {0.5, 2.0}, 1e-9, 1e-9, 1000, rate)", 1e-7),
    ("ode_ckrk_tol(f, [1.5]', 0, {0.5, 2.0}, 1e-9, 1e-9, 1000, rate)", 1e-7),
    ("ode_bdf_tol(f, [1.5]', 0, {0.5, 2.0}, 1e-7, 1e-7, 1000, rate)", 1e-5),
    ("ode_adams_tol(f, [1.5]', 0, {0.5, 2.0}, 1e-9, 1e-9, 1000, rate)", 1e-7),
    ("integrate_ode(g, {1.5}, 0, {0.5, 2.0}, {rate}, x_r, x_i)", 1e-5),
    ("integrate_ode_rk45(g, {1.5}, 0, {0.5, 2.0}, {rate}, x_r, x_i, 1e-8, 1e-8, 1e3)", 1e-6),
    ("integrate_ode_bdf(g, {1.5}, 0, {0.5, 2.0}, {rate}, x_r, x_i)", 1e-8),
    ("integrate_ode_adams(g, {1.5}, 0, {0.5, 2.0}, {rate}, x_r, x_i, 1e-9, 1e-9, 1e4)", 1e-7),
];

/// Every solver in every block: y' = -rate y.
#[test]
fn all_solvers_solve_in_all_blocks() {
    for (call, error) in SOLVERS {
        let ty = if call.starts_with("ode") { "array[2] vector[1]" } else { "array[2, 1] real" };
        let model = bound(&format!(
            "functions {{ vector f(real t, vector y, real rate) {{ return -rate * y; }}
                array[] real g(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {{
                    return {{-theta[1] * y[1]}}; }} }}
             transformed data {{ array[0] real x_r; array[0] int x_i; real known; {{ real rate = 2; {ty} y = {call};
                known = y[2, 1]; }} }}
             parameters {{ real<lower=0> rate; }}
             transformed parameters {{ {ty} y = {call}; }}
             model {{ {ty} z = {call}; target += y[1, 1] + 2 * y[2, 1] + z[2, 1] + known; }}
             generated quantities {{ {ty} w = {call}; real k = known; real drawn = normal_rng(w[1, 1], 1e-12); }}"
        ));
        let x = 0.3_f64;
        let rate = x.exp();
        let at = |t: f64| 1.5 * (-rate * t).exp();
        let slope = |t: f64| -rate * t * at(t);
        let (value, slopes) = gradient(&model, &[x]);
        let truth = at(0.5) + 3.0 * at(2.0) + 1.5 * (-4.0_f64).exp() + x;
        assert!((value - truth).abs() < error, "{call}: {value} and {truth}");
        let truth = slope(0.5) + 3.0 * slope(2.0) + 1.0;
        assert!((slopes[0] - truth).abs() < 10.0 * error, "{call}: {} and {truth}", slopes[0]);
        let draw = model.expand(&[x]);
        let truth = [rate, at(0.5), at(2.0), at(0.5), at(2.0), 1.5 * (-4.0_f64).exp(), at(0.5)];
        let worst = draw.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(draw.len() == 7 && worst < error, "{call}: {draw:?}");
    }
}

/// Arguments of all types: each element that depends on parameters has its slope; the others are constants.
#[test]
fn slopes_by_all_arguments_are_differences() {
    for (solver, tolerances) in [("ode_rk45_tol", "1e-11, 1e-11, 10000"), ("ode_bdf_tol", "1e-10, 1e-10, 10000")] {
        let model = bound(&format!(
            "functions {{
                real own(real a, vector b) {{ real sum = 0; for (i in 1:2) sum += a * b[i] / i; return sum; }}
                vector f(real t, vector y, real a, vector b, row_vector c, matrix m, array[] vector v, int k,
                         array[,] real w) {{
                    vector[2] dy = m * y;
                    if (k > 1) dy[1] += own(a, b) * cos(t);
                    dy[2] -= c * v[k] * exp(-square(y[1])) + w[2, 1];
                    return dy; }} }}
             parameters {{ real a; vector[2] b; row_vector[2] c; matrix[2, 2] m; array[2] vector[2] v; vector[2] y0; }}
             transformed parameters {{ array[3] vector[2] y = {solver}(f, y0, 0.25, {{0.5, 1.5, 1.75}}, {tolerances},
                a, b, c, m, v, 2, {{{{1, 2}}, {{a, 4}}}}); }}
             model {{ for (i in 1:3) target += i * y[i, 1] + square(y[i, 2]); }}"
        ));
        let x: Vec<f64> = (0..model.dim()).map(|k| 0.6 * (1.3 * k as f64 + 0.4).sin()).collect();
        assert_eq!(x.len(), 15);
        need_slopes(&model, &x, 1e-6);
    }
}

/// A loop over subjects, each with data and effects of its own, in a function that solves.
#[test]
fn subjects_of_a_loop_are_solved_one_by_one() {
    let model = bound(
        "functions {
            vector f(real t, vector y, real rate, data real dose) { return -rate * y + dose; }
            array[] real levels(real rate, data real dose, data array[] real times) {
                return ode_rk45_tol(f, [0]', 0, times, 1e-9, 1e-9, 1000, rate, dose)[:, 1]; } }
         transformed data { array[5] real dose = {1, 2, 0.5, 3, 1}; }
         parameters { vector<lower=0>[5] rate; }
         model { for (j in 1:5) target += sum(levels(rate[j], dose[j], {0.5, 1.0 + j})); }",
    );
    let x: Vec<f64> = (0..5).map(|k| 0.2 * k as f64 - 0.4).collect();
    let (value, slopes) = gradient(&model, &x);
    let at = |x: f64, dose: f64, t: f64| dose / x.exp() * (1.0 - (-x.exp() * t).exp());
    let term = |k: usize, x: f64| {
        let dose = [1.0, 2.0, 0.5, 3.0, 1.0][k];
        at(x, dose, 0.5) + at(x, dose, 2.0 + k as f64) + x
    };
    let truth: f64 = x.iter().enumerate().map(|(k, &x)| term(k, x)).sum();
    assert!((value - truth).abs() < 1e-7, "{value} {truth}");
    for k in 0..5 {
        let truth = (term(k, x[k] + 1e-5) - term(k, x[k] - 1e-5)) / 2e-5;
        assert!((slopes[k] - truth).abs() < 1e-6, "{k}: {} {truth}", slopes[k]);
    }
}

/// What depends on the time or the states may choose: by branches, early returns and `?`.
#[test]
fn branches_on_the_time_and_the_states_are_followed() {
    let bodies = [
        "real rate = 0; if (t < 1) { rate = a; } return [rate - y[1]]';",
        "real rate; if (t < 1) rate = a; else rate = 0; return [rate - y[1]]';",
        "if (t < 1) { return [a - y[1]]'; } return -y;",
        "if (t >= 1) return -y; else { vector[1] dy; dy[1] = a - y[1]; return dy; }",
        "vector[1] dy = -y; if (t < 1) { if (y[1] > -10) { real own = a; for (k in 1:2) dy[1] += own / 2; } } return dy;",
        "if (t < 1) { if (y[1] < -10) return y; if (y[1] > -10) return [a - y[1]]'; } return -y;",
        "return [(t < 1 ? a : 0) - y[1]]';",
        "return [(!(t >= 1) && y[1] > -10 ? a : 0) - y[1]]';",
    ];
    for body in bodies {
        let model = bound(&format!(
            "functions {{ vector f(real t, vector y, real a) {{ {body} }} }}
             parameters {{ real a; }}
             transformed parameters {{ real y = ode_rk45_tol(f, [0.5]', 0, {{2.0}}, 1e-9, 1e-9, 10000, a)[1, 1]; }}
             model {{ target += y; }}"
        ));
        // Until 1 the state goes to a, then to 0.
        let truth = (0.7 + (0.5 - 0.7) * (-1.0_f64).exp()) * (-1.0_f64).exp();
        let (value, slopes) = gradient(&model, &[0.7]);
        assert!((value - truth).abs() < 1e-6, "{body}: {value} {truth}");
        let truth = (1.0 - (-1.0_f64).exp()) * (-1.0_f64).exp();
        assert!((slopes[0] - truth).abs() < 1e-6, "{body}: {} {truth}", slopes[0]);
        assert!((model.expand(&[0.7])[1] - value).abs() < 1e-6, "{body}");
    }
}

/// A solution of data is a number; what two blocks solve alike is solved once.
#[test]
fn solutions_of_data_are_folded_and_equal_ones_are_one() {
    let solves = |text: &str| {
        let steps = bound(text).compile().expect("a program").steps();
        steps.iter().filter(|step| step.kind == "solve").map(|step| step.to_string()).collect::<Vec<_>>()
    };
    let functions = "functions { vector f(real t, vector y, real a) { return -a * y; } }";
    let of_data = format!(
        "{functions} transformed data {{ real a = 2; }} parameters {{ real x; }}
         model {{ target += x * ode_rk45(f, [1]', 0, {{1.0}}, a)[1, 1]; }}"
    );
    assert!(solves(&of_data).is_empty(), "{:?}", solves(&of_data));
    let (value, _) = gradient(&bound(&of_data), &[3.0]);
    assert!((value - 3.0 * (-2.0_f64).exp()).abs() < 1e-5, "{value}");
    let of_parameters = format!(
        "{functions} parameters {{ real x; }} model {{ target += ode_rk45(f, [1, 2]', 0, {{1.0, 3.0}}, x)[1, 1]; }}"
    );
    let steps = solves(&of_parameters);
    assert!(
        matches!(&steps[..], [one] if one.contains("2 states, 2 slopes") && one.contains("ode.stan:1:")),
        "{steps:?}"
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let functions = "functions { vector f(real t, vector y, real a) { return -a * y; }
        array[] real g(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) { return y; }
        vector two(real t, vector y) { return [1, 2]'; } real no(real t) { return t; }
        vector walk(real t, vector y) { int k = 1; while (t > k) k += 1; return k * y; }
        vector whole(real t, vector y) { int k = 1; if (t > 1) k = 2; return k * y; }
        vector again(real t, vector y) { return ode_rk45(f, y, 0, {1.0}, 1.0)[1]; }
        vector factor(real t, vector y) { return cholesky_decompose(y * y' + identity_matrix(1)) * y; }
        vector up(real t, vector y) { return square(y); } }\n";
    let of_model =
        |call: &str| message(&format!("{functions} parameters {{ real a; }} model {{ target += sum({call}[1]); }}"));
    let wanted = [
        ("ode_rk45(f, [1]', a, {1.0}, a)", "the initial time must be data"),
        ("ode_rk45(f, [1]', 0, {a}, a)", "the times must be data"),
        ("ode_rk45(f, [1]', 2, {1.0}, a)", "the first time is 1; it must be above the initial time, 2"),
        ("ode_rk45(f, [1]', 0, {1.0, 3.0, 2.0}, a)", "time 3 is 2, after 3"),
        ("ode_rk45(f, [1]', 0, rep_array(1.0, 0), a)", "the times are empty"),
        ("ode_rk45(f, rep_vector(1, 0), 0, {1.0}, a)", "the initial state is empty"),
        ("ode_rk45(f, [not_a_number()]', 0, {1.0}, a)", "an initial state is NaN"),
        ("ode_rk45_tol(f, [1]', 0, {1.0}, 0, 1e-6, 10, a)", "the relative tolerance is 0; it must be above 0"),
        ("ode_rk45_tol(f, [1]', 0, {1.0}, 1e-6, 1e-6, 0, a)", "the number of steps is 0"),
        (
            "ode_rk45_tol(f, [1]', 0, {1.0}, a, 1e-6, 10, a)",
            "argument 5 of `ode_rk45_tol` must not depend on parameters",
        ),
        ("ode_rk45(two, [a]', 0, {1.0})", "gives 2 derivatives for 1 state"),
        ("ode_rk45(walk, [a]', 0, {1.0})", "a branch on parameters is not supported"),
        ("ode_rk45(whole, [a]', 0, {1.0})", "a whole number cannot depend on the time or the states"),
        ("ode_rk45(again, [a]', 0, {1.0})", "a right-hand side cannot solve equations itself"),
        ("ode_rk45(factor, [a]', 0, {1.0})", "a factor or an inverse of a matrix, which is not supported in it"),
        ("ode_rk45(no, [a]', 0, {1.0})", "`no` is no right-hand side for `ode_rk45`"),
        ("ode_rk45(h, [a]', 0, {1.0})", "there is no function `h` for `ode_rk45` to solve"),
        ("ode_rk45(1.0, [a]', 0, {1.0})", "the first argument of `ode_rk45` is the name of a function"),
        ("ode_rk45(f, [a]', 0, {1.0})", "`ode_rk45` is given 3 arguments after `f`"),
        ("ode_rk45(f, {a}, 0, {1.0}, a)", "argument 2 of `ode_rk45` is `array[] real`, expected `vector`"),
        ("ode_rk45(g, [a]', 0, {1.0})", "`g` is no right-hand side"),
        ("integrate_ode_rk45(f, {a}, 0, {1.0}, {a}, {1.0}, {1})", "`f` is no right-hand side"),
        ("integrate_ode_bdf(g, {a}, 0, {1.0}, {a}, {a}, {1})", "argument 6 of `integrate_ode_bdf` must not depend"),
        ("ode_adjoint_tol_ctl(f, [a]', 0, {1.0}, a)", "the adjoint solver is not supported"),
        ("ode_rk45(up, [1]', 0, {2.0})", "the solution is not followed to its last time"),
    ];
    for (call, text) in wanted {
        let found = of_model(call);
        assert!(found.contains(text) && found.contains("ode.stan:"), "{call}: {found}");
    }
    // A parameter that leads to no solution is a point without a density.
    let model = bound(&format!(
        "{functions} parameters {{ real a; }} model {{ target += ode_rk45(up, [a]', 0, {{2.0}})[1, 1]; }}"
    ));
    let program = model.compile().expect("a program");
    let mut slopes = [0.0];
    let error = program.logp_grad(&mut program.workspace(), &[0.6], &mut slopes).expect_err("no value").to_string();
    assert!(error.contains("ode_rk45 (ode.stan:") && error.contains("more than 1000000 steps"), "{error}");
    assert!(program.logp_grad(&mut program.workspace(), &[0.4], &mut slopes).is_ok());
}

/// Log likelihoods, replicates and data at new times come from the sampling statement behind a solution, and data that are
/// drawn with their parameters lie around the solution of these.
#[test]
fn sampling_statements_are_read_through_solutions() {
    let text = "functions { vector f(real t, vector y, real rate) { return -rate * y; } }
        data { int N; array[N] real times; vector[N] y; }
        parameters { real<lower=0> rate; }
        transformed parameters { vector[N] mu;
            { array[N] vector[1] z = ode_rk45_tol(f, [2]', 0, times, 1e-9, 1e-9, 1000, rate);
              for (n in 1:N) mu[n] = z[n, 1]; } }
        model { rate ~ lognormal(0, 0.3); y ~ normal(mu, 0.1); }";
    let program = program(text);
    let times = |times: &[f64]| Data::new("d").with_int("N", times.len() as i64).with_reals("times", times);
    let data = times(&[0.5, 1.0, 2.0]).with_reals("y", &[1.2, 0.8, 0.1]);
    let model = BoundModel::new(&program, &data).expect("a model");
    let density = model.density("decay").expect("a density");
    assert_eq!((density.observations(), density.predictions()), (3, 3));
    let x = 0.2_f64;
    let at = |t: f64| 2.0 * (-x.exp() * t).exp();
    let mut terms = [0.0; 3];
    density.log_likelihood(&[x], &mut terms);
    for (term, (y, t)) in terms.iter().zip([(1.2, 0.5), (0.8, 1.0), (0.1, 2.0)]) {
        let z: f64 = (y - at(t)) / 0.1;
        let truth = -0.5 * z * z - 0.1_f64.ln() - 0.5 * std::f64::consts::TAU.ln();
        assert!((term - truth).abs() < 1e-5, "{term} {truth}");
    }
    let stream = |draw| Stream::new(7, 0, draw, Purpose::Prior);
    let (count, limit) = (1000, 5.0 * 0.1 / 1000.0_f64.sqrt());
    let new = NewData::new(&program, &model, &times(&[0.25, 3.0]), &[]).expect("new data");
    let mut means = [0.0; 5];
    for draw in 0..count {
        let mut replicate = [0.0; 3];
        density.predict(&[x], &mut stream(draw), &mut replicate);
        let later = new.draw(&density, &[x], &mut stream(draw)).expect("a draw");
        let all = replicate.iter().chain(&later);
        means.iter_mut().zip(all).for_each(|(mean, y)| *mean += y / f64::from(count));
    }
    for (mean, t) in means.iter().zip([0.5, 1.0, 2.0, 0.25, 3.0]) {
        assert!((mean - at(t)).abs() < limit, "at {t}: {mean} and {}", at(t));
    }
    let joint = GenerativeModel::new(&program, &data).expect("a generative program");
    let mut residual = 0.0;
    for draw in 0..count {
        let JointDraw { position, outcomes } = joint.draw(&mut stream(draw)).expect("a draw");
        let truth = 2.0 * (-position[0].exp() * 2.0).exp();
        residual += (outcomes[2] - truth) / f64::from(count);
    }
    assert!(residual.abs() < limit, "{residual}");
}

/// A solution of data is a number for what runs draw by draw, which has a graph of its own.
#[test]
fn quantities_that_are_drawn_read_solutions_of_data() {
    let model = bound(
        "functions { vector spin(real t, vector y) { return [-y[2], y[1]]'; } }
         transformed data { array[1] vector[2] turned = ode_rk45(spin, [1, 0]', 0, {1.0}); }
         parameters { real m; }
         model { m ~ normal(turned[1][1], 1); }
         generated quantities { real drawn = turned[1][1] + 0 * normal_rng(m, 1); }",
    );
    let drawn = model.expand(&[0.3])[1];
    assert!((drawn - 1.0_f64.cos()).abs() < 1e-5, "{drawn}");
}
