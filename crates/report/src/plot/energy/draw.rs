//! Drawing of the energy plot, with its title and caption, and of E-BFMI with its limit.

use super::super::axis::{Axis, extent, widened};
use super::super::grid::say;
use super::super::palette::{BLUE, Colour, INK, MUTED, ORANGE, VERMILLION};
use super::super::panel::{HEADING, Keys, LABEL, LINE, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::EnergyPlot;
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::{count, significant};
use octopus_diag::quantile_of_sorted;

/// Below it the tails may be missed (Betancourt 2016).
const LIMIT: f64 = 0.3;
const INSIDE: f64 = 480.0;
const DENSITY_RIGHT: f64 = 1120.0;
const BFMI_LEFT: f64 = 1270.0;
/// Room for the numbers left of E-BFMI.
const NUMBERS: f64 = 60.0;
/// Room for the limit's number beside the panel.
const BESIDE: f64 = 24.0;
/// More chains than this have no tip each.
const MOST_TIPS: usize = 128;

const CAPTION: &str =
    "Energies of all draws against their steps, and E-BFMI of each chain: below 0.3 the tails may be missed.";

impl Plot for EnergyPlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "energy_plot", "Energy", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.chains.iter().all(Vec::is_empty) {
            return Err(ReportError::Empty { plot: "the energy plot", missing: "the statistic `energy`" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Energy plot: energies, their steps, and E-BFMI of each chain");
        let note = "energies of all draws against what one refresh of the momentum changes: where the steps are much narrower, chains reach the tails slowly";
        let top = head(&mut scene, "Energy", note);
        let mut left = Panel { left: MARGIN, top: top + 96.0, right: DENSITY_RIGHT, bottom: top + 96.0 + INSIDE };
        let mut right = Panel { left: BFMI_LEFT, right: scene.width - MARGIN - BESIDE, ..left };
        if scene.is_narrow() {
            // The key takes up to three lines, and E-BFMI stands below the densities.
            left = Panel { right: scene.width - MARGIN, ..left.lower(2.0 * LINE) };
            right = Panel { left: MARGIN + NUMBERS, ..right.lower(left.bottom + 96.0 - top) };
        }
        self.draw_densities(&mut scene, &left, top + 40.0);
        self.draw_bfmi(&mut scene, &right, right.top - 96.0);
        scene.height = right.bottom + 96.0;
        Ok(scene)
    }
}

impl EnergyPlot {
    fn draw_densities(&self, scene: &mut Scene, panel: &Panel, key: f64) {
        let (marginal, steps) = self.marginal_and_steps();
        let mut keys = Keys::new(key);
        keys.stroke(scene, BLUE, false, "energy less its mean");
        keys.stroke(scene, ORANGE, false, "step from one draw to the next");
        let odd = self.chains.iter().flatten().filter(|v| !v.is_finite()).count();
        if odd > 0 {
            let words = format!("{} energies are not finite", count(odd as u64));
            let at = keys.place(scene, font::width(&words, SMALL, Weight::Regular));
            scene.text(Text::new(at, words, SMALL, VERMILLION));
        }
        let densities = [(Density::of(&marginal), BLUE), (Density::of(&steps), ORANGE)];
        let peak = densities.iter().filter_map(|(density, _)| density.as_ref()).map(Density::peak).fold(0.0, f64::max);
        if peak == 0.0 {
            say(scene, panel, if marginal.is_empty() { "no energy is finite" } else { "all energies are equal" });
            return;
        }
        let (x, y) = (panel.x(range(&marginal, &steps)), panel.y((0.0, 1.06 * peak)));
        panel.draw_x(scene, &x);
        panel.name_x(scene, "energy");
        let inside = densities.iter().filter_map(|(density, colour)| Some((density.as_ref()?, *colour)));
        let curves: Vec<_> = inside.map(|(density, colour)| (curve(density, &x, &y, panel), colour)).collect();
        for (points, colour) in &curves {
            scene.area(points.clone(), *colour, 0.22);
        }
        for (points, colour) in curves {
            scene.line(points, colour, 3.5);
        }
    }

    fn draw_bfmi(&self, scene: &mut Scene, panel: &Panel, top: f64) {
        scene.text(Text::new((panel.left - NUMBERS, top + 20.0), "E-BFMI of each chain", HEADING, INK).bold());
        let lowest = self.bfmi.iter().copied().enumerate().filter(|(_, v)| !v.is_nan());
        let lowest = lowest.min_by(|a, b| a.1.total_cmp(&b.1));
        let words = match lowest {
            Some((chain, value)) => {
                format!(
                    "lowest {} (chain {chain}) · together {}",
                    significant(value, 2),
                    significant(self.bfmi_of_all, 2)
                )
            }
            None => "not defined".to_owned(),
        };
        let words = font::fit(&words, LABEL, Weight::Regular, panel.right - panel.left + NUMBERS);
        scene.text(Text::new((panel.left - NUMBERS, top + 54.0), words, LABEL, MUTED));
        let highest = extent(self.bfmi.iter().copied()).map_or(1.0, |(_, high)| high).max(1.0);
        let y = panel.y((0.0, 1.1 * highest));
        panel.draw_y(scene, &y);
        scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], MUTED, 2.0);
        scene.dashed((panel.left, y.px(LIMIT)), (panel.right, y.px(LIMIT)), VERMILLION, 2.5);
        // Beside the panel, where no chain is; the caption tells what it means.
        scene.text(Text::new((panel.right + 10.0, y.px(LIMIT)), LIMIT.to_string(), SMALL, VERMILLION));
        self.draw_chains(scene, panel, &y);
        panel.name_x(scene, "chain");
    }

    fn draw_chains(&self, scene: &mut Scene, panel: &Panel, y: &Axis) {
        let chains = self.bfmi.len().max(1);
        let x = panel.x((-0.5, chains as f64 - 0.5));
        let pitch = (panel.right - panel.left) / chains as f64;
        // Chains are counted: no tick between two. Of long numbers fewer fit.
        let every = chains.div_ceil(if chains < 1000 { 8 } else { 5 });
        for chain in (0..chains).step_by(every) {
            let at = (x.px(chain as f64), panel.bottom + 24.0);
            scene.text(Text::new(at, chain.to_string(), SMALL, MUTED).align(Align::Center));
        }
        for (chain, &value) in self.bfmi.iter().enumerate().filter(|(_, v)| v.is_finite()) {
            let at = (x.px(chain as f64), y.px(value));
            let colour: Colour = if value < LIMIT { VERMILLION } else { BLUE };
            if pitch > 14.0 {
                scene.line(vec![(at.0, panel.bottom), at], colour, 2.5);
            }
            scene.disc(at, (0.35 * pitch).clamp(2.0, 9.0), colour);
            if chains <= MOST_TIPS {
                let half = 0.5 * pitch.min(40.0);
                let words = format!("chain {chain}\nE-BFMI {}", significant(value, 3));
                scene.tip((at.0 - half, panel.top), (at.0 + half, panel.bottom), words);
            }
        }
    }
}

/// All but the outermost 0.1% of either kind, so that one far energy does not squeeze the rest.
fn range(marginal: &[f64], steps: &[f64]) -> (f64, f64) {
    let ends = [marginal, steps].map(|values| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        [quantile_of_sorted(&sorted, 0.0005), quantile_of_sorted(&sorted, 0.9995)]
    });
    widened(extent(ends.concat()).unwrap_or((-1.0, 1.0)), 0.04)
}

fn curve(density: &Density, x: &Axis, y: &Axis, panel: &Panel) -> Vec<(f64, f64)> {
    let inside = density.points().filter(|&(v, _)| x.contains(v));
    let mut points: Vec<(f64, f64)> = inside.map(|(v, d)| (x.px(v), y.px(d))).collect();
    if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
        points.insert(0, (first.0, panel.bottom));
        points.push((last.0, panel.bottom));
    }
    points
}
