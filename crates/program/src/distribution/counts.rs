//! Distributions of counts. Variates and numbers of trials are data.

use super::symbol::Symbol;
use super::tail::Tails;
use super::{Distribution, is_data, of_arguments, row};

/// One logarithm for each row, or two for all rows; never the logarithm of a probability that is not meant, which may be 0.
fn bernoulli<'a>(y: Symbol<'a>, theta: Symbol<'a>) -> Symbol<'a> {
    let all = |x: f64| y.known().is_some_and(|values| values.iter().all(|&y| y == x));
    match theta.len() {
        1 if all(1.0) => theta.ln(),
        1 if all(0.0) => theta.ln_1m(),
        1 => y.select(theta.ln(), theta.ln_1m()),
        _ => y.select(theta, 1.0 - theta).ln(),
    }
}

/// `at_zero` for a y of 0, else the number below or the number above.
fn bernoulli_tail<'a>(y: Symbol<'a>, at_zero: Symbol<'a>, [less, more]: [f64; 2]) -> Symbol<'a> {
    let [zero, one, less, more] = [0.0, 1.0, less, more].map(|x| y.number(x));
    y.below(zero).select(less, y.below(one).select(at_zero, more))
}

/// ln of the binomial coefficient of counts, minus infinity where it is 0: ln Gamma has poles there.
fn ln_choose<'a>(n: Symbol<'a>, k: Symbol<'a>) -> Symbol<'a> {
    (n + 1.0).ln_gamma() - (k + 1.0).ln_gamma() - (n - k + 1.0).ln_gamma()
}

/// ln B(a, b)
fn ln_beta<'a>(a: Symbol<'a>, b: Symbol<'a>) -> Symbol<'a> {
    a.ln_gamma() + b.ln_gamma() - (a + b).ln_gamma()
}

/// Terms of the logarithm of Gamma(y + size) / (y! Gamma(size)).
fn rising<'a>(y: Symbol<'a>, size: Symbol<'a>) -> [Symbol<'a>; 2] {
    [(y + size).ln_gamma() - size.ln_gamma(), -(y + 1.0).ln_gamma()]
}

/// The logarithm of the probability of more than n, n B(n, alpha + 1); 0 for n below 1.
fn yule_simon_above<'a>(n: Symbol<'a>, alpha: Symbol<'a>) -> Symbol<'a> {
    let one = n.number(1.0);
    let from_one = n.max(one);
    n.below(one).select(n.number(0.0), from_one.ln() + ln_beta(from_one, alpha + 1.0))
}

pub(super) const ROWS: &[Distribution] = &[
    row!(bernoulli (y: Binary data, theta: Unit) = [bernoulli(y, theta)];
        below bernoulli_tail(y, theta.ln_1m(), [f64::NEG_INFINITY, 0.0]),
        above bernoulli_tail(y, theta.ln(), [0.0, f64::NEG_INFINITY])),
    row!(bernoulli_logit (y: Binary data, alpha: Real) = [y * alpha - alpha.softplus()]),
    row!(binomial (n: Count data, trials: Count data, theta: Unit) = [
        n.times_ln(theta),
        (trials - n).times_log(theta.ln_1m()),
        ln_choose(trials, n),
    ]; tails Tails::Sum { most: Some(1) }),
    row!(binomial_logit (n: Count data, trials: Count data, alpha: Real) =
        [n * alpha - trials * alpha.softplus(), ln_choose(trials, n)]),
    row!(poisson (n: Count data, lambda: NotNegative) = [n.times_ln(lambda), -lambda, -(n + 1.0).ln_gamma()];
        tails Tails::Sum { most: None }),
    row!(poisson_log (n: Count data, alpha: Real) = [n * alpha, -alpha.exp(), -(n + 1.0).ln_gamma()]),
    row!(neg_binomial (n: Count data, alpha: Positive, beta: Positive) = {
        let [gammas, factorial] = rising(n, alpha);
        vec![gammas, factorial, -alpha * (1.0 / beta).ln_1p(), -n.times_log(beta.ln_1p())]
    }; tails Tails::Sum { most: None }),
    row!(neg_binomial_2 (n: Count data, mu: Positive, phi: Positive) = {
        let [gammas, factorial] = rising(n, phi);
        vec![-n.times_log((phi / mu).ln_1p()), -phi * (mu / phi).ln_1p(), gammas, factorial]
    }; tails Tails::Sum { most: None }),
    row!(neg_binomial_2_log (n: Count data, eta: Real, phi: Positive) = {
        let ([gammas, factorial], ratio) = (rising(n, phi), eta - phi.ln());
        vec![-n.times_log((-ratio).softplus()), -phi * ratio.softplus(), gammas, factorial]
    }),
    row!(beta_binomial (n: Count data, trials: Count data, alpha: Positive, beta: Positive) = [
        ln_beta(n + alpha, trials - n + beta),
        -ln_beta(alpha, beta),
        ln_choose(trials, n),
    ]; tails Tails::Sum { most: Some(1) }),
    row!(beta_neg_binomial (n: Count data, r: Positive, alpha: Positive, beta: Positive) = {
        let [gammas, factorial] = rising(n, r);
        vec![gammas, factorial, ln_beta(beta + n, alpha + r), -ln_beta(beta, alpha)]
    }; tails Tails::Sum { most: None }),
    row!(yule_simon (n: Count data, alpha: Positive) = {
        let one = n.number(1.0);
        vec![alpha.ln(), ln_beta(n.max(one), alpha + 1.0), n.between(one, n.number(f64::INFINITY))]
    }; below yule_simon_above(n, alpha).ln_1m_exp(), above yule_simon_above(n, alpha)),
    row!(hypergeometric (n: Count data, draws: Count data, a: Count data, b: Count data) =
        [ln_choose(a, n), ln_choose(b, draws - n), -ln_choose(a + b, draws)]),
    row!(discrete_range (y: Whole data, lower: Whole data, upper: Whole data) =
        [-(upper - lower + 1.0).ln(), y.between(lower, upper)];
        below ((y - lower + 1.0) / (upper - lower + 1.0)).ln(), above ((upper - y) / (upper - lower + 1.0)).ln()),
];
