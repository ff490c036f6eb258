// The fast variant of von Mises draws in f32: products and sums are fused, quotients and the exponential approximated, so
// that draws are those of `draw_von_mises_f32` but for their last digits, and for the few whose test falls on the other
// side. Any grid of blocks of 256 threads does the whole array.
#pragma once
#include "octopus/draws.cuh"

namespace octopus {

struct VonMisesFastDraw {
  VonMisesDraw<float> exact;

  OCTOPUS_DEVICE bool needs_extra() const { return false; }
  OCTOPUS_DEVICE Proposal<float> propose(u32 first, u32 second) const {
    const float x = Numbers<float>::distance(first), z = x * x;
    // The polynomials of `sin_cos_quarter`.
    float sine = fused(1.582'063'0e-4f, z, -4.681'266'3e-3f);
    sine = fused(sine, z, 7.969'258'3e-2f);
    sine = fused(sine, z, -6.459'641e-1f);
    sine = x * fused(sine, z, 1.570'796'4f);
    float cosine = fused(9.036'280'7e-4f, z, -2.086'007e-2f);
    cosine = fused(cosine, z, 2.536'692e-1f);
    cosine = fused(cosine, z, -1.233'700'5f);
    cosine = fused(cosine, z, 1.0f);
    const bool far_half = Numbers<float>::far_half(first);
    const float above = far_half ? cosine : sine;
    const float below = far_half ? sine : cosine;
    const float sides = above * above;
    const float quotient = exact.growth * sides * quick_reciprocal(fused(exact.square, sides, below * below));
    const float y = exact.least + quotient;
    const bool taken = Numbers<float>::uniform(second) <= y * quick_exp2(fused(y, -1.442'695f, 1.442'695f));
    const float tangent = exact.shrink * above;
    return {Numbers<float>::negative(first) ? -tangent : tangent, below, taken};
  }
  OCTOPUS_DEVICE float finish(float above, float below, u32) const {
    const float size = absolute(above);
    const bool steep = size > below;
    const float r = (steep ? below : size) * quick_reciprocal(steep ? size : below), z = r * r;
    // Twice the arctangent of [0, 1], within 1e-7 of itself: of least relative error for its degree (Remez).
    float series = fused(-9.386'550'5e-3f, z, 4.850'479'9e-2f);
    series = fused(series, z, -1.189'727'7e-1f);
    series = fused(series, z, 1.982'858'4e-1f);
    series = fused(series, z, -2.803'895'8e-1f);
    series = fused(series, z, 3.993'944'8e-1f);
    series = fused(series, z, -6.666'398e-1f);
    const float small = r * fused(series, z, 1.999'999'8f);
    const float angle = steep ? 3.141'592'7f - small : small;
    return turned(exact.loc, above < 0.0f ? -angle : angle);
  }
};

}  // namespace octopus

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_f32_fast(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float loc,
                            float concentration, float unused, unsigned most, unsigned* refused) {
  const octopus::VonMisesFastDraw distribution = {octopus::VonMisesDraw<float>::make(loc, concentration, unused)};
  octopus::draws<float>(out, key, first, n, most, refused, [=](octopus::u64) { return distribution; });
}
