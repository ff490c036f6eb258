//! Draws of vectors, and of categories given vectors.

use super::{DrawMany, DrawParameter, Drawn, chi_square, log_gamma, positive, size};
use octopus_random::Stream;
use octopus_random::counts::binomial;
use octopus_random::exact::{exp, inv_logit, ln, phi};

pub(super) fn generator(name: &str) -> Option<DrawMany> {
    Some(match name {
        "categorical" => |random, x| one(category(random, simplex("theta", x[0].values)?)),
        "categorical_logit" => |random, x| one(category(random, &softmax(x[0].values)?)),
        "ordered_logistic" => |random, x| one(ordered(random, x, inv_logit)?),
        "ordered_probit" => |random, x| one(ordered(random, x, phi)?),
        "multinomial" => |random, x| multinomial(random, simplex("theta", x[0].values)?, x[1].values[0]),
        "multinomial_logit" => |random, x| multinomial(random, &softmax(x[0].values)?, x[1].values[0]),
        "dirichlet" => |random, x| {
            let theta = dirichlet(random, x[0].values)?;
            Ok((theta, x[0].dims.to_vec()))
        },
        "dirichlet_multinomial" => |random, x| {
            let theta = dirichlet(random, x[0].values)?;
            multinomial(random, &theta, x[1].values[0])
        },
        "multi_normal" => |random, x| rows(random, x[0], &cholesky(x[1])?, None),
        "multi_normal_cholesky" => |random, x| rows(random, x[0], x[1].values, None),
        "multi_student_t" => |random, x| rows(random, x[1], &cholesky(x[2])?, Some(positive("nu", x[0].values[0])?)),
        "multi_student_t_cholesky" => {
            |random, x| rows(random, x[1], x[2].values, Some(positive("nu", x[0].values[0])?))
        }
        "bernoulli_logit_glm" => |random, x| bernoulli_logit_glm(random, x),
        "hmm_latent" => |random, x| hidden_states(random, x),
        _ => return None,
    })
}

fn one(x: f64) -> Drawn<(Vec<f64>, Vec<usize>)> {
    Ok((vec![x], Vec::new()))
}

/// Probabilities that must add up to 1.
fn simplex<'a>(name: &str, values: &'a [f64]) -> Drawn<&'a [f64]> {
    let sum: f64 = values.iter().sum();
    let is_simplex = !values.is_empty() && (sum - 1.0).abs() <= 1e-8 && values.iter().all(|&p| p >= 0.0);
    if is_simplex { Ok(values) } else { Err(format!("{name} is not a valid simplex: its elements add up to {sum}")) }
}

fn softmax(logs: &[f64]) -> Drawn<Vec<f64>> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if logs.is_empty() || logs.iter().any(|x| x.is_nan()) || !most.is_finite() {
        return Err("log odds must be finite".into());
    }
    let powers: Vec<f64> = logs.iter().map(|&x| exp(x - most)).collect();
    let sum: f64 = powers.iter().sum();
    Ok(powers.into_iter().map(|power| power / sum).collect())
}

/// The first category, counted from 1, whose cumulative probability is above a uniform number.
fn category(random: &mut Stream, theta: &[f64]) -> f64 {
    let u = random.uniform();
    let mut sum = 0.0;
    let mut last = 1;
    for (k, &p) in theta.iter().enumerate() {
        sum += p;
        if p > 0.0 {
            last = k + 1;
        }
        if u < sum {
            return (k + 1) as f64;
        }
    }
    last as f64
}

