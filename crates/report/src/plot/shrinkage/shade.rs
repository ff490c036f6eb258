//! More points than can be told apart: small squares, the darker the more points lie in them.

use std::collections::BTreeMap;

use super::super::palette::{BLUE, Colour, SKY};
use super::super::scene::{Point, Scene};

/// A square's side in pixels.
const SIDE: f64 = 9.0;
/// The shades from the palest to the darkest: a quarter of the points lie in squares of each.
const SHADES: [(Colour, f64); 4] = [(SKY, 0.4), (SKY, 0.9), (BLUE, 0.75), (BLUE, 1.0)];

/// Draws squares for all points.
pub(super) fn draw(scene: &mut Scene, points: impl IntoIterator<Item = Point>) {
    let mut counts: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for (x, y) in points {
        *counts.entry(((x / SIDE).floor() as i64, (y / SIDE).floor() as i64)).or_default() += 1;
    }
    let highest = counts.values().copied().max().unwrap_or(1) as f64;
    for (&(column, row), &n) in &counts {
        // The square root: where few points lie is what a reader looks for.
        let step = ((n as f64 / highest).sqrt() * SHADES.len() as f64).ceil() as usize;
        let (colour, opacity) = SHADES[step.clamp(1, SHADES.len()) - 1];
        let (x, y) = (column as f64 * SIDE, row as f64 * SIDE);
        scene.rect((x, y), (x + SIDE, y + SIDE), colour, opacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_few() {
        let mut scene = Scene::new(900.0, 900.0, "");
        draw(&mut scene, (0..100_000).map(|i| (f64::from(i % 90), f64::from(i / 9000 * 9))));
        assert_eq!(scene.shapes.len(), 10 * 12);
    }
}
