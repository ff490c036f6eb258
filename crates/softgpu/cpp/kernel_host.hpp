// CUDA's words for a host compiler: included before each kernel source (`-include`), which itself stays as it is.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/lane.hpp"

#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(bytes) __attribute__((aligned(bytes)))

// While sources are searched for kernels (`-E`), these words stay.
#if !defined(OCTOPUS_SOFTGPU_SEARCH)
#define __global__
#define __launch_bounds__(...)
// At block scope this is static too; with `extern` it declares an array that the build defines.
#define __shared__ thread_local
#endif

// Macros, because each use must ask which lane is running.
#define threadIdx (::octopus_softgpu::current_lane->thread)
#define blockIdx (::octopus_softgpu::current_lane->block->index)
#define blockDim (::octopus_softgpu::current_lane->block->block_dim)
#define gridDim (::octopus_softgpu::current_lane->block->grid_dim)
constexpr int warpSize = 32;

namespace octopus_softgpu {

inline unsigned lane_of_warp() {
  const Dim3 &t = threadIdx, &d = blockDim;
  return (t.x + d.x * (t.y + d.y * t.z)) % 32u;
}

template <class T> inline T shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = exchange(Exchange::Shuffle, mask, bits, source);
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// An argument that is converted to what the address points at.
template <class T> using Given = std::common_type_t<T>;

/// The first lane of the group of `width` lanes.
inline unsigned group(unsigned lane, int width) { return lane & ~unsigned(width - 1); }

template <class T, class F> inline T atomic_update(T* address, F change) {
  static_assert(std::is_integral_v<T>, "CUDA has this atomic operation for integers only");
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, change(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

template <class Bits, class T> inline T atomic_add_bits(T* address, T value) {
  const Bits old = atomic_update(reinterpret_cast<Bits*>(address), [=](Bits bits) {
    T number;
    memcpy(&number, &bits, sizeof number);
    number = number + value;
    memcpy(&bits, &number, sizeof number);
    return bits;
  });
  T number;
  memcpy(&number, &old, sizeof number);
  return number;
}

}  // namespace octopus_softgpu

inline void __syncthreads() { octopus_softgpu::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  octopus_softgpu::exchange(octopus_softgpu::Exchange::Sync, mask, 0, 0);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return unsigned(octopus_softgpu::exchange(octopus_softgpu::Exchange::Ballot, mask, predicate != 0, 0));
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }

template <class T> inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned lane = octopus_softgpu::lane_of_warp();
  return octopus_softgpu::shuffle(mask, value, octopus_softgpu::group(lane, width) + (unsigned(source) & unsigned(width - 1)));
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  const unsigned lane = octopus_softgpu::lane_of_warp(), source = lane ^ unsigned(lanes);
  // Earlier groups may be read, later ones may not.
  return octopus_softgpu::shuffle(mask, value, source < octopus_softgpu::group(lane, width) + unsigned(width) ? source : lane);
}
template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = octopus_softgpu::lane_of_warp(), first = octopus_softgpu::group(lane, width);
  return octopus_softgpu::shuffle(mask, value, lane >= first + delta ? lane - delta : lane);
}
template <class T> inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = octopus_softgpu::lane_of_warp(), end = octopus_softgpu::group(lane, width) + unsigned(width);
  return octopus_softgpu::shuffle(mask, value, lane + delta < end ? lane + delta : lane);
}

