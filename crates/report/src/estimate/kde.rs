//! Kernel density estimates for drawing.

use super::quantile;

/// Points of the grid: more than the pixels of any panel's resolution need.
const POINTS: usize = 512;

/// A density on an even grid; it integrates to 1 over the grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Density {
    start: f64,
    step: f64,
    values: Vec<f64>,
}

impl Density {
    /// Gaussian kernel density estimate of the finite values of `sample`.
    ///
    /// The bandwidth is Silverman's robust rule, h = 0.9 min(sd, IQR / 1.34) n^(-1/5) (Silverman 1986,
    /// eq. 3.31). The grid reaches 3 h beyond the values, except that values without a negative one are taken
    /// as bounded by 0: there the grid ends and what the kernel would carry past it is reflected, so that a
    /// scale's density is not pulled down at its bound. Values are spread on the grid linearly.
    ///
    /// `None` when fewer than two values differ: there is no density to draw.
    pub(crate) fn of(sample: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = sample.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        if !(last > first && (last - first).is_finite()) {
            return None;
        }
        let bandwidth = silverman(&sorted).max((last - first) / (POINTS - 1) as f64);
        let start = first - 3.0 * bandwidth;
        let bounded = first >= 0.0 && start < 0.0;
        let start = if bounded { 0.0 } else { start };
        let step = (last + 3.0 * bandwidth - start) / (POINTS - 1) as f64;
        let counts = spread(&sorted, start, step);
        let mut values = smooth(&counts, bandwidth / step, bounded);
        let mass = integral(&values, step);
        for value in &mut values {
            *value /= mass;
        }
        Some(Self { start, step, values })
    }

    /// Points `(x, density)` in order.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.values.iter().enumerate().map(|(i, &density)| (self.start + i as f64 * self.step, density))
    }

    /// The density at `x`, linear between grid points, 0 outside.
    pub(crate) fn at(&self, x: f64) -> f64 {
        let position = (x - self.start) / self.step;
        let last = (POINTS - 1) as f64;
        if !(0.0..=last).contains(&position) {
            return 0.0;
        }
        let below = position.floor() as usize;
        let above = (below + 1).min(POINTS - 1);
        self.values[below] + (position - below as f64) * (self.values[above] - self.values[below])
    }

    /// The highest density.
    pub(crate) fn peak(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}

/// The trapezoidal integral over the whole grid.
fn integral(values: &[f64], step: f64) -> f64 {
    values.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]) * step).sum()
}

fn silverman(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let iqr = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
    // Half of the values equal: the interquartile range is 0 and says nothing about the width.
    let width = if iqr > 0.0 { sd.min(iqr) } else { sd };
    0.9 * width * n.powf(-0.2)
}

/// Each value's unit of mass, shared between its two neighbours on the grid.
fn spread(values: &[f64], start: f64, step: f64) -> Vec<f64> {
    let mut counts = vec![0.0; POINTS];
    for value in values {
        let position = ((value - start) / step).clamp(0.0, (POINTS - 1) as f64);
        let below = (position.floor() as usize).min(POINTS - 2);
        let share = position - below as f64;
        counts[below] += 1.0 - share;
        counts[below + 1] += share;
    }
    counts
}

/// Convolution with a Gaussian of `width` grid steps; past the first point it is reflected if `bounded`, else cut.
fn smooth(counts: &[f64], width: f64, bounded: bool) -> Vec<f64> {
    let reach = ((4.0 * width).ceil() as usize).clamp(1, POINTS - 1);
    let kernel: Vec<f64> = (0..=reach).map(|k| (-0.5 * (k as f64 / width).powi(2)).exp()).collect();
    let mut values = vec![0.0; counts.len()];
    for (i, &mass) in counts.iter().enumerate().filter(|&(_, &mass)| mass > 0.0) {
        for (k, &weight) in kernel.iter().enumerate() {
            let share = mass * weight;
            if let Some(value) = values.get_mut(i + k) {
                *value += share;
            }
            if (1..=i).contains(&k) {
                values[i - k] += share;
            }
            // The mirror image, at -i: the bound itself receives both.
            if bounded && k >= i {
                values[k - i] += share;
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values whose distribution function takes the values (i + 1/2) / n of the exponential.
    fn exponential(n: usize) -> Vec<f64> {
        (0..n).map(|i| -(1.0 - (i as f64 + 0.5) / n as f64).ln()).collect()
    }

    #[test]
    fn integrates_to_one_on_skewed_and_on_heavy_tailed_values() {
        let cauchy: Vec<f64> =
            (0..999).map(|i| (std::f64::consts::PI * ((i as f64 + 1.0) / 1000.0 - 0.5)).tan()).collect();
        for sample in [exponential(500), cauchy, vec![1.0, 2.0], vec![0.0, 0.0, 0.0, 1.0]] {
            let density = Density::of(&sample).unwrap();
            let mass = integral(&density.values, density.step);
            assert!((mass - 1.0).abs() < 1e-12, "{mass}");
        }
    }

    #[test]
    fn finds_the_density_of_a_normal() {
        // Sums of 12 even quantiles would only approximate: take logistic quantiles, whose density is closed.
        let n = 40_000;
        let sample: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).map(|p| (p / (1.0 - p)).ln()).collect();
        let density = Density::of(&sample).unwrap();
        for x in [-3.0f64, -1.0, 0.0, 0.5, 2.0] {
            let exact = (-x).exp() / (1.0 + (-x).exp()).powi(2);
            assert!((density.at(x) - exact).abs() < 0.01, "{x}: {} {exact}", density.at(x));
        }
        assert_eq!(density.at(1e9), 0.0);
        assert_eq!(density.at(f64::NAN), 0.0);
    }

    #[test]
    fn reflection_keeps_the_height_at_a_bound() {
        // Exponential(1) has density 1 at 0; without reflection the estimate there would be near 1/2.
        let density = Density::of(&exponential(20_000)).unwrap();
        assert!(density.at(0.0) > 0.9, "{}", density.at(0.0));
    }

    #[test]
    fn the_density_of_unbounded_values_falls_to_nothing_at_both_ends() {
        let sample: Vec<f64> = (0..100).map(|i| f64::from(i) - 50.0).collect();
        let density = Density::of(&sample).unwrap();
        assert!(density.values[0] < 0.01 * density.peak() && density.values[POINTS - 1] < 0.01 * density.peak());
        assert!((density.at(0.0) - 0.01).abs() < 1e-3, "{}", density.at(0.0));
    }

    #[test]
    fn nothing_to_draw() {
        for sample in [vec![], vec![1.0], vec![2.0; 9], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0]] {
            assert_eq!(Density::of(&sample), None, "{sample:?}");
        }
    }
}
