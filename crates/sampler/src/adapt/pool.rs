//! The draws of all chains in the open window, and the sums that warm-up learns from: in one fixed order, wherever the
//! draws are.

use crate::adapt::Window;
use crate::error::SamplerError;
use rayon::prelude::*;

/// Which numbers of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Positions,
    Gradients,
}

/// The draws of all chains with the gradients there, in the sampler's coordinates.
pub(crate) trait WindowPool {
    /// Returns the number of draws of all chains together.
    fn count(&self) -> usize;

    /// Returns for each coordinate the sum of x over all draws, or, with `about`, the sum of (x - about)^2. Each
    /// chain's draws are summed in their order, and then the chains' sums in order of the chains.
    ///
    /// # Errors
    /// When the draws are on a device that fails.
    fn sums(&mut self, side: Side, about: Option<&[f64]>) -> Result<Vec<f64>, SamplerError>;

    /// Returns every `stride`-th of all draws, chain after chain, one after another.
    ///
    /// # Errors
    /// When the draws are on a device that fails.
    fn every(&mut self, side: Side, stride: usize) -> Result<Vec<f64>, SamplerError>;
}

/// Windows in the host's memory.
pub(crate) struct HostPool<'w> {
    pub(crate) windows: Vec<&'w mut Window>,
    pub(crate) dim: usize,
}

fn rows(window: &Window, side: Side) -> &[f64] {
    match side {
        Side::Positions => &window.positions,
        Side::Gradients => &window.gradients,
    }
}

impl WindowPool for HostPool<'_> {
    fn count(&self) -> usize {
        self.windows.iter().map(|window| window.positions.len() / self.dim).sum()
    }

    fn sums(&mut self, side: Side, about: Option<&[f64]>) -> Result<Vec<f64>, SamplerError> {
        let of_chains: Vec<Vec<f64>> = self
            .windows
            .par_iter()
            .map(|window| {
                let mut sum = vec![0.0; self.dim];
                for row in rows(window, side).chunks_exact(self.dim) {
                    match about {
                        None => sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x),
                        Some(about) => {
                            for ((sum, &x), &about) in sum.iter_mut().zip(row).zip(about) {
                                *sum += (x - about) * (x - about);
                            }
                        }
                    }
                }
                sum
            })
            .collect();
        let mut total = vec![0.0; self.dim];
        for sum in of_chains {
            for (total, sum) in total.iter_mut().zip(sum) {
                *total += sum;
            }
        }
        Ok(total)
    }

    fn every(&mut self, side: Side, stride: usize) -> Result<Vec<f64>, SamplerError> {
        let all = self.windows.iter().flat_map(|window| rows(window, side).chunks_exact(self.dim));
        Ok(all.step_by(stride.max(1)).flatten().copied().collect())
    }
}
