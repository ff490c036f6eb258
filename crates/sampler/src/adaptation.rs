//! What warm-up learns: the metric, from draws pooled over all chains in a fixed order, and the step size.
//!
//! Which coordinates (centering) a run has, its first metric, and the range of variances are decided here.

mod dual_averaging;
mod information;
mod low_rank;
mod pool;
mod pooled;
mod schedule;
mod settled;
mod superchains;
mod window;

pub(crate) use dual_averaging::DualAveraging;
pub use information::LearnedInformation;
pub(crate) use information::{is_learned, learn_information, learned_centering, with_learned};
pub(crate) use low_rank::MAX_RANK;
pub(crate) use pool::{HostPool, Side, WindowPool};
pub(crate) use pooled::PooledStep;
pub(crate) use schedule::{SPREADING, Schedule};
pub(crate) use settled::{WindowVariance, are_alike};
pub(crate) use superchains::{are_mixed, f_quantile};
pub(crate) use window::Window;

use crate::config::{MetricKind, Parameterization};
use crate::error::SamplerError;
use crate::trajectory::{MetricEstimate, Vectors};
use low_rank::{SpikeRows, find_spikes};
use octopus_density::warp::Buffer;
use octopus_density::{Centering, Hierarchy, LogDensity};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Rows given to the search for directions: enough for spikes, and its cost stays below that of sampling.
pub(crate) const MAX_ROWS: usize = 400;
/// Variances of draws and gradients are kept inside this range.
const VARIANCE_RANGE: (f64, f64) = (1e-20, 1e20);

/// What all chains share: the coordinates and the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// The coordinates of each hierarchical block of the density.
    pub centerings: Vec<Centering>,
    /// The metric in those coordinates.
    pub metric: MetricEstimate,
    /// What warm-up has learned of the effects of each block whose information the density does not give. The list is
    /// empty where nothing is learned.
    #[serde(skip)]
    pub learned: Vec<Option<LearnedInformation>>,
}

impl Adaptation {
    /// Returns the blocks of `density` with what is known of their effects: `centerings` are of these.
    pub fn hierarchies<'d, D: LogDensity + ?Sized>(&self, density: &'d D) -> Cow<'d, [Hierarchy]> {
        with_learned(density.hierarchies(), &self.learned)
    }
}

/// Returns the coordinates of each hierarchical block in which a run begins. It keeps them to its end, but where it learns
/// what the density does not say.
pub(crate) fn centerings<D: LogDensity + ?Sized>(density: &D, parameterization: Parameterization) -> Vec<Centering> {
    let of_block = |block: &Hierarchy| match parameterization {
        Parameterization::NonCentered => Centering::NonCentered,
        Parameterization::Centered => Centering::Centered,
        Parameterization::Adaptive if block.is_informed() => Centering::Standardised,
        Parameterization::Adaptive => Centering::NonCentered,
    };
    density.hierarchies().iter().map(of_block).collect()
}

/// Returns a first diagonal from the gradients at the chains' starting points (as nutpie): steep directions are narrow.
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

/// Learns a metric from the windows of all chains; `None` when they hold too few draws.
///
/// # Errors
/// When the windows are on a device that fails.
pub(crate) fn learn(
    kind: MetricKind,
    dim: usize,
    seed: u64,
    pool: &mut dyn WindowPool,
) -> Result<Option<MetricEstimate>, SamplerError> {
    if pool.count() < 10 {
        return Ok(None);
    }
    let _span = tracing::debug_span!("learn a metric", draws = pool.count()).entered();
    learn_metric(kind, pool, dim, seed).map(Some)
}

/// Returns per coordinate the mean and variance (divisor n - 1): sums within each chain, and those in order of the
/// chains.
fn moments(pool: &mut dyn WindowPool, side: Side) -> Result<(Vec<f64>, Vec<f64>), SamplerError> {
    let count = pool.count() as f64;
    let mut mean = pool.sums(side, None)?;
    for mean in &mut mean {
        *mean /= count;
    }
    let mut variance = pool.sums(side, Some(&mean))?;
    for variance in &mut variance {
        *variance = (*variance / (count - 1.0)).clamp(VARIANCE_RANGE.0, VARIANCE_RANGE.1);
    }
    Ok((mean, variance))
}

fn learn_metric(
    kind: MetricKind,
    pool: &mut dyn WindowPool,
    dim: usize,
    seed: u64,
) -> Result<MetricEstimate, SamplerError> {
    let (mean, variance) = moments(pool, Side::Positions)?;
    let (slope, steepness) = moments(pool, Side::Gradients)?;
    let n = pool.count();
    let diagonal: Vec<f64> = if kind == MetricKind::DiagDraws {
        // Stan's shrinkage towards 1e-3.
        let n = n as f64;
        variance.iter().map(|v| (n / (n + 5.0)) * v + 1e-3 * (5.0 / (n + 5.0))).collect()
    } else {
        variance.iter().zip(&steepness).map(|(v, g)| (v / g).sqrt()).collect()
    };
    let mut estimate = MetricEstimate { diagonal, ..MetricEstimate::default() };
    if matches!(kind, MetricKind::LowRank | MetricKind::Auto) {
        let scale: Vec<f64> = estimate.diagonal.iter().map(|d| d.sqrt()).collect();
        let stride = n.div_ceil(MAX_ROWS);
        let thinned = |rows: Vec<f64>, standard: &(dyn Fn(usize, f64) -> f64 + Sync)| -> Vec<Buffer> {
            rows.par_chunks_exact(dim)
                .map(|row| {
                    let mut buffer = Buffer::zeros(dim);
                    for i in 0..dim {
                        buffer[i] = standard(i, row[i]);
                    }
                    buffer
                })
                .collect()
        };
        let rows = SpikeRows {
            draws: thinned(pool.every(Side::Positions, stride)?, &|i, x| (x - mean[i]) / scale[i]),
            gradients: thinned(pool.every(Side::Gradients, stride)?, &|i, g| (g - slope[i]) * scale[i]),
        };
        let spikes = find_spikes(&Vectors::new(dim), &rows, dim, seed);
        estimate.directions = spikes.directions;
        estimate.variances = spikes.variances;
    }
    Ok(estimate)
}
