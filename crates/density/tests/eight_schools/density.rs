//! Value and gradient: against the definition, dual numbers, finite differences and the sums of the virtual warp.

use crate::number::Dual;
use crate::reference::{centerings, constant, log_joint, models, position};
use octopus_density::warp::sum_in_order;
use octopus_density::{DataError, EightSchools, LogDensity, to_centered};

/// Values agree to 1e-12 of themselves; gradients are sums whose terms cancel, and agree to 1e-12 of the gradient's
/// largest component.
#[test]
fn value_and_gradient_are_those_of_the_definition() {
    for model in models() {
        let schools = model.schools();
        for (name, centering) in centerings(schools) {
            for number in 0..3 {
                let mut at = position(schools, number);
                to_centered(model.hierarchies(), std::slice::from_ref(&centering), &mut at);
                let mut gradient = vec![f64::NAN; schools + 2];
                let value = model.logp_grad_centered(std::slice::from_ref(&centering), &at, &mut gradient).unwrap();
                let expected = log_joint(&model, centering.lambda(), &at) - constant(&model);
                let what = format!("{schools} schools, {name}");
                assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{what}: {value}, not {expected}");
                let slopes: Vec<f64> = (0..schools + 2)
                    .map(|i| {
                        let along = |k| f64::from(u8::from(k == i));
                        let dual: Vec<Dual> =
                            at.iter().enumerate().map(|(k, &value)| Dual { value, derivative: along(k) }).collect();
                        log_joint(&model, centering.lambda(), &dual).derivative
                    })
                    .collect();
                let largest = slopes.iter().fold(1.0f64, |a, g| a.max(g.abs()));
                for (i, (found, slope)) in gradient.iter().zip(&slopes).enumerate() {
                    assert!((found - slope).abs() < 1e-12 * largest, "{what}, coordinate {i}: {found}, not {slope}");
                }
                if name == "non-centered" {
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
        for (name, centering) in centerings(schools) {
            let centering = [centering];
            let mut at = position(schools, 7);
            to_centered(model.hierarchies(), &centering, &mut at);
            let (mut gradient, mut unused) = (vec![0.0; schools + 2], vec![0.0; schools + 2]);
            model.logp_grad_centered(&centering, &at, &mut gradient).unwrap();
            for i in 0..schools + 2 {
                let mut value = |offset: f64| {
                    let mut shifted = at.clone();
                    shifted[i] += offset;
                    model.logp_grad_centered(&centering, &shifted, &mut unused).unwrap()
                };
                let h = 1e-3;
                let slope = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                let scale = gradient[i].abs().max(1.0);
                assert!((gradient[i] - slope).abs() < 1e-6 * scale, "{schools}, {name}, coordinate {i}: {slope}");
            }
        }
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
    assert_eq!(error(&[1.0], &[1.0, 2.0]), DataError::StandardErrors { effects: 1, errors: 2 });
    assert_eq!(error(&[], &[]), DataError::NoObservations);
    assert!(matches!(error(&[1.0, f64::NAN], &[1.0, 1.0]), DataError::NotFinite { row: 1, .. }));
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        assert!(matches!(error(&[1.0, 2.0], &[1.0, sigma]), DataError::StandardError { row: 1, .. }), "{sigma}");
    }
}
