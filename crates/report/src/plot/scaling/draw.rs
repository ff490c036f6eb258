//! Drawing of scaling on logarithmic axes: lines, names with slopes, guides, title and caption.

use super::super::axis::Axis;
use super::super::label::spread;
use super::super::palette::{INK, MUTED, SHADE, series};
use super::super::panel::{HEADING, Keys, MARGIN, Panel, SMALL, head};
use super::super::scene::{Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ScalingMeasure, ScalingPlot, ScalingSeries};
use crate::error::ReportError;
use crate::format::rate;

const HEIGHT: f64 = 700.0;
const NARROW_HEIGHT: f64 = 560.0;
const NUMBERS: f64 = 90.0;
/// Names and slopes at the right of the lines: two rows of words each.
const WIDEST_NAME: f64 = 380.0;
const NAME: f64 = 62.0;
const MOST_TIPS: usize = 300;

const CAPTION: &str =
    "Time or speed against the size of the problem, on logarithmic axes, with the power it grows with.";

impl Plot for ScalingPlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "scaling_plot", "Scaling", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let (Some(xs), Some(ys)) = (self.range(|p| p.0, 1.15), self.range(|p| p.1, f64::INFINITY)) else {
            return Err(ReportError::Empty { plot: "the plot of scaling", missing: "a measurement" });
        };
        let along = font::fit(&self.along, HEADING, Weight::Regular, 700.0);
        let mut scene = Scene::new(width.pixels(), 0.0, format!("Scaling with the number of {along}"));
        let note = format!(
            "{}; logarithmic axes; slope: the exponent of its growth with {}; dashed: proportional",
            self.measured.note(),
            font::fit(&self.along, SMALL, Weight::Regular, 300.0)
        );
        let title = if self.title.is_empty() { format!("Scaling with {along}") } else { self.title.clone() };
        let top = head(&mut scene, &title, &note);
        let shown: Vec<(usize, &ScalingSeries)> =
            self.series.iter().enumerate().filter(|(_, series)| !series.shown().is_empty()).collect();
        let widest = shown.iter().map(|(_, s)| font::width(&s.name, SMALL, Weight::Bold)).fold(130.0, f64::max);
        let mut panel = Panel {
            left: MARGIN + NUMBERS,
            top: top + 44.0,
            right: scene.width - MARGIN - widest.min(WIDEST_NAME) - 56.0,
            bottom: top + 44.0 + HEIGHT.max(NAME * shown.len() as f64),
        };
        let mut top = top;
        if scene.is_narrow() {
            let below = draw_key(&mut scene, top + 8.0, &shown) + 40.0;
            panel = Panel { right: scene.width - MARGIN, bottom: panel.top + NARROW_HEIGHT, ..panel }.lower(below);
            top += below;
        }
        let x = Axis::log(xs, panel.left, panel.right);
        let y = Axis::log(ys, panel.bottom, panel.top);
        panel.draw_x(&mut scene, &x);
        panel.draw_y(&mut scene, &y);
        scene.text(Text::new((MARGIN, top + 14.0), self.measured.axis(), SMALL, INK).bold());
        panel.name_x(&mut scene, &along);
        guide(&mut scene, &x, &y, self.measured);
        for &(i, one) in &shown {
            draw_line(&mut scene, one, i, &x, &y);
        }
        if !scene.is_narrow() {
            draw_names(&mut scene, &shown, &panel, &x, &y);
        }
        self.draw_tips(&mut scene, &shown, &x, &y);
        scene.height = panel.bottom + 90.0;
        Ok(scene)
    }
}

impl ScalingPlot {
    fn draw_tips(&self, scene: &mut Scene, shown: &[(usize, &ScalingSeries)], x: &Axis, y: &Axis) {
        let medians = shown.iter().flat_map(|(_, one)| one.medians().into_iter().map(move |point| (one, point)));
        for (one, point) in medians.take(MOST_TIPS) {
            let (at, up) = (x.px(point.0), y.px(point.1));
            let words = format!("{}\n{} {}\n{}", one.name, rate(point.0), self.along, self.measured.show(point.1));
            scene.tip((at - 10.0, up - 10.0), (at + 10.0, up + 10.0), words);
        }
    }
}

/// Names and slopes at the right, each at the height where its line ends or near it.
fn draw_names(scene: &mut Scene, shown: &[(usize, &ScalingSeries)], panel: &Panel, x: &Axis, y: &Axis) {
    let ends: Vec<(f64, f64)> = shown
        .iter()
        .map(|(_, one)| one.medians().last().map_or((panel.right, panel.bottom), |end| (x.px(end.0), y.px(end.1))))
        .collect();
    let heights: Vec<f64> = ends.iter().map(|end| end.1).collect();
    let places = spread(&heights, NAME, (panel.top + 14.0, panel.bottom - 0.5 * NAME));
    let left = panel.right + 44.0;
    for (((i, one), end), place) in shown.iter().zip(ends).zip(places) {
        let leader = vec![(end.0 + 8.0, end.1), (panel.right.max(end.0 + 8.0), end.1), (left - 8.0, place)];
        scene.faint_line(leader, series(*i), 2.0, 0.5);
        let name = font::fit(&one.name, SMALL, Weight::Bold, WIDEST_NAME);
        scene.text(Text::new((left, place), name, SMALL, INK).bold());
        scene.text(Text::new((left, place + 27.0), slope(one), SMALL, MUTED));
    }
}

