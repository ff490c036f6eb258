//! The improved Sheather-Jones bandwidth (Botev, Grotowski, Kroese 2010, section 4), as ArviZ computes it.

use super::root::brentq;
use crate::numbers::moments::sum_by;
use std::f64::consts::PI;

/// Derivatives through which the plug-in estimate goes.
const STAGES: i32 = 7;

/// Returns the bandwidth from a histogram of `size` values with range `range`; that of `otherwise` where the equation
/// for it has no solution.
pub(super) fn bandwidth(counts: &[f64], size: usize, range: f64, otherwise: impl FnOnce() -> f64) -> f64 {
    let n = size as f64;
    let frequencies: Vec<f64> = counts.iter().map(|count| count / n).collect();
    let cosine = cosine_transform(&frequencies);
    // One term fewer than there are: so does ArviZ.
    let terms: Vec<(f64, f64)> = (1..counts.len() - 1).map(|k| ((k * k) as f64, cosine[k] * cosine[k])).collect();
    let equation = FixedPoint { terms, n };
    // At 0 the equation has no root: the estimated norm is finite.
    let time = brentq(|t| equation.at(t), 0.0, 0.01);
    time.unwrap_or_else(|| (otherwise() / range).powi(2)).sqrt() * range
}

/// `2 sum_j x_j cos(pi k (2 j + 1) / (2 n))`, the first without its factor 2.
fn cosine_transform(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let table: Vec<f64> = (0..4 * n).map(|m| (PI * m as f64 / (2 * n) as f64).cos()).collect();
    let filled: Vec<(usize, f64)> = x.iter().copied().enumerate().filter(|&(_, x)| x != 0.0).collect();
    (0..n)
        .map(|k| {
            let sum: f64 = filled.iter().map(|&(j, x)| x * table[k * (2 * j + 1) % (4 * n)]).sum();
            if k == 0 { sum } else { 2.0 * sum }
        })
        .collect()
}

/// `t - zeta gamma^[7](t)`, whose root is the squared bandwidth in units of the range (equation 30).
struct FixedPoint {
    /// Squared frequencies and squared coefficients.
    terms: Vec<(f64, f64)>,
    n: f64,
}

impl FixedPoint {
    fn at(&self, t: f64) -> f64 {
        let mut f = self.norm(STAGES, t);
        for stage in (2..STAGES).rev() {
            let s = f64::from(stage);
            let odds: f64 = (1..2 * stage).step_by(2).map(f64::from).product();
            let (c1, c2) = ((1.0 + 0.5f64.powf(s + 0.5)) / 3.0, odds / (PI / 2.0).sqrt());
            let time = (c1 * (c2 / (self.n * f))).powf(2.0 / (3.0 + 2.0 * s));
            f = self.norm(stage, time);
        }
        t - (2.0 * self.n * PI.sqrt() * f).powf(-0.4)
    }

    /// Returns the estimated squared norm of a derivative of the density at diffusion time `t`.
    fn norm(&self, stage: i32, t: f64) -> f64 {
        let terms: Vec<f64> =
            self.terms.iter().map(|&(k, a)| k.powi(stage) * a * (-k * PI.powi(2) * t).exp()).collect();
        0.5 * PI.powi(2 * stage) * sum_by(&terms, |v| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_solution_the_other_bandwidth_is_taken() {
        assert_eq!(bandwidth(&[0.0; 8], 8, 4.0, || 0.5), 0.5);
    }

    #[test]
    fn the_transform_by_hand() {
        let found = cosine_transform(&[1.0, 2.0, 4.0]);
        let expected = |k: f64| {
            2.0 * [1.0, 2.0, 4.0].iter().zip([1.0, 3.0, 5.0]).map(|(x, m)| x * (PI * k * m / 6.0).cos()).sum::<f64>()
        };
        assert!((found[0] - 7.0).abs() < 1e-14);
        assert!((found[1] - expected(1.0)).abs() < 1e-14 && (found[2] - expected(2.0)).abs() < 1e-14, "{found:?}");
    }
}
