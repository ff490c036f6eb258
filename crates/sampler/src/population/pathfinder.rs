//! Pathfinder: normals along quasi-Newton paths, the best of each path, and Pareto smoothed weights over all.
//!
//! Zhang, L., Carpenter, B., Gelman, A., Vehtari, A. (2022). Pathfinder: parallel quasi-Newton variational inference. Journal
//! of Machine Learning Research 23(306), 1-49.

use super::ParticlePopulation;
use super::evaluate::{Halted, ParticleStreams, SamplerCoordinates, halted};
use super::importance::{check_particles, of_weighted};
use super::inverse_hessian::PathNormal;
use super::lbfgs::ascend;
use crate::config::ConfigError;
use crate::error::SamplerError;
use octopus_density::LogDensity;
use octopus_random::{Stream, exact};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The most paths.
const MOST_PATHS: usize = 10_000;

/// Chains start on paths whose evidence lower bound is at most this far below the best one: what lies further down has less
/// than a share of 1e-4 of the posterior.
const BELOW: f64 = 10.0;
/// Draws of a normal until one has a density.
const DRAWS: usize = 100;
/// The most paths that chains start on: more chains share them.
const STARTING_PATHS: usize = 16;

/// Settings of Pathfinder; the defaults are Stan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathfinderConfig {
    /// The number of paths, each from a starting point of its own.
    pub paths: usize,
    /// Draws that judge the normal at each point of a path.
    pub elbo_draws: usize,
    /// Draws of the best normal of each path; draws of the population are chosen among those of all paths.
    pub draws_per_path: usize,
}

impl Default for PathfinderConfig {
    fn default() -> Self {
        Self { paths: 4, elbo_draws: 25, draws_per_path: 1000 }
    }
}

impl PathfinderConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// When a setting is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let fail = |field, value: usize, expected| Err(ConfigError { field, value: value.to_string(), expected });
        if !(1..=MOST_PATHS).contains(&self.paths) {
            return fail("paths", self.paths, "from 1 to 10000");
        }
        if self.elbo_draws == 0 || self.elbo_draws > MOST_PATHS {
            return fail("elbo_draws", self.elbo_draws, "from 1 to 10000");
        }
        let of_all = "all paths together have 2 to 2147483647 draws";
        check_particles(self.paths.saturating_mul(self.draws_per_path))
            .or_else(|_| fail("draws_per_path", self.draws_per_path, of_all))
    }
}

/// The best normal of a path.
struct BestNormal {
    elbo: f64,
    normal: PathNormal,
}

/// Approximates the density by the best normals of several paths, and weights their draws by the density.
///
/// A path is that of L-BFGS from a starting point. At each of its points stands the normal of the inverse Hessian there;
/// the path's best has the highest evidence lower bound. **The draws approximate the posterior**: how well, says
/// [`pareto_k`](ParticlePopulation::pareto_k); above 0.7 neither the draws nor the evidence can be relied on.
///
/// Other than in the paper, a draw is weighted by the mixture of all paths' normals and not by that of its own path: two
/// paths that end in one mode do not make it count twice. Pareto k is the larger of that of these weights and of the paper's:
/// what fits no normal by itself is not trusted to several.
///
/// # Errors
/// When a setting is out of range, there is no starting point, the density is broken, or [`SamplerError::NoPath`] where no
/// path has met any curvature.
pub fn pathfinder(
    density: &dyn LogDensity,
    config: &PathfinderConfig,
    seed: u64,
) -> Result<ParticlePopulation, SamplerError> {
    pathfinder_in(&SamplerCoordinates::new(density), config, seed)
}

/// As [`pathfinder`], in these coordinates of a density.
pub(super) fn pathfinder_in(
    coordinates: &SamplerCoordinates<'_>,
    config: &PathfinderConfig,
    seed: u64,
) -> Result<ParticlePopulation, SamplerError> {
    config.validate()?;
    let (normals, mut evaluations) = best_normals(coordinates, config, seed)?;
    let (dim, each) = (coordinates.dim(), config.draws_per_path);
    // The groups before are the paths.
    let streams = ParticleStreams::new(seed, config.paths);
    let mut positions = vec![0.0; normals.len() * each * dim];
    let log_share = exact::ln(normals.len() as f64);
    let weighted: Vec<(f64, f64, f64)> = positions
        .par_chunks_exact_mut(dim)
        .enumerate()
        .map_init(
            || vec![0.0; dim],
            |gradient, (particle, x)| {
                let normal = &normals[particle / each];
                normal.draw(&mut streams.of(particle, 0), x);
                let logp = coordinates.value_at(x, gradient).map_err(|why| halted(particle, why))?;
                let logs = normals.iter().map(|normal| normal.log_density(x));
                let own = logp - normal.log_density(x);
                let log_mixture = logs.reduce(exact::log_sum_exp).unwrap_or(f64::NEG_INFINITY) - log_share;
                Ok((logp, logp - log_mixture, own))
            },
        )
        .collect::<Result<_, SamplerError>>()?;
    evaluations += weighted.len() as u64;
    let mut logp: Vec<f64> = weighted.iter().map(|weighted| weighted.0).collect();
    let log_weights = weighted.iter().map(|weighted| weighted.1).collect();
    let own: Vec<f64> = weighted.iter().map(|weighted| weighted.2).collect();
    coordinates.make_natural(&mut positions, &mut logp);
    let population = of_weighted(dim, positions, logp, log_weights, (&vec![each; normals.len()], evaluations))?;
    population.judged_by(&own)
}

