// Philox4x32-10 and the uniform numbers made of it: the twin of crates/random/src/philox.rs and stream.rs.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

/// Four random words.
struct Words {
  u32 w0, w1, w2, w3;
};

/// The ten-round bijection: four random words for each (counter, key).
OCTOPUS_DEVICE Words philox4x32_10(Words counter, u32 key0, u32 key1) {
  u32 c0 = counter.w0, c1 = counter.w1, c2 = counter.w2, c3 = counter.w3;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 product0 = (u64)0xD2511F53u * c0;
    const u64 product1 = (u64)0xCD9E8D57u * c2;
    c0 = (u32)(product1 >> 32) ^ c1 ^ key0;
    c1 = (u32)product1;
    c2 = (u32)(product0 >> 32) ^ c3 ^ key1;
    c3 = (u32)product0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

/// 52 random bits as (k + 1/2) / 2^52: never 0 and never 1.
OCTOPUS_DEVICE double open01(u32 high, u32 low) {
  const u64 bits = (((u64)high << 32) | low) >> 12;
  return (from_bits(bits | 0x3ff0000000000000ull) - 1.0) + 1.1102230246251565e-16;
}

/// Two uniform numbers in (0, 1).
struct Pair {
  double even, odd;
};

/// The random numbers of one (seed, chain, iteration, purpose), each addressed by its index.
/// Key: the seed. Counter: (index, iteration, chain, purpose).
struct Stream {
  u32 key0, key1;
  u32 iteration, chain, purpose;

  /// Uniform numbers 2 block and 2 block + 1, in (0, 1).
  OCTOPUS_DEVICE Pair uniform_pair_at(u32 block) const {
    const Words words = philox4x32_10({block, iteration, chain, purpose}, key0, key1);
    return {open01(words.w0, words.w1), open01(words.w2, words.w3)};
  }

  /// The index-th uniform number, in (0, 1).
  OCTOPUS_DEVICE double uniform_at(u64 index) const {
    const Pair pair = uniform_pair_at((u32)(index / 2));
    return index % 2 == 0 ? pair.even : pair.odd;
  }
};

/// The stream of `purpose` in iteration `iteration` of chain `chain`.
OCTOPUS_DEVICE Stream stream(u64 seed, u32 chain, u32 iteration, u32 purpose) {
  return {(u32)seed, (u32)(seed >> 32), iteration, chain, purpose};
}

}  // namespace octopus
