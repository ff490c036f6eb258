//! Distribution functions and quantiles, by statrs, which panics at arguments outside their domain: here alone it is
//! called, and what is not defined is NaN.

use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::{checked_beta_reg, inv_beta_reg};
use statrs::function::erf::erfc;
use statrs::function::gamma::{self, checked_gamma_ur};

/// Returns the probability that a standard normal number is farther from 0 than `z`, on either side.
pub(crate) fn normal_beyond(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Returns the probability that a number with Student's distribution is farther from 0 than `t`, on either side.
pub(crate) fn student_beyond(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() && degrees > 0.0 {
        return 0.0;
    }
    beta_below(degrees / (degrees + t * t), 0.5 * degrees, 0.5)
}

/// Returns the size that a number with Student's distribution exceeds, on either side, with the probability `p_value`.
pub(crate) fn student_limit(p_value: f64, degrees: f64) -> f64 {
    if !(0.0..=1.0).contains(&p_value) || !is_shape(degrees) {
        return f64::NAN;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_beyond(high, degrees) > p_value && high < f64::MAX / 2.0 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if student_beyond(middle, degrees) > p_value { low = middle } else { high = middle }
    }
    high
}

/// Returns the probability that a chi-square number exceeds `x`; 1 for no degrees of freedom and x = 0.
pub(crate) fn chi_square_above(x: f64, degrees: f64) -> f64 {
    if x <= 0.0 && degrees >= 0.0 {
        return 1.0;
    }
    if !is_shape(degrees) {
        return f64::NAN;
    }
    // Far beyond any degrees of freedom that are a shape, where statrs has no end.
    if x > 1e15 {
        return 0.0;
    }
    checked_gamma_ur(0.5 * degrees, 0.5 * x).unwrap_or(f64::NAN)
}

/// Returns the probability that a number with Fisher's distribution F(`d1`, `d2`) exceeds `x`.
pub fn fisher_above(x: f64, d1: f64, d2: f64) -> f64 {
    if x <= 0.0 && d1 > 0.0 && d2 > 0.0 {
        return 1.0;
    }
    if x == f64::INFINITY && d1 > 0.0 && d2 > 0.0 {
        return 0.0;
    }
    beta_below(d2 / (d2 + d1 * x), 0.5 * d2, 0.5 * d1)
}

/// Returns the logarithm of [`fisher_above`], also where that is too small for its type.
pub(crate) fn ln_fisher_above(x: f64, d1: f64, d2: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const STEPS: u32 = 10_000;
    let (a, b) = (0.5 * d2, 0.5 * d1);
    let z = d2 / (d2 + d1 * x);
    let in_tail = is_shape(a) && is_shape(b) && z > 0.0 && z < (a + 1.0) / (a + b + 2.0);
    if !in_tail {
        return fisher_above(x, d1, d2).ln();
    }
    // The continued fraction of the incomplete beta function, by Lentz's method (Press et al. 2007, section 6.4).
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * z / (a + 1.0)));
    let mut fraction = d;
    for m in 1..STEPS {
        let m = f64::from(m);
        let even = m * (b - m) * z / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * z / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            fraction *= c * d;
        }
        if (fraction / before - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    // 1 - z without cancellation.
    let rest = d1 * x / (d2 + d1 * x);
    let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    a * z.ln() + b * rest.ln() - a.ln() - ln_beta + fraction.ln()
}

/// Returns the number that is above a beta number of shapes `a` and `b`, each 1 or more, with a probability that is far
/// from 0 and 1: for others statrs may have no answer.
pub(crate) fn beta_quantile(prob: f64, a: f64, b: f64) -> f64 {
    let shape = |value: f64| value >= 1.0 && is_shape(value);
    let defined = (0.001..=0.999).contains(&prob) && shape(a) && shape(b);
    if defined { inv_beta_reg(a, b, prob) } else { f64::NAN }
}

