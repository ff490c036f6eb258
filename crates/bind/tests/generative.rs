//! What sampling statements say of data: log likelihoods and replicated data that no program writes down.

use octopus_bind::{BoundModel, Data, GenerativeModel, JointDraw, NewData, SimulatorProgram, StanDensity};
use octopus_density::{DrawAddress, LogDensity};
use octopus_stan::StanProgram;

fn bound(text: &str, data: &Data) -> BoundModel {
    BoundModel::new(&StanProgram::parse("model.stan", text).expect("a program"), data).expect("a model")
}

fn density(text: &str, data: &Data) -> StanDensity {
    bound(text, data).density("model").expect("a density")
}

fn terms(density: &StanDensity, x: &[f64]) -> Vec<f64> {
    let mut terms = vec![0.0; density.observations()];
    density.log_likelihood(x, &mut terms);
    terms
}

/// Points that differ in all coordinates.
fn points(dim: usize) -> impl Iterator<Item = Vec<f64>> {
    (0..3).map(move |k| (0..dim).map(|i| 0.3 * (i as f64 + 1.0) * (k as f64 - 1.3) / (1.0 + i as f64 * 0.2)).collect())
}

/// Programs: data, a block of parameters and a model, and the log likelihoods as one writes them by hand.
const PROGRAMS: [(&str, &str, &str); 18] = [
    (
        "vector[N] y;",
        "parameters { real a; real b; real<lower=0> s; } model { a ~ normal(0, 1); y ~ normal(a + b * x, s); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], s);",
    ),
    (
        "vector[N] y;",
        "parameters { real a; real<lower=0> s; } model { for (n in 1:N) y[n] ~ student_t(4, a * x[n], s); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = student_t_lpdf(y[n] | 4, a * x[n], s);",
    ),
    (
        "array[N] int<lower=0> k;",
        "parameters { vector[3] level; real<lower=0> tau; } model { level ~ normal(0, tau); k ~ poisson_log(level[g]); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_log_lpmf(k[n] | level[g[n]]);",
    ),
    (
        "array[N] int<lower=0, upper=1> b;",
        "parameters { real a; vector[2] beta; } model { b ~ bernoulli_logit_glm(z, a, beta); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = bernoulli_logit_lpmf(b[n] | a + z[n] * beta);",
    ),
    (
        "array[N] int<lower=1, upper=3> g;",
        "parameters { simplex[3] p; } model { p ~ dirichlet(rep_vector(2, 3)); target += categorical_lupmf(g | p); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = categorical_lpmf(g[n] | p);",
    ),
    (
        "array[N] int<lower=1, upper=3> g;",
        "parameters { ordered[2] c; real a; } model { for (n in 1:N) target += ordered_logistic_lpmf(g[n] | a * x[n], c); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = ordered_logistic_lpmf(g[n] | a * x[n], c);",
    ),
    (
        "array[N] vector[2] w;",
        "parameters { vector[2] m; cholesky_factor_cov[2] L; } model { w ~ multi_normal_cholesky(m, L); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = multi_normal_cholesky_lpdf(w[n] | m, L);",
    ),
    (
        "array[N] vector[2] w;",
        "parameters { vector[2] m; cov_matrix[2] S; } model { for (n in 1:N) w[n] ~ multi_normal(m * x[n], S); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = multi_normal_lpdf(w[n] | m * x[n], S);",
    ),
    // The first is not modelled.
    (
        "vector[N] y;",
        "parameters { real<lower=-1, upper=1> r; real<lower=0> s; } model { for (t in 2:N) y[t] ~ normal(r * y[t - 1], s); }",
        "vector[N - 1] log_lik; for (t in 2:N) log_lik[t - 1] = normal_lpdf(y[t] | r * y[t - 1], s);",
    ),
    // Variances that carry state.
    (
        "vector[N] y;",
        "parameters { real<lower=0> a; real<lower=0, upper=1> b; }
         model { real v = a; for (t in 1:N) { v = a + b * v; y[t] ~ normal(0, sqrt(v)); } }",
        "vector[N] log_lik; { real v = a; for (t in 1:N) { v = a + b * v; log_lik[t] = normal_lpdf(y[t] | 0, sqrt(v)); } }",
    ),
    (
        "matrix[N, 2] z;",
        "parameters { real m; real<lower=0> s; } model { to_vector(z) ~ normal(m, s); m ~ normal(0, 1); }",
        "matrix[N, 2] log_lik; for (n in 1:N) for (j in 1:2) log_lik[n, j] = normal_lpdf(z[n, j] | m, s);",
    ),
    // Terms of a sum, and what is known.
    (
        "vector[N] y;",
        "parameters { real m; real<lower=0> s; }
         model { target += normal_lpdf(y | m, s) + cauchy_lpdf(s | 0, 2) - 1 * cauchy_lccdf(0 | 0, 2); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, s);",
    ),
    // Branches, local definitions, and data made of data.
    (
        "vector[N] y;",
        "transformed data { vector[N] l = log1p(square(y)); int is_on = 1; }
         parameters { real m; } model { if (is_on) { vector[N] mu = m * x; l ~ normal(mu, 2); } else m ~ normal(0, 1); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(log1p(square(y[n])) | m * x[n], 2);",
    ),
    // Mixtures, and counts of which some are 0 for another reason.
    (
        "vector[N] y;",
        "parameters { real m; real<lower=0, upper=1> p; } model { m ~ normal(0, 1);
           for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | m * x[n], 1), normal_lpdf(y[n] | -m, 2)); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = log_mix(p, normal_lpdf(y[n] | m * x[n], 1), normal_lpdf(y[n] | -m, 2));",
    ),
    (
        "array[N] int<lower=0> k;",
        "parameters { real l; real<lower=0, upper=1> p; }
         model { for (n in 1:N) {
             if (k[n] == 0) target += log_sum_exp(log(p), log1m(p) + poisson_log_lpmf(k[n] | l));
             else target += log1m(p) + poisson_log_lpmf(k[n] | l); } }",
        "vector[N] log_lik; for (n in 1:N) {
             if (k[n] == 0) log_lik[n] = log_sum_exp(log(p), log1m(p) + poisson_log_lpmf(k[n] | l));
             else log_lik[n] = log1m(p) + poisson_log_lpmf(k[n] | l); }",
    ),
    (
        "array[N] int<lower=0> k;",
        "parameters { real l; } model { for (n in 1:N) if (g[n] == 1) k[n] ~ poisson_log(l); else k[n] ~ poisson_log(-l); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_log_lpmf(k[n] | g[n] == 1 ? l : -l);",
    ),
    (
        "array[N] int<lower=0> k;",
        "parameters { real a; vector[2] beta; } model { k ~ binomial_logit_glm(rep_array(9, N), z, a, beta); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = binomial_logit_lpmf(k[n] | 9, a + z[n] * beta);",
    ),
    // A density of the program's own.
    (
        "vector[N] y;",
        "parameters { real m; } model { for (n in 1:N) y[n] ~ around(m); }",
        "vector[N] log_lik; for (n in 1:N) log_lik[n] = around_lpdf(y[n] | m);",
    ),
];

