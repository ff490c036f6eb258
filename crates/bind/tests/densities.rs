//! What Stan's syntax does with densities: truncation, linear predictors, cumulative functions, supports, loops.
//! The densities themselves are tested in `octopus_program`.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_stan::StanProgram;

fn bound(text: &str, data: &Data) -> BoundModel {
    BoundModel::new(&StanProgram::parse("model.stan", text).expect("a program"), data).expect("a model")
}

fn data() -> Data {
    Data::new("densities")
        .with_int("N", 4)
        .with_reals("y", &[0.3, 1.2, 0.8, 2.5])
        .with_ints("k", &[1, 0, 3, 2])
        .with_ints("c", &[1, 3, 2, 3])
        .with_ints("b", &[1, 0, 0, 1])
}

const DECLARED: &str = "data { int N; vector[N] y; array[N] int k; array[N] int c; array[N] int b; }
    transformed data { matrix[4, 2] x = [[0.5, -1], [1, 0.2], [-0.3, 0.7], [2, 1]]; array[4] int m = {5, 5, 5, 5}; }
    parameters { real a; vector[2] beta; real<lower=0> s; vector[3] v; vector[4] mu; simplex[3] p; ordered[2] cut;
                 matrix[2, 3] w; }";

/// A statement and what it must be the same as, constants aside.
const SAME: [(&str, &str, &str); 20] = [
    ("normal glm", "y ~ normal_id_glm(x, a, beta, s);", "y ~ normal(a + x * beta, s);"),
    ("normal glm with intercepts", "y ~ normal_id_glm(x, mu, beta, s);", "y ~ normal(mu + x * beta, s);"),
    ("Bernoulli glm", "b ~ bernoulli_logit_glm(x, a, beta);", "b ~ bernoulli_logit(a + x * beta);"),
    ("binomial glm", "k ~ binomial_logit_glm(m, x, a, beta);", "k ~ binomial_logit(m, a + x * beta);"),
    ("Poisson glm", "k ~ poisson_log_glm(x, a, beta);", "k ~ poisson_log(a + x * beta);"),
    ("negative binomial glm", "k ~ neg_binomial_2_log_glm(x, a, beta, s);", "k ~ neg_binomial_2_log(a + x * beta, s);"),
    (
        "categorical glm",
        "c ~ categorical_logit_glm(x, v, w);",
        "for (n in 1:N) c[n] ~ categorical_logit(v + (x[n] * w)');",
    ),
    (
        "ordered glm",
        "c ~ ordered_logistic_glm(x, beta, cut);",
        "for (n in 1:N) c[n] ~ ordered_logistic(x[n] * beta, cut);",
    ),
    (
        "ordered probit",
        "c ~ ordered_probit(mu, cut);",
        "for (n in 1:N) target += ordered_probit_lupmf(c[n] | mu[n], cut);",
    ),
    ("categories", "c ~ categorical(p);", "for (n in 1:N) target += log(p[c[n]]);"),
    ("exponential beyond", "y ~ exponential(s) T[0.2, ];", "target += N * log(s) - s * (sum(y) - 0.2 * N);"),
    (
        "normal between",
        "y ~ normal(mu, s) T[0.1, 3];",
        "y ~ normal(mu, s); for (n in 1:N) target += -log_diff_exp(normal_lcdf(3 | mu[n], s), normal_lcdf(0.1 | mu[n], s));",
    ),
    (
        "zero-truncated Poisson",
        "for (n in 1:1) k[n] ~ poisson(s) T[1, ];",
        "k[1] ~ poisson(s); target += -log1m_exp(-s);",
    ),
    (
        "binomial between",
        "k[1] ~ binomial(3, p[1]) T[1, 2];",
        "k[1] ~ binomial(3, p[1]); target += -log(3 * p[1] * square(1 - p[1]) + 3 * square(p[1]) * (1 - p[1]));",
    ),
    ("cumulative", "target += normal_cdf(a | 0.5, s);", "target += Phi((a - 0.5) / s);"),
    ("cumulative of data", "target += a * gamma_cdf(1.7 | 1, 2);", "target += a * exp(exponential_lcdf(1.7 | 2));"),
    (
        "mixture with a bounded part",
        "for (n in 1:N) target += log_sum_exp(uniform_lpdf(y[n] | 0, 1) + a, normal_lpdf(y[n] | 0, s));",
        "for (n in 1:N) if (y[n] <= 1) target += log_sum_exp(a, normal_lpdf(y[n] | 0, s)); \
         else target += normal_lpdf(y[n] | 0, s);",
    ),
    (
        "normal vectors in a loop",
        "for (n in 1:N) y[1:2] ~ multi_normal(x[n]' + beta, [[s, 0.1], [0.1, 1 + s]]);",
        "for (n in 1:N) target += -0.5 * (log(s * (1 + s) - 0.01) + ((1 + s) * square(y[1] - x[n, 1] - beta[1]) \
         - 0.2 * (y[1] - x[n, 1] - beta[1]) * (y[2] - x[n, 2] - beta[2]) + s * square(y[2] - x[n, 2] - beta[2])) \
         / (s * (1 + s) - 0.01));",
    ),
    (
        "Dirichlet in a loop",
        "for (n in 1:N) p ~ dirichlet(exp(v) * n);",
        "for (n in 1:N) target += lgamma(n * sum(exp(v))) - sum(lgamma(n * exp(v))) + dot_product(n * exp(v) - 1, log(p));",
    ),
    (
        "counts by category in a loop",
        "for (n in 1:N) {k[1], n, k[3]} ~ multinomial(p);",
        "for (n in 1:N) target += k[1] * log(p[1]) + n * log(p[2]) + k[3] * log(p[3]);",
    ),
];

