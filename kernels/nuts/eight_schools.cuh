// Eight schools of crates/density, in the sampler's (partially centered) coordinates: the twin of
// crates/density/src/schools/kernel.rs, operation by operation.
//
// Coordinates: x_0 .. x_{J-1}, mu, log tau. School j and its x_j share a lane.
#pragma once
#include "centering.cuh"
#include "lanes.cuh"
#include "octopus/math.cuh"

namespace octopus::nuts {

/// What the model reads: `EightSchools::kernel_data` in crates/density.
template <class R, class T> struct EightSchoolsData {
  u32 schools;
  /// Standard deviation of the normal prior of mu, and scale of the half-Cauchy prior of tau.
  T mu_sd, tau_scale;
  /// The measured effect of each school and 1 / sigma^2 of it, 0 in the padding.
  const R* effect;
  const R* precision;
};

static_assert(sizeof(EightSchoolsData<double, double>) == 40, "the host packs it");
static_assert(sizeof(EightSchoolsData<float, double>) == 40, "the host packs it");
static_assert(sizeof(EightSchoolsData<float, float>) == 32, "the host packs it");

template <class S> struct EightSchools {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  static constexpr int L = S::L;
  static constexpr int E = S::E;
  using Data = EightSchoolsData<R, T>;

  const Data& data;

  /// The number of coordinates.
  OCTOPUS_DEVICE u32 dim() const { return data.schools + 2; }

  /// The log density at `x`, the Jacobian of the centering included; its gradient goes to `gradient`, 0 in the padding.
  /// Where the value is not finite the gradient means nothing.
  OCTOPUS_DEVICE T evaluate(const Centering<R, T>& centering, const Vec& x, Vec& gradient) const {
    const R mu = S::pick(x, data.schools);
    const R log_tau = S::pick(x, data.schools + 1);
    const T tau = exp((T)log_tau);
    const R inverse_tau = (R)((T)1 / tau);
    // One lambda for all schools need not be in memory, and one exponential serves them; its bits are each one's own.
    const R uniform = (R)centering.uniform;
    const R shared = exp(((R)1 - uniform) * log_tau);
    const V zero = W::splat((R)0);
    // In this order: squared residuals, z^2, what pulls mu, what pulls it through the centered coordinates, the same
    // two for log tau; see kernel.rs.
    V parts[6] = {zero, zero, zero, zero, zero, zero};
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const int schools = (int)data.schools - e * L;
      const V lambda = centering.is_uniform ? W::splat(uniform) : W::load(W::mine(centering.lambda) + e * L);
      const V power = centering.is_uniform ? W::splat(shared)
                                           : W::map((R)1 - lambda, [=](R free) { return exp(free * log_tau); });
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
    const T standard = (T)mu / data.mu_sd;
    const T ratio = tau / data.tau_scale;
    const T ratio2 = ratio * ratio;
    const T by_mu = sums[2] + sums[3] - standard / data.mu_sd;
    const T by_tau = sums[4] + sums[5] - centering.total + (T)1 - (T)2 * ratio2 / ((T)1 + ratio2);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      const int end = (int)data.schools - e * L;
      const V row = W::put(end, (R)by_mu, W::first(end, gradient.row[e], zero));
      gradient.row[e] = W::put(end + 1, (R)by_tau, row);
    }
    return (T)-0.5 * (sums[0] + sums[1] + standard * standard) - ln((T)1 + ratio2) +
           ((T)1 - centering.total) * (T)log_tau;
  }

  /// From the sampler's coordinates to the density's own, in place.
  OCTOPUS_DEVICE void make_natural(const Centering<R, T>& centering, Vec& x) const {
    nuts::make_natural<S>(centering, data.schools, x);
  }

  /// What is to be subtracted from the log density at `x` to have that in the density's own coordinates.
  OCTOPUS_DEVICE T log_jacobian(const Centering<R, T>& centering, const Vec& x) const {
    return nuts::log_jacobian<S>(centering, data.schools, x);
  }
};

}  // namespace octopus::nuts
