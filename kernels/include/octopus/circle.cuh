// Sine, cosine and arctangent: the twin of crates/random/src/exact/circle.rs, operation by operation.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

template <class T> struct SineCosine {
  T sine, cosine;
};

/// sin(pi x / 2) and cos(pi x / 2) for x of [0, 1/2].
OCTOPUS_DEVICE SineCosine<double> sin_cos_quarter(double x) {
  const double z = x * x;
  double sine = 5.633'933'781'537'854e-8;
  sine = sine * z - 3.598'643'352'982'309'7e-6;
  sine = sine * z + 1.604'411'507'421'909'1e-4;
  sine = sine * z - 4.681'754'132'340'976e-3;
  sine = sine * z + 7.969'262'624'604'300'3e-2;
  sine = sine * z - 6.459'640'975'062'463'3e-1;
  double cosine = -6.321'256'869'628'588'4e-9;
  cosine = cosine * z + 4.710'609'726'757'823e-7;
  cosine = cosine * z - 2.520'203'677'046'025'8e-5;
  cosine = cosine * z + 9.192'602'741'831'557'2e-4;
  cosine = cosine * z - 2.086'348'076'331'120'9e-2;
  cosine = cosine * z + 2.536'695'079'010'467'1e-1;
  cosine = cosine * z - 1.233'700'550'136'169'8;
  return {x * (1.570'796'326'794'896'6 + (z * sine + 6.123'233'995'736'766e-17)), 1.0 + z * cosine};
}

OCTOPUS_DEVICE SineCosine<float> sin_cos_quarter(float x) {
  const float z = x * x;
  float sine = 1.582'063'0e-4f;
  sine = sine * z - 4.681'266'3e-3f;
  sine = sine * z + 7.969'258'3e-2f;
  sine = sine * z - 6.459'641e-1f;
  float cosine = 9.036'280'7e-4f;
  cosine = cosine * z - 2.086'007e-2f;
  cosine = cosine * z + 2.536'692e-1f;
  cosine = cosine * z - 1.233'700'5f;
  return {x * (1.570'796'4f + (z * sine - 4.371'139e-8f)), 1.0f + z * cosine};
}

/// The arctangent of |r| <= tan(pi / 8).
OCTOPUS_DEVICE double small_arctangent(double r) {
  const double z = r * r;
  double series = -1.917'540'471'111'093'4e-2;
  series = series * z + 3.923'044'778'479'309'5e-2;
  series = series * z - 5.085'407'834'589'484'3e-2;
  series = series * z + 5.858'140'904'866'328'3e-2;
  series = series * z - 6.664'510'525'508'936'6e-2;
  series = series * z + 7.692'183'125'376'892'1e-2;
  series = series * z - 9.090'904'575'306'489'1e-2;
  series = series * z + 1.111'111'101'518'701'9e-1;
  series = series * z - 1.428'571'428'466'568'1e-1;
  series = series * z + 1.999'999'999'999'551'7e-1;
  series = series * z - 3.333'333'333'333'333e-1;
  return r + r * (z * series);
}

OCTOPUS_DEVICE float small_arctangent(float r) {
  const float z = r * r;
  float series = -6.451'719e-2f;
  series = series * z + 1.074'366'8e-1f;
  series = series * z - 1.426'395e-1f;
  series = series * z + 1.999'954e-1f;
  series = series * z - 3.333'333'2e-1f;
  return r + r * (z * series);
}

/// The arctangent of above / below, in [0, pi/2], for two numbers that are not negative and not both 0.
template <class T> OCTOPUS_DEVICE T arctangent(T above, T below) {
  constexpr bool WIDE_TYPE = sizeof(T) == 8;
  constexpr T TANGENT = WIDE_TYPE ? (T)0.414'213'562'373'095'05 : (T)0.414'213'56f;
  constexpr T QUARTER = WIDE_TYPE ? (T)0.785'398'163'397'448'3 : (T)0.785'398'16f;
  constexpr T HALF = WIDE_TYPE ? (T)1.570'796'326'794'896'6 : (T)1.570'796'4f;
  const bool steep = above > below;
  const T small = steep ? below : above;
  const T big = steep ? above : below;
  const bool beside = small > TANGENT * big;
  const T numerator = beside ? small - big : small;
  const T denominator = beside ? small + big : big;
  T angle = small_arctangent(numerator / denominator);
  angle = beside ? QUARTER + angle : angle;
  return steep ? HALF - angle : angle;
}

}  // namespace octopus
