//! Small programs of our own: values held to formulas by hand, loops bound at once to loops bound pass by pass, Jacobians
//! to determinants, and messages.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_stan::StanProgram;

fn bound(text: &str, data: &Data) -> BoundModel {
    BoundModel::new(&StanProgram::parse("model.stan", text).expect("a program"), data).expect("a model")
}

fn refused(text: &str, data: &Data) -> String {
    let program = StanProgram::parse("model.stan", text).expect("a program");
    BoundModel::new(&program, data).expect_err("an error").to_string()
}

fn point(dim: usize) -> Vec<f64> {
    (0..dim).map(|k| 0.4 * (0.9 + 1.7 * k as f64).sin()).collect()
}

fn gradient(model: &BoundModel, x: &[f64]) -> (f64, Vec<f64>) {
    let program = model.compile().expect("a program");
    let mut gradient = vec![0.0; x.len()];
    let value = program.logp_grad(&mut program.workspace(), x, &mut gradient).expect("a value");
    (value, gradient)
}

const Y: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const SIGMA: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];

fn schools() -> Data {
    Data::new("schools").with_int("J", 8).with_reals("y", &Y).with_reals("sigma", &SIGMA)
}

const SCHOOLS: &str = "data { int<lower=0> J; vector[J] y; vector<lower=0>[J] sigma; }
    parameters { real mu; real<lower=0> tau; vector[J] theta_raw; }
    transformed parameters { vector[J] theta = mu + tau * theta_raw; }
    model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta_raw ~ std_normal(); y ~ normal(theta, sigma); }";

#[test]
fn eight_schools_has_its_formulas_value() {
    let model = bound(SCHOOLS, &schools());
    let x = point(10);
    let (mu, tau) = (x[0], x[1].exp());
    let mut expected = -0.5 * (mu / 5.0_f64).powi(2) - (1.0 + (tau / 5.0).powi(2)).ln() + x[1];
    for j in 0..8 {
        let theta = mu + tau * x[2 + j];
        expected += -0.5 * x[2 + j] * x[2 + j] - 0.5 * ((Y[j] - theta) / SIGMA[j]).powi(2);
    }
    assert!((model.log_density(&x) - expected).abs() < 1e-12, "{} {expected}", model.log_density(&x));
    let draw = model.expand(&x);
    assert_eq!(model.labels()[10], "theta[1]");
    assert!((draw[10] - (mu + tau * x[2])).abs() < 1e-14 && (draw[1] - tau).abs() < 1e-15);
}

#[test]
fn target_keeps_constants_and_tilde_drops_them() {
    let data = Data::new("one").with_real("y", 1.5);
    let with = bound("data { real y; } parameters { real m; } model { target += normal_lpdf(y | m, 2); }", &data);
    let without = bound("data { real y; } parameters { real m; } model { y ~ normal(m, 2); }", &data);
    let kernel = -0.5 * (1.3_f64 / 2.0).powi(2);
    assert!((without.log_density(&[0.2]) - kernel).abs() < 1e-15);
    let all = kernel - 2.0_f64.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
    assert!((with.log_density(&[0.2]) - all).abs() < 1e-15);
}

#[test]
fn a_transformed_parameter_outside_of_its_bounds_has_no_density() {
    let text = "parameters { real a; } transformed parameters { real<lower=0> b = a - 1; } model { a ~ normal(0, 1); }";
    let program = bound(text, &Data::new("none")).compile().expect("a program");
    let (mut workspace, mut slope) = (program.workspace(), [0.0]);
    assert!(program.logp_grad(&mut workspace, &[1.5], &mut slope).is_ok());
    let error = program.logp_grad(&mut workspace, &[0.5], &mut slope).expect_err("outside");
    assert!(error.to_string().contains("b is below its lower bound (model.stan:1:63)"), "{error}");
}

