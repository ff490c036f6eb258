// What differs between NVRTC and a host compiler: how a function is marked, how bits are moved, the square root, and how
// blocks read what others write.
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

/// A word of two halves. As moves of a register, too.
OCTOPUS_DEVICE u64 to_word(u32 high, u32 low) { return to_bits(__hiloint2double((int)high, (int)low)); }

/// Words of device memory that blocks read while another writes them, in the second-level cache. Each is written whole, but
/// nothing says in which order.
OCTOPUS_DEVICE void store_relaxed(u64* place, const u64 (&words)[1]) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(place)), "l"(words[0]));
}
OCTOPUS_DEVICE void store_relaxed(u64* place, const u64 (&words)[2]) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(place)),
               "l"(words[0]), "l"(words[1]));
}
OCTOPUS_DEVICE void load_relaxed(const u64* place, u64 (&words)[1]) {
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(words[0]) : "l"(__cvta_generic_to_global(place)));
}
OCTOPUS_DEVICE void load_relaxed(const u64* place, u64 (&words)[2]) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(words[0]), "=l"(words[1])
               : "l"(__cvta_generic_to_global(place)));
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

/// A word of two halves.
OCTOPUS_DEVICE u64 to_word(u32 high, u32 low) { return (u64)high << 32 | low; }

/// Words that blocks read while another writes them. Each is written whole, but nothing says in which order.
template <int K> OCTOPUS_DEVICE void store_relaxed(u64* place, const u64 (&words)[K]) {
  for (int k = 0; k < K; ++k) __atomic_store_n(place + k, words[k], __ATOMIC_RELAXED);
}
template <int K> OCTOPUS_DEVICE void load_relaxed(const u64* place, u64 (&words)[K]) {
  for (int k = 0; k < K; ++k) words[k] = __atomic_load_n(place + k, __ATOMIC_RELAXED);
}

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
