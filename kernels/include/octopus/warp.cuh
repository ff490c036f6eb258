// The virtual warp on a GPU: the one shape of every reduction. Element i of a vector of m elements belongs to lane
// i mod L, with L = 32 up to 256 elements and 128 above; each lane takes its elements in order, starting from its first;
// then a halving tree over the lanes (L/2, L/4, ... 1), in which lane l takes lane l + L/2 in as the second operand.
// A lane without elements holds the operation's `empty`.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

enum : u32 {
  NARROW = 32,
  WIDE = 128,
  /// Elements up to which a vector is carried by 32 lanes.
  NARROW_LIMIT = 256,
  ALL_LANES = 0xffffffffu,
};

/// The number of lanes for vectors of `elements` elements.
OCTOPUS_DEVICE u32 lanes(u32 elements) { return elements <= NARROW_LIMIT ? NARROW : WIDE; }

/// a + b
template <class T> struct Sum {
  OCTOPUS_DEVICE static T empty() { return (T)0; }
  OCTOPUS_DEVICE static T join(T a, T b) { return a + b; }
};

/// The lesser; NaN if one is NaN; of equal numbers (also -0 and 0) the first.
template <class T> struct Min {
  OCTOPUS_DEVICE static T empty() { return Constants<T>::infinity(); }
  OCTOPUS_DEVICE static T join(T a, T b) { return b < a || b != b ? b : a; }
};

/// The greater; NaN if one is NaN; of equal numbers (also -0 and 0) the first.
template <class T> struct Max {
  OCTOPUS_DEVICE static T empty() { return -Constants<T>::infinity(); }
  OCTOPUS_DEVICE static T join(T a, T b) { return b > a || b != b ? b : a; }
};

/// The halving tree over the 32 lanes of a warp; the result is lane 0's. All lanes must come here.
template <class Op, class T> OCTOPUS_DEVICE T warp_tree(T value) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) value = Op::join(value, __shfl_xor_sync(ALL_LANES, value, half));
  return value;
}

/// The halving tree over the 128 lanes of a block of 128 threads; the result is thread 0's. All threads must come here.
/// `exchange` is shared memory for 64 values.
template <class Op, class T> OCTOPUS_DEVICE T block_tree(T value, T* exchange) {
  const u32 lane = threadIdx.x;
  if (lane >= 64) exchange[lane - 64] = value;
  __syncthreads();
  if (lane < 64) value = Op::join(value, exchange[lane]);
  __syncthreads();
  if (lane >= 32 && lane < 64) exchange[lane - 32] = value;
  __syncthreads();
  if (lane < 32) {
    value = Op::join(value, exchange[lane]);
    value = warp_tree<Op>(value);
  }
  return value;
}

}  // namespace octopus
