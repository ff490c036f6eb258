//! The way from a start that is far off to where the density is.

use super::evaluate::{Halted, SamplerCoordinates};
use super::lbfgs::ascend;
use std::ops::ControlFlow;

/// The slope, in the units in which chains start, beyond which a start is far off: a chain would come near by trajectories
/// that turn at once, each a little nearer, and what its windows learn on the way is wrong.
const FAR: f64 = 1e3;
/// The most steps of the way.
const STEPS: usize = 200;
/// A step that gains less than this for each coordinate ends the way: in the region where a normal distribution's draws are,
/// the log density varies by the square root of half their number. Modes and necks of funnels are far beyond.
const GAIN: f64 = 1.0;
/// The least gain of a step, however few the coordinates.
const LEAST_GAIN: f64 = 10.0;

/// Returns a point nearer to where the density is, with the gradient there: the start itself unless it is far off. A density
/// that has a center says itself where to start.
///
/// # Errors
/// When the density is broken.
pub(crate) fn approach(
    coordinates: &SamplerCoordinates<'_>,
    (x, gradient): (Vec<f64>, Vec<f64>),
) -> Result<(Vec<f64>, Vec<f64>), Halted> {
    let is_near = |(slope, unit): (&f64, &f64)| (slope * unit).abs() <= FAR;
    if coordinates.density().center().is_some() || gradient.iter().zip(&coordinates.units).all(is_near) {
        return Ok((x, gradient));
    }
    let least = (GAIN * coordinates.dim() as f64).max(LEAST_GAIN);
    let (mut steps, mut last) = (0, f64::NEG_INFINITY);
    let path = ascend(coordinates, x, |point, _| {
        let gain = point.logp - last;
        (steps, last) = (steps + 1, point.logp);
        Ok(if gain < least || steps == STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok((path.end.x, path.end.gradient))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Parameterization;
    use octopus_density::{DensityError, Layout, LogDensity};

    /// A normal distribution about 50 in each coordinate, and beyond it a neck: the log density grows without end as the last
    /// coordinate falls.
    struct FarNormal {
        sd: f64,
        layout: Layout,
    }

    const DIM: usize = 12;

    impl LogDensity for FarNormal {
        fn dim(&self) -> usize {
            DIM
        }
        fn layout(&self) -> &Layout {
            &self.layout
        }
        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            let mut logp = -0.1 * x[DIM - 1];
            gradient[DIM - 1] = -0.1;
            for (x, slope) in x[..DIM - 1].iter().zip(gradient) {
                let z = (x - 50.0) / self.sd;
                logp -= 0.5 * z * z;
                *slope = -z / self.sd;
            }
            Ok(logp)
        }
        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(x);
        }
        fn name(&self) -> &str {
            "far"
        }
    }

    fn start(sd: f64) -> (Vec<f64>, Vec<f64>, (Vec<f64>, Vec<f64>)) {
        let density = FarNormal { sd, layout: Layout::default() };
        let x: Vec<f64> = (0..DIM).map(|i| 0.3 * i as f64 - 2.0).collect();
        let mut gradient = vec![0.0; DIM];
        density.logp_grad(&x, &mut gradient).expect("a value");
        let coordinates = SamplerCoordinates::of(&density, Parameterization::Adaptive);
        let reached = approach(&coordinates, (x.clone(), gradient.clone())).expect("no error");
        (x, gradient, reached)
    }

    /// Slopes of 5200 and of 832: one start is far off.
    #[test]
    fn a_start_that_is_far_off_comes_near_and_others_stay() {
        let (x, _, (reached, gradient)) = start(0.1);
        let away: f64 = reached[..DIM - 1].iter().map(|x| ((x - 50.0) / 0.1).powi(2)).sum();
        assert!(away < 4.0 * DIM as f64, "{reached:?}");
        assert!((gradient[0] + (reached[0] - 50.0) / 0.01).abs() < 1e-9);
        // It did not follow the neck.
        assert!((reached[DIM - 1] - x[DIM - 1]).abs() < 1.0, "{}", reached[DIM - 1]);
        let (x, gradient, reached) = start(0.25);
        assert_eq!(reached, (x, gradient));
    }
}
