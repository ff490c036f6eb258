// The fast product of two matrices, c[m, n] = a[m, k] b[k, n], row-major: products and sums are fused, so its bits may
// be others than those of `matmul` and of a CPU. Blocks of 256 threads, a grid of ceil(n / 64) x ceil(m / 64) blocks:
// each thread has 4 x 4 elements of a tile of 64 x 64 in registers.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

template <class T> OCTOPUS_DEVICE void matmul_fast(const T* a, const T* b, T* c, u32 m, u32 k, u32 n) {
  constexpr u32 TILE = 64, DEPTH = 16, SIDE = 4;
  // Turned over as it is stored, so that a thread reads neighbours; padded against conflicts of banks as it is written.
  __shared__ T rows[DEPTH][TILE + 1];
  __shared__ T columns[DEPTH][TILE];
  const u32 top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  const u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
  T sums[SIDE][SIDE];
#pragma unroll
  for (u32 i = 0; i < SIDE; ++i) {
#pragma unroll
    for (u32 j = 0; j < SIDE; ++j) sums[i][j] = (T)0;
  }
  for (u32 first = 0; first < k; first += DEPTH) {
#pragma unroll
    for (u32 part = 0; part < TILE * DEPTH; part += 256) {
      const u32 of_a = part + threadIdx.x, row = of_a / DEPTH, depth = of_a % DEPTH;
      const bool inside = top + row < m && first + depth < k;
      rows[depth][row] = inside ? a[(u64)(top + row) * k + first + depth] : (T)0;
    }
#pragma unroll
    for (u32 part = 0; part < TILE * DEPTH; part += 256) {
      const u32 of_b = part + threadIdx.x, depth = of_b / TILE, column = of_b % TILE;
      const bool inside = first + depth < k && left + column < n;
      columns[depth][column] = inside ? b[(u64)(first + depth) * n + left + column] : (T)0;
    }
    __syncthreads();
#pragma unroll
    for (u32 depth = 0; depth < DEPTH; ++depth) {
      T of_row[SIDE], of_column[SIDE];
#pragma unroll
      for (u32 i = 0; i < SIDE; ++i) of_row[i] = rows[depth][y * SIDE + i];
      // A thread's columns are 16 apart: neighbours read and write neighbours.
#pragma unroll
      for (u32 j = 0; j < SIDE; ++j) of_column[j] = columns[depth][x + 16 * j];
#pragma unroll
      for (u32 i = 0; i < SIDE; ++i) {
#pragma unroll
        for (u32 j = 0; j < SIDE; ++j) sums[i][j] = fused(of_row[i], of_column[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (u32 i = 0; i < SIDE; ++i) {
    const u32 row = top + y * SIDE + i;
#pragma unroll
    for (u32 j = 0; j < SIDE; ++j) {
      const u32 column = left + x + 16 * j;
      if (row < m && column < n) c[(u64)row * n + column] = sums[i][j];
    }
  }
}

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(256)
    matmul_f32_fast(const float* a, const float* b, float* c, unsigned m, unsigned k, unsigned n) {
  octopus::matmul_fast(a, b, c, m, k, n);
}
extern "C" __global__ void __launch_bounds__(256)
    matmul_f64_fast(const double* a, const double* b, double* c, unsigned m, unsigned k, unsigned n) {
  octopus::matmul_fast(a, b, c, m, k, n);
}
