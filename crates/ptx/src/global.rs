//! Global memory: allocations of the program, reached by address.

use crate::lanes::LANES;
use std::cell::Cell;

/// Memory that a kernel may reach.
#[derive(Debug)]
pub struct Allocation<'a> {
    /// The address of its first byte, as kernels know it.
    pub address: u64,
    /// Its bytes.
    pub memory: &'a mut [u8],
    /// A bit for each four bytes, 1 where somebody has written any of them: kept and looked at in launches that are
    /// checked. Without it all bytes count as written.
    pub written: Option<&'a mut [u32]>,
}

/// The allocations of a launch.
#[derive(Debug)]
pub(crate) struct GlobalMemory<'a> {
    /// In the order of their addresses.
    allocations: Vec<Allocation<'a>>,
    /// The one that was reached last.
    last: Cell<usize>,
}

/// A number that memory holds.
pub(crate) trait Loadable: Copy + Default {
    /// Returns the number of these bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the number to these bytes.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! element {
    ($($of:ty),+) => {$(
        impl Loadable for $of {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0, Self::from_ne_bytes)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                if let Ok(bytes) = <&mut [u8; size_of::<Self>()]>::try_from(bytes) {
                    *bytes = self.to_ne_bytes();
                }
            }
        }
    )+};
}
element!(u8, u16, u32, u64);

impl<'a> GlobalMemory<'a> {
    /// Takes the allocations, in any order.
    pub(crate) fn new(mut allocations: Vec<Allocation<'a>>) -> Self {
        allocations.sort_unstable_by_key(|allocation| allocation.address);
        Self { allocations, last: Cell::new(0) }
    }

    /// Returns the bytes of one allocation from `low` on that go to before `end`, which is above it.
    #[inline(always)]
    pub(crate) fn bytes(&self, low: u64, end: u64) -> Option<&[u8]> {
        let (number, at) = self.find(low)?;
        self.allocations[number].memory.get(at..at + (end - low) as usize)
    }

    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self, low: u64, end: u64) -> Option<&mut [u8]> {
        let (number, at) = self.find(low)?;
        self.allocations[number].memory.get_mut(at..at + (end - low) as usize)
    }

    /// Returns the number of the allocation that has this byte, and where it is in it.
    #[inline(always)]
    fn find(&self, address: u64) -> Option<(usize, usize)> {
        let last = self.last.get();
        self.within(last, address).map(|at| (last, at)).or_else(|| self.look_up(address))
    }

    #[inline(always)]
    fn within(&self, number: usize, address: u64) -> Option<usize> {
        let allocation = self.allocations.get(number)?;
        let at = address.wrapping_sub(allocation.address);
        (at < allocation.memory.len() as u64).then_some(at as usize)
    }

    fn look_up(&self, address: u64) -> Option<(usize, usize)> {
        let after = self.allocations.partition_point(|allocation| allocation.address <= address);
        let number = after.checked_sub(1)?;
        let at = self.within(number, address)?;
        self.last.set(number);
        Some((number, at))
    }

    /// Reads an element at each address; nothing when they are not all in one allocation.
    #[inline(always)]
    pub(crate) fn gather<T: Loadable>(&self, addresses: &[u64; LANES]) -> Option<[T; LANES]> {
        let (low, high) = bounds(addresses);
        let bytes = self.bytes(low, high.checked_add(size_of::<T>() as u64)?)?;
        let mut values = [T::default(); LANES];
        for lane in 0..LANES {
            let at = (addresses[lane] - low) as usize;
            values[lane] = T::read(&bytes[at..at + size_of::<T>()]);
        }
        Some(values)
    }

    /// Writes an element at each address, in the order of the lanes; nothing when they are not all in one allocation.
    #[inline(always)]
    pub(crate) fn scatter<T: Loadable>(&mut self, addresses: &[u64; LANES], values: &[T; LANES]) -> Option<()> {
        let (low, high) = bounds(addresses);
        let bytes = self.bytes_mut(low, high.checked_add(size_of::<T>() as u64)?)?;
        for lane in 0..LANES {
            let at = (addresses[lane] - low) as usize;
            values[lane].write(&mut bytes[at..at + size_of::<T>()]);
        }
        Some(())
    }
}

/// Returns the lowest and the highest address.
#[inline(always)]
fn bounds(addresses: &[u64; LANES]) -> (u64, u64) {
    let (mut low, mut high) = (u64::MAX, 0);
    for lane in 0..LANES {
        low = low.min(addresses[lane]);
        high = high.max(addresses[lane]);
    }
    (low, high)
}