/// The category between cut points in which a draw around `eta` falls.
fn ordered(random: &mut Stream, x: &[DrawParameter<'_>], cumulative: fn(f64) -> f64) -> Drawn<f64> {
    let (eta, cuts) = (x[0].values[0], x[1].values);
    if !eta.is_finite() {
        return Err(format!("eta is {eta}, but must be finite"));
    }
    let rises = cuts.windows(2).all(|pair| pair[0] < pair[1]) && cuts.iter().all(|cut| cut.is_finite());
    if cuts.is_empty() || !rises {
        return Err("the cut points must be finite and in ascending order".into());
    }
    let u = random.uniform();
    Ok(1.0 + cuts.iter().filter(|&&cut| u > cumulative(cut - eta)).count() as f64)
}

/// Counts of categories: binomial draws, each among what the ones before have left.
fn multinomial(random: &mut Stream, theta: &[f64], trials: f64) -> Drawn<(Vec<f64>, Vec<usize>)> {
    let mut left = size("N", trials)?;
    let mut rest = 1.0;
    let mut counts = Vec::with_capacity(theta.len());
    for (k, &p) in theta.iter().enumerate() {
        let is_last = k + 1 == theta.len();
        let share = if is_last || rest <= 0.0 { 1.0 } else { (p / rest).min(1.0) };
        let count = if left == 0.0 || (p == 0.0 && !is_last) { 0.0 } else { binomial(random, left, share) };
        counts.push(count);
        left -= count;
        rest -= p;
    }
    Ok((counts, vec![theta.len()]))
}

/// Shares of gamma draws, by their logarithms.
fn dirichlet(random: &mut Stream, alpha: &[f64]) -> Drawn<Vec<f64>> {
    let logs = alpha.iter().map(|&a| log_gamma(random, positive("alpha", a)?)).collect::<Drawn<Vec<f64>>>()?;
    softmax(&logs)
}

/// The Cholesky factor of a covariance matrix.
pub(super) fn cholesky(sigma: DrawParameter<'_>) -> Drawn<Vec<f64>> {
    let &[n, columns] = sigma.dims else { return Err("the covariance must be a matrix".into()) };
    if n != columns {
        return Err(format!("the covariance must be square, not {n} x {columns}"));
    }
    let (a, mut l) = (sigma.values, vec![0.0; n * n]);
    for i in 0..n {
        for j in 0..=i {
            if (a[i * n + j] - a[j * n + i]).abs() > 1e-8 {
                return Err("the matrix is not symmetric".into());
            }
            let rest = (0..j).fold(a[i * n + j], |rest, k| rest - l[i * n + k] * l[j * n + k]);
            l[i * n + j] = if i != j {
                rest / l[j * n + j]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return Err("the matrix is not positive definite".into());
            };
        }
    }
    Ok(l)
}

/// Rows around each location: `mu + L z`, divided by the root of chi-square over its degrees of freedom, if there are any.
fn rows(random: &mut Stream, mu: DrawParameter<'_>, l: &[f64], degrees: Option<f64>) -> Drawn<(Vec<f64>, Vec<usize>)> {
    let n = mu.dims.last().copied().unwrap_or(0);
    if l.len() != n * n {
        return Err(format!("the location has {n} elements, the matrix {}", l.len()));
    }
    let wrong = mu.values.iter().chain(l).find(|x| !x.is_finite());
    if let Some(x) = wrong {
        return Err(format!("an element of the location or of the matrix is {x}, but must be finite"));
    }
    if let Some(k) = (0..n).find(|k| l[k * n + k] <= 0.0) {
        return Err(format!("element {} of the factor's diagonal is {}, but must be positive", k + 1, l[k * n + k]));
    }
    let mut out = Vec::with_capacity(mu.values.len());
    for mu in mu.values.chunks(n.max(1)) {
        let z: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let factor = match degrees {
            Some(nu) => (nu / chi_square(random, nu)?).sqrt(),
            None => 1.0,
        };
        out.extend((0..n).map(|i| mu[i] + factor * (0..=i).fold(0.0, |sum, k| sum + l[i * n + k] * z[k])));
    }
    Ok((out, mu.dims.to_vec()))
}

fn bernoulli_logit_glm(random: &mut Stream, x: &[DrawParameter<'_>]) -> Drawn<(Vec<f64>, Vec<usize>)> {
    let (rows, columns) = match *x[0].dims {
        [rows, columns] => (rows, columns),
        _ => (1, x[0].values.len()),
    };
    let (alpha, beta) = (x[1].values, x[2].values);
    if beta.len() != columns || (alpha.len() != 1 && rows != 1 && alpha.len() != rows) {
        return Err(format!("x is {rows} x {columns}, alpha has {} and beta {} elements", alpha.len(), beta.len()));
    }
    let n = rows.max(alpha.len());
    let mut out = Vec::with_capacity(n);
    for i in 0..n {
        let row = if rows == 1 { 0 } else { i };
        let at = alpha[if alpha.len() == 1 { 0 } else { i }];
        let eta = (0..columns).fold(at, |sum, k| sum + x[0].values[row * columns + k] * beta[k]);
        if !eta.is_finite() {
            return Err(format!("the linear predictor is {eta}, but must be finite"));
        }
        out.push(f64::from(u8::from(random.uniform() < inv_logit(eta))));
    }
    Ok((out, vec![n]))
}

/// The states of a hidden Markov model, given the log densities of the observations in each state: the filter forwards,
/// then draws backwards.
fn hidden_states(random: &mut Stream, x: &[DrawParameter<'_>]) -> Drawn<(Vec<f64>, Vec<usize>)> {
    let &[states, times] = x[0].dims else { return Err("log_omega must be a matrix".into()) };
    let (omega, gamma, rho) = (x[0].values, x[1].values, x[2].values);
    if gamma.len() != states * states || rho.len() != states {
        return Err(format!("there are {states} states, {} transitions and {} starts", gamma.len(), rho.len()));
    }
    simplex("rho", rho)?;
    for row in gamma.chunks(states.max(1)) {
        simplex("a row of Gamma", row)?;
    }
    let mut filters: Vec<Vec<f64>> = Vec::with_capacity(times);
    for t in 0..times {
        let logs: Vec<f64> = (0..states)
            .map(|k| {
                let before = match filters.last() {
                    None => rho[k],
                    Some(last) => (0..states).fold(0.0, |sum, j| sum + last[j] * gamma[j * states + k]),
                };
                ln(before) + omega[k * times + t]
            })
            .collect();
        filters.push(softmax(&logs)?);
    }
    let mut path = vec![0.0; times];
    let mut next: Option<usize> = None;
    for t in (0..times).rev() {
        let weights = match next {
            None => filters[t].clone(),
            Some(next) => {
                let weights: Vec<f64> = (0..states).map(|k| filters[t][k] * gamma[k * states + next]).collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|weight| weight / sum).collect()
            }
        };
        path[t] = category(random, &weights);
        next = Some(path[t] as usize - 1);
    }
    Ok((path, vec![times]))
}
