//! Marks of the same look, drawn as one element.
//!
//! A mark may join an earlier layer when nothing between lies on top of it or under it: then no pixel changes.

use std::fmt::Write;

use super::super::font::Weight;
use super::super::palette::Colour;
use super::super::scene::{Align, Point, Shape, Text};
use super::path;
use super::{TOLERANCE, escaped, hex, scaled, units};

/// The number of earlier marks among which a mark looks for one like it.
const LOOK_BACK: usize = 12;
/// Elements of more marks than this are slow to search.
const FULL: usize = 4000;

/// The properties that all marks of a layer have in common; lengths are in the units of the drawing.
#[derive(Clone, Debug, PartialEq)]
enum Look {
    Stroke { colour: Colour, width: i32, opacity: f64 },
    Fill { colour: Colour, opacity: f64 },
    Dot { colour: Colour, width: i32 },
    Words { colour: Colour, size: i32, bold: bool, align: Align },
}

impl Look {
    fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Line { colour, width, opacity, .. } => {
                Self::Stroke { colour: *colour, width: units(*width).max(1), opacity: *opacity }
            }
            Shape::Area { colour, opacity, .. } => Self::Fill { colour: *colour, opacity: *opacity },
            Shape::Disc { colour, radius, .. } => Self::Dot { colour: *colour, width: units(2.0 * radius).max(2) },
            Shape::Text(text) => Self::Words {
                colour: text.colour,
                size: units(text.size),
                bold: text.weight == Weight::Bold,
                align: text.align,
            },
        }
    }

    /// Returns whether two marks that overlap may be one element: not where one would show through the other, and areas
    /// that run the other way round would leave a hole.
    fn may_overlap(&self) -> bool {
        match self {
            Self::Stroke { opacity, .. } => *opacity >= 1.0,
            Self::Fill { .. } => false,
            Self::Dot { .. } | Self::Words { .. } => true,
        }
    }
}

/// Upper left and lower right corner.
type Bounds = (Point, Point);

fn overlap(((left, top), (right, bottom)): &Bounds, other: &Bounds) -> bool {
    *left <= other.1.0 && other.0.0 <= *right && *top <= other.1.1 && other.0.1 <= *bottom
}

/// All that a mark may cover; of text more than it does.
fn bounds(shape: &Shape) -> Bounds {
    let around = |points: &[Point], by: f64| {
        let fold = |f: fn(f64, f64) -> f64, start: f64| {
            points.iter().fold((start, start), |(x, y), point| (f(x, point.0), f(y, point.1)))
        };
        let (low, high) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        ((low.0 - by, low.1 - by), (high.0 + by, high.1 + by))
    };
    match shape {
        Shape::Line { points, width, .. } => around(points, width + 1.0),
        Shape::Area { points, .. } => around(points, 0.5),
        Shape::Disc { at, radius, .. } => around(&[*at], radius + 1.0),
        Shape::Text(Text { at, text, size, .. }) => {
            let reach = size * text.chars().count() as f64;
            ((at.0 - reach, at.1 - size), (at.0 + reach, at.1 + size))
        }
    }
}

/// One element to be.
struct Layer {
    look: Look,
    bounds: Vec<Bounds>,
    /// Path data; of words their elements.
    content: String,
}

impl Layer {
    fn overlaps(&self, bounds: &Bounds) -> bool {
        self.bounds.iter().any(|other| overlap(bounds, other))
    }

