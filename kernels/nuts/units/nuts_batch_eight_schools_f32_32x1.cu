// Entries of one density, precision and shape, for many data sets: 32 coordinates at most. (Of eight blocks ptxas would
// make room on sm_86 by a spill.)
#include "eight_schools.cuh"
#include "batch.cuh"

using Shape = octopus::nuts::Shape<float, float, 32, 1>;
using Item = octopus::nuts::Item<octopus::nuts::EightSchoolsData<float, float>, float, float>;
using Batch = octopus::nuts::Batch<Item>;

extern "C" __global__ void __launch_bounds__(128, 7)
    nuts_run_batch_eight_schools_f32_32x1(Item first, Batch batch) {
  octopus::nuts::run_batch<Shape, octopus::nuts::EightSchools>(batch);
}

extern "C" __global__ void __launch_bounds__(128, 7)
    nuts_restart_batch_eight_schools_f32_32x1(Item first, Batch batch) {
  octopus::nuts::restart_batch<Shape, octopus::nuts::EightSchools>(batch);
}
