//! Means and standard deviations of every variable in the exact posterior.

use super::evidence::Evidence;
use super::lattice::{Lattice, Node};
use super::statistics::SizeClass;
use crate::exact::Moments;

/// The moments of all variables on one lattice.
#[derive(Clone, Debug)]
pub(super) struct AllMoments {
    pub(super) mu_pop: Moments,
    pub(super) sigma_pop: Moments,
    pub(super) sigma_obs: Moments,
    pub(super) z: Vec<Moments>,
    pub(super) mu_group: Vec<Moments>,
}

/// Given the scales, z_j and mu_group_j of a group of n observations with mean ybar_j are normal with means
/// affine in ybar_j:
///
/// | | mean | variance |
/// |--|--|--|
/// | z_j | sigma_pop (ybar_j - m) / v | sigma_obs^2 / (n v) + sigma_pop^2 V / v^2 |
/// | mu_group_j | (1 - w) m + w ybar_j | sigma_pop^2 (1 - w) + (1 - w)^2 V |
///
/// with v = sigma_pop^2 + sigma_obs^2 / n, w = sigma_pop^2 / v, and m, V the mean and variance of mu_pop
/// given the scales. What follows needs one pass for each size of groups, not for each group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) intercept: f64,
    pub(super) slope: f64,
    pub(super) variance: f64,
}

/// Means enter relative to the mean of their class of size: where the scales are tiny the slope of z is huge, and
/// m is near that mean if the density is to be anything.
pub(super) type Given = fn(&SizeClass, &Node) -> Affine;

/// z of a group, as a function of its mean less the class' mean.
pub(super) fn z_given_scales(class: &SizeClass, node: &Node) -> Affine {
    let noise = node.sigma_obs * node.sigma_obs / class.size;
    let v = node.sigma_pop * node.sigma_pop + noise;
    let slope = node.sigma_pop / v;
    Affine {
        intercept: -slope * (node.location - class.mean),
        slope,
        variance: noise / v + slope * slope * node.variance,
    }
}

/// mu_group less the group's own mean, as a function of the group's mean less the class' mean. The difference
/// keeps its digits where the data leave mu_group little room.
pub(super) fn mu_group_given_scales(class: &SizeClass, node: &Node) -> Affine {
    let noise = node.sigma_obs * node.sigma_obs / class.size;
    let pop2 = node.sigma_pop * node.sigma_pop;
    let shared = noise / (pop2 + noise);
    Affine {
        intercept: shared * (node.location - class.mean),
        slope: -shared,
        variance: pop2 * shared + shared * shared * node.variance,
    }
}

impl AllMoments {
    pub(super) fn new(evidence: &Evidence, lattice: &Lattice) -> Self {
        let nodes = &lattice.nodes;
        let weights = || nodes.iter().map(|node| node.weight);
        let (location, between) = mean_and_variance(weights().zip(nodes.iter().map(|node| node.location)));
        let within: f64 = nodes.iter().map(|node| node.weight * node.variance).sum();
        let scale = |value: fn(&Node) -> f64| {
            let (mean, variance) = mean_and_variance(weights().zip(nodes.iter().map(value)));
            Moments { mean, sd: variance.sqrt() }
        };
        let statistics = &evidence.statistics;
        let by_class = |given: Given| -> Vec<AffineMoments> {
            let over_nodes = |class| nodes.iter().map(move |node| (node.weight, given(class, node)));
            statistics.classes.iter().map(|class| AffineMoments::new(over_nodes(class))).collect()
        };
        let each = |classes: &[AffineMoments]| -> Vec<Moments> {
            let groups = statistics.class.iter().zip(&statistics.means);
            groups.map(|(&class, mean)| classes[class].at(mean - statistics.classes[class].mean)).collect()
        };
        let z = each(&by_class(z_given_scales));
        let mut mu_group = each(&by_class(mu_group_given_scales));
        mu_group.iter_mut().zip(&statistics.means).for_each(|(moments, mean)| moments.mean += mean);
        Self {
            mu_pop: Moments { mean: location, sd: (within + between).sqrt() },
            sigma_pop: scale(|node| node.sigma_pop),
            sigma_obs: scale(|node| node.sigma_obs),
            z,
            mu_group,
        }
    }

    /// Returns the largest difference of any mean or standard deviation, in standard deviations; rounding of a mean
    /// that is large beside its standard deviation does not count.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        let scalars = |all: &Self| [all.mu_pop, all.sigma_pop, all.sigma_obs];
        let pairs = scalars(self).into_iter().zip(scalars(other));
        let pairs = pairs.chain(self.z.iter().copied().zip(other.z.iter().copied()));
        let pairs = pairs.chain(self.mu_group.iter().copied().zip(other.mu_group.iter().copied()));
        let change = |(a, b): (Moments, Moments)| {
            let rounding = 4.0 * f64::EPSILON * a.mean.abs();
            ((a.mean - b.mean).abs() - rounding).max((a.sd - b.sd).abs()) / a.sd
        };
        pairs.map(change).fold(0.0, f64::max)
    }
}

/// Moments over the lattice of intercept and slope, and the mean of the conditional variance.
struct AffineMoments {
    intercept: f64,
    slope: f64,
    intercept_variance: f64,
    slope_variance: f64,
    covariance: f64,
    conditional_variance: f64,
}

