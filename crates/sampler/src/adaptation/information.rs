//! What warm-up learns of the effects of a hierarchy whose density gives no information: how the likelihood measures them,
//! from the gradients at the draws of a window and near them.
//!
//! The prior's part of a slope is known, since effects are standard normal and non-centered: what is left is the
//! likelihood's, and how it changes with the effect is its precision. How many draws are looked at, and what is enough to
//! change coordinates, is decided here.

use crate::config::{Parameterization, SamplerConfig};
use octopus_density::{Centering, DensityError, Hierarchy, Information, LogDensity, probe_sign};
use octopus_random::exact;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The draws of a window that are looked at: three gradients each, for each block.
const ROWS: usize = 64;
/// The fewest draws that say something.
const LEAST: usize = 8;
/// How far effects are moved, in units of their prior; the location is moved so far in units of the scale.
const STEP: f64 = 1e-4;
/// Draws of a scale that is this share of the median say nothing but rounding.
const SMALL: f64 = 1e-3;
/// Precisions that differ by no more than this factor, and means by no more than this many standard errors, are alike: then
/// coordinates stay as they are.
const ALIKE: (f64, f64) = (1.5, 0.5);
/// A prior of the location that says less than this share of what the data say of it is left out.
const FAINT: f64 = 1e-3;

/// What warm-up has learned of the effects of one hierarchical block, as [`Information`] has it; the noise is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedInformation {
    /// What the means are relative to: the location's prior mean, where its prior was found.
    pub origin: f64,
    /// Where the likelihood puts each effect, less the origin.
    pub mean: Vec<f64>,
    /// The likelihood's curvature at each effect.
    pub precision: Vec<f64>,
    /// The standard deviation of what else is known of the location.
    pub prior_sd: Option<f64>,
}

impl LearnedInformation {
    /// Returns whether the numbers are of `effects` effects, and can be used.
    pub(crate) fn is_of(&self, effects: usize) -> bool {
        let Self { origin, mean, precision, prior_sd } = self;
        let positive = |x: f64| x.is_finite() && x >= 0.0;
        mean.len() == effects
            && precision.len() == effects
            && origin.is_finite()
            && mean.iter().all(|mean| mean.is_finite())
            && precision.iter().all(|&precision| positive(precision))
            && prior_sd.is_none_or(|sd| positive(sd) && sd > 0.0)
    }

    fn information(&self) -> Information {
        let information = Information::new(self.origin, self.mean.clone(), self.precision.clone());
        match self.prior_sd {
            Some(sd) => information.with_prior(sd),
            None => information,
        }
    }

    /// Returns whether `other` is nearly the same.
    fn is_like(&self, other: &Self) -> bool {
        let pairs = self.precision.iter().zip(&other.precision);
        let means = self.mean.iter().zip(&other.mean);
        let alike = |((&p, &q), (a, b)): ((&f64, &f64), (&f64, &f64))| {
            let away = (self.origin - other.origin) + (a - b);
            p <= ALIKE.0 * q && q <= ALIKE.0 * p && away.abs() * p.sqrt() <= ALIKE.1
        };
        let [one, two] = [self.prior_sd, other.prior_sd].map(|sd| sd.unwrap_or(f64::INFINITY));
        pairs.zip(means).all(alike) && (one == two || one <= ALIKE.0 * two && two <= ALIKE.0 * one)
    }
}

/// Returns whether warm-up learns the information of this block: the density gives none, and has no kernels, which could
/// not read it.
pub(crate) fn is_learned<D: LogDensity + ?Sized>(density: &D, block: &Hierarchy, config: &SamplerConfig) -> bool {
    config.parameterization == Parameterization::Adaptive && !block.is_informed() && density.kernels().is_none()
}

/// Returns the density's blocks with what is learned of them. `learned` is empty, or has an element for each block.
pub(crate) fn with_learned<'d>(
    blocks: &'d [Hierarchy],
    learned: &[Option<LearnedInformation>],
) -> Cow<'d, [Hierarchy]> {
    if learned.iter().all(Option::is_none) {
        return Cow::Borrowed(blocks);
    }
    let one = |(block, learned): (&Hierarchy, &Option<LearnedInformation>)| match learned {
        Some(learned) => Hierarchy { information: Some(learned.information()), ..block.clone() },
        None => block.clone(),
    };
    Cow::Owned(blocks.iter().zip(learned).map(one).collect())
}

/// Returns the centering of a block of which this is learned.
pub(crate) fn learned_centering(block: &Hierarchy, learned: &LearnedInformation) -> Centering {
    let informed = Hierarchy { information: Some(learned.information()), ..block.clone() };
    if informed.is_informed() { Centering::Standardised } else { Centering::NonCentered }
}

