// Entries of one density, precision and shape: 128 coordinates at most.
#include "hierarchical_normal.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<float, float, 32, 4>;
using Data = octopus::nuts::HierarchicalNormalData<float, float>;
using Launch = octopus::nuts::Launch<float, float>;

extern "C" __global__ void __launch_bounds__(128, 7)
    nuts_run_hierarchical_normal_f32_32x4(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 7)
    nuts_restart_hierarchical_normal_f32_32x4(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}
