// Element-wise operations on arrays that are broadcast to a common shape, as NumPy does: out[rows, columns] is
// contiguous, and of each operand it is said how far the next row and the next column are: 0 where it has only one.
// Blocks of 256 threads, any grid of two dimensions. `out` is none of the operands.
#pragma once
#include "octopus/grid.cuh"

extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_add_f32(const float* x, const float* y, float* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] + y[i * y_row + j * y_column];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_add_f64(const double* x, const double* y, double* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] + y[i * y_row + j * y_column];
  });
}

extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_sub_f32(const float* x, const float* y, float* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] - y[i * y_row + j * y_column];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_sub_f64(const double* x, const double* y, double* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] - y[i * y_row + j * y_column];
  });
}

extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_mul_f32(const float* x, const float* y, float* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] * y[i * y_row + j * y_column];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_mul_f64(const double* x, const double* y, double* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] * y[i * y_row + j * y_column];
  });
}

extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_div_f32(const float* x, const float* y, float* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] / y[i * y_row + j * y_column];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_broadcast_div_f64(const double* x, const double* y, double* out, unsigned long long rows, unsigned long long columns, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    out[i * columns + j] = x[i * x_row + j * x_column] / y[i * y_row + j * y_column];
  });
}

// NumPy's `where`: x where the condition is not 0 (a NaN is not), y elsewhere.
extern "C" __global__ void __launch_bounds__(256)
    array_select_f32(const float* condition, const float* x, const float* y, float* out, unsigned long long rows, unsigned long long columns, unsigned long long condition_row, unsigned long long condition_column, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    const bool is_zero = condition[i * condition_row + j * condition_column] == (float)0;
    out[i * columns + j] = is_zero ? y[i * y_row + j * y_column] : x[i * x_row + j * x_column];
  });
}
extern "C" __global__ void __launch_bounds__(256)
    array_select_f64(const double* condition, const double* x, const double* y, double* out, unsigned long long rows, unsigned long long columns, unsigned long long condition_row, unsigned long long condition_column, unsigned long long x_row, unsigned long long x_column, unsigned long long y_row, unsigned long long y_column) {
  octopus::each_of_matrix(rows, columns, [=](octopus::u64 i, octopus::u64 j) {
    const bool is_zero = condition[i * condition_row + j * condition_column] == (double)0;
    out[i * columns + j] = is_zero ? y[i * y_row + j * y_column] : x[i * x_row + j * x_column];
  });
}
