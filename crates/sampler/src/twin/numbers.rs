//! Random numbers by their addresses.

use super::real::TwinReal;
use octopus_density::warp;
use octopus_random::{Purpose, philox4x32_10};

/// The random numbers of one transition or search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) seed: u64,
    pub(super) chain: u32,
    pub(super) iteration: u32,
}

impl Numbers {
    /// Returns the two uniform numbers of a block.
    pub(super) fn pair<X: TwinReal>(&self, purpose: Purpose, block: u32) -> [X; 2] {
        let counter = [block, self.iteration, self.chain, purpose as u32];
        let [a, b, c, d] = philox4x32_10(counter, [self.seed as u32, (self.seed >> 32) as u32]);
        [X::uniform(a, b), X::uniform(c, d)]
    }

    /// Standard normal numbers for a vector: lane `l` has the two of block `k L + l` in its rows `2 k` and `2 k + 1`.
    pub(super) fn normals<R: TwinReal>(&self, purpose: Purpose, dim: usize) -> Vec<R> {
        let lanes = warp::lanes(dim);
        let normal = |i: usize| {
            let (row, lane) = (i / lanes, i % lanes);
            self.pair::<R>(purpose, (row / 2 * lanes + lane) as u32)[row % 2].normal_quantile()
        };
        (0..dim).map(normal).collect()
    }
}
