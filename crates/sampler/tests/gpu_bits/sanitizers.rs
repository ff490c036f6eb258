//! The kernels under the sanitizers of addresses and of undefined behaviour: buffers have no byte more than they must.

use crate::harness::{Job, Task};
use crate::models::{Settled, model, random, settle};
use crate::program::{Precision, Way};
use octopus_density::LogDensity;
use octopus_models::Likelihood;
use octopus_sampler::Parameterization;
use octopus_sampler::reference::averaging;

/// Every task for one model; the answers are those without sanitizers.
fn check(precision: Precision, groups: usize, likelihood: Likelihood, rank: usize) -> bool {
    let chains = 2;
    let model = model(groups, false, likelihood);
    let parameterization = if rank == 0 { Parameterization::Centered } else { Parameterization::Adaptive };
    let Settled { adaptation, starts, step } = settle(&model, parameterization, rank, chains);
    let mut random = random(2);
    let momentum: Vec<f64> = (0..model.dim()).map(|_| random.normal()).collect();
    let new = |task| Job::in_precision(precision, task, &model, &adaptation);
    let chains_of = |job: &mut Job| {
        job.integer(3).integer(0).integer(0).integer(6).real(1000.0).real(0.8).integer(chains as u64);
        starts.iter().for_each(|start| _ = job.reals(start).reals(&averaging(step, 0.8)).real(step));
    };
    let mut jobs = [Task::Evaluate, Task::Leapfrog, Task::Run, Task::Restart].map(new);
    jobs[0].reals(&starts.concat());
    jobs[1].real(step).integer(5).reals(&starts[0]).reals(&momentum);
    chains_of(&mut jobs[2]);
    // Two launches; the window ends within the second.
    jobs[2].integer(6).integer(4).integer(6).integer(1).integer(5);
    chains_of(&mut jobs[3]);
    jobs[3].integer(1);
    jobs.iter().all(|job| {
        let (Some(plain), Some(sanitized)) = (job.ask(Way::Arrays), job.ask(Way::Sanitized)) else { return false };
        assert!(plain.bytes() == sanitized.bytes(), "{precision:?}, {groups} groups");
        true
    })
}

#[test]
fn sanitizers_find_nothing() {
    for precision in Precision::ALL {
        for (groups, likelihood, rank) in [
            (1, Likelihood::Pointwise, 0),
            (29, Likelihood::Collapsed, 1),
            (100, Likelihood::Collapsed, 0),
            (125, Likelihood::Pointwise, 2),
            (253, Likelihood::Collapsed, 3),
            (254, Likelihood::Collapsed, 0),
            (509, Likelihood::Pointwise, 1),
            (1000, Likelihood::Collapsed, 2),
        ] {
            if !check(precision, groups, likelihood, rank) {
                return;
            }
        }
    }
}
