//! Eight schools: log density and gradient, and whole runs.

use crate::harness::{Job, Task, assert_same, same};
use crate::models::{CENTERINGS, adaptation, random};
use crate::program::{Precision, Way};
use crate::runs::compare_model;
use octopus_density::{LogDensity, to_centered};
use octopus_models::EightSchools;
use octopus_random::Stream;
use octopus_sampler::{MetricKind, Parameterization, SamplerConfig, Strategy};

/// Rubin's schools, and others around the boundaries of rows and of lanes.
fn models() -> Vec<EightSchools> {
    let others = [1, 30, 31, 100, 126, 127, 254, 255, 300, 1022].map(|schools| {
        let mut random = Stream::new(41, schools, 0, octopus_random::Purpose::User);
        let sigma: Vec<f64> = (0..schools).map(|_| 0.5 + 20.0 * random.uniform()).collect();
        let y: Vec<f64> = sigma.iter().map(|sigma| 4.0 + 6.0 * random.normal() + sigma * random.normal()).collect();
        EightSchools::new(&y, &sigma).unwrap()
    });
    [EightSchools::rubin()].into_iter().chain(others).collect()
}

/// A point `spread` wide in natural coordinates.
fn point(schools: usize, spread: f64, random: &mut Stream) -> Vec<f64> {
    let mut x: Vec<f64> = (0..schools).map(|_| spread * random.normal()).collect();
    x.extend([4.0 + 3.0 * spread * random.normal(), 1.0 + spread * random.normal()]);
    x
}

/// Points of the typical set, far from it, in the funnel's neck, and with numbers that are none.
#[test]
fn log_density_and_gradient_have_the_same_bits() {
    let (mut finite, mut others) = (0, 0);
    for model in models() {
        let (schools, dim, mut random) = (model.schools(), model.dim(), random(2));
        for centering in CENTERINGS {
            let mut points: Vec<Vec<f64>> =
                (0..200).map(|k| point(schools, [0.1, 1.0, 3.0, 30.0][k % 4], &mut random)).collect();
            points.iter_mut().for_each(|x| to_centered(model.hierarchies(), &[centering], x));
            let edges = [0.0, -0.0, 1e-300, -1e300, 1e160, 350.0, -30.0, -350.0, 709.5, -709.5, 1e5];
            let broken = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            for at in [0, schools / 2, schools, schools + 1] {
                for value in edges.into_iter().chain(broken) {
                    let mut x = point(schools, 1.0, &mut random);
                    x[at] = value;
                    points.push(x);
                }
            }
            let adaptation = adaptation(centering, dim);
            let mut job = Job::new(Task::Evaluate, &model, &adaptation);
            job.reals(&points.concat());
            let Some(mut answer) = job.ask(Way::Arrays) else { return };
            let mut gradient = vec![0.0; dim];
            for x in &points {
                let ours = model.logp_grad_centered(&adaptation.centerings, x, &mut gradient);
                let (theirs, their_gradient) = (answer.real(), answer.reals(dim));
                match ours {
                    Ok(logp) => {
                        assert!(same(logp, theirs), "{schools} schools: {logp:e} here, {theirs:e} in the kernels");
                        assert_same(&format!("gradient of {schools} schools"), &gradient, &their_gradient);
                        finite += 1;
                    }
                    Err(_) => {
                        assert!(!theirs.is_finite(), "{schools} schools: no value here, {theirs:e} in the kernels");
                        others += 1;
                    }
                }
            }
            answer.end();
        }
    }
    eprintln!("{finite} points have the same bits, {others} have no value on either side");
    assert!(finite > 7_500 && others > 100, "{finite}, {others}");
}

/// In f32, alone or with scalars in f64: what rounding makes of the log density and of each slope, in units of the
/// largest of its kind near the typical set. An error of the formula would be a thousand times as large.
#[test]
fn lower_precision_rounds_and_no_more() {
    for model in [EightSchools::rubin(), EightSchools::new(&[7.5; 20], &[3.5; 20]).unwrap()] {
        let (schools, dim, mut random) = (model.schools(), model.dim(), random(6));
        for centering in CENTERINGS {
            let mut points: Vec<Vec<f64>> = (0..100).map(|_| point(schools, 1.0, &mut random)).collect();
            points.iter_mut().for_each(|x| to_centered(model.hierarchies(), &[centering], x));
            let adaptation = adaptation(centering, dim);
            for precision in [Precision::F32, Precision::Mixed] {
                let mut job = Job::in_precision(precision, Task::Evaluate, &model, &adaptation);
                let Some(mut answer) = job.reals(&points.concat()).ask(Way::Sanitized) else { return };
                let mut differ = 0;
                for x in &points {
                    let mut gradient = vec![0.0; dim];
                    // The kernels begin with the position in f32.
                    let x: Vec<f64> = x.iter().map(|x| f64::from(*x as f32)).collect();
                    let logp = model.logp_grad_centered(&adaptation.centerings, &x, &mut gradient).unwrap();
                    let (theirs, slopes) = (answer.real(), answer.reals(dim));
                    // Where tau is small, z is a difference over tau: the position's rounding counts that often more.
                    let near = 1e-6 * (1.0 + (x[schools].abs() / x[schools + 1].exp()).powi(2));
                    assert!((theirs - logp).abs() < near * (1.0 + logp.abs()), "{precision}: {theirs}, not {logp}");
                    let largest = gradient.iter().fold(1.0f64, |a, g| a.max(g.abs()));
                    for (slope, exact) in slopes.iter().zip(&gradient) {
                        assert!((slope - exact).abs() < 4.0 * near * largest, "{precision}: {slope}, not {exact}");
                        differ += usize::from(slope != exact);
                    }
                }
                answer.end();
                assert!(differ > 0, "{precision} computes in f64");
            }
        }
    }
}

fn config(parameterization: Parameterization, metric: MetricKind) -> SamplerConfig {
    let base = SamplerConfig { strategy: Strategy::FourLong, ..SamplerConfig::default() };
    SamplerConfig { draws: 500, tune: 500, chains: 4, seed: 11, parameterization, metric, ..base }
}

#[test]
fn runs_of_eight_schools_have_the_same_bits() {
    let model = EightSchools::rubin();
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive] {
        for metric in [MetricKind::Diag, MetricKind::LowRank] {
            let name = format!("eight schools, {parameterization:?}, {metric:?}");
            compare_model(Way::Arrays, &name, &model, &config(parameterization, metric), 64);
        }
    }
}

/// The entries of the unit, on lanes that are fibers; 5 chains fill a block and begin the next.
#[test]
fn a_run_of_eight_schools_on_fibers_has_the_same_bits() {
    let config =
        SamplerConfig { draws: 50, tune: 150, chains: 5, ..config(Parameterization::Adaptive, MetricKind::Auto) };
    compare_model(Way::Fibers, "eight schools", &EightSchools::rubin(), &config, 16);
}
