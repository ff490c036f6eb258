// Entries of one density, precision and shape: 1024 coordinates at most.
#include "hierarchical_normal.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<double, double, 128, 8>;
using Data = octopus::nuts::HierarchicalNormalData<double, double>;
using Launch = octopus::nuts::Launch<double, double>;

extern "C" __global__ void __launch_bounds__(128, 3)
    nuts_run_hierarchical_normal_f64_128x8(Data data, Launch launch) {
  octopus::nuts::run<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    nuts_restart_hierarchical_normal_f64_128x8(Data data, Launch launch) {
  octopus::nuts::restart<Shape, octopus::nuts::HierarchicalNormal>(data, launch);
}
