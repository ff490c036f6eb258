// Reductions in the virtual warp's order. Chunk c of 16384 elements (the last is shorter) is reduced by block c of 128
// threads into partial[c]; the host reduces `partial` again until one value is left. The order is set by the array's
// length and not by the launch: a grid of another size than the number of chunks (1 for an empty array) is a mistake.
#pragma once
#include "octopus/warp.cuh"

namespace octopus {

/// Reduces `term(0) .. term(n - 1)`, this block's chunk of it, into partial[blockIdx.x].
template <class Op, class T, class F> OCTOPUS_DEVICE void reduce_chunk(u64 n, T* partial, F term) {
  constexpr u32 CHUNK = 16384;
  __shared__ T exchange[64];
  const u64 first = (u64)blockIdx.x * CHUNK;
  if (first >= n && blockIdx.x != 0) return;
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
  if (lane == 0) partial[blockIdx.x] = value;
}

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(128) array_sum_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<float>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_sum_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<double>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}

extern "C" __global__ void __launch_bounds__(128) array_min_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Min<float>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_min_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Min<double>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}

extern "C" __global__ void __launch_bounds__(128) array_max_f32(const float* x, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Max<float>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_max_f64(const double* x, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Max<double>>(n, partial, [=](octopus::u64 i) { return x[i]; });
}

// Products are rounded before they are added.
extern "C" __global__ void __launch_bounds__(128)
    array_dot_f32(const float* x, const float* y, float* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<float>>(n, partial, [=](octopus::u64 i) { return x[i] * y[i]; });
}
extern "C" __global__ void __launch_bounds__(128)
    array_dot_f64(const double* x, const double* y, double* partial, unsigned long long n) {
  octopus::reduce_chunk<octopus::Sum<double>>(n, partial, [=](octopus::u64 i) { return x[i] * y[i]; });
}
