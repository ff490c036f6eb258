//! Drawing of frameworks side by side: a dot with its interval for each, on one logarithmic axis.

use super::super::axis::Axis;
use super::super::palette::{BLUE, INK, MUTED};
use super::super::panel::{HEADING, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{FrameworkMeasure, FrameworkRow, FrameworksPlot};
use crate::error::ReportError;

const ROW: f64 = 42.0;
const CASE: f64 = 58.0;
/// The height of a row with its label above it.
const LABELLED: f64 = ROW + 26.0;
const DOT: f64 = 8.0;
/// Room right of the panel for the value beside its last dot.
const VALUE: f64 = 130.0;
const WIDEST_LABEL: f64 = 300.0;

const CAPTION: &str = "Frameworks in turns on the same data, cores and work. Only what drew the right posterior has a dot, but for \
                       cases that no framework can infer.";

impl Plot for FrameworksPlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "frameworks_plot", "Frameworks side by side", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let nothing = ReportError::Empty { plot: "the picture of frameworks", missing: "a measurement" };
        let Some(range) = self.range() else { return Err(nothing) };
        let mut scene = Scene::new(width.pixels(), 0.0, format!("Frameworks side by side: {}", self.measured.axis()));
        let top = head(&mut scene, "Frameworks side by side", self.measured.note()) + 40.0;
        let narrow = scene.is_narrow();
        let labels = self.rows.iter().map(|row| font::width(&row.framework, SMALL, Weight::Regular));
        let left = if narrow { MARGIN } else { MARGIN + labels.fold(0.0, f64::max).min(WIDEST_LABEL) + 24.0 };
        let row_height = if narrow { LABELLED } else { ROW };
        let cases = self.cases();
        let height = CASE * cases.len() as f64 + row_height * self.rows.len() as f64;
        let panel = Panel { left, top, right: scene.width - MARGIN - VALUE, bottom: top + height };
        let axis = Axis::log(range, panel.left, panel.right);
        panel.draw_x(&mut scene, &axis);
        scene.text(Text::new((panel.left, top - 28.0), self.measured.axis(), SMALL, INK).bold());
        if self.measured == FrameworkMeasure::TimesOctopus {
            let one = axis.px(1.0);
            scene.dashed((one, panel.top), (one, panel.bottom), MUTED, 2.0);
        }
        let mut y = top;
        for (case, rows) in cases {
            let case = font::fit(case, HEADING, Weight::Bold, scene.width - 2.0 * MARGIN);
            scene.text(Text::new((MARGIN, y + 0.55 * CASE), case, HEADING, INK).bold());
            y += CASE;
            for row in rows {
                let label = font::fit(&row.framework, SMALL, Weight::Regular, WIDEST_LABEL);
                let middle = if narrow {
                    scene.text(Text::new((MARGIN, y + 12.0), label, SMALL, MUTED));
                    y + 12.0 + 0.7 * ROW
                } else {
                    scene.text(Text::new((left - 14.0, y + 0.5 * ROW), label, SMALL, INK).align(Align::Right));
                    y + 0.5 * ROW
                };
                self.draw_row(&mut scene, row, middle, &axis);
                scene.tip((MARGIN, y), (scene.width - MARGIN, y + row_height), self.tip(row));
                y += row_height;
            }
        }
        scene.height = panel.bottom + 60.0;
        Ok(scene)
    }
}

impl FrameworksPlot {
    fn draw_row(&self, scene: &mut Scene, row: &FrameworkRow, y: f64, axis: &Axis) {
        let (start, _) = axis.range();
        match &row.value {
            Ok((median, (low, high))) => {
                let colour = if row.framework == "octopus" { BLUE } else { MUTED };
                let x = axis.px(*median);
                scene.line(vec![(axis.px(*low), y), (axis.px(*high), y)], colour, 4.0);
                scene.disc((x, y), DOT, colour);
                let end = axis.px(high.max(*median)).max(x + DOT) + 10.0;
                scene.text(Text::new((end, y), self.measured.show(*median), SMALL, INK));
            }
            Err(why) => {
                let from = axis.px(start) + 10.0;
                let words = font::fit(why, SMALL, Weight::Regular, scene.width - MARGIN - from);
                scene.text(Text::new((from, y), words, SMALL, MUTED));
            }
        }
    }

    /// All of a row's words, which the picture may have to cut.
    fn tip(&self, row: &FrameworkRow) -> String {
        let told = match &row.value {
            Ok((median, (low, high))) => {
                let show = |value| self.measured.show(value);
                format!("{} ({} to {})", show(*median), show(*low), show(*high))
            }
            Err(why) => why.clone(),
        };
        format!("{}, {}\n{told}", row.framework, row.case)
    }
}
