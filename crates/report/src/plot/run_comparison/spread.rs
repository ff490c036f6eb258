//! Differences of many parameters: their distribution beside the standard normal one.

use super::super::axis::Axis;
use super::super::palette::{Colour, INK, MUTED, VERMILLION};
use super::super::panel::{HEADING, MARGIN, Panel, SMALL};
use super::super::ppc::histogram;
use super::super::scene::{Scene, Text};
use super::draw::{MEAN, SD, bands};
use super::{BEYOND_2, BEYOND_4, RunComparisonPlot, RunDifference};
use crate::format::{count, significant};

const HEIGHT: f64 = 300.0;
const GAP: f64 = 70.0;
/// Bins in a standard error.
const FINE: f64 = 4.0;

/// Draws both histograms and returns where they end.
pub(super) fn draw(scene: &mut Scene, plot: &RunComparisonPlot, top: f64) -> f64 {
    let end = scene.width - MARGIN;
    let width = 0.5 * (scene.width - 2.0 * MARGIN - GAP);
    let mut left = Panel { left: MARGIN, top: top + 116.0, right: MARGIN + width, bottom: top + 116.0 + HEIGHT };
    let mut right = Panel { left: left.right + GAP, right: end, ..left };
    if scene.is_narrow() {
        left.right = end;
        right = left.lower(HEIGHT + 190.0);
    }
    draw_one(scene, plot, &left, ("means", MEAN), |row| row.z_mean);
    draw_one(scene, plot, &right, ("standard deviations", SD), |row| row.z_sd);
    right.bottom + 110.0
}

fn draw_one(
    scene: &mut Scene,
    plot: &RunComparisonPlot,
    panel: &Panel,
    (name, colour): (&str, Colour),
    of: fn(&RunDifference) -> f64,
) {
    let (_, defined) = plot.beyond(of, 0.0);
    let all = defined as f64;
    let title = format!("{} differences of {name}", count(defined as u64));
    scene.text(Text::new((panel.left, panel.top - 80.0), title, HEADING, INK).bold());
    let beyond = |limit: f64, chance: f64| {
        let (n, expected) = (plot.beyond(of, limit).0, chance * all);
        let words = format!("beyond {limit}: {} (by chance {})", count(n as u64), significant(expected, 2));
        let text = Text::new((0.0, 0.0), words, SMALL, MUTED);
        if is_far_from_chance(n, expected) { Text { colour: VERMILLION, ..text.bold() } } else { text }
    };
    let gap = if scene.is_narrow() { 14.0 } else { 28.0 };
    scene.texts((panel.left, panel.top - 42.0), gap, [beyond(2.0, BEYOND_2), beyond(4.0, BEYOND_4)]);
    // Whole standard errors, and what lies beyond at the edge.
    let reach = plot.reach().ceil();
    let x = panel.x((-reach, reach));
    bands(scene, panel, &x);
    panel.draw_x(scene, &x);
    panel.name_x(scene, "standard errors");
    let values: Vec<f64> = plot.rows.iter().map(of).filter(|z| !z.is_nan()).map(|z| z.clamp(-reach, reach)).collect();
    let bins = (2.0 * reach * FINE) as usize;
    let counts = histogram(&values, (-reach, reach), bins);
    let normal = |z: f64| all / FINE * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let highest = counts.iter().map(|&n| n as f64).fold(normal(0.0), f64::max).max(1.0);
    let y = Axis::linear((0.0, 1.06 * highest), panel.bottom, panel.top);
    for (i, &n) in counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
        let edge = |i: usize| x.px(-reach + i as f64 / FINE);
        // A single one is a line still.
        let up = y.px(n as f64).min(panel.bottom - 2.0);
        scene.rect((edge(i) + 1.0, up), (edge(i + 1) - 1.0, panel.bottom), colour, 0.65);
        let from = -reach + i as f64 / FINE;
        let words = format!("{} between {from} and {} standard errors", count(n as u64), from + 1.0 / FINE);
        scene.tip((edge(i), panel.top), (edge(i + 1), panel.bottom), words);
    }
    let curve = (0..=200).map(|i| -reach + 2.0 * reach * f64::from(i) / 200.0);
    scene.line(curve.map(|z| (x.px(z), y.px(normal(z)))).collect(), INK, 3.0);
}

/// Returns whether so many differences are far more than chance makes: parameters of one posterior are not independent,
/// so that only such a number is marked.
fn is_far_from_chance(count: usize, expected: f64) -> bool {
    count as f64 > 3.0 * expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_times_what_chance_makes_is_marked() {
        let marked = [(0, 0.0), (6, 2.0), (7, 2.0), (1, 0.4), (1, 0.3)].map(|(n, by)| is_far_from_chance(n, by));
        assert_eq!(marked, [false, false, true, false, true]);
    }
}
