// Entries of one density, precision and shape: 32 coordinates at most.
#include "eight_schools.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<float, float, 32, 1>;
using Data = octopus::nuts::EightSchoolsData<float, float>;
using Launch = octopus::nuts::Launch<float, float>;

extern "C" __global__ void __launch_bounds__(128, 8)
    nuts_run_eight_schools_f32_32x1(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::EightSchools>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 8)
    nuts_restart_eight_schools_f32_32x1(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::EightSchools>(data, launch);
}
