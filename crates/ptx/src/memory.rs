//! Loads and stores of a warp.
//!
//! Most are of all lanes, and of addresses that follow each other or are the same: those are done at once. All others go
//! lane by lane.

use crate::global::{GlobalMemory, Loadable};
use crate::instruction::{Instruction, MemoryAccess, StateSpace};
use crate::lanes::{ALL, EIGHT, LANES, PARTS, Registers, Row, each};

/// What loads and stores of a block can reach.
pub(crate) struct BlockMemory<'a, 'm> {
    pub(crate) global: &'a mut GlobalMemory<'m>,
    pub(crate) shared: &'a mut [u8],
    pub(crate) parameters: &'a [u8],
}

/// A lane that reaches what is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missed {
    pub(crate) lane: usize,
    pub(crate) address: u64,
    pub(crate) why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Alignment,
    Bounds,
}

/// Returns the address that each lane reaches.
#[inline(always)]
pub(crate) fn addresses(registers: &Registers, instruction: &Instruction) -> [u64; LANES] {
    let mut addresses = registers.double(instruction.from[0]).all();
    for lane in 0..LANES {
        addresses[lane] = addresses[lane].wrapping_add_signed(instruction.offset);
    }
    addresses
}

impl BlockMemory<'_, '_> {
    /// Does a load for these lanes.
    #[inline(always)]
    pub(crate) fn load(
        &mut self,
        registers: &Registers,
        instruction: &Instruction,
        access: MemoryAccess,
        lanes: u32,
    ) -> Result<(), Missed> {
        let word = |element: usize| registers.word(instruction.to[element]);
        let double = |element: usize| registers.double(instruction.to[element]);
        if access.count == 1 && lanes == ALL {
            let loaded = match (access.width, access.doubles) {
                (8, _) => self.load_all::<u64>(registers, instruction, access, double(0)),
                (4, false) => self.load_all::<u32>(registers, instruction, access, word(0)),
                _ => false,
            };
            if loaded {
                return Ok(());
            }
        }
        let addresses = addresses(registers, instruction);
        for element in 0..usize::from(access.count) {
            let offset = (element * usize::from(access.width)) as u64;
            match (access.width, access.doubles) {
                (8, _) => self.load_each::<u64, u64>(access, &addresses, lanes, offset, double(element))?,
                (4, true) => self.load_each::<u32, u64>(access, &addresses, lanes, offset, double(element))?,
                (4, false) => self.load_each::<u32, u32>(access, &addresses, lanes, offset, word(element))?,
                (2, true) => self.load_each::<u16, u64>(access, &addresses, lanes, offset, double(element))?,
                (2, false) => self.load_each::<u16, u32>(access, &addresses, lanes, offset, word(element))?,
                _ => self.load_each::<u8, u32>(access, &addresses, lanes, offset, word(element))?,
            }
        }
        Ok(())
    }

    /// Loads an element for each of these lanes.
    fn load_each<T: Loadable + Into<U>, U: Copy + Default>(
        &self,
        access: MemoryAccess,
        addresses: &[u64; LANES],
        lanes: u32,
        offset: u64,
        to: &Row<U>,
    ) -> Result<(), Missed> {
        let mut values = to.all();
        for lane in each(lanes) {
            let address = aligned(addresses[lane], access, lane)?;
            let value = self.read::<T>(access.space, address.wrapping_add(offset));
            values[lane] = value.ok_or(Missed { lane, address, why: Why::Bounds })?.into();
        }
        to.set_all(&values);
        Ok(())
    }

