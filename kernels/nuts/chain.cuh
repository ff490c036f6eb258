// A chain over many transitions: the twin of crates/sampler/src/engine/cpu/chain.rs. Draws and records go to buffers of the
// launch, everything else stays on the device.
#pragma once
#include "launch.cuh"

namespace octopus::nuts {

/// Elements e L + l of `x` below `dim` to `out`.
template <class S> OCTOPUS_DEVICE void store_draw(typename S::R* out, u32 dim, const typename S::Vec& x) {
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e) {
    typename S::V row = x.row[e];
    typename S::V same = row;
    S::W::each(row, same, [&](u32 lane, typename S::R& value, typename S::R&) {
      const u32 i = (u32)(e * S::L) + lane;
      if (i < dim) out[i] = value;
    });
  }
}

/// Where a launch is with a chain; it rests while a transition is made.
struct Progress {
  /// The chain's place in the buffers.
  u32 chain;
  u32 done;
};

/// One transition of the chain at `at`, which learns from it during warm-up; its record goes to the launch's buffer.
template <class S, class Sampler>
OCTOPUS_DEVICE void advance(const Sampler& transition, const Launch<typename S::R, typename S::T>& launch,
                            typename S::W::template Place<Progress>& progress) {
  using T = typename S::T;
  using W = typename S::W;
  const Progress at = progress.get();
  const ChainState<T>& before = launch.states[at.chain];
  T logp = before.logp;
  u32 which = before.which;
  // Iteration 0 of the random numbers belongs to the starting points.
  const u32 number = launch.first_iteration + at.done + 1;
  const Record record = transition.run(before.step_size, {launch.max_energy_error, launch.max_depth}, launch.seed,
                                       launch.first_chain + at.chain, number, which, logp);
  // Asked for anew, so that it does not wait in registers.
  const Progress now = progress.peek();
  ChainState<T>& place = launch.states[now.chain];
  ChainState<T> state = W::get(place);
  state.logp = logp;
  state.which = which;
  if (launch.first_iteration + now.done < launch.tune) {
    state.averaging.update((T)record.acceptance_rate);
    state.step_size = state.averaging.current();
  }
  W::set(place, state);
  if (W::writes()) launch.records[(u64)now.chain * launch.iterations + now.done] = record;
}

/// The chain `number` of the launch through all its iterations, by a sampler's transitions. All lanes of the chain must come
/// here.
template <class S, class Sampler>
OCTOPUS_DEVICE void move_chain(const Sampler& transition, const Launch<typename S::R, typename S::T>& launch, u32 number) {
  using T = typename S::T;
  using W = typename S::W;
  using Vec = typename S::Vec;
  const auto& space = transition.space;
  typename W::template Place<Progress> progress;
  progress.set({number, 0});
  while (progress.peek().done < launch.iterations) {
    advance<S>(transition, launch, progress);
    const Progress at = progress.get();
    progress.set({at.chain, at.done + 1});
    const u64 row = (u64)at.chain * launch.iterations + at.done;
    const u32 iteration = launch.first_iteration + at.done;
    const u32 dim = space.density.dim();
    Vec x;
    S::load(transition.work.x(launch.states[at.chain].which), x);
    if (iteration >= launch.window_begin && iteration < launch.window_end) {
      Vec gradient;
      space.density.evaluate(launch.centering, x, gradient);
      // Where there is no value the gradient means nothing: the host must see that. (The value is that of the state: made
      // anew it would take the logarithms too.)
      if (!is_finite(launch.states[at.chain].logp) && W::writes()) launch.records[row].flags |= 4u;
      store_draw<S>(launch.points + row * 2 * dim, dim, x);
      store_draw<S>(launch.points + row * 2 * dim + dim, dim, gradient);
    }
    const T jacobian = space.density.make_natural(launch.centering, x);
    if (W::writes()) launch.records[row].lp = (double)(launch.states[at.chain].logp - jacobian);
    store_draw<S>(launch.draws + row * dim, dim, x);
  }
  const u32 chain = progress.get().chain;
  const u32 dim = space.density.dim();
  const ChainState<T>& place = launch.states[chain];
  if (W::writes()) launch.end_states[chain] = place;
  Vec x;
  S::load(transition.work.x(place.which), x);
  store_draw<S>(launch.end_positions + (u64)chain * dim, dim, x);
}

