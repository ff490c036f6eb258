//! Distributions on all numbers.

use super::symbol::Symbol;
use super::tail::Tails;
use super::{Distribution, incomplete, is_data, of_arguments, row};
use std::f64::consts::{FRAC_1_PI, LN_2};

/// ln(2 pi) / 2
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;
/// ln(pi)
pub(super) const LN_PI: f64 = 1.144_729_885_849_400_2;

fn minus_half_square(z: Symbol<'_>) -> Symbol<'_> {
    -0.5 * z.square()
}

/// ln of 1/2 + atan(z) / pi, Cauchy's distribution function, which is -1 / (pi z) far out.
fn ln_cauchy(z: Symbol<'_>) -> Symbol<'_> {
    let border = z.number(-1.0);
    let far = -z.min(border);
    let (near, far) = (0.5 + FRAC_1_PI * z.max(border).atan(), FRAC_1_PI * (1.0 / far).atan());
    z.below(border).select(far, near).ln()
}

/// ln of Laplace's distribution function.
fn ln_laplace(z: Symbol<'_>) -> Symbol<'_> {
    let zero = z.number(0.0);
    let above = (-0.5 * (-z.max(zero)).exp()).ln_1p();
    z.below(zero).select(z.min(zero) - LN_2, above)
}

/// The logarithm of the probability up to y of a normal variate plus an exponential one, in units of the normal one's deviation.
fn ln_exp_mod_normal<'a>(z: Symbol<'a>, rate: Symbol<'a>) -> Symbol<'a> {
    z.ln_phi().log_diff_exp(ln_exponential_part(z, rate))
}

/// ln of e^(rate^2 / 2 - rate z) Phi(z - rate)
fn ln_exponential_part<'a>(z: Symbol<'a>, rate: Symbol<'a>) -> Symbol<'a> {
    rate * (0.5 * rate - z) + (z - rate).ln_phi()
}

/// ln of the skewed Laplace distribution's probability below: tau e^(2 (1 - tau) z) at the left of its location.
fn skew_laplace_below<'a>(z: Symbol<'a>, tau: Symbol<'a>) -> Symbol<'a> {
    let zero = z.number(0.0);
    let left = tau.ln() + 2.0 * (1.0 - tau) * z.min(zero);
    let right = (-(1.0 - tau) * (-2.0 * tau * z.max(zero)).exp()).ln_1p();
    z.below(zero).select(left, right)
}

pub(super) const ROWS: &[Distribution] = &[
    row!(std_normal (y: Real) = [minus_half_square(y), y.number(-HALF_LN_TAU)]; below y.ln_phi(), above (-y).ln_phi()),
    row!(normal (y: Real, mu: Real, sigma: Positive) =
        [minus_half_square((y - mu) / sigma), -sigma.ln(), y.number(-HALF_LN_TAU)];
        below ((y - mu) / sigma).ln_phi(), above ((mu - y) / sigma).ln_phi()),
    row!(student_t (y: Real, nu: Positive, mu: Real, sigma: Positive) = [
        -(0.5 * nu + 0.5) * (((y - mu) / sigma).square() / nu).ln_1p(),
        -sigma.ln(),
        (0.5 * nu + 0.5).ln_gamma() - (0.5 * nu).ln_gamma() - 0.5 * nu.ln(),
        y.number(-0.5 * LN_PI),
    ]; tails Tails::Series { of_data: incomplete::student_t, by_counts: None }),
    row!(cauchy (y: Real, mu: Real, sigma: Positive) =
        [-((y - mu) / sigma).square().ln_1p(), -sigma.ln(), y.number(-LN_PI)];
        below ln_cauchy((y - mu) / sigma), above ln_cauchy((mu - y) / sigma)),
    row!(double_exponential (y: Real, mu: Real, sigma: Positive) =
        [-((y - mu).abs() / sigma), -sigma.ln(), y.number(-LN_2)];
        below ln_laplace((y - mu) / sigma), above ln_laplace((mu - y) / sigma)),
    row!(logistic (y: Real, mu: Real, sigma: Positive) = [
        {
            let z = (mu - y) / sigma;
            z - 2.0 * z.softplus()
        },
        -sigma.ln(),
    ]; below -((mu - y) / sigma).softplus(), above -((y - mu) / sigma).softplus()),
    row!(gumbel (y: Real, mu: Real, beta: Positive) = [
        {
            let z = (mu - y) / beta;
            z - z.exp()
        },
        -beta.ln(),
    ]; below -((mu - y) / beta).exp(), above (-((mu - y) / beta).exp()).ln_1m_exp()),
    row!(skew_normal (y: Real, xi: Real, omega: Positive, alpha: Real) = [
        minus_half_square((y - xi) / omega),
        -omega.ln(),
        (alpha * ((y - xi) / omega)).ln_phi(),
        y.number(LN_2 - HALF_LN_TAU),
    ]),
    row!(exp_mod_normal (y: Real, mu: Real, sigma: Positive, lambda: Positive) = [
        lambda.ln(),
        ln_exponential_part((y - mu) / sigma, lambda * sigma),
    ]; below ln_exp_mod_normal((y - mu) / sigma, lambda * sigma),
        above ((mu - y) / sigma).ln_phi().log_sum_exp(ln_exponential_part((y - mu) / sigma, lambda * sigma))),
    row!(skew_double_exponential (y: Real, mu: Real, sigma: Positive, tau: Unit) = [
        {
            let (z, zero) = ((y - mu) / sigma, y.number(0.0));
            -2.0 * z.below(zero).select((tau - 1.0) * z, tau * z)
        },
        LN_2 + tau.ln() + tau.ln_1m(),
        -sigma.ln(),
    ]; below skew_laplace_below((y - mu) / sigma, tau), above skew_laplace_below((mu - y) / sigma, 1.0 - tau)),
    row!(von_mises (y: Real, mu: Real, kappa: Positive) = [
        -2.0 * kappa * (0.5 * (y - mu)).sin().square(),
        -kappa.ln_bessel(),
        y.number(-LN_2 - LN_PI),
    ]),
];
