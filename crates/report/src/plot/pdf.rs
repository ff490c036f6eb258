//! A picture as a PDF of one page, for papers: vectors, with letters as outlines, so that no font is needed to read it.

use super::font::{self, CAP_HEIGHT, Weight};
use super::palette::{Colour, PAPER};
use super::scene::{Align, Point, Scene, Shape, Text};
use crate::error::ReportError;
use ab_glyph::{Font, FontRef, OutlineCurve};
use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, TextStr};

/// Points of 1/72 inch for each pixel of 1/150 inch.
const POINTS: f32 = 72.0 / 150.0;
/// The handle length of a cubic curve that is a quarter of a circle of radius 1.
const QUARTER: f32 = 0.552_284_8;
/// The level of the compression of the page.
const LEVEL: u8 = 6;

/// Returns the picture as the bytes of a PDF file. The same picture gives the same bytes.
pub(crate) fn pdf(scene: &Scene) -> Result<Vec<u8>, ReportError> {
    let (width, height) = (scene.width.ceil() as f32, scene.height.ceil() as f32);
    let mut page = Page { content: Content::new(), opacities: Vec::new() };
    // From pixels with y downwards to points with y upwards.
    page.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height * POINTS]);
    page.content.set_line_join(LineJoinStyle::RoundJoin);
    page.fill(PAPER, 1.0);
    page.content.rect(0.0, 0.0, width, height).fill_nonzero();
    for shape in &scene.shapes {
        page.draw(shape)?;
    }
    let [catalog, pages, leaf, contents, info] = [1, 2, 3, 4, 5].map(Ref::new);
    let bytes = miniz_oxide::deflate::compress_to_vec_zlib(&page.content.finish(), LEVEL);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([leaf]).count(1);
    let mut leaf = pdf.page(leaf);
    leaf.parent(pages).media_box(Rect::new(0.0, 0.0, width * POINTS, height * POINTS)).contents(contents);
    let mut resources = leaf.resources();
    let mut states = resources.ext_g_states();
    for (number, &opacity) in page.opacities.iter().enumerate() {
        let mut state =
            states.insert(Name(state_name(number).as_bytes())).start::<pdf_writer::writers::ExtGraphicsState>();
        state.stroking_alpha(opacity).non_stroking_alpha(opacity);
    }
    states.finish();
    resources.finish();
    leaf.finish();
    pdf.stream(contents, &bytes).filter(Filter::FlateDecode);
    pdf.document_info(info).title(TextStr(&scene.title)).creator(TextStr("octopus"));
    Ok(pdf.finish())
}

fn state_name(number: usize) -> String {
    format!("O{number}")
}

/// A page under way.
struct Page {
    content: Content,
    /// The opacities that shapes have, each a graphics state.
    opacities: Vec<f32>,
}