const N: usize = 24;

fn data() -> Data {
    let wave = |k: usize, rate: f64| (rate * k as f64).sin();
    let reals = |rate: f64, count: usize| -> Vec<f64> { (0..count).map(|k| wave(k, rate)).collect() };
    let z = reals(0.7, 2 * N);
    Data::new("by hand")
        .with_int("N", N as i64)
        .with_reals("x", &reals(1.3, N))
        .with_reals("y", &reals(2.9, N))
        .with_ints("k", &(0..N as i64).map(|k| (k * k) % 5).collect::<Vec<_>>())
        .with_ints("b", &(0..N as i64).map(|k| (k * k + k / 3) % 2).collect::<Vec<_>>())
        .with_ints("g", &(0..N as i64).map(|k| 1 + (k * k + k / 4) % 3).collect::<Vec<_>>())
        .with("z", octopus_bind::DataValue { shape: vec![N, 2], numbers: octopus_bind::DataNumbers::Reals(z.clone()) })
        .with("w", octopus_bind::DataValue { shape: vec![N, 2], numbers: octopus_bind::DataNumbers::Reals(z) })
}

/// A program of the list, with data for all of them, and with generated quantities or without.
fn program(outcome: &str, rest: &str, generated: &str) -> String {
    let others = ["vector[N] x;", "matrix[N, 2] z;", "array[N] int<lower=1, upper=3> g;"];
    let others: String = others.into_iter().filter(|other| *other != outcome).collect();
    format!(
        "functions {{ real around_lpdf(real y, real m) {{ return normal_lupdf(y | m, 1) + log1p(0 * m); }}
                      real around_rng(real m) {{ return normal_rng(m, 1); }} }}
         data {{ int N; {outcome} {others} }} {rest} generated quantities {{ {generated} }}"
    )
}

