// Draws of distributions by their number: the twin of crates/random/src/{floating_point,key}.rs and distribution/*.rs,
// operation by operation. What each is made of, and why, is said there.
#pragma once
#include "octopus/circle.cuh"
#include "octopus/math.cuh"
#include "octopus/philox.cuh"

namespace octopus {

/// Turns of one part of a draw that is made of several.
enum : u32 { PART = 1u << 16, DRAWS = 10 };

// --- Random bits of a draw, and numbers of bits ------------------------------------------------------------------------

template <class Bits> struct DrawBits {
  Bits first, second;
};

/// How random words become numbers of a type, and where those of a draw are: a thread that goes on by a multiple of 64
/// draws finds the next place without the draw's number.
template <class T> struct Numbers;

template <> struct Numbers<double> {
  using Bits = u64;
  using Place = u64;
  enum : u32 { IN_BLOCK = 1 };

  OCTOPUS_DEVICE static Place place(u64 index) { return index; }
  OCTOPUS_DEVICE static Place further(Place place, u64 draws) { return place + draws; }
  OCTOPUS_DEVICE static DrawBits<u64> bits(u32 key0, u32 key1, Place place, u32 turn) {
    const Words words = philox4x32_10({low_word(place), high_word(place), turn, DRAWS}, key0, key1);
    return {((u64)words.w0 << 32) | words.w1, ((u64)words.w2 << 32) | words.w3};
  }
  OCTOPUS_DEVICE static void bits_of_block(u32 key0, u32 key1, Place place, u32 turn, DrawBits<u64>* all) {
    all[0] = bits(key0, key1, place, turn);
  }
  OCTOPUS_DEVICE static double uniform(u64 bits) { return open01((u32)(bits >> 32), (u32)bits); }
  OCTOPUS_DEVICE static bool negative(u64 bits) { return bits >> 63 != 0; }
  OCTOPUS_DEVICE static bool far_half(u64 bits) { return ((bits >> 62) & 1) != 0; }
  OCTOPUS_DEVICE static double distance(u64 bits) {
    return 0.5 * ((from_bits(((bits << 2) >> 12) | 0x3ff0000000000000ull) - 1.0) + 1.1102230246251565e-16);
  }
  OCTOPUS_DEVICE static double normal(u64 bits) { return normal_quantile(uniform(bits)); }
  OCTOPUS_DEVICE static double root_is_huge() { return 1e34; }
  OCTOPUS_DEVICE static double round() { return 6'755'399'441'055'744.0; }
};

/// A block of random words, and which half of it.
struct HalfBlock {
  u64 block;
  bool first;
};

template <> struct Numbers<float> {
  using Bits = u32;
  using Place = HalfBlock;
  enum : u32 { IN_BLOCK = 2 };

  /// Draws i and i + 32 of each 64 share a block.
  OCTOPUS_DEVICE static Place place(u64 index) {
    return {((index >> 6) << 5) | (index & 31), ((index >> 5) & 1) == 0};
  }
  /// A multiple of 64 draws keeps the half.
  OCTOPUS_DEVICE static Place further(Place place, u64 draws) { return {place.block + draws / 2, place.first}; }
  OCTOPUS_DEVICE static void bits_of_block(u32 key0, u32 key1, Place place, u32 turn, DrawBits<u32>* all) {
    const Words words = philox4x32_10({low_word(place.block), high_word(place.block), turn, DRAWS}, key0, key1);
    all[0] = {words.w0, words.w1};
    all[1] = {words.w2, words.w3};
  }
  OCTOPUS_DEVICE static DrawBits<u32> bits(u32 key0, u32 key1, Place place, u32 turn) {
    DrawBits<u32> all[IN_BLOCK];
    bits_of_block(key0, key1, place, turn, all);
    return place.first ? all[0] : all[1];
  }
  OCTOPUS_DEVICE static float uniform(u32 bits) { return ((float)(bits >> 1) + 0.5f) * 4.656'612'9e-10f; }
  OCTOPUS_DEVICE static bool negative(u32 bits) { return bits >> 31 != 0; }
  OCTOPUS_DEVICE static bool far_half(u32 bits) { return ((bits >> 30) & 1) != 0; }
  OCTOPUS_DEVICE static float distance(u32 bits) { return ((float)(bits & 0x3fffffffu) + 0.5f) * 4.656'612'9e-10f; }
  OCTOPUS_DEVICE static float normal(u32 bits) {
    const float size = normal_quantile(((float)(bits & 0x7fffffffu) + 0.5f) * (0.5f * 4.656'612'9e-10f));
    return negative(bits) ? -size : size;
  }
  OCTOPUS_DEVICE static float root_is_huge() { return 1e16f; }
  OCTOPUS_DEVICE static float round() { return 12'582'912.0f; }
};

template <class T> OCTOPUS_DEVICE T without_sign(T x) { return x < (T)0 ? -x : x; }

/// What a distribution proposes, and whether it takes it.
template <class T> struct Proposal {
  T a, b;
  bool taken;
};

/// Draw `index` of a distribution, or of one of its parts; NaN, and `refused` set, where all turns are refused.
template <class T, class P>
OCTOPUS_DEVICE T draw(const P& proposer, u64 key, u64 index, u32 part, u32 most, unsigned* refused) {
  const u32 key0 = low_word(key), key1 = high_word(key);
  const auto place = Numbers<T>::place(index);
#pragma unroll 1
  for (u32 turn = 0; turn < most; ++turn) {
    const auto bits = Numbers<T>::bits(key0, key1, place, part + turn);
    const Proposal<T> proposal = proposer.propose(bits.first, bits.second);
    if (proposal.taken) {
      typename Numbers<T>::Bits extra = 0;
      if (proposer.needs_extra()) extra = Numbers<T>::bits(key0, key1, place, part + (PART - 1)).first;
      return proposer.finish(proposal.a, proposal.b, extra);
    }
  }
  // All who come here write the same.
  *(volatile unsigned*)refused = 1;
  return Constants<T>::nan();
}

/// All draws `first` to `first + n` of the distributions that `make` gives for their numbers, by any grid of blocks of 64 k
/// threads: a thread's draws are as far apart as there are threads. A thread whose proposal is refused tries again in the
/// next round while its neighbours go on to their next draws, so that nobody waits for the unluckiest of a warp.
template <class T, class Make>
OCTOPUS_DEVICE void draws(T* out, u64 key, u64 first, u64 n, u32 most, unsigned* refused, Make make) {
  const u32 key0 = low_word(key), key1 = high_word(key);
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  auto place = Numbers<T>::place(first + i);
  u32 turn = 0, given_up = 0;
#pragma unroll 1
  while (i < n) {
    const auto distribution = make(first + i);
    const auto bits = Numbers<T>::bits(key0, key1, place, turn);
    const Proposal<T> proposal = distribution.propose(bits.first, bits.second);
    ++turn;
    if (!proposal.taken && turn < most) continue;
    typename Numbers<T>::Bits extra = 0;
    if (distribution.needs_extra()) extra = Numbers<T>::bits(key0, key1, place, PART - 1).first;
    const T value = distribution.finish(proposal.a, proposal.b, extra);
    out[i] = proposal.taken ? value : Constants<T>::nan();
    given_up += proposal.taken ? 0 : 1;
    i += stride;
    place = Numbers<T>::further(place, stride);
    turn = 0;
  }
  // All who come here write the same.
  if (given_up != 0) *(volatile unsigned*)refused = 1;
}

/// The same of a distribution that refuses no proposal: a thread makes all draws of a block of random words.
template <class T, class Distribution>
OCTOPUS_DEVICE void draws_of_one_turn(T* out, u64 key, u64 first, u64 n, const Distribution& distribution) {
  constexpr u32 IN_BLOCK = Numbers<T>::IN_BLOCK;
  const u32 key0 = low_word(key), key1 = high_word(key);
  const u64 stride = (u64)gridDim.x * blockDim.x * IN_BLOCK;
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  // A warp has the draws of 32 blocks, from the first draw of the first one's row on.
  const u64 before = IN_BLOCK == 1 ? 0 : first % (32 * IN_BLOCK);
  u64 from_row = thread / 32 * (32 * IN_BLOCK) + thread % 32;
  auto place = Numbers<T>::place(first - before + from_row);
#pragma unroll 1
  while (from_row < before + n) {
    DrawBits<typename Numbers<T>::Bits> bits[IN_BLOCK];
    Numbers<T>::bits_of_block(key0, key1, place, 0, bits);
#pragma unroll
    for (u32 k = 0; k < IN_BLOCK; ++k) {
      // Before the first draw this is more than any n.
      const u64 i = from_row + 32 * k - before;
      if (i < n) {
        const Proposal<T> proposal = distribution.propose(bits[k].first, bits[k].second);
        out[i] = distribution.finish(proposal.a, proposal.b, 0);
      }
    }
    from_row += stride;
    place = Numbers<T>::further(place, stride);
  }
}

// --- The distributions -------------------------------------------------------------------------------------------------

template <class T> struct UniformDraw {
  using Bits = typename Numbers<T>::Bits;
  T low, width;

  OCTOPUS_DEVICE static UniformDraw make(T low, T width, T) { return {low, width}; }
  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits) const {
    return {low + width * Numbers<T>::uniform(first), (T)0, true};
  }
  OCTOPUS_DEVICE T finish(T a, T, Bits) const { return a; }
};

template <class T> struct NormalDraw {
  using Bits = typename Numbers<T>::Bits;
  T loc, scale;

  OCTOPUS_DEVICE static NormalDraw make(T loc, T scale, T) { return {loc, scale}; }
  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits) const {
    return {loc + scale * Numbers<T>::normal(first), (T)0, true};
  }
  OCTOPUS_DEVICE T finish(T a, T, Bits) const { return a; }
};

