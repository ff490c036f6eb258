//! L-BFGS: the way up from a point to a mode.

use super::evaluate::{Halted, SamplerCoordinates};
use super::inverse_hessian::InverseHessian;
use super::linear::dot;
use std::ops::ControlFlow;

/// The most iterations, as in Stan.
const ITERATIONS: usize = 1000;
/// The path ends where a Newton step promises less, in units of the log density.
const PROMISE: f64 = 1e-8;
/// The share of the promised increase that a step must bring (Armijo), and the share of the slope that may be left (Wolfe).
const INCREASE: f64 = 1e-4;
const SLOPE: f64 = 0.9;
/// Points tried along one line.
const LINE: usize = 60;

/// A point of a path.
#[derive(Clone, Debug)]
pub(super) struct PathPoint {
    pub(super) x: Vec<f64>,
    pub(super) logp: f64,
    pub(super) gradient: Vec<f64>,
}

/// A path as far as it went.
#[derive(Clone, Debug)]
pub(super) struct AscentPath {
    /// The last point, the highest.
    pub(super) end: PathPoint,
    /// What the path has learned of the curvature.
    pub(super) inverse_hessian: InverseHessian,
    /// Gradients that were computed.
    pub(super) evaluations: u64,
}

/// Walks from `x` uphill until a Newton step promises nothing, no line search finds a higher point, the iterations are
/// spent, or `visit` breaks it off, which sees each point behind the start with what the path has learned there. A first
/// step is tried no longer than a unit of the coordinates, and none moves a coordinate by more than `longest` units.
///
/// # Errors
/// When the density is broken, evaluations are to stop, or `visit` fails.
pub(super) fn ascend(
    coordinates: &SamplerCoordinates<'_>,
    x: Vec<f64>,
    longest: f64,
    mut visit: impl FnMut(&PathPoint, &InverseHessian) -> Result<ControlFlow<()>, Halted>,
) -> Result<AscentPath, Halted> {
    let mut gradient = vec![0.0; x.len()];
    let logp = coordinates.value_at(&x, &mut gradient)?;
    let inverse_hessian = InverseHessian::new(coordinates.units.iter().map(|unit| unit * unit).collect());
    let mut path = AscentPath { end: PathPoint { x, logp, gradient }, inverse_hessian, evaluations: 1 };
    for _ in 0..ITERATIONS {
        let direction = path.inverse_hessian.times(&path.end.gradient);
        let slope = dot(&direction, &path.end.gradient);
        if !(slope > PROMISE && slope.is_finite()) {
            break;
        }
        let first = if path.inverse_hessian.has_seen_curvature() { 1.0 } else { 1.0 / slope.sqrt().max(1.0) };
        let most = longest / coordinates.length(&direction);
        let line = Line { from: &path.end, direction: &direction, slope, first: first.min(most), most };
        let Some(next) = search_line(coordinates, &line, &mut path.evaluations)? else { break };
        let step = next.x.iter().zip(&path.end.x).map(|(next, last)| next - last).collect();
        let change = path.end.gradient.iter().zip(&next.gradient).map(|(last, next)| last - next).collect();
        path.inverse_hessian.learn(step, change);
        path.end = next;
        if visit(&path.end, &path.inverse_hessian)?.is_break() {
            break;
        }
    }
    Ok(path)
}

/// A line that is searched.
struct Line<'a> {
    from: &'a PathPoint,
    direction: &'a [f64],
    /// The increase along it that the gradient promises.
    slope: f64,
    /// How many times the direction is tried first, and at the most.
    first: f64,
    most: f64,
}

/// Finds a point along a line that fulfils the weak Wolfe conditions, by bisection and doubling (Lewis and Overton 2013,
/// algorithm 2.6), or at least one that is higher; `None` where there is none.
fn search_line(
    coordinates: &SamplerCoordinates<'_>,
    &Line { from, direction, slope, first, most }: &Line<'_>,
    evaluations: &mut u64,
) -> Result<Option<PathPoint>, Halted> {
    let (mut low, mut high, mut t) = (0.0, f64::INFINITY, first);
    let mut best: Option<PathPoint> = None;
    for _ in 0..LINE {
        let x: Vec<f64> = from.x.iter().zip(direction).map(|(x, d)| x + t * d).collect();
        let mut gradient = vec![0.0; x.len()];
        let logp = coordinates.value_at(&x, &mut gradient)?;
        *evaluations += 1;
        let is_high = logp >= from.logp + INCREASE * t * slope;
        let is_steep = dot(&gradient, direction) > SLOPE * slope;
        if is_high {
            best = Some(PathPoint { x, logp, gradient });
            if !is_steep || t >= most {
                break;
            }
            low = t;
        } else {
            high = t;
        }
        t = if high.is_finite() { 0.5 * (low + high) } else { most.min(2.0 * low) };
    }
    Ok(best)
}
