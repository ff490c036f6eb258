//! Programs that would run for ever or take all of the memory: an error that names the place, within seconds.
//!
//! `hostile/programs.py` has more of them, and runs them with the commands of the program.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_density::{DrawAddress, LogDensity};
use octopus_stan::StanProgram;
use std::time::{Duration, Instant};

/// Binds and compiles; how long it took, and the message.
fn refused(text: &str, options: BindOptions) -> (Duration, String) {
    let begun = Instant::now();
    let program = StanProgram::parse("hostile.stan", text).unwrap_or_else(|error| panic!("{error}"));
    let error = match BoundModel::with_options(&program, &Data::new("none"), options) {
        Ok(_) => panic!("it is taken: {text}"),
        Err(error) => error.to_string(),
    };
    println!("{:?}: {}", begun.elapsed(), error.lines().next().unwrap_or(""));
    (begun.elapsed(), error)
}

/// Loops without an end, with what each pass does.
const ENDLESS: [&str; 9] = [
    "transformed data { while (1) { } } model { }",
    "transformed data { real x = 1; while (1) x = sin(x) + exp(x) - x ^ 2; } model { }",
    "transformed data { vector[1000] x = rep_vector(1, 1000); while (1) x = exp(-x); } model { }",
    "transformed data { matrix[200, 200] x = identity_matrix(200); while (1) x = x * x; } model { }",
    "transformed data { array[3] int x = {1, 2, 3}; while (1) x = x[{3, 1, 2}]; } model { }",
    "parameters { real a; } model { while (1) target += a; }",
    "parameters { real a; } model { real b = a; while (1) b = sin(b); target += b; }",
    "parameters { vector[20] a; } model { for (i in 1:2147483647) target += log_sum_exp(a); }",
    "functions { int f(int n) { return n > 0 ? f(n - 1) + f(n - 1) : 1; } } transformed data { int y = f(90); } model { }",
];

#[test]
fn loops_without_an_end_are_refused_in_seconds() {
    // A twenty-fifth of the limit that users have.
    let usual = BindOptions::default();
    let options = BindOptions { most_steps: usual.most_steps / 25, most_elements: usual.most_elements / 25, ..usual };
    for text in ENDLESS {
        let (took, message) = refused(text, options);
        let known = ["has not come to its end", "operations on parameters", "too much memory"];
        assert!(known.iter().any(|known| message.contains(known)) && message.contains("hostile.stan:1:"), "{message}");
        // Half a second on a machine that does nothing else.
        assert!(took < Duration::from_secs(60), "{took:?}: {text}");
    }
}

/// Differential equations whose solutions take for ever, or end early: in data at once, of parameters at a point.
#[test]
fn solutions_without_an_end_are_given_up_in_seconds() {
    let options = BindOptions { most_steps: 4_000_000, ..BindOptions::default() };
    for (derivative, call) in [
        ("[y[2], -y[1]]'", "ode_rk45_tol(f, [1, a]', 0, {1e15}, 1e-8, 1e-8, 2147483647)"),
        ("[y[2], -1e12 * sin(1e12 * t)]'", "ode_bdf(f, [1, a]', 0, {1e9})"),
        ("[y[1] ^ 2, exp(y[1])]'", "ode_bdf(f, [1, a]', 0, {5.0})"),
        ("y / (1 - t)", "ode_rk45_tol(f, [1, a]', 0, {5.0}, 1e-300, 1e-300, 2147483647)"),
    ] {
        let functions = format!("functions {{ vector f(real t, vector y) {{ return {derivative}; }} }}");
        let of_data =
            format!("{functions} transformed data {{ real a = 1; array[1] vector[2] y = {call}; }} model {{ }}");
        let (took, message) = refused(&of_data, options);
        let known = ["is not followed to its last time", "has not come to its end"];
        assert!(known.iter().any(|known| message.contains(known)) && message.contains("hostile.stan:1:"), "{message}");
        let endless = format!(
            "{functions} transformed data {{ real a = 1; while (1) {{ array[1] vector[2] y = {call}; }} }} model {{ }}"
        );
        let (whole, _) = refused(&endless, options);
        let of_parameters = format!("{functions} parameters {{ real a; }} model {{ target += sum({call}[1]); }}");
        let begun = Instant::now();
        let program = StanProgram::parse("hostile.stan", &of_parameters).unwrap_or_else(|error| panic!("{error}"));
        let model =
            BoundModel::with_options(&program, &Data::new("none"), options).unwrap_or_else(|error| panic!("{error}"));
        let program = model.compile().expect("a program");
        let value = program.logp_grad(&mut program.workspace(), &[1.0], &mut [0.0]);
        assert!(value.is_err(), "{call}: {value:?}");
        assert!(took + whole + begun.elapsed() < Duration::from_secs(60), "{call}");
    }
}

