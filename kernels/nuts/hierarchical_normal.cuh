// The hierarchical normal of crates/models, in the sampler's coordinates: the twin of
// crates/models/src/hierarchical_normal/density/kernel.rs, operation by operation.
//
// Coordinates: x_0 .. x_{G-1}, mu_pop, log sigma_pop, log sigma_obs. Group j and its x_j share a lane.
#pragma once
#include "centering.cuh"
#include "lanes.cuh"
#include "octopus/math.cuh"

namespace octopus::nuts {

/// What the model reads: `HierarchicalNormal::kernel_data` in crates/models. Observations and means are less the
/// prior's mean, so that nothing cancels.
template <class R, class T> struct HierarchicalNormalData {
  u32 groups;
  /// 1: every observation is read at each gradient; 0: each group's count and mean.
  u32 pointwise;
  T mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale;
  /// Sum over groups of squared deviations from the group's mean, and the number of observations.
  T within, total;
  /// What the data say about the scalars; squared deviations within and between groups for each observation.
  Population<T> population;
  T within_mean, between_mean;
  /// One for each group, 0 in the padding.
  const R* count;
  const R* mean;
  /// Row starts[b] + k holds observation k of the 32 groups of block b.
  const R* transposed;
  const u32* starts;
  /// The counts that there are, 0 in the padding, and their number; how many groups have each, the mean of their means and
  /// the squared deviations from that.
  const R* distinct;
  const R* times;
  const R* means;
  const R* spreads;
  u32 kinds;

  /// What the data say about the groups: see `Standardised`.
  OCTOPUS_DEVICE const R* measured() const { return mean; }
  OCTOPUS_DEVICE const R* precisions() const { return count; }

  OCTOPUS_DEVICE T origin() const { return mu_mean; }
  /// See `standard_at`.
  static constexpr bool NOISY = true;
};

static_assert(sizeof(HierarchicalNormalData<double, double>) == 176, "the host packs it");
static_assert(sizeof(HierarchicalNormalData<float, double>) == 176, "the host packs it");
static_assert(sizeof(HierarchicalNormalData<float, float>) == 128, "the host packs it");

/// The sums over the first `members` observations of a group, in order, of the residuals from `at` and of their squares.
template <class R, class T>
OCTOPUS_DEVICE void sum_in_order(const HierarchicalNormalData<R, T>& data, u32 group, R members, R at, R& residual,
                                 R& squares) {
  R sum = (R)0;
  R sum_squares = (R)0;
  if (members > (R)0) {
    const R* observation = data.transposed + (u64)data.starts[group / 32] * 32 + group % 32;
    for (R k = (R)0; k < members; k += (R)1, observation += 32) {
      const R difference = *observation - at;
      sum = sum + difference;
      sum_squares = sum_squares + difference * difference;
    }
  }
  residual = sum;
  squares = sum_squares;
}

/// Observations that a chain's own lanes read, each those of its groups.
template <class S> struct OwnObservations {
  using R = typename S::R;
  using W = typename S::W;
  using V = typename S::V;
  static constexpr int L = S::L;
  using Data = HierarchicalNormalData<R, typename S::T>;
  /// Whether they are read one by one in any case.
  static constexpr bool POINTWISE = false;

  OCTOPUS_DEVICE static const Data& model(const Data& data) { return data; }

  /// Where the groups are is nobody else's affair.
  struct Answers {};
  template <class F> OCTOPUS_DEVICE static Answers ask(const Data&, F) { return {}; }

  /// What the observations of row `e` of groups say about their means: the sum of the residuals and of their squares.
  OCTOPUS_DEVICE static void pull(const Data& data, int e, const V& location, const Answers&, V& residual,
                                  V& squares) {
    const V count = W::load(W::mine(data.count) + e * L);
    if (data.pointwise) {
      residual = count;
      squares = location;
      W::each(residual, squares, [&](u32 lane, R& out, R& out_squares) {
        sum_in_order(data, (u32)(e * L) + lane, out, out_squares, out, out_squares);
      });
    } else {
      const V difference = W::load(W::mine(data.mean) + e * L) - location;
      residual = count * difference;
      squares = residual * difference;
    }
  }
};

/// The log density with its gradient. `Observations` says what the observations say about the groups' means.
template <class S, class Observations_> struct HierarchicalNormalOver {
  using Observations = Observations_;
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;
  using Data = typename Observations::Data;
  using Coordinates = Standardised<S, HierarchicalNormalData<R, T>>;

  const Data& data;

  OCTOPUS_DEVICE const HierarchicalNormalData<R, T>& model() const { return Observations::model(data); }

  /// The number of coordinates.
  OCTOPUS_DEVICE u32 dim() const { return model().groups + 3; }

  /// The number of effects; their location and their log scale come after them.
  OCTOPUS_DEVICE u32 effects() const { return model().groups; }

  /// The log density at `x`, the Jacobian of the centering included; its gradient goes to `gradient`, 0 in the padding.
  /// Where the value is not finite the gradient means nothing.
  OCTOPUS_DEVICE T evaluate(const Centering<T>& centering, const Vec& x, Vec& gradient) const {
    Resting rest = {};
    ScalarSlopes<T> slopes = {};
    T weight;
    Sums sums;
    if (centering.standardised) {
      // First what waits for nothing: these sums over the lanes are under way while the scalars are made. (Asking whether
      // they are needed, which pointwise they are not, would keep them apart.)
      T own_squares = (T)0;
      if constexpr (!Observations::POINTWISE) own_squares = standard_normal<S>(model().groups, x, gradient);
      const Standard<S> at = standard_at<S, OF_EVALUATION>(model(), model().groups, x);
      const typename Coordinates::Integrated integrated = rest_of(at, rest, slopes);
      weight = at.weight;
      if (Observations::POINTWISE || model().pointwise) {
        sums = pointwise(at, x, gradient);
      } else {
        const T drawn = weight * integrated.drawn;
        sums = {integrated.squares, own_squares, integrated.pull, (T)0, (T)0, drawn, -drawn};
      }
    } else {
      const Scalars scalars = read(centering, x, rest);
      weight = scalars.weight;
      sums = uniform(centering, scalars, x, gradient);
    }
    return finish(centering, weight, rest, slopes, sums, gradient);
  }

  /// From the sampler's coordinates to the density's own, in place; the log-Jacobian.
  OCTOPUS_DEVICE T make_natural(const Centering<T>& centering, Vec& x) const {
    return nuts::make_natural<S>(*this, centering, x);
  }

 private:
  /// What the groups need of the three scalar parameters where these are coordinates.
  struct Scalars {
    T mu;
    /// sigma_pop^(1 - lambda)
    T slope;
    /// 1 / sigma_pop
    T inverse_pop;
    /// 1 / sigma_obs^2
    T weight;
    /// mu_pop less its prior mean.
    T shift;
  };

  /// What is not asked for while the groups are gone through, and then rests where no register is needed.
  struct Resting {
    T log_pop, log_obs;
    /// The scalar parameters in units of their priors.
    T standard, pop, obs;
    /// The slope of the log-Jacobian of standardised coordinates by log sigma_pop, negative; the log-Jacobian itself, that
    /// of the location included, negative and doubled.
    T shares, logs;
  };

  /// The sums over groups from which the value and the gradients of the three scalars are made; see kernel.rs.
  struct Sums {
    T squares, z2, location, centered_location, scale, centered_scale, noise;
  };

  OCTOPUS_DEVICE Scalars read(const Centering<T>& centering, const Vec& x, Resting& rest) const {
    Scalars s;
    T scalars[3];
    S::pick(x, model().groups, scalars);
    s.mu = scalars[0];
    const T log_pop = scalars[1];
    const T log_obs = scalars[2];
    s.shift = s.mu - model().mu_mean;
    T scales[3] = {log_pop, log_obs, ((T)1 - centering.lambda) * log_pop};
    W::one_each(scales, [](T value) { return exp(value); });
    const T sigma_pop = scales[0];
    const T sigma_obs = scales[1];
    s.slope = scales[2];
    T quotients[5] = {(T)1, (T)1, s.shift, sigma_pop, sigma_obs};
    const T divisors[5] = {sigma_obs * sigma_obs, sigma_pop, model().mu_sd, model().sigma_pop_scale, model().sigma_obs_scale};
    W::one_each(quotients, divisors, [](T a, T b) { return a / b; });
    s.weight = quotients[0];
    s.inverse_pop = quotients[1];
    rest = {log_pop, log_obs, quotients[2], quotients[3], quotients[4], (T)0, (T)0};
    return s;
  }

  /// Puts to rest what follows from standardised coordinates.
  OCTOPUS_DEVICE typename Coordinates::Integrated rest_of(const Standard<S>& at, Resting& rest,
                                                          ScalarSlopes<T>& slopes) const {
    T quotients[4] = {at.shift, at.scale, at.noise, at.bend};
    const T divisors[4] = {model().mu_sd, model().sigma_pop_scale, model().sigma_obs_scale, at.scaled};
    W::one_each(quotients, divisors, [](T a, T b) { return a / b; });
    slopes = at.slopes;
    slopes.noise = quotients[3];
    const typename Coordinates::Integrated integrated = Coordinates(model(), at).integrated();
    rest = {at.log_scale, at.log_noise, quotients[0], quotients[1], quotients[2], integrated.shares,
            integrated.logs + at.log_precision};
    return integrated;
  }

  /// Non-centered or centered: factors that are common to all stay out of the sums.
  OCTOPUS_DEVICE Sums uniform(const Centering<T>& centering, const Scalars& s, const Vec& x, Vec& gradient) const {
    const T lambda = centering.lambda;
    const T slope = s.slope;
    const T inverse = slope * s.inverse_pop;
    // What all elements meet, in their type.
    const R origin = (R)(lambda * s.mu);
    const R by_slope = (R)slope;
    const R by_inverse = (R)inverse;
    const R shift = (R)s.shift;
    const R weight = (R)s.weight;
    const V zero = W::splat((R)0);
    const auto centered_row = [&](int e) { return W::first((int)model().groups - e * L, x.row[e] - origin, zero); };
    const typename Observations::Answers answers = Observations::ask(data, [&](int e) { return shift + by_slope * centered_row(e); });
    V parts[5] = {zero, zero, zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const V centered = centered_row(e);
      const V z = by_inverse * centered;
      const V effect = by_slope * centered;
      V residual, squares;
      Observations::pull(data, e, shift + effect, answers, residual, squares);
      gradient.row[e] = weight * residual * by_slope - by_inverse * z;
      parts[0] = parts[0] + squares;
      parts[1] = parts[1] + z * z;
      parts[2] = parts[2] + residual;
      parts[3] = parts[3] + z;
      parts[4] = parts[4] + residual * effect;
    }
    T sums[5];
    W::sum(parts, sums);
    return {sums[0],
            sums[1],
            ((T)1 - lambda * slope) * sums[2],
            lambda * inverse * sums[3],
            ((T)1 - lambda) * sums[4],
            lambda * sums[1],
            (T)0};
  }

  /// Each group in units of its conditional distribution, from every observation.
  OCTOPUS_DEVICE Sums pointwise(const Standard<S>& at, const Vec& x, Vec& gradient) const {
    const Coordinates coordinates(model(), at);
    // What all elements meet, in their type.
    const R scale = (R)at.scale;
    const R shift = (R)at.shift;
    const R weight = (R)at.weight;
    const V zero = W::splat((R)0);
    const auto own_row = [&](int e, const V& width) {
      return width * W::first((int)model().groups - e * L, x.row[e], zero);
    };
    const typename Observations::Answers answers = Observations::ask(data, [&](int e) {
      const typename Coordinates::Row row = coordinates.row(e);
      return shift + scale * (row.drawn + own_row(e, row.width));
    });
    V parts[6] = {zero, zero, zero, zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const typename Coordinates::Row row = coordinates.row(e);
      const V own = own_row(e, row.width);
      const V z = row.drawn + own;
      const V effect = scale * z;
      V residual, squares;
      Observations::pull(data, e, shift + effect, answers, residual, squares);
      const V slope = weight * residual * scale - z;
      gradient.row[e] = slope * row.width;
      parts[0] = parts[0] + squares;
      parts[1] = parts[1] + z * z;
      parts[2] = parts[2] + residual;
      parts[3] = parts[3] + slope * row.push;
      parts[4] = parts[4] + slope * row.inverse * (row.drawn + z);
      parts[5] = parts[5] + slope * own;
    }
    T sums[6];
    W::sum(parts, sums);
    return {sums[0], sums[1], sums[2], -sums[3], (T)0, sums[1] + sums[4], sums[5] - sums[4]};
  }

  /// The value, and the gradients of the three scalars.
  OCTOPUS_DEVICE T finish(const Centering<T>& centering, T weight, const Resting& rest,
                          const ScalarSlopes<T>& slopes, const Sums& sums, Vec& gradient) const {
    const T squares = model().pointwise ? sums.squares : sums.squares + model().within;
    const T standard = rest.standard;
    const T pop2 = rest.pop * rest.pop;
    const T obs2 = rest.obs * rest.obs;
    T by_mu = weight * sums.location + sums.centered_location - standard / model().mu_sd;
    T by_pop = weight * sums.scale + sums.centered_scale - (centering.total + rest.shares) - pop2 + (T)1;
    T by_obs = weight * squares - model().total - obs2 + (T)1 + (sums.noise + rest.shares);
    if (centering.standardised) slopes.apply(model().population.center, by_mu, by_pop, by_obs);
    const R tail[3] = {(R)by_mu, (R)by_pop, (R)by_obs};
    S::put(tail, model().groups, gradient);
    return -model().total * rest.log_obs - (T)0.5 * (weight * squares + sums.z2 + standard * standard + pop2 + obs2) +
           ((T)1 - centering.total) * rest.log_pop + rest.log_obs - (T)0.5 * rest.logs;
  }
};

/// The hierarchical normal, each chain by its own lanes.
template <class S> using HierarchicalNormal = HierarchicalNormalOver<S, OwnObservations<S>>;

}  // namespace octopus::nuts
