//! What warm-up learns from a window of draws, pooled over all chains in a fixed order: the centering of
//! hierarchical blocks and the metric.

use crate::config::{MetricKind, Parameterization};
use crate::low_rank::find_spikes;
use crate::metric::MetricEstimate;
use crate::vector::Vectors;
use octopus_density::warp::Buffer;
use octopus_density::{Centering, LogDensity, gradient_to_centered, to_centered};
use serde::{Deserialize, Serialize};

/// Lambdas are rounded to this grid: what is lost is unmeasurable, and equal lambdas share one power of the scale.
const LAMBDA_GRID: f64 = 32.0;
/// Rows given to the search for directions: enough for spikes, and its cost stays below that of sampling.
const MAX_ROWS: usize = 400;
/// Variances of draws and gradients are kept inside this range.
const VARIANCE_RANGE: (f64, f64) = (1e-20, 1e20);

/// The draws of one chain in the current window, in the density's own coordinates, `draws x dim`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) positions: Vec<f64>,
    pub(crate) gradients: Vec<f64>,
}

impl Window {
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        self.gradients.clear();
    }
}

/// What all chains share: the coordinates and the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// One for each hierarchical block of the density.
    pub centerings: Vec<Centering>,
    /// The metric in those coordinates.
    pub metric: MetricEstimate,
}

/// The centering before anything is learned.
pub(crate) fn initial_centerings<D: LogDensity + ?Sized>(
    density: &D,
    parameterization: Parameterization,
) -> Vec<Centering> {
    let lambda = match parameterization {
        Parameterization::NonCentered => 0.0,
        Parameterization::Centered => 1.0,
        Parameterization::Adaptive => 0.0,
    };
    density.hierarchies().iter().map(|block| Centering::constant(lambda, block.z.len())).collect()
}

/// A first diagonal from the gradients at the chains' starting points (as nutpie): steep directions are narrow.
pub(crate) fn initial_metric(kind: MetricKind, dim: usize, gradients: &[Vec<f64>]) -> MetricEstimate {
    let diagonal = (0..dim)
        .map(|i| {
            if kind == MetricKind::DiagDraws {
                return 1.0;
            }
            let mean = gradients.iter().map(|g| g[i].abs()).sum::<f64>() / gradients.len() as f64;
            (1.0 / mean).clamp(1e-8, 1e8)
        })
        .collect();
    MetricEstimate { diagonal, ..MetricEstimate::default() }
}

/// Learns from the windows of all chains; `None` when they hold too few draws.
pub(crate) fn learn<D: LogDensity + ?Sized>(
    density: &D,
    kind: MetricKind,
    parameterization: Parameterization,
    seed: u64,
    windows: &[&Window],
) -> Option<Adaptation> {
    let dim = density.dim();
    let mut rows: Vec<Draw> = windows
        .iter()
        .flat_map(|window| window.positions.chunks_exact(dim).zip(window.gradients.chunks_exact(dim)))
        .map(|(x, g)| Draw { x: x.to_vec(), g: g.to_vec() })
        .collect();
    if rows.len() < 10 {
        return None;
    }
    let centerings = match parameterization {
        Parameterization::Adaptive => adapt_centerings(density, &rows),
        fixed => initial_centerings(density, fixed),
    };
    for row in &mut rows {
        gradient_to_centered(density.hierarchies(), &centerings, &row.x, &mut row.g);
        to_centered(density.hierarchies(), &centerings, &mut row.x);
    }
    let metric = learn_metric(kind, &rows, dim, seed);
    Some(Adaptation { centerings, metric })
}

struct Draw {
    x: Vec<f64>,
    g: Vec<f64>,
}

/// Per coordinate the mean and variance (divisor n - 1), in order of the rows.
fn moments<'a>(rows: impl Iterator<Item = &'a [f64]> + Clone, dim: usize) -> (Vec<f64>, Vec<f64>) {
    let mut mean = vec![0.0; dim];
    let mut variance = vec![0.0; dim];
    let mut count = 0.0;
    for row in rows.clone() {
        count += 1.0;
        for (mean, x) in mean.iter_mut().zip(row) {
            *mean += x;
        }
    }
    for mean in &mut mean {
        *mean /= count;
    }
    for row in rows {
        for ((variance, mean), x) in variance.iter_mut().zip(&mean).zip(row) {
            *variance += (x - mean) * (x - mean);
        }
    }
    for variance in &mut variance {
        *variance = (*variance / (count - 1.0)).clamp(VARIANCE_RANGE.0, VARIANCE_RANGE.1);
    }
    (mean, variance)
}

/// The data's share of each effect's precision: Var(d log p / d z_j) = 1 + I_j by Fisher's identity, the 1
/// being the prior's precision and I_j the data's; lambda_j = I_j / (1 + I_j), the optimum of
/// Papaspiliopoulos, Roberts and Skoeld (2007) for Gaussian data.
fn adapt_centerings<D: LogDensity + ?Sized>(density: &D, rows: &[Draw]) -> Vec<Centering> {
    let (_, precision) = moments(rows.iter().map(|row| row.g.as_slice()), density.dim());
    density
        .hierarchies()
        .iter()
        .map(|block| {
            let share = |p: f64| (1.0 - 1.0 / p).clamp(0.0, 1.0);
            let grid = |lambda: f64| (lambda * LAMBDA_GRID).round() / LAMBDA_GRID;
            Centering::new(precision[block.z.clone()].iter().map(|&p| grid(share(p))).collect())
        })
        .collect()
}

fn learn_metric(kind: MetricKind, rows: &[Draw], dim: usize, seed: u64) -> MetricEstimate {
    let (mean, variance) = moments(rows.iter().map(|row| row.x.as_slice()), dim);
    let diagonal: Vec<f64> = if kind == MetricKind::DiagDraws {
        // Stan's shrinkage towards 1e-3.
        let n = rows.len() as f64;
        variance.iter().map(|v| (n / (n + 5.0)) * v + 1e-3 * (5.0 / (n + 5.0))).collect()
    } else {
        let (_, gradient) = moments(rows.iter().map(|row| row.g.as_slice()), dim);
        variance.iter().zip(gradient).map(|(v, g)| (v / g).sqrt()).collect()
    };
    let mut estimate = MetricEstimate { diagonal, ..MetricEstimate::default() };
    if matches!(kind, MetricKind::LowRank | MetricKind::Auto) {
        let vectors = Vectors::new(dim);
        let stride = rows.len().div_ceil(MAX_ROWS);
        let scaled: Vec<Buffer> = rows
            .iter()
            .step_by(stride)
            .map(|row| {
                let values: Vec<f64> = (0..dim).map(|i| (row.x[i] - mean[i]) / estimate.diagonal[i].sqrt()).collect();
                Buffer::from_slice(&values)
            })
            .collect();
        let spikes = find_spikes(&vectors, &scaled, dim, seed);
        estimate.directions = spikes.directions;
        estimate.variances = spikes.variances;
    }
    estimate
}
