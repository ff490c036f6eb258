// The coordinates of hierarchical blocks: see crates/density/src/centering.rs.
#pragma once
#include "lanes.cuh"
#include "octopus/math.cuh"

namespace octopus::nuts {

/// The coordinates of a hierarchical block: x_j = s^lambda z_j + lambda m, or standardised ones, which scalars have too.
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

/// What the data say about a block's scalars, all effects taken to be measured equally well: see `Population` in
/// crates/density/src/hierarchy.rs.
template <class T> struct Population {
  /// The mean precision of the effects, and the sum.
  T typical, total;
  /// The weighted mean of what is measured, less the origin, and 1 / variance of the location's prior.
  T center, prior;
};

/// How slopes by the density's own scalars become those by standardised ones.
template <class T> struct ScalarSlopes {
  /// 1 - h of a typical effect, and -d log noise / d log ratio.
  T inverse, noise;
  /// The share of the data in what is known of the location; d location / dx, and what x adds to the location.
  T held, width, own;

  /// Where the noise is 1, in place.
  OCTOPUS_DEVICE void apply(T center, T& by_location, T& by_scale) const {
    const T around = turn(center, by_location);
    by_scale = by_scale - ((T)1 - inverse) * around;
    by_location = by_location * width;
  }

  /// Where it is sampled, in place.
  OCTOPUS_DEVICE void apply(T center, T& by_location, T& by_scale, T& by_noise) const {
    const T around = turn(center, by_location);
    const T sum = (by_scale + by_noise) - around;
    by_scale = (by_scale - noise * sum) - ((T)1 - inverse) * around;
    by_location = by_location * width;
    by_noise = sum;
  }

 private:
  /// Half of what scales do to the location's mean and width, as both depend on the logarithm of its precision.
  OCTOPUS_DEVICE T turn(T center, T by_location) const {
    return (by_location * held) * (((T)2 * ((T)1 - held)) * center - own) - held;
  }
};

/// The scalars of a block at a place in standardised coordinates: the twin of `StandardisedScalars` in
/// crates/density/src/centering.rs.
template <class S> struct Standard {
  using R = typename S::R;
  using T = typename S::T;
  T log_scale, log_noise, scale, noise;
  /// scale^2 / noise^2 and 1 / noise^2.
  T ratio, weight;
  /// The location less the origin, and the logarithm of its precision given the scales.
  T shift, log_precision;
  /// All but `noise`, which is `bend` / `scaled`: who asks for it has other divisions to make with it.
  ScalarSlopes<T> slopes;
  T bend, scaled;
  /// 1 / d, its root and ln d of every effect, where all have the same precision.
  R inverse, width, log_d;
};

/// The scalars of `model` at `x`: they come after the effects. The noise is sampled where the model is `NOISY`, which then
/// has the squared deviations of each observation, `within_mean` and `between_mean`.
template <class S, Room ROOM = COMMON, class Model>
OCTOPUS_DEVICE Standard<S> standard_at(const Model& model, u32 effects, const typename S::Vec& x) {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  const Population<T>& population = model.population;
  Standard<S> out;
  T scalars[Model::NOISY ? 3 : 2];
  S::template pick<ROOM>(x, effects, scalars);
  const T location = scalars[0];
  const T v = scalars[1];
  T u = (T)0;
  // Of 1 / (1 - h), of the likely noise squared, scaled / d, and of noise^2, q / d.
  T d, scaled, q;
  if constexpr (Model::NOISY) {
    u = scalars[2];
    T roots[2] = {v, u};
    W::one_each(roots, [](T value) { return exp(value); });
    out.ratio = roots[0] * roots[0];
    d = (T)1 + population.typical * out.ratio;
    scaled = model.within_mean * d + model.between_mean;
    q = scaled * (roots[1] * roots[1]);
    out.scale = roots[0];
  } else {
    out.scale = exp(v);
    out.ratio = out.scale * out.scale;
    d = (T)1 + population.typical * out.ratio;
    scaled = d;
    q = d;
  }
  // Of the location's precision, both / q.
  const T both = population.prior * q + population.total;
  // An effect's own, if all have the same precision. In type R: rounded to it, a quotient or a root that is made in the
  // wider T is the one that is made in R, as 53 bits are more than twice 24 (Figueroa 1995).
  const R d_effect = (R)1 + model.distinct[0] * (R)out.ratio;
  T quotients[6] = {(T)1, d, population.total, q, q, (T)1};
  const T divisors[6] = {d, q, both, both, d, (T)d_effect};
  T logs[4] = {scaled, d, both, (T)d_effect};
  W::divide_and_ln(quotients, divisors, logs);
  out.slopes.inverse = quotients[0];
  out.weight = quotients[1];
  out.slopes.held = quotients[2];
  out.inverse = (R)quotients[5];
  T roots[3] = {quotients[3], quotients[4], (T)out.inverse};
  W::one_each(roots, [](T value) { return root(value); });
  out.slopes.width = roots[0];
  out.noise = roots[1];
  out.width = (R)roots[2];
  if constexpr (sizeof(R) == sizeof(T)) {
    out.log_d = logs[3];
  } else {
    out.log_d = model.kinds == 1 ? ln(d_effect) : (R)0;
  }
  out.scale = out.scale * out.noise;
  const T drawn = out.slopes.held * population.center;
  out.slopes.own = out.slopes.width * location;
  out.shift = drawn + out.slopes.own;
  out.log_noise = (T)0;
  out.log_scale = v;
  out.slopes.noise = (T)0;
  out.bend = (T)0;
  out.scaled = scaled;
  if constexpr (Model::NOISY) {
    out.bend = model.between_mean * ((T)1 - out.slopes.inverse);
    out.log_noise = u + (T)0.5 * (logs[0] - logs[1]);
    out.log_scale = v + out.log_noise;
  }
  out.log_precision = (logs[2] - logs[0]) - (T)2 * u;
  return out;
}

/// The effects' standardised coordinates at one place: z_j = push_j (measured_j - shift) + width_j x_j.
///
/// `Model` says what is measured of each effect less an origin, `measured()`, and its precision in units of 1 / noise^2,
/// `precisions()`. Effects of the same precision are a kind: `distinct` has the precision of each of the `kinds`, `times`
/// how many effects there are, `means` the mean of what is measured of them, and `spreads` the squared deviations from that.
/// All are 0 in the padding. `origin()` is what the location is less, too.
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
  /// 1 / d, its root and ln d of every effect, where all have the same precision.
  R inverse, width, log_d;

