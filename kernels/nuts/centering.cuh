// Partially centered coordinates of hierarchical blocks: see crates/density/src/centering.rs.
#pragma once
#include "octopus/portable.cuh"

namespace octopus::nuts {

/// The coordinates of a hierarchical block: x_j = s^lambda_j z_j + lambda_j m.
template <class R, class T> struct Centering {
  /// One lambda for each effect, 0 in the padding.
  const R* lambda;
  /// Their sum.
  T total;
  /// The one value that all have, if `is_uniform`.
  T uniform;
  u32 is_uniform;
  /// Whether all are 0: the density's own coordinates.
  u32 natural;
};

static_assert(sizeof(Centering<double, double>) == 32 && sizeof(Centering<float, double>) == 32, "the host packs it");
static_assert(sizeof(Centering<float, float>) == 24, "the host packs it");

}  // namespace octopus::nuts
