//! What warm-up learns, from the draws that it says it learns from.

use crate::densities::Gaussian;
use octopus_density::{GroupedData, LogDensity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{MetricKind, Parameterization, Phase, Sampler, SamplerConfig, Strategy, WindowConfig};

/// Runs warm-up one iteration at a time; returns each chain's draws and, wherever the adaptation changed, the
/// number of iterations done and the diagonal learned.
type Learned = Vec<(usize, Vec<f64>)>;

fn warm_up(density: &dyn LogDensity, config: SamplerConfig) -> (Vec<Vec<f64>>, Learned) {
    let tune = config.tune;
    let mut draws = vec![Vec::new(); config.chains];
    let mut sampler = Sampler::new(density, config).expect("starts");
    let mut known = sampler.adaptation().clone();
    let mut learned = Vec::new();
    while sampler.done() < tune {
        let block = sampler.advance(1).expect("runs").expect("more to do");
        assert_eq!(block.phase, Phase::Warmup);
        for (all, chain) in draws.iter_mut().zip(block.chains) {
            all.extend(chain.positions);
        }
        if *sampler.adaptation() != known {
            known = sampler.adaptation().clone();
            learned.push((sampler.done(), known.metric.diagonal.clone()));
        }
    }
    (draws, learned)
}

/// With Stan's windows, the metric changes where Stan says, each time to the variance of exactly the draws of that
/// window, pooled over the chains, with Stan's shrinkage.
#[test]
fn each_metric_is_the_variance_of_its_window() {
    let dim = 4;
    let density = Gaussian::correlated(dim, 0.5);
    let config = SamplerConfig {
        tune: 1000,
        draws: 1,
        chains: 3,
        metric: MetricKind::DiagDraws,
        windows: WindowConfig::STAN,
        strategy: Strategy::FourLong,
        ..Default::default()
    };
    let (draws, learned) = warm_up(&density, config);
    let ends: Vec<usize> = learned.iter().map(|(done, _)| *done).collect();
    assert_eq!(ends, [100, 150, 250, 450, 950]);
    let mut start = 75;
    for (end, diagonal) in learned {
        let rows: Vec<&[f64]> = draws.iter().flat_map(|c| c[start * dim..end * dim].chunks_exact(dim)).collect();
        let n = rows.len() as f64;
        assert_eq!(rows.len(), 3 * (end - start));
        for i in 0..dim {
            let mean = rows.iter().map(|x| x[i]).sum::<f64>() / n;
            let variance = rows.iter().map(|x| (x[i] - mean) * (x[i] - mean)).sum::<f64>() / (n - 1.0);
            let expected = n / (n + 5.0) * variance + 1e-3 * 5.0 / (n + 5.0);
            assert!((diagonal[i] / expected - 1.0).abs() < 1e-10, "window {start}..{end}: {} {expected}", diagonal[i]);
        }
        start = end;
    }
}

/// For a normal distribution with independent coordinates draws and gradients give the variances.
#[test]
fn draws_and_gradients_give_the_variances() {
    let density = Gaussian::correlated(6, 0.0);
    for metric in [MetricKind::Diag, MetricKind::Auto] {
        let config = SamplerConfig { tune: 1000, draws: 1, metric, strategy: Strategy::FourLong, ..Default::default() };
        let (_, learned) = warm_up(&density, config);
        let (_, diagonal) = learned.last().expect("windows");
        for (i, found) in diagonal.iter().enumerate() {
            // Standard deviation over standard deviation of independent-enough draws: exact for a normal one.
            assert!((found / density.variance(i) - 1.0).abs() < 1e-9, "{metric:?} {i}: {found}");
        }
    }
}

fn model(data: GroupedData) -> HierarchicalNormal {
    HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed).expect("valid")
}

/// Standardised effects are standard normal given the scalars, so that the slope of each is its coordinate, negative:
/// draws and gradients of any window give a variance of 1, however much or little the data say.
#[test]
fn effects_are_standardised_from_the_start() {
    for (between_sd, within_sd) in [(10.0, 2.0), (2.0, 4.0)] {
        let spec = HierarchicalSpec { groups: 40, between_sd, within_sd, ..Default::default() };
        let density = model(spec.unbalanced().expect("valid").data);
        let (_, learned) = warm_up(
            &density,
            SamplerConfig { tune: 300, draws: 1, strategy: Strategy::FourLong, ..Default::default() },
        );
        assert!(!learned.is_empty());
        for (done, diagonal) in learned {
            for (j, found) in diagonal[..40].iter().enumerate() {
                assert!((found - 1.0).abs() < 1e-9, "{between_sd}, {within_sd}, {done} iterations: {j} has {found}");
            }
        }
    }
}

/// In non-centered coordinates strong data leave two soft directions, far above the rest; the low-rank metric
/// finds them.
#[test]
fn the_two_soft_directions_are_found() {
    let density = model(HierarchicalSpec::default().generate().expect("valid").data);
    let config = SamplerConfig {
        draws: 1,
        tune: 1000,
        seed: 3,
        strategy: Strategy::FourLong,
        parameterization: Parameterization::NonCentered,
        metric: MetricKind::LowRank,
        ..Default::default()
    };
    let mut sampler = Sampler::new(&density, config).expect("starts");
    while sampler.done() < 1000 {
        sampler.advance(usize::MAX).expect("runs");
    }
    let metric = &sampler.adaptation().metric;
    let mut variances = metric.variances.clone();
    variances.sort_by(f64::total_cmp);
    assert!(variances.len() >= 2, "{variances:?}");
    assert!(variances[variances.len() - 2] > 20.0, "{variances:?}");
    for u in &metric.directions {
        assert!((u.iter().map(|u| u * u).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

/// Whatever coordinates the sampler walks in, `lp` is the density's own log density of the draw.
#[test]
fn lp_is_the_log_density_of_the_draw() {
    let density = model(HierarchicalSpec { groups: 20, ..Default::default() }.unbalanced().expect("valid").data);
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive] {
        let config = SamplerConfig { draws: 50, tune: 200, parameterization, ..Default::default() };
        let mut sampler = Sampler::new(&density, config).expect("starts");
        let mut gradient = vec![0.0; density.dim()];
        while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
            for chain in &block.chains {
                for (x, stats) in chain.positions.chunks_exact(density.dim()).zip(&chain.stats) {
                    let lp = density.logp_grad(x, &mut gradient).expect("finite");
                    assert!((stats.lp - lp).abs() < 1e-9 * lp.abs().max(1.0), "{parameterization:?}: {}", stats.lp);
                    assert!(stats.energy.is_finite() && stats.energy_error < 1000.0);
                }
            }
        }
    }
}
