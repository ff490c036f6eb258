// Draws of distributions by their number: out[i] is draw first + i of a key. `refused` becomes 1 where all turns of a draw
// are refused, `most` of them. Any grid of blocks of 256 threads does the whole array.
#pragma once
#include "octopus/draws.cuh"
#include "octopus/grid.cuh"

extern "C" __global__ void __launch_bounds__(256)
    draw_uniform_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float low, float width,
                 float unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::UniformDraw<float>::make(low, width, unused);
  octopus::draws_of_one_turn<float>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_uniform_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double low, double width,
                 double unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::UniformDraw<double>::make(low, width, unused);
  octopus::draws_of_one_turn<double>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_normal_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float loc, float scale,
                 float unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::NormalDraw<float>::make(loc, scale, unused);
  octopus::draws_of_one_turn<float>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_normal_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double loc, double scale,
                 double unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::NormalDraw<double>::make(loc, scale, unused);
  octopus::draws_of_one_turn<double>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_exponential_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float scale, float unused,
                 float unused_too, unsigned most, unsigned* refused) {
  const auto distribution = octopus::ExponentialDraw<float>::make(scale, unused, unused_too);
  octopus::draws_of_one_turn<float>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_exponential_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double scale, double unused,
                 double unused_too, unsigned most, unsigned* refused) {
  const auto distribution = octopus::ExponentialDraw<double>::make(scale, unused, unused_too);
  octopus::draws_of_one_turn<double>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_gamma_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float shape, float scale,
                 float unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::GammaDraw<float>::make(shape, scale, unused);
  octopus::draws<float>(out, key, first, n, most, refused, [=](octopus::u64) { return distribution; });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_gamma_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double shape, double scale,
                 double unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::GammaDraw<double>::make(shape, scale, unused);
  octopus::draws<double>(out, key, first, n, most, refused, [=](octopus::u64) { return distribution; });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float loc, float concentration,
                 float unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::VonMisesDraw<float>::make(loc, concentration, unused);
  octopus::draws<float>(out, key, first, n, most, refused, [=](octopus::u64) { return distribution; });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double loc, double concentration,
                 double unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::VonMisesDraw<double>::make(loc, concentration, unused);
  octopus::draws<double>(out, key, first, n, most, refused, [=](octopus::u64) { return distribution; });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_wrapped_normal_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float loc, float scale,
                 float unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::WrappedNormalDraw<float>::make(loc, scale, unused);
  octopus::draws_of_one_turn<float>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_wrapped_normal_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double loc, double scale,
                 double unused, unsigned most, unsigned* refused) {
  const auto distribution = octopus::WrappedNormalDraw<double>::make(loc, scale, unused);
  octopus::draws_of_one_turn<double>(out, key, first, n, distribution);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_beta_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float a, float b,
                 float unused, unsigned most, unsigned* refused) {
  octopus::each(n, [=](octopus::u64 i) {
    out[i] = octopus::beta_draw<float>(a, b, key, first + i, most, refused);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_beta_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double a, double b,
                 double unused, unsigned most, unsigned* refused) {
  octopus::each(n, [=](octopus::u64 i) {
    out[i] = octopus::beta_draw<double>(a, b, key, first + i, most, refused);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_student_t_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, float df, float loc,
                 float scale, unsigned most, unsigned* refused) {
  octopus::each(n, [=](octopus::u64 i) {
    out[i] = octopus::student_t_draw<float>(df, loc, scale, key, first + i, most, refused);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_student_t_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, double df, double loc,
                 double scale, unsigned most, unsigned* refused) {
  octopus::each(n, [=](octopus::u64 i) {
    out[i] = octopus::student_t_draw<double>(df, loc, scale, key, first + i, most, refused);
  });
}

// Each draw has parameters of its own: draw i is in row i / columns, and a parameter's element for row r and column c is
// r * its row stride + c * its column stride.

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_each_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n,
                          const float* loc, unsigned long long loc_row, unsigned long long loc_column,
                          const float* concentration, unsigned long long concentration_row,
                          unsigned long long concentration_column, unsigned long long columns, unsigned most,
                          unsigned* refused) {
  octopus::draws<float>(out, key, first, n, most, refused, [=](octopus::u64 index) {
    const octopus::u64 row = index / columns, column = index % columns;
    return octopus::VonMisesDraw<float>::make(
        loc[row * loc_row + column * loc_column],
        concentration[row * concentration_row + column * concentration_column], 0);
  });
}

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_each_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n,
                          const double* loc, unsigned long long loc_row, unsigned long long loc_column,
                          const double* concentration, unsigned long long concentration_row,
                          unsigned long long concentration_column, unsigned long long columns, unsigned most,
                          unsigned* refused) {
  octopus::draws<double>(out, key, first, n, most, refused, [=](octopus::u64 index) {
    const octopus::u64 row = index / columns, column = index % columns;
    return octopus::VonMisesDraw<double>::make(
        loc[row * loc_row + column * loc_column],
        concentration[row * concentration_row + column * concentration_column], 0);
  });
}
