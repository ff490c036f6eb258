//! Effects of hierarchies are found in programs, and other coordinates of them leave the density as it is.

use octopus_bind::{BoundModel, Data, StanDensity};
use octopus_density::{Centering, DensityEffects, EffectCoordinates, LogDensity, check_gradient};
use octopus_sampler::{Begin, Parameterization, Phase, Sampler, SamplerConfig, Strategy};
use octopus_stan::StanProgram;

/// Numbers between -1 and 1 without a pattern.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|k| (((k + 1) * (seed * 2 + 7919) + seed * 31) % 1009) as f64 / 504.5 - 1.0).collect()
}

const EFFECTS: usize = 6;
const ROWS: usize = 12;

fn data() -> Data {
    let group: Vec<i64> = (0..ROWS as i64).map(|k| 1 + (k * 5 + k / 6) % EFFECTS as i64).collect();
    let of_group: Vec<i64> = (0..EFFECTS as i64).map(|k| 1 + k % 2).collect();
    Data::new("data")
        .with_int("J", EFFECTS as i64)
        .with_int("N", ROWS as i64)
        .with_ints("g", &group)
        .with_ints("k", &of_group)
        .with_reals("x", &numbers(ROWS, 3))
        .with_reals("u", &numbers(EFFECTS, 5))
        .with_reals("y", &numbers(ROWS, 4))
}

const HEAD: &str = "data { int J; int N; array[N] int g; array[J] int k; vector[N] x; vector[J] u; vector[N] y; }\n";

fn bound(body: &str) -> (BoundModel, StanDensity) {
    let program = StanProgram::parse("m.stan", &format!("{HEAD}{body}")).expect("a program");
    let bound = BoundModel::new(&program, &data()).expect("a model");
    let density = bound.density("m").expect("a density");
    (bound, density)
}

/// The sum of the logarithms of the scales of centered effects.
fn log_scales(effects: &dyn DensityEffects, natural: &[f64]) -> f64 {
    let (_, scales) = effects.values(natural);
    let blocks = effects.blocks().iter().flat_map(|block| std::iter::repeat_n(block, block.coordinates.len()));
    blocks.zip(scales).map(|(block, scale)| if block.written == Centering::Centered { scale.ln() } else { 0.0 }).sum()
}

/// The log-determinant of the map from the effects' coordinates `x` to the density's own. It is linear in those of a vector, and
/// blocks come one after the other in some order, so that differences have no error that counts but rounding.
fn log_determinant(effects: &dyn DensityEffects, own: &EffectCoordinates, x: &[f64]) -> f64 {
    let places: Vec<usize> = effects.blocks().iter().flat_map(|block| block.coordinates.clone()).collect();
    let slopes = |&at: &usize| {
        let moved = |step: f64| {
            let mut to = x.to_vec();
            to[at] += step;
            effects.make_natural(own, &mut to);
            to
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        places.iter().map(|&at| (up[at] - down[at]) / 2.0).collect()
    };
    let mut rows: Vec<Vec<f64>> = places.iter().map(slopes).collect();
    let mut log = 0.0;
    for k in 0..rows.len() {
        let pivot = (k..rows.len()).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).expect("a row");
        rows.swap(k, pivot);
        let first = rows[k].clone();
        log += first[k].abs().ln();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / first[k];
            row.iter_mut().zip(&first).for_each(|(x, first)| *x -= factor * first);
        }
    }
    log
}

/// All coordinate systems that a sampler may choose.
fn coordinates(effects: &dyn DensityEffects) -> Vec<EffectCoordinates> {
    let count = effects.blocks().iter().map(|block| block.coordinates.len()).sum();
    let natural = EffectCoordinates::natural(count);
    let mut centered = natural.clone();
    centered.center(0..count);
    let learned = |seed: usize| EffectCoordinates {
        tops: numbers(count, seed).iter().map(|x| 3.0 * x).collect(),
        precisions: numbers(count, seed + 1).iter().map(|x| (3.0 * x).exp()).collect(),
        priors: vec![1.0; count],
        links: vec![f64::from(u8::from(seed > 11)); count],
    };
    vec![natural, centered, learned(11), learned(17)]
}

fn near(found: f64, expected: f64) {
    let scale = 1.0 + found.abs().max(expected.abs());
    assert!((found - expected).abs() < 1e-9 * scale, "{found}, not {expected}");
}

