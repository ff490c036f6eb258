//! Drawing of Pareto k against the observations, with their distribution (histogram) at the right.
//!
//! How many observations get a label stands here, with bins, title and caption.

use super::super::axis::Axis;
use super::super::label::{Labels, spread};
use super::super::palette::{BLUE, Colour, INK, MUTED, ORANGE, PALE, VERMILLION};
use super::super::panel::{Keys, LABEL, MARGIN, Panel, SMALL, head};
use super::super::ppc::histogram;
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{COLUMNS, Class, MOST_POINTS, MOST_SINGLE, NO_MEAN, ParetoKPlot};
use crate::error::ReportError;
use crate::format::{count, significant};
use octopus_diag::pareto_k_threshold;

const HEIGHT: f64 = 620.0;
const NUMBERS: f64 = 70.0;
/// The histogram's width, and the room for the lines' names right of it.
const SIDE: f64 = 170.0;
const NAMES: f64 = 210.0;
/// The histogram's width in a narrow picture.
const NARROW_SIDE: f64 = 120.0;
const BINS: usize = 50;
/// Names of observations.
const MOST_LABELS: usize = 12;
const WIDEST_LABEL: f64 = 320.0;
const MOST_TIPS: usize = 300;

const CAPTION: &str =
    "How far each observation moves the posterior; above the lines its leave-one-out estimate cannot be trusted.";

