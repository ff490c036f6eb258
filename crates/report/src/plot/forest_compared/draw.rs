//! Drawing of a forest of several runs, with its title, caption and key.

use super::super::axis::Axis;
use super::super::forest::rhat_text;
use super::super::palette::{GRID, INK, MUTED, VERMILLION, series};
use super::super::panel::{HEADING, LINE as WORDS, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ComparedRow, ComparedSection, ForestComparisonPlot};
use crate::error::ReportError;
use crate::format::count;

/// Scalars side by side.
const COLUMNS: usize = 3;
const GAP: f64 = 60.0;
/// A run's line, and the room between two elements.
const LINE: f64 = 20.0;
const BETWEEN: f64 = 16.0;
const WIDEST_LABEL: f64 = 420.0;
const NARROW_LABEL: f64 = 220.0;
/// The names of a run and of an array.
const WIDEST_RUN: f64 = 700.0;
const RHAT: f64 = 120.0;
const MOST_TIPS: usize = 400;

const CAPTION: &str = "Mean, 50% and 89% highest-density intervals of every variable, run beside run.";

impl Plot for ForestComparisonPlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "forest_comparison_plot", "Forest of several runs", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let (scalars, arrays): (Vec<_>, Vec<_>) =
            self.sections.iter().filter(|section| !section.rows.is_empty()).partition(|s| s.elements == 1);
        if scalars.is_empty() && arrays.is_empty() {
            return Err(ReportError::Empty {
                plot: "the forest plot of several runs",
                missing: "a run with a variable with draws",
            });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Forest plot: intervals of every variable, run beside run");
        let top = head(
            &mut scene,
            "Forest",
            "point: posterior mean; thick line: 50% HDI; thin line: 89% HDI; R-hat: the worst of the runs, marked above 1.01",
        );
        let mut top = self.draw_key(&mut scene, top + 8.0) + 32.0;
        let columns = scene.columns(COLUMNS);
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        let scalar = 150.0 + self.height();
        for (i, section) in scalars.iter().enumerate() {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            self.draw_scalar(&mut scene, section, left, left + width, top + scalar * (i / columns) as f64);
        }
        top += scalar * scalars.len().div_ceil(columns) as f64;
        for section in arrays {
            top = self.draw_array(&mut scene, section, top);
        }
        scene.height = top;
        Ok(scene)
    }
}

impl ForestComparisonPlot {
    /// Returns the height of one element with a line for each run.
    fn height(&self) -> f64 {
        LINE * self.runs.len() as f64 + BETWEEN
    }

    fn draw_key(&self, scene: &mut Scene, mut y: f64) -> f64 {
        let mut x = MARGIN;
        let widest_run = WIDEST_RUN.min(scene.width - 2.0 * MARGIN - 46.0);
        let runs = self.runs.iter().enumerate().map(|(i, name)| (series(i), name.clone()));
        let truth = self.sections.iter().flat_map(|section| &section.rows).any(|row| row.truth().is_some());
        let truth = truth.then(|| (VERMILLION, "the value that made the data".to_owned()));
        for (i, (colour, name)) in runs.chain(truth).enumerate() {
            let text = Text::new((0.0, 0.0), font::fit(&name, SMALL, Weight::Regular, widest_run), SMALL, INK);
            // The first one fits.
            if x + 46.0 + text.width() > scene.width - MARGIN {
                (x, y) = (MARGIN, y + 34.0);
            }
            if i < self.runs.len() {
                scene.line(vec![(x, y), (x + 36.0, y)], colour, 7.0);
                scene.disc((x + 18.0, y), 6.5, INK);
            } else {
                scene.line(vec![(x + 18.0, y - 12.0), (x + 18.0, y + 12.0)], colour, 4.0);
            }
            let end = x + 46.0 + text.width();
            scene.text(Text { at: (x + 46.0, y), ..text });
            x = end + 32.0;
        }
        y
    }

    fn draw_scalar(&self, scene: &mut Scene, section: &ComparedSection, left: f64, right: f64, top: f64) {
        let row = &section.rows[0];
        let panel = Panel { left, top: top + 66.0, right, bottom: top + 66.0 + self.height() };
        let rhat = rhat_text(row.rhat());
        let rhat = Text { text: format!("R-hat {}", rhat.text), ..rhat };
        let room = right - left - rhat.width() - 24.0;
        let name = font::fit(&row.label, HEADING, Weight::Bold, room);
        scene.text(Text::new((left, top + 34.0), name, HEADING, INK).bold());
        scene.text(Text { at: (right, top + 34.0), ..rhat }.align(Align::Right));
        let x = panel.x(super::super::axis::widened(section.range(), 0.03));
        panel.draw_x(scene, &x);
        self.draw_row(scene, row, &x, panel.top);
    }

