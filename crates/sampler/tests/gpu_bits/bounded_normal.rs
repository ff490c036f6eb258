//! The hierarchical normal with bounds of its rounding errors: the operations of `kernels/nuts/hierarchical_normal.cuh`,
//! vectors in one precision and scalars in another.

use crate::bounded::{Arithmetic, Bounded, exact};
use octopus_density::{Centering, LogDensity};
use octopus_models::{HierarchicalNormal, Likelihood};

/// What the kernels of a precision compute in.
#[derive(Clone, Copy)]
pub(crate) struct Precisions {
    pub(crate) vectors: Arithmetic,
    pub(crate) scalars: Arithmetic,
}

/// The scalars of which the groups make something.
struct Scalars {
    log_pop: Bounded,
    log_obs: Bounded,
    sigma_pop: Bounded,
    sigma_obs: Bounded,
    /// 1 / sigma_obs^2
    weight: Bounded,
    /// mu_pop less the prior's mean.
    shift: Bounded,
}

/// What standardised scalars are made with.
struct Standard {
    /// sigma_pop^2 / sigma_obs^2
    ratio: Bounded,
    log_precision: Bounded,
    center: Bounded,
    inverse: Bounded,
    slope: Bounded,
    held: Bounded,
    width: Bounded,
    own: Bounded,
}

/// What the groups give: their slopes, and the sums that the value and the slopes of the scalars are made of.
struct Sums {
    gradient: Vec<Bounded>,
    squares: Bounded,
    z2: Bounded,
    location: Bounded,
    centered_location: Bounded,
    scale: Bounded,
    centered_scale: Bounded,
    noise: Bounded,
    /// What the coordinates take from the slope of log sigma_pop, and from the value: a power of sigma_pop and half of a
    /// sum of logarithms.
    shares: Bounded,
    power: Bounded,
    logs: Bounded,
}

/// The model, its precisions and the place of one evaluation.
struct Evaluation<'a> {
    model: &'a HierarchicalNormal,
    r: Arithmetic,
    t: Arithmetic,
    x: &'a [f64],
    scalars: Scalars,
}

/// The log density and the gradient at `x`, which has numbers of the vectors' precision.
pub(crate) fn evaluate(
    model: &HierarchicalNormal,
    centering: Centering,
    Precisions { vectors: r, scalars: t }: Precisions,
    x: &[f64],
) -> (Bounded, Vec<Bounded>) {
    let (prior, groups) = (model.prior(), model.dim() - 3);
    let one = exact(1.0);
    let prior_of = |value: f64| t.round(exact(value));
    let (scalars, standard) = match centering.lambda() {
        Some(_) => (natural(model, t, [0, 1, 2].map(|k| exact(x[groups + k]))), None),
        None => {
            let (scalars, standard) = standardised(model, t, [0, 1, 2].map(|k| exact(x[groups + k])));
            (scalars, Some(standard))
        }
    };
    let Scalars { log_pop, log_obs, sigma_pop, sigma_obs, weight, shift } = scalars;
    let evaluation = Evaluation { model, r, t, x, scalars };
    let sums = match &standard {
        None => evaluation.uniform(exact(centering.lambda().unwrap_or(0.0))),
        Some(standard) => evaluation.standardised(standard),
    };
    let Sums { mut gradient, squares, z2, shares, .. } = sums;
    let total = prior_of(model.data().values().len() as f64);
    let collapsed = model.likelihood() == Likelihood::Collapsed;
    let squares = if collapsed { t.add(squares, prior_of(within(model))) } else { squares };
    let mu_sd = prior_of(prior.mu_sd);
    let from_prior = t.div(shift, mu_sd);
    let pop = t.div(sigma_pop, prior_of(prior.sigma_pop_scale));
    let obs = t.div(sigma_obs, prior_of(prior.sigma_obs_scale));
    let (pop2, obs2) = (t.mul(pop, pop), t.mul(obs, obs));
    let by_mu = t.sub(t.add(t.mul(weight, sums.location), sums.centered_location), t.div(from_prior, mu_sd));
    let by_pop = t.add(t.mul(weight, sums.scale), sums.centered_scale);
    let by_pop = t.add(t.sub(t.sub(by_pop, shares), pop2), one);
    let by_obs = t.add(t.sub(t.sub(t.mul(weight, squares), total), obs2), one);
    let by_obs = t.add(by_obs, sums.noise);
    let slopes = match &standard {
        Some(standard) => standard.slopes(t, [by_mu, by_pop, by_obs]),
        None => [by_mu, by_pop, by_obs],
    };
    gradient.extend(slopes.map(|scalar| r.round(scalar)));
    let sum_of_squares = [t.mul(weight, squares), z2, t.mul(from_prior, from_prior), pop2, obs2]
        .into_iter()
        .reduce(|a, b| t.add(a, b))
        .unwrap_or(exact(0.0));
    let value = t.sub(t.mul(exact(-1.0), t.mul(total, log_obs)), t.mul(exact(0.5), sum_of_squares));
    let value = t.add(t.add(value, t.mul(t.sub(one, sums.power), log_pop)), log_obs);
    (t.sub(value, t.mul(exact(0.5), sums.logs)), gradient)
}

