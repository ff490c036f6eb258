// How element-wise kernels spread over a grid: arrays in one dimension and in two.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

/// Calls `f(i)` for every i below n, spread over the grid.
template <class F> OCTOPUS_DEVICE void each(u64 n, F f) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

/// Calls `f(row, column)` for every element of a matrix, spread over a grid of blocks of 256 threads: 8 rows of 32
/// columns are a block's, and no index is divided.
template <class F> OCTOPUS_DEVICE void each_of_matrix(u64 rows, u64 columns, F f) {
  const u64 first_row = (u64)blockIdx.y * 8 + threadIdx.x / 32;
  const u64 first_column = (u64)blockIdx.x * 32 + threadIdx.x % 32;
  for (u64 row = first_row; row < rows; row += (u64)gridDim.y * 8) {
    for (u64 column = first_column; column < columns; column += (u64)gridDim.x * 32) f(row, column);
  }
}

}  // namespace octopus
