//! Log density and gradient.

use crate::harness::{Job, Task, assert_same, same};
use crate::models::{CENTERINGS, GROUPS, adaptation, model, point, random};
use crate::program::Way;
use octopus_density::{Centering, LogDensity};
use octopus_models::{HierarchicalNormal, Likelihood};

/// Points of the typical set, far from it, with scales that vanish or overflow, and with numbers that are none.
fn points(model: &HierarchicalNormal, centering: Centering, count: usize) -> Vec<Vec<f64>> {
    let (dim, mut random) = (model.dim(), random(1));
    let mut points: Vec<Vec<f64>> =
        (0..count).map(|k| point(model, centering, [0.1, 1.0, 3.0, 30.0][k % 4], &mut random)).collect();
    let edges = [0.0, -0.0, 1e-300, -1e300, 1e160, -1e160, 350.0, -350.0, -360.0, 709.5, -709.5, 1e5];
    let broken = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for at in [0, dim / 2, dim - 4, dim - 3, dim - 2, dim - 1] {
        for value in edges.into_iter().chain(broken) {
            let mut x = point(model, centering, 1.0, &mut random);
            x[at] = value;
            points.push(x);
        }
    }
    for value in edges.into_iter().chain(broken) {
        points.push(vec![value; dim]);
    }
    points
}

/// How many points had a finite value, and how many had none.
fn compare(groups: usize, balanced: bool, likelihood: Likelihood, count: usize) -> (usize, usize) {
    let model = model(groups, balanced, likelihood);
    let dim = model.dim();
    let (mut finite, mut others) = (0, 0);
    for centering in CENTERINGS {
        let points = points(&model, centering, count);
        let adaptation = adaptation(centering, dim);
        let mut job = Job::new(Task::Evaluate, &model, &adaptation);
        job.reals(&points.concat());
        let Some(mut answer) = job.ask(Way::Arrays) else { return (0, 0) };
        let mut gradient = vec![0.0; dim];
        for x in &points {
            let ours = model.logp_grad_centered(&adaptation.centerings, x, &mut gradient);
            let (theirs, their_gradient) = (answer.real(), answer.reals(dim));
            match ours {
                Ok(logp) => {
                    assert!(same(logp, theirs), "{groups} groups: {logp:e} here, {theirs:e} in the kernels");
                    assert_same(&format!("gradient of {groups} groups"), &gradient, &their_gradient);
                    finite += 1;
                }
                Err(_) => {
                    assert!(!theirs.is_finite(), "{groups} groups: no value here, {theirs:e} in the kernels");
                    others += 1;
                }
            }
        }
        answer.end();
    }
    (finite, others)
}

fn compare_all(likelihood: Likelihood, count: usize) {
    let (mut finite, mut others) = (0, 0);
    for groups in GROUPS {
        for balanced in [true, false] {
            let (more_finite, more_others) = compare(groups, balanced, likelihood, count);
            (finite, others) = (finite + more_finite, others + more_others);
        }
    }
    eprintln!("{likelihood:?}: {finite} points have the same bits, {others} have no value on either side");
}

#[test]
fn collapsed_log_density_and_gradient_have_the_same_bits() {
    compare_all(Likelihood::Collapsed, 400);
}

#[test]
fn pointwise_log_density_and_gradient_have_the_same_bits() {
    compare_all(Likelihood::Pointwise, 100);
}
