//! Many short chains: the exact posterior for any number of chains, the same bits however the run is cut, and what warm-up
//! does when there is nothing to settle on.

use crate::densities::Bimodal;
use crate::hierarchical::{balanced, check, unbalanced};
use crate::reproducible::{finish, model, whole};
use crate::resume::resumes;
use octopus_models::Likelihood;
use octopus_sampler::{Algorithm, Parameterization, Phase, Sampler, SamplerConfig, Strategy};

/// 16384 draws by so many chains.
fn prd(chains: usize, superchains: usize) -> SamplerConfig {
    SamplerConfig {
        strategy: Strategy::ManyShort,
        chains,
        superchains,
        draws: 16384 / chains,
        tune: 1000,
        target_accept: 0.95,
        seed: 42,
        ..Default::default()
    }
}

fn meets_the_exact_posterior(groups: &[usize], chains: usize, superchains: usize) {
    for &groups in groups {
        check(balanced(groups), Likelihood::Collapsed, [prd(chains, superchains)]);
        check(unbalanced(groups), Likelihood::Collapsed, [prd(chains, superchains)]);
    }
}

#[test]
fn chains_64() {
    meets_the_exact_posterior(&[100, 500, 1000], 64, 16);
}

/// As `--strategy auto` takes on a few threads.
#[test]
fn chains_16_and_4() {
    meets_the_exact_posterior(&[100, 1000], 16, 4);
    meets_the_exact_posterior(&[100], 4, 4);
}

/// Of a thousand coordinates one always differs between four superchains by chance.
#[test]
fn few_superchains_of_many_groups_end_their_warm_up() {
    let model = model(1000);
    for seed in 0..3 {
        let config = SamplerConfig { draws: 1, seed, ..prd(16, 4) };
        let mut sampler = Sampler::new(&model, config).expect("starts");
        while sampler.advance(usize::MAX).expect("runs").is_some() {}
        assert!(sampler.warm_up().is_some_and(|end| end < 300), "{:?}", sampler.warm_up());
    }
}

#[test]
fn chains_1024() {
    meets_the_exact_posterior(&[100, 500], 1024, 64);
}

#[test]
fn chains_8192() {
    meets_the_exact_posterior(&[100], 8192, 64);
}

#[test]
#[ignore = "half a minute: the larger sizes with the most chains"]
fn many_chains_of_many_groups() {
    meets_the_exact_posterior(&[1000], 1024, 64);
    meets_the_exact_posterior(&[500, 1000], 8192, 64);
}

pub(crate) fn short() -> SamplerConfig {
    SamplerConfig { chains: 12, superchains: 4, draws: 20, tune: 400, ..prd(16384, 4) }
}

#[test]
fn any_number_of_threads_and_any_way_of_asking() {
    let model = model(30);
    let one = whole(&model, short());
    for (threads, limit) in [(1, 1), (3, 7), (2, 1000)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let other = pool.install(|| finish(&mut Sampler::new(&model, short()).expect("starts"), || limit));
        assert!(one == other, "{threads} threads, {limit} iterations at a time");
    }
}

#[test]
fn a_resumed_run_gives_the_same_bits() {
    // Non-centered chains need several windows.
    let recorded = resumes(SamplerConfig { tune: 120, parameterization: Parameterization::NonCentered, ..short() });
    assert!(recorded.window_ends.len() >= 2 && recorded.checkpoints.len() < 300, "{:?}", recorded.window_ends);
}

/// Warm-up begins with one chain of each superchain, and ends before its limit with all.
#[test]
fn superchains_become_chains() {
    let model = model(30);
    let mut sampler = Sampler::new(&model, short()).expect("starts");
    let mut chains = Vec::new();
    while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
        assert_eq!(block.phase == Phase::Sampling, sampler.warm_up().is_some_and(|end| sampler.done() > end));
        chains.push(block.chains.len());
    }
    let warm_up = sampler.warm_up().expect("is over");
    assert!(warm_up < 400 && sampler.done() == warm_up + 20, "{warm_up}");
    assert!(chains.is_sorted() && chains[0] == 4 && chains[chains.len() - 1] == 12, "{chains:?}");
    let steps = sampler.step_sizes();
    assert!(steps.len() == 12 && steps.iter().all(|step| *step == steps[0]), "{steps:?}");
}

