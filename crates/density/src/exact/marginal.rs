//! One-dimensional marginal distributions: distribution function, quantiles, intervals.

use super::lattice::{Axis, Lattice};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// Two ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies inside or on an end.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A continuous distribution on the line.
pub(super) trait Marginal {
    /// P(x <= `x`).
    fn cdf(&self, x: f64) -> f64;
    /// The density.
    fn pdf(&self, x: f64) -> f64;
    /// The point below which there is probability `p`, 0 < p < 1.
    fn quantile(&self, p: f64) -> f64;
    /// The lower end of the support.
    fn lowest(&self) -> f64;

    /// The equal-tailed interval of probability `p`.
    fn eti(&self, p: f64) -> Interval {
        Interval { low: self.quantile(0.5 * (1.0 - p)), high: self.quantile(0.5 * (1.0 + p)) }
    }

    /// The shortest interval of probability `p`, of a distribution with one mode: its ends have the same
    /// density, or the lower one is the end of the support.
    fn hdi(&self, p: f64) -> Interval {
        /// The smallest probability below an interval that does not start at the end of the support.
        const TAIL: f64 = 1e-9;
        let excess = |below: f64| self.pdf(self.quantile(below)) - self.pdf(self.quantile(below + p));
        let most = 1.0 - p;
        if excess(TAIL * most) >= 0.0 {
            return Interval { low: self.lowest(), high: self.quantile(p) };
        }
        let below = root(excess, TAIL * most, (1.0 - TAIL) * most, 0.5 * most);
        Interval { low: self.quantile(below), high: self.quantile(below + p) }
    }
}

/// The zero of a function that rises from below 0 at `low` to above 0 at `high`: the secant rule, and bisection
/// when it leaves the bracket or gains too little.
fn root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64, start: f64) -> f64 {
    let (mut previous, mut previous_value) = (f64::NAN, f64::NAN);
    let mut x = start;
    for _ in 0..200 {
        let value = function(x);
        if value < 0.0 {
            low = x
        } else {
            high = x
        }
        if value == 0.0 {
            return x;
        }
        let secant = x - value * (x - previous) / (value - previous_value);
        let slow = value.abs() > 0.5 * previous_value.abs();
        let next = if secant > low && secant < high && !slow { secant } else { 0.5 * (low + high) };
        (previous, previous_value) = (x, value);
        if (next - x).abs() <= 4.0 * f64::EPSILON * x.abs().max(high - low) || next == low || next == high {
            return next;
        }
        x = next;
    }
    x
}

/// A mixture of normals: mu_pop, a z, or a mu_group over the lattice of scales.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// (weight, mean, standard deviation).
    components: Vec<(f64, f64, f64)>,
    mean: f64,
    sd: f64,
}

impl Mixture {
    /// From (weight, mean, variance); weights that cannot be seen in the sum are left out.
    pub(super) fn new(components: impl Iterator<Item = (f64, f64, f64)>) -> Self {
        let mut components: Vec<(f64, f64, f64)> = components
            .filter(|component| component.0 > 1e-14)
            .map(|(w, mean, variance)| (w, mean, variance.sqrt()))
            .collect();
        let total: f64 = components.iter().map(|component| component.0).sum();
        components.iter_mut().for_each(|component| component.0 /= total);
        let mean = components.iter().map(|(weight, mean, _)| weight * mean).sum::<f64>();
        let variance: f64 = components.iter().map(|(weight, own, sd)| weight * (sd * sd + (own - mean).powi(2))).sum();
        Self { components, mean, sd: variance.sqrt() }
    }
}

impl Marginal for Mixture {
    fn cdf(&self, x: f64) -> f64 {
        self.components.iter().map(|(weight, mean, sd)| weight * 0.5 * libm::erfc((mean - x) / (sd * SQRT_2))).sum()
    }

    fn pdf(&self, x: f64) -> f64 {
        let density = |&(weight, mean, sd): &(f64, f64, f64)| {
            weight * (-0.5 * ((x - mean) / sd).powi(2)).exp() / (sd * (2.0 * PI).sqrt())
        };
        self.components.iter().map(density).sum()
    }

    fn quantile(&self, p: f64) -> f64 {
        // Cantelli's inequality bounds the quantile by the first two moments.
        let low = self.mean - self.sd * ((1.0 - p) / p).sqrt() * 1.01 - f64::MIN_POSITIVE;
        let high = self.mean + self.sd * (p / (1.0 - p)).sqrt() * 1.01 + f64::MIN_POSITIVE;
        newton(|x| (self.cdf(x) - p, self.pdf(x)), low, high, self.mean)
    }

    fn lowest(&self) -> f64 {
        f64::NEG_INFINITY
    }
}

