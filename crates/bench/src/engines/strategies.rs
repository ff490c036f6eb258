//! The strategies and samplers that the benchmark compares with the run's own: other numbers of chains, coordinates,
//! metrics, and algorithms.

use octopus_sampler::{Algorithm, MetricKind, Parameterization, SamplerConfig, Strategy};

/// The configuration of the PRD's words.
pub(super) const LITERAL: &str = "non-centered, diagonal metric";

/// Returns configurations with their labels, all with the same number of draws: the run's own, its chains with the other
/// warm-up, more and shorter chains, and the run's chains with other metrics and, for a model with hierarchies, other coordinates.
pub(super) fn strategies(base: &SamplerConfig, hierarchical: bool) -> Vec<(String, SamplerConfig)> {
    let many_short = |factor: usize| {
        let chains = base.chains * factor;
        let SamplerConfig { strategy, superchains, .. } = SamplerConfig::many_short(chains);
        let draws = (base.draws / factor).max(1);
        let config = SamplerConfig { strategy, chains, superchains, draws, ..base.clone() };
        (format!("{chains} chains x {draws} draws (many-short)"), config)
    };
    let own = base.strategy.name();
    let other = match base.strategy {
        Strategy::FourLong => Strategy::CrossChain,
        Strategy::CrossChain | Strategy::ManyShort => Strategy::FourLong,
    };
    let other = SamplerConfig { strategy: other, ..base.clone() };
    let other = (format!("{} chains x {} draws ({})", base.chains, base.draws, other.strategy.name()), other);
    let with = |name: &str, parameterization, metric| {
        (name.to_owned(), SamplerConfig { parameterization, metric, ..base.clone() })
    };
    let mut literal = with(LITERAL, Parameterization::NonCentered, MetricKind::Diag).1;
    literal.strategy = Strategy::FourLong;
    let mut all = vec![
        (format!("{} chains x {} draws ({own})", base.chains, base.draws), base.clone()),
        other,
        many_short(4),
        many_short(16),
        many_short(100),
    ];
    if hierarchical {
        all.extend([
            with("standardised effects, low-rank metric", Parameterization::Adaptive, MetricKind::LowRank),
            with("standardised effects, diagonal metric", Parameterization::Adaptive, MetricKind::Diag),
            with("centered, diagonal metric", Parameterization::Centered, MetricKind::Diag),
            with("non-centered, low-rank metric", Parameterization::NonCentered, MetricKind::LowRank),
            (LITERAL.to_owned(), literal),
            with("non-centered, diagonal metric as Stan's", Parameterization::NonCentered, MetricKind::DiagDraws),
        ]);
    } else {
        all.extend([
            with("low-rank metric", base.parameterization, MetricKind::LowRank),
            with("diagonal metric", base.parameterization, MetricKind::Diag),
            with("diagonal metric as Stan's", base.parameterization, MetricKind::DiagDraws),
        ]);
    }
    all
}

/// Returns every sampler that moves chains with its name: the run's own as it is, the others with their default settings and with the target
/// of acceptance that suits each. They sample a density of `dim` coordinates.
pub(super) fn samplers(base: &SamplerConfig, dim: usize) -> Vec<(String, SamplerConfig)> {
    let of = |name: &&str| {
        let algorithm = Algorithm::named(name).filter(|algorithm| algorithm.name() != base.algorithm.name());
        let config = match algorithm {
            Some(algorithm) => SamplerConfig { target_accept: algorithm.target_accept(), algorithm, ..base.clone() },
            None => base.clone(),
        };
        ((*name).to_owned(), config)
    };
    let fits = |algorithm: Algorithm| !algorithm.draws_population() && algorithm.least_dim() <= dim;
    let moves = |name: &&&str| Algorithm::named(name).is_some_and(fits);
    Algorithm::NAMES.iter().filter(moves).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spend_the_same_number_of_draws() {
        let base = SamplerConfig { draws: 2000, chains: 4, ..SamplerConfig::default() };
        for (label, config) in [true, false].into_iter().flat_map(|hierarchical| strategies(&base, hierarchical)) {
            assert_eq!(config.chains * config.draws, 8000, "{label}");
            assert!(config.validate().is_ok(), "{label}");
        }
        for (name, config) in samplers(&base, 3) {
            assert_eq!((config.algorithm.name(), config.draws), (name.as_str(), 2000));
            assert_eq!(config == base, name == "nuts");
        }
        assert!(samplers(&base, 1).iter().all(|(name, _)| name != "mams"));
        let plain = strategies(&base, false);
        assert!(plain.iter().all(|(label, _)| !label.contains("centered") && !label.contains("effects")));
    }
}
