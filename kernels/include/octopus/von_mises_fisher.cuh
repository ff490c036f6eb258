// Unit vectors of the von Mises-Fisher distribution: the twin of crates/random/src/distribution/von_mises_fisher.rs,
// operation by operation. What each is made of, and why, is said there.
#pragma once
#include "octopus/draws.cuh"

namespace octopus {

/// The bits of four numbers of a draw in one of its turns, in blocks that are the draw's own.
OCTOPUS_DEVICE void four_numbers(u32 key0, u32 key1, u64 index, u32 turn, u32* bits) {
  const Words words = philox4x32_10({(u32)index, (u32)(index >> 32), turn, DRAWS}, key0, key1);
  bits[0] = words.w0, bits[1] = words.w1, bits[2] = words.w2, bits[3] = words.w3;
}

OCTOPUS_DEVICE void four_numbers(u32 key0, u32 key1, u64 index, u32 turn, u64* bits) {
  const auto first = Numbers<double>::bits(key0, key1, index, 2 * turn);
  const auto second = Numbers<double>::bits(key0, key1, index, 2 * turn + 1);
  bits[0] = first.first, bits[1] = first.second, bits[2] = second.first, bits[3] = second.second;
}

/// What proposes tangents of half the angle between a draw and the mean direction.
template <class T> struct PolarDraw {
  using Bits = typename Numbers<T>::Bits;
  T size, power, root_of_b, b, half_above, half_below;

  OCTOPUS_DEVICE static PolarDraw make(u32 dimensions, T concentration) {
    const T size = (T)(dimensions - 1);
    const T power = dimensions == 2 ? (T)1e30 : (T)2 / (size - (T)1);
    const T quotient = concentration / size;
    if (quotient > Numbers<T>::root_is_huge()) {
      const T small = (T)0.5 / root(quotient);
      return {size, power, small, small * small, (T)0.5, (T)0.5};
    }
    const T twice = quotient + quotient;
    const T side = root((T)1 + twice * twice);
    const T b = (T)1 / (side + twice);
    const T rest = twice * ((T)1 + twice / (side + (T)1)) * b;
    return {size, power, root(b), b, (T)0.5 * ((T)1 + b), (T)0.5 * rest};
  }
  OCTOPUS_DEVICE Proposal<T> propose(const Bits* bits) const {
    const SineCosine<T> both = sin_cos_quarter(Numbers<T>::distance(bits[0]));
    const bool far_half = Numbers<T>::far_half(bits[0]);
    const T above = far_half ? both.cosine : both.sine;
    const T below = far_half ? both.sine : both.cosine;
    T exponent = power * -ln(Numbers<T>::uniform(bits[1]));
    exponent = exponent > (T)80 ? (T)80 : exponent;
    const T grown = exp_minus_one(exponent);
    const T left = (T)1 / ((T)1 + grown);
    const T s = root(grown * left);
    const T shared = (T)0.5 * left / ((T)1 + s);
    const T z = shared + s * (above * above);
    const T rest = shared + s * (below * below);
    const T scale = (T)1 / (rest + b * z);
    const T y = half_above * scale;
    const T excess = half_below * (s * ((above - below) * (above + below))) * scale;
    const T small = excess * excess * (excess * ((T)(1.0 / 3.0) + excess * GammaDraw<T>::series(excess)) - (T)0.5);
    const T bracket = without_sign(excess) < (T)0.125 ? small : ln(y) - excess;
    return {z, rest, ln(Numbers<T>::uniform(bits[2])) <= size * bracket};
  }
  OCTOPUS_DEVICE T finish(T z, T rest) const { return root_of_b * root(z / rest); }
};

/// Makes a draw of a row, given the tangent of half its angle from `direction`: normal numbers take the row's place and
/// give the tangent its direction.
template <class T>
OCTOPUS_DEVICE void finish_row(T* row, const T* direction, u32 dimensions, T tangent, u32 key0, u32 key1, u64 index) {
  const u32 size = dimensions - 1;
  T square = (T)0, along = (T)0;
#pragma unroll 1
  for (u32 four = 0; four < size; four += 4) {
    typename Numbers<T>::Bits bits[4];
    four_numbers(key0, key1, index, PART + four / 4, bits);
#pragma unroll
    for (u32 place = 0; place < 4; ++place) {
      if (four + place >= size) break;
      const T normal = Numbers<T>::normal(bits[place]);
      square = square + normal * normal;
      along = along + direction[four + place] * normal;
      row[four + place] = normal;
    }
  }
  if (square == (T)0) {
    // A normal number of f32 may be 0: one in 10^7.
    row[0] = (T)1;
    square = (T)1;
    along = direction[0];
  }
  const T pole = direction[size];
  const T share = (T)1 / ((T)1 + tangent * tangent);
  const T cosine = ((T)1 - tangent) * ((T)1 + tangent) * share;
  const T scale = (tangent + tangent) * share / root(square);
  const T tilt = along / ((T)1 + without_sign(pole));
#pragma unroll 1
  for (u32 place = 0; place < size; ++place) {
    const T mean = direction[place];
    row[place] = cosine * mean + scale * (tilt * mean - row[place]);
  }
  row[size] = cosine * pole + scale * (pole < (T)0 ? -along : along);
}

/// Draws `first` to `first + n` as rows of `dimensions` numbers, by any grid. Each thread first makes the tangents of all
/// of its draws, trying again where one is refused while its neighbours go on to their next, and then its rows.
template <class T>
OCTOPUS_DEVICE void von_mises_fisher_draws(T* out, u64 key, u64 first, u64 n, const T* direction, u32 dimensions,
                                           T concentration, u32 most, unsigned* refused) {
  const u32 key0 = (u32)key, key1 = (u32)(key >> 32);
  const u64 begin = (u64)blockIdx.x * blockDim.x + threadIdx.x, stride = (u64)gridDim.x * blockDim.x;
  const auto polar = PolarDraw<T>::make(dimensions, concentration);
  u32 turn = 0;
#pragma unroll 1
  for (u64 i = begin; i < n;) {
    typename Numbers<T>::Bits bits[4];
    four_numbers(key0, key1, first + i, turn, bits);
    const Proposal<T> proposal = polar.propose(bits);
    ++turn;
    if (!proposal.taken && turn < most) continue;
    // All who are refused write the same.
    if (!proposal.taken) *(volatile unsigned*)refused = 1;
    out[i * dimensions] = proposal.taken ? polar.finish(proposal.a, proposal.b) : Constants<T>::nan();
    i += stride;
    turn = 0;
  }
#pragma unroll 1
  for (u64 i = begin; i < n; i += stride) {
    T* row = out + i * dimensions;
    finish_row(row, direction, dimensions, row[0], key0, key1, first + i);
  }
}

}  // namespace octopus
