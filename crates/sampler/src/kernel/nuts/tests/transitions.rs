//! Whole transitions against the recursive sampler, and what they report at the limits.

use super::densities::{Banana, Breaking, Gaussian, Wall};
use super::recursive::Recursive;
use super::*;

/// What a comparison met, so that it can be shown to mean something.
#[derive(Default)]
struct Met {
    transitions: u32,
    divergences: u32,
    saturated: u32,
    stayed: u32,
    depths: Vec<u32>,
    /// Sum over transitions of the chosen energy error less its expectation, and the sum of its variances.
    surplus: f64,
    variance: f64,
}

/// `count` transitions of a chain, each also made by the recursive sampler from the same point.
fn compare(
    density: &dyn LogDensity,
    metric: &MetricEstimate,
    start: &[f64],
    steps: &[f64],
    limits: Limits,
    count: u32,
    met: &mut Met,
) {
    let dim = density.dim();
    let mut machine = Machine::new(density, vec![], metric);
    let oracle = Recursive::new(density, metric);
    let mut point = machine.at(start);
    met.depths.resize(limits.max_depth as usize + 1, 0);
    for iteration in 0..count {
        let step = steps[iteration as usize % steps.len()];
        let address = Address { seed: 5, chain: 0, iteration };
        let before = point.x.clone();
        let expected = oracle.transition(&before[..dim], step, limits, address);
        let stats = machine.transition(step, limits, address, &mut point);
        let what = format!("{} transition {iteration}, step {step}", density.name());

        let depth = expected.doublings.len();
        assert_eq!(stats.n_steps as usize, expected.leaves.len(), "{what}");
        assert_eq!(stats.tree_depth as usize, depth, "{what}");
        assert_eq!(stats.diverging, expected.diverging, "{what}");
        let saturated = !expected.diverging && !expected.turned;
        assert_eq!(stats.reached_max_treedepth, saturated, "{what}");
        let close = |name: &str, found: f64, expected: f64| {
            let error = (found - expected).abs();
            assert!(error <= 1e-8 * expected.abs().max(1.0) || found == expected, "{what}: {name} {found} {expected}");
        };
        match expected.selected {
            Some(leaf) => {
                let leaf = &expected.leaves[leaf];
                assert_eq!(stats.index_in_trajectory, leaf.state.index, "{what}");
                close("energy_error", stats.energy_error, leaf.error);
                close("lp", stats.lp, leaf.state.logp);
                for i in 0..dim {
                    close("position", point.x[i], leaf.state.q[i]);
                }
            }
            None => {
                assert_eq!(stats.index_in_trajectory, 0, "{what}");
                assert_eq!(point.x[..dim], before[..dim], "{what}");
                assert_eq!(stats.energy_error, 0.0);
                met.stayed += 1;
            }
        }
        close("energy", stats.energy - stats.energy_error, expected.start_energy);
        let accepted: f64 = expected.leaves.iter().map(|leaf| (-leaf.error).exp().min(1.0)).sum();
        close("acceptance_rate", stats.acceptance_rate, accepted / expected.leaves.len() as f64);
        let largest = expected.leaves.iter().map(|l| l.error).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        close("max_energy_error", stats.max_energy_error, largest.expect("a step"));
        assert_eq!(stats.step_size, step);

        let (mean, variance) = expected.expected_error();
        met.surplus += stats.energy_error - mean;
        met.variance += variance;
        met.transitions += 1;
        met.divergences += u32::from(stats.diverging);
        met.saturated += u32::from(saturated);
        met.depths[depth] += 1;
    }
}

const LIMITS: Limits = Limits { max_depth: 7, max_energy_error: 1000.0 };

impl Met {
    /// The choice among the points of a trajectory is by weight: over all transitions the chosen energy errors
    /// have the expectation that the weights give. Two-sided, false alarm rate below 1e-5.
    fn choices_follow_the_weights(&self) {
        let z = self.surplus / self.variance.sqrt();
        assert!(z.abs() < 4.5, "{z} standard errors over {} transitions", self.transitions);
    }
}

#[test]
fn gaussians_as_in_the_recursive_sampler() {
    let mut met = Met::default();
    for (dim, rho) in [(3, 0.0), (5, 0.6), (10, 0.9)] {
        let density = Gaussian::correlated(dim, rho);
        for metric in [diagonal(dim), low_rank(dim)] {
            compare(&density, &metric, &density.mean, &[0.02, 0.04, 0.06, 0.09], LIMITS, 400, &mut met);
        }
    }
    assert!(met.depths[2..].iter().all(|&n| n > 50), "{:?}", met.depths);
    assert!(met.saturated > 50 && met.stayed > 10, "{} {}", met.saturated, met.stayed);
    met.choices_follow_the_weights();
}

/// Curved level sets and steps too large for them: all ways to end a trajectory.
#[test]
fn bananas_as_in_the_recursive_sampler() {
    let mut met = Met::default();
    let density = Banana::new(1.5);
    for metric in [diagonal(3), low_rank(3)] {
        compare(&density, &metric, &[0.2, -1.0, 0.3], &[0.05, 0.2, 0.4, 0.7], LIMITS, 2000, &mut met);
    }
    assert!(met.divergences > 20, "{} divergences", met.divergences);
    assert!(met.depths[1..6].iter().all(|&n| n > 50), "{:?}", met.depths);
    met.choices_follow_the_weights();
}

