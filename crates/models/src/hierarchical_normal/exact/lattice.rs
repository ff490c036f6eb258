//! Quadrature over the two log scales: the trapezoidal rule on the lattice points that matter.
//!
//! Its range and the most points are decided here.
//!
//! For a smooth density that falls off to all sides the trapezoidal rule converges faster than any power of
//! the step (Trefethen and Weideman 2014, doi:10.1137/130932132). The lattice is filled from the modes outward
//! until the density has fallen by [`DEPTH`] nats, so that a posterior shaped like a banana or an L costs only
//! the points it occupies. [`Axis`] shortens the tails towards a scale of 0.

use super::ExactError;
use super::evidence::{Conditional, Evidence};
use std::collections::HashSet;

/// Points whose log density is lower than the highest by more than this are left out: a relative weight of 2e-16.
const DEPTH: f64 = 36.0;
/// How far below the mode the axes leave the logarithm.
const BEND: f64 = 2.0;
/// The most lattice points.
const MOST_POINTS: usize = 2_000_000;

/// The coordinate t of one scale: log scale = t - exp(bend - t).
///
/// Far above `bend` it is the logarithm. Below, where a posterior that does not exclude 0 falls off only as the
/// scale itself, it falls off as exp(-exp(-t)) (Takahasi and Mori 1974, doi:10.2977/prims/1195192451), and
/// 36 nats take 6 units of t, not 36.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    bend: f64,
}

impl Axis {
    /// Returns the logarithm of the scale at `t`.
    pub(super) fn log_scale(self, t: f64) -> f64 {
        t - (self.bend - t).exp()
    }

    /// d log scale / dt, at least 1.
    pub(super) fn slope(self, t: f64) -> f64 {
        1.0 + (self.bend - t).exp()
    }

    /// Returns the t of a scale. `log_scale` is concave and rises, so Newton's rule is below the answer from its first
    /// step on and climbs.
    pub(super) fn coordinate(self, log_scale: f64) -> f64 {
        let below = (self.bend - log_scale).max(0.0);
        let mut t = log_scale.max(self.bend) - below.ln_1p();
        for _ in 0..60 {
            let step = (log_scale - self.log_scale(t)) / self.slope(t);
            t += step;
            if step.abs() <= 2.0 * f64::EPSILON * t.abs().max(1.0) {
                break;
            }
        }
        t
    }
}

/// Returns the posterior density in the coordinates of both axes.
fn at(evidence: &Evidence, axes: [Axis; 2], t: [f64; 2]) -> Conditional {
    let log_scales = [axes[0].log_scale(t[0]), axes[1].log_scale(t[1])];
    let conditional = evidence.at(log_scales);
    let log_density = conditional.log_density + (axes[0].slope(t[0]) * axes[1].slope(t[1])).ln();
    Conditional { log_density, ..conditional }
}

/// One point of the lattice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Position along the axis of sigma_pop, in steps.
    pub(super) row: i32,
    /// Position along the axis of sigma_obs, in steps.
    pub(super) column: i32,
    /// The probability of the point; all sum to 1.
    pub(super) weight: f64,
    pub(super) sigma_pop: f64,
    pub(super) sigma_obs: f64,
    /// Mean of mu_pop given the scales.
    pub(super) location: f64,
    /// Variance of mu_pop given the scales.
    pub(super) variance: f64,
}

/// The discretised posterior of the scales.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    /// Sorted by row, then column.
    pub(super) nodes: Vec<Node>,
    /// The coordinates of sigma_pop and sigma_obs.
    pub(super) axes: [Axis; 2],
    /// Row 0, column 0.
    pub(super) origin: [f64; 2],
    /// The distances of rows and of columns.
    pub(super) step: [f64; 2],
    /// The logarithm of the integral.
    pub(super) log_integral: f64,
}

/// Where the density is high, and how wide it is there.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    axes: [Axis; 2],
    /// The modes, the highest first.
    points: Vec<[f64; 2]>,
    /// From the highest, the distance along each axis over which the density falls by half a nat (one standard
    /// deviation of a normal): the shorter side.
    widths: [f64; 2],
}

