//! Drawing of the differences of two runs, parameter by parameter, and of their speeds, with its caption.

use super::super::axis::{Axis, extent};
use super::super::palette::{BLUE, Colour, GREEN, GRID, INK, MUTED, ORANGE, SHADE, VERMILLION};
use super::super::panel::{HEADING, Keys, LINE, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{MOST_ROWS, RunComparisonPlot, RunDifference, RunRatio, spread};
use crate::error::ReportError;
use crate::format::{count, significant};

const ROW: f64 = 36.0;
const WIDEST_NAME: f64 = 420.0;
const NARROW_NAME: f64 = 200.0;
/// A column of numbers at the right.
const COLUMN: f64 = 150.0;
pub(super) const MEAN: Colour = BLUE;
pub(super) const SD: Colour = ORANGE;

const CAPTION: &str =
    "Differences of means and standard deviations in Monte Carlo standard errors, and the ratio of speeds.";

impl Plot for RunComparisonPlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "run_comparison_plot", "Comparison of two runs", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.rows.is_empty() {
            return Err(ReportError::Empty {
                plot: "the comparison of two runs",
                missing: "a parameter that both runs have draws of",
            });
        }
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Two runs: differences of means and standard deviations, and of speed");
        let name = |name: &str| font::fit(name, SMALL, Weight::Regular, 460.0);
        let note = format!(
            "{} less {}, in Monte Carlo standard errors of the difference",
            name(&self.runs.1),
            name(&self.runs.0)
        );
        let mut top = head(&mut scene, "Comparison of two runs", &note);
        if !self.ratios.is_empty() {
            top = self.draw_ratios(&mut scene, top);
        }
        top = self.draw_key(&mut scene, top + 8.0);
        if self.rows.len() > MOST_ROWS {
            top = spread::draw(&mut scene, self, top);
        }
        scene.height = self.draw_rows(&mut scene, top + 40.0);
        Ok(scene)
    }
}

impl RunComparisonPlot {
    fn draw_key(&self, scene: &mut Scene, y: f64) -> f64 {
        let mut keys = Keys::new(y);
        for (colour, words) in [(MEAN, "mean"), (SD, "standard deviation")] {
            keys.sign(scene, 26.0, words, |scene, (x, y)| scene.disc((x + 9.0, y), 9.0, colour));
            keys.closer(-4.0);
        }
        let chance = if scene.is_narrow() { "" } else { ": the outer one is left by chance once in 16,000 numbers" };
        keys.sign(scene, 84.0, &format!("2 and 4 standard errors{chance}"), |scene, (x, y)| {
            scene.rect((x, y - 12.0), (x + 72.0, y + 12.0), SHADE, 0.3);
            scene.rect((x + 18.0, y - 12.0), (x + 54.0, y + 12.0), SHADE, 0.5);
        });
        y + keys.below(y) + 20.0
    }

    /// One row for each named parameter; returns where the picture ends.
    fn draw_rows(&self, scene: &mut Scene, top: f64) -> f64 {
        let rows = self.named();
        let room = if scene.is_narrow() { NARROW_NAME } else { WIDEST_NAME };
        let names = fitted(rows.iter().map(|row| row.name.as_str()), room);
        let widest = names.iter().map(|name| font::width(name, SMALL, Weight::Regular)).fold(0.0, f64::max);
        // A narrow picture has no room for the numbers: they stand in the words for who points at a row.
        let columns = if scene.is_narrow() { 0 } else { 3 };
        let mut top = top;
        if rows.len() < self.rows.len() {
            let words = format!("the {} that differ most", rows.len());
            scene.text(Text::new((MARGIN, top), words, HEADING, INK).bold());
            top += 34.0;
        }
        let panel = Panel {
            left: MARGIN + widest + 20.0,
            top: top + 40.0,
            right: scene.width - MARGIN - COLUMN * columns as f64 - 20.0,
            bottom: top + 40.0 + ROW * rows.len() as f64,
        };
        let end = scene.width - MARGIN;
        let column = |i: usize| end - COLUMN * (2 - i) as f64;
        for (i, (first, second)) in
            [("mean", "differs by"), ("sd", "differs by"), ("distance", "in sds")].iter().take(columns).enumerate()
        {
            scene.text(Text::new((column(i), panel.top - 54.0), *first, SMALL, INK).align(Align::Right));
            scene.text(Text::new((column(i), panel.top - 26.0), *second, SMALL, MUTED).align(Align::Right));
        }
        let x = panel.x((-self.reach(), self.reach()));
        bands(scene, &panel, &x);
        panel.draw_x(scene, &x);
        panel.name_x(scene, "difference in Monte Carlo standard errors");
        for (i, (row, name)) in rows.iter().zip(names).enumerate() {
            let y = panel.top + ROW * (i as f64 + 0.5);
            scene.line(vec![(panel.left, y), (panel.right, y)], GRID, 1.0);
            scene.text(Text::new((panel.left - 16.0, y), name, SMALL, INK).align(Align::Right));
            draw_row(scene, row, &panel, &x, y);
            let numbers = [share(row.relative_mean), share(row.relative_sd), significant(row.wasserstein, 2)];
            for (i, number) in numbers.into_iter().take(columns).enumerate() {
                scene.text(Text::new((column(i), y), number, SMALL, MUTED).align(Align::Right));
            }
        }
        panel.bottom + 90.0
    }

