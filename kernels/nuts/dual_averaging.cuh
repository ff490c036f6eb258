// Dual averaging of the logarithm of the step size: the twin of crates/sampler/src/adapt/dual_averaging.rs.
#pragma once
#include "octopus/math.cuh"

namespace octopus::nuts {

/// The state; its field order is that of `DualAveraging` there.
template <class T> struct DualAveraging {
  T target, mu, count, mean_error, log_step, log_step_mean;

  /// Starts from `initial`, towards which (times 10) early steps are drawn.
  OCTOPUS_DEVICE static DualAveraging from(T initial, T target) {
    const T log_step = ln(initial);
    return {target, ln((T)10 * initial), (T)0, (T)0, log_step, log_step};
  }

  /// Learns from one transition's mean acceptance probability.
  OCTOPUS_DEVICE void update(T acceptance) {
    constexpr T GAMMA = (T)0.05;
    constexpr T T0 = (T)10;
    constexpr T KAPPA = (T)0.75;
    count = count + (T)1;
    const T eta = (T)1 / (count + T0);
    const T bounded = acceptance < (T)1 ? acceptance : (T)1;
    mean_error = ((T)1 - eta) * mean_error + eta * (target - bounded);
    log_step = mu - mean_error * root(count) / GAMMA;
    const T weight = exp(-KAPPA * ln(count));
    log_step_mean = weight * log_step + ((T)1 - weight) * log_step_mean;
  }

  /// The step size to explore with.
  OCTOPUS_DEVICE T current() const { return exp(log_step); }
};

}  // namespace octopus::nuts