#[test]
fn what_is_too_large_is_refused_by_its_declaration() {
    let declared = [
        ("transformed data { matrix[20000, 20000] x; } model { }", "sizes [20000, 20000] are too many elements"),
        ("transformed data { int n = 2147483647; array[n] matrix[n, n] x; } model { }", "too many elements"),
        ("transformed data { array[200000000, 0, 200000000] real x; } model { }", "too many elements"),
        ("parameters { sum_to_zero_vector[100000] x; } model { }", "too many elements"),
        ("parameters { corr_matrix[30000] x; } model { }", "too many elements"),
        ("transformed data { real x = sum(rep_matrix(1, 100000, 100000)); } model { }", "too many elements"),
        ("transformed data { vector[100000] v = rep_vector(1, 100000); real x = sum(v * v'); } model { }", "too many"),
        ("transformed data { vector[9] v; real x = v[2000000000]; } model { }", "index 2000000000 is outside"),
        ("transformed data { vector[9] v; real x = sum(v[1:2000000000]); } model { }", "index 10 is outside"),
        (
            "transformed data { vector[9] v; array[70000] int k = rep_array(1, 70000); matrix[9, 9] m; \
          real x = sum(m[k, k]); } model { }",
            "too many elements",
        ),
        (
            "functions { real f(array[] real x) { return f(append_array(x, x)); } } \
          transformed data { real y = f({1.0, 2.0}); } model { }",
            "67108864 are the most",
        ),
    ];
    for (text, words) in declared {
        let (_, message) = refused(text, BindOptions::default());
        assert!(message.contains(words) && message.contains("hostile.stan:1:"), "{text}: {message}");
    }
}

#[test]
fn variables_together_have_a_limit() {
    let program = StanProgram::parse("hostile.stan", "transformed data { vector[600] a; vector[600] b; } model { }");
    let options = BindOptions { most_elements: 1000, ..Default::default() };
    let error =
        BoundModel::with_options(&program.expect("a program"), &Data::new("none"), options).expect_err("refused");
    let message = error.to_string();
    assert!(message.contains("the variables have 1200 elements") && message.contains("vector[600] b"), "{message}");
}

#[test]
fn deep_calls_of_deep_expressions_need_no_more_stack_than_there_is() {
    let deep = format!("{}f(x - 1){}", "(1 + ".repeat(60), ")".repeat(60));
    let text = format!(
        "functions {{ real f(real x) {{ return x > 0 ? {deep} : 0; }} }} transformed data {{ real y = f(90); }} model {{ }}"
    );
    let (_, message) = refused(&text, BindOptions::default());
    assert!(message.contains("nested too deeply"), "{message}");
    let text = "functions { real f(real x); real g(real x) { return f(x); } real f(real x) { return g(x); } }
        transformed data { real y = f(90); } model { }";
    let (_, message) = refused(text, BindOptions::default());
    assert!(message.contains("call each other"), "{message}");
}

#[test]
fn long_loops_that_end_are_taken() {
    // A tenth of what users may ask for: 10^7 passes take a second on a machine that does nothing else.
    let text = "transformed data { int n = 1000000; real s = 0; for (i in 1:n) s += 1.0 / i; }
        parameters { real a; } model { a ~ normal(s, 1); }";
    let program = StanProgram::parse("long.stan", text).expect("a program");
    let begun = Instant::now();
    let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
    println!("10^6 passes in {:?}", begun.elapsed());
    // ln 10^6 + Euler's constant + 1 / (2 10^6)
    let sum = 14.392_726_722_865_72;
    assert!((model.log_density(&[sum]) - 0.0).abs() < 1e-12);
}