#[test]
fn log_likelihoods_are_those_written_by_hand() {
    for (outcome, rest, by_hand) in PROGRAMS {
        let read = density(&program(outcome, rest, ""), &data());
        let written = density(&program(outcome, rest, by_hand), &data());
        // Which part of a mixture draws is not said.
        let is_mixed = rest.contains("log_mix") || rest.contains("log_sum_exp");
        assert!(read.has_log_likelihood() && read.has_predictions() != is_mixed, "{rest}");
        for x in points(read.dim()) {
            let (read, mut written) = (terms(&read, &x), terms(&written, &x));
            if outcome == "matrix[N, 2] z;" {
                assert_eq!(read.len(), 2 * N);
            }
            assert_eq!(read.len(), written.len(), "{rest}");
            // A density of the program's own leaves constants out by `_lupdf` only where it may.
            written.iter_mut().for_each(|x| *x += 0.0);
            for (k, (read, written)) in read.iter().zip(&written).enumerate() {
                let error = (read - written).abs();
                assert!(error <= 1e-12 * written.abs().max(1.0), "{rest}: {k}: {read} {written}");
            }
        }
    }
}

/// The replicates of many draws at one point.
fn replicates(density: &StanDensity, x: &[f64], draws: u32) -> Vec<Vec<f64>> {
    let one = |draw| {
        let mut out = vec![f64::NAN; density.predictions()];
        density.predict(x, &mut DrawAddress { seed: 57, chain: 0, draw }.stream(), &mut out);
        out
    };
    (0..draws).map(one).collect()
}

/// Means and standard deviations over draws, held to what they should be, at five standard errors.
#[track_caller]
fn assert_moments(draws: &[Vec<f64>], at: usize, mean: f64, sd: f64) {
    let count = draws.len() as f64;
    let found = draws.iter().map(|draw| draw[at]).sum::<f64>() / count;
    let variance = draws.iter().map(|draw| (draw[at] - found).powi(2)).sum::<f64>() / (count - 1.0);
    assert!((found - mean).abs() < 5.0 * sd / count.sqrt(), "mean {found}, not {mean}");
    assert!((variance.sqrt() / sd - 1.0).abs() < 5.0 / count.sqrt(), "sd {}, not {sd}", variance.sqrt());
}

#[test]
fn replicated_data_follow_their_statements() {
    let (y, x) = ([0.5, -1.0, 2.0, 0.25], [1.0, 2.0, -1.0, 0.5]);
    let data = Data::new("d").with_int("N", 4).with_reals("y", &y).with_reals("x", &x);
    let head = "data { int N; vector[N] y; vector[N] x; } parameters { real a; }";
    // In one statement, with one number for all rows, and in a loop.
    for (statement, mean, sd) in [
        ("y ~ normal(a * x, 0.5);", [0.3, 0.6, -0.3, 0.15], 0.5),
        ("y ~ normal(a, 0.5);", [0.3; 4], 0.5),
        (
            "for (n in 1:N) { real m = a * x[n]; target += logistic_lpdf(y[n] | m, 1); }",
            [0.3, 0.6, -0.3, 0.15],
            std::f64::consts::PI / 3.0_f64.sqrt(),
        ),
    ] {
        let density = density(&format!("{head} model {{ a ~ normal(0, 1); {statement} }}"), &data);
        assert_eq!((density.observed()[0].name.as_str(), &density.observed()[0].values[..]), ("y", &y[..]));
        let draws = replicates(&density, &[0.3], 4000);
        (0..4).for_each(|n| assert_moments(&draws, n, mean[n], sd));
    }
    // Each draw follows from the one before, which is a replicate too; the first is as observed.
    let walk = format!("{head} model {{ for (t in 2:N) y[t] ~ normal(y[t - 1] + a, 1); }}");
    let density = density(&walk, &data);
    assert_eq!((density.predictions(), density.observations()), (3, 3));
    assert_eq!(
        (density.observed()[0].places.as_deref(), &density.observed()[0].shape[..]),
        (Some(&[1, 2, 3][..]), &[3][..])
    );
    let draws = replicates(&density, &[0.3], 4000);
    (0..3).for_each(|t| assert_moments(&draws, t, 0.5 + 0.3 * (t as f64 + 1.0), (t as f64 + 1.0).sqrt()));
}

