//! What must hold for any parameters: integrals, inverses, order, symmetry, limits and invalid input.

use octopus_random::bessel::{i_ratio, i1_over_i0, log_i, log_i0, one_minus_i1_over_i0};
use octopus_random::circular::*;
use std::f64::consts::PI;

const CONCENTRATIONS: [f64; 14] = [0.0, 5e-324, 1e-8, 1e-4, 0.1, 0.9, 1.0, 5.0, 30.0, 100.0, 1e4, 1e8, 1e12, 1e300];

/// Angles of all sizes that matter at a concentration, on both sides, in order.
fn angles(concentration: f64) -> Vec<f64> {
    let width = if concentration > 1.0 { 1.0 / concentration.sqrt() } else { 1.0 };
    let mut up: Vec<f64> = (0..60).map(|k| width * 1e-3 * 1.2f64.powi(k)).filter(|y| *y <= PI).collect();
    up.push(PI);
    let down: Vec<f64> = up.iter().rev().map(|y| -y).collect();
    [down, vec![0.0], up].concat()
}

/// Romberg's rule on the trapezoids of 2^0 to 2^14 pieces: nothing of the code under test.
fn romberg(start: f64, end: f64, f: impl Fn(f64) -> f64) -> f64 {
    let mut last = vec![0.5 * (end - start) * (f(start) + f(end))];
    for level in 1..15 {
        let pieces = 1u32 << level;
        let step = (end - start) / f64::from(pieces);
        let new: f64 = (0..pieces / 2).map(|k| f(start + step * f64::from(2 * k + 1))).sum();
        let mut row = vec![0.5 * last[0] + step * new];
        let mut power = 1.0;
        for value in &last {
            power *= 4.0;
            row.push(row[row.len() - 1] + (row[row.len() - 1] - value) / (power - 1.0));
        }
        // The extrapolation is over when rounding is all that is left of the differences.
        let settled = level > 6 && (row[level] - last[level - 1]).abs() <= 1e-15 * row[level].abs();
        last = row;
        if settled {
            break;
        }
    }
    last[last.len() - 1]
}

fn assert_close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "{what}: {got:e} is not {expected:e}");
}

/// The density integrates to the differences of the distribution function, and to 1.
#[test]
fn integrals_of_the_density() {
    for concentration in [0.0, 1e-4, 0.1, 1.0, 5.0, 30.0, 100.0, 1e4] {
        let loc = 0.3;
        let density = |angle: f64| von_mises_log_density(angle, loc, concentration).exp();
        let width = 1f64.min(1.0 / concentration.sqrt());
        let mut total = 0.0;
        let mut start = -PI;
        while start < PI {
            let end = (start + 0.5 * width).min(PI);
            let integral = romberg(loc + start, loc + end, density);
            let (below, above) = (
                von_mises_cdf(loc + end, loc, concentration) - von_mises_cdf(loc + start, loc, concentration),
                von_mises_survival(loc + start, loc, concentration) - von_mises_survival(loc + end, loc, concentration),
            );
            let difference = if start < 0.0 { below } else { above };
            if difference > 1e-300 {
                // The ends are rounded when they are added to `loc`, by up to 2e-16 that the tail's slope multiplies.
                let slope = concentration.max(2.0 / width) * 4e-16;
                assert_close(integral, difference, 1e-12 + slope, &format!("{concentration:e}, {start} to {end}"));
            }
            total += integral;
            start = end;
        }
        assert_close(total, 1.0, 2e-14, &format!("{concentration:e}"));
    }
}

#[test]
fn integrals_of_the_wrapped_density() {
    for scale in [0.2, 1.0, 2.4, 2.6, 10.0] {
        let density = |angle: f64| wrapped_normal_log_density(angle, 1.0, scale).exp();
        let pieces = |range: std::ops::Range<i32>| -> f64 {
            range.map(|k| romberg(1.0 + PI * f64::from(k) / 32.0, 1.0 + PI * f64::from(k + 1) / 32.0, density)).sum()
        };
        assert_close(pieces(-32..32), 1.0, 2e-14, &format!("scale {scale}"));
        assert_close(pieces(-32..-8), wrapped_normal_cdf(1.0 - PI / 4.0, 1.0, scale), 1e-13, &format!("scale {scale}"));
        assert_close(pieces(8..32), wrapped_normal_survival(1.0 + PI / 4.0, 1.0, scale), 1e-13, &format!("{scale}"));
    }
}