/// Holds a program's density in all coordinates to the program as it is written; `expected` are the numbers of effects and
/// the forms that must be found.
fn check(body: &str, expected: &[(usize, Centering)]) {
    let (bound, density) = bound(body);
    let Some(effects) = density.effects() else { return assert!(expected.is_empty(), "nothing was found: {body}") };
    let blocks = || effects.blocks().iter().filter(|block| !block.is_plain);
    let found: Vec<_> = blocks().map(|block| (block.coordinates.len(), block.written)).collect();
    assert_eq!(found, expected, "{body}");
    let mut constant = None;
    let mut of_likelihood = None;
    for (turn, own) in coordinates(effects).iter().enumerate() {
        for seed in 0..3 {
            let x = numbers(density.dim(), 20 + 5 * turn + seed);
            let mut natural = x.clone();
            let jacobian = effects.make_natural(own, &mut natural);
            near(jacobian, log_determinant(effects, own, &x));
            let mut gradient = vec![0.0; x.len()];
            let walked = effects.logp_grad_in(own, &x, &mut gradient).expect("a value");
            near(walked - jacobian, density.logp_grad(&natural, &mut gradient.clone()).expect("a value"));
            let mut back = natural.clone();
            effects.take_natural(own, &mut back);
            back.iter().zip(&x).for_each(|(found, x)| near(*found, *x));
            // The program itself.
            let written = effects.as_written(&natural);
            effects.natural_of(&written).iter().zip(&natural).for_each(|(found, z)| near(*found, *z));
            let program = bound.log_density(&written) + log_scales(effects, &natural);
            near(walked - jacobian - program, *constant.get_or_insert(walked - jacobian - program));
            let mut out = vec![0.0; density.layout().width()];
            density.expand(&natural, &mut out);
            // The orders of the elements of matrices differ.
            let mut expected = bound.expand(&written);
            out.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            out.iter().zip(&expected).for_each(|(found, expected)| near(*found, *expected));
            let in_these = |x: &[f64], gradient: &mut [f64]| effects.logp_grad_in(own, x, gradient);
            let slopes = check_gradient(&in_these, &x, seed as u64).expect("a value");
            assert!(slopes.wrong.is_empty(), "{:?}\n{body}", slopes.wrong);
            // What is left without the effects' own terms.
            let mut position = natural.clone();
            let values = effects.values(&natural).0;
            let places = || effects.blocks().iter().flat_map(|block| &block.coordinates);
            places().zip(&values).for_each(|(&at, value)| position[at] = *value);
            let of_effects = blocks().flat_map(|block| &block.coordinates);
            let own_terms: f64 = of_effects.map(|&at| -0.5 * natural[at] * natural[at]).sum();
            let likelihood = effects.likelihood_grad(&position, &mut gradient).expect("a value");
            let rest = likelihood - (program - own_terms);
            near(rest, *of_likelihood.get_or_insert(rest));
            let slopes = check_gradient(&|x, gradient| effects.likelihood_grad(x, gradient), &position, seed as u64);
            assert!(slopes.expect("a value").wrong.is_empty(), "{body}");
        }
    }
}

const CENTERED: (usize, Centering) = (EFFECTS, Centering::Centered);
const NON_CENTERED: (usize, Centering) = (EFFECTS, Centering::NonCentered);
const PRIORS: &str = "mu ~ normal(0, 5); tau ~ normal(0, 2); y ~ normal(theta[g], 1);";
const SCALARS: &str = "real mu; real<lower=0> tau;";