/// Programs whose loops are bound in different ways.
const LOOPS: [(&str, &str); 7] = [
    (
        "logit",
        "model { for (n in 1:N) { real eta = a[g[n]] + b * x[n]; k[n] ~ bernoulli_logit(eta); } a ~ normal(0, 1); }",
    ),
    (
        "elements",
        "model { vector[N] mu; for (n in 1:N) { mu[n] = a[g[n]]; mu[n] += x[n] * b; } x ~ normal(mu, exp(b)); }",
    ),
    ("sum", "model { real s = 0; for (n in 1:N) s += square(x[n] - a[g[n]]); target += -s; }"),
    (
        "mixture",
        "model { for (n in 1:N) { vector[3] lp; for (j in 1:3) lp[j] = normal_lpdf(x[n] | a[j], exp(b)); \
         target += log_sum_exp(lp); } }",
    ),
    ("carried", "model { vector[N] h; h[1] = a[1]; for (n in 2:N) h[n] = b * h[n - 1] + x[n]; x ~ normal(h, 1); }"),
    ("branch", "model { for (n in 1:N) { if (k[n] == 1) x[n] ~ normal(a[1], 1); else x[n] ~ normal(b, 2); } }"),
    (
        "nested",
        "model { for (n in 1:N) { row_vector[3] r; for (j in 1:3) r[j] = a[j] * n; target += -dot_self(r) + b * sum(r); } }",
    ),
];

