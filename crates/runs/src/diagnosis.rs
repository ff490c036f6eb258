//! The options with which the draws of a run are diagnosed.

use crate::RunRecord;
use octopus_diag::{DiagnoseOptions, SettingsInUse};
use octopus_sampler::{MetricKind, Parameterization, Strategy};

/// Returns the options for diagnosing a run's draws, made from the run's settings.
pub fn diagnose_options(record: &RunRecord) -> DiagnoseOptions {
    let sampler = &record.sampler;
    DiagnoseOptions {
        max_tree_depth: Some(sampler.max_depth),
        superchains: (sampler.strategy == Strategy::ManyShort).then_some(sampler.superchains),
        settings: Some(SettingsInUse {
            adaptive_coordinates: sampler.parameterization == Parameterization::Adaptive,
            low_rank_metric: matches!(sampler.metric, MetricKind::Auto | MetricKind::LowRank),
            target_accept: sampler.target_accept,
        }),
        ..DiagnoseOptions::default()
    }
}
