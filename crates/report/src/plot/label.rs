//! Labels beside points, where they cover neither each other nor what is drawn.

use super::palette::SHADE;
use super::panel::Panel;
use super::scene::{Align, Point, Scene, Text};

/// Where labels may go, and what is taken.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    inside: Panel,
    taken: Vec<(Point, Point)>,
}

/// Directions in the order in which they are tried: right, left, above, below, and between these.
const WAYS: [Point; 8] =
    [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)];
/// From a point to the near edge of its label; a label further off than the first has a line that leads to it.
const DISTANCES: [f64; 5] = [17.0, 28.0, 46.0, 70.0, 98.0];

impl Labels {
    pub(super) fn new(inside: Panel) -> Self {
        Self { inside, taken: Vec::new() }
    }

    /// No label will cover the rectangle between two opposite corners.
    pub(super) fn keep_free(&mut self, a: Point, b: Point) {
        self.taken.push(((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1))));
    }

    /// No label will cover the square of half-width `radius` about `at`.
    pub(super) fn keep_point(&mut self, at: Point, radius: f64) {
        self.keep_free((at.0 - radius, at.1 - radius), (at.0 + radius, at.1 + radius));
    }

    /// No label will cover the straight line between two points.
    pub(super) fn keep_line(&mut self, from: Point, to: Point) {
        const STEP: f64 = 12.0;
        let steps = (((to.0 - from.0).powi(2) + (to.1 - from.1).powi(2)).sqrt() / STEP).ceil().max(1.0);
        let at = |i: f64| (from.0 + (to.0 - from.0) * i / steps, from.1 + (to.1 - from.1) * i / steps);
        for i in 0..steps as usize {
            self.keep_free(at(i as f64), at((i + 1) as f64));
        }
    }

    /// Writes `text` as near to `at` as it fits; false when it fits nowhere near, and is left out.
    pub(super) fn place(&mut self, scene: &mut Scene, at: Point, text: Text) -> bool {
        let (width, height) = (text.width(), 1.15 * text.size);
        for (step, distance) in DISTANCES.into_iter().enumerate() {
            for (dx, dy) in WAYS {
                // Aslant a label is as far off as straight on.
                let reach = if dx == 0.0 || dy == 0.0 { distance } else { 0.7 * distance };
                let x = at.0 + dx * reach + if dx == 0.0 { -0.5 * width } else { (dx - 1.0) * 0.5 * width };
                let y = at.1 + dy * (reach + 0.5 * height);
                let corners = ((x, y - 0.5 * height), (x + width, y + 0.5 * height));
                if !self.free(corners) {
                    continue;
                }
                if step > 0 {
                    // From the rim of the point to just before the words.
                    let along = |distance: f64| (at.0 + dx * distance, at.1 + dy * distance);
                    scene.line(vec![along(0.6 * DISTANCES[0]), along(0.92 * reach)], SHADE, 1.5);
                }
                scene.text(Text { at: (x, y), ..text }.align(Align::Left));
                self.taken.push(corners);
                return true;
            }
        }
        false
    }

    fn free(&self, ((left, top), (right, bottom)): (Point, Point)) -> bool {
        let Panel { left: first, top: highest, right: last, bottom: lowest } = self.inside;
        left >= first
            && right <= last
            && top >= highest
            && bottom <= lowest
            && self.taken.iter().all(|&((l, t), (r, b))| right <= l || r <= left || bottom <= t || b <= top)
    }
}

/// Heights for labels that belong at `wanted`, at least `apart` from each other and inside the range, in the order given.
pub(super) fn spread(wanted: &[f64], apart: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = vec![0.0; wanted.len()];
    let mut next = low;
    for &i in &order {
        places[i] = wanted[i].max(next);
        next = places[i] + apart;
    }
    // What was pushed out at the end comes back, and pushes the others.
    let mut next = high;
    for &i in order.iter().rev() {
        places[i] = places[i].min(next);
        next = places[i] - apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::palette::INK;
    use super::super::scene::flaws;
    use super::*;

    #[test]
    fn labels_of_near_points_lie_apart_or_are_left_out() {
        let mut scene = Scene::new(300.0, 200.0, "");
        let mut labels = Labels::new(Panel { left: 0.0, top: 0.0, right: 300.0, bottom: 200.0 });
        let points: Vec<Point> =
            (0..60).map(|i| (140.0 + f64::from(i % 8) * 4.0, 90.0 + f64::from(i / 8) * 3.0)).collect();
        points.iter().for_each(|&at| labels.keep_point(at, 3.0));
        let written =
            points.iter().filter(|&&at| labels.place(&mut scene, at, Text::new((0.0, 0.0), "name", 20.0, INK)));
        let written = written.count();
        assert!((4..60).contains(&written), "{written}");
        assert_eq!(flaws(&scene), [""; 0]);
    }

    #[test]
    fn heights_are_spread_inside_the_range() {
        assert_eq!(spread(&[50.0, 52.0, 10.0], 20.0, (0.0, 100.0)), [50.0, 70.0, 10.0]);
        assert_eq!(spread(&[99.0, 98.0, 97.0], 20.0, (0.0, 100.0)), [100.0, 80.0, 60.0]);
        assert!(spread(&[], 20.0, (0.0, 100.0)).is_empty());
    }
}
