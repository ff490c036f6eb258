//! Simulation-based calibration (Talts et al. 2018): parameters from the prior, data from the parameters, draws
//! from the posterior of the data. The rank of the true value among the draws is uniform when, and in practice
//! only when, prior, likelihood, Jacobians, coordinates and sampler fit together.

use octopus_density::{GroupedData, Labels, LogDensity};
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_random::{Purpose, Stream};
use octopus_sampler::{Parameterization, Phase, Sampler, SamplerConfig};
use rayon::prelude::*;

/// Observations of each group.
const SIZES: [usize; 5] = [1, 2, 4, 7, 12];
const PRIOR: HierarchicalPrior =
    HierarchicalPrior { mu_mean: 3.0, mu_sd: 2.0, sigma_pop_scale: 1.5, sigma_obs_scale: 1.0 };
const DATA_SETS: u32 = 320;
/// Draws of each run, and every which one is kept: kept draws are nearly independent.
const DRAWS: usize = 630;
const THIN: usize = 10;
/// 63 kept draws: ranks 0 to 63, in 16 bins of 4.
const BINS: usize = 16;
/// The quantile 1 - 2e-5 of chi-square with 15 degrees of freedom: a false alarm in 10^4 runs of the 5 tests
/// of each parameterization.
const LIMIT: f64 = 48.6;

const QUANTITIES: [&str; 5] = ["mu_pop", "sigma_pop", "sigma_obs", "z[0]", "log likelihood"];

fn quantities(model: &HierarchicalNormal, position: &[f64]) -> [f64; 5] {
    let groups = SIZES.len();
    let mut log_likelihood = vec![0.0; model.observations()];
    model.log_likelihood(position, &mut log_likelihood);
    [position[groups], position[groups + 1], position[groups + 2], position[0], log_likelihood.iter().sum()]
}

/// The ranks of the true values in one data set.
fn ranks(number: u32, parameterization: Parameterization) -> [usize; 5] {
    let mut random = Stream::new(77, number, 0, Purpose::User);
    let groups = SIZES.len();
    let mut truth: Vec<f64> = (0..groups).map(|_| random.normal()).collect();
    truth.push(PRIOR.mu_mean + PRIOR.mu_sd * random.normal());
    truth.push((PRIOR.sigma_pop_scale * random.normal().abs()).ln());
    truth.push((PRIOR.sigma_obs_scale * random.normal().abs()).ln());
    let (mu, sigma_pop, sigma_obs) = (truth[groups], truth[groups + 1].exp(), truth[groups + 2].exp());
    let group: Vec<usize> = (0..groups).flat_map(|j| std::iter::repeat_n(j, SIZES[j])).collect();
    let y: Vec<f64> = group.iter().map(|&j| mu + sigma_pop * truth[j] + sigma_obs * random.normal()).collect();
    let data = GroupedData::new(Labels::Range(groups), &group, &y).expect("valid");
    let model = HierarchicalNormal::new(data, PRIOR, Likelihood::Collapsed).expect("valid");
    let expected = quantities(&model, &truth);

    let config = SamplerConfig {
        draws: DRAWS,
        tune: 400,
        chains: 1,
        target_accept: 0.9,
        seed: u64::from(number),
        parameterization,
        ..Default::default()
    };
    let mut sampler = Sampler::new(&model, config).expect("starts");
    let mut ranks = [0; 5];
    while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
        if block.phase == Phase::Sampling {
            for position in block.chains[0].positions.chunks_exact(model.dim()).step_by(THIN) {
                for ((rank, found), expected) in ranks.iter_mut().zip(quantities(&model, position)).zip(expected) {
                    *rank += usize::from(found < expected);
                }
            }
        }
    }
    ranks
}

fn calibrated(parameterization: Parameterization) {
    let all: Vec<[usize; 5]> = (0..DATA_SETS).into_par_iter().map(|number| ranks(number, parameterization)).collect();
    let expected = f64::from(DATA_SETS) / BINS as f64;
    for (q, name) in QUANTITIES.into_iter().enumerate() {
        let mut counts = [0.0; BINS];
        for ranks in &all {
            counts[ranks[q] * BINS / (DRAWS / THIN + 1)] += 1.0;
        }
        let chi_square: f64 = counts.iter().map(|n: &f64| (n - expected) * (n - expected) / expected).sum();
        println!("{parameterization:?} {name}: chi-square {chi_square:.1}, counts {counts:?}");
        assert!(chi_square < LIMIT, "{parameterization:?} {name}: chi-square {chi_square}, counts {counts:?}");
    }
}

#[test]
fn ranks_are_uniform_with_adaptive_centering() {
    calibrated(Parameterization::Adaptive);
}

#[test]
fn ranks_are_uniform_without_centering() {
    calibrated(Parameterization::NonCentered);
}
