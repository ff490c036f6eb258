// Entries of one density, precision and shape, each chain by a team of blocks: 256 coordinates at most.
#include "hierarchical_normal_team.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<float, float, 32, 8>;
using Data = octopus::nuts::HierarchicalNormalTeamData<float, float>;
using Launch = octopus::nuts::Launch<float, float>;
using Team = octopus::nuts::Team<float, float>;

extern "C" __global__ void __launch_bounds__(128, 3)
    nuts_run_hierarchical_normal_f32_32x8_team(Data data, Launch launch, Team team) {
  octopus::nuts::run_team<Shape, octopus::nuts::HierarchicalNormalTeam>({data, team}, launch);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    nuts_restart_hierarchical_normal_f32_32x8_team(Data data, Launch launch, Team team) {
  octopus::nuts::restart_team<Shape, octopus::nuts::HierarchicalNormalTeam>({data, team}, launch);
}
