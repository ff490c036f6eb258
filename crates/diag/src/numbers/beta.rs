//! The quantile of the beta distribution.

use crate::numbers::normal::normal_quantile;

/// Terms after which the continued fraction is given up; it converges in about sqrt(max(a, b)).
const MOST_TERMS: usize = 100_000;

/// Returns the `p` quantile of Beta(a, b), `0 < p < 1`, `a, b >= 1`: Newton's method on the distribution function, kept
/// inside a shrinking bracket. NaN when an argument is.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    if p.is_nan() || a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let log_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let mean = a / (a + b);
    let sd = (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = mean + sd * normal_quantile(p);
    for _ in 0..200 {
        if !(low < x && x < high) {
            x = 0.5 * (low + high);
        }
        let excess = distribution(x, a, b, log_beta) - p;
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let density = ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - log_beta).exp();
        let next = x - excess / density;
        if (next - x).abs() <= 1e-15 * x || high - low <= 1e-16 * high {
            return next.clamp(low, high);
        }
        x = next;
    }
    x
}

/// Returns the distribution function of Beta(a, b): the regularised incomplete beta function, by the continued fraction
/// 8.17.22 of the NIST Digital Library of Mathematical Functions on the side where it is fast.
fn distribution(x: f64, a: f64, b: f64, log_beta: f64) -> f64 {
    let front = (a * x.ln() + b * (-x).ln_1p() - log_beta).exp();
    if x <= (a + 1.0) / (a + b + 2.0) {
        front / a * continued_fraction(x, a, b)
    } else {
        1.0 - front / b * continued_fraction(1.0 - x, b, a)
    }
}

/// Modified Lentz evaluation.
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    let guard = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..MOST_TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let factor = d * c;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// Returns the logarithm of the gamma function for `x > 0`: Stirling's series (DLMF 5.11.1) beyond 10, reached by the
/// recurrence.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = 1.0 / 12.0
        - r * (1.0 / 360.0
            - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r * (1.0 / 1188.0 - r * (691.0 / 360_360.0 - r / 156.0)))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series / x - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_small_integers() {
        let mut factorial = 1.0f64;
        for n in 1..30 {
            let found = ln_gamma(f64::from(n));
            assert!((found - factorial.ln()).abs() <= 1e-14 * factorial.ln().max(1.0), "{n}: {found}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
    }

    #[test]
    fn quantiles_in_closed_form_and_by_symmetry() {
        for p in [0.01, 0.158_655_3, 0.5, 0.841_344_7, 0.999] {
            assert!((beta_quantile(p, 1.0, 1.0) - p).abs() < 1e-14, "{p}");
            assert!((beta_quantile(p, 3.0, 1.0) - p.powf(1.0 / 3.0)).abs() < 1e-14, "{p}");
            let (left, right) = (beta_quantile(p, 400.5, 37.25), 1.0 - beta_quantile(1.0 - p, 37.25, 400.5));
            assert!((left - right).abs() < 1e-13, "{p}: {left} {right}");
        }
        assert!(beta_quantile(0.5, f64::NAN, 1.0).is_nan());
    }
}
