//! The Euclidean metric (inverse mass matrix), as a whitening of the momentum.
//!
//! The inverse mass matrix is `M^-1 = D^1/2 A A D^1/2` with `D` diagonal and
//! `A = I + U (L^1/2 - 1) U^T` symmetric, `U` having few orthonormal columns. Momenta are kept whitened,
//! `r = A D^1/2 p ~ N(0, I)`: kinetic energy and U-turn criteria are then plain dot products.

use super::state::{Scratch, State};
use super::vector::{Kick, KickDrift, Vectors};
use octopus_density::warp::Buffer;
use serde::{Deserialize, Serialize};

/// A direction in whitened coordinates whose variance differs from the rest.
#[derive(Clone, Debug)]
struct Direction {
    /// Unit vector.
    u: Buffer,
    /// Square root of the variance, less 1.
    stretch: f64,
}

/// A metric in use: vectors padded for the virtual warp.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    /// Square roots of the diagonal.
    scale: Buffer,
    directions: Vec<Direction>,
}

/// The numbers of a metric, for checkpoints and records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricEstimate {
    /// The diagonal `D` (variances).
    pub diagonal: Vec<f64>,
    /// Unit vectors of the low-rank part, in coordinates scaled by `D^-1/2`; none for a diagonal metric.
    pub directions: Vec<Vec<f64>>,
    /// The variances along `directions`, in units of the rest.
    pub variances: Vec<f64>,
}

impl Metric {
    pub(crate) fn new(estimate: &MetricEstimate) -> Self {
        let scale: Vec<f64> = estimate.diagonal.iter().map(|d| d.sqrt()).collect();
        let directions = estimate
            .directions
            .iter()
            .zip(&estimate.variances)
            .map(|(u, variance)| Direction { u: Buffer::from_slice(u), stretch: variance.sqrt() - 1.0 })
            .collect();
        Self { scale: Buffer::from_slice(&scale), directions }
    }

    /// `out = A v`
    fn apply(&self, vectors: &Vectors, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        for direction in &self.directions {
            let along = vectors.dot(&direction.u, v);
            vectors.axpy(direction.stretch * along, &direction.u, out);
        }
    }

    /// The whitened position about `center`, `z = A^-1 D^-1/2 (x - center)`: it moves by the whitened momentum.
    pub(crate) fn whiten_position(&self, vectors: &Vectors, x: &[f64], center: &[f64], z: &mut [f64]) {
        for (((z, x), center), scale) in z.iter_mut().zip(x).zip(center).zip(self.scale.iter()) {
            *z = (x - center) / scale;
        }
        for direction in &self.directions {
            let along = vectors.dot(&direction.u, z);
            vectors.axpy(-direction.stretch / (1.0 + direction.stretch) * along, &direction.u, z);
        }
    }

    /// A drift by the whitened momentum `r`: `out = x + step D^1/2 A r`; `spare` is overwritten.
    pub(crate) fn drift(&self, vectors: &Vectors, step: f64, r: &[f64], x: &[f64], spare: &mut [f64], out: &mut [f64]) {
        self.apply(vectors, r, spare);
        vectors.drift(step, &self.scale, spare, x, out);
    }

    /// The whitened force `w = A D^1/2 g`; `scratch` is overwritten.
    pub(crate) fn whiten(&self, vectors: &Vectors, g: &[f64], scratch: &mut [f64], w: &mut [f64]) {
        if self.directions.is_empty() {
            vectors.multiply(&self.scale, g, w);
        } else {
            vectors.multiply(&self.scale, g, scratch);
            self.apply(vectors, scratch, w);
        }
    }

    /// Half a kick by the force at `from` and a drift: `half = r + h w`, `x = from.x + step M^-1 p(half)`.
    #[inline(always)]
    pub(crate) fn kick_drift(
        &self,
        vectors: &Vectors,
        step: f64,
        from: State<'_>,
        x: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (h, Scratch { half, spare, .. }) = (0.5 * step, scratch);
        let State { point, momentum } = from;
        if self.directions.is_empty() {
            vectors.kick_drift(KickDrift {
                h,
                step,
                x: &point.x,
                force: &point.force,
                scale: &self.scale,
                momentum,
                half,
                out: x,
            });
        } else {
            vectors.add_scaled(h, momentum, &point.force, half);
            self.apply(vectors, half, spare);
            vectors.drift(step, &self.scale, spare, &point.x, x);
        }
    }

    /// The other half of the kick: `force` from the gradient, `momentum = half + h force`; returns its square.
    #[inline(always)]
    pub(crate) fn kick(
        &self,
        vectors: &Vectors,
        step: f64,
        scratch: &mut Scratch,
        force: &mut [f64],
        momentum: &mut [f64],
    ) -> f64 {
        let (h, Scratch { gradient, half, spare }) = (0.5 * step, scratch);
        if self.directions.is_empty() {
            vectors.kick(Kick { h, gradient, scale: &self.scale, half, force, out: momentum })
        } else {
            self.whiten(vectors, gradient, spare, force);
            vectors.add_scaled(h, half, force, momentum)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Point;

    /// With whitened momenta the drift must be M^-1 p and the kick the gradient: M^-1 = S S with
    /// S = D^1/2 A, so that drift = step D^1/2 A r and force = A D^1/2 g. Against dense matrices.
    #[test]
    fn low_rank_agrees_with_dense_matrices() {
        let n = 5;
        let u = [0.5, -0.5, 0.5, -0.5, 0.0];
        let estimate = MetricEstimate {
            diagonal: vec![1.0, 4.0, 0.25, 2.0, 9.0],
            directions: vec![u.to_vec()],
            variances: vec![16.0],
        };
        let metric = Metric::new(&estimate);
        let vectors = Vectors::new(n);
        let a = |i: usize, j: usize| f64::from(u8::from(i == j)) + u[i] * 3.0 * u[j];
        let g = Buffer::from_slice(&[1.0, 2.0, -1.0, 0.5, 3.0]);
        let (mut w, mut scratch) = (Buffer::zeros(n), Buffer::zeros(n));
        metric.whiten(&vectors, &g, &mut scratch, &mut w);
        for i in 0..n {
            let expected: f64 = (0..n).map(|j| a(i, j) * estimate.diagonal[j].sqrt() * g[j]).sum();
            assert!((w[i] - expected).abs() < 1e-12);
        }
        let mut q = Buffer::zeros(n);
        let from = Point { x: Buffer::zeros(n), force: w.clone(), logp: 0.0 };
        let from = State { point: &from, momentum: &g };
        metric.kick_drift(&vectors, 0.1, from, &mut q, &mut Scratch::new(n));
        for i in 0..n {
            let expected: f64 = (0..n).map(|j| estimate.diagonal[i].sqrt() * a(i, j) * (g[j] + 0.05 * w[j])).sum();
            assert!((q[i] - 0.1 * expected).abs() < 1e-12);
        }
    }
}
