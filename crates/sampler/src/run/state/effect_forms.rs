//! Which coordinates the effects of a density are walked in, once warm-up has learned what the data say of them.
//!
//! What is learned supposes that the data know each effect by itself. Where they know sums of effects only, other coordinates
//! may be better. So the draws of the window are taken to each candidate's coordinates, and the candidate wins in
//! which they are most like normal draws once the metric is applied.

use super::RunState;
use crate::adapt::{Adaptation, HostPool, LearnedInformation, Window, learn};
use crate::error::SamplerError;
use crate::kernel::{MetricEstimate, Space};
use octopus_density::{Centering, DensityEffects};
use rayon::prelude::*;

/// Draws that candidates are judged by, at the most.
const JUDGED: usize = 128;
/// A candidate takes the place of another where its draws are closer to normal ones by this factor.
const BETTER: f64 = 0.8;
/// Blocks are judged one by one where some form for all comes within this factor of the learned coordinates.
const NEAR: f64 = 1.25;
/// More blocks are judged all together only.
const MOST_BLOCKS: usize = 12;

impl RunState<'_> {
    /// Returns the coordinates for what is `learned` of the effects, given draws in the density's own coordinates.
    pub(super) fn choose_forms(
        &self,
        effects: &dyn DensityEffects,
        learned: Vec<Option<LearnedInformation>>,
        draws: &[f64],
    ) -> Result<Adaptation, SamplerError> {
        let blocks = effects.blocks();
        let dim = self.space.dim;
        let stride = (draws.len() / dim).div_ceil(JUDGED).max(1);
        let rows: Vec<&[f64]> = draws.chunks_exact(dim).step_by(stride).collect();
        let of_learned = |learned: &Option<LearnedInformation>| match learned {
            Some(_) => Centering::Standardised,
            None => Centering::NonCentered,
        };
        let with =
            |centerings: Vec<Centering>| Adaptation { centerings, learned: learned.clone(), ..Adaptation::default() };
        let all_learned: Vec<Centering> = learned.iter().map(of_learned).collect();
        let mut best = with(all_learned.clone());
        let first = self.distance_from_normal(&best, &rows)?;
        let mut least = first;
        let written = blocks.iter().map(|block| block.written).collect();
        let mut is_near = false;
        for centerings in [written, vec![Centering::NonCentered; blocks.len()]] {
            let candidate = with(centerings);
            let distance = self.distance_from_normal(&candidate, &rows)?;
            is_near |= distance < NEAR * first;
            if distance < BETTER * least {
                (best, least) = (candidate, distance);
            }
        }
        if is_near && blocks.len() <= MOST_BLOCKS {
            for number in 0..blocks.len() {
                let forms = [all_learned[number], Centering::NonCentered, Centering::Centered];
                let is_other = |form: &Centering| !(blocks[number].is_plain && *form == Centering::Centered);
                for form in forms.into_iter().filter(is_other) {
                    if form == best.centerings[number] {
                        continue;
                    }
                    let mut centerings = best.centerings.clone();
                    centerings[number] = form;
                    let candidate = with(centerings);
                    let distance = self.distance_from_normal(&candidate, &rows)?;
                    if distance < BETTER * least {
                        (best, least) = (candidate, distance);
                    }
                }
            }
        }
        tracing::debug!(iterations = self.done, learned = first, chosen = least, forms = ?best.centerings, "effects");
        Ok(Adaptation { metric: self.adaptation.metric.clone(), ..best })
    }

    /// Returns the mean distance of whitened gradients from those of a normal distribution, in standard deviations of a
    /// coordinate; infinite where there are too few draws.
    fn distance_from_normal(&self, candidate: &Adaptation, rows: &[&[f64]]) -> Result<f64, SamplerError> {
        let (density, dim) = (self.space.density, self.space.dim);
        let space = Space::of(density, candidate);
        let made: Vec<_> = rows
            .par_iter()
            .map(|row| {
                let (mut x, mut gradient) = (row.to_vec(), vec![0.0; dim]);
                match space.gradient_at_natural(&mut x, &mut gradient) {
                    Ok(()) => Ok(Some((x, gradient))),
                    Err(error) if error.is_recoverable() => Ok(None),
                    Err(error) => Err(error),
                }
            })
            .collect::<Result<_, _>>()
            .map_err(|source| SamplerError::Density { chain: 0, iteration: self.done, source })?;
        let mut window = Window::default();
        let all = made.len();
        for (x, gradient) in made.into_iter().flatten() {
            if x.iter().chain(&gradient).all(|number| number.is_finite()) {
                window.positions.extend(x);
                window.gradients.extend(gradient);
            }
        }
        // Where many draws have no density, the coordinates are at the edge of f64.
        let count = window.positions.len() / dim;
        if 10 * count < 9 * all {
            return Ok(f64::INFINITY);
        }
        let mut pool = HostPool { windows: vec![&mut window], dim };
        let Some(metric) = learn(self.config.metric, dim, self.config.seed, &mut pool)? else {
            return Ok(f64::INFINITY);
        };
        let mean = |numbers: &[f64]| -> Vec<f64> {
            (0..dim).map(|i| numbers.iter().skip(i).step_by(dim).sum::<f64>() / count as f64).collect()
        };
        let (middle, slope) = (mean(&window.positions), mean(&window.gradients));
        let distances = window.positions.chunks_exact(dim).zip(window.gradients.chunks_exact(dim)).map(|(x, g)| {
            let centered = |x: &[f64], middle: &[f64], power: f64| -> Vec<f64> {
                let scaled = x.iter().zip(middle).zip(&metric.diagonal);
                scaled.map(|((x, middle), variance)| (x - middle) * variance.powf(power)).collect()
            };
            let x = stretched(&metric, centered(x, &middle, -0.5), -0.5);
            let force = stretched(&metric, centered(g, &slope, 0.5), 0.5);
            let square: f64 = x.iter().zip(&force).map(|(x, force)| (x + force) * (x + force)).sum();
            (square / dim as f64).sqrt()
        });
        Ok(distances.sum::<f64>() / count as f64)
    }
}

/// The vector with its parts along the metric's directions times a power of their variances.
fn stretched(metric: &MetricEstimate, mut v: Vec<f64>, power: f64) -> Vec<f64> {
    for (direction, variance) in metric.directions.iter().zip(&metric.variances) {
        let along: f64 = direction.iter().zip(&v).map(|(u, v)| u * v).sum();
        let stretch = (variance.powf(power) - 1.0) * along;
        v.iter_mut().zip(direction).for_each(|(v, u)| *v += stretch * u);
    }
    v
}
