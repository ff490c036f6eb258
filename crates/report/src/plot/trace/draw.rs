//! Drawing of the trace plot, with its title, caption and key: densities, traces and ranks of chains.

use super::super::axis::{Axis, extent, widened};
use super::super::chain_ranks::draw_ranks;
use super::super::palette::{Colour, GRID, INK, MUTED, VERMILLION, series};
use super::super::panel::{HEADING, Keys, LABEL, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, choose, font, font::Weight};
use super::{TracePlot, TraceRow, thinned};
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::{count, rate, significant};

const ROW: f64 = 270.0;
const DENSITY_RIGHT: f64 = 460.0;
const TRACE_LEFT: f64 = 580.0;
const TRACE_RIGHT: f64 = 1300.0;
const RANKS_LEFT: f64 = 1376.0;
/// In a narrow picture the draws stand below densities and ranks.
const NARROW_ROW: f64 = 486.0;
const NARROW_DENSITY_RIGHT: f64 = 350.0;
const NARROW_RANKS_LEFT: f64 = 410.0;
const NARROW_NUMBERS: f64 = 80.0;
/// The pixels in which a trace has its lowest and its highest draw.
const NARROW_COLUMN: f64 = 12.0;
/// More chains than this are not told apart by colour in the key.
const MOST_KEYS: usize = 8;
/// More traces than this are a blot; the densities still show all chains.
const MOST_TRACES: usize = 16;

const CAPTION: &str = "Draws of each chain in order, their densities, and their ranks among all draws. Good chains \
    look alike, wander nowhere, and have flat ranks.";

impl Plot for TracePlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "trace_plot", "Trace", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let chains = self.rows.iter().map(|row| row.chains.len()).max().unwrap_or(0);
        let draws = self.rows.iter().flat_map(|row| row.chains.iter().map(Vec::len)).max().unwrap_or(0);
        if chains == 0 || draws == 0 {
            return Err(ReportError::Empty { plot: "the trace plot", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Trace plot: draws of each chain, their densities and ranks");
        let note = note(chains, scene.is_narrow());
        let top = head(&mut scene, "Trace", &note);
        let mut top = choose::second_note(&mut scene, top, choose::words(self.rows.len(), self.parameters));
        top += self.draw_key(&mut scene, top + 10.0, chains) + 40.0;
        let height = if scene.is_narrow() { NARROW_ROW } else { ROW };
        scene.height = top + height * self.rows.len() as f64 + 60.0;
        for (i, row) in self.rows.iter().enumerate() {
            self.draw_row(&mut scene, row, top + height * i as f64, draws, i + 1 == self.rows.len());
        }
        Ok(scene)
    }
}

impl TracePlot {
    /// Returns the height of the key's lines below the first.
    fn draw_key(&self, scene: &mut Scene, y: f64, chains: usize) -> f64 {
        let mut keys = Keys::new(y);
        if chains <= MOST_KEYS {
            for chain in 0..chains {
                keys.stroke(scene, series(chain), false, &format!("chain {chain}"));
            }
        } else {
            let words = match chains.div_ceil(MOST_TRACES) {
                1 => format!("{chains} chains"),
                every => format!("densities of {chains} chains, traces of every {}", ordinal(every)),
            };
            keys.words(scene, &words);
        }
        if self.rows.iter().any(|row| row.truth.is_some()) {
            keys.stroke(scene, INK, true, "truth");
        }
        let divergent: usize = self.divergences.iter().map(Vec::len).sum();
        if divergent > 0 {
            let words = format!("{} divergent transitions", count(divergent as u64));
            keys.sign(scene, 46.0, &words, |scene, (x, y)| {
                for tick in 0..3 {
                    let at = x + 8.0 + 10.0 * f64::from(tick);
                    scene.line(vec![(at, y - 9.0), (at, y + 9.0)], VERMILLION, 2.5);
                }
            });
        }
        keys.below(y)
    }

    fn draw_row(&self, scene: &mut Scene, row: &TraceRow, top: f64, draws: usize, last: bool) {
        let ([left, middle, right], figures_at) = places(scene, top);
        let room = if scene.is_narrow() { right.right } else { left.right } - MARGIN;
        let name = font::fit(&row.name, HEADING, Weight::Bold, room);
        scene.text(Text::new((MARGIN, top + 22.0), name, HEADING, INK).bold());
        let figures = format!("R-hat {} · bulk ESS {}", significant(row.rhat, 4), rate(row.ess_bulk));
        scene.text(Text::new(figures_at, figures, LABEL, MUTED));

        let values = row.chains.iter().flatten().copied().chain(row.truth);
        let range = widened(extent(values).unwrap_or((0.0, 1.0)), 0.04);
        draw_densities(scene, row, &left, &left.x(range));
        self.draw_draws(scene, row, &middle, &middle.y(range), draws, last);
        if last {
            right.draw_x(scene, &right.x((0.0, 1.0)));
            // In a narrow picture the draws stand there.
            if !scene.is_narrow() {
                right.name_x(scene, "rank, as a share of all draws");
            }
        }
        draw_ranks(scene, &row.ranks, &right, MOST_KEYS);
    }

    fn draw_draws(&self, scene: &mut Scene, row: &TraceRow, panel: &Panel, y: &Axis, draws: usize, last: bool) {
        let x = panel.x((0.0, draws as f64));
        panel.draw_y(scene, y);
        if last {
            panel.draw_x(scene, &x);
            panel.name_x(scene, "draw");
        } else {
            scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], GRID, 1.5);
        }
        // A narrow picture stands in the page beside the wide one, and at half its size: less of it is seen, and it takes less.
        let pixels = if scene.is_narrow() { NARROW_COLUMN } else { 1.0 };
        let columns = ((panel.right - panel.left) / pixels) as usize;
        let width = if row.chains.len() > MOST_KEYS { 0.7 } else { 1.2 };
        let every = row.chains.len().div_ceil(MOST_TRACES).max(1);
        for (chain, values) in row.chains.iter().enumerate().step_by(every) {
            let points = thinned(values, columns);
            let points = points.into_iter().map(|(i, v)| (x.px(i as f64 + 0.5), y.px(v))).collect();
            // Without a key the colours only keep neighbours apart.
            scene.line(points, series(chain / every), width);
        }
        if let Some(truth) = row.truth {
            scene.dashed((panel.left, y.px(truth)), (panel.right, y.px(truth)), INK, 2.5);
        }
        for &draw in self.divergences.iter().flatten() {
            let at = x.px(draw as f64 + 0.5);
            scene.line(vec![(at, panel.bottom - 14.0), (at, panel.bottom)], VERMILLION, 2.0);
        }
    }
}