template <class T> struct ExponentialDraw {
  using Bits = typename Numbers<T>::Bits;
  T scale;

  OCTOPUS_DEVICE static ExponentialDraw make(T scale, T, T) { return {scale}; }
  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits) const {
    const T probability = Numbers<T>::distance(first);
    const T tail = -ln(probability);
    const T rest = minus_ln_of_rest(probability);
    return {scale * (Numbers<T>::far_half(first) ? tail : rest), (T)0, true};
  }
  OCTOPUS_DEVICE T finish(T a, T, Bits) const { return a; }
};

template <class T> struct GammaDraw {
  using Bits = typename Numbers<T>::Bits;
  T shape, scale, size, spread;

  OCTOPUS_DEVICE static GammaDraw make(T shape, T scale, T) {
    const T raised = shape < (T)1 ? shape + (T)1 : shape;
    const T size = raised - (T)(1.0 / 3.0);
    return {shape, scale, size, (T)1 / ((T)3 * root(size))};
  }
  OCTOPUS_DEVICE bool needs_extra() const { return shape < (T)1; }
  /// ln(1 + y) - y + y^2/2 - y^3/3
  OCTOPUS_DEVICE static T bracket(T y, T above) {
    const T written = ((ln(above) - y) + (T)0.5 * y * y) - (T)(1.0 / 3.0) * y * y * y;
    const T square = y * y;
    return without_sign(y) < (T)0.125 ? square * square * series(y) : written;
  }
  /// (ln(1 + y) - y + y^2/2 - y^3/3) / y^4 for |y| below 1/8.
  OCTOPUS_DEVICE static T series(T y) {
    T series = (T)(-1.0 / 12.0);
    series = series * y + (T)(1.0 / 11.0);
    series = series * y - (T)(1.0 / 10.0);
    series = series * y + (T)(1.0 / 9.0);
    series = series * y - (T)(1.0 / 8.0);
    series = series * y + (T)(1.0 / 7.0);
    series = series * y - (T)(1.0 / 6.0);
    series = series * y + (T)(1.0 / 5.0);
    return series * y - (T)(1.0 / 4.0);
  }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits second) const {
    const T y = spread * Numbers<T>::normal(first);
    const T above = (T)1 + y;
    const T test = (T)3 * size * bracket(y, above);
    const bool taken = above > (T)0 && ln(Numbers<T>::uniform(second)) <= test;
    return {above, (T)0, taken};
  }
  OCTOPUS_DEVICE T finish(T above, T, Bits extra) const {
    const T draw = scale * (size * (above * above * above));
    return needs_extra() ? draw * exp(ln(Numbers<T>::uniform(extra)) / shape) : draw;
  }
  /// The logarithm of a draw of scale 1.
  OCTOPUS_DEVICE T ln_of(T above, Bits extra) const {
    const T value = ln(size) + (T)3 * ln(above);
    return needs_extra() ? value + ln(Numbers<T>::uniform(extra)) / shape : value;
  }
};