    /// Returns where the block ends.
    fn draw_array(&self, scene: &mut Scene, section: &ComparedSection, top: f64) -> f64 {
        let room = if scene.is_narrow() { NARROW_LABEL } else { WIDEST_LABEL };
        let labels: Vec<String> =
            section.rows.iter().map(|row| font::fit(&row.label, SMALL, Weight::Regular, room)).collect();
        let widest = labels.iter().map(|label| font::width(label, SMALL, Weight::Regular)).fold(0.0, f64::max);
        let room = WIDEST_RUN.min(scene.width - 2.0 * MARGIN - RHAT);
        let mut parts =
            vec![Text::new((0.0, 0.0), font::fit(&section.name, HEADING, Weight::Bold, room), HEADING, INK).bold()];
        if section.elements > section.rows.len() {
            let (shown, all) = (count(section.rows.len() as u64), count(section.elements as u64));
            let words = format!("the {shown} of {all} elements whose runs differ most");
            parts.push(Text::new((0.0, 0.0), words, SMALL, MUTED));
        }
        let mut below = 0.0;
        if scene.is_narrow() && parts.len() > 1 {
            below = WORDS;
            scene.text(Text { at: (MARGIN, top + 34.0 + WORDS), ..parts.remove(1) });
        }
        scene.texts((MARGIN, top + 34.0), 20.0, parts);
        let panel = Panel {
            left: MARGIN + widest + 20.0,
            top: top + 62.0 + below,
            right: scene.width - MARGIN - RHAT,
            bottom: top + 62.0 + below + self.height() * section.rows.len() as f64,
        };
        scene.text(Text::new((scene.width - MARGIN, top + 34.0), "R-hat", SMALL, MUTED).align(Align::Right));
        let x = panel.x(section.range());
        panel.draw_x(scene, &x);
        for (i, (row, label)) in section.rows.iter().zip(labels).enumerate() {
            let start = panel.top + self.height() * i as f64;
            if i > 0 {
                scene.line(vec![(panel.left, start), (panel.right, start)], GRID, 1.0);
            }
            let middle = start + 0.5 * self.height();
            scene.text(Text::new((panel.left - 16.0, middle), label, SMALL, INK).align(Align::Right));
            self.draw_row(scene, row, &x, start);
            scene.text(Text { at: (scene.width - MARGIN, middle), ..rhat_text(row.rhat()) }.align(Align::Right));
        }
        panel.bottom + 62.0
    }

    /// A line for each run from `top` on.
    fn draw_row(&self, scene: &mut Scene, row: &ComparedRow, x: &Axis, top: f64) {
        if let Some(truth) = row.truth().filter(|truth| truth.is_finite()) {
            let at = x.px(truth);
            scene.line(vec![(at, top + 4.0), (at, top + self.height() - 4.0)], VERMILLION, 4.0);
        }
        for (i, run) in row.runs.iter().enumerate() {
            let Some(run) = run else { continue };
            let y = top + 0.5 * BETWEEN + LINE * (i as f64 + 0.5);
            for ((low, high), width, opacity) in [(run.hdi89, 3.0, 0.75), (run.hdi50, 8.0, 1.0)] {
                if low.is_finite() && high.is_finite() {
                    let ends = vec![(x.px(low), y), (x.px(high).max(x.px(low) + 2.0), y)];
                    scene.faint_line(ends, series(i), width, opacity);
                }
            }
            if !run.mean.is_finite() {
                continue;
            }
            scene.disc((x.px(run.mean), y), 6.5, INK);
            if scene.tips.len() < MOST_TIPS {
                let (low, high) = run.hdi89;
                let (left, right) = (x.px(low).min(x.px(run.mean)), x.px(high).max(x.px(run.mean)));
                let words = format!("{}\n{}", self.runs[i], run.tip());
                scene.tip((left - 8.0, y - 0.5 * LINE), (right + 8.0, y + 0.5 * LINE), words);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn a_run_for_whose_name_the_key_has_no_room_begins_a_row() {
        let mut rows = Vec::new();
        for letters in (1..100).step_by(3) {
            let runs = vec!["m".repeat(16), "m".repeat(16), "m".repeat(16), "i".repeat(letters)];
            let mut scene = Scene::new(WIDTH, 200.0, "");
            let y = ForestComparisonPlot { runs, sections: vec![] }.draw_key(&mut scene, 10.0);
            let texts: Vec<&Text> = (scene.shapes.iter())
                .filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None })
                .collect();
            // A gap of 32, the line's 46, and the name.
            let beside = texts[2].bounds().1.0 + 32.0 + 46.0;
            let place = if beside + texts[3].width() > WIDTH - MARGIN { (MARGIN + 46.0, 44.0) } else { (beside, 10.0) };
            assert!((texts[3].at.0 - place.0).abs() < 1e-9, "{:?} {place:?}", texts[3]);
            assert_eq!((texts[3].at.1, y), (place.1, place.1));
            rows.push(y);
        }
        assert_eq!((rows[0], rows[rows.len() - 1]), (10.0, 44.0), "both happen");
    }
}
