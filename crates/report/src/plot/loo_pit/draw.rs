//! Drawing of LOO-PIT: the difference of distribution functions, and the histogram beside it, with its caption.

use super::super::axis::{extent, widened};
use super::super::palette::{BLUE, INK, MUTED, SHADE, VERMILLION};
use super::super::panel::{HEADING, MARGIN, Panel, SMALL, head, paragraph};
use super::super::scene::{Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject};
use super::{Counts, LooPitPlot};
use crate::error::ReportError;
use crate::format::{count, percent, significant};

const HEIGHT: f64 = 480.0;
const NUMBERS: f64 = 90.0;
const GAP: f64 = 60.0;
/// The difference's share of the width.
const WIDE: f64 = 0.56;

const CAPTION: &str = "The probability of values at or below each observation, predicted from the others: uniform \
    where predictions are calibrated, with a simultaneous 95% band.";

impl Plot for LooPitPlot {
    fn about(&self) -> About {
        About::new(Subject::Predictive, "loo_pit_plot", "LOO-PIT", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let counts = self.counts()?;
        let mut scene = Scene::new(width.pixels(), 0.0, "LOO-PIT: are the leave-one-out predictions calibrated?");
        let top = head(
            &mut scene,
            "LOO-PIT",
            "the probability of values at or below each observation, predicted from the others; uniform where predictions are calibrated",
        );
        let end = scene.width - MARGIN;
        let room = scene.width - 2.0 * MARGIN - 2.0 * NUMBERS - GAP;
        let mut left = Panel {
            left: MARGIN + NUMBERS,
            top: top + 90.0,
            right: MARGIN + NUMBERS + WIDE * room,
            bottom: top + 90.0 + HEIGHT,
        };
        let mut right = Panel { left: left.right + GAP + NUMBERS, right: end, ..left };
        if scene.is_narrow() {
            left.right = end;
            right = Panel { right: end, ..left.lower(HEIGHT + 190.0) };
        }
        draw_difference(&mut scene, &counts, &left);
        draw_histogram(&mut scene, &counts, &right);
        let mut words = format!(
            "{} observations. A hill on the right: predictions too wide; a valley: too narrow; a slope: biased.",
            count(counts.values as u64)
        );
        if counts.dropped > 0 {
            words += &format!(" {} without a value left out.", count(counts.dropped as u64));
        }
        let below = paragraph(&mut scene, Text::new((MARGIN, right.bottom + 108.0), words, SMALL, MUTED));
        scene.height = right.bottom + 140.0 + below;
        Ok(scene)
    }
}

fn titles(scene: &mut Scene, panel: &Panel, title: &str, below: Text) {
    // In a narrow picture they begin at its edge.
    let left = if scene.is_narrow() { MARGIN } else { panel.left };
    scene.text(Text::new((left, panel.top - 66.0), title, HEADING, INK).bold());
    scene.text(Text { at: (left, panel.top - 28.0), ..below });
}

fn draw_difference(scene: &mut Scene, counts: &Counts, panel: &Panel) {
    let outside = counts.outside();
    let places = counts.difference.len();
    let words = match outside.len() {
        0 => Text::new((0.0, 0.0), "inside the simultaneous 95% band everywhere", SMALL, BLUE),
        n => {
            let which = if scene.is_narrow() { "" } else { "simultaneous " };
            let words = format!("outside the {which}95% band at {n} of {places} places");
            Text::new((0.0, 0.0), words, SMALL, VERMILLION).bold()
        }
    };
    titles(scene, panel, "share at or below x, less x", words);
    let all = [&counts.difference, &counts.lower, &counts.upper].into_iter().flatten().copied();
    let (low, high) = extent(all).unwrap_or((-1.0, 1.0));
    let reach = high.max(-low);
    let (x, y) = (panel.x((0.0, 1.0)), panel.y(widened((-reach, reach), 0.06)));
    // Straight lines between the places, from 0 at 0.
    let points = |values: &[f64]| -> Vec<Point> {
        let at = values.iter().enumerate().map(|(i, &v)| ((i + 1) as f64 / places as f64, v));
        std::iter::once((0.0, 0.0)).chain(at).map(|(at, v)| (x.px(at), y.px(v))).collect()
    };
    let mut band = points(&counts.upper);
    band.extend(points(&counts.lower).into_iter().rev());
    scene.area(band, SHADE, 0.5);
    panel.draw_x(scene, &x);
    panel.draw_y(scene, &y);
    scene.line(vec![(panel.left, y.px(0.0)), (panel.right, y.px(0.0))], MUTED, 1.5);
    scene.line(points(&counts.difference), BLUE, 3.5);
    for &i in &outside {
        scene.disc((x.px((i + 1) as f64 / places as f64), y.px(counts.difference[i])), 6.0, VERMILLION);
    }
    panel.name_x(scene, "LOO-PIT");
    let step = (panel.right - panel.left) / places as f64;
    for (i, value) in counts.difference.iter().enumerate() {
        let at = (i + 1) as f64 / places as f64;
        let words = format!(
            "{} of the values at or below {}\n95% band: {} to {}",
            percent(value + at),
            significant(at, 2),
            percent(counts.lower[i] + at),
            percent(counts.upper[i] + at)
        );
        let from = (x.px(at) - 0.5 * step).max(panel.left);
        scene.tip((from, panel.top), ((from + step).min(panel.right), panel.bottom), words);
    }
}

fn draw_histogram(scene: &mut Scene, counts: &Counts, panel: &Panel) {
    let bins = counts.bins.len();
    let expected = counts.values as f64 / bins as f64;
    let (low, high) = counts.expected;
    let words = format!("shade: 95% of the bins of uniform values, {} to {}", count(low), count(high));
    titles(scene, panel, "observations", Text::new((0.0, 0.0), words, SMALL, MUTED));
    let highest = counts.bins.iter().copied().chain([high]).max().unwrap_or(1).max(1);
    let (x, y) = (panel.x((0.0, 1.0)), panel.y((0.0, 1.08 * highest as f64)));
    panel.draw_y(scene, &y);
    scene.rect((panel.left, y.px(high as f64)), (panel.right, y.px(low as f64)), SHADE, 0.5);
    let step = (panel.right - panel.left) / bins as f64;
    for (i, &n) in counts.bins.iter().enumerate() {
        let from = panel.left + step * i as f64;
        let colour = if (low..=high).contains(&n) { BLUE } else { VERMILLION };
        if n > 0 {
            scene.rect((from + 1.0, y.px(n as f64)), (from + step - 1.0, panel.bottom), colour, 0.55);
        }
        let words = format!("{} observations\nexpected {}", count(n), significant(expected, 3));
        scene.tip((from, panel.top), (from + step, panel.bottom), words);
    }
    scene.dashed((panel.left, y.px(expected)), (panel.right, y.px(expected)), MUTED, 2.0);
    panel.draw_x(scene, &x);
    panel.name_x(scene, "LOO-PIT");
}