    /// Bars from 1 to each ratio; returns where they end.
    fn draw_ratios(&self, scene: &mut Scene, top: f64) -> f64 {
        const VALUE: f64 = 110.0;
        let (first, second) = (&self.runs.0, &self.runs.1);
        let room = if scene.is_narrow() { 420.0 } else { 0.5 * (scene.width - 2.0 * MARGIN) - 200.0 };
        let fit = |name: &str| font::fit(name, SMALL, Weight::Regular, room);
        let parts = [
            Text::new((0.0, 0.0), "speed", HEADING, INK).bold(),
            Text::new((0.0, 0.0), format!("right of 1: {} is better", fit(second)), SMALL, GREEN),
            Text::new((0.0, 0.0), format!("left: {}", fit(first)), SMALL, VERMILLION),
        ];
        let mut top = top;
        if scene.is_narrow() {
            for (i, part) in parts.into_iter().enumerate() {
                scene.text(Text { at: (MARGIN, top + 12.0 + LINE * i as f64), ..part });
            }
            top += 2.0 * LINE;
        } else {
            scene.texts((MARGIN, top + 12.0), 22.0, parts);
        }
        // In a narrow picture each name stands above its bar.
        let (room, row) = if scene.is_narrow() { (scene.width - 2.0 * MARGIN, ROW + LINE) } else { (WIDEST_NAME, ROW) };
        let names = fitted(self.ratios.iter().map(|ratio| ratio.name.as_str()), room);
        let widest = names.iter().map(|name| font::width(name, SMALL, Weight::Regular)).fold(0.0, f64::max);
        let beside = if scene.is_narrow() { 0.0 } else { widest + 20.0 };
        let panel = Panel {
            left: MARGIN + beside + VALUE,
            top: top + 40.0,
            right: scene.width - MARGIN - VALUE,
            bottom: top + 40.0 + row * self.ratios.len() as f64,
        };
        let logs = self.ratios.iter().map(|ratio| ratio.ratio.ln().abs());
        let reach = extent(logs).map_or(0.0, |range| range.1).clamp(2f64.ln(), 1e6f64.ln()).exp();
        let x = Axis::log((1.0 / reach, reach), panel.left, panel.right);
        panel.draw_x(scene, &x);
        for (i, (ratio, name)) in self.ratios.iter().zip(names).enumerate() {
            let y = panel.top + row * (i + 1) as f64 - 0.5 * ROW;
            if scene.is_narrow() {
                scene.text(Text::new((MARGIN, y - LINE), name, SMALL, INK));
            } else {
                scene.text(Text::new((MARGIN + widest, y), name, SMALL, INK).align(Align::Right));
            }
            draw_ratio(scene, ratio, &x, y);
        }
        scene.line(vec![(x.px(1.0), panel.top - 4.0), (x.px(1.0), panel.bottom)], INK, 2.5);
        panel.bottom + 76.0
    }
}

/// Names, cut where they have no room beside the panel.
fn fitted<'a>(names: impl Iterator<Item = &'a str>, room: f64) -> Vec<String> {
    names.map(|name| font::fit(name, SMALL, Weight::Regular, room)).collect()
}

fn draw_ratio(scene: &mut Scene, ratio: &RunRatio, x: &Axis, y: f64) {
    let words = match ratio.ratio {
        r if r.is_finite() => format!("{} ×", significant(r, 3)),
        _ => "not measured".to_owned(),
    };
    if !(ratio.ratio.is_finite() && ratio.ratio > 0.0) {
        scene.text(Text::new((x.px(1.0) + 12.0, y), words, SMALL, MUTED));
        return;
    }
    let better = ratio.ratio >= 1.0;
    let (from, to) = (x.px(1.0), x.px(ratio.ratio));
    scene.rect((from, y - 11.0), (to, y + 11.0), if better { GREEN } else { VERMILLION }, 0.85);
    let (at, align) = if better { (to + 10.0, Align::Left) } else { (to - 10.0, Align::Right) };
    scene.text(Text::new((at, y), words, SMALL, INK).align(align));
}

/// Shades of two and four standard errors, and a line at 0.
pub(super) fn bands(scene: &mut Scene, panel: &Panel, x: &Axis) {
    scene.rect((x.px(-4.0), panel.top), (x.px(4.0), panel.bottom), SHADE, 0.3);
    scene.rect((x.px(-2.0), panel.top), (x.px(2.0), panel.bottom), SHADE, 0.5);
    scene.line(vec![(x.px(0.0), panel.top), (x.px(0.0), panel.bottom)], MUTED, 1.5);
}