/// mu_pop, log sigma_pop and log sigma_obs where these are coordinates.
fn natural(model: &HierarchicalNormal, t: Arithmetic, [mu, log_pop, log_obs]: [Bounded; 3]) -> Scalars {
    let (sigma_pop, sigma_obs) = (t.exp(log_pop), t.exp(log_obs));
    let weight = t.div(exact(1.0), t.mul(sigma_obs, sigma_obs));
    let shift = t.sub(mu, t.round(exact(model.prior().mu_mean)));
    Scalars { log_pop, log_obs, sigma_pop, sigma_obs, weight, shift }
}

/// The same from standardised coordinates.
fn standardised(model: &HierarchicalNormal, t: Arithmetic, [x, v, u]: [Bounded; 3]) -> (Scalars, Standard) {
    let (data, prior, one) = (model.data(), model.prior(), exact(1.0));
    let (observations, groups) = (data.values().len() as f64, data.groups() as f64);
    let means: Vec<(f64, f64)> =
        (0..data.groups()).map(|j| (mean(data.group(j), prior.mu_mean), data.group(j).len() as f64)).collect();
    let center = means.iter().map(|(mean, count)| mean * count).sum::<f64>() / observations;
    let between = means.iter().map(|(mean, count)| count * (mean - center).powi(2)).sum::<f64>() / observations;
    let constant = |value: f64| t.round(exact(value));
    let [total, typical, center] = [observations, observations / groups, center].map(constant);
    let [within, between, prior] = [within(model) / observations, between, prior.mu_sd.powi(-2)].map(constant);
    let (root, factor) = (t.exp(v), t.exp(u));
    let ratio = t.mul(root, root);
    let d = t.add(one, t.mul(typical, ratio));
    let scaled = t.add(t.mul(within, d), between);
    let q = t.mul(scaled, t.mul(factor, factor));
    let both = t.add(t.mul(prior, q), total);
    let inverse = t.div(one, d);
    let (held, width) = (t.div(total, both), t.sqrt(t.div(q, both)));
    let sigma_obs = t.sqrt(t.div(q, d));
    let log_obs = t.add(u, t.mul(exact(0.5), t.sub(t.ln(scaled), t.ln(d))));
    let own = t.mul(width, x);
    let scalars = Scalars {
        log_pop: t.add(v, log_obs),
        log_obs,
        sigma_pop: t.mul(root, sigma_obs),
        sigma_obs,
        weight: t.div(d, q),
        shift: t.add(t.mul(held, center), own),
    };
    let standard = Standard {
        ratio,
        log_precision: t.sub(t.sub(t.ln(both), t.ln(scaled)), t.mul(exact(2.0), u)),
        center,
        inverse,
        slope: t.div(t.mul(between, t.sub(one, inverse)), scaled),
        held,
        width,
        own,
    };
    (scalars, standard)
}

impl Standard {
    /// The slopes by the coordinates, from those by the scalars.
    fn slopes(&self, t: Arithmetic, [by_mu, by_pop, by_obs]: [Bounded; 3]) -> [Bounded; 3] {
        let &Self { center, inverse, slope, held, width, own, .. } = self;
        let one = exact(1.0);
        let twice = t.mul(exact(2.0), t.sub(one, held));
        let turn = t.sub(t.mul(t.mul(by_mu, held), t.sub(t.mul(twice, center), own)), held);
        let sum = t.sub(t.add(by_pop, by_obs), turn);
        let by_ratio = t.sub(t.sub(by_pop, t.mul(slope, sum)), t.mul(t.sub(one, inverse), turn));
        [t.mul(by_mu, width), by_ratio, sum]
    }
}

