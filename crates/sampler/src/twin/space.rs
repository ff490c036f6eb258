//! What a chain of the twin moves by: density, coordinates and metric, and the leapfrog step.

use super::Model;
use super::coordinates::Coordinates;
use super::lanes::{add_scaled, dot};
use super::real::{TwinReal, rounded, to};
use crate::kernel::MetricEstimate;

/// M^-1 = D^1/2 A A D^1/2, A = I + U (L^1/2 - 1) U^T.
pub(super) struct Metric<R, T> {
    /// The diagonal of D^1/2.
    scale: Vec<R>,
    /// Columns of U, each with the square root of its variance, less 1.
    directions: Vec<(Vec<R>, T)>,
}

impl<R: TwinReal, T: TwinReal> Metric<R, T> {
    pub(super) fn new(estimate: &MetricEstimate) -> Self {
        let direction = |(u, variance): (&Vec<f64>, &f64)| (rounded(u), T::of(variance.sqrt() - 1.0));
        Self {
            scale: estimate.diagonal.iter().map(|d| R::of(d.sqrt())).collect(),
            directions: estimate.directions.iter().zip(&estimate.variances).map(direction).collect(),
        }
    }

    /// Returns a v
    fn apply(&self, v: &[R]) -> Vec<R> {
        let mut out = v.to_vec();
        for (u, stretch) in &self.directions {
            let along: T = dot(u, v);
            add_scaled(&mut out, to(*stretch * along), u);
        }
        out
    }

    /// D^1/2 v
    fn scaled(&self, v: &[R]) -> Vec<R> {
        self.scale.iter().zip(v).map(|(&scale, &v)| scale * v).collect()
    }
}

/// A point without its momentum.
#[derive(Clone, Debug)]
pub(super) struct TwinPoint<R, T> {
    pub(super) x: Vec<R>,
    /// The whitened force, A D^1/2 times the gradient.
    pub(super) force: Vec<R>,
    pub(super) logp: T,
}

pub(super) struct Space<'m, R, T> {
    pub(super) model: &'m dyn Model<R, T>,
    pub(super) coordinates: Coordinates<R, T>,
    pub(super) metric: Metric<R, T>,
}

impl<R: TwinReal, T: TwinReal> Space<'_, R, T> {
    /// Returns the point at `x`; `None` where the density has no value.
    pub(super) fn point(&self, x: Vec<R>) -> Option<TwinPoint<R, T>> {
        let (logp, gradient) = self.model.evaluate(&self.coordinates, &x);
        let force = self.metric.apply(&self.metric.scaled(&gradient));
        logp.wide().is_finite().then_some(TwinPoint { x, force, logp })
    }

    /// One leapfrog step of signed size `step` from `point` with the whitened momentum `r`: where it leads, with which
    /// momentum, and the square of that.
    pub(super) fn leapfrog(&self, step: T, point: &TwinPoint<R, T>, r: &[R]) -> Option<(TwinPoint<R, T>, Vec<R>, T)> {
        let half_step: R = to(T::of(0.5) * step);
        let mut r = r.to_vec();
        add_scaled(&mut r, half_step, &point.force);
        let mut x = point.x.clone();
        add_scaled(&mut x, to(step), &self.metric.scaled(&self.metric.apply(&r)));
        let next = self.point(x)?;
        add_scaled(&mut r, half_step, &next.force);
        let square = dot(&r, &r);
        Some((next, r, square))
    }
}
