//! Who has touched each two bytes of memory last.

use super::clock::Time;
use std::collections::HashMap;

/// Two bytes of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granule {
    /// The last write; a line of 0 when there was none.
    pub(crate) write: Touched,
    /// Reads since, none of which happened before another; without relaxed ones.
    pub(crate) reads: Vec<Touched>,
}

/// When lanes of a warp have touched a granule, in one instruction. Those of a write all wrote the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) block: u32,
    /// A block has at most 32. (Narrow, since these records are most of what the checks need of memory.)
    pub(crate) warp: u16,
    pub(crate) lanes: u32,
    pub(crate) line: u32,
    pub(crate) time: Time,
    /// It may meet others of its kind.
    pub(crate) relaxed: bool,
}

/// The bytes of a granule.
pub(crate) const GRANULE: u64 = 2;

/// The granules of a page.
const PAGE: u64 = 512;

/// The granules of global memory, or of the shared memory of a block.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    numbers: HashMap<(Option<u32>, u64), usize>,
    pages: Vec<Vec<Granule>>,
    /// The page that was looked for last, and its number.
    last: Option<((Option<u32>, u64), usize)>,
}

impl Shadow {
    /// Returns the granule of an address, of the shared memory of a block or of global memory.
    pub(crate) fn granule(&mut self, shared: Option<u32>, address: u64) -> &mut Granule {
        let granule = address / GRANULE;
        let key = (shared, granule / PAGE);
        let number = match self.last.filter(|(known, _)| *known == key) {
            Some((_, number)) => number,
            None => {
                let pages = &mut self.pages;
                let number = *self.numbers.entry(key).or_insert_with(|| {
                    pages.push(vec![Granule::default(); PAGE as usize]);
                    pages.len() - 1
                });
                self.last = Some((key, number));
                number
            }
        };
        &mut self.pages[number][(granule % PAGE) as usize]
    }
}
