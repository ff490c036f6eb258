// The lane policy: what one chain's lanes are on this processor. All other files of this folder are written against it
// and are the same text for a GPU and for the host.
//
// A chain is carried by L lanes (32, or 128 above 256 coordinates). Two kinds of values are told apart:
//
//   V  one value for each lane: its owner's on a GPU, an array of L on the host;
//   T  one value for the whole chain: each lane of a GPU holds the same bits.
//
// Control flow depends on values of kind T only, so all lanes of a chain go the same way. From V to T leads nothing but
// `sum` and `pick`; both give every lane the same bits. `sum` has the order of the virtual warp: a halving tree over
// the lanes (L/2, L/4, ... 1). Butterfly shuffles make the same tree, since a + b = b + a to the bit.
//
// OCTOPUS_HOST_LANES chooses the host's policy; without it lanes are threads, of a GPU or of the software GPU's fibers.
#pragma once
#include "octopus/portable.cuh"

#if defined(OCTOPUS_HOST_LANES)
#define OCTOPUS_UNROLL
#else
#include "octopus/warp.cuh"
#define OCTOPUS_UNROLL _Pragma("unroll")
#endif

namespace octopus::nuts {

#if defined(OCTOPUS_HOST_LANES)

/// One value for each lane. Operators take the lanes one by one.
template <class T, int L> struct Value {
  T at[L];
};

#define OCTOPUS_LANE_OPERATOR(op)                                                         \
  template <class T, int L> inline Value<T, L> operator op(const Value<T, L>& a, const Value<T, L>& b) { \
    Value<T, L> out;                                                                      \
    for (int l = 0; l < L; ++l) out.at[l] = a.at[l] op b.at[l];                           \
    return out;                                                                           \
  }                                                                                       \
  template <class T, int L> inline Value<T, L> operator op(T a, const Value<T, L>& b) {    \
    Value<T, L> out;                                                                      \
    for (int l = 0; l < L; ++l) out.at[l] = a op b.at[l];                                 \
    return out;                                                                           \
  }                                                                                       \
  template <class T, int L> inline Value<T, L> operator op(const Value<T, L>& a, T b) {    \
    Value<T, L> out;                                                                      \
    for (int l = 0; l < L; ++l) out.at[l] = a.at[l] op b;                                 \
    return out;                                                                           \
  }
OCTOPUS_LANE_OPERATOR(+)
OCTOPUS_LANE_OPERATOR(-)
OCTOPUS_LANE_OPERATOR(*)
#undef OCTOPUS_LANE_OPERATOR

template <class T, int L> struct Lanes {
  using V = Value<T, L>;

  static V splat(T value) {
    V out;
    for (int l = 0; l < L; ++l) out.at[l] = value;
    return out;
  }

  /// The lane's own part of a buffer of whole rows: what load and store take.
  template <class P> static P* mine(P* buffer) { return buffer; }

  /// One row of a vector in memory: element l is lane l's.
  static V load(const T* row) {
    V out;
    for (int l = 0; l < L; ++l) out.at[l] = row[l];
    return out;
  }

  static void store(T* row, const V& value) {
    for (int l = 0; l < L; ++l) row[l] = value.at[l];
  }

  /// `a` in the first `count` lanes, `b` in the others; `count` may be negative or above L.
  static V first(int count, const V& a, const V& b) {
    V out;
    for (int l = 0; l < L; ++l) out.at[l] = l < count ? a.at[l] : b.at[l];
    return out;
  }

  /// `value` in the lane `lane` if there is one of this number, and `rest` in the others.
  static V put(int lane, T value, V rest) {
    if (lane >= 0 && lane < L) rest.at[lane] = value;
    return rest;
  }

  /// f(value) in each lane.
  template <class F> static V map(const V& value, F f) {
    V out;
    for (int l = 0; l < L; ++l) out.at[l] = f(value.at[l]);
    return out;
  }

  /// f(lane, a, b) in each lane, which sets a and b.
  template <class F> static void each(V& a, V& b, F f) {
    for (int l = 0; l < L; ++l) f((u32)l, a.at[l], b.at[l]);
  }

  /// The sums over all lanes of K values; `values` is overwritten.
  template <int K> static void sum(V (&values)[K], T (&out)[K]) {
    for (int k = 0; k < K; ++k) {
      T* at = values[k].at;
      for (int half = L / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) at[l] = at[l] + at[l + half];
      out[k] = at[0];
    }
  }

  /// The value of lane `lane`.
  static T pick(const V& value, u32 lane) { return value.at[lane]; }

  /// A place for what is one for the whole chain and rests while the chain integrates: shared memory on a GPU.
  template <class X> static X& place() {
    static thread_local X at;
    return at;
  }

  /// What is in a place.
  template <class X> static X get(const X& place) { return place; }

  /// Puts `value`, of which all lanes have the same bits, in a place.
  template <class X> static void set(X& place, const X& value) { place = value; }

  /// Whether this thread writes what is one for the whole chain.
  static bool writes() { return true; }

  /// Makes what a thread of the chain has written visible to the others.
  static void fence() {}
};

#else

template <class T, int L> struct Lanes {
  using V = T;
  static_assert(L == (int)NARROW || L == (int)WIDE, "a chain is carried by a warp or by a block of 128 threads");

  OCTOPUS_DEVICE static u32 lane() { return threadIdx.x & (u32)(L - 1); }

  OCTOPUS_DEVICE static V splat(T value) { return value; }

  /// The lane's own part of a buffer of whole rows: what load and store take. Rows and slots are then at constant
  /// distances, so that one register serves them all.
  template <class P> OCTOPUS_DEVICE static P* mine(P* buffer) { return buffer + lane(); }

  /// One row of a vector in memory: element l is lane l's.
  OCTOPUS_DEVICE static V load(const T* row) { return *row; }

  OCTOPUS_DEVICE static void store(T* row, V value) { *row = value; }

  /// `a` in the first `count` lanes, `b` in the others; `count` may be negative or above L.
  OCTOPUS_DEVICE static V first(int count, V a, V b) { return (int)lane() < count ? a : b; }

  /// `value` in the lane `at` if there is one of this number, and `rest` in the others.
  OCTOPUS_DEVICE static V put(int at, T value, V rest) { return (int)lane() == at ? value : rest; }

  /// f(value) in each lane.
  template <class F> OCTOPUS_DEVICE static V map(V value, F f) { return f(value); }

  /// f(lane, a, b) in each lane, which sets a and b.
  template <class F> OCTOPUS_DEVICE static void each(V& a, V& b, F f) { f(lane(), a, b); }

  /// The sums over all lanes of K values; `values` is overwritten. All lanes must come here.
  template <int K> OCTOPUS_DEVICE static void sum(V (&values)[K], T (&out)[K]) {
    if constexpr (L == (int)WIDE) {
      // Every warp makes the same tree from all 128 values, so that none has to be told the result.
      __shared__ T exchange[K][WIDE];
      __syncthreads();
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) exchange[k][threadIdx.x] = values[k];
      __syncthreads();
      const u32 l = threadIdx.x & 31u;
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) {
        const T* at = exchange[k];
        values[k] = (at[l] + at[l + 64]) + (at[l + 32] + at[l + 96]);
      }
    }
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) {
      T value = values[k];
      OCTOPUS_UNROLL
      for (int half = 16; half > 0; half /= 2) value = value + __shfl_xor_sync(ALL_LANES, value, half);
      out[k] = value;
    }
  }

  /// The value of lane `from`. All lanes must come here.
  OCTOPUS_DEVICE static T pick(V value, u32 from) {
    if constexpr (L == (int)WIDE) {
      __shared__ T exchange;
      __syncthreads();
      if (threadIdx.x == from) exchange = value;
      __syncthreads();
      return exchange;
    } else {
      return __shfl_sync(ALL_LANES, value, (int)from);
    }
  }

  /// A place for what is one for the whole chain and rests while the chain integrates: shared memory.
  template <class X> OCTOPUS_DEVICE static X& place() {
    __shared__ X at[WIDE / L];
    return at[threadIdx.x / (u32)L];
  }

  /// What is in a place. All lanes must come here.
  template <class X> OCTOPUS_DEVICE static X get(const X& place) {
    const X value = place;
    // None may change it before all have read it.
    fence();
    return value;
  }

  /// Puts `value`, of which all lanes have the same bits, in a place. All lanes must come here.
  template <class X> OCTOPUS_DEVICE static void set(X& place, const X& value) {
    if (writes()) place = value;
    fence();
  }

  /// Whether this thread writes what is one for the whole chain.
  OCTOPUS_DEVICE static bool writes() { return lane() == 0; }

  /// Makes what a thread of the chain has written visible to the others. All lanes must come here.
  OCTOPUS_DEVICE static void fence() {
    if constexpr (L == (int)WIDE) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

#endif

/// A vector of E rows of lanes: element e L + l is lane l's in row e. Registers on a GPU.
template <class W, int E> struct Vector {
  typename W::V row[E];
};

/// How vectors of E rows move and meet; `T` and `V` are those of the policy `W`.
template <class T_, int L_, int E_> struct Shape {
  using T = T_;
  static constexpr int L = L_;
  static constexpr int E = E_;
  using W = Lanes<T, L>;
  using V = typename W::V;
  using Vec = Vector<W, E>;
  /// Elements of a vector in memory, padding included.
  static constexpr u32 SIZE = (u32)(E * L);

  OCTOPUS_DEVICE static void load(const T* from, Vec& to) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) to.row[e] = W::load(from + e * L);
  }

  OCTOPUS_DEVICE static void store(T* to, const Vec& from) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) W::store(to + e * L, from.row[e]);
  }

  /// Element `index`.
  OCTOPUS_DEVICE static T pick(const Vec& x, u32 index) {
    // Each lane chooses among its own elements: a choice of the row would be made in memory by the compiler.
    V value = x.row[0];
    OCTOPUS_UNROLL
    for (int e = 1; e < E; ++e) value = W::first((int)index + 1 - e * L, x.row[e], value);
    return W::pick(value, index % L);
  }
};

}  // namespace octopus::nuts
