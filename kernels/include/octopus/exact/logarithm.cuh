// The natural logarithm with 64 bits, and ln(1 + x): the twin of crates/random/src/exact/logarithm.rs, operation by
// operation.
#pragma once
#include "octopus/exact/double.cuh"

namespace octopus {
namespace exact {

/// A number split into a power of two and a mantissa, x = 2^exponent (1 + beyond), with 1 + beyond in
/// [sqrt(1/2), sqrt(2)].
struct Parts {
  double exponent;
  Double beyond;
};

/// The parts of x.high + x.low, which is positive and may lie below the normal range.
OCTOPUS_DEVICE Parts parts(Double x) {
  const bool tiny = x.high < MIN_POSITIVE;
  const double factor = tiny ? TWO_TO_54 : 1.0;
  const LnParts<double> of_high = ln_parts(x.high * factor);
  const double e = of_high.exponent;
  // Above, the power of two is outside the range, and the low part is nothing beside a logarithm of 709.
  const double back = power_of_two(-(e > 1022.0 ? 1022.0 : e));
  const double low = (x.low * factor) * back;
  return {tiny ? e - 54.0 : e, {of_high.above, low}};
}

/// The natural logarithm of a positive finite number, to 64 bits; of others something that means nothing.
OCTOPUS_DEVICE Double logarithm(Double x) {
  // 2 artanh(s) / (2 s) = 1 + s^2 / 3 + s^4 (1 / 5 + s^2 / 7 + ...): the numbers in the bracket.
  constexpr double SERIES[12] = {1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0,
                                 1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0, 1.0 / 23.0, 1.0 / 25.0, 1.0 / 27.0};
  constexpr Double THIRD = {1.0 / 3.0, 1.850'371'707'708'594e-17};
  const Parts of_x = parts(x);
  const Double beyond = of_x.beyond;
  // s = (m - 1) / (m + 1) in two parts.
  const Double above = Double::sum(beyond.high, beyond.low);
  const double below = beyond.high + 2.0;
  const double below_low = (beyond.high - (below - 2.0)) + beyond.low;
  const double inverse = 1.0 / below;
  const double s = above.high * inverse;
  const Double back = Double::product(s, below);
  const double s_low = (((above.high - back.high) - back.low) + (above.low - s * below_low)) * inverse;
  Double z = Double::product(s, s);
  z.low += 2.0 * s * s_low;
  const Double third = Double::product(z.high, THIRD.high);
  const double third_low = third.low + (z.high * THIRD.low + z.low * THIRD.high);
  const double series = (z.high * z.high) * polynomial(z.high, SERIES);
  const Double factor = Double::ordered_sum(third.high, series);
  const double twice = 2.0 * s;
  const Double more = Double::product(twice, factor.high);
  const double low = more.low + (twice * (factor.low + third_low) + 2.0 * s_low * (1.0 + factor.high));
  const Double sum = Double::ordered_sum(twice, more.high);
  const Double rest = Double::ordered_sum(sum.high, sum.low + low);
  // The products of the first part of ln 2 with exponents are exact.
  return Double::ordered_sum(of_x.exponent * LN2_HIGH, of_x.exponent * LN2_LOW) + rest;
}

/// The two terms of ln(x.high + x.low): the first part of exponent * ln 2, which is exact, and all else.
struct LnTerms {
  double of_exponent, of_mantissa;
};

OCTOPUS_DEVICE LnTerms ln_terms(Double x) {
  // The logarithm's series for 53 bits: 2 / 3 + 2 s^2 / 5 + ...
  constexpr double SERIES[10] = {2.0 / 3.0,  2.0 / 5.0,  2.0 / 7.0,  2.0 / 9.0,  2.0 / 11.0,
                                 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0};
  const Parts of_x = parts(x);
  const double f = of_x.beyond.high + of_x.beyond.low;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half_square = 0.5 * (f * f);
  const double series = z * polynomial(z, SERIES);
  return {of_x.exponent * LN2_HIGH, f - (half_square - (s * (half_square + series) + of_x.exponent * LN2_LOW))};
}

/// ln(x.high + x.low) for a positive finite number; of others something that means nothing.
OCTOPUS_DEVICE double ln_of_sum(Double x) {
  const LnTerms terms = ln_terms(x);
  return terms.of_exponent + terms.of_mantissa;
}

/// The logarithm of a number that is not negative, given the value inside the range.
OCTOPUS_DEVICE double at_the_ends(double x, double value) {
  value = x == 0.0 ? -Constants<double>::infinity() : value;
  value = x == Constants<double>::infinity() ? x : value;
  return x >= 0.0 ? value : Constants<double>::nan();
}

/// ln(1 + x) with all its digits near 0; -infinity at -1, NaN below.
OCTOPUS_DEVICE double ln_1p(double x) {
  const Double sum = Double::sum(1.0, x);
  const double value = at_the_ends(sum.high, ln_of_sum(sum));
  return absolute(x) < 1e-17 ? x : value;
}

}  // namespace exact
}  // namespace octopus
