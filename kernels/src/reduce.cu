// Reductions in the virtual warp's order. Chunk c of 16384 elements (the last is shorter) is reduced by block c of 128
// threads into partial[c]; the host reduces `partial` again until one value is left. The order is set by the array's
// length and not by the launch: a grid of another size than the number of chunks (1 for an empty array) is a mistake.
#pragma once
#include "octopus/grid.cuh"
#include "octopus/warp.cuh"

namespace octopus {

enum : u32 {
  /// Elements that one block takes.
  CHUNK = 16384,
  /// Rows of a matrix whose results one thread joins, in each pass of a reduction along the columns.
  GROUP = 64,
};

/// Reduces chunk `chunk` of `term(0) .. term(n - 1)` into *out.
template <class Op, class T, class F> OCTOPUS_DEVICE void reduce_chunk(u64 n, u64 chunk, T* out, F term) {
  __shared__ T exchange[64];
  const u64 first = chunk * CHUNK;
  if (first >= n && chunk != 0) return;
  const u32 elements = (u32)(n - first < CHUNK ? n - first : CHUNK);
  const u32 width = lanes(elements);
  const u32 lane = threadIdx.x;
  T value = Op::empty();
  if (lane < width && lane < elements) {
    value = term(first + lane);
    // Loads go ahead of the additions, whose order stays.
#pragma unroll 8
    for (u32 i = lane + width; i < elements; i += width) value = Op::join(value, term(first + i));
  }
  if (width == WIDE) {
    value = block_tree<Op>(value, exchange);
  } else if (lane < NARROW) {
    value = warp_tree<Op>(value);
  }
  if (lane == 0) *out = value;
}

/// Reduces each row of x[rows, columns] as an array of its own. Up to 256 columns a warp has a row, and a block four; above,
/// block b has chunk b of the chunks of all rows, each row's one after the other.
template <class Op, class T> OCTOPUS_DEVICE void reduce_rows(const T* x, T* partial, u64 rows, u64 columns) {
  if (columns > NARROW_LIMIT) {
    const u32 chunks = (u32)((columns + CHUNK - 1) / CHUNK);
    const T* row = x + blockIdx.x / chunks * columns;
    reduce_chunk<Op>(columns, blockIdx.x % chunks, partial + blockIdx.x, [=](u64 i) { return row[i]; });
    return;
  }
  const u64 at = (u64)blockIdx.x * 4 + threadIdx.x / NARROW;
  if (at >= rows) return;
  const T* row = x + at * columns;
  const u32 lane = threadIdx.x % NARROW;
  T value = Op::empty();
  if (lane < columns) {
    value = row[lane];
    for (u32 i = lane + NARROW; i < (u32)columns; i += NARROW) value = Op::join(value, row[i]);
  }
  value = warp_tree<Op>(value);
  if (lane == 0) partial[at] = value;
}

/// Reduces x[rows, columns] along its columns by one pass: of each group of 64 rows, one after the other from the first,
/// into partial[groups, columns]. Any grid of blocks of 256 threads does it all.
template <class Op, class T> OCTOPUS_DEVICE void reduce_columns(const T* x, T* partial, u64 rows, u64 columns) {
  const u64 groups = rows <= GROUP ? 1 : (rows + GROUP - 1) / GROUP;
  each(groups * columns, [=](u64 place) {
    const u64 group = place / columns;
    const u64 first = group * GROUP;
    const u32 members = (u32)(rows - first < GROUP ? rows - first : GROUP);
    const T* element = x + (first * columns + (place - group * columns));
    T value = Op::empty();
    if (members > 0) {
      value = *element;
#pragma unroll 8
      for (u32 i = 1; i < members; ++i) value = Op::join(value, element[i * columns]);
    }
    partial[place] = value;
  });
}

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(128) array_sum_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<float>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_sum_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<double>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}

extern "C" __global__ void __launch_bounds__(128) array_min_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Min<float>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_min_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Min<double>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}

extern "C" __global__ void __launch_bounds__(128) array_max_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Max<float>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_max_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Max<double>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i]; });
}

// Products are rounded before they are added.
extern "C" __global__ void __launch_bounds__(128)
    array_dot_f32(const float* x, const float* y, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<float>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i] * y[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_dot_f64(const double* x, const double* y, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<double>>(n, blockIdx.x, partial + blockIdx.x, [=](octopus::u64 i) { return x[i] * y[i]; });
}

extern "C" __global__ void __launch_bounds__(128)
    rows_sum_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Sum<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(128)
    rows_sum_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Sum<double>>(x, partial, rows, columns);
}

extern "C" __global__ void __launch_bounds__(128)
    rows_min_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Min<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(128)
    rows_min_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Min<double>>(x, partial, rows, columns);
}

extern "C" __global__ void __launch_bounds__(128)
    rows_max_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Max<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(128)
    rows_max_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_rows<octopus::Max<double>>(x, partial, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256)
    columns_sum_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Sum<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    columns_sum_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Sum<double>>(x, partial, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256)
    columns_min_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Min<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    columns_min_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Min<double>>(x, partial, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256)
    columns_max_f32(const float* x, float* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Max<float>>(x, partial, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    columns_max_f64(const double* x, double* partial, unsigned long long rows, unsigned long long columns) {
  octopus::reduce_columns<octopus::Max<double>>(x, partial, rows, columns);
}
