//! The registers of a warp: a value for each of 32 lanes, in four parts that fill a processor's vectors.

use crate::module::Code;
use std::cell::Cell;

/// The lanes of a warp.
pub(crate) const LANES: usize = 32;

/// All lanes.
pub(crate) const ALL: u32 = u32::MAX;

/// The lanes of a part.
pub(crate) const EIGHT: usize = 8;

/// The parts of a row.
pub(crate) const PARTS: usize = LANES / EIGHT;

/// One register of all lanes. Cells, since an instruction may write what it reads.
#[repr(align(64))]
pub(crate) struct Row<T>([Cell<[T; EIGHT]>; PARTS]);

impl<T: Copy> Clone for Row<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Copy + Default> Row<T> {
    pub(crate) fn of(value: T) -> Self {
        Self([(); PARTS].map(|()| Cell::new([value; EIGHT])))
    }

    #[inline(always)]
    pub(crate) fn part(&self, part: usize) -> [T; EIGHT] {
        self.0[part].get()
    }

    #[inline(always)]
    pub(crate) fn set_part(&self, part: usize, values: [T; EIGHT]) {
        self.0[part].set(values);
    }

    /// Sets the lanes of the mask of one part.
    #[inline(always)]
    pub(crate) fn set_part_of(&self, part: usize, lanes: u32, values: [T; EIGHT]) {
        let bits = lanes >> (EIGHT * part);
        let mut kept = self.part(part);
        for lane in 0..EIGHT {
            kept[lane] = if bits >> lane & 1 == 1 { values[lane] } else { kept[lane] };
        }
        self.set_part(part, kept);
    }

    #[inline(always)]
    pub(crate) fn all(&self) -> [T; LANES] {
        let mut all = [T::default(); LANES];
        for part in 0..PARTS {
            let eight = self.part(part);
            for lane in 0..EIGHT {
                all[EIGHT * part + lane] = eight[lane];
            }
        }
        all
    }

    #[inline(always)]
    pub(crate) fn set_all(&self, values: &[T; LANES]) {
        for part in 0..PARTS {
            let mut eight = [T::default(); EIGHT];
            for lane in 0..EIGHT {
                eight[lane] = values[EIGHT * part + lane];
            }
            self.set_part(part, eight);
        }
    }

    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> T {
        self.part(lane / EIGHT)[lane % EIGHT]
    }

    /// Sets each lane to the value of the lane whose number differs in the bits of `distance`.
    #[inline(always)]
    pub(crate) fn set_exchanged(&self, values: &Self, distance: usize) {
        let parts = [values.part(0), values.part(1), values.part(2), values.part(3)];
        for part in 0..PARTS {
            let from = parts[part ^ (distance / EIGHT)];
            let mut exchanged = from;
            // Known distances are one instruction each.
            macro_rules! exchange {
                ($distance:expr) => {
                    for lane in 0..EIGHT {
                        exchanged[lane] = from[lane ^ $distance];
                    }
                };
            }
            match distance % EIGHT {
                0 => {}
                1 => exchange!(1),
                2 => exchange!(2),
                4 => exchange!(4),
                other => exchange!(other),
            }
            self.set_part(part, exchanged);
        }
    }

    /// Sets the lanes of the mask to one value.
    #[inline(always)]
    pub(crate) fn splat(&self, lanes: u32, value: T) {
        for part in 0..PARTS {
            if lanes == ALL {
                self.set_part(part, [value; EIGHT])
            } else {
                self.set_part_of(part, lanes, [value; EIGHT])
            }
        }
    }
}

/// The registers of a warp. Predicates are masks.
pub(crate) struct Registers {
    words: Vec<Row<u32>>,
    doubles: Vec<Row<u64>>,
    predicates: Vec<Cell<u32>>,
}

/// What is in registers before anything is written: numbers that no kernel should come upon (NaNs, as f32 and f64).
const UNSET_WORD: u32 = 0xffad_beef;
const UNSET_DOUBLE: u64 = 0xfff4_dead_beef_0000;

impl Registers {
    /// Returns the register of 32 bits of this number.
    #[inline(always)]
    pub(crate) fn word(&self, number: u16) -> &Row<u32> {
        &self.words[usize::from(number)]
    }

    /// Returns the register of 64 bits of this number.
    #[inline(always)]
    pub(crate) fn double(&self, number: u16) -> &Row<u64> {
        &self.doubles[usize::from(number)]
    }

    /// Returns the predicate of this number.
    #[inline(always)]
    pub(crate) fn predicate(&self, number: u16) -> &Cell<u32> {
        &self.predicates[usize::from(number)]
    }

    /// Makes the registers that the code needs; those of immediate operands have their values.
    pub(crate) fn of(code: &Code) -> Self {
        let counts = code.registers;
        let registers = Self {
            words: vec![Row::of(UNSET_WORD); counts.words],
            doubles: vec![Row::of(UNSET_DOUBLE); counts.doubles],
            predicates: vec![Cell::new(0); counts.predicates],
        };
        for &(register, value) in &code.words {
            registers.word(register).splat(ALL, value);
        }
        for &(register, value) in &code.doubles {
            registers.double(register).splat(ALL, value);
        }
        for &(register, value) in &code.predicates {
            registers.predicate(register).set(if value { ALL } else { 0 });
        }
        registers
    }
}

/// Returns the numbers of the lanes of a mask.
pub(crate) fn each(mut lanes: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (lanes != 0).then(|| {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            lane
        })
    })
}
