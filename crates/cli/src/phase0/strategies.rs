//! What is compared with the run's own configuration.

use octopus_sampler::{MetricKind, Parameterization, SamplerConfig};

/// The same number of draws in more and shorter chains, and other coordinates and metrics in the same chains.
pub(super) fn strategies(base: &SamplerConfig) -> Vec<(String, SamplerConfig)> {
    let split = |factor: usize, name: &str| {
        let config =
            SamplerConfig { chains: base.chains * factor, draws: (base.draws / factor).max(1), ..base.clone() };
        (format!("{} chains x {} draws{name}", config.chains, config.draws), config)
    };
    let with = |name: &str, parameterization, metric| {
        (name.to_owned(), SamplerConfig { parameterization, metric, ..base.clone() })
    };
    vec![
        split(1, " (four-long)"),
        split(4, ""),
        split(16, " (many-short)"),
        with("adaptive centering, low-rank metric", Parameterization::Adaptive, MetricKind::LowRank),
        with("adaptive centering, diagonal metric", Parameterization::Adaptive, MetricKind::Diag),
        with("centered, diagonal metric", Parameterization::Centered, MetricKind::Diag),
        with("non-centered, low-rank metric", Parameterization::NonCentered, MetricKind::LowRank),
        with("non-centered, diagonal metric", Parameterization::NonCentered, MetricKind::Diag),
        with("non-centered, diagonal metric as Stan's", Parameterization::NonCentered, MetricKind::DiagDraws),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spend_the_same_number_of_draws() {
        let base = SamplerConfig { draws: 2000, chains: 4, ..SamplerConfig::default() };
        for (label, config) in strategies(&base) {
            assert_eq!(config.chains * config.draws, 8000, "{label}");
            assert!(config.validate().is_ok(), "{label}");
        }
    }
}
