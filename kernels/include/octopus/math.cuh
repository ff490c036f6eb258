// Elementary functions made of + - * /, square roots and bit moves only: the twin of crates/random/src/exact.rs (f64)
// and crates/random/src/exact/single.rs (f32), operation by operation. Each operation is correctly rounded on every
// processor and none may be contracted, so the bits are the same on CPU and GPU. Whoever changes a line here changes it
// there; crates/random/tests/host_bits.rs compares the two over millions of points.
//
// Of a NaN only that it is one is promised, not its bits: processors differ in those.
#pragma once
#include "octopus/portable.cuh"

namespace octopus {

/// What a logarithm asks of x = m 2^exponent, m about 1, before its one division: m - 1 and m + 1.
template <class T> struct LnParts {
  T above, below, exponent;
};

/// |x|: the sign bit is cleared, of a NaN as well.
OCTOPUS_DEVICE double absolute(double x) { return from_bits(to_bits(x) & 0x7fffffffffffffffull); }
OCTOPUS_DEVICE float absolute(float x) { return from_bits(to_bits(x) & 0x7fffffffu); }

/// x, and 0 for what is below 0. A NaN is not below, and stays; so does -0.
template <class T> OCTOPUS_DEVICE T relu(T x) { return x < (T)0 ? (T)0 : x; }

/// x between two limits: first no less than `low`, then no more than `high`. A NaN stays.
template <class T> OCTOPUS_DEVICE T clip(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

// --- f64 ---------------------------------------------------------------------------------------------------------------

/// e^x; 0 below -708 and infinity above 709.
OCTOPUS_DEVICE double exp(double x) {
  // ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact.
  constexpr double LN2_HIGH = 6.931'471'803'691'238e-1;
  constexpr double LN2_LOW = 1.908'214'929'270'587'7e-10;
  // 1.5 * 2^52: adding it rounds to an integer and leaves that integer in the low bits.
  constexpr double ROUND = 6'755'399'441'055'744.0;
  // Beyond the ends all of this means nothing, and is not asked for.
  const double shifted = x * 1.442'695'040'888'963'4 + ROUND;
  const double n = shifted - ROUND;
  const double r = (x - n * LN2_HIGH) - n * LN2_LOW;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double p01 = 1.0 + r;
  const double p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
  const double p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
  const double p67 = 1.0 / 720.0 + r * (1.0 / 5'040.0);
  const double p89 = 1.0 / 40'320.0 + r * (1.0 / 362'880.0);
  const double p1011 = 1.0 / 3'628'800.0 + r * (1.0 / 39'916'800.0);
  const double p1213 = 1.0 / 479'001'600.0 + r * (1.0 / 6'227'020'800.0);
  const double low = p01 + r2 * p23;
  const double middle = p45 + r2 * p67;
  const double high = (p89 + r2 * p1011) + r4 * p1213;
  const double polynomial = low + r4 * (middle + r4 * high);
  const double scale = from_bits((to_bits(shifted) + 1023) << 52);
  const double value = x > 709.0 ? Constants<double>::infinity() : polynomial * scale;
  return x < -708.0 ? 0.0 : value;
}

/// e^x - 1 for x in [0, 80]. tanh x is t / (t + 2) with t = e^(2|x|) - 1, which is made without the 1: near 0 no digit is lost.
OCTOPUS_DEVICE double exp_minus_one(double x) {
  constexpr double LN2_HIGH = 6.931'471'803'691'238e-1;
  constexpr double LN2_LOW = 1.908'214'929'270'587'7e-10;
  constexpr double ROUND = 6'755'399'441'055'744.0;
  const double shifted = x * 1.442'695'040'888'963'4 + ROUND;
  const double n = shifted - ROUND;
  const double r = (x - n * LN2_HIGH) - n * LN2_LOW;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
  const double p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
  const double p67 = 1.0 / 720.0 + r * (1.0 / 5'040.0);
  const double p89 = 1.0 / 40'320.0 + r * (1.0 / 362'880.0);
  const double p1011 = 1.0 / 3'628'800.0 + r * (1.0 / 39'916'800.0);
  const double p1213 = 1.0 / 479'001'600.0 + r * (1.0 / 6'227'020'800.0);
  const double low = p23 + r2 * p45;
  const double high = (p67 + r2 * p89) + r4 * (p1011 + r2 * p1213);
  const double polynomial = r + r2 * (low + r4 * high);
  const double scale = from_bits((to_bits(shifted) + 1023) << 52);
  return scale * polynomial + (scale - 1.0);
}

/// The hyperbolic tangent. A NaN is not above the limit, and stays.
OCTOPUS_DEVICE double tanh(double x) {
  double size = absolute(x);
  size = size > 20.0 ? 20.0 : size;
  const double grown = exp_minus_one(size + size);
  const double value = grown / (grown + 2.0);
  return from_bits(to_bits(value) | (to_bits(x) & 0x8000000000000000ull));
}

/// 1 / (1 + e^-x), by e^-|x| alone; 0 below -708.
OCTOPUS_DEVICE double sigmoid(double x) {
  const double small = exp(-absolute(x));
  const double above = x < 0.0 ? small : 1.0;
  return above / (1.0 + small);
}

OCTOPUS_DEVICE LnParts<double> ln_parts(double x) {
  constexpr double ROUND = 6'755'399'441'055'744.0;
  const u64 bits = to_bits(x);
  const double mantissa = from_bits((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  const bool upper = mantissa > 1.414'213'562'373'095'1;
  const double m = upper ? 0.5 * mantissa : mantissa;
  const double exponent = from_bits((bits >> 52) | 0x4338000000000000ull) - ROUND;
  return {m - 1.0, m + 1.0, upper ? exponent - 1022.0 : exponent - 1023.0};
}

/// ln x, given the exponent of its parts and the quotient `s` of the others.
OCTOPUS_DEVICE double ln_of_parts(double x, double e, double s) {
  constexpr double LN2_HIGH = 6.931'471'803'691'238e-1;
  constexpr double LN2_LOW = 1.908'214'929'270'587'7e-10;
  const double z = s * s;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
  const double high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0));
  const double tail = 1.0 / 19.0 + z * (1.0 / 21.0);
  const double series = z * (low + z4 * (high + z4 * tail));
  double value = e * LN2_HIGH + (2.0 * s + (2.0 * s * series + e * LN2_LOW));
  value = x < 2.2250738585072014e-308 ? -Constants<double>::infinity() : value;
  value = x == Constants<double>::infinity() ? x : value;
  return x >= 0.0 ? value : Constants<double>::nan();
}

/// The natural logarithm of a normal positive number; -infinity at 0 and below the normal range, NaN for negative
/// numbers.
OCTOPUS_DEVICE double ln(double x) {
  const LnParts<double> parts = ln_parts(x);
  return ln_of_parts(x, parts.exponent, parts.above / parts.below);
}

/// -ln(1 - x) for x of (0, 1/2], with its digits where it is small.
OCTOPUS_DEVICE double minus_ln_of_rest(double x) {
  const double rest = 1.0 - x;
  const LnParts<double> parts = ln_parts(rest);
  const bool near = x < 0.25;
  const double s = (near ? -x : parts.above) / (near ? 2.0 - x : parts.below);
  return -ln_of_parts(rest, near ? 0.0 : parts.exponent, s);
}

/// A polynomial of degree 7, lowest coefficient first, in Estrin's order.
OCTOPUS_DEVICE double polynomial(double x, double c0, double c1, double c2, double c3, double c4, double c5, double c6,
                                 double c7) {
  const double x2 = x * x;
  const double x4 = x2 * x2;
  return ((c0 + c1 * x) + (c2 + c3 * x) * x2) + ((c4 + c5 * x) + (c6 + c7 * x) * x2) * x4;
}

/// AS 241 for |p - 1/2| <= 0.425, given q = p - 1/2.
OCTOPUS_DEVICE double quantile_center(double q) {
  const double r = 0.180625 - q * q;
  const double numerator = polynomial(r, 3.387'132'872'796'366'5, 1.331'416'678'917'843'8e2, 1.971'590'950'306'551'4e3,
                                      13'731.693'765'509'46, 4.592'195'393'154'987e4, 67'265.770'927'008'7,
                                      33'430.575'583'588'13, 2.509'080'928'730'122'7e3);
  const double denominator = polynomial(r, 1.0, 4.231'333'070'160'091e1, 6.871'870'074'920'579e2,
                                        5.394'196'021'424'751e3, 2.121'379'430'158'659'7e4, 3.930'789'580'009'271e4,
                                        2.872'908'573'572'194'3e4, 5.226'495'278'852'545e3);
  return q * numerator / denominator;
}

/// |x| at a radius sqrt(-ln(min(p, 1 - p))) up to 5.
OCTOPUS_DEVICE double quantile_near_tail(double radius) {
  const double r = radius - 1.6;
  return polynomial(r, 1.423'437'110'749'683'5, 4.630'337'846'156'546, 5.769'497'221'460'691, 3.647'848'324'763'204'5,
                    1.270'458'252'452'368'4, 2.417'807'251'774'506e-1, 2.272'384'498'926'918'4e-2,
                    7.745'450'142'783'414e-4) /
         polynomial(r, 1.0, 2.053'191'626'637'759, 1.676'384'830'183'803'8, 6.897'673'349'851e-1,
                    1.481'039'764'274'800'8e-1, 1.519'866'656'361'645'7e-2, 5.475'938'084'995'345e-4,
                    1.050'750'071'644'416'9e-9);
}

/// |x| at a radius above 5.
OCTOPUS_DEVICE double quantile_far_tail(double radius) {
  const double r = radius - 5.0;
  return polynomial(r, 6.657'904'643'501'103, 5.463'784'911'164'114, 1.784'826'539'917'291'3,
                    2.965'605'718'285'048'7e-1, 2.653'218'952'657'612'4e-2, 1.242'660'947'388'078'4e-3,
                    2.711'555'568'743'487'6e-5, 2.010'334'399'292'288'1e-7) /
         polynomial(r, 1.0, 5.998'322'065'558'88e-1, 1.369'298'809'227'358e-1, 1.487'536'129'085'061'5e-2,
                    7.868'691'311'456'133e-4, 1.846'318'317'510'054'8e-5, 1.421'511'758'316'446e-7,
                    2.044'263'103'389'939'8e-15);
}

/// The quantile function of the standard normal distribution at p in (0, 1): Wichura's algorithm AS 241, PPND16.
OCTOPUS_DEVICE double normal_quantile(double p) {
  const double q = p - 0.5;
  if ((q < 0.0 ? -q : q) <= 0.425) return quantile_center(q);
  const bool upper = p > 0.5;
  const double radius = root(-ln(upper ? 1.0 - p : p));
  const double size = radius <= 5.0 ? quantile_near_tail(radius) : quantile_far_tail(radius);
  return upper ? size : -size;
}

// --- f32 ---------------------------------------------------------------------------------------------------------------

/// e^x; 0 below -87 and infinity above 88.
OCTOPUS_DEVICE float exp(float x) {
  constexpr float LN2_HIGH = 0.693'145'75f;
  constexpr float LN2_LOW = 1.428'606'8e-6f;
  // 1.5 * 2^23.
  constexpr float ROUND = 12'582'912.0f;
  // Beyond the ends all of this means nothing, and is not asked for.
  const float shifted = x * 1.442'695f + ROUND;
  const float n = shifted - ROUND;
  const float r = (x - n * LN2_HIGH) - n * LN2_LOW;
  const float r2 = r * r;
  const float p23 = 1.0f / 2.0f + r * (1.0f / 6.0f);
  const float p45 = 1.0f / 24.0f + r * (1.0f / 120.0f);
  const float p67 = 1.0f / 720.0f + r * (1.0f / 5'040.0f);
  const float polynomial = 1.0f + (r + r2 * (p23 + r2 * (p45 + r2 * p67)));
  const float scale = from_bits((to_bits(shifted) + 127) << 23);
  const float value = x > 88.0f ? Constants<float>::infinity() : polynomial * scale;
  return x < -87.0f ? 0.0f : value;
}

/// e^x - 1 for x in [0, 80].
OCTOPUS_DEVICE float exp_minus_one(float x) {
  constexpr float LN2_HIGH = 0.693'145'75f;
  constexpr float LN2_LOW = 1.428'606'8e-6f;
  constexpr float ROUND = 12'582'912.0f;
  const float shifted = x * 1.442'695f + ROUND;
  const float n = shifted - ROUND;
  const float r = (x - n * LN2_HIGH) - n * LN2_LOW;
  const float r2 = r * r;
  const float p23 = 1.0f / 2.0f + r * (1.0f / 6.0f);
  const float p45 = 1.0f / 24.0f + r * (1.0f / 120.0f);
  const float p67 = 1.0f / 720.0f + r * (1.0f / 5'040.0f);
  const float polynomial = r + r2 * (p23 + r2 * (p45 + r2 * p67));
  const float scale = from_bits((to_bits(shifted) + 127) << 23);
  return scale * polynomial + (scale - 1.0f);
}

/// The hyperbolic tangent, of n ln(2)/2 and a rest r by their sum's rule. A NaN is not above the limit, and stays.
OCTOPUS_DEVICE float tanh(float x) {
  // 1.5 * 2^23 and the bias of exponents: the low bits are an exponent.
  constexpr float BIASED_ROUND = 12'583'039.0f;
  float size = absolute(x);
  size = size > 10.0f ? 10.0f : size;
  const float shifted = BIASED_ROUND - size * 2.885'390'04f;
  const float minus_n = shifted - BIASED_ROUND;
  const float w = from_bits(to_bits(shifted) << 23);
  const float r = size + minus_n * 0.346'573'59f;
  const float r2 = r * r;
  const float p = r + (r * r2) * (-0.333'310'84f + r2 * 0.131'022'13f);
  const float less = 1.0f - w, more = 1.0f + w;
  const float value = (less + more * p) / (more + less * p);
  return from_bits(to_bits(value) | (to_bits(x) & 0x80000000u));
}

/// 1 / (1 + e^-x), by e^-|x| alone; 0 below -87.
OCTOPUS_DEVICE float sigmoid(float x) {
  const float small = exp(-absolute(x));
  const float above = x < 0.0f ? small : 1.0f;
  return above / (1.0f + small);
}

OCTOPUS_DEVICE LnParts<float> ln_parts(float x) {
  constexpr float ROUND = 12'582'912.0f;
  const u32 bits = to_bits(x);
  const float mantissa = from_bits((bits & 0x007fffffu) | 0x3f800000u);
  const bool upper = mantissa > 1.414'213'5f;
  const float m = upper ? 0.5f * mantissa : mantissa;
  const float exponent = from_bits((bits >> 23) | 0x4b400000u) - ROUND;
  return {m - 1.0f, m + 1.0f, upper ? exponent - 126.0f : exponent - 127.0f};
}

/// ln x, given the exponent of its parts and the quotient `s` of the others.
OCTOPUS_DEVICE float ln_of_parts(float x, float e, float s) {
  constexpr float LN2_HIGH = 0.693'145'75f;
  constexpr float LN2_LOW = 1.428'606'8e-6f;
  const float z = s * s;
  const float z2 = z * z;
  const float series = z * ((1.0f / 3.0f + z * (1.0f / 5.0f)) + z2 * (1.0f / 7.0f + z * (1.0f / 9.0f)));
  float value = e * LN2_HIGH + (2.0f * s + (2.0f * s * series + e * LN2_LOW));
  value = x < 1.17549435e-38f ? -Constants<float>::infinity() : value;
  value = x == Constants<float>::infinity() ? x : value;
  return x >= 0.0f ? value : Constants<float>::nan();
}

/// The natural logarithm of a normal positive number; -infinity at 0 and below the normal range, NaN for negative
/// numbers.
OCTOPUS_DEVICE float ln(float x) {
  const LnParts<float> parts = ln_parts(x);
  return ln_of_parts(x, parts.exponent, parts.above / parts.below);
}

/// -ln(1 - x) for x of (0, 1/2], with its digits where it is small.
OCTOPUS_DEVICE float minus_ln_of_rest(float x) {
  const float rest = 1.0f - x;
  const LnParts<float> parts = ln_parts(rest);
  const bool near = x < 0.25f;
  const float s = (near ? -x : parts.above) / (near ? 2.0f - x : parts.below);
  return -ln_of_parts(rest, near ? 0.0f : parts.exponent, s);
}

/// A polynomial of degree 3, lowest coefficient first, in Estrin's order.
OCTOPUS_DEVICE float polynomial(float x, float c0, float c1, float c2, float c3) {
  return (c0 + c1 * x) + (c2 + c3 * x) * (x * x);
}

/// The quantile function of the standard normal distribution at p in (0, 1): Wichura's algorithm AS 241, PPND7.
OCTOPUS_DEVICE float normal_quantile(float p) {
  const float q = p - 0.5f;
  if ((q < 0.0f ? -q : q) <= 0.425f) {
    const float r = 0.180625f - q * q;
    return q * polynomial(r, 3.387'132'717'9f, 5.043'427'193'8e1f, 1.592'911'320'2e2f, 5.910'937'472'0e1f) /
           polynomial(r, 1.0f, 1.789'516'946'9e1f, 7.875'775'766'4e1f, 6.718'756'360'0e1f);
  }
  const bool upper = p > 0.5f;
  const float radius = root(-ln(upper ? 1.0f - p : p));
  float size;
  if (radius <= 5.0f) {
    const float r = radius - 1.6f;
    size = polynomial(r, 1.423'437'277'7f, 2.756'815'390'0f, 1.306'728'481'6f, 1.702'382'110'3e-1f) /
           polynomial(r, 1.0f, 7.370'016'425'0e-1f, 1.202'113'297'5e-1f, 0.0f);
  } else {
    const float r = radius - 5.0f;
    size = polynomial(r, 6.657'905'115'0f, 3.081'226'386'0f, 4.286'829'433'7e-1f, 1.733'720'399'7e-2f) /
           polynomial(r, 1.0f, 2.419'789'422'5e-1f, 1.225'820'263'5e-2f, 0.0f);
  }
  return upper ? size : -size;
}

}  // namespace octopus
