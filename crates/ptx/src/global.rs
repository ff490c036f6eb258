//! Global memory: that of the program, reached by address, within the allocations that it names.
#![allow(unsafe_code)]

use crate::lanes::LANES;
use std::cell::Cell;
use std::ptr::with_exposed_provenance_mut;

/// Memory that kernels may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The first byte.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// The allocations of a launch.
#[derive(Debug)]
pub(crate) struct Global {
    /// In the order of their addresses.
    allocations: Vec<Allocation>,
    /// The one that was reached last.
    last: Cell<Allocation>,
}

/// A number that memory holds.
pub(crate) trait Element: Copy + Default {}
impl Element for u8 {}
impl Element for u32 {}
impl Element for u64 {}

impl Global {
    /// Takes the allocations, in any order.
    ///
    /// # Safety
    /// Each must be memory of this process that may be read and written for as long as this value lives. What else
    /// reads or writes it meanwhile must expect that.
    pub(crate) unsafe fn new(mut allocations: Vec<Allocation>) -> Self {
        allocations.sort_unstable_by_key(|allocation| allocation.address);
        Self { allocations, last: Cell::new(Allocation { address: 0, bytes: 0 }) }
    }

    /// Whether all bytes from `low` to before `end` are of one allocation.
    #[inline(always)]
    pub(crate) fn holds(&self, low: u64, end: u64) -> bool {
        let last = self.last.get();
        // Additions below do not overflow where an allocation exists.
        (low >= last.address && end <= last.address.wrapping_add(last.bytes) && low < end) || self.look_up(low, end)
    }

    fn look_up(&self, low: u64, end: u64) -> bool {
        let after = self.allocations.partition_point(|allocation| allocation.address <= low);
        let Some(found) = after.checked_sub(1).map(|at| self.allocations[at]) else { return false };
        let holds = low < end && end <= found.address.saturating_add(found.bytes);
        if holds {
            self.last.set(found);
        }
        holds
    }

    /// Reads `N` elements that lie one after the other; nothing when they are in no allocation.
    #[inline(always)]
    pub(crate) fn read<T: Element, const N: usize>(&self, address: u64) -> Option<[T; N]> {
        let bytes = size_of::<[T; N]>() as u64;
        self.holds(address, address.wrapping_add(bytes)).then(|| {
            let pointer = with_exposed_provenance_mut::<[T; N]>(address as usize);
            // SAFETY: all bytes are of one allocation, which may be read as `new` demands; elements have no invalid bits.
            unsafe { pointer.read_unaligned() }
        })
    }

    /// Writes `N` elements one after the other; returns whether they are in an allocation.
    #[inline(always)]
    pub(crate) fn write<T: Element, const N: usize>(&self, address: u64, values: [T; N]) -> bool {
        let bytes = size_of::<[T; N]>() as u64;
        let holds = self.holds(address, address.wrapping_add(bytes));
        if holds {
            let pointer = with_exposed_provenance_mut::<[T; N]>(address as usize);
            // SAFETY: all bytes are of one allocation, which may be written as `new` demands.
            unsafe { pointer.write_unaligned(values) }
        }
        holds
    }

    /// Reads an element at each address; nothing when they are not all in one allocation.
    #[inline(always)]
    pub(crate) fn gather<T: Element>(&self, addresses: &[u64; LANES]) -> Option<[T; LANES]> {
        let (low, high) = bounds(addresses);
        self.holds(low, high.wrapping_add(size_of::<T>() as u64)).then(|| {
            let mut values = [T::default(); LANES];
            for lane in 0..LANES {
                let pointer = with_exposed_provenance_mut::<T>(addresses[lane] as usize);
                // SAFETY: the address is between the lowest and the highest, and all bytes from the one to the other's
                // end are of one allocation, which may be read as `new` demands.
                values[lane] = unsafe { pointer.read_unaligned() };
            }
            values
        })
    }

    /// Writes an element at each address, in the order of the lanes; returns whether they are all in one allocation.
    #[inline(always)]
    pub(crate) fn scatter<T: Element>(&self, addresses: &[u64; LANES], values: &[T; LANES]) -> bool {
        let (low, high) = bounds(addresses);
        let holds = self.holds(low, high.wrapping_add(size_of::<T>() as u64));
        if holds {
            for lane in 0..LANES {
                let pointer = with_exposed_provenance_mut::<T>(addresses[lane] as usize);
                // SAFETY: as in `gather`, and it may be written.
                unsafe { pointer.write_unaligned(values[lane]) }
            }
        }
        holds
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
