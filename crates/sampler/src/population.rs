//! Methods that draw a population of particles and no Markov chain through NUTS: importance sampling, sequential Monte
//! Carlo, Pathfinder.
//!
//! | method | what it is good for | what says that it failed |
//! |--|--|--|
//! | [`importance`] | posteriors near a normal: the evidence in a few thousand gradients | Pareto k |
//! | [`smc`] | the evidence of any posterior that HMC moves in; several modes | moves that do not mix, repetitions that differ |
//! | [`pathfinder`] | an approximation within seconds, where to start | Pareto k |
//!
//! All work in the sampler's coordinates, where hierarchies are standardised, and return positions and log densities in the
//! density's own. The evidence is the logarithm of the density's integral: a density that
//! leaves constants out leaves them out of its evidence.
//!
//! [`particle_filter`] is of another kind: it follows hidden states over time, and knows no density of parameters.

mod approach;
mod engine;
mod evaluate;
mod filter;
mod importance;
mod inverse_hessian;
mod laplace;
mod lbfgs;
mod linear;
mod pathfinder;
mod proposal;
mod smc;
mod weights;

pub(crate) use approach::approach;
pub use engine::PopulationFindings;
pub(crate) use engine::{PopulationEngine, PopulationMeans, PopulationMethod};
pub(crate) use evaluate::{SamplerCoordinates, halted, or_nothing};
pub use filter::{FilterSize, FilteredStates, particle_filter};
pub use importance::{ImportanceConfig, ImportanceProposal, importance, importance_from_prior, particles_of_prior};
pub(crate) use pathfinder::starts_on_paths;
pub use pathfinder::{PathfinderConfig, pathfinder};
pub use smc::{SmcConfig, SmcPopulation, SmcSize, SmcStage, smc};

use crate::error::SamplerError;
use evaluate::ParticleStreams;
use octopus_diag::pareto_k_threshold;
use octopus_random::exact;

/// The logarithm of a density's integral, estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopulationEvidence {
    /// The estimate.
    pub log_evidence: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Weighted particles of a posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticlePopulation {
    /// The number of coordinates.
    pub dim: usize,
    /// The particles in the density's own coordinates, `particles x dim`, row-major.
    pub positions: Vec<f64>,
    /// The log density at each particle; minus infinity where it vanishes.
    pub logp: Vec<f64>,
    /// The logarithm of each particle's weight. Their mean weight estimates the density's integral.
    pub log_weights: Vec<f64>,
    /// The logarithm of the density's integral.
    pub evidence: PopulationEvidence,
    /// How many draws of the posterior the particles are worth, as far as their weights tell (Kish).
    pub ess: f64,
    /// The shape of the tail of the weights: above [the limit for this number of particles](Self::is_reliable), at most
    /// 0.7, neither draws nor evidence can be relied on (Vehtari et al. 2024). `None` where particles were moved after they
    /// had been weighted, as in [`smc`].
    pub pareto_k: Option<f64>,
    /// Gradients that were computed.
    pub evaluations: u64,
}

impl ParticlePopulation {
    /// Returns the number of particles.
    pub fn particles(&self) -> usize {
        self.log_weights.len()
    }

    /// Takes the shape of other weights of the same particles for its own where it is larger.
    fn judged_by(self, others: &[f64]) -> Result<Self, SamplerError> {
        let of_others = weights::smoothed(others)?.1;
        Ok(Self { pareto_k: self.pareto_k.map(|k| k.max(of_others)), ..self })
    }

    /// Returns the position of a particle.
    ///
    /// # Panics
    /// When there is no such particle.
    pub fn position(&self, particle: usize) -> &[f64] {
        &self.positions[particle * self.dim..(particle + 1) * self.dim]
    }

    /// Returns whether the weights have a tail that estimates can be made with: k, if there is one, is at most
    /// `min(1 - 1 / log10(n), 0.7)`.
    pub fn is_reliable(&self) -> bool {
        self.pareto_k.is_none_or(|k| k <= pareto_k_threshold(self.particles()))
    }

    /// Returns the numbers of `count` particles, drawn by their Pareto smoothed weights, in random order: draws of the
    /// posterior that weigh the same. A particle comes as often as its weight says to within 1.
    ///
    /// # Errors
    /// When all weights vanish, as they do in no population that was drawn.
    pub fn resample(&self, count: usize, seed: u64) -> Result<Vec<usize>, SamplerError> {
        let (log_weights, _) = weights::smoothed(&self.log_weights)?;
        let mut random = ParticleStreams::new(seed, 0).shared(0);
        let uniform = random.uniform();
        let mut chosen = weights::systematic(log_weights.into_iter().map(exact::exp), count, uniform);
        weights::shuffle(&mut chosen, &mut random);
        Ok(chosen)
    }
}
