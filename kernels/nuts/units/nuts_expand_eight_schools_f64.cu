// Entries of one density and precision: draws to variables, and to replicated observations.
#include "expand.cuh"
#include "eight_schools_draw.cuh"

using Draw = octopus::nuts::EightSchoolsDraw<double, double>;
using Data = octopus::nuts::EightSchoolsData<double, double>;
using Observations = octopus::nuts::EightSchoolsObservations<double>;
using Expansion = octopus::nuts::Expansion<double>;
using Prediction = octopus::nuts::Prediction<double>;

extern "C" __global__ void __launch_bounds__(128)
    nuts_expand_eight_schools_f64(Data data, Expansion launch) {
  octopus::nuts::expand<Draw>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_predict_eight_schools_f64(Data data, Observations observations, Prediction launch) {
  octopus::nuts::predict<Draw>(data, observations, launch);
}
