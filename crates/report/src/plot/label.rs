//! Labels beside points, where they cover neither each other nor what is drawn.

use std::collections::BTreeMap;

use super::palette::MUTED;
use super::panel::Panel;
use super::scene::{Align, Point, Scene, Text};

/// A rectangle: its upper left and its lower right corner.
type Corners = (Point, Point);

/// The places where labels may go, and those that are taken.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    inside: Panel,
    /// The rectangles that no label may cover.
    taken: Vec<Corners>,
    /// The rectangles that no leader may cross: points and labels.
    solid: Vec<Corners>,
    /// Lines from points to their labels.
    leaders: Vec<(Point, Point)>,
}

/// The place of a label, and the line that leads to it.
#[derive(Clone, Copy, Debug)]
struct Spot {
    corners: Corners,
    leader: Option<(Point, Point)>,
}

/// Directions in the order in which they are tried: right, left, above, below, between these, and between those.
const WAYS: [Point; 16] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (1.0, -1.0),
    (1.0, 1.0),
    (-1.0, -1.0),
    (-1.0, 1.0),
    (1.0, -0.5),
    (1.0, 0.5),
    (-1.0, -0.5),
    (-1.0, 0.5),
    (0.5, -1.0),
    (0.5, 1.0),
    (-0.5, -1.0),
    (-0.5, 1.0),
];
/// Distances from a point to the near edge of its label; a label that is farther off than the first has a line that
/// leads to it.
const DISTANCES: [f64; 9] = [17.0, 28.0, 46.0, 70.0, 98.0, 130.0, 165.0, 205.0, 250.0];

impl Labels {
    pub(super) fn new(inside: Panel) -> Self {
        Self { inside, taken: Vec::new(), solid: Vec::new(), leaders: Vec::new() }
    }

    /// No label will cover the rectangle between two opposite corners.
    pub(super) fn keep_free(&mut self, a: Point, b: Point) {
        self.taken.push(((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1))));
    }

    /// No label will cover the square of half-width `radius` about `at`, and no line to another point's label.
    pub(super) fn keep_point(&mut self, at: Point, radius: f64) {
        let square = ((at.0 - radius, at.1 - radius), (at.0 + radius, at.1 + radius));
        self.taken.push(square);
        self.solid.push(square);
    }

    /// No label will cover the straight line between two points.
    pub(super) fn keep_line(&mut self, from: Point, to: Point) {
        const STEP: f64 = 12.0;
        let steps = (distance(from, to) / STEP).ceil().max(1.0);
        let at = |i: f64| (from.0 + (to.0 - from.0) * i / steps, from.1 + (to.1 - from.1) * i / steps);
        for i in 0..steps as usize {
            self.keep_free(at(i as f64), at((i + 1) as f64));
        }
    }

    /// Writes `text` as near to `at` as it fits; false when it fits nowhere near, and is left out.
    pub(super) fn place(&mut self, scene: &mut Scene, at: Point, text: Text) -> bool {
        let found = self.find(at, &text);
        if let Some(spot) = found {
            self.take(spot);
            spot.draw(scene, text);
        }
        found.is_some()
    }

    /// Writes each text near its point if all of them find a place, or none; returns whether it did. What comes first leaves
    /// less room for the others: some orders are tried.
    pub(super) fn place_all(&mut self, scene: &mut Scene, texts: &[(Point, Text)]) -> bool {
        const ORDERS: usize = 40;
        /// More texts have fewer orders: each takes a time that grows with their square.
        const PLACES: usize = 2000;
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let mut random = 1u64;
        for _ in 0..(PLACES / texts.len().max(1)).clamp(1, ORDERS) {
            if let Some((labels, spots)) = self.attempt(texts, &order) {
                *self = labels;
                spots.into_iter().for_each(|(i, spot)| spot.draw(scene, texts[i].1.clone()));
                return true;
            }
            for k in (1..order.len()).rev() {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(k, (random >> 33) as usize % (k + 1));
            }
        }
        false
    }

    /// Returns the labels with all texts, placed in this order, and where each is, in the order given.
    fn attempt(&self, texts: &[(Point, Text)], order: &[usize]) -> Option<(Self, BTreeMap<usize, Spot>)> {
        let (mut labels, mut spots) = (self.clone(), BTreeMap::new());
        for &i in order {
            let spot = labels.find(texts[i].0, &texts[i].1)?;
            labels.take(spot);
            spots.insert(i, spot);
        }
        Some((labels, spots))
    }

    /// Returns the nearest place for `text` by the point `at`.
    fn find(&self, at: Point, text: &Text) -> Option<Spot> {
        let (width, height) = (text.width(), 1.15 * text.size);
        for (step, away) in DISTANCES.into_iter().enumerate() {
            for way in WAYS {
                // Aslant a label is as far off as straight on.
                let reach = away / distance((0.0, 0.0), way);
                let side = if way.0 == 0.0 { 0.0 } else { way.0.signum() };
                let x = at.0 + way.0 * reach + (side - 1.0) * 0.5 * width;
                let y = at.1 + way.1 * (reach + 0.5 * height);
                let corners = ((x, y - 0.5 * height), (x + width, y + 0.5 * height));
                let leader = (step > 0).then(|| leader(at, corners));
                if self.free(corners) && leader.is_none_or(|leader| self.clear(at, leader)) {
                    return Some(Spot { corners, leader });
                }
            }
        }
        None
    }

    fn take(&mut self, spot: Spot) {
        self.taken.push(spot.corners);
        self.solid.push(spot.corners);
        if let Some(leader) = spot.leader {
            self.leaders.push(leader);
            self.keep_line(leader.0, leader.1);
        }
    }

    fn free(&self, corners: Corners) -> bool {
        let ((left, top), (right, bottom)) = corners;
        let Panel { left: first, top: highest, right: last, bottom: lowest } = self.inside;
        left >= first
            && right <= last
            && top >= highest
            && bottom <= lowest
            && self.taken.iter().all(|&((l, t), (r, b))| right <= l || r <= left || bottom <= t || b <= top)
    }

    /// Returns whether a leader from `at` crosses no other one, no label and no point but those that `at` is in.
    fn clear(&self, at: Point, leader: (Point, Point)) -> bool {
        let within = |&((l, t), (r, b)): &Corners| l <= at.0 && at.0 <= r && t <= at.1 && at.1 <= b;
        self.leaders.iter().all(|&other| !cross(leader, other))
            && self.solid.iter().all(|corners| within(corners) || !enters(leader, *corners))
    }
}

