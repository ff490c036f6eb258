//! Drawing of the pair plot: densities on the diagonal, pairs below it.
//!
//! How many dots and divergent draws are drawn, and in which colour, stands here, with title, caption and key.

use super::super::axis::{Axis, extent, widened};
use super::super::grid::say;
use super::super::palette::{BLUE, GRID, INK, MUTED, PALE, SKY, VERMILLION};
use super::super::panel::{HEADING, Keys, LINE, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, choose, font, font::Weight};
use super::regions::{Plane, unit};
use super::{PairPlot, PairVariable};
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::count;
use octopus_diag::quantile_of_sorted;

const GAP: f64 = 36.0;
const NARROW_GAP: f64 = 24.0;
/// Above each row: the name of its variable.
const NAME: f64 = 52.0;
const NUMBERS: f64 = 92.0;
const TALLEST: f64 = 430.0;
/// Dots of all pairs together: more make a blot, and a file that no page wants.
const MOST_DOTS: usize = 2000;
/// Divergent draws of one pair.
const MOST_DIVERGENT: usize = 100;

const CAPTION: &str = "Pairs of variables with the draws whose transitions diverged: where those gather, the \
    posterior is hard to sample.";

impl Plot for PairPlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "pair_plot", "Pairs", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let size = self.variables.len();
        if self.variables.iter().all(|variable| variable.draws.is_empty()) {
            return Err(ReportError::Empty { plot: "the pair plot", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Pair plot: pairs of variables, with divergent transitions");
        let note = "below the diagonal: pairs of variables with the regions of 50% and 90% of the draws; on it: densities; each axis without the outermost 1%";
        let top = head(&mut scene, "Pairs", note);
        let words = choose::related_words(size, self.parameters, self.divergent.len());
        let top = choose::second_note(&mut scene, top, words);
        let (dots, mut below) = self.draw_key(&mut scene, top + 8.0);
        let names = self.names(scene.is_narrow());
        if scene.is_narrow() {
            below += self.draw_names(&mut scene, top + 8.0 + below + LINE, &names) + LINE;
        }
        let top = top + 30.0 + below;
        let gap = gap(&scene);
        let width = (scene.width - 2.0 * MARGIN - NUMBERS - gap * (size - 1) as f64) / size as f64;
        let height = width.min(TALLEST);
        let cell = |row: usize, column: usize| {
            let left = MARGIN + NUMBERS + (width + gap) * column as f64;
            let top = top + (NAME + height) * row as f64 + NAME;
            Panel { left, top, right: left + width, bottom: top + height }
        };
        let ranges: Vec<(f64, f64)> = self.variables.iter().map(|variable| self.range(variable)).collect();
        for row in 0..size {
            for column in 0..row {
                let panel = cell(row, column);
                self.draw_pair(
                    &mut scene,
                    (row, column),
                    &panel,
                    (&panel.x(ranges[column]), &panel.y(ranges[row])),
                    dots,
                );
            }
            let panel = cell(row, row);
            self.draw_density(&mut scene, (&self.variables[row], &names[row]), &panel, &panel.x(ranges[row]));
        }
        for column in 0..size {
            let panel = cell(size - 1, column);
            draw_numbers(&mut scene, &panel, &panel.x(ranges[column]));
            let name = font::fit(&names[column], SMALL, Weight::Regular, width);
            panel.name_x(&mut scene, &name);
        }
        scene.height = cell(size - 1, 0).bottom + 90.0;
        Ok(scene)
    }
}

impl PairPlot {
    /// Names of the variables, or numbers for which a narrow picture has room.
    fn names(&self, narrow: bool) -> Vec<String> {
        let name =
            |(i, variable): (usize, &PairVariable)| if narrow { (i + 1).to_string() } else { variable.name.clone() };
        self.variables.iter().enumerate().map(name).collect()
    }

    /// Says which number is which variable; returns the height of the lines below the first.
    fn draw_names(&self, scene: &mut Scene, y: f64, numbers: &[String]) -> f64 {
        let mut keys = Keys::new(y);
        for (variable, number) in self.variables.iter().zip(numbers) {
            let indent = font::width(number, SMALL, Weight::Bold) + 8.0;
            keys.sign(scene, indent, &variable.name, |scene, at| {
                scene.text(Text::new(at, number.as_str(), SMALL, INK).bold());
            });
        }
        keys.below(y)
    }

    /// Every how many draws there is a dot, and the height of the lines below the first. Says what dots mean.
    fn draw_key(&self, scene: &mut Scene, y: f64) -> (usize, f64) {
        let size = self.variables.len();
        let draws = self.variables.first().map_or(0, |variable| variable.draws.len());
        let pairs = (size * (size - 1) / 2).max(1);
        let every = draws.div_ceil(MOST_DOTS / pairs).max(1);
        let mut keys = Keys::new(y);
        if size > 1 {
            let words = match every {
                1 => format!("each of {} draws", count(draws as u64)),
                _ => format!("one of every {every} of {} draws", count(draws as u64)),
            };
            keys.dot(scene, 5.0, BLUE, &words);
        }
        let shown = self.divergent.len().min(MOST_DIVERGENT);
        let all = count(self.divergent.len() as u64);
        let words = match self.divergent.len() {
            0 => "no transition diverged".to_owned(),
            1 => "1 divergent transition".to_owned(),
            n if n > shown => format!("{shown} of {all} divergent transitions"),
            _ => format!("{all} divergent transitions"),
        };
        keys.dot(scene, 6.0, VERMILLION, &words);
        if self.variables.iter().any(|variable| variable.truth.is_some()) {
            keys.stroke(scene, INK, true, "truth");
        }
        (every, keys.below(y))
    }

    /// All draws but the outermost 1%, which would squeeze the others, and the divergent ones.
    fn range(&self, variable: &PairVariable) -> (f64, f64) {
        let mut sorted: Vec<f64> = variable.draws.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let bulk = [quantile_of_sorted(&sorted, 0.005), quantile_of_sorted(&sorted, 0.995)];
        let divergent = self.divergent.iter().filter_map(|&i| variable.draws.get(i).copied());
        let range = extent(bulk.into_iter().chain(divergent)).unwrap_or((0.0, 1.0));
        // An axis makes room around a range of one value, and here points should lie in its middle too.
        widened(range, 0.03)
    }

    fn divergent(&self) -> impl Iterator<Item = usize> + '_ {
        let every = self.divergent.len().div_ceil(MOST_DIVERGENT).max(1);
        self.divergent.iter().copied().step_by(every)
    }

    fn draw_pair(
        &self,
        scene: &mut Scene,
        (row, column): (usize, usize),
        panel: &Panel,
        (x, y): (&Axis, &Axis),
        every: usize,
    ) {
        let (across, up) = (&self.variables[column], &self.variables[row]);
        let pairs = || across.draws.iter().copied().zip(up.draws.iter().copied());
        if column == 0 {
            panel.draw_y(scene, y);
        }
        let places = unit(x, y, pairs());
        let place = |(a, b): (f64, f64)| {
            (panel.left + a * (panel.right - panel.left), panel.bottom - b * (panel.bottom - panel.top))
        };
        if let Some(plane) = Plane::of(&places) {
            for (mass, colour) in [(0.9, PALE), (0.5, SKY)] {
                for outline in plane.outlines(plane.level(mass)) {
                    scene.area(outline.into_iter().map(place).collect(), colour, 1.0);
                }
            }
        }
        for point in pairs().step_by(every).filter(|&(a, b)| x.contains(a) && y.contains(b)) {
            scene.disc((x.px(point.0), y.px(point.1)), 2.0, BLUE);
        }
        for i in self.divergent() {
            if let (Some(&a), Some(&b)) = (across.draws.get(i), up.draws.get(i))
                && a.is_finite()
                && b.is_finite()
            {
                scene.disc((x.px(a), y.px(b)), 4.0, VERMILLION);
            }
        }
        for (truth, at) in [(across.truth, true), (up.truth, false)] {
            match truth {
                Some(v) if at && x.contains(v) => scene.dashed((x.px(v), panel.top), (x.px(v), panel.bottom), INK, 1.6),
                Some(v) if !at && y.contains(v) => {
                    scene.dashed((panel.left, y.px(v)), (panel.right, y.px(v)), INK, 1.6);
                }
                _ => {}
            }
        }
        frame(scene, panel);
        let words = format!("{} (across) and {} (up)", across.name, up.name);
        scene.tip((panel.left, panel.top), (panel.right, panel.bottom), words);
    }

    fn draw_density(&self, scene: &mut Scene, (variable, name): (&PairVariable, &str), panel: &Panel, x: &Axis) {
        let name = font::fit(name, HEADING, Weight::Bold, panel.right - panel.left);
        scene.text(Text::new((panel.left, panel.top - 24.0), name, HEADING, INK).bold());
        match Density::of(&variable.draws) {
            Some(density) => {
                let y = panel.y((0.0, 1.08 * density.peak()));
                let inside = density.points().filter(|&(v, _)| x.contains(v));
                let mut points: Vec<_> = inside.map(|(v, d)| (x.px(v), y.px(d))).collect();
                if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
                    points.insert(0, (first.0, panel.bottom));
                    points.push((last.0, panel.bottom));
                }
                scene.area(points.clone(), SKY, 0.35);
                scene.line(points, BLUE, 3.0);
            }
            None => match variable.draws.iter().find(|v| v.is_finite()) {
                Some(&v) => scene.line(vec![(x.px(v), panel.bottom), (x.px(v), panel.top)], BLUE, 4.0),
                None => say(scene, panel, "no finite draw"),
            },
        }
        for v in self.divergent().filter_map(|i| variable.draws.get(i)).filter(|v| v.is_finite()) {
            scene.line(vec![(x.px(*v), panel.bottom - 14.0), (x.px(*v), panel.bottom)], VERMILLION, 2.0);
        }
        if let Some(truth) = variable.truth.filter(|&truth| x.contains(truth)) {
            scene.dashed((x.px(truth), panel.top), (x.px(truth), panel.bottom), INK, 2.0);
        }
        scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], MUTED, 2.0);
    }
}