    /// Does a store for these lanes, in their order.
    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        registers: &Registers,
        instruction: &Instruction,
        access: MemoryAccess,
        lanes: u32,
    ) -> Result<(), Missed> {
        let word = |element: usize| registers.word(instruction.to[element]);
        let double = |element: usize| registers.double(instruction.to[element]);
        if access.count == 1 && lanes == ALL && !access.uniform {
            let stored = match (access.width, access.doubles) {
                (8, _) => self.store_all::<u64>(registers, instruction, access.space, double(0)),
                (4, false) => self.store_all::<u32>(registers, instruction, access.space, word(0)),
                _ => false,
            };
            if stored {
                return Ok(());
            }
        }
        let addresses = addresses(registers, instruction);
        for element in 0..usize::from(access.count) {
            let offset = (element * usize::from(access.width)) as u64;
            match (access.width, access.doubles) {
                (8, _) => self.store_each(access, &addresses, lanes, offset, double(element), |value| value)?,
                (4, true) => {
                    self.store_each(access, &addresses, lanes, offset, double(element), |value| value as u32)?
                }
                (4, false) => self.store_each(access, &addresses, lanes, offset, word(element), |value| value)?,
                (2, true) => {
                    self.store_each(access, &addresses, lanes, offset, double(element), |value| value as u16)?
                }
                (2, false) => {
                    self.store_each(access, &addresses, lanes, offset, word(element), |value| value as u16)?
                }
                _ => self.store_each(access, &addresses, lanes, offset, word(element), |value| value as u8)?,
            }
        }
        Ok(())
    }

    /// Stores an element of each of these lanes, in their order; `narrow` makes it of the register's value.
    fn store_each<T: Loadable, U: Copy + Default>(
        &mut self,
        access: MemoryAccess,
        addresses: &[u64; LANES],
        lanes: u32,
        offset: u64,
        from: &Row<U>,
        narrow: fn(U) -> T,
    ) -> Result<(), Missed> {
        let values = from.all();
        for lane in each(lanes) {
            let address = aligned(addresses[lane], access, lane)?;
            let stored = self.write(access.space, address.wrapping_add(offset), narrow(values[lane]));
            stored.ok_or(Missed { lane, address, why: Why::Bounds })?;
        }
        Ok(())
    }

    /// Loads for all lanes at once; returns whether it could.
    #[inline(always)]
    fn load_all<T: Loadable>(
        &self,
        registers: &Registers,
        instruction: &Instruction,
        access: MemoryAccess,
        to: &Row<T>,
    ) -> bool {
        let width = size_of::<T>() as u64;
        if access.uniform {
            let address = instruction.offset.cast_unsigned();
            let value = address.is_multiple_of(width).then(|| self.read::<T>(access.space, address)).flatten();
            return value.is_some_and(|value| {
                to.splat(ALL, value);
                true
            });
        }
        let Pattern { first, follow, same } = Pattern::of::<T>(registers.double(instruction.from[0]));
        let first = first.wrapping_add_signed(instruction.offset);
        let is_aligned = first & (width - 1) == 0;
        if is_aligned && follow {
            let bytes = width * LANES as u64;
            let values = match access.space {
                StateSpace::Global => {
                    let bytes = first.checked_add(bytes).and_then(|end| self.global.bytes(first, end));
                    bytes.map(elements)
                }
                StateSpace::Shared => row_of(self.shared, first, bytes),
                StateSpace::Parameter => row_of(self.parameters, first, bytes),
            };
            return values.is_some_and(|values| {
                to.set_all(&values);
                true
            });
        }
        if is_aligned && same {
            return self.read::<T>(access.space, first).is_some_and(|value| {
                to.splat(ALL, value);
                true
            });
        }
        let addresses = addresses(registers, instruction);
        if !all_aligned(&addresses, width) {
            return false;
        }
        let values = match access.space {
            StateSpace::Global => self.global.gather::<T>(&addresses),
            StateSpace::Shared => gathered(self.shared, &addresses),
            StateSpace::Parameter => None,
        };
        values.is_some_and(|values| {
            to.set_all(&values);
            true
        })
    }

    /// Stores for all lanes at once; returns whether it could.
    #[inline(always)]
    fn store_all<T: Loadable>(
        &mut self,
        registers: &Registers,
        instruction: &Instruction,
        space: StateSpace,
        from: &Row<T>,
    ) -> bool {
        let width = size_of::<T>();
        let Pattern { first, follow, .. } = Pattern::of::<T>(registers.double(instruction.from[0]));
        let first = first.wrapping_add_signed(instruction.offset);
        if follow && first & (width as u64 - 1) == 0 {
            let bytes = (width * LANES) as u64;
            let memory = match space {
                StateSpace::Global => first.checked_add(bytes).and_then(|end| self.global.bytes_mut(first, end)),
                StateSpace::Shared => bytes_at_mut(self.shared, first, bytes as usize),
                StateSpace::Parameter => None,
            };
            return memory.is_some_and(|memory| {
                for part in 0..PARTS {
                    let eight = from.part(part);
                    for lane in 0..EIGHT {
                        eight[lane].write(&mut memory[(EIGHT * part + lane) * width..][..width]);
                    }
                }
                true
            });
        }
        let addresses = addresses(registers, instruction);
        if !all_aligned(&addresses, width as u64) {
            return false;
        }
        let values = from.all();
        match space {
            StateSpace::Global => self.global.scatter(&addresses, &values).is_some(),
            StateSpace::Shared => {
                let size = self.shared.len() as u64;
                let mut all_there = true;
                for lane in 0..LANES {
                    all_there &= addresses[lane].saturating_add(width as u64) <= size;
                }
                if all_there {
                    for lane in 0..LANES {
                        let at = addresses[lane] as usize;
                        values[lane].write(&mut self.shared[at..at + width]);
                    }
                }
                all_there
            }
            StateSpace::Parameter => false,
        }
    }

    #[inline(always)]
    fn read<T: Loadable>(&self, space: StateSpace, address: u64) -> Option<T> {
        match space {
            StateSpace::Global => {
                let end = address.checked_add(size_of::<T>() as u64)?;
                self.global.bytes(address, end).map(T::read)
            }
            StateSpace::Shared => bytes_at(self.shared, address, size_of::<T>()).map(T::read),
            StateSpace::Parameter => bytes_at(self.parameters, address, size_of::<T>()).map(T::read),
        }
    }

    #[inline(always)]
    fn write<T: Loadable>(&mut self, space: StateSpace, address: u64, value: T) -> Option<()> {
        match space {
            StateSpace::Global => {
                let end = address.checked_add(size_of::<T>() as u64)?;
                value.write(self.global.bytes_mut(address, end)?);
                Some(())
            }
            StateSpace::Shared => {
                value.write(bytes_at_mut(self.shared, address, size_of::<T>())?);
                Some(())
            }
            StateSpace::Parameter => None,
        }
    }
}

