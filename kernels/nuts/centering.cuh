// The coordinates of hierarchical blocks: see crates/density/src/centering.rs.
#pragma once
#include "lanes.cuh"
#include "octopus/math.cuh"

namespace octopus::nuts {

/// The coordinates of a hierarchical block: x_j = s^lambda z_j + lambda m, or standardised ones.
template <class T> struct Centering {
  /// 0 or 1; 0 where coordinates are standardised.
  T lambda;
  /// lambda for each effect, summed.
  T total;
  u32 standardised;
  /// Whether these are the density's own coordinates: neither standardised nor centered.
  u32 natural;
};

static_assert(sizeof(Centering<double>) == 24 && sizeof(Centering<float>) == 16, "the host packs it");

/// Standardised coordinates at one place: z_j = push_j (measured_j - shift) + width_j x_j.
///
/// `Model` says what is measured of each effect less an origin, `measured()`, and its precision in units of 1 / noise^2,
/// `precisions()`; in `distinct` the precisions that there are and in `times` how many effects have each, `kinds` in
/// number. All are 0 in the padding.
template <class S, class Model> struct Standardised {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;

  /// What coordinates have to do with a row of effects.
  struct Row {
    V inverse, width, push, drawn;
  };

  const Model& model;
  /// scale / noise^2 and scale^2 / noise^2.
  R by_gain, by_ratio;
  /// The location less the origin.
  R shift;
  /// Of every effect, where all have the same precision.
  R inverse, width;

  /// Where effects have this scale; `weight` is 1 / noise^2.
  OCTOPUS_DEVICE Standardised(const Model& model_, T scale, T weight, T shift_) : model(model_), shift((R)shift_) {
    const T gain = scale * weight;
    by_gain = (R)gain;
    by_ratio = (R)(scale * gain);
    inverse = (R)1;
    width = (R)1;
    if (model.kinds == 1) {
      inverse = (R)1 / ((R)1 + model.distinct[0] * by_ratio);
      width = root(inverse);
    }
  }

  OCTOPUS_DEVICE Row row(int e) const {
    const V precision = W::load(W::mine(model.precisions()) + e * L);
    Row out;
    if (model.kinds == 1) {
      out.inverse = W::splat(inverse);
      out.width = W::splat(width);
    } else {
      out.inverse = inverse_of((R)1 + precision * by_ratio);
      out.width = W::map(out.inverse, [](R value) { return root(value); });
    }
    out.push = precision * by_gain * out.inverse;
    out.drawn = out.push * (W::load(W::mine(model.measured()) + e * L) - shift);
    return out;
  }

  /// From these coordinates to the density's own, in place: the first `effects` elements.
  OCTOPUS_DEVICE void make_natural(u32 effects, Vec& x) const {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const Row own = row(e);
      x.row[e] = W::first((int)effects - e * L, own.drawn + own.width * x.row[e], x.row[e]);
    }
  }

  /// Sums over all effects.
  struct Sums {
    /// Of 1 - inverse_j, and of -ln(inverse_j).
    T shares, logs;
  };

  /// From the table of precisions.
  OCTOPUS_DEVICE Sums sums() const {
    if (model.kinds == 1) {
      const R times = model.times[0];
      return {(T)(times * ((R)1 - inverse)), (T)(times * ln((R)1 + model.distinct[0] * by_ratio))};
    }
    V parts[2] = {W::splat((R)0), W::splat((R)0)};
    for (u32 at = 0; at < model.kinds; at += (u32)L) {
      const V d = (R)1 + W::load(W::mine(model.distinct) + at) * by_ratio;
      const V times = W::load(W::mine(model.times) + at);
      parts[0] = parts[0] + times * ((R)1 - inverse_of(d));
      parts[1] = parts[1] + times * W::map(d, [](R value) { return ln(value); });
    }
    T sums[2];
    W::sum(parts, sums);
    return {sums[0], sums[1]};
  }

 private:
  OCTOPUS_DEVICE static V inverse_of(const V& d) {
    return W::map(d, [](R value) { return (R)1 / value; });
  }
};

/// From centered coordinates to the density's own, in place: `effects` effects, their location, their log scale.
template <class S> OCTOPUS_DEVICE void centered_to_natural(u32 effects, typename S::Vec& x) {
  using R = typename S::R;
  using T = typename S::T;
  const R location = S::pick(x, effects);
  const R inverse = (R)exp(-(T)S::pick(x, effects + 1));
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e)
    x.row[e] = S::W::first((int)effects - e * S::L, inverse * (x.row[e] - location), x.row[e]);
}

/// From the sampler's coordinates to the density's own, in place.
template <class S, class Density>
OCTOPUS_DEVICE void make_natural(const Density& density, const Centering<typename S::T>& centering,
                                 typename S::Vec& x) {
  if (centering.natural) return;
  if (centering.standardised) {
    density.standardised_at(x).make_natural(density.effects(), x);
  } else {
    centered_to_natural<S>(density.effects(), x);
  }
}

/// What is to be subtracted from the log density at `x` to have that in the density's own coordinates.
template <class S, class Density>
OCTOPUS_DEVICE typename S::T log_jacobian(const Density& density, const Centering<typename S::T>& centering,
                                          const typename S::Vec& x) {
  using T = typename S::T;
  if (centering.natural) return (T)0;
  if (centering.standardised) return (T)-0.5 * density.standardised_at(x).sums().logs;
  return -centering.total * (T)S::pick(x, density.effects() + 1);
}

}  // namespace octopus::nuts
