//! Keys of draws: what a draw depends on besides its number.

use crate::philox::philox4x32_10;
use crate::stream::Purpose;

/// The key of a sequence of draws: draw `i` of a distribution depends on the key and on `i` alone.
///
/// Keys come from a seed, and from other keys: [`fold_in`](Self::fold_in) makes as many as are needed, and the draws of
/// each are independent of those of all others.
///
/// ```
/// use octopus_random::Key;
///
/// let key = Key::new(42);
/// assert_eq!(key.fold_in(3), Key::new(42).fold_in(3));
/// assert_ne!(key.fold_in(3), key.fold_in(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    words: [u32; 2],
}

impl Key {
    /// Makes the key of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { words: [seed as u32, (seed >> 32) as u32] }
    }

    /// Makes a key of this one and a number.
    #[must_use]
    pub fn fold_in(self, number: u64) -> Self {
        let [low, high, ..] = philox4x32_10([number as u32, (number >> 32) as u32, 0, Purpose::Key as u32], self.words);
        Self { words: [low, high] }
    }

    /// Returns the key's 64 bits: the seed of a key that was made of one.
    #[must_use]
    pub const fn bits(self) -> u64 {
        (self.words[1] as u64) << 32 | self.words[0] as u64
    }

    /// Returns the four random words of a block of draws in one of its turns.
    #[inline(always)]
    pub(crate) fn words(self, block: u64, turn: u32) -> [u32; 4] {
        philox4x32_10([block as u32, (block >> 32) as u32, turn, Purpose::Draws as u32], self.words)
    }
}
