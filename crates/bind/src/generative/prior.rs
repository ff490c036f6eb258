//! Priors over a part of their distribution's support: which bounds hold while a parameter is drawn.
//!
//! A bound cuts a prior off. Where what it cuts off is the same for all values of other parameters, draws between the bounds
//! are right. Where it is not, as in `x ~ normal(mu, 1)` for a positive x and a parameter mu, the joint density favours
//! values of mu that leave more: then nothing is cut here, and a draw of all parameters outside of a bound is thrown away.

use super::sampling::Sampling;
use octopus_stan::{Constraint, Declaration, Expression, ExpressionKind, StanProgram};

/// What a parameter's draws obey.
#[derive(Clone, Debug, Default)]
pub(super) struct PriorBounds {
    pub(super) lower: Option<Expression>,
    pub(super) upper: Option<Expression>,
    /// Whether the elements are equal in distribution, and are put in order.
    pub(super) is_sorted: bool,
}

/// Distributions that are symmetrical about one argument, with its place behind the variate.
const SYMMETRICAL: [(&str, usize); 5] =
    [("normal", 0), ("cauchy", 0), ("double_exponential", 0), ("logistic", 0), ("student_t", 1)];

/// The bounds between which a parameter can be drawn by its statement alone; all of them, where the other parameters are given.
pub(super) fn known_bounds(
    program: &StanProgram,
    declaration: &Declaration,
    sampling: &Sampling<'_>,
    is_given: bool,
) -> PriorBounds {
    let arguments = sampling.density.arguments.get(1..).unwrap_or_default();
    let zero = || Expression {
        kind: ExpressionKind::Real(0.0),
        ty: octopus_stan::StanType::REAL,
        is_data: true,
        span: sampling.variate.span,
    };
    // A bound for each element is not one of an element's alone.
    let is_whole = sampling.indices.is_empty() && !sampling.is_unrolled;
    let fits = |bound: &Expression| bound.ty.is_scalar() || is_whole;
    let (lower, upper) = match &declaration.constraint {
        Constraint::Lower(lower) => (Some(lower.clone()), None),
        Constraint::Upper(upper) => (None, Some(upper.clone())),
        Constraint::LowerUpper(lower, upper) => (Some(lower.clone()), Some(upper.clone())),
        Constraint::PositiveOrdered => (Some(zero()), None),
        _ => (None, None),
    };
    let (lower, upper) = (lower.filter(fits), upper.filter(fits));
    let are_data = arguments.iter().chain(&lower).chain(&upper).all(|one| one.is_data);
    let is_half = || {
        let bound = match (&lower, &upper) {
            (Some(bound), None) | (None, Some(bound)) => bound,
            _ => return false,
        };
        if sampling.base() == "std_normal" {
            return number(bound) == Some(0.0);
        }
        let place = SYMMETRICAL.iter().find(|(name, _)| *name == sampling.base()).map(|(_, place)| *place);
        place.and_then(|place| arguments.get(place)).is_some_and(|location| same(program, location, bound))
    };
    let is_ordered = matches!(declaration.constraint, Constraint::Ordered | Constraint::PositiveOrdered);
    let is_vector = sampling.variate.ty == octopus_stan::StanType::VECTOR;
    let is_sorted = is_ordered && is_vector && arguments.iter().all(|argument| argument.ty.is_scalar());
    match are_data || is_given || is_half() {
        true => PriorBounds { lower, upper, is_sorted },
        false => PriorBounds { is_sorted, ..PriorBounds::default() },
    }
}

/// Distributions of positive numbers, or of counts from 0 on.
const FROM_ZERO: [&str; 17] = [
    "lognormal",
    "chi_square",
    "inv_chi_square",
    "scaled_inv_chi_square",
    "exponential",
    "gamma",
    "inv_gamma",
    "weibull",
    "frechet",
    "rayleigh",
    "loglogistic",
    "poisson",
    "poisson_log",
    "neg_binomial",
    "neg_binomial_2",
    "neg_binomial_2_log",
    "poisson_log_glm",
];
/// Distributions over 0 and 1, or what lies between.
const UNIT: [&str; 5] = ["bernoulli", "bernoulli_logit", "bernoulli_logit_glm", "beta", "beta_proportion"];
/// Distributions whose largest value the program gives, as it gives bounds.
const UP_TO_A_SIZE: [&str; 9] = [
    "binomial",
    "binomial_logit",
    "binomial_logit_glm",
    "beta_binomial",
    "categorical",
    "categorical_logit",
    "categorical_logit_glm",
    "ordered_logistic",
    "ordered_probit",
];

/// Whether draws of data are inside of the bounds of their declaration, as far as names tell.
pub(super) fn stays_inside(program: &StanProgram, declaration: &Declaration, sampling: &Sampling<'_>) -> bool {
    let base = sampling.base();
    let is = |bound: &Expression, x: f64| number(bound) == Some(x);
    let is_truncated = |bound: &Expression, at: Option<&Expression>| at.is_some_and(|at| same(program, bound, at));
    match &declaration.constraint {
        Constraint::None => true,
        Constraint::Lower(lower) => {
            let from_zero = [&FROM_ZERO[..], &UNIT, &UP_TO_A_SIZE].iter().any(|names| names.contains(&base));
            is(lower, 0.0) && from_zero || is_truncated(lower, sampling.lower)
        }
        Constraint::Upper(upper) => is_truncated(upper, sampling.upper),
        Constraint::LowerUpper(lower, upper) => {
            UP_TO_A_SIZE.contains(&base)
                || UNIT.contains(&base) && is(lower, 0.0) && is(upper, 1.0)
                || is_truncated(lower, sampling.lower) && is_truncated(upper, sampling.upper)
        }
        // Other constraints of data are not looked at.
        _ => true,
    }
}

/// The number that an expression is, if it is nothing else.
fn number(expression: &Expression) -> Option<f64> {
    match &expression.kind {
        ExpressionKind::Int(x) => Some(f64::from(*x)),
        ExpressionKind::Real(x) => Some(*x),
        ExpressionKind::Promoted(inner) => number(inner),
        _ => None,
    }
}

fn same(program: &StanProgram, a: &Expression, b: &Expression) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => program.text(a.span) == program.text(b.span),
        _ => false,
    }
}