impl AffineMoments {
    fn new(values: impl Iterator<Item = (f64, Affine)> + Clone) -> Self {
        let mut mean = Self::zero();
        for (weight, affine) in values.clone() {
            mean.intercept += weight * affine.intercept;
            mean.slope += weight * affine.slope;
            mean.conditional_variance += weight * affine.variance;
        }
        for (weight, affine) in values {
            let (intercept, slope) = (affine.intercept - mean.intercept, affine.slope - mean.slope);
            mean.intercept_variance += weight * intercept * intercept;
            mean.slope_variance += weight * slope * slope;
            mean.covariance += weight * intercept * slope;
        }
        mean
    }

    fn zero() -> Self {
        Self {
            intercept: 0.0,
            slope: 0.0,
            intercept_variance: 0.0,
            slope_variance: 0.0,
            covariance: 0.0,
            conditional_variance: 0.0,
        }
    }

    /// Returns the moments for a group with mean `x`, by the law of total variance.
    fn at(&self, x: f64) -> Moments {
        let between = self.intercept_variance + x * (2.0 * self.covariance + x * self.slope_variance);
        Moments { mean: self.intercept + self.slope * x, sd: (self.conditional_variance + between.max(0.0)).sqrt() }
    }
}

/// Weighted mean and variance, the variance about the mean.
fn mean_and_variance(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    // Relative to the first value: the mean of large numbers that hardly differ keeps its digits.
    let first = values.clone().next().map_or(0.0, |(_, value)| value);
    let shift: f64 = values.clone().map(|(weight, value)| weight * (value - first)).sum();
    let variance = values.map(|(weight, value)| weight * (value - first - shift).powi(2)).sum();
    (first + shift, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of normals whose means are affine in x, over three nodes: by the law of total variance, node by node.
    #[test]
    fn moments_of_a_group_are_those_of_the_mixture() {
        let affine = |intercept, slope, variance| Affine { intercept, slope, variance };
        let nodes = [(0.2, affine(1.0, -0.5, 0.3)), (0.5, affine(2.0, 0.25, 1.5)), (0.3, affine(-1.0, 0.75, 0.1))];
        let moments = AffineMoments::new(nodes.into_iter());
        for x in [-2.0, 0.0, 0.7, 3.0] {
            let center = |affine: Affine| affine.intercept + affine.slope * x;
            let mean: f64 = nodes.iter().map(|&(weight, affine)| weight * center(affine)).sum();
            let variance: f64 = nodes
                .iter()
                .map(|&(weight, affine)| weight * (affine.variance + (center(affine) - mean).powi(2)))
                .sum();
            let found = moments.at(x);
            assert!((found.mean - mean).abs() < 1e-14 && (found.sd - variance.sqrt()).abs() < 1e-14, "{x}: {found:?}");
        }
        // One node has no variance but its own.
        let one = AffineMoments::new([(1.0, affine(1.0, 2.0, 0.25))].into_iter());
        assert_eq!(one.at(3.0), Moments { mean: 7.0, sd: 0.5 });
    }

    /// Values relative to the first, so that large numbers keep their digits.
    #[test]
    fn means_and_variances_keep_their_digits() {
        let (mean, variance) = mean_and_variance([(0.25, 1e9 + 1.0), (0.75, 1e9 + 5.0)].into_iter());
        assert_eq!((mean, variance), (1e9 + 4.0, 3.0));
    }

    /// A change counts in standard deviations, of a mean or of a standard deviation, and one of four units in the last
    /// place of a mean does not count.
    #[test]
    fn distances_are_the_largest_change_of_any_moment() {
        let one = |mean, sd| Moments { mean, sd };
        let all = AllMoments {
            mu_pop: one(1.0, 0.5),
            sigma_pop: one(2.0, 0.5),
            sigma_obs: one(3.0, 0.5),
            z: vec![one(0.0, 1.0), one(0.5, 0.25)],
            mu_group: vec![one(1e6, 1e-9), one(1.5, 0.5)],
        };
        let moved = |change: fn(&mut AllMoments)| {
            let mut other = all.clone();
            change(&mut other);
            all.distance(&other)
        };
        assert_eq!(moved(|_| ()), 0.0);
        for (change, expected) in [
            ((|all| all.mu_pop.mean += 0.125) as fn(&mut AllMoments), 0.25),
            (|all| all.sigma_pop.sd += 0.125, 0.25),
            (|all| all.sigma_obs.mean -= 0.125, 0.25),
            (|all| all.z[1].mean += 0.0625, 0.25),
            (|all| all.z[1].sd -= 0.0625, 0.25),
            (|all| all.mu_group[1].mean += 0.25, 0.5),
        ] {
            let found = moved(change);
            assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
        }
        // Near 10^6 numbers are 2^-33 apart; four units in the last place of it are 8.9e-10, more than seven of these.
        assert_eq!(moved(|all| all.mu_group[0].mean += 7.0 * 2_f64.powi(-33)), 0.0);
        assert!(moved(|all| all.mu_group[0].mean += 8.0 * 2_f64.powi(-33)) > 0.01);
    }
}
