//! Drawing of the posterior plot, with its title, caption, densities and intervals.

use super::super::axis::Axis;
use super::super::palette::{BLUE, INK, MUTED, VERMILLION};
use super::super::panel::{HEADING, LABEL, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{PosteriorPanel, PosteriorPlot};
use crate::error::ReportError;
use crate::estimate::Density;
use crate::format::{percent, significant};

const COLUMNS: usize = 3;
const ROW: f64 = 560.0;
const GAP: f64 = 60.0;
/// Below the density: the interval's bar and its numbers.
const STRIP: f64 = 70.0;

const CAPTION: &str = "What the data say about each scalar: its density, mean, and 89% highest-density interval.";

impl Plot for PosteriorPlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "posterior_plot", "Posterior", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.panels.is_empty() {
            return Err(ReportError::Empty { plot: "the posterior plot", missing: "a variable with draws" });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "Posterior densities with mean, 89% HDI and truth");
        let columns = scene.columns(self.panels.len().min(COLUMNS));
        let truths = self.panels.iter().any(|panel| panel.truth.is_some());
        let note = if truths {
            "density of all draws; blue line: mean; bar: 89% HDI, the shortest interval with 89% of the draws; dashed: the value that made the data"
        } else {
            "density of all draws; blue line: mean; bar: 89% HDI, the shortest interval with 89% of the draws"
        };
        let top = head(&mut scene, "Posterior", note);
        scene.height = top + 10.0 + ROW * self.panels.len().div_ceil(columns) as f64;
        let width = (scene.width - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        for (i, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + (width + GAP) * (i % columns) as f64;
            let top = top + ROW * (i / columns) as f64;
            let place = Panel { left, top: top + 110.0, right: left + width, bottom: top + ROW - 60.0 };
            draw_panel(&mut scene, panel, place, top);
        }
        Ok(scene)
    }
}

fn draw_panel(scene: &mut Scene, panel: &PosteriorPanel, place: Panel, top: f64) {
    let room = place.right - place.left;
    let name = font::fit(&panel.name, HEADING, Weight::Bold, room);
    scene.text(Text::new((place.left, top + 30.0), name, HEADING, INK).bold());
    let mut parts = vec![
        Text::new((0.0, 0.0), format!("mean {}", significant(panel.mean, 4)), LABEL, BLUE),
        Text::new((0.0, 0.0), format!("sd {}", significant(panel.sd, 3)), LABEL, MUTED),
    ];
    if let Some(truth) = panel.truth {
        parts.push(Text::new((0.0, 0.0), format!("truth {}", significant(truth, 4)), LABEL, VERMILLION));
    }
    scene.texts((place.left, top + 68.0), 24.0, parts);

    let x = place.x(panel.range());
    place.draw_x(scene, &x);
    let base = place.bottom - STRIP;
    draw_density(scene, panel, &x, place.top, base);
    draw_interval(scene, panel, &x, &place, base);
    if let Some(truth) = panel.truth {
        draw_truth(scene, truth, &x, &place, base);
    }
}

fn draw_density(scene: &mut Scene, panel: &PosteriorPanel, x: &Axis, top: f64, base: f64) {
    let Some(density) = Density::of(&panel.draws) else {
        // All draws equal: a spike.
        if let Some(&value) = panel.draws.iter().find(|v| v.is_finite()) {
            scene.line(vec![(x.px(value), base), (x.px(value), top)], BLUE, 4.0);
        } else {
            let at = (0.5 * (x.px(f64::MIN) + x.px(f64::MAX)), 0.5 * (top + base));
            scene.text(Text::new(at, "no finite draw", SMALL, VERMILLION).align(Align::Center));
        }
        return;
    };
    let y = Axis::linear((0.0, 1.05 * density.peak()), base, top);
    let curve: Vec<_> = density.points().filter(|&(v, _)| x.contains(v)).map(|(v, d)| (x.px(v), y.px(d))).collect();
    if let (Some(first), Some(last)) = (curve.first(), curve.last()) {
        let mut outline = curve.clone();
        outline.insert(0, (first.0, base));
        outline.push((last.0, base));
        scene.area(outline.clone(), BLUE, 0.18);
        scene.line(outline, BLUE, 3.5);
    }
    if x.contains(panel.mean) {
        let at = x.px(panel.mean);
        scene.line(vec![(at, base), (at, y.px(density.at(panel.mean)))], BLUE, 3.0);
    }
    tell_shares(scene, panel, x, top, base);
}

/// Tells readers who point at a value how much of the posterior lies below it.
fn tell_shares(scene: &mut Scene, panel: &PosteriorPanel, x: &Axis, top: f64, base: f64) {
    const STRIPS: usize = 30;
    let mut sorted: Vec<f64> = panel.draws.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = x.range();
    let at = |strip: f64| low + (high - low) * strip / STRIPS as f64;
    for strip in 0..STRIPS {
        let value = at(strip as f64 + 0.5);
        let share = sorted.partition_point(|&v| v <= value) as f64 / sorted.len() as f64;
        let words = format!("{} = {}\n{} of the draws lie below", panel.name, significant(value, 4), percent(share));
        scene.tip((x.px(at(strip as f64)), top), (x.px(at(strip as f64 + 1.0)), base), words);
    }
}

fn draw_interval(scene: &mut Scene, panel: &PosteriorPanel, x: &Axis, place: &Panel, base: f64) {
    let (low, high) = panel.hdi89;
    if !(low.is_finite() && high.is_finite()) {
        return;
    }
    let y = base + 18.0;
    scene.rect((x.px(low), y - 5.0), (x.px(high).max(x.px(low) + 2.0), y + 5.0), INK, 1.0);
    let label = format!("89% HDI: {} to {}", significant(low, 4), significant(high, 4));
    let text = Text::new((0.0, 0.0), label, SMALL, INK).align(Align::Center);
    let half = 0.5 * text.width();
    let centre = 0.5 * (x.px(low) + x.px(high));
    let centre = centre.clamp(place.left + half, (place.right - half).max(place.left + half));
    scene.text(Text { at: (centre, y + 28.0), ..text });
}

