//! Curves as the data of an SVG path: from point to point in whole numbers, which are short.

use std::fmt::Write;

/// A place in the units of the drawing.
pub(super) type Place = (i32, i32);

/// Adds a subpath through `places`, or as many of them as can be told apart. Steps of no length are left out,
/// and steps that go on in the same direction are one.
pub(super) fn add(data: &mut String, places: &[Place], closed: bool, tolerance: f64) {
    let places = visible(places, tolerance);
    let Some((&(x, y), rest)) = places.split_first() else { return };
    number(data, "M", x);
    number(data, "", y);
    let mut steps: Vec<Place> = Vec::with_capacity(rest.len());
    let mut last = (x, y);
    for &place in rest {
        let step = (place.0 - last.0, place.1 - last.1);
        last = place;
        match steps.last_mut() {
            _ if step == (0, 0) => {}
            Some(before) if same_direction(*before, step) => *before = (before.0 + step.0, before.1 + step.1),
            _ => steps.push(step),
        }
    }
    let mut letter = "";
    for (dx, dy) in steps {
        let (next, values) = match (dx, dy) {
            (dx, 0) => ("h", [Some(dx), None]),
            (0, dy) => ("v", [Some(dy), None]),
            (dx, dy) => ("l", [Some(dx), Some(dy)]),
        };
        // A letter holds until another comes.
        let mut lead = if next == letter { "" } else { next };
        letter = next;
        for value in values.into_iter().flatten() {
            number(data, lead, value);
            lead = "";
        }
    }
    if closed {
        data.push('z');
    }
}

/// Returns the places that a curve needs (Ramer 1972, Douglas and Peucker 1973): between two of them none of the others
/// is further than `tolerance` from the straight line.
fn visible(places: &[Place], tolerance: f64) -> Vec<Place> {
    if places.len() < 3 {
        return places.to_vec();
    }
    let last = places.len() - 1;
    let mut needed = vec![false; places.len()];
    (needed[0], needed[last]) = (true, true);
    let mut spans = vec![(0, last)];
    while let Some((from, to)) = spans.pop() {
        let distances = (from + 1..to).map(|i| (distance(places[i], places[from], places[to]), i));
        if let Some((furthest, middle)) = distances.max_by(|a, b| a.0.total_cmp(&b.0))
            && furthest > tolerance
        {
            needed[middle] = true;
            spans.extend([(from, middle), (middle, to)]);
        }
    }
    places.iter().zip(needed).filter(|(_, needed)| *needed).map(|(&place, _)| place).collect()
}

/// Returns the distance from `place` to the nearest point between `a` and `b`.
fn distance(place: Place, a: Place, b: Place) -> f64 {
    let vector = |from: Place, to: Place| (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let ((abx, aby), (apx, apy)) = (vector(a, b), vector(a, place));
    let length = abx * abx + aby * aby;
    let along = if length > 0.0 { ((apx * abx + apy * aby) / length).clamp(0.0, 1.0) } else { 0.0 };
    ((apx - along * abx).powi(2) + (apy - along * aby).powi(2)).sqrt()
}

/// Adds a dot: a step of no length, which round caps make a disc.
pub(super) fn add_dot(data: &mut String, (x, y): Place) {
    number(data, "M", x);
    number(data, "", y);
    data.push_str("h0");
}

fn same_direction(a: Place, b: Place) -> bool {
    let (ax, ay, bx, by) = (i64::from(a.0), i64::from(a.1), i64::from(b.0), i64::from(b.1));
    ax * by == ay * bx && ax * bx + ay * by > 0
}

/// `value` after `letter`; after another number with what keeps them apart, for which a minus sign does.
fn number(data: &mut String, letter: &str, value: i32) {
    if letter.is_empty() && value >= 0 {
        data.push(' ');
    }
    // Writing to a string cannot fail.
    let _ = write!(data, "{letter}{value}");
}

#[cfg(test)]
mod tests {
    use super::super::TOLERANCE;
    use super::*;

    fn data(places: &[Place], closed: bool) -> String {
        let mut data = String::new();
        add(&mut data, places, closed, TOLERANCE);
        data
    }

    #[test]
    fn steps_are_short_and_those_in_one_direction_are_one() {
        assert_eq!(data(&[(10, 20), (12, 15), (11, 16)], false), "M10 20l2-5-1 1");
        assert_eq!(data(&[(0, 5), (1, 5), (3, 5), (3, 5), (3, -1), (5, 1)], false), "M0 5h3v-6l2 2");
        assert_eq!(data(&[(0, 0), (1, 2), (2, 4), (1, 2)], false), "M0 0l2 4-1-2", "there and back are two");
        let arc: Vec<Place> =
            (0..=400).map(|x| (x, (40_000.0 - f64::from((x - 200) * (x - 200))).sqrt().round() as i32)).collect();
        let drawn = visible(&arc, TOLERANCE);
        assert!(drawn.len() < 60, "{}", drawn.len());
        let off = |place: &Place| {
            drawn.windows(2).map(|pair| distance(*place, pair[0], pair[1])).fold(f64::INFINITY, f64::min)
        };
        assert!(arc.iter().all(|place| off(place) <= TOLERANCE));
        assert_eq!(data(&[(1, 1), (5, 1), (5, 3), (1, 3)], true), "M1 1h4v2h-4z");
        assert_eq!(data(&[(-1, -1)], false), "M-1-1");
        assert_eq!(data(&[(1, 1), (1, 1)], false), "M1 1");
        assert_eq!(data(&[], false), "");
        // Three on a line that is parallel to the first step of the search, which rounding keeps all.
        assert_eq!(data(&[(0, 0), (9, 2), (16, 11), (23, 20), (35, 45)], false), "M0 0l9 2 14 18 12 25");
        assert_eq!(visible(&[(0, 0), (50, 0), (100, 1)], TOLERANCE), [(0, 0), (100, 1)], "half a unit off the line");
    }

    #[test]
    fn steps_have_one_direction_where_one_is_a_positive_multiple_of_the_other() {
        for (a, b) in [((1, 2), (2, 4)), ((1, -5), (2, -10)), ((3, 0), (1, 0)), ((0, -2), (0, -7))] {
            assert!(same_direction(a, b), "{a:?} {b:?}");
        }
        for (a, b) in [((1, 2), (-2, -4)), ((1, 2), (2, 1)), ((2, 0), (0, 3)), ((1, 2), (1, 3)), ((1, 1), (0, 0))] {
            assert!(!same_direction(a, b), "{a:?} {b:?}");
        }
    }
}
