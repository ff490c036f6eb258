// Many data sets of one model in one launch: chains of each as those of a launch of its own, to the bit.
//
// A data set has what a single launch takes by value, and blocks of its own: all lanes of a block work on one data set,
// whose numbers lie in shared memory while the block runs. Which data set a block works on, and on which of its chains,
// is in a table that the host makes: data sets differ in chains, and those that wait have no block.
#pragma once
#include "run.cuh"

namespace octopus::nuts {

/// A data set: what `run` and `restart` take. The host packs it; entries take one by value too, which they never read, so
/// that the PTX says its size.
template <class D, class R, class T> struct Item {
  D data;
  Launch<R, T> launch;
};

/// What a block works on.
struct Part {
  u32 item;
  /// The item's chain that the block's first lanes carry.
  u32 first_chain;
};

/// A launch: items, and one part for each block.
template <class I> struct Batch {
  const I* items;
  const Part* parts;
};

/// f(item, chain) for the chain that this thread carries, or carries a lane of, if there is one.
template <int L, class I, class F> OCTOPUS_DEVICE void by_item(const Batch<I>& batch, F f) {
  __shared__ I item;
  static_assert(sizeof(I) % sizeof(u64) == 0, "it is copied by words of 64 bits");
  const Part part = batch.parts[blockIdx.x];
  const u64* from = (const u64*)(batch.items + part.item);
  for (u32 i = threadIdx.x; i < (u32)(sizeof(I) / sizeof(u64)); i += blockDim.x) ((u64*)&item)[i] = from[i];
  __syncthreads();
  const u32 chain = part.first_chain + threadIdx.x / (u32)L;
  if (carries<L>() && chain < item.launch.chains) f(item, chain);
}

/// All chains of all items, each through its item's iterations.
template <class S, template <class> class Density, class I> OCTOPUS_DEVICE void run_batch(const Batch<I>& batch) {
  by_item<S::L>(batch, [](const I& item, u32 chain) { run_chain<S, Density>(item.data, item.launch, chain); });
}

/// As `restart`, for all chains of all items.
template <class S, template <class> class Density, class I> OCTOPUS_DEVICE void restart_batch(const Batch<I>& batch) {
  by_item<S::L>(batch, [](const I& item, u32 chain) { restart_chain<S, Density>(item.data, item.launch, chain); });
}

}  // namespace octopus::nuts