fn value(model: &BoundModel, x: &[f64]) -> (f64, Vec<f64>) {
    let program = model.compile().expect("a program");
    let mut gradient = vec![0.0; x.len()];
    let value = program.logp_grad(&mut program.workspace(), x, &mut gradient).expect("a value");
    (value, gradient)
}

#[test]
fn statements_are_their_formulas() {
    for (name, statement, formula) in SAME {
        for vectorise_loops in [true, false] {
            let of = |statements: &str| {
                let text = format!("{DECLARED} model {{ {statements} }}");
                let program =
                    StanProgram::parse("model.stan", &text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
                BoundModel::with_options(&program, &data(), BindOptions { vectorise_loops, ..BindOptions::default() })
                    .unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            let (model, expected) = (of(statement), of(formula));
            let point =
                |turn: f64| -> Vec<f64> { (0..model.dim()).map(|k| 0.4 * (0.9 + turn * k as f64).sin()).collect() };
            let mut constants = Vec::new();
            for turn in [1.7, 0.6] {
                let (x, y) = (value(&model, &point(turn)), value(&expected, &point(turn)));
                constants.push(x.0 - y.0);
                for (slope, expected) in x.1.iter().zip(&y.1) {
                    assert!((slope - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{name}: {slope} {expected}");
                }
            }
            assert!((constants[0] - constants[1]).abs() < 1e-11, "{name}: {constants:?}");
        }
    }
}

#[test]
fn outside_of_the_support_there_is_no_density() {
    let refused = |statement: &str| {
        let text = format!("{DECLARED} model {{ {statement} }}");
        let program = StanProgram::parse("model.stan", &text).expect("a program");
        BoundModel::new(&program, &data()).expect_err("an error").to_string()
    };
    let error = refused("y ~ normal(a, -2);");
    assert!(error.contains("normal: sigma is -2 at element 1, counted from 1; it must be above 0"), "{error}");
    let error = refused("for (n in 1:N) y[n] ~ beta(2, s);");
    assert!(error.contains("beta: y is 1.2 at element 1, counted from 1; it must be between 0 and 1"), "{error}");
    let error = refused("c ~ categorical(p[1:2] / sum(p[1:2]));");
    assert!(error.contains("the category 3 is outside: there are 2"), "{error}");
    let error = refused("y ~ skew_normal(a, s, 1) T[0, ];");
    assert!(error.contains("`skew_normal` cannot be truncated yet"), "{error}");
    let error = refused("y ~ gamma(s, 2) T[0.1, ];");
    assert!(error.contains("gamma: its cumulative function of parameters is not supported, but for shapes"), "{error}");
    // A variate outside of its bounds, and parameters outside of their domain: points without a density.
    let no_value = |statement: &str, x: f64| {
        let model = bound(&format!("parameters {{ real a; }} model {{ {statement} }}"), &Data::new("none"));
        let program = model.compile().expect("a program");
        let inside = program.logp_grad(&mut program.workspace(), &[0.3], &mut [0.0]);
        assert!(inside.is_ok(), "{statement}: {inside:?}");
        program.logp_grad(&mut program.workspace(), &[x], &mut [0.0]).expect_err("no density").to_string()
    };
    no_value("a ~ normal(0, 1) T[0, ];", -0.1);
    no_value("a ~ uniform(0, 1);", 1.1);
    no_value("a ~ inv_gamma(2, 3);", -0.5);
    assert_eq!(no_value("2 ~ exponential(a);", -0.5), "exponential: beta must be above 0");
    assert_eq!(no_value("1 ~ bernoulli(a);", 1.5), "bernoulli: theta must be between 0 and 1");
    assert_eq!(no_value("2 ~ categorical([a, 0.7]');", 0.4), "a simplex must sum to 1");
}

#[test]
fn generated_quantities_guard_no_density() {
    let text = "parameters { real a; } model { a ~ std_normal(); }
        generated quantities { real l = normal_lpdf(1 | 0, a); }";
    let density = bound(text, &Data::new("none")).density("model").expect("a density");
    let value = octopus_density::LogDensity::logp_grad(&density, &[-0.5], &mut [0.0]).expect("a value");
    assert!((value + 0.125).abs() < 1e-15, "{value}");
}
