//! The constant by which a log density differs from the same with all of its terms, found by comparing their values.
//!
//! A constant that is dropped may be inside of anything: a function, a weight, a branch. Two values at a point tell what is
//! missing in all, and a second point whether that is a constant.

use crate::LogDensity;
use octopus_random::{Purpose, Stream};

/// Points that are compared, and how many are tried, since a density may vanish at some.
const POINTS: usize = 6;
const TRIES: u32 = 200;
/// How far points are from the center at the most, in turn, in units of each coordinate.
const RADII: [f64; 2] = [1.0, 0.3];
/// The share of the values by which differences at two points may differ: rounding, or the errors of a numerical method.
const ROUNDING: f64 = 1e-10;
const APPROXIMATE: f64 = 1e-5;

/// Returns the value of `whole` less the value of `density`, which is a constant. `whole` is a log density, Jacobians included,
/// of the coordinates in which the model was written
/// ([`DensityEffects::as_written`](crate::DensityEffects::as_written)). The answer is `None` where the difference is not the
/// same at all points, or too few points have a density.
pub fn constant_between(density: &dyn LogDensity, mut whole: impl FnMut(&[f64]) -> Option<f64>) -> Option<f64> {
    let dim = density.dim();
    let center = density.center().unwrap_or_else(|| vec![0.0; dim]);
    let unit = density.init_scale().unwrap_or_else(|| vec![1.0; dim]);
    let tolerance = if density.is_approximate() { APPROXIMATE } else { ROUNDING };
    let mut gradient = vec![0.0; dim];
    // Differences with the size of the values that they are made of.
    let mut found: Vec<(f64, f64)> = Vec::new();
    for number in 0..TRIES {
        let radius = RADII[number as usize % RADII.len()];
        let mut random = Stream::new(0, 0, number, Purpose::User);
        let around =
            center.iter().zip(&unit).map(|(center, unit)| center + unit * radius * (2.0 * random.uniform() - 1.0));
        let position: Vec<f64> = around.collect();
        let Ok(value) = density.logp_grad(&position, &mut gradient) else { continue };
        let (written, jacobian) = match density.effects() {
            Some(effects) => (effects.as_written(&position), effects.log_scales_as_written(&position)),
            None => (position, 0.0),
        };
        let Some(whole) = whole(&written).map(|whole| whole + jacobian) else { continue };
        found.push((whole - value, whole.abs().max(value.abs()).max(1.0)));
        if found.len() == POINTS {
            break;
        }
    }
    let &(constant, size) = found.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let agrees = |&(other, other_size): &(f64, f64)| (other - constant).abs() <= tolerance * size.max(other_size);
    (found.len() == POINTS && found.iter().all(agrees)).then_some(constant)
}