fn draw_row(scene: &mut Scene, row: &RunDifference, panel: &Panel, x: &Axis, y: f64) {
    // The mean lies above: it is what most readers look for.
    for (z, colour, radius) in [(row.z_sd, SD, 9.0), (row.z_mean, MEAN, 7.5)] {
        if z.is_nan() {
            continue;
        }
        let at = x.px(z);
        if x.contains(z) {
            scene.disc((at, y), radius, colour);
            continue;
        }
        // Beyond the axis: a tip at its edge, with the number.
        let outwards = z.signum();
        let base = at - outwards * 14.0;
        scene.area(vec![(at, y), (base, y - 9.0), (base, y + 9.0)], colour, 1.0);
    }
    let far = [(row.z_mean, "mean"), (row.z_sd, "sd")];
    for side in [-1.0, 1.0] {
        let words: Vec<String> = far
            .iter()
            .filter(|(z, _)| !z.is_nan() && !x.contains(*z) && z.signum() == side)
            .map(|(z, what)| format!("{what} {}", significant(*z, 3)))
            .collect();
        let (at, align) =
            if side > 0.0 { (panel.right - 22.0, Align::Right) } else { (panel.left + 22.0, Align::Left) };
        scene
            .text(Text::new((at, y), words.join(", ").replace('-', "\u{2212}"), SMALL, VERMILLION).bold().align(align));
    }
    let number = |value| significant(value, 3);
    let words = format!(
        "{}\nmean {} standard errors, {}\nsd {} standard errors, {}\ndistance {} sds",
        row.name,
        number(row.z_mean),
        share(row.relative_mean),
        number(row.z_sd),
        share(row.relative_sd),
        number(row.wasserstein)
    );
    scene.tip((panel.left, y - 0.5 * ROW), (panel.right, y + 0.5 * ROW), words);
}

/// Returns a share in per cent with its sign: `+1.2 %`.
fn share(fraction: f64) -> String {
    let words = match 100.0 * fraction {
        p if !p.is_finite() => significant(p, 2),
        p if p.abs() >= 99_950.0 => format!("{p:+.0e} %"),
        p if p.abs() >= 1000.0 => format!("{}{} %", if p > 0.0 { "+" } else { "-" }, count(p.abs().round() as u64)),
        p if p.abs() < 0.005 => "0.00 %".to_owned(),
        p if p.abs() < 9.995 => format!("{p:+.2} %"),
        p => format!("{p:+.1} %"),
    };
    words.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn a_ratio_that_has_no_bar_is_told_in_words() {
        let x = Axis::log((0.5, 2.0), 100.0, 300.0);
        for (ratio, words) in [(0.0, "0 ×"), (f64::NAN, "not measured")] {
            let mut scene = Scene::new(WIDTH, 100.0, "");
            draw_ratio(&mut scene, &RunRatio { name: "speed".to_owned(), ratio }, &x, 50.0);
            assert_eq!(scene.shapes, [Shape::Text(Text::new((212.0, 50.0), words, SMALL, MUTED))]);
        }
    }

    #[test]
    fn differences_beyond_the_axis_are_tips_at_its_ends_with_their_numbers_beside_them() {
        let panel = Panel { left: 100.0, top: 0.0, right: 300.0, bottom: 100.0 };
        let row = RunDifference {
            name: "mu".to_owned(),
            z_mean: 20.0,
            z_sd: -30.0,
            relative_mean: 0.1,
            relative_sd: 0.1,
            wasserstein: 0.1,
        };
        let mut scene = Scene::new(WIDTH, 100.0, "");
        draw_row(&mut scene, &row, &panel, &panel.x((-5.0, 5.0)), 50.0);
        let tip = |at: f64, base: f64, colour| Shape::Area {
            points: vec![(at, 50.0), (base, 41.0), (base, 59.0)],
            colour,
            opacity: 1.0,
        };
        let words = |at: f64, words: &str, align| {
            Shape::Text(Text::new((at, 50.0), words, SMALL, VERMILLION).bold().align(align))
        };
        let expected = [
            tip(100.0, 114.0, SD),
            tip(300.0, 286.0, MEAN),
            words(122.0, "sd −30.0", Align::Left),
            words(278.0, "mean 20.0", Align::Right),
        ];
        assert_eq!(scene.shapes, expected);
    }

    #[test]
    fn shares_have_a_sign_and_few_digits() {
        let shown = [0.0123, -0.5, 0.00001, 25.0, -4.2e7, f64::NAN].map(share);
        assert_eq!(shown, ["+1.23 %", "−50.0 %", "0.00 %", "+2,500 %", "−4e9 %", "NaN"]);
        assert_eq!([0.0999, 0.09995, 0.00005].map(share), ["+9.99 %", "+10.0 %", "+0.01 %"]);
    }
}
