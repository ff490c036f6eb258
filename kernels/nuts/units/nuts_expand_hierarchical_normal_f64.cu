// Entries of one density and precision: draws to variables, and to replicated observations.
#include "expand.cuh"
#include "hierarchical_normal_draw.cuh"

using Draw = octopus::nuts::HierarchicalNormalDraw<double, double>;
using Data = octopus::nuts::HierarchicalNormalData<double, double>;
using Observations = octopus::nuts::HierarchicalNormalObservations;
using Expansion = octopus::nuts::Expansion<double>;
using Prediction = octopus::nuts::Prediction<double>;

extern "C" __global__ void __launch_bounds__(128)
    nuts_expand_hierarchical_normal_f64(Data data, Expansion launch) {
  octopus::nuts::expand<Draw>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_predict_hierarchical_normal_f64(Data data, Observations observations, Prediction launch) {
  octopus::nuts::predict<Draw>(data, observations, launch);
}
