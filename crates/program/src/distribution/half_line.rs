//! Distributions on positive numbers, or on numbers above another one.

use super::real_line::HALF_LN_TAU;
use super::symbol::Symbol;
use super::tail::{Tails, gamma_by_counts, inverse_gamma_by_counts};
use super::{Distribution, incomplete, is_data, of_arguments, row};
use std::f64::consts::LN_2;

/// The density of 1 / x where x has a gamma distribution, at a y that may be outside of the support.
fn inverse_gamma<'a>(y: Symbol<'a>, shape: Symbol<'a>, scale: Symbol<'a>) -> Vec<Symbol<'a>> {
    let (y, inside) = y.above(y.number(0.0));
    vec![-(shape + 1.0) * y.ln(), -(scale / y), shape * scale.ln(), -shape.ln_gamma(), inside]
}

/// shape ln(y / scale), which Weibull's distribution is made of.
fn power<'a>(y: Symbol<'a>, shape: Symbol<'a>, scale: Symbol<'a>) -> Symbol<'a> {
    shape * (y / scale).ln()
}

/// The logarithm of the probability beyond y of Pareto's distribution of the second kind.
fn lomax<'a>(y: Symbol<'a>, mu: Symbol<'a>, lambda: Symbol<'a>, alpha: Symbol<'a>) -> Symbol<'a> {
    -alpha * ((y - mu) / lambda).ln_1p()
}

pub(super) const ROWS: &[Distribution] = &[
    row!(lognormal (y: NotNegative, mu: Real, sigma: Positive) = [
        -0.5 * ((y.ln() - mu) / sigma).square(),
        -sigma.ln(),
        -y.ln(),
        y.number(-HALF_LN_TAU),
    ]; below ((y.ln() - mu) / sigma).ln_phi(), above ((mu - y.ln()) / sigma).ln_phi()),
    row!(exponential (y: NotNegative, beta: Positive) = [-(beta * y), beta.ln()];
        below (-(beta * y)).ln_1m_exp(), above -(beta * y)),
    row!(gamma (y: NotNegative, alpha: Positive, beta: Positive) =
        [(alpha - 1.0) * y.ln(), -(beta * y), alpha * beta.ln(), -alpha.ln_gamma()];
        tails Tails::Series { of_data: incomplete::gamma, by_counts: Some(|args| match *args {
        [y, alpha, beta] => gamma_by_counts(alpha, beta * y),
        _ => None,
    }) }),
    row!(inv_gamma (y: Real, alpha: Positive, beta: Positive) = inverse_gamma(y, alpha, beta);
        tails Tails::Series { of_data: incomplete::inv_gamma, by_counts: Some(|args| match *args {
        [y, alpha, beta] => inverse_gamma_by_counts(alpha, beta / y),
        _ => None,
    }) }),
    row!(chi_square (y: NotNegative, nu: Positive) =
        [(0.5 * nu - 1.0) * y.ln(), -0.5 * y, -0.5 * LN_2 * nu, -(0.5 * nu).ln_gamma()];
        tails Tails::Series { of_data: incomplete::chi_square, by_counts: Some(|args| match *args {
        [y, nu] => gamma_by_counts(0.5 * nu, 0.5 * y),
        _ => None,
    }) }),
    row!(inv_chi_square (y: Real, nu: Positive) = inverse_gamma(y, 0.5 * nu, y.number(0.5));
        tails Tails::Series { of_data: incomplete::inv_chi_square, by_counts: Some(|args| match *args {
        [y, nu] => inverse_gamma_by_counts(0.5 * nu, 0.5 / y),
        _ => None,
    }) }),
    row!(scaled_inv_chi_square (y: Real, nu: Positive, s: Positive) = inverse_gamma(y, 0.5 * nu, 0.5 * nu * s.square());
        tails Tails::Series { of_data: incomplete::scaled_inv_chi_square, by_counts: Some(|args| match *args {
        [y, nu, s] => inverse_gamma_by_counts(0.5 * nu, 0.5 * nu * s.square() / y),
        _ => None,
    }) }),
    row!(weibull (y: NotNegative, alpha: Positive, sigma: Positive) = [
        alpha.ln(),
        -sigma.ln(),
        (alpha - 1.0) * (y / sigma).ln(),
        -power(y, alpha, sigma).exp(),
    ]; below (-power(y, alpha, sigma).exp()).ln_1m_exp(), above -power(y, alpha, sigma).exp()),
    row!(frechet (y: Positive, alpha: Positive, sigma: Positive) = [
        alpha.ln(),
        -sigma.ln(),
        -(alpha + 1.0) * (y / sigma).ln(),
        -(-power(y, alpha, sigma)).exp(),
    ]; below -(-power(y, alpha, sigma)).exp(), above (-(-power(y, alpha, sigma)).exp()).ln_1m_exp()),
    row!(rayleigh (y: Positive, sigma: Positive) = [y.ln(), -2.0 * sigma.ln(), -0.5 * (y / sigma).square()];
        below (-0.5 * (y / sigma).square()).ln_1m_exp(), above -0.5 * (y / sigma).square()),
    row!(loglogistic (y: NotNegative, alpha: Positive, beta: Positive) = [
        beta.ln(),
        -alpha.ln(),
        (beta - 1.0) * (y / alpha).ln(),
        -2.0 * power(y, beta, alpha).softplus(),
    ]; below -(-power(y, beta, alpha)).softplus(), above -power(y, beta, alpha).softplus()),
    row!(pareto (y: Positive, y_min: Positive, alpha: Positive) = [
        alpha.ln(),
        alpha * y_min.ln(),
        -(alpha + 1.0) * y.ln(),
        y.between(y_min, y.number(f64::INFINITY)),
    ]; below {
        let ratio = (y_min / y).ln();
        (alpha * ratio.min(y.number(0.0))).ln_1m_exp()
    }, above {
        let ratio = (y_min / y).ln();
        alpha * ratio.min(y.number(0.0))
    }),
    row!(pareto_type_2 (y: Real, mu: Real, lambda: Positive, alpha: Positive) = [
        alpha.ln(),
        -lambda.ln(),
        lomax(y, mu, lambda, alpha + 1.0),
        y.between(mu, y.number(f64::INFINITY)),
    ]; below lomax(y, mu, lambda, alpha).ln_1m_exp(), above lomax(y, mu, lambda, alpha)),
];
