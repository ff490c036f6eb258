//! Leapfrog steps with diagonal and low-rank metrics.

use crate::harness::{Job, Task, assert_same};
use crate::models::{GROUPS, PARAMETERIZATIONS, Settled, model, random, settle};
use crate::program::Way;
use octopus_density::LogDensity;
use octopus_models::Likelihood;
use octopus_sampler::reference::ReferenceChain;

/// Steps compared, and trajectories that came to where the density has no value.
#[derive(Debug, Default)]
struct Seen {
    steps: usize,
    lost: usize,
}

fn compare(groups: usize, rank: usize, factor: f64, steps: u64, seen: &mut Seen) {
    let model = model(groups, false, Likelihood::Collapsed);
    let dim = model.dim();
    for parameterization in PARAMETERIZATIONS {
        let Settled { adaptation, starts, step } = settle(&model, parameterization, rank, 2);
        let (x, step) = (&starts[0], factor * step);
        let mut random = random(rank as u64);
        let mut r: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
        let mut job = Job::new(Task::Leapfrog, &model, &adaptation);
        job.real(step).integer(steps).reals(x).reals(&r);
        let Some(mut answer) = job.ask(Way::Arrays) else { return };
        let mut chain = ReferenceChain::new(&model, &adaptation, x).unwrap();
        for i in 0..steps {
            let square = chain.leapfrog(step, &mut r).unwrap();
            assert_eq!(answer.integer() != 0, square.is_some(), "{groups} groups, rank {rank}, step {i}");
            let Some(square) = square else {
                seen.lost += 1;
                break;
            };
            let what = format!("{groups} groups, rank {rank}, step {i}");
            assert_same(&what, &[chain.logp(), square], &answer.reals(2));
            assert_same(&what, chain.x(), &answer.reals(dim));
            assert_same(&what, chain.force(), &answer.reals(dim));
            assert_same(&what, &r, &answer.reals(dim));
            seen.steps += 1;
        }
        answer.end();
    }
}

#[test]
fn leapfrog_steps_have_the_same_bits() {
    let mut seen = Seen::default();
    for groups in GROUPS {
        for rank in [0, 1, 2, 5, 12] {
            compare(groups, rank, 0.5, 500, &mut seen);
            // Backwards, and so far that trajectories leave for where the density has no value.
            compare(groups, rank, -20.0, 100, &mut seen);
        }
    }
    eprintln!("the same bits: {seen:?}");
    assert!(seen.steps == 0 || seen.steps > 50_000 && seen.lost > 0, "{seen:?}");
}