/// Returns the address if it is a multiple of what the lane reaches.
#[inline(always)]
fn aligned(address: u64, access: MemoryAccess, lane: usize) -> Result<u64, Missed> {
    // What is reached is a power of two.
    let fits = address & (access.bytes() - 1) == 0;
    if fits { Ok(address) } else { Err(Missed { lane, address, why: Why::Alignment }) }
}

#[inline(always)]
fn all_aligned(addresses: &[u64; LANES], width: u64) -> bool {
    let mut bits = 0;
    for lane in 0..LANES {
        bits |= addresses[lane];
    }
    bits & (width - 1) == 0
}

/// How the addresses of all lanes lie to each other.
struct Pattern {
    /// The address of the first lane.
    first: u64,
    /// They are those of elements that lie one after the other.
    follow: bool,
    /// They are the same.
    same: bool,
}

impl Pattern {
    /// Looks part by part: to copy the row first takes longer than to compare it.
    #[inline(always)]
    fn of<T>(addresses: &Row<u64>) -> Self {
        let first = addresses.lane(0);
        let (mut apart, mut astray) = ([0; EIGHT], [0; EIGHT]);
        for part in 0..PARTS {
            let eight = addresses.part(part);
            for lane in 0..EIGHT {
                let away = eight[lane].wrapping_sub(first);
                apart[lane] |= away;
                astray[lane] |= away ^ ((EIGHT * part + lane) * size_of::<T>()) as u64;
            }
        }
        let none = |bits: [u64; EIGHT]| bits.iter().fold(0, |all, bits| all | bits) == 0;
        Self { first, follow: none(astray), same: none(apart) }
    }
}

#[inline(always)]
fn bytes_at(memory: &[u8], address: u64, bytes: usize) -> Option<&[u8]> {
    let at = usize::try_from(address).ok()?;
    memory.get(at..at.checked_add(bytes)?)
}

#[inline(always)]
fn bytes_at_mut(memory: &mut [u8], address: u64, bytes: usize) -> Option<&mut [u8]> {
    let at = usize::try_from(address).ok()?;
    memory.get_mut(at..at.checked_add(bytes)?)
}

#[inline(always)]
fn row_of<T: Loadable>(memory: &[u8], address: u64, bytes: u64) -> Option<[T; LANES]> {
    bytes_at(memory, address, bytes as usize).map(elements)
}

/// Returns the elements that these bytes are.
#[inline(always)]
fn elements<T: Loadable>(bytes: &[u8]) -> [T; LANES] {
    let mut values = [T::default(); LANES];
    for lane in 0..LANES {
        values[lane] = T::read(&bytes[lane * size_of::<T>()..][..size_of::<T>()]);
    }
    values
}

#[inline(always)]
fn gathered<T: Loadable>(memory: &[u8], addresses: &[u64; LANES]) -> Option<[T; LANES]> {
    let mut values = [T::default(); LANES];
    for lane in 0..LANES {
        values[lane] = T::read(bytes_at(memory, addresses[lane], size_of::<T>())?);
    }
    Some(values)
}