#[test]
fn quantiles_undo_the_distribution_function() {
    for concentration in CONCENTRATIONS {
        for angle in angles(concentration) {
            let below = von_mises_cdf(angle, 0.0, concentration);
            if angle <= 0.0 && below > 1e-290 {
                // A last bit of p moves the angle by p/density of it, and by no less than a last bit of its own.
                let density = von_mises_log_density(angle, 0.0, concentration).exp();
                let allowed = 1e-12 * angle.abs() + 4e-16 * below / density;
                let back = von_mises_quantile(below, 0.0, concentration);
                assert!((back - angle).abs() <= allowed, "{concentration:e}: {back:e} is not {angle:e}");
            }
        }
        for p in [1e-300, 1e-200, 1e-30, 1e-10, 0.001, 0.2, 0.25, 0.2500001, 0.3, 0.49, 0.4999, 0.5] {
            let angle = von_mises_quantile(p, 0.0, concentration);
            if angle > -PI {
                // The angle's last bit moves ln p by the density over p, and so do 1e-13 of a far tail's exponent.
                let slope = von_mises_log_density(angle, 0.0, concentration).exp() / p * angle.abs();
                let there = von_mises_cdf(angle, 0.0, concentration);
                assert_close(there, p, 4e-13 + 4e-16 * slope, &format!("{concentration:e}, p = {p:e}"));
            }
            let mirrored = von_mises_quantile(1.0 - p, 0.0, concentration);
            assert_eq!(mirrored, -von_mises_quantile(1.0 - (1.0 - p), 0.0, concentration));
        }
        assert_eq!(von_mises_quantile(0.0, 0.5, concentration), 0.5 - PI);
        assert_eq!(von_mises_quantile(1.0, 0.5, concentration), 0.5 + PI);
        assert_eq!(von_mises_quantile(0.5, 0.5, concentration), 0.5);
    }
}

#[test]
fn the_distribution_function_rises_and_its_parts_add_up() {
    for concentration in CONCENTRATIONS {
        let mut last = 0.0;
        for angle in angles(concentration) {
            let below = von_mises_cdf(angle, 0.0, concentration);
            let above = von_mises_survival(angle, 0.0, concentration);
            let mass = von_mises_mass_from_loc(angle, 0.0, concentration);
            assert!(below >= last && below <= 1.0, "{concentration:e}, {angle:e}: {below:e} after {last:e}");
            assert!((below + above - 1.0).abs() <= 4e-16, "{concentration:e}, {angle:e}");
            assert!((below - 0.5 - mass).abs() <= 4e-15, "{concentration:e}, {angle:e}: {below:e}, {mass:e}");
            assert_eq!(von_mises_survival(-angle, 0.0, concentration), below);
            last = below;
        }
    }
}

/// An angle just inside the antipode has the density times its distance from it, in digits that pi in 16 digits lacks.
#[test]
fn tails_begin_at_the_antipode_itself() {
    for concentration in [0.0, 1e-4, 1.0, 100.0] {
        let density = von_mises_log_density(PI, 0.0, concentration).exp();
        assert_close(von_mises_cdf(-PI, 0.0, concentration), density * 1.224_646_799_147_353_2e-16, 1e-13, "-pi");
        assert_eq!(von_mises_cdf(-PI.next_up(), 0.0, concentration), 0.0);
        assert_eq!(von_mises_cdf(PI.next_up(), 0.0, concentration), 1.0);
        // 3 - (-0.1415926535897932) is rounded; what is left to pi is not. PI is 3.141592653589793 and 1.2e-16 less.
        let (angle, loc) = (-3.0, 0.141_592_653_589_793_1);
        let left = (PI - 3.0 - loc) + 1.224_646_799_147_353_2e-16;
        assert_close(von_mises_cdf(angle, loc, concentration), density * left, 1e-13, "two parts");
    }
}

