// Element-wise operations on arrays. Any grid of blocks of 256 threads does the whole array; `out` may be an input.
#pragma once
#include "octopus/grid.cuh"
#include "octopus/half.cuh"
#include "octopus/math.cuh"

extern "C" __global__ void __launch_bounds__(256) array_fill_f32(float* out, float value, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = value; });
}
extern "C" __global__ void __launch_bounds__(256) array_fill_f64(double* out, double value, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = value; });
}

extern "C" __global__ void __launch_bounds__(256) array_copy_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i]; });
}
extern "C" __global__ void __launch_bounds__(256) array_copy_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_copy_f16(const octopus::f16* x, octopus::f16* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i]; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_add_f32(const float* x, const float* y, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] + y[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_add_f64(const double* x, const double* y, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] + y[i]; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_sub_f32(const float* x, const float* y, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] - y[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_sub_f64(const double* x, const double* y, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] - y[i]; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_mul_f32(const float* x, const float* y, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] * y[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_mul_f64(const double* x, const double* y, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] * y[i]; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_div_f32(const float* x, const float* y, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] / y[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_div_f64(const double* x, const double* y, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] / y[i]; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_scale_f32(float a, const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = a * x[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_scale_f64(double a, const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = a * x[i]; });
}

// Two roundings: the product's and the sum's.
extern "C" __global__ void __launch_bounds__(256)
    array_axpy_f32(float a, const float* x, const float* y, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = a * x[i] + y[i]; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_axpy_f64(double a, const double* x, const double* y, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = a * x[i] + y[i]; });
}

extern "C" __global__ void __launch_bounds__(256) array_exp_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::exp(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_exp_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::exp(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_ln_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::ln(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_ln_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::ln(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_sqrt_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::root(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_sqrt_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::root(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_tanh_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::tanh(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_tanh_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::tanh(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_sigmoid_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::sigmoid(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_sigmoid_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::sigmoid(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_relu_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::relu(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_relu_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::relu(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256) array_abs_f32(const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::absolute(x[i]); });
}
extern "C" __global__ void __launch_bounds__(256) array_abs_f64(const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::absolute(x[i]); });
}

extern "C" __global__ void __launch_bounds__(256)
    array_add_scalar_f32(float a, const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] + a; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_add_scalar_f64(double a, const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] + a; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_div_scalar_f32(float a, const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] / a; });
}
extern "C" __global__ void __launch_bounds__(256)
    array_div_scalar_f64(double a, const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = x[i] / a; });
}

extern "C" __global__ void __launch_bounds__(256)
    array_clip_f32(float low, float high, const float* x, float* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::clip(x[i], low, high); });
}
extern "C" __global__ void __launch_bounds__(256)
    array_clip_f64(double low, double high, const double* x, double* out, unsigned long long n) {
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::clip(x[i], low, high); });
}
