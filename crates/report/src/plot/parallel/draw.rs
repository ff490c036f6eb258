//! Drawing of parallel coordinates, with its title, caption, key and colours.
//!
//! Rows run down the picture, so that names stand upright beside them.

use super::super::palette::{GRID, INK, MUTED, VERMILLION};
use super::super::panel::{Keys, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, choose, font, font::Weight};
use super::ParallelPlot;
use crate::error::ReportError;
use crate::format::{count, significant};
use octopus_diag::quantile_of_sorted;

const ROW: f64 = 46.0;
/// Fewer rows than this are further apart.
const TALL: f64 = 380.0;
const WIDEST_NAME: f64 = 380.0;
const NARROW_NAME: f64 = 200.0;
/// Standard deviations to either side; what lies further out lies at the edge.
const REACH: f64 = 4.0;

const CAPTION: &str =
    "Each line is a draw; where divergent ones run together, something about the posterior is hard to sample.";

impl Plot for ParallelPlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "parallel_plot", "Divergences across variables", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.variables.is_empty() || self.draws == 0 {
            return Err(ReportError::Empty {
                plot: "the plot of parallel coordinates",
                missing: "a variable with draws",
            });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Parallel coordinates: divergent draws across variables");
        let note =
            "each line is a draw; where divergent draws run together, something about the posterior is hard to sample";
        let top = head(&mut scene, "Divergences across variables", note);
        let words = choose::related_words(self.variables.len(), self.parameters, self.divergences);
        let top = choose::second_note(&mut scene, top, words);
        let top = top + self.draw_key(&mut scene, top + 8.0);
        let room = if scene.is_narrow() { NARROW_NAME } else { WIDEST_NAME };
        let names: Vec<String> =
            self.variables.iter().map(|v| font::fit(&v.name, SMALL, Weight::Regular, room)).collect();
        let widest = names.iter().map(|name| font::width(name, SMALL, Weight::Regular)).fold(0.0, f64::max);
        let row = ROW.max(TALL / names.len() as f64);
        let top = top + 40.0;
        let panel = Panel {
            left: MARGIN + widest + 24.0,
            top,
            right: scene.width - MARGIN,
            bottom: top + row * names.len() as f64,
        };
        let y = |i: usize| panel.top + row * (i as f64 + 0.5);
        let x = panel.x((-REACH, REACH));
        panel.draw_x(&mut scene, &x);
        let below = panel.name_x(&mut scene, "standard deviations from the mean of all draws; further out at the edge");
        for (i, name) in names.into_iter().enumerate() {
            scene.line(vec![(panel.left, y(i)), (panel.right, y(i))], GRID, 1.5);
            scene.text(Text::new((panel.left - 16.0, y(i)), name, SMALL, INK).align(Align::Right));
        }
        let points = |values: &[f64]| -> Vec<Point> {
            // A value that is NaN is passed over.
            let places = values.iter().enumerate().filter(|(_, v)| !v.is_nan());
            places.map(|(i, &v)| (x.px(v), y(i))).collect()
        };
        for values in &self.others {
            draw_line(&mut scene, points(values), MUTED, 1.2, 0.22);
        }
        for values in &self.divergent {
            draw_line(&mut scene, points(values), VERMILLION, 2.0, opacity(self.divergent.len()));
        }
        for (i, variable) in self.variables.iter().enumerate() {
            let (mean, sd) = (significant(variable.mean, 4), significant(variable.sd, 3));
            let words = format!("{}\nmean {mean}, sd {sd}{}", variable.name, self.divergent_quantiles(i));
            let half = 0.5 * row;
            scene.tip((MARGIN, y(i) - half), (panel.right, y(i) + half), words);
        }
        scene.height = panel.bottom + 92.0 + below;
        Ok(scene)
    }
}

impl ParallelPlot {
    /// Describes where the middle half of the divergent draws lies, for readers who point at a row.
    fn divergent_quantiles(&self, variable: usize) -> String {
        let mut values: Vec<f64> = self.divergent.iter().filter_map(|line| line.get(variable).copied()).collect();
        values.retain(|v| !v.is_nan());
        values.sort_by(f64::total_cmp);
        if values.is_empty() {
            return String::new();
        }
        let [low, high] = [0.25, 0.75].map(|p| significant(quantile_of_sorted(&values, p), 2));
        format!("\nhalf of the divergent draws: {low} to {high} standard deviations from it")
    }

    /// Returns the height of the key's lines below the first.
    fn draw_key(&self, scene: &mut Scene, y: f64) -> f64 {
        let mut keys = Keys::new(y);
        let others = self.draws - self.divergences;
        let of = |shown: usize, all: usize| match shown < all {
            true => format!("{} of {}", count(shown as u64), count(all as u64)),
            false => count(all as u64),
        };
        let divergent = match self.divergences {
            0 => "no transition diverged".to_owned(),
            all => format!("{} divergent draws", of(self.divergent.len(), all)),
        };
        let other = if self.divergences > 0 { "other " } else { "" };
        let others = format!("{} {other}draws", of(self.others.len(), others));
        for (colour, words) in [(VERMILLION, divergent), (MUTED, others)] {
            keys.stroke(scene, colour, false, &words);
        }
        keys.below(y)
    }
}

/// A line down the rows; of a single row a point.
fn draw_line(scene: &mut Scene, points: Vec<Point>, colour: super::super::palette::Colour, width: f64, opacity: f64) {
    match points[..] {
        [] => {}
        [at] => scene.disc(at, 3.0, colour),
        _ => scene.faint_line(points, colour, width, opacity),
    }
}

/// Returns the opacity of each of so many lines: many on top of each other would be a blot.
fn opacity(lines: usize) -> f64 {
    if lines > 60 { 0.35 } else { 0.65 }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn without_variables_or_draws_there_is_nothing_to_draw() {
        let variable = super::super::ParallelVariable { name: "mu".to_owned(), mean: 0.0, sd: 1.0 };
        let of = |variables: &[super::super::ParallelVariable], draws| {
            let (variables, divergent, others) = (variables.to_vec(), vec![], vec![]);
            ParallelPlot { variables, divergent, others, divergences: 0, draws, parameters: 1 }.scene().is_ok()
        };
        assert_eq!([of(&[], 5), of(std::slice::from_ref(&variable), 0), of(&[variable], 5)], [false, false, true]);
    }

    #[test]
    fn many_lines_are_fainter() {
        assert_eq!([1, 60, 61, 900].map(opacity), [0.65, 0.65, 0.35, 0.35]);
    }

    #[test]
    fn a_line_without_a_point_is_none_and_one_of_a_point_is_a_dot() {
        let drawn = |points: &[Point]| {
            let mut scene = Scene::new(WIDTH, 100.0, "");
            draw_line(&mut scene, points.to_vec(), MUTED, 1.2, 0.22);
            scene.shapes
        };
        assert!(drawn(&[]).is_empty());
        assert_eq!(drawn(&[(1.0, 2.0)]), [Shape::Disc { at: (1.0, 2.0), radius: 3.0, colour: MUTED }]);
        let points = vec![(1.0, 2.0), (3.0, 4.0)];
        assert_eq!(drawn(&points), [Shape::Line { points, colour: MUTED, width: 1.2, opacity: 0.22 }]);
    }
}