impl Page {
    fn draw(&mut self, shape: &Shape) -> Result<(), ReportError> {
        match shape {
            Shape::Line { points, colour, width, opacity } => {
                self.opacity(*opacity);
                let [r, g, b] = components(*colour);
                self.content.set_stroke_rgb(r, g, b).set_line_width(*width as f32);
                self.path(points);
                self.content.stroke();
            }
            Shape::Area { points, colour, opacity } => {
                self.fill(*colour, *opacity);
                self.path(points);
                self.content.close_path().fill_nonzero();
            }
            Shape::Disc { at, radius, colour } => {
                self.fill(*colour, 1.0);
                self.disc(*at, *radius as f32);
            }
            Shape::Text(text) => {
                self.fill(text.colour, 1.0);
                self.text(text)?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, colour: Colour, opacity: f64) {
        self.opacity(opacity);
        let [r, g, b] = components(colour);
        self.content.set_fill_rgb(r, g, b);
    }

    fn opacity(&mut self, opacity: f64) {
        let opacity = opacity as f32;
        let number = self.opacities.iter().position(|&other| other == opacity).unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        self.content.set_parameters(Name(state_name(number).as_bytes()));
    }

    fn path(&mut self, points: &[Point]) {
        for (number, &(x, y)) in points.iter().enumerate() {
            let (x, y) = (x as f32, y as f32);
            if number == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
        }
    }

    fn disc(&mut self, (x, y): Point, radius: f32) {
        let (x, y, handle) = (x as f32, y as f32, QUARTER * radius);
        let (left, right, top, bottom) = (x - radius, x + radius, y - radius, y + radius);
        self.content
            .move_to(right, y)
            .cubic_to(right, y + handle, x + handle, bottom, x, bottom)
            .cubic_to(x - handle, bottom, left, y + handle, left, y)
            .cubic_to(left, y - handle, x - handle, top, x, top)
            .cubic_to(x + handle, top, right, y - handle, right, y)
            .close_path()
            .fill_nonzero();
    }

    /// Fills the outlines of the letters. The middle of a capital's height is at the text's place.
    fn text(&mut self, text: &Text) -> Result<(), ReportError> {
        let font = outlines(text.weight)?;
        let size = text.size as f32;
        let scale = size / font.units_per_em().unwrap_or(2048.0);
        let start = match text.align {
            Align::Left => 0.0,
            Align::Center => -0.5 * text.width(),
            Align::Right => -text.width(),
        };
        let mut x = (text.at.0 + start) as f32;
        let baseline = text.at.1 as f32 + 0.5 * CAP_HEIGHT as f32 * size;
        let mut previous = None;
        for letter in text.text.chars() {
            let glyph = font.glyph_id(letter);
            if let Some(previous) = previous.replace(glyph) {
                x += scale * font.kern_unscaled(previous, glyph);
            }
            if let Some(outline) = font.outline(glyph) {
                let place = |point: ab_glyph::Point| (x + scale * point.x, baseline - scale * point.y);
                self.outline(&outline.curves, place);
            }
            x += scale * font.h_advance_unscaled(glyph);
        }
        self.content.fill_nonzero();
        Ok(())
    }

    /// Adds the contours of a letter to the path.
    fn outline(&mut self, curves: &[OutlineCurve], place: impl Fn(ab_glyph::Point) -> (f32, f32)) {
        let mut end = None;
        for curve in curves {
            let (OutlineCurve::Line(from, _) | OutlineCurve::Quad(from, ..) | OutlineCurve::Cubic(from, ..)) = curve;
            if end != Some(*from) {
                let (x, y) = place(*from);
                self.content.move_to(x, y);
            }
            end = Some(match *curve {
                OutlineCurve::Line(_, to) => {
                    let (x, y) = place(to);
                    self.content.line_to(x, y);
                    to
                }
                OutlineCurve::Quad(from, control, to) => {
                    let ((ax, ay), (cx, cy), (x, y)) = (place(from), place(control), place(to));
                    let handle = |a: f32, c: f32| a + 2.0 / 3.0 * (c - a);
                    self.content.cubic_to(handle(ax, cx), handle(ay, cy), handle(x, cx), handle(y, cy), x, y);
                    to
                }
                OutlineCurve::Cubic(_, first, second, to) => {
                    let ((ax, ay), (bx, by), (x, y)) = (place(first), place(second), place(to));
                    self.content.cubic_to(ax, ay, bx, by, x, y);
                    to
                }
            });
        }
    }
}

fn components(Colour(r, g, b): Colour) -> [f32; 3] {
    [r, g, b].map(|part| f32::from(part) / 255.0)
}

fn outlines(weight: Weight) -> Result<FontRef<'static>, ReportError> {
    let font = FontRef::try_from_slice(font::bytes(weight));
    font.map_err(|error| ReportError::Draw { what: "text", message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::super::palette::INK;
    use super::*;

    /// The operators of a page.
    fn operators(scene: &Scene) -> (String, String) {
        let bytes = pdf(scene).unwrap();
        assert!(bytes.starts_with(b"%PDF-1.7") && bytes.ends_with(b"%%EOF"));
        let find = |words: &[u8]| bytes.windows(words.len()).position(|window| window == words).unwrap();
        let (begin, end) = (find(b"stream\n") + b"stream\n".len(), find(b"\nendstream"));
        let content = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes[begin..end]).unwrap();
        (String::from_utf8_lossy(&bytes).into_owned(), String::from_utf8(content).unwrap())
    }

    #[test]
    fn a_page_has_the_size_and_the_shapes_of_the_picture() {
        let mut scene = Scene::new(300.0, 150.0, "mu & tau");
        scene.faint_line(vec![(10.0, 20.0), (30.0, 40.0), (50.0, 20.0)], INK, 2.5, 0.5);
        scene.rect((100.0, 10.0), (120.0, 30.0), INK, 0.5);
        scene.disc((200.0, 50.0), 10.0, INK);
        let (file, content) = operators(&scene);
        // 300 pixels of 1/150 inch are 2 inches.
        assert!(file.contains("/MediaBox [0 0 144 72]") && file.contains("(mu & tau)"), "{file}");
        // Full and half opacity; the half is shared by line and area.
        assert!(file.contains("/O1") && !file.contains("/O2") && file.contains("/ca 0.5"), "{file}");
        for words in [
            "0.48 0 0 -0.48 0 72 cm",
            "2.5 w\n10 20 m\n30 40 l\n50 20 l\nS",
            "100 10 m\n120 10 l\n120 30 l\n100 30 l\nh\nf",
            "210 50 m\n",
            "205.52284 60 200 60 c\n194.47716 60 190 55.522846 190 50 c\n",
        ] {
            assert!(content.contains(words), "{words}: {content}");
        }
    }

    /// A letter H of 40 pixels: its stem stands on the baseline, and the middle of its height is the text's place.
    #[test]
    fn letters_lie_where_the_scene_says() {
        const AT: f64 = 50.0;
        for align in [Align::Left, Align::Center, Align::Right] {
            let mut scene = Scene::new(200.0, 100.0, "");
            let text = Text::new((AT, 40.0), "H", 40.0, INK).align(align);
            let width = text.width();
            scene.text(text);
            let (_, content) = operators(&scene);
            let points: Vec<[f64; 2]> = content
                .lines()
                .filter(|line| line.ends_with(" m") || line.ends_with(" l"))
                .map(|line| {
                    let numbers: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
                    [numbers[0], numbers[1]]
                })
                .collect();
            let range = |axis: usize| {
                let all = points.iter().map(|point| point[axis]);
                (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
            };
            let ((x0, x1), (y0, y1)) = (range(0), range(1));
            assert!(((y0 + y1) / 2.0 - 40.0).abs() < 0.5 && (y1 - y0 - 0.73 * 40.0).abs() < 0.5, "{y0} {y1}");
            let begin = match align {
                Align::Left => AT,
                Align::Center => AT - 0.5 * width,
                Align::Right => AT - width,
            };
            assert!(x0 > begin && x1 < begin + width && x1 - x0 > 0.5 * width, "{x0} {x1} of {begin} {width}");
        }
    }

    /// A letter with a hole has two contours. A letter that the font lacks is drawn as a box.
    #[test]
    fn each_contour_is_begun_once() {
        let contours = |letters: &str| {
            let mut scene = Scene::new(200.0, 100.0, "");
            scene.text(Text::new((50.0, 40.0), letters, 40.0, INK));
            operators(&scene).1.lines().filter(|line| line.ends_with(" m")).count()
        };
        assert_eq!([contours("l"), contours("o"), contours("lo"), contours(" ")], [1, 2, 3, 0]);
        assert!(contours("\u{10ffff}") > 0);
    }
}
