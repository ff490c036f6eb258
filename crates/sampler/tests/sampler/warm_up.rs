//! What warm-up learns, from the draws that it says it learns from.

use crate::densities::Gaussian;
use octopus_density::synthetic::HierarchicalSpec;
use octopus_density::{GroupedData, HierarchicalNormal, HierarchicalPrior, Likelihood, LogDensity};
use octopus_sampler::{MetricKind, Parameterization, Phase, Sampler, SamplerConfig, WindowConfig};

/// Runs warm-up one iteration at a time; returns each chain's draws and, wherever the adaptation changed, the
/// number of iterations done and the diagonal learned.
type Learned = Vec<(usize, Vec<f64>)>;

fn warm_up<D: LogDensity>(density: &D, config: SamplerConfig) -> (Vec<Vec<f64>>, Learned) {
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
        let config = SamplerConfig { tune: 1000, draws: 1, metric, ..Default::default() };
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

/// Each lambda is the data's share I / (1 + I) of its effect's precision, I = n sigma_pop^2 / sigma_obs^2 being
/// the data's over the prior's (Papaspiliopoulos et al. 2007), whether the data are strong or weak: the mean share over the
/// range of log sigma_pop in the last window.
///
/// One window's lambda is as noisy as a variance of its gradients, and rounded to a grid of 1 / 32; the mean over
/// seeds is not.
#[test]
fn centering_is_the_share_of_the_data() {
    const SEEDS: u64 = 16;
    for (between_sd, within_sd) in [(10.0, 2.0), (3.0, 4.0), (2.0, 4.0)] {
        let spec = HierarchicalSpec { groups: 40, between_sd, within_sd, ..Default::default() };
        let density = model(spec.unbalanced().expect("valid").data);
        // The posterior means of (sigma_pop / sigma_obs)^2 and of sigma_pop^2, and how far log sigma_pop goes: the last
        // window has about as many draws as are drawn here.
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        let mut ranges = Vec::new();
        let mut mean_lambda = vec![0.0; 40];
        for seed in 0..SEEDS {
            let config = SamplerConfig { tune: 1000, draws: 500, seed, ..Default::default() };
            let mut sampler = Sampler::new(&density, config).expect("starts");
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
                if block.phase == Phase::Sampling {
                    for x in block.chains.iter().flat_map(|chain| chain.positions.chunks_exact(43)) {
                        sum += (2.0 * (x[41] - x[42])).exp();
                        squares += (2.0 * x[41]).exp();
                        count += 1.0;
                        (low, high) = (x[41].min(low), x[41].max(high));
                    }
                }
            }
            ranges.push((low, high));
            let lambda = sampler.adaptation().centerings[0].lambda();
            for (mean, lambda) in mean_lambda.iter_mut().zip(lambda) {
                *mean += lambda / SEEDS as f64;
            }
            let distinct = lambda.iter().any(|l| l.to_bits() != lambda[0].to_bits());
            assert!(distinct, "unbalanced data need different centerings: {lambda:?}");
        }
        let mut mean_error = 0.0;
        for (j, lambda) in mean_lambda.iter().enumerate() {
            let n = density.data().group(j).len() as f64;
            // Var(d log p / d z) = 1 + n E (sigma_pop / sigma_obs)^2.
            let share_at = |log_scale: f64| {
                let information = n * sum / count * (2.0 * log_scale).exp() / (squares / count);
                information / (1.0 + information)
            };
            let mean_share = |&(low, high): &(f64, f64)| {
                (0..100).map(|k| share_at(low + (high - low) * (f64::from(k) + 0.5) / 100.0)).sum::<f64>() / 100.0
            };
            let share = ranges.iter().map(mean_share).sum::<f64>() / SEEDS as f64;
            assert!((lambda - share).abs() < 0.03, "{between_sd}, {within_sd}: group {j} of {n}: {lambda} {share}");
            mean_error += (lambda - share) / 40.0;
        }
        assert!(mean_error.abs() < 0.01, "{between_sd}, {within_sd}: {mean_error}");
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
