//! A second NUTS, which repeats transitions of the sampler, U-turns and weights included, and compares the draws.
//!
//! It is recursive, after Hoffman and Gelman (2014), algorithm 3, with the multinomial weights and the biased
//! progressive doubling of Betancourt (2017), appendix A.3, and the generalised criterion with Stan's checks across the
//! seams. It reads the same random numbers as the sampler, and shares none of its arithmetic: coordinates change by the
//! chain rule around the plain density, vectors are plain sums.
//!
//! The samplers `hmc` and `chees` are repeated by a single trajectory (Neal 2011).

use super::Tally;
use crate::CalibrateError;
use octopus_density::{LogDensity, gradient_to_centered, log_jacobian, to_non_centered, warp};
use octopus_random::{Purpose, Stream};
use octopus_sampler::reference::{RandomAddress, ReferenceChain};
use octopus_sampler::{Adaptation, Algorithm, DrawStats, SamplerConfig};

/// Transitions of each chain.
const TRANSITIONS: u32 = 24;
/// The pair of numbers in the stream of the tree at which the numbers of the leaves begin.
const FIRST_LEAF_PAIR: u32 = 64;
/// Positions that differ by rounding are this close, in units of the metric.
const CLOSE: f64 = 1e-6;

/// Returns whether there is a second implementation of a sampler.
pub(super) fn repeats(algorithm: &Algorithm) -> bool {
    matches!(algorithm, Algorithm::Nuts | Algorithm::Hmc(_) | Algorithm::Chees(_))
}

/// Returns the leapfrog steps of an iteration's trajectory, by its random numbers; `None` for NUTS, whose tree ends by
/// itself.
fn steps(config: &SamplerConfig, (step, length): (f64, Option<f64>), random: &Stream) -> Option<u32> {
    let (mean, jitter) = match &config.algorithm {
        Algorithm::Hmc(hmc) => (hmc.leapfrogs.map_or(hmc.length / step, f64::from), hmc.jitter),
        Algorithm::Chees(chees) => (length? / step, chees.jitter),
        _ => return None,
    };
    let [place, rounding] = random.uniform_pair_at(0);
    let drawn = mean * (1.0 - jitter) + place * (2.0 * jitter * mean);
    let most = 2_f64.powi(config.max_depth as i32) - 1.0;
    Some((drawn + rounding).floor().clamp(1.0, most) as u32)
}

/// Does transitions of one chain from `x` (in the sampler's coordinates) with both implementations, by this step size and,
/// where it is learned, mean length of trajectories.
pub(super) fn compare(
    density: &dyn LogDensity,
    adaptation: &Adaptation,
    config: &SamplerConfig,
    x: &[f64],
    (step, length): (f64, Option<f64>),
    chain: u32,
    tally: &mut Tally,
) -> Result<(), CalibrateError> {
    let mut reference = ReferenceChain::new(density, adaptation, x)?;
    for iteration in 0..TRANSITIONS {
        let before = reference.x().to_vec();
        let place = RandomAddress { seed: config.seed, chain, iteration };
        let stats = reference.step(config, step, length, place)?;
        // The random numbers of iteration 0 are those of the starting points.
        let stream = |purpose| Stream::new(config.seed, chain, iteration + 1, purpose);
        let mut replay = Replay::new(density, adaptation, config, step, stream(Purpose::Tree));
        // All chains make equally many steps.
        let of_all = Stream::new(config.seed, 0, iteration + 1, Purpose::Length);
        let momentum = stream(Purpose::Momentum);
        let expected = match steps(config, (step, length), &of_all) {
            Some(steps) => replay.trajectory(&before, &momentum, steps),
            None => replay.transition(&before, &momentum),
        };
        let differs = difference(&stats, reference.x(), &expected, &adaptation.metric.diagonal);
        tally.case(differs.map(|what| format!("chain {chain}, transition {iteration}: {what}")));
    }
    Ok(())
}

/// The result of a transition.
struct ReplayedTransition {
    x: Vec<f64>,
    steps: u32,
    depth: u32,
    /// The place of the draw on the trajectory.
    index: i32,
    diverging: bool,
}

fn difference(stats: &DrawStats, x: &[f64], expected: &ReplayedTransition, variances: &[f64]) -> Option<String> {
    let found = (stats.n_steps, stats.tree_depth, stats.index_in_trajectory, stats.diverging);
    let wanted = (expected.steps, expected.depth, expected.index, expected.diverging);
    if found != wanted {
        return Some(format!(
            "(leapfrogs, doublings, place of the draw, diverging) are {found:?} of the sampler and {wanted:?} of the \
             second implementation"
        ));
    }
    let mut apart = x.iter().zip(&expected.x).zip(variances).map(|((a, b), v)| (a - b).abs() / v.sqrt());
    let far = apart.position(|distance| distance.is_nan() || distance > CLOSE)?;
    Some(format!("coordinate {far} is {} of the sampler and {} of the second implementation", x[far], expected.x[far]))
}

