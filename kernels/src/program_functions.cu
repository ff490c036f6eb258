// The functions that programs of vectors are made of: a module of its own. No run launches it. To the kernel of a
// program crates/program/src/kernel/functions.rs adds an entry's statements, with registers in place of its parameters
// and its store; the entry's name ends in the operation's name.
#include "octopus/exact/digamma.cuh"
#include "octopus/exact/exponential.cuh"
#include "octopus/exact/gamma.cuh"
#include "octopus/exact/logarithm.cuh"
#include "octopus/exact/normal.cuh"
#include "octopus/exact/power.cuh"
#include "octopus/exact/trigonometric.cuh"
#include "octopus/math.cuh"

extern "C" __global__ void __launch_bounds__(32) program_function_exp(double x, double* result) {
  *result = octopus::exp(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_log(double x, double* result) {
  *result = octopus::ln(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_tanh(double x, double* result) {
  *result = octopus::tanh(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_inv_Phi(double x, double* result) {
  *result = octopus::normal_quantile(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_log1p(double x, double* result) {
  *result = octopus::exact::ln_1p(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_expm1(double x, double* result) {
  *result = octopus::exact::exp_m1(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_pow(double x, double y, double* result) {
  *result = octopus::exact::pow(x, y);
}

extern "C" __global__ void __launch_bounds__(32) program_function_lgamma(double x, double* result) {
  *result = octopus::exact::ln_gamma(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_digamma(double x, double* result) {
  *result = octopus::exact::digamma(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_trigamma(double x, double* result) {
  *result = octopus::exact::trigamma(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_Phi(double x, double* result) {
  *result = octopus::exact::phi(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_std_normal_lcdf(double x, double* result) {
  *result = octopus::exact::ln_phi(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_std_normal_lcdf_slope(double x, double* result) {
  *result = octopus::exact::ln_phi_slope(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_sin(double x, double* result) {
  *result = octopus::exact::sin(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_cos(double x, double* result) {
  *result = octopus::exact::cos(x);
}

extern "C" __global__ void __launch_bounds__(32) program_function_atan(double x, double* result) {
  *result = octopus::exact::atan(x);
}
