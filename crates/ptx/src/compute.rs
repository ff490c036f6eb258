//! What instructions compute from registers: each operation is rounded by itself, as the text says.

use crate::instruction::{Compare, Instruction, Op};
use crate::lanes::{ALL, EIGHT, PARTS, Registers, Row};
use std::cell::Cell;

/// Puts `f` of the rows' lanes into the lanes of the mask.
macro_rules! map {
    ($to:expr, $lanes:expr, [$($row:ident),+], $f:expr) => {{
        let to = $to;
        for part in 0..PARTS {
            $(let $row = $row.part(part);)+
            let mut values = [Default::default(); EIGHT];
            for lane in 0..EIGHT {
                values[lane] = $f($($row[lane]),+);
            }
            if $lanes == ALL { to.set_part(part, values) } else { to.set_part_of(part, $lanes, values) }
        }
    }};
}

/// Does an instruction that only reads and writes registers, for these lanes.
#[inline(always)]
pub(crate) fn compute(registers: &Registers, instruction: &Instruction, lanes: u32) {
    let words = |operand: usize| registers.word(instruction.from[operand]);
    let doubles = |operand: usize| registers.double(instruction.from[operand]);
    let predicates = |operand: usize| registers.predicate(instruction.from[operand]).get();
    let to_word = || registers.word(instruction.to[0]);
    let to_double = || registers.double(instruction.to[0]);
    let to_predicate = || registers.predicate(instruction.to[0]);

    macro_rules! w1 {
        ($f:expr) => {{
            let a = words(0);
            map!(to_word(), lanes, [a], $f)
        }};
    }
    macro_rules! w2 {
        ($f:expr) => {{
            let (a, b) = (words(0), words(1));
            map!(to_word(), lanes, [a, b], $f)
        }};
    }
    macro_rules! d1 {
        ($f:expr) => {{
            let a = doubles(0);
            map!(to_double(), lanes, [a], $f)
        }};
    }
    macro_rules! d2 {
        ($f:expr) => {{
            let (a, b) = (doubles(0), doubles(1));
            map!(to_double(), lanes, [a, b], $f)
        }};
    }
    macro_rules! f64_1 {
        ($f:expr) => {
            d1!(|a: u64| -> u64 {
                let x: f64 = $f(f64::from_bits(a));
                x.to_bits()
            })
        };
    }
    macro_rules! f32_1 {
        ($f:expr) => {
            w1!(|a: u32| -> u32 {
                let x: f32 = $f(f32::from_bits(a));
                x.to_bits()
            })
        };
    }
    macro_rules! f64_2 {
        ($f:expr) => {
            d2!(|a: u64, b: u64| -> u64 {
                let x: f64 = $f(f64::from_bits(a), f64::from_bits(b));
                x.to_bits()
            })
        };
    }
    macro_rules! f32_2 {
        ($f:expr) => {
            w2!(|a: u32, b: u32| -> u32 {
                let x: f32 = $f(f32::from_bits(a), f32::from_bits(b));
                x.to_bits()
            })
        };
    }

    match instruction.op {
        Op::AddF64 => f64_2!(|a: f64, b: f64| a + b),
        Op::SubF64 => f64_2!(|a: f64, b: f64| a - b),
        Op::MulF64 => f64_2!(|a: f64, b: f64| a * b),
        Op::DivF64 => f64_2!(|a: f64, b: f64| a / b),
        Op::SqrtF64 => f64_1!(|a: f64| a.sqrt()),
        Op::RcpF64 => f64_1!(|a: f64| 1.0 / a),
        Op::NegF64 => d1!(|a: u64| a ^ 1 << 63),
        Op::MinF64 => f64_2!(min_f64),
        Op::MaxF64 => f64_2!(max_f64),
        Op::AddF32 => f32_2!(|a: f32, b: f32| a + b),
        Op::SubF32 => f32_2!(|a: f32, b: f32| a - b),
        Op::MulF32 => f32_2!(|a: f32, b: f32| a * b),
        Op::DivF32 => f32_2!(|a: f32, b: f32| a / b),
        Op::SqrtF32 => f32_1!(|a: f32| a.sqrt()),
        Op::RcpF32 => f32_1!(|a: f32| 1.0 / a),
        Op::NegF32 => w1!(|a: u32| a ^ 1 << 31),
        Op::MinF32 => f32_2!(min_f32),
        Op::Add32 => w2!(u32::wrapping_add),
        Op::Sub32 => w2!(u32::wrapping_sub),
        Op::And32 => w2!(|a: u32, b: u32| a & b),
        Op::Or32 => w2!(|a: u32, b: u32| a | b),
        Op::Xor32 => w2!(|a: u32, b: u32| a ^ b),
        Op::Not32 => w1!(|a: u32| !a),
        // More than all bits are shifted out, not some of them.
        Op::Shl32 => w2!(|a: u32, b: u32| if b < 32 { a << (b & 31) } else { 0 }),
        Op::Shr32 => w2!(|a: u32, b: u32| if b < 32 { a >> (b & 31) } else { 0 }),
        Op::Mul32 => w2!(u32::wrapping_mul),
        Op::MulAdd32 => {
            let (a, b, c) = (words(0), words(1), words(2));
            map!(to_word(), lanes, [a, b, c], |a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c));
        }
        Op::MulWide => {
            let (a, b) = (words(0), words(1));
            map!(to_double(), lanes, [a, b], |a: u32, b: u32| u64::from(a) * u64::from(b));
        }
        // A GPU gives all ones for a division by zero.
        Op::Div32 => w2!(|a: u32, b: u32| a.checked_div(b).unwrap_or(u32::MAX)),
        Op::Div64 => d2!(|a: u64, b: u64| a.checked_div(b).unwrap_or(u64::MAX)),
        Op::Max32 => w2!(|a: u32, b: u32| a.max(b)),
        Op::Min32 => w2!(|a: u32, b: u32| a.min(b)),
        Op::Min64 => d2!(|a: u64, b: u64| a.min(b)),
        Op::Select32 => select(to_word(), lanes, words(0), words(1), predicates(2)),
        Op::Select64 => select(to_double(), lanes, doubles(0), doubles(1), predicates(2)),
        Op::InsertBits32 => {
            let (a, b, c, d) = (words(0), words(1), words(2), words(3));
            map!(to_word(), lanes, [a, b, c, d], |a: u32, b: u32, c, d| {
                insert_bits(u64::from(a), u64::from(b), c, d, 32) as u32
            });
        }
        Op::InsertBits64 => {
            let (a, b, c, d) = (doubles(0), doubles(1), words(2), words(3));
            map!(to_double(), lanes, [a, b, c, d], |a, b, c, d| insert_bits(a, b, c, d, 64));
        }
        Op::ReverseBits => w1!(u32::reverse_bits),
        // The shift that brings the highest bit to the top; all ones when there is none.
        Op::FindShift => w1!(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        Op::SignExtend8 => w1!(|a: u32| i32::from(a as u8 as i8).cast_unsigned()),
        Op::ZeroExtend16 => w1!(|a: u32| a & 0xffff),
        Op::Move32 => w1!(|a: u32| a),
        Op::Add64 => d2!(u64::wrapping_add),
        Op::Sub64 => d2!(u64::wrapping_sub),
        Op::And64 => d2!(|a: u64, b: u64| a & b),
        Op::Or64 => d2!(|a: u64, b: u64| a | b),
        Op::Xor64 => d2!(|a: u64, b: u64| a ^ b),
        Op::Not64 => d1!(|a: u64| !a),
        Op::Max64 => d2!(|a: u64, b: u64| a.max(b)),
        Op::Mul64 => d2!(u64::wrapping_mul),
        Op::Shl64 => {
            let (a, b) = (doubles(0), words(1));
            map!(to_double(), lanes, [a, b], |a: u64, b: u32| if b < 64 { a << (b & 63) } else { 0 });
        }
        Op::Shr64 => {
            let (a, b) = (doubles(0), words(1));
            map!(to_double(), lanes, [a, b], |a: u64, b: u32| if b < 64 { a >> (b & 63) } else { 0 });
        }
        Op::Move64 => d1!(|a: u64| a),
        Op::Pack => {
            let (a, b) = (words(0), words(1));
            map!(to_double(), lanes, [a, b], |a: u32, b: u32| u64::from(a) | u64::from(b) << 32);
        }
        Op::Unpack => {
            let (a, high) = (doubles(0), registers.word(instruction.to[1]));
            map!(to_word(), lanes, [a], |a: u64| a as u32);
            map!(high, lanes, [a], |a: u64| (a >> 32) as u32);
        }
        Op::Narrow => {
            let a = doubles(0);
            map!(to_word(), lanes, [a], |a: u64| a as u32);
        }
        Op::Widen => {
            let a = words(0);
            map!(to_double(), lanes, [a], u64::from);
        }
        Op::F32ToF64 => {
            let a = words(0);
            map!(to_double(), lanes, [a], |a: u32| f64::from(f32::from_bits(a)).to_bits());
        }
        Op::F64ToF32 => {
            let a = doubles(0);
            map!(to_word(), lanes, [a], |a: u64| (f64::from_bits(a) as f32).to_bits());
        }
        Op::U16ToF32 => w1!(|a: u32| ((a & 0xffff) as f32).to_bits()),
        Op::U32ToF32 => w1!(|a: u32| (a as f32).to_bits()),
        Op::U32ToF64 => {
            let a = words(0);
            map!(to_double(), lanes, [a], |a: u32| f64::from(a).to_bits());
        }
        Op::U64ToF32 => {
            let a = doubles(0);
            map!(to_word(), lanes, [a], |a: u64| (a as f32).to_bits());
        }
        Op::U64ToF64 => d1!(|a: u64| (a as f64).to_bits()),
        Op::AbsF64 => d1!(|a: u64| a & !(1 << 63)),
        Op::AbsF32 => w1!(|a: u32| a & !(1 << 31)),
        Op::AndPredicate => put(to_predicate(), lanes, predicates(0) & predicates(1)),
        Op::OrPredicate => put(to_predicate(), lanes, predicates(0) | predicates(1)),
        Op::XorPredicate => put(to_predicate(), lanes, predicates(0) ^ predicates(1)),
        Op::NotPredicate => put(to_predicate(), lanes, !predicates(0)),
        Op::MovePredicate => put(to_predicate(), lanes, predicates(0)),
        Op::CompareS32(c) => {
            let found = compare(words(0), words(1), c, u32::cast_signed);
            put(to_predicate(), lanes, found);
        }
        Op::CompareU16(c) => put(to_predicate(), lanes, compare(words(0), words(1), c, |a| a & 0xffff)),
        Op::CompareU32(c) => put(to_predicate(), lanes, compare(words(0), words(1), c, |a| a)),
        Op::CompareS64(c) => put(to_predicate(), lanes, compare(doubles(0), doubles(1), c, u64::cast_signed)),
        Op::CompareU64(c) => put(to_predicate(), lanes, compare(doubles(0), doubles(1), c, |a| a)),
        Op::CompareF32(c) => put(to_predicate(), lanes, compare(words(0), words(1), c, f32::from_bits)),
        Op::CompareF64(c) => put(to_predicate(), lanes, compare(doubles(0), doubles(1), c, f64::from_bits)),
        // All others are done by who calls this.
        _ => {}
    }
}

