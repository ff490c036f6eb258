//! The curvature at a mode: the covariance of a normal that touches the density there.

use super::evaluate::{SamplerCoordinates, halted};
use super::lbfgs::{AscentPath, ascend};
use super::linear::LowerFactor;
use crate::error::SamplerError;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Starts of which the highest mode is taken.
const STARTS: usize = 4;
/// The most coordinates of a dense Hessian: its inverse takes half a minute and 32 MB.
const MOST_COORDINATES: usize = 2048;
/// How far a coordinate is moved to see the slopes change, in standard deviations. The error of the differences is about
/// its square, and noise of 1e-6 in the gradients, as of differential equations, does not hide the curvature.
const MOVE: f64 = 1e-3;
/// The least curvature that is added to a Hessian that is not positive definite, in units of its diagonal; ten times as
/// much each time.
const RIDGE: f64 = 1e-6;

/// The highest mode that was found, and the curvature there.
#[derive(Debug)]
pub(super) struct ModeFit {
    pub(super) mode: Vec<f64>,
    /// The inverse of minus the Hessian, `dim x dim`.
    pub(super) covariance: Vec<f64>,
    pub(super) evaluations: u64,
}

impl ModeFit {
    /// Walks uphill from several starts, and looks at the curvature where the highest way ended.
    ///
    /// # Errors
    /// When there is no start, the density is broken, or has more coordinates than a dense Hessian may have.
    pub(super) fn find(coordinates: &SamplerCoordinates<'_>, seed: u64) -> Result<Self, SamplerError> {
        let dim = coordinates.dim();
        if dim > MOST_COORDINATES {
            return Err(SamplerError::ManyCoordinates { dim, most: MOST_COORDINATES });
        }
        let paths: Vec<AscentPath> = (0..STARTS)
            .into_par_iter()
            .map(|path| {
                let start = coordinates.start(seed, path)?;
                ascend(coordinates, start, f64::INFINITY, |_, _| Ok(ControlFlow::Continue(())))
                    .map_err(|why| halted(path, why))
            })
            .collect::<Result<_, SamplerError>>()?;
        let mut evaluations: u64 = paths.iter().map(|path| path.evaluations).sum();
        // The first of the highest.
        let best = paths.into_iter().reduce(|best, path| if path.end.logp > best.end.logp { path } else { best });
        let AscentPath { end, inverse_hessian, .. } = best.expect("there are several starts");
        let hessian = negative_hessian(coordinates, &end.x, inverse_hessian.diagonal())?;
        evaluations += 2 * dim as u64;
        Ok(Self { mode: end.x, covariance: positive_factor(hessian, dim).inverse(), evaluations })
    }
}

/// Returns minus the Hessian (`dim x dim`) by central differences of the gradient; each coordinate moves by [`MOVE`] of the
/// root of `variances`. Where a neighbour has no value, the row has none either, but its diagonal.
fn negative_hessian(
    coordinates: &SamplerCoordinates<'_>,
    mode: &[f64],
    variances: &[f64],
) -> Result<Vec<f64>, SamplerError> {
    let dim = mode.len();
    let rows: Vec<Vec<f64>> = (0..dim)
        .into_par_iter()
        .map(|i| {
            let step = MOVE * variances[i].sqrt();
            let slopes = |sign: f64| {
                let (mut x, mut gradient) = (mode.to_vec(), vec![0.0; dim]);
                x[i] += sign * step;
                let logp = coordinates.value_at(&x, &mut gradient).map_err(|why| halted(i, why))?;
                Ok::<_, SamplerError>(logp.is_finite().then_some(gradient))
            };
            let mut row = vec![0.0; dim];
            match (slopes(1.0)?, slopes(-1.0)?) {
                (Some(ahead), Some(behind)) => {
                    for (row, (ahead, behind)) in row.iter_mut().zip(ahead.iter().zip(&behind)) {
                        *row = (behind - ahead) / (2.0 * step);
                    }
                }
                _ => row[i] = 1.0 / variances[i],
            }
            Ok(row)
        })
        .collect::<Result<_, SamplerError>>()?;
    let mut hessian = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            hessian[i * dim + j] = 0.5 * (rows[i][j] + rows[j][i]);
        }
    }
    // A flat or upward direction has no curvature of its own: what the path has learned stands in.
    for i in 0..dim {
        let curvature = &mut hessian[i * dim + i];
        if !(*curvature > 0.0 && curvature.is_finite()) {
            *curvature = 1.0 / variances[i];
        }
    }
    Ok(hessian)
}

/// Factors a matrix with a positive diagonal, with as little added to the diagonal as makes it positive definite.
fn positive_factor(matrix: Vec<f64>, dim: usize) -> LowerFactor {
    let mut ridge = 0.0;
    while ridge < 1e9 {
        let mut raised = matrix.clone();
        (0..dim).for_each(|i| raised[i * dim + i] *= 1.0 + ridge);
        if let Some(factor) = LowerFactor::of(raised, dim) {
            return factor;
        }
        ridge = if ridge == 0.0 { RIDGE } else { 10.0 * ridge };
    }
    LowerFactor::diagonal_of(&matrix, dim)
}
