//! The regions where most of the points of a plane lie: the smallest region with a given share of them.

use super::super::axis::Axis;

/// Cells of the grid along each side.
const CELLS: usize = 48;
/// The kernel's width in cells.
const WIDTH: f64 = 1.6;
/// Rows of an outline for each cell, so that it looks smooth.
const FINER: usize = 2;

/// A smoothed histogram of points in the unit square.
pub(super) struct Plane {
    density: Vec<f64>,
}

impl Plane {
    /// Estimates the density of points with `x` and `y` from 0 to 1; `None` without points.
    pub(super) fn of(points: &[(f64, f64)]) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        let mut counts = vec![0.0; CELLS * CELLS];
        let cell = |v: f64| ((v * CELLS as f64) as usize).min(CELLS - 1);
        for &(x, y) in points {
            counts[cell(y) * CELLS + cell(x)] += 1.0;
        }
        // A Gaussian is the product of one along either side.
        let rows = smooth(&counts, 1, CELLS);
        Some(Self { density: smooth(&rows, CELLS, 1) })
    }

    /// Returns the density above which a share `mass` of the points lies.
    ///
    /// Summed over places twice as close as cells: of the few cells inside a small region whole ones are a twentieth.
    pub(super) fn level(&self, mass: f64) -> f64 {
        let place = |i: usize| (i as f64 + 0.5) / (2 * CELLS) as f64;
        let mut sorted: Vec<f64> =
            (0..4 * CELLS * CELLS).map(|i| self.density_at(place(i % (2 * CELLS)), place(i / (2 * CELLS)))).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let enough = mass * sorted.iter().sum::<f64>();
        let mut sum = 0.0;
        for value in &sorted {
            sum += value;
            if sum >= enough {
                return *value;
            }
        }
        0.0
    }

    /// Returns the region above `level` as polygons in the unit square.
    pub(super) fn outlines(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let (mut open, mut closed): (Vec<Outline>, Vec<Outline>) = (Vec::new(), Vec::new());
        for row in 0..CELLS * FINER {
            let runs = self.runs(row, level);
            let goes_on = |(outline, &(from, to)): (&Outline, &(f64, f64))| outline.touches(from, to);
            if runs.len() != open.len() || !open.iter().zip(&runs).all(goes_on) {
                closed.append(&mut open);
                open = runs.iter().map(|_| Outline::default()).collect();
            }
            for (outline, (from, to)) in open.iter_mut().zip(runs) {
                outline.add(row, from, to);
            }
        }
        closed.append(&mut open);
        closed.into_iter().map(Outline::polygon).collect()
    }

    /// Returns the parts of a thin row where the density is above `level`.
    fn runs(&self, row: usize, level: f64) -> Vec<(f64, f64)> {
        let y = (row as f64 + 0.5) / (CELLS * FINER) as f64;
        let above: Vec<f64> = (0..CELLS).map(|x| self.at(x, y) - level).collect();
        // Where the density crosses the level between the middles of two cells.
        let crossing = |x: usize| (x as f64 + 0.5 + above[x] / (above[x] - above[x + 1])) / CELLS as f64;
        let mut runs = Vec::new();
        let mut from = (above[0] >= 0.0).then_some(0.0);
        for x in 0..CELLS - 1 {
            match (from, above[x + 1] >= 0.0) {
                (None, true) => from = Some(crossing(x)),
                (Some(start), false) => {
                    runs.push((start, crossing(x)));
                    from = None;
                }
                _ => {}
            }
        }
        runs.extend(from.map(|start| (start, 1.0)));
        runs
    }

    /// Returns the density in column `x` at height `y`, linear between the middles of cells.
    fn at(&self, x: usize, y: f64) -> f64 {
        let (below, above, share) = neighbours(y);
        (1.0 - share) * self.density[below * CELLS + x] + share * self.density[above * CELLS + x]
    }

    fn density_at(&self, x: f64, y: f64) -> f64 {
        let (left, right, share) = neighbours(x);
        (1.0 - share) * self.at(left, y) + share * self.at(right, y)
    }
}

/// Returns the cells whose middles lie on either side of `v`, and how far it is from the first to the second.
fn neighbours(v: f64) -> (usize, usize, f64) {
    let at = (v * CELLS as f64 - 0.5).clamp(0.0, (CELLS - 1) as f64);
    let below = at.floor() as usize;
    (below, (below + 1).min(CELLS - 1), at - below as f64)
}

/// A part of a region whose rows have one run each: its left and right sides, upwards.
#[derive(Default)]
struct Outline {
    left: Vec<(f64, f64)>,
    right: Vec<(f64, f64)>,
    /// The last row.
    row: usize,
}

impl Outline {
    fn touches(&self, from: f64, to: f64) -> bool {
        let last = self.left.last().zip(self.right.last());
        last.is_some_and(|(left, right)| left.0 <= to && from <= right.0)
    }

