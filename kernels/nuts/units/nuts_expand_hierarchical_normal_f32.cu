// Entries of one density and precision: draws to variables, and to replicated observations.
#include "expand.cuh"
#include "hierarchical_normal_draw.cuh"

using Draw = octopus::nuts::HierarchicalNormalDraw<float, float>;
using Data = octopus::nuts::HierarchicalNormalData<float, float>;
using Observations = octopus::nuts::HierarchicalNormalObservations;
using Expansion = octopus::nuts::Expansion<float>;
using Prediction = octopus::nuts::Prediction<float>;

extern "C" __global__ void __launch_bounds__(128)
    nuts_expand_hierarchical_normal_f32(Data data, Expansion launch) {
  octopus::nuts::expand<Draw>(data, launch);
}

extern "C" __global__ void __launch_bounds__(128)
    nuts_predict_hierarchical_normal_f32(Data data, Observations observations, Prediction launch) {
  octopus::nuts::predict<Draw>(data, observations, launch);
}