/// Learns the information of the blocks for which `asked` says so from draws in the density's own coordinates, all in one
/// list. Returns `None` where nothing has changed much since `known`.
///
/// # Errors
/// When the density is broken.
pub(crate) fn learn_information<D: LogDensity + ?Sized>(
    density: &D,
    asked: &[bool],
    draws: &[f64],
    known: &[Option<LearnedInformation>],
) -> Result<Option<Vec<Option<LearnedInformation>>>, DensityError> {
    let dim = density.dim();
    let count = draws.len() / dim;
    let rows: Vec<&[f64]> = draws.chunks_exact(dim).step_by(count.div_ceil(ROWS).max(1)).collect();
    if rows.len() < LEAST {
        return Ok(None);
    }
    let blocks = density.hierarchies();
    let mut found: Vec<Option<LearnedInformation>> = known.to_vec();
    found.resize(blocks.len(), None);
    let mut changed = false;
    for (number, block) in blocks.iter().enumerate().filter(|&(number, _)| asked[number]) {
        let looks: Vec<Look> = rows
            .par_iter()
            .enumerate()
            .map(|(row, x)| look(density, block, x, row as u64))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        let Some(learned) = sum_up(&looks, block.z.len()).filter(|learned| learned.is_of(block.z.len())) else {
            continue;
        };
        let alike = found[number].as_ref().is_some_and(|known| known.is_like(&learned));
        if !alike {
            found[number] = Some(learned);
            changed = true;
        }
    }
    Ok(changed.then_some(found))
}

/// The likelihood of a block near one draw.
struct Look {
    location: f64,
    scale: f64,
    /// Each effect, the likelihood's slope there, and its curvature.
    effects: Vec<[f64; 3]>,
    /// The slope of what else depends on the location, and its curvature.
    rest: [f64; 2],
}

/// Looks at a draw and at two places beside it; `None` where the density has no value there.
fn look<D: LogDensity + ?Sized>(
    density: &D,
    block: &Hierarchy,
    x: &[f64],
    row: u64,
) -> Result<Option<Look>, DensityError> {
    let (location, scale) = (x[block.location], exact::exp(x[block.log_scale]));
    let gradient = |x: &[f64]| {
        let mut gradient = vec![0.0; x.len()];
        match density.logp_grad(x, &mut gradient) {
            Ok(_) => Ok(Some(gradient).filter(|gradient| gradient.iter().all(|slope| slope.is_finite()))),
            Err(error) if error.is_recoverable() => Ok(None),
            Err(error) => Err(error),
        }
    };
    // Effects are moved all at once, each to the side that its sign says: what others do to a slope has another sign in
    // other draws, and the median forgets it.
    let mut aside = x.to_vec();
    for (j, i) in block.z.clone().enumerate() {
        aside[i] += STEP * probe_sign(j, row);
    }
    // The location is moved, and the effects stay where they are.
    let mut shifted = x.to_vec();
    shifted[block.location] += STEP * scale;
    let step = shifted[block.location] - location;
    for i in block.z.clone() {
        shifted[i] -= step / scale;
    }
    let (Some(here), Some(there), Some(moved)) = (gradient(x)?, gradient(&aside)?, gradient(&shifted)?) else {
        return Ok(None);
    };
    let pull = |x: &[f64], gradient: &[f64], i: usize| (gradient[i] + x[i]) / scale;
    let effect = |i: usize| {
        let (slope, beside) = (pull(x, &here, i), pull(&aside, &there, i));
        [location + scale * x[i], slope, -(beside - slope) / (scale * (aside[i] - x[i]))]
    };
    let rest = |x: &[f64], gradient: &[f64]| {
        gradient[block.location] - block.z.clone().map(|i| pull(x, gradient, i)).sum::<f64>()
    };
    let (slope, beside) = (rest(x, &here), rest(&shifted, &moved));
    Ok(Some(Look {
        location,
        scale,
        effects: block.z.clone().map(effect).collect(),
        rest: [slope, -(beside - slope) / step],
    }))
}

/// Sums up what was seen near several draws, by medians: chains may be far off at first.
fn sum_up(looks: &[Look], effects: usize) -> Option<LearnedInformation> {
    let scale = median(looks.iter().map(|look| look.scale))?;
    let looks: Vec<&Look> = looks.iter().filter(|look| look.scale >= SMALL * scale).collect();
    if looks.len() < LEAST {
        return None;
    }
    let mut precision = Vec::with_capacity(effects);
    let mut place = Vec::with_capacity(effects);
    for j in 0..effects {
        let curvature = median(looks.iter().map(|look| look.effects[j][2]))?.max(0.0);
        // Where a likelihood of this curvature has its top.
        let top = |look: &&Look| {
            let [theta, slope, _] = look.effects[j];
            if curvature > 0.0 { theta + slope / curvature } else { theta }
        };
        place.push(median(looks.iter().map(top))?);
        precision.push(curvature);
    }
    let known: f64 = precision.iter().map(|p| p / (1.0 + p * scale * scale)).sum();
    let total: f64 = precision.iter().sum();
    let prior = median(looks.iter().map(|look| look.rest[1]))?.max(0.0);
    let (origin, prior_sd) = if prior > FAINT * known {
        (median(looks.iter().map(|look| look.location + look.rest[0] / prior))?, Some(1.0 / prior.sqrt()))
    } else if total > 0.0 {
        (precision.iter().zip(&place).map(|(p, a)| p * a).sum::<f64>() / total, None)
    } else {
        return None;
    };
    let mean = place.iter().map(|place| place - origin).collect();
    Some(LearnedInformation { origin, mean, precision, prior_sd })
}

/// Returns the median of the numbers that are finite.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut finite: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let middle = finite.len() / 2;
    match finite.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(finite[middle]),
        _ => Some(0.5 * (finite[middle - 1] + finite[middle])),
    }
}
