// Arrays made of numbers or of parts of other arrays: nothing is computed but their places.
#pragma once
#include "octopus/grid.cuh"
#include "octopus/half.cuh"

// start + step i, rounded after the product and after the sum; i is rounded to the type first.
extern "C" __global__ void __launch_bounds__(256)
    array_arange_f32(float start, float step, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = start + step * (float)i; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_arange_f64(double start, double step, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = start + step * (double)i; });
}

// The identity, n elements of a square with `side` rows.
extern "C" __global__ void __launch_bounds__(256) array_eye_f32(float* out, unsigned long long side) {
  octopus::each_of_matrix(side, side, [=](octopus::u64 i, octopus::u64 j) { out[i * side + j] = i == j ? (float)1 : (float)0; });
}
extern "C" __global__ void __launch_bounds__(256) array_eye_f64(double* out, unsigned long long side) {
  octopus::each_of_matrix(side, side, [=](octopus::u64 i, octopus::u64 j) { out[i * side + j] = i == j ? (double)1 : (double)0; });
}

// A window of rows x columns elements, copied from one matrix into another: each has its first element and the distance
// of its rows. Slices and concatenations are made of it.
extern "C" __global__ void __launch_bounds__(256)
    array_window_f32(const float* x, float* out, unsigned long long rows, unsigned long long columns, unsigned long long x_first, unsigned long long x_row, unsigned long long out_first, unsigned long long out_row) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[out_first + i * out_row + j] = x[x_first + i * x_row + j];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_window_f64(const double* x, double* out, unsigned long long rows, unsigned long long columns, unsigned long long x_first, unsigned long long x_row, unsigned long long out_first, unsigned long long out_row) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[out_first + i * out_row + j] = x[x_first + i * x_row + j];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_window_f16(const octopus::f16* x, octopus::f16* out, unsigned long long rows, unsigned long long columns, unsigned long long x_first, unsigned long long x_row, unsigned long long out_first, unsigned long long out_row) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[out_first + i * out_row + j] = x[x_first + i * x_row + j];
  });
}

// Conversions, to nearest, ties to even: f64 to f16 at once, and not by way of f32, which would round twice.
extern "C" __global__ void __launch_bounds__(256) array_to_f64_f32(const float* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = (double)x[i]; });
}
extern "C" __global__ void __launch_bounds__(256) array_to_f32_f64(const double* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = (float)x[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_to_f16_f32(const float* x, octopus::f16* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::to_f16(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256)
    array_to_f16_f64(const double* x, octopus::f16* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::to_f16(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256)
    array_to_f32_f16(const octopus::f16* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::to_f32(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256)
    array_to_f64_f16(const octopus::f16* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = (double)octopus::to_f32(x[i]); });
}

namespace octopus {

/// out[columns, rows] = x[rows, columns] turned over, by tiles of 32 x 32: both are read and written in lines. Blocks of
/// 256 threads, any grid of two dimensions. A row of a tile has one element more, so that a column is in all banks.
template <class T> OCTOPUS_DEVICE void transpose(const T* x, T* out, u64 rows, u64 columns) {
  constexpr u32 TILE = 32;
  __shared__ T tile[TILE][TILE + 1];
  const u32 line = threadIdx.x / TILE, place = threadIdx.x % TILE;
  for (u64 top = (u64)blockIdx.y * TILE; top < rows; top += (u64)gridDim.y * TILE) {
    for (u64 left = (u64)blockIdx.x * TILE; left < columns; left += (u64)gridDim.x * TILE) {
      for (u32 i = line; i < TILE; i += 8) {
        if (top + i < rows && left + place < columns) tile[i][place] = x[(top + i) * columns + left + place];
      }
      __syncthreads();
      for (u32 i = line; i < TILE; i += 8) {
        if (left + i < columns && top + place < rows) out[(left + i) * rows + top + place] = tile[place][i];
      }
      __syncthreads();
    }
  }
}

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(256)
    array_transpose_f32(const float* x, float* out, unsigned long long rows, unsigned long long columns) {
  octopus::transpose(x, out, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    array_transpose_f64(const double* x, double* out, unsigned long long rows, unsigned long long columns) {
  octopus::transpose(x, out, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    array_transpose_f16(const octopus::f16* x, octopus::f16* out, unsigned long long rows, unsigned long long columns) {
  octopus::transpose(x, out, rows, columns);
}