#[test]
fn centered_effects_are_found() {
    for statement in [
        "theta ~ normal(mu, tau);",
        "target += normal_lpdf(theta | mu, tau);",
        "target += normal_lupdf(theta | mu, tau);",
        "for (j in 1:J) theta[j] ~ normal(mu, tau);",
        "for (j in 1:J) target += normal_lpdf(theta[j] | mu, tau);",
        "theta ~ normal(0, tau);",
        "theta ~ normal(mu, 2);",
        "theta ~ normal(mu + u, tau * exp(u));",
        "for (j in 1:J) theta[j] ~ normal(mu * u[j], sqrt(tau));",
        "theta ~ normal(mu, tau); theta ~ normal(0, 10);",
    ] {
        check(&format!("parameters {{ {SCALARS} vector[J] theta; }} model {{ {statement} {PRIORS} }}"), &[CENTERED]);
    }
    // Effects whose logarithms are normal.
    for statement in ["theta ~ lognormal(mu, tau);", "for (j in 1:J) theta[j] ~ lognormal(u[j], tau);"] {
        check(
            &format!("parameters {{ {SCALARS} vector<lower=0>[J] theta; }} model {{ {statement} {PRIORS} }}"),
            &[CENTERED],
        );
    }
    let exp = "exp(theta) ~ lognormal(mu, tau);";
    check(&format!("parameters {{ {SCALARS} vector[J] theta; }} model {{ {exp} {PRIORS} }}"), &[CENTERED]);
    let array =
        format!("parameters {{ {SCALARS} array[J] real theta; }} model {{ theta ~ normal(mu, tau); {PRIORS} }}");
    check(&array, &[CENTERED]);
    // Some elements of a parameter, in any order.
    let some = format!(
        "parameters {{ {SCALARS} vector[J] theta; }} model {{ theta[{{5, 2, 3}}] ~ normal(mu, tau); {PRIORS} }}"
    );
    check(&some, &[(3, Centering::Centered)]);
    // A funnel: no data at all.
    check("parameters { real v; vector[J] x_; } model { v ~ normal(0, 3); x_ ~ normal(0, exp(v / 2)); }", &[CENTERED]);
}

#[test]
fn non_centered_effects_are_found() {
    let with = |made: &str, used: &str| {
        format!(
            "parameters {{ {SCALARS} vector[J] z; }} transformed parameters {{ {made} }}
             model {{ z ~ std_normal(); mu ~ normal(0, 5); tau ~ normal(0, 2); y ~ normal({used}, 1); }}"
        )
    };
    check(&with("vector[J] theta = mu + tau * z;", "theta[g]"), &[NON_CENTERED]);
    check(&with("vector[J] theta; for (j in 1:J) theta[j] = mu * u[j] + z[j] * tau;", "theta[g]"), &[NON_CENTERED]);
    check(&with("", "mu + tau * z[g]"), &[NON_CENTERED]);
    check(&with("vector[J] theta = mu + tau * exp(u) .* z;", "theta[g]"), &[NON_CENTERED]);
    let affine = |statement: &str| {
        format!(
            "parameters {{ {SCALARS} vector<offset=mu, multiplier=tau>[J] theta; }} model {{ {statement} {PRIORS} }}"
        )
    };
    check(&affine("theta ~ normal(mu, tau);"), &[NON_CENTERED]);
    check(&affine("theta ~ normal(mu + 1, tau);"), &[]);
    let multiplier = format!(
        "parameters {{ {SCALARS} vector<multiplier=tau>[J] theta; }} model {{ theta ~ normal(0, tau); {PRIORS} }}"
    );
    check(&multiplier, &[NON_CENTERED]);
}

/// Vectors that are normal together are a block for each place in them.
#[test]
fn vectors_that_are_normal_together_are_found() {
    let pairs = [(EFFECTS, Centering::Centered), (EFFECTS, Centering::Centered)];
    let with = |declared: &str, statement: &str, used: &str| {
        format!(
            "parameters {{ vector[2] m; vector<lower=0>[2] s; cholesky_factor_corr[2] L; {declared} }}
             model {{ m ~ normal(0, 3); s ~ normal(0, 2); L ~ lkj_corr_cholesky(2); {statement}
                      for (n in 1:N) y[n] ~ normal({used}, 1); }}"
        )
    };
    let (rows, used) = ("array[J] vector[2] b;", "b[g[n], 1] + b[g[n], 2] * x[n]");
    check(&with(rows, "b ~ multi_normal_cholesky(m, diag_pre_multiply(s, L));", used), &pairs);
    let covariance = "multi_normal(m, quad_form_diag(multiply_lower_tri_self_transpose(L), s))";
    check(&with(rows, &format!("for (j in 1:J) b[j] ~ {covariance};"), used), &pairs);
    // The elements are parameters of their own, and locations differ.
    let (apart, used) = ("vector[J] b1; vector[J] b2;", "b1[g[n]] + b2[g[n]] * x[n]");
    let statement = "for (j in 1:J) [b1[j], b2[j]]' ~ multi_normal_cholesky(m * u[j], diag_pre_multiply(s, L));";
    check(&with(apart, statement, used), &pairs);
    // In units of their prior, as columns and as rows.
    let pairs = [(EFFECTS, Centering::NonCentered), (EFFECTS, Centering::NonCentered)];
    for (declared, made) in [
        ("matrix[2, J] z;", "(diag_pre_multiply(s, L) * z)'"),
        ("matrix[J, 2] z;", "z * diag_pre_multiply(s, L)'"),
        ("matrix[J, 2] z;", "(diag_pre_multiply(s, L) * z')'"),
    ] {
        let statement = format!("matrix[J, 2] b = rep_matrix(m', J) + {made}; to_vector(z) ~ std_normal();");
        check(&with(declared, &statement, "b[g[n], 1] + b[g[n], 2] * x[n]"), &pairs);
    }
    // The statement has one element twice.
    let twice = "matrix[2, J] b = diag_pre_multiply(s, L) * z; to_vector(z)[{1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}] ~ std_normal();";
    check(&with("matrix[2, J] z;", twice, "b[1, g[n]]"), &[]);
    let none = "b ~ multi_normal_cholesky(m, diag_matrix(rep_vector(1 + square(b[1, 1]), 2)));";
    check(&with(rows, none, "b[g[n], 1]"), &[]);
}

