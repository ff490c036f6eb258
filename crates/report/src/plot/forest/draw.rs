//! Drawing of the forest plot: scalars side by side, then one block for each array.
//!
//! From how many rows on labels are left out stands here, with title, caption and key.

use super::super::axis::Axis;
use super::super::palette::{BLUE, Colour, GRID, INK, MUTED, SKY, VERMILLION};
use super::super::panel::{HEADING, LABEL, MARGIN, Panel, SMALL, head, key};
use super::super::scene::{Align, Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ForestPlot, ForestRow, ForestSection, many};
use crate::error::ReportError;
use crate::format::{count, significant};
use octopus_diag::limits;

/// Arrays with more rows are drawn without a label for each.
const MOST_LABELS: usize = 60;
/// Scalars side by side.
const COLUMNS: usize = 3;
/// The most scalars that are drawn: those with the largest R-hat. A picture of thousands would be metres tall.
const MOST_SCALARS: usize = 30;
const SCALAR: f64 = 220.0;
const GAP: f64 = 60.0;
const LIST_ROW: f64 = 36.0;
/// The distances from the start of a block to its panel, and from its panel to its end.
const ABOVE: f64 = 70.0;
const BELOW: f64 = 70.0;

const CAPTION: &str = "Every variable at a glance: mean, 50% and 89% highest-density intervals, and R-hat.";