fn frame(scene: &mut Scene, panel: &Panel) {
    scene.line(vec![(panel.left, panel.top), (panel.right, panel.top), (panel.right, panel.bottom)], GRID, 1.5);
    scene.line(vec![(panel.left, panel.top), (panel.left, panel.bottom), (panel.right, panel.bottom)], MUTED, 1.5);
}

fn gap(scene: &Scene) -> f64 {
    if scene.is_narrow() { NARROW_GAP } else { GAP }
}

/// Numbers below the lowest row; none so near an end that it meets its neighbour's.
fn draw_numbers(scene: &mut Scene, panel: &Panel, x: &Axis) {
    const APART: f64 = 4.0;
    let room = 0.5 * gap(scene) - 5.0;
    let mut end = f64::NEG_INFINITY;
    for tick in x.ticks(panel.x_ticks().max(3)) {
        let at = x.px(tick.value);
        let text = Text::new((at, panel.bottom + 24.0), tick.label, SMALL, MUTED).align(Align::Center);
        let half = 0.5 * text.width();
        if at - half >= (panel.left - room).max(end + APART) && at + half <= panel.right + room {
            end = at + half;
            scene.line(vec![(at, panel.bottom), (at, panel.bottom + 7.0)], MUTED, 1.5);
            scene.text(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn the_key_tells_how_many_divergent_draws_there_are_and_are_shown() {
        for (divergent, words) in [
            (0, "no transition diverged"),
            (1, "1 divergent transition"),
            (100, "100 divergent transitions"),
            (101, "100 of 101 divergent transitions"),
        ] {
            let variable = PairVariable { name: "mu".to_owned(), draws: vec![0.5; 200], truth: None };
            let plot = PairPlot { variables: vec![variable], divergent: (0..divergent).collect(), parameters: 1 };
            let mut scene = Scene::new(WIDTH, 100.0, "");
            plot.draw_key(&mut scene, 50.0);
            // One variable has no pair, whose dots would be told about.
            let [Shape::Disc { .. }, Shape::Text(text)] = &scene.shapes[..] else { panic!("{:?}", scene.shapes) };
            assert_eq!(text.text, words);
        }
    }
}
