// What a chain moves by, and the leapfrog step: the twin of `leapfrog` in crates/sampler/src/kernel/phase_space.rs.
#pragma once
#include "centering.cuh"
#include "metric.cuh"

namespace octopus::nuts {

/// Whether `x` is neither infinite nor NaN.
template <class T> OCTOPUS_DEVICE bool is_finite(T x) {
  const T infinity = Constants<T>::infinity();
  return x < infinity && x > -infinity;
}

/// What a chain moves by: density, coordinates and metric.
template <class S, template <class> class Density> struct Space {
  using T = typename S::T;
  using Vec = typename S::Vec;

  Density<S> density;
  const Centering<T>& centering;
  Metric<S> metric;

  /// One leapfrog step of signed size `step`, in place; `w` is the whitened force. False where the density has no
  /// value: then x, w and r mean nothing.
  OCTOPUS_DEVICE bool leapfrog(T step, Vec& x, Vec& w, Vec& r, T& logp) const {
    metric.kick_drift(step, w, r, x);
    logp = density.evaluate(centering, x, w);
    if (!is_finite(logp)) return false;
    metric.whiten(w);
    metric.kick(step, w, r);
    return true;
  }
};

}  // namespace octopus::nuts
