//! A picture as SVG, for files and for the page: few and short elements, since a page holds many pictures.

mod layer;
mod path;

use super::font::FAMILY;
use super::palette::{BLUE, Colour, GRID, INK, MUTED, PAPER, SHADE};
use super::scene::{Point, Scene, Tip};
use octopus_trace::harmless;

/// Units of the drawing for each pixel: places are whole numbers, and a half pixel shows on a curve.
const UNITS: f64 = 2.0;

/// A point this close to the line without it (in units of the drawing, half pixels) is left out: nobody sees it.
const TOLERANCE: f64 = 0.75;
/// The same for the lines of a narrow picture, which a window shows at about half its size.
const NARROW_TOLERANCE: f64 = 1.25;

/// Returns the picture as an SVG document of its own (without an XML declaration, so that it also goes into a page).
pub(crate) fn svg(scene: &Scene) -> String {
    let (width, height) = (scene.width.ceil(), scene.height.ceil());
    let (view_width, view_height) = (width * UNITS, height * UNITS);
    let (title, paper, tips) = (escaped(&scene.title), hex(PAPER), tips(scene));
    let tolerance = if scene.is_narrow() { NARROW_TOLERANCE } else { TOLERANCE };
    let elements = layer::elements(&scene.shapes, tolerance);
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {view_width} {view_height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"{FAMILY}\" stroke-linejoin=\"round\">\n\
         <title>{title}</title>\n<path d=\"M0 0h{view_width}v{view_height}H0z\" fill=\"{paper}\"/>\n{elements}{tips}</svg>\n"
    )
}

fn units(length: f64) -> i32 {
    (length * UNITS).round() as i32
}

fn scaled((x, y): Point) -> (i32, i32) {
    (units(x), units(y))
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Style rules that let a picture inside `scope` be light or dark as the page is: whatever has a colour of the page has a
/// counterpart.
pub(crate) fn theme_rules(scope: &str) -> String {
    let turned = [(PAPER, "#171a1f"), (INK, "#e8eaed"), (MUTED, "#a3abb6"), (GRID, "#2c3138"), (SHADE, "#4a515b")];
    let rule = |(colour, dark): (Colour, &str)| {
        let light = hex(colour);
        let of = |what| format!("{scope} [{what}=\"{light}\"]{{{what}:light-dark({light},{dark})}}\n");
        of("fill") + &of("stroke")
    };
    // Of the series only words must be brighter in the dark: thin letters need more contrast than marks.
    let words = format!("{scope} g[fill=\"{0}\"]{{fill:light-dark({0},#5db0e8)}}\n", hex(BLUE));
    turned.map(rule).concat() + &words
}

/// Rectangles that cannot be seen, each with the words for who points at it.
fn tips(scene: &Scene) -> String {
    if scene.tips.is_empty() {
        return String::new();
    }
    let tip = |tip: &Tip| {
        let ((ax, ay), (bx, by)) = (scaled(tip.corners.0), scaled(tip.corners.1));
        let (x, y, width, height) = (ax.min(bx), ay.min(by), (bx - ax).abs().max(1), (by - ay).abs().max(1));
        let text = escaped(&tip.text);
        format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{text}</title></rect>\n")
    };
    let tips: String = scene.tips.iter().map(tip).collect();
    format!("<g class=\"tips\" fill=\"none\" pointer-events=\"all\">\n{tips}</g>\n")
}

/// Returns a text for XML, which forbids control characters: those, and what turns the direction of writing, are shown
/// as escapes.
fn escaped(text: &str) -> String {
    harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_xml_whatever_is_written_in_them() {
        let hostile: String = (0..0xa0).chain([0x202e, 0x2066, 0xfffe, 0xffff]).filter_map(char::from_u32).collect();
        let mut scene = Scene::new(100.0, 50.0, format!("title {hostile}"));
        scene.text(super::super::scene::Text::new((1.0, 1.0), hostile.as_str(), 10.0, INK));
        scene.tip((20.0, 15.0), (5.0, 5.0), hostile.as_str());
        let text = svg(&scene);
        let document = roxmltree::Document::parse(&text).unwrap();
        let words: String = document.descendants().filter_map(|node| node.text()).collect();
        assert!(words.contains(r"\u{1b}") && words.contains(r"\u{9b}") && words.contains(r"\u{202e}"), "{words}");
        assert!(!words.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{words:?}");
    }

    #[test]
    fn tips_are_titles_of_rectangles_that_cannot_be_seen() {
        let mut scene = Scene::new(super::super::panel::WIDTH, 50.0, "a < b");
        scene.disc((10.0, 10.0), 3.0, INK);
        scene.tip((20.0, 15.0), (5.0, 5.0), "mu & tau\n1.5");
        let text = svg(&scene);
        let document = roxmltree::Document::parse(&text).unwrap();
        let group = document.descendants().find(|node| node.has_attribute("class")).unwrap();
        let rect = group.first_element_child().unwrap();
        let sides = ["x", "y", "width", "height"].map(|name| rect.attribute(name).unwrap());
        assert_eq!(sides, ["10", "10", "30", "20"]);
        let title = rect.children().find(|node| node.has_tag_name("title")).unwrap();
        assert_eq!(title.text(), Some("mu & tau\n1.5"));
    }
}