/// Almost a turn away from `loc`, the rounded difference is far from a turn beside how near the angle is.
#[test]
fn densities_are_periodic_to_the_last_bit() {
    let (angle, loc) = (PI, -(PI - 2f64.powi(-26) - 2f64.powi(-51)));
    let rounded = angle - loc;
    assert_ne!(rounded - angle, -loc, "nothing was rounded, and nothing is tested");
    let near = (PI + loc) + 2.0 * 1.224_646_799_147_353_2e-16;
    for (concentration, scale) in [(1e16, 1e-8), (3e17, 2e-9)] {
        let expected = von_mises_log_density(near, 0.0, concentration);
        assert_close(von_mises_log_density(angle, loc, concentration), expected, 1e-13, "von Mises");
        let expected = wrapped_normal_log_density(near, 0.0, scale);
        assert_close(wrapped_normal_log_density(angle, loc, scale), expected, 1e-13, "wrapped normal");
    }
}

#[test]
fn ratios_are_between_zero_and_one() {
    let mut last = 0.0;
    for k in -300..300 {
        let x = 1.07 * 10f64.powi(k);
        let (ratio, complement) = (i1_over_i0(x), one_minus_i1_over_i0(x));
        assert!((0.0..=1.0).contains(&ratio) && complement > 0.0 && complement <= 1.0, "{x:e}");
        assert!(ratio >= last, "{x:e}");
        assert!((ratio + complement - 1.0).abs() <= 1e-15, "{x:e}");
        // Amos (1974): x/(1 + sqrt(1 + x^2)) < I1/I0 < x/(1/2 + sqrt(1/4 + x^2)); above 1e15 all three are 1.
        let lower = x / (1.0 + (1.0 + x.min(1e150).powi(2)).sqrt());
        if x < 1e7 {
            assert!(
                ratio >= lower * (1.0 - 1e-15) && ratio <= x / (0.5 + (0.25 + x * x).sqrt()) * (1.0 + 1e-15),
                "{x:e}"
            );
        }
        last = ratio;
    }
}

/// By mpmath's quadrature at 40 digits: tails that begin close to the antipode and still fall by e^-40 before it. There the
/// way on which they fall is long, and the cosine of half the angle small.
#[test]
fn narrow_tails_have_their_digits_close_to_the_antipode() {
    let cases = [
        (2.2, 430.0, 5.371_098_710_015_076e-299),
        (2.4, 400.0, 4.526_057_757_236_12e-304),
        (2.6, 370.0, 1.685_764_611_612_234e-300),
    ];
    for (angle, concentration, tail) in cases {
        let what = format!("{angle}, {concentration}");
        assert_close(von_mises_cdf(-angle, 0.0, concentration), tail, 2e-13, &what);
        assert_close(von_mises_survival(angle, 0.0, concentration), tail, 2e-13, &what);
    }
}

/// Both sides of each border between methods agree with the slope there.
#[test]
fn methods_meet() {
    let (below, above) = (30f64, 30f64.next_up());
    let step = above - below;
    assert_close(log_i0(above) - log_i0(below), step, 3.0, "log_i0");
    assert_close(one_minus_i1_over_i0(above), one_minus_i1_over_i0(below), 4e-15, "complement");
    for order in [0.5, 1.5, 31.5] {
        assert_close(log_i(order, above), log_i(order, below), 4e-15, "log_i");
    }
    // I_(n-1) - I_(n+1) is 2 n/x I_n (A & S 9.6.26), across order 32.
    for x in [0.5, 20.0, 40.0, 1e3] {
        let (r31, r32) = (i_ratio(32f64.next_down(), x), i_ratio(33.0, x));
        assert_close(1.0 / r31, 64.0 / x + r32, 4e-15, "recurrence");
    }
}