/// As `move_chain`, by NUTS.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void run_chain(const typename Density<S>::Data& data, const Launch<typename S::R, typename S::T>& launch,
                              u32 number) {
  using W = typename S::W;
  const Space<S, Density> space = {Density<S>{data}, launch.centering, Metric<S>{launch.metric}};
  const u32 vectors = workspace_vectors(launch.max_depth);
  const Transition<S, Density> transition = {
      space, {W::mine(launch.workspaces + (u64)number * vectors * S::SIZE), launch.max_depth}};
  move_chain<S>(transition, launch, number);
}

/// Elements e L + l of a vector of `dim` elements to `x`, the padding zero.
template <class S> OCTOPUS_DEVICE void load_draw(const typename S::R* from, u32 dim, typename S::Vec& x) {
  OCTOPUS_UNROLL
  for (int e = 0; e < S::E; ++e) {
    typename S::V row = S::W::splat((typename S::R)0);
    typename S::V same = row;
    S::W::each(row, same, [&](u32 lane, typename S::R& value, typename S::R&) {
      const u32 i = (u32)(e * S::L) + lane;
      if (i < dim) value = from[i];
    });
    x.row[e] = row;
  }
}

/// Puts the chain at its point in `end_positions` and evaluates it there. Unless `iterations` is 0, searches a step size
/// and restarts dual averaging: what follows a change of coordinates or metric, with `first_iteration` iterations done
/// (kernel/initial_step.rs, `find_reasonable`).
template <class S, template <class> class Density>
OCTOPUS_DEVICE void restart_chain(const typename Density<S>::Data& data,
                                  const Launch<typename S::R, typename S::T>& launch, u32 number) {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using Vec = typename S::Vec;
  const Space<S, Density> space = {Density<S>{data}, launch.centering, Metric<S>{launch.metric}};
  const u32 vectors = workspace_vectors(launch.max_depth);
  const Workspace<S> work = {W::mine(launch.workspaces + (u64)number * vectors * S::SIZE), launch.max_depth};
  ChainState<T>& place = launch.states[number];
  ChainState<T> state = W::get(place);
  state.which = 0;
  T start;
  {
    Vec x, w, r;
    const u32 dim = space.density.dim();
    load_draw<S>(launch.end_positions + (u64)number * dim, dim, x);
    state.logp = space.density.evaluate(space.centering, x, w);
    space.metric.whiten(w);
    S::store(work.x(0), x);
    S::store(work.w(0), w);
    if (launch.iterations == 0) {
      W::set(place, state);
      return;
    }
    const Stream random =
        stream(launch.seed, launch.first_chain + number, launch.first_iteration, PURPOSE_STEP_SIZE);
    start = (T)0.5 * Transition<S, Density>::draw_momentum(random, dim, r) - state.logp;
    // Each step begins here anew, which needs no registers meanwhile; ends belong to transitions.
    S::store(work.end_r(false), r);
  }
  const T threshold = ln((T)0.8);
  // Shorter steps would not move a point of type R.
  const T smallest = sizeof(R) == 8 ? (T)1e-12 : (T)1e-6;
  const T largest = (T)1e7;
  const T infinity = Constants<T>::infinity();
  T step = state.averaging.current();
  step = step < smallest ? smallest : (step > largest ? largest : step);
  W::set(place, state);
  bool grow = false;
  for (u32 tried = 0;; ++tried) {
    Vec x, w, r;
    S::load(work.x(place.which), x);
    S::load(work.w(place.which), w);
    S::load(work.end_r(false), r);
    T logp;
    const bool valued = space.leapfrog(step, x, w, r, logp);
    const T square = Transition<S, Density>::dot(r, r);
    const T energy = valued ? (T)0.5 * square - logp : infinity;
    const T gain = energy != energy ? -infinity : start - energy;
    const bool accepted = gain > threshold;
    if (tried == 0) {
      grow = accepted;
    } else if (accepted != grow) {
      break;
    }
    const T next = grow ? (T)2 * step : (T)0.5 * step;
    if (!(next >= smallest && next <= largest)) break;
    step = next;
  }
  state = W::get(place);
  state.averaging = DualAveraging<T>::from(step, launch.target_accept);
  state.step_size = step;
  W::set(place, state);
}

}  // namespace octopus::nuts
