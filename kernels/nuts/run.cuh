// The kernels: each thread finds the chain that it is a lane of. The entries are written out in units/, one unit for
// each density, precision and shape.
#pragma once
#include "chain.cuh"
#include "team.cuh"

namespace octopus::nuts {

/// Whether this thread is one of those that carry chains.
template <int L> OCTOPUS_DEVICE bool carries() {
#if defined(OCTOPUS_HOST_LANES)
  // One thread is all lanes.
  return threadIdx.x % (u32)L == 0;
#else
  return true;
#endif
}

/// The chain that this thread carries, or carries a lane of; `NONE` if it has nothing to do. Warps of a block share
/// nothing: blocks of 128 threads serve all shapes, whatever the number of chains.
constexpr u32 NONE = 0xffffffffu;

template <int L> OCTOPUS_DEVICE u32 chain_of_thread(u32 chains) {
  const u32 chain = (blockIdx.x * blockDim.x + threadIdx.x) / (u32)L;
  return carries<L>() && chain < chains ? chain : NONE;
}

/// All chains of the launch through all its iterations.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void run(const typename Density<S>::Data& data, const Launch<typename S::R, typename S::T>& launch) {
  const u32 chain = chain_of_thread<S::L>(launch.chains);
  if (chain != NONE) run_chain<S, Density>(data, launch, chain);
}

/// Restarts the step sizes of all chains of the launch, with `first_iteration` iterations done.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void restart(const typename Density<S>::Data& data, const Launch<typename S::R, typename S::T>& launch) {
  const u32 chain = chain_of_thread<S::L>(launch.chains);
  if (chain != NONE) restart_chain<S, Density>(data, launch, chain);
}

/// Helps the leader through the launch if this thread's block is none; returns the chain of a lane that leads, and `NONE`
/// for all other threads.
template <class S, template <class> class Density>
OCTOPUS_DEVICE u32 help_or_lead(const typename Density<S>::Data& data) {
  const Member own = member(data.team);
  if (own.number != 0) {
    if (takes_part(blockDim.x)) Density<S>::Observations::help(data);
    return NONE;
  }
  if (!takes_part((u32)S::L)) return NONE;
  begin<S::L>(data.team);
  return own.chain;
}

/// As `run`, each chain by a team of blocks.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void run_team(const typename Density<S>::Data& data,
                             const Launch<typename S::R, typename S::T>& launch) {
  const u32 chain = help_or_lead<S, Density>(data);
  if (chain == NONE) return;
  run_chain<S, Density>(data, launch, chain);
  Density<S>::Observations::dismiss(data);
}

/// As `restart`, each chain by a team of blocks.
template <class S, template <class> class Density>
OCTOPUS_DEVICE void restart_team(const typename Density<S>::Data& data,
                                 const Launch<typename S::R, typename S::T>& launch) {
  const u32 chain = help_or_lead<S, Density>(data);
  if (chain == NONE) return;
  restart_chain<S, Density>(data, launch, chain);
  Density<S>::Observations::dismiss(data);
}

}  // namespace octopus::nuts
