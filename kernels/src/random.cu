// The numbers of a stream, out[i] being number i: what a machine is held to against the CPU's generator.
// Any grid of blocks of 256 threads does the whole array.
#pragma once
#include "octopus/grid.cuh"
#include "octopus/math.cuh"
#include "octopus/philox.cuh"

extern "C" __global__ void __launch_bounds__(256)
    random_uniform_f64(double* out, unsigned long long seed, unsigned chain, unsigned iteration, unsigned purpose, unsigned long long n) {
  const octopus::Stream numbers = octopus::stream(seed, chain, iteration, purpose);
  octopus::each(n, [=](octopus::u64 i) { out[i] = numbers.uniform_at(i); });
}

extern "C" __global__ void __launch_bounds__(256)
    random_normal_f64(double* out, unsigned long long seed, unsigned chain, unsigned iteration, unsigned purpose, unsigned long long n) {
  const octopus::Stream numbers = octopus::stream(seed, chain, iteration, purpose);
  octopus::each(n, [=](octopus::u64 i) { out[i] = octopus::normal_quantile(numbers.uniform_at(i)); });
}