impl Lattice {
    /// All points with a step of `fineness` widths.
    ///
    /// # Errors
    /// [`ExactError::NotConverged`] when there are too many.
    pub(super) fn fill(evidence: &Evidence, modes: &Modes, fineness: f64) -> Result<Self, ExactError> {
        let origin = modes.points[0];
        let step = modes.widths.map(|width| fineness * width);
        let axes = modes.axes;
        let point =
            |row: i32, column: i32| [origin[0] + f64::from(row) * step[0], origin[1] + f64::from(column) * step[1]];
        let mut highest = at(evidence, axes, origin).log_density;
        let mut queue: Vec<(i32, i32)> = modes
            .points
            .iter()
            .map(|point| {
                let index = |axis: usize| ((point[axis] - origin[axis]) / step[axis]).round() as i32;
                (index(0), index(1))
            })
            .collect();
        // Modes that fall on the same point are one.
        queue.sort_unstable();
        queue.dedup();
        let mut seen: HashSet<(i32, i32)> = queue.iter().copied().collect();
        let mut found: Vec<(i32, i32, Conditional)> = Vec::new();
        while let Some((row, column)) = queue.pop() {
            let conditional = at(evidence, axes, point(row, column));
            highest = highest.max(conditional.log_density);
            if conditional.log_density < highest - DEPTH {
                continue;
            }
            found.push((row, column, conditional));
            if found.len() > MOST_POINTS {
                return Err(ExactError::NotConverged { error: f64::NAN, nodes: found.len() });
            }
            for next in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)] {
                if seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        // A fixed order makes every sum below reproducible.
        found.sort_unstable_by_key(|&(row, column, _)| (row, column));
        let total: f64 = found.iter().map(|(_, _, conditional)| (conditional.log_density - highest).exp()).sum();
        let nodes = found
            .into_iter()
            .map(|(row, column, conditional)| {
                let t = point(row, column);
                Node {
                    row,
                    column,
                    weight: (conditional.log_density - highest).exp() / total,
                    sigma_pop: axes[0].log_scale(t[0]).exp(),
                    sigma_obs: axes[1].log_scale(t[1]).exp(),
                    location: conditional.location,
                    variance: conditional.variance,
                }
            })
            .collect();
        Ok(Self { nodes, axes, origin, step, log_integral: highest + total.ln() + step[0].ln() + step[1].ln() })
    }
}

impl Modes {
    /// Scans a wide range of scales and climbs from each local maximum.
    pub(super) fn find(evidence: &Evidence) -> Self {
        let (low, high) = scan_range(evidence);
        let count = (((high - low) / 0.4).ceil() as usize).clamp(8, 100);
        let value = |k: usize| low + (high - low) * k as f64 / (count - 1) as f64;
        let scan: Vec<f64> =
            (0..count * count).map(|k| evidence.at([value(k / count), value(k % count)]).log_density).collect();
        let is_peak = |row: usize, column: usize| {
            let here = scan[row * count + column];
            let rows = row.saturating_sub(1)..=(row + 1).min(count - 1);
            here.is_finite()
                && rows.into_iter().all(|i| {
                    let columns = column.saturating_sub(1)..=(column + 1).min(count - 1);
                    columns.into_iter().all(|k| scan[i * count + k] <= here)
                })
        };
        let mut points: Vec<([f64; 2], f64)> = (0..count * count)
            .filter(|&k| is_peak(k / count, k % count))
            .map(|k| climb(evidence, [value(k / count), value(k % count)]))
            .collect();
        points.sort_by(|a, b| b.1.total_cmp(&a.1));
        points.retain({
            let highest = points.first().map_or(0.0, |point| point.1);
            move |point| point.1 > highest - DEPTH
        });
        let axes = [0, 1].map(|axis| Axis { bend: points[0].0[axis] - BEND });
        let coordinates = |(point, _): ([f64; 2], f64)| [0, 1].map(|axis| axes[axis].coordinate(point[axis]));
        let points: Vec<[f64; 2]> = points.into_iter().map(coordinates).collect();
        let widths = [0, 1].map(|axis| width(evidence, axes, points[0], axis));
        Self { axes, points, widths }
    }
}

