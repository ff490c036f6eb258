// The Euclidean metric in whitened momenta: the twin of crates/sampler/src/kernel/metric.rs and vector.rs.
//
// M^-1 = D^1/2 A A D^1/2 with A = I + U (L^1/2 - 1) U^T, U having few orthonormal columns.
#pragma once
#include "lanes.cuh"

namespace octopus::nuts {

/// A metric's buffers: vectors padded to whole rows of lanes, the padding being 0.
template <class R, class T> struct MetricData {
  /// Square roots of the diagonal.
  const R* scale;
  /// Unit vectors, one after another.
  const R* directions;
  /// For each direction the square root of its variance, less 1.
  const T* stretch;
  u32 rank;
};

static_assert(sizeof(MetricData<double, double>) == 32 && sizeof(MetricData<float, float>) == 32, "the host packs it");

template <class S> struct Metric {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;
  /// Directions whose products are summed over the lanes together, to wait for the lanes once.
  static constexpr int BATCH = 2;

  const MetricData<R, T>& data;

  /// v = A v
  OCTOPUS_DEVICE void apply(Vec& v) const {
    if (data.rank == 0) return;
    const Vec from = v;
    for (u32 first = 0; first < data.rank; first += BATCH) {
      V parts[BATCH];
      OCTOPUS_UNROLL
      for (int k = 0; k < BATCH; ++k) {
        parts[k] = W::splat((R)0);
        if (first + k < data.rank) {
          const R* u = W::mine(data.directions) + (first + k) * S::SIZE;
          OCTOPUS_UNROLL
          for (int e = 0; e < E; ++e) parts[k] = parts[k] + W::load(u + e * L) * from.row[e];
        }
      }
      T along[BATCH];
      W::sum(parts, along);
      OCTOPUS_UNROLL
      for (int k = 0; k < BATCH; ++k) {
        if (first + k < data.rank) {
          const R* u = W::mine(data.directions) + (first + k) * S::SIZE;
          const R c = (R)(data.stretch[first + k] * along[k]);
          OCTOPUS_UNROLL
          for (int e = 0; e < E; ++e) v.row[e] = v.row[e] + c * W::load(u + e * L);
        }
      }
    }
  }

  /// The whitened force of a gradient, in place: w = A D^1/2 g.
  OCTOPUS_DEVICE void whiten(Vec& g) const {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) g.row[e] = W::load(W::mine(data.scale) + e * L) * g.row[e];
    apply(g);
  }

  /// Half a kick by the force `w` and a drift, in place.
  OCTOPUS_DEVICE void kick_drift(T step, const Vec& w, Vec& r, Vec& x) const {
    const R h = (R)((T)0.5 * step);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) r.row[e] = r.row[e] + h * w.row[e];
    const R drift = (R)step;
    Vec velocity = r;
    apply(velocity);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e)
      x.row[e] = x.row[e] + drift * (W::load(W::mine(data.scale) + e * L) * velocity.row[e]);
  }

  /// The other half of the kick by the force `w`, in place.
  OCTOPUS_DEVICE void kick(T step, const Vec& w, Vec& r) const {
    const R h = (R)((T)0.5 * step);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) r.row[e] = r.row[e] + h * w.row[e];
  }
};

}  // namespace octopus::nuts
