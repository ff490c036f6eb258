//! Transitions of NUTS: every position and every statistic.

use crate::harness::{Job, Task, assert_same, assert_same_stats};
use crate::models::{GROUPS, PARAMETERIZATIONS, Settled, model, remote, settle};
use crate::program::Way;
use octopus_density::LogDensity;
use octopus_models::Likelihood;
use octopus_sampler::reference::{RandomAddress, ReferenceChain, averaging};

/// What was compared.
#[derive(Default, Debug)]
struct Seen {
    transitions: usize,
    leapfrogs: usize,
    divergences: usize,
    full_trees: usize,
    deepest: u32,
    /// Transitions on which the energy fell so far that the weights' reference moved.
    rescaled: usize,
}

struct Case {
    way: Way,
    /// Not in the posterior: that many standard deviations of the prior away, with a metric of one and `factor` as step.
    far: Option<f64>,
    groups: usize,
    rank: usize,
    likelihood: Likelihood,
    /// Of the step size that warm-up found.
    factor: f64,
    max_depth: u32,
    chains: u32,
    iterations: u32,
    per_launch: u64,
}

fn compare(case: &Case, seen: &mut Seen) {
    const SEED: u64 = 0x0123_4567_89ab_cdef;
    const FIRST_CHAIN: u32 = 7;
    const FIRST: u32 = 1000;
    let &Case { way, far, groups, rank, likelihood, factor, max_depth, chains, iterations, per_launch } = case;
    // Far away, energies are off by much on the way to where they fall.
    let max_error = if far.is_some() { 1e8 } else { 1000.0 };
    let model = model(groups, groups % 2 == 0, likelihood);
    let dim = model.dim();
    for parameterization in PARAMETERIZATIONS {
        let Settled { adaptation, starts, step } = match far {
            None => settle(&model, parameterization, rank, chains as usize),
            Some(spread) => remote(&model, parameterization, spread, chains as usize),
        };
        let step = factor * step;
        let mut job = Job::new(Task::Run, &model, &adaptation);
        job.integer(SEED).integer(FIRST_CHAIN.into()).integer(FIRST.into());
        job.integer(max_depth.into()).real(max_error).real(0.8).integer(chains.into());
        for start in &starts {
            job.reals(start).reals(&averaging(step, 0.8)).real(step);
        }
        // No warm-up: the step size stays.
        job.integer(iterations.into()).integer(per_launch).integer(0).integer(0).integer(0);
        let Some(mut answer) = job.ask(way) else { return };
        let mut ours: Vec<_> =
            starts.iter().map(|start| ReferenceChain::new(&model, &adaptation, start).unwrap()).collect();
        let mut done = 0;
        while done < iterations {
            let launch = iterations.min(done + per_launch as u32);
            for (c, chain) in ours.iter_mut().enumerate() {
                for iteration in done..launch {
                    let place =
                        RandomAddress { seed: SEED, chain: FIRST_CHAIN + c as u32, iteration: FIRST + iteration };
                    let stats = chain.transition(step, max_depth, max_error, place).unwrap();
                    let what = format!("{groups} groups, rank {rank}, step {step}, chain {c}, iteration {iteration}");
                    assert_same_stats(&what, &stats, &answer.stats());
                    assert_same(&what, &chain.natural(), &answer.reals(dim));
                    assert_eq!(answer.integer(), 0, "{what}: there is no window");
                    seen.transitions += 1;
                    seen.leapfrogs += stats.n_steps as usize;
                    seen.divergences += usize::from(stats.diverging);
                    seen.full_trees += usize::from(stats.reached_max_treedepth);
                    seen.rescaled += usize::from(stats.max_energy_error < -300.0);
                    seen.deepest = seen.deepest.max(stats.tree_depth);
                }
            }
            done = launch;
        }
        for chain in &ours {
            assert_same("positions at the end", chain.x(), &answer.reals(dim));
            assert_same("log density at the end", &[chain.logp(), step], &answer.reals(2));
            assert_same("averaging at the end", &averaging(step, 0.8), &answer.reals(6));
        }
        answer.end();
    }
}

