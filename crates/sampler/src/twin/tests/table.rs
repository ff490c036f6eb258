//! The runs that are compared.

use crate::scenario::{model, prd, short};
use crate::{MetricKind, Parameterization, SamplerConfig};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood};

/// A model and how it is sampled.
pub(super) type Case<D = HierarchicalNormal> = (D, SamplerConfig);

const PARAMETERIZATIONS: [Parameterization; 3] =
    [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive];
const METRICS: [MetricKind; 4] = [MetricKind::Diag, MetricKind::DiagDraws, MetricKind::LowRank, MetricKind::Auto];

/// The PRD's run, from its first iteration to its last: kernels of 32x4.
pub(super) fn the_prd_run() -> Vec<Case> {
    vec![(model(100, true, Likelihood::Collapsed), prd())]
}

/// Phase 0, both likelihoods, balanced or not: kernels of 32x4.
pub(super) fn a_hundred_groups() -> Vec<Case> {
    let config = SamplerConfig { draws: 60, tune: 240, ..prd() };
    vec![
        (model(100, true, Likelihood::Collapsed), config.clone()),
        (model(100, true, Likelihood::Pointwise), config.clone()),
        (model(100, false, Likelihood::Collapsed), config.clone()),
        (model(100, false, Likelihood::Pointwise), config),
    ]
}

/// Kernels of 128x4.
pub(super) fn five_hundred_groups() -> Vec<Case> {
    let config = SamplerConfig { draws: 10, tune: 60, ..prd() };
    vec![(model(500, true, Likelihood::Collapsed), config.clone()), (model(500, false, Likelihood::Pointwise), config)]
}

/// Kernels of 128x8.
pub(super) fn a_thousand_groups() -> Vec<Case> {
    let config = SamplerConfig { draws: 10, tune: 40, ..prd() };
    vec![
        (model(1000, false, Likelihood::Collapsed), config.clone()),
        (model(1000, true, Likelihood::Pointwise), config),
    ]
}

/// Every parameterization with every metric, and both likelihoods of each: kernels of 32x1.
pub(super) fn every_parameterization_and_metric() -> Vec<Case> {
    let mut cases = Vec::new();
    for parameterization in PARAMETERIZATIONS {
        for metric in METRICS {
            for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
                let config = SamplerConfig { parameterization, metric, draws: 20, tune: 100, chains: 4, ..short() };
                cases.push((model(10, false, likelihood), config));
            }
        }
    }
    cases
}

/// One group and two, of equally many observations: kernels of 32x1.
pub(super) fn few_groups() -> Vec<Case> {
    let case = |groups| {
        let spec = HierarchicalSpec { groups, per_group: 3, within_sd: 15.0, ..Default::default() };
        let (data, prior) = (spec.generate().expect("valid").data, HierarchicalPrior::default());
        let model = HierarchicalNormal::new(data, prior, Likelihood::Collapsed).expect("valid");
        (model, SamplerConfig { draws: 20, tune: 100, ..short() })
    };
    vec![case(1), case(2)]
}

/// Coordinates that move together, in more directions than kernels sum at a time: kernels of 32x1.
pub(super) fn soft_directions() -> Vec<Case> {
    let (parameterization, metric) = (Parameterization::NonCentered, MetricKind::LowRank);
    let config = |seed| SamplerConfig { draws: 20, tune: 150, seed, parameterization, metric, ..short() };
    (2..8).map(|seed| (model(10, true, Likelihood::Collapsed), config(seed))).collect()
}

/// Trajectories that end for every reason: kernels of 32x1.
pub(super) fn narrow_limits() -> Vec<Case> {
    let config = SamplerConfig { draws: 20, tune: 100, seed: 1, ..short() };
    let shallow = SamplerConfig { max_depth: 2, parameterization: Parameterization::NonCentered, ..config.clone() };
    let strict = SamplerConfig { max_energy_error: 0.5, target_accept: 0.6, ..config.clone() };
    let far = SamplerConfig { parameterization: Parameterization::Centered, ..config };
    let model = |groups, balanced| model(groups, balanced, Likelihood::Collapsed);
    vec![(model(12, false), shallow), (model(12, false), strict), (model(25, true), far)]
}

/// Groups about the sizes from which a group is shared by lanes, and more than one tile of them: kernels of 32x8 for teams.
pub(super) fn large_groups() -> Vec<Case> {
    let spec = HierarchicalSpec { within_sd: 20.0, ..Default::default() };
    let data = spec.with_sizes(&[255, 256, 257, 1, 2047, 2048, 2049, 300, 5000, 4096, 2]).expect("valid").data;
    let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).expect("valid");
    vec![(model, SamplerConfig { draws: 10, tune: 30, ..short() })]
}

/// Another density, in every parameterization.
pub(super) fn eight_schools() -> Vec<Case<EightSchools>> {
    let config = |parameterization| SamplerConfig { parameterization, ..short() };
    PARAMETERIZATIONS.map(|parameterization| (EightSchools::rubin(), config(parameterization))).into()
}
