// What the host hands to a launch: structs by value, packed by crates/sampler as C lays them out. A change here is a
// change there.
#pragma once
#include "centering.cuh"
#include "dual_averaging.cuh"
#include "metric.cuh"
#include "transition.cuh"

namespace octopus::nuts {

/// What a chain keeps between launches besides the vectors of its workspace.
template <class T> struct ChainState {
  DualAveraging<T> averaging;
  T step_size;
  /// Log density of the point.
  T logp;
  /// Which of the workspace's two points it is.
  u32 which;
  u32 padding;
};

/// What a launch does; all chains share it.
template <class R, class T> struct Launch {
  u64 seed;
  /// Number of the first chain of the buffers.
  u32 first_chain;
  u32 chains;
  /// Iterations done before, warm-up included, and how many to do.
  u32 first_iteration;
  u32 iterations;
  /// Iterations in which each chain adapts its own step size; 0 where the host sets step sizes.
  u32 tune;
  /// Iterations of the open window, of which the points are kept, too.
  u32 window_begin, window_end;
  /// The most doublings of a transition: workspaces are made for it.
  u32 max_depth;
  /// The energy error beyond which a transition diverges; finite.
  T max_energy_error;
  /// The acceptance that a restart makes dual averaging aim at.
  T target_accept;
  Centering<T> centering;
  MetricData<R, T> metric;
  /// Chains' states and workspaces, one after another; see `workspace_vectors`.
  ChainState<T>* states;
  R* workspaces;
  /// Draws in the density's own coordinates, chains x iterations x dim.
  R* draws;
  /// Records, chains x iterations.
  Record* records;
  /// Points and the gradients there, both in the sampler's coordinates, chains x iterations x 2 dim: the point comes
  /// first. Only those of the window are written; a launch outside of the window never touches the buffer.
  R* points;
  /// A copy of each chain's state after the last iteration.
  ChainState<T>* end_states;
  /// The chains' points after the last iteration in the sampler's coordinates, chains x dim.
  R* end_positions;
};

static_assert(sizeof(ChainState<double>) == 72 && sizeof(ChainState<float>) == 40, "the host packs it");
static_assert(sizeof(Launch<double, double>) == 168 && sizeof(Launch<float, double>) == 168, "the host packs it");
static_assert(sizeof(Launch<float, float>) == 152, "the host packs it");

}  // namespace octopus::nuts