impl Spot {
    fn draw(self, scene: &mut Scene, text: Text) {
        if let Some((from, to)) = self.leader {
            scene.line(vec![from, to], MUTED, 1.5);
        }
        let ((left, top), (_, bottom)) = self.corners;
        scene.text(Text { at: (left, 0.5 * (top + bottom)), ..text }.align(Align::Left));
    }
}

/// Returns the line from the rim of the point `at` to just before the nearest edge of its label.
fn leader(at: Point, ((left, top), (right, bottom)): Corners) -> (Point, Point) {
    const GAP: f64 = 4.0;
    let end = (at.0.clamp(left, right), at.1.clamp(top, bottom));
    let length = distance(at, end).max(1.0);
    let along = |d: f64| (at.0 + (end.0 - at.0) * d / length, at.1 + (end.1 - at.1) * d / length);
    (along(0.6 * DISTANCES[0]), along(length - GAP))
}

fn distance(a: Point, b: Point) -> f64 {
    ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt()
}

/// Returns whether two straight lines have a point in common.
fn cross((a, b): (Point, Point), (c, d): (Point, Point)) -> bool {
    let side = |from: Point, to: Point, p: Point| (to.0 - from.0) * (p.1 - from.1) - (to.1 - from.1) * (p.0 - from.0);
    side(a, b, c) * side(a, b, d) <= 0.0 && side(c, d, a) * side(c, d, b) <= 0.0
}

