//! Drawing of the posterior predictive check: densities, histograms of statistics, title and caption.

use super::super::axis::{Axis, extent, widened};
use super::super::palette::{BLUE, INK, MUTED, SHADE, SKY, VERMILLION};
use super::super::panel::{HEADING, Keys, LABEL, MARGIN, Panel, head};
use super::super::scene::{Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject};
use super::{PpcPlot, histogram, mean_curve};
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::significant;
use crate::summary::PredictiveStatistic;

const DENSITY: f64 = 560.0;
const STATISTIC: f64 = 330.0;
const COLUMNS: usize = 4;
const GAP: f64 = 60.0;
const BINS: usize = 24;

const CAPTION: &str = "Data drawn from the fitted model beside the observed data; p is the share of replicated \
    values at or above the observed one.";
/// The most replicated data sets in a narrow picture.
const NARROW_CURVES: usize = 30;

impl Plot for PpcPlot {
    fn about(&self) -> About {
        About::new(Subject::Predictive, "ppc_plot", "Posterior predictive check", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let Some(range) = self.range() else {
            return Err(ReportError::Empty { plot: "the predictive check", missing: "observations" });
        };
        let mut scene = Scene::new(
            width.pixels(),
            0.0,
            "Posterior predictive check: observed and replicated data, test statistics",
        );
        let mut top = head(
            &mut scene,
            "Posterior predictive check",
            "data drawn from the fitted model should look like the observed data, which should be no odd one out",
        );
        let curves = self.curves();
        let mut keys = Keys::new(top + 8.0);
        keys.stroke(&mut scene, INK, false, "observed");
        let drawn = curves.len().div_ceil(every(&scene, curves.len()));
        let of = if drawn < curves.len() { format!("{drawn} of ") } else { String::new() };
        keys.stroke(&mut scene, SKY, false, &format!("{of}{} replicated data sets", curves.len()));
        keys.stroke(&mut scene, VERMILLION, true, "mean of the replicated");
        top += 40.0 + keys.below(top + 8.0);
        let panel = Panel { left: MARGIN, top, right: scene.width - MARGIN, bottom: top + DENSITY };
        draw_densities(&mut scene, &panel, &self.observed, self.density(&self.observed), &curves, range);
        top = panel.bottom + 90.0;
        let columns = scene.columns(COLUMNS);
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        for (i, statistic) in self.statistics.iter().enumerate() {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            draw_statistic(&mut scene, statistic, left, left + width, top + STATISTIC * (i / columns) as f64);
        }
        scene.height = top + STATISTIC * self.statistics.len().div_ceil(columns) as f64;
        Ok(scene)
    }
}

/// Returns every how many of the replicated data sets one is drawn: a narrow picture has room for fewer.
fn every(scene: &Scene, curves: usize) -> usize {
    if scene.is_narrow() { curves.div_ceil(NARROW_CURVES).max(1) } else { 1 }
}

fn draw_densities(
    scene: &mut Scene,
    panel: &Panel,
    observed: &[f64],
    own: Option<Density>,
    curves: &[Density],
    range: (f64, f64),
) {
    let x = panel.x(range);
    panel.draw_x(scene, &x);
    panel.name_x(scene, "y");
    let peak = curves.iter().chain(&own).map(Density::peak).fold(0.0, f64::max);
    let y = panel.y((0.0, if peak > 0.0 { 1.05 * peak } else { 1.0 }));
    let line = |points: &mut dyn Iterator<Item = (f64, f64)>| -> Vec<(f64, f64)> {
        points.filter(|&(v, _)| x.contains(v)).map(|(v, d)| (x.px(v), y.px(d))).collect()
    };
    for curve in curves.iter().step_by(every(scene, curves.len())) {
        // Each second grid point is enough for a hundred thin lines, and each eighth where they are short.
        let step = if scene.is_narrow() { 8 } else { 2 };
        scene.faint_line(line(&mut curve.points().step_by(step)), SKY, 1.5, 0.45);
    }
    let mean = mean_curve(curves, range);
    dashed_curve(scene, &line(&mut mean.iter().copied()), VERMILLION);
    tell_counts(scene, panel, observed, &mean, &x);
    match own {
        Some(own) => scene.line(line(&mut own.points()), INK, 4.0),
        None => {
            for value in observed.iter().filter(|v| v.is_finite()).take(1) {
                scene.line(vec![(x.px(*value), panel.bottom), (x.px(*value), panel.top)], INK, 4.0);
            }
        }
    }
}

/// Tells readers who point at a span of values how many observations it has, and how many such data should have.
fn tell_counts(scene: &mut Scene, panel: &Panel, observed: &[f64], mean: &[(f64, f64)], x: &Axis) {
    const STRIPS: usize = 40;
    let (low, high) = x.range();
    let counts = histogram(observed, (low, high), STRIPS);
    let width = (high - low) / STRIPS as f64;
    // The mean density is on an even grid, so that its mean in a strip is that of its points there.
    let expected = |from: f64| {
        let inside = mean.iter().filter(|(v, _)| (from..from + width).contains(v));
        let (points, sum) = inside.fold((0.0, 0.0), |(points, sum), (_, density)| (points + 1.0, sum + density));
        observed.len() as f64 * width * sum / points
    };
    for (strip, count) in counts.into_iter().enumerate() {
        let from = low + width * strip as f64;
        let (low, high, expected) = (significant(from, 3), significant(from + width, 3), expected(from));
        let replicated = if mean.is_empty() {
            String::new()
        } else {
            format!(", {} replicated on average", significant(expected, 3))
        };
        let words = format!("{low} to {high}\n{count} observed{replicated}");
        scene.tip((x.px(from), panel.top), (x.px(from + width), panel.bottom), words);
    }
}

/// A curve in dashes of a few of its points.
fn dashed_curve(scene: &mut Scene, points: &[(f64, f64)], colour: super::super::palette::Colour) {
    const DASH: usize = 4;
    for chunk in points.chunks(DASH + 2) {
        let dash = &chunk[..chunk.len().min(DASH)];
        if dash.len() > 1 {
            scene.line(dash.to_vec(), colour, 3.5);
        }
    }
}

fn draw_statistic(scene: &mut Scene, statistic: &PredictiveStatistic, left: f64, right: f64, top: f64) {
    let panel = Panel { left, top: top + 80.0, right, bottom: top + STATISTIC - 60.0 };
    scene.text(Text::new((left, top + 18.0), statistic.name.as_str(), HEADING, INK).bold());
    let p = Text::new((0.0, 0.0), format!("p = {}", significant(statistic.p_value, 2)), LABEL, MUTED);
    // Near 0 or 1 the observed value is an odd one out.
    let odd = !(0.025..=0.975).contains(&statistic.p_value);
    let p = if odd { Text { colour: VERMILLION, ..p.bold() } } else { p };
    let observed = format!("observed {}", significant(statistic.observed, 4));
    scene.texts((left, top + 54.0), 24.0, [Text::new((0.0, 0.0), observed, LABEL, INK), p]);
    let values = statistic.replicated.iter().copied().chain([statistic.observed]);
    let Some(range) = extent(values).map(|range| widened(range, 0.06)) else { return };
    let x = panel.x(range);
    let range = x.range();
    panel.draw_x(scene, &x);
    let counts = histogram(&statistic.replicated, range, BINS);
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    let y = Axis::linear((0.0, 1.05 * highest as f64), panel.bottom, panel.top);
    let step = (panel.right - panel.left) / BINS as f64;
    for (i, &height) in counts.iter().enumerate().filter(|&(_, &height)| height > 0) {
        let from = panel.left + step * i as f64;
        scene.rect((from + 1.0, y.px(height as f64)), (from + step - 1.0, panel.bottom), BLUE, 0.45);
        let edge = |bin: usize| significant(range.0 + (range.1 - range.0) * bin as f64 / BINS as f64, 4);
        let of = statistic.replicated.len();
        let words =
            format!("{} of {} to {}\n{height} of {of} replicated data sets", statistic.name, edge(i), edge(i + 1));
        scene.tip((from, panel.top), (from + step, panel.bottom), words);
    }
    scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], SHADE, 2.0);
    if statistic.observed.is_finite() {
        let at = x.px(statistic.observed);
        scene.line(vec![(at, panel.top), (at, panel.bottom)], INK, 4.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn statistics_stand_in_rows() {
        let statistic = |name: &str| PredictiveStatistic {
            name: name.to_owned(),
            observed: 3.0,
            p_value: 0.4,
            replicated: (0..40).map(|k| f64::from(k % 7)).collect(),
        };
        let observed: Vec<f64> = (0..50).map(|k| f64::from(k % 11)).collect();
        let replicates = vec![observed.iter().map(|y| y + 0.5).collect(), observed.iter().map(|y| 11.0 - y).collect()];
        let statistics = ["mean", "sd", "min", "max", "median"].map(statistic).into();
        super::super::super::sound("five statistics", &PpcPlot { observed, replicates, statistics });
    }

    #[test]
    fn a_dash_has_more_than_one_point() {
        let points: Vec<(f64, f64)> = (0..7).map(|k| (f64::from(k), 1.0)).collect();
        let mut scene = Scene::new(WIDTH, 100.0, "");
        dashed_curve(&mut scene, &points, INK);
        let points = points[..4].to_vec();
        assert_eq!(scene.shapes, [Shape::Line { points, colour: INK, width: 3.5, opacity: 1.0 }]);
    }
}
