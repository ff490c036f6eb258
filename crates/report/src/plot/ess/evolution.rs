//! Drawing of effective sample sizes (ESS) against draws, with its caption.

use super::super::axis::extent;
use super::super::grid::{Grid, say};
use super::super::palette::{BLUE, ORANGE, VERMILLION};
use super::super::panel::{Keys, Panel, head};
use super::super::scene::Scene;
use super::super::{About, PictureWidth, Plot, Subject, choose};
use super::{EssEvolutionPanel, EssEvolutionPlot};
use crate::error::ReportError;
use crate::format::{count, rate};

pub(super) const INSIDE: f64 = 260.0;

const CAPTION: &str =
    "Effective sample sizes of the first draws, more and more of them; they grow evenly where chains mix.";

impl Plot for EssEvolutionPlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "ess_evolution_plot", "ESS by draws", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.panels.is_empty() || self.draws.is_empty() {
            return Err(ReportError::Empty { plot: "the plot of ESS by draws", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Effective sample sizes of the first draws of a run");
        let note =
            "effective sample sizes of the first draws, more and more of them: they grow evenly where chains mix";
        let top = head(&mut scene, "ESS by draws", note);
        let top = choose::second_note(&mut scene, top, choose::words(self.panels.len(), self.parameters));
        let y = top + 8.0;
        let mut keys = Keys::new(y);
        keys.stroke(&mut scene, BLUE, false, "bulk ESS");
        keys.stroke(&mut scene, ORANGE, false, "tail ESS");
        let least = format!("least to ask for, 100 for each chain: {}", rate(self.least));
        keys.stroke(&mut scene, VERMILLION, true, &least);
        let grid = Grid::new(&scene, self.panels.len(), top + 36.0 + keys.below(y), INSIDE);
        for (i, panel) in self.panels.iter().enumerate() {
            let last = |values: &[f64]| rate(values.last().copied().unwrap_or(f64::NAN));
            let figures = format!("bulk {} · tail {}", last(&panel.bulk), last(&panel.tail));
            let place = grid.place(&mut scene, i, &panel.name, &figures);
            self.draw_panel(&mut scene, panel, &place);
            if grid.is_lowest(i) {
                place.name_x(&mut scene, "draws of all chains");
            }
        }
        scene.height = grid.bottom();
        Ok(scene)
    }
}

impl EssEvolutionPlot {
    fn draw_panel(&self, scene: &mut Scene, panel: &EssEvolutionPanel, place: &Panel) {
        let most = self.draws.last().copied().unwrap_or(1) as f64;
        let highest = extent(panel.bulk.iter().chain(&panel.tail).copied().chain([self.least])).map_or(1.0, |r| r.1);
        let (x, y) = (place.x((0.0, most)), place.y((0.0, 1.06 * highest)));
        place.draw_x(scene, &x);
        place.draw_y(scene, &y);
        scene.dashed((place.left, y.px(self.least)), (place.right, y.px(self.least)), VERMILLION, 2.0);
        if panel.bulk.iter().chain(&panel.tail).all(|v| !v.is_finite()) {
            say(scene, place, "not defined: too few draws, or one not finite");
            return;
        }
        for (values, colour) in [(&panel.tail, ORANGE), (&panel.bulk, BLUE)] {
            let places = self.draws.iter().zip(values).filter(|(_, v)| v.is_finite());
            let points: Vec<_> = places.map(|(&n, &v)| (x.px(n as f64), y.px(v))).collect();
            for &point in &points {
                scene.disc(point, 4.5, colour);
            }
            scene.line(points, colour, 2.5);
        }
        // A stripe for each point, so that one need not aim.
        let half = 0.5 * (x.px(self.draws[0] as f64) - place.left);
        for (i, &n) in self.draws.iter().enumerate() {
            let at = x.px(n as f64);
            let (bulk, tail) = (panel.bulk.get(i).copied(), panel.tail.get(i).copied());
            let (bulk, tail) = (rate(bulk.unwrap_or(f64::NAN)), rate(tail.unwrap_or(f64::NAN)));
            let words = format!("{}\n{} draws: bulk {bulk}, tail {tail}", panel.name, count(n as u64));
            scene.tip((at - half, place.top), ((at + half).min(place.right), place.bottom), words);
        }
    }
}
