// The product of two matrices, c[m, n] = a[m, k] b[k, n], row-major. Blocks of 16 x 16 threads, a grid of
// ceil(n / 16) x ceil(m / 16) blocks. Each element is summed over k in order, starting from +0, the product rounded and
// then the sum: tiles change no bit, and a plain loop on a CPU gives the same.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

template <class T> OCTOPUS_DEVICE void matmul(const T* a, const T* b, T* c, u32 m, u32 k, u32 n) {
  constexpr u32 TILE = 16;
  __shared__ T rows[TILE][TILE];
  __shared__ T columns[TILE][TILE];
  const u32 row = blockIdx.y * TILE + threadIdx.y;
  const u32 column = blockIdx.x * TILE + threadIdx.x;
  T sum = (T)0;
  for (u32 first = 0; first < k; first += TILE) {
    const u32 width = k - first < TILE ? k - first : TILE;
    if (row < m && threadIdx.x < width) rows[threadIdx.y][threadIdx.x] = a[(u64)row * k + first + threadIdx.x];
    if (column < n && threadIdx.y < width) columns[threadIdx.y][threadIdx.x] = b[(u64)(first + threadIdx.y) * n + column];
    __syncthreads();
    if (row < m && column < n) {
      if (width == TILE) {
#pragma unroll
        for (u32 i = 0; i < TILE; ++i) sum = sum + rows[threadIdx.y][i] * columns[i][threadIdx.x];
      } else {
        for (u32 i = 0; i < width; ++i) sum = sum + rows[threadIdx.y][i] * columns[i][threadIdx.x];
      }
    }
    __syncthreads();
  }
  if (row < m && column < n) c[(u64)row * n + column] = sum;
}

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(256)
    matmul_f32(const float* a, const float* b, float* c, unsigned m, unsigned k, unsigned n) {
  octopus::matmul(a, b, c, m, k, n);
}
extern "C" __global__ void __launch_bounds__(256)
    matmul_f64(const double* a, const double* b, double* c, unsigned m, unsigned k, unsigned n) {
  octopus::matmul(a, b, c, m, k, n);
}
