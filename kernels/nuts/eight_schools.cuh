// Eight schools of crates/models, in the sampler's coordinates: the twin of
// crates/models/src/eight_schools/density/kernel.rs, operation by operation.
//
// Coordinates: x_0 .. x_{J-1}, mu, log tau. School j and its x_j share a lane.
#pragma once
#include "centering.cuh"
#include "lanes.cuh"
#include "octopus/math.cuh"

namespace octopus::nuts {

/// What the model reads: `EightSchools::kernel_data` in crates/models.
template <class R, class T> struct EightSchoolsData {
  u32 schools;
  /// Standard deviation of the normal prior of mu, and scale of the half-Cauchy prior of tau.
  T mu_sd, tau_scale;
  /// What the data say about mu.
  Population<T> population;
  /// The measured effect of each school and 1 / sigma^2 of it, 0 in the padding.
  const R* effect;
  const R* precision;
  /// The precisions that there are, 0 in the padding, and their number; how many schools have each, the mean of their
  /// effects and the squared deviations from that.
  const R* distinct;
  const R* times;
  const R* means;
  const R* spreads;
  u32 kinds;

  /// What the data say about the schools: see `Standardised`.
  OCTOPUS_DEVICE const R* measured() const { return effect; }
  OCTOPUS_DEVICE const R* precisions() const { return precision; }
  OCTOPUS_DEVICE T origin() const { return (T)0; }
  /// See `standard_at`.
  static constexpr bool NOISY = false;
};

static_assert(sizeof(EightSchoolsData<double, double>) == 112, "the host packs it");
static_assert(sizeof(EightSchoolsData<float, double>) == 112, "the host packs it");
static_assert(sizeof(EightSchoolsData<float, float>) == 88, "the host packs it");

template <class S> struct EightSchools {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;
  using Data = EightSchoolsData<R, T>;
  using Coordinates = Standardised<S, Data>;

  const Data& data;

  OCTOPUS_DEVICE const Data& model() const { return data; }

  /// The number of coordinates.
  OCTOPUS_DEVICE u32 dim() const { return data.schools + 2; }

  /// The number of effects; their location and their log scale come after them.
  OCTOPUS_DEVICE u32 effects() const { return data.schools; }

  /// The log density at `x`, the Jacobian of the centering included; its gradient goes to `gradient`, 0 in the padding.
  /// Where the value is not finite the gradient means nothing.
  OCTOPUS_DEVICE T evaluate(const Centering<T>& centering, const Vec& x, Vec& gradient) const {
    Scalars s;
    typename W::template Place<ScalarSlopes<T>> slopes;
    Sums sums;
    if (centering.standardised) {
      const Standard<S> at = standard_at<S, OF_EVALUATION>(data, data.schools, x);
      // Effects are measured from 0: mu is the shift.
      s = {at.shift, at.log_scale, at.scale};
      slopes.set(at.slopes);
      sums = integrated(at, x, gradient);
    } else {
      T scalars[2];
      S::pick(x, data.schools, scalars);
      s.mu = scalars[0];
      s.log_tau = scalars[1];
      s.tau = exp(s.log_tau);
      sums = uniform(centering, s, x, gradient);
    }
    const T standard = s.mu / data.mu_sd;
    const T ratio = s.tau / data.tau_scale;
    const T ratio2 = ratio * ratio;
    T by_mu = sums.location + sums.centered_location - standard / data.mu_sd;
    T by_tau = sums.scale + sums.centered_scale - sums.shares + (T)1 - (T)2 * ratio2 / ((T)1 + ratio2);
    if (centering.standardised) slopes.get().apply(data.population.center, by_mu, by_tau);
    const R tail[2] = {(R)by_mu, (R)by_tau};
    S::put(tail, data.schools, gradient);
    return (T)-0.5 * (sums.squares + sums.z2 + standard * standard) - ln((T)1 + ratio2) +
           ((T)1 - sums.power) * s.log_tau - (T)0.5 * sums.logs;
  }

  /// From the sampler's coordinates to the density's own, in place; the log-Jacobian.
  OCTOPUS_DEVICE T make_natural(const Centering<T>& centering, Vec& x) const {
    return nuts::make_natural<S>(*this, centering, x);
  }

 private:
  struct Scalars {
    T mu, log_tau, tau;
  };

  /// The sums over schools from which the value and the gradients of the two scalars are made; see kernel.rs.
  struct Sums {
    T squares, z2, location, centered_location, scale, centered_scale;
    /// The power of tau that the Jacobian is, and twice the logarithm of what else it is, negative.
    T power, logs;
    /// The slope of the Jacobian's logarithm by log tau, negative.
    T shares;
  };

  /// Non-centered or centered.
  OCTOPUS_DEVICE Sums uniform(const Centering<T>& centering, const Scalars& s, const Vec& x, Vec& gradient) const {
    const R inverse_tau = (R)((T)1 / s.tau);
    const R lambda = (R)centering.lambda;
    const R mu = (R)s.mu;
    const V power = W::splat(exp(((R)1 - lambda) * (R)s.log_tau));
    const V zero = W::splat((R)0);
    V parts[6] = {zero, zero, zero, zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const int schools = (int)data.schools - e * L;
      const V slope = W::first(schools, power, zero);
      const V inverse = slope * inverse_tau;
      const V centered = W::first(schools, x.row[e] - lambda * mu, zero);
      const V z = inverse * centered;
      const V effect = slope * centered;
      const V difference = W::load(W::mine(data.effect) + e * L) - (mu + effect);
      const V residual = W::load(W::mine(data.precision) + e * L) * difference;
      const V slope_z = inverse * z;
      gradient.row[e] = residual * slope - slope_z;
      const V z2 = z * z;
      parts[0] = parts[0] + residual * difference;
      parts[1] = parts[1] + z2;
      parts[2] = parts[2] + residual * ((R)1 - lambda * slope);
      parts[3] = parts[3] + lambda * slope_z;
      parts[4] = parts[4] + residual * (((R)1 - lambda) * effect);
      parts[5] = parts[5] + lambda * z2;
    }
    T sums[6];
    W::sum(parts, sums);
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], centering.total, (T)0, centering.total};
  }

  /// In standardised coordinates, with the schools' effects integrated out.
  OCTOPUS_DEVICE Sums integrated(const Standard<S>& at, const Vec& x, Vec& gradient) const {
    const typename Coordinates::Integrated own = Coordinates(data, at).integrated();
    const T squares = standard_normal<S>(data.schools, x, gradient);
    const T logs = own.logs + at.log_precision;
    return {own.squares, squares, own.pull, (T)0, (T)0, own.drawn, (T)0, logs, own.shares};
  }
};

}  // namespace octopus::nuts