/// The zero of a rising function given with its derivative: Newton's rule inside a bracket that shrinks.
fn newton(function: impl Fn(f64) -> (f64, f64), mut low: f64, mut high: f64, start: f64) -> f64 {
    let mut x = start.clamp(low, high);
    for _ in 0..200 {
        let (value, slope) = function(x);
        if value < 0.0 {
            low = x
        } else {
            high = x
        }
        let step = x - value / slope;
        let next = if step > low && step < high { step } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-14 * (x.abs() + (high - low)) || next == low || next == high {
            return next;
        }
        x = next;
    }
    x
}

/// Nodes and weights of Gauss-Legendre quadrature of order 8 on (-1, 1): the positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];
/// Points of the polynomial between lattice points.
const WINDOW: usize = 10;

/// The marginal of a scale: the density of its coordinate is known on the rows (or columns) of the lattice, and
/// between them by a polynomial through the logarithms of the nearest ten.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    axis: Axis,
    first: f64,
    step: f64,
    /// Log density of the coordinate, at `first + k step`.
    log_density: Vec<f64>,
    /// Probability below `first + k step`.
    below: Vec<f64>,
}

impl Scale {
    /// The marginal along `axis`: 0 for sigma_pop, 1 for sigma_obs.
    pub(super) fn new(lattice: &Lattice, axis: usize) -> Self {
        let index = |node: &super::lattice::Node| [node.row, node.column][axis];
        let lowest = lattice.nodes.iter().map(index).min().unwrap_or(0);
        let highest = lattice.nodes.iter().map(index).max().unwrap_or(0);
        let mut mass = vec![0.0; usize::try_from(highest - lowest + 1).unwrap_or(1)];
        for node in &lattice.nodes {
            mass[usize::try_from(index(node) - lowest).unwrap_or(0)] += node.weight;
        }
        let step = lattice.step[axis];
        // Gaps between modes hold less than anything that was kept.
        let log_density = mass.iter().map(|mass| mass.max(1e-20).ln() - step.ln()).collect();
        let first = lattice.origin[axis] + f64::from(lowest) * step;
        let mut scale = Self { axis: lattice.axes[axis], first, step, log_density, below: vec![0.0] };
        for cell in 0..scale.log_density.len() - 1 {
            let next = scale.below[cell] + scale.integral(cell, 1.0);
            scale.below.push(next);
        }
        let total = scale.below[scale.below.len() - 1];
        scale.below.iter_mut().for_each(|below| *below /= total);
        scale.log_density.iter_mut().for_each(|density| *density -= total.ln());
        scale
    }

    /// The log density of the coordinate `t` steps from the first point (Lagrange, barycentric form).
    fn interpolate(&self, t: f64) -> f64 {
        let count = WINDOW.min(self.log_density.len());
        let start = (t.floor() as usize).saturating_sub(count / 2 - 1).min(self.log_density.len() - count);
        let (mut numerator, mut denominator, mut binomial) = (0.0, 0.0, 1.0);
        for k in 0..count {
            let distance = t - (start + k) as f64;
            if distance == 0.0 {
                return self.log_density[start + k];
            }
            let weight = binomial / distance;
            numerator += weight * self.log_density[start + k];
            denominator += weight;
            binomial *= -((count - 1 - k) as f64) / (k + 1) as f64;
        }
        numerator / denominator
    }

    /// The integral over the first `fraction` of a cell.
    fn integral(&self, cell: usize, fraction: f64) -> f64 {
        let half = 0.5 * fraction;
        let at = |x: f64| self.interpolate(cell as f64 + half * (1.0 + x)).exp();
        GAUSS.iter().map(|&(node, weight)| weight * (at(-node) + at(node))).sum::<f64>() * half * self.step
    }

    /// P(coordinate <= first + t step).
    fn below(&self, t: f64) -> f64 {
        let last = self.below.len() - 1;
        if t <= 0.0 {
            return 0.0;
        }
        if t >= last as f64 {
            return 1.0;
        }
        let cell = t.floor() as usize;
        (self.below[cell] + self.integral(cell, t - t.floor())).min(1.0)
    }
}

impl Marginal for Scale {
    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { self.below((self.axis.coordinate(x.ln()) - self.first) / self.step) }
    }

    fn pdf(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let coordinate = self.axis.coordinate(x.ln());
        let t = (coordinate - self.first) / self.step;
        let inside = t >= 0.0 && t <= (self.log_density.len() - 1) as f64;
        if inside { self.interpolate(t).exp() / (x * self.axis.slope(coordinate)) } else { 0.0 }
    }

    fn quantile(&self, p: f64) -> f64 {
        let cell = self.below.partition_point(|&below| below <= p).saturating_sub(1).min(self.below.len() - 2);
        let (low, high) = (cell as f64, (cell + 1) as f64);
        let function = |t: f64| (self.below(t) - p, self.interpolate(t).exp() * self.step);
        let t = newton(function, low, high, 0.5 * (low + high));
        self.axis.log_scale(self.first + self.step * t).exp()
    }

    fn lowest(&self) -> f64 {
        0.0
    }
}