/// The default's: the exact posterior, for a few chains and for more, however few iterations they are given.
#[test]
fn chains_that_all_learn() {
    let all = |chains, tune| SamplerConfig { strategy: Strategy::CrossChain, tune, ..prd(chains, chains) };
    for groups in [100, 500] {
        check(unbalanced(groups), Likelihood::Collapsed, [all(4, 1000), all(16, 1000), all(2, 60)]);
    }
    check(balanced(100), Likelihood::Pointwise, [all(4, 1000)]);
}

#[test]
fn chains_that_all_learn_have_one_step_size_once_they_have_settled() {
    let model = model(30);
    let config = |chains, tune| SamplerConfig {
        strategy: Strategy::CrossChain,
        chains,
        draws: 10,
        tune,
        seed: 5,
        ..Default::default()
    };
    let ended = |config: SamplerConfig| {
        let mut sampler = Sampler::new(&model, config).expect("starts");
        while sampler.advance(usize::MAX).expect("runs").is_some() {}
        let (end, mut steps) = (sampler.warm_up().expect("is over"), sampler.step_sizes());
        assert_eq!(sampler.done(), end + 10);
        steps.dedup();
        (end, steps.len())
    };
    // Two windows of 32 iterations at the least, after the first 8.
    let (end, steps) = ended(config(5, 1000));
    assert!((72..300).contains(&end) && steps == 1, "{end}, {steps}");
    // Too few iterations for two windows; one chain, and a warm-up without windows, are those of four long ones.
    assert_eq!(ended(config(5, 60)), (60, 5));
    for (chains, tune) in [(1, 1000), (5, 19)] {
        let together = whole(&model, config(chains, tune));
        let alone = whole(&model, SamplerConfig { strategy: Strategy::FourLong, ..config(chains, tune) });
        assert!(together == alone, "{chains} chains, {tune} iterations");
    }
    // A sampler that learns the length of its trajectories has its own time.
    let chees = SamplerConfig { algorithm: Algorithm::named("chees").expect("known"), ..config(4, 300) };
    assert_eq!(ended(chees).0, 300);
}

#[test]
fn chains_that_all_learn_are_resumed() {
    let tune = 150;
    let config = SamplerConfig { strategy: Strategy::CrossChain, chains: 3, draws: 20, tune, ..prd(16384, 4) };
    let recorded = resumes(SamplerConfig { parameterization: Parameterization::NonCentered, ..config });
    assert!(recorded.window_ends.len() >= 2, "{:?}", recorded.window_ends);
}

/// Chains that stay in the mode where they began never agree: warm-up takes all that it may, and says so by its length.
#[test]
fn chains_in_two_modes_do_not_settle() {
    for strategy in [Strategy::ManyShort, Strategy::CrossChain] {
        let config = SamplerConfig { tune: 200, strategy, ..short() };
        let density = Bimodal::default();
        let mut sampler = Sampler::new(&density, config).expect("starts");
        while sampler.advance(usize::MAX).expect("runs").is_some() {}
        assert_eq!(sampler.warm_up(), Some(200), "{strategy:?}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |config: SamplerConfig| config.validate().unwrap_err().to_string();
    assert_eq!(
        refused(SamplerConfig { superchains: 5, ..short() }),
        "superchains = 5: at least 2 are needed, and their number must divide that of the chains"
    );
    assert!(refused(SamplerConfig { superchains: 1, ..short() }).starts_with("superchains = 1"));
    assert!(refused(SamplerConfig { tune: 19, ..short() }).starts_with("tune = 19: many short chains warm up"));
    let four_long = SamplerConfig { strategy: Strategy::FourLong, superchains: 5, tune: 0, ..short() };
    assert!(four_long.validate().is_ok());
}
