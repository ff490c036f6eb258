//! Drawing of the rank histograms of a calibration, with their caption.

use super::super::axis::extent;
use super::super::palette::{BLUE, MUTED, SHADE, VERMILLION};
use super::super::panel::{MARGIN, WIDTH, head};
use super::super::scene::Scene;
use super::super::{About, Plot, Subject};
use super::{RankPanel, RankPlot, height, near_one, place};
use crate::error::ReportError;

const CAPTION: &str = "How many data sets have each rank; a calibrated quantity is flat.";

impl Plot for RankPlot {
    fn about(&self) -> About {
        About::new(Subject::Calibration, "rank_histogram", "Ranks of true values: histograms", CAPTION)
    }

    fn scene(&self) -> Result<Scene, ReportError> {
        let counts = self.panels.iter().flat_map(|panel| panel.counts.iter().copied().chain([panel.expected.1]));
        let Some((_, highest)) = extent(counts.map(|n| n as f64)) else {
            return Err(ReportError::Empty { plot: "the rank plot", missing: "data sets with ranks" });
        };
        let mut scene = Scene::new(WIDTH, 0.0, "Ranks of true values: histograms");
        let note = format!(
            "data sets by rank: a hill says that draws are too wide, a valley too narrow, a slope biased; shade: {} of the bins when flat",
            near_one(self.coverage)
        );
        let top = head(&mut scene, "Ranks of true values: histograms", &note);
        scene.height = height(top, self.panels.len()) - MARGIN + 20.0;
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
