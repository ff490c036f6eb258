// How element-wise kernels spread over a grid.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

/// Calls `f(i)` for every i below n, spread over the grid.
template <class F> OCTOPUS_DEVICE void each(u64 n, F f) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

}  // namespace octopus
