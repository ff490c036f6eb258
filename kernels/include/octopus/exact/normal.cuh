// The distribution function of the standard normal distribution, its logarithm and that one's slope: the twin of
// crates/random/src/exact/normal.rs, operation by operation.
#pragma once
#include "octopus/exact/exponential.cuh"
#include "octopus/exact/logarithm.cuh"

namespace octopus {
namespace exact {

/// 1 / sqrt(2 pi): the normal density at 0.
constexpr double FRAC_1_SQRT_2PI = 0.398'942'280'401'432'7;

/// (1 + 9/8 x) e^(x^2) erfc(x) of an x of at least 0, given x * scale and 4 * scale; it lies in [0.63, 1].
OCTOPUS_DEVICE Double scaled_tail(double x, double four) {
  // (the function of q - its value at 0) / q, for q = (x - 4) / (x + 4).
  constexpr double SCALED_TAIL[24] = {
      -0.191'879'149'555'391'48, 0.104'340'913'834'464'66, -0.033'558'201'786'811'39, -0.009'163'084'533'410'987,
      0.025'115'050'344'338'97, -0.023'617'493'542'170'003, 0.015'287'501'098'278'302, -0.007'334'860'075'793'146,
      0.002'480'865'159'252'326'7, -0.000'435'768'197'500'588, -7.752'690'758'284'028e-5, 7.485'626'954'461'245e-5,
      -1.455'663'695'474'136e-5, -5.023'614'663'795'103e-6, 3.031'556'060'776'769e-6, 3.976'017'829'866'786'4e-8,
      -4.201'937'230'975'373'4e-7, 5.486'447'623'129'533'7e-8, 5.337'743'810'987'974'4e-8,
      -1.273'401'959'649'765'4e-8, -6.182'132'394'466'714e-9, 1.944'741'642'303'116e-9, 4.728'403'881'675'059e-10,
      -1.680'720'640'999'481'3e-10};
  constexpr Double TAIL_IN_MIDDLE = {0.753'497'016'937'837'7, -1.593'002'646'588'486'7e-17};
  const double q = 1.0 - (four + four) / (x + four);
  return Double::ordered_sum(TAIL_IN_MIDDLE.high, TAIL_IN_MIDDLE.low + q * polynomial(q, SCALED_TAIL));
}

/// 9/8 x exactly.
OCTOPUS_DEVICE Double nine_eighths(double x) { return Double::ordered_sum(x, 0.125 * x); }

/// e^(-x^2 / 2) for x of at least 0: from 40 on it is 0.
OCTOPUS_DEVICE Power bell(double size) {
  size = size > 40.0 ? 40.0 : size;
  const Double square = Double::product(size, size);
  return power_of_e({-0.5 * square.high, -0.5 * square.low});
}

/// e^(x^2 / 2) erfc(x / sqrt(2)) / 2 for x of at least 0: the probability beyond x over sqrt(2 pi) times its density.
OCTOPUS_DEVICE Double normal_ratio(double size) {
  constexpr double SQRT_2 = 1.414'213'562'373'095'1;
  constexpr Double ROOT_OF_TWO = {SQRT_2, -9.667'293'313'452'913e-17};
  constexpr Double ROOT_OF_HALF = {0.707'106'781'186'547'6, -4.833'646'656'726'457e-17};
  size = size > 1e300 ? 1e300 : size;
  return (scaled_tail(size, 4.0 * SQRT_2) * ROOT_OF_HALF).over(nine_eighths(size) + ROOT_OF_TWO);
}

/// The probability beyond `size`, at least 0.
OCTOPUS_DEVICE Double normal_tail(double size) { return bell(size).times(normal_ratio(size)); }

/// The distribution function of the standard normal distribution.
OCTOPUS_DEVICE double phi(double x) {
  const Double tail = normal_tail(absolute(x));
  return x > 0.0 ? (-tail + 1.0).high : tail.high;
}

/// ln(phi(x))
OCTOPUS_DEVICE double ln_phi(double x) {
  const double size = absolute(x);
  const Double ratio = normal_ratio(size);
  const Double upper = -normal_tail(size) + 1.0;
  const bool right = x > 0.0;
  const double log = ln_of_sum(select(right, upper, ratio));
  return right ? log : log - 0.5 * (size * size);
}

/// The slope of ln_phi, which is the normal density over phi.
OCTOPUS_DEVICE double ln_phi_slope(double x) {
  const double size = absolute(x);
  double left = FRAC_1_SQRT_2PI / normal_ratio(size).high;
  const double right = bell(size).times({FRAC_1_SQRT_2PI, 0.0}).high / (-normal_tail(size) + 1.0).high;
  // Far on the left it is x + 1 / x.
  left = size > 1e17 ? size : left;
  return x > 0.0 ? right : left;
}

}  // namespace exact
}  // namespace octopus
