//! Value and gradient: against the scalar reference, dual numbers and finite differences.

use crate::cases::{BOTH, CENTERINGS, GROUPS, PRIORS, model, position, position_in, shapes};
use crate::reference::{constant, derivative, log_joint};
use octopus_density::{Centering, LogDensity, log_jacobian, to_non_centered};

/// Every size, shape, form of the likelihood, prior and centering. Values agree to 1e-12 of themselves;
/// gradients are sums whose terms cancel, and agree to 1e-12 of the gradient's largest component.
#[test]
fn vector_code_is_the_scalar_reference_to_1e_12() {
    let mut compared = 0;
    for groups in GROUPS {
        for (shape, data) in shapes(groups) {
            for (number, prior) in PRIORS.into_iter().enumerate() {
                for centering in CENTERINGS {
                    let models = BOTH.map(|likelihood| model(&data, prior, likelihood));
                    let at = position_in(&models[0], centering, number as u32);
                    let expected = log_joint(&data, &prior, centering, &at) - constant(&data, &prior);
                    // All three scalars and a spread of groups: each derivative costs a pass over the data.
                    let stride = (groups / 16).max(1);
                    let coordinates: Vec<usize> =
                        (0..groups).step_by(stride).chain(groups.saturating_sub(2)..groups + 3).collect();
                    let derivatives: Vec<f64> =
                        coordinates.iter().map(|&i| derivative(&data, &prior, centering, &at, i)).collect();
                    for model in &models {
                        let likelihood = model.likelihood();
                        let what = format!("{groups} groups, {shape}, {centering:?}, {likelihood:?}, prior {number}");
                        let mut gradient = vec![f64::NAN; groups + 3];
                        let value = model.logp_grad_centered(&[centering], &at, &mut gradient).expect("finite");
                        assert!((value / expected - 1.0).abs() < 1e-12, "{what}: {value}, not {expected}");
                        let largest = gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
                        for (&i, &expected) in coordinates.iter().zip(&derivatives) {
                            let error = (gradient[i] - expected).abs();
                            assert!(
                                error <= 1e-12 * largest,
                                "{what}: coordinate {i} is {}, not {expected}",
                                gradient[i]
                            );
                            compared += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 5000, "{compared} derivatives");
}

/// In non-centered coordinates the general entry gives the bits of the plain one. In others its value is the plain
/// one's and the Jacobian's.
#[test]
fn lambda_zero_is_the_plain_density() {
    for groups in [1, 33, 254] {
        for (shape, data) in shapes(groups) {
            for likelihood in BOTH {
                let model = model(&data, PRIORS[0], likelihood);
                for centering in CENTERINGS {
                    let at = position_in(&model, centering, 3);
                    let mut natural = at.clone();
                    to_non_centered(model.hierarchies(), &[centering], &mut natural);
                    let (mut plain, mut general) = (vec![0.0; groups + 3], vec![0.0; groups + 3]);
                    let a = model.logp_grad(&natural, &mut plain).expect("finite");
                    let b = model.logp_grad_centered(&[centering], &at, &mut general).expect("finite");
                    if centering == Centering::NonCentered {
                        assert_eq!(a.to_bits(), b.to_bits());
                        assert_eq!(plain, general);
                    }
                    let expected = a + log_jacobian(model.hierarchies(), &[centering], &at);
                    assert!((b / expected - 1.0).abs() < 1e-12, "{groups} groups, {shape}, {centering:?}: {b}");
                }
            }
        }
    }
}

/// Central differences of fourth order, which know nothing of the model.
#[test]
fn gradient_is_the_slope_of_the_value() {
    for groups in [1, 7, 33] {
        for (shape, data) in shapes(groups) {
            for centering in CENTERINGS {
                for likelihood in BOTH {
                    let model = model(&data, PRIORS[0], likelihood);
                    let at = position_in(&model, centering, 7);
                    let mut gradient = vec![0.0; groups + 3];
                    model.logp_grad_centered(&[centering], &at, &mut gradient).expect("finite");
                    let mut unused = vec![0.0; groups + 3];
                    for i in 0..groups + 3 {
                        let mut value = |offset: f64| {
                            let mut shifted = at.clone();
                            shifted[i] += offset;
                            model.logp_grad_centered(&[centering], &shifted, &mut unused).expect("finite")
                        };
                        let h = 1e-3;
                        let near = value(h) - value(-h);
                        let far = value(2.0 * h) - value(-2.0 * h);
                        let slope = (8.0 * near - far) / (12.0 * h);
                        let scale = gradient[i].abs().max(1.0);
                        assert!(
                            (gradient[i] - slope).abs() < 1e-6 * scale,
                            "{groups} groups, {shape}, {centering:?}, {likelihood:?}, coordinate {i}: {}, not {slope}",
                            gradient[i]
                        );
                    }
                }
            }
        }
    }
}

/// Where the density overflows it says so; a coordinate that is not a number is no value either.
#[test]
fn points_outside_the_range_are_recoverable_errors() {
    let (_, data) = &shapes(7)[1];
    for likelihood in BOTH {
        let model = model(data, PRIORS[0], likelihood);
        for (i, bad) in [(0, f64::NAN), (3, f64::INFINITY), (7, f64::NAN), (8, 400.0), (9, -400.0), (9, 800.0)] {
            let mut at = position(7, 0);
            at[i] = bad;
            let error = model.logp_grad(&at, &mut [0.0; 10]).expect_err("no value there");
            assert!(error.is_recoverable(), "{i}: {error}");
        }
    }
}

/// Far out the noise is a rounding error of an observation, or the scale is: a residual would mean nothing there. The slopes
/// by the scalars' coordinates are those of the value, by a five-point formula, and each effect's is its own, negative.
#[test]
fn far_out_the_density_is_smooth() {
    const STEP: f64 = 1e-3;
    for groups in [33, 254] {
        // All groups of one size, and several sizes.
        for (shape, data) in &shapes(groups)[..2] {
            let model = model(data, PRIORS[0], BOTH[0]);
            let evaluate = |at: &[f64]| {
                let mut gradient = vec![f64::NAN; groups + 3];
                let value = model.logp_grad_centered(&[Centering::Standardised], at, &mut gradient).expect("finite");
                (value, gradient)
            };
            for ratio in [-300.0, -39.0, 39.0, 300.0] {
                let mut at = position_in(&model, Centering::Standardised, 5);
                at[groups + 1] = ratio;
                let (value, gradient) = evaluate(&at);
                assert!(gradient[..groups].iter().zip(&at).all(|(slope, x)| *slope == -x));
                for i in groups..groups + 3 {
                    let moved = |steps: f64| {
                        let mut at = at.clone();
                        at[i] += steps * STEP;
                        evaluate(&at).0
                    };
                    let slope = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * STEP);
                    let rounding = value.abs().max(1.0) * 1e-16 / STEP;
                    let error = (gradient[i] - slope).abs();
                    let bound = 1e-8 * slope.abs() + 100.0 * rounding;
                    let what = format!("{groups} groups, {shape}, ratio {ratio}, coordinate {i}");
                    assert!(error < bound, "{what}: {}, not {slope}", gradient[i]);
                }
            }
        }
    }
}
