// Entries of one density, precision and shape, for many data sets: 128 coordinates at most.
#include "hierarchical_normal.cuh"
#include "batch.cuh"

using Shape = octopus::nuts::Shape<double, double, 32, 4>;
using Item = octopus::nuts::Item<octopus::nuts::HierarchicalNormalData<double, double>, double, double>;
using Batch = octopus::nuts::Batch<Item>;

extern "C" __global__ void __launch_bounds__(128, 4)
    nuts_run_batch_hierarchical_normal_f64_32x4(Item first, Batch batch) {
  octopus::nuts::run_batch<Shape, octopus::nuts::HierarchicalNormal>(batch);
}

extern "C" __global__ void __launch_bounds__(128, 4)
    nuts_restart_batch_hierarchical_normal_f64_32x4(Item first, Batch batch) {
  octopus::nuts::restart_batch<Shape, octopus::nuts::HierarchicalNormal>(batch);
}
