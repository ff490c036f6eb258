//! Chains go to other coordinates where warm-up learns what the density does not say of its effects.
//!
//! The window's draws go there too, so that the metric of the new coordinates is learned from as many draws. Draws of another
//! run are such a window before the first iteration.

use super::RunState;
use crate::adapt::{
    Adaptation, HostPool, LearnedInformation, Side, Window, centerings, initial_metric, is_learned, learn,
    learn_information, learned_centering,
};
use crate::config::{MetricKind, SamplerConfig};
use crate::engine::{ChainState, EngineChains};
use crate::error::SamplerError;
use crate::kernel::{MetricEstimate, Space};
use crate::run::WarmStart;
use octopus_density::{Centering, DensityError, LogDensity};
use rayon::prelude::*;

/// New coordinates, with the metric and the chains' points there.
struct Change<'d> {
    space: Space<'d>,
    adaptation: Adaptation,
    points: Vec<Vec<f64>>,
    /// `None` where there are too few draws.
    metric: Option<MetricEstimate>,
}

impl<'d> RunState<'d> {
    /// Learns from the window what the density does not say of its effects, and takes the chains to the coordinates that
    /// follow. Returns the metric there; `None` where coordinates stay as they are.
    pub(super) fn change_coordinates(
        &mut self,
        engine: &mut dyn EngineChains,
    ) -> Result<Option<MetricEstimate>, SamplerError> {
        if !is_learned(self.space.density, &self.config).contains(&true) {
            return Ok(None);
        }
        let mut draws = engine.pool().every(Side::Positions, 1)?;
        draws.par_chunks_exact_mut(self.space.dim).for_each(|x| self.space.make_natural(x));
        let mut points: Vec<Vec<f64>> = engine.points().into_iter().map(|x| x.to_vec()).collect();
        points.iter_mut().for_each(|x| self.space.make_natural(x));
        let Some(Change { space, adaptation, points, metric }) = self.change(draws, points)? else { return Ok(None) };
        engine.points().into_iter().zip(&points).for_each(|(x, to)| x.copy_from_slice(to));
        (self.space, self.adaptation) = (space, adaptation);
        tracing::debug!(iterations = self.done, "coordinates follow what is learned of the effects");
        // With too few draws for a metric, the first one of a run is as good as any.
        Ok(Some(metric.unwrap_or_else(|| initial_metric(MetricKind::DiagDraws, self.space.dim, &[]))))
    }

    /// Takes coordinates and metric from draws of another run, and the chains with them.
    pub(super) fn take_over(&mut self, warm: &WarmStart, states: &mut [ChainState]) -> Result<(), SamplerError> {
        let points = warm.points.iter().cycle().take(states.len()).cloned().collect();
        let metric = match self.change(warm.draws.clone(), points)? {
            Some(Change { space, adaptation, points, metric }) => {
                states.iter_mut().zip(points).for_each(|(state, point)| state.x = point);
                (self.space, self.adaptation) = (space, adaptation);
                Some(metric.unwrap_or_else(|| initial_metric(MetricKind::DiagDraws, self.space.dim, &[])))
            }
            None => self.metric_in(&self.space, warm.draws.clone())?,
        };
        if let Some(metric) = metric {
            self.adaptation.metric = metric;
        }
        Ok(())
    }

    /// Learns from draws what the density does not say of its effects, and returns the coordinates that follow; `None` where
    /// they stay as they are. Draws and points are in the density's own coordinates.
    fn change(&self, draws: Vec<f64>, mut points: Vec<Vec<f64>>) -> Result<Option<Change<'d>>, SamplerError> {
        let (density, config) = (self.space.density, &self.config);
        let asked = is_learned(density, config);
        if !asked.contains(&true) {
            return Ok(None);
        }
        let known = &self.adaptation.learned;
        let found = learn_information(density, &asked, &draws, known).map_err(|source| self.broken(source))?;
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
        points.iter_mut().for_each(|x| space.take_natural(x));
        // A chain that is at the edge of f64 could not go on from there.
        if points.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(None);
        }
        let metric = self.metric_in(&space, draws)?;
        Ok(Some(Change { space, adaptation, points, metric }))
    }

    /// Learns a metric in the coordinates of `space` from draws in the density's own; `None` where they are too few.
    fn metric_in(&self, space: &Space<'_>, mut draws: Vec<f64>) -> Result<Option<MetricEstimate>, SamplerError> {
        let dim = space.dim;
        let gradients = draws.par_chunks_exact_mut(dim).map(|x| {
            let mut gradient = vec![0.0; dim];
            match space.gradient_at_natural(x, &mut gradient) {
                Ok(()) => Ok(Some(gradient)),
                Err(error) if error.is_recoverable() => Ok(None),
                Err(error) => Err(error),
            }
        });
        let gradients: Vec<Option<Vec<f64>>> =
            gradients.collect::<Result<_, _>>().map_err(|source| self.broken(source))?;
        let mut window = Window::default();
        for (x, gradient) in draws.chunks_exact(dim).zip(gradients) {
            if let Some(gradient) = gradient.filter(|g| g.iter().chain(x).all(|number| number.is_finite())) {
                window.positions.extend_from_slice(x);
                window.gradients.extend(gradient);
            }
        }
        learn(self.config.metric, dim, self.config.seed, &mut HostPool { windows: vec![&mut window], dim })
    }

    fn broken(&self, source: DensityError) -> SamplerError {
        SamplerError::Density { chain: 0, iteration: self.done, source }
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