#[test]
fn vectors_and_counts_are_replicated_whole() {
    let vectors = "data { int N; array[N] vector[2] y; } parameters { vector[2] m; }
        model { y ~ multi_normal(m, [[4, 1], [1, 2]]); }";
    let values = octopus_bind::DataValue { shape: vec![3, 2], numbers: octopus_bind::DataNumbers::Reals(vec![0.0; 6]) };
    let density = density(vectors, &Data::new("d").with_int("N", 3).with("y", values));
    assert_eq!((density.observations(), density.predictions()), (3, 6));
    let draws = replicates(&density, &[1.0, -2.0], 4000);
    for n in 0..3 {
        assert_moments(&draws, 2 * n, 1.0, 2.0);
        assert_moments(&draws, 2 * n + 1, -2.0, 2.0_f64.sqrt());
    }
    let covariance = draws.iter().map(|y| (y[0] - 1.0) * (y[1] + 2.0)).sum::<f64>() / 4000.0;
    // The standard deviation of the product is 3.
    assert!((covariance - 1.0).abs() < 5.0 * 3.0 / 4000.0_f64.sqrt(), "{covariance}");
    let counts =
        "data { array[2, 3] int y; } parameters { simplex[3] p; } model { for (n in 1:2) y[n] ~ multinomial(p); }";
    let values = octopus_bind::DataValue {
        shape: vec![2, 3],
        numbers: octopus_bind::DataNumbers::Ints(vec![1, 2, 3, 20, 30, 50]),
    };
    let density = self::density(counts, &Data::new("d").with("y", values));
    assert_eq!((density.observations(), density.predictions()), (2, 6));
    for draw in replicates(&density, &[0.0, 0.0], 200) {
        assert_eq!((draw[..3].iter().sum::<f64>(), draw[3..].iter().sum::<f64>()), (6.0, 100.0));
    }
}

/// Several data are each under their name, in the order of their first statements.
#[test]
fn several_data_are_observed() {
    let text = "data { int N; vector[N] y; array[N] int k; } parameters { real a; }
        model { k ~ poisson_log(a); y ~ normal(a, 1); a ~ normal(0, 1); }";
    let data = Data::new("d").with_int("N", 2).with_reals("y", &[0.5, -1.0]).with_ints("k", &[3, 1]);
    let density = density(text, &data);
    let names: Vec<&str> = density.observed().iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, density.observations(), density.predictions()), (vec!["k", "y"], 4, 4));
    let found = terms(&density, &[0.2]);
    let poisson = |k: f64| k * 0.2 - 0.2_f64.exp() - if k == 3.0 { 6.0_f64.ln() } else { 0.0 };
    let normal = |y: f64| -0.5 * (y - 0.2_f64).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln();
    for (found, expected) in found.iter().zip([poisson(3.0), poisson(1.0), normal(0.5), normal(-1.0)]) {
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }
}

/// Each statement draws after those that draw what it reads, in whatever order they stand, in loops too.
#[test]
fn replicates_are_drawn_before_they_are_read() {
    let data = Data::new("d")
        .with_int("N", 3)
        .with_ints("n", &[100, 50, 70])
        .with_ints("m", &[50, 20, 30])
        .with_ints("k", &[9, 9, 9]);
    let head = "data { int N; array[N] int n; array[N] int m; array[N] int k; } parameters { real a; } model { a ~ normal(0, 1);";
    for body in [
        "k ~ binomial(m, inv_logit(a)); m ~ binomial(n, 0.5); }",
        "for (i in 1:N) { k[i] ~ binomial(m[i], inv_logit(a)); m[i] ~ binomial(n[i], 0.5); } }",
    ] {
        let density = density(&format!("{head} {body}"), &data);
        let names: Vec<&str> = density.observed().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["k", "m"]);
        for draw in replicates(&density, &[0.0], 200) {
            assert!(draw[..3].iter().zip(&draw[3..]).all(|(k, m)| (0.0..=*m).contains(k)), "{body} {draw:?}");
        }
    }
}

#[test]
fn generated_quantities_go_first() {
    let text = "data { int N; vector[N] y; } parameters { real a; } model { y ~ normal(a, 1); }
        generated quantities { vector[N] log_lik = rep_vector(7, N); }";
    let data = Data::new("d").with_int("N", 2).with_reals("y", &[0.5, -1.0]);
    let own = density(text, &data);
    assert_eq!(terms(&own, &[0.0]), [7.0, 7.0]);
    assert!(own.has_predictions() && own.predictions() == 2);
    // One number for two observations: it is not known what they are, so none are predicted.
    let other = density(&text.replace("vector[N] log_lik = rep_vector(7, N)", "real log_lik = 7"), &data);
    assert!(!other.has_predictions() && other.observations() == 1);
}