/// A point of phase space, momentum whitened.
#[derive(Clone)]
struct PhasePoint {
    x: Vec<f64>,
    r: Vec<f64>,
    force: Vec<f64>,
    logp: f64,
    index: i32,
}

/// Momenta at both ends of a subtree in the direction of integration, their sum over it, its weight, and the state that
/// stands for it.
struct Branch {
    begin: Vec<f64>,
    end: Vec<f64>,
    rho: Vec<f64>,
    weight: f64,
    chosen: PhasePoint,
}

struct Replay<'a> {
    density: &'a dyn LogDensity,
    adaptation: &'a Adaptation,
    config: &'a SamplerConfig,
    step: f64,
    random: Stream,
    h0: f64,
    steps: u32,
    diverging: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Returns whether neither end of a stretch with these momenta and this sum has turned against the way it has come.
fn goes_on(begin: &[f64], end: &[f64], rho: &[f64]) -> bool {
    dot(begin, rho) > 0.0 && dot(end, rho) > 0.0
}

impl<'a> Replay<'a> {
    fn new(
        density: &'a dyn LogDensity,
        adaptation: &'a Adaptation,
        config: &'a SamplerConfig,
        step: f64,
        random: Stream,
    ) -> Self {
        Self { density, adaptation, config, step, random, h0: 0.0, steps: 0, diverging: false }
    }

    /// Returns a v, with A = I + U (L^1/2 - 1) U^T
    fn stretched(&self, v: &[f64]) -> Vec<f64> {
        let metric = &self.adaptation.metric;
        let mut out = v.to_vec();
        for (u, variance) in metric.directions.iter().zip(&metric.variances) {
            let along = (variance.sqrt() - 1.0) * dot(u, v);
            out.iter_mut().zip(u).for_each(|(out, u)| *out += along * u);
        }
        out
    }

    /// D^1/2 v
    fn scaled(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(&self.adaptation.metric.diagonal).map(|(v, d)| v * d.sqrt()).collect()
    }

    /// Log density and whitened force at the state's position; -infinity where there is none.
    fn evaluate(&self, state: &mut PhasePoint) {
        if let Some((effects, own)) = self.adaptation.effects(self.density) {
            let (mut natural, mut gradient) = (state.x.clone(), vec![0.0; state.x.len()]);
            let jacobian = effects.make_natural(&own, &mut natural);
            let logp = self.density.logp_grad(&natural, &mut gradient);
            state.logp = match effects.logp_grad_in(&own, &state.x, &mut gradient).and(logp) {
                Ok(logp) => logp + jacobian,
                Err(_) => f64::NEG_INFINITY,
            };
            state.force = self.stretched(&self.scaled(&gradient));
            return;
        }
        let (blocks, centerings) = (&*self.adaptation.hierarchies(self.density), &self.adaptation.centerings);
        let mut natural = state.x.clone();
        to_non_centered(blocks, centerings, &mut natural);
        let mut gradient = vec![0.0; natural.len()];
        let logp = self.density.logp_grad(&natural, &mut gradient);
        gradient_to_centered(blocks, centerings, &natural, &mut gradient);
        state.logp = logp.map_or(f64::NEG_INFINITY, |logp| logp + log_jacobian(blocks, centerings, &state.x));
        state.force = self.stretched(&self.scaled(&gradient));
    }

    fn leapfrog(&self, from: &PhasePoint, step: f64) -> PhasePoint {
        let mut to = from.clone();
        to.index += if step > 0.0 { 1 } else { -1 };
        for (r, force) in to.r.iter_mut().zip(&from.force) {
            *r += 0.5 * step * force;
        }
        let velocity = self.scaled(&self.stretched(&to.r));
        to.x.iter_mut().zip(&velocity).for_each(|(x, v)| *x += step * v);
        self.evaluate(&mut to);
        let PhasePoint { r, force, .. } = &mut to;
        r.iter_mut().zip(force).for_each(|(r, force)| *r += 0.5 * step * *force);
        to
    }

