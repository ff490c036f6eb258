// The lane policy: what one chain's lanes are on this processor. All other files of this folder are written against it
// and are the same text for a GPU and for the host.
//
// A chain is carried by L lanes (32, or 128 above 256 coordinates). Two kinds of values are told apart:
//
//   V  one value (of type R) for each lane: its owner's on a GPU, an array of L on the host;
//   T  one value for the whole chain: each lane of a GPU holds the same bits.
//
// Control flow depends on values of kind T only, so all lanes of a chain go the same way. From V to T leads nothing but
// `sum` and `pick`; both give every lane the same bits. `sum` has the order of the virtual warp: a halving tree over
// the lanes (L/2, L/4, ... 1). Butterfly shuffles make the same tree, since a + b = b + a to the bit.
//
// OCTOPUS_HOST_LANES chooses the host's policy; without it lanes are threads, of a GPU or of the software GPU's fibers.
#pragma once
#include "octopus/math.cuh"

/// Where the lanes of a block exchange what they sum or pick, and how they come there. Who writes there must know that all
/// have read what was there before.
enum Room {
  /// They wait for each other first.
  COMMON,
  /// The same place. All have left it: since it was used last there was an evaluation, in which they waited.
  VACATED,
  /// A place that an evaluation has for itself. All have left it: of its two exchanges there, one sums and one picks, and
  /// in each they wait after writing.
  OF_EVALUATION,
};

#if defined(OCTOPUS_HOST_LANES)
#define OCTOPUS_UNROLL
#define OCTOPUS_UNROLL_BY(n)
#else
#include "octopus/warp.cuh"
#define OCTOPUS_UNROLL _Pragma("unroll")
#define OCTOPUS_PRAGMA(words) _Pragma(#words)
#define OCTOPUS_UNROLL_BY(n) OCTOPUS_PRAGMA(unroll n)
#endif

