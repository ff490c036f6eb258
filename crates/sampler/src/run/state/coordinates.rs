//! Chains go to other coordinates where warm-up learns what the density does not say of its effects.
//!
//! The window's draws go there too, so that the metric of the new coordinates is learned from as many draws.

use super::RunState;
use crate::adapt::{
    Adaptation, HostPool, LearnedInformation, Side, Window, centerings, initial_metric, is_learned, learn,
    learn_information, learned_centering,
};
use crate::config::{MetricKind, SamplerConfig};
use crate::engine::EngineChains;
use crate::error::SamplerError;
use crate::kernel::{MetricEstimate, Space};
use octopus_density::{Centering, LogDensity};
use rayon::prelude::*;

impl RunState<'_> {
    /// Learns from the window what the density does not say of its effects, and takes the chains to the coordinates that
    /// follow. Returns the metric there; `None` where coordinates stay as they are.
    pub(super) fn change_coordinates(
        &mut self,
        engine: &mut dyn EngineChains,
    ) -> Result<Option<MetricEstimate>, SamplerError> {
        let (density, config) = (self.space.density, &self.config);
        let asked = is_learned(density, config);
        if !asked.contains(&true) {
            return Ok(None);
        }
        let (dim, done) = (density.dim(), self.done);
        let broken = |source| SamplerError::Density { chain: 0, iteration: done, source };
        let mut draws = engine.pool().every(Side::Positions, 1)?;
        draws.par_chunks_exact_mut(dim).for_each(|x| self.space.make_natural(x));
        let known = &self.adaptation.learned;
        let found = learn_information(density, &asked, &draws, known).map_err(broken)?;
        let is_news = found.is_some();
        let adaptation = match (found, density.effects()) {
            (None, None) => return Ok(None),
            (None, Some(_)) if known.is_empty() => return Ok(None),
            (found, Some(effects)) => self.choose_forms(effects, found.unwrap_or_else(|| known.clone()), &draws)?,
            (Some(found), None) => {
                let centerings = learned_centerings(density, &found, config);
                Adaptation { learned: found, centerings, ..self.adaptation.clone() }
            }
        };
        if !is_news && adaptation.centerings == self.adaptation.centerings {
            return Ok(None);
        }
        let space = Space::of(density, &adaptation);
        let to_new = |x: &mut [f64]| {
            self.space.make_natural(x);
            space.take_natural(x);
        };
        let mut points: Vec<Vec<f64>> = engine.points().into_iter().map(|x| x.to_vec()).collect();
        points.iter_mut().for_each(|x| to_new(x));
        // A chain that is at the edge of f64 could not go on from there.
        if points.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(None);
        }
        let gradients = draws.par_chunks_exact_mut(dim).map(|x| {
            let mut gradient = vec![0.0; dim];
            match space.gradient_at_natural(x, &mut gradient) {
                Ok(()) => Ok(Some(gradient)),
                Err(error) if error.is_recoverable() => Ok(None),
                Err(error) => Err(error),
            }
        });
        let gradients: Vec<Option<Vec<f64>>> = gradients.collect::<Result<_, _>>().map_err(broken)?;
        let mut window = Window::default();
        for (x, gradient) in draws.chunks_exact(dim).zip(gradients) {
            if let Some(gradient) = gradient.filter(|g| g.iter().chain(x).all(|number| number.is_finite())) {
                window.positions.extend_from_slice(x);
                window.gradients.extend(gradient);
            }
        }
        let metric = learn(config.metric, dim, config.seed, &mut HostPool { windows: vec![&mut window], dim })?;
        engine.points().into_iter().zip(&points).for_each(|(x, to)| x.copy_from_slice(to));
        (self.space, self.adaptation) = (space, adaptation);
        tracing::debug!(iterations = done, "coordinates follow what is learned of the effects");
        // With too few draws for a metric, the first one of a run is as good as any.
        Ok(Some(metric.unwrap_or_else(|| initial_metric(MetricKind::DiagDraws, dim, &[]))))
    }
}

/// Returns the coordinates of each block, of which this is learned; those of effects are chosen by their draws instead.
fn learned_centerings(
    density: &dyn LogDensity,
    learned: &[Option<LearnedInformation>],
    config: &SamplerConfig,
) -> Vec<Centering> {
    let mut all = centerings(density, config.parameterization);
    for ((centering, block), learned) in all.iter_mut().zip(density.hierarchies()).zip(learned) {
        if let Some(learned) = learned {
            *centering = learned_centering(block, learned);
        }
    }
    all
}

/// Returns whether a run with these settings may have these coordinates.
pub(super) fn are_centerings(density: &dyn LogDensity, adaptation: &Adaptation, config: &SamplerConfig) -> bool {
    let Adaptation { centerings: found, learned, .. } = adaptation;
    let is_chosen = density.effects().is_some() && !learned.is_empty();
    let expected = learned_centerings(density, learned, config);
    found.len() == expected.len() && (is_chosen || *found == expected)
}