/// A gamma distribution's draw, or its logarithm.
template <class T> struct PlainOrLn {
  using Bits = typename Numbers<T>::Bits;
  GammaDraw<T> gamma;
  bool as_ln;

  OCTOPUS_DEVICE bool needs_extra() const { return gamma.needs_extra(); }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits second) const { return gamma.propose(first, second); }
  OCTOPUS_DEVICE T finish(T a, T b, Bits extra) const { return as_ln ? gamma.ln_of(a, extra) : gamma.finish(a, b, extra); }
};

/// The angle of [-pi, pi] that the sum of two such angles is.
template <class T> OCTOPUS_DEVICE T turned(T loc, T angle) {
  constexpr T PI = (T)3.141'592'653'589'793;
  constexpr T TAU = (T)6.283'185'307'179'586;
  T sum = loc + angle;
  sum = sum > PI ? sum - TAU : sum;
  sum = sum < -PI ? sum + TAU : sum;
  sum = sum > PI ? PI : sum;
  return sum < -PI ? -PI : sum;
}

template <class T> struct VonMisesDraw {
  using Bits = typename Numbers<T>::Bits;
  T loc, shrink, square, least, growth;

  OCTOPUS_DEVICE static VonMisesDraw make(T loc, T concentration, T) {
    if (concentration > Numbers<T>::root_is_huge()) {
      if (concentration == Constants<T>::infinity()) return {loc, (T)0, (T)0, (T)0.5, (T)0};
      const T side = root(concentration);
      const T shrink = (T)1 / ((T)2 * side + (T)1);
      const T tangent = side * shrink;
      return {loc, shrink, shrink * shrink, side / ((T)2 * (side + (T)1)), (T)2 * tangent * tangent};
    }
    const T twice = (T)2 * concentration;
    const T side = root((T)1 + twice * twice);
    const T tau = (T)1 + side;
    const T mean = root((T)2 * tau);
    const T apart = ((T)1 + (T)1 / (side + twice)) + mean;
    const T shrink = apart / ((tau + twice) + mean);
    const T least = apart * apart / ((T)4 * (tau + mean));
    return {loc, shrink, shrink * shrink, least, twice * shrink * shrink};
  }
  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits second) const {
    const SineCosine<T> both = sin_cos_quarter(Numbers<T>::distance(first));
    const bool far_half = Numbers<T>::far_half(first);
    const T above = far_half ? both.cosine : both.sine;
    const T below = far_half ? both.sine : both.cosine;
    const T sides = above * above;
    const T y = least + growth * sides / (below * below + square * sides);
    const bool taken = Numbers<T>::uniform(second) <= y * exp((T)1 - y);
    const T tangent = shrink * above;
    return {Numbers<T>::negative(first) ? -tangent : tangent, below, taken};
  }
  OCTOPUS_DEVICE T finish(T above, T below, Bits) const {
    const T half = arctangent(absolute(above), below);
    const T angle = half + half;
    return turned(loc, above < (T)0 ? -angle : angle);
  }
};

