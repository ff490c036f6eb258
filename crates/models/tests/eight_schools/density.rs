//! Value and gradient: against the definition, dual numbers, finite differences and the sums of the virtual warp.

use crate::number::Dual;
use crate::reference::{CENTERINGS, constant, location, log_joint, log_marginal, models, position, position_in};
use octopus_density::warp::sum_in_order;
use octopus_density::{Centering, DataError, LogDensity};
use octopus_models::{EightSchools, ModelError};

/// Values agree to 1e-12 of themselves; gradients are sums whose terms cancel, and agree to 1e-12 of the gradient's
/// largest component.
#[test]
fn value_and_gradient_are_those_of_the_definition() {
    for model in models() {
        let schools = model.schools();
        for centering in CENTERINGS {
            for number in 0..3 {
                let at = position_in(&model, centering, number);
                let mut gradient = vec![f64::NAN; schools + 2];
                let value = model.logp_grad_centered(&[centering], &at, &mut gradient).unwrap();
                let expected = log_joint(&model, centering, &at) - constant(&model);
                let what = format!("{schools} schools, {centering:?}");
                assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{what}: {value}, not {expected}");
                let slopes: Vec<f64> = (0..schools + 2)
                    .map(|i| {
                        let along = |k| f64::from(u8::from(k == i));
                        let dual: Vec<Dual> =
                            at.iter().enumerate().map(|(k, &value)| Dual { value, derivative: along(k) }).collect();
                        log_joint(&model, centering, &dual).derivative
                    })
                    .collect();
                let largest = slopes.iter().fold(1.0f64, |a, g| a.max(g.abs()));
                for (i, (found, slope)) in gradient.iter().zip(&slopes).enumerate() {
                    assert!((found - slope).abs() < 1e-12 * largest, "{what}, coordinate {i}: {found}, not {slope}");
                }
                if centering == Centering::NonCentered {
                    let mut plain = vec![f64::NAN; schools + 2];
                    let natural = model.logp_grad(&at, &mut plain).unwrap();
                    assert_eq!((natural.to_bits(), plain), (value.to_bits(), gradient), "{what}");
                }
            }
        }
    }
}

/// Fourth-order differences of the library's own value, which the dual numbers know nothing of.
#[test]
fn gradients_are_the_slopes_of_the_value() {
    for model in models().into_iter().filter(|model| model.schools() < 40) {
        let schools = model.schools();
        for centering in CENTERINGS {
            let at = position_in(&model, centering, 7);
            let (mut gradient, mut unused) = (vec![0.0; schools + 2], vec![0.0; schools + 2]);
            model.logp_grad_centered(&[centering], &at, &mut gradient).unwrap();
            for i in 0..schools + 2 {
                let mut value = |offset: f64| {
                    let mut shifted = at.clone();
                    shifted[i] += offset;
                    model.logp_grad_centered(&[centering], &shifted, &mut unused).unwrap()
                };
                let h = 1e-3;
                let slope = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                let scale = gradient[i].abs().max(1.0);
                let off = (gradient[i] - slope).abs();
                assert!(off < 1e-6 * scale, "{schools}, {centering:?}, coordinate {i}: {slope}");
            }
        }
    }
}

/// Given mu and tau, standardised effects are independent and standard normal: the slope of each is its coordinate,
/// negative, and what their squares leave of the value is the density of mu and tau alone.
#[test]
fn standardised_effects_are_standard_normal_given_the_scalars() {
    for model in models() {
        let schools = model.schools();
        let mut gradient = vec![0.0; schools + 2];
        let [(value, marginal), (other_value, other_marginal)] = [5, 6].map(|number| {
            let at = position_in(&model, Centering::Standardised, number);
            let value = model.logp_grad_centered(&[Centering::Standardised], &at, &mut gradient).unwrap();
            for j in 0..schools {
                // An effect is rounded as y is, and counts in standard deviations of its own.
                let bound = 1e-13 * (1.0 + at[schools + 1].exp() / model.sigma()[j]);
                let off = (gradient[j] + at[j]).abs();
                assert!(off < bound, "{schools} schools: the slope of {} is {}", at[j], gradient[j]);
            }
            let squares: f64 = at[..schools].iter().map(|x| x * x).sum();
            let (mu, log_sd) = location(&model, Centering::Standardised, &at);
            (value + 0.5 * squares, log_marginal(&model, mu, at[schools + 1]) + log_sd)
        });
        // Between two points the constant goes.
        let (found, expected) = (other_value - value, other_marginal - marginal);
        let bound = 1e-12 * (value.abs() + marginal.abs()).max(1.0);
        assert!((found - expected).abs() < bound, "{schools} schools: {found}, not {expected}");
    }
}

/// The gradient of mu is a sum over schools plus what the prior gives: the sum has the order of the virtual warp, to
/// the bit. In non-centered coordinates at tau = 1 each term is (y - theta) / sigma^2 times 1 - 0.
#[test]
fn sums_have_the_order_of_the_virtual_warp() {
    for model in models() {
        let schools = model.schools();
        let mut at = position(schools, 3);
        (at[schools], at[schools + 1]) = (0.0, 0.0);
        let terms: Vec<f64> =
            (0..schools).map(|j| 1.0 / (model.sigma()[j] * model.sigma()[j]) * (model.y()[j] - at[j])).collect();
        let mut gradient = vec![0.0; schools + 2];
        model.logp_grad(&at, &mut gradient).unwrap();
        assert_eq!(gradient[schools].to_bits(), sum_in_order(&terms, schools + 2).to_bits(), "{schools} schools");
        if schools == 300 {
            assert_ne!(gradient[schools].to_bits(), terms.iter().sum::<f64>().to_bits(), "the order shows");
        }
    }
}

#[test]
fn points_outside_the_range_are_recoverable_errors() {
    let model = EightSchools::rubin();
    for (i, bad) in [(0, f64::NAN), (3, f64::INFINITY), (8, f64::NAN), (8, 1e200), (9, 400.0), (9, 800.0), (9, -800.0)]
    {
        let mut at = position(8, 0);
        at[i] = bad;
        let error = model.logp_grad(&at, &mut [0.0; 10]).expect_err("no value there");
        assert!(error.is_recoverable(), "{i}: {error}");
    }
    // The funnel's neck is far inside of the range.
    let mut at = position(8, 0);
    at[9] = -300.0;
    assert!(model.logp_grad(&at, &mut [0.0; 10]).is_ok());
}

#[test]
fn data_that_are_none_are_named() {
    let error = |y: &[f64], sigma: &[f64]| EightSchools::new(y, sigma).expect_err("no data");
    assert_eq!(error(&[1.0], &[1.0, 2.0]), ModelError::StandardErrors { effects: 1, errors: 2 });
    assert_eq!(error(&[], &[]), DataError::NoObservations.into());
    assert!(matches!(error(&[1.0, f64::NAN], &[1.0, 1.0]), ModelError::Data(DataError::NotFinite { row: 1, .. })));
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        assert!(matches!(error(&[1.0, 2.0], &[1.0, sigma]), ModelError::StandardError { row: 1, .. }), "{sigma}");
    }
}
