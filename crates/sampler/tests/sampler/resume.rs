//! Interrupted runs go on to the same bits; damaged checkpoints are refused.

use crate::densities::Wall;
use crate::reproducible::{Bits, config, finish, model};
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_random::{Purpose, Stream};
use octopus_sampler::{Backend, Begin, Sampler, SamplerConfig, SamplerError};
use proptest::prelude::*;
use std::sync::LazyLock;

/// A whole run, the checkpoint after each of its iterations, and where windows ended.
pub(crate) struct Recorded {
    pub(crate) bits: Bits,
    pub(crate) checkpoints: Vec<Vec<u8>>,
    pub(crate) window_ends: Vec<usize>,
}

fn record(density: &HierarchicalNormal, config: SamplerConfig) -> Recorded {
    let mut sampler = Sampler::new(density, config).expect("starts");
    let mut bits = Bits::default();
    let mut checkpoints = vec![sampler.checkpoint().expect("encodes")];
    let mut window_ends = Vec::new();
    let mut learned = sampler.adaptation().clone();
    while let Some(block) = sampler.advance(1).expect("runs") {
        bits.add(&block);
        checkpoints.push(sampler.checkpoint().expect("encodes"));
        if *sampler.adaptation() != learned {
            window_ends.push(sampler.done());
            learned = sampler.adaptation().clone();
        }
    }
    Recorded { bits, checkpoints, window_ends }
}

#[test]
fn a_resumed_run_gives_the_same_bits() {
    let recorded = resumes(config());
    assert!(recorded.window_ends.len() >= 3, "{:?}", recorded.window_ends);
    assert_eq!(recorded.checkpoints.len(), config().tune + config().draws + 1);
}

/// Resumes each end of a window, just before and after it, the ends of warm-up and of the run, and random points.
pub(crate) fn resumes(config: SamplerConfig) -> Recorded {
    let density = model(40);
    let recorded = record(&density, config.clone());
    let total = recorded.checkpoints.len() - 1;
    let tune = total - config.draws;
    let mut random = Stream::new(2, 0, 0, Purpose::User);
    let mut points: Vec<usize> = (0..20).map(|_| (random.uniform() * (total + 1) as f64) as usize).collect();
    points.extend(recorded.window_ends.iter().flat_map(|&end| [end - 1, end, end + 1]));
    points.extend([0, 1, tune - 1, tune, tune + 1, total - 1, total]);
    assert!(points.iter().filter(|&&p| p < tune).count() > 10 && points.iter().filter(|&&p| p > tune).count() > 3);
    for done in points {
        // Another instance of the density, another number of threads, other spans.
        let again = model(40);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + done % 3).build().expect("threads");
        let rest = pool.install(|| {
            let mut sampler = Sampler::begin(&again, Begin::GoOn(recorded.checkpoints[done].to_vec()), Backend::Cpu)
                .expect("a good checkpoint");
            assert_eq!((sampler.done(), sampler.config()), (done, &config));
            finish(&mut sampler, || 1 + done % 37)
        });
        if done == total {
            assert_eq!(rest, Bits::default());
        } else {
            assert!(rest == recorded.bits.after(done), "resumed after {done} iterations, the draws differ");
        }
    }
    recorded
}

#[test]
fn checkpoints_of_other_densities_are_refused() {
    let recorded = Sampler::new(&model(7), config()).and_then(|mut sampler| sampler.checkpoint()).expect("encodes");
    let prior = HierarchicalPrior { mu_sd: 11.0, ..Default::default() };
    let other = HierarchicalNormal::new(model(7).data().clone(), prior, Likelihood::Collapsed).expect("valid");
    for error in [
        Sampler::begin(&other, Begin::GoOn(recorded.clone()), Backend::Cpu).map(|_| ()).expect_err("other priors"),
        Sampler::begin(&model(8), Begin::GoOn(recorded.clone()), Backend::Cpu).map(|_| ()).expect_err("other groups"),
        Sampler::begin(&Wall::new(10, 1.0), Begin::GoOn(recorded.clone()), Backend::Cpu)
            .map(|_| ())
            .expect_err("other model, same size"),
        Sampler::begin(&model(7), Begin::GoOn(vec![]), Backend::Cpu).map(|_| ()).expect_err("nothing"),
    ] {
        assert!(matches!(error, SamplerError::Checkpoint(_)), "{error:?}");
        assert!(error.to_string().contains("checkpoint"), "{error}");
    }
}

/// A short run in the middle of warm-up: little to damage, so that every part is hit.
static MODEL: LazyLock<HierarchicalNormal> = LazyLock::new(|| model(3));
static CHECKPOINT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let config = SamplerConfig { draws: 20, tune: 60, chains: 2, max_depth: 5, ..Default::default() };
    let mut sampler = Sampler::new(&*MODEL, config).expect("starts");
    while sampler.done() < 28 {
        sampler.advance(28 - sampler.done()).expect("runs");
    }
    sampler.checkpoint().expect("encodes")
});

/// Refused, or a run that goes on without a panic.
fn survives(bytes: &[u8]) {
    if let Ok(mut sampler) = Sampler::begin(&*MODEL, Begin::GoOn(bytes.to_vec()), Backend::Cpu) {
        for _ in 0..3 {
            if !matches!(sampler.advance(2), Ok(Some(_))) {
                break;
            }
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for length in 0..CHECKPOINT.len() {
        assert!(
            Sampler::begin(&*MODEL, Begin::GoOn(CHECKPOINT[..length].to_vec()), Backend::Cpu).is_err(),
            "{length} bytes"
        );
    }
    assert!(Sampler::begin(&*MODEL, Begin::GoOn(CHECKPOINT.to_vec()), Backend::Cpu).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_bytes_never_panic(hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = CHECKPOINT.clone();
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        survives(&bytes);
    }

    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }
}