    fn add(&mut self, row: usize, from: f64, to: f64) {
        // The first row from its lower end on: no gap to the part below.
        if self.left.is_empty() {
            self.at(row as f64, from, to);
        }
        self.at(row as f64 + 0.5, from, to);
        self.row = row;
    }

    fn at(&mut self, rows: f64, from: f64, to: f64) {
        let y = rows / (CELLS * FINER) as f64;
        self.left.push((from, y));
        self.right.push((to, y));
    }

    fn polygon(mut self) -> Vec<(f64, f64)> {
        // And the last to its upper end.
        if let (Some(left), Some(right)) = (self.left.last(), self.right.last()) {
            self.at(self.row as f64 + 1.0, left.0, right.0);
        }
        self.left.into_iter().chain(self.right.into_iter().rev()).collect()
    }
}

/// Convolution with a Gaussian along lines of `CELLS` values that are `along` apart and begin `across` apart.
fn smooth(values: &[f64], along: usize, across: usize) -> Vec<f64> {
    let reach = (3.0 * WIDTH).ceil() as usize;
    let kernel: Vec<f64> = (0..=reach).map(|k| (-0.5 * (k as f64 / WIDTH).powi(2)).exp()).collect();
    let mut smoothed = vec![0.0; values.len()];
    for start in (0..CELLS).map(|line| line * across) {
        for i in 0..CELLS {
            let mut sum = kernel[0] * values[start + i * along];
            for (k, weight) in kernel.iter().enumerate().skip(1) {
                // Past the ends it is reflected, so that a region that ends there does not shrink.
                let below = if i >= k { i - k } else { k - i - 1 };
                let above = if i + k < CELLS { i + k } else { 2 * CELLS - 1 - i - k };
                sum += weight * (values[start + below * along] + values[start + above * along]);
            }
            smoothed[start + i * along] = sum;
        }
    }
    smoothed
}

/// Points as places in the unit square of two axes; what lies outside or is not finite is left out.
pub(super) fn unit(x: &Axis, y: &Axis, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let share = |axis: &Axis, v: f64| {
        let (low, high) = axis.range();
        (v - low) / (high - low)
    };
    points.filter(|&(a, b)| x.contains(a) && y.contains(b)).map(|(a, b)| (share(x, a), share(y, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normals;

    #[test]
    fn regions_of_a_round_normal_are_discs_of_the_known_size() {
        let mut normals = Normals::new(3);
        let points: Vec<(f64, f64)> =
            (0..60_000).map(|_| (0.5 + 0.1 * normals.next(), 0.5 + 0.1 * normals.next())).collect();
        let inside: Vec<(f64, f64)> =
            points.into_iter().filter(|(x, y)| (0.0..1.0).contains(x) && (0.0..1.0).contains(y)).collect();
        let plane = Plane::of(&inside).unwrap();
        // The shoelace formula.
        let size = |outline: &Vec<(f64, f64)>| -> f64 {
            let next = outline.iter().cycle().skip(1);
            0.5 * outline.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>().abs()
        };
        let area = |mass: f64| -> f64 { plane.outlines(plane.level(mass)).iter().map(size).sum() };
        // The disc with the share m has the area -2 pi s^2 ln(1 - m); smoothing widens s.
        let variance = 0.1f64.powi(2) + (WIDTH / CELLS as f64).powi(2);
        for mass in [0.5, 0.9] {
            let exact = -2.0 * std::f64::consts::PI * variance * (1.0f64 - mass).ln();
            assert!((area(mass) / exact - 1.0).abs() < 0.03, "{mass}: {} {exact}", area(mass));
        }
    }

    #[test]
    fn a_region_may_reach_the_edge_and_have_parts() {
        let even: Vec<(f64, f64)> = (0..48 * 48).map(|i| ((i % 48) as f64 / 48.0, (i / 48) as f64 / 48.0)).collect();
        let plane = Plane::of(&even).unwrap();
        let whole = plane.outlines(0.5 * plane.level(0.5));
        assert_eq!(whole.len(), 1);
        assert!([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].iter().all(|corner| whole[0].contains(corner)));
        let two = Plane::of(&[(0.1, 0.5), (0.9, 0.5)]).unwrap();
        assert_eq!(two.outlines(two.level(0.9)).len(), 2);
        assert!(Plane::of(&[]).is_none());
        let corner = Plane::of(&[(1.0, 1.0)]).unwrap();
        assert!(corner.outlines(corner.level(0.9))[0].contains(&(1.0, 1.0)));
    }

    /// Cells have their middles at 0.5, 1.5, ... of 48.
    #[test]
    fn densities_are_read_between_the_middles_of_cells() {
        let places = [0.0, 0.5 / 48.0, 0.5, 47.5 / 48.0, 1.0].map(neighbours);
        assert_eq!(places, [(0, 1, 0.0), (0, 1, 0.0), (23, 24, 0.5), (47, 47, 0.0), (47, 47, 0.0)]);
    }
}