fn draw_truth(scene: &mut Scene, truth: f64, x: &Axis, place: &Panel, base: f64) {
    let at = x.px(truth);
    if x.contains(truth) {
        scene.dashed((at, place.top), (at, base + 24.0), VERMILLION, 3.5);
        return;
    }
    // Too far out to show: an arrow at the edge it lies beyond.
    let (low, _) = x.range();
    let y = place.top + 24.0;
    let (inwards, align) = if truth < low { (1.0, Align::Left) } else { (-1.0, Align::Right) };
    scene.line(vec![(at + inwards * 60.0, y), (at, y)], VERMILLION, 3.5);
    scene.line(vec![(at + inwards * 16.0, y - 10.0), (at, y), (at + inwards * 16.0, y + 10.0)], VERMILLION, 3.5);
    let label = format!("truth {}", significant(truth, 4));
    scene.text(Text::new((at + inwards * 70.0, y), label, SMALL, VERMILLION).align(align));
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    fn place(right: f64) -> Panel {
        Panel { left: 100.0, top: 50.0, right, bottom: 150.0 }
    }

    #[test]
    fn an_arrow_points_to_a_truth_beyond_the_panel() {
        let x = Axis::linear((0.0, 1.0), 100.0, 300.0);
        for (truth, at, inwards, align) in [(9.0, 300.0, -1.0, Align::Right), (-9.0, 100.0, 1.0, Align::Left)] {
            let mut scene = Scene::new(WIDTH, 200.0, "");
            draw_truth(&mut scene, truth, &x, &place(300.0), 150.0);
            let along = |pixels: f64| at + inwards * pixels;
            let line = |points| Shape::Line { points, colour: VERMILLION, width: 3.5, opacity: 1.0 };
            let words = if truth > 0.0 { "truth 9.000" } else { "truth -9.000" };
            let expected = [
                line(vec![(along(60.0), 74.0), (at, 74.0)]),
                line(vec![(along(16.0), 64.0), (at, 74.0), (along(16.0), 84.0)]),
                Shape::Text(Text::new((along(70.0), 74.0), words, SMALL, VERMILLION).align(align)),
            ];
            assert_eq!(scene.shapes, expected);
        }
    }

    #[test]
    fn the_words_of_an_interval_stand_below_it_and_inside_the_panel() {
        let place = place(900.0);
        let x = Axis::linear((0.0, 1.0), 100.0, 900.0);
        for (hdi89, side) in [((0.0, 0.01), -1.0), ((0.4, 0.6), 0.0), ((0.99, 1.0), 1.0)] {
            let draws = vec![0.5; 4];
            let panel = PosteriorPanel { name: "p".to_owned(), draws, mean: 0.5, sd: 0.1, hdi89, truth: None };
            let mut scene = Scene::new(WIDTH, 300.0, "");
            draw_interval(&mut scene, &panel, &x, &place, 150.0);
            let Some(Shape::Text(text)) = scene.shapes.last() else { panic!("{:?}", scene.shapes) };
            let expected = 500.0 + side * (400.0 - 0.5 * text.width());
            assert!((text.at.0 - expected).abs() < 1e-9 && text.at.1 == 196.0, "{text:?} {expected}");
        }
        // An interval of no length is a bar of two pixels.
        let panel = PosteriorPanel {
            name: "p".to_owned(),
            draws: vec![0.5; 4],
            mean: 0.5,
            sd: 0.0,
            hdi89: (0.5, 0.5),
            truth: None,
        };
        let mut scene = Scene::new(WIDTH, 300.0, "");
        draw_interval(&mut scene, &panel, &x, &place, 150.0);
        let points = vec![(500.0, 163.0), (502.0, 163.0), (502.0, 173.0), (500.0, 173.0)];
        assert_eq!(scene.shapes[0], Shape::Area { points, colour: INK, opacity: 1.0 });
        // In a panel that is too narrow they begin at its left.
        let (draws, hdi89) = (vec![0.5; 4], (0.4, 0.6));
        let panel = PosteriorPanel { name: "p".to_owned(), draws, mean: 0.5, sd: 0.1, hdi89, truth: None };
        let mut scene = Scene::new(WIDTH, 300.0, "");
        draw_interval(
            &mut scene,
            &panel,
            &Axis::linear((0.0, 1.0), 100.0, 110.0),
            &Panel { right: 110.0, ..place },
            150.0,
        );
        let Some(Shape::Text(text)) = scene.shapes.last() else { panic!("{:?}", scene.shapes) };
        assert!((text.at.0 - (100.0 + 0.5 * text.width())).abs() < 1e-9, "{text:?}");
    }

    #[test]
    fn an_interval_with_one_end_is_not_drawn() {
        for hdi89 in [(f64::NAN, 0.6), (0.4, f64::INFINITY)] {
            let panel =
                PosteriorPanel { name: "p".to_owned(), draws: vec![0.5; 4], mean: 0.5, sd: 0.1, hdi89, truth: None };
            let mut scene = Scene::new(WIDTH, 300.0, "");
            draw_interval(&mut scene, &panel, &Axis::linear((0.0, 1.0), 100.0, 900.0), &place(900.0), 150.0);
            assert!(scene.shapes.is_empty(), "{:?}", scene.shapes);
        }
    }
}
