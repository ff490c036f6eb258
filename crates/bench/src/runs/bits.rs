//! The bits of a run: draws and statistics of every iteration, including warm-up.
//!
//! They are kept as a hash and a trail, so that a difference has its first iteration, chain and quantity.

use octopus_density::LogDensity;
use octopus_models::HierarchicalNormal;
use octopus_sampler::{Algorithm, Block, DrawStats, ReadStatistic, Sampler, SamplerError};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The words of 64 bits of each chain, iteration after iteration: the coordinates of the draw, then its statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    /// The number of coordinates.
    dim: usize,
    chains: Vec<Vec<u64>>,
}

/// The short hashes by which a difference from a record is found, of 4 hexadecimal digits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trail {
    /// The hashes of all iterations, each over all chains.
    pub(super) iterations: String,
    /// The hashes of all chains, each over all iterations.
    pub(super) chains: String,
}

impl Bits {
    /// Samples to the end and returns the bits. With many short chains only those iterations count that all chains
    /// make; what a few chains have learned before shows in every draw anyway.
    ///
    /// # Errors
    /// When the density or the device fails.
    pub(super) fn of_run(mut sampler: Sampler<'_>, model: &HierarchicalNormal) -> Result<Self, SamplerError> {
        let (mut bits, chains) = (Self::empty(model), sampler.config().chains);
        while let Some(block) = sampler.advance(usize::MAX)? {
            if block.chains.len() == chains {
                bits.add(&block);
            }
        }
        Ok(bits)
    }

    /// Returns the bits of a run that has not begun.
    pub(super) fn empty(model: &HierarchicalNormal) -> Self {
        Self { dim: model.dim(), chains: Vec::new() }
    }

    /// Adds the iterations of a block.
    pub(super) fn add(&mut self, block: &Block) {
        self.chains.resize(block.chains.len(), Vec::new());
        for (all, chain) in self.chains.iter_mut().zip(&block.chains) {
            for (x, stats) in chain.positions.chunks_exact(self.dim).zip(&chain.stats) {
                all.extend(x.iter().map(|x| x.to_bits()));
                all.extend(words(stats));
            }
        }
    }

    /// Returns the number of words of an iteration.
    fn width(&self) -> usize {
        self.dim + statistics().count()
    }

    /// Returns the number of iterations of each chain.
    pub(super) fn iterations(&self) -> usize {
        self.chains.first().map_or(0, |chain| chain.len() / self.width())
    }

    /// Returns the number of leapfrog steps of all chains.
    pub(super) fn leapfrogs(&self) -> u64 {
        let Some(place) = statistics().position(|(name, _)| name == "n_steps") else { return 0 };
        let iterations = self.chains.iter().flat_map(|chain| chain.chunks_exact(self.width()));
        iterations.map(|words| words[self.dim + place]).sum()
    }

    /// Returns the SHA-256 over the little-endian words, chain after chain, in hexadecimal digits.
    pub(super) fn hash(&self) -> String {
        hexadecimal(&digest(self.chains.iter().flatten()))
    }

    /// Returns the short hashes by which a difference is found without the other run's bits.
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

    /// Describes the first place where the bits of `other` differ, in the order of iterations, then chains; `None` when
    /// they are equal.
    pub(super) fn first_difference(&self, other: &Self) -> Option<String> {
        if (self.dim, self.chains.len(), self.iterations()) != (other.dim, other.chains.len(), other.iterations()) {
            return Some("here and on the CPU there are different sizes".into());
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
            self.quantity(word),
            self.value(word, here),
            self.value(word, there),
        ))
    }

    /// Describes the first place where the bits differ from the recorded ones; `None` when they are equal.
    pub(super) fn difference_from_record(&self, record: &Trail) -> Option<String> {
        self.trail().difference(record)
    }

    fn quantity(&self, word: usize) -> String {
        match self.statistic(word) {
            Some((name, _)) => name.to_owned(),
            None => format!("coordinate {word}"),
        }
    }

    fn statistic(&self, word: usize) -> Option<(&'static str, ReadStatistic)> {
        word.checked_sub(self.dim).and_then(|at| statistics().nth(at))
    }

    /// Returns the value of a word as text. Coordinates are real numbers.
    fn value(&self, word: usize, bits: u64) -> String {
        match self.statistic(word) {
            None | Some((_, ReadStatistic::Real(_))) => format!("{:e}", f64::from_bits(bits)),
            Some((_, ReadStatistic::Count(_) | ReadStatistic::Flag(_))) => (bits as i64).to_string(),
        }
    }
}

impl Trail {
    /// Describes the difference from a record; `None` when there is none.
    fn difference(&self, record: &Self) -> Option<String> {
        let differing = |own: &str, recorded: &str| -> Vec<usize> {
            let digits = |text: &str| text.as_bytes().chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
            let (own, recorded) = (digits(own), digits(recorded));
            let most = own.len().max(recorded.len());
            (0..most).filter(|&at| own.get(at) != recorded.get(at)).collect()
        };
        let first_iteration = *differing(&self.iterations, &record.iterations).first()?;
        let chains = differing(&self.chains, &record.chains);
        let first = chains.first().map_or_else(|| "none alone".to_owned(), usize::to_string);
        Some(format!(
            "differs from the record first in iteration {first_iteration}; chains that differ: {}, the first is {first}",
            chains.len()
        ))
    }
}

/// Returns the statistics that are in the bits: NUTS moves the chains of recorded runs.
fn statistics() -> impl Iterator<Item = (&'static str, ReadStatistic)> {
    Algorithm::Nuts.statistics()
}

fn words(stats: &DrawStats) -> impl Iterator<Item = u64> + use<'_> {
    statistics().map(|(_, read)| match read {
        ReadStatistic::Real(read) => read(stats).to_bits(),
        // The sign is kept, because an index may be negative.
        ReadStatistic::Count(read) => read(stats) as u64,
        ReadStatistic::Flag(read) => u64::from(read(stats)),
    })
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

    /// Returns the bits of two chains of two iterations of one coordinate.
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
        assert_eq!(here.difference_from_record(&there.trail()), None);
        // Of two differences, the one in the earlier iteration is found, though its chain comes later.
        there.chains[0][12] = 7;
        there.chains[1][8] = 9;
        let words = here.first_difference(&there).unwrap();
        assert!(words.contains("iteration 0, chain 1: n_steps is 108 ") && words.contains("and 9 "), "{words}");
        let words = here.difference_from_record(&there.trail()).unwrap();
        assert!(words.contains("iteration 0;") && words.contains("differ: 2, the first is 0"), "{words}");
        there = bits();
        there.chains[0][12] = 7.5f64.to_bits();
        let words = here.first_difference(&there).unwrap();
        assert!(words.contains("iteration 1, chain 0: coordinate 0 is"), "{words}");
        assert!(words.ends_with("and 7.5e0 (401e000000000000) on the CPU"), "{words}");
        assert!(here.difference_from_record(&there.trail()).unwrap().contains("iteration 1; chains that differ: 1"));
        there.chains.pop();
        assert!(here.first_difference(&there).unwrap().contains("different sizes"));
    }

    #[test]
    fn leapfrogs_are_those_of_the_statistics() {
        // Words 8 and 20 of 24: n_steps of both iterations.
        assert_eq!(bits().leapfrogs(), 8 + 20 + 108 + 120);
    }
}
