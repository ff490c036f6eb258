//! The options with which the draws of a run are diagnosed.

use crate::RunRecord;
use octopus_diag::{CoordinatesInUse, DiagnoseOptions, SettingsInUse};
use octopus_sampler::{MetricKind, Parameterization};

/// Returns the options for diagnosing a run's draws, made from the run's settings.
pub fn diagnose_options(record: &RunRecord) -> DiagnoseOptions {
    let sampler = &record.sampler;
    DiagnoseOptions {
        max_tree_depth: Some(sampler.max_depth),
        superchains: sampler.nested(),
        settings: Some(SettingsInUse {
            coordinates: coordinates(record),
            low_rank_metric: matches!(sampler.metric, MetricKind::Auto | MetricKind::LowRank),
            target_accept: sampler.target_accept,
        }),
        ..DiagnoseOptions::default()
    }
}

/// Returns the coordinates that the run has used, which are not always those that it was asked for.
fn coordinates(record: &RunRecord) -> CoordinatesInUse {
    if record.sampler.parameterization != Parameterization::Adaptive {
        return CoordinatesInUse::Plain;
    }
    let centerings = record.adaptation.get("centering").and_then(toml::Value::as_array);
    let is_standardised = |centering: &toml::Value| centering.as_str() == Some("standardised");
    match centerings.map(Vec::as_slice) {
        Some([]) => CoordinatesInUse::NoHierarchy,
        Some(all) if !all.iter().any(is_standardised) => CoordinatesInUse::NoInformation,
        // Warm-up that is not over has left no record yet.
        _ => CoordinatesInUse::Adaptive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::{SamplerConfig, Strategy};

    #[test]
    fn settings_of_the_run_reach_its_diagnosis() {
        let of = |sampler| diagnose_options(&RunRecord::new(Default::default(), sampler, Default::default()));
        let plain = SamplerConfig {
            max_depth: 7,
            target_accept: 0.83,
            metric: MetricKind::Diag,
            parameterization: Parameterization::Centered,
            ..SamplerConfig::default()
        };
        let options = of(plain.clone());
        assert_eq!((options.max_tree_depth, options.superchains), (Some(7), None));
        let plain_settings =
            SettingsInUse { coordinates: CoordinatesInUse::Plain, low_rank_metric: false, target_accept: 0.83 };
        assert_eq!(options.settings, Some(plain_settings));
        let many = of(SamplerConfig { strategy: Strategy::ManyShort, superchains: 5, ..plain.clone() });
        assert_eq!(many.superchains, Some(5));
        for metric in [MetricKind::Auto, MetricKind::LowRank] {
            let clever = of(SamplerConfig { metric, parameterization: Parameterization::Adaptive, ..plain.clone() });
            let clever = clever.settings.unwrap();
            assert!(clever.coordinates == CoordinatesInUse::Adaptive && clever.low_rank_metric);
        }
        let used = |centering: &str| {
            let mut record = RunRecord::new(Default::default(), SamplerConfig::default(), Default::default());
            record.adaptation = format!("centering = {centering}").parse().unwrap();
            diagnose_options(&record).settings.unwrap().coordinates
        };
        assert_eq!(used("[]"), CoordinatesInUse::NoHierarchy);
        assert_eq!(used("['non-centered', 'non-centered']"), CoordinatesInUse::NoInformation);
        assert_eq!(used("['standardised']"), CoordinatesInUse::Adaptive);
    }
}
