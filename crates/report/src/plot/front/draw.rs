//! Drawing of speed against error (the Pareto front), with its axes, title and caption.

use super::super::axis::{Axis, extent};
use super::super::label::Labels;
use super::super::palette::{INK, MUTED, SHADE, series};
use super::super::panel::{LABEL, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{FrontPoint, ParetoFrontPlot};
use crate::error::ReportError;
use crate::format::{rate, significant};

const HEIGHT: f64 = 760.0;
const NARROW_HEIGHT: f64 = 560.0;
const NUMBERS: f64 = 90.0;
const WIDEST_LABEL: f64 = 420.0;
const MOST_TIPS: usize = 300;

const CAPTION: &str = "Effective draws a second against the error, with the settings that no other beats in both.";

impl Plot for ParetoFrontPlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "pareto_front_plot", "Speed against error", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let shown = self.shown();
        let range = |of: fn(&FrontPoint) -> f64| {
            let (low, high) = extent(shown.iter().map(|point| of(point)))?;
            let room = (high / low).powf(0.08).max(1.2);
            Some((low / room, high * room))
        };
        let (Some(errors), Some(rates)) = (range(|p| p.error), range(|p| p.ess_per_s)) else {
            return Err(ReportError::Empty {
                plot: "the plot of speed against error",
                missing: "a sampler with an error and effective draws a second, both above 0",
            });
        };
        let mut scene = Scene::new(width.pixels(), 0.0, "Speed against error of samplers and settings");
        let top = head(
            &mut scene,
            "Speed against error",
            "up and left is better; on the line: settings that no other beats in both (the Pareto front); logarithmic axes",
        );
        let top = self.draw_key(&mut scene, top + 8.0);
        let height = if scene.is_narrow() { NARROW_HEIGHT } else { HEIGHT };
        let right = scene.width - MARGIN;
        let panel = Panel { left: MARGIN + NUMBERS, top: top + 78.0, right, bottom: top + 78.0 + height };
        let x = Axis::log(errors, panel.left, panel.right);
        let y = Axis::log(rates, panel.bottom, panel.top);
        panel.draw_x(&mut scene, &x);
        panel.draw_y(&mut scene, &y);
        scene.text(Text::new((MARGIN, panel.top - 28.0), "effective draws / s", SMALL, INK).bold());
        // A narrow picture breaks a long name into lines.
        let room = if scene.is_narrow() { 3.0 } else { 1.0 } * (panel.right - panel.left);
        let below = panel.name_x(&mut scene, &font::fit(&self.error, SMALL, Weight::Regular, room));
        let place = |point: &FrontPoint| (x.px(point.error), y.px(point.ess_per_s));
        let front = self.front();
        let edge = edge(&panel, &front.iter().map(|point| place(point)).collect::<Vec<_>>());
        draw_edge(&mut scene, &panel, &edge);
        let samplers = self.samplers();
        let mut labels = Labels::new(panel);
        for point in &shown {
            let best = front.contains(point);
            let radius = if best { 11.0 } else { 7.0 };
            if best {
                scene.disc(place(point), 14.0, INK);
            }
            scene.disc(place(point), radius, colour(&samplers, point));
            labels.keep_point(place(point), if best { 14.0 } else { 7.0 });
        }
        edge.windows(2).for_each(|pair| labels.keep_line(pair[0], pair[1]));
        // Those on the front first: they have the choice of places.
        let beaten = shown.iter().filter(|point| !front.contains(point));
        let texts: Vec<(Point, Text)> = (front.iter().map(|point| (point, true)))
            .chain(beaten.map(|point| (point, false)))
            .map(|(point, best)| {
                let label = font::fit(&point.label, SMALL, Weight::Regular, WIDEST_LABEL);
                let text = Text::new((0.0, 0.0), label, SMALL, if best { INK } else { MUTED });
                (place(point), if best { text.bold() } else { text })
            })
            .collect();
        let unnamed = labels.place_all(&mut scene, &texts, front.len());
        if unnamed > 0 {
            let note = format!("{unnamed} of {} have no room for a name", texts.len());
            scene.text(Text::new((panel.right, panel.top - 28.0), note, SMALL, MUTED).align(Align::Right));
        }
        scene.height = panel.bottom + 90.0 + below;
        for point in shown.iter().take(MOST_TIPS) {
            let (at, up) = place(point);
            scene.tip((at - 12.0, up - 12.0), (at + 12.0, up + 12.0), point.tip());
        }
        Ok(scene)
    }
}

