//! Populations as runs of a sampler.

use super::importance::of_prior;
use crate::densities::{Funnel, Gaussian};
use crate::monte_carlo::run;
use octopus_density::LogDensity;
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use octopus_sampler::{
    Algorithm, Backend, Begin, ImportanceConfig, ImportanceProposal, PathfinderConfig, Phase, Sampler, SamplerConfig,
    SamplerError, Starts, Strategy, importance, importance_from_prior, particles_of_prior,
};

const POPULATIONS: [&str; 3] = ["importance", "smc", "pathfinder"];

fn config(name: &str) -> SamplerConfig {
    let algorithm = Algorithm::named(name).expect("known");
    SamplerConfig { algorithm, draws: 300, chains: 3, seed: 7, ..SamplerConfig::default() }
}

/// All draws of a run in spans of `limit`, which is taken up from a checkpoint after each.
fn draws(density: &dyn LogDensity, config: SamplerConfig, limit: usize, resumed: bool) -> Vec<Vec<f64>> {
    let mut sampler = Sampler::new(density, config.clone()).expect("starts");
    let mut chains = vec![Vec::new(); config.chains];
    while let Some(block) = sampler.advance(limit).expect("draws") {
        assert_eq!(block.phase, Phase::Sampling);
        chains.iter_mut().zip(block.chains).for_each(|(all, chain)| all.extend(chain.positions));
        if resumed {
            let bytes = sampler.checkpoint().expect("encodes");
            sampler = Sampler::begin(density, Begin::GoOn(bytes), Backend::Cpu).expect("goes on");
        }
    }
    assert_eq!(sampler.done(), config.draws);
    chains
}

#[test]
fn spans_and_interruptions_change_no_draw() {
    let model = EightSchools::rubin();
    for name in POPULATIONS {
        let whole = draws(&model, config(name), usize::MAX, false);
        assert!(whole.iter().all(|chain| chain.len() == 300 * model.dim()), "{name}");
        assert_eq!(whole, draws(&model, config(name), 70, false), "{name}");
        assert_eq!(whole, draws(&model, config(name), 120, true), "{name}");
        assert_ne!(whole[0], whole[1], "{name}");
    }
}

/// The mean of mu in draws that weigh the same, by batch means: 4.5 standard errors.
#[test]
fn draws_are_of_the_posterior() {
    let model = EightSchools::rubin();
    let exact = SchoolsPosterior::compute(&model);
    for name in POPULATIONS {
        let drawn = run(&model, SamplerConfig { draws: 1000, chains: 4, ..config(name) });
        let mu = drawn.moments(model.layout().width(), |x, out| model.expand(x, out))[0][0];
        mu.check(name, exact.mu.mean, 4.5);
        assert!(drawn.stats.iter().all(|stats| stats.lp.is_finite() && stats.log_weight.is_finite()), "{name}");
        let at = |x: &[f64]| model.logp_grad(x, &mut vec![0.0; x.len()]).expect("finite");
        let lp = drawn.mean(at).value;
        let told = drawn.stats.iter().map(|stats| stats.lp).sum::<f64>() / drawn.stats.len() as f64;
        assert!((lp - told).abs() < 1e-9, "{name}: {lp} {told}");
    }
}

/// What a run finds is what the function finds, and a doubtful population says why.
#[test]
fn findings_are_those_of_the_function() {
    let model = EightSchools::rubin();
    let mut sampler = Sampler::new(&model, config("importance")).expect("starts");
    assert_eq!(sampler.population(), None);
    sampler.advance(1).expect("draws");
    let found = sampler.population().expect("is drawn");
    let of_function = importance(&model, &ImportanceConfig::default(), 7).expect("draws");
    assert_eq!(found.log_evidence, of_function.evidence.log_evidence);
    assert_eq!((found.pareto_k, found.particles), (of_function.pareto_k, 10_000));
    assert_eq!(found.doubt.is_none(), of_function.is_reliable());

    let funnel = Funnel::new(10);
    let mut sampler = Sampler::new(&funnel, config("pathfinder")).expect("starts");
    sampler.advance(1).expect("draws");
    let doubt = sampler.population().and_then(|found| found.doubt).expect("a funnel is no normal");
    assert!(doubt.contains("Pareto k"), "{doubt}");
}

/// The particles of a run are the draws of the prior that it is given, and without any it has none.
#[test]
fn a_run_weights_draws_of_the_prior() {
    let model = EightSchools::rubin();
    let prior = ImportanceConfig { particles: 500, proposal: ImportanceProposal::Prior, ..Default::default() };
    let config = SamplerConfig { algorithm: Algorithm::Importance(prior), ..config("importance") };
    let points = particles_of_prior(|randoms| randoms.iter_mut().map(of_prior).collect(), 500, 7);
    let at = |points: &[Vec<f64>]| {
        let begin = Begin::At(config.clone(), Starts::Points(points.to_vec()));
        let mut sampler = Sampler::begin(&model, begin, Backend::Cpu).expect("begins");
        sampler.advance(10).map(|block| (block, sampler.population()))
    };
    let (block, found) = at(&points).expect("draws");
    let expected = importance_from_prior(&model, of_prior, 500, 7).expect("draws");
    let found = found.expect("is drawn");
    assert_eq!((found.log_evidence, found.particles), (expected.evidence.log_evidence, 500));
    let drawn = block.expect("draws").chains.remove(0).positions;
    assert!(drawn.chunks(10).all(|x| points.iter().any(|point| point == x)));
    let mut short = points;
    short[3].pop();
    let told = at(&short).expect_err("no position").to_string();
    assert!(told.contains("9 coordinates, and the density 10"), "{told}");
    let told = Sampler::new(&model, config.clone()).expect("begins").advance(1).expect_err("no particles");
    assert!(matches!(&told, SamplerError::Config(config) if config.field == "proposal"), "{told}");
}

#[test]
fn what_is_no_population_is_refused() {
    let density = Gaussian::correlated(3, 0.0);
    let bad = PathfinderConfig { paths: 0, ..PathfinderConfig::default() };
    for (field, config) in [
        ("strategy", SamplerConfig { strategy: Strategy::ManyShort, superchains: 3, ..config("smc") }),
        ("paths", SamplerConfig { algorithm: Algorithm::Pathfinder(bad), ..config("smc") }),
    ] {
        let error = Sampler::new(&density, config).map(|_| ()).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
    // Data that are not those of the checkpoint.
    let mut sampler = Sampler::new(&density, config("smc")).expect("starts");
    let bytes = sampler.checkpoint().expect("encodes");
    let other = Gaussian::correlated(3, 0.5);
    let error = Sampler::begin(&other, Begin::GoOn(bytes), Backend::Cpu).map(|_| ()).expect_err("another density");
    assert!(matches!(error, SamplerError::Checkpoint(_)), "{error}");
}