impl Evaluation<'_> {
    /// One lambda for all groups: factors are scalars, rounded where they meet a vector.
    fn uniform(&self, lambda: Bounded) -> Sums {
        let &Self { r, t, ref scalars, .. } = self;
        let one = exact(1.0);
        let free = t.sub(one, lambda);
        let slope = t.exp(t.mul(free, scalars.log_pop));
        let inverse = r.round(t.mul(slope, t.div(one, scalars.sigma_pop)));
        let by_location = t.sub(one, t.mul(lambda, slope));
        let origin = r.round(t.mul(lambda, exact(self.x[self.x.len() - 3])));
        let slope = r.round(slope);
        let (weight, shift) = (r.round(scalars.weight), r.round(scalars.shift));
        let mut gradient = Vec::with_capacity(self.x.len());
        let mut parts: [Vec<Bounded>; 6] = Default::default();
        for (j, &x) in self.effects().iter().enumerate() {
            let centered = r.sub(exact(x), origin);
            let z = r.mul(inverse, centered);
            let own = r.mul(slope, centered);
            let (residual, squares) = pull(self.model, r, j, r.add(shift, own));
            let slope_z = r.mul(inverse, z);
            gradient.push(r.sub(r.mul(r.mul(weight, residual), slope), slope_z));
            let z2 = r.mul(z, z);
            let location = r.mul(residual, by_location);
            let scale = r.mul(residual, r.mul(free, own));
            let terms = [squares, z2, location, r.mul(lambda, slope_z), scale, r.mul(lambda, z2)];
            parts.iter_mut().zip(terms).for_each(|(part, term)| part.push(term));
        }
        let [squares, z2, location, centered_location, scale, centered_scale] = parts.map(|parts| self.sum(&parts));
        let total = t.mul(lambda, exact(self.effects().len() as f64));
        Sums {
            gradient,
            squares,
            z2,
            location,
            centered_location,
            scale,
            centered_scale,
            noise: exact(0.0),
            shares: total,
            power: total,
            logs: exact(0.0),
        }
    }

    /// Standardised coordinates.
    fn standardised(&self, standard: &Standard) -> Sums {
        let &Self { r, t, ref scalars, .. } = self;
        let one = exact(1.0);
        let gain = t.mul(scalars.sigma_pop, scalars.weight);
        let (by_gain, by_ratio) = (r.round(gain), r.round(standard.ratio));
        let (scale, weight, shift) = (r.round(scalars.sigma_pop), r.round(scalars.weight), r.round(scalars.shift));
        let data = self.model.data();
        let mut gradient = Vec::with_capacity(self.x.len());
        let mut parts: [Vec<Bounded>; 6] = Default::default();
        for (j, &x) in self.effects().iter().enumerate() {
            let (count, mean) = (exact(data.group(j).len() as f64), mean(data.group(j), self.model.prior().mu_mean));
            let inverse = r.div(one, r.add(one, r.mul(count, by_ratio)));
            let width = r.sqrt(inverse);
            let push = r.mul(r.mul(count, by_gain), inverse);
            let drawn = r.mul(push, r.sub(r.round(exact(mean)), shift));
            let own = r.mul(width, exact(x));
            let z = r.add(drawn, own);
            let (residual, squares) = pull(self.model, r, j, r.add(shift, r.mul(scale, z)));
            let slope = r.sub(r.mul(r.mul(weight, residual), scale), z);
            gradient.push(r.mul(slope, width));
            let toward = r.mul(r.mul(slope, inverse), r.add(drawn, z));
            let terms = [squares, r.mul(z, z), residual, r.mul(slope, push), toward, r.mul(slope, own)];
            parts.iter_mut().zip(terms).for_each(|(part, term)| part.push(term));
        }
        let [squares, z2, location, pushed, toward, own] = parts.map(|parts| self.sum(&parts));
        let mut sizes: Vec<usize> = (0..data.groups()).map(|j| data.group(j).len()).collect();
        sizes.sort_unstable();
        let of_size = |groups: &[usize]| {
            let (count, times) = (exact(groups[0] as f64), exact(groups.len() as f64));
            let d = r.add(one, r.mul(count, by_ratio));
            (r.mul(times, r.sub(one, r.div(one, d))), r.mul(times, r.ln(d)))
        };
        let (shares, logs): (Vec<_>, Vec<_>) = sizes.chunk_by(|a, b| a == b).map(of_size).unzip();
        let shares = self.sum(&shares);
        Sums {
            gradient,
            squares,
            z2,
            location,
            centered_location: t.mul(exact(-1.0), pushed),
            scale: exact(0.0),
            centered_scale: t.add(z2, toward),
            noise: t.add(t.sub(own, toward), shares),
            shares,
            power: exact(0.0),
            logs: t.add(self.sum(&logs), standard.log_precision),
        }
    }

    /// The groups' coordinates.
    fn effects(&self) -> &[f64] {
        &self.x[..self.x.len() - 3]
    }

    /// A sum over groups, or over as many as there are sizes of them: an element meets the others of its lane in the
    /// vectors' precision, and then the other lanes' sums.
    fn sum(&self, parts: &[Bounded]) -> Bounded {
        let lanes = if self.x.len() <= 256 { 32 } else { 128 };
        let in_lane = self.r.sum(parts, self.x.len().div_ceil(lanes));
        let over_lanes = self.t.sum(parts, lanes.ilog2() as usize);
        Bounded { error: in_lane.error + over_lanes.error, ..in_lane }
    }
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
