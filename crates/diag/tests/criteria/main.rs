//! The PRD's criteria on the PRD's model and settings, on balanced and on unbalanced data: R-hat below 1.01, bulk and tail
//! ESS above 400 for every parameter, no divergence, and means, sds and intervals that are the exact posterior's. Five seeds
//! of 100 groups, one of 500 and of 1000; with `--run-ignored all` five of each.

use octopus_density::LogDensity;
use octopus_diag::summary;
use octopus_models::exact::{ExactPosterior, Quantity};
use octopus_models::synthetic::{HierarchicalSpec, Synthetic};
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{Phase, Sampler, SamplerConfig};
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;

type Seeds = std::ops::RangeInclusive<u64>;

const ALL: Seeds = 1..=5;
const PROB: f64 = 0.89;

/// Every value of the posterior, as one variable, and the number of divergences.
fn draw(model: &HierarchicalNormal, config: SamplerConfig) -> (Dataset, usize) {
    let (dim, width) = (model.dim(), model.layout().width());
    let (chains, draws) = (config.chains, config.draws);
    let mut values = vec![0.0; chains * draws * width];
    let mut divergences = 0;
    let mut sampler = Sampler::new(model, config).expect("starts");
    while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
        if block.phase == Phase::Warmup {
            continue;
        }
        for (c, chain) in block.chains.iter().enumerate() {
            divergences += chain.stats.iter().filter(|stats| stats.diverging).count();
            for (d, x) in chain.positions.chunks_exact(dim).enumerate() {
                let at = (c * draws + block.first + d) * width;
                model.expand(x, &mut values[at..at + width]);
            }
        }
    }
    let mut posterior = Dataset::default();
    posterior.insert("x", Array::new([("chain", chains), ("draw", draws), ("value", width)], Values::F64(values)));
    (posterior, divergences)
}

fn check(made: Synthetic, spec: &HierarchicalSpec, seeds: Seeds) {
    let prior = HierarchicalPrior::default();
    let exact = ExactPosterior::compute(&made.data, &prior).expect("converges");
    let groups = made.data.groups();
    let model = HierarchicalNormal::new(made.data, prior, Likelihood::Collapsed).expect("valid");
    let quantities: Vec<(String, usize)> = model
        .layout()
        .ranges()
        .flat_map(|(variable, range)| (0..range.len()).map(|index| (variable.name.clone(), index)))
        .collect();
    let exact_hdi: Vec<(f64, f64)> = quantities
        .into_par_iter()
        .map(|(name, index)| {
            let interval = exact.hdi(Quantity::named(&name, index).expect("known"), PROB);
            (interval.low, interval.high)
        })
        .collect();
    for seed in seeds {
        let config =
            SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed, ..Default::default() };
        let (posterior, divergences) = draw(&model, config);
        assert_eq!(divergences, 0, "{groups} groups, seed {seed}");
        let found = summary(&posterior, PROB).expect("whole");
        println!(
            "{groups} groups, seed {seed}: max R-hat {:.4}, min bulk-ESS {:.0}, min tail-ESS {:.0}",
            found.max_rhat(),
            found.min_ess_bulk(),
            found.min_ess_tail(),
        );
        for (variable, range) in model.layout().ranges() {
            let factor = if variable.dims.is_empty() { 4.0 } else { 5.0 };
            for (index, at) in range.enumerate() {
                let what = format!("{groups} groups, seed {seed}, {}", variable.element_name(index));
                let found = &found.parameters[at];
                assert!(found.rhat < 1.01, "{what}: R-hat {}", found.rhat);
                assert!(found.ess_bulk > 400.0, "{what}: bulk-ESS {}", found.ess_bulk);
                assert!(found.ess_tail > 400.0, "{what}: tail-ESS {}", found.ess_tail);
                let quantity = Quantity::named(&variable.name, index).expect("known");
                let expected = exact.moments(quantity);
                let (mean, sd) = (found.mean - expected.mean, found.sd - expected.sd);
                assert!(mean.abs() < factor * found.mcse_mean, "{what}: mean {} {expected:?}", found.mean);
                assert!(sd.abs() < factor * found.mcse_sd, "{what}: sd {} {expected:?}", found.sd);

                let truth = match quantity {
                    Quantity::MuPop => spec.mean,
                    Quantity::SigmaPop => spec.between_sd,
                    Quantity::SigmaObs => spec.within_sd,
                    Quantity::Z(j) => (made.group_means[j] - spec.mean) / spec.between_sd,
                    Quantity::MuGroup(j) => made.group_means[j],
                };
                let (low, high) = exact_hdi[at];
                // Where the truth lies on the very edge, the draws cannot tell: within a fifth of an sd.
                let edge = f64::min((truth - low).abs(), (truth - high).abs());
                if edge > 0.2 * expected.sd {
                    let inside = found.hdi[0] <= truth && truth <= found.hdi[1];
                    assert_eq!(inside, low <= truth && truth <= high, "{what}: {:?} {low} {high}", found.hdi);
                }
            }
        }
    }
}

fn balanced(groups: usize, seeds: Seeds) {
    let spec = HierarchicalSpec { groups, ..Default::default() };
    check(spec.generate().expect("valid"), &spec, seeds);
}

/// Groups of 1 to 30 observations.
fn unbalanced(groups: usize, seeds: Seeds) {
    let spec = HierarchicalSpec { groups, ..Default::default() };
    check(spec.unbalanced().expect("valid"), &spec, seeds);
}

#[test]
fn balanced_100() {
    balanced(100, ALL);
}

#[test]
fn unbalanced_100() {
    unbalanced(100, ALL);
}

#[test]
fn balanced_500() {
    balanced(500, 1..=1);
}

#[test]
fn unbalanced_500() {
    unbalanced(500, 2..=2);
}

#[test]
fn balanced_1000() {
    balanced(1000, 3..=3);
}

#[test]
#[ignore = "minutes: five seeds of 500 and of 1000 groups"]
fn every_seed() {
    for groups in [500, 1000] {
        balanced(groups, ALL);
        unbalanced(groups, ALL);
    }
}
