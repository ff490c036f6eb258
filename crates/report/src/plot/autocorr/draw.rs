//! Drawing of the autocorrelation plot, with its title, caption and key.

use super::super::axis::extent;
use super::super::grid::{Grid, say};
use super::super::palette::{MUTED, SHADE, series};
use super::super::panel::{Keys, Panel, head};
use super::super::scene::Scene;
use super::super::spread::{Spread, spread_key};
use super::super::{About, PictureWidth, Plot, Subject, choose};
use super::{AutocorrPanel, AutocorrPlot};
use crate::error::ReportError;
use crate::format::{rate, significant};

const INSIDE: f64 = 240.0;
/// More chains than this are not told apart by colour; their range is shown.
const MOST_KEYS: usize = 8;

const CAPTION: &str =
    "How long each chain remembers: the sooner the correlation vanishes, the more each draw is worth.";

impl Plot for AutocorrPlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "autocorr_plot", "Autocorrelation", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let chains = self.panels.iter().map(|panel| panel.chains.len()).max().unwrap_or(0);
        if chains == 0 || self.draws == 0 {
            return Err(ReportError::Empty { plot: "the autocorrelation plot", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Autocorrelation of each chain by lag");
        let note = "correlation of draws with those some draws later, in each chain: the sooner it vanishes, the more each draw is worth";
        let top = head(&mut scene, "Autocorrelation", note);
        let top = choose::second_note(&mut scene, top, choose::words(self.panels.len(), self.parameters));
        let top = top + draw_key(&mut scene, top + 8.0, chains);
        let all = self.panels.iter().flat_map(|panel| panel.chains.iter().flatten().copied());
        // One scale for all panels: what remembers long shows at a glance.
        let lowest = extent(all).map_or(0.0, |(low, _)| low).min(-1.6 * self.band()).max(-1.0);
        let grid = Grid::new(&scene, self.panels.len(), top + 36.0, INSIDE);
        for (i, panel) in self.panels.iter().enumerate() {
            let figures = format!("bulk ESS {}", rate(panel.ess_bulk));
            let place = grid.place(&mut scene, i, &panel.name, &figures);
            self.draw_panel(&mut scene, panel, &place, lowest);
            if grid.is_lowest(i) {
                place.name_x(&mut scene, "lag, in draws");
            }
        }
        scene.height = grid.bottom();
        Ok(scene)
    }
}

impl AutocorrPlot {
    fn draw_panel(&self, scene: &mut Scene, panel: &AutocorrPanel, place: &Panel, lowest: f64) {
        let lags = self.lags();
        let (x, y) = (place.x((0.0, lags.max(1) as f64)), place.y((lowest - 0.02, 1.0)));
        let band = self.band().min(1.0);
        scene.rect((place.left, y.px(band)), (place.right, y.px(-band)), SHADE, 0.55);
        place.draw_x(scene, &x);
        place.draw_y(scene, &y);
        scene.line(vec![(place.left, y.px(0.0)), (place.right, y.px(0.0))], MUTED, 1.5);
        if panel.chains.iter().flatten().all(|rho| rho.is_nan()) {
            say(scene, place, "not defined: constant or not finite");
            return;
        }
        let pixels: Vec<f64> = (0..=lags).map(|lag| x.px(lag as f64)).collect();
        if panel.chains.len() > MOST_KEYS {
            Spread::measure(panel.chains.iter().map(Vec::as_slice), lags + 1).draw(scene, &pixels, &y);
            // Where the chains' range hides the band.
            for edge in [-band, band] {
                scene.dashed((place.left, y.px(edge)), (place.right, y.px(edge)), MUTED, 1.5);
            }
        } else {
            for (chain, values) in panel.chains.iter().enumerate() {
                let points = pixels.iter().zip(values).filter(|(_, rho)| !rho.is_nan());
                scene.line(points.map(|(&x, &rho)| (x, y.px(rho))).collect(), series(chain), 2.5);
            }
        }
        let at = |lag: usize| extent(panel.chains.iter().filter_map(|chain| chain.get(lag).copied()));
        let lines = [1, 2, 5, 10, 20, 50, 100].into_iter().filter(|&lag| lag <= lags).filter_map(|lag| {
            let (low, high) = at(lag)?;
            Some(format!("\nlag {lag}: {} to {}", significant(low, 2), significant(high, 2)))
        });
        let words = format!("{}{}", panel.name, lines.collect::<String>());
        scene.tip((place.left, place.top), (place.right, place.bottom), words);
    }
}

/// Returns the height of the key's lines below the first.
fn draw_key(scene: &mut Scene, y: f64, chains: usize) -> f64 {
    let mut keys = Keys::new(y);
    if chains <= MOST_KEYS {
        for chain in 0..chains {
            keys.stroke(scene, series(chain), false, &format!("chain {chain}"));
        }
    } else {
        spread_key(scene, &mut keys, &format!("{chains} chains"));
    }
    keys.shade(scene, 0.55, "95% of independent draws");
    keys.below(y)
}
