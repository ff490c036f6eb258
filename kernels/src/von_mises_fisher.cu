// Unit vectors by their number: row i of out is draw first + i of a key, of `dimensions` numbers. `refused` becomes 1 where
// all turns of a draw are refused, `most` of them. Any grid of blocks of 256 threads does the whole array.
#pragma once
#include "octopus/von_mises_fisher.cuh"

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_fisher_f32(float* out, unsigned long long key, unsigned long long first, unsigned long long n, const float* direction,
                              unsigned dimensions, float concentration, unsigned most, unsigned* refused) {
  octopus::von_mises_fisher_draws(out, key, first, n, direction, dimensions, concentration, most, refused);
}

extern "C" __global__ void __launch_bounds__(256)
    draw_von_mises_fisher_f64(double* out, unsigned long long key, unsigned long long first, unsigned long long n, const double* direction,
                              unsigned dimensions, double concentration, unsigned most, unsigned* refused) {
  octopus::von_mises_fisher_draws(out, key, first, n, direction, dimensions, concentration, most, refused);
}
