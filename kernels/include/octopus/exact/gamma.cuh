// The logarithm of the gamma function: the twin of crates/random/src/exact/gamma.rs, operation by operation.
#pragma once
#include "octopus/exact/logarithm.cuh"
#include "octopus/exact/trigonometric.cuh"

namespace octopus {
namespace exact {

/// What Stirling's formula leaves of ln Gamma(x), for x from 2.5 on.
OCTOPUS_DEVICE double stirling_rest(double x) {
  // x times the rest of Stirling's formula, of 1 / x^2.
  constexpr double STIRLING[13] = {
      0.083'333'333'333'333'31, -0.002'777'777'777'742'570'4, 0.000'793'650'781'074'078'9,
      -0.000'595'236'298'752'551'2, 0.000'841'614'646'895'475'5, -0.001'911'206'127'327'831'2,
      0.006'214'168'835'939'92, -0.025'211'948'545'317'147, 0.106'894'747'013'402'93, -0.397'302'016'794'845'67,
      1.111'319'794'174'670'4, -1.983'954'444'722'141, 1.657'912'642'800'544'4};
  const double inverse = 1.0 / x;
  return inverse * polynomial(inverse * inverse, STIRLING);
}

/// ln Gamma(x) of a positive finite number: from 2.5 on by Stirling's formula, below by its expansion around 2.
OCTOPUS_DEVICE Double ln_gamma_of_positive(double x) {
  // (ln Gamma(2 + d) / d - its slope at 2) / d, for |d| up to 1/2.
  constexpr double LN_GAMMA_NEAR_TWO[18] = {
      0.322'467'033'424'113'2, -0.067'352'301'053'198'1, 0.020'580'808'427'783'38, -0.007'385'551'028'673'429,
      0.002'890'510'330'865'901, -0.001'192'753'911'762'55, 0.000'509'669'519'652'667'3,
      -0.000'223'154'756'027'106'03, 9.945'761'692'157'133e-5, -4.492'628'637'818'162e-5, 2.050'601'970'174'762e-5,
      -9.438'919'596'277'18e-6, 4.382'854'538'384'666'5e-6, -2.043'022'895'180'944e-6, 9.242'852'225'162'277e-7,
      -4.345'417'367'026'049'6e-7, 2.747'539'005'190'966'3e-7, -1.302'987'023'906'841'5e-7};
  // 1 - Euler's constant: the slope of ln Gamma at 2.
  constexpr Double SLOPE_AT_TWO = {0.422'784'335'098'467'13, 4.942'915'152'430'645e-18};
  constexpr Double HALF_LN_TWO_PI = {0.918'938'533'204'672'8, -3.878'294'158'067'241'4e-17};
  const bool small = x < 0.5, below = x < 1.5;
  const Double next = Double::ordered_sum(1.0, x);
  const Double log = logarithm(select(small, next * x, {x, 0.0}));
  double d = below ? x - 1.0 : x - 2.0;
  d = small ? x : d;
  const Double slope =
      Double::ordered_sum(SLOPE_AT_TWO.high, SLOPE_AT_TWO.low + d * polynomial(d, LN_GAMMA_NEAR_TWO));
  const Double central = slope * d + select(below, -log, {0.0, 0.0});
  const Double stirling = log * (x - 0.5) + -x + HALF_LN_TWO_PI + stirling_rest(x);
  return select(x < 2.5, central, stirling);
}

/// ln |Gamma(x)|, of negative x by reflection. Infinity at 0, the negative integers and the infinities.
OCTOPUS_DEVICE double ln_gamma(double x) {
  const double size = absolute(x);
  const Double positive = ln_gamma_of_positive(size);
  // Gamma(-x) Gamma(x) = -pi / (x sin(pi x))
  const double sine = size * absolute(sin_cos_half_turns(x).sine) * 0.318'309'886'183'790'7;
  const double reflected = -(positive.rounded() + ln(sine));
  double value = x < -1e-20 ? reflected : positive.rounded();
  const bool pole = size == 0.0 || size > 2.5e305 || (x < 0.0 && size >= INTEGERS);
  value = pole ? Constants<double>::infinity() : value;
  return x != x ? x : value;
}

}  // namespace exact
}  // namespace octopus
