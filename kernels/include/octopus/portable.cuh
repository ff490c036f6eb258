// What differs between NVRTC and a host compiler: how a function is marked, how bits are moved, the square root, how one
// thread tells another that something is there, and what fast kernels alone may use.
// Everything else in these headers is the same text for both.
#pragma once

#if defined(__CUDACC__)
#define OCTOPUS_DEVICE __device__ __forceinline__
#else
#define OCTOPUS_DEVICE inline
#endif

namespace octopus {

/// Unsigned integers by their width; NVRTC has no <cstdint>.
using u32 = unsigned int;
using u64 = unsigned long long;

#if defined(__CUDACC__)

OCTOPUS_DEVICE u64 to_bits(double x) { return (u64)__double_as_longlong(x); }
OCTOPUS_DEVICE u32 to_bits(float x) { return __float_as_uint(x); }
OCTOPUS_DEVICE double from_bits(u64 bits) { return __longlong_as_double((long long)bits); }
OCTOPUS_DEVICE float from_bits(u32 bits) { return __uint_as_float(bits); }

/// The halves of a number. As moves of a register: of shifts the compiler makes sums and products of 64 bits.
OCTOPUS_DEVICE u32 low_word(u64 x) { return (u32)__double2loint(from_bits(x)); }
OCTOPUS_DEVICE u32 high_word(u64 x) { return (u32)__double2hiint(from_bits(x)); }

/// The square root, correctly rounded.
OCTOPUS_DEVICE double root(double x) { return __dsqrt_rn(x); }
OCTOPUS_DEVICE float root(float x) { return __fsqrt_rn(x); }

/// A number that tells other blocks of what was written before it, and how they read it: a fence is in the store alone.
OCTOPUS_DEVICE void store_release(u32* place, u32 value) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
}
OCTOPUS_DEVICE u32 load_acquire(const u32* place) {
  u32 value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  return value;
}

/// a b + c, rounded once: for kernels whose names end in `_fast`, and for no others.
OCTOPUS_DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
OCTOPUS_DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }

/// 2^x within 2 parts in 2^23 and 1 / x within one unit in the last place, by an instruction each, which takes numbers
/// below the normal range for 0: for the same kernels.
OCTOPUS_DEVICE float quick_exp2(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}
OCTOPUS_DEVICE float quick_reciprocal(float x) {
  float value;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

#else

OCTOPUS_DEVICE u64 to_bits(double x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
OCTOPUS_DEVICE u32 to_bits(float x) {
  u32 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
OCTOPUS_DEVICE double from_bits(u64 bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
OCTOPUS_DEVICE float from_bits(u32 bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// The halves of a number.
OCTOPUS_DEVICE u32 low_word(u64 x) { return (u32)x; }
OCTOPUS_DEVICE u32 high_word(u64 x) { return (u32)(x >> 32); }

/// The square root, correctly rounded.
OCTOPUS_DEVICE double root(double x) { return __builtin_sqrt(x); }
OCTOPUS_DEVICE float root(float x) { return __builtin_sqrtf(x); }

/// A number that tells other threads of what was written before it, and how they read it.
OCTOPUS_DEVICE void store_release(u32* place, u32 value) { __atomic_store_n(place, value, __ATOMIC_RELEASE); }
OCTOPUS_DEVICE u32 load_acquire(const u32* place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

/// a b + c, rounded once: for kernels whose names end in `_fast`, and for no others.
OCTOPUS_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
OCTOPUS_DEVICE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// What a GPU approximates, here to the last digit: for the same kernels.
OCTOPUS_DEVICE float quick_exp2(float x) { return __builtin_exp2f(x); }
OCTOPUS_DEVICE float quick_reciprocal(float x) { return 1.0f / x; }

#endif

/// The constants of a type that are made of bits.
template <class T> struct Constants;

template <> struct Constants<double> {
  OCTOPUS_DEVICE static double infinity() { return from_bits((u64)0x7ff0000000000000ull); }
  /// Quiet and without a message.
  OCTOPUS_DEVICE static double nan() { return from_bits((u64)0x7ff8000000000000ull); }
};

template <> struct Constants<float> {
  OCTOPUS_DEVICE static float infinity() { return from_bits((u32)0x7f800000u); }
  /// Quiet and without a message.
  OCTOPUS_DEVICE static float nan() { return from_bits((u32)0x7fc00000u); }
};

}  // namespace octopus
