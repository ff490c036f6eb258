//! The U-turn logic on trajectories made by hand: any sequence of momenta, whatever density would give it.

use super::*;
use octopus_density::Layout;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A "density" whose `k`-th evaluation returns the `k`-th of a list of random forces, so that the momenta of a
/// trajectory are known in advance, and a constant value.
struct Script {
    dim: usize,
    layout: Layout,
    force: f64,
    number: u32,
    evaluations: AtomicUsize,
}

impl Script {
    fn new(dim: usize, force: f64, number: u32) -> Self {
        Self { dim, layout: Layout::default(), force, number, evaluations: AtomicUsize::new(0) }
    }

    fn line(&self, k: usize) -> Vec<f64> {
        let mut stream = Stream::new(11, self.number, k as u32, Purpose::User);
        (0..self.dim).map(|_| self.force * stream.normal()).collect()
    }
}

impl LogDensity for Script {
    fn dim(&self) -> usize {
        self.dim
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, _position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        gradient.copy_from_slice(&self.line(self.evaluations.fetch_add(1, Ordering::Relaxed)));
        Ok(0.0)
    }

    fn expand(&self, _position: &[f64], _out: &mut [f64]) {}

    fn name(&self) -> &str {
        "script"
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(momenta: &[Vec<f64>]) -> Vec<f64> {
    (0..momenta[0].len()).map(|i| momenta.iter().map(|r| r[i]).sum()).collect()
}

/// The generalised criterion on a span of momenta: neither end turns back on the sum.
fn goes_on(momenta: &[Vec<f64>]) -> bool {
    let rho = sum(momenta);
    dot(&momenta[0], &rho) > 0.0 && dot(&momenta[momenta.len() - 1], &rho) > 0.0
}

/// Stan's three checks where two halves meet: the whole, and each half with the next leaf of the other.
fn straight(momenta: &[Vec<f64>]) -> bool {
    let middle = momenta.len() / 2;
    goes_on(momenta) && goes_on(&momenta[..=middle]) && goes_on(&momenta[middle - 1..])
}

/// What a transition must report of a script: (completed doublings, leapfrog steps, ended by a turn).
fn expected(script: &Script, step: f64, max_depth: u32, address: Address) -> (u32, u32, bool) {
    let directions = address.stream(Purpose::Tree);
    let start = momentum(script.dim, &address.stream(Purpose::Momentum));
    // Momenta in the order of time, and the force at each end.
    let mut whole = vec![start[..script.dim].to_vec()];
    let mut ends = [script.line(0), script.line(0)];
    let mut evaluations = 1;
    for depth in 0..max_depth {
        let forward = directions.uniform_pair_at(depth)[0] < 0.5;
        let (end, signed) = if forward { (1, step) } else { (0, -step) };
        let mut last = if forward { whole[whole.len() - 1].clone() } else { whole[0].clone() };
        let mut new: Vec<Vec<f64>> = Vec::new();
        for _ in 0..1 << depth {
            let force = script.line(evaluations);
            evaluations += 1;
            for i in 0..script.dim {
                last[i] += 0.5 * signed * ends[end][i];
                last[i] += 0.5 * signed * force[i];
            }
            ends[end] = force;
            new.push(last.clone());
            // Every aligned block of 2, 4, 8, ... leaves that this leaf completes, the smallest first.
            let mut size = 2;
            while new.len().is_multiple_of(size) {
                if !straight(&new[new.len() - size..]) {
                    return (depth, evaluations as u32 - 1, true);
                }
                size *= 2;
            }
        }
        if forward {
            whole.extend(new);
        } else {
            new.reverse();
            new.append(&mut whole);
            whole = new;
        }
        if !straight(&whole) {
            return (depth + 1, evaluations as u32 - 1, true);
        }
    }
    (max_depth, evaluations as u32 - 1, false)
}

/// Thousands of random walks of the momentum, from nearly straight to wild, in 1 to 10 dimensions: the stack of
/// subtrees stops at the leaf at which the definition says so.
#[test]
fn trees_stop_where_the_definition_says() {
    let limits = Limits { max_depth: 8, max_energy_error: f64::INFINITY };
    let mut depths = [0; 9];
    let mut within = 0;
    for (dim, number) in [1, 2, 3, 10].into_iter().flat_map(|dim| (0..500).map(move |n| (dim, n))) {
        let force = [0.2, 0.6, 2.0, 6.0, 20.0][number as usize % 5];
        let script = Script::new(dim, force, number);
        let metric = MetricEstimate { diagonal: vec![1.0; dim], ..MetricEstimate::default() };
        let mut machine = Machine::new(&script, vec![], &metric);
        let mut point = machine.at(&vec![0.0; dim]);
        let address = Address { seed: 1, chain: dim as u32, iteration: number };
        let stats = machine.transition(0.5, limits, address, &mut point);
        let (depth, steps, turned) = expected(&script, 0.5, limits.max_depth, address);
        let what = format!("dimension {dim}, script {number}");
        assert_eq!((stats.tree_depth, stats.n_steps), (depth, steps), "{what}");
        assert_eq!(stats.reached_max_treedepth, !turned, "{what}");
        assert!(!stats.diverging, "{what}");
        assert_eq!(script.evaluations.load(Ordering::Relaxed), steps as usize + 1, "{what}");
        depths[depth as usize] += 1;
        within += u32::from(turned && steps + 1 < 1 << (depth + 1) && steps + 1 > 1 << depth);
    }
    // The test means something only where all kinds of trees occur.
    assert!(depths[1..8].iter().all(|&n| n > 20), "{depths:?}");
    assert!(within > 300, "{within} trees stopped inside a subtree");
}

/// Four momenta by hand. Each pair goes on and so does the whole, but the first one turns back on the first
/// three: only a check across the seam sees it. Its mirror image is seen by the other check.
#[test]
fn a_turn_across_the_seam() {
    let momenta = [[1.0, 0.0], [0.1, 1.0], [-1.5, 2.0], [2.5, 0.1]];
    let mirrored = [momenta[3], momenta[2], momenta[1], momenta[0]];
    let vectors = Vectors::new(2);
    for m in [momenta, mirrored] {
        let m = m.map(|m| Buffer::from_slice(&m));
        let (mut a, mut b) = (Buffer::zeros(2), Buffer::zeros(2));
        assert!(vectors.join_leaves(&m[0], &m[1], &mut a));
        assert!(vectors.join_leaves(&m[2], &m[3], &mut b));
        let rho: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a + b).collect();
        assert!(dot(&m[0], &rho) > 0.0 && dot(&m[3], &rho) > 0.0);
        let ends = |begin, end| Ends { begin, end };
        assert!(!vectors.join(&mut a, ends(&m[0], &m[1]), ends(&m[2], &m[3]), &b));
    }
}

/// Constant momentum never turns; a momentum that reverses turns at once.
#[test]
fn straight_lines_and_reversals() {
    let vectors = Vectors::new(2);
    let (along, back) = (Buffer::from_slice(&[1.0, 0.5]), Buffer::from_slice(&[-1.0, -0.6]));
    let mut rho = Buffer::zeros(2);
    assert!(vectors.join_leaves(&along, &along, &mut rho));
    assert_eq!(rho[..2], [2.0, 1.0]);
    let both = Ends { begin: &along, end: &along };
    assert!(vectors.join(&mut rho, both, both, &Buffer::from_slice(&[2.0, 1.0])));
    assert_eq!(rho[..2], [4.0, 2.0]);
    assert!(!vectors.join_leaves(&along, &back, &mut rho));
}
