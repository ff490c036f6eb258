// Half precision: conversions from and to float and double, the twins of crates/array/src/half.rs.
// A half is its bits, as an integer: no type of the compiler's, which host compilers and NVRTC do not share.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

/// The bits of a number of half precision.
using f16 = unsigned short;

/// Rounds to the nearest, ties to even: infinity from 65520 on; a NaN keeps its sign and the front of its payload.
OCTOPUS_DEVICE f16 to_f16(float x) {
  const u32 bits = to_bits(x), size = bits & 0x7fffffffu;
  // The exponent of 1 is 15 instead of 127. Half of a unit in the last place is added, less one bit for even numbers.
  const u32 normal = (size - (112u << 23) + 0x0fffu + ((size >> 13) & 1u)) >> 13;
  // Below 2^-14 halves are 2^-24 apart, as floats are from 1/2 on: the addition rounds.
  const u32 subnormal = to_bits(from_bits(size) + 0.5f) - to_bits(0.5f);
  u32 half = size < (113u << 23) ? subnormal : normal;
  half = size >= (143u << 23) ? 0x7c00u : half;
  half = size > 0x7f800000u ? 0x7e00u | ((size >> 13) & 0x03ffu) : half;
  return (f16)(half | ((bits >> 16) & 0x8000u));
}

/// The same of double precision, rounded once.
OCTOPUS_DEVICE f16 to_f16(double x) {
  const u64 bits = to_bits(x), size = bits & 0x7fffffffffffffffull;
  const u64 normal = (size - (1008ull << 52) + 0x01ffffffffffull + ((size >> 42) & 1ull)) >> 42;
  // Here it is 2^28 from which on numbers are 2^-24 apart.
  const double near = 268435456.0;
  const u64 subnormal = to_bits(from_bits(size) + near) - to_bits(near);
  u64 half = size < (1009ull << 52) ? subnormal : normal;
  half = size >= (1039ull << 52) ? 0x7c00ull : half;
  half = size > 0x7ff0000000000000ull ? 0x7e00ull | ((size >> 42) & 0x03ffull) : half;
  return (f16)(half | ((bits >> 48) & 0x8000ull));
}

/// Converts to single precision, which holds every half exactly; a NaN becomes quiet and keeps its payload.
OCTOPUS_DEVICE float to_f32(f16 x) {
  const u32 sign = ((u32)x & 0x8000u) << 16, size = (u32)x & 0x7fffu;
  const u32 normal = (size << 13) + (112u << 23);
  // As many times 2^-24.
  const u32 subnormal = to_bits((float)(int)size * 5.9604644775390625e-8f);
  const u32 infinity = 0x7f800000u | (size << 13) | (size > 0x7c00u ? 0x00400000u : 0u);
  u32 wide = size < 0x0400u ? subnormal : normal;
  wide = size >= 0x7c00u ? infinity : wide;
  return from_bits(wide | sign);
}

}  // namespace octopus
