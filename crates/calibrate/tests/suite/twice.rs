//! The sampler's self-check.

use crate::{PRIOR, of_sizes, small};
use octopus_calibrate::{SelfCheck, self_check};
use octopus_models::SchoolsSimulator;
use octopus_sampler::{MetricKind, Parameterization, SamplerConfig};

fn all_pass(checks: &[SelfCheck]) {
    assert_eq!(checks.len(), 4);
    assert!(checks.iter().all(|check| check.passed), "{checks:#?}");
}

#[test]
fn every_metric_and_parameterization_agrees_with_the_second_implementation() {
    for metric in [MetricKind::Auto, MetricKind::LowRank, MetricKind::Diag, MetricKind::DiagDraws, MetricKind::Identity]
    {
        for parameterization in [Parameterization::Adaptive, Parameterization::Centered, Parameterization::NonCentered]
        {
            let config = SamplerConfig { metric, parameterization, ..SamplerConfig::default() };
            all_pass(&self_check(&small(PRIOR), 1, &config).unwrap());
        }
    }
    all_pass(&self_check(&SchoolsSimulator::rubin(), 2, &SamplerConfig::default()).unwrap());
}

/// A single observation says nothing of the noise, so that nothing is standardised.
#[test]
fn a_hierarchy_without_information_is_checked_as_it_is() {
    all_pass(&self_check(&of_sizes(&[1], PRIOR), 3, &SamplerConfig::default()).unwrap());
}