/// A vector times a matrix is a block as a whole, such as a Gaussian process, of any length.
#[test]
fn a_vector_times_a_matrix_is_found() {
    let with = |made: &str, used: &str| {
        format!(
            "parameters {{ real mu; real<lower=0> a; real<lower=0> r; vector[J] z; }}
             transformed parameters {{
                 matrix[J, J] L = cholesky_decompose(add_diag(gp_exp_quad_cov(to_array_1d(u), a, r), 1e-2));
                 vector[J] f = {made};
             }}
             model {{ z ~ std_normal(); mu ~ normal(0, 5); a ~ normal(0, 2); r ~ gamma(25, 4);
                      for (j in 1:J) k[j] ~ poisson_log({used}); y[1:J] ~ normal(f, 1); }}"
        )
    };
    check(&with("L * z", "mu + f[j]"), &[NON_CENTERED]);
    check(&with("mu + L * z", "f[j]"), &[NON_CENTERED]);
    check(&with("mu * u + L * z", "f[j]"), &[NON_CENTERED]);
    check(&with("mu + 2 * diag_pre_multiply(exp(u), L) * z", "f[j]"), &[NON_CENTERED]);
    // The upper triangle.
    check(&with("L' * z", "f[j]"), &[]);
    check(&with("L * z + square(z[1])", "f[j]"), &[]);
    // No factor, multiplied by itself sixty times: each product is looked at once.
    let (_, density) = bound(
        "parameters { real<lower=0> a; vector[J] z; }
         transformed parameters {
             matrix[J, J] K = gp_exp_quad_cov(to_array_1d(u), a, 1.0);
             for (n in 1:60) K = K .* K;
             vector[J] f = K * z;
         }
         model { z ~ std_normal(); y[1:J] ~ normal(f, 1); }",
    );
    assert!(density.effects().is_none());
}

#[test]
fn effects_of_effects_are_found() {
    let nested = format!(
        "parameters {{ {SCALARS} real<lower=0> s; vector[2] m; vector[J] theta; }}
         model {{ m ~ normal(mu, s); s ~ normal(0, 1); theta ~ normal(m[k], tau); {PRIORS} }}"
    );
    check(&nested, &[(2, Centering::Centered), CENTERED]);
    let mixed = format!(
        "parameters {{ {SCALARS} real<lower=0> s; vector[2] m; vector[J] z; }}
         transformed parameters {{ vector[J] theta = m[k] + tau * z; }}
         model {{ m ~ normal(mu, s); s ~ normal(0, 1); z ~ std_normal(); {PRIORS} }}"
    );
    check(&mixed, &[(2, Centering::Centered), NON_CENTERED]);
    let crossed = format!(
        "parameters {{ {SCALARS} real<lower=0> s; vector[2] m; vector[J] theta; }}
         model {{ m ~ normal(0, s); s ~ normal(0, 1); theta ~ normal(mu, tau); mu ~ normal(0, 5); tau ~ normal(0, 2);
                  for (n in 1:N) y[n] ~ normal(theta[g[n]] + m[k[g[n]]] * x[n], 1); }}"
    );
    check(&crossed, &[(2, Centering::Centered), CENTERED]);
}