/// Returns advice on how to read the picture: with many chains the ranks are summed up.
fn note(chains: usize, narrow: bool) -> String {
    let ranks = if chains <= MOST_KEYS {
        "ranks of its draws among the draws of all chains, flat where chains agree".to_owned()
    } else {
        format!("ranks: median, 5% to 95% and range of the {chains} chains; dashes: 99% by chance")
    };
    if narrow {
        format!("left: density of each chain; below: its draws in order; right, on an axis from 0 to 1: {ranks}")
    } else {
        format!("left: density of each chain; middle: its draws in order; right: {ranks}")
    }
}

/// Returns the panels of densities, draws and ranks of the row that starts at `top`, and the place of its figures.
fn places(scene: &Scene, top: f64) -> ([Panel; 3], Point) {
    let end = scene.width - MARGIN;
    if scene.is_narrow() {
        let left = Panel { left: MARGIN, top: top + 84.0, right: NARROW_DENSITY_RIGHT, bottom: top + 244.0 };
        let right = Panel { left: NARROW_RANKS_LEFT, right: end, ..left };
        let below =
            Panel { left: MARGIN + NARROW_NUMBERS, top: top + 290.0, right: end, bottom: top + NARROW_ROW - 26.0 };
        return ([left, below, right], (MARGIN, top + 56.0));
    }
    let left = Panel { left: MARGIN, top: top + 50.0, right: DENSITY_RIGHT, bottom: top + ROW - 50.0 };
    let middle = Panel { left: TRACE_LEFT, right: TRACE_RIGHT, ..left };
    let right = Panel { left: RANKS_LEFT, right: end, ..left };
    ([left, middle, right], (TRACE_LEFT, top + 22.0))
}