#[test]
fn matrices_that_are_not_square_are_refused_where_they_stand() {
    // Found by mutations: the graph had a NaN in place of a matrix, whose elements were asked for then.
    let text = "parameters { real a; } model { matrix[4, 2] m = rep_matrix(0, 4, 2);
        for (n in 1:4) target += normal_lpdf(a | 0, sum(cholesky_decompose(m)[2])); }";
    let (_, message) = refused(text, BindOptions::default());
    assert!(message.contains("square") && message.contains("hostile.stan:2:"), "{message}");
}

/// Binds, and expands one point: how long that took, and the numbers.
fn expanded(text: &str, options: BindOptions) -> (Duration, Vec<f64>) {
    let program = StanProgram::parse("hostile.stan", text).unwrap_or_else(|error| panic!("{error}"));
    let model = BoundModel::with_options(&program, &Data::new("none"), options).unwrap_or_else(|e| panic!("{e}"));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let begun = Instant::now();
    let numbers = model.expand(&vec![0.1; model.dim()]);
    println!("{:?}: {:?}", begun.elapsed(), &numbers[..numbers.len().min(5)]);
    (begun.elapsed(), numbers)
}

/// Draws of extreme distributions: each is a number or an error, at once.
#[test]
fn extreme_draws_come_to_an_end() {
    let one = |call: &str| format!("parameters {{ real a; }} generated quantities {{ real s = {call}; }}");
    for call in [
        "binomial_rng(2147483647, 0.5)",
        "binomial_rng(2147483647, 4e-9)",
        "binomial_rng(2147483647, 1e-320)",
        "beta_binomial_rng(2147483647, 1e-300, 1e-300)",
        "poisson_rng(1e9)",
        "poisson_log_rng(-1e300)",
        "hypergeometric_rng(1000000000, 1000000000, 1000000000)",
        "hypergeometric_rng(2147483647, 2147483647, 2147483647)",
        "sum(multinomial_rng([0.2, 0.3, 0.5]', 1000000000))",
        "sum(dirichlet_rng(rep_vector(1e-300, 100000)))",
        "discrete_range_rng(-2147483647, 2147483647)",
        "von_mises_rng(0, 1e300)",
        "gamma_rng(1e-310, 1)",
    ] {
        let (took, numbers) = expanded(&one(call), BindOptions::default());
        assert!(took < Duration::from_secs(20) && numbers[1].is_finite(), "{call}: {took:?}, {}", numbers[1]);
    }
    for call in [
        "poisson_rng(1e300)",
        "neg_binomial_2_rng(1e300, 1e300)",
        "neg_binomial_2_log_rng(1e300, 1)",
        "sum(lkj_corr_rng(2000000000, 1))",
        "sum(lkj_corr_rng(50000, 1))",
        "sum(lkj_corr_rng(-2, 1))",
    ] {
        let (took, numbers) = expanded(&one(call), BindOptions::default());
        assert!(took < Duration::from_secs(20) && numbers[1].is_nan(), "{call}: {took:?}, {}", numbers[1]);
    }
}

/// Blocks that would draw for ever end with their steps, and the draw has NaN.
#[test]
fn draws_without_an_end_take_no_more_than_their_steps() {
    let usual = BindOptions::default();
    let options = BindOptions { most_steps: usual.most_steps / 25, ..usual };
    for statements in [
        "int t = 0; while (1) t += 1;",
        "real t = 0; while (t < 100) t = normal_rng(0, 1);",
        "real t = 0; while (1) t = sum(normal_rng(rep_vector(0, 100000), 1));",
        "real t = 0; while (1) t = hypergeometric_rng(1000000000, 1000000000, 1000000000);",
        "real t = 0; while (1) t = sum(multi_normal_rng(rep_vector(0, 200), identity_matrix(200)));",
        "real t = 0; while (1) t = sum(wishart_rng(201, identity_matrix(200)));",
        "real t = 0; while (1) t = sum(lkj_corr_rng(200, 1));",
        "real t = 0; while (1) t = sum(dirichlet_rng(rep_vector(1, 100000)));",
    ] {
        let text = format!("parameters {{ real a; }} generated quantities {{ {statements} }}");
        let (took, numbers) = expanded(&text, options);
        // Half a second on a machine that does nothing else.
        assert!(took < Duration::from_secs(60) && numbers[1].is_nan(), "{statements}: {took:?}");
    }
}

