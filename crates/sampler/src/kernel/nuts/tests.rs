//! Integrator, U-turn logic and whole transitions, each against something written independently.

#[path = "../../../tests/sampler/densities.rs"]
mod densities;
mod integrator;
mod recursive;
mod transitions;
mod turns;

use super::*;
use crate::kernel::vector::Ends;
use crate::kernel::{Metric, MetricEstimate, Space, Vectors};
use octopus_density::warp::Buffer;
use octopus_density::{Centering, LogDensity};

/// What limits a transition; step sizes are each test's own.
#[derive(Clone, Copy)]
struct Limits {
    max_depth: u32,
    max_energy_error: f64,
}

/// A whitened momentum, as transitions draw theirs.
fn momentum(dim: usize, stream: &Stream) -> Buffer {
    let mut momentum = Buffer::zeros(dim);
    stream.fill_normal(Vectors::new(dim).lanes(), &mut momentum);
    momentum[dim..].fill(0.0);
    momentum
}

/// A density with a metric: all that a trajectory needs.
struct Machine<'d> {
    space: Space<'d>,
    metric: Metric,
    vectors: Vectors,
    workspace: Workspace,
}

impl<'d> Machine<'d> {
    fn new(density: &'d dyn LogDensity, centerings: Vec<Centering>, metric: &MetricEstimate) -> Self {
        let dim = density.dim();
        Self {
            space: Space::new(density, centerings),
            metric: Metric::new(metric),
            vectors: Vectors::new(dim),
            workspace: Workspace::new(dim),
        }
    }

    fn parts(&mut self) -> (PhaseSpace<'_, 'd>, &mut Workspace) {
        let Self { space, metric, vectors, workspace } = self;
        (PhaseSpace { space, metric, vectors }, workspace)
    }

    fn at(&mut self, x: &[f64]) -> Point {
        let mut point = Point { x: Buffer::from_slice(x), ..Point::zeros(x.len()) };
        let (phase_space, workspace) = self.parts();
        phase_space.evaluate(&mut point, &mut workspace.scratch).expect("a density there");
        point
    }

    /// One leapfrog step; returns the energy after it.
    fn step(&mut self, step: f64, point: &mut Point, r: &mut Buffer) -> f64 {
        let (from, before) = (point.clone(), r.clone());
        let (phase_space, workspace) = self.parts();
        let from = State { point: &from, momentum: &before };
        let to = StateMut { point: &mut *point, momentum: r };
        let square = phase_space.leapfrog(step, from, to, &mut workspace.scratch);
        let square = square.expect("not broken").expect("a density there");
        0.5 * square - point.logp
    }

    fn transition(&mut self, step: f64, limits: Limits, address: Address, point: &mut Point) -> DrawStats {
        self.try_transition(step, limits, address, point).expect("not broken")
    }

    fn try_transition(
        &mut self,
        step_size: f64,
        limits: Limits,
        address: Address,
        point: &mut Point,
    ) -> Result<DrawStats, DensityError> {
        let Limits { max_depth, max_energy_error } = limits;
        let (phase_space, workspace) = self.parts();
        transition(phase_space, NutsSettings { step_size, max_depth, max_energy_error }, address, point, workspace)
    }
}

/// A diagonal metric, far from the identity.
fn diagonal(dim: usize) -> MetricEstimate {
    MetricEstimate { diagonal: (0..dim).map(|i| 0.25 + 0.5 * i as f64).collect(), ..MetricEstimate::default() }
}

/// The same with two directions of their own.
fn low_rank(dim: usize) -> MetricEstimate {
    assert!(dim >= 3);
    let mut directions = vec![vec![0.0; dim]; 2];
    (directions[0][0], directions[0][1]) = (0.6, -0.8);
    (directions[1][0], directions[1][1], directions[1][2]) = (0.48, 0.36, 0.8);
    MetricEstimate { directions, variances: vec![9.0, 0.3], ..diagonal(dim) }
}