#[test]
fn transitions_have_the_same_bits() {
    let mut seen = Seen::default();
    for groups in GROUPS {
        for (rank, factor, max_depth) in [(0, 1.0, 10), (2, 0.7, 10), (3, 0.1, 4), (0, 2.0, 10), (2, 30.0, 10)] {
            let iterations = if groups > 300 { 15 } else { 30 };
            for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
                if likelihood == Likelihood::Pointwise && groups > 300 {
                    continue;
                }
                let case = Case {
                    way: Way::Arrays,
                    far: None,
                    groups,
                    rank,
                    likelihood,
                    factor,
                    max_depth,
                    chains: 3,
                    iterations,
                    per_launch: 7,
                };
                compare(&case, &mut seen);
            }
        }
    }
    eprintln!("the same bits: {seen:?}");
    if seen.transitions > 0 {
        assert!(seen.divergences > 0 && seen.full_trees > 0 && seen.deepest >= 6, "{seen:?}");
    }
}

/// Trees as deep as they go: every level of the stack, and more doublings than a table of random numbers has.
#[test]
fn deep_trees_have_the_same_bits() {
    const SHORT: f64 = 0.004;
    let mut seen = Seen::default();
    for (groups, max_depth, factor, iterations) in [
        (10, 10, SHORT, 3),
        (100, 10, SHORT, 3),
        (257, 9, SHORT, 3),
        (10, 12, SHORT, 3),
        (10, 1, SHORT, 3),
        (100, 2, SHORT, 3),
        (10, 18, SHORT / 100.0, 1),
    ] {
        let case = Case {
            way: Way::Arrays,
            far: None,
            groups,
            rank: 0,
            likelihood: Likelihood::Collapsed,
            factor,
            max_depth,
            chains: 1,
            iterations,
            per_launch: 2,
        };
        compare(&case, &mut seen);
    }
    eprintln!("the same bits: {seen:?}");
    assert!(seen.transitions == 0 || seen.deepest > 16, "{seen:?}");
}

/// Chains that fill a block and begin the next, on lanes that are fibers.
#[test]
fn transitions_on_fibers_have_the_same_bits() {
    let mut seen = Seen::default();
    for (groups, rank, likelihood, factor, chains) in [
        (10, 0, Likelihood::Collapsed, 1.0, 5),
        (100, 0, Likelihood::Pointwise, 2.0, 2),
        (100, 3, Likelihood::Collapsed, 1.0, 5),
        (253, 2, Likelihood::Collapsed, 1.0, 2),
        (500, 1, Likelihood::Collapsed, 1.0, 2),
        (500, 0, Likelihood::Pointwise, 30.0, 1),
    ] {
        let case = Case {
            way: Way::Fibers,
            far: None,
            groups,
            rank,
            likelihood,
            factor,
            max_depth: 10,
            chains,
            iterations: 4,
            per_launch: 3,
        };
        compare(&case, &mut seen);
    }
    eprintln!("the same bits: {seen:?}");
}

/// Chains that start far from the posterior: leapfrog steps on which the energy falls by hundreds.
#[test]
fn transitions_from_far_away_have_the_same_bits() {
    let mut seen = Seen::default();
    for (groups, chains) in [(10, 40), (100, 8), (257, 4)] {
        for (spread, factor) in [(0.5, 0.2), (1.0, 0.02), (1.0, 0.1), (1.0, 0.3), (2.0, 0.2), (3.0, 0.05), (5.0, 0.02)]
        {
            let case = Case {
                way: Way::Arrays,
                far: Some(spread),
                groups,
                rank: 0,
                likelihood: Likelihood::Collapsed,
                factor,
                max_depth: 10,
                chains,
                iterations: 8,
                per_launch: 5,
            };
            compare(&case, &mut seen);
        }
    }
    eprintln!("the same bits: {seen:?}");
    assert!(seen.transitions == 0 || seen.rescaled > 10, "{seen:?}");
}