/// A run whose draws have no end is stopped by the first such draw: thousands of them would take hours.
#[test]
fn a_draw_without_an_end_ends_the_run() {
    let text = "parameters { real a; } model { a ~ normal(0, 1); }
        generated quantities { real t = 0; while (t < a) t = -exponential_rng(1); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let options = BindOptions { most_steps: 10_000, ..Default::default() };
    let density = BoundModel::with_options(&program, &Data::new("none"), options)
        .expect("a model")
        .density("m")
        .expect("a density");
    let draw = |x: f64| density.expand_draw(&[x], DrawAddress { seed: 1, chain: 0, draw: 0 }, &mut [0.0; 2]);
    assert!(draw(-1.0).is_ok());
    let message = draw(1.0).expect_err("no end").to_string();
    assert!(message.contains("hostile.stan:2:") && message.contains("after 10000 steps"), "{message}");
    assert!(draw(-1.0).is_err(), "the run is over");
}

/// Elements that are taken one by one of a long parameter had a column of zeros each in the gradient.
#[test]
fn a_matrix_of_many_parameters_has_a_small_gradient() {
    let text = "parameters { corr_matrix[120] a; } model { target += sum(a); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
    let compiled = model.compile().expect("a compiled model");
    let x: Vec<f64> = (0..model.dim()).map(|k| 0.3 * (0.7 + 1.3 * k as f64).sin()).collect();
    let mut gradient = vec![0.0; x.len()];
    compiled.logp_grad(&mut compiled.workspace(), &x, &mut gradient).expect("a value");
    for k in [0, 1, 119, 3000, model.dim() - 1] {
        let at = |step: f64| {
            let mut x = x.clone();
            x[k] += step;
            model.log_density(&x)
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((slope - gradient[k]).abs() < 1e-5 * (1.0 + slope.abs()), "{k}: {slope}, {}", gradient[k]);
    }
}

/// What each column of a factor gave the others' slopes was as long as all coordinates: it took the cube of the rows.
#[test]
fn a_factor_of_many_rows_takes_the_memory_of_its_elements() {
    let text = "parameters { cholesky_factor_corr[1000] a; } model { a ~ lkj_corr_cholesky(2); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
    let compiled = model.compile().expect("a compiled model");
    let (x, mut gradient) = (vec![0.01; model.dim()], vec![0.0; model.dim()]);
    compiled.logp_grad(&mut compiled.workspace(), &x, &mut gradient).expect("a value");
    // ln(1 - z^2) has the weight eta + (n - j - 2) / 2 in column j: row by row, the first coordinate is of column 0.
    let z = 0.01_f64.tanh();
    let slope = -2.0 * z * (2.0 + 0.5 * 998.0);
    assert!((gradient[0] - slope).abs() < 1e-10 * slope.abs(), "{} {slope}", gradient[0]);
}

/// The factor of L L' is L. A factor of the product had errors of the size of the square of its condition number, and so
/// slopes that were another matter.
#[test]
fn a_covariance_matrix_has_its_own_factor() {
    let text = "parameters { cov_matrix[40] a; } model { a ~ wishart(41, identity_matrix(40)); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
    let compiled = model.compile().expect("a compiled model");
    let x: Vec<f64> = (0..model.dim()).map(|k| 2.0 * (0.7 + 1.3 * k as f64).sin()).collect();
    let mut gradient = vec![0.0; x.len()];
    compiled.logp_grad(&mut compiled.workspace(), &x, &mut gradient).expect("a value");
    // -tr(L L') / 2, and multiples of the logarithms of the diagonal.
    for (i, j) in (0..40).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let at = i * (i + 1) / 2 + j;
        assert!((gradient[at] + x[at]).abs() < 1e-12, "{i} {j}: {} {}", gradient[at], -x[at]);
    }
}

/// Sums of data in loops had a column in the graph for each pass of the loop around.
#[test]
fn sums_of_data_take_no_memory() {
    let text = "transformed data { real s = 0; for (i in 1:1000) for (j in 1:1000) s += i * j; }
        parameters { real a; } model { a ~ normal(s * 1e-11, 1); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let options = BindOptions { most_elements: 1 << 16, ..Default::default() };
    let model = BoundModel::with_options(&program, &Data::new("none"), options).unwrap_or_else(|e| panic!("{e}"));
    assert!(model.log_density(&[500_500.0_f64.powi(2) * 1e-11]).abs() < 1e-12);
}

/// Multiplications of matrices are quick: a Gaussian process of 2000 points is bound, which is ten times this one.
#[test]
fn matrices_are_counted_by_their_multiplications() {
    let text = "transformed data { int n = 200; array[n] real x = linspaced_array(n, 0, 10); }
        parameters { real<lower=0> r; }
        model { matrix[n, n] K = add_diag(gp_exp_quad_cov(x, 1.0, r), 0.1);
          rep_vector(0, n) ~ multi_normal_cholesky(rep_vector(0, n), cholesky_decompose(K)); }";
    let program = StanProgram::parse("hostile.stan", text).expect("a program");
    let usual = BindOptions::default();
    let options = BindOptions { most_steps: usual.most_steps / 500, ..usual };
    BoundModel::with_options(&program, &Data::new("none"), options).unwrap_or_else(|e| panic!("{e}"));
    let large = "transformed data { matrix[3000, 3000] m = identity_matrix(3000);
        m = m * m; } model { }";
    let (_, message) = refused(large, usual);
    assert!(message.contains("2.7e10 multiplications") && message.contains("hostile.stan:2:"), "{message}");
}

/// Hierarchies are looked for in each statement without a look at all others: 10^4 of them took minutes, and more hours.
#[test]
fn many_statements_are_searched_for_effects_at_once() {
    for (prior, more) in [("normal(0, 1)", ""), ("normal(m, 1)", "real m; ")] {
        let all = |of: &dyn Fn(usize) -> String| (0..10_000).map(of).collect::<String>();
        let text = format!(
            "parameters {{ {more}{} }} model {{ {} }}",
            all(&|k| format!("real a{k}; ")),
            all(&|k| format!("a{k} ~ {prior};\n"))
        );
        let program = StanProgram::parse("hostile.stan", &text).expect("a program");
        let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
        let density = model.density("m").expect("a density");
        let (x, mut gradient) = (vec![0.5; density.dim()], vec![0.0; density.dim()]);
        let value = density.logp_grad(&x, &mut gradient).expect("a value");
        // Some are effects, which are walked in units of their prior.
        let blocks = density.effects().map_or(0, |effects| effects.blocks().len());
        assert!((value + 1250.0).abs() < 1e-9 || blocks > 100 && blocks < 5000, "{value}, {blocks} blocks");
    }
}

/// What the fuzzer begins with is bound, so that its changes of it come far.
#[test]
fn the_seeds_of_the_fuzzer_are_bound() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/stan");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a seed");
        let json = text.lines().last().and_then(|line| line.strip_prefix("//")).expect("data in the last line");
        let data = Data::json("seed", json).expect("data");
        let program = StanProgram::parse("seed.stan", &text).unwrap_or_else(|error| panic!("{error}"));
        let model = BoundModel::new(&program, &data).unwrap_or_else(|error| panic!("{error}"));
        assert!(model.log_density(&vec![0.25; model.dim()]).is_finite());
        assert!(model.expand(&vec![0.25; model.dim()]).iter().all(|x| x.is_finite()));
        count += 1;
    }
    assert!(count >= 2, "{count} seeds");
}