template <class T> struct WrappedNormalDraw {
  using Bits = typename Numbers<T>::Bits;
  T loc, scale;

  OCTOPUS_DEVICE static WrappedNormalDraw make(T loc, T scale, T) { return {loc, scale}; }
  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<T> propose(Bits first, Bits) const {
    const T normal = scale * Numbers<T>::normal(first);
    const T x = Numbers<T>::distance(first);
    const T size = (T)3.141'592'653'589'793 * (Numbers<T>::far_half(first) ? (T)1 - x : x);
    const T uniform = Numbers<T>::negative(first) ? -size : size;
    const T turns = (normal * (T)(1.0 / 6.283'185'307'179'586) + Numbers<T>::round()) - Numbers<T>::round();
    const T wrapped = (normal - turns * (T)6.281'25) - turns * (T)1.935'307'179'586'477e-3;
    return {scale >= (T)9 ? uniform : wrapped, (T)0, true};
  }
  OCTOPUS_DEVICE T finish(T a, T, Bits) const { return turned(loc, a); }
};

// --- Draws of several parts --------------------------------------------------------------------------------------------

template <class T> OCTOPUS_DEVICE T beta_draw(T a, T b, u64 key, u64 index, u32 most, unsigned* refused) {
  const bool as_ln = a < (T)1 || b < (T)1;
  const PlainOrLn<T> one{GammaDraw<T>::make(a, (T)1, (T)0), as_ln};
  const PlainOrLn<T> other{GammaDraw<T>::make(b, (T)1, (T)0), as_ln};
  const T first = draw<T>(one, key, index, 0, most, refused);
  const T second = draw<T>(other, key, index, PART, most, refused);
  return as_ln ? (T)1 / ((T)1 + exp(second - first)) : first / (first + second);
}

template <class T>
OCTOPUS_DEVICE T student_t_draw(T df, T loc, T scale, u64 key, u64 index, u32 most, unsigned* refused) {
  const T half = (T)0.5 * df;
  const bool as_ln = half < (T)1;
  const PlainOrLn<T> chi{GammaDraw<T>::make(half, (T)1, (T)0), as_ln};
  const T gamma = draw<T>(chi, key, index, 0, most, refused);
  const T normal = draw<T>(NormalDraw<T>{(T)0, (T)1}, key, index, PART, most, refused);
  const T t = as_ln ? normal * exp((T)0.5 * (ln(half) - gamma)) : normal * root(half / gamma);
  return loc + scale * t;
}

}  // namespace octopus
