//! Half precision on the CPU: conversions from and to `f32` and `f64`, the twins of `kernels/include/octopus/half.cuh`.
//!
//! They are made of integers and one addition, without branches, so that loops over them become vector code and every
//! machine gives the same bits. `f64` is rounded to `f16` at once: by way of `f32` a number just above the middle of two
//! halves would be rounded to the middle first, and then down.

use half::f16;

/// Rounds to the nearest, ties to even: infinity from 65520 on; a NaN keeps its sign and the front of its payload.
#[inline(always)]
pub(crate) fn from_f32(x: f32) -> f16 {
    let bits = x.to_bits();
    let size = bits & 0x7fff_ffff;
    // The exponent of 1 is 15 instead of 127. Half of a unit in the last place is added, less one bit for even numbers.
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0x0fff + ((size >> 13) & 1)) >> 13;
    // Below 2^-14 halves are 2^-24 apart, as floats are from 1/2 on: the addition rounds.
    let subnormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let nan = 0x7e00 | ((size >> 13) & 0x03ff);
    let half = if size < 113 << 23 { subnormal } else { normal };
    let half = if size >= 143 << 23 { 0x7c00 } else { half };
    let half = if size > 0x7f80_0000 { nan } else { half };
    f16::from_bits((half | ((bits >> 16) & 0x8000)) as u16)
}

/// The same of `f64`, rounded once.
#[inline(always)]
pub(crate) fn from_f64(x: f64) -> f16 {
    let bits = x.to_bits();
    let size = bits & 0x7fff_ffff_ffff_ffff;
    let normal = size.wrapping_sub(1008 << 52).wrapping_add(0x01ff_ffff_ffff + ((size >> 42) & 1)) >> 42;
    // Here it is 2^28 from which on numbers are 2^-24 apart.
    let near = 268_435_456.0_f64;
    let subnormal = (f64::from_bits(size) + near).to_bits().wrapping_sub(near.to_bits());
    let nan = 0x7e00 | ((size >> 42) & 0x03ff);
    let half = if size < 1009 << 52 { subnormal } else { normal };
    let half = if size >= 1039 << 52 { 0x7c00 } else { half };
    let half = if size > 0x7ff0_0000_0000_0000 { nan } else { half };
    f16::from_bits((half | ((bits >> 48) & 0x8000)) as u16)
}

/// Converts to `f32`, which holds every half exactly; a NaN becomes quiet and keeps its payload.
#[inline(always)]
pub(crate) fn to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let (sign, size) = ((bits & 0x8000) << 16, bits & 0x7fff);
    let normal = (size << 13) + (112 << 23);
    // As many times 2^-24.
    let subnormal = (size as i32 as f32 * (1.0 / 16_777_216.0)).to_bits();
    let infinity = 0x7f80_0000 | (size << 13) | if size > 0x7c00 { 0x0040_0000 } else { 0 };
    let wide = if size < 0x0400 { subnormal } else { normal };
    let wide = if size >= 0x7c00 { infinity } else { wide };
    f32::from_bits(wide | sign)
}

/// Converts to `f64`, as [`to_f32`].
#[inline(always)]
pub(crate) fn to_f64(x: f16) -> f64 {
    f64::from(to_f32(x))
}
