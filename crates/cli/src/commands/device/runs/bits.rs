//! The bits of a run: draws and statistics of every iteration, warm-up included.

use anyhow::Result;
use octopus_density::{HierarchicalNormal, LogDensity};
use octopus_sampler::{Block, DrawStats, Sampler};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The statistics of a draw, in the order in which they follow its coordinates.
const STATISTICS: [&str; 11] = [
    "lp",
    "acceptance_rate",
    "step_size",
    "energy",
    "energy_error",
    "max_energy_error",
    "tree_depth",
    "n_steps",
    "index_in_trajectory",
    "diverging",
    "reached_max_treedepth",
];

/// Each chain's words of 64 bits, iteration after iteration: the coordinates of the draw, then its statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    dim: usize,
    chains: Vec<Vec<u64>>,
}

/// Short hashes by which a difference from a record is found: 4 hexadecimal digits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trail {
    /// Of each iteration, over all chains.
    pub(super) iterations: String,
    /// Of each chain, over all iterations.
    pub(super) chains: String,
}

impl Bits {
    /// Samples to the end.
    ///
    /// # Errors
    /// When the density or the device fails.
    pub(super) fn of(mut sampler: Sampler<'_, HierarchicalNormal>, model: &HierarchicalNormal) -> Result<Self> {
        let mut bits = Self { dim: model.dim(), chains: Vec::new() };
        while let Some(block) = sampler.advance(usize::MAX)? {
            bits.add(&block);
        }
        Ok(bits)
    }

    fn add(&mut self, block: &Block) {
        self.chains.resize(block.chains.len(), Vec::new());
        for (all, chain) in self.chains.iter_mut().zip(&block.chains) {
            for (x, stats) in chain.positions.chunks_exact(self.dim).zip(&chain.stats) {
                all.extend(x.iter().map(|x| x.to_bits()));
                all.extend(words(stats));
            }
        }
    }

    /// Words of an iteration.
    fn width(&self) -> usize {
        self.dim + STATISTICS.len()
    }

    /// Iterations of each chain.
    pub(super) fn iterations(&self) -> usize {
        self.chains.first().map_or(0, |chain| chain.len() / self.width())
    }

    /// Leapfrog steps of all chains.
    pub(super) fn leapfrogs(&self) -> u64 {
        let place = self.dim + 7;
        self.chains.iter().flat_map(|chain| chain.chunks_exact(self.width())).map(|words| words[place]).sum()
    }

    /// SHA-256 over the little-endian words, chain after chain, in hexadecimal digits.
    pub(super) fn hash(&self) -> String {
        hexadecimal(&digest(self.chains.iter().flatten()))
    }

    /// By which a difference is found without the other run's bits.
    pub(super) fn trail(&self) -> Trail {
        let short = |bytes: [u8; 32]| hexadecimal(&bytes[..2]);
        let width = self.width();
        let iteration =
            |i: usize| digest(self.chains.iter().flat_map(|chain| chain[i * width..(i + 1) * width].iter()));
        Trail {
            iterations: (0..self.iterations()).map(|i| short(iteration(i))).collect(),
            chains: self.chains.iter().map(|chain| short(digest(chain.iter()))).collect(),
        }
    }

    /// Where the other run differs first, in the order of iterations, then chains; none when it does not.
    pub(super) fn first_difference(&self, other: &Self) -> Option<String> {
        if (self.dim, self.chains.len(), self.iterations()) != (other.dim, other.chains.len(), other.iterations()) {
            return Some("the runs have different sizes".into());
        }
        let width = self.width();
        let differing = |(c, (a, b)): (usize, (&Vec<u64>, &Vec<u64>))| {
            a.iter().zip(b).position(|(a, b)| a != b).map(|place| (place / width, c, place % width))
        };
        let (iteration, chain, word) = self.chains.iter().zip(&other.chains).enumerate().filter_map(differing).min()?;
        let place = iteration * width + word;
        let (here, there) = (self.chains[chain][place], other.chains[chain][place]);
        Some(format!(
            "first in iteration {iteration}, chain {chain}: {} is {} ({here:016x}) here and {} ({there:016x}) on the CPU",
            quantity(self.dim, word),
            value(self.dim, word, here),
            value(self.dim, word, there),
        ))
    }
}

