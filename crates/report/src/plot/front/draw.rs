//! Drawing of speed against error (the Pareto front), with its axes, title and caption.

use super::super::axis::{Axis, extent};
use super::super::label::Labels;
use super::super::palette::{INK, MUTED, SHADE, series};
use super::super::panel::{LABEL, LINE, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{FrontPoint, ParetoFrontPlot};
use crate::error::ReportError;
use crate::format::{rate, significant};

const HEIGHT: f64 = 760.0;
const NARROW_HEIGHT: f64 = 560.0;
/// More points than this have numbers: names would pile up.
const MOST_NAMES: usize = 15;
/// How near points lie that share a label, in pixels: the first at which all labels find a place is taken.
const REACHES: [f64; 12] = [0.0, 4.0, 8.0, 12.0, 18.0, 26.0, 40.0, 60.0, 90.0, 140.0, 300.0, f64::INFINITY];
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
        let names: Vec<(Point, Text)> = (front.iter().map(|point| (*point, true)))
            .chain(beaten.map(|point| (*point, false)))
            .map(|(point, best)| (place(point), name(point, best, WIDEST_LABEL)))
            .collect();
        scene.height = panel.bottom + 90.0 + below;
        if names.len() > MOST_NAMES || !labels.place_all(&mut scene, &names) {
            self.number(&mut scene, labels, &panel, &shown, place);
        }
        for point in shown.iter().take(MOST_TIPS) {
            let (at, up) = place(point);
            scene.tip((at - 12.0, up - 12.0), (at + 12.0, up + 12.0), point.tip());
        }
        Ok(scene)
    }
}

impl ParetoFrontPlot {
    /// Numbers the points from left to right, and says below the panel whose number is which. Points that lie too near to
    /// each other for numbers of their own have one label with their numbers.
    fn number(
        &self,
        scene: &mut Scene,
        mut labels: Labels,
        panel: &Panel,
        shown: &[&FrontPoint],
        place: impl Fn(&FrontPoint) -> Point,
    ) {
        let front = self.front();
        let mut points = shown.to_vec();
        points.sort_by(|a, b| a.error.total_cmp(&b.error).then(b.ess_per_s.total_cmp(&a.ess_per_s)));
        let best = |point: &FrontPoint| front.iter().any(|other| std::ptr::eq(*other, point));
        let places: Vec<Point> = points.iter().map(|point| place(point)).collect();
        let placed = REACHES.into_iter().any(|reach| {
            let text = |group: Vec<usize>| {
                let text = Text::new((0.0, 0.0), ranges(&group), SMALL, INK);
                let top = group.iter().map(|&i| places[i]).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
                (top, if group.iter().any(|&i| best(points[i])) { text.bold() } else { text })
            };
            let numbers: Vec<(Point, Text)> = groups(&places, reach).into_iter().map(text).collect();
            labels.place_all(scene, &numbers)
        });
        if !placed {
            let note = Text::new((panel.right, panel.top - 28.0), "no room for numbers", SMALL, MUTED);
            scene.text(note.align(Align::Right));
        }
        self.draw_names(scene, &points, best);
    }

