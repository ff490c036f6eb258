// Entries of one density, precision and shape: 512 coordinates at most.
#include "hierarchical_normal.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<double, double, 128, 4>;
using Data = octopus::nuts::HierarchicalNormalData<double, double>;
using Launch = octopus::nuts::Launch<double, double>;

extern "C" __global__ void __launch_bounds__(128, 4)
    nuts_run_hierarchical_normal_f64_128x4(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 4)
    nuts_restart_hierarchical_normal_f64_128x4(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}
