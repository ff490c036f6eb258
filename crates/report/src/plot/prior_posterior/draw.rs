//! Drawing of prior and posterior densities, and of how much long arrays were narrowed, with its caption.

use super::super::axis::{Axis, extent};
use super::super::palette::{BLUE, Colour, INK, MUTED, ORANGE, VERMILLION};
use super::super::panel::{HEADING, Keys, MARGIN, Panel, SMALL, head};
use super::super::ppc::histogram;
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{Narrowing, PriorPosteriorPanel, PriorPosteriorPlot, WidthMeasure};
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::{count, significant};
use octopus_diag::quantile_of_sorted;

const COLUMNS: usize = 3;
const ROW: f64 = 440.0;
const GAP: f64 = 60.0;
const BINS: usize = 40;

const CAPTION: &str = "What was believed before and what the data left of it, with how many times narrower it became.";

impl Plot for PriorPosteriorPlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "prior_posterior_plot", "Prior and posterior", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let number = self.panels.len() + self.narrowings.len();
        if number == 0 {
            return Err(ReportError::Empty {
                plot: "the plot of prior and posterior",
                missing: "a variable with draws from the prior and from the posterior",
            });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Prior and posterior densities");
        let mut top = head(
            &mut scene,
            "Prior and posterior",
            "how narrow and how far off the posterior is from what was believed before; prior × n: drawn n times as high, to be seen",
        );
        let mut keys = Keys::new(top + 8.0);
        keys.stroke(&mut scene, ORANGE, false, "prior");
        keys.stroke(&mut scene, BLUE, false, "posterior");
        if self.panels.iter().any(|panel| panel.truth.is_some()) {
            keys.stroke(&mut scene, VERMILLION, true, "the value that made the data");
        }
        top += 44.0 + keys.below(top + 8.0);
        let columns = scene.columns(number.min(COLUMNS));
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        // In a narrow picture the name of an axis stands above the next panel's.
        let row = if scene.is_narrow() { ROW + 20.0 } else { ROW };
        let place = |i: usize| {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            let top = top + row * (i / columns) as f64;
            Panel { left, top: top + 96.0, right: left + width, bottom: top + ROW - 70.0 }
        };
        for (i, panel) in self.panels.iter().enumerate() {
            draw_panel(&mut scene, panel, &place(i));
        }
        for (i, narrowing) in self.narrowings.iter().enumerate() {
            draw_narrowing(&mut scene, narrowing, &place(self.panels.len() + i));
        }
        scene.height = top + row * number.div_ceil(columns) as f64;
        Ok(scene)
    }
}

fn title(scene: &mut Scene, place: &Panel, name: &str, parts: Vec<Text>) {
    let name = font::fit(name, HEADING, Weight::Bold, place.right - place.left);
    scene.text(Text::new((place.left, place.top - 70.0), name, HEADING, INK).bold());
    scene.texts((place.left, place.top - 32.0), 20.0, parts);
}

