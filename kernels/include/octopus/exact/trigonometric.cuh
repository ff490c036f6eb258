// Sine and cosine of radians and of half turns, and the arctangent: the twin of
// crates/random/src/exact/trigonometric.rs, operation by operation.
#pragma once
#include "octopus/circle.cuh"
#include "octopus/exact/double.cuh"

namespace octopus {
namespace exact {

/// What pi/2 has beyond the nearest double.
constexpr double HALF_PI_LOW = 6.123'233'995'736'766e-17;

/// An angle less its nearest multiple of pi/2: sine and cosine of the rest, and which of the four quarters it is in.
struct Angle {
  Double sine, cosine;
  u64 quarter;
};

/// Reduces an angle, and takes sine and cosine of the rest, which is at most pi/4.
OCTOPUS_DEVICE Angle angle(double x) {
  // pi/2 in three parts of 33 bits, whose products with integers up to 2^20 are exact, and the rest.
  constexpr double HALF_PI[4] = {
      1.570'796'326'734'125'6, 6.077'100'506'303'966e-11, 2.022'266'248'711'166'5e-21, 8.478'427'660'368'9e-32};
  // (sin(r) / r - 1) / r^2 of r^2, for |r| up to pi/4.
  constexpr double SINE[6] = {
      -0.166'666'666'666'666'66, 0.008'333'333'333'330'948, -0.000'198'412'698'367'567'74,
      2.755'731'610'161'787'4e-6, -2.505'113'165'023'518e-8, 1.591'811'526'326'597'4e-10};
  // (cos(r) - 1 + r^2 / 2) / r^4 of r^2.
  constexpr double COSINE[6] = {
      0.041'666'666'666'666'664, -0.001'388'888'888'888'739'8, 2.480'158'729'876'456e-5, -2.755'731'727'114'514'4e-7,
      2.087'614'614'655'861e-9, -1.138'262'364'747'460'4e-11};
  const double shifted = x * 0.636'619'772'367'581'4 + ROUND;
  const double n = shifted - ROUND;
  const double first = x - n * HALF_PI[0];
  const Double second = Double::sum(first, -(n * HALF_PI[1]));
  const Double third = Double::sum(second.high, -(n * HALF_PI[2]));
  const Double r = Double::ordered_sum(third.high, (third.low + second.low) - n * HALF_PI[3]);
  // Numbers below 2^-26 are their own sine, -0 among them.
  const double z = r.high * r.high;
  const double half = 0.5 * z;
  // sin(r) = r + r^3 S(r^2) + low cos(r), cos(r) = 1 - r^2 / 2 + r^4 C(r^2) - low sin(r)
  const double bend = r.high * z * polynomial(z, SINE) + r.low * (1.0 - half);
  const Double sine = Double::ordered_sum(r.high, bend);
  const Double top = Double::ordered_sum(1.0, -half);
  const Double square = Double::product(r.high, r.high);
  const double rest = z * z * polynomial(z, COSINE) - r.high * r.low;
  const Double cosine = Double::ordered_sum(top.high, top.low + (rest - 0.5 * square.low));
  return {sine, cosine, to_bits(shifted) & 3};
}

/// Changes the sign of a number where the bit 1 of `quarter` is set.
OCTOPUS_DEVICE double turned(double value, u64 quarter) { return from_bits(to_bits(value) ^ ((quarter & 2) << 62)); }

/// NaN where an angle is lost: from 2^45 on nothing is known of it.
OCTOPUS_DEVICE double known(double x, double value) {
  return absolute(x) < 35'184'372'088'832.0 ? value : Constants<double>::nan();
}

/// The sine of x radians; NaN from 2^45 on.
OCTOPUS_DEVICE double sin(double x) {
  const Angle of_x = angle(x);
  const double value = turned(select((of_x.quarter & 1) == 0, of_x.sine, of_x.cosine).rounded(), of_x.quarter);
  return known(x, x == 0.0 ? x : value);
}

/// The cosine of x radians; NaN from 2^45 on.
OCTOPUS_DEVICE double cos(double x) {
  const Angle of_x = angle(x);
  return known(x, turned(select((of_x.quarter & 1) == 0, of_x.cosine, of_x.sine).rounded(), of_x.quarter + 1));
}

/// sin(pi r) and cos(pi r), where r is x less the nearest integer; r is 0 from 2^51 on, or means nothing.
OCTOPUS_DEVICE SineCosine<double> sin_cos_half_turns(double x) {
  const double r = x - nearest_integer(x);
  const double quarters = 2.0 * absolute(r);
  const bool far = quarters > 0.5;
  const SineCosine<double> of_part = sin_cos_quarter(far ? 1.0 - quarters : quarters);
  const double sine = far ? of_part.cosine : of_part.sine;
  return {r < 0.0 ? -sine : sine, far ? of_part.sine : of_part.cosine};
}

/// The arctangent, as the one of c and of (|x| - c) / (1 + c |x|) with c of 0, 1/2 or 1; of 1 / |x| where |x| is
/// above 1.
OCTOPUS_DEVICE double atan(double x) {
  // (arctan(r) / r - 1) / r^2 of r^2, for |r| up to 0.3.
  constexpr double ARCTANGENT[9] = {
      -0.333'333'333'333'333'26, 0.199'999'999'999'822'85, -0.142'857'142'804'521'25, 0.111'111'105'078'834'36,
      -0.090'908'743'452'561'49, 0.076'911'783'900'070'75, -0.066'449'415'143'603'53, 0.056'351'278'743'875'445,
      -0.036'901'301'319'845'06};
  double size = absolute(x);
  // Beyond, it is pi/2 to all digits; products with infinity mean nothing.
  size = size > 1e20 ? 1e20 : size;
  const bool steep = size > 1.0;
  const double small = steep ? 1.0 : size;
  const double big = steep ? size : 1.0;
  const bool some = small > 0.3 * big, most = small > 0.8 * big;
  double c = some ? 0.5 : 0.0;
  c = most ? 1.0 : c;
  const double r = (small - c * big) / (big + c * small);
  double base = some ? 0.463'647'609'000'806'1 : 0.0;
  base = most ? 0.785'398'163'397'448'3 : base;
  double low = some ? 2.269'877'745'296'168'7e-17 : 0.0;
  low = most ? 0.5 * HALF_PI_LOW : low;
  const double z = r * r;
  const double bend = r * z * polynomial(z, ARCTANGENT);
  const Double inner = Double::ordered_sum(base, r);
  const double rest = inner.low + (bend + low);
  // pi/2 less the whole: its sum with the first part is exact.
  const Double outer = Double::ordered_sum(1.570'796'326'794'896'6, -inner.high);
  const double value = steep ? outer.high + (outer.low + (HALF_PI_LOW - rest)) : inner.high + rest;
  return with_sign_of(value, x);
}

}  // namespace exact
}  // namespace octopus
