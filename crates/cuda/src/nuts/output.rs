//! The results of one launch, as the host reads them.

use super::NutsChain;
use super::layout::NutsFormat;
use super::record::{NutsRecord, RECORD};
use super::regions::Regions;
use std::ops::Range;

/// The results of one launch, on the host.
pub struct NutsOutput<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) regions: &'a Regions,
    pub(super) chains: usize,
    pub(super) dim: usize,
    pub(super) format: NutsFormat,
}

impl NutsOutput<'_> {
    /// Returns the iterations of each chain.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.regions.iterations
    }

    /// Returns the leapfrog steps of all transitions of all chains.
    #[must_use]
    pub fn steps(&self) -> u64 {
        (0..self.chains).flat_map(|chain| self.records(chain)).map(|record| u64::from(record.n_steps)).sum()
    }

    /// Returns the iterations of this launch of which the points were kept, in the sampler's coordinates.
    #[must_use]
    pub fn window(&self) -> Range<usize> {
        self.regions.window.clone()
    }

    /// Appends the draws of a chain to `out`, in the density's own coordinates, `iterations x dim`.
    pub fn draws(&self, chain: usize, out: &mut Vec<f64>) {
        let bytes = self.regions.iterations * self.dim * self.format.element.bytes();
        let start = self.regions.draws + chain * bytes;
        self.format.element.decode(&self.bytes[start..start + bytes], out);
    }

    /// Appends the points of a chain in the [window](Self::window) to `positions` and the gradients there to
    /// `gradients`, both in the sampler's coordinates.
    pub fn points(&self, chain: usize, positions: &mut Vec<f64>, gradients: &mut Vec<f64>) {
        let row = self.dim * self.format.element.bytes();
        let first = self.regions.points + chain * self.regions.iterations * 2 * row;
        for iteration in self.window() {
            let start = first + iteration * 2 * row;
            let (x, gradient) = self.bytes[start..start + 2 * row].split_at(row);
            self.format.element.decode(x, positions);
            self.format.element.decode(gradient, gradients);
        }
    }

    /// Returns the statistics of a chain's transitions.
    pub fn records(&self, chain: usize) -> impl Iterator<Item = NutsRecord> {
        let bytes = self.regions.iterations * RECORD;
        let start = self.regions.records + chain * bytes;
        self.bytes[start..start + bytes].as_chunks().0.iter().map(NutsRecord::decode)
    }

    /// Returns the state of a chain after the last iteration.
    #[must_use]
    pub fn end_state(&self, chain: usize) -> NutsChain {
        let bytes = self.format.state_bytes();
        let start = self.regions.end_states + chain * bytes;
        NutsChain::decode(self.format.scalar, &self.bytes[start..start + bytes])
    }

    /// Appends the point of a chain after the last iteration to `out`, in the sampler's coordinates.
    pub fn end_position(&self, chain: usize, out: &mut Vec<f64>) {
        let bytes = self.dim * self.format.element.bytes();
        let start = self.regions.end_positions + chain * bytes;
        self.format.element.decode(&self.bytes[start..start + bytes], out);
    }
}