fn draw_panel(scene: &mut Scene, panel: &PriorPosteriorPanel, place: &Panel) {
    let words = |text: String, colour| Text::new((0.0, 0.0), text, SMALL, colour);
    let [prior, posterior] = panel.widths().map(|width| significant(width, 3));
    let widths = format!("{} {prior} to {posterior}", panel.width().name());
    title(scene, place, &panel.name, vec![words(panel.change(), BLUE).bold(), words(widths.clone(), MUTED)]);
    let x = place.x(panel.range());
    place.draw_x(scene, &x);
    // Far draws of heavy tails would leave the density's grid no point where the others are.
    let all = panel.width() == WidthMeasure::Sd;
    let shown = |value: &f64| all || x.contains(*value);
    let prior_draws: Vec<f64> = panel.prior.iter().copied().filter(shown).collect();
    let densities = [(&prior_draws, ORANGE), (&panel.posterior, BLUE)].map(|(v, colour)| (v, Density::of(v), colour));
    let [prior, posterior] = [0, 1].map(|i: usize| densities[i].1.as_ref().map_or(0.0, Density::peak));
    let times = magnification(prior, posterior);
    let peak = posterior.max(times * prior);
    let height = 1.06 * peak;
    if times > 1.0 {
        // At the side where the posterior is not.
        let mode = densities[1].1.as_ref().and_then(|d| d.points().max_by(|a, b| a.1.total_cmp(&b.1)));
        let right = mode.is_some_and(|(at, _)| x.px(at) > 0.5 * (place.left + place.right));
        let (at, align) = if right { (place.left + 6.0, Align::Left) } else { (place.right - 6.0, Align::Right) };
        let words = format!("prior × {}", count(times as u64));
        scene.text(Text::new((at, place.top + 14.0), words, SMALL, MUTED).align(align));
    }
    for ((values, density, colour), times) in densities.iter().zip([times, 1.0]) {
        match density {
            Some(density) => curve(scene, density, place, &x, &place.y((0.0, height / times)), *colour),
            None => spike(scene, values, place, &x, *colour),
        }
    }
    if densities.iter().all(|(values, ..)| values.iter().all(|v| !v.is_finite())) {
        let at = (0.5 * (place.left + place.right), 0.5 * (place.top + place.bottom));
        scene.text(Text::new(at, "no finite draw", SMALL, VERMILLION).align(Align::Center));
    }
    if let Some(truth) = panel.truth.filter(|&truth| x.contains(truth)) {
        scene.dashed((x.px(truth), place.top), (x.px(truth), place.bottom), VERMILLION, 3.0);
    }
    let words = format!("{}\n{}\n{widths}", panel.name, panel.change());
    scene.tip((place.left, place.top), (place.right, place.bottom), words);
}

fn curve(scene: &mut Scene, density: &Density, place: &Panel, x: &Axis, y: &Axis, colour: Colour) {
    let (low, high) = x.range();
    // Its own points, and a grid of the panel: a prior that reaches far beyond it has few points of its own inside.
    const POINTS: usize = 200;
    let grid = (0..POINTS).map(|i| low + (high - low) * i as f64 / (POINTS - 1) as f64);
    let own = density.points().map(|(v, _)| v).step_by(2).filter(|&v| x.contains(v));
    let mut values: Vec<f64> = grid.chain(own).collect();
    values.sort_by(f64::total_cmp);
    let points: Vec<_> = values.into_iter().map(|v| (x.px(v), y.px(density.at(v)))).collect();
    let mut outline = points.clone();
    outline.insert(0, (place.left, place.bottom));
    outline.push((place.right, place.bottom));
    scene.area(outline, colour, 0.2);
    scene.line(points, colour, 3.5);
}

/// Returns the factor by which the prior is drawn higher than it is, beside a posterior that would leave it no height:
/// 1, or the largest of 2, 5, 10, 20, 50, ... that keeps it below a third of the posterior.
fn magnification(prior: f64, posterior: f64) -> f64 {
    let room = posterior / (3.0 * prior);
    if !(room.is_finite() && prior > 0.0 && prior < 0.08 * posterior) {
        return 1.0;
    }
    let power = 10f64.powf(room.log10().floor());
    [5.0, 2.0].into_iter().map(|digit| digit * power).find(|&times| times <= room).unwrap_or(power).clamp(1.0, 1e9)
}

/// All draws equal: a line at their value.
fn spike(scene: &mut Scene, values: &[f64], place: &Panel, x: &Axis, colour: Colour) {
    let Some(&value) = values.iter().find(|v| v.is_finite()) else { return };
    scene.line(vec![(x.px(value), place.bottom), (x.px(value), place.top)], colour, 4.0);
}

