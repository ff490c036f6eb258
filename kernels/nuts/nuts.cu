// The module: one chain for each warp up to 256 coordinates, for each block of 128 threads above. An entry's name says
// what it runs, the density, the precision, the lanes and the rows of lanes (coordinates / lanes, rounded up).
#include "chain.cuh"
#include "hierarchical_normal.cuh"

namespace octopus::nuts {

/// The chain that this thread's lane belongs to.
template <int L> OCTOPUS_DEVICE u32 chain_of_thread() {
  return (blockIdx.x * blockDim.x + threadIdx.x) / (u32)L;
}

}  // namespace octopus::nuts

// Warps of a block share nothing: blocks of 128 threads serve both kinds, whatever the number of chains.
#define OCTOPUS_NUTS(name, real, lanes, rows)                                                                       \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      nuts_run_##name(octopus::nuts::HierarchicalNormalData<real> data, octopus::nuts::Launch<real> launch) {       \
    using Shape = octopus::nuts::Shape<real, lanes, rows>;                                                          \
    const octopus::u32 chain = octopus::nuts::chain_of_thread<lanes>();                                             \
    if (chain < launch.chains)                                                                                      \
      octopus::nuts::run_chain<Shape, octopus::nuts::HierarchicalNormal>(data, launch, chain);                      \
  }                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      nuts_restart_##name(octopus::nuts::HierarchicalNormalData<real> data, octopus::nuts::Launch<real> launch,     \
                          real target) {                                                                            \
    using Shape = octopus::nuts::Shape<real, lanes, rows>;                                                          \
    const octopus::u32 chain = octopus::nuts::chain_of_thread<lanes>();                                             \
    if (chain < launch.chains)                                                                                      \
      octopus::nuts::restart_chain<Shape, octopus::nuts::HierarchicalNormal>(data, launch, target, chain);          \
  }

OCTOPUS_NUTS(hierarchical_normal_f64_32x1, double, 32, 1)
OCTOPUS_NUTS(hierarchical_normal_f64_32x4, double, 32, 4)
OCTOPUS_NUTS(hierarchical_normal_f64_32x8, double, 32, 8)
OCTOPUS_NUTS(hierarchical_normal_f64_128x4, double, 128, 4)
OCTOPUS_NUTS(hierarchical_normal_f64_128x8, double, 128, 8)
