//! Two halves of draws, each with a normal distribution fitted to it, from which a bridge leads to the other half.

use super::coordinates::BridgeCoordinates;
use super::proposal::NormalProposal;
use crate::TraceError;
use octopus_density::LogDensity;
use octopus_diag::{BridgeEstimate, Chains, bridge, bridge_covariance};
use octopus_random::{Purpose, Stream};
use rayon::prelude::*;

/// Both halves in the same coordinates.
pub(super) struct Halves<'a> {
    density: &'a dyn LogDensity,
    coordinates: BridgeCoordinates,
    chains: usize,
    draws: [Vec<f64>; 2],
    fits: [NormalProposal; 2],
}

/// An estimate from one half, with its covariance with the other half's.
pub(super) struct CrossedEstimate {
    pub(super) estimate: BridgeEstimate,
    pub(super) covariance: f64,
}

impl<'a> Halves<'a> {
    /// Takes draws in the density's own coordinates to others, and fits both normal distributions.
    pub(super) fn new(
        density: &'a dyn LogDensity,
        coordinates: BridgeCoordinates,
        mut draws: [Vec<f64>; 2],
        chains: usize,
    ) -> Result<Self, TraceError> {
        let dim = density.dim();
        for half in &mut draws {
            half.par_chunks_exact_mut(dim).for_each(|x| coordinates.take(density, x));
        }
        let fit = |half: &[f64]| {
            NormalProposal::fit(half, dim, chains).ok_or_else(|| {
                TraceError::lacks(
                    "a coordinate of the draws does not move, or is not finite: there is no posterior to integrate",
                )
            })
        };
        let fits = [fit(&draws[0])?, fit(&draws[1])?];
        Ok(Self { density, coordinates, chains, draws, fits })
    }

    /// The bridge to one half of the draws from the normal distribution fitted to the other.
    pub(super) fn bridge(&self, half: u32, seed: u64) -> Result<CrossedEstimate, TraceError> {
        let ([one, other], [fit, other_fit]) = (&self.draws, &self.fits);
        let (draws, own, proposal) = if half == 0 { (one, fit, other_fit) } else { (other, other_fit, fit) };
        let value = |x: &[f64]| self.coordinates.value(self.density, x).map_err(TraceError::Density);
        let (of_draws, of_own_fit): (Vec<f64>, Vec<f64>) = draws
            .par_chunks_exact(self.density.dim())
            .map(|x| value(x).map(|value| (value - proposal.log_density(x), value - own.log_density(x))))
            .collect::<Result<_, TraceError>>()?;
        let of_proposals: Vec<f64> = (0..of_draws.len() as u32)
            .into_par_iter()
            .map(|k| {
                let (x, log) = proposal.draw(Stream::new(seed, half, k, Purpose::Bridge));
                Ok(value(&x)? - log)
            })
            .collect::<Result<_, TraceError>>()?;
        let of_chains = Chains::new(&of_draws, self.chains, of_draws.len() / self.chains)?;
        let estimate = bridge(&of_chains, &of_proposals)?;
        let covariance = bridge_covariance(&of_chains, &of_own_fit, of_proposals.len(), &estimate);
        Ok(CrossedEstimate { estimate, covariance })
    }
}
