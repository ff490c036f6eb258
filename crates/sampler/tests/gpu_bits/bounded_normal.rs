//! The hierarchical normal with bounds of its rounding errors: the operations of `kernels/nuts/hierarchical_normal.cuh`,
//! vectors in one precision and scalars in another.

use crate::bounded::{Arithmetic, Bounded, exact};
use octopus_density::{Centering, HierarchicalNormal, Likelihood, LogDensity};

/// What the kernels of a precision compute in.
#[derive(Clone, Copy)]
pub(crate) struct Precisions {
    pub(crate) vectors: Arithmetic,
    pub(crate) scalars: Arithmetic,
}

/// The scalars that make a group's factors.
struct Scalars {
    mu: Bounded,
    log_pop: Bounded,
    sigma_pop: Bounded,
}

/// One group's coordinates and what they are multiplied by.
struct Effect {
    slope: Bounded,
    inverse: Bounded,
    /// `(1 - lambda) effect`, and the derivative of the group's mean by `mu_pop`.
    free: Bounded,
    by_location: Bounded,
    lambda: Bounded,
}

/// The log density and the gradient at `x`, which has numbers of the vectors' precision, as have the lambdas.
pub(crate) fn evaluate(
    model: &HierarchicalNormal,
    centering: &Centering,
    Precisions { vectors: r, scalars: t }: Precisions,
    x: &[f64],
) -> (Bounded, Vec<Bounded>) {
    let (prior, groups) = (model.prior(), model.dim() - 3);
    let one = exact(1.0);
    let prior_of = |value: f64| t.round(exact(value));
    let (mu, log_pop, log_obs) = (exact(x[groups]), exact(x[groups + 1]), exact(x[groups + 2]));
    let (sigma_pop, sigma_obs) = (t.exp(log_pop), t.exp(log_obs));
    let weight = t.div(one, t.mul(sigma_obs, sigma_obs));
    let shift = t.sub(mu, prior_of(prior.mu_mean));
    let s = Scalars { mu, log_pop, sigma_pop };
    let (row_weight, row_shift) = (r.round(weight), r.round(shift));
    let lanes = if x.len() <= 256 { 32 } else { 128 };
    // An element meets the others of its lane in the vectors' precision, and then the other lanes' sums.
    let additions = (x.len().div_ceil(lanes), lanes.ilog2() as usize);
    let sum = |parts: &[Bounded]| {
        let in_lane = r.sum(parts, additions.0);
        let over_lanes = t.sum(parts, additions.1);
        Bounded { error: in_lane.error + over_lanes.error, ..in_lane }
    };
    let mut gradient = Vec::with_capacity(x.len());
    let mut parts: [Vec<Bounded>; 6] = Default::default();
    for j in 0..groups {
        let (effect, centered) = group(&s, centering, r, t, j, x[j]);
        let z = r.mul(effect.inverse, centered);
        let own = r.mul(effect.slope, centered);
        let (residual, squares) = pull(model, r, j, r.add(row_shift, own));
        let slope_z = r.mul(effect.inverse, z);
        gradient.push(r.sub(r.mul(r.mul(row_weight, residual), effect.slope), slope_z));
        let z2 = r.mul(z, z);
        parts[0].push(squares);
        parts[1].push(z2);
        parts[2].push(r.mul(residual, effect.by_location));
        parts[3].push(r.mul(effect.lambda, slope_z));
        parts[4].push(r.mul(residual, r.mul(effect.free, own)));
        parts[5].push(r.mul(effect.lambda, z2));
    }
    let [squares, z2, location, centered_location, scale, centered_scale] = parts.map(|parts| sum(&parts));
    let total = prior_of(model.data().values().len() as f64);
    let total_lambda = prior_of(centering.total());
    let collapsed = model.likelihood() == Likelihood::Collapsed;
    let squares = if collapsed { t.add(squares, prior_of(within(model))) } else { squares };
    let mu_sd = prior_of(prior.mu_sd);
    let standard = t.div(shift, mu_sd);
    let pop = t.div(sigma_pop, prior_of(prior.sigma_pop_scale));
    let obs = t.div(sigma_obs, prior_of(prior.sigma_obs_scale));
    let (pop2, obs2) = (t.mul(pop, pop), t.mul(obs, obs));
    let by_mu = t.sub(t.add(t.mul(weight, location), centered_location), t.div(standard, mu_sd));
    let by_pop = t.add(t.mul(weight, scale), centered_scale);
    let by_pop = t.add(t.sub(t.sub(by_pop, total_lambda), pop2), one);
    let by_obs = t.add(t.sub(t.sub(t.mul(weight, squares), total), obs2), one);
    gradient.extend([by_mu, by_pop, by_obs].map(|scalar| r.round(scalar)));
    let sum_of_squares = [t.mul(weight, squares), z2, t.mul(standard, standard), pop2, obs2]
        .into_iter()
        .reduce(|a, b| t.add(a, b))
        .unwrap_or(exact(0.0));
    let value = t.sub(t.mul(exact(-1.0), t.mul(total, log_obs)), t.mul(exact(0.5), sum_of_squares));
    let value = t.add(t.add(value, t.mul(t.sub(one, total_lambda), log_pop)), log_obs);
    (value, gradient)
}

