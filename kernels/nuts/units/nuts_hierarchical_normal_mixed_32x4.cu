// Entries of one density, precision and shape: 128 coordinates at most.
#include "hierarchical_normal.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<float, double, 32, 4>;
using Data = octopus::nuts::HierarchicalNormalData<float, double>;
using Launch = octopus::nuts::Launch<float, double>;

extern "C" __global__ void __launch_bounds__(128, 5)
    nuts_run_hierarchical_normal_mixed_32x4(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 5)
    nuts_restart_hierarchical_normal_mixed_32x4(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}
