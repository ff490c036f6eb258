//! Drawing of a calibration's distribution functions (ECDF) less the uniform one, with their caption.

use super::super::axis::{extent, widened};
use super::super::palette::{BLUE, MUTED, SHADE, VERMILLION};
use super::super::panel::{MARGIN, head};
use super::super::scene::Scene;
use super::super::{About, PictureWidth, Plot, Subject};
use super::{EcdfPanel, EcdfPlot, height, near_one, place};
use crate::error::ReportError;

const CAPTION: &str =
    "Of each quantity the share of ranks up to each rank, less what is expected, with simultaneous bands.";

impl Plot for EcdfPlot {
    fn about(&self) -> About {
        About::new(Subject::Calibration, "rank_ecdf", "Ranks of true values: distribution", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let all = |panel: &EcdfPanel| [&panel.difference, &panel.lower, &panel.upper].map(Clone::clone).concat();
        // One scale for all: what is far out shows at a glance.
        let Some(range) = extent(self.panels.iter().flat_map(all)) else {
            return Err(ReportError::Empty { plot: "the rank plot", missing: "data sets with ranks" });
        };
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Ranks of true values: distribution functions less the uniform one");
        let note = format!(
            "share of the data sets with a rank up to x, less x; shade: where all of a calibrated quantity stays with probability {}; dots: outside",
            near_one(self.coverage)
        );
        let top = head(&mut scene, "Ranks of true values: distribution", &note);
        scene.height = height(&scene, top, self.panels.len()) - MARGIN + 20.0;
        for (i, panel) in self.panels.iter().enumerate() {
            draw(&mut scene, panel, i, top, widened(range, 0.06));
        }
        Ok(scene)
    }
}

fn draw(scene: &mut Scene, panel: &EcdfPanel, index: usize, top: f64, range: (f64, f64)) {
    let inside = place(scene, &panel.heading, index, top);
    let (x, y) = (inside.x((0.0, 1.0)), inside.y(range));
    let outcomes = panel.difference.len() as f64;
    // A function of steps would blur: straight lines between the ranks, from 0 at 0.
    let points = |values: &[f64]| -> Vec<(f64, f64)> {
        let places = values.iter().enumerate().map(|(i, &v)| ((i + 1) as f64 / outcomes, v));
        std::iter::once((0.0, 0.0)).chain(places).map(|(at, v)| (x.px(at), y.px(v))).collect()
    };
    let mut band = points(&panel.upper);
    band.extend(points(&panel.lower).into_iter().rev());
    scene.area(band, SHADE, 0.55);
    inside.draw_x(scene, &x);
    inside.draw_y(scene, &y);
    scene.line(vec![(inside.left, y.px(0.0)), (inside.right, y.px(0.0))], MUTED, 1.5);
    let colour = if panel.heading.uniform { BLUE } else { VERMILLION };
    scene.line(points(&panel.difference), colour, 3.5);
    // Near 0 and 1 the band is so narrow that an exit is hard to see.
    let exits = panel.difference.iter().zip(panel.lower.iter().zip(&panel.upper)).enumerate();
    for (i, (&v, _)) in exits.filter(|(_, (v, (lower, upper)))| *v < lower || *v > upper) {
        scene.disc((x.px((i + 1) as f64 / outcomes), y.px(v)), 6.0, VERMILLION);
    }
    inside.name_x(scene, "rank, as a share of the draws kept");
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::Shape;
    use super::super::RankHeading;
    use super::*;

    /// The panel goes from 90 to 90 + 1450 / 3 and from 222 down to 468; the range has 6% of room at either end.
    #[test]
    fn places_outside_the_band_have_dots_and_its_edge_is_inside() {
        let heading = RankHeading { name: "mu".to_owned(), p_value: 0.5, uniform: true };
        let difference = vec![0.1, -0.3, 0.2, -0.2, 0.4];
        let panel = EcdfPanel { heading, difference: difference.clone(), lower: vec![-0.2; 5], upper: vec![0.2; 5] };
        let scene = EcdfPlot { coverage: 0.99, panels: vec![panel] }.scene().unwrap();
        assert_eq!(scene.height, 580.0);
        let place = |rank: f64, v: f64| (90.0 + 1450.0 / 3.0 * rank / 5.0, 468.0 - 246.0 * (v + 0.342) / 0.784);
        let same = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9;
        let dots: Vec<(f64, f64)> = (scene.shapes.iter())
            .filter_map(|shape| if let Shape::Disc { at, .. } = shape { Some(*at) } else { None })
            .collect();
        assert_eq!(dots.len(), 2);
        assert!(same(dots[0], place(2.0, -0.3)) && same(dots[1], place(5.0, 0.4)), "{dots:?}");
        let line = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Line { points, width, .. } if *width == 3.5 => Some(points),
            _ => None,
        });
        let values = std::iter::once(0.0).chain(difference);
        for (i, (&point, v)) in line.unwrap().iter().zip(values).enumerate() {
            assert!(same(point, place(i as f64, v)), "{i}: {point:?}");
        }
        assert_eq!(line.unwrap().len(), 6);
    }
}
