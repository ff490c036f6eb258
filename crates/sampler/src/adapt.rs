//! What warm-up learns: the metric, from draws pooled over all chains in a fixed order, and the step size.
//!
//! Which coordinates (centering) a run has, its first metric, and the range of variances are decided here.

mod dual_averaging;
mod effects;
mod information;
mod length;
mod low_rank;
mod pool;
mod pooled;
mod schedule;
mod settled;
mod superchains;
mod window;

pub(crate) use dual_averaging::DualAveraging;
use effects::effect_coordinates;
pub use information::LearnedInformation;
pub(crate) use information::{block_sizes, is_learned, learn_information, learned_centering, with_learned};
pub(crate) use length::TrajectoryLength;
pub(crate) use low_rank::MAX_RANK;
pub(crate) use pool::{HostPool, Side, WindowPool};
pub(crate) use pooled::PooledStep;
pub(crate) use schedule::{SPREADING, Schedule};
pub(crate) use settled::{WindowVariance, are_alike};
pub(crate) use superchains::{are_mixed, f_quantile};
pub(crate) use window::Window;

use crate::config::{MetricKind, Parameterization};
use crate::error::SamplerError;
use crate::kernel::{MetricEstimate, Space, Vectors};
use low_rank::{SpikeRows, find_spikes};
use octopus_density::warp::Buffer;
use octopus_density::{Centering, DensityEffects, EffectBlock, EffectCoordinates, Hierarchy, LogDensity};
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
    /// The coordinates of each hierarchical block of the density: of its hierarchies, or else of its effects.
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
    pub fn hierarchies<'d>(&self, density: &'d dyn LogDensity) -> Cow<'d, [Hierarchy]> {
        with_learned(density.hierarchies(), &self.learned)
    }

    /// Returns the effects of `density` that are no hierarchies, with their coordinates.
    pub fn effects<'d>(&self, density: &'d dyn LogDensity) -> Option<(&'d dyn DensityEffects, EffectCoordinates)> {
        density.effects().map(|effects| (effects, effect_coordinates(effects.blocks(), self)))
    }

    /// Converts `position` from the density's own coordinates to those of the sampler, in place.
    pub fn take_natural(&self, density: &dyn LogDensity, position: &mut [f64]) {
        Space::of(density, self).take_natural(position);
    }
}

/// Returns the coordinates of each hierarchical block in which a run begins. It keeps them to its end, but where it learns
/// what the density does not say.
pub(crate) fn centerings(density: &dyn LogDensity, parameterization: Parameterization) -> Vec<Centering> {
    let of_block = |block: &Hierarchy| match parameterization {
        Parameterization::NonCentered | Parameterization::AsWritten => Centering::NonCentered,
        Parameterization::Centered => Centering::Centered,
        Parameterization::Adaptive if block.is_informed() => Centering::Standardised,
        Parameterization::Adaptive => Centering::NonCentered,
    };
    let of_effects = |block: &EffectBlock| match parameterization {
        Parameterization::NonCentered | Parameterization::Adaptive => Centering::NonCentered,
        Parameterization::Centered => Centering::Centered,
        Parameterization::AsWritten => block.written,
    };
    let effects = density.effects().map_or(&[][..], |effects| effects.blocks());
    density.hierarchies().iter().map(of_block).chain(effects.iter().map(of_effects)).collect()
}

