//! Drawing of the predictive check by distribution functions (ECDF), with its title and caption.

use super::super::axis::{Axis, extent, widened};
use super::super::palette::{BLUE, Colour, INK, MUTED, SKY, VERMILLION};
use super::super::panel::{Keys, LINE, MARGIN, Panel, SMALL, head};
use super::super::scene::{Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject};
use super::{Functions, PpcEcdfPlot};
use crate::error::ReportError;
use crate::format::{percent, significant};

const LEFT: f64 = 80.0;
const WHOLE: f64 = 430.0;
const DIFFERENCE: f64 = 360.0;
/// Rectangles with words about the values in them.
const TIPS: usize = 60;

const CAPTION: &str = "The distribution function of the observed data among those of data drawn from the fitted \
    model, and the same less the replicated one.";

impl Plot for PpcEcdfPlot {
    fn about(&self) -> About {
        About::new(Subject::Predictive, "ppc_ecdf_plot", "Predictive check: distribution functions", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let Some(functions) = self.functions() else {
            return Err(ReportError::Empty {
                plot: "the predictive check by distribution functions",
                missing: "finite observations and replicates of them",
            });
        };
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Predictive check: distribution functions of observed and replicated data");
        let top = head(
            &mut scene,
            "Predictive check: distribution functions",
            "the share of the values at or below y; below, the same less the share of all replicated values, where differences show",
        );
        let curves = functions.curves().count();
        let mut keys = Keys::new(top + 8.0);
        keys.stroke(&mut scene, INK, false, "observed");
        keys.stroke(&mut scene, SKY, false, &format!("{curves} replicated data sets"));
        keys.stroke(&mut scene, BLUE, false, "95% of the replicated, at each y");
        let top = top + 46.0 + keys.below(top + 8.0);
        let upper = Panel { left: MARGIN + LEFT, top, right: scene.width - MARGIN, bottom: top + WHOLE };
        // In a narrow picture there are two lines of words between the panels.
        let gap = if scene.is_narrow() { 96.0 + LINE } else { 96.0 };
        let lower = Panel { top: upper.bottom + gap, bottom: upper.bottom + gap + DIFFERENCE, ..upper };
        let words = match functions.outside() {
            0.0 => Text::new((0.0, 0.0), "the observed function stays inside everywhere", SMALL, MUTED),
            share => {
                let words = format!("the observed function lies outside over {} of the range", percent(share));
                Text::new((0.0, 0.0), words, SMALL, colour_of(share))
            }
        };
        let name = Text::new((0.0, 0.0), "less the replicated", SMALL, INK).bold();
        if scene.is_narrow() {
            scene.text(Text { at: (MARGIN, lower.top - 24.0 - LINE), ..name });
            scene.text(Text { at: (MARGIN, lower.top - 24.0), ..words });
        } else {
            scene.texts((lower.left, lower.top - 24.0), 24.0, [name, words]);
        }
        let range = (functions.x[0], functions.x[functions.x.len() - 1]);
        let x = upper.x(range);
        draw(&mut scene, &functions, &upper, &x, (0.0, 1.0), false);
        let less =
            |function: &Vec<f64>| -> Vec<f64> { function.iter().zip(&functions.mean).map(|(v, m)| v - m).collect() };
        let ends = functions.replicated.iter().chain([&functions.observed]).flat_map(less);
        let reach = extent(ends).map_or(0.0, |(low, high)| high.max(-low)).max(1e-3);
        draw(&mut scene, &functions, &lower, &x, widened((-reach, reach), 0.04), true);
        lower.name_x(&mut scene, "y");
        tips(&mut scene, &functions, &upper, &lower, &x);
        scene.height = lower.bottom + 90.0;
        Ok(scene)
    }
}

/// All functions, less their mean if so asked.
fn draw(scene: &mut Scene, functions: &Functions, panel: &Panel, x: &Axis, range: (f64, f64), less: bool) {
    let y = panel.y(range);
    panel.draw_x(scene, x);
    panel.draw_y(scene, &y);
    let points = |values: &mut dyn Iterator<Item = f64>| -> Vec<Point> {
        let base = functions.mean.iter().map(|&m| if less { m } else { 0.0 });
        values.zip(base).zip(&functions.x).map(|((v, base), &at)| (x.px(at), y.px(v - base))).collect()
    };
    // In the whole functions single replicates lie on top of each other: only their differences are drawn singly.
    if less {
        for curve in functions.curves() {
            let curve = points(&mut curve.iter().copied());
            let step = if scene.is_narrow() { 4 } else { 2 };
            scene.faint_line(curve.into_iter().step_by(step).collect(), SKY, 1.5, 0.4);
        }
    }
    let low = points(&mut functions.envelope.iter().map(|ends| ends.0));
    let high = points(&mut functions.envelope.iter().map(|ends| ends.1));
    if !less {
        scene.area(low.iter().chain(high.iter().rev()).copied().collect(), SKY, 0.45);
    }
    scene.line(low, BLUE, 2.0);
    scene.line(high, BLUE, 2.0);
    if less {
        scene.line(vec![(panel.left, y.px(0.0)), (panel.right, y.px(0.0))], MUTED, 1.5);
    }
    scene.line(points(&mut functions.observed.iter().copied()), INK, 4.0);
}

fn tips(scene: &mut Scene, functions: &Functions, upper: &Panel, lower: &Panel, x: &Axis) {
    let every = functions.x.len().div_ceil(TIPS);
    for i in (0..functions.x.len() - every).step_by(every) {
        let (low, high) = functions.envelope[i + every / 2];
        let words = format!(
            "y {}\nobserved {}\nreplicated {} ({} to {})",
            significant(functions.x[i + every / 2], 4),
            percent(functions.observed[i + every / 2]),
            percent(functions.mean[i + every / 2]),
            percent(low),
            percent(high)
        );
        for panel in [upper, lower] {
            let (from, to) = (x.px(functions.x[i]), x.px(functions.x[i + every]));
            scene.tip((from, panel.top), (to, panel.bottom), words.clone());
        }
    }
}

/// Returns the colour of the words on how much of the range the observed function lies outside: 5% by chance.
fn colour_of(outside: f64) -> Colour {
    if outside > 0.05 { VERMILLION } else { MUTED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_chance_is_marked() {
        assert_eq!([0.01, 0.05, 0.0501, 0.9].map(colour_of), [MUTED, MUTED, VERMILLION, VERMILLION]);
    }
}
