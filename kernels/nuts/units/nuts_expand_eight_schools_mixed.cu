// Entries of one density and precision: draws to variables, and to replicated observations.
#include "expand.cuh"
#include "eight_schools_draw.cuh"

using Draw = octopus::nuts::EightSchoolsDraw<float, double>;
using Data = octopus::nuts::EightSchoolsData<float, double>;
using Observations = octopus::nuts::EightSchoolsObservations<float>;
using Expansion = octopus::nuts::Expansion<float>;
using Prediction = octopus::nuts::Prediction<float>;

extern "C" __global__ void __launch_bounds__(128)
    nuts_expand_eight_schools_mixed(Data data, Expansion launch) {
  octopus::nuts::expand<Draw>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_predict_eight_schools_mixed(Data data, Observations observations, Prediction launch) {
  octopus::nuts::predict<Draw>(data, observations, launch);
}