#[test]
fn loops_bound_at_once_have_the_value_and_the_slopes_of_their_passes() {
    let declared = "data { int N; array[N] int g; array[N] int k; vector[N] x; } parameters { vector[3] a; real b; } ";
    let n = 11_usize;
    let groups: Vec<i64> = (0..n as i64).map(|i| i * i % 3 + 1).collect();
    let bits: Vec<i64> = (0..n as i64).map(|i| i * 7 % 5 % 2).collect();
    let data = Data::new("loops").with_int("N", n as i64).with_ints("g", &groups).with_ints("k", &bits);
    let data = data.with_reals("x", &point(n));
    for (name, text) in LOOPS {
        let program = StanProgram::parse("model.stan", &format!("{declared}{text}")).expect("a program");
        let of = |vectorise_loops| {
            let model =
                BoundModel::with_options(&program, &data, BindOptions { vectorise_loops, ..Default::default() })
                    .expect("a model");
            gradient(&model, &point(4))
        };
        let ((value, slopes), (expected, expected_slopes)) = (of(true), of(false));
        assert!((value - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{name}: {value} {expected}");
        for (slope, expected) in slopes.iter().zip(&expected_slopes) {
            assert!((slope - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{name}: {slope} {expected}");
        }
    }
}

#[test]
fn a_loop_over_many_rows_is_a_few_loops_of_vectors() {
    let n = 5_000;
    let data = Data::new("rows").with_int("N", n).with_reals("x", &point(n as usize));
    let text = "data { int N; vector[N] x; } parameters { real a; real<lower=0> s; }
        model { for (n in 1:N) x[n] ~ normal(a + n * 0.001, s); }";
    let program = bound(text, &data).compile().expect("a program");
    let instructions: usize = program.loops().iter().map(|(_, code)| code).sum();
    assert!(instructions < 40, "{instructions} instructions: {:?}", program.loops());
}

/// ln |det| by elimination.
fn log_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut log = 0.0;
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).expect("a row");
        a.swap(i, pivot);
        log += a[i][i].abs().ln();
        for r in i + 1..n {
            let factor = a[r][i] / a[i][i];
            for c in i..n {
                a[r][c] -= factor * a[i][c];
            }
        }
    }
    log
}

#[test]
fn transforms_have_the_jacobians_of_their_maps() {
    // A declaration, and the numbers of a draw that determine the others.
    let square = |n: usize, with_diagonal: bool| -> Vec<usize> {
        (0..n * n).filter(|k| k % n > k / n || with_diagonal && k % n == k / n).collect()
    };
    let cases: [(&str, Vec<usize>); 17] = [
        ("real<lower=2> x", vec![0]),
        ("vector<upper=-1>[3] x", vec![0, 1, 2]),
        ("matrix<lower=-1, upper=4>[2, 3] x", (0..6).collect()),
        (
            "vector<lower=[negative_infinity(), 0, -1, -2]', upper=[3, positive_infinity(), positive_infinity(), 2]'>[4] x",
            (0..4).collect(),
        ),
        ("vector<offset=3, multiplier=2.5>[2] x", vec![0, 1]),
        ("ordered[4] x", (0..4).collect()),
        ("positive_ordered[4] x", (0..4).collect()),
        ("simplex[4] x", (0..3).collect()),
        ("array[2] simplex[3] x", vec![0, 1, 2, 3]),
        ("cholesky_factor_corr[4] x", square(4, false)),
        ("corr_matrix[4] x", square(4, false)),
        ("cov_matrix[3] x", square(3, true)),
        ("cholesky_factor_cov[3] x", square(3, true)),
        // These are made by operations on whole vectors.
        ("ordered[40] x", (0..40).collect()),
        ("array[2] positive_ordered[40] x", (0..80).collect()),
        ("cholesky_factor_corr[34] x", square(34, false)),
        ("corr_matrix[34] x", square(34, false)),
    ];
    for (declaration, free) in cases {
        let model = bound(&format!("parameters {{ {declaration}; }} model {{ }}"), &Data::new("none"));
        let dim = model.dim();
        assert_eq!(dim, free.len(), "{declaration}");
        let (x, h) = (point(dim), 1e-5);
        let mut jacobian = vec![vec![0.0; dim]; dim];
        for k in 0..dim {
            let side = |step: f64| {
                let mut moved = x.clone();
                moved[k] += step;
                model.expand(&moved)
            };
            let (above, below) = (side(h), side(-h));
            for (row, &at) in jacobian.iter_mut().zip(&free) {
                row[k] = (above[at] - below[at]) / (2.0 * h);
            }
        }
        let (found, expected) = (model.log_density(&x), log_determinant(jacobian));
        assert!((found - expected).abs() < 1e-6 * (1.0 + 1e-2 * expected.abs()), "{declaration}: {found} {expected}");
    }
}

/// Long vectors and large factors are those of Stan's manual, element by element.
#[test]
fn long_transforms_are_stans() {
    const N: usize = 34;
    let expanded = |declaration: &str| {
        let model = bound(&format!("parameters {{ {declaration}; }} model {{ }}"), &Data::new("none"));
        let x = point(model.dim());
        (model.expand(&x), x)
    };
    let near = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        let away = found.iter().zip(expected).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
        assert!(away < 1e-13, "{away}");
    };
    let (found, x) = expanded("ordered[50] x");
    let sums = x.iter().enumerate().scan(0.0, |sum, (k, x)| {
        *sum = if k == 0 { *x } else { *sum + x.exp() };
        Some(*sum)
    });
    near(&found, &sums.collect::<Vec<f64>>());
    // A factor by its canonical partial correlations, which a function places among the coordinates.
    let factor = |x: &[f64], place: &dyn Fn(usize, usize) -> usize| {
        let mut l = vec![0.0; N * N];
        for i in 0..N {
            let mut rest = 1.0;
            for j in 0..i {
                l[i * N + j] = x[place(i, j)].tanh() * f64::sqrt(rest);
                rest -= l[i * N + j].powi(2);
            }
            l[i * N + i] = rest.sqrt();
        }
        l
    };
    let turned = |a: &[f64]| (0..N * N).map(|k| a[k % N * N + k / N]).collect::<Vec<f64>>();
    let (found, x) = expanded("cholesky_factor_corr[34] x");
    near(&turned(&found), &factor(&x, &|i, j| i * (i - 1) / 2 + j));
    let (found, x) = expanded("corr_matrix[34] x");
    let l = factor(&x, &|i, j| (0..j).map(|column| N - 1 - column).sum::<usize>() + i - j - 1);
    let product = |k: usize| (0..N).map(|m| l[k / N * N + m] * l[k % N * N + m]).sum();
    near(&found, &(0..N * N).map(product).collect::<Vec<f64>>());
}