/// Where all is normal and the scales are given, the coordinates of effects and of their locations are independent and
/// standard normal, if the tops and the precisions are those of the data.
#[test]
fn normal_effects_and_their_locations_are_standard_normal() {
    let two = format!(
        "parameters {{ {SCALARS} vector[J] theta; }}
         model {{ mu ~ normal(1, 5); theta ~ normal(mu + u, tau); y[1:J] ~ normal(theta, exp(u)); }}"
    );
    let three = "parameters { real mu; real<lower=0> tau; real<lower=0> s; vector[2] m; vector[J] z; }
         transformed parameters { vector[J] theta = m[k] - u + tau * z; }
         model { mu ~ normal(1, 5); m ~ normal(mu, s); z ~ std_normal(); y[1:J] ~ normal(theta, exp(u)); }";
    // Locations that are multiples.
    let times = |statement: &str| two.replace("theta ~ normal(mu + u, tau);", statement);
    let ten = times("theta ~ normal(10 * mu, tau);");
    let each = times("for (j in 1:J) theta[j] ~ normal(u[j] - 3 + mu * u[j], tau * u[j]^2);");
    // A vector, whose location is known.
    let vector = "parameters { real<lower=0> a; vector[J] z; }
         transformed parameters { vector[J] theta = u + cholesky_decompose(gp_exponential_cov(to_array_1d(u), a, 1.0)) * z; }
         model { z ~ std_normal(); y[1:J] ~ normal(theta, exp(u)); }";
    for (body, blocks) in [(&two[..], 2), (three, 3), (&ten, 2), (&each, 2), (vector, 1)] {
        let (_, density) = bound(body);
        let effects = density.effects().expect("effects");
        assert_eq!(effects.blocks().len(), blocks);
        assert!(blocks == 1 || effects.blocks().iter().all(|block| block.is_plain == block.parent.is_none()));
        let count = effects.blocks().iter().map(|block| block.coordinates.len()).sum();
        let mut own = EffectCoordinates { links: vec![1.0; count], ..EffectCoordinates::natural(count) };
        let (y, errors) = (numbers(ROWS, 4), numbers(EFFECTS, 5));
        let mut first = 0;
        for block in effects.blocks() {
            let range = first..first + block.coordinates.len();
            first = range.end;
            if block.is_plain {
                own.priors[range.clone()].fill(0.0);
                own.tops[range.clone()].fill(1.0);
                own.precisions[range].fill(1.0 / 25.0);
            } else if range.len() == EFFECTS {
                own.tops[range.clone()].copy_from_slice(&y[..EFFECTS]);
                own.precisions[range].iter_mut().zip(&errors).for_each(|(p, u)| *p = (-2.0 * u).exp());
            }
        }
        let places: Vec<usize> = effects.blocks().iter().flat_map(|block| block.coordinates.clone()).collect();
        for scales in [-4.0, 0.0, 3.0] {
            let mut constant = None;
            for seed in 0..5 {
                let mut x = vec![scales; density.dim()];
                places.iter().zip(numbers(places.len(), seed)).for_each(|(&at, number)| x[at] = 3.0 * number);
                let squares: f64 = places.iter().map(|&at| x[at] * x[at]).sum();
                let rest = effects.logp_grad_in(&own, &x, &mut vec![0.0; x.len()]).expect("a value") + 0.5 * squares;
                near(rest, *constant.get_or_insert(rest));
            }
        }
    }
}

