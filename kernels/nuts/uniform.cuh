// Uniform numbers of either type from the same random words, so that chains of all precisions meet the same chances.
#pragma once
#include "lanes.cuh"
#include "octopus/philox.cuh"

namespace octopus::nuts {

/// Two uniform numbers in (0, 1).
template <class X> struct UniformPair {
  X even, odd;
};

/// 23 random bits as (k + 1/2) / 2^23: never 0 and never 1, and 1 less it is exact. No product with a normal positive
/// number rounds to that number.
OCTOPUS_DEVICE float open01(u32 word) {
  return (from_bits((word >> 9) | 0x3f800000u) - 1.0f) + 5.9604645e-8f;
}

/// Uniform numbers 2 block and 2 block + 1 of a stream: those of `octopus_random::Stream` for f64, and for f32 the
/// first 23 of their 52 bits.
template <class X> OCTOPUS_DEVICE UniformPair<X> uniform_pair(const Stream& stream, u32 block) {
  // Otherwise the twenty keys of the rounds wait in registers.
  const u32 key0 = opaque(stream.key0);
  const u32 key1 = opaque(stream.key1);
  const Words words = philox4x32_10({block, stream.iteration, stream.chain, stream.purpose}, key0, key1);
  if constexpr (sizeof(X) == 8) {
    return {octopus::open01(words.w0, words.w1), octopus::open01(words.w2, words.w3)};
  } else {
    return {open01(words.w0), open01(words.w2)};
  }
}

}  // namespace octopus::nuts
