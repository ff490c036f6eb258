//! The cost of a gradient, of a leapfrog with all around it, of a whole run, and of a particle filter.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use octopus_benchmarks::{prd_config, prd_model};
use octopus_density::{Centering, LogDensity, StateSpaceModel};
use octopus_models::Likelihood;
use octopus_models::state_space::{HiddenMarkov, LinearGaussian};
use octopus_sampler::{FilterSize, Phase, Sampler, SamplerConfig, particle_filter};
use std::hint::black_box;
use std::time::{Duration, Instant};

const GROUPS: [usize; 3] = [100, 500, 1000];
const LIKELIHOODS: [(&str, Likelihood); 2] =
    [("collapsed", Likelihood::Collapsed), ("pointwise", Likelihood::Pointwise)];

fn gradient(c: &mut Criterion) {
    for (name, likelihood) in LIKELIHOODS {
        for (coordinates, centering) in [("", Centering::Standardised), ("-centered", Centering::Centered)] {
            let mut group = c.benchmark_group(format!("gradient/{name}{coordinates}"));
            for groups in GROUPS {
                let model = prd_model(groups, likelihood).expect("the PRD's data");
                let own = model.data();
                let start = |j: usize| match centering {
                    // Centered effects are the group means: start them at the data's.
                    Centering::Centered => own.group(j).iter().sum::<f64>() / own.group(j).len() as f64,
                    Centering::Standardised | Centering::NonCentered => (j as f64).sin(),
                };
                let mut position: Vec<f64> = (0..groups).map(start).collect();
                position.extend([50.0, 10f64.ln(), 2f64.ln()]);
                let mut gradient = vec![0.0; model.dim()];
                group.bench_function(BenchmarkId::from_parameter(groups), |b| {
                    b.iter(|| model.logp_grad_centered(&[centering], black_box(&position), &mut gradient));
                });
            }
            group.finish();
        }
    }
}

fn leapfrog(c: &mut Criterion) {
    for (name, likelihood) in LIKELIHOODS {
        let mut group = c.benchmark_group(format!("leapfrog/{name}"));
        group.sample_size(20);
        for groups in GROUPS {
            let model = prd_model(groups, likelihood).expect("the PRD's data");
            let config = SamplerConfig { chains: 1, draws: 100_000_000, ..prd_config() };
            let mut sampler = Sampler::new(&model, config).expect("a finite start");
            while sampler.done() < sampler.config().tune {
                sampler.advance(1000).expect("warm-up");
            }
            group.bench_function(BenchmarkId::from_parameter(groups), |b| {
                b.iter_custom(|steps| time_of_leapfrogs(&mut sampler, steps));
            });
        }
        group.finish();
    }
}

/// The time of `steps` leapfrogs, from whole transitions of at least as many.
fn time_of_leapfrogs(sampler: &mut Sampler<'_>, steps: u64) -> Duration {
    let (mut done, mut elapsed) = (0, Duration::ZERO);
    while done < steps {
        let start = Instant::now();
        let block = sampler.advance(20).expect("a transition").expect("draws left");
        elapsed += start.elapsed();
        assert_eq!(block.phase, Phase::Sampling);
        done += block.chains[0].stats.iter().map(|stats| u64::from(stats.n_steps)).sum::<u64>();
    }
    elapsed.mul_f64(steps as f64 / done as f64)
}

fn run(c: &mut Criterion) {
    for (name, likelihood) in LIKELIHOODS {
        let mut group = c.benchmark_group(format!("run/{name}"));
        group.sample_size(10);
        for groups in [100, 1000] {
            let model = prd_model(groups, likelihood).expect("the PRD's data");
            group.bench_function(BenchmarkId::from_parameter(groups), |b| {
                b.iter(|| {
                    let mut sampler = Sampler::new(&model, prd_config()).expect("a finite start");
                    while let Some(block) = sampler.advance(500).expect("a transition") {
                        black_box(block);
                    }
                });
            });
        }
        group.finish();
    }
}

fn filter(c: &mut Criterion) {
    let models: [(&str, &dyn StateSpaceModel); 2] =
        [("state-space", &LinearGaussian::shipped()), ("hmm", &HiddenMarkov::shipped())];
    for (name, model) in models {
        let mut group = c.benchmark_group(format!("filter/{name}"));
        for particles in [100, 1000, 10_000] {
            let size = FilterSize { particles, repetitions: 1 };
            group.bench_function(BenchmarkId::from_parameter(particles), |b| {
                b.iter(|| particle_filter(black_box(model), size, 42).expect("possible"));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, gradient, leapfrog, run, filter);
criterion_main!(benches);