/// What looks like a hierarchy and is none, or none that could be rewritten.
#[test]
fn nothing_else_is_found() {
    let none = |declared: &str, statement: &str| {
        check(&format!("parameters {{ {SCALARS} {declared} }} model {{ {statement} {PRIORS} }}"), &[]);
    };
    let plain = "vector[J] theta;";
    none(plain, "theta ~ normal(0, 5);");
    none(plain, "theta ~ std_normal();");
    none(plain, "theta ~ student_t(4, mu, tau);");
    none(plain, "target += 2 * normal_lpdf(theta | mu, tau);");
    none(plain, "target += log_mix(0.3, normal_lpdf(theta | mu, tau), normal_lpdf(theta | 0, tau));");
    none(plain, "for (j in 1:J) theta[j] ~ normal(mu, tau) T[-5, ];");
    none(plain, "2 * theta ~ normal(mu, tau);");
    none(plain, "theta[{1, 1, 2}] ~ normal(mu, tau);");
    // Each effect's location is the effect before it.
    none(plain, "theta[2:J] ~ normal(theta[1:(J - 1)], tau); theta[1] ~ normal(0, 1);");
    none(plain, "for (j in 2:J) theta[j] ~ normal(theta[j - 1], tau);");
    none(plain, "theta ~ normal(mu, 1 + square(theta[1]));");
    none("vector<lower=0>[J] theta;", "theta ~ normal(mu, tau);");
    none("sum_to_zero_vector[J] theta;", "theta ~ normal(mu, tau);");
    none("ordered[J] theta;", "theta ~ normal(mu, tau);");
    none("vector<lower=1>[J] theta;", "theta ~ lognormal(mu, tau);");
    // Standard normal numbers that are read for more than one scale.
    check(
        &format!(
            "parameters {{ {SCALARS} vector[J] z; }} transformed parameters {{ vector[J] theta = mu + tau * z + square(z); }}
             model {{ z ~ std_normal(); {PRIORS} }}"
        ),
        &[],
    );
}

/// Groups of so many trials with so many successes, of which the last one has no data.
const TRIALS: [f64; 5] = [4.0, 12.0, 40.0, 150.0, 0.0];
const SUCCESSES: [f64; 5] = [3.0, 4.0, 31.0, 70.0, 0.0];

