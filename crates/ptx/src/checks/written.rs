//! Which global memory somebody has written.

use crate::global::Allocation;
use std::ops::Range;

/// The bytes for which there is one bit: of a smaller element its neighbours count as written, too.
const GRANULE: u64 = 4;

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
    fn find(&mut self, address: u64, bytes: u64) -> Option<(Range<usize>, &mut [u32])> {
        let after = self.allocations.partition_point(|(first, _)| *first <= address);
        let (first, map) = self.allocations.get_mut(after.checked_sub(1)?)?;
        let (begin, end) = (address - *first, address - *first + bytes);
        // Granules behind the map are of memory of which nothing is known.
        Some(((begin / GRANULE) as usize..end.div_ceil(GRANULE) as usize, &mut **map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocation_has_a_map_of_its_own() {
        let [mut first, mut second, mut third, mut fourth] = [(); 4].map(|()| vec![0; 256]);
        let [mut of_first, mut of_third, mut of_fourth] = [[0; 2]; 3];
        // In no order; of the second nothing is known.
        let mut allocations = [
            Allocation { address: 0x3000, memory: &mut third, written: Some(&mut of_third) },
            Allocation { address: 0x1000, memory: &mut first, written: Some(&mut of_first) },
            Allocation { address: 0x2000, memory: &mut second, written: None },
            Allocation { address: 0x4000, memory: &mut fourth, written: Some(&mut of_fourth) },
        ];
        let mut written = WrittenMemory::of(&mut allocations);
        written.write(0x1000 + 4 * 53, 8);
        written.write(0x3000, 1);
        // Of granules 53 and 54 of the first, and of the first granule of the third.
        for (address, bytes, lacks) in [
            (0x1000 + 4 * 53, 8, false),
            (0x1000 + 4 * 52, 8, true),
            (0x1000 + 4 * 54, 8, true),
            (0x1000 + 4 * 54 + 3, 1, false),
            (0x1000 + 4 * 55, 1, true),
            (0x1000 + 4 * 21, 4, true),
            (0x1000 + 255, 1, true),
            (0x3000 + 3, 1, false),
            (0x3000 + 4, 1, true),
            (0x4000, 4, true),
            (0x2000, 8, false),
            (0x0800, 8, false),
        ] {
            assert_eq!(written.lacks(address, bytes), lacks, "{bytes} bytes at {address:#x}");
        }
        assert_eq!((of_first, of_third), ([0, 0b11 << 21], [1, 0]));
    }
}
