// Partially centered coordinates of hierarchical blocks: see crates/density/src/centering.rs.
#pragma once
#include "octopus/portable.cuh"

namespace octopus::nuts {

/// The coordinates of a hierarchical block: x_j = s^lambda_j z_j + lambda_j m.
template <class T> struct Centering {
  /// One lambda for each effect, 0 in the padding.
  const T* lambda;
  /// Their sum.
  T total;
  /// The one value that all have, if `is_uniform`.
  T uniform;
  u32 is_uniform;
  /// Whether all are 0: the density's own coordinates.
  u32 natural;
};

}  // namespace octopus::nuts
