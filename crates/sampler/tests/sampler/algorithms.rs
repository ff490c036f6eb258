//! Every sampler against distributions whose moments are known: each must be right, whatever its speed.

use crate::densities::{Funnel, Gaussian};
use crate::hierarchical::{balanced, check, unbalanced};
use crate::many_short::short;
use crate::monte_carlo::run;
use crate::reproducible;
use crate::resume::resumes;
use octopus_density::LogDensity;
use octopus_models::exact::SchoolsPosterior;
use octopus_models::{EightSchools, Likelihood};
use octopus_sampler::{Algorithm, ConfigError, Hmc, Parameterization, Sampler, SamplerConfig, SamplerError, Strategy};

/// The samplers that move chains; populations have tests of their own.
fn chain_samplers() -> impl Iterator<Item = &'static str> {
    let moves = |name: &&str| Algorithm::named(name).is_some_and(|algorithm| !algorithm.draws_population());
    Algorithm::NAMES.iter().copied().filter(moves)
}

fn config(name: &str) -> SamplerConfig {
    let algorithm = Algorithm::named(name).expect("known");
    let target_accept = algorithm.target_accept();
    SamplerConfig { algorithm, target_accept, draws: 4000, tune: 1000, chains: 4, seed: 4, ..SamplerConfig::default() }
}

#[test]
fn a_correlated_normal_in_100_dimensions() {
    const DIM: usize = 100;
    let density = Gaussian::correlated(DIM, 0.6);
    for name in chain_samplers() {
        let draws = run(&density, config(name));
        assert_eq!(draws.divergences(), 0, "{name}");
        let moments = draws.moments(DIM, |x, out| out.copy_from_slice(x));
        for (i, [mean, sd]) in moments.iter().enumerate() {
            mean.check(&format!("{name}: mean of x[{i}]"), density.mean[i], 4.5);
            sd.check(&format!("{name}: sd of x[{i}]"), density.variance(i).sqrt(), 4.5);
        }
    }
}

#[test]
fn eight_schools() {
    let model = EightSchools::rubin();
    let exact = SchoolsPosterior::compute(&model);
    let expected: Vec<_> = [exact.mu, exact.tau].into_iter().chain(exact.theta).chain(exact.theta_trans).collect();
    for name in chain_samplers() {
        let draws = run(&model, config(name));
        let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
        for (at, [mean, sd]) in moments.iter().enumerate() {
            mean.check(&format!("{name}: mean of value {at}"), expected[at].mean, 4.5);
            sd.check(&format!("{name}: sd of value {at}"), expected[at].sd, 4.5);
        }
        assert!(draws.divergences() < 4, "{name}: {} divergences", draws.divergences());
    }
}

/// NUTS has tests of its own (`hierarchical`).
#[test]
fn hierarchical_normals() {
    for name in chain_samplers().filter(|name| *name != Algorithm::Nuts.name()) {
        println!("{name}");
        check(balanced(100), Likelihood::Collapsed, [config(name)]);
        check(unbalanced(100), Likelihood::Collapsed, [config(name)]);
    }
}

/// The funnel's own coordinates, which only a sampler whose steps follow the curvature can walk: the mean and the standard
/// deviation of its axis, over eight seeds.
#[test]
fn walnuts_walk_the_funnel() {
    const SEEDS: u64 = 8;
    let density = Funnel::new(10);
    let (mut means, mut sds) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        let draws = run(&density, SamplerConfig { seed, ..config("walnuts") });
        assert_eq!(draws.divergences(), 0, "seed {seed}");
        let [mean, sd] = draws.moments(1, |x, out| out[0] = x[0])[0];
        means.push(mean.value);
        sds.push(sd.value);
    }
    for (what, values, expected) in [("mean", means, 0.0), ("sd", sds, Funnel::SD)] {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let z = (mean - expected) / (variance / n).sqrt();
        // Student's t with 7 degrees of freedom: a false alarm in 3000.
        assert!(z.abs() < 6.0, "{what}: {mean} (z = {z:.2})");
    }
}

/// What a checkpoint keeps of each, whatever the threads and the spans, and with chains that warm up together.
#[test]
fn resumed_runs_give_the_same_bits() {
    for name in chain_samplers() {
        let algorithm = Algorithm::named(name).expect("known");
        resumes(SamplerConfig { algorithm: algorithm.clone(), ..reproducible::config() });
        let parameterization = Parameterization::NonCentered;
        resumes(SamplerConfig { algorithm, tune: 120, parameterization, ..short() });
    }
}

/// The timing suite's run: the step size is not adapted, and each trajectory has as many steps.
#[test]
fn fixed_trajectories_are_as_long_as_they_are_asked_for() {
    let fixed = Hmc { leapfrogs: Some(20), step_size: Some(0.01), jitter: 0.0, ..Hmc::default() };
    let config = SamplerConfig { algorithm: Algorithm::Hmc(fixed), draws: 50, tune: 60, ..SamplerConfig::default() };
    for config in [config.clone(), SamplerConfig { strategy: Strategy::ManyShort, ..config }] {
        let draws = run(&EightSchools::rubin(), config);
        assert!(draws.stats.iter().all(|draw| draw.n_steps == 20 && draw.step_size == 0.01));
    }
}

/// On a normal distribution trajectories are circles, so that the covariance of both ends is the cosine of the angle: its
/// mean over lengths from half to one and a half times L is (L / 3)^2 at L = 1.35 standard deviations. ChEES' criterion
/// would end at 1.6 or more.
#[test]
fn mams_learns_the_length_of_a_normal_distribution() {
    const DIM: usize = 100;
    let draws = run(&Gaussian::correlated(DIM, 0.0), SamplerConfig { draws: 1000, ..config("mams") });
    let mean = draws.stats.iter().map(|draw| f64::from(draw.n_steps) * draw.step_size).sum::<f64>()
        / (draws.stats.len() as f64 * (DIM as f64).sqrt());
    assert!((mean / 1.35 - 1.0).abs() < 0.12, "{mean} standard deviations");
}

/// In two coordinates one step is accepted whose half turns go so far that rounding hides where they came from, unless it
/// is refused: step sizes then grow without bound.
#[test]
fn mams_takes_no_step_that_has_no_way_back() {
    for seed in 0..10 {
        let draws = run(&Gaussian::correlated(2, 0.0), SamplerConfig { seed, draws: 200, ..config("mams") });
        let largest = draws.stats.iter().map(|draw| draw.step_size).fold(0.0, f64::max);
        assert!(largest < 4.0 && draws.divergences() == 0, "seed {seed}: {largest}, {}", draws.divergences());
    }
}

/// One coordinate has no direction to turn.
#[test]
fn mams_needs_two_coordinates() {
    let wrong = Sampler::new(&Gaussian::correlated(1, 0.0), config("mams")).err().expect("refused");
    assert!(matches!(wrong, SamplerError::Config(ConfigError { field: "algorithm", .. })), "{wrong}");
    assert_eq!(wrong.to_string(), "algorithm = mams: it needs a density of 2 coordinates or more");
}
