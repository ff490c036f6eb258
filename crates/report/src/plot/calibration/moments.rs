//! Drawing of Geweke's differences of moments, with their caption.

use super::super::axis::{extent, widened};
use super::super::palette::{BLUE, GRID, INK, MUTED, SHADE, VERMILLION};
use super::super::panel::{LABEL, MARGIN, Panel, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{MomentRow, MomentsPlot};
use crate::error::ReportError;

const ROW: f64 = 44.0;
/// Names at the left and numbers at the right.
const NAMES: f64 = 420.0;
const NARROW_NAMES: f64 = 240.0;
const NUMBERS: f64 = 120.0;

const CAPTION: &str =
    "Moments with parameters from the sampler less those with parameters from the prior, in standard errors.";

impl Plot for MomentsPlot {
    fn about(&self) -> About {
        About::new(Subject::Calibration, "geweke_moments", "Geweke's test", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let room = [-self.limit, self.limit];
        let Some(range) = extent(self.rows.iter().map(|row| row.z).chain(room)).filter(|_| !self.rows.is_empty())
        else {
            return Err(ReportError::Empty { plot: "the plot of moments", missing: "moments" });
        };
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Geweke's test: moments of two simulators of one joint distribution");
        let top = head(
            &mut scene,
            "Geweke's test",
            "mean with parameters from the sampler less mean with parameters from the prior, in standard errors; shade: where it stays when calibrated",
        );
        let bottom = top + ROW * self.rows.len() as f64 + 10.0;
        let names = if scene.is_narrow() { NARROW_NAMES } else { NAMES };
        let inside = Panel { left: MARGIN + names, top, right: scene.width - MARGIN - NUMBERS, bottom };
        scene.height = bottom + 90.0;
        let x = inside.x(widened(range, 0.05));
        scene.rect((x.px(-self.limit), top), (x.px(self.limit), bottom), SHADE, 0.4);
        inside.draw_x(&mut scene, &x);
        inside.name_x(&mut scene, "standard errors");
        scene.line(vec![(x.px(0.0), top), (x.px(0.0), bottom)], MUTED, 2.0);
        for (i, row) in self.rows.iter().enumerate() {
            draw(&mut scene, row, &inside, x.px(row.z), x.px(0.0), top + ROW * (i as f64 + 0.5));
        }
        Ok(scene)
    }
}

fn draw(scene: &mut Scene, row: &MomentRow, inside: &Panel, at: f64, zero: f64, y: f64) {
    scene.line(vec![(inside.left, y), (inside.right, y)], GRID, 1.5);
    let name = font::fit(&row.name, LABEL, Weight::Regular, inside.left - MARGIN - 24.0);
    scene.text(Text::new((inside.left - 20.0, y), name, LABEL, INK).align(Align::Right));
    let colour = if row.agrees { BLUE } else { VERMILLION };
    if row.z.is_finite() {
        scene.line(vec![(zero, y), (at, y)], colour, 3.0);
        scene.disc((at, y), 9.0, colour);
    }
    let number = Text::new((scene.width - MARGIN, y), format!("{:.2}", row.z).replace('-', "\u{2212}"), LABEL, colour)
        .align(Align::Right);
    scene.text(if row.agrees { number } else { number.bold() });
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::Shape;
    use super::*;

    /// From -3 to the limit of 2, with 5% of room at either end.
    #[test]
    fn each_moment_has_a_row_with_a_dot_at_its_number() {
        let row = |name: &str, z: f64, agrees| MomentRow { name: name.to_owned(), z, agrees };
        let plot = MomentsPlot { limit: 2.0, rows: vec![row("a", -3.0, false), row("b", 1.0, true)] };
        let scene = plot.scene().unwrap();
        let bottom = 130.0 + 2.0 * ROW + 10.0;
        assert_eq!(scene.height, bottom + 90.0);
        let (left, right) = (40.0 + NAMES, 1760.0 - NUMBERS);
        let x = |z: f64| left + (right - left) * (z + 3.25) / 5.5;
        let mut found: Vec<(f64, f64)> = Vec::new();
        for shape in &scene.shapes {
            match shape {
                Shape::Area { points, .. } => found.extend([points[0], points[2]]),
                Shape::Disc { at, .. } => found.push(*at),
                Shape::Text(text) if text.text == "a" || text.text == "1.00" => found.push(text.at),
                _ => {}
            }
        }
        let rows = [130.0 + 0.5 * ROW, 130.0 + 1.5 * ROW];
        let expected = [
            (x(-2.0), 130.0),
            (x(2.0), bottom),
            (left - 20.0, rows[0]),
            (x(-3.0), rows[0]),
            (x(1.0), rows[1]),
            (1760.0, rows[1]),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let (dx, dy) = (found.0 - expected.0, found.1 - expected.1);
            assert!(dx.abs() < 1e-9 && dy.abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}