/// Returns a first diagonal from the gradients at the chains' starting points (as nutpie): steep directions are narrow. Stan
/// begins with 1.
pub(crate) fn initial_metric(kind: MetricKind, dim: usize, gradients: &[Vec<f64>]) -> MetricEstimate {
    let diagonal = (0..dim)
        .map(|i| {
            if matches!(kind, MetricKind::DiagDraws | MetricKind::Identity) {
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
    if kind == MetricKind::Identity {
        return Ok(Some(initial_metric(kind, dim, &[])));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// Windows of these numbers of draws, of normal positions and gradients that `change` may change.
    fn windows(lengths: &[usize], dim: usize, change: impl Fn(&mut [f64], &mut [f64])) -> Vec<Window> {
        let window = |(chain, &draws): (usize, &usize)| {
            let mut random = Stream::new(4, chain as u32, 0, Purpose::User);
            let mut window = Window::default();
            for _ in 0..draws {
                let mut x: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
                let mut gradient: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
                change(&mut x, &mut gradient);
                window.positions.extend(x);
                window.gradients.extend(gradient);
            }
            window
        };
        lengths.iter().enumerate().map(window).collect()
    }

    fn learned(kind: MetricKind, windows: &mut [Window], dim: usize) -> Option<MetricEstimate> {
        learn(kind, dim, 3, &mut HostPool { windows: windows.iter_mut().collect(), dim }).unwrap()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
        }
    }

    /// The mean slopes are 4, 1e-9, 1e9 and 0.5.
    #[test]
    fn a_first_diagonal_is_one_over_the_mean_slope() {
        let gradients = [vec![3.0, 1e-9, -1e9, 0.25], vec![-5.0, -1e-9, 1e9, -0.75]];
        let metric = initial_metric(MetricKind::Auto, 4, &gradients);
        assert_eq!(metric.diagonal, [0.25, 1e8, 1e-8, 2.0]);
        assert!(metric.directions.is_empty() && metric.variances.is_empty());
        assert_eq!(initial_metric(MetricKind::DiagDraws, 4, &gradients).diagonal, [1.0; 4]);
    }

    #[test]
    fn the_identity_is_learned_from_nothing() {
        let change = |x: &mut [f64], _: &mut [f64]| x[0] *= 100.0;
        for lengths in [[1, 1], [50, 50]] {
            let found = learned(MetricKind::Identity, &mut windows(&lengths, 3, change), 3).unwrap();
            assert_eq!((found.diagonal, found.directions.len()), (vec![1.0; 3], 0));
        }
    }

    #[test]
    fn a_metric_takes_ten_draws_of_all_chains_together() {
        for (lengths, enough) in [([4, 5], false), ([5, 5], true)] {
            let found = learned(MetricKind::Diag, &mut windows(&lengths, 2, |_, _| ()), 2);
            assert_eq!(found.is_some(), enough, "{lengths:?}");
        }
    }

    /// Moments by numpy's definition (ddof = 1), all draws in one list; a coordinate that stands still or runs away keeps to
    /// the range of variances.
    #[test]
    fn diagonals_are_of_the_variances_of_draws_and_gradients() {
        const N: usize = 13;
        let change = |x: &mut [f64], gradient: &mut [f64]| {
            (x[0], x[1], x[2], x[3]) = (3.0 * x[0] + 100.0, 1e-3 * x[1], 7.0, 1e15 * x[3]);
            (gradient[0], gradient[1]) = (0.2 * gradient[0] - 5.0, 30.0 * gradient[1]);
        };
        let mut windows = windows(&[7, N - 7], 4, change);
        let variances = |of: &dyn Fn(&Window) -> &[f64]| -> Vec<f64> {
            let column = |i: usize| windows.iter().flat_map(move |w| of(w).chunks(4).map(move |row| row[i]));
            let variance = |i: usize| {
                let mean = column(i).sum::<f64>() / N as f64;
                column(i).map(|x| (x - mean) * (x - mean)).sum::<f64>() / (N - 1) as f64
            };
            (0..4).map(|i| variance(i).clamp(1e-20, 1e20)).collect()
        };
        let (draws, slopes) = (variances(&|w| &w.positions), variances(&|w| &w.gradients));
        assert_eq!((draws[2], draws[3]), (1e-20, 1e20));
        let stan: Vec<f64> = draws.iter().map(|v| 13.0 / 18.0 * v + 1e-3 * 5.0 / 18.0).collect();
        let nutpie: Vec<f64> = draws.iter().zip(&slopes).map(|(v, g)| (v / g).sqrt()).collect();
        assert_close(&learned(MetricKind::DiagDraws, &mut windows, 4).unwrap().diagonal, &stan);
        assert_close(&learned(MetricKind::Diag, &mut windows, 4).unwrap().diagonal, &nutpie);
    }

    /// The covariance is I + 100 1 1^T, the slopes are those of its inverse.
    #[test]
    fn directions_are_those_of_centered_and_scaled_draws() {
        const DIM: usize = 5;
        let change = |x: &mut [f64], gradient: &mut [f64]| {
            let along = 10.0 * gradient[0];
            x.iter_mut().for_each(|x| *x += along);
            let sum: f64 = x.iter().sum();
            gradient.iter_mut().zip(&*x).for_each(|(g, x)| *g = -(x - 100.0 / 501.0 * sum));
            x.iter_mut().for_each(|x| *x += 40.0);
        };
        let mut windows = windows(&[30, 30], DIM, change);
        let (mean, slope) = {
            let mut pool = HostPool { windows: windows.iter_mut().collect(), dim: DIM };
            (moments(&mut pool, Side::Positions).unwrap().0, moments(&mut pool, Side::Gradients).unwrap().0)
        };
        let found = learned(MetricKind::LowRank, &mut windows, DIM).unwrap();
        let rows = |of: &dyn Fn(&Window) -> &[f64], standard: &dyn Fn(usize, f64) -> f64| -> Vec<Buffer> {
            let row = |row: &[f64]| (0..DIM).map(|i| standard(i, row[i])).collect::<Vec<f64>>();
            windows.iter().flat_map(|w| of(w).chunks(DIM).map(row)).map(|row| Buffer::from_slice(&row)).collect()
        };
        let scale: Vec<f64> = found.diagonal.iter().map(|d| d.sqrt()).collect();
        let rows = SpikeRows {
            draws: rows(&|w| &w.positions, &|i, x| (x - mean[i]) / scale[i]),
            gradients: rows(&|w| &w.gradients, &|i, g| (g - slope[i]) * scale[i]),
        };
        let spikes = find_spikes(&Vectors::new(DIM), &rows, DIM, 3);
        assert_eq!(spikes.variances.len(), 1);
        assert_eq!((found.directions, found.variances), (spikes.directions, spikes.variances));
        assert!(learned(MetricKind::Diag, &mut windows, DIM).unwrap().directions.is_empty());
    }

    /// A pool of so many draws that tells how they were thinned.
    struct Counted {
        count: usize,
        strides: Vec<usize>,
    }

    impl WindowPool for Counted {
        fn count(&self) -> usize {
            self.count
        }

        fn sums(&mut self, _: Side, _: Option<&[f64]>) -> Result<Vec<f64>, SamplerError> {
            Ok(vec![self.count as f64; 3])
        }

        fn every(&mut self, _: Side, stride: usize) -> Result<Vec<f64>, SamplerError> {
            self.strides.push(stride);
            Ok(Vec::new())
        }
    }

    #[test]
    fn directions_are_searched_in_at_most_400_draws() {
        for (count, stride) in [(10, 1), (400, 1), (401, 2), (800, 2), (801, 3), (100_000, 250)] {
            let mut pool = Counted { count, strides: Vec::new() };
            learn(MetricKind::Auto, 3, 0, &mut pool).unwrap();
            assert_eq!(pool.strides, [stride, stride], "{count} draws");
        }
    }

    /// Draws chain after chain, against one list of all.
    #[test]
    fn pools_count_sum_and_thin_all_draws() {
        let mut windows = windows(&[4, 0, 3], 2, |_, _| ());
        let all: Vec<f64> = windows.iter().flat_map(|w| w.gradients.clone()).collect();
        let mut pool = HostPool { windows: windows.iter_mut().collect(), dim: 2 };
        assert_eq!(pool.count(), 7);
        for stride in 0..9 {
            let rows: Vec<f64> = all.chunks(2).step_by(stride.max(1)).flatten().copied().collect();
            assert_eq!(pool.every(Side::Gradients, stride).unwrap(), rows, "{stride}");
        }
        let sums =
            |power: i32, about: [f64; 2]| [0, 1].map(|i| all.chunks(2).map(|x| (x[i] - about[i]).powi(power)).sum());
        assert_close(&pool.sums(Side::Gradients, None).unwrap(), &sums(1, [0.0; 2]));
        assert_close(&pool.sums(Side::Gradients, Some(&[0.5, -2.0])).unwrap(), &sums(2, [0.5, -2.0]));
    }
}
