//! NUTS as Stan writes it: recursive, in momenta `p ~ N(0, M)` that are not whitened, with dense matrices. It
//! shares the random numbers' addresses with the library, and no arithmetic.

use super::*;

/// A point of phase space.
#[derive(Clone)]
pub(super) struct State {
    pub(super) q: Vec<f64>,
    p: Vec<f64>,
    gradient: Vec<f64>,
    pub(super) logp: f64,
    /// Place on the trajectory.
    pub(super) index: i32,
}

/// One leapfrog step's result: the point and its energy error.
pub(super) struct Leaf {
    pub(super) state: State,
    pub(super) error: f64,
}

/// What a transition does, in more detail than the library reports.
pub(super) struct Trajectory {
    /// All leapfrog steps in order.
    pub(super) leaves: Vec<Leaf>,
    /// For each completed doubling the range of its leaves.
    pub(super) doublings: Vec<std::ops::Range<usize>>,
    pub(super) diverging: bool,
    pub(super) turned: bool,
    /// The chosen leaf; `None` when the chain stays.
    pub(super) selected: Option<usize>,
    pub(super) start_energy: f64,
}

enum Stop {
    Diverged,
    Turned,
}

/// Both ends and the sum of the momenta of a subtree, in the direction of integration.
struct Branch {
    begin: Vec<f64>,
    end: Vec<f64>,
    rho: Vec<f64>,
}

pub(super) struct Recursive<'d> {
    density: &'d dyn LogDensity,
    /// M^-1
    inverse_mass: Vec<Vec<f64>>,
    /// From standard normal numbers to p.
    to_momentum: Vec<Vec<f64>>,
}

fn times(matrix: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, v)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

