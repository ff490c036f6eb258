//! Tests: all functions at the points of `tests/data/exact.txt`, whose values are mpmath's, and by what is true of them.

use super::*;

/// A function with the largest distance to the table, in units in the last place of the value.
///
/// The values of the table are rounded too, so that distances are whole numbers of units.
type Unary = (&'static str, fn(f64) -> f64, f64);

const UNARY: [Unary; 31] = [
    ("exp_m1", exp_m1, 1.0),
    ("exp2", exp2, 1.0),
    ("ln_1p", ln_1p, 1.0),
    ("log2", log2, 0.0),
    ("log10", log10, 0.0),
    ("logit", logit, 1.0),
    ("cbrt", cbrt, 1.0),
    ("sin", sin, 1.0),
    ("cos", cos, 1.0),
    ("tan", tan, 1.0),
    ("atan", atan, 1.0),
    ("asin", asin, 1.0),
    ("acos", acos, 1.0),
    ("sinh", sinh, 1.0),
    ("cosh", cosh, 1.0),
    ("asinh", asinh, 1.0),
    ("acosh", acosh, 1.0),
    ("atanh", atanh, 1.0),
    ("erf", erf, 1.0),
    ("erfc", erfc, 1.0),
    ("phi", phi, 1.0),
    ("ln_phi", ln_phi, 1.0),
    ("ln_phi_slope", ln_phi_slope, 2.0),
    ("inverse_phi", inverse_phi, 3.0),
    ("ln_gamma", ln_gamma, 2.0),
    ("digamma", digamma, 1.0),
    ("trigamma", trigamma, 1.0),
    ("log1p_exp", log1p_exp, 1.0),
    ("log1m_exp", log1m_exp, 1.0),
    ("inv_logit", inv_logit, 1.0),
    ("inv_cloglog", inv_cloglog, 1.0),
];

/// Functions whose bound is in units of a number that is larger than the value where terms cancel.
type Relaxed = (&'static str, fn(f64, f64) -> f64, f64, fn(f64, f64) -> f64);

const RELAXED: [Relaxed; 8] = [
    ("pow", pow, 1.0, |_, _| 0.0),
    ("lbeta", lbeta, 1.0, |_, _| 1.0),
    ("lchoose", lchoose, 1.0, |n, _| (n + 1.0).ln().max(1.0)),
    ("log_sum_exp", log_sum_exp, 1.0, |a, b| a.max(b).abs()),
    ("log_diff_exp", log_diff_exp, 1.0, |a, _| a.abs()),
    ("ln_gamma_of_negative", |x, _| ln_gamma(x), 3.0, |_, _| 1.0),
    ("digamma_of_negative", |x, _| digamma(x), 2.0, |x, _| (1.0 - x).ln() + (1.0 / distance_to_integer(x))),
    ("trigamma_of_negative", |x, _| trigamma(x), 4.0, |x, _| 1.0 / distance_to_integer(x).powi(2)),
];

fn distance_to_integer(x: f64) -> f64 {
    (x - x.round()).abs()
}

/// Returns the distance of two numbers in units in the last place of the second one, or of `least` if it is larger.
fn units(got: f64, expected: f64, least: f64) -> f64 {
    if got == expected {
        return 0.0;
    }
    let near = expected.abs().max(least);
    (got - expected).abs() / (near.next_up() - near)
}

/// The rows of the table by name: arguments, the second of them 0 for functions of one, and value.
fn rows(name: &str) -> Vec<(f64, f64, f64)> {
    let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits in hexadecimal"));
    let rows = include_str!("../../tests/data/exact.txt").lines().filter_map(|line| line.split_once(' '));
    let numbers = rows.filter(|(of, _)| *of == name).map(|(_, row)| row.split(' ').map(number).collect::<Vec<_>>());
    numbers.map(|row| (row[0], if row.len() == 3 { row[1] } else { 0.0 }, row[row.len() - 1])).collect()
}

#[test]
fn functions_have_the_values_of_mpmath() {
    let check = |name: &str, of: &dyn Fn(f64, f64) -> f64, bound: f64, least: &dyn Fn(f64, f64) -> f64| {
        let rows = rows(name);
        assert!(rows.len() >= 100, "{name} has {} rows", rows.len());
        for (x, y, expected) in rows {
            let got = of(x, y);
            let distance = units(got, expected, least(x, y));
            assert!(distance <= bound, "{name}({x:e}, {y:e}) is {got:e}, not {expected:e}: {distance} units");
        }
    };
    for (name, of, bound) in UNARY {
        check(name, &|x, _| of(x), bound, &|_, _| 0.0);
    }
    for (name, of, bound, least) in RELAXED {
        check(name, &of, bound, &least);
    }
}

#[test]
fn nan_stays_nan() {
    for (name, of, _) in UNARY {
        assert!(of(f64::NAN).is_nan(), "{name}");
    }
    for of in [lbeta, lchoose, log_sum_exp, log_diff_exp] {
        assert!(of(f64::NAN, 1.0).is_nan() && of(1.0, f64::NAN).is_nan());
    }
}

/// Every function at infinity, -infinity, 0 and -0, and at the ends of where it is defined.
#[test]
fn the_ends_are_exact() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let quarter = std::f64::consts::FRAC_PI_2;
    let ends: [(Unary, [f64; 4]); 29] = [
        (("exp_m1", exp_m1, 0.0), [INF, -1.0, 0.0, -0.0]),
        (("exp2", exp2, 0.0), [INF, 0.0, 1.0, 1.0]),
        (("ln_1p", ln_1p, 0.0), [INF, NAN, 0.0, -0.0]),
        (("log2", log2, 0.0), [INF, NAN, -INF, -INF]),
        (("log10", log10, 0.0), [INF, NAN, -INF, -INF]),
        (("logit", logit, 0.0), [NAN, NAN, -INF, -INF]),
        (("cbrt", cbrt, 0.0), [INF, -INF, 0.0, -0.0]),
        (("sin", sin, 0.0), [NAN, NAN, 0.0, -0.0]),
        (("cos", cos, 0.0), [NAN, NAN, 1.0, 1.0]),
        (("tan", tan, 0.0), [NAN, NAN, 0.0, -0.0]),
        (("atan", atan, 0.0), [quarter, -quarter, 0.0, -0.0]),
        (("asin", asin, 0.0), [NAN, NAN, 0.0, -0.0]),
        (("acos", acos, 0.0), [NAN, NAN, quarter, quarter]),
        (("sinh", sinh, 0.0), [INF, -INF, 0.0, -0.0]),
        (("cosh", cosh, 0.0), [INF, INF, 1.0, 1.0]),
        (("asinh", asinh, 0.0), [INF, -INF, 0.0, -0.0]),
        (("acosh", acosh, 0.0), [INF, NAN, NAN, NAN]),
        (("atanh", atanh, 0.0), [NAN, NAN, 0.0, -0.0]),
        (("erf", erf, 0.0), [1.0, -1.0, 0.0, -0.0]),
        (("erfc", erfc, 0.0), [0.0, 2.0, 1.0, 1.0]),
        (("phi", phi, 0.0), [1.0, 0.0, 0.5, 0.5]),
        (("ln_phi_slope", ln_phi_slope, 0.0), [0.0, INF, ln_phi_slope(0.0), ln_phi_slope(0.0)]),
        (("inverse_phi", inverse_phi, 0.0), [NAN, NAN, -INF, -INF]),
        (("ln_gamma", ln_gamma, 0.0), [INF, INF, INF, INF]),
        (("digamma", digamma, 0.0), [INF, NAN, -INF, -INF]),
        (("trigamma", trigamma, 0.0), [0.0, NAN, INF, INF]),
        (("log1m_exp", log1m_exp, 0.0), [NAN, 0.0, -INF, -INF]),
        (("inv_logit", inv_logit, 0.0), [1.0, 0.0, 0.5, 0.5]),
        (("inv_cloglog", inv_cloglog, 0.0), [1.0, 0.0, inv_cloglog(0.0), inv_cloglog(0.0)]),
    ];
    for ((name, of, _), expected) in ends {
        for (x, expected) in [INF, -INF, 0.0, -0.0].into_iter().zip(expected) {
            let got = of(x);
            assert!(got == expected || (got.is_nan() && expected.is_nan()), "{name}({x}) is {got}, not {expected}");
            let signed = expected != 0.0 || x != 0.0 || got.is_sign_negative() == x.is_sign_negative();
            assert!(signed, "{name}({x}) has the sign of {got}");
        }
    }
    assert_eq!((ln_1p(-1.0), log2(-1.0).is_nan(), ln_1p(-1.5).is_nan()), (-INF, true, true));
    assert_eq!((logit(1.0), logit(0.5), inverse_phi(1.0), inverse_phi(0.5)), (INF, 0.0, INF, 0.0));
    assert_eq!((atanh(1.0), atanh(-1.0), acosh(1.0)), (INF, -INF, 0.0));
    assert_eq!((asin(1.0), acos(1.0), acos(-1.0)), (quarter, 0.0, std::f64::consts::PI));
    assert!(asin(1.5).is_nan() && acos(-1.5).is_nan() && atanh(1.5).is_nan() && inverse_phi(1.5).is_nan());
    assert_eq!((ln_gamma(1.0), ln_gamma(2.0), ln_gamma(-3.0), ln_gamma(1e306)), (0.0, 0.0, INF, INF));
    assert!(digamma(-3.0).is_nan() && trigamma(-3.0) == INF);
    assert_eq!((exp_m1(710.0), exp_m1(-700.0), sinh(711.0), cosh(-711.0)), (INF, -1.0, INF, INF));
    assert_eq!((erfc(28.0), phi(-40.0), phi(-1e300), erf(7.0), phi(9.0)), (0.0, 0.0, 0.0, 1.0, 1.0));
    assert_eq!((ln_phi(-1e200), ln_phi(40.0), ln_phi_slope(-1e200)), (-INF, 0.0, 1e200));
    assert_eq!((log1p_exp(INF), log1p_exp(-INF), log1p_exp(1e10)), (INF, 0.0, 1e10));
    // Below the normal range as well.
    assert_eq!((exp2(-1074.0), exp2(-1076.0), cbrt(-5e-324)), (5e-324, 0.0, -1.703_183_936_003_260_3e-108));
    assert!(sin(4e13).is_nan() && cos(-4e13).is_nan() && tan(4e13).is_nan() && sin(3e13).abs() <= 1.0);
}

/// The table of C's standard, annex F.
#[test]
fn special_powers_are_those_of_c() {
    const INF: f64 = f64::INFINITY;
    let cases = [
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 2.5, 0.0),
        (0.0, -3.0, INF),
        (-0.0, -3.0, -INF),
        (-0.0, -2.0, INF),
        (-0.0, -2.5, INF),
        (-0.0, -INF, INF),
        (0.0, INF, 0.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (-1.0, 3.0, -1.0),
        (-1.0, f64::MAX, 1.0),
        (1.0, f64::NAN, 1.0),
        (1.0, INF, 1.0),
        (f64::NAN, 0.0, 1.0),
        (f64::NAN, -0.0, 1.0),
        (INF, 0.0, 1.0),
        (0.5, INF, 0.0),
        (-0.5, INF, 0.0),
        (0.5, -INF, INF),
        (2.0, INF, INF),
        (-2.0, -INF, 0.0),
        (INF, 2.0, INF),
        (INF, -1e-3, 0.0),
        (-INF, 3.0, -INF),
        (-INF, 2.0, INF),
        (-INF, 2.5, INF),
        (-INF, -3.0, -0.0),
        (-INF, -2.0, 0.0),
        (-8.0, 3.0, -512.0),
        (-8.0, -2.0, 1.0 / 64.0),
        (-2.0, 9_007_199_254_740_991.0, -INF),
        (-2.0, 9_007_199_254_740_992.0, INF),
        (2.0, 1024.0, INF),
        (2.0, -1080.0, 0.0),
        (f64::MAX, 1.0, f64::MAX),
        (5e-324, 1.0, 5e-324),
    ];
    for (x, y, expected) in cases {
        let got = pow(x, y);
        assert!(got.to_bits() == expected.to_bits(), "pow({x}, {y}) is {got}, not {expected}");
    }
    for (x, y) in [(-8.0, 1.0 / 3.0), (-1e-300, 0.5), (f64::NAN, 1.0), (2.0, f64::NAN), (-1.0, 0.5)] {
        assert!(pow(x, y).is_nan(), "pow({x}, {y})");
    }
}

#[test]
fn powers_of_two_and_ten_are_exact() {
    for k in -1074..1024 {
        let power = f64::from_bits(if k < -1022 { 1 << (k + 1074) } else { ((k + 1023) as u64) << 52 });
        let k = f64::from(k);
        assert_eq!((exp2(k), pow(2.0, k), log2(power)), (power, power, k), "2^{k}");
    }
    for k in 0..23 {
        assert_eq!(log10(10f64.powi(k)), f64::from(k));
    }
    for n in 1..200 {
        let n = f64::from(n);
        assert_eq!((cbrt(n * n * n), pow(n, 3.0), pow(n * n, 0.5)), (n, n * n * n, n));
    }
}

#[test]
fn odd_and_even_functions_are_so_to_the_bit() {
    for i in 0..4000 {
        let x = f64::from(i) * 2.5e-3 + 1e-9;
        for (name, of, _) in UNARY {
            let (left, right) = (of(-x), of(x));
            let expected = match name {
                "cbrt" | "sin" | "tan" | "atan" | "asin" | "sinh" | "asinh" | "atanh" | "erf" => -right,
                "cos" | "cosh" => right,
                _ => continue,
            };
            assert!(left == expected || (left.is_nan() && right.is_nan()), "{name}({x})");
        }
        assert_eq!((pow(-x, 3.0), pow(-x, 4.0)), (-pow(x, 3.0), pow(x, 4.0)));
        let (a, b) = (x, f64::from(i % 37) + 0.3);
        assert_eq!(lbeta(a, b), lbeta(b, a));
        assert_eq!(log_sum_exp(a, b), log_sum_exp(b, a));
        // On the right these are the complement, rounded.
        assert!(units(phi(x), 1.0 - phi(-x), 0.0) <= 1.0 && units(erfc(-x), 2.0 - erfc(x), 0.0) <= 1.0);
    }
}

/// Equal on both sides of where a function changes its formula, to the bound of its errors.
#[test]
fn functions_are_continuous_where_the_formula_changes() {
    let seams: [(Unary, &[f64]); 9] = [
        (("atan", atan, 1.0), &[0.3, 0.8, 1.0, 1.0 / 0.3, 1.25]),
        (("asin", asin, 1.0), &[0.5]),
        (("sinh", sinh, 1.0), &[1.0]),
        (("erf", erf, 1.0), &[0.5]),
        (("ln_gamma", ln_gamma, 2.0), &[0.5, 1.5, 2.5]),
        (("digamma", digamma, 2.0), &[1.0, 2.0, 3.0]),
        (("trigamma", trigamma, 2.0), &[2.0, 3.0]),
        (("asinh", asinh, 2.0), &[1e9]),
        (("log1m_exp", log1m_exp, 2.0), &[-std::f64::consts::LN_2]),
    ];
    for ((name, of, error), places) in seams {
        for &place in places {
            let (before, after) = (of(place.next_down()), of(place.next_up()));
            // Two steps of the argument, which are 11 units of the smallest value, and two errors.
            assert!(units(before, after, 0.0) <= 11.0 + 2.0 * error, "{name} at {place}: {before:e} {after:e}");
        }
    }
}

#[test]
fn inverse_phi_has_the_bits_of_the_normal_quantile() {
    for i in 1..5000 {
        let p = f64::from(i) * 2e-4 + 1e-7;
        for p in [p, p * 1e-12, p * 1e-150] {
            if p < 1.0 {
                assert_eq!(inverse_phi(p).to_bits(), normal_quantile(p).to_bits(), "{p}");
            }
        }
    }
}

#[test]
fn sums_of_logarithms_have_their_special_cases() {
    const INF: f64 = f64::INFINITY;
    assert_eq!((log_sum_exp(-INF, -INF), log_sum_exp(-INF, 2.0), log_sum_exp(2.0, INF)), (-INF, 2.0, INF));
    assert_eq!((log_sum_exp(INF, INF), log_sum_exp(INF, -INF)), (INF, INF));
    assert_eq!(log_sum_exp(0.0, 0.0), std::f64::consts::LN_2);
    assert_eq!((log_diff_exp(2.0, 2.0), log_diff_exp(-INF, -INF), log_diff_exp(2.0, -INF)), (-INF, -INF, 2.0));
    assert_eq!(log_diff_exp(INF, 1.0), INF);
    assert!(log_diff_exp(1.0, 2.0).is_nan() && log_diff_exp(INF, INF).is_nan());
    assert_eq!((lbeta(0.0, 2.0), lbeta(2.0, INF), lchoose(5.0, 0.0), lchoose(5.0, 5.0)), (INF, -INF, 0.0, 0.0));
    assert_eq!((lchoose(5.0, 6.0), lchoose(5.0, -1.0)), (-INF, -INF));
    assert!(lbeta(-1.0, 2.0).is_nan() && lchoose(5.0, 7.0).is_nan() && lchoose(-2.0, 1.0).is_nan());
    assert_eq!(lbeta(1e-320, 1e-320), ln_gamma(1e-320) + std::f64::consts::LN_2);
}
