//! f32 and mixed: the numbers of f64 but for rounding, and the same bits on arrays and on fibers.

use crate::bounded::{Arithmetic, Bounded};
use crate::bounded_normal::{Precisions, evaluate};
use crate::harness::{Job, Task};
use crate::models::{CENTERINGS, PARAMETERIZATIONS, Settled, adaptation, model, point, random, settle};
use crate::program::{Precision, Way};
use octopus_density::{Centering, LogDensity};
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::reference::averaging;

const SINGLE: [Precision; 2] = [Precision::F32, Precision::Mixed];

fn arithmetic(precision: Precision) -> Precisions {
    let vectors = if precision == Precision::F64 { Arithmetic::F64 } else { Arithmetic::F32 };
    let scalars = if precision == Precision::F32 { Arithmetic::F32 } else { Arithmetic::F64 };
    Precisions { vectors, scalars }
}

/// Numbers that f32 has.
fn single(values: &[f64]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value as f32)).collect()
}

/// What was compared with bounds.
#[derive(Default, Debug)]
struct Seen {
    numbers: usize,
    /// The largest share of a bound that was used.
    most: f64,
    /// The sum of the values' bounds relative to the values, for their mean.
    relative: f64,
    values: usize,
}

impl Seen {
    /// # Panics
    /// When `theirs` is farther from the value than its bound.
    fn number(&mut self, what: &str, ours: Bounded, theirs: f64) {
        let off = (theirs - ours.value).abs();
        // The exact value is computed in f64, which is not exact either.
        let bound = ours.error + 1e-12 * ours.value.abs();
        assert!(off <= bound, "{what}: {theirs:e} is {off:e} from {ours:?}");
        self.numbers += 1;
        self.most = self.most.max(off / bound);
    }
}

fn compare(precision: Precision, model: &HierarchicalNormal, centering: Centering, seen: &mut Seen) {
    let (dim, mut random) = (model.dim(), random(6));
    let points: Vec<Vec<f64>> =
        (0..60).map(|k| single(&point(model, centering, [0.1, 0.5, 1.0][k % 3], &mut random))).collect();
    let adaptation = adaptation(centering, dim);
    let mut job = Job::in_precision(precision, Task::Evaluate, model, &adaptation);
    job.reals(&points.concat());
    let Some(mut answer) = job.ask(Way::Arrays) else { return };
    let mut gradient = vec![0.0; dim];
    for x in &points {
        let (value, bounds) = evaluate(model, centering, arithmetic(precision), x);
        // The bounds belong to the values of the CPU engine.
        let exact = model.logp_grad_centered(&adaptation.centerings, x, &mut gradient).unwrap();
        assert!((exact - value.value).abs() <= 1e-11 * exact.abs(), "{exact:e} and {value:?}");
        seen.number("log density", value, answer.real());
        for ((bound, exact), theirs) in bounds.iter().zip(&gradient).zip(answer.reals(dim)) {
            assert!((exact - bound.value).abs() <= 1e-9 * (1.0 + exact.abs()), "{exact:e} and {bound:?}");
            seen.number("gradient", *bound, theirs);
        }
        seen.relative += value.error / value.value.abs();
        seen.values += 1;
    }
    answer.end();
}

#[test]
fn log_density_and_gradient_are_within_the_bounds_of_rounding() {
    for precision in Precision::ALL {
        let mut seen = Seen::default();
        for groups in [10, 100, 253, 500, 1000] {
            for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
                let model = model(groups, groups % 3 == 0, likelihood);
                CENTERINGS.into_iter().for_each(|centering| compare(precision, &model, centering, &mut seen));
            }
        }
        if seen.values == 0 {
            return;
        }
        let mean = seen.relative / seen.values as f64;
        eprintln!("{precision:?}: bounds of {mean:e} of the log density; {seen:?}");
        // Bounds that nothing comes near to would prove nothing.
        let narrow = if precision == Precision::F64 { 1e-13 } else { 1e-4 };
        assert!(mean < narrow && seen.most > 0.02, "{precision:?}: bounds of {mean:e}, {seen:?}");
    }
}

/// Chains of a run from where warm-up has brought them.
fn run(model: &HierarchicalNormal, settled: &Settled, precision: Precision, [tune, iterations]: [u64; 2]) -> Job {
    let Settled { adaptation, starts, step } = settled;
    let mut job = Job::in_precision(precision, Task::Run, model, adaptation);
    job.integer(0x0123_4567_89ab_cdef).integer(7).integer(0);
    job.integer(10).real(1000.0).real(0.8).integer(starts.len() as u64);
    starts.iter().for_each(|start| _ = job.reals(start).reals(&averaging(*step, 0.8)).real(*step));
    // Some iterations of warm-up before, in and after a window.
    job.integer(iterations).integer(3).integer(tune).integer(1).integer(tune.saturating_sub(1));
    job
}

