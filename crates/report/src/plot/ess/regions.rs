//! Drawing of effective sample sizes (ESS) over the regions of a distribution, with its captions.

use super::super::axis::extent;
use super::super::grid::{Grid, say};
use super::super::palette::{BLUE, VERMILLION};
use super::super::panel::{Keys, Panel, head};
use super::super::scene::Scene;
use super::super::{About, PictureWidth, Plot, Subject, choose};
use super::evolution::INSIDE;
use super::{EssRegions, EssRegionsPanel, EssRegionsPlot};
use crate::error::ReportError;
use crate::format::rate;

impl Plot for EssRegionsPlot {
    fn about(&self) -> About {
        let (stem, title, caption) = match self.regions {
            EssRegions::Quantiles => (
                "ess_quantile_plot",
                "ESS of quantiles",
                "How well each quantile is known; a valley is a region that chains reach seldom.",
            ),
            EssRegions::Intervals => (
                "ess_local_plot",
                "ESS of small intervals",
                "How well the probability of each twentieth of a distribution is known; a valley is a region that \
                 chains reach seldom.",
            ),
        };
        About::new(Subject::Convergence, stem, title, caption)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.panels.is_empty() {
            return Err(ReportError::Empty { plot: "the plot of ESS by region", missing: "a variable with draws" });
        }
        let (note, word) = match self.regions {
            EssRegions::Quantiles => (
                "how well each quantile is known, in effective draws: a valley is a region that chains reach seldom",
                "ESS of a quantile",
            ),
            EssRegions::Intervals => (
                "how well the probability of each twentieth of the distribution is known, in effective draws: a valley is a region that chains reach seldom",
                "ESS of an interval",
            ),
        };
        let title = self.about().title;
        let mut scene = Scene::new(width.pixels(), 0.0, title);
        let top = head(&mut scene, title, note);
        let top = choose::second_note(&mut scene, top, choose::words(self.panels.len(), self.parameters));
        let y = top + 8.0;
        let mut keys = Keys::new(y);
        keys.stroke(&mut scene, BLUE, false, word);
        let least = format!("least to ask for, 100 for each chain: {}", rate(self.least));
        keys.stroke(&mut scene, VERMILLION, true, &least);
        let grid = Grid::new(&scene, self.panels.len(), top + 36.0 + keys.below(y), INSIDE);
        for (i, panel) in self.panels.iter().enumerate() {
            let defined = panel.ess.iter().filter(|(.., ess)| !ess.is_nan());
            let lowest = defined.min_by(|a, b| a.2.total_cmp(&b.2));
            let figures = match lowest {
                Some(&(low, high, ess)) => format!("lowest {} at {}", rate(ess), region(low, high)),
                None => String::new(),
            };
            let place = grid.place(&mut scene, i, &panel.name, &figures);
            self.draw_panel(&mut scene, panel, &place);
            if grid.is_lowest(i) {
                place.name_x(&mut scene, "quantile");
            }
        }
        scene.height = grid.bottom();
        Ok(scene)
    }
}

impl EssRegionsPlot {
    fn draw_panel(&self, scene: &mut Scene, panel: &EssRegionsPanel, place: &Panel) {
        let highest = extent(panel.ess.iter().map(|&(.., ess)| ess).chain([self.least])).map_or(1.0, |r| r.1);
        let (x, y) = (place.x((0.0, 1.0)), place.y((0.0, 1.06 * highest)));
        place.draw_x(scene, &x);
        place.draw_y(scene, &y);
        let defined: Vec<&(f64, f64, f64)> = panel.ess.iter().filter(|(.., ess)| ess.is_finite()).collect();
        if defined.is_empty() {
            say(scene, place, "not defined: too few draws, or one not finite");
        } else if self.regions == EssRegions::Quantiles {
            scene.line(defined.iter().map(|(p, _, ess)| (x.px(*p), y.px(*ess))).collect(), BLUE, 2.0);
        }
        for &&(low, high, ess) in &defined {
            let colour = if ess < self.least { VERMILLION } else { BLUE };
            let tip = format!("{}\n{}: ESS {}", panel.name, region(low, high), rate(ess));
            match self.regions {
                EssRegions::Quantiles => {
                    let at = (x.px(low), y.px(ess));
                    scene.disc(at, 6.0, colour);
                    scene.tip((at.0 - 10.0, place.top), (at.0 + 10.0, place.bottom), tip);
                }
                EssRegions::Intervals => {
                    let (left, right) = (x.px(low) + 1.0, x.px(high) - 1.0);
                    scene.rect((left, y.px(ess)), (right, place.bottom), colour, 0.3);
                    scene.line(vec![(left, y.px(ess)), (right, y.px(ess))], colour, 3.5);
                    scene.tip((left, place.top), (right, place.bottom), tip);
                }
            }
        }
        scene.dashed((place.left, y.px(self.least)), (place.right, y.px(self.least)), VERMILLION, 2.0);
    }
}

fn region(low: f64, high: f64) -> String {
    let percent = |p: f64| format!("{:.0}%", 100.0 * p);
    if low == high { percent(low) } else { format!("{} to {}", percent(low), percent(high)) }
}