/// Returns whether a straight line has a point inside a rectangle.
fn enters(line: (Point, Point), ((left, top), (right, bottom)): Corners) -> bool {
    let inside = |p: Point| left < p.0 && p.0 < right && top < p.1 && p.1 < bottom;
    let diagonals = [((left, top), (right, bottom)), ((left, bottom), (right, top))];
    inside(line.0) || inside(line.1) || diagonals.into_iter().any(|diagonal| cross(line, diagonal))
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

    /// Each direction and, for each, those with the other signs.
    #[test]
    fn sixteen_ways_are_tried() {
        let all: Vec<(u64, u64)> = WAYS.iter().map(|way| (way.0.to_bits(), way.1.to_bits())).collect();
        for (x, y) in WAYS {
            for mirrored in [(x, y), (-x, y), (x, -y)] {
                // 0 and -0 are one.
                let (x, y) = (mirrored.0 + 0.0, mirrored.1 + 0.0);
                assert_eq!(all.iter().filter(|way| **way == (x.to_bits(), y.to_bits())).count(), 1, "{x} {y}");
            }
        }
    }

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
        let names = &labels.solid[points.len()..];
        assert!(names.len() == written && labels.leaders.len() > 2);
        assert!(labels.leaders.iter().all(|&leader| names.iter().all(|&name| !enters(leader, name))));
    }

    /// In the order given the first label takes the only place of the second.
    #[test]
    fn another_order_leaves_none_out() {
        let text = || Text::new((0.0, 0.0), "name", 20.0, INK);
        let width = text().width();
        // Room for a label left of the first point, and for one between them.
        let texts = [((width + 20.0, 13.0), text()), ((2.0 * width + 60.0, 13.0), text())];
        let mut labels = Labels::new(Panel { left: 0.0, top: 0.0, right: 2.0 * width + 70.0, bottom: 26.0 });
        texts.iter().for_each(|(at, _)| labels.keep_point(*at, 7.0));
        let (mut one_by_one, mut scene) = (labels.clone(), Scene::new(300.0, 26.0, ""));
        assert!(one_by_one.place(&mut scene, texts[0].0, text()) && !one_by_one.place(&mut scene, texts[1].0, text()));
        let mut scene = Scene::new(300.0, 26.0, "");
        assert!(labels.place_all(&mut scene, &texts));
        assert_eq!((labels.solid.len(), flaws(&scene)), (4, Vec::new()));
    }

    #[test]
    fn lines_avoid_labels_in_a_crowd() {
        let name = |text: &str| Text::new((0.0, 0.0), text, 21.0, INK);
        let texts = [
            ((242.5, 347.5), name("400 x 20 (many-short)").bold()),
            ((249.5, 268.5), name("auto: 64 x 125 (many-short)").bold()),
            ((260.5, 299.5), name("4 x 2000 (many-short)")),
            ((441.0, 294.0), name("16 x 500 (many-short)")),
            ((271.0, 334.0), name("standardised effects, low-rank")),
            ((253.0, 318.0), name("standardised effects, diagonal")),
        ];
        let mut labels = Labels::new(Panel { left: 130.0, top: 216.0, right: 1760.0, bottom: 976.0 });
        texts.iter().for_each(|(at, _)| labels.keep_point(*at, 7.0));
        let mut scene = Scene::new(1800.0, 1000.0, "");
        assert!(labels.place_all(&mut scene, &texts));
        let names = &labels.solid[texts.len()..];
        assert!(names.len() == texts.len() && labels.leaders.len() > 2);
        for leader in &labels.leaders {
            assert!(names.iter().all(|&name| !enters(*leader, name)), "{leader:?} {names:?}");
        }
        // More than have room here: none is written.
        let crowd: Vec<(Point, Text)> = (0..60).map(|i| ((250.0 + f64::from(i), 300.0), name("many-short"))).collect();
        let mut scene = Scene::new(1800.0, 1000.0, "");
        assert!(
            !labels.place_all(&mut scene, &crowd) && scene.shapes.is_empty() && labels.solid.len() == 2 * texts.len()
        );
    }

    #[test]
    fn lines_and_rectangles() {
        let line = ((0.0, 0.0), (10.0, 10.0));
        assert!(cross(line, ((0.0, 10.0), (10.0, 0.0))) && !cross(line, ((0.0, 1.0), (8.0, 9.0))));
        let touching = ((0.0, 10.0), (5.0, 5.0));
        assert!(cross(line, touching) && cross(touching, line), "an end on the other line is a point in common");
        assert!(enters(line, ((4.0, 4.0), (5.0, 5.0))) && enters(line, ((4.0, 0.0), (5.0, 20.0))));
        let square = ((0.0, 0.0), (10.0, 10.0));
        for outside in [
            ((-5.0, 5.0), (0.0, 5.0)),
            ((10.0, 5.0), (15.0, 5.0)),
            ((5.0, -5.0), (5.0, 0.0)),
            ((5.0, 10.0), (5.0, 15.0)),
        ] {
            assert!(!enters(outside, square), "a point of the edge is not inside: {outside:?}");
        }
        assert!(enters(line, ((-5.0, -5.0), (1.0, 1.0))) && !enters(line, ((5.0, 0.0), (9.0, 4.0))));
        // It ends, or begins, just inside.
        let corner = ((9.0, 2.0), (90.0, 12.0));
        assert!(enters(line, corner) && enters((line.1, line.0), corner));
    }

    #[test]
    fn heights_are_spread_inside_the_range() {
        assert_eq!(spread(&[50.0, 52.0, 10.0], 20.0, (0.0, 100.0)), [50.0, 70.0, 10.0]);
        assert_eq!(spread(&[99.0, 98.0, 97.0], 20.0, (0.0, 100.0)), [100.0, 80.0, 60.0]);
        assert!(spread(&[], 20.0, (0.0, 100.0)).is_empty());
    }
}
