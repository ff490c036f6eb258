//! Distribution functions and moments on the circle, by quadrature: independent of the crate's own.

use std::f64::consts::PI;

/// Cells of the quadrature: a multiple of 4 in the tails, too.
const CELLS: usize = 20_000;

fn one_less_cosine(x: f64) -> f64 {
    2.0 * (0.5 * x).sin().powi(2)
}

/// Tables the distribution function of an angle between two ends at each cell's beginning, and returns the means of
/// 1 - cos and of its square, too. The density need not be normalised.
fn integrated((begin, end): (f64, f64), ln_density: impl Fn(f64) -> f64) -> (Vec<f64>, [f64; 2]) {
    let width = (end - begin) / CELLS as f64;
    let middle = |cell: usize| begin + (cell as f64 + 0.5) * width;
    let highest = (0..CELLS).map(|cell| ln_density(middle(cell))).fold(f64::NEG_INFINITY, f64::max);
    // Gauss and Legendre's rule of three points in each cell.
    let rule = [(-0.6f64.sqrt(), 5.0 / 18.0), (0.0, 8.0 / 18.0), (0.6f64.sqrt(), 5.0 / 18.0)];
    let integral = |cell: usize, power: i32| -> f64 {
        let points = rule.iter().map(|(at, share)| (middle(cell) + 0.5 * width * at, share));
        points.map(|(x, share)| share * (ln_density(x) - highest).exp() * one_less_cosine(x).powi(power)).sum()
    };
    let mut table = vec![0.0];
    for cell in 0..CELLS {
        table.push(table[cell] + integral(cell, 0));
    }
    let all = table[CELLS];
    table.iter_mut().for_each(|value| *value /= all);
    let mean = |power| (0..CELLS).map(|cell| integral(cell, power)).sum::<f64>() / all;
    (table, [mean(1), mean(2)])
}

/// The von Mises distribution function around 0, tabled.
pub(crate) struct VonMisesTruth {
    concentration: f64,
    /// The end of the table: pi, or where the density has long ended.
    end: f64,
    /// The function at each cell's beginning, from -end.
    table: Vec<f64>,
    /// The means of 1 - cos and of its square.
    moments: [f64; 2],
}

impl VonMisesTruth {
    pub(crate) fn new(concentration: f64) -> Self {
        let end = PI.min(12.0 / concentration.sqrt().max(1e-300));
        let (table, moments) = integrated((-end, end), |x| -concentration * one_less_cosine(x));
        Self { concentration, end, table, moments }
    }

    pub(crate) fn cdf(&self, angle: f64) -> f64 {
        let place = ((angle + self.end) / (2.0 * self.end)).clamp(0.0, 1.0) * CELLS as f64;
        let cell = (place as usize).min(CELLS - 1);
        // Between the table's points the function is a straight line to 1e-8 of it.
        self.table[cell] + (place - cell as f64) * (self.table[cell + 1] - self.table[cell])
    }

    /// Mean sine and mean 1 - cosine are within 4 standard errors of what they should be: I1 / I0 is 1 less the latter.
    pub(crate) fn assert_moments(&self, draws: &[f64]) {
        let n = draws.len() as f64;
        let [one, two] = self.moments;
        let less = draws.iter().map(|x| one_less_cosine(*x)).sum::<f64>() / n;
        let bound = 4.0 * ((two - one * one) / n).sqrt();
        assert!((less - one).abs() < bound, "{}: mean 1 - cos {less} {one} {bound}", self.concentration);
        let sine = draws.iter().map(|x| x.sin()).sum::<f64>() / n;
        // sin^2 = 2 (1 - cos) - (1 - cos)^2
        let bound = 4.0 * ((2.0 * one - two) / n).sqrt();
        assert!(sine.abs() < bound, "{}: mean sin {sine} {bound}", self.concentration);
    }
}

/// The distribution of the angle between a unit vector and the mean direction of a von Mises-Fisher distribution, tabled: the
/// density is proportional to sin^(dimensions - 2) e^(concentration cos).
pub(crate) struct PolarTruth {
    /// The end of the table: pi, or where the density has long ended.
    end: f64,
    table: Vec<f64>,
    /// The means of 1 - cos and of its square.
    moments: [f64; 2],
}

impl PolarTruth {
    pub(crate) fn new(dimensions: usize, concentration: f64) -> Self {
        let power = dimensions as f64 - 2.0;
        let end = PI.min(((dimensions as f64).sqrt() + 12.0) / concentration.sqrt().max(1e-300));
        let ln_density = |x: f64| {
            let of_sine = if power == 0.0 { 0.0 } else { power * x.sin().ln() };
            of_sine - concentration * one_less_cosine(x)
        };
        let (table, moments) = integrated((0.0, end), ln_density);
        Self { end, table, moments }
    }

    pub(crate) fn cdf(&self, angle: f64) -> f64 {
        let place = (angle / self.end).clamp(0.0, 1.0) * CELLS as f64;
        let cell = (place as usize).min(CELLS - 1);
        self.table[cell] + (place - cell as f64) * (self.table[cell + 1] - self.table[cell])
    }

    /// The mean of 1 - cosine is within 4 standard errors of one less the mean resultant length.
    pub(crate) fn assert_moment(&self, angles: &[f64], name: &str) {
        let n = angles.len() as f64;
        let [one, two] = self.moments;
        let less = angles.iter().map(|x| 2.0 * (0.5 * x).sin().powi(2)).sum::<f64>() / n;
        let bound = 4.0 * ((two - one * one) / n).sqrt();
        assert!((less - one).abs() < bound, "{name}: mean 1 - cos {less} {one} {bound}");
    }
}

/// The wrapped normal distribution function around 0: the sum over turns.
pub(crate) fn wrapped_normal(scale: f64) -> impl Fn(f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    let normal = Normal::new(0.0, scale).unwrap();
    move |angle| {
        (-20..=20)
            .map(|turn| 2.0 * PI * f64::from(turn))
            .map(|turn| normal.cdf(angle + turn) - normal.cdf(turn - PI))
            .sum()
    }
}