impl ParetoFrontPlot {
    /// A disc and the name of each sampler, in as many rows as they need; returns the height of the last.
    fn draw_key(&self, scene: &mut Scene, mut y: f64) -> f64 {
        let mut x = MARGIN;
        for (i, sampler) in self.samplers().iter().enumerate() {
            let name = font::fit(sampler, LABEL, Weight::Regular, 600.0);
            let text = Text::new((0.0, 0.0), name, SMALL, INK);
            if x + 26.0 + text.width() > scene.width - MARGIN {
                (x, y) = (MARGIN, y + 34.0);
            }
            scene.disc((x + 9.0, y), 9.0, series(i));
            let end = x + 26.0 + text.width();
            scene.text(Text { at: (x + 26.0, y), ..text });
            x = end + 34.0;
        }
        y
    }
}

fn colour(samplers: &[&str], point: &FrontPoint) -> super::super::palette::Colour {
    series(samplers.iter().position(|sampler| *sampler == point.sampler).unwrap_or(0))
}

/// Returns the edge of what is reached: no setting lies above it or left of it.
fn edge(panel: &Panel, places: &[Point]) -> Vec<Point> {
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return Vec::new() };
    let mut edge = vec![(first.0, panel.bottom), first];
    for pair in places.windows(2) {
        edge.push((pair[1].0, pair[0].1));
        edge.push(pair[1]);
    }
    edge.push((panel.right, last.1));
    edge
}

/// The edge, and what is beaten in grey.
fn draw_edge(scene: &mut Scene, panel: &Panel, edge: &[Point]) {
    let mut beaten = edge.to_vec();
    beaten.push((panel.right, panel.bottom));
    scene.area(beaten, SHADE, 0.22);
    scene.line(edge.to_vec(), MUTED, 2.5);
}

impl FrontPoint {
    fn tip(&self) -> String {
        let (error, speed) = (significant(self.error, 3), rate(self.ess_per_s));
        format!("{}, {}\nerror {error}\n{speed} effective draws / s", self.sampler, self.label)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn a_sampler_for_whose_name_the_key_has_no_room_begins_a_row() {
        let mut rows = Vec::new();
        for letters in (1..100).step_by(3) {
            let long = "m".repeat(15);
            let samplers = [format!("{long}1"), format!("{long}2"), format!("{long}3"), "i".repeat(letters)];
            let point = |sampler| FrontPoint { label: String::new(), sampler, error: 1.0, ess_per_s: 1.0 };
            let plot = ParetoFrontPlot { error: String::new(), points: samplers.map(point).into() };
            let mut scene = Scene::new(WIDTH, 200.0, "");
            let y = plot.draw_key(&mut scene, 10.0);
            let texts: Vec<&Text> = (scene.shapes.iter())
                .filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None })
                .collect();
            // A gap of 34, the disc's 26, and the name.
            let beside = texts[2].bounds().1.0 + 34.0 + 26.0;
            let place = if beside + texts[3].width() > WIDTH - MARGIN { (MARGIN + 26.0, 44.0) } else { (beside, 10.0) };
            assert!((texts[3].at.0 - place.0).abs() < 1e-9, "{:?} {place:?}", texts[3]);
            assert_eq!((texts[3].at.1, y), (place.1, place.1));
            rows.push(y);
        }
        assert_eq!((rows[0], rows[rows.len() - 1]), (10.0, 44.0), "both happen");
    }
}