fn ordinal(number: usize) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        _ => format!("{number}th"),
    }
}

fn draw_densities(scene: &mut Scene, row: &TraceRow, panel: &Panel, x: &Axis) {
    panel.draw_x(scene, x);
    let densities: Vec<(Colour, Option<Density>)> =
        row.chains.iter().enumerate().map(|(chain, values)| (series(chain), Density::of(values))).collect();
    let peak = densities.iter().filter_map(|(_, density)| density.as_ref()).map(Density::peak).fold(0.0, f64::max);
    let y = panel.y((0.0, if peak > 0.0 { 1.06 * peak } else { 1.0 }));
    let width = if row.chains.len() > MOST_KEYS { 1.2 } else { 2.5 };
    for (chain, (colour, density)) in densities.iter().enumerate() {
        match density {
            Some(density) => {
                let mut points: Vec<_> = density.points().map(|(v, d)| (x.px(v), y.px(d))).collect();
                // Down to the axis where the values end, as at the bound of a scale.
                if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
                    points.insert(0, (first.0, panel.bottom));
                    points.push((last.0, panel.bottom));
                }
                scene.line(points, *colour, width);
            }
            // All draws equal: a spike.
            None => {
                if let Some(&value) = row.chains[chain].iter().find(|v| v.is_finite()) {
                    scene.line(vec![(x.px(value), panel.bottom), (x.px(value), panel.top)], *colour, width);
                }
            }
        }
    }
    if !row.chains.iter().flatten().any(|v| v.is_finite()) {
        let at = (0.5 * (panel.left + panel.right), 0.5 * (panel.top + panel.bottom));
        scene.text(Text::new(at, "no finite draw", SMALL, VERMILLION).align(Align::Center));
    }
    if let Some(truth) = row.truth {
        scene.dashed((x.px(truth), panel.top), (x.px(truth), panel.bottom), INK, 2.5);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene;
    use super::*;
    use crate::sample::{Sample, Shape};

    #[test]
    fn a_row_without_a_finite_draw_says_so_in_its_middle() {
        let shape = Shape { groups: 1, chains: 2, draws: 10, truth: false, divergences: false };
        let mut row = Sample::new(shape).trace().rows.remove(0);
        row.chains = vec![vec![f64::NAN; 10]; 2];
        let panel = Panel { left: 100.0, top: 110.0, right: 300.0, bottom: 210.0 };
        let mut scene = Scene::new(WIDTH, 300.0, "");
        draw_densities(&mut scene, &row, &panel, &panel.x((0.0, 1.0)));
        let expected = Text::new((200.0, 160.0), "no finite draw", SMALL, VERMILLION).align(Align::Center);
        assert_eq!(scene.shapes.last(), Some(&scene::Shape::Text(expected)));
    }

    #[test]
    fn chains_without_draws_are_nothing_to_draw() {
        let shape = Shape { groups: 1, chains: 2, draws: 10, truth: false, divergences: false };
        let mut plot = Sample::new(shape).trace();
        plot.rows.truncate(1);
        plot.rows[0].chains = vec![vec![]; 2];
        assert!(matches!(plot.scene(), Err(ReportError::Empty { .. })));
    }

    #[test]
    fn small_ordinals_are_words() {
        assert_eq!([2, 3, 4, 11].map(ordinal), ["second", "third", "4th", "11th"]);
    }

    #[test]
    fn lines_are_thin_where_more_chains_than_the_key_names_lie_on_each_other() {
        for (chains, trace, density) in [(8, 1.2, 2.5), (9, 0.7, 1.2)] {
            let shape = Shape { groups: 1, chains, draws: 40, truth: false, divergences: false };
            let scene = Sample::new(shape).trace().scene().unwrap();
            let lines = |of: f64| {
                let wide = |shape: &&scene::Shape| matches!(shape, scene::Shape::Line { width, .. } if *width == of);
                scene.shapes.iter().filter(wide).count()
            };
            assert!(lines(trace) >= chains && lines(density) >= chains, "{chains}");
            assert_eq!(lines(0.7) > 0, chains > MOST_KEYS);
        }
    }
}
