// The first two derivatives of ln Gamma: the twin of crates/random/src/exact/digamma.rs, operation by operation.
#pragma once
#include "octopus/exact/logarithm.cuh"
#include "octopus/exact/trigonometric.cuh"

namespace octopus {
namespace exact {

constexpr double PI = 3.141'592'653'589'793;

/// 1 - x for a negative x, x for others: where the functions are taken when they are reflected.
OCTOPUS_DEVICE double reflected(double x) { return x < 0.0 ? 1.0 - x : x; }

/// The digamma function, the slope of ln Gamma: around its zero by a polynomial, up to 3 one step away from there,
/// beyond by the asymptotic series, of negative x by reflection. -infinity at 0, NaN at the negative integers.
OCTOPUS_DEVICE double digamma(double x) {
  // (digamma(x) / (x - its zero) - its value at 3/2) / d of d = x - 3/2, for x in [1, 2].
  constexpr double DIGAMMA_NEAR_ZERO[22] = {
      -0.423'627'421'281'460'5, 0.240'542'484'240'786'92, -0.148'404'923'053'908'84, 0.094'988'724'452'909'01,
      -0.061'922'133'273'064'534, 0.040'760'833'939'230'23, -0.026'975'796'756'138'25, 0.017'907'248'381'547'378,
      -0.011'908'218'001'568'644, 0.007'927'020'393'941'785, -0.005'279'964'873'257'405, 0.003'518'124'975'605'679,
      -0.002'345'267'632'540'769, 0.001'563'218'226'676'004'5, -0.001'037'637'409'841'860'4,
      0.000'691'711'527'637'616'7, -0.000'482'199'053'056'678'9, 0.000'321'458'563'044'876'7,
      -0.000'151'485'868'367'733'65, 0.000'100'989'415'881'336'3, -0.000'173'122'618'027'273'94,
      0.000'115'414'840'278'524'49};
  // x^2 (ln x - 1 / (2 x) - digamma(x)) of 1 / x^2, for x from 3 on.
  constexpr double DIGAMMA[12] = {
      0.083'333'333'333'333'26, -0.008'333'333'333'142'599, 0.003'968'253'884'920'039, -0.004'166'652'178'650'307,
      0.007'574'430'608'818'69, -0.021'019'164'896'976'52, 0.080'640'473'980'670'98, -0.374'300'450'817'251'44,
      1.745'863'355'876'884'3, -6.706'334'097'588'544, 17.261'883'761'190'983, -21.298'613'337'013'407};
  // digamma(3/2) / (3/2 - its zero)
  constexpr Double SLOPE_IN_MIDDLE = {0.951'055'876'031'832'8, 4.330'743'078'649'653e-17};
  constexpr Double ZERO_OF_DIGAMMA = {1.461'632'144'968'362'2, 9.549'995'429'965'697e-17};
  const double at = reflected(x);
  const bool below = at < 1.0, above = at > 2.0, large = at >= 3.0;
  // One step up or down, exactly.
  double step = below ? 1.0 : 0.0;
  step = above ? -1.0 : step;
  const Double y = Double::sum(at, step);
  const double beside = (y.high - ZERO_OF_DIGAMMA.high) + (y.low - ZERO_OF_DIGAMMA.low);
  const double d = y.high - 1.5;
  const Double slope =
      Double::ordered_sum(SLOPE_IN_MIDDLE.high, SLOPE_IN_MIDDLE.low + d * polynomial(d, DIGAMMA_NEAR_ZERO));
  const Double central = slope * beside;
  double divisor = above ? y.high : at;
  divisor = large ? at : divisor;
  const Double inverse = Double::reciprocal(divisor);
  double sign = below ? -1.0 : 0.0;
  sign = above ? 1.0 : sign;
  const Double sum = Double::sum(central.high, sign * inverse.high);
  const double middle = sum.high + (sum.low + (central.low + sign * inverse.low));
  const double t = inverse.high * inverse.high;
  const double series = 0.5 * inverse.high + t * polynomial(t, DIGAMMA);
  const LnTerms terms = ln_terms({at, 0.0});
  const Double log = Double::ordered_sum(terms.of_exponent, terms.of_mantissa);
  double value = large ? log.high + (log.low - series) : middle;
  const SineCosine<double> half_turns = sin_cos_half_turns(x);
  const double cotangent = half_turns.sine == 0.0 ? Constants<double>::nan() : half_turns.cosine / half_turns.sine;
  value = x < 0.0 ? value - PI * cotangent : value;
  value = x == 0.0 || at < 5.6e-309 ? -Constants<double>::infinity() : value;
  return x == Constants<double>::infinity() ? x : value;
}

/// The trigamma function, the slope of digamma: below 3 it is 1/x^2 and more such terms, and the asymptotic series of
/// x + 1 or x + 3; of negative x by reflection. Infinity at 0 and the negative integers.
OCTOPUS_DEVICE double trigamma(double x) {
  // x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)) of 1 / x^2, for x from 3 on.
  constexpr double TRIGAMMA[13] = {
      0.166'666'666'666'666'4, -0.033'333'333'332'561'24, 0.023'809'523'413'200'01, -0.033'333'252'135'751'44,
      0.075'748'767'821'397'01, -0.252'530'666'210'041'17, 1.141'019'910'172'982'8, -6.294'462'335'345'315,
      36.457'629'916'532'08, -187.778'392'267'231'4, 737.145'296'866'696'1, -1'862.822'864'260'937'4,
      2'215.601'826'980'849'6};
  const double at = reflected(x);
  const bool small = at < 2.0, middle = at < 3.0;
  const Double square = Double::product(at, at);
  const Double first = Double{1.0, 0.0}.over(square);
  const double next = at + 1.0, after = at + 2.0;
  const double p = next * next, q = after * after;
  const double rest = (p + q) / (p * q);
  double step = middle ? 1.0 : 0.0;
  step = small ? 3.0 : step;
  const double y = at + step;
  const double inverse = 1.0 / y;
  const double t = inverse * inverse;
  double series = inverse + (0.5 * t + inverse * t * polynomial(t, TRIGAMMA));
  series = small ? rest + series : series;
  const Double sum = Double::sum(first.high, series);
  double value = middle ? sum.high + (sum.low + first.low) : series;
  // 1/x^2 is infinity before it can be split.
  value = at < 1e-154 ? 1.0 / (at * at) : value;
  const double of_sine = PI / sin_cos_half_turns(x).sine;
  value = x < 0.0 ? of_sine * of_sine - value : value;
  return x == -Constants<double>::infinity() ? Constants<double>::nan() : value;
}

}  // namespace exact
}  // namespace octopus
