//! The leapfrog integrator: reversible, volume preserving, of second order.

use super::densities::{Banana, Gaussian};
use super::*;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};

const METRICS: [fn(usize) -> MetricEstimate; 2] = [diagonal, low_rank];

fn random(dim: usize, number: u32) -> Buffer {
    momentum(dim, &Stream::new(3, number, 0, Purpose::User))
}

/// `steps` forward, the momentum reversed, `steps` forward: where it started, with the momentum reversed.
fn returns(machine: &mut Machine<'_>, start: &[f64], step: f64, steps: usize) {
    let dim = start.len();
    let mut point = machine.at(start);
    let r0 = random(dim, 1);
    let mut r = r0.clone();
    for _ in 0..steps {
        machine.step(step, &mut point, &mut r);
    }
    let moved: f64 = point.x.iter().zip(start).map(|(a, b)| (a - b).abs()).sum();
    assert!(moved > 0.1, "the trajectory went nowhere: {moved}");
    r.iter_mut().for_each(|r| *r = -*r);
    for _ in 0..steps {
        machine.step(step, &mut point, &mut r);
    }
    for i in 0..dim {
        assert!((point.x[i] - start[i]).abs() < 1e-10 * start[i].abs().max(1.0), "x[{i}]: {}", point.x[i] - start[i]);
        assert!((r[i] + r0[i]).abs() < 1e-10, "r[{i}]: {}", r[i] + r0[i]);
    }
    // The same without reversing: a negative step undoes a positive one.
    let mut r = r0.clone();
    let mut point = machine.at(start);
    machine.step(step, &mut point, &mut r);
    machine.step(-step, &mut point, &mut r);
    assert!(r.iter().zip(r0.iter()).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn trajectories_are_reversible() {
    for metric in METRICS {
        let (gaussian, banana) = (Gaussian::correlated(5, 0.6), Banana::new(0.7));
        returns(&mut Machine::new(&gaussian, vec![], &metric(5)), &[0.5, -0.2, 1.5, 0.0, 3.0], 0.02, 50);
        returns(&mut Machine::new(&banana, vec![], &metric(3)), &[0.5, -0.2, 1.5], 0.1, 40);
    }
}

/// The PRD's model in standardised coordinates, more of them than one row of lanes.
#[test]
fn trajectories_of_the_hierarchical_model_are_reversible() {
    for groups in [100, 300] {
        let data = HierarchicalSpec { groups, ..Default::default() }.unbalanced().expect("valid").data;
        let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed).expect("valid");
        let start = model.center().expect("has one");
        for metric in METRICS {
            let mut estimate = metric(groups + 3);
            estimate.diagonal.iter_mut().for_each(|d| *d = 0.01 * d.sqrt());
            returns(&mut Machine::new(&model, vec![Centering::Standardised], &estimate), &start, 0.02, 30);
        }
    }
}

/// |det d(x', r')/d(x, r)| by central differences and elimination.
fn volume(machine: &mut Machine<'_>, start: &[f64], step: f64, steps: usize) -> f64 {
    let dim = start.len();
    let r0 = random(dim, 2);
    let mut flow = |coordinate: usize, offset: f64| -> Vec<f64> {
        let (mut x, mut r) = (start.to_vec(), r0.clone());
        if coordinate < dim {
            x[coordinate] += offset
        } else {
            r[coordinate - dim] += offset
        }
        let mut point = machine.at(&x);
        for _ in 0..steps {
            machine.step(step, &mut point, &mut r);
        }
        point.x[..dim].iter().chain(&r[..dim]).copied().collect()
    };
    let h = 1e-4;
    let columns: Vec<Vec<f64>> = (0..2 * dim)
        .map(|i| {
            let (near, far) = ((flow(i, h), flow(i, -h)), (flow(i, 2.0 * h), flow(i, -2.0 * h)));
            (0..2 * dim).map(|k| (8.0 * (near.0[k] - near.1[k]) - (far.0[k] - far.1[k])) / (12.0 * h)).collect()
        })
        .collect();
    determinant(columns).abs()
}

fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut product = 1.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("rows");
        a.swap(k, pivot);
        product *= if pivot == k { a[k][k] } else { -a[k][k] };
        let (above, below) = a.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for (x, y) in row[k..].iter_mut().zip(&above[k][k..]) {
                *x -= factor * y;
            }
        }
    }
    product
}

#[test]
fn volume_is_preserved() {
    for metric in METRICS {
        let (gaussian, banana) = (Gaussian::correlated(4, 0.5), Banana::new(0.7));
        let found = volume(&mut Machine::new(&gaussian, vec![], &metric(4)), &[0.1, 0.2, -0.3, 1.0], 0.05, 7);
        assert!((found - 1.0).abs() < 1e-7, "{found}");
        let found = volume(&mut Machine::new(&banana, vec![], &metric(3)), &[0.5, -0.2, 1.5], 0.1, 7);
        assert!((found - 1.0).abs() < 1e-7, "{found}");
    }
}

/// Over a fixed time the largest energy error falls by 4 when the step is halved.
#[test]
fn energy_error_is_of_second_order() {
    for metric in METRICS {
        let banana = Banana::new(0.7);
        let mut machine = Machine::new(&banana, vec![], &metric(3));
        let mut largest = |steps: usize| {
            let mut point = machine.at(&[0.5, -0.2, 1.5]);
            let mut r = random(3, 4);
            let start = 0.5 * r.iter().map(|r| r * r).sum::<f64>() - point.logp;
            let step = 1.0 / steps as f64;
            (0..steps).map(|_| (machine.step(step, &mut point, &mut r) - start).abs()).fold(0.0, f64::max)
        };
        let errors = [100, 200, 400, 800].map(&mut largest);
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((3.9..4.1).contains(&ratio), "{errors:?}");
        }
    }
}