    /// Returns a subtree of 2^depth steps beyond `edge`, which moves along; none when it turns or diverges.
    fn build(&mut self, edge: &mut PhasePoint, step: f64, depth: u32, weight_before: &mut f64) -> Option<Branch> {
        if depth == 0 {
            *edge = self.leapfrog(edge, step);
            let uniform = self.random.uniform_at(u64::from(2 * FIRST_LEAF_PAIR + self.steps));
            self.steps += 1;
            let error = 0.5 * dot(&edge.r, &edge.r) - edge.logp - self.h0;
            if error.is_nan() || error > self.config.max_energy_error {
                self.diverging = true;
                return None;
            }
            let weight = (-error).exp();
            *weight_before += weight;
            // Whether this leaf replaces what was chosen before of this doubling.
            let taken = uniform * *weight_before < weight;
            let chosen = PhasePoint { index: if taken { edge.index } else { 0 }, ..edge.clone() };
            return Some(Branch { begin: edge.r.clone(), end: edge.r.clone(), rho: edge.r.clone(), weight, chosen });
        }
        let a = self.build(edge, step, depth - 1, weight_before)?;
        let b = self.build(edge, step, depth - 1, weight_before)?;
        join(a, b)
    }

    /// Returns the point with a new momentum; the energy there is the transition's.
    fn start(&mut self, x: &[f64], momentum: &Stream) -> PhasePoint {
        let mut normals = vec![0.0; warp::padded(x.len())];
        momentum.fill_normal(warp::lanes(x.len()), &mut normals);
        let mut start =
            PhasePoint { x: x.to_vec(), r: normals[..x.len()].to_vec(), force: Vec::new(), logp: 0.0, index: 0 };
        self.evaluate(&mut start);
        self.h0 = 0.5 * dot(&start.r, &start.r) - start.logp;
        start
    }

    /// Moves by so many steps, and back if their end is not accepted.
    fn trajectory(&mut self, x: &[f64], momentum: &Stream, steps: u32) -> ReplayedTransition {
        let mut end = self.start(x, momentum);
        let mut error = 0.0;
        while self.steps < steps && !self.diverging {
            end = self.leapfrog(&end, self.step);
            self.steps += 1;
            error = 0.5 * dot(&end.r, &end.r) - end.logp - self.h0;
            self.diverging = error.is_nan() || error > self.config.max_energy_error;
        }
        let [uniform, _] = self.random.uniform_pair_at(0);
        let accepted = !self.diverging && uniform < (-error).exp();
        let x = if accepted { end.x } else { x.to_vec() };
        ReplayedTransition { x, steps: self.steps, depth: 0, index: 0, diverging: self.diverging }
    }

    fn transition(&mut self, x: &[f64], momentum: &Stream) -> ReplayedTransition {
        let start = self.start(x, momentum);
        let (mut left, mut right) = (start.clone(), start.clone());
        let r = &start.r;
        // Seen from left to right.
        let mut tree = Branch { begin: r.clone(), end: r.clone(), rho: r.clone(), weight: 1.0, chosen: start.clone() };
        let mut depth = 0;
        while depth < self.config.max_depth {
            let [direction, accept] = self.random.uniform_pair_at(depth);
            let forward = direction < 0.5;
            let (edge, step) = if forward { (&mut right, self.step) } else { (&mut left, -self.step) };
            let Some(new) = self.build(edge, step, depth, &mut 0.0) else { break };
            depth += 1;
            // min(1, new / old): the new half is preferred.
            let taken = new.chosen.index != 0 && accept < new.weight / tree.weight;
            let chosen = if taken { new.chosen.clone() } else { tree.chosen.clone() };
            let joined = if forward { join(tree, new) } else { join(reversed(tree), new).map(reversed) };
            match joined {
                Some(whole) => tree = Branch { chosen, ..whole },
                None => {
                    tree = Branch { begin: vec![], end: vec![], rho: vec![], weight: 0.0, chosen };
                    break;
                }
            }
        }
        let PhasePoint { x, index, .. } = tree.chosen;
        ReplayedTransition { x, steps: self.steps, depth, index, diverging: self.diverging }
    }
}

/// Returns the same stretch seen from its other end.
fn reversed(branch: Branch) -> Branch {
    Branch { begin: branch.end, end: branch.begin, ..branch }
}

/// Two neighbouring stretches, `b` after `a`; none when the whole, or either with the nearest end of the other, turns.
fn join(a: Branch, b: Branch) -> Option<Branch> {
    let rho = plus(&a.rho, &b.rho);
    let straight = goes_on(&a.begin, &b.end, &rho)
        && goes_on(&a.begin, &b.begin, &plus(&a.rho, &b.begin))
        && goes_on(&a.end, &b.end, &plus(&a.end, &b.rho));
    // A leaf that was not taken has index 0: what was chosen before stays.
    let chosen = if b.chosen.index == 0 { a.chosen } else { b.chosen };
    straight.then_some(Branch { begin: a.begin, end: b.end, rho, weight: a.weight + b.weight, chosen })
}

#[cfg(test)]
mod tests {
    use super::super::iid_normal::{IidNormal, plain};
    use super::*;