impl Plot for ParetoKPlot {
    fn about(&self) -> About {
        About::new(Subject::Predictive, "pareto_k_plot", "Pareto k", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.k.is_empty() {
            return Err(ReportError::Empty { plot: "the plot of Pareto k", missing: "an observation with a k" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Pareto k of each observation: can leave-one-out be trusted?");
        let many = self.k.len() > MOST_POINTS;
        let note = if many {
            let each = count(self.k.len().div_ceil(COLUMNS) as u64);
            format!("pale: range of k of {each} neighbouring observations, line: median")
        } else {
            "how far each observation moves the posterior".to_owned()
        };
        let note = format!("{note}; {}", self.limit_in_words());
        let top = head(&mut scene, "Pareto k", &note);
        let top = top + self.draw_counts(&mut scene, top + 8.0) + 74.0;
        let (names, side) = if scene.is_narrow() { (0.0, NARROW_SIDE) } else { (NAMES, SIDE) };
        let end = scene.width - MARGIN - names;
        let panel = Panel { left: MARGIN + NUMBERS, top, right: end - side, bottom: top + HEIGHT };
        let x = panel.x((-0.5, self.k.len() as f64 - 0.5));
        let y = panel.y(self.range());
        panel.draw_x(&mut scene, &x);
        panel.draw_y(&mut scene, &y);
        let mut labels = Labels::new(Panel { top: panel.top - 10.0, ..panel });
        self.draw_lines(&mut scene, &panel, end, &y, &mut labels);
        if many {
            self.draw_columns(&mut scene, &x, &y);
        } else {
            self.draw_points(&mut scene, &panel, &x, &y, &mut labels);
        }
        self.draw_worst(&mut scene, &x, &y, &mut labels, many);
        self.draw_side(&mut scene, &Panel { left: panel.right + 8.0, right: end, ..panel }, &y);
        panel.name_x(&mut scene, "observation");
        scene.height = panel.bottom + 90.0;
        Ok(scene)
    }
}

impl ParetoKPlot {
    fn colour(&self, k: f64) -> Colour {
        match self.class(k) {
            Class::Good => BLUE,
            Class::Bad => ORANGE,
            Class::VeryBad | Class::Undefined => VERMILLION,
        }
    }

    /// How many are of which class, in the key; returns the height of its lines below the first.
    fn draw_counts(&self, scene: &mut Scene, y: f64) -> f64 {
        /// The sign, the gap between the parts of its words, and what the gap after them has more than other keys.
        const BESIDE: [f64; 3] = [26.0, 8.0, 16.0];
        let threshold = significant(self.threshold(), 2);
        let all = self.k.len();
        let mut keys = Keys::new(y);
        for (class, colour, words) in [
            (Class::Good, BLUE, format!("good, up to {threshold}")),
            (Class::Bad, ORANGE, "bad, up to 1".to_owned()),
            (Class::VeryBad, VERMILLION, "very bad, above 1".to_owned()),
            (Class::Undefined, MUTED, "not defined".to_owned()),
        ] {
            let n = self.number(class);
            let is_possible = class != Class::Good || self.threshold().is_finite();
            if n == 0 && (class == Class::Undefined || !is_possible) {
                continue;
            }
            // 99.8 % must not become 100 %.
            let share = 100.0 * n as f64 / all as f64;
            let share = format!("{} %", significant(share, if share < 10.0 { 2 } else { 3 }));
            let ink = if n > 0 { INK } else { MUTED };
            let parts = [
                Text::new((0.0, 0.0), count(n as u64), SMALL, ink).bold(),
                Text::new((0.0, 0.0), format!("({share}) {words}"), SMALL, ink),
            ];
            let width = parts.iter().map(Text::width).sum::<f64>() + BESIDE.iter().sum::<f64>();
            let (at, y) = keys.place(scene, width);
            scene.disc((at + 8.0, y), 8.0, colour);
            scene.texts((at + BESIDE[0], y), BESIDE[1], parts);
        }
        if scene.is_narrow() {
            // There is no room for these words beside their lines.
            for (_, colour, words) in self.lines() {
                keys.stroke(scene, colour, true, &words);
            }
        }
        keys.below(y)
    }

    /// Says above which k leave-one-out is not to be trusted, and why there.
    fn limit_in_words(&self) -> String {
        if !self.threshold().is_finite() {
            return "a single draw is too few for a threshold".to_owned();
        }
        let draws = count(self.draws as u64);
        // The highest threshold does not follow from the number of draws.
        let because = if self.threshold() < pareto_k_threshold(usize::MAX) { ", 1 - 1 / log10(draws)" } else { "" };
        let threshold = significant(self.threshold(), 2);
        format!("of {draws} draws, leave-one-out can be trusted up to {threshold}{because}")
    }

    /// Returns the lines of the threshold and of 1, with colours and words.
    fn lines(&self) -> Vec<(f64, Colour, String)> {
        let mut lines = vec![(NO_MEAN, VERMILLION, "1: no mean".to_owned())];
        if self.threshold().is_finite() {
            lines.push((self.threshold(), ORANGE, format!("{}: bad above", significant(self.threshold(), 2))));
        }
        lines
    }

    /// The lines as far as `end`.
    fn draw_lines(&self, scene: &mut Scene, panel: &Panel, end: f64, y: &Axis, labels: &mut Labels) {
        let lines = self.lines();
        let heights: Vec<f64> = lines.iter().map(|line| y.px(line.0)).collect();
        let places = spread(&heights, 1.2 * SMALL, (panel.top, panel.bottom));
        for (((_, colour, words), at), place) in lines.into_iter().zip(heights).zip(places) {
            scene.dashed((panel.left, at), (end, at), colour, 2.0);
            labels.keep_free((panel.left, at - 2.0), (panel.right, at + 2.0));
            if !scene.is_narrow() {
                scene.text(Text::new((end + 12.0, place), words, SMALL, INK));
            }
        }
    }

    fn draw_points(&self, scene: &mut Scene, panel: &Panel, x: &Axis, y: &Axis, labels: &mut Labels) {
        let pitch = (panel.right - panel.left) / self.k.len() as f64;
        let radius = (0.45 * pitch).clamp(3.0, 8.0);
        for (i, &k) in self.k.iter().enumerate() {
            // An infinite one stands at the upper edge; one that is not defined nowhere.
            if k.is_nan() {
                continue;
            }
            let at = (x.px(i as f64), y.px(k));
            let radius = if self.class(k) == Class::Good { radius } else { radius.max(6.0) };
            scene.disc(at, radius, self.colour(k));
            labels.keep_point(at, radius);
        }
        if self.k.len() <= MOST_TIPS {
            for (i, &k) in self.k.iter().enumerate().filter(|(_, k)| !k.is_nan()) {
                self.tip(scene, i, k, (x.px(i as f64), y.px(k)));
            }
        }
    }

    fn draw_columns(&self, scene: &mut Scene, x: &Axis, y: &Axis) {
        let columns = self.columns();
        let mut band: Vec<_> = columns.iter().map(|c| (x.px(c.at), y.px(c.high))).collect();
        band.extend(columns.iter().rev().map(|c| (x.px(c.at), y.px(c.low))));
        scene.area(band, PALE, 1.0);
        scene.line(columns.iter().map(|c| (x.px(c.at), y.px(c.median))).collect(), BLUE, 2.5);
    }

    /// Names of the worst; in a picture of many also their points.
    fn draw_worst(&self, scene: &mut Scene, x: &Axis, y: &Axis, labels: &mut Labels, many: bool) {
        let worst = self.worst();
        let place = |i: usize| (x.px(i as f64), y.px(self.k[i]));
        if many {
            for &i in worst.iter().take(MOST_SINGLE).rev() {
                scene.disc(place(i), 4.0, self.colour(self.k[i]));
                labels.keep_point(place(i), 4.0);
            }
        }
        if many || self.k.len() > MOST_TIPS {
            for &i in worst.iter().take(MOST_TIPS) {
                self.tip(scene, i, self.k[i], place(i));
            }
        }
        for &i in worst.iter().take(MOST_LABELS) {
            let name = font::fit(&self.label(i), SMALL, Weight::Regular, WIDEST_LABEL);
            labels.place(scene, place(i), Text::new((0.0, 0.0), name, SMALL, INK));
        }
    }

    fn tip(&self, scene: &mut Scene, index: usize, k: f64, (x, y): (f64, f64)) {
        let words = format!("observation {}\nk {}", self.label(index), significant(k, 3));
        scene.tip((x - 8.0, y - 8.0), (x + 8.0, y + 8.0), words);
    }

    /// The distribution of all k, lying on its side.
    fn draw_side(&self, scene: &mut Scene, panel: &Panel, y: &Axis) {
        let (low, high) = y.range();
        let counts = histogram(&self.k, (low, high), BINS);
        let highest = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let step = (panel.bottom - panel.top) / BINS as f64;
        for (i, &n) in counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let lower = panel.bottom - step * i as f64;
            let middle = low + (high - low) * (i as f64 + 0.5) / BINS as f64;
            // A single observation among thousands is still a line.
            let to = panel.left + ((panel.right - panel.left - 12.0) * n as f64 / highest).max(2.0);
            scene.rect((panel.left, lower - 1.0), (to, lower - step + 1.0), self.colour(middle), 0.55);
            let edge = |i: usize| significant(low + (high - low) * i as f64 / BINS as f64, 2);
            let words = format!("{} observations\nk {} to {}", count(n as u64), edge(i), edge(i + 1));
            scene.tip((panel.left, lower - step), (panel.right, lower), words);
        }
        scene.line(vec![(panel.left, panel.top), (panel.left, panel.bottom)], MUTED, 1.5);
        let name = Text::new((0.5 * (panel.left + panel.right), panel.bottom + 58.0), "how many", SMALL, MUTED);
        scene.text(name.align(Align::Center));
        scene.text(Text::new((MARGIN, panel.top - 24.0), "k", LABEL, INK).bold());
    }
}
