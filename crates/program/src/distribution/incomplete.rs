//! The incomplete gamma and beta functions, and the tails that are made of them: by series and continued fractions, for
//! data only, since the slopes with respect to shapes are missing.

use octopus_random::exact;
use std::f64::consts::LN_2;

/// Terms of a series or of a continued fraction at the most.
const MOST_TERMS: u32 = 10_000;
/// When the next factor or term no longer counts.
const ENOUGH: f64 = 1e-17;
/// In the place of 0 in a continued fraction.
const TINY: f64 = 1e-300;

fn away_from_zero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// A continued fraction with 1 before it, by Lentz: `term(m)` has the numerator and the denominator of level m.
fn continued_fraction(first: f64, term: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut value = away_from_zero(first);
    let (mut c, mut d) = (value, 0.0);
    for m in 1..MOST_TERMS {
        let (above, below) = term(f64::from(m));
        d = 1.0 / away_from_zero(below + above * d);
        c = away_from_zero(below + above / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// A logarithm of a probability, and of the rest.
fn with_rest(log: f64, is_below: bool) -> [f64; 2] {
    let rest = exact::log1m_exp(log.min(0.0));
    if is_below { [log, rest] } else { [rest, log] }
}

/// ln P(a, x) and ln Q(a, x), the regularised incomplete gamma functions.
pub(super) fn ln_gamma_shares(a: f64, x: f64) -> [f64; 2] {
    if x <= 0.0 {
        return [f64::NEG_INFINITY, 0.0];
    }
    if x == f64::INFINITY {
        return [0.0, f64::NEG_INFINITY];
    }
    let scale = a * exact::ln(x) - x - exact::ln_gamma(a);
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MOST_TERMS {
            term *= x / (a + f64::from(k));
            sum += term;
            if term < sum * ENOUGH {
                break;
            }
        }
        return with_rest(scale + exact::ln(sum), true);
    }
    let fraction = continued_fraction(x + 1.0 - a, |m| (m * (a - m), x + 2.0 * m + 1.0 - a));
    with_rest(scale - exact::ln(fraction), false)
}

/// ln I_x(a, b) and ln(1 - I_x(a, b)), the regularised incomplete beta functions; `rest` is 1 - x.
pub(super) fn ln_beta_shares(a: f64, b: f64, x: f64, rest: f64) -> [f64; 2] {
    if x <= 0.0 {
        return [f64::NEG_INFINITY, 0.0];
    }
    if rest <= 0.0 {
        return [0.0, f64::NEG_INFINITY];
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        let [above, below] = ln_beta_shares(b, a, rest, x);
        return [below, above];
    }
    let scale = a * exact::ln(x) + b * exact::ln(rest) - exact::lbeta(a, b) - exact::ln(a);
    let fraction = continued_fraction(1.0, |level| {
        let m = (level / 2.0).floor();
        let numerator = if level % 2.0 == 0.0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        (numerator, 1.0)
    });
    with_rest(scale - exact::ln(fraction), true)
}

fn swapped([a, b]: [f64; 2]) -> [f64; 2] {
    [b, a]
}

pub(super) fn student_t(x: &[f64]) -> [f64; 2] {
    let &[y, nu, mu, sigma] = x else { return [f64::NAN; 2] };
    let z = (y - mu) / sigma;
    let square = z * z;
    // Half of the probability that is further out than |z|.
    let [far, _] = ln_beta_shares(0.5 * nu, 0.5, nu / (nu + square), square / (nu + square));
    with_rest(far - LN_2, z < 0.0)
}

pub(super) fn gamma(x: &[f64]) -> [f64; 2] {
    let &[y, alpha, beta] = x else { return [f64::NAN; 2] };
    ln_gamma_shares(alpha, beta * y)
}

pub(super) fn inv_gamma(x: &[f64]) -> [f64; 2] {
    let &[y, alpha, beta] = x else { return [f64::NAN; 2] };
    if y <= 0.0 { [f64::NEG_INFINITY, 0.0] } else { swapped(ln_gamma_shares(alpha, beta / y)) }
}

pub(super) fn chi_square(x: &[f64]) -> [f64; 2] {
    let &[y, nu] = x else { return [f64::NAN; 2] };
    ln_gamma_shares(0.5 * nu, 0.5 * y)
}

pub(super) fn inv_chi_square(x: &[f64]) -> [f64; 2] {
    let &[y, nu] = x else { return [f64::NAN; 2] };
    inv_gamma(&[y, 0.5 * nu, 0.5])
}

pub(super) fn scaled_inv_chi_square(x: &[f64]) -> [f64; 2] {
    let &[y, nu, s] = x else { return [f64::NAN; 2] };
    inv_gamma(&[y, 0.5 * nu, 0.5 * nu * s * s])
}

pub(super) fn beta(x: &[f64]) -> [f64; 2] {
    let &[y, alpha, beta] = x else { return [f64::NAN; 2] };
    ln_beta_shares(alpha, beta, y, 1.0 - y)
}

pub(super) fn beta_proportion(x: &[f64]) -> [f64; 2] {
    let &[y, mu, kappa] = x else { return [f64::NAN; 2] };
    beta(&[y, mu * kappa, kappa - mu * kappa])
}
