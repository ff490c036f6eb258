//! A forest of more rows than labels fit: upright intervals side by side, sorted by mean.
//!
//! Where groups differ much more than each is uncertain, intervals vanish under their points; so below them the
//! same intervals stand once more, each about its own mean. R-hat comes last.

use super::super::axis::{Axis, extent};
use super::super::palette::{BLUE, Colour, INK, MUTED, PALE, SKY, VERMILLION};
use super::super::panel::{HEADING, LINE, MARGIN, Panel, SMALL, paragraph};
use super::super::scene::{Align, Scene, Text};
use super::super::{font, font::Weight};
use super::draw::draw_key;
use super::{ForestRow, ForestSection};
use crate::format::{count, significant};
use octopus_diag::limits;

const VALUES: f64 = 330.0;
const AROUND: f64 = 290.0;
const GAP: f64 = 52.0;
const RHATS: f64 = 90.0;
/// Room for tick labels.
const LEFT: f64 = 110.0;

/// Draws the block and returns its height.
pub(super) fn draw(scene: &mut Scene, section: &ForestSection, top: f64) -> f64 {
    let upper =
        Panel { left: MARGIN + LEFT, top: top + 110.0, right: scene.width - MARGIN, bottom: top + 110.0 + VALUES };
    // In a narrow picture the words above it take two lines.
    let gap = if scene.is_narrow() { GAP + LINE } else { GAP };
    let middle = Panel { top: upper.bottom + gap, bottom: upper.bottom + gap + AROUND, ..upper };
    let lower = Panel { top: middle.bottom + GAP, bottom: middle.bottom + GAP + RHATS, ..upper };
    let name = font::fit(&section.name, HEADING, Weight::Bold, (scene.width - 2.0 * MARGIN).min(700.0));
    scene.text(Text::new((MARGIN, top + 38.0), name, HEADING, INK).bold());
    let sorted = section.sorted();
    // A line needs a pixel: of more rows than that, every k-th is shown.
    let most = (upper.right - upper.left) as usize;
    let every = sorted.len().div_ceil(most);
    let shown: Vec<&ForestRow> = sorted.iter().copied().step_by(every).collect();
    let x = Axis::linear((0.0, shown.len() as f64), upper.left, upper.right);
    let truth = section.rows.iter().any(|row| row.truth.is_some());
    draw_key(scene, (MARGIN, top + 78.0), colours(shown.len(), &upper), means_join(shown.len(), &upper), truth);
    draw_intervals(scene, &upper, &shown, &x, section.range());
    // Of more than these nobody can point at one.
    if shown.len() <= MOST_TIPS {
        for (i, row) in shown.iter().enumerate() {
            scene.tip((x.px(i as f64), upper.top), (x.px(i as f64 + 1.0), middle.bottom), row.tip());
        }
    }
    let around: Vec<ForestRow> = shown.iter().map(|row| row.around_mean()).collect();
    let range = ForestSection { name: String::new(), rows: around.clone() }.range();
    draw_intervals(scene, &middle, &around.iter().collect::<Vec<_>>(), &x, range);
    let words = match section.coverage() {
        Some((inside, known)) => format!(
            "the same, each less its own mean; the truth lies inside the 89% HDI for {} of {}",
            count(inside as u64),
            count(known as u64)
        ),
        None => "the same, each less its own mean".to_owned(),
    };
    paragraph(scene, Text::new((middle.left, middle.top + GAP - gap - 20.0), words, SMALL, MUTED));
    draw_rhats(scene, &lower, &shown, &x, section);

    let words = match every {
        1 => {
            format!("{} elements of {}, from the lowest mean to the highest", count(sorted.len() as u64), section.name)
        }
        _ => format!("every {every}th of {} elements, from the lowest mean to the highest", count(sorted.len() as u64)),
    };
    let y = lower.bottom + 32.0;
    let below = if scene.is_narrow() {
        paragraph(scene, Text::new((upper.left, y), words, SMALL, MUTED))
    } else {
        let words = font::fit(&words, SMALL, Weight::Regular, upper.right - upper.left);
        scene.text(Text::new((0.5 * (upper.left + upper.right), y), words, SMALL, MUTED).align(Align::Center));
        0.0
    };
    lower.bottom - top + 70.0 + below
}

/// Rows that can be pointed at.
const MOST_TIPS: usize = 300;

/// Rows closer than this join to a band.
const BAND: f64 = 4.0;

/// Colours of the 50% and the 89% interval: paler for a band, which points would drown in.
fn colours(rows: usize, panel: &Panel) -> (Colour, Colour) {
    if (panel.right - panel.left) / (rows as f64) < BAND { (SKY, PALE) } else { (BLUE, SKY) }
}

