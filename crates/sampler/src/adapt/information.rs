//! What warm-up learns of the effects of a hierarchy whose density gives no information: how the likelihood measures them,
//! from the gradients at the draws of a window and near them.
//!
//! The prior's part of a slope is known, since effects are standard normal and non-centered. The rest is the
//! likelihood's, and its change with the effect is its precision. This module also sets how many draws are read and
//! what suffices to change coordinates.

use super::effects::learn_effects;
use crate::config::{Parameterization, SamplerConfig};
use octopus_density::{Centering, DensityError, Hierarchy, Information, LogDensity, probe_sign};
use octopus_random::exact;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The draws of a window that are looked at: three gradients each, for each block.
const ROWS: usize = 64;
/// The fewest draws that say something.
pub(super) const LEAST: usize = 8;
/// How far effects are moved, in units of their prior; the location is moved so far in units of the scale.
pub(super) const STEP: f64 = 1e-4;
/// Draws of a scale that is this share of the median say nothing but rounding.
pub(super) const SMALL: f64 = 1e-3;
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

/// Returns for each block whether warm-up learns its information: the density gives none, and has no kernels, which could
/// not read it.
pub(crate) fn is_learned(density: &dyn LogDensity, config: &SamplerConfig) -> Vec<bool> {
    let is_adaptive = config.parameterization == Parameterization::Adaptive;
    let of_block = |block: &Hierarchy| is_adaptive && !block.is_informed() && density.kernels().is_none();
    let effects = density.effects().map_or(0, |effects| effects.blocks().len());
    density.hierarchies().iter().map(of_block).chain(std::iter::repeat_n(is_adaptive, effects)).collect()
}