#[test]
fn limits() {
    let infinity = f64::INFINITY;
    assert_eq!(von_mises_log_density(0.7, 0.7, infinity), infinity);
    assert_eq!(von_mises_log_density(0.8, 0.7, infinity), -infinity);
    assert_eq!([0.6, 0.7, 0.8].map(|angle| von_mises_cdf(angle, 0.7, infinity)), [0.0, 1.0, 1.0]);
    assert_eq!([0.6, 0.7, 0.8].map(|angle| von_mises_survival(angle, 0.7, infinity)), [1.0, 0.0, 0.0]);
    assert_eq!([0.6, 0.7, 0.8].map(|angle| von_mises_mass_from_loc(angle, 0.7, infinity)), [-0.5, 0.0, 0.5]);
    assert_eq!([0.6, 0.7, 0.8].map(|angle| wrapped_normal_cdf(angle, 0.7, 0.0)), [0.0, 1.0, 1.0]);
    assert_eq!([0.6, 0.7, 0.8].map(|angle| wrapped_normal_survival(angle, 0.7, 0.0)), [1.0, 0.0, 0.0]);
    assert_eq!(wrapped_normal_log_density(0.7, 0.7, 0.0), infinity);
    assert_eq!(wrapped_normal_log_density(0.8, 0.7, 0.0), -infinity);
    assert_close(wrapped_normal_log_density(0.8, 0.7, infinity), -(2.0 * PI).ln(), 1e-15, "uniform");
    assert_eq!(von_mises_quantile(0.1, 0.7, infinity), 0.7);
    assert_eq!(von_mises_entropy(infinity), -infinity);
    assert_eq!(von_mises_mean_resultant_length(infinity), 1.0);
    assert_eq!(von_mises_circular_variance(infinity), 0.0);
    assert_eq!(von_mises_fisher_mean_resultant_length(3, infinity), 1.0);
    assert_eq!(von_mises_fisher_mean_resultant_length(3, 0.0), 0.0);
    assert_eq!(von_mises_fisher_log_normalizer_scaled(3, infinity), infinity);
    assert_eq!([2, 3].map(|d| von_mises_fisher_log_normalizer(d, infinity)), [-infinity; 2]);
    assert!(von_mises_fisher_log_normalizer(1, infinity).is_nan() && von_mises_fisher_log_normalizer(1, 3.0).is_nan());
    assert!(von_mises_fisher_mean_resultant_length(1, 3.0).is_nan());
    assert!([0, 1].map(|d| von_mises_fisher_log_normalizer_scaled(d, 3.0)).iter().all(|value| value.is_nan()));
    assert!((von_mises_fisher_mean_resultant_length(2, 3.0) - i1_over_i0(3.0)).abs() < 1e-15);
    // Far in the tail of a narrow distribution there is nothing, on either side.
    assert_eq!([-3.0, -0.5].map(|angle| wrapped_normal_cdf(angle, 0.0, 0.01)), [0.0; 2]);
    assert_eq!(wrapped_normal_survival(3.0, 0.0, 0.01), 0.0);
    assert_eq!(von_mises_cdf(-infinity, 0.0, 1.0), 0.0);
    assert_eq!(von_mises_cdf(infinity, 0.0, 1.0), 1.0);
    assert_eq!([0.5, 2.0, 40.0].map(|order| i_ratio(order, infinity)), [1.0; 3]);
    assert_eq!(log_i(2.0, infinity), infinity);
    assert_eq!(log_i(2.0, 0.0), -infinity);
    // In two dimensions the sphere is the circle, in three I_1/2 is elementary: kappa/(2 pi (e^kappa - e^-kappa)).
    for k in [1e-5, 0.3, 7.0, 50.0, 1e9] {
        let circle = von_mises_log_density(0.0, 0.0, k);
        assert_close(von_mises_fisher_log_normalizer_scaled(2, k), circle, 1e-14, "circle");
        let sphere = (k / (2.0 * PI)).ln() - (-(-2.0 * k).exp_m1()).ln();
        assert_close(von_mises_fisher_log_normalizer_scaled(3, k), sphere, 2e-14, "sphere");
        assert_eq!(von_mises_fisher_mean_resultant_length(5, k), i_ratio(2.5, k));
        if k > 0.1 {
            // The two terms are 10 times their difference and more.
            assert_close(von_mises_fisher_mean_resultant_length(3, k), 1.0 / k.tanh() - 1.0 / k, 1e-14, "Langevin");
        }
    }
}

