//! Integrator, U-turn logic and whole transitions, each against something written independently.

#[path = "../../tests/sampler/densities.rs"]
mod densities;
mod integrator;
mod recursive;
mod transitions;
mod turns;

use super::*;
use crate::metric::MetricEstimate;
use octopus_density::Centering;

/// A density with a metric: all that a trajectory needs.
struct Machine<'d, D: ?Sized> {
    space: Space<'d, D>,
    metric: Metric,
    vectors: Vectors,
    workspace: Workspace,
}

impl<'d, D: LogDensity + ?Sized> Machine<'d, D> {
    fn new(density: &'d D, centerings: Vec<Centering>, metric: &MetricEstimate) -> Self {
        let dim = density.dim();
        Self {
            space: Space::new(density, centerings),
            metric: Metric::new(metric),
            vectors: Vectors::new(dim),
            workspace: Workspace::new(dim),
        }
    }

    fn at(&mut self, x: &[f64]) -> Point {
        let mut point = Point { x: Buffer::from_slice(x), ..Point::zeros(x.len()) };
        point.evaluate(&self.space, &self.metric, &self.vectors, &mut self.workspace.scratch).expect("a density there");
        point
    }

    /// One leapfrog step; returns the energy after it.
    fn step(&mut self, step: f64, point: &mut Point, r: &mut Buffer) -> f64 {
        let (from, before) = (point.clone(), r.clone());
        let scratch = &mut self.workspace.scratch;
        let square = leapfrog(&self.space, &self.metric, &self.vectors, step, &from, &before, point, r, scratch)
            .expect("not broken")
            .expect("a density there");
        0.5 * square - point.logp
    }

    fn transition(&mut self, step: f64, limits: Limits, address: Address, point: &mut Point) -> DrawStats {
        transition(&self.space, &self.metric, &self.vectors, step, limits, address, point, &mut self.workspace)
            .expect("not broken")
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