  OCTOPUS_DEVICE Standardised(const Model& model_, const Standard<S>& at)
      : model(model_),
        by_gain((R)(at.scale * at.weight)),
        by_ratio((R)at.ratio),
        shift((R)at.shift),
        inverse(at.inverse),
        width(at.width),
        log_d(at.log_d) {}

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

  /// What the effects say of the scalars once they are integrated out: sums over all effects, with d = 1 / inverse. See
  /// `IntegratedEffects` in crates/density/src/centering.rs.
  struct Integrated {
    /// Of 1 - inverse, and of ln d.
    T shares, logs;
    /// Of precision / d times what is measured, less the shift; of the same times that difference; of this times
    /// 1 - inverse.
    T pull, squares, drawn;
  };

  /// From the table of kinds: effects of the same precision are one.
  OCTOPUS_DEVICE Integrated integrated() const {
    T sums[5];
    if (model.kinds == 1) {
      R terms[5];
      kind(model.distinct[0], model.times[0], model.means[0], model.spreads[0], inverse, log_d, terms);
      OCTOPUS_UNROLL
      for (int k = 0; k < 5; ++k) sums[k] = (T)terms[k];
    } else {
      const V zero = W::splat((R)0);
      V parts[5] = {zero, zero, zero, zero, zero};
      for (u32 at = 0; at < model.kinds; at += (u32)L) {
        const V precision = W::load(W::mine(model.distinct) + at);
        const V d = (R)1 + precision * by_ratio;
        const V log_d = W::map(d, [](R value) { return ln(value); });
        const V inverse_d = inverse_of(d);
        V terms[5];
        kind(precision, W::load(W::mine(model.times) + at), W::load(W::mine(model.means) + at),
             W::load(W::mine(model.spreads) + at), inverse_d, log_d, terms);
        OCTOPUS_UNROLL
        for (int k = 0; k < 5; ++k) parts[k] = parts[k] + terms[k];
      }
      W::sum(parts, sums);
    }
    return {sums[0], sums[1], sums[2], sums[3], sums[4]};
  }