/// The smallest and largest parameters: none overflows, and infinity never meets 0.
#[test]
fn extremes_are_numbers() {
    for concentration in [-0.0, 5e-324, f64::MIN_POSITIVE, 8e307, f64::MAX] {
        for angle in [-PI, -3.0, -1e-3, -1e-160, -5e-324, 0.0, 5e-324, 1e-154, 1.0, PI] {
            let below = von_mises_cdf(angle, 0.0, concentration);
            assert!((0.0..=1.0).contains(&below), "{concentration:e}, {angle:e}: {below:e}");
            assert!(!von_mises_log_density(angle, 0.0, concentration).is_nan(), "{concentration:e}, {angle:e}");
            assert!(von_mises_mass_from_loc(angle, 0.0, concentration).abs() <= 0.5, "{concentration:e}, {angle:e}");
        }
        for p in [0.0, 5e-324, 1e-310, 1e-10, 0.3, 0.5f64.next_down(), 0.5f64.next_up(), 1f64.next_down(), 1.0] {
            let angle = von_mises_quantile(p, 0.0, concentration);
            assert!(angle.abs() <= PI && (angle < 0.0) == (p < 0.5), "{concentration:e}, {p:e}: {angle:e}");
        }
        assert!(von_mises_entropy(concentration).is_finite());
    }
    for scale in [5e-324, 1e-310, 1e-300, 1e-154, 1e154, f64::MAX, f64::INFINITY] {
        for angle in [-PI, -3.0, -1e-160, -5e-324, 0.0, 1e-310, 1.0, PI] {
            let below = wrapped_normal_cdf(angle, 0.0, scale);
            assert!((0.0..=1.0).contains(&below), "{scale:e}, {angle:e}: {below:e}");
            assert!(!wrapped_normal_log_density(angle, 0.0, scale).is_nan(), "{scale:e}, {angle:e}");
        }
    }
}

#[test]
fn what_is_no_distribution_is_nan() {
    let nan = f64::NAN;
    type Function = fn(f64, f64, f64) -> f64;
    let functions: [Function; 5] =
        [von_mises_log_density, von_mises_cdf, von_mises_survival, von_mises_mass_from_loc, von_mises_quantile];
    let bad = [(nan, 0.0, 1.0), (0.5, nan, 1.0), (0.5, 0.0, nan), (0.5, 0.0, -1.0), (0.5, f64::INFINITY, 1.0)];
    for (angle, loc, concentration) in bad {
        for (at, function) in functions.iter().enumerate() {
            assert!(function(angle, loc, concentration).is_nan(), "{at}: {angle}, {loc}, {concentration}");
        }
        for function in [wrapped_normal_log_density, wrapped_normal_cdf, wrapped_normal_survival] as [Function; 3] {
            assert!(function(angle, loc, concentration).is_nan(), "{angle}, {loc}, {concentration}");
        }
    }
    for p in [-0.1, 1.1, -f64::INFINITY] {
        assert!(von_mises_quantile(p, 0.0, 1.0).is_nan());
    }
    for x in [-1.0, nan, -f64::INFINITY] {
        assert!(von_mises_entropy(x).is_nan() && von_mises_circular_variance(x).is_nan());
        assert!(von_mises_mean_resultant_length(x).is_nan() && log_i0(x).is_nan() && log_i(1.5, x).is_nan());
        assert!(i_ratio(1.5, x).is_nan() && i_ratio(x, 1.0).is_nan() && log_i(x, 1.0).is_nan());
        assert!(von_mises_fisher_log_normalizer(3, x).is_nan());
    }
    assert!(von_mises_fisher_log_normalizer(1, 1.0).is_nan() && i_ratio(0.0, 1.0).is_nan());
}
