//! Distributions on intervals.

use super::symbol::Symbol;
use super::tail::{Tails, beta_by_counts};
use super::{Distribution, incomplete, is_data, of_arguments, row};

fn beta_terms<'a>(y: Symbol<'a>, a: Symbol<'a>, b: Symbol<'a>, sum: Symbol<'a>) -> Vec<Symbol<'a>> {
    vec![(a - 1.0) * y.ln(), (b - 1.0) * y.ln_1m(), sum.ln_gamma(), -a.ln_gamma(), -b.ln_gamma()]
}

/// The part of an interval that is covered, between 0 and 1.
fn share<'a>(part: Symbol<'a>, whole: Symbol<'a>) -> Symbol<'a> {
    (part / whole).max(part.number(0.0)).min(part.number(1.0))
}

pub(super) const ROWS: &[Distribution] = &[
    row!(uniform (y: Real, alpha: Real, beta: Real) = [-(beta - alpha).ln(), y.between(alpha, beta)];
        below share(y - alpha, beta - alpha).ln(), above share(beta - y, beta - alpha).ln()),
    row!(beta (y: Unit, alpha: Positive, beta: Positive) = beta_terms(y, alpha, beta, alpha + beta);
        tails Tails::Series { of_data: incomplete::beta, by_counts: Some(|args| match *args {
        [y, alpha, beta] => beta_by_counts(y, alpha, beta),
        _ => None,
    }) }),
    row!(beta_proportion (y: Unit, mu: Unit, kappa: Positive) = {
        let alpha = mu * kappa;
        beta_terms(y, alpha, kappa - alpha, kappa)
    }; tails Tails::Series { of_data: incomplete::beta_proportion, by_counts: None }),
];
