//! One-dimensional marginal distributions: distribution function, quantiles, intervals.

use super::lattice::{Axis, Lattice, Node};
use serde::{Deserialize, Serialize};

/// Two ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns whether `value` lies inside or on an end.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Computes the inverse of `sinh`. The standard library's function calls `hypot`, which glibc gave a new version in
/// 2.35: a binary with it does not start where the library is 2.34.
fn asinh(x: f64) -> f64 {
    let size = x.abs();
    (size + size * size / (1.0 + (size * size + 1.0).sqrt())).ln_1p().copysign(x)
}

/// The zero of a function that rises from below 0 at `low` to above 0 at `high`: the secant rule, and bisection
/// when it leaves the bracket or gains too little.
fn root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64, start: f64) -> f64 {
    let tolerance = 1e-13 * (high - low);
    let (mut previous, mut previous_value) = (f64::NAN, f64::NAN);
    let mut x = start;
    while high - low > tolerance {
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
        if (next - x).abs() <= tolerance {
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

/// The smallest share of the rest that lies below an interval which does not start at the end of the support.
const TAIL: f64 = 1e-9;

/// A map from the coordinate of a table to the variable.
#[derive(Clone, Copy, Debug)]
enum Map {
    /// center + scale sinh(coordinate): equal steps are close together near the center, and wide far from it.
    Sinh { center: f64, scale: f64 },
    /// The variable is a scale, given by the coordinate of the lattice.
    Scale(Axis),
}

/// The marginal distribution of one quantity, with one mode.
///
/// The density of a coordinate is tabulated at equal steps; between them stands a polynomial through the
/// logarithms of the nearest ten.
#[derive(Clone, Debug)]
pub struct Marginal {
    map: Map,
    first: f64,
    step: f64,
    /// Log density of the coordinate, at `first + k step`.
    log_density: Vec<f64>,
    /// Probability below `first + k step`.
    below: Vec<f64>,
}

impl Marginal {
    /// A scale, along `axis` of the lattice: 0 for sigma_pop, 1 for sigma_obs.
    pub(super) fn scale(lattice: &Lattice, axis: usize) -> Self {
        let index = |node: &Node| [node.row, node.column][axis];
        let lowest = lattice.nodes.iter().map(index).min().unwrap_or(0);
        let highest = lattice.nodes.iter().map(index).max().unwrap_or(0);
        let mut mass = vec![0.0; (highest - lowest + 1).unsigned_abs() as usize];
        for node in &lattice.nodes {
            mass[(index(node) - lowest).unsigned_abs() as usize] += node.weight;
        }
        // Gaps between modes hold less than anything that was kept.
        let log_density = mass.iter().map(|mass| mass.max(1e-20).ln()).collect();
        let step = lattice.step[axis];
        let first = lattice.origin[axis] + f64::from(lowest) * step;
        Self::new(Map::Scale(lattice.axes[axis]), first, step, log_density)
    }

    /// A mixture of normals, given as (weight, mean, variance): mu_pop, a z or a mu_group over the lattice.
    ///
    /// The table is closest at `center`, where the density may have a sharp peak: mu_group of one observation is that
    /// observation if sigma_obs is 0. A normal too narrow for the table where it stands is broadened to three
    /// steps, which conserves probability.
    pub(super) fn mixture(center: f64, components: impl Iterator<Item = (f64, f64, f64)>) -> Self {
        /// Standard deviations beyond which a normal is left out: e^-36.
        const REACH: f64 = 8.5;
        /// Step of the coordinate.
        const STEP: f64 = 0.02;
        let mut components: Vec<(f64, f64, f64)> = components
            .filter(|component| component.0 > 1e-14)
            .map(|(weight, mean, variance)| (weight, mean, variance.sqrt()))
            .collect();
        let ends = |components: &[(f64, f64, f64)]| {
            let low = components.iter().map(|(_, mean, sd)| mean - REACH * sd).fold(f64::INFINITY, f64::min);
            let high = components.iter().map(|(_, mean, sd)| mean + REACH * sd).fold(f64::NEG_INFINITY, f64::max);
            (low, high)
        };
        let (low, high) = ends(&components);
        let counting = components.iter().filter(|component| component.0 > 1e-9);
        let narrowest = counting.map(|component| component.2).fold(f64::INFINITY, f64::min);
        let scale = narrowest.max(1e-6 * (high - low));
        for (_, mean, sd) in &mut components {
            *sd = sd.max(3.0 * STEP * (scale * scale + (*mean - center) * (*mean - center)).sqrt());
        }
        let (low, high) = ends(&components);
        let coordinate = |x: f64| asinh((x - center) / scale);
        let first = coordinate(low);
        let mut density = vec![0.0; ((coordinate(high) - first) / STEP).ceil() as usize + 1];
        for (weight, mean, sd) in components {
            let height = weight / sd;
            // A negative number becomes 0.
            let from = ((coordinate(mean - REACH * sd) - first) / STEP).ceil() as usize;
            let to = ((coordinate(mean + REACH * sd) - first) / STEP).floor() as usize + 1;
            let to = to.min(density.len());
            for (k, density) in (from..to).zip(&mut density[from.min(to)..to]) {
                let t = first + k as f64 * STEP;
                let z = (center + scale * t.sinh() - mean) / sd;
                *density += height * scale * t.cosh() * (-0.5 * z * z).exp();
            }
        }
        let top = density.iter().copied().fold(0.0, f64::max);
        let log_density = density.iter().map(|density| density.max(1e-20 * top).ln()).collect();
        Self::new(Map::Sinh { center, scale }, first, STEP, log_density)
    }

    /// Normalises.
    fn new(map: Map, first: f64, step: f64, log_density: Vec<f64>) -> Self {
        let mut marginal = Self { map, first, step, log_density, below: vec![0.0] };
        for cell in 0..marginal.log_density.len() - 1 {
            let next = marginal.below[cell] + marginal.integral(cell, 1.0);
            marginal.below.push(next);
        }
        let total = marginal.below[marginal.below.len() - 1];
        marginal.below.iter_mut().for_each(|below| *below /= total);
        marginal.log_density.iter_mut().for_each(|density| *density -= total.ln());
        marginal
    }

    /// Returns the log density of the coordinate `t` steps from the first point (Lagrange, barycentric form).
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

    /// Returns the integral over the first `fraction` of a cell.
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

    /// Returns P(variable <= `x`).
    pub fn cdf(&self, x: f64) -> f64 {
        match self.map {
            Map::Sinh { center, scale } => self.below((asinh((x - center) / scale) - self.first) / self.step),
            Map::Scale(_) if x <= 0.0 => 0.0,
            Map::Scale(axis) => self.below((axis.coordinate(x.ln()) - self.first) / self.step),
        }
    }

    /// Returns the step count at which the probability below is `p`.
    fn steps(&self, p: f64) -> f64 {
        let cell = self.below.partition_point(|&below| below <= p).saturating_sub(1).min(self.below.len() - 2);
        let (low, high) = (cell as f64, (cell + 1) as f64);
        root(|t| self.below(t) - p, low, high, 0.5 * (low + high))
    }

    /// Returns the variable at a step count.
    fn value(&self, t: f64) -> f64 {
        let coordinate = self.first + self.step * t;
        match self.map {
            Map::Sinh { center, scale } => center + scale * coordinate.sinh(),
            Map::Scale(axis) => axis.log_scale(coordinate).exp(),
        }
    }

    /// Returns the density of the variable at a step count.
    fn density(&self, t: f64) -> f64 {
        let density = self.interpolate(t).exp();
        match self.map {
            Map::Sinh { scale, .. } => density / (scale * (self.first + self.step * t).cosh()),
            Map::Scale(axis) => density / (axis.slope(self.first + self.step * t) * self.value(t)),
        }
    }

    /// Returns the point below which there is probability `p`.
    ///
    /// # Panics
    /// When `p` is not inside (0, 1).
    pub fn quantile(&self, p: f64) -> f64 {
        assert!(p > 0.0 && p < 1.0, "a probability between 0 and 1, not {p}");
        self.value(self.steps(p))
    }

    /// Returns the equal-tailed interval of probability `p`.
    ///
    /// # Panics
    /// When `p` is not inside (0, 1).
    pub fn eti(&self, p: f64) -> Interval {
        Interval { low: self.quantile(0.5 * (1.0 - p)), high: self.quantile(0.5 * (1.0 + p)) }
    }

    /// Returns the shortest interval of probability `p`: its ends have the same density, or the lower one is the end of
    /// the support.
    ///
    /// # Panics
    /// When `p` is not inside (0, 1).
    pub fn hdi(&self, p: f64) -> Interval {
        assert!(p > 0.0 && p < 1.0, "a probability between 0 and 1, not {p}");
        let excess = |below: f64| self.density(self.steps(below)) - self.density(self.steps(below + p));
        let most = 1.0 - p;
        if matches!(self.map, Map::Scale(_)) && excess(TAIL * most) >= 0.0 {
            return Interval { low: 0.0, high: self.quantile(p) };
        }
        let below = root(excess, TAIL * most, (1.0 - TAIL) * most, 0.5 * most);
        Interval { low: self.quantile(below), high: self.quantile(below + p) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "ours is held to that of the machine")]
    fn asinh_is_the_inverse_of_sinh() {
        for exponent in -60..=60 {
            let x = 10_f64.powf(f64::from(exponent) / 10.0);
            for x in [x, -x] {
                assert!((asinh(x) / x.asinh() - 1.0).abs() < 4e-16, "{x}: {} and {}", asinh(x), x.asinh());
            }
        }
        assert_eq!(asinh(0.0), 0.0);
    }

    #[test]
    fn roots_are_found() {
        let cube = root(|x| x * x * x - 2.0, 0.0, 4.0, 1.0);
        assert!((cube - 2_f64.cbrt()).abs() < 1e-12, "{cube}");
        // Flat about its root, and steep beyond it.
        let steep = root(|x| (x - 1.3).powi(9), -2.0, 9.0, -1.0);
        assert!((steep - 1.3).abs() < 1e-6, "{steep}");
        // A value of 1 is no root.
        assert!((root(|x| x - 1.0, 0.0, 4.0, 2.0) - 1.0).abs() < 1e-12);
        assert_eq!(root(|x| x - 1.5, 1.0, 2.0, 1.5), 1.5);
        let jump = root(|x| if x < 0.7 { -1.0 } else { 1.0 }, 0.0, 1.0, 0.5);
        assert!((jump - 0.7).abs() < 1e-12, "{jump}");
    }

    /// Eight nodes integrate polynomials of degree 15.
    #[test]
    fn the_rule_of_gauss_is_exact_for_polynomials() {
        for degree in (0..=14).step_by(2) {
            let sum: f64 = GAUSS.iter().map(|&(node, weight)| 2.0 * weight * node.powi(degree)).sum();
            assert!((sum - 2.0 / f64::from(degree + 1)).abs() < 4e-16, "{degree}: {sum}");
        }
    }

    /// A flat table, whose every cell counts, also the first and the last: uniform between 0 and 2.
    #[test]
    fn a_flat_table_is_uniform() {
        let uniform = Marginal::new(Map::Sinh { center: 3.0, scale: 2.0 }, 0.0, 0.5, vec![0.7; 5]);
        let value = |t: f64| 3.0 + 2.0 * t.sinh();
        for k in 1..40 {
            let t = 0.05 * f64::from(k);
            let (found, back) = (uniform.cdf(value(t)), uniform.quantile(0.5 * t));
            assert!((found - 0.5 * t).abs() < 1e-13, "{t}: {found}");
            assert!((back - value(t)).abs() < 1e-11, "{t}: {back}");
            let density = uniform.density(2.0 * t);
            assert!((density - 0.5 / (2.0 * t.cosh())).abs() < 1e-13, "{t}: {density}");
        }
        assert_eq!((uniform.cdf(value(-0.1)), uniform.cdf(value(2.1))), (0.0, 1.0));
        let Interval { low, high } = uniform.eti(0.6);
        assert!((low - value(0.4)).abs() < 1e-11 && (high - value(1.6)).abs() < 1e-11, "{low} {high}");
    }

    /// The logistic distribution, whose function and quantiles are known, between points a quarter apart; its shortest
    /// intervals are about 0.
    #[test]
    fn a_table_with_wide_steps_has_nine_digits() {
        let (first, step) = (-44.0, 0.25);
        let log_density =
            (0..=352).map(|k| first + step * f64::from(k)).map(|t: f64| -t.abs() - 2.0 * (-t.abs()).exp().ln_1p());
        let logistic = Marginal::new(Map::Sinh { center: 0.0, scale: 1.0 }, first, step, log_density.collect());
        for k in -60..=60 {
            let t = 0.17 * f64::from(k);
            let expected = 1.0 / (1.0 + (-t).exp());
            let found = logistic.cdf(t.sinh());
            assert!((found - expected).abs() < 1e-9, "{t}: {found}, not {expected}");
        }
        for p in [0.2, 0.5, 0.89] {
            let end = ((1.0_f64 + p) / (1.0 - p)).ln().sinh();
            for Interval { low, high } in [logistic.hdi(p), logistic.eti(p)] {
                assert!((low + end).abs() < 1e-6 * end && (high - end).abs() < 1e-6 * end, "{p}: {low} {high}, {end}");
            }
        }
    }

    /// Two normals, one of them narrow, by the distribution function of the normal (SciPy's `norm.cdf`), also far out.
    #[test]
    fn a_mixture_has_the_distribution_of_its_normals() {
        /// Distances in standard deviations, and what is below.
        const NORMAL: [(f64, f64); 5] = [
            (-6.0, 9.865_876_450_376_98e-10),
            (-5.0, 2.866_515_718_791_939e-7),
            (-1.5, 0.066_807_201_268_858_07),
            (0.3, 0.617_911_422_188_952_7),
            (2.5, 0.993_790_334_674_223_8),
        ];
        let one = Marginal::mixture(7.0, [(1.0, 7.0, 4.0)].into_iter());
        for (t, expected) in NORMAL {
            let found = one.cdf(7.0 + 2.0 * t);
            assert!((found / expected - 1.0).abs() < 1e-8, "{t}: {found}, not {expected}");
            let back = one.quantile(expected);
            assert!((back - (7.0 + 2.0 * t)).abs() < 1e-6, "{t}: {back}");
        }
        // A quarter is narrow at 7, and the rest wide about 27: what is narrow is all below 15, and 1.5 deviations of 8
        // are 12.
        let both = Marginal::mixture(7.0, [(0.25, 7.0, 0.01), (0.75, 27.0, 64.0)].into_iter());
        let (below_narrow, below_wide) = (both.cdf(7.0), both.cdf(15.0));
        assert!((below_narrow - (0.125 + 0.75 * 0.006_209_665_325_776_132)).abs() < 1e-8, "{below_narrow}");
        assert!((below_wide - (0.25 + 0.75 * NORMAL[2].1)).abs() < 1e-8, "{below_wide}");
        let next = both.cdf(7.0 + 0.1 * 0.3);
        assert!((next - (0.25 * NORMAL[3].1 + 0.75 * 0.006_275_705_377_259)).abs() < 1e-8, "{next}");
    }

    /// A table that is smooth nowhere, by Lagrange's formula.
    #[test]
    fn between_points_is_the_polynomial_through_the_nearest() {
        for count in [4, WINDOW, WINDOW + 1, 23] {
            let values: Vec<f64> = (0..count).map(|k| (k * k * 7 % 13) as f64 / 13.0).collect();
            let map = Map::Sinh { center: 0.0, scale: 1.0 };
            let table = Marginal { map, first: 0.0, step: 1.0, log_density: values.clone(), below: vec![] };
            let window = WINDOW.min(count);
            for k in 0..count - 1 {
                assert_eq!(table.interpolate(k as f64), values[k], "{k} of {count}");
                let start = (k + 1).saturating_sub(window / 2).min(count - window);
                for t in [k as f64 + 0.25, k as f64 + 0.625] {
                    let of = |own: usize| {
                        let others = (start..start + window).filter(|&other| other != own);
                        values[own]
                            * others.map(|other| (t - other as f64) / (own as f64 - other as f64)).product::<f64>()
                    };
                    let expected: f64 = (start..start + window).map(of).sum();
                    let found = table.interpolate(t);
                    assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{t} of {count}: {found}");
                }
            }
        }
    }

    #[test]
    fn the_shortest_interval_of_the_mirror_image_is_its_image() {
        let skewed = [(0.6, 2.0, 1.0), (0.3, 5.0, 9.0), (0.1, 11.0, 25.0)];
        let table = Marginal::mixture(2.0, skewed.into_iter());
        let image =
            Marginal::mixture(-2.0, skewed.map(|(weight, mean, variance)| (weight, -mean, variance)).into_iter());
        for p in [0.3, 0.5, 0.89] {
            let (Interval { low, high }, of_image) = (table.hdi(p), image.hdi(p));
            assert!((table.cdf(high) - table.cdf(low) - p).abs() < 1e-9);
            // Less is left out below than above.
            assert!(table.cdf(low) < 0.4 * (1.0 - p));
            assert!((of_image.low + high).abs() < 1e-5 && (of_image.high + low).abs() < 1e-5, "{p}: {of_image:?}");
        }
    }

    /// The narrowest that weighs a thousand-millionth; a millionth of all from 8.5 deviations below to 8.5 above.
    #[test]
    fn the_table_is_as_fine_as_the_narrowest_normal_that_counts() {
        let scale = |weight: f64, sd: f64| {
            let normals = [(1.0 - weight, 0.0, 4.0), (weight, 0.5, sd * sd)];
            match Marginal::mixture(0.0, normals.into_iter()).map {
                Map::Sinh { scale, .. } => scale,
                Map::Scale(_) => f64::NAN,
            }
        };
        assert_eq!((scale(1.5e-9, 0.25), scale(0.7e-9, 0.25)), (0.25, 2.0));
        assert!((scale(0.5, 1e-9) / 34e-6 - 1.0).abs() < 1e-12, "{}", scale(0.5, 1e-9));
    }

    /// Steps of 0.02 of the distance are 2 at a distance of 100, and a normal there gets a deviation of 6: one of it, and
    /// half of it, above its mean are 0.841 and 0.691 of the normal (SciPy's `norm.cdf`).
    #[test]
    fn a_normal_that_is_too_narrow_is_broadened_to_three_steps() {
        let both = Marginal::mixture(0.0, [(0.5, 0.0, 1.0), (0.5, 100.0, 1e-4)].into_iter());
        for (x, below) in [(106.0, 0.841_344_746_068_542_9), (103.0, 0.691_462_461_274_013_1)] {
            let found = both.cdf(x);
            assert!((found - 0.5 - 0.5 * below).abs() < 1e-6, "{x}: {found}");
        }
    }
}
