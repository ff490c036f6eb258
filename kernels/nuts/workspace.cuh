// Where a chain's vectors are between and during transitions: slots of one buffer, each a vector of S::SIZE elements.
//
// Momenta of the subtrees that wait on the stack need no list of free slots. Subtrees on the stack have levels that
// fall from bottom to top, one at most of each level; where leaf i of a doubling begins a subtree that waits, it lies in
// slot begin(i), which no other beginning of a waiting subtree shares: i's trailing zeros are the level of the subtree
// below.
#pragma once
#include "octopus/portable.cuh"

namespace octopus::nuts {

/// Trailing zero bits of a number that is not 0.
OCTOPUS_DEVICE u32 trailing_zeros(u32 x) {
#if defined(__CUDACC__)
  return (u32)__ffs((int)x) - 1;
#else
  return (u32)__builtin_ctz(x);
#endif
}

enum Slot : u32 {
  /// Position and whitened force of the chain's point and of the candidate; which is which changes.
  POINT_0 = 0,
  POINT_1 = 2,
  /// Position, force and momentum at the left and the right end of the trajectory.
  LEFT = 4,
  RIGHT = 7,
  /// The sum of momenta over the trajectory, once it has two points.
  RHO = 10,
  /// The stack: beginnings of subtrees, then for each level the end and the sum.
  STACK = 11,
};

/// Vectors of a workspace for trees of at most `max_depth` doublings: 41 for 10.
OCTOPUS_DEVICE u32 workspace_vectors(u32 max_depth) { return STACK + 3 * max_depth; }

/// One chain's buffer.
template <class S> struct Workspace {
  using R = typename S::R;

  /// The lane's own part of the buffer.
  R* slots;
  /// Where that of the launch lies.
  const u32& max_depth;

  OCTOPUS_DEVICE R* slot(u32 index) const { return slots + (u64)index * S::SIZE; }

  /// Of the point `which`: 0 or 1.
  OCTOPUS_DEVICE R* x(u32 which) const { return slot(which == 0 ? POINT_0 : POINT_1); }
  OCTOPUS_DEVICE R* w(u32 which) const { return slot((which == 0 ? POINT_0 : POINT_1) + 1); }

  /// Of an end of the trajectory.
  OCTOPUS_DEVICE R* end_x(bool right) const { return slot(right ? RIGHT : LEFT); }
  OCTOPUS_DEVICE R* end_w(bool right) const { return slot((right ? RIGHT : LEFT) + 1); }
  OCTOPUS_DEVICE R* end_r(bool right) const { return slot((right ? RIGHT : LEFT) + 2); }
  OCTOPUS_DEVICE R* rho() const { return slot(RHO); }

  /// The momentum of leaf `leaf` of the doubling `depth`, where it begins a subtree that waits.
  OCTOPUS_DEVICE R* begin(u32 leaf, u32 depth) const {
    return slot(STACK + (leaf == 0 ? depth : trailing_zeros(leaf)));
  }

  /// The last momentum and the sum of momenta of the subtree of `level` (1 or more) that waits.
  OCTOPUS_DEVICE R* level_end(u32 level) const { return slot(STACK + max_depth + level); }
  OCTOPUS_DEVICE R* level_rho(u32 level) const { return slot(STACK + 2 * max_depth + level); }
};

}  // namespace octopus::nuts