#[test]
fn what_cannot_be_told_apart_is_named() {
    for (model, words) in [
        ("for (n in 1:N) target += -square(y[n] - a);", "model.stan:1:198"),
        ("for (n in 1:N) { 0 ~ bernoulli_logit(a); y[n] ~ normal(a, 1); }", "does not say of one data variable"),
        ("for (n in 1:N) { if (y[n] > 0) target += -log1p_exp(a); else y[n] ~ normal(a, 1); }", "data decide"),
        ("y - a ~ normal(0, 1);", "does not say of one data variable"),
        ("vector[N] l = log(y); l ~ normal(a, 1);", "`l` is computed from the data"),
        ("y ~ normal(a, 1); y ~ normal(-a, 1);", "second statement about `y`"),
        ("y ~ whole(a);", "one number for many observations"),
        ("add_lp(y, a);", "`add_lp` adds to the log density by itself"),
        ("a ~ normal(0, 1);", "no statement says how data"),
    ] {
        let text = format!(
            "functions {{ real whole_lpdf(vector y, real a) {{ return a; }} void add_lp(vector y, real a) {{ target += a; }} }}
             data {{ int N; vector[N] y; }} parameters {{ real a; }} model {{ {model} }}"
        );
        let text = text.replace('\n', " ");
        let bound = bound(&text, &Data::new("d").with_int("N", 2).with_reals("y", &[0.5, 1.0]));
        let told = bound.unread().expect(model).to_string();
        assert!(told.contains(words) && told.contains("generated quantities"), "{model}: {told}");
        let density = bound.density("m").expect("a density");
        assert!(!density.has_log_likelihood() && density.observations() == 0 && bound.warnings.is_empty());
    }
}

/// A stream for one draw.
fn stream(draw: u32) -> octopus_random::Stream {
    octopus_random::Stream::new(7, 0, draw, octopus_random::Purpose::Prior)
}

fn generative(text: &str, data: &Data) -> GenerativeModel {
    GenerativeModel::new(&StanProgram::parse("model.stan", text).expect("a program"), data)
        .expect("a generative program")
}

/// Draws of a program's parameters and transformed parameters.
fn prior_draws(model: &GenerativeModel, draws: u32) -> Vec<Vec<f64>> {
    let density = model.density();
    let one = |draw| {
        let position = model.draw(&mut stream(draw)).expect("a draw").position;
        let mut out = vec![0.0; density.layout().width()];
        density.expand(&position, &mut out);
        out
    };
    (0..draws).map(one).collect()
}

/// Statements in any order are drawn in one that can be; each constraint has the prior that the density says.
#[test]
fn priors_are_those_of_the_density() {
    // The statements stand the wrong way round; m is bounded and has no statement.
    let text = "data { int J; } parameters { real mu; real<lower=0> tau; vector[J] theta; real<lower=-1, upper=3> m; }
        transformed parameters { real twice = 2 * theta[1]; }
        model { theta ~ normal(mu, tau); for (k in 1:1) tau ~ normal(0, 2); mu ~ normal(1, 3); }";
    let draws = prior_draws(&generative(text, &Data::new("d").with_int("J", 3)), 8000);
    assert_moments(&draws, 0, 1.0, 3.0);
    // A half normal has the mean s sqrt(2 / pi) and the square s^2.
    let mean = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
    assert_moments(&draws, 1, mean, (4.0 - mean * mean).sqrt());
    (2..5).for_each(|at| assert_mean(&draws, at, 1.0, 13.0_f64.sqrt()));
    assert_moments(&draws, 5, 1.0, 4.0 / 12.0_f64.sqrt());
    draws.iter().for_each(|draw| assert_eq!(draw[6], 2.0 * draw[2]));
}

/// The mean alone, at five standard errors.
#[track_caller]
fn assert_mean(draws: &[Vec<f64>], at: usize, mean: f64, sd: f64) {
    let count = draws.len() as f64;
    let found = draws.iter().map(|draw| draw[at]).sum::<f64>() / count;
    assert!((found - mean).abs() < 5.0 * sd / count.sqrt(), "mean {found}, not {mean}");
}

/// `x` is positive: the density favours values of mu that leave x room, and so do the draws.
#[test]
fn a_bound_that_parameters_move_is_a_bound_of_the_joint_density() {
    let text = "parameters { real mu; real<lower=0> x; } model { mu ~ normal(0, 1); x ~ normal(mu, 1); }";
    let draws = prior_draws(&generative(text, &Data::new("d")), 8000);
    // mu given mu + z > 0 with two standard normal numbers is skew normal with shape 1: its mean is 1 / sqrt(pi).
    let mean = 1.0 / std::f64::consts::PI.sqrt();
    assert_moments(&draws, 0, mean, (1.0 - mean * mean).sqrt());
    // x is a half normal number of variance 2.
    let mean = 2.0 / std::f64::consts::PI.sqrt();
    assert_moments(&draws, 1, mean, (2.0 - mean * mean).sqrt());
}

