//! Drawing of the predictive check by statistics: their histograms, bins and caption.

use super::super::axis::Axis;
use super::super::palette::{BLUE, INK, MUTED, ORANGE, VERMILLION};
use super::super::panel::{HEADING, LABEL, MARGIN, Panel, SMALL, head};
use super::super::ppc::histogram;
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::PpcStatisticPlot;
use crate::error::ReportError;
use crate::format::{count, significant};
use crate::summary::PredictiveStatistic;

const ROW: f64 = 460.0;
const GAP: f64 = 60.0;
const MOST_BINS: usize = 40;

const CAPTION: &str = "Statistics of data drawn from the fitted model, with the observed value and the share of \
    replicated values at or above it.";

impl Plot for PpcStatisticPlot {
    fn about(&self) -> About {
        About::new(Subject::Predictive, "ppc_statistic_plot", "Predictive check: statistics", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.statistics.is_empty() {
            return Err(ReportError::Empty {
                plot: "the predictive check by statistics",
                missing: "a statistic of observed and replicated data",
            });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Predictive check: statistics of observed and replicated data");
        let top = head(
            &mut scene,
            "Predictive check: statistics",
            "histogram: the statistic of replicated data; line: of the observed data; p: the share of the replicated at or above it (orange)",
        );
        let columns = match self.statistics.len() {
            n @ 1..=3 => n,
            4 => 2,
            _ => 3,
        };
        let columns = scene.columns(columns);
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        for (i, statistic) in self.statistics.iter().enumerate() {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            let top = top + ROW * (i / columns) as f64;
            let panel = Panel { left, top: top + 92.0, right: left + width, bottom: top + ROW - 76.0 };
            draw(&mut scene, statistic, &panel, top);
        }
        scene.height = top + ROW * self.statistics.len().div_ceil(columns) as f64;
        Ok(scene)
    }
}

fn draw(scene: &mut Scene, statistic: &PredictiveStatistic, panel: &Panel, top: f64) {
    let name = font::fit(&statistic.name, HEADING, Weight::Bold, panel.right - panel.left);
    scene.text(Text::new((panel.left, top + 22.0), name, HEADING, INK).bold());
    let p = Text::new((0.0, 0.0), statistic.p_words(), LABEL, MUTED);
    let p = if statistic.odd() { Text { colour: VERMILLION, ..p.bold() } } else { p };
    let observed = format!("observed {}", significant(statistic.observed, 4));
    scene.texts((panel.left, top + 60.0), 24.0, [Text::new((0.0, 0.0), observed, LABEL, INK), p]);
    let Some(range) = statistic.span() else {
        let at = (0.5 * (panel.left + panel.right), 0.5 * (panel.top + panel.bottom));
        scene.text(Text::new(at, "no finite value", SMALL, VERMILLION).align(Align::Center));
        return;
    };
    let x = panel.x(range);
    panel.draw_x(scene, &x);
    bars(scene, statistic, panel, &x);
    scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], MUTED, 2.0);
    if statistic.observed.is_finite() {
        let at = x.px(statistic.observed);
        scene.line(vec![(at, panel.top), (at, panel.bottom)], INK, 4.0);
    }
    let finite = statistic.replicated.iter().filter(|v| v.is_finite()).count();
    let words =
        format!("{}\nof {} replicated data sets\n{}", statistic.name, count(finite as u64), statistic.p_words());
    scene.tip((panel.left, panel.top), (panel.right, panel.bottom), words);
}

/// The histogram; what lies at or above the observed value is the p-value's share.
fn bars(scene: &mut Scene, statistic: &PredictiveStatistic, panel: &Panel, x: &Axis) {
    let finite = statistic.replicated.iter().filter(|v| v.is_finite()).count();
    let bins = ((2.0 * (finite as f64).sqrt()) as usize).clamp(12, MOST_BINS);
    let counts = histogram(&statistic.replicated, x.range(), bins);
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    let y = Axis::linear((0.0, 1.08 * highest as f64), panel.bottom, panel.top);
    let step = (panel.right - panel.left) / bins as f64;
    let observed = if statistic.observed.is_nan() { panel.right } else { x.px(statistic.observed) };
    for (i, &height) in counts.iter().enumerate().filter(|&(_, &height)| height > 0) {
        let from = panel.left + step * i as f64 + 1.0;
        let to = panel.left + step * (i + 1) as f64 - 1.0;
        let split = observed.clamp(from, to);
        for (from, to, colour, opacity) in [(from, split, BLUE, 0.5), (split, to, ORANGE, 0.75)] {
            if to - from > 0.5 {
                scene.rect((from, y.px(height as f64)), (to, panel.bottom), colour, opacity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn up_to_three_statistics_fill_the_width_and_one_without_a_value_says_so_in_its_middle() {
        for (number, left) in [(1, 40.0), (2, 930.0), (3, 40.0 + 2.0 * (1600.0 / 3.0 + 60.0))] {
            let statistic = PredictiveStatistic {
                name: "max".to_owned(),
                observed: f64::NAN,
                replicated: vec![],
                p_value: f64::NAN,
            };
            let scene = PpcStatisticPlot { statistics: vec![statistic; number] }.scene().unwrap();
            let Some(Shape::Text(text)) = scene.shapes.last() else { panic!("{:?}", scene.shapes) };
            // The last panel goes to the margin; above it is the room of words, 92 pixels, and below it 76.
            let middle = (0.5 * (left + 1760.0), scene.height - ROW + 0.5 * (92.0 + ROW - 76.0));
            assert_eq!(text.text, "no finite value");
            assert!((text.at.0 - middle.0).abs() < 1e-9 && (text.at.1 - middle.1).abs() < 1e-9, "{text:?} {middle:?}");
        }
    }
}
