//! A picture as a list of shapes, apart from any format: what the plots make, what bitmap and SVG draw,
//! and what the tests measure.

use super::bitmap;
use super::font::{self, Weight};
use super::palette::Colour;
use super::panel::WIDTH;
use super::svg;
use crate::error::ReportError;

/// A place in pixels, from the upper left.
pub(crate) type Point = (f64, f64);

/// The end of a text that stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// A line of text. Its place is on the middle of its capitals' height.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) text: String,
    /// An em in pixels.
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) align: Align,
    pub(crate) colour: Colour,
}

impl Text {
    /// Regular text that starts at `at`.
    pub(crate) fn new(at: Point, text: impl Into<String>, size: f64, colour: Colour) -> Self {
        Self { at, text: text.into(), size, weight: Weight::Regular, align: Align::Left, colour }
    }

    pub(crate) fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    pub(crate) fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    pub(crate) fn width(&self) -> f64 {
        font::width(&self.text, self.size, self.weight)
    }

    /// Returns the box around the letters, from its upper left to its lower right corner.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> (Point, Point) {
        let width = self.width();
        let half = 0.5 * self.size;
        let start = match self.align {
            Align::Left => 0.0,
            Align::Center => -0.5 * width,
            Align::Right => -width,
        };
        let (x, y) = self.at;
        ((x + start, y - half), (x + start + width, y + half))
    }
}

/// One mark.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Connected points.
    Line { points: Vec<Point>, colour: Colour, width: f64, opacity: f64 },
    /// The inside of a polygon.
    Area { points: Vec<Point>, colour: Colour, opacity: f64 },
    /// A filled disc.
    Disc { at: Point, radius: f64, colour: Colour },
    /// Words.
    Text(Text),
}

/// A text that is shown to readers who point at a rectangle of an SVG picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tip {
    /// Two opposite corners.
    pub(crate) corners: (Point, Point),
    /// The words, in lines.
    pub(crate) text: String,
}

/// A picture, laid out as shapes: what [`Plot::scene`](super::Plot::scene) makes and a file format draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// A description of the picture, for readers who do not see it.
    pub(crate) title: String,
    pub(crate) shapes: Vec<Shape>,
    /// The later ones lie above the earlier ones.
    pub(crate) tips: Vec<Tip>,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64, title: impl Into<String>) -> Self {
        Self { width, height, title: title.into(), shapes: Vec::new(), tips: Vec::new() }
    }

    /// Returns the bytes of a PNG file, 150 dots an inch.
    pub(crate) fn png(&self) -> Result<Vec<u8>, ReportError> {
        bitmap::png(self)
    }

    /// Returns an SVG document.
    pub(crate) fn svg(&self) -> String {
        svg::svg(self)
    }

    /// Returns whether the picture is for a narrow window, where panels stand below each other.
    pub(crate) fn is_narrow(&self) -> bool {
        self.width < WIDTH
    }

    /// Returns how many panels stand side by side where a wide picture has `wide` of them.
    pub(crate) fn columns(&self, wide: usize) -> usize {
        if self.is_narrow() { 1 } else { wide }
    }

    /// Shows `text` to readers who point between the corners `a` and `b`; a bitmap does not show it, and a narrow picture
    /// only where a finger finds it.
    pub(crate) fn tip(&mut self, a: Point, b: Point, text: impl Into<String>) {
        /// In pixels of a narrow picture, of which a window shows about two in one of its own.
        const FINGER: f64 = 23.0;
        if self.is_narrow() && (b.0 - a.0).abs().min((b.1 - a.1).abs()) < FINGER {
            return;
        }
        self.tips.push(Tip { corners: (a, b), text: text.into() });
    }

    pub(crate) fn line(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line { points, colour, width, opacity: 1.0 });
    }

    pub(crate) fn faint_line(&mut self, points: Vec<Point>, colour: Colour, width: f64, opacity: f64) {
        self.shapes.push(Shape::Line { points, colour, width, opacity });
    }

    /// A straight dashed line.
    pub(crate) fn dashed(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        const DASH: f64 = 12.0;
        const GAP: f64 = 8.0;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = (dx * dx + dy * dy).sqrt();
        let along = |distance: f64| {
            let share = (distance / length).min(1.0);
            (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
        };
        let mut start = 0.0;
        while start < length {
            self.line(vec![along(start), along(start + DASH)], colour, width);
            start += DASH + GAP;
        }
    }

    pub(crate) fn area(&mut self, points: Vec<Point>, colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { points, colour, opacity });
    }

    /// The rectangle between two opposite corners.
    pub(crate) fn rect(&mut self, a: Point, b: Point, colour: Colour, opacity: f64) {
        self.area(vec![a, (b.0, a.1), b, (a.0, b.1)], colour, opacity);
    }

    pub(crate) fn disc(&mut self, at: Point, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Disc { at, radius, colour });
    }

    pub(crate) fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.shapes.push(Shape::Text(text));
        }
    }

    /// Texts beside each other from `at` on, each in its own colour and weight; returns where the last one ends.
    pub(crate) fn texts(&mut self, at: Point, gap: f64, parts: impl IntoIterator<Item = Text>) -> f64 {
        let mut x = at.0;
        for part in parts {
            let part = Text { at: (x, at.1), ..part };
            x += part.width() + gap;
            self.text(part);
        }
        x - gap
    }
}

/// Lists the flaws of a picture: those of its [layout](layout_flaws), and that it is not the one
/// [on record](super::on_record).
#[cfg(test)]
pub(crate) fn flaws(scene: &Scene) -> Vec<String> {
    let mut flaws = Vec::from_iter(super::on_record::changed(&[scene]));
    flaws.extend(layout_flaws(scene));
    flaws
}

/// Lists the flaws that a reader would stumble over: texts outside the picture, and texts on top of each other.
#[cfg(test)]
pub(crate) fn layout_flaws(scene: &Scene) -> Vec<String> {
    let texts: Vec<&Text> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    let mut flaws = Vec::new();
    for (i, a) in texts.iter().enumerate() {
        let ((left, top), (right, bottom)) = a.bounds();
        if left < 0.0 || top < 0.0 || right > scene.width || bottom > scene.height {
            flaws.push(format!("{:?} is cut: {left} {top} {right} {bottom}", a.text));
        }
        for b in &texts[i + 1..] {
            let ((other_left, other_top), (other_right, other_bottom)) = b.bounds();
            if left < other_right && other_left < right && top < other_bottom && other_top < bottom {
                flaws.push(format!("{:?} overlaps {:?}", a.text, b.text));
            }
        }
    }
    let tips = scene.tips.iter().map(|tip| vec![tip.corners.0, tip.corners.1]);
    let shapes = scene.shapes.iter().map(|shape| match shape {
        Shape::Line { points, .. } | Shape::Area { points, .. } => points.clone(),
        Shape::Disc { at, .. } => vec![*at],
        Shape::Text(text) => vec![text.at],
    });
    for points in shapes.chain(tips) {
        if let Some(point) = points.iter().find(|(x, y)| !x.is_finite() || !y.is_finite()) {
            flaws.push(format!("{point:?} is no place"));
        }
        if let Some(point) =
            points.iter().find(|(x, y)| *x < -1.0 || *y < -1.0 || *x > scene.width + 1.0 || *y > scene.height + 1.0)
        {
            flaws.push(format!("{point:?} lies outside"));
        }
    }
    flaws
}
