// Entries of one density, precision and shape, each chain by a team of blocks: 1024 coordinates at most.
#include "hierarchical_normal_team.cuh"
#include "run.cuh"

using Shape = octopus::nuts::Shape<double, double, 128, 8>;
using Data = octopus::nuts::HierarchicalNormalTeamData<double, double>;
using Launch = octopus::nuts::Launch<double, double>;
using Team = octopus::nuts::Team<double, double>;

extern "C" __global__ void __launch_bounds__(128, 2)
    nuts_run_hierarchical_normal_f64_128x8_team(Data data, Launch launch, Team team) {
  octopus::nuts::run_team<Shape, octopus::nuts::HierarchicalNormalTeam>({data, team}, launch);
}

extern "C" __global__ void __launch_bounds__(128, 2)
    nuts_restart_hierarchical_normal_f64_128x8_team(Data data, Launch launch, Team team) {
  octopus::nuts::restart_team<Shape, octopus::nuts::HierarchicalNormalTeam>({data, team}, launch);
}
