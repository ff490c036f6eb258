// What a draw of eight schools says: the twin of `expand` and `predict` in crates/models/src/eight_schools/density.rs.
#pragma once
#include "eight_schools.cuh"

namespace octopus::nuts {

/// The observations besides the model's data: `EightSchools::observation_data` in crates/models.
template <class R> struct EightSchoolsObservations {
  /// The standard error of each school.
  const R* sigma;
};

static_assert(sizeof(EightSchoolsObservations<double>) == 8, "the host packs it");

template <class R_, class T_> struct EightSchoolsDraw {
  using R = R_;
  using T = T_;
  using Data = EightSchoolsData<R, T>;
  using Observations = EightSchoolsObservations<R>;

  OCTOPUS_DEVICE static u32 dim(const Data& data) { return data.schools + 2; }
  OCTOPUS_DEVICE static u32 width(const Data& data) { return 2 + 2 * data.schools; }
  OCTOPUS_DEVICE static u32 count(const Data& data, const Observations&) { return data.schools; }

  u32 schools;
  const R* z;
  R mu, tau;

  OCTOPUS_DEVICE EightSchoolsDraw(const Data& data, const R* position)
      : schools(data.schools),
        z(position),
        mu(position[data.schools]),
        tau((R)exp((T)position[data.schools + 1])) {}

  /// Value `index` of the layout: mu, tau, theta, theta_trans.
  OCTOPUS_DEVICE R variable(u32 index) const {
    if (index == 0) return mu;
    if (index == 1) return tau;
    return index < 2 + schools ? theta(index - 2) : z[index - 2 - schools];
  }

  /// Observation `index` as the standard normal number `normal` makes it.
  OCTOPUS_DEVICE R observation(const Observations& observations, u32 index, R normal) const {
    return theta(index) + observations.sigma[index] * normal;
  }

 private:
  OCTOPUS_DEVICE R theta(u32 school) const { return mu + tau * z[school]; }
};

}  // namespace octopus::nuts