    fn add(&mut self, shape: &Shape, bounds: Bounds, tolerance: f64) {
        let places = |points: &[Point]| points.iter().copied().map(scaled).collect::<Vec<_>>();
        match shape {
            Shape::Line { points, .. } => path::add(&mut self.content, &places(points), false, tolerance),
            // An area keeps its full precision: a thin bar must not vanish.
            Shape::Area { points, .. } => path::add(&mut self.content, &places(points), true, TOLERANCE),
            Shape::Disc { at, .. } => path::add_dot(&mut self.content, scaled(*at)),
            Shape::Text(text) => {
                // SVG places the baseline, a scene the middle of the capitals.
                let (x, y) = scaled((text.at.0, text.at.1 + 0.5 * super::super::font::CAP_HEIGHT * text.size));
                let _ = write!(self.content, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&text.text));
            }
        }
        self.bounds.push(bounds);
    }

    fn element(&self) -> String {
        let seen = |opacity: f64| if opacity < 1.0 { format!(" opacity=\"{opacity}\"") } else { String::new() };
        let content = &self.content;
        match &self.look {
            Look::Stroke { colour, width, opacity } => {
                let (ink, seen) = (hex(*colour), seen(*opacity));
                format!("<path d=\"{content}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"{seen}/>\n")
            }
            Look::Fill { colour, opacity } => {
                format!("<path d=\"{content}\" fill=\"{}\"{}/>\n", hex(*colour), seen(*opacity))
            }
            Look::Dot { colour, width } => format!(
                "<path d=\"{content}\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>\n",
                hex(*colour)
            ),
            Look::Words { colour, size, bold, align } => {
                let bold = if *bold { " font-weight=\"bold\"" } else { "" };
                let anchor = match align {
                    Align::Left => "",
                    Align::Center => " text-anchor=\"middle\"",
                    Align::Right => " text-anchor=\"end\"",
                };
                format!("<g font-size=\"{size}\" fill=\"{}\"{bold}{anchor}>{content}</g>\n", hex(*colour))
            }
        }
    }
}

/// Returns the marks as elements, in as few as it takes, with lines as near to their points as `tolerance`.
pub(super) fn elements(shapes: &[Shape], tolerance: f64) -> String {
    let mut layers: Vec<Layer> = Vec::new();
    for shape in shapes {
        let (look, bounds) = (Look::of(shape), bounds(shape));
        let mut found = None;
        for (i, layer) in layers.iter().enumerate().rev().take(LOOK_BACK) {
            if layer.look == look && layer.bounds.len() < FULL && (look.may_overlap() || !layer.overlaps(&bounds)) {
                found = Some(i);
                break;
            }
            if layer.overlaps(&bounds) {
                break;
            }
        }
        let place = found.unwrap_or_else(|| {
            layers.push(Layer { look, bounds: Vec::new(), content: String::new() });
            layers.len() - 1
        });
        layers[place].add(shape, bounds, tolerance);
    }
    layers.iter().map(Layer::element).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::palette::{BLUE, INK};
    use super::*;

    fn line(y: f64, colour: Colour) -> Shape {
        Shape::Line { points: vec![(0.0, y), (10.0, y)], colour, width: 1.0, opacity: 1.0 }
    }

    #[test]
    fn a_thin_bar_is_kept_where_lines_may_be_coarse() {
        let corners = [(0.0, 0.0), (0.6, 0.0), (0.6, 9.0), (0.0, 9.0)];
        let bar = Shape::Area { points: corners.to_vec(), colour: BLUE, opacity: 1.0 };
        assert_eq!(elements(std::slice::from_ref(&bar), 9.0), elements(&[bar], TOLERANCE));
    }

    #[test]
    fn marks_join_their_like_unless_something_lies_between() {
        let apart = elements(&[line(0.0, INK), line(20.0, BLUE), line(40.0, INK), line(60.0, BLUE)], TOLERANCE);
        assert_eq!(apart.matches("<path").count(), 2, "{apart}");
        let between = elements(&[line(0.0, INK), line(0.0, BLUE), line(0.0, INK)], TOLERANCE);
        assert_eq!(between.matches("<path").count(), 3, "{between}");
    }

    #[test]
    fn areas_and_what_is_seen_through_join_only_side_by_side() {
        let bar = |x: f64| Shape::Area {
            points: vec![(x, 0.0), (x + 4.0, 0.0), (x + 4.0, 9.0), (x, 9.0)],
            colour: BLUE,
            opacity: 0.5,
        };
        assert_eq!(elements(&[bar(0.0), bar(6.0)], TOLERANCE).matches("<path").count(), 1);
        assert_eq!(elements(&[bar(0.0), bar(3.0)], TOLERANCE).matches("<path").count(), 2);
        let faint = |y| Shape::Line { points: vec![(0.0, y), (9.0, y)], colour: BLUE, width: 2.0, opacity: 0.4 };
        assert_eq!(elements(&[faint(0.0), faint(1.0)], TOLERANCE).matches("<path").count(), 2);
    }
}
