// Threads of a grid one after another, for kernels whose threads do not wait for each other: `threadIdx` and its kin as
// variables.
#pragma once

namespace {

struct Index {
  unsigned x;
};
Index gridDim, blockDim, blockIdx, threadIdx;

/// Calls `kernel` as each thread of `blocks` blocks of `threads` threads.
template <class F> void for_each_thread(unsigned blocks, unsigned threads, F kernel) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel();
}

}  // namespace
