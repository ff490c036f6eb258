//! Drawing of a profile, with its title, caption and colours: time runs to the right, a row for each kind of work.

use super::super::palette::{BLUE, GRID, INK, MUTED, SHADE};
use super::super::panel::{MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ProfilePlot, ProfileRow, merged};
use crate::error::ReportError;
use crate::format::{count, seconds};

const ROW: f64 = 44.0;
/// What a row of a narrow picture has above its bars: its name and its figures.
const ABOVE: f64 = 32.0;
const BAR: f64 = 26.0;
const WIDEST_NAME: f64 = 420.0;
/// Room at the right for the seconds, the share and the number of pieces.
const FIGURES: [f64; 3] = [130.0, 110.0, 130.0];
/// Pieces that are drawn closer than this, in pixels, are drawn as one; none is thinner.
const THIN: f64 = 1.0;
/// The most rows of a picture.
const MOST_ROWS: usize = 40;

const CAPTION: &str = "Each bar is a piece of work, grey where it waits; a kind of work that encloses others stands above them. What a GPU \
     did by its own clock comes last: rows of all its kernels and all its copies, then of each kind.";

impl Plot for ProfilePlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "profile_plot", "What was done when", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.rows.is_empty() {
            return Err(ReportError::Empty { plot: "the plot of a profile", missing: "a span" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Profile: what was done when");
        let rows = self.shown();
        let left_out = self.rows.len() - rows.len();
        let also = if left_out == 0 { String::new() } else { format!("; {left_out} kinds of less work are left out") };
        let note = format!("each bar is a piece of work, grey where it waits; {} in all{also}", seconds(self.seconds));
        let top = head(&mut scene, "What was done when", &note) + 40.0;
        // A narrow picture has no room for the number of pieces: it stands in the words for who points at a row.
        let (columns, above) = if scene.is_narrow() { (2, ABOVE) } else { (3, 0.0) };
        let names: Vec<String> =
            rows.iter().map(|row| font::fit(&row.name, SMALL, Weight::Regular, WIDEST_NAME)).collect();
        let widest = names.iter().map(|name| font::width(name, SMALL, Weight::Regular)).fold(0.0, f64::max);
        let end = scene.width - MARGIN;
        let from = end - FIGURES[..columns].iter().sum::<f64>();
        // The last number of a narrow axis may be long, too.
        let (left, right) = if scene.is_narrow() { (MARGIN, end - 12.0) } else { (MARGIN + widest + 24.0, from) };
        let panel = Panel { left, top, right, bottom: top + (above + ROW) * rows.len() as f64 };
        // A profile of a moment has a width, too.
        let x = panel.x((0.0, self.seconds.max(1e-9)));
        panel.draw_x(&mut scene, &x);
        panel.name_x(&mut scene, "seconds");
        let ends = ends(from);
        for (at, word) in ends.into_iter().take(columns).zip(["busy", "share", "pieces"]) {
            scene.text(Text::new((at, top - 18.0), word, SMALL, MUTED).align(Align::Right));
        }
        for (i, (row, name)) in rows.into_iter().zip(names).enumerate() {
            let y = panel.top + (above + ROW) * (i as f64 + 1.0) - ROW / 2.0;
            scene.line(vec![(panel.left, y), (panel.right, y)], GRID, 1.5);
            let beside = if above > 0.0 { (0.0, Align::Left) } else { (16.0, Align::Right) };
            scene.text(Text::new((panel.left - beside.0, y - above), name, SMALL, INK).align(beside.1));
            let colour = if row.name.starts_with("wait") { SHADE } else { BLUE };
            for (begin, end) in merged(&row.spans, narrowest(&panel, self.seconds)) {
                let (from, to) = (x.px(begin), x.px(end));
                scene.rect((from, y - BAR / 2.0), (to.max(from + THIN), y + BAR / 2.0), colour, 1.0);
            }
            let busy = row.busy();
            let share = if self.seconds > 0.0 { busy / self.seconds } else { 1.0 };
            let figures = [seconds(busy), format!("{:.1} %", 100.0 * share), count(row.spans.len() as u64)];
            let tip = format!("{}\n{} in {} pieces", row.name, figures[0], figures[2]);
            for (at, words) in ends.into_iter().zip(figures).take(columns) {
                scene.text(Text::new((at, y - above), words, SMALL, INK).align(Align::Right));
            }
            scene.tip((MARGIN, y - above - ROW / 2.0), (ends[columns - 1], y + ROW / 2.0), tip);
        }
        scene.height = panel.bottom + 92.0;
        Ok(scene)
    }
}

/// Returns the seconds that a panel of so many shows as one pixel.
fn narrowest(panel: &Panel, seconds: f64) -> f64 {
    THIN / (panel.right - panel.left) * seconds
}

impl ProfilePlot {
    /// Returns the rows that fit a picture: those with the most work, in their order.
    fn shown(&self) -> Vec<&ProfileRow> {
        let mut by_work: Vec<(usize, f64)> = self.rows.iter().map(ProfileRow::busy).enumerate().collect();
        by_work.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut kept: Vec<usize> = by_work.into_iter().take(MOST_ROWS).map(|(i, _)| i).collect();
        kept.sort_unstable();
        kept.into_iter().map(|i| &self.rows[i]).collect()
    }
}

/// Returns where the columns of figures end, to the right of `from`.
fn ends(from: f64) -> [f64; 3] {
    let [busy, share, pieces] = FIGURES;
    [from + busy, from + busy + share, from + busy + share + pieces]
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::Shape;
    use super::super::super::sound;
    use super::*;

    fn row(name: &str, spans: &[(f64, f64)]) -> ProfileRow {
        ProfileRow { name: name.to_owned(), spans: spans.to_vec() }
    }

    #[test]
    fn a_profile_of_stages_and_pieces_is_sound() {
        let draws: Vec<(f64, f64)> = (0..40).map(|k| (0.1 + 0.05 * f64::from(k), 0.14 + 0.05 * f64::from(k))).collect();
        let rows = vec![row("stage: sample", &[(0.0, 2.2)]), row("draw", &draws), row("write a file", &[(2.2, 2.5)])];
        sound("a profile", &ProfilePlot { rows, seconds: 2.5 });
        sound("a moment", &ProfilePlot { rows: vec![row("draw", &[(0.0, 0.0)])], seconds: 0.0 });
        let long = "a kind of work whose name is too long to stand beside its row in any picture of this width";
        sound("a long name", &ProfilePlot { rows: vec![row(long, &[(0.0, 1.0)])], seconds: 1.0 });
    }

    #[test]
    fn pieces_closer_than_a_pixel_are_drawn_as_one() {
        let panel = Panel { left: 100.0, top: 0.0, right: 600.0, bottom: 10.0 };
        assert_eq!(narrowest(&panel, 1000.0), 2.0);
    }

    #[test]
    fn the_most_work_is_shown_in_its_order() {
        let rows: Vec<ProfileRow> =
            (0..MOST_ROWS + 2).map(|i| row(&format!("work {i}"), &[(0.0, 1.0 + (i % 7) as f64)])).collect();
        let profile = ProfilePlot { rows, seconds: 7.0 };
        let shown: Vec<&str> = profile.shown().iter().map(|row| row.name.as_str()).collect();
        assert_eq!(shown.len(), MOST_ROWS);
        // Of those with the least work, the last two are left out.
        assert!(!shown.contains(&"work 35") && !shown.contains(&"work 28") && shown.contains(&"work 21"), "{shown:?}");
        assert!(shown.is_sorted_by_key(|name| name[5..].parse::<usize>().unwrap()));
        sound("many rows", &profile);
    }

    #[test]
    fn pieces_that_cannot_be_told_apart_are_one_bar() {
        let bars = |spans: &[(f64, f64)]| {
            let scene = ProfilePlot { rows: vec![row("draw", spans)], seconds: 1.0 }.scene().unwrap();
            scene.shapes.iter().filter(|shape| matches!(shape, Shape::Area { .. })).count()
        };
        assert_eq!(bars(&[(0.0, 0.1), (0.1001, 0.2)]), 1);
        assert_eq!(bars(&[(0.0, 0.1), (0.15, 0.2)]), 2);
    }

    #[test]
    fn an_empty_profile_has_nothing_to_draw() {
        let error = ProfilePlot { rows: vec![], seconds: 0.0 }.scene().unwrap_err();
        assert_eq!(error.to_string(), "the plot of a profile has nothing to draw: a span");
    }
}
