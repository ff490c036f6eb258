//! A quick hash of nodes: they are looked up with every operation that a graph is built of, and nobody chooses them in order
//! to collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Multiplies and turns, word by word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeHasher {
    state: u64,
}

pub(crate) type BuildNodeHasher = BuildHasherDefault<NodeHasher>;

/// The golden ratio's bits: odd, and without a pattern.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl NodeHasher {
    fn add(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        // The low bits choose the place, and a product's low bits know the low bits of its factors only: round numbers have
        // zeros there.
        let folded = (self.state ^ (self.state >> 32)).wrapping_mul(FACTOR);
        folded ^ (folded >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.add(x.into());
    }

    fn write_u32(&mut self, x: u32) {
        self.add(x.into());
    }

    fn write_u64(&mut self, x: u64) {
        self.add(x);
    }

    fn write_usize(&mut self, x: usize) {
        self.add(x as u64);
    }

    fn write_isize(&mut self, x: isize) {
        self.add(x as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    /// Numbers in a row and the bits of round numbers fall into different places of a small table.
    #[test]
    fn places_are_spread() {
        let places = |words: &mut dyn Iterator<Item = u64>| -> usize {
            let build = BuildNodeHasher::default();
            words.map(|word| build.hash_one(word) % 1024).collect::<HashSet<u64>>().len()
        };
        // 1024 balls in as many places leave 377 empty on average, with a standard deviation of 10.
        assert!(places(&mut (0..1024)) > 580);
        assert!(places(&mut (0..1024).map(|k| f64::from(k as u32).to_bits())) > 580);
        assert!(places(&mut (0..1024).map(|k| (0.5 * f64::from(k as u32)).to_bits())) > 580);
    }
}
