//! What warm-up learns of effects whose location and scale are any functions of other coordinates, and the coordinates that
//! follow.
//!
//! The density gives the likelihood's slopes with the effects themselves as coordinates, so that the effects' own terms
//! need not be taken away.

use super::Adaptation;
use super::information::{LEAST, LearnedInformation, SMALL, STEP, median};
use octopus_density::{Centering, DensityEffects, DensityError, EffectBlock, EffectCoordinates, probe_sign};
use rayon::prelude::*;

/// A plain parameter's prior has this share of the precision that the data give it.
const FAINT: f64 = 1e-9;

/// Returns the coordinates of all effects.
pub(crate) fn effect_coordinates(blocks: &[EffectBlock], adaptation: &Adaptation) -> EffectCoordinates {
    let all = blocks.iter().map(|block| block.coordinates.len()).sum();
    let mut coordinates = EffectCoordinates::natural(all);
    let mut first = 0;
    for (number, block) in blocks.iter().enumerate() {
        let range = first..first + block.coordinates.len();
        first = range.end;
        let learned = adaptation.learned.get(number).and_then(Option::as_ref);
        match (adaptation.centerings.get(number), learned) {
            (Some(Centering::Centered), _) => coordinates.center(range),
            (Some(Centering::Standardised), Some(learned)) => {
                coordinates.tops[range.clone()].copy_from_slice(&learned.mean);
                coordinates.precisions[range.clone()].copy_from_slice(&learned.precision);
                coordinates.links[range.clone()].fill(1.0);
                if block.is_plain {
                    coordinates.priors[range].fill(plain_prior(number, blocks, adaptation));
                }
            }
            _ => {}
        }
    }
    coordinates
}

/// What is left of the prior of a plain parameter, which has none: so little that it matters only where nothing else is
/// known.
fn plain_prior(number: usize, blocks: &[EffectBlock], adaptation: &Adaptation) -> f64 {
    let is_own = |other: usize| other == number || blocks[other].parent == Some(number);
    let learned = adaptation.learned.iter().enumerate().filter(|&(other, _)| is_own(other));
    let most = learned
        .flat_map(|(_, learned)| learned)
        .flat_map(|learned| &learned.precision)
        .fold(0.0_f64, |most, &p| most.max(p));
    if most > 0.0 { FAINT * most } else { 1.0 }
}

/// One effect near one draw.
#[derive(Clone, Copy)]
struct EffectLook {
    effect: f64,
    scale: f64,
    /// The likelihood's slope, and its curvature.
    slope: f64,
    curvature: f64,
}

/// Learns what is new of each block from draws in the density's own coordinates; none where they do not say enough.
pub(super) fn learn_effects(
    effects: &dyn DensityEffects,
    rows: &[&[f64]],
) -> Result<Vec<Option<LearnedInformation>>, DensityError> {
    let spreads = spreads(effects, rows);
    let looks: Vec<Vec<EffectLook>> = rows
        .par_iter()
        .enumerate()
        .map(|(row, x)| look(effects, x, row as u64, &spreads))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect();
    let mut first = 0;
    let of_block = |block: &EffectBlock| {
        let range = first..first + block.coordinates.len();
        first = range.end;
        let (mean, precision) = range.map(|j| sum_up(looks.iter().map(|looks| looks[j]))).collect::<Option<_>>()?;
        let learned = LearnedInformation { origin: 0.0, mean, precision, prior_sd: None };
        learned.is_of(block.coordinates.len()).then_some(learned)
    };
    Ok(effects.blocks().iter().map(of_block).collect())
}

/// How far the draws of each coordinate of plain parameters are from their median; none for effects.
fn spreads(effects: &dyn DensityEffects, rows: &[&[f64]]) -> Vec<Option<f64>> {
    let of = |block: &EffectBlock, at: usize| {
        let middle = median(rows.iter().map(|x| x[at])).filter(|_| block.is_plain)?;
        median(rows.iter().map(|x| (x[at] - middle).abs())).filter(|&spread| spread > 0.0)
    };
    effects.blocks().iter().flat_map(|block| block.coordinates.iter().map(move |&at| of(block, at))).collect()
}

/// Looks at a draw, and for each block at a place beside it; `None` where the density has no value there.
fn look(
    effects: &dyn DensityEffects,
    x: &[f64],
    row: u64,
    spreads: &[Option<f64>],
) -> Result<Option<Vec<EffectLook>>, DensityError> {
    let (values, mut scales) = effects.values(x);
    scales.iter_mut().zip(spreads).for_each(|(scale, spread)| *scale = spread.unwrap_or(*scale));
    let gradient = |position: &[f64]| {
        let mut gradient = vec![0.0; position.len()];
        match effects.likelihood_grad(position, &mut gradient) {
            Ok(_) => Ok(Some(gradient)),
            Err(error) if error.is_recoverable() => Ok(None),
            Err(error) => Err(error),
        }
    };
    let coordinates = || effects.blocks().iter().flat_map(|block| &block.coordinates);
    let mut here = x.to_vec();
    coordinates().zip(&values).for_each(|(&at, &value)| here[at] = value);
    let Some(slopes) = gradient(&here)? else { return Ok(None) };
    let mut looks = Vec::with_capacity(values.len());
    for block in effects.blocks() {
        // All at once, each to the side that its sign says: what others do to a slope has another sign in other draws.
        let mut aside = here.clone();
        let scales = &scales[looks.len()..][..block.coordinates.len()];
        for ((j, &at), scale) in block.coordinates.iter().enumerate().zip(scales) {
            aside[at] += STEP * scale * probe_sign(j, row);
        }
        let Some(beside) = gradient(&aside)? else { return Ok(None) };
        for (&at, &scale) in block.coordinates.iter().zip(scales) {
            let curvature = -(beside[at] - slopes[at]) / (aside[at] - here[at]);
            looks.push(EffectLook { effect: here[at], scale, slope: slopes[at], curvature });
        }
    }
    Ok(Some(looks))
}

/// Sums up what was seen of an effect, by medians: chains may be far off at first. Returns where the likelihood puts it, and
/// its precision.
fn sum_up(looks: impl Iterator<Item = EffectLook>) -> Option<(f64, f64)> {
    let looks: Vec<EffectLook> = looks.collect();
    let scale = median(looks.iter().map(|look| look.scale))?;
    let looks: Vec<EffectLook> = looks.into_iter().filter(|look| look.scale >= SMALL * scale).collect();
    if looks.len() < LEAST {
        return None;
    }
    let precision = median(looks.iter().map(|look| look.curvature))?.max(0.0);
    let top = |look: &EffectLook| look.effect + if precision > 0.0 { look.slope / precision } else { 0.0 };
    Some((median(looks.iter().map(top))?, precision))
}
