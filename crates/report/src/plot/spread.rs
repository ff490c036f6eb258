//! Many series in one panel: at each place their range, the middle nine tenths, and the median.

use super::axis::Axis;
use super::palette::{BLUE, PALE, SKY};
use super::panel::Keys;
use super::scene::{Point, Scene};
use octopus_diag::quantile_of_sorted;

/// The lowest value, the 5%, 50% and 95% quantiles, and the highest value at each place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread(Vec<[f64; 5]>);

impl Spread {
    /// Summarises series of `places` values; values that are NaN are left out, and a place without any is NaN.
    pub(super) fn measure<'a>(series: impl Iterator<Item = &'a [f64]> + Clone, places: usize) -> Self {
        let at = |place: usize| {
            let mut values: Vec<f64> = series.clone().filter_map(|one| one.get(place).copied()).collect();
            values.retain(|v| !v.is_nan());
            values.sort_by(f64::total_cmp);
            [0.0, 0.05, 0.5, 0.95, 1.0].map(|p| quantile_of_sorted(&values, p))
        };
        Self((0..places).map(at).collect())
    }

    /// Returns the five numbers at each place.
    pub(super) fn places(&self) -> &[[f64; 5]] {
        &self.0
    }

    /// Two bands and a line above the places `x`, in pixels.
    pub(super) fn draw(&self, scene: &mut Scene, x: &[f64], y: &Axis) {
        for run in self.defined() {
            let side = |which: usize| run.clone().map(move |i| (x[i], y.px(self.0[i][which])));
            for (low, high, colour) in [(0, 4, PALE), (1, 3, SKY)] {
                let band: Vec<Point> = side(high).chain(side(low).rev()).collect();
                if run.len() > 1 {
                    scene.area(band, colour, 1.0);
                } else {
                    scene.line(band, colour, 6.0);
                }
            }
            match (run.len(), side(2).next()) {
                (1, Some(at)) => scene.disc(at, 4.0, BLUE),
                _ => scene.line(side(2).collect(), BLUE, 3.0),
            }
        }
    }

    /// Runs of places where there is a value.
    fn defined(&self) -> Vec<std::ops::Range<usize>> {
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for i in (0..self.0.len()).filter(|&i| self.0[i].iter().all(|v| !v.is_nan())) {
            match runs.last_mut() {
                Some(run) if run.end == i => run.end = i + 1,
                _ => runs.push(i..i + 1),
            }
        }
        runs
    }
}

/// Draws the key of the colours, for `what`.
pub(super) fn spread_key(scene: &mut Scene, keys: &mut Keys, what: &str) {
    keys.stroke(scene, BLUE, false, &format!("median of {what}"));
    keys.stroke(scene, SKY, false, "5% to 95% of them");
    keys.stroke(scene, PALE, false, "lowest to highest");
}

#[cfg(test)]
mod tests {
    use super::super::scene::Shape;
    use super::*;

    #[test]
    fn a_place_alone_has_bands_that_are_upright_lines_and_a_dot() {
        let y = Axis::linear((0.0, 10.0), 100.0, 0.0);
        let mut scene = Scene::new(100.0, 100.0, "");
        Spread(vec![[1.0, 2.0, 3.0, 4.0, 5.0]]).draw(&mut scene, &[50.0], &y);
        let band = |high: f64, low: f64, colour| Shape::Line {
            points: vec![(50.0, high), (50.0, low)],
            colour,
            width: 6.0,
            opacity: 1.0,
        };
        let median = Shape::Disc { at: (50.0, 70.0), radius: 4.0, colour: BLUE };
        assert_eq!(scene.shapes, [band(50.0, 90.0, PALE), band(60.0, 80.0, SKY), median]);
    }

    #[test]
    fn quantiles_at_each_place_leave_nan_out() {
        let series = [vec![0.0, f64::NAN, 1.0], vec![1.0, f64::NAN, f64::NAN], vec![2.0, f64::NAN, 3.0]];
        let spread = Spread::measure(series.iter().map(Vec::as_slice), 3);
        assert_eq!(spread.places()[0], [0.0, 0.1, 1.0, 1.9, 2.0]);
        assert!(spread.places()[1][2].is_nan());
        assert_eq!(spread.places()[2][2], 2.0);
        assert_eq!(spread.defined(), [0..1, 2..3]);
    }
}