/// Returns the probability that a beta number of shapes `a` and `b` is at most `x`.
fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if is_shape(a) && is_shape(b) { checked_beta_reg(a, b, x).unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Returns whether a shape or degrees of freedom are of a size for which statrs has the digits.
fn is_shape(value: f64) -> bool {
    (1e-9..=1e12).contains(&value)
}

/// P(X <= x) of X ~ Bin(n, p); NaN where p is no probability.
pub(crate) fn binomial_at_most(x: u64, n: u64, p: f64) -> f64 {
    Binomial::new(p, n).map_or(f64::NAN, |distribution| distribution.cdf(x))
}

/// P(X > x) of X ~ Bin(n, p); NaN where p is no probability.
pub(crate) fn binomial_above(x: u64, n: u64, p: f64) -> f64 {
    Binomial::new(p, n).map_or(f64::NAN, |distribution| distribution.sf(x))
}

/// Returns the logarithm of the gamma function of a positive number.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x > 0.0 { gamma::ln_gamma(x) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: [f64; 14] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        -1.0,
        5e-324,
        1e-300,
        0.5,
        1.0,
        2.0,
        30.0,
        1e300,
        f64::MAX,
    ];

    /// No argument makes a panic, and no result is outside its range.
    #[test]
    fn every_argument_has_an_answer() {
        let share = |p: f64| p.is_nan() || (-1e-12..=1.0 + 1e-12).contains(&p);
        for x in ODD {
            assert!(share(normal_beyond(x)), "{x}");
            ln_gamma(x);
            for a in ODD {
                assert!(share(student_beyond(x, a)), "{x} {a}");
                assert!(share(chi_square_above(x, a)), "{x} {a}");
                assert!(student_limit(x, a).is_nan() || student_limit(x, a) >= 0.0, "{x} {a}");
                assert!(share(binomial_at_most(3, 10, a)) && share(binomial_above(3, 10, a)), "{a}");
                for b in ODD {
                    assert!(share(fisher_above(x, a, b)), "{x} {a} {b}");
                    let ln = ln_fisher_above(x, a, b);
                    assert!(ln.is_nan() || ln <= 1e-9, "{x} {a} {b}: {ln}");
                    assert!(share(beta_quantile(x, a, b)), "{x} {a} {b}");
                }
            }
        }
    }

    /// SciPy 1.17: norm.sf, t.sf, t.isf, chi2.sf, f.sf, beta.ppf; logarithms by mpmath's quadrature.
    #[test]
    fn numbers_of_scipy() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} {expected}");
        };
        close(normal_beyond(-3.5), 0.00046525815807105003);
        close(student_beyond(2.5, 7.0), 0.04099221858575289);
        close(student_limit(0.01, 7.0), 3.4994832973504932);
        close(chi_square_above(31.0, 7.0), 6.217389266848677e-05);
        close(ln_fisher_above(0.7, 7.0, 1192.0), -0.3972876114410421);
        close(ln_fisher_above(4.0, 7.0, 1192.0), -8.311525387065647);
        close(ln_fisher_above(6.4, 7.0, 1192.0), -15.390097135893152);
        close(ln_fisher_above(101.0, 7.0, 40000.0), -336.9800453141149);
        close(ln_fisher_above(2000.0, 7.0, 800000.0), -6918.565147381106);
        close(ln_fisher_above(3.0, 63.0, 500.0), -25.34980567448688);
        close(ln_fisher_above(1.2, 4095.0, 30000.0), -34.405713912708336);
        close(fisher_above(2.5, 7.0, 90.0), 0.021502198695111992);
        close(beta_quantile(0.2, 5.0, 3.0), 0.4832422299024216);
    }

    /// SciPy 1.17: t.sf, t.isf, chi2.sf, f.sf, beta.ppf; the logarithms on both sides of the mean of the beta number.
    #[test]
    fn more_numbers_of_scipy() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} {expected}");
        };
        close(student_beyond(0.3, 1.0), 0.814_452_841_844_515_4);
        close(student_beyond(-1.7, 3.5), 0.174_480_732_950_727_66);
        close(student_limit(0.9, 3.0), 0.136_598_199_353_698_9);
        close(student_limit(0.6, 1.5), 0.651_795_482_602_357);
        close(student_limit(1e-6, 2.0), 999.999_249_999_843_8);
        close(student_limit(0.05, 30.0), 2.042_272_456_301_238);
        close(chi_square_above(0.5, 1.0), 0.479_500_122_186_953_37);
        close(chi_square_above(3.0, 3.0), 0.391_625_176_271_087_7);
        close(chi_square_above(40.0, 20.0), 0.004_995_412_308_307_578_5);
        close(fisher_above(0.5, 1.0, 1.0), 0.608_173_447_969_392_8);
        close(fisher_above(3.0, 0.5, 9.0), 0.120_411_055_266_411_35);
        close(fisher_above(1.1, 40.0, 20.0), 0.420_989_201_219_633_46);
        for (x, d1, d2, expected) in [
            (0.9, 3.0, 5.0, -0.687_477_551_635_440_7),
            (1.0, 3.0, 5.0, -0.766_030_201_747_783_7),
            (1.3, 3.0, 5.0, -0.991_230_354_243_702),
            (3.0, 1.0, 1.0, -1.098_612_288_668_109_6),
            (50.0, 0.5, 3.0, -4.957_075_784_527_678),
            (2.0, 300.0, 2.0, -0.934_035_216_290_457_9),
            (1.5, 9.0, 700.0, -1.939_593_437_951_948_2),
        ] {
            close(ln_fisher_above(x, d1, d2), expected);
        }
        close(beta_quantile(0.158_655_3, 201.0, 1801.0), 0.093_686_864_588_966_22);
        close(beta_quantile(0.841_344_7, 21.0, 21.0), 0.577_146_129_556_306_8);
    }

    #[test]
    fn what_is_certain_and_what_is_not_defined() {
        assert_eq!((student_beyond(f64::INFINITY, 0.5), student_beyond(0.0, 0.5)), (0.0, 1.0));
        assert!(student_limit(1.0, 3.0) < 1e-15 && student_limit(0.0, 3.0) > 1e100);
        assert!([-0.1, 1.1, 1.9].iter().all(|&p| student_limit(p, 3.0).is_nan()) && student_limit(0.5, 0.0).is_nan());
        assert_eq!(
            (chi_square_above(0.0, 0.0), chi_square_above(0.0, 0.5), chi_square_above(-1.0, 9.0)),
            (1.0, 1.0, 1.0)
        );
        assert!(chi_square_above(0.5, 1.0) < 0.5 && chi_square_above(1e-300, 0.0).is_nan());
        assert_eq!((chi_square_above(2e15, 5.0), chi_square_above(f64::INFINITY, 5.0)), (0.0, 0.0));
        assert_eq!((fisher_above(0.0, 0.5, 0.5), fisher_above(f64::INFINITY, 0.5, 0.5)), (1.0, 0.0));
        // Also where the shapes are so small that statrs has not the digits.
        assert_eq!((student_beyond(f64::INFINITY, 1e-12), fisher_above(-0.5, 0.5, 0.5)), (0.0, 1.0));
        assert_eq!([fisher_above(f64::INFINITY, 1e-12, 1.0), fisher_above(f64::INFINITY, 1.0, 1e-12)], [0.0; 2]);
        assert!(fisher_above(0.5, 2.0, 2.0) < 0.7 && fisher_above(0.0, 0.0, 2.0).is_nan());
        assert!(ln_gamma(0.5) > 0.57 && ln_gamma(0.0).is_nan());
    }

    #[test]
    fn shapes_and_probabilities_have_limits() {
        assert!(is_shape(1e-9) && is_shape(1e12) && !is_shape(9e-10) && !is_shape(1.1e12));
        // Beta(1, 1) is uniform.
        for prob in [0.001, 0.25, 0.999] {
            assert!((beta_quantile(prob, 1.0, 1.0) - prob).abs() < 1e-12, "{prob}");
        }
        assert!(beta_quantile(9e-4, 2.0, 2.0).is_nan() && beta_quantile(0.9991, 2.0, 2.0).is_nan());
        assert!(beta_quantile(0.5, 0.99, 2.0).is_nan() && beta_quantile(0.5, 2.0, 0.99).is_nan());
    }
}