/// The factors of group `j` and its coordinate less its share of `mu_pop`.
fn group(s: &Scalars, centering: &Centering, r: Arithmetic, t: Arithmetic, j: usize, x: f64) -> (Effect, Bounded) {
    let one = exact(1.0);
    // With one lambda for all the factors are scalars, rounded where they meet a vector.
    let (lambda, a) = match centering.uniform() {
        Some(lambda) => (t.round(exact(lambda)), t),
        None => (exact(centering.lambda()[j]), r),
    };
    let slope = a.exp(a.mul(a.sub(one, lambda), r.round(s.log_pop)));
    let inverse = a.mul(slope, a.round(t.div(one, s.sigma_pop)));
    let origin = r.round(a.mul(lambda, r.round(s.mu)));
    let effect = Effect {
        slope: r.round(slope),
        inverse: r.round(inverse),
        free: a.sub(one, lambda),
        by_location: a.sub(one, a.mul(lambda, slope)),
        lambda,
    };
    (effect, r.sub(exact(x), origin))
}

/// The sum of group `j`'s residuals at the mean `location`, and that of their squares.
fn pull(model: &HierarchicalNormal, r: Arithmetic, j: usize, location: Bounded) -> (Bounded, Bounded) {
    let (origin, values) = (model.prior().mu_mean, model.data().group(j));
    let members = values.len();
    if model.likelihood() == Likelihood::Collapsed {
        let mean = mean(values, origin);
        let difference = r.sub(r.round(exact(mean)), location);
        let residual = r.mul(exact(members as f64), difference);
        return (residual, r.mul(residual, difference));
    }
    let differences: Vec<Bounded> = values.iter().map(|y| r.sub(r.round(exact(y - origin)), location)).collect();
    let squares: Vec<Bounded> = differences.iter().map(|&difference| r.mul(difference, difference)).collect();
    (r.sum(&differences, members), r.sum(&squares, members))
}

/// The mean of a group less the prior's.
fn mean(values: &[f64], origin: f64) -> f64 {
    values.iter().map(|y| y - origin).sum::<f64>() / values.len() as f64
}

/// The sum over groups of the squared deviations from the group's mean.
fn within(model: &HierarchicalNormal) -> f64 {
    let (data, origin) = (model.data(), model.prior().mu_mean);
    let of_group = |values: &[f64]| {
        let mean = mean(values, origin);
        values.iter().map(|y| (y - origin - mean).powi(2)).sum::<f64>()
    };
    (0..data.groups()).fold(0.0, |sum, j| sum + of_group(data.group(j)))
}