/// Names and slopes above the panel, for which a narrow picture has no room beside it; returns the height of the lines but
/// the first.
fn draw_key(scene: &mut Scene, y: f64, shown: &[(usize, &ScalingSeries)]) -> f64 {
    let mut keys = Keys::new(y);
    for (i, one) in shown {
        let name = font::fit(&one.name, SMALL, Weight::Regular, WIDEST_NAME);
        keys.stroke(scene, series(*i), false, &format!("{name}, {}", slope(one)));
    }
    keys.below(y)
}

fn slope(one: &ScalingSeries) -> String {
    one.slope().map_or("one size".to_owned(), |slope| format!("slope {slope:.2}").replace('-', "\u{2212}"))
}

/// A line of slope 1 (a time) or -1 (a speed) through the middle of the picture: what is proportional to the size.
fn guide(scene: &mut Scene, x: &Axis, y: &Axis, measured: ScalingMeasure) {
    let ((low, high), (bottom, top)) = (x.range(), y.range());
    let power = if measured == ScalingMeasure::Seconds { 1.0 } else { -1.0 };
    let (middle, height) = ((low * high).sqrt(), (bottom * top).sqrt());
    let value = |at: f64| height * (at / middle).powf(power);
    const POINTS: usize = 200;
    let at = |i: usize| low * (high / low).powf(i as f64 / POINTS as f64);
    let inside: Vec<_> = (0..=POINTS).map(at).filter(|&v| y.contains(value(v))).collect();
    if let (Some(&first), Some(&last)) = (inside.first(), inside.last()) {
        scene.dashed((x.px(first), y.px(value(first))), (x.px(last), y.px(value(last))), SHADE, 3.0);
    }
}

fn draw_line(scene: &mut Scene, one: &ScalingSeries, index: usize, x: &Axis, y: &Axis) {
    let colour = series(index);
    let (points, medians) = (one.shown(), one.medians());
    let place = |&(at, value): &(f64, f64)| (x.px(at), y.px(value));
    scene.line(medians.iter().map(place).collect(), colour, 3.5);
    if points.len() > medians.len() {
        points.iter().for_each(|point| scene.disc(place(point), 4.0, colour));
    }
    medians.iter().for_each(|point| scene.disc(place(point), 8.0, colour));
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    fn one(points: &[(f64, f64)]) -> ScalingSeries {
        ScalingSeries { name: "engine".to_owned(), points: points.to_vec() }
    }

    fn axes() -> (Axis, Axis) {
        (Axis::log((1.0, 100.0), 100.0, 500.0), Axis::log((1.0, 100.0), 500.0, 100.0))
    }

    #[test]
    fn names_of_lines_that_end_at_the_edges_stand_inside() {
        let (x, y) = axes();
        let panel = Panel { left: 100.0, top: 100.0, right: 500.0, bottom: 500.0 };
        let (high, low) = (one(&[(1.0, 1.0), (100.0, 100.0)]), one(&[(1.0, 1.0), (100.0, 1.0)]));
        let mut scene = Scene::new(WIDTH, 600.0, "");
        draw_names(&mut scene, &[(0, &high), (1, &low)], &panel, &x, &y);
        let places: Vec<_> = (scene.shapes.iter())
            .filter_map(|shape| if let Shape::Text(text) = shape { Some((text.text.as_str(), text.at)) } else { None })
            .collect();
        // Two rows of words: room for half a name above, and for the slope and half a line below.
        let expected = [
            ("engine", (544.0, 114.0)),
            ("slope 1.00", (544.0, 141.0)),
            ("engine", (544.0, 469.0)),
            ("slope 0.00", (544.0, 496.0)),
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn the_guide_rises_for_times_and_falls_for_speeds() {
        let (x, y) = axes();
        for (measured, rises) in
            [(ScalingMeasure::Seconds, true), (ScalingMeasure::PerSecond("effective draws"), false)]
        {
            let mut scene = Scene::new(WIDTH, 600.0, "");
            guide(&mut scene, &x, &y, measured);
            let (Some(Shape::Line { points: first, .. }), Some(Shape::Line { points: last, .. })) =
                (scene.shapes.first(), scene.shapes.last())
            else {
                panic!("{:?}", scene.shapes)
            };
            assert!(first[0].0 < last[1].0);
            assert_eq!(last[1].1 < first[0].1, rises, "pixels count from above");
        }
    }

    #[test]
    fn single_measurements_have_small_dots_only_beside_a_median() {
        let (x, y) = axes();
        for (series, expected) in [
            (one(&[(1.0, 1.0), (10.0, 10.0)]), vec![8.0, 8.0]),
            (one(&[(1.0, 1.0), (1.0, 2.0), (10.0, 10.0)]), vec![4.0, 4.0, 4.0, 8.0, 8.0]),
        ] {
            let mut scene = Scene::new(WIDTH, 600.0, "");
            draw_line(&mut scene, &series, 0, &x, &y);
            let dots: Vec<f64> = (scene.shapes.iter())
                .filter_map(|shape| if let Shape::Disc { radius, .. } = shape { Some(*radius) } else { None })
                .collect();
            assert_eq!(dots, expected);
        }
    }
}
