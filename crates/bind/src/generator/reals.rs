//! Draws of one real number.

use super::{DrawNumber, Drawn, chi_square, finite, positive, probability, standard_gamma};
use octopus_random::exact::{cos, exp, exp_m1, ln, logit, pow, sin};
use octopus_random::{Beta, Stream, StudentT, VonMises};
use std::f64::consts::{PI, TAU};

pub(super) fn generator(name: &str) -> Option<DrawNumber> {
    Some(match name {
        "std_normal" => |random, _| Ok(random.normal()),
        "normal" => |random, x| normal(random, x[0], x[1]),
        "lognormal" => |random, x| Ok(exp(normal(random, x[0], x[1])?)),
        "student_t" => |random, x| {
            let (df, loc, scale) = (positive("nu", x[0])?, finite("mu", x[1])?, positive("sigma", x[2])?);
            let t = StudentT::new(df, loc, scale).map_err(|error| error.to_string())?;
            Ok(t.draw_from(random))
        },
        "cauchy" => |random, x| {
            let (mu, sigma) = loc_scale(x)?;
            // tan at pi (u - 1/2) without its pole.
            let angle = PI * random.uniform();
            Ok(mu - sigma * cos(angle) / sin(angle))
        },
        "double_exponential" => |random, x| {
            let (mu, sigma) = loc_scale(x)?;
            let u = random.uniform();
            Ok(if u < 0.5 { mu + sigma * ln(2.0 * u) } else { mu - sigma * ln(2.0 * (1.0 - u)) })
        },
        "logistic" => |random, x| {
            let (mu, sigma) = loc_scale(x)?;
            Ok(mu + sigma * logit(random.uniform()))
        },
        "gumbel" => |random, x| {
            let (mu, beta) = (finite("mu", x[0])?, positive("beta", x[1])?);
            Ok(mu - beta * ln(exponential(random)))
        },
        "skew_normal" => |random, x| {
            let (xi, omega, alpha) = (finite("xi", x[0])?, positive("omega", x[1])?, finite("alpha", x[2])?);
            // Azzalini (1985): the share of a half normal.
            let root = (1.0 + alpha * alpha).sqrt();
            let (half, other) = (random.normal().abs(), random.normal());
            Ok(xi + omega * (alpha / root * half + other / root))
        },
        "skew_double_exponential" => |random, x| {
            let (mu, sigma, tau) = (finite("mu", x[0])?, positive("sigma", x[1])?, probability("tau", x[2])?);
            let is_below = random.uniform() < tau;
            let size = 0.5 * sigma * exponential(random);
            Ok(if is_below { mu - size / (1.0 - tau) } else { mu + size / tau })
        },
        "exp_mod_normal" => |random, x| {
            let lambda = positive("lambda", x[2])?;
            Ok(normal(random, x[0], x[1])? + exponential(random) / lambda)
        },
        "von_mises" => |random, x| {
            let (mu, kappa) = (finite("mu", x[0])?, positive("kappa", x[1])?);
            let around = VonMises::new(0.0, kappa).map_err(|error| error.to_string())?;
            Ok(mu % TAU + around.draw_from(random))
        },
        "uniform" => |random, x| {
            let (alpha, beta) = (finite("alpha", x[0])?, finite("beta", x[1])?);
            if alpha >= beta {
                return Err(format!("beta is {beta}, but must be greater than alpha, {alpha}"));
            }
            Ok(alpha + (beta - alpha) * random.uniform())
        },
        "beta" => |random, x| beta(random, positive("alpha", x[0])?, positive("beta", x[1])?),
        "beta_proportion" => |random, x| {
            let (mu, kappa) = (x[0], positive("kappa", x[1])?);
            if !(mu > 0.0 && mu < 1.0) {
                return Err(format!("mu is {mu}, but must be between 0 and 1"));
            }
            beta(random, mu * kappa, (1.0 - mu) * kappa)
        },
        other => return above_zero(other),
    })
}

/// Distributions over positive numbers.
fn above_zero(name: &str) -> Option<DrawNumber> {
    Some(match name {
        "exponential" => |random, x| {
            let beta = positive("beta", x[0])?;
            Ok(exponential(random) / beta)
        },
        "gamma" => |random, x| {
            let (alpha, beta) = (positive("alpha", x[0])?, positive("beta", x[1])?);
            Ok(standard_gamma(random, alpha)? / beta)
        },
        "inv_gamma" => |random, x| {
            let (alpha, beta) = (positive("alpha", x[0])?, positive("beta", x[1])?);
            Ok(beta / standard_gamma(random, alpha)?)
        },
        "chi_square" => |random, x| chi_square(random, positive("nu", x[0])?),
        "inv_chi_square" => |random, x| Ok(1.0 / chi_square(random, positive("nu", x[0])?)?),
        "scaled_inv_chi_square" => |random, x| {
            let (nu, sigma) = (positive("nu", x[0])?, positive("sigma", x[1])?);
            Ok(nu * sigma * sigma / chi_square(random, nu)?)
        },
        "rayleigh" => |random, x| {
            let sigma = positive("sigma", x[0])?;
            Ok(sigma * (2.0 * exponential(random)).sqrt())
        },
        "weibull" => |random, x| {
            let (alpha, sigma) = (positive("alpha", x[0])?, positive("sigma", x[1])?);
            Ok(sigma * pow(exponential(random), 1.0 / alpha))
        },
        "frechet" => |random, x| {
            let (alpha, sigma) = (positive("alpha", x[0])?, positive("sigma", x[1])?);
            Ok(sigma * pow(exponential(random), -1.0 / alpha))
        },
        "loglogistic" => |random, x| {
            let (alpha, beta) = (positive("alpha", x[0])?, positive("beta", x[1])?);
            Ok(alpha * exp(logit(random.uniform()) / beta))
        },
        "pareto" => |random, x| {
            let (least, alpha) = (positive("y_min", x[0])?, positive("alpha", x[1])?);
            Ok(least * exp(exponential(random) / alpha))
        },
        "pareto_type_2" => |random, x| {
            let (mu, lambda, alpha) = (finite("mu", x[0])?, positive("lambda", x[1])?, positive("alpha", x[2])?);
            Ok(mu + lambda * exp_m1(exponential(random) / alpha))
        },
        _ => return None,
    })
}

fn loc_scale(x: &[f64]) -> Drawn<(f64, f64)> {
    Ok((finite("mu", x[0])?, positive("sigma", x[1])?))
}

fn normal(random: &mut Stream, mu: f64, sigma: f64) -> Drawn<f64> {
    let (mu, sigma) = loc_scale(&[mu, sigma])?;
    Ok(mu + sigma * random.normal())
}

/// A draw of the exponential distribution with rate 1.
fn exponential(random: &mut Stream) -> f64 {
    -ln(random.uniform())
}

pub(super) fn beta(random: &mut Stream, a: f64, b: f64) -> Drawn<f64> {
    let beta = Beta::new(a, b).map_err(|error| error.to_string())?;
    Ok(beta.draw_from(random))
}