/// Where the density has no value the trajectory ends as a divergence, and the chain stays on its side.
#[test]
fn walls_as_in_the_recursive_sampler() {
    let mut met = Met::default();
    let density = Wall::new(3, 0.7);
    let unit = MetricEstimate { diagonal: vec![1.0; 3], ..MetricEstimate::default() };
    compare(&density, &unit, &[0.0; 3], &[0.1, 0.5], LIMITS, 1000, &mut met);
    assert!(met.divergences > 200, "{} divergences", met.divergences);
    met.choices_follow_the_weights();
}

/// A step so long that every energy error is past the limit: the chain stays and says so.
#[test]
fn a_first_step_that_diverges() {
    let density = Gaussian::correlated(3, 0.0);
    let mut machine = Machine::new(&density, vec![], &diagonal(3));
    let mut point = machine.at(&[0.3, 0.1, 2.0]);
    let before = point.x.clone();
    let address = Address { seed: 1, chain: 0, iteration: 1 };
    let stats = machine.transition(1e4, LIMITS, address, &mut point);
    assert!(stats.diverging && !stats.reached_max_treedepth);
    assert_eq!((stats.n_steps, stats.tree_depth, stats.index_in_trajectory), (1, 0, 0));
    assert_eq!(stats.acceptance_rate, 0.0);
    assert_eq!(point.x[..], before[..]);
    assert!(stats.max_energy_error > 1000.0 && stats.energy.is_finite());
}

/// Steps too short to turn: the depth limit ends the trajectory and is named as the reason.
#[test]
fn the_depth_limit_is_reported() {
    let density = Gaussian::correlated(3, 0.0);
    let mut machine = Machine::new(&density, vec![], &diagonal(3));
    for max_depth in 1..6 {
        let mut point = machine.at(&[0.3, 0.1, 2.0]);
        let limits = Limits { max_depth, ..LIMITS };
        let stats = machine.transition(1e-6, limits, Address { seed: 1, chain: 0, iteration: 1 }, &mut point);
        assert!(stats.reached_max_treedepth && !stats.diverging);
        assert_eq!((stats.tree_depth, stats.n_steps), (max_depth, (1 << max_depth) - 1));
        assert!(stats.acceptance_rate > 0.999_999);
    }
}

/// A density that is broken is no divergence: the error comes through.
#[test]
fn a_broken_density_is_an_error() {
    let density = Breaking::after(3);
    let unit = MetricEstimate { diagonal: vec![1.0; 2], ..MetricEstimate::default() };
    let mut machine = Machine::new(&density, vec![], &unit);
    let mut point = machine.at(&[0.1, 0.2]);
    let address = Address { seed: 1, chain: 0, iteration: 1 };
    let error = machine.try_transition(0.1, LIMITS, address, &mut point).expect_err("broken");
    assert_eq!(error, DensityError::Broken(Breaking::MESSAGE.into()));
}

/// Weights survive energies far below the start's: the reference moves and all ratios stay.
#[test]
fn weights_are_relative() {
    let mut weights = Weights::of_the_start();
    let first = weights.add(2.0);
    assert!((first - 2f64.exp()).abs() < 1e-12);
    assert!((weights.subtree / weights.tree - 2f64.exp()).abs() < 1e-12);
    let far = weights.add(900.0);
    assert!((far / weights.subtree - 1.0).abs() < 1e-12, "what came before is negligible now");
    let near = weights.add(899.0);
    assert!((near / far - (-1f64).exp()).abs() < 1e-12);
    assert!(weights.tree >= 0.0 && weights.tree < 1e-300);
    assert!(weights.subtree.is_finite());
}

/// The reference stays for gains of up to 300, and moves to what is beyond.
#[test]
fn the_reference_moves_beyond_300_units() {
    let mut weights = Weights::of_the_start();
    assert_eq!((weights.reference, weights.tree, weights.subtree), (0.0, 1.0, 0.0));
    weights.add(299.9);
    assert!(weights.are_of_the_start() && weights.tree == 1.0);
    assert_eq!(weights.add(300.1), 1.0);
    assert_eq!(weights.reference, 300.1);
    assert!(!weights.are_of_the_start());
    assert!((weights.tree.ln() + 300.1).abs() < 1e-9 && (weights.subtree - 1.0 - (-0.2_f64).exp()).abs() < 1e-9);
    weights.add(600.0);
    assert_eq!(weights.reference, 300.1);
}

/// A trajectory of no doublings is its start, of which nothing was accepted.
#[test]
fn no_doublings_leave_the_chain_where_it_is() {
    let density = Gaussian::correlated(3, 0.0);
    let mut machine = Machine::new(&density, vec![], &diagonal(3));
    let mut point = machine.at(&[0.3, 0.1, 2.0]);
    let before = point.clone();
    let limits = Limits { max_depth: 0, ..LIMITS };
    let stats = machine.transition(0.1, limits, Address { seed: 1, chain: 0, iteration: 1 }, &mut point);
    assert_eq!((stats.n_steps, stats.acceptance_rate, stats.lp), (0, 0.0, before.logp));
    assert_eq!(point.x[..], before.x[..]);
}