#[test]
fn arrays_and_fibers_have_the_same_bits_in_every_precision() {
    for precision in SINGLE {
        let mut bytes = 0;
        for (groups, rank, likelihood, chains) in [
            (10, 0, Likelihood::Collapsed, 5),
            (100, 3, Likelihood::Collapsed, 5),
            (100, 0, Likelihood::Pointwise, 1),
            (253, 2, Likelihood::Collapsed, 2),
            (500, 1, Likelihood::Collapsed, 1),
            (1000, 0, Likelihood::Collapsed, 1),
        ] {
            let model = model(groups, false, likelihood);
            for parameterization in PARAMETERIZATIONS {
                let settled = settle(&model, parameterization, rank, chains);
                let job = run(&model, &settled, precision, [5, 7]);
                let (Some(arrays), Some(fibers)) = (job.ask(Way::Arrays), job.ask(Way::Fibers)) else { return };
                assert!(arrays.bytes() == fibers.bytes(), "{precision:?}, {groups} groups, {parameterization:?}");
                bytes += arrays.bytes().len();
            }
        }
        eprintln!("{precision:?}: {bytes} bytes of draws, records, gradients and states are the same");
    }
}

/// Positions, step size and counts of leapfrogs of a first transition.
fn first(job: &Job, chains: usize, dim: usize) -> Option<Vec<(Vec<f64>, octopus_sampler::DrawStats)>> {
    let mut answer = job.ask(Way::Arrays)?;
    let mut read = || {
        let stats = answer.stats();
        let position = answer.reals(dim);
        answer.integer();
        (position, stats)
    };
    Some((0..chains).map(|_| read()).collect())
}

/// The same random numbers lead to the same trees: a first transition ends where that of f64 does.
#[test]
fn transitions_are_those_of_f64_but_for_rounding() {
    for groups in [10, 100, 500] {
        let chains = 40;
        let model = model(groups, false, Likelihood::Collapsed);
        for parameterization in PARAMETERIZATIONS {
            let settled = settle(&model, parameterization, 2, chains);
            let job = |precision| run(&model, &settled, precision, [0, 1]);
            let Some(exact) = first(&job(Precision::F64), chains, groups + 3) else { return };
            for precision in SINGLE {
                let Some(ours) = first(&job(precision), chains, groups + 3) else { return };
                let mut others = 0;
                for ((x, stats), (y, exact)) in ours.iter().zip(&exact) {
                    let key = |s: &octopus_sampler::DrawStats| (s.n_steps, s.tree_depth, s.index_in_trajectory);
                    if key(stats) != key(exact) {
                        others += 1;
                        continue;
                    }
                    let apart = x.iter().zip(y).map(|(x, y)| (x - y).abs() / (1.0 + y.abs())).fold(0.0, f64::max);
                    assert!(apart < 1e-3, "{precision:?}, {groups} groups: positions are {apart:e} apart");
                    let energy = (stats.energy_error - exact.energy_error).abs();
                    assert!(energy < 0.02, "{precision:?}, {groups} groups: energy errors are {energy:e} apart");
                }
                // Where a number decides by a hair another tree grows.
                assert!(others <= 2, "{precision:?}, {groups} groups: {others} of {chains} trees are others");
            }
        }
    }
}

#[test]
fn restarts_find_the_step_size_of_f64() {
    for groups in [10, 100, 500] {
        let (chains, dim) = (20, groups + 3);
        let model = model(groups, false, Likelihood::Collapsed);
        for parameterization in PARAMETERIZATIONS {
            let Settled { adaptation, starts, step } = settle(&model, parameterization, 0, chains);
            let steps = |precision| {
                let mut job = Job::in_precision(precision, Task::Restart, &model, &adaptation);
                job.integer(1).integer(0).integer(80).integer(10).real(1000.0).real(0.95).integer(chains as u64);
                starts.iter().for_each(|start| _ = job.reals(start).reals(&averaging(step, 0.8)).real(step));
                let mut answer = job.integer(1).ask(Way::Arrays)?;
                let mut read = || {
                    answer.reals(dim + 1);
                    let step = answer.real();
                    (step, answer.reals(6))
                };
                Some((0..chains).map(|_| read()).collect::<Vec<_>>())
            };
            let Some(exact) = steps(Precision::F64) else { return };
            for precision in SINGLE {
                let Some(ours) = steps(precision) else { return };
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
                let same = ours.iter().zip(&exact).filter(|((step, averaging), (exact, exact_averaging))| {
                    near(*step, *exact) && averaging.iter().zip(exact_averaging).all(|(&a, &b)| near(a, b))
                });
                let same = same.count();
                assert!(same + 1 >= chains, "{precision:?}, {groups} groups: {same} of {chains} steps are the same");
            }
        }
    }
}
