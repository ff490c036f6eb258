//! The posterior of phase 0 against quadrature: mean and standard deviation of every variable within 4 Monte
//! Carlo standard errors, 5 for the many z and mu_group, with the PRD's settings and no divergence.

use crate::monte_carlo::run;
use octopus_density::{GroupedData, LogDensity};
use octopus_models::exact::{ExactPosterior, Quantity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{MetricKind, Parameterization, SamplerConfig};

fn prd(seed: u64) -> SamplerConfig {
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed, ..Default::default() }
}

pub(crate) fn check(data: GroupedData, likelihood: Likelihood, configs: impl IntoIterator<Item = SamplerConfig>) {
    assert_eq!(divergences(data, likelihood, configs), 0);
}

/// Checks all moments and returns the number of divergences.
fn divergences(data: GroupedData, likelihood: Likelihood, configs: impl IntoIterator<Item = SamplerConfig>) -> usize {
    let prior = HierarchicalPrior::default();
    let exact = ExactPosterior::compute(&data, &prior).expect("converges");
    let groups = data.groups();
    let model = HierarchicalNormal::new(data, prior, likelihood).expect("valid");
    let mut divergences = 0;
    for config in configs {
        let (seed, parameterization) = (config.seed, config.parameterization);
        let draws = run(&model, config);
        divergences += draws.divergences();
        let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
        for (variable, range) in model.layout().ranges() {
            let factor = if variable.dims.is_empty() { 4.0 } else { 5.0 };
            for (index, [mean, sd]) in moments[range].iter().enumerate() {
                let quantity = Quantity::named(&variable.name, index).expect("has an exact posterior");
                let expected = exact.moments(quantity);
                let name = variable.element_name(index);
                let what = format!("{groups} groups, seed {seed}, {parameterization:?}, {name}");
                mean.check(&format!("{what} mean"), expected.mean, factor);
                sd.check(&format!("{what} sd"), expected.sd, factor);
            }
        }
    }
    divergences
}

pub(crate) fn balanced(groups: usize) -> GroupedData {
    HierarchicalSpec { groups, ..Default::default() }.generate().expect("valid").data
}

pub(crate) fn unbalanced(groups: usize) -> GroupedData {
    HierarchicalSpec { groups, ..Default::default() }.unbalanced().expect("valid").data
}

#[test]
fn balanced_100_groups() {
    check(balanced(100), Likelihood::Collapsed, (1..=5).map(prd));
}

#[test]
fn balanced_100_groups_pointwise() {
    check(balanced(100), Likelihood::Pointwise, [prd(1)]);
}

#[test]
fn balanced_500_groups() {
    check(balanced(500), Likelihood::Collapsed, [prd(1)]);
}

#[test]
fn balanced_1000_groups() {
    check(balanced(1000), Likelihood::Collapsed, [prd(1)]);
}

#[test]
fn unbalanced_100_groups() {
    check(unbalanced(100), Likelihood::Collapsed, (1..=5).map(prd));
}

#[test]
fn unbalanced_500_groups() {
    check(unbalanced(500), Likelihood::Collapsed, [prd(1)]);
}

/// The posterior does not depend on the coordinates it is sampled in. Coordinates that do not fit the data may
/// diverge now and then: below 1 in 1000, and without a bias that 4 standard errors show.
#[test]
fn every_parameterization_and_metric() {
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered] {
        for metric in [MetricKind::DiagDraws, MetricKind::Diag, MetricKind::LowRank] {
            let spec =
                HierarchicalSpec { groups: 12, per_group: 4, between_sd: 6.0, within_sd: 4.0, ..Default::default() };
            let data = spec.generate().expect("valid").data;
            let config = SamplerConfig { parameterization, metric, ..prd(3) };
            let found = divergences(data, Likelihood::Collapsed, [config]);
            assert!(found <= 8, "{parameterization:?}, {metric:?}: {found} divergences");
        }
    }
}