impl<'d> Recursive<'d> {
    /// M^-1 = D^1/2 (I + U (L - 1) U^T) D^1/2 and p = D^-1/2 (I + U (L^-1/2 - 1) U^T) r.
    pub(super) fn new(density: &'d dyn LogDensity, metric: &MetricEstimate) -> Self {
        let dim = density.dim();
        let spiked = |power: f64, i: usize, j: usize| {
            let low_rank: f64 = metric
                .directions
                .iter()
                .zip(&metric.variances)
                .map(|(u, variance)| u[i] * (variance.powf(power) - 1.0) * u[j])
                .sum();
            low_rank + f64::from(u8::from(i == j))
        };
        let d = &metric.diagonal;
        let matrix = |entry: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect()
        };
        Self {
            density,
            inverse_mass: matrix(&|i, j| (d[i] * d[j]).sqrt() * spiked(1.0, i, j)),
            to_momentum: matrix(&|i, j| spiked(-0.5, i, j) / d[i].sqrt()),
        }
    }

    fn energy(&self, state: &State) -> f64 {
        0.5 * dot(&state.p, &times(&self.inverse_mass, &state.p)) - state.logp
    }

    fn evaluate(&self, state: &mut State) {
        state.logp = self.density.logp_grad(&state.q, &mut state.gradient).unwrap_or(f64::NEG_INFINITY);
    }

    fn leapfrog(&self, from: &State, step: f64) -> State {
        let mut state = from.clone();
        let kick = |state: &mut State| {
            for i in 0..state.p.len() {
                state.p[i] += 0.5 * step * state.gradient[i];
            }
        };
        kick(&mut state);
        let velocity = times(&self.inverse_mass, &state.p);
        for (q, v) in state.q.iter_mut().zip(velocity) {
            *q += step * v;
        }
        self.evaluate(&mut state);
        kick(&mut state);
        state.index += if step > 0.0 { 1 } else { -1 };
        state
    }

    /// Stan's `compute_criterion`, given p at both ends and the sum of p.
    fn goes_on(&self, begin: &[f64], end: &[f64], rho: &[f64]) -> bool {
        dot(&times(&self.inverse_mass, begin), rho) > 0.0 && dot(&times(&self.inverse_mass, end), rho) > 0.0
    }

    fn join(&self, a: Branch, b: Branch) -> Result<Branch, Stop> {
        let rho = plus(&a.rho, &b.rho);
        let straight = self.goes_on(&a.begin, &b.end, &rho)
            && self.goes_on(&a.begin, &b.begin, &plus(&a.rho, &b.begin))
            && self.goes_on(&a.end, &b.end, &plus(&b.rho, &a.end));
        if straight { Ok(Branch { begin: a.begin, end: b.end, rho }) } else { Err(Stop::Turned) }
    }

    fn build(
        &self,
        depth: u32,
        edge: &mut State,
        step: f64,
        start_energy: f64,
        limit: f64,
        leaves: &mut Vec<Leaf>,
    ) -> Result<Branch, Stop> {
        if depth == 0 {
            *edge = self.leapfrog(edge, step);
            let energy = self.energy(edge);
            let error = if energy.is_nan() { f64::INFINITY } else { energy - start_energy };
            leaves.push(Leaf { state: edge.clone(), error });
            if error > limit {
                return Err(Stop::Diverged);
            }
            return Ok(Branch { begin: edge.p.clone(), end: edge.p.clone(), rho: edge.p.clone() });
        }
        let a = self.build(depth - 1, edge, step, start_energy, limit, leaves)?;
        let b = self.build(depth - 1, edge, step, start_energy, limit, leaves)?;
        self.join(a, b)
    }

    pub(super) fn transition(&self, position: &[f64], step: f64, limits: Limits, address: Address) -> Trajectory {
        let dim = position.len();
        let lanes = octopus_density::warp::lanes(dim);
        let mut normals = vec![0.0; octopus_density::warp::padded(dim)];
        address.stream(Purpose::Momentum).fill_normal(lanes, &mut normals);
        let mut start = State {
            q: position.to_vec(),
            p: times(&self.to_momentum, &normals[..dim]),
            gradient: vec![0.0; dim],
            logp: 0.0,
            index: 0,
        };
        self.evaluate(&mut start);
        let start_energy = self.energy(&start);
        let tree_numbers = address.stream(Purpose::Tree);
        let mut trajectory = Trajectory {
            leaves: Vec::new(),
            doublings: Vec::new(),
            diverging: false,
            turned: false,
            selected: None,
            start_energy,
        };
        let mut edges = [start.clone(), start.clone()];
        let mut whole = Branch { begin: start.p.clone(), end: start.p.clone(), rho: start.p };
        let mut weight = 1.0;
        for depth in 0..limits.max_depth {
            let [direction, accept] = tree_numbers.uniform_pair_at(depth);
            let (side, signed) = if direction < 0.5 { (1, step) } else { (0, -step) };
            let first = trajectory.leaves.len();
            let built = self.build(
                depth,
                &mut edges[side],
                signed,
                start_energy,
                limits.max_energy_error,
                &mut trajectory.leaves,
            );
            let new = match built {
                Ok(new) => new,
                Err(stop) => {
                    trajectory.diverging = matches!(stop, Stop::Diverged);
                    trajectory.turned = matches!(stop, Stop::Turned);
                    break;
                }
            };
            let range = first..trajectory.leaves.len();
            trajectory.doublings.push(range.clone());
            // A leaf of the new half with the probability of its weight.
            let mut sum = 0.0;
            let mut candidate = None;
            for leaf in range {
                let uniform = tree_numbers.uniform_pair_at(64 + leaf as u32 / 2)[leaf % 2];
                let leaf_weight = (-trajectory.leaves[leaf].error).exp();
                sum += leaf_weight;
                if uniform * sum < leaf_weight {
                    candidate = Some(leaf);
                }
            }
            // Biased progressive sampling: min(1, new / old).
            if candidate.is_some() && accept < sum / weight {
                trajectory.selected = candidate;
            }
            weight += sum;
            // In the order of time.
            let joined = if side == 1 {
                self.join(whole, new)
            } else {
                self.join(Branch { begin: new.end, end: new.begin, rho: new.rho }, whole)
            };
            match joined {
                Ok(joined) => whole = joined,
                Err(_) => {
                    trajectory.turned = true;
                    break;
                }
            }
        }
        trajectory
    }
}

impl Trajectory {
    /// Mean and variance of the chosen point's energy error over the choices that the weights allow on this
    /// trajectory: the last doubling is taken with probability min(1, its weight / the weight before).
    pub(super) fn expected_error(&self) -> (f64, f64) {
        let (mut mean, mut square, mut weight) = (0.0, 0.0, 1.0);
        for range in &self.doublings {
            let leaves = &self.leaves[range.clone()];
            let weights: Vec<f64> = leaves.iter().map(|leaf| (-leaf.error).exp()).collect();
            let total: f64 = weights.iter().sum();
            let accept = if total > 0.0 { (total / weight).min(1.0) } else { 0.0 };
            let average = |f: &dyn Fn(f64) -> f64| -> f64 {
                if total == 0.0 {
                    return 0.0;
                }
                leaves.iter().zip(&weights).map(|(leaf, w)| f(leaf.error) * w).sum::<f64>() / total
            };
            mean = accept * average(&|e| e) + (1.0 - accept) * mean;
            square = accept * average(&|e| e * e) + (1.0 - accept) * square;
            weight += total;
        }
        (mean, square - mean * mean)
    }
}