/// Coordinates are the value's: what they expand to has the moments of the prior.
#[test]
fn constrained_parameters_are_drawn_from_their_priors() {
    let text = "parameters {
          simplex[3] p; ordered[2] c; positive_ordered[2] q; cov_matrix[2] S; cholesky_factor_corr[3] L; corr_matrix[3] R;
          matrix<lower=0>[2, 2] M; vector<offset=5, multiplier=2>[2] a; simplex[4] u; real<upper=1> w;
          cholesky_factor_cov[2] K; sum_to_zero_vector[2] s0; unit_vector[2] e; }
        model { p ~ dirichlet([1, 2, 3]'); c ~ normal(0, 1); q ~ exponential(1); S ~ wishart(5, [[2, 0], [0, 1]]);
          L ~ lkj_corr_cholesky(2); to_vector(M) ~ exponential(0.5); a ~ normal(5, 2); w ~ normal(1, 2); }";
    let text = text.replace("cholesky_factor_cov[2] K; sum_to_zero_vector[2] s0; unit_vector[2] e; ", "");
    let model = generative(&text, &Data::new("d"));
    let draws = prior_draws(&model, 4000);
    let beta = |a: f64, b: f64| (a / (a + b), (a * b / ((a + b).powi(2) * (a + b + 1.0))).sqrt());
    let of = |name: &str, k: usize| {
        let (_, range) = model.density().layout().ranges().find(|(variable, _)| variable.name == name).expect(name);
        range.start + k
    };
    for (k, a) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        let (mean, sd) = beta(a, 6.0 - a);
        assert_mean(&draws, of("p", k), mean, sd);
        assert_mean(&draws, of("u", k), 0.25, beta(1.0, 3.0).1);
    }
    // The least of two normal numbers has the mean -1 / sqrt(pi), the least of two exponential ones 1 / 2.
    let least = 1.0 / std::f64::consts::PI.sqrt();
    assert_mean(&draws, of("c", 0), -least, (1.0 - least * least).sqrt());
    assert_mean(&draws, of("c", 1), least, (1.0 - least * least).sqrt());
    assert_mean(&draws, of("q", 0), 0.5, 0.5);
    assert_mean(&draws, of("q", 1), 1.5, 1.25_f64.sqrt());
    // Wishart: nu sigma, with variance 2 nu sigma^2 on the diagonal.
    assert_mean(&draws, of("S", 0), 10.0, 40.0_f64.sqrt());
    assert_mean(&draws, of("S", 1), 0.0, 10.0_f64.sqrt());
    assert_mean(&draws, of("S", 3), 5.0, 10.0_f64.sqrt());
    // Correlations are 2 Beta(eta + 1/2, eta + 1/2) - 1 for three rows.
    assert_mean(&draws, of("L", 3), 0.0, 2.0 * beta(2.5, 2.5).1);
    assert_moments(&draws, of("R", 5), 0.0, 2.0 * beta(1.5, 1.5).1);
    (0..4).for_each(|k| assert_mean(&draws, of("M", k), 2.0, 2.0));
    (0..2).for_each(|k| assert_moments(&draws, of("a", k), 5.0, 2.0));
    let mean = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
    assert_mean(&draws, of("w", 0), 1.0 - mean, (4.0 - mean * mean).sqrt());
}