/// Returns how many effects each block has.
pub(crate) fn block_sizes(density: &dyn LogDensity) -> Vec<usize> {
    let effects = density.effects().map_or(&[][..], |effects| effects.blocks());
    let of_effects = effects.iter().map(|block| block.coordinates.len());
    density.hierarchies().iter().map(|block| block.z.len()).chain(of_effects).collect()
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
pub(crate) fn learn_information(
    density: &dyn LogDensity,
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
    let mut found: Vec<Option<LearnedInformation>> = known.to_vec();
    found.resize(asked.len(), None);
    let mut changed = false;
    let mut take = |number: usize, learned: LearnedInformation| {
        let alike = found[number].as_ref().is_some_and(|known| known.is_like(&learned));
        if !alike {
            found[number] = Some(learned);
            changed = true;
        }
    };
    for (number, block) in density.hierarchies().iter().enumerate().filter(|&(number, _)| asked[number]) {
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
        take(number, learned);
    }
    if let Some(effects) = density.effects().filter(|_| asked.contains(&true)) {
        for (number, learned) in learn_effects(effects, &rows)?.into_iter().enumerate() {
            if let Some(learned) = learned {
                take(number, learned);
            }
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
fn look(density: &dyn LogDensity, block: &Hierarchy, x: &[f64], row: u64) -> Result<Option<Look>, DensityError> {
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
pub(super) fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut finite: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let middle = finite.len() / 2;
    match finite.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(finite[middle]),
        _ => Some(0.5 * (finite[middle - 1] + finite[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Layout;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn learned(mean: [f64; 2], precision: [f64; 2], prior_sd: Option<f64>) -> LearnedInformation {
        LearnedInformation { origin: 1.0, mean: mean.to_vec(), precision: precision.to_vec(), prior_sd }
    }

    #[test]
    fn medians_are_of_the_finite_numbers() {
        let of = |numbers: &[f64]| median(numbers.iter().copied());
        assert_eq!((of(&[]), of(&[f64::NAN, f64::INFINITY])), (None, None));
        assert_eq!((of(&[3.0]), of(&[2.0, 1.0]), of(&[5.0, 1.0, 3.0])), (Some(3.0), Some(1.5), Some(3.0)));
        assert_eq!(of(&[7.0, 1.0, f64::NAN, 4.0, 2.0]), Some(3.0));
        assert_eq!(of(&[16.0, 8.0, 4.0, 2.0, 1.0]), Some(4.0));
        assert_eq!(of(&[32.0, 16.0, f64::NEG_INFINITY, 8.0, 4.0, 2.0, 1.0]), Some(6.0));
    }

    /// A precision of 4 and 16: half a standard error is 0.25 and 0.125.
    #[test]
    fn what_is_learned_is_alike_within_a_factor_of_1_5_and_half_a_standard_error() {
        let known = learned([2.0, -3.0], [4.0, 16.0], Some(5.0));
        let like = |new: LearnedInformation| {
            assert_eq!(known.is_like(&new), new.is_like(&known));
            known.is_like(&new)
        };
        assert!(like(known.clone()));
        for (share, alike) in [(1.49, true), (1.51, false), (1.0 / 1.49, true), (1.0 / 1.51, false)] {
            assert_eq!(like(learned([2.0, -3.0], [4.0 * share, 16.0], Some(5.0))), alike, "{share}");
            assert_eq!(like(learned([2.0, -3.0], [4.0, 16.0 * share], Some(5.0))), alike, "{share}");
            assert_eq!(like(learned([2.0, -3.0], [4.0, 16.0], Some(5.0 * share))), alike, "{share}");
        }
        for (away, alike) in [(0.49, true), (0.51, false), (-0.49, true), (-0.51, false)] {
            assert_eq!(like(learned([2.0 + away / 2.0, -3.0], [4.0, 16.0], Some(5.0))), alike, "{away}");
            assert_eq!(like(learned([2.0, -3.0 + away / 4.0], [4.0, 16.0], Some(5.0))), alike, "{away}");
        }
        assert!(!like(learned([2.0, -3.0], [4.0, 16.0], None)));
        assert!(learned([2.0, -3.0], [4.0, 16.0], None).is_like(&learned([2.0, -3.0], [4.0, 16.0], None)));
        let moved = LearnedInformation { origin: 1.5, ..learned([1.5, -3.5], [4.0, 16.0], Some(5.0)) };
        assert!(like(moved), "only the sum of origin and mean counts");
    }

    #[test]
    fn numbers_that_cannot_be_used_are_not_learned() {
        assert!(learned([0.1, -7.0], [0.0, 0.3], Some(0.2)).is_of(2));
        assert!(learned([0.1, -7.0], [0.0, 0.3], None).is_of(2));
        for bad in [
            learned([0.1, f64::NAN], [0.0, 0.3], None),
            learned([0.1, 1.0], [-0.1, 0.3], None),
            learned([0.1, 1.0], [0.1, f64::INFINITY], None),
            learned([0.1, 1.0], [0.1, 0.3], Some(0.0)),
            learned([0.1, 1.0], [0.1, 0.3], Some(f64::INFINITY)),
            LearnedInformation { origin: f64::NAN, ..learned([0.1, 1.0], [0.1, 0.3], None) },
        ] {
            assert!(!bad.is_of(2), "{bad:?}");
        }
        assert!(!learned([0.1, -7.0], [0.2, 0.3], None).is_of(3));
    }

    /// Looks at effects of which the likelihood is normal around 3, -2 and 0.5 with these precisions, with a prior of the
    /// location that is normal around 10 with the precision `prior`, from draws of these scales.
    fn looks(precisions: [f64; 3], prior: f64, scales: &[f64]) -> Vec<Look> {
        let look = |(k, &scale): (usize, &f64)| {
            let location = k as f64 * 0.7 - 3.0;
            let effect = |j: usize| {
                let (theta, tops) = (location + (k * j) as f64 * 0.3, [3.0, -2.0, 0.5]);
                [theta, precisions[j] * (tops[j] - theta), precisions[j]]
            };
            Look { location, scale, effects: (0..3).map(effect).collect(), rest: [prior * (10.0 - location), prior] }
        };
        scales.iter().enumerate().map(look).collect()
    }

    fn assert_learned(found: Option<LearnedInformation>, origin: f64, tops: [f64; 3], sd: Option<f64>) {
        let found = found.unwrap();
        assert!((found.origin - origin).abs() < 1e-12, "{found:?}");
        assert!(found.mean.iter().zip(tops).all(|(mean, top)| (mean + origin - top).abs() < 1e-12), "{found:?}");
        match (found.prior_sd, sd) {
            (Some(found), Some(sd)) => assert!((found / sd - 1.0).abs() < 1e-12),
            (found, sd) => assert_eq!(found, sd),
        }
    }

    /// Where all is normal, the precisions, the tops and the prior are found to the last digits.
    #[test]
    fn normal_likelihoods_are_summed_up_exactly() {
        let tops = [3.0, -2.0, 0.5];
        let found = sum_up(&looks([0.4, 25.0, 1.0], 0.25, &[2.0; 9]), 3);
        assert_eq!(found.as_ref().unwrap().precision, [0.4, 25.0, 1.0]);
        assert_learned(found, 10.0, tops, Some(2.0));
        // Where a likelihood is flat or bends the wrong way, effects are taken to be where they are: at the median.
        let found = sum_up(&looks([0.4, 25.0, -1.0], 0.25, &[2.0; 9]), 3);
        assert_eq!(found.as_ref().unwrap().precision, [0.4, 25.0, 0.0]);
        assert_learned(found, 10.0, [3.0, -2.0, 4.0 * 1.3 - 3.0], Some(2.0));
    }

    /// Of a location that is a thousandth as well known by its prior as by the data, the prior is left out.
    #[test]
    fn a_faint_prior_is_left_out() {
        let precisions = [0.05, 0.25, 1.0];
        let known: f64 = precisions.iter().map(|p| p / (1.0 + 4.0 * p)).sum();
        let tops = [3.0, -2.0, 0.5];
        for (share, found) in [(1.01e-3, true), (0.99e-3, false)] {
            let prior = share * known;
            let weighted = (0.05 * 3.0 - 0.25 * 2.0 + 0.5) / 1.3;
            let origin = if found { 10.0 } else { weighted };
            let learned = sum_up(&looks(precisions, prior, &[2.0; 9]), 3);
            assert_learned(learned, origin, tops, found.then(|| 1.0 / prior.sqrt()));
        }
        // Effects of which little is known have a weighted mean too, and those of which nothing is known have none.
        assert_learned(sum_up(&looks([0.1, 0.2, 0.2], -1.0, &[2.0; 9]), 3), 0.0, tops, None);
        assert_eq!(sum_up(&looks([0.0, -0.2, 0.0], 0.0, &[2.0; 9]), 3), None);
    }

    /// Eight looks are enough, and those of a scale below a thousandth of the median do not count.
    #[test]
    fn eight_looks_are_enough() {
        let enough = |scales: &[f64]| sum_up(&looks([1.0, 1.0, 1.0], 1.0, scales), 3).is_some();
        assert!(enough(&[3.0; 8]) && !enough(&[3.0; 7]));
        let with = |small: f64| [3.0, 3.0, 3.0, 3.0, small, 3.0, 3.0, 3.0];
        assert!(enough(&with(3.03e-3)) && !enough(&with(2.97e-3)));
    }

    /// Effects with normal likelihoods whose blocks tell nothing, and how often they were evaluated.
    struct Normals {
        tops: Vec<f64>,
        precisions: Vec<f64>,
        blocks: Vec<Hierarchy>,
        layout: Layout,
        evaluations: AtomicUsize,
    }

    impl Normals {
        fn new(tops: &[f64], precisions: &[f64]) -> Self {
            let n = tops.len();
            Self {
                tops: tops.to_vec(),
                precisions: precisions.to_vec(),
                blocks: vec![Hierarchy { location: n, log_scale: n + 1, z: 0..n, information: None }],
                layout: Layout::default(),
                evaluations: AtomicUsize::new(0),
            }
        }

        /// So many draws.
        fn draws(&self, count: usize) -> Vec<f64> {
            let dim = self.dim();
            (0..count * dim).map(|k| ((k * 7 % 23) as f64 - 11.0) / 11.0).collect()
        }
    }

    impl LogDensity for Normals {
        fn name(&self) -> &str {
            "normals"
        }

        fn dim(&self) -> usize {
            self.tops.len() + 2
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn hierarchies(&self) -> &[Hierarchy] {
            &self.blocks
        }

        /// The location has a normal prior around 10 with standard deviation 2, the logarithm of the scale a standard one.
        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            self.evaluations.fetch_add(1, Ordering::Relaxed);
            let n = self.tops.len();
            let (location, scale) = (x[n], x[n + 1].exp());
            gradient[n] = 0.25 * (10.0 - location);
            gradient[n + 1] = -x[n + 1];
            let mut logp = -0.125 * (10.0 - location).powi(2) - 0.5 * x[n + 1] * x[n + 1];
            for j in 0..n {
                let away = self.tops[j] - (location + scale * x[j]);
                let slope = self.precisions[j] * away;
                logp -= 0.5 * (x[j] * x[j] + slope * away);
                gradient[j] = scale * slope - x[j];
                gradient[n] += slope;
                gradient[n + 1] += scale * x[j] * slope;
            }
            Ok(logp)
        }

        fn expand(&self, _x: &[f64], _out: &mut [f64]) {}
    }

    #[test]
    fn normal_effects_are_learned() {
        let density = Normals::new(&[3.0, -2.0, 0.5], &[0.4, 25.0, 1.0]);
        let found = learn_information(&density, &[true], &density.draws(64), &[]).unwrap().unwrap();
        let learned = found[0].as_ref().unwrap();
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        close(learned.origin, 10.0);
        close(learned.prior_sd.unwrap(), 2.0);
        for j in 0..3 {
            close(learned.mean[j] + learned.origin, density.tops[j]);
            close(learned.precision[j], density.precisions[j]);
        }
        // The same again is no news, and what nobody asks for is not learned.
        assert_eq!(learn_information(&density, &[true], &density.draws(64), &found).unwrap(), None);
        assert_eq!(learn_information(&density, &[false], &density.draws(64), &[]).unwrap(), None);
    }

    /// Three gradients at each of at most 64 draws, spread over all; fewer than 8 draws are not looked at.
    #[test]
    fn at_most_64_draws_are_looked_at() {
        for (draws, rows) in [(0, 0), (7, 0), (8, 8), (63, 63), (64, 64), (65, 33), (128, 64), (129, 43)] {
            let density = Normals::new(&[3.0, -2.0], &[4.0, 25.0]);
            let found = learn_information(&density, &[true], &density.draws(draws), &[]).unwrap();
            assert_eq!(found.is_some(), rows > 0, "{draws} draws");
            assert_eq!(density.evaluations.into_inner(), 3 * rows, "{draws} draws");
        }
    }
}