/// Sets a predicate for these lanes.
#[inline(always)]
pub(crate) fn put(predicate: &Cell<u32>, lanes: u32, values: u32) {
    predicate.set(predicate.get() & !lanes | values & lanes);
}

#[inline(always)]
fn select<T: Copy + Default>(to: &Row<T>, lanes: u32, a: &Row<T>, b: &Row<T>, which: u32) {
    for part in 0..PARTS {
        let bits = which >> (EIGHT * part);
        let (a, b) = (a.part(part), b.part(part));
        let mut chosen = b;
        for lane in 0..EIGHT {
            chosen[lane] = if bits >> lane & 1 == 1 { a[lane] } else { b[lane] };
        }
        if lanes == ALL { to.set_part(part, chosen) } else { to.set_part_of(part, lanes, chosen) }
    }
}

/// Returns the lanes where the comparison holds.
// Of a NaN `a != b` holds, and `setp.ne` does not.
#[allow(clippy::double_comparisons)]
#[inline(always)]
fn compare<T: Copy + Default, U: PartialOrd>(a: &Row<T>, b: &Row<T>, how: Compare, value: impl Fn(T) -> U) -> u32 {
    macro_rules! lanes {
        ($holds:expr) => {{
            let mut mask = 0;
            for part in 0..PARTS {
                let (a, b) = (a.part(part), b.part(part));
                let mut bits = 0u8;
                for lane in 0..EIGHT {
                    bits |= u8::from($holds(value(a[lane]), value(b[lane]))) << lane;
                }
                mask |= u32::from(bits) << (EIGHT * part);
            }
            mask
        }};
    }
    // A comparison that holds of a NaN is one that does not, denied.
    match how {
        Compare::Eq => lanes!(|a: U, b: U| a == b),
        Compare::Ne => lanes!(|a: U, b: U| a < b || a > b),
        Compare::Lt => lanes!(|a: U, b: U| a < b),
        Compare::Le => lanes!(|a: U, b: U| a <= b),
        Compare::Gt => lanes!(|a: U, b: U| a > b),
        Compare::Ge => lanes!(|a: U, b: U| a >= b),
        Compare::NeU => !lanes!(|a: U, b: U| a == b),
        Compare::LtU => !lanes!(|a: U, b: U| a >= b),
        Compare::LeU => !lanes!(|a: U, b: U| a > b),
        Compare::GtU => !lanes!(|a: U, b: U| a <= b),
        Compare::GeU => !lanes!(|a: U, b: U| a < b),
        Compare::Nan => lanes!(|a: U, b: U| a.partial_cmp(&b).is_none()),
    }
}

/// Returns the smaller number; of a number and a NaN the number, of two zeros the negative one.
fn min_f64(a: f64, b: f64) -> f64 {
    if a == b { f64::from_bits(a.to_bits() | b.to_bits()) } else { a.min(b) }
}

/// Returns the larger number; of a number and a NaN the number, of two zeros the positive one.
fn max_f64(a: f64, b: f64) -> f64 {
    if a == b { f64::from_bits(a.to_bits() & b.to_bits()) } else { a.max(b) }
}

fn min_f32(a: f32, b: f32) -> f32 {
    if a == b { f32::from_bits(a.to_bits() | b.to_bits()) } else { a.min(b) }
}

/// Returns `b` with the lowest `length` bits of `a` from bit `position` on (PTX ISA, `bfi`).
fn insert_bits(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = (position & 255, length & 255);
    let end = (position + length).min(width);
    if position >= end {
        return b;
    }
    let mask = (u64::MAX >> (64 - (end - position))) << position;
    b & !mask | a << position & mask
}
