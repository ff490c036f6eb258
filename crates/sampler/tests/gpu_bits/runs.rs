//! Whole runs: between two adaptations of the CPU engine the kernels do its iterations, dual averaging included, and
//! after each they restart the step sizes.

use crate::harness::{Answer, Job, Task, assert_same, assert_same_stats};
use crate::models::model;
use crate::program::Way;
use octopus_density::gpu::GpuDensity;
use octopus_density::to_non_centered;
use octopus_models::Likelihood;
use octopus_sampler::reference::{ChainSnapshot, snapshot};
use octopus_sampler::{MetricKind, Parameterization, Phase, Sampler, SamplerConfig, Strategy};

fn read(answer: &mut Answer, dim: usize) -> ChainSnapshot {
    let (x, logp, step_size) = (answer.reals(dim), answer.real(), answer.real());
    ChainSnapshot { x, logp, step_size, averaging: answer.reals(6).try_into().unwrap() }
}

fn assert_same_state(what: &str, ours: &ChainSnapshot, theirs: &ChainSnapshot) {
    assert_same(&format!("{what}: position"), &ours.x, &theirs.x);
    assert_same(&format!("{what}: averaging"), &ours.averaging, &theirs.averaging);
    assert_same(&format!("{what}: logp, step size"), &[ours.logp, ours.step_size], &[theirs.logp, theirs.step_size]);
}

fn compare(way: Way, groups: usize, balanced: bool, likelihood: Likelihood, config: &SamplerConfig, per_launch: u64) {
    compare_model(
        way,
        &format!("{groups} groups, {likelihood:?}"),
        &model(groups, balanced, likelihood),
        config,
        per_launch,
    );
}

pub(crate) fn compare_model(way: Way, name: &str, model: &impl GpuDensity, config: &SamplerConfig, per_launch: u64) {
    let dim = model.dim();
    let mut sampler = Sampler::new(model, config.clone()).unwrap();
    let (mut transitions, mut leapfrogs, mut gradients, mut restarts) = (0, 0, 0, 0);
    let job = |task, sampler: &Sampler<'_>, states: &[ChainSnapshot]| {
        let mut job = Job::new(task, model, sampler.adaptation());
        job.integer(config.seed).integer(0).integer(sampler.done() as u64);
        job.integer(config.max_depth.into()).real(config.max_energy_error).real(config.target_accept);
        job.integer(config.chains as u64);
        for state in states {
            job.reals(&state.x).reals(&state.averaging).real(state.step_size);
        }
        job
    };
    loop {
        let (states, adaptation, first) = (snapshot(&sampler), sampler.adaptation().clone(), sampler.done());
        let mut run = job(Task::Run, &sampler, &states);
        let Some(block) = sampler.advance(200).unwrap() else { break };
        let warm_up = block.phase == Phase::Warmup;
        run.integer(block.draws as u64).integer(per_launch).integer(config.tune as u64);
        // Gradients of all draws of warm-up, as if every iteration belonged to a window.
        run.integer(0).integer(config.tune as u64);
        let Some(mut answer) = run.ask(way) else { return };
        let mut done = 0;
        while done < block.draws {
            let launch = block.draws.min(done + per_launch as usize);
            for (c, chain) in block.chains.iter().enumerate() {
                for i in done..launch {
                    let what = format!("{name}, chain {c}, iteration {}", first + i);
                    let position = &chain.positions[i * dim..(i + 1) * dim];
                    assert_same_stats(&what, &chain.stats[i], &answer.stats());
                    assert_same(&what, position, &answer.reals(dim));
                    assert_eq!(answer.integer() != 0, warm_up, "{what}: points belong to the window");
                    if warm_up {
                        // Both in the sampler's coordinates.
                        let (x, theirs) = (answer.reals(dim), answer.reals(dim));
                        let (mut natural, mut gradient) = (x.clone(), vec![0.0; dim]);
                        to_non_centered(model.hierarchies(), &adaptation.centerings, &mut natural);
                        assert_same(&what, position, &natural);
                        model.logp_grad_centered(&adaptation.centerings, &x, &mut gradient).unwrap();
                        assert_same(&what, &gradient, &theirs);
                        gradients += 1;
                    }
                    transitions += 1;
                    leapfrogs += chain.stats[i].n_steps;
                }
            }
            done = launch;
        }
        let theirs: Vec<ChainSnapshot> = (0..config.chains).map(|_| read(&mut answer, dim)).collect();
        answer.end();
        let now = snapshot(&sampler);
        if *sampler.adaptation() != adaptation {
            // The kernels get the position in the new coordinates and the averaging as they left it.
            let moved: Vec<ChainSnapshot> = now
                .iter()
                .zip(&theirs)
                .map(|(now, theirs)| ChainSnapshot { x: now.x.clone(), ..theirs.clone() })
                .collect();
            let Some(mut answer) = job(Task::Restart, &sampler, &moved).integer(1).ask(way) else { return };
            for ours in &now {
                assert_same_state(&format!("restart at {}", sampler.done()), ours, &read(&mut answer, dim));
                restarts += 1;
            }
            answer.end();
            // A run that is resumed has its points and states from a checkpoint.
            let Some(mut answer) = job(Task::Restart, &sampler, &now).integer(0).ask(way) else { return };
            for ours in &now {
                assert_same_state(&format!("resumed at {}", sampler.done()), ours, &read(&mut answer, dim));
            }
            answer.end();
        } else if sampler.done() != config.tune {
            for (ours, theirs) in now.iter().zip(&theirs) {
                assert_same_state(&format!("state at {}", sampler.done()), ours, theirs);
            }
        }
    }
    eprintln!(
        "{name}: {transitions} transitions of {leapfrogs} leapfrogs, {gradients} gradients and {restarts} restarts have \
         the same bits"
    );
}

fn prd() -> SamplerConfig {
    let base = SamplerConfig { strategy: Strategy::FourLong, ..SamplerConfig::default() };
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..base }
}

#[test]
fn the_prd_run_of_100_groups_has_the_same_bits() {
    compare(Way::Arrays, 100, true, Likelihood::Collapsed, &prd(), 64);
}

#[test]
fn the_prd_run_of_500_groups_has_the_same_bits() {
    compare(Way::Arrays, 500, true, Likelihood::Collapsed, &prd(), 100);
}

#[test]
fn the_prd_run_of_1000_unbalanced_groups_has_the_same_bits() {
    let config = SamplerConfig { draws: 300, tune: 500, ..prd() };
    compare(Way::Arrays, 1000, false, Likelihood::Collapsed, &config, 1000);
}

#[test]
fn a_pointwise_run_has_the_same_bits() {
    let config = SamplerConfig { draws: 100, tune: 300, chains: 2, ..prd() };
    compare(Way::Arrays, 100, false, Likelihood::Pointwise, &config, 13);
}

#[test]
fn runs_of_every_parameterization_and_metric_have_the_same_bits() {
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive] {
        for metric in [MetricKind::Diag, MetricKind::DiagDraws, MetricKind::LowRank] {
            let config = SamplerConfig { draws: 50, tune: 150, chains: 3, parameterization, metric, ..prd() };
            compare(Way::Arrays, 100, false, Likelihood::Collapsed, &config, 1);
        }
    }
}

#[test]
fn a_run_on_fibers_has_the_same_bits() {
    let config = SamplerConfig { draws: 20, tune: 60, chains: 5, target_accept: 0.8, ..prd() };
    compare(Way::Fibers, 100, false, Likelihood::Collapsed, &config, 16);
}
