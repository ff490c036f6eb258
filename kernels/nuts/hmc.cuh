// One transition of Hamiltonian Monte Carlo and its record: the twin of crates/sampler/src/kernel/hmc.rs, which says what
// is done and why. ChEES-HMC (chees.rs there) is the same, with a length that the host learns.
#pragma once
#include "run.cuh"

namespace octopus::nuts {

/// How far trajectories go; all chains share it.
template <class R, class T> struct Trajectory {
  /// The mean number of leapfrog steps; 0 where the length and the chain's step size make it.
  T leapfrogs;
  /// The mean length, and the share of the mean within which lengths are.
  T length, jitter;
  /// Where the host learns the length: the middle of the chains in the sampler's coordinates, padded; else null.
  const R* center;
};

static_assert(sizeof(Trajectory<double, double>) == 32 && sizeof(Trajectory<float, float>) == 24, "the host packs it");

constexpr u32 PURPOSE_LENGTH = 13;

template <class S, template <class> class Density> struct Hmc {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using V = typename S::V;
  using Vec = typename S::Vec;
  using Common = Transition<S, Density>;
  static constexpr int L = S::L;
  static constexpr int E = S::E;

  const Space<S, Density>& space;
  Workspace<S> work;
  const Trajectory<R, T>& trajectory;

  /// The steps of the iteration's trajectory, the same for all chains: the part of it before the point, or one.
  OCTOPUS_DEVICE T steps_of(T step_size, u32 max_depth, const u64& seed, u32 iteration) const {
    const UniformPair<T> uniform = uniform_pair<T>(stream(seed, 0, iteration, PURPOSE_LENGTH), 0);
    const T mean = trajectory.leapfrogs > (T)0 ? trajectory.leapfrogs : trajectory.length / step_size;
    const T wanted = mean * ((T)1 + trajectory.jitter * ((T)2 * uniform.even - (T)1));
    // Rounding at random keeps the mean where steps are few.
    const T steps = wanted + uniform.odd;
    const T most = (T)((1u << max_depth) - 1);
    return steps > most ? most : steps;
  }

  /// Moves the chain's point by one transition, as `Transition::run` does. The start waits in the workspace.
  OCTOPUS_DEVICE Record run(T step_size, const Limits<T>& limits, const u64& seed, u32 chain, u32 iteration, u32& which,
                            T& logp) const {
    Vec x, w, r;
    S::load(work.x(which), x);
    S::load(work.w(which), w);
    const u32 dim = space.density.dim();
    const T start = (T)0.5 * Common::draw_momentum(stream(seed, chain, iteration, PURPOSE_MOMENTUM), dim, r) - logp;
    const T steps = steps_of(step_size, limits.max_depth, seed, iteration);
    T energy = start;
    T end_logp = logp;
    T largest = (T)0;
    bool diverging = false;
    u32 n_steps = 0;
    do {
      const bool valued = space.leapfrog(step_size, x, w, r, end_logp);
      const T square = Common::dot(r, r);
      n_steps += 1;
      energy = valued ? (T)0.5 * square - end_logp : Constants<T>::infinity();
      const T error = energy != energy ? Constants<T>::infinity() : energy - start;
      if (size(error) > size(largest)) largest = error;
      diverging = error > limits.max_energy_error;
    } while (!diverging && (T)(n_steps + 1) <= steps);

    const T error = energy - start;
    const T acceptance = diverging ? (T)0 : (error <= (T)0 ? (T)1 : exp(-error));
    u64 slope = 0;
    if (trajectory.center != nullptr && acceptance > (T)0)
      slope = to_bits((double)(acceptance * ((T)n_steps * step_size) * growth(work.x(which), x, r)));
    const bool accepted = uniform_pair<T>(stream(seed, chain, iteration, PURPOSE_TREE), 0).even < acceptance;
    if (accepted) {
      which = 1 - which;
      logp = end_logp;
      S::store(work.x(which), x);
      S::store(work.w(which), w);
    }
    Record record;
    record.lp = (double)logp;
    record.acceptance_rate = (double)acceptance;
    record.step_size = (double)step_size;
    record.energy = (double)(accepted ? energy : start);
    record.energy_error = accepted ? (double)error : 0.0;
    record.max_energy_error = (double)largest;
    // There is no tree: its two numbers are the slope's words.
    record.tree_depth = low_word(slope);
    record.n_steps = n_steps;
    record.index_in_trajectory = (int)high_word(slope);
    record.flags = (diverging ? 1u : 0u) | 8u;
    return record;
  }

 private:
  OCTOPUS_DEVICE static T size(T x) { return x < (T)0 ? -x : x; }

  /// How fast the square of the change of the square of the distance from the middle grows with the length.
  OCTOPUS_DEVICE T growth(const R* from, const Vec& to, const Vec& momentum) const {
    Vec z;
    S::load(from, z);
    whiten_position(z);
    const T before = Common::dot(z, z);
    z = to;
    whiten_position(z);
    const T after = Common::dot(z, z);
    const T slope = (after - before) * Common::dot(z, momentum);
    return is_finite(slope) ? slope : (T)0;
  }

  /// The whitened position about the middle, in place: z = A^-1 D^-1/2 (x - center).
  OCTOPUS_DEVICE void whiten_position(Vec& z) const {
    const MetricData<R, T>& metric = space.metric.data;
    const int dim = (int)space.density.dim();
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) {
      V away = z.row[e] - W::load(W::mine(trajectory.center) + e * L);
      V scale = W::load(W::mine(metric.scale) + e * L);
      W::each(away, scale, [&](u32, R& value, R& unit) { value = value / unit; });
      // Of the padding it made 0 / 0.
      z.row[e] = W::first(dim - e * L, away, W::splat((R)0));
    }
    for (u32 k = 0; k < metric.rank; ++k) {
      const R* u = W::mine(metric.directions) + k * S::SIZE;
      Vec direction;
      S::load(u, direction);
      const T stretch = metric.stretch[k];
      const R c = (R)(-stretch / ((T)1 + stretch) * Common::dot(direction, z));
      OCTOPUS_UNROLL
      for (int e = 0; e < E; ++e) z.row[e] = z.row[e] + c * direction.row[e];
    }
  }
};

/// As `run`, by trajectories of a given length.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void run_hmc(const typename Density<S>::Data& data, const Launch<typename S::R, typename S::T>& launch,
                            const Trajectory<typename S::R, typename S::T>& trajectory) {
  using W = typename S::W;
  const u32 chain = chain_of_thread<S::L>(launch.chains);
  if (chain == NONE) return;
  const Space<S, Density> space = {Density<S>{data}, launch.centering, Metric<S>{launch.metric}};
  const u32 vectors = workspace_vectors(launch.max_depth);
  const Hmc<S, Density> transition = {
      space, {W::mine(launch.workspaces + (u64)chain * vectors * S::SIZE), launch.max_depth}, trajectory};
  move_chain<S>(transition, launch, chain);
}

}  // namespace octopus::nuts
