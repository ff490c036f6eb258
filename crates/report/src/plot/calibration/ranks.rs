//! Drawing of the rank histograms of a calibration, with their caption.

use super::super::axis::extent;
use super::super::palette::{BLUE, MUTED, SHADE, VERMILLION};
use super::super::panel::{MARGIN, head};
use super::super::scene::Scene;
use super::super::{About, PictureWidth, Plot, Subject};
use super::{RankPanel, RankPlot, height, near_one, place};
use crate::error::ReportError;

const CAPTION: &str = "How many data sets have each rank; a calibrated quantity is flat.";

impl Plot for RankPlot {
    fn about(&self) -> About {
        About::new(Subject::Calibration, "rank_histogram", "Ranks of true values: histograms", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let counts = self.panels.iter().flat_map(|panel| panel.counts.iter().copied().chain([panel.expected.1]));
        let Some((_, highest)) = extent(counts.map(|n| n as f64)) else {
            return Err(ReportError::Empty { plot: "the rank plot", missing: "data sets with ranks" });
        };
        let mut scene = Scene::new(width.pixels(), 0.0, "Ranks of true values: histograms");
        let note = format!(
            "data sets by rank: a hill says that draws are too wide, a valley too narrow, a slope biased; shade: {} of the bins when flat",
            near_one(self.coverage)
        );
        let top = head(&mut scene, "Ranks of true values: histograms", &note);
        scene.height = height(&scene, top, self.panels.len()) - MARGIN + 20.0;
        for (i, panel) in self.panels.iter().enumerate() {
            draw(&mut scene, panel, i, top, 1.06 * highest.max(1.0));
        }
        Ok(scene)
    }
}

fn draw(scene: &mut Scene, panel: &RankPanel, index: usize, top: f64, highest: f64) {
    let inside = place(scene, &panel.heading, index, top);
    let (x, y) = (inside.x((0.0, 1.0)), inside.y((0.0, highest)));
    inside.draw_y(scene, &y);
    let (low, high) = panel.expected;
    let (left, right) = (inside.left, inside.right);
    scene.rect((left, y.px(high as f64)), (right, y.px(low as f64)), SHADE, 0.55);
    let bins = panel.counts.len().max(1) as f64;
    let colour = if panel.heading.uniform { BLUE } else { VERMILLION };
    for (i, &count) in panel.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let edge = |i: f64| left + (right - left) * i / bins;
        let (from, to) = (edge(i as f64) + 1.0, edge(i as f64 + 1.0) - 1.0);
        scene.rect((from, y.px(count as f64)), (to, inside.bottom), colour, 0.5);
    }
    let mean = panel.counts.iter().sum::<u64>() as f64 / bins;
    scene.dashed((left, y.px(mean)), (right, y.px(mean)), MUTED, 2.0);
    inside.draw_x(scene, &x);
    inside.name_x(scene, "rank, as a share of the draws kept");
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::Shape;
    use super::super::RankHeading;
    use super::*;

    /// The panel goes from 90 to 90 + 1450 / 3 and from 222 down to 468; the highest bar leaves 6% above it.
    #[test]
    fn bars_stand_a_pixel_apart_on_their_bins() {
        let heading = RankHeading { name: "mu".to_owned(), p_value: 0.001, uniform: false };
        let panel = RankPanel { heading, counts: vec![4, 0, 2], expected: (1, 3) };
        let scene = RankPlot { coverage: 0.99, panels: vec![panel] }.scene().unwrap();
        assert_eq!(scene.height, 580.0);
        let y = |count: f64| 468.0 - 246.0 * count / 4.24;
        let (right, third) = (90.0 + 1450.0 / 3.0, 1450.0 / 9.0);
        let corners: Vec<[f64; 4]> = (scene.shapes.iter())
            .filter_map(|shape| match shape {
                Shape::Area { points, .. } => Some([points[0].0, points[0].1, points[2].0, points[2].1]),
                _ => None,
            })
            .collect();
        let expected = [
            [90.0, y(3.0), right, y(1.0)],
            [91.0, y(4.0), 89.0 + third, 468.0],
            [91.0 + 2.0 * third, y(2.0), right - 1.0, 468.0],
        ];
        assert_eq!(corners.len(), expected.len());
        for (corner, expected) in corners.iter().flatten().zip(expected.iter().flatten()) {
            assert!((corner - expected).abs() < 1e-9, "{corners:?}");
        }
        let mean = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Line { points, width, .. } if *width == 2.0 => Some(points[0].1),
            _ => None,
        });
        assert!((mean.unwrap() - y(2.0)).abs() < 1e-9, "{mean:?}");
    }
}