impl Plot for ForestPlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "forest_plot", "Forest", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let (mut scalars, arrays): (Vec<&ForestSection>, Vec<&ForestSection>) =
            self.sections.iter().filter(|section| !section.rows.is_empty()).partition(|s| s.rows.len() == 1);
        if scalars.is_empty() && arrays.is_empty() {
            return Err(ReportError::Empty { plot: "the forest plot", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Forest plot: 89% and 50% intervals of every variable");
        let mut top = head(
            &mut scene,
            "Forest",
            "point: posterior mean; thick line: 50% HDI; thin line: 89% HDI; R-hat above 1.01 is marked",
        );
        if self.sections.iter().flat_map(|section| &section.rows).any(|row| row.truth.is_some()) {
            truth_mark(&mut scene, MARGIN + 8.0, top + 8.0, 12.0);
            key_text(&mut scene, MARGIN + 26.0, top + 8.0);
            top += 36.0;
        }
        if let Some(words) = keep_worst(&mut scalars) {
            scene.text(Text::new((MARGIN, top + 8.0), words, SMALL, INK));
            top += 36.0;
        }
        let columns = scene.columns(COLUMNS);
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        for (i, section) in scalars.iter().enumerate() {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            draw_scalar(&mut scene, &section.rows[0], left, left + width, top + SCALAR * (i / columns) as f64);
        }
        top += SCALAR * scalars.len().div_ceil(columns) as f64;
        for section in arrays {
            top += if section.rows.len() <= MOST_LABELS {
                draw_list(&mut scene, section, top)
            } else {
                many::draw(&mut scene, section, top)
            };
        }
        scene.height = top + 20.0;
        Ok(scene)
    }
}

/// Keeps the scalars with the largest R-hat, in their order, and returns words that say so; `None` where all are kept.
fn keep_worst(scalars: &mut Vec<&ForestSection>) -> Option<String> {
    let all = scalars.len();
    if all <= MOST_SCALARS {
        return None;
    }
    // An R-hat that is not defined is worse than any number.
    let rhat =
        |section: &ForestSection| if section.rows[0].rhat.is_nan() { f64::INFINITY } else { section.rows[0].rhat };
    let mut ranked: Vec<usize> = (0..all).collect();
    ranked.sort_by(|&a, &b| rhat(scalars[b]).total_cmp(&rhat(scalars[a])));
    let mut kept = ranked[..MOST_SCALARS].to_vec();
    kept.sort_unstable();
    *scalars = kept.into_iter().map(|i| scalars[i]).collect();
    Some(format!("{MOST_SCALARS} of {} scalars, those with the largest R-hat", count(all as u64)))
}

fn key_text(scene: &mut Scene, x: f64, y: f64) {
    scene.text(Text::new((x, y), "the value that made the data", SMALL, INK));
}

/// A short upright stroke where the truth lies.
fn truth_mark(scene: &mut Scene, x: f64, y: f64, half: f64) {
    scene.line(vec![(x, y - half), (x, y + half)], VERMILLION, 4.0);
}

/// Thin and thick line and point of one row at height `y`.
fn draw_row(scene: &mut Scene, row: &ForestRow, x: &Axis, y: f64, weight: f64) {
    for ((low, high), colour, width) in [(row.hdi89, SKY, 3.0 * weight), (row.hdi50, BLUE, 7.0 * weight)] {
        if low.is_finite() && high.is_finite() {
            scene.line(vec![(x.px(low), y), (x.px(high).max(x.px(low) + 2.0), y)], colour, width);
        }
    }
    if let Some(truth) = row.truth {
        truth_mark(scene, x.px(truth), y, 12.0 * weight);
    }
    if row.mean.is_finite() {
        scene.disc((x.px(row.mean), y), 6.5 * weight, INK);
        let (low, high) = row.hdi89;
        let (left, right) = (x.px(low).min(x.px(row.mean)), x.px(high).max(x.px(row.mean)));
        scene.tip((left - 8.0, y - 12.0), (right + 8.0, y + 12.0), row.tip());
    }
}

impl ForestRow {
    pub(in crate::plot) fn tip(&self) -> String {
        let number = |value| significant(value, 4);
        let (mean, (low, high), rhat) = (number(self.mean), self.hdi89, number(self.rhat));
        let truth = self.truth.map_or(String::new(), |truth| format!("\ntruth {}", number(truth)));
        format!("{}\nmean {mean}, 89% HDI {} to {}\nR-hat {rhat}{truth}", self.label, number(low), number(high))
    }
}

/// R-hat, marked unless it is below its limit.
pub(in crate::plot) fn rhat_text(rhat: f64) -> Text {
    let text = Text::new((0.0, 0.0), significant(rhat, 4), SMALL, MUTED);
    if rhat < limits::RHAT { text } else { Text { colour: VERMILLION, ..text.bold() } }
}

fn draw_scalar(scene: &mut Scene, row: &ForestRow, left: f64, right: f64, top: f64) {
    let panel = Panel { left, top: top + 96.0, right, bottom: top + 150.0 };
    let name = font::fit(&row.label, HEADING, Weight::Bold, right - left);
    scene.text(Text::new((left, top + 28.0), name, HEADING, INK).bold());
    let interval =
        format!("{} [{}, {}]", significant(row.mean, 4), significant(row.hdi89.0, 4), significant(row.hdi89.1, 4));
    let rhat = rhat_text(row.rhat);
    let rhat = Text { text: format!("R-hat {}", rhat.text), ..rhat };
    scene.texts((left, top + 64.0), 24.0, [Text::new((0.0, 0.0), interval, LABEL, MUTED), rhat]);
    let section = ForestSection { name: row.label.clone(), rows: vec![row.clone()] };
    let x = panel.x(super::super::axis::widened(section.range(), 0.05));
    panel.draw_x(scene, &x);
    draw_row(scene, row, &x, 0.5 * (panel.top + panel.bottom), 1.2);
}

/// One labelled row for each element; returns the block's height.
fn draw_list(scene: &mut Scene, section: &ForestSection, top: f64) -> f64 {
    let (widest_label, room_of_rhat) = if scene.is_narrow() { (220.0, 90.0) } else { (420.0, 120.0) };
    let labels: Vec<String> =
        section.rows.iter().map(|row| font::fit(&row.label, SMALL, Weight::Regular, widest_label)).collect();
    let widest = labels.iter().map(|label| font::width(label, SMALL, Weight::Regular)).fold(0.0, f64::max);
    let panel = Panel {
        left: MARGIN + widest + 20.0,
        top: top + ABOVE,
        right: scene.width - MARGIN - room_of_rhat,
        bottom: top + ABOVE + LIST_ROW * section.rows.len() as f64,
    };
    let name = font::fit(&section.name, HEADING, Weight::Bold, panel.right - MARGIN);
    scene.text(Text::new((MARGIN, top + 38.0), name, HEADING, INK).bold());
    scene.text(Text::new((scene.width - MARGIN, top + 38.0), "R-hat", SMALL, MUTED).align(Align::Right));
    let x = panel.x(section.range());
    panel.draw_x(scene, &x);
    for (i, (row, label)) in section.rows.iter().zip(labels).enumerate() {
        let y = panel.top + LIST_ROW * (i as f64 + 0.5);
        if i > 0 {
            let line = y - 0.5 * LIST_ROW;
            scene.line(vec![(panel.left, line), (panel.right, line)], GRID, 1.0);
        }
        scene.text(Text::new((panel.left - 16.0, y), label, SMALL, INK).align(Align::Right));
        draw_row(scene, row, &x, y, 1.0);
        scene.text(Text { at: (scene.width - MARGIN, y), align: Align::Right, ..rhat_text(row.rhat) });
    }
    panel.bottom - top + BELOW
}

/// The key of a block without labels: what each colour is. The means are points, or a line where they join.
pub(super) fn draw_key(
    scene: &mut Scene,
    (x, y): Point,
    (thick, thin): (Colour, Colour),
    means_join: bool,
    truth: bool,
) {
    let mut end = if means_join {
        key(scene, (x, y), INK, false, "mean")
    } else {
        dot_key(scene, (x + 8.0, y), (INK, 5.0), "mean")
    };
    end = key(scene, (end + 28.0, y), thick, false, "50% HDI");
    end = key(scene, (end + 28.0, y), thin, false, "89% HDI");
    if truth {
        dot_key(scene, (end + 40.0, y), (VERMILLION, 6.0), "truth");
    }
}

/// A dot of this colour and radius with its meaning; returns where that ends.
fn dot_key(scene: &mut Scene, at: Point, (colour, radius): (Colour, f64), meaning: &str) -> f64 {
    scene.disc(at, radius, colour);
    let text = Text::new((at.0 + 14.0, at.1), meaning, SMALL, INK);
    let end = at.0 + 14.0 + text.width();
    scene.text(text);
    end
}
