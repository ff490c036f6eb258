//! How the draws of a run are diagnosed.

use crate::RunRecord;
use octopus_diag::{DiagnoseOptions, SettingsInUse};
use octopus_sampler::{MetricKind, Parameterization, Strategy};

/// Returns how the draws of a run are to be diagnosed: what its settings mean for the checks.
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