#[test]
fn what_cannot_be_drawn_is_named() {
    for (program, words) in [
        ("parameters { real a; real b; } model { b ~ normal(a, 1); }", "`a` has no sampling statement"),
        ("parameters { real a; } model { a ~ normal(0, 1); a ~ normal(1, 1); }", "second statement about `a`"),
        ("parameters { real a; } model { target += -square(a); }", "does not say how one variable"),
        (
            "parameters { real a; } transformed parameters { real b = exp(a); } model { b ~ gamma(2, 1); }",
            "`b` is no parameter",
        ),
        ("parameters { real a; real b; } model { a ~ normal(b, 1); b ~ normal(a, 1); }", "cannot be drawn before"),
        ("parameters { vector[2] a; } model { a[1] ~ normal(0, 1); }", "elements of `a` have no sampling statement"),
        (
            "parameters { vector[3] a; } model { for (k in 1:2) a[k] ~ normal(a[k + 1], 1); a[3] ~ normal(0, 1); }",
            "mu is NaN",
        ),
        (
            "parameters { real<lower=0> x; real<lower=0, upper=x> a; } model { x ~ exponential(1); }",
            "bounds depend on parameters",
        ),
        (
            "parameters { vector[2] a; } model { a ~ multi_normal_prec([0, 0]', [[1, 0], [0, 1]]); }",
            "`multi_normal_prec` has no generator",
        ),
        ("parameters { cholesky_factor_corr[2] a; } model { }", "`a` has no sampling statement"),
        (
            "data { vector[2] y; } transformed data { real m = mean(y); } parameters { real a; } model { a ~ normal(m, 1); y ~ normal(a, 1); }",
            "`m` is computed from data",
        ),
    ] {
        let program = StanProgram::parse("model.stan", program).expect(program);
        let error = GenerativeModel::new(&program, &Data::new("d").with_reals("y", &[0.5, 1.0])).map(|_| ());
        let told = error.expect_err(words).to_string();
        assert!(
            told.contains(words) && told.contains("model.stan:1:") && told.contains("--simulator"),
            "{words}: {told}"
        );
    }
}

/// Data that are drawn take the place of the observed ones, and the density is of them.
#[test]
fn drawn_data_have_the_density_of_the_program() {
    let text = "data { int N; vector[N] y; array[N] int<lower=0, upper=4> k; }
        transformed data { vector[N] l = log(y); }
        parameters { real m; real<lower=0, upper=1> p; }
        model { l ~ normal(m, 0.5); m ~ normal(0, 1); k ~ binomial(4, p); }";
    let data = Data::new("d").with_int("N", 3).with_reals("y", &[1.0, 2.0, 3.0]).with_ints("k", &[0, 1, 4]);
    let model = generative(text, &data);
    let draws: Vec<Vec<f64>> = (0..4000)
        .map(|draw| {
            let joint = model.draw(&mut stream(draw)).expect("a draw");
            assert_eq!(joint.outcomes.len(), 6);
            joint.outcomes
        })
        .collect();
    (0..3).for_each(|n| assert_moments(&draws, n, 0.0, 1.25_f64.sqrt()));
    // k is uniform over 0 to 4.
    (3..6).for_each(|n| assert_moments(&draws, n, 2.0, 2.0_f64.sqrt()));
    let position = [0.3, 0.7];
    let outcomes = model.replicate(&position, &mut stream(1)).expect("data");
    assert_eq!(outcomes, model.replicate(&position, &mut stream(1)).expect("data"), "the same stream, the same data");
    let density = model.with_outcomes(&outcomes).expect("a density");
    let own = density.observed().iter().flat_map(|one| one.values.clone()).collect::<Vec<f64>>();
    assert_eq!(own, outcomes);
    let p = 1.0 / (1.0 + (-0.7_f64).exp());
    let normal = |x: f64| -0.5 * ((x - 0.3) / 0.5).powi(2) - (0.5 * (2.0 * std::f64::consts::PI).sqrt()).ln();
    let ways = [1.0_f64, 4.0, 6.0, 4.0, 1.0];
    let found = terms(&density, &position);
    for n in 0..3 {
        assert!((found[n] - normal(outcomes[n])).abs() < 1e-13);
        let k = outcomes[3 + n];
        let binomial = ways[k as usize].ln() + k * p.ln() + (4.0 - k) * (1.0 - p).ln();
        assert!((found[3 + n] - binomial).abs() < 1e-13);
    }
}