/// Returns whether the means of as many `rows` are a line: points would touch.
fn means_join(rows: usize, panel: &Panel) -> bool {
    (panel.right - panel.left) / (rows as f64) < 8.0
}

fn draw_intervals(scene: &mut Scene, panel: &Panel, rows: &[&ForestRow], x: &Axis, range: (f64, f64)) {
    let y = panel.y(range);
    panel.draw_y(scene, &y);
    let pitch = (panel.right - panel.left) / rows.len() as f64;
    let (full, pale) = colours(rows.len(), panel);
    // Lines too close to be told apart join to a band, without the stripes of half-filled pixels.
    let (thin, thick) =
        if pitch < BAND { (pitch + 0.4, pitch + 0.4) } else { ((0.3 * pitch).min(3.0), (0.6 * pitch).min(7.0)) };
    // Each kind of mark in a pass of its own: the wide intervals under all narrow ones, lines under points under truths.
    for (wide, colour, width) in [(true, pale, thin), (false, full, thick)] {
        for (i, row) in rows.iter().enumerate() {
            let (at, (low, high)) = (x.px(i as f64 + 0.5), if wide { row.hdi89 } else { row.hdi50 });
            if low.is_finite() && high.is_finite() {
                scene.line(vec![(at, y.px(low)), (at, y.px(high).min(y.px(low) - 1.0))], colour, width);
            }
        }
    }
    if !means_join(rows.len(), panel) {
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.mean.is_finite()) {
            scene.disc((x.px(i as f64 + 0.5), y.px(row.mean)), (0.3 * pitch).min(5.0), INK);
        }
    } else {
        let means = rows.iter().enumerate().filter(|(_, row)| row.mean.is_finite());
        scene.line(means.map(|(i, row)| (x.px(i as f64 + 0.5), y.px(row.mean))).collect(), INK, 2.5);
    }
    let dot = (0.28 * pitch).clamp(1.9, 4.5);
    for (i, row) in rows.iter().enumerate() {
        if let Some(truth) = row.truth {
            scene.disc((x.px(i as f64 + 0.5), y.px(truth)), dot, VERMILLION);
        }
    }
}

/// R-hat of the same rows, with the limit as a line.
fn draw_rhats(scene: &mut Scene, panel: &Panel, rows: &[&ForestRow], x: &Axis, section: &ForestSection) {
    let finite = extent(section.rows.iter().map(|row| row.rhat));
    let (low, high) = finite.unwrap_or((1.0, limits::RHAT));
    let y = panel.y((low.min(0.999), high.max(limits::RHAT) + 0.1 * (high.max(limits::RHAT) - 1.0)));
    for value in [1.0, limits::RHAT] {
        let at = y.px(value);
        let colour = if value > 1.0 { VERMILLION } else { MUTED };
        scene.dashed((panel.left, at), (panel.right, at), colour, 1.5);
    }
    // With a high R-hat the two lines come close: their labels must not.
    let apart = y.px(1.0) - y.px(limits::RHAT) > 1.1 * SMALL;
    if apart {
        scene.text(Text::new((panel.left - 12.0, y.px(1.0)), "1.00", SMALL, MUTED).align(Align::Right));
    }
    scene.text(Text::new((panel.left - 12.0, y.px(limits::RHAT)), "1.01", SMALL, VERMILLION).align(Align::Right));
    let worst = section.rows.iter().map(|row| row.rhat).fold(f64::NAN, f64::max);
    let undefined = section.rows.iter().filter(|row| row.rhat.is_nan()).count();
    let mut words = format!("R-hat, worst {}", significant(worst, 4));
    if undefined > 0 {
        words += &format!(", {} not defined", count(undefined as u64));
    }
    scene.text(Text::new((panel.left, panel.top - 18.0), words, SMALL, MUTED));
    let pitch = (panel.right - panel.left) / rows.len() as f64;
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.rhat.is_finite()) {
        let colour = if row.rhat < limits::RHAT { BLUE } else { VERMILLION };
        scene.disc((x.px(i as f64 + 0.5), y.px(row.rhat)), (0.3 * pitch).clamp(1.4, 4.0), colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 4 pixels are still apart, and points of 8 pixels do not touch.
    #[test]
    fn rows_join_below_their_limits() {
        let panel = Panel { left: 100.0, top: 0.0, right: 900.0, bottom: 100.0 };
        assert_eq!([200, 201].map(|rows| colours(rows, &panel)), [(BLUE, SKY), (SKY, PALE)]);
        assert_eq!([100, 101].map(|rows| means_join(rows, &panel)), [false, true]);
    }
}