impl Trail {
    /// What differs from a record, in words; none when nothing does.
    pub(super) fn difference(&self, record: &Self) -> Option<String> {
        let differing = |own: &str, recorded: &str| -> Vec<usize> {
            let digits = |text: &str| text.as_bytes().chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
            let (own, recorded) = (digits(own), digits(recorded));
            let most = own.len().max(recorded.len());
            (0..most).filter(|&at| own.get(at) != recorded.get(at)).collect()
        };
        let iteration = *differing(&self.iterations, &record.iterations).first()?;
        let chains = differing(&self.chains, &record.chains);
        let first = chains.first().map_or_else(|| "none alone".to_owned(), usize::to_string);
        Some(format!(
            "differs from the record first in iteration {iteration}; chains that differ: {}, the first is {first}",
            chains.len()
        ))
    }
}

fn words(s: &DrawStats) -> impl Iterator<Item = u64> {
    let reals = [s.lp, s.acceptance_rate, s.step_size, s.energy, s.energy_error, s.max_energy_error].map(f64::to_bits);
    // Sign and all: the index may be negative.
    let counts = [u64::from(s.tree_depth), u64::from(s.n_steps), i64::from(s.index_in_trajectory) as u64];
    reals.into_iter().chain(counts).chain([s.diverging, s.reached_max_treedepth].map(u64::from))
}

fn quantity(dim: usize, word: usize) -> String {
    word.checked_sub(dim).map_or_else(|| format!("coordinate {word}"), |at| STATISTICS[at].to_owned())
}

/// A word as it is meant.
fn value(dim: usize, word: usize, bits: u64) -> String {
    if word < dim + 6 { format!("{:e}", f64::from_bits(bits)) } else { (bits as i64).to_string() }
}

fn digest<'a>(words: impl Iterator<Item = &'a u64>) -> [u8; 32] {
    let mut hash = Sha256::new();
    words.for_each(|word| hash.update(word.to_le_bytes()));
    hash.finalize().into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chains of two iterations of one coordinate.
    fn bits() -> Bits {
        let chain = |first: u64| (first..first + 24).collect();
        Bits { dim: 1, chains: vec![chain(0), chain(100)] }
    }

    #[test]
    fn the_hash_is_sha_256_of_little_endian_words() {
        let bits = Bits { dim: 1, chains: vec![vec![1]] };
        // printf '\x01\0\0\0\0\0\0\0' | sha256sum
        assert_eq!(bits.hash(), "7c9fa136d4413fa6173637e883b6998d32e1d675f88cddff9dcbcf331820f4b8");
    }

    #[test]
    fn the_first_difference_is_named() {
        let (here, mut there) = (bits(), bits());
        assert_eq!(here.first_difference(&there), None);
        assert_eq!(here.trail().difference(&there.trail()), None);
        // Of two, the one of the earlier iteration, though its chain comes later.
        there.chains[0][12] = 7;
        there.chains[1][8] = 9;
        let words = here.first_difference(&there).unwrap();
        assert!(words.contains("iteration 0, chain 1: n_steps is 108 ") && words.contains("and 9 "), "{words}");
        let words = here.trail().difference(&there.trail()).unwrap();
        assert!(words.contains("iteration 0;") && words.contains("differ: 2, the first is 0"), "{words}");
        there = bits();
        there.chains[0][12] = 7;
        let words = here.first_difference(&there).unwrap();
        assert!(words.contains("iteration 1, chain 0: coordinate 0 is"), "{words}");
        assert!(here.trail().difference(&there.trail()).unwrap().contains("iteration 1; chains that differ: 1"));
    }

    #[test]
    fn leapfrogs_are_those_of_the_statistics() {
        // Words 8 and 20 of 24: n_steps of both iterations.
        assert_eq!(bits().leapfrogs(), 8 + 20 + 108 + 120);
    }
}
