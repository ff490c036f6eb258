// Partially centered coordinates of hierarchical blocks: see crates/density/src/centering.rs.
#pragma once
#include "lanes.cuh"
#include "octopus/math.cuh"

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

/// From the sampler's coordinates to the density's own, in place: `effects` effects, their location, their log scale.
template <class S>
OCTOPUS_DEVICE void make_natural(const Centering<typename S::R, typename S::T>& centering, u32 effects,
                                 typename S::Vec& x) {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  if (centering.natural) return;
  const R location = S::pick(x, effects);
  const R log_scale = S::pick(x, effects + 1);
  const R shared = (R)exp((T)-1 * centering.uniform * (T)log_scale);
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e) {
    const V lambda = W::load(W::mine(centering.lambda) + e * S::L);
    const V power = centering.is_uniform ? W::splat(shared)
                                         : W::map((R)-1 * lambda, [=](R l) { return exp(l * log_scale); });
    x.row[e] = W::first((int)effects - e * S::L, power * (x.row[e] - lambda * location), x.row[e]);
  }
}

/// What is to be subtracted from the log density at `x` to have that in the density's own coordinates.
template <class S>
OCTOPUS_DEVICE typename S::T log_jacobian(const Centering<typename S::R, typename S::T>& centering, u32 effects,
                                          const typename S::Vec& x) {
  using T = typename S::T;
  const T log_scale = (T)S::pick(x, effects + 1);
  return centering.natural ? (T)0 : -centering.total * log_scale;
}

}  // namespace octopus::nuts