 private:
  OCTOPUS_DEVICE static V inverse_of(const V& d) {
    return W::map(d, [](R value) { return (R)1 / value; });
  }

  /// The summands of a kind, or of a row of kinds, given 1 / d and ln d.
  template <class K>
  OCTOPUS_DEVICE void kind(const K& precision, const K& times, const K& mean, const K& spread, const K& inverse_d,
                           const K& log_d, K (&terms)[5]) const {
    const K share = (R)1 - inverse_d;
    const K asked = precision * inverse_d;
    const K away = mean - shift;
    const K pull = times * away;
    const K asks = asked * (spread + pull * away);
    terms[0] = times * share;
    terms[1] = times * log_d;
    terms[2] = asked * pull;
    terms[3] = asks;
    terms[4] = asks * share;
  }
};

/// What effects that are standard normal add to the log density: the sum of their squares, doubled and
/// negative. Their gradient goes to `gradient`. Once in an evaluation.
template <class S>
OCTOPUS_DEVICE typename S::T standard_normal(u32 effects, const typename S::Vec& x, typename S::Vec& gradient) {
  using R = typename S::R;
  using W = typename S::W;
  using V = typename S::V;
  const V zero = W::splat((R)0);
  V parts[1] = {zero};
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e) {
    const V own = W::first((int)effects - e * S::L, x.row[e], zero);
    gradient.row[e] = W::map(own, [](R value) { return -value; });
    parts[0] = parts[0] + own * own;
  }
  typename S::T sums[1];
  W::template sum<OF_EVALUATION>(parts, sums);
  return sums[0];
}

/// From standardised coordinates to the density's own, in place: effects and scalars. The log-Jacobian.
template <class S, class Model>
OCTOPUS_DEVICE typename S::T standardised_to_natural(const Model& model, u32 effects, typename S::Vec& x) {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  const Standard<S> at = standard_at<S>(model, effects, x);
  const Standardised<S, Model> coordinates(model, at);
  coordinates.make_natural(effects, x);
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e) {
    const int end = (int)effects - e * S::L;
    x.row[e] = W::put(end, (R)(model.origin() + at.shift), x.row[e]);
    x.row[e] = W::put(end + 1, (R)at.log_scale, x.row[e]);
    if constexpr (Model::NOISY) x.row[e] = W::put(end + 2, (R)at.log_noise, x.row[e]);
  }
  return (T)-0.5 * (coordinates.integrated().logs + at.log_precision);
}

/// From centered coordinates to the density's own, in place: `effects` effects, their location, their log scale. The
/// log-Jacobian, `total` being the number of effects.
template <class S>
OCTOPUS_DEVICE typename S::T centered_to_natural(typename S::T total, u32 effects, typename S::Vec& x) {
  using R = typename S::R;
  using T = typename S::T;
  const R location = S::pick(x, effects);
  const T log_scale = (T)S::pick(x, effects + 1);
  const R inverse = (R)exp(-log_scale);
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e)
    x.row[e] = S::W::first((int)effects - e * S::L, inverse * (x.row[e] - location), x.row[e]);
  return -total * log_scale;
}

/// From the sampler's coordinates to the density's own, in place. The log-Jacobian: what is to be subtracted from the log
/// density in the sampler's coordinates to have that in the density's own.
template <class S, class Density>
OCTOPUS_DEVICE typename S::T make_natural(const Density& density, const Centering<typename S::T>& centering,
                                          typename S::Vec& x) {
  if (centering.natural) return (typename S::T)0;
  if (centering.standardised) return standardised_to_natural<S>(density.model(), density.effects(), x);
  return centered_to_natural<S>(centering.total, density.effects(), x);
}

}  // namespace octopus::nuts