namespace octopus::nuts {

/// The values of a `Table`: as many as a warp has lanes.
constexpr u32 TABLED = 32;

/// The same number, of which the compiler knows nothing: what is made of it is made where it is used, and does not wait
/// in registers from before the loop.
OCTOPUS_DEVICE u32 opaque(u32 x) {
#if defined(__CUDACC__)
  asm volatile("" : "+r"(x));
#endif
  return x;
}

/// The same address, of which the compiler knows that it is no shared memory's: it cannot see that of an address that
/// lies in memory itself (batch.cuh), and would ask at each access.
template <class P> OCTOPUS_DEVICE P* in_device_memory(P* address) {
#if defined(__CUDACC__)
  __builtin_assume(__isGlobal(address));
#endif
  return address;
}

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

template <int L> struct Lanes {
  template <class X> using Of = Value<X, L>;

  template <class X> static Value<X, L> splat(X value) {
    Value<X, L> out;
    for (int l = 0; l < L; ++l) out.at[l] = value;
    return out;
  }

  /// The lane's own part of a buffer of whole rows: what load and store take.
  template <class P> static P* mine(P* buffer) { return buffer; }

  /// One row of a vector in memory: element l is lane l's.
  template <class X> static Value<X, L> load(const X* row) {
    Value<X, L> out;
    for (int l = 0; l < L; ++l) out.at[l] = row[l];
    return out;
  }

  template <class X> static void store(X* row, const Value<X, L>& value) {
    for (int l = 0; l < L; ++l) row[l] = value.at[l];
  }

  /// `a` in the first `count` lanes, `b` in the others; `count` may be negative or above L.
  template <class X> static Value<X, L> first(int count, const Value<X, L>& a, const Value<X, L>& b) {
    Value<X, L> out;
    for (int l = 0; l < L; ++l) out.at[l] = l < count ? a.at[l] : b.at[l];
    return out;
  }

  /// `a` in the `count` lanes from `from` on, which may be negative, `b` in the others.
  template <class X> static Value<X, L> within(int from, u32 count, const Value<X, L>& a, const Value<X, L>& b) {
    Value<X, L> out;
    for (int l = 0; l < L; ++l) out.at[l] = (u32)(l - from) < count ? a.at[l] : b.at[l];
    return out;
  }

  /// `value` in the lane `lane` if there is one of this number, and `rest` in the others.
  template <class X> static Value<X, L> put(int lane, X value, Value<X, L> rest) {
    if (lane >= 0 && lane < L) rest.at[lane] = value;
    return rest;
  }

  /// f(value) in each lane.
  template <class X, class F> static Value<X, L> map(const Value<X, L>& value, F f) {
    Value<X, L> out;
    for (int l = 0; l < L; ++l) out.at[l] = f(value.at[l]);
    return out;
  }

  /// f(lane, a, b) in each lane, which sets a and b.
  template <class X, class F> static void each(Value<X, L>& a, Value<X, L>& b, F f) {
    for (int l = 0; l < L; ++l) f((u32)l, a.at[l], b.at[l]);
  }

  /// The same with K rows of either.
  template <class X, int K, class F> static void each(Value<X, L> (&a)[K], Value<X, L> (&b)[K], F f) {
    for (int l = 0; l < L; ++l) {
      X own_a[K], own_b[K];
      for (int k = 0; k < K; ++k) own_a[k] = a[k].at[l], own_b[k] = b[k].at[l];
      f((u32)l, own_a, own_b);
      for (int k = 0; k < K; ++k) a[k].at[l] = own_a[k], b[k].at[l] = own_b[k];
    }
  }

  /// The sums over all lanes of K values, each lane's being converted to T first.
  template <Room ROOM = COMMON, class T, class R, int K> static void sum(const Value<R, L> (&values)[K], T (&out)[K]) {
    for (int k = 0; k < K; ++k) {
      T at[L];
      for (int l = 0; l < L; ++l) at[l] = (T)values[k].at[l];
      for (int half = L / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) at[l] = at[l] + at[l + half];
      out[k] = at[0];
    }
  }

  /// out[k] is the value of lane `from` + k, after the last of which comes the first.
  template <Room ROOM = COMMON, class X, class T, int K>
  static void pick(const Value<X, L>& value, u32 from, T (&out)[K]) {
    for (int k = 0; k < K; ++k) out[k] = (T)value.at[(from + k) % L];
  }

  /// values[k] in lane `from` + k, after the last of which comes the first; 0 in the others.
  template <class X, int K> static Value<X, L> spread(u32 from, const X (&values)[K]) {
    Value<X, L> out = splat((X)0);
    for (int k = 0; k < K; ++k) out.at[(from + k) % L] = values[k];
    return out;
  }

  /// values[k] = f(values[k]) of numbers that are one for the whole chain.
  template <class X, int K, class F> static void one_each(X (&values)[K], F f) {
    for (int k = 0; k < K; ++k) values[k] = f(values[k]);
  }

  /// values[k] = f(values[k], others[k]) of numbers that are one for the whole chain.
  template <class X, int K, class F> static void one_each(X (&values)[K], const X (&others)[K], F f) {
    for (int k = 0; k < K; ++k) values[k] = f(values[k], others[k]);
  }

  /// values[k] = values[k] / others[k], and logs[m] = ln(logs[m]), of numbers that are one for the whole chain.
  template <class X, int K, int M> static void divide_and_ln(X (&values)[K], const X (&others)[K], X (&logs)[M]) {
    one_each(values, others, [](X a, X b) { return a / b; });
    one_each(logs, [](X x) { return ln(x); });
  }

  /// A place for what is one for the whole chain and rests while the chain integrates: shared memory on a GPU.
  template <class X> struct Place {
    X value;
    const X& peek() const { return value; }
    X get() const { return value; }
    void set(const X& to) { value = to; }
    template <class Y> void set(Y X::*member, const Y& to) { value.*member = to; }
  };

  /// `TABLED` values that are made together and read one by one: shared memory on a GPU.
  template <class X> struct Table {
    X values[TABLED];
    /// values[i] = f(i)
    template <class F> void fill(F f) {
      for (u32 i = 0; i < TABLED; ++i) values[i] = f(i);
    }
    const X& at(u32 i) const { return values[i]; }
  };

  /// What is in memory of the device.
  template <class X> static X get(const X& place) { return place; }

  /// Puts `value`, of which all lanes have the same bits, in memory of the device.
  template <class X> static void set(X& place, const X& value) { place = value; }

  /// Whether this thread writes what is one for the whole chain.
  static bool writes() { return true; }

  /// Makes what a thread of the chain has written visible to the others.
  static void fence() {}
};

#else

template <int L> struct Lanes {
  template <class X> using Of = X;
  static_assert(L == (int)NARROW || L == (int)WIDE, "a chain is carried by a warp or by a block of 128 threads");

  OCTOPUS_DEVICE static u32 lane() { return threadIdx.x & (u32)(L - 1); }

  template <class X> OCTOPUS_DEVICE static X splat(X value) { return value; }

  /// The lane's own part of a buffer of whole rows: what load and store take. Rows and slots are then at constant
  /// distances, so that one register serves them all; made anew wherever it is used, and not kept for all of a run.
  template <class P> OCTOPUS_DEVICE static P* mine(P* buffer) { return in_device_memory(buffer) + opaque(lane()); }

  /// One row of a vector in memory: element l is lane l's.
  template <class X> OCTOPUS_DEVICE static X load(const X* row) { return *row; }

  template <class X> OCTOPUS_DEVICE static void store(X* row, X value) { *row = value; }

  /// `a` in the first `count` lanes, `b` in the others; `count` may be negative or above L.
  /// (Compared anew each time: the answers for all rows would wait in registers.)
  template <class X> OCTOPUS_DEVICE static X first(int count, X a, X b) { return (int)opaque(lane()) < count ? a : b; }

  /// `a` in the `count` lanes from `from` on, which may be negative, `b` in the others.
  template <class X> OCTOPUS_DEVICE static X within(int from, u32 count, X a, X b) {
    return opaque(lane()) - (u32)from < count ? a : b;
  }

  /// `value` in the lane `at` if there is one of this number, and `rest` in the others.
  template <class X> OCTOPUS_DEVICE static X put(int at, X value, X rest) {
    return (int)opaque(lane()) == at ? value : rest;
  }

  /// f(value) in each lane.
  template <class X, class F> OCTOPUS_DEVICE static X map(X value, F f) { return f(value); }

  /// f(lane, a, b) in each lane, which sets a and b.
  template <class X, class F> OCTOPUS_DEVICE static void each(X& a, X& b, F f) { f(lane(), a, b); }

  /// The same with K rows of either.
  template <class X, int K, class F> OCTOPUS_DEVICE static void each(X (&a)[K], X (&b)[K], F f) { f(lane(), a, b); }

  /// Where the lanes of a block exchange K rows of `SIZE` numbers: one room for `COMMON` and `VACATED`, one that is an
  /// evaluation's own.
  template <class X, int K, int SIZE, bool OWN> OCTOPUS_DEVICE static X (&room())[K][SIZE] {
    __shared__ X exchange[K][SIZE];
    return exchange;
  }

  /// The sums over all lanes of K values, each lane's being converted to T first. All lanes must come here.
  template <Room ROOM = COMMON, class T, class R, int K>
  OCTOPUS_DEVICE static void sum(const R (&values)[K], T (&out)[K]) {
    if constexpr (L == (int)WIDE) {
      // Every warp makes the same tree from all 128 values, so that none has to be told the result.
      R(&exchange)[K][WIDE] = room<R, K, (int)WIDE, ROOM == OF_EVALUATION>();
      if constexpr (ROOM == COMMON) __syncthreads();
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) exchange[k][threadIdx.x] = values[k];
      __syncthreads();
      const u32 l = threadIdx.x & 31u;
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) {
        const R* at = exchange[k];
        out[k] = ((T)at[l] + (T)at[l + 64]) + ((T)at[l + 32] + (T)at[l + 96]);
      }
    } else {
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) out[k] = (T)values[k];
    }
    trees(out);
  }

  /// The sums over the lanes of a warp of K values of each. Butterflies whose lanes halve among themselves what is left:
  /// of two values each lane goes on with one and gives its other away, so that K trees cost hardly more than one.
  template <class T, int K> OCTOPUS_DEVICE static void trees(T (&out)[K]) {
    int left = K;
    OCTOPUS_UNROLL
    for (int half = 16; half > 0; half /= 2) {
      const bool upper = (threadIdx.x & (u32)half) != 0;
      OCTOPUS_UNROLL
      for (int k = 0; k < K; k += 2) {
        if (k + 1 < left) {
          const T kept = either(upper, out[k + 1], out[k]);
          const T given = either(upper, out[k], out[k + 1]);
          out[k / 2] = kept + __shfl_xor_sync(ALL_LANES, given, half);
        } else if (k < left) {
          out[k / 2] = out[k] + __shfl_xor_sync(ALL_LANES, out[k], half);
        }
      }
      left = (left + 1) / 2;
    }
    if constexpr (K > 1) {
      const T sum = out[0];
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) out[k] = __shfl_sync(ALL_LANES, sum, holder(k));
    }
  }

  /// A lane that holds sum `k` in the end: at each level the upper lanes went on with the odd one of two. (The last of an
  /// odd number is even, and in both.)
  OCTOPUS_DEVICE static constexpr int holder(int k) {
    int lane = 0;
    for (int half = 16; half > 0; half /= 2, k /= 2) lane += k % 2 * half;
    return lane;
  }

  /// out[k] is the value of lane `from` + k, after the last of which comes the first. All lanes must come here.
  template <Room ROOM = COMMON, class X, class T, int K>
  OCTOPUS_DEVICE static void pick(X value, u32 from, T (&out)[K]) {
    if constexpr (L == (int)WIDE) {
      X(&exchange)[1][K] = room<X, 1, K, ROOM == OF_EVALUATION>();
      if constexpr (ROOM == COMMON) __syncthreads();
      const u32 own = (threadIdx.x - from) % (u32)L;
      if (own < (u32)K) exchange[0][own] = value;
      __syncthreads();
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) out[k] = (T)exchange[0][k];
    } else {
      OCTOPUS_UNROLL
      for (int k = 0; k < K; ++k) out[k] = (T)__shfl_sync(ALL_LANES, value, (int)from + k);
    }
  }

  /// values[k] in lane `from` + k, after the last of which comes the first; 0 in the others.
  template <class X, int K> OCTOPUS_DEVICE static X spread(u32 from, const X (&values)[K]) {
    const u32 own = (lane() - from) % (u32)L;
    X out = (X)0;
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) out = either(own == (u32)k, values[k], out);
    return out;
  }

  /// values[k] = f(values[k]) of numbers that are one for the whole chain, each made by a lane of its own: K calls for
  /// the price of one. All lanes must come here.
  template <class X, int K, class F> OCTOPUS_DEVICE static void one_each(X (&values)[K], F f) {
    broadcast(f(own(values, 0, values[0])), values);
  }

  /// values[k] = f(values[k], others[k]) likewise.
  template <class X, int K, class F>
  OCTOPUS_DEVICE static void one_each(X (&values)[K], const X (&others)[K], F f) {
    broadcast(f(own(values, 0, values[0]), own(others, 0, others[0])), values);
  }

  /// values[k] = values[k] / others[k], and logs[m] = ln(logs[m]), of numbers that are one for the whole chain, each made
  /// by a lane of its own: a logarithm's division is one of the divisions. All lanes must come here.
  template <class X, int K, int M>
  OCTOPUS_DEVICE static void divide_and_ln(X (&values)[K], const X (&others)[K], X (&logs)[M]) {
    const X x = own(logs, K, logs[0]);
    const LnParts<X> parts = ln_parts(x);
    const X quotient = own(values, 0, parts.above) / own(others, 0, parts.below);
    broadcast(quotient, values);
    broadcast(ln_of_parts(x, parts.exponent, quotient), logs, K);
  }

  /// One of two values: of elements of arrays the compiler would choose the address, and keep the array in memory.
  template <class X> OCTOPUS_DEVICE static X either(bool first, X a, X b) { return first ? a : b; }

  /// values[k] in lane `from` + k of each warp, `value` in the others.
  template <class X, int K> OCTOPUS_DEVICE static X own(const X (&values)[K], int from, X value) {
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) value = either((threadIdx.x & 31u) == (u32)(from + k), values[k], value);
    return value;
  }

  /// The value of lane `from` + k of each warp in values[k].
  template <class X, int K> OCTOPUS_DEVICE static void broadcast(X value, X (&values)[K], int from = 0) {
    OCTOPUS_UNROLL
    for (int k = 0; k < K; ++k) values[k] = __shfl_sync(ALL_LANES, value, from + k);
  }

  /// A place for what is one for the whole chain and rests while the chain integrates: shared memory, of which there is
  /// one place of each type.
  template <class X> struct Place {
    OCTOPUS_DEVICE static X& at() {
      __shared__ X places[WIDE / L];
      return places[threadIdx.x / (u32)L];
    }
    /// What is there, for reading before any lane comes to a `get` that a `set` follows.
    OCTOPUS_DEVICE static const X& peek() { return at(); }
    /// All lanes must come here.
    OCTOPUS_DEVICE static X get() { return Lanes::get(at()); }
    /// All lanes must come here, with the same bits.
    OCTOPUS_DEVICE static void set(const X& value) { Lanes::set(at(), value); }
    /// The same for a member alone, which no lane reads meanwhile.
    template <class Y> OCTOPUS_DEVICE static void set(Y X::*member, const Y& value) { Lanes::set(at().*member, value); }
  };

  /// `TABLED` values that are made together, one by each lane of a warp, and read one by one: shared memory, of which there
  /// is one table of each type. Each warp has its own, so that no warp waits for another.
  template <class X> struct Table {
    OCTOPUS_DEVICE static X& place(u32 i) {
      __shared__ X tables[WIDE];
      return tables[(threadIdx.x & ~(TABLED - 1)) + i];
    }
    /// at(i) = f(i). All lanes must come here.
    template <class F> OCTOPUS_DEVICE static void fill(F f) {
      // None may change it before all have read it.
      __syncwarp();
      const u32 own = threadIdx.x & (TABLED - 1);
      place(own) = f(own);
      __syncwarp();
    }
    OCTOPUS_DEVICE static const X& at(u32 i) { return place(i); }
  };

  /// What is in memory of the device. All lanes must come here.
  template <class X> OCTOPUS_DEVICE static X get(const X& place) {
    const X value = place;
    // None may change it before all have read it.
    fence();
    return value;
  }

  /// Puts `value`, of which all lanes have the same bits, in memory of the device. All lanes must come here.
  template <class X> OCTOPUS_DEVICE static void set(X& place, const X& value) {
    // All lanes of a warp write at once, and the same: a branch around it would take longer.
    if (L == (int)NARROW || writes()) place = value;
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
template <class V, int E> struct Vector {
  V row[E];
};

/// The types of a chain and how its vectors of E rows of L lanes move and meet. R is the type of what a vector is made
/// of, T that of what is one for the whole chain: (double, double) is f64, (float, float) f32, (float, double) mixed.
/// A scalar that meets a vector is rounded to R once.
template <class R_, class T_, int L_, int E_> struct Shape {
  using R = R_;
  using T = T_;
  static constexpr int L = L_;
  static constexpr int E = E_;
  using W = Lanes<L>;
  using V = typename W::template Of<R>;
  using Vec = Vector<V, E>;
  /// Elements of a vector in memory, padding included.
  static constexpr u32 SIZE = (u32)(E * L);

  OCTOPUS_DEVICE static void load(const R* from, Vec& to) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) to.row[e] = W::load(from + e * L);
  }

  OCTOPUS_DEVICE static void store(R* to, const Vec& from) {
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) W::store(to + e * L, from.row[e]);
  }

  /// The K elements from `index` on, as numbers of type X. K is at most L.
  template <Room ROOM = COMMON, class X, int K>
  OCTOPUS_DEVICE static void pick(const Vec& x, u32 index, X (&out)[K]) {
    // Each lane chooses its last element before the end of them: one of them, where it has any. (A choice of the row would
    // be made in memory by the compiler.)
    V value = x.row[0];
    OCTOPUS_UNROLL
    for (int e = 1; e < E; ++e) value = W::first((int)index + K - e * L, x.row[e], value);
    W::template pick<ROOM>(value, index % L, out);
  }

  /// Element `index`.
  OCTOPUS_DEVICE static R pick(const Vec& x, u32 index) {
    R out[1];
    pick(x, index, out);
    return out[0];
  }

  /// Puts `values` into the elements from `index` on. K is at most L.
  template <int K> OCTOPUS_DEVICE static void put(const R (&values)[K], u32 index, Vec& x) {
    const V own = W::spread(index % L, values);
    OCTOPUS_UNROLL
    for (int e = 0; e < E; ++e) x.row[e] = W::within((int)index - e * L, (u32)K, own, x.row[e]);
  }
};

}  // namespace octopus::nuts
