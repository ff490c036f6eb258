// Entries of one density, precision and shape: 32 coordinates at most.
#include "eight_schools.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<float, double, 32, 1>;
using Data = octopus::nuts::EightSchoolsData<float, double>;
using Launch = octopus::nuts::Launch<float, double>;

extern "C" __global__ void __launch_bounds__(128, 5)
    nuts_run_eight_schools_mixed_32x1(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::EightSchools>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 5)
    nuts_restart_eight_schools_mixed_32x1(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::EightSchools>(data, launch);
}
