// What a draw of the hierarchical normal says: the twin of `expand` and `predict` in
// crates/models/src/hierarchical_normal/density.rs.
#pragma once
#include "hierarchical_normal.cuh"

namespace octopus::nuts {

/// The observations besides the model's data: `HierarchicalNormal::observation_data` in crates/models.
struct HierarchicalNormalObservations {
  u32 count;
  /// The group of each observation.
  const u32* group;
};

static_assert(sizeof(HierarchicalNormalObservations) == 16, "the host packs it");

template <class R_, class T_> struct HierarchicalNormalDraw {
  using R = R_;
  using T = T_;
  using Data = HierarchicalNormalData<R, T>;
  using Observations = HierarchicalNormalObservations;

  OCTOPUS_DEVICE static u32 dim(const Data& data) { return data.groups + 3; }
  OCTOPUS_DEVICE static u32 width(const Data& data) { return 3 + 2 * data.groups; }
  OCTOPUS_DEVICE static u32 count(const Data&, const Observations& observations) { return observations.count; }

  u32 groups;
  const R* z;
  R mu_pop, sigma_pop, sigma_obs;

  OCTOPUS_DEVICE HierarchicalNormalDraw(const Data& data, const R* position)
      : groups(data.groups),
        z(position),
        mu_pop(position[data.groups]),
        sigma_pop((R)exp((T)position[data.groups + 1])),
        sigma_obs((R)exp((T)position[data.groups + 2])) {}

  /// Value `index` of the layout: mu_pop, sigma_pop, sigma_obs, z, mu_group.
  OCTOPUS_DEVICE R variable(u32 index) const {
    if (index == 0) return mu_pop;
    if (index == 1) return sigma_pop;
    if (index == 2) return sigma_obs;
    return index < 3 + groups ? z[index - 3] : mu_group(index - 3 - groups);
  }

  /// Observation `index` as the standard normal number `normal` makes it.
  OCTOPUS_DEVICE R observation(const Observations& observations, u32 index, R normal) const {
    return mu_group(observations.group[index]) + sigma_obs * normal;
  }

 private:
  OCTOPUS_DEVICE R mu_group(u32 group) const { return mu_pop + sigma_pop * z[group]; }
};

}  // namespace octopus::nuts