    #[test]
    fn every_difference_is_told() {
        let stats = DrawStats {
            lp: -1.0,
            acceptance_rate: 0.9,
            step_size: 0.5,
            energy: 1.0,
            energy_error: 0.0,
            max_energy_error: 0.1,
            tree_depth: 2,
            n_steps: 3,
            index_in_trajectory: -1,
            diverging: false,
            reached_max_treedepth: false,
            ..DrawStats::default()
        };
        let same = || ReplayedTransition { x: vec![0.0, 0.0], steps: 3, depth: 2, index: -1, diverging: false };
        for other in [
            ReplayedTransition { steps: 4, ..same() },
            ReplayedTransition { depth: 3, ..same() },
            ReplayedTransition { index: 1, ..same() },
            ReplayedTransition { diverging: true, ..same() },
        ] {
            let told = difference(&stats, &[0.0, 0.0], &other, &[1.0, 4.0]).unwrap();
            assert!(told.contains("(3, 2, -1, false)"), "{told}");
        }
        // One in a million is close, in units of the standard deviations 1 and 2.
        for (x, far) in [
            ([0.0, 0.0], None),
            ([1e-6, -2e-6], None),
            ([1.1e-6, 0.0], Some("coordinate 0 is")),
            ([0.0, -2.2e-6], Some("coordinate 1 is")),
            ([0.0, 1.5e-6], None),
            ([0.0, f64::NAN], Some("coordinate 1 is NaN")),
        ] {
            let told = difference(&stats, &x, &same(), &[1.0, 4.0]);
            assert_eq!(told.is_some(), far.is_some(), "{x:?}: {told:?}");
            assert!(told.unwrap_or_default().starts_with(far.unwrap_or_default()));
        }
    }

    /// Along (0.6, 0.8) three times as long, across it half as long.
    #[test]
    fn vectors_are_stretched_along_the_directions_of_the_metric() {
        let (density, mut adaptation, config) = (IidNormal::new(), plain(), SamplerConfig::default());
        let direction = |a: f64, b: f64| [vec![a, b], vec![0.0; density.dim() - 2]].concat();
        adaptation.metric.directions = vec![direction(0.6, 0.8), direction(-0.8, 0.6)];
        adaptation.metric.variances = vec![9.0, 0.25];
        adaptation.metric.diagonal[1] = 4.0;
        let replay = Replay::new(&density, &adaptation, &config, 0.5, Stream::new(1, 0, 1, Purpose::Tree));
        let found = replay.stretched(&(1..=8).map(f64::from).collect::<Vec<_>>());
        // 2.2 of (1, 2) are along the one, 0.4 along the other.
        let expected = [6.6 * 0.6 - 0.2 * 0.8, 6.6 * 0.8 + 0.2 * 0.6, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-14), "{found:?}");
        assert_eq!(replay.scaled(&[3.0; 8])[..3], [3.0, 6.0, 3.0]);
    }

    /// At a right angle a stretch has turned.
    #[test]
    fn a_stretch_goes_on_while_both_ends_go_its_way() {
        let (along, across, back) = ([1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]);
        assert!(goes_on(&along, &along, &along));
        for end in [across, back] {
            assert!(!goes_on(&along, &end, &along) && !goes_on(&end, &along, &along));
        }
    }

    /// The step goes outward, where the energy of a leapfrog step grows.
    #[test]
    fn a_step_diverges_beyond_the_limit_and_not_at_it() {
        let (density, adaptation, step) = (IidNormal::new(), plain(), 0.5);
        let config = |max_energy_error| SamplerConfig { max_energy_error, ..SamplerConfig::default() };
        let random = || Stream::new(1, 0, 1, Purpose::Tree);
        let mut start = PhasePoint {
            x: vec![0.5; density.dim()],
            r: vec![1.0; density.dim()],
            force: Vec::new(),
            logp: 0.0,
            index: 0,
        };
        let energy = |state: &PhasePoint| 0.5 * dot(&state.r, &state.r) - state.logp;
        let own = config(1000.0);
        let replay = Replay::new(&density, &adaptation, &own, step, random());
        replay.evaluate(&mut start);
        let (h0, error) = (energy(&start), energy(&replay.leapfrog(&start, step)) - energy(&start));
        assert!(error > 0.0, "{error}");
        for (limit, diverging) in [(error, false), (0.999 * error, true)] {
            let own = config(limit);
            let mut replay = Replay::new(&density, &adaptation, &own, step, random());
            replay.h0 = h0;
            let branch = replay.build(&mut start.clone(), step, 0, &mut 0.0);
            assert_eq!((replay.diverging, branch.is_none(), replay.steps), (diverging, diverging, 1));
        }
        // A transition tells it.
        for (step, diverging) in [(1e3, true), (1e-3, false)] {
            let own = SamplerConfig { max_depth: 2, ..config(1000.0) };
            let found = Replay::new(&density, &adaptation, &own, step, random()).transition(&start.x, &random());
            assert_eq!(found.diverging, diverging);
        }
    }
}
