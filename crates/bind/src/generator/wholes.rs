//! Draws of one whole number.

use super::reals::beta;
use super::{DrawNumber, Drawn, finite, positive, probability, size, standard_gamma};
use octopus_random::Stream;
use octopus_random::counts::{LARGEST_POISSON_MEAN, binomial, hypergeometric, poisson};
use octopus_random::exact::{exp, exp_m1, inv_logit, ln};

pub(super) fn generator(name: &str) -> Option<DrawNumber> {
    Some(match name {
        "bernoulli" => |random, x| {
            let theta = probability("theta", x[0])?;
            Ok(f64::from(u8::from(random.uniform() < theta)))
        },
        "bernoulli_logit" => |random, x| {
            let theta = inv_logit(finite("the log odds", x[0])?);
            Ok(f64::from(u8::from(random.uniform() < theta)))
        },
        "binomial" => |random, x| Ok(binomial(random, size("N", x[0])?, probability("theta", x[1])?)),
        "beta_binomial" => |random, x| {
            let (trials, a, b) = (size("N", x[0])?, positive("alpha", x[1])?, positive("beta", x[2])?);
            let theta = beta(random, a, b)?;
            Ok(binomial(random, trials, theta))
        },
        "poisson" => |random, x| checked_poisson(random, "lambda", positive("lambda", x[0])?),
        "poisson_log" => |random, x| checked_poisson(random, "exp(alpha)", exp(finite("alpha", x[0])?)),
        "neg_binomial" => |random, x| mixed(random, positive("alpha", x[0])?, 1.0 / positive("beta", x[1])?),
        "neg_binomial_2" => |random, x| {
            let (mu, phi) = (positive("mu", x[0])?, positive("phi", x[1])?);
            mixed(random, phi, mu / phi)
        },
        "neg_binomial_2_log" => |random, x| {
            let (mu, phi) = (exp(finite("eta", x[0])?), positive("phi", x[1])?);
            mixed(random, phi, mu / phi)
        },
        "beta_neg_binomial" => |random, x| {
            let (r, a, b) = (positive("r", x[0])?, positive("alpha", x[1])?, positive("beta", x[2])?);
            let p = beta(random, a, b)?;
            mixed(random, r, (1.0 - p) / p)
        },
        "yule_simon" => |random, x| {
            // Geometric, with the probability e^-w, w exponential with rate alpha.
            let w = -ln(random.uniform()) / positive("alpha", x[0])?;
            let log_failure = ln(-exp_m1(-w));
            let count = 1.0 + (ln(random.uniform()) / log_failure).floor();
            if count <= f64::from(i32::MAX) { Ok(count) } else { Err(format!("the draw {count} is no integer")) }
        },
        "discrete_range" => |random, x| {
            let (lower, upper) = (x[0], x[1]);
            if lower > upper {
                return Err(format!("the upper bound is {upper}, but must not be below the lower one, {lower}"));
            }
            Ok((lower + ((upper - lower + 1.0) * random.uniform()).floor()).min(upper))
        },
        "hypergeometric" => |random, x| {
            let (drawn, white, black) = (size("N", x[0])?, size("a", x[1])?, size("b", x[2])?);
            if drawn > white + black {
                return Err(format!("N is {drawn}, but must not be above a + b, {}", white + black));
            }
            Ok(hypergeometric(random, drawn as u32, white as u32, black as u32))
        },
        _ => return None,
    })
}

/// A draw whose mean is below Stan's limit, 2^30.
fn checked_poisson(random: &mut Stream, name: &str, mean: f64) -> Drawn<f64> {
    if mean < LARGEST_POISSON_MEAN {
        Ok(poisson(random, mean))
    } else {
        Err(format!("{name} is {mean}, but must be less than {LARGEST_POISSON_MEAN}"))
    }
}

/// A negative binomial draw: Poisson, with a gamma distribution of this shape and scale for its mean.
fn mixed(random: &mut Stream, shape: f64, scale: f64) -> Drawn<f64> {
    let mean = standard_gamma(random, shape)? * scale;
    checked_poisson(random, "the mean that was drawn", mean)
}
