// e^x with 60 bits, and e^x - 1: the twin of crates/random/src/exact/exponential.rs, operation by operation.
#pragma once
#include "octopus/exact/double.cuh"

namespace octopus {
namespace exact {

/// value * 2^exponent for an exponent of -1100 to 1100: two factors, since one could lie outside the range.
OCTOPUS_DEVICE double scaled(double value, double exponent) {
  const double half = nearest_integer(0.5 * exponent);
  return (value * power_of_two(half)) * power_of_two(exponent - half);
}

/// e^x as mantissa * 2^exponent, with a mantissa of [0.7, 1.42].
struct Power {
  Double mantissa;
  double exponent;

  /// The nearest double, rounded twice below the normal range.
  OCTOPUS_DEVICE double rounded() const { return scaled(mantissa.rounded(), exponent); }

  /// factor * e^x
  OCTOPUS_DEVICE Double times(Double factor) const {
    const Double product = mantissa * factor;
    return {scaled(product.high, exponent), scaled(product.low, exponent)};
  }
};

/// n and r of x = n ln 2 + r, with |r| at most ln(2) / 2.
struct Reduced {
  double n;
  Double r;
};

OCTOPUS_DEVICE Reduced reduced(double high, double low) {
  const double n = nearest_integer(high * 1.442'695'040'888'963'4);
  const double near = high - n * LN2_HIGH;
  const Double r = Double::sum(near, -(n * LN2_LOW));
  // The low part of a large x is far more than the last digit of r.
  return {n, Double::ordered_sum(r.high, r.low + low)};
}

/// e^r - 1 for |r| of at most 0.36.
OCTOPUS_DEVICE Double less_one(Double r) {
  // (e^r - 1 - r) / r^2: 1 / (k + 2)!
  constexpr double SERIES[12] = {1.0 / 2.0,         1.0 / 6.0,          1.0 / 24.0,          1.0 / 120.0,
                                 1.0 / 720.0,       1.0 / 5'040.0,      1.0 / 40'320.0,      1.0 / 362'880.0,
                                 1.0 / 3'628'800.0, 1.0 / 39'916'800.0, 1.0 / 479'001'600.0, 1.0 / 6'227'020'800.0};
  const double beyond = (r.high * r.high) * polynomial(r.high, SERIES) + (r.low + r.low * r.high);
  return Double::ordered_sum(r.high, beyond);
}

/// e^(x.high + x.low). Beyond -760 and 720 it is e^-760 and e^720, which are 0 and infinity. NaN stays.
OCTOPUS_DEVICE Power power_of_e(Double x) {
  double high = x.high > 720.0 ? 720.0 : x.high;
  high = high < -760.0 ? -760.0 : high;
  // The low part of an infinity means nothing.
  const double low = high == x.high ? x.low : 0.0;
  const Reduced parts = reduced(high, low);
  const Double tail = less_one(parts.r);
  const Double sum = Double::ordered_sum(1.0, tail.high);
  return {{sum.high, sum.low + tail.low}, parts.n};
}

/// e^x - 1 with all its digits near 0; -1 below -38, infinity above 709.78.
OCTOPUS_DEVICE double exp_m1(double x) {
  double inside = x > 720.0 ? 720.0 : x;
  inside = inside < -60.0 ? -60.0 : inside;
  const Reduced parts = reduced(inside, 0.0);
  const Double tail = less_one(parts.r);
  // Half of it, so that the largest power of two is within the range.
  const double half = power_of_two(parts.n - 1.0);
  const Double sum = Double::sum(half * tail.high, half - 0.5);
  double value = 2.0 * (sum.high + (sum.low + half * tail.low));
  value = x > 710.0 ? Constants<double>::infinity() : value;
  // Where the square vanishes beside the number; -0 and the smallest numbers with it.
  return absolute(x) < 1e-17 ? x : value;
}

}  // namespace exact
}  // namespace octopus