/// The same model in all forms.
fn clinics() -> [(&'static str, StanDensity); 3] {
    let density = |declared: &str, made: &str, statement: &str| {
        let text = format!(
            "data {{ int J; array[J] int n; array[J] int y; }}
             parameters {{ real mu; real<lower=0> tau; {declared} }} transformed parameters {{ {made} }}
             model {{ mu ~ normal(0, 2); tau ~ normal(0, 1.5); {statement} y ~ binomial_logit(n, theta); }}"
        );
        let ints = |numbers: [f64; 5]| numbers.map(|x| x as i64);
        let data = Data::new("clinics").with_int("J", 5).with_ints("n", &ints(TRIALS)).with_ints("y", &ints(SUCCESSES));
        let program = StanProgram::parse("m.stan", &text).expect("a program");
        BoundModel::new(&program, &data).expect("a model").density("m").expect("a density")
    };
    let (theta, prior) = ("vector[J] theta;", "theta ~ normal(mu, tau);");
    [
        ("centered", density(theta, "", prior)),
        ("non-centered", density("vector[J] z;", "vector[J] theta = mu + tau * z;", "z ~ std_normal();")),
        ("affine", density("vector<offset=mu, multiplier=tau>[J] theta;", "", prior)),
    ]
}

/// Means and standard deviations of mu, tau and the effects, by quadrature: given mu and tau the effects are independent.
fn clinics_exactly() -> (Vec<f64>, Vec<f64>) {
    let likelihood = |j: usize, theta: f64| (SUCCESSES[j] * theta - TRIALS[j] * theta.exp().ln_1p()).exp();
    let (mut total, mut sums, mut squares) = (0.0, vec![0.0; 7], vec![0.0; 7]);
    for mu in (0..90).map(|k| -6.0 + k as f64 * 12.0 / 89.0) {
        for tau in (0..90).map(|k| 7.0 * (k as f64 + 0.5) / 90.0) {
            // For each effect the integral of its likelihood, of theta, and of theta^2.
            let moments: Vec<[f64; 3]> = (0..5)
                .map(|j| {
                    let mut own = [0.0; 3];
                    for z in (0..161).map(|k| f64::from(k) * 0.1 - 8.0) {
                        let theta = mu + tau * z;
                        let weight = (-0.5 * z * z).exp() * likelihood(j, theta);
                        [1.0, theta, theta * theta].iter().zip(&mut own).for_each(|(x, sum)| *sum += weight * x);
                    }
                    own
                })
                .collect();
            let prior = (-0.125 * mu * mu - 0.5 * (tau / 1.5).powi(2)).exp();
            let weight = prior * moments.iter().map(|own| own[0]).product::<f64>();
            total += weight;
            let first = [mu, tau].map(|x| [x, x * x]).into_iter();
            let all = first.chain(moments.iter().map(|own| [own[1] / own[0], own[2] / own[0]]));
            for (k, [x, square]) in all.enumerate() {
                sums[k] += weight * x;
                squares[k] += weight * square;
            }
        }
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
    let sds = squares.iter().zip(&means).map(|(square, mean)| (square / total - mean * mean).sqrt()).collect();
    (means, sds)
}

/// Draws of mu, tau and the effects, and how many of them diverged.
fn draws(density: &StanDensity, config: SamplerConfig) -> (Vec<Vec<f64>>, usize) {
    let mut sampler = Sampler::new(density, config).expect("a good start");
    let names = ["mu", "tau", "theta"];
    let variables = &density.layout().variables;
    let place = |name: &str| {
        let at = variables.iter().position(|variable| variable.name == name).expect("a variable");
        variables[..at].iter().map(|variable| variable.len()).sum::<usize>()
    };
    let places: Vec<usize> =
        names[..2].iter().map(|name| place(name)).chain((0..5).map(|j| place("theta") + j)).collect();
    let (mut all, mut divergences) = (Vec::new(), 0);
    while let Some(block) = sampler.advance(usize::MAX).expect("draws") {
        for chain in block.chains.iter().filter(|_| block.phase == Phase::Sampling) {
            divergences += chain.stats.iter().filter(|stats| stats.diverging).count();
            for x in chain.positions.chunks(density.dim()) {
                let mut out = vec![0.0; density.layout().width()];
                density.expand(x, &mut out);
                all.push(places.iter().map(|&place| out[place]).collect());
            }
        }
    }
    (all, divergences)
}

/// However the effects are written, the draws have the moments of quadrature, and no trajectory diverges.
#[test]
fn draws_have_the_moments_of_the_posterior() {
    let (means, sds) = clinics_exactly();
    let check = |name: &str, density: &StanDensity, config: SamplerConfig| {
        let (all, divergences) = draws(density, config);
        for (k, (mean, sd)) in means.iter().zip(&sds).enumerate() {
            let found = all.iter().map(|draw| draw[k]).sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|draw| (draw[k] - found).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((found - mean).abs() < 0.1 * sd, "{name}: mean {k} is {found}, not {mean}");
            assert!((variance.sqrt() / sd - 1.0).abs() < 0.1, "{name}: sd {k} is {}, not {sd}", variance.sqrt());
        }
        divergences
    };
    let config = SamplerConfig { chains: 4, tune: 500, draws: 1500, seed: 3, ..SamplerConfig::default() };
    for (name, density) in &clinics() {
        assert_eq!(check(name, density, config.clone()), 0, "{name}");
        let fixed = SamplerConfig { parameterization: Parameterization::NonCentered, ..config.clone() };
        check("non-centered", density, fixed);
    }
    let many =
        SamplerConfig { strategy: Strategy::ManyShort, chains: 128, superchains: 16, tune: 300, draws: 40, ..config };
    check("many short chains", &clinics()[0].1, many);
}

/// What is learned is in the checkpoint: a run that is taken up anywhere has the same bits.
#[test]
fn runs_are_taken_up_to_the_same_bits() {
    let [(_, density), ..] = clinics();
    let config = SamplerConfig { chains: 2, tune: 300, draws: 50, seed: 8, ..SamplerConfig::default() };
    let whole = |stops: &[usize]| {
        let mut sampler = Sampler::new(&density, config.clone()).expect("a good start");
        let mut all: Vec<u64> = Vec::new();
        let mut learned = 0;
        for &stop in stops.iter().chain(&[usize::MAX]) {
            while sampler.done() < stop {
                let Some(block) = sampler.advance(stop - sampler.done()).expect("draws") else { break };
                all.extend(block.chains.iter().flat_map(|chain| &chain.positions).map(|x| x.to_bits()));
            }
            learned += usize::from(sampler.adaptation().centerings.contains(&Centering::Standardised));
            let bytes = sampler.checkpoint().expect("a checkpoint");
            sampler =
                Sampler::begin(&density, Begin::GoOn(bytes), octopus_sampler::Backend::Cpu).expect("the same run");
        }
        assert!(learned > 0, "nothing was learned");
        all.sort_unstable();
        all
    };
    assert_eq!(whole(&[]), whole(&[40, 130, 220, 301, 333]));
}