/// Old groups keep their levels, new ones are drawn around the population's mean, and all rows are new.
#[test]
fn new_rows_and_new_groups_are_predicted() {
    let text = "data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] x; vector[N] y; }
        parameters { real mu; real<lower=0> tau; vector[J] level; real slope; vector[N] shock; }
        transformed parameters { vector[N] eta = level[g] + slope * x + shock; }
        model { level ~ normal(mu, tau); shock ~ normal(0, 0.3); y ~ normal(eta, 0.4); }";
    let program = StanProgram::parse("model.stan", text).expect("a program");
    let of = |g: &[i64], j: i64, x: &[f64]| {
        Data::new("d").with_int("N", g.len() as i64).with_int("J", j).with_ints("g", g).with_reals("x", x)
    };
    let sampled =
        BoundModel::new(&program, &of(&[1, 2, 2], 2, &[0.0, 1.0, 2.0]).with_reals("y", &[0.0; 3])).expect("a model");
    let density = sampled.density("m").expect("a density");
    let new = NewData::new(&program, &sampled, &of(&[2, 3, 3, 1], 3, &[1.0, 0.0, 2.0, 0.5]), &[]).expect("new data");
    assert_eq!(new.outcomes().collect::<Vec<_>>(), [("y", &[4][..])]);
    assert_eq!(new.grown().collect::<Vec<_>>(), [("level", 1, 3), ("shock", 4, 4)]);
    // mu, ln tau, level, slope, shock.
    let written = [1.0, 0.5_f64.ln(), -2.0, 4.0, 0.25, 9.0, 9.0, 9.0];
    let position = density.effects().expect("a hierarchy").natural_of(&written);
    let draws: Vec<Vec<f64>> =
        (0..8000).map(|draw| new.draw(&density, &position, &mut stream(draw)).expect("a draw")).collect();
    let noise = 0.09 + 0.16;
    assert_moments(&draws, 0, 4.25, f64::sqrt(noise));
    assert_moments(&draws, 1, 1.0, f64::sqrt(noise + 0.25));
    assert_moments(&draws, 2, 1.5, f64::sqrt(noise + 0.25));
    assert_moments(&draws, 3, -1.875, f64::sqrt(noise));
    // Rows of one new group share its level.
    let covariance = draws.iter().map(|y| (y[1] - 1.0) * (y[2] - 1.5)).sum::<f64>() / 8000.0;
    assert!((covariance - 0.25).abs() < 5.0 * 0.6 / 8000.0_f64.sqrt(), "{covariance}");
    // Without a new group nothing is asked of the statement of the levels, and a prior that is none stands not in the way.
    let flat = StanProgram::parse("model.stan", &text.replace("level ~ normal(mu, tau);", "")).expect("a program");
    assert!(NewData::new(&flat, &sampled, &of(&[2], 2, &[1.0]), &[]).is_ok());
    let told =
        NewData::new(&flat, &sampled, &of(&[3], 3, &[1.0]), &[]).map(|_| ()).expect_err("no statement").to_string();
    assert!(told.contains("`level` has no sampling statement") && told.contains("model.stan:2:"), "{told}");
}

/// A second program draws parameters and data under the names of the first.
#[test]
fn a_second_program_draws() {
    let text = "data { int N; array[N] int y; } parameters { real<lower=0> m; simplex[2] p; }
        model { target += -m; for (n in 1:N) target += log_mix(p[1], poisson_lpmf(y[n] | m), poisson_lpmf(y[n] | 9)); }";
    let simulator =
        "data { int N; } generated quantities { real m_ = exponential_rng(1); vector[2] p = dirichlet_rng([1, 1]');
        array[N] int y; for (n in 1:N) y[n] = poisson_rng(uniform_rng(0, 1) < p[1] ? m_ : 9); }";
    let data = Data::new("d").with_int("N", 3).with_ints("y", &[0, 0, 0]);
    let parse = |text: &str| StanProgram::parse("second.stan", text).expect("a program");
    let joined = SimulatorProgram::new(&parse(text), &parse(simulator), &data).expect("both programs");
    let draws: Vec<Vec<f64>> = (0..4000)
        .map(|draw| {
            let JointDraw { position, outcomes } = joined.draw(&mut stream(draw)).expect("a draw");
            let mut out = vec![0.0; joined.density().layout().width()];
            joined.density().expand(&position, &mut out);
            out.extend(outcomes);
            out
        })
        .collect();
    assert_moments(&draws, 1, 0.5, 12.0_f64.sqrt().recip());
    assert_mean(&draws, 0, 1.0, 1.0);
    assert_mean(&draws, 3, 5.0, 5.0);
    assert!(GenerativeModel::new(&parse(text), &data).is_err());
    for (from, to, words) in [
        ("real m_", "real other", "no generated quantity is named `m`"),
        (
            "vector[2] p = dirichlet_rng([1, 1]')",
            "vector[3] p = dirichlet_rng([1, 1, 1]')",
            "`p` has sizes [3], but [2]",
        ),
        ("array[N] int y;", "array[N] int z;", "no generated quantity has the name of data"),
        ("dirichlet_rng([1, 1]')", "[0.5, -0.5]'", "`p` is outside of its support"),
    ] {
        let text_of = simulator.replace(from, to).replace("y[n] =", if to.contains('z') { "z[n] =" } else { "y[n] =" });
        let text_of = if from == "real m_" { text_of.replace("? m_", "? other") } else { text_of };
        let told =
            SimulatorProgram::new(&parse(text), &parse(&text_of), &data).map(|_| ()).expect_err(words).to_string();
        assert!(told.contains(words), "{words}: {told}");
    }
}
