// x^y: the twin of crates/random/src/exact/power.rs, operation by operation.
#pragma once
#include "octopus/exact/exponential.cuh"
#include "octopus/exact/logarithm.cuh"

namespace octopus {
namespace exact {

/// Whether a number is an integer; infinity is one.
OCTOPUS_DEVICE bool is_integer(double x) {
  const double size = absolute(x);
  // Adding 2^52 rounds to an integer.
  return size >= INTEGERS || (size + INTEGERS) - INTEGERS == size;
}

/// x^y, also below the normal range, with the special cases of C's `pow`.
OCTOPUS_DEVICE double pow(double x, double y) {
  const double size = absolute(x);
  const Double natural = logarithm({size, 0.0});
  const Double exponent = Double::product(natural.high, y);
  double value = power_of_e({exponent.high, exponent.low + natural.low * y}).rounded();
  // The logarithm of 0 and infinity is not asked for.
  const double end = (size > 1.0) == (y > 0.0) ? Constants<double>::infinity() : 0.0;
  value = size == 0.0 || size == Constants<double>::infinity() ? end : value;
  value = size == 1.0 ? 1.0 : value;
  const bool negative = (to_bits(x) & SIGN) != 0;
  const bool integer = is_integer(y);
  const bool odd = integer && !is_integer(0.5 * y);
  value = negative && odd ? -value : value;
  const bool undefined = x < 0.0 && size < Constants<double>::infinity() && !integer;
  value = undefined || x != x || y != y ? Constants<double>::nan() : value;
  return x == 1.0 || y == 0.0 ? 1.0 : value;
}

}  // namespace exact
}  // namespace octopus
