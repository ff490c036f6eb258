// Sums and products with their rounding errors, and polynomials: the twin of crates/random/src/exact/double.rs,
// operation by operation.
#pragma once
#include "octopus/math.cuh"

namespace octopus {
namespace exact {

/// ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact.
constexpr double LN2_HIGH = 6.931'471'803'691'238e-1;
constexpr double LN2_LOW = 1.908'214'929'270'587'7e-10;
/// 1.5 * 2^52: adding it rounds to an integer and leaves that integer in the low bits.
constexpr double ROUND = 6'755'399'441'055'744.0;
/// 2^54: it brings every number below the normal range into it.
constexpr double TWO_TO_54 = 18'014'398'509'481'984.0;
/// 2^52: from here on every number is an integer.
constexpr double INTEGERS = 4'503'599'627'370'496.0;
/// The smallest number of the normal range.
constexpr double MIN_POSITIVE = 2.2250738585072014e-308;
/// The bit of the sign.
constexpr u64 SIGN = 0x8000000000000000ull;

/// A number in two parts: `high` has 26 bits, or both mean nothing.
struct Split {
  double high, low;
};

/// Splits a number into two of 26 bits each; infinity and the largest numbers into two that mean nothing.
OCTOPUS_DEVICE Split split(double x) {
  const double high = from_bits((to_bits(x) + (1ull << 26)) & ~((1ull << 27) - 1));
  return {high, x - high};
}

/// An unevaluated sum `high + low`, where `high` is the sum rounded.
struct Double {
  double high, low;

  /// a + b exactly, where a is 0 or not below b in size.
  OCTOPUS_DEVICE static Double ordered_sum(double a, double b) {
    const double high = a + b;
    return {high, b - (high - a)};
  }

  /// a + b exactly.
  OCTOPUS_DEVICE static Double sum(double a, double b) {
    const double high = a + b;
    const double of_b = high - a;
    return {high, (a - (high - of_b)) + (b - of_b)};
  }

  /// a * b, exactly where no part of it is below the normal range: Dekker's product, without a fused multiply-add.
  OCTOPUS_DEVICE static Double product(double a, double b) {
    const Split of_a = split(a), of_b = split(b);
    const double high = a * b;
    const double rest = ((of_a.high * of_b.high - high) + of_a.high * of_b.low) + of_a.low * of_b.high;
    return {high, rest + of_a.low * of_b.low};
  }

  /// 1 / x to 100 bits or more.
  OCTOPUS_DEVICE static Double reciprocal(double x) {
    const double high = 1.0 / x;
    const Double back = product(high, x);
    return {high, ((1.0 - back.high) - back.low) * high};
  }

  /// This over `divisor`, to about 100 bits.
  OCTOPUS_DEVICE Double over(Double divisor) const {
    const double inverse = 1.0 / divisor.high;
    const double quotient = high * inverse;
    const Double back = product(quotient, divisor.high);
    const double rest = ((high - back.high) - back.low) + (low - quotient * divisor.low);
    return ordered_sum(quotient, rest * inverse);
  }

  /// The nearest double.
  OCTOPUS_DEVICE double rounded() const { return high + low; }
};

OCTOPUS_DEVICE Double operator+(Double a, Double b) {
  const Double sum = Double::sum(a.high, b.high);
  return Double::ordered_sum(sum.high, sum.low + (a.low + b.low));
}

OCTOPUS_DEVICE Double operator+(Double a, double b) {
  const Double sum = Double::sum(a.high, b);
  return Double::ordered_sum(sum.high, sum.low + a.low);
}

OCTOPUS_DEVICE Double operator-(Double a) { return {-a.high, -a.low}; }

OCTOPUS_DEVICE Double operator*(Double a, Double b) {
  const Double product = Double::product(a.high, b.high);
  return Double::ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

OCTOPUS_DEVICE Double operator*(Double a, double b) {
  const Double product = Double::product(a.high, b);
  return Double::ordered_sum(product.high, product.low + a.low * b);
}

/// One of two numbers.
OCTOPUS_DEVICE Double select(bool condition, Double yes, Double no) {
  return {condition ? yes.high : no.high, condition ? yes.low : no.low};
}

/// c[FIRST] + c[FIRST + 4] x4 + c[FIRST + 8] x4^2 + ... by Horner's rule.
template <int FIRST, int N> OCTOPUS_DEVICE double every_fourth(double x4, const double (&c)[N]) {
  constexpr int LAST = FIRST + (N - 1 - FIRST) / 4 * 4;
  double sum = c[LAST];
#pragma unroll
  for (int i = LAST - 4; i >= FIRST; i -= 4) sum = sum * x4 + c[i];
  return sum;
}

/// A polynomial of 4 or more coefficients, lowest first, as four sums of every fourth.
template <int N> OCTOPUS_DEVICE double polynomial(double x, const double (&c)[N]) {
  static_assert(N >= 4, "each of the four sums has a coefficient");
  const double x2 = x * x;
  const double x4 = x2 * x2;
  return (every_fourth<0>(x4, c) + every_fourth<1>(x4, c) * x) +
         (every_fourth<2>(x4, c) + every_fourth<3>(x4, c) * x) * x2;
}

/// The number nearest to x among the integers, for |x| below 2^51.
OCTOPUS_DEVICE double nearest_integer(double x) { return (x + ROUND) - ROUND; }

/// 2^n for an integer n of -1022 to 1023.
OCTOPUS_DEVICE double power_of_two(double n) { return from_bits((to_bits(n + ROUND) + 1023) << 52); }

/// `size` with the sign of x, where `size` is not negative.
OCTOPUS_DEVICE double with_sign_of(double size, double x) { return from_bits(to_bits(size) | (to_bits(x) & SIGN)); }

}  // namespace exact
}  // namespace octopus