fn draw_narrowing(scene: &mut Scene, narrowing: &Narrowing, place: &Panel) {
    let mut sorted: Vec<f64> = narrowing.ratios.iter().copied().filter(|v| v.is_finite() && *v > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let median = quantile_of_sorted(&sorted, 0.5);
    let elements = format!("{} elements", count(narrowing.ratios.len() as u64));
    let middle = format!("median {}", significant(median, 3));
    let words = |text: String, colour| Text::new((0.0, 0.0), text, SMALL, colour);
    title(scene, place, &narrowing.name, vec![words(middle.clone(), BLUE).bold(), words(elements.clone(), MUTED)]);
    let Some((low, high)) = extent(sorted.iter().copied().chain([1.0])).filter(|_| !sorted.is_empty()) else {
        let at = (0.5 * (place.left + place.right), 0.5 * (place.top + place.bottom));
        scene.text(Text::new(at, "no ratio is defined", SMALL, VERMILLION).align(Align::Center));
        return;
    };
    // From the nearest powers of the square root of ten, so that 1 stands where readers expect it.
    let half = |v: f64| 2.0 * v.log10();
    let (from, to) = (half(low * 0.9).floor(), half(high * 1.1).ceil());
    let x = Axis::log((10f64.powf(0.5 * from), 10f64.powf(0.5 * to)), place.left, place.right);
    place.draw_x(scene, &x);
    let measure = format!("posterior {width} / prior {width}", width = narrowing.width.name());
    place.name_x(scene, &measure);
    let logs: Vec<f64> = sorted.iter().map(|&v| half(v)).collect();
    let counts = histogram(&logs, (from, to), BINS);
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    let y = Axis::linear((0.0, 1.06 * highest as f64), place.bottom, place.top);
    let step = (place.right - place.left) / BINS as f64;
    for (i, &height) in counts.iter().enumerate().filter(|&(_, &height)| height > 0) {
        let left = place.left + step * i as f64;
        scene.rect((left + 1.0, y.px(height as f64)), (left + step - 1.0, place.bottom), BLUE, 0.5);
    }
    scene.dashed((x.px(1.0), place.top), (x.px(1.0), place.bottom), MUTED, 2.5);
    let range = format!("from {} to {}", significant(sorted[0], 3), significant(sorted[sorted.len() - 1], 3));
    let words = format!("{}: {elements}\n{measure}\n{middle}, {range}", narrowing.name);
    scene.tip((place.left, place.top), (place.right, place.bottom), words);
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn a_flat_prior_is_drawn_higher_by_a_round_number() {
        let shown = [0.5, 0.08, 0.05, 0.01, 0.001, 0.0, f64::NAN].map(|prior| magnification(prior, 1.0));
        assert_eq!(shown, [1.0, 1.0, 5.0, 20.0, 200.0, 1.0, 1.0]);
        // A posterior of one value is a spike, beside which no height would be enough.
        assert_eq!([magnification(1.0, f64::INFINITY), magnification(-1.0, 1.0)], [1.0, 1.0]);
    }

    #[test]
    fn draws_that_are_all_equal_are_an_upright_line() {
        let place = Panel { left: 100.0, top: 110.0, right: 500.0, bottom: 410.0 };
        let mut scene = Scene::new(WIDTH, 500.0, "");
        spike(&mut scene, &[f64::NAN, 2.0, 2.0], &place, &place.x((0.0, 4.0)), BLUE);
        spike(&mut scene, &[f64::NAN], &place, &place.x((0.0, 4.0)), ORANGE);
        let points = vec![(300.0, 410.0), (300.0, 110.0)];
        assert_eq!(scene.shapes, [Shape::Line { points, colour: BLUE, width: 4.0, opacity: 1.0 }]);
    }

    #[test]
    fn a_panel_without_a_finite_draw_says_so_in_its_middle() {
        let panel = PriorPosteriorPanel {
            name: "mu".to_owned(),
            prior: vec![f64::NAN; 4],
            posterior: vec![f64::INFINITY; 4],
            prior_sd: f64::NAN,
            posterior_sd: f64::NAN,
            truth: None,
        };
        let mut scene = Scene::new(WIDTH, 500.0, "");
        draw_panel(&mut scene, &panel, &Panel { left: 100.0, top: 110.0, right: 500.0, bottom: 410.0 });
        let expected = Text::new((300.0, 260.0), "no finite draw", SMALL, VERMILLION).align(Align::Center);
        assert!(scene.shapes.contains(&Shape::Text(expected)), "{:?}", scene.shapes);
    }
}