    /// The names of the numbered points, in columns at the end of the picture.
    fn draw_names(&self, scene: &mut Scene, points: &[&FrontPoint], best: impl Fn(&FrontPoint) -> bool) {
        const GAP: f64 = 36.0;
        // Wide enough to tell a number from a name that begins with another.
        const BESIDE: f64 = 20.0;
        let samplers = self.samplers();
        let room = scene.width - 2.0 * MARGIN;
        let indent = 26.0 + font::width(&points.len().to_string(), SMALL, Weight::Bold) + BESIDE;
        let names: Vec<Text> =
            points.iter().map(|point| name(point, best(point), WIDEST_LABEL.min(room - indent))).collect();
        let widest = names.iter().map(Text::width).fold(0.0, f64::max) + indent;
        let columns = ((room + GAP) / (widest + GAP)).floor().max(1.0) as usize;
        let rows = points.len().div_ceil(columns);
        for (i, (point, name)) in points.iter().zip(names).enumerate() {
            let x = MARGIN + (widest + GAP) * (i / rows) as f64;
            let y = scene.height + 10.0 + LINE * (i % rows) as f64;
            scene.disc((x + 9.0, y), 7.0, colour(&samplers, point));
            let number = Text { at: (x + indent - BESIDE, y), text: (i + 1).to_string(), ..name.clone() };
            scene.text(number.align(Align::Right));
            scene.text(Text { at: (x + indent, y), ..name });
        }
        scene.height += LINE * rows as f64 + 20.0;
    }

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

/// Returns groups of places of which each is within `reach` of its group's first.
fn groups(places: &[Point], reach: f64) -> Vec<Vec<usize>> {
    let near = |a: Point, b: Point| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2) <= reach * reach;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, &place) in places.iter().enumerate() {
        match groups.iter_mut().find(|group| near(places[group[0]], place)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

/// Returns the numbers, from 1, of ascending indices: `1, 3-5`, with the dash of ranges.
fn ranges(indices: &[usize]) -> String {
    let runs = indices.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => (one + 1).to_string(),
        [one, two] => format!("{}, {}", one + 1, two + 1),
        _ => format!("{}\u{2013}{}", run[0] + 1, run[run.len() - 1] + 1),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// The name of a point as it is written, bold on the front.
fn name(point: &FrontPoint, best: bool, room: f64) -> Text {
    let weight = if best { Weight::Bold } else { Weight::Regular };
    let label = font::fit(&point.label, SMALL, weight, room);
    Text { weight, ..Text::new((0.0, 0.0), label, SMALL, if best { INK } else { MUTED }) }
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
    use super::super::super::scene::{Shape, layout_flaws};
    use super::*;

    #[test]
    fn near_points_share_a_label_of_ranges() {
        let places = [(0.0, 0.0), (3.0, 0.0), (9.0, 0.0), (3.0, 4.0), (5.0, 0.1)];
        let told = |reach| groups(&places, reach).iter().map(|group| ranges(group)).collect::<Vec<_>>();
        assert_eq!(told(0.0), ["1", "2", "3", "4", "5"]);
        assert_eq!(told(5.0), ["1, 2, 4", "3, 5"]);
        assert_eq!(told(6.0), ["1, 2, 4, 5", "3"]);
        assert_eq!(told(f64::INFINITY), ["1\u{2013}5"]);
    }

    /// Each point of a crowd has one number beside it, that number has a name in the key, and nothing covers anything.
    #[test]
    fn each_point_of_a_crowd_is_named() {
        for (n, spread) in [(16, 0.001), (16, 0.3), (40, 0.0), (40, 0.02), (40, 1.0), (100, 0.1)] {
            let point = |i: usize| FrontPoint {
                label: format!("setting {}", i + 1),
                sampler: format!("sampler {}", i % 3),
                error: 0.01 * (spread * (i * 37 % n) as f64 / n as f64).exp(),
                ess_per_s: 100.0 * (spread * (i * 61 % n) as f64 / n as f64).exp(),
            };
            let mut points: Vec<FrontPoint> = (0..n).map(point).collect();
            points.push(FrontPoint { error: 1.0, ess_per_s: 1e4, ..point(n) });
            let plot = ParetoFrontPlot { error: "error".to_owned(), points };
            for width in [PictureWidth::Wide, PictureWidth::Narrow] {
                let scene = plot.layout(width).unwrap();
                assert_eq!(layout_flaws(&scene), [""; 0], "{n} {spread} {width:?}");
                let texts: Vec<&Text> = (scene.shapes.iter())
                    .filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None })
                    .collect();
                let number =
                    |text: &str| text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse::<usize>().unwrap());
                let of_key = texts.iter().position(|text| text.text.starts_with("setting ")).unwrap() - 1;
                let told = |part: &str| match part.split_once('\u{2013}') {
                    Some((from, to)) => (number(from).unwrap()..=number(to).unwrap()).collect(),
                    None => Vec::from_iter(number(part)),
                };
                // Numbers of the axes are muted.
                let inside = texts[..of_key].iter().filter(|text| text.colour == INK && text.align == Align::Left);
                let mut numbers: Vec<usize> = inside.flat_map(|text| text.text.split(", ")).flat_map(told).collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (1..=n + 1).collect::<Vec<_>>(), "{n} {spread} {width:?}");
                let named = texts[of_key..].chunks(2).map(|pair| number(&pair[0].text).unwrap());
                assert_eq!(named.collect::<Vec<_>>(), (1..=n + 1).collect::<Vec<_>>());
            }
        }
    }

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
