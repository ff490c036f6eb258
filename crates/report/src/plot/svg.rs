//! A picture as SVG, for files and for the page.

use plotters::prelude::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, RGBAColor, RGBColor, ShapeStyle, TextStyle};

use super::font::{self, CAP_HEIGHT, FAMILY, PLOTTERS_SIZE_PER_EM};
use super::palette::{Colour, GRID, INK, MUTED, PAPER, SHADE};
use super::scene::{Align, Point, Scene, Shape};
use crate::ReportError;

/// Units of the drawing for each pixel: plotters writes whole numbers, and a half pixel shows on a curve.
const UNITS: f64 = 2.0;

/// The picture as an SVG document of its own (without an XML declaration, so that it also goes into a page).
pub(crate) fn svg(scene: &Scene) -> Result<String, ReportError> {
    font::register()?;
    let mut document = String::new();
    {
        let (width, height) = (scene.width.ceil() * UNITS, scene.height.ceil() * UNITS);
        let mut backend = SVGBackend::with_string(&mut document, (width as u32, height as u32));
        backend
            .draw_rect((0, 0), (width as i32, height as i32), &filled(PAPER, 1.0), true)
            .map_err(|e| failed("the ground", e))?;
        for shape in &scene.shapes {
            draw(&mut backend, shape)?;
        }
        backend.present().map_err(|e| failed("the picture", e))?;
    }
    Ok(finish(&document, scene))
}

fn failed(what: &'static str, error: impl std::fmt::Display) -> ReportError {
    ReportError::Draw { what, message: error.to_string() }
}

fn scaled(point: Point) -> (i32, i32) {
    ((point.0 * UNITS).round() as i32, (point.1 * UNITS).round() as i32)
}

fn filled(colour: Colour, opacity: f64) -> ShapeStyle {
    ShapeStyle { color: RGBAColor(colour.0, colour.1, colour.2, opacity), filled: true, stroke_width: 1 }
}

fn draw(backend: &mut SVGBackend<'_>, shape: &Shape) -> Result<(), ReportError> {
    match shape {
        Shape::Line { points, colour, width, opacity } => {
            let width = (width * UNITS).round().max(1.0) as u32;
            let style = ShapeStyle { stroke_width: width, filled: false, ..filled(*colour, *opacity) };
            let drawn = match points[..] {
                [from, to] => backend.draw_line(scaled(from), scaled(to), &style),
                _ => backend.draw_path(points.iter().copied().map(scaled), &style),
            };
            drawn.map_err(|e| failed("a line", e))
        }
        Shape::Area { points, colour, opacity } => {
            let style = filled(*colour, *opacity);
            backend.fill_polygon(points.iter().copied().map(scaled), &style).map_err(|e| failed("an area", e))
        }
        Shape::Disc { at, radius, colour } => {
            let radius = (radius * UNITS).round().max(1.0) as u32;
            backend.draw_circle(scaled(*at), radius, &filled(*colour, 1.0), true).map_err(|e| failed("a dot", e))
        }
        Shape::Text(text) => {
            let em = text.size * UNITS;
            // plotters puts the baseline of text anchored at its top 0.76 em below its place.
            let rise = ((0.76 - 0.5 * CAP_HEIGHT) * em).round() as i32;
            let (x, y) = scaled(text.at);
            let at = (x, y - rise);
            let side = match text.align {
                Align::Left => HPos::Left,
                Align::Center => HPos::Center,
                Align::Right => HPos::Right,
            };
            let size = em * PLOTTERS_SIZE_PER_EM;
            let font = FontDesc::new(FontFamily::Name(FAMILY), size, text.weight.style());
            let ink = RGBColor(text.colour.0, text.colour.1, text.colour.2);
            let style = TextStyle::from(font).color(&ink).pos(Pos::new(side, VPos::Top));
            backend.draw_text(&text.text, &style, at).map_err(|e| failed("text", e))
        }
    }
}

/// Style rules that turn a picture inside `scope` dark: whatever has a colour of the page gets its counterpart.
pub(crate) fn dark_rules(scope: &str) -> String {
    let turned = [(PAPER, "#171a1f"), (INK, "#e8eaed"), (MUTED, "#a3abb6"), (GRID, "#2c3138"), (SHADE, "#4a515b")];
    let rule = |(Colour(r, g, b), dark): (Colour, &str)| {
        let light = format!("#{r:02X}{g:02X}{b:02X}");
        format!("{scope} [fill=\"{light}\"]{{fill:{dark}}}{scope} [stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    turned.map(rule).concat()
}

/// The picture's own size instead of the drawing's, a title for screen readers, and no attribute that says nothing.
fn finish(document: &str, scene: &Scene) -> String {
    let (width, height) = (scene.width.ceil(), scene.height.ceil());
    let (view_width, view_height) = (width * UNITS, height * UNITS);
    let title: String = scene.title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let body = document.split_once('>').map_or(document, |(_, body)| body);
    let body = body
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
        .replace(" \"/>", "\"/>")
        .replace("\n</text>", "</text>");
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {view_width} {view_height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">\n<title>{title}</title>{body}"
    )
}