/// However short: what is waited for comes from another lane, which runs meanwhile.
inline void __nanosleep(unsigned) { octopus_softgpu::lane_sleeps(); }

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T> inline T atomicAdd(T* address, octopus_softgpu::Given<T> value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return octopus_softgpu::atomic_add_bits<Bits>(address, value);
  } else {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  }
}
template <class T> inline T atomicSub(T* address, octopus_softgpu::Given<T> value) { return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED); }
template <class T> inline T atomicExch(T* address, octopus_softgpu::Given<T> value) { return __atomic_exchange_n(address, value, __ATOMIC_RELAXED); }
template <class T> inline T atomicAnd(T* address, octopus_softgpu::Given<T> value) { return __atomic_fetch_and(address, value, __ATOMIC_RELAXED); }
template <class T> inline T atomicOr(T* address, octopus_softgpu::Given<T> value) { return __atomic_fetch_or(address, value, __ATOMIC_RELAXED); }
template <class T> inline T atomicMax(T* address, octopus_softgpu::Given<T> value) {
  return octopus_softgpu::atomic_update(address, [=](T old) -> T { return old < value ? value : old; });
}
template <class T> inline T atomicMin(T* address, octopus_softgpu::Given<T> value) {
  return octopus_softgpu::atomic_update(address, [=](T old) -> T { return value < old ? value : old; });
}
template <class T> inline T atomicCAS(T* address, octopus_softgpu::Given<T> expected, octopus_softgpu::Given<T> value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

// Bits and counts. (Floating-point functions come from <cmath>; exact kernels bring their own.)
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
template <class To, class From> inline To octopus_softgpu_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
inline long long __double_as_longlong(double x) { return octopus_softgpu_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return octopus_softgpu_bits<double>(x); }
inline int __float_as_int(float x) { return octopus_softgpu_bits<int>(x); }
inline float __int_as_float(int x) { return octopus_softgpu_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return octopus_softgpu_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return octopus_softgpu_bits<float>(x); }
inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }


#if !defined(OCTOPUS_SOFTGPU_SEARCH)

namespace octopus_softgpu {

/// Reads each parameter of a kernel from where cuLaunchKernel's array points, and calls it.
template <class... P> struct Parameters {
  static constexpr size_t sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};
  template <size_t... I>
  static void call(void (*kernel)(P...), void** from, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_const_t<P>*>(from[I])...);
  }
  static void call(void (*kernel)(P...), void** from) { call(kernel, from, std::index_sequence_for<P...>()); }
  static constexpr unsigned count = sizeof...(P);
};
template <class... P> Parameters<P...> parameters_of(void (*)(P...));

/// The build defines it, once for a library of kernels.
extern const SharedMemory shared_memory_of_library __attribute__((visibility("hidden")));

}  // namespace octopus_softgpu

/// Makes a kernel known: `octopus_kernel_<name>` describes it, `octopus_launch_<name>` runs it on the host at once and
/// returns 0 or a CUresult.
#define OCTOPUS_SOFTGPU_KERNEL(NAME)                                                                                     \
  extern "C" OCTOPUS_EXPORT const ::octopus_softgpu::HostKernel octopus_kernel_##NAME;                                   \
  const ::octopus_softgpu::HostKernel octopus_kernel_##NAME = {                                                          \
      #NAME,                                                                                                             \
      [](void** parameters) { decltype(::octopus_softgpu::parameters_of(&NAME))::call(&NAME, parameters); },             \
      decltype(::octopus_softgpu::parameters_of(&NAME))::count,                                                          \
      decltype(::octopus_softgpu::parameters_of(&NAME))::sizes,                                                          \
      &::octopus_softgpu::shared_memory_of_library,                                                                      \
  };                                                                                                                     \
  extern "C" OCTOPUS_EXPORT int octopus_launch_##NAME(void** parameters, unsigned grid_x, unsigned grid_y,               \
                                                      unsigned grid_z, unsigned block_x, unsigned block_y,               \
                                                      unsigned block_z, size_t dynamic_shared, char* message,            \
                                                      size_t message_size) {                                             \
    const ::octopus_softgpu::Launch launch = {&octopus_kernel_##NAME,       parameters,     {grid_x, grid_y, grid_z},    \
                                              {block_x, block_y, block_z}, dynamic_shared, 0, false};                    \
    return ::octopus_softgpu::run_grid(launch, message, message_size);                                                   \
  }

#endif