#[test]
fn messages_say_file_variable_index_and_what_is_wanted() {
    let text =
        "data {\n  int<lower=0> N;\n  array[N] int<lower=0> y;\n  vector[N] x;\n}\nparameters { real a; }\nmodel { }";
    let negative = Data::json("data.json", r#"{"N": 3, "y": [1, 0, -1], "x": [1, 2, 3]}"#).expect("data");
    let message = refused(text, &negative);
    assert!(message.contains("data.json: `y[3]` is -1, but must be >= 0"), "{message}");
    assert!(message.contains("declared array[N] int<lower=0> (model.stan:3:25)"), "{message}");
    let missing = refused(text, &Data::json("data.json", r#"{"N": 3}"#).expect("data"));
    assert!(missing.contains("`y` is missing") && missing.contains("`x` is missing"), "{missing}");
    let size = refused(text, &Data::json("data.json", r#"{"N": 3, "y": [1, 0], "x": [1, 2, 3]}"#).expect("data"));
    assert!(size.contains("`y` has sizes [2], but [3] are needed"), "{size}");
    let real = refused(text, &Data::json("data.json", r#"{"N": 2, "y": [1, 0.5], "x": [1, 2]}"#).expect("data"));
    assert!(real.contains("`y[2]` is the real 0.5"), "{real}");
    let more = Data::json("data.json", r#"{"N": 1, "y": [1], "x": ["NaN"], "z": 3}"#).expect("data");
    assert_eq!(bound(text, &more).warnings, ["data.json: the program has no data `z`"]);
}

#[test]
fn data_are_held_to_their_constraints() {
    let text =
        "data { int K; cov_matrix[K] S; array[2] unit_vector[K] u; cholesky_factor_corr[K] L; } parameters { real a; }
        model { }";
    let good = r#"{"K": 2, "S": [[2, 1], [1, 2]], "u": [[1, 0], [0.6, 0.8]], "L": [[1, 0], [0.6, 0.8]]}"#;
    bound(text, &Data::json("data.json", good).expect("data"));
    let bad = r#"{"K": 2, "S": [[2, 1], [0, 2]], "u": [[1, 0], [1, 1]], "L": [[1, 0], [0, 2]]}"#;
    let message = refused(text, &Data::json("data.json", bad).expect("data"));
    for words in [
        "`S[1,1]` begins a matrix that is not symmetric: [2,1] is 0 and [1,2] is 1; it is declared cov_matrix",
        "`u[2,1]` begins a vector of length 1.414",
        "`L[1,1]` begins a matrix whose row 2 has not the length 1",
    ] {
        assert!(message.contains(words), "{message}");
    }
}

/// Stan throws for each at every point: no run is begun with them.
#[test]
fn bounds_that_nothing_is_between_are_refused() {
    for (declaration, words) in [
        ("real<lower=1, upper=0> x", "above the lower bound 1 and below the upper bound 0"),
        ("vector<lower=[0, 2]', upper=2>[2] x", "above the lower bound 2 and below the upper bound 2"),
        ("real<upper=not_a_number()> x", "the upper bound NaN"),
        ("real<lower=positive_infinity()> x", "the lower bound inf"),
        ("real<multiplier=0> x", "the multiplier is 0"),
        ("real<offset=negative_infinity()> x", "the offset is -inf"),
    ] {
        let message = refused(&format!("parameters {{ {declaration}; }} model {{ }}"), &Data::new("none"));
        assert!(message.contains(words) && message.contains("model.stan:1:"), "{declaration}: {message}");
    }
}

/// Decompositions of matrices that have none: an error of data, a rejection at points.
#[test]
fn matrices_that_are_not_symmetric_or_positive_definite_are_refused() {
    for (call, words) in [
        ("eigenvalues_sym([[1, 2], [3, 1]])", "the matrix is not symmetric: [2,1] is 3 and [1,2] is 2"),
        ("eigenvectors_sym([[1, 0], [1e-7, 1]])", "the matrix is not symmetric"),
        ("cholesky_decompose([[1, 2], [3, 9]])", "the matrix is not symmetric"),
        ("cholesky_decompose([[1, 2], [2, 1]])", "the matrix is not positive definite"),
    ] {
        let text = format!("transformed data {{ real x = sum({call}); }} parameters {{ real a; }} model {{ }}");
        let message = refused(&text, &Data::new("none"));
        assert!(message.contains(words) && message.contains("model.stan:1:"), "{call}: {message}");
    }
    let text = "parameters { real a; real b; } model { target += sum(eigenvalues_sym([[1, a], [b, 2]])); }";
    let compiled = bound(text, &Data::new("none")).compile().expect("a program");
    let at = |x: [f64; 2]| compiled.logp_grad(&mut compiled.workspace(), &x, &mut [0.0; 2]).is_ok();
    assert_eq!([at([0.5, 0.5]), at([0.5, 0.5 + 9e-9]), at([0.5, 0.500_001])], [true, true, false]);
}

#[test]
fn r_dumps_are_read_columns_first() {
    let data =
        Data::r_dump("d.R", "N <- 2L\nx <-\nstructure(c(1, 2, 3, 4, 5, 6), .Dim = c(2, 3)) # a matrix\n\"y\" <- 1:3\n");
    let data = data.expect("data");
    let octopus_bind::DataNumbers::Ints(x) = &data.get("x").expect("x").numbers else { panic!("whole numbers") };
    assert_eq!(x, &[1, 3, 5, 2, 4, 6]);
    assert_eq!(data.get("y").expect("y").shape, [3]);
    assert!(Data::r_dump("d.R", "x <- c(1, ").is_err());
}

#[test]
fn programs_without_an_end_are_refused_with_a_place() {
    let none = Data::new("none");
    let forever = refused("transformed data { while (1) { } } model { }", &none);
    assert!(forever.contains("has not come to its end") && forever.contains("model.stan:1"), "{forever}");
    let deep = refused(
        "functions { real f(real x) { return f(x + 1); } } transformed data { real y = f(1); } model { }",
        &none,
    );
    assert!(deep.contains("call each other more than"), "{deep}");
    let outside = refused("transformed data { vector[3] v = rep_vector(0, 3); real y = v[4]; } model { }", &none);
    assert!(outside.contains("index 4 is outside"), "{outside}");
    let branch = refused("parameters { real a; } model { if (a > 0) target += a; }", &none);
    assert!(branch.contains("branch on parameters"), "{branch}");
}

#[test]
fn functions_that_are_not_supported_are_listed_at_once() {
    let text =
        "parameters { vector[2] a; } model { target += bessel_first_kind(1, a[1]); target += owens_t(a[1], a[2]); }";
    let message = refused(text, &Data::new("none"));
    assert!(message.contains("bessel_first_kind") && message.contains("owens_t"), "{message}");
}

#[test]
fn eight_schools_is_sampled() {
    use octopus_density::LogDensity;
    use octopus_sampler::{Phase, Sampler, SamplerConfig};
    let density = bound(SCHOOLS, &schools()).density("schools").expect("a density");
    let mut draw = vec![0.0; 18];
    let config = SamplerConfig { chains: 4, tune: 500, draws: 1000, seed: 7, ..Default::default() };
    let mut sampler = Sampler::new(&density, config).expect("a good start");
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    while let Some(block) = sampler.advance(250).expect("draws") {
        if block.phase == Phase::Sampling {
            for x in block.chains.iter().flat_map(|chain| chain.positions.chunks(10)) {
                density.expand(x, &mut draw);
                sum[0] += draw[0];
                sum[1] += draw[1];
                count += 1.0;
            }
        }
    }
    // posteriordb's reference draws: mu 4.41 with sd 3.31, tau 3.57 with sd 3.20.
    let (mu, tau) = (sum[0] / count, sum[1] / count);
    assert!((mu - 4.41).abs() < 0.4 && (tau - 3.6).abs() < 0.4, "mu {mu}, tau {tau}");
}