/// Returns the best normal of each path that has one, with the gradients that were computed.
///
/// # Errors
/// When there is no starting point, the density is broken, or no path has a normal.
pub(super) fn best_normals(
    coordinates: &SamplerCoordinates<'_>,
    config: &PathfinderConfig,
    seed: u64,
) -> Result<(Vec<PathNormal>, u64), SamplerError> {
    let found: Vec<(Option<BestNormal>, u64)> = (0..config.paths)
        .into_par_iter()
        .map(|path| best_of_path(coordinates, config.elbo_draws, (seed, path)))
        .collect::<Result<_, _>>()?;
    let evaluations = found.iter().map(|(_, spent)| spent).sum();
    let normals: Vec<PathNormal> = found.into_iter().filter_map(|(best, _)| Some(best?.normal)).collect();
    if normals.is_empty() { Err(SamplerError::NoPath { paths: config.paths }) } else { Ok((normals, evaluations)) }
}

/// Returns a starting point for each of `chains` chains, in the density's own coordinates: a draw of the best normal on a
/// path of its own, or on the best of all paths where its own has none or one that is far worse. More than 16 chains
/// share 16 paths, and each has its own draw.
///
/// # Errors
/// As [`best_normals`]; and where a normal has no draw with a density.
pub(crate) fn starts_on_paths(
    density: &dyn LogDensity,
    seed: u64,
    chains: usize,
) -> Result<Vec<Vec<f64>>, SamplerError> {
    let coordinates = SamplerCoordinates::new(density);
    let draws = PathfinderConfig::default().elbo_draws;
    let paths = chains.min(STARTING_PATHS);
    let found: Vec<Option<BestNormal>> = (0..paths)
        .into_par_iter()
        .map(|path| Ok(best_of_path(&coordinates, draws, (seed, path))?.0))
        .collect::<Result<_, SamplerError>>()?;
    let best = found.iter().flatten().max_by(|a, b| a.elbo.total_cmp(&b.elbo));
    let best = best.ok_or(SamplerError::NoPath { paths })?;
    let of_chain = |(chain, own): (usize, &Option<BestNormal>)| {
        let own = own.as_ref().filter(|own| own.elbo >= best.elbo - BELOW).unwrap_or(best);
        let streams = ParticleStreams::new(seed, chain);
        let (mut x, mut gradient) = (vec![0.0; coordinates.dim()], vec![0.0; coordinates.dim()]);
        for draw in 0..DRAWS {
            // No path has so many points.
            own.normal.draw(&mut streams.of(draw, u32::MAX as usize), &mut x);
            let logp = coordinates.value_at(&x, &mut gradient).map_err(|why| halted(chain, why))?;
            if logp.is_finite() {
                coordinates.make_natural(&mut x, &mut [logp]);
                return Ok(x);
            }
        }
        Err(SamplerError::Start { chain, what: format!("{DRAWS} draws near the end of its path have no density") })
    };
    found.iter().cycle().take(chains).enumerate().map(of_chain).collect()
}

/// Returns the best normal of a path, if there is one, with the gradients that were computed.
fn best_of_path(
    coordinates: &SamplerCoordinates<'_>,
    draws: usize,
    (seed, path): (u64, usize),
) -> Result<(Option<BestNormal>, u64), SamplerError> {
    let streams = ParticleStreams::new(seed, path);
    let (mut best, mut evaluations, mut round): (Option<BestNormal>, u64, usize) = (None, 0, 0);
    let start = coordinates.start(seed, path)?;
    let ascended = ascend(coordinates, start, f64::INFINITY, |point, inverse_hessian| {
        round += 1;
        let Some(normal) = PathNormal::new(inverse_hessian.clone(), &point.x, &point.gradient) else {
            return Ok(ControlFlow::Continue(()));
        };
        let elbo = elbo(coordinates, &normal, draws, |draw| streams.of(draw, round))?;
        evaluations += draws as u64;
        if elbo > best.as_ref().map_or(f64::NEG_INFINITY, |best| best.elbo) {
            best = Some(BestNormal { elbo, normal });
        }
        Ok(ControlFlow::Continue(()))
    });
    let ascended = ascended.map_err(|why| halted(path, why))?;
    Ok((best, evaluations + ascended.evaluations))
}

/// Returns the evidence lower bound of a normal: the mean of `log p - log q` over some draws.
fn elbo(
    coordinates: &SamplerCoordinates<'_>,
    normal: &PathNormal,
    draws: usize,
    stream: impl Fn(usize) -> Stream,
) -> Result<f64, Halted> {
    let dim = coordinates.dim();
    let (mut x, mut gradient, mut sum) = (vec![0.0; dim], vec![0.0; dim], 0.0);
    for draw in 0..draws {
        normal.draw(&mut stream(draw), &mut x);
        sum += coordinates.value_at(&x, &mut gradient)? - normal.log_density(&x);
    }
    Ok(sum / draws as f64)
}
