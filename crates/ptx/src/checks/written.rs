//! Which global memory somebody has written.

use super::shadow::GRANULE;
use crate::global::Allocation;

/// Which granules of each allocation have been written, by the program or by kernels.
#[derive(Debug)]
pub(crate) struct WrittenMemory<'a> {
    /// The address of each allocation of which it is known, in their order, and a bit for each granule.
    allocations: Vec<(u64, &'a mut [u32])>,
}

impl<'a> WrittenMemory<'a> {
    /// Takes what is known of the allocations from them.
    pub(crate) fn of(allocations: &mut [Allocation<'a>]) -> Self {
        let known = allocations.iter_mut().filter_map(|one| Some((one.address, one.written.take()?)));
        let mut allocations: Vec<_> = known.collect();
        allocations.sort_unstable_by_key(|(address, _)| *address);
        Self { allocations }
    }

    /// A kernel has written these bytes.
    pub(crate) fn write(&mut self, address: u64, bytes: u64) {
        let Some((granules, map)) = self.find(address, bytes) else { return };
        for granule in granules {
            if let Some(word) = map.get_mut(granule / 32) {
                *word |= 1 << (granule % 32);
            }
        }
    }

    /// Returns whether nobody has written some of these bytes.
    pub(crate) fn lacks(&mut self, address: u64, bytes: u64) -> bool {
        let Some((mut granules, map)) = self.find(address, bytes) else { return false };
        granules.any(|granule| map.get(granule / 32).is_some_and(|word| word >> (granule % 32) & 1 == 0))
    }

    /// Returns the granules of these bytes in their allocation, and what is known of that.
    fn find(&mut self, address: u64, bytes: u64) -> Option<(std::ops::Range<usize>, &mut [u32])> {
        let after = self.allocations.partition_point(|(first, _)| *first <= address);
        let (first, map) = self.allocations.get_mut(after.checked_sub(1)?)?;
        let (begin, end) = (address - *first, address - *first + bytes);
        let granules = (begin / GRANULE) as usize..end.div_ceil(GRANULE) as usize;
        // An address behind the allocation is in one of which nothing is known.
        (granules.start / 32 < map.len()).then_some((granules, &mut **map))
    }
}