/// Returns the logarithms of the smallest and largest scale worth a look: the range of the scales of priors and data,
/// and some beyond.
fn scan_range(evidence: &Evidence) -> (f64, f64) {
    let Evidence { statistics, prior, .. } = evidence;
    let degrees = statistics.observations - statistics.groups();
    let centre = statistics.means.iter().sum::<f64>() / statistics.groups();
    let spread = statistics.means.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>();
    let scales = [
        prior.sigma_pop_scale,
        prior.sigma_obs_scale,
        (centre - prior.mu_mean).abs(),
        (statistics.within / degrees.max(1.0)).sqrt(),
        (spread / (statistics.groups() - 1.0).max(1.0)).sqrt(),
    ];
    let positive = scales.into_iter().filter(|&scale| scale > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), scale| (low.min(scale), high.max(scale)));
    (low.ln() - 4.0, high.ln() + 2.0)
}

/// Compass search: steps to the best of eight neighbours, and halves the step when there is none better.
fn climb(evidence: &Evidence, start: [f64; 2]) -> ([f64; 2], f64) {
    let mut here = start;
    let mut value = evidence.at(here).log_density;
    let mut step = 0.25;
    while step > 1e-7 {
        let neighbours =
            [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
        let best = neighbours
            .map(|(row, column)| [here[0] + step * row, here[1] + step * column])
            .map(|point| (point, evidence.at(point).log_density))
            .into_iter()
            .fold((here, value), |best, next| if next.1 > best.1 { next } else { best });
        if best.1 > value {
            (here, value) = best;
        } else {
            step *= 0.5;
        }
    }
    (here, value)
}

/// Returns how far along `axis` the density falls by half a nat, at most 1.
fn width(evidence: &Evidence, axes: [Axis; 2], top: [f64; 2], axis: usize) -> f64 {
    let height = at(evidence, axes, top).log_density;
    let fallen = |distance: f64| {
        [-distance, distance].into_iter().any(|offset| {
            let mut point = top;
            point[axis] += offset;
            at(evidence, axes, point).log_density < height - 0.5
        })
    };
    let (mut near, mut far) = (0.0, 1.0);
    if !fallen(far) {
        return far;
    }
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        if fallen(middle) { far = middle } else { near = middle }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Statistics;
    use super::*;
    use crate::HierarchicalPrior;
    use octopus_density::{GroupedData, Labels};

    const PRIOR: HierarchicalPrior =
        HierarchicalPrior { mu_mean: 40.0, mu_sd: 20.0, sigma_pop_scale: 15.0, sigma_obs_scale: 5.0 };

    fn evidence(groups: &[&[f64]], prior: HierarchicalPrior) -> Evidence {
        let index: Vec<usize> = groups.iter().enumerate().flat_map(|(j, values)| vec![j; values.len()]).collect();
        let data = GroupedData::new(Labels::Range(groups.len()), &index, &groups.concat()).unwrap();
        Evidence::new(Statistics::new(&data).unwrap(), prior)
    }

    fn uneven() -> Evidence {
        evidence(&[&[41.0, 44.0, 47.5], &[60.0, 57.0], &[49.0], &[38.0, 33.0, 39.5, 36.0]], PRIOR)
    }

    #[test]
    fn a_coordinate_is_that_of_its_scale() {
        let axis = Axis { bend: 0.7 };
        for k in -80..=80 {
            let log_scale = 0.5 * f64::from(k);
            let t = axis.coordinate(log_scale);
            let expected = t - (0.7 - t).exp();
            assert!((expected - log_scale).abs() < 1e-14 * (1.0 + log_scale.abs()) * axis.slope(t), "{log_scale}: {t}");
            assert_eq!(axis.log_scale(t), expected);
            let by_differences = (axis.log_scale(t + 1e-5) - axis.log_scale(t - 1e-5)) / 2e-5;
            assert!((axis.slope(t) / by_differences - 1.0).abs() < 1e-7, "{log_scale}: {}", axis.slope(t));
        }
    }

    /// By hand: the scales are those of the priors, the groups' distance from the prior's mean, and the deviations within
    /// and between groups; what is 0 has no logarithm.
    #[test]
    fn the_scan_covers_the_scales_of_priors_and_data() {
        let check = |groups: &[&[f64]], prior: HierarchicalPrior, least: f64, most: f64| {
            let (low, high) = scan_range(&evidence(groups, prior));
            assert!((low - (least.ln() - 4.0)).abs() < 1e-12, "{low}, {least}");
            assert!((high - (most.ln() + 2.0)).abs() < 1e-12, "{high}, {most}");
        };
        let wide = HierarchicalPrior { sigma_pop_scale: 7.0, sigma_obs_scale: 8.0, ..PRIOR };
        // Means 41, 45 and 52, 6 from the prior's; within: squares of 2 + 8 + 0 of 2 differences; between: 62 / 2.
        let groups: [&[f64]; 3] = [&[40.0, 42.0], &[43.0, 47.0], &[52.0]];
        check(&groups, wide, 5_f64.sqrt(), 8.0);
        let narrow = HierarchicalPrior { sigma_pop_scale: 3.0, sigma_obs_scale: 3.5, ..PRIOR };
        check(&groups, narrow, 5_f64.sqrt(), 6.0);
        check(&groups, HierarchicalPrior { mu_mean: 46.0, ..narrow }, 5_f64.sqrt(), 31_f64.sqrt());
        check(&groups, HierarchicalPrior { sigma_pop_scale: 0.25, ..narrow }, 0.25, 6.0);
        // One value alone: 45 and no deviation. Then two groups: of means 41 and 45 between, and of four values within.
        check(&[&[45.0]], narrow, 3.0, 5.0);
        check(&[&[40.0], &[42.0]], HierarchicalPrior { mu_mean: 41.0, ..narrow }, 2_f64.sqrt(), 3.5);
        check(&[&[40.0, 42.0]], HierarchicalPrior { mu_mean: 41.0, ..narrow }, 2_f64.sqrt(), 3.5);
        // Scales below 1.
        let small = HierarchicalPrior { mu_mean: 41.0, sigma_pop_scale: 0.3, sigma_obs_scale: 0.35, ..PRIOR };
        check(&[&[41.0]], small, 0.3, 0.35);
    }

    /// The highest mode is a place where the density is flat, the axes bend two below it, and half a nat is lost at the
    /// shorter of both sides' widths.
    #[test]
    fn the_mode_is_flat_and_its_widths_cost_half_a_nat() {
        for evidence in [uneven(), evidence(&[&[40.0]], PRIOR)] {
            let modes = Modes::find(&evidence);
            let top = modes.points[0];
            let log_scales = [0, 1].map(|axis| modes.axes[axis].log_scale(top[axis]));
            for axis in 0..2 {
                assert!((log_scales[axis] - modes.axes[axis].bend - BEND).abs() < 1e-12, "{modes:?}");
                let moved = |offset: f64| {
                    let mut place = log_scales;
                    place[axis] += offset;
                    evidence.at(place).log_density
                };
                let (slope, bend) =
                    ((moved(1e-4) - moved(-1e-4)) / 2e-4, (moved(1e-3) - 2.0 * moved(0.0) + moved(-1e-3)) / 1e-6);
                assert!(bend < -0.1 && (slope / bend).abs() < 1e-5, "axis {axis}: {slope} {bend}");
                let fall = |offset: f64| {
                    let mut place = top;
                    place[axis] += offset;
                    at(&evidence, modes.axes, top).log_density - at(&evidence, modes.axes, place).log_density
                };
                let width = modes.widths[axis];
                let most = fall(width).max(fall(-width));
                assert!(width < 1.0 && (most - 0.5).abs() < 1e-9, "axis {axis}: {most} at {width}");
            }
        }
    }

    /// Against a sum over a rectangle of points: nothing is left out but what is below the highest by 36 nats.
    #[test]
    fn the_lattice_has_every_point_that_matters() {
        let evidence = uneven();
        let modes = Modes::find(&evidence);
        let lattice = Lattice::fill(&evidence, &modes, 0.4).unwrap();
        let step = modes.widths.map(|width| 0.4 * width);
        let place = |row: i32, column: i32| {
            [0, 1].map(|axis| modes.points[0][axis] + f64::from([row, column][axis]) * step[axis])
        };
        let highest = at(&evidence, modes.axes, modes.points[0]).log_density;
        let (mut all, mut kept) = (0.0, 0);
        for row in -120..=120 {
            for column in -120..=120 {
                let density = at(&evidence, modes.axes, place(row, column)).log_density;
                all += (density - highest).exp();
                kept += usize::from(density >= highest - 36.0);
            }
        }
        let integral = highest + all.ln() + step[0].ln() + step[1].ln();
        assert!((lattice.log_integral - integral).abs() < 1e-11, "{} {integral}", lattice.log_integral);
        // The flood may leave out a point that stands alone, and keep one that was seen before the highest.
        assert!(lattice.nodes.len().abs_diff(kept) <= 2, "{} {kept}", lattice.nodes.len());
        assert_eq!((lattice.origin, lattice.step), (modes.points[0], step));
        assert!((lattice.nodes.iter().map(|node| node.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(lattice.nodes.windows(2).all(|pair| (pair[0].row, pair[0].column) < (pair[1].row, pair[1].column)));
        for node in lattice.nodes.iter().step_by(37) {
            let t = place(node.row, node.column);
            let scales = [0, 1].map(|axis| modes.axes[axis].log_scale(t[axis]));
            let Conditional { location, variance, .. } = evidence.at(scales);
            assert_eq!((node.location, node.variance), (location, variance));
            assert_eq!([node.sigma_pop, node.sigma_obs], scales.map(f64::exp));
        }
    }

    /// Two groups far apart, which either a wide sigma_obs explains or, against its prior, sigma_pop: between the modes the
    /// density falls by 48 nats, so that the flood begins at both.
    #[test]
    fn modes_apart_are_both_on_the_lattice() {
        let group = |mean: f64| (0..50).map(|k| mean + f64::from(2 * (k % 2) - 1)).collect::<Vec<f64>>();
        let prior = HierarchicalPrior { mu_mean: 0.0, mu_sd: 5.0, sigma_pop_scale: 0.0621, sigma_obs_scale: 1000.0 };
        let evidence = evidence(&[&group(-10.0), &group(10.0)], prior);
        let modes = Modes::find(&evidence);
        assert_eq!(modes.points.len(), 2, "{modes:?}");
        let lattice = Lattice::fill(&evidence, &modes, 0.1).unwrap();
        let wide = |node: &&Node| node.sigma_obs > 4.0;
        let of_wide: f64 = lattice.nodes.iter().filter(wide).map(|node| node.weight).sum();
        // By rectangles in the logarithms of the scales.
        let (mut all, mut beyond) = (0.0, 0.0);
        for row in 0..800 {
            for column in 0..200 {
                let logs = [-14.0 + 0.02 * f64::from(row), -0.5 + 0.02 * f64::from(column)];
                let density = (evidence.at(logs).log_density - lattice.log_integral).exp() * 4e-4;
                all += density;
                beyond += if logs[1] > 4_f64.ln() { density } else { 0.0 };
            }
        }
        assert!((0.05..0.95).contains(&beyond), "{beyond}");
        assert!((all - 1.0).abs() < 3e-5 && (of_wide - beyond).abs() < 3e-5, "{all}; {of_wide}, not {beyond}");
    }
}
