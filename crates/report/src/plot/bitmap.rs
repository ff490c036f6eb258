//! A picture as a PNG at 150 dots an inch (resolution, dpi).
//!
//! plotters places everything on whole pixels, so it draws a canvas three times as large, which is then
//! averaged: edges and letters come out smooth.

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, RGBAColor, RGBColor, ShapeStyle, TextStyle};

use super::font::{self, CAP_HEIGHT, FAMILY, PLOTTERS_SIZE_PER_EM};
use super::palette::{Colour, PAPER};
use super::scene::{Align, Point, Scene, Shape, Text};
use crate::error::ReportError;

/// Canvas pixels for each pixel of the picture, in each direction.
const OVERSAMPLING: usize = 3;

/// 150 dots an inch in dots a metre, as PNG counts.
const DOTS_PER_METRE: u32 = 5906;

/// Returns the picture as the bytes of a PNG file.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, ReportError> {
    font::register()?;
    let (width, height) = (scene.width.ceil() as usize, scene.height.ceil() as usize);
    let size = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut canvas = vec![0xFF; size.0 * size.1 * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut canvas, (size.0 as u32, size.1 as u32));
        for shape in &scene.shapes {
            draw(&mut backend, shape)?;
        }
        backend.present().map_err(|e| failed("the picture", e))?;
    }
    encode(&average(&canvas, width, height), width as u32, height as u32)
}

fn failed(what: &'static str, error: impl std::fmt::Display) -> ReportError {
    ReportError::Draw { what, message: error.to_string() }
}

fn scaled(point: Point) -> (i32, i32) {
    let scale = OVERSAMPLING as f64;
    ((point.0 * scale).round() as i32, (point.1 * scale).round() as i32)
}

fn colour(colour: Colour, opacity: f64) -> RGBAColor {
    RGBAColor(colour.0, colour.1, colour.2, opacity)
}

fn draw(backend: &mut BitMapBackend<'_>, shape: &Shape) -> Result<(), ReportError> {
    match shape {
        Shape::Line { points, colour: ink, width, opacity } => {
            let width = (width * OVERSAMPLING as f64).round().max(1.0) as u32;
            let style = ShapeStyle { color: colour(*ink, *opacity), filled: false, stroke_width: width };
            if *opacity < 1.0 {
                // One polygon, since overlapping strokes would show at the joints.
                return backend.draw_path(points.iter().copied().map(scaled), &style).map_err(|e| failed("a line", e));
            }
            // Stroke by stroke: at the sharp turns of a trace plotters' one polygon would cross itself and leave holes.
            for pair in points.windows(2) {
                stroke(backend, scaled(pair[0]), scaled(pair[1]), &style)?;
            }
            Ok(())
        }
        Shape::Area { points, colour: ink, opacity } => {
            let style = ShapeStyle { color: colour(*ink, *opacity), filled: true, stroke_width: 1 };
            if let [a, b, c, d] = points[..]
                && (a.1, b.0, c.1, d.0) == (b.1, c.0, d.1, a.0)
            {
                let (a, c) = (scaled(a), scaled(c));
                // The far corner is beyond the last pixel.
                let (low, high) = ((a.0.min(c.0), a.1.min(c.1)), (a.0.max(c.0), a.1.max(c.1)));
                return backend.draw_rect(low, high, &style, true).map_err(|e| failed("a rectangle", e));
            }
            backend.fill_polygon(points.iter().copied().map(scaled), &style).map_err(|e| failed("an area", e))
        }
        Shape::Disc { at, radius, colour: ink } => {
            let style = ShapeStyle { color: colour(*ink, 1.0), filled: true, stroke_width: 1 };
            let radius = (radius * OVERSAMPLING as f64).round().max(1.0) as u32;
            backend.draw_circle(scaled(*at), radius, &style, true).map_err(|e| failed("a dot", e))
        }
        Shape::Text(text) => draw_text(backend, text),
    }
}

/// One straight stroke with its corners rounded to the nearest pixel; plotters would cut them off towards 0.
fn stroke(
    backend: &mut BitMapBackend<'_>,
    from: (i32, i32),
    to: (i32, i32),
    style: &ShapeStyle,
) -> Result<(), ReportError> {
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = (dx * dx + dy * dy).sqrt();
    if length == 0.0 {
        return Ok(());
    }
    let (first, second) = (f64::from(style.stroke_width / 2), f64::from(style.stroke_width.div_ceil(2)));
    if from.0 == to.0 || from.1 == to.1 {
        // Upright and level strokes are rectangles, exactly as wide as asked: their far corner is beyond the last pixel.
        let (low, high) = ((from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1)));
        let (before, after) = (first as i32, second as i32);
        let (low, high) = if from.0 == to.0 {
            ((low.0 - before, low.1), (high.0 + after, high.1))
        } else {
            ((low.0, low.1 - before), (high.0, high.1 + after))
        };
        return backend.draw_rect(low, high, style, true).map_err(|e| failed("a line", e));
    }
    let half = 0.5 * f64::from(style.stroke_width);
    let (nx, ny) = (-dy / length * half, dx / length * half);
    let corner = |(x, y): (i32, i32), side: f64| {
        ((f64::from(x) + side * nx).round() as i32, (f64::from(y) + side * ny).round() as i32)
    };
    let corners = [corner(from, 1.0), corner(from, -1.0), corner(to, -1.0), corner(to, 1.0)];
    backend.fill_polygon(corners, style).map_err(|e| failed("a line", e))
}

fn draw_text(backend: &mut BitMapBackend<'_>, text: &Text) -> Result<(), ReportError> {
    let em = text.size * OVERSAMPLING as f64;
    let size = em * PLOTTERS_SIZE_PER_EM;
    // plotters' outline fonts sit half a size below their place: go up to it from the baseline.
    let rise = 0.5 * size - 0.5 * CAP_HEIGHT * em;
    let rise = rise.round() as i32;
    let (x, y) = scaled(text.at);
    let at = (x, y - rise);
    let side = match text.align {
        Align::Left => HPos::Left,
        Align::Center => HPos::Center,
        Align::Right => HPos::Right,
    };
    let font = FontDesc::new(FontFamily::Name(FAMILY), size, text.weight.style());
    let ink = RGBColor(text.colour.0, text.colour.1, text.colour.2);
    let style = TextStyle::from(font).color(&ink).pos(Pos::new(side, VPos::Top));
    backend.draw_text(&text.text, &style, at).map_err(|e| failed("text", e))
}

/// Returns the mean of each block of canvas pixels.
fn average(canvas: &[u8], width: usize, height: usize) -> Vec<u8> {
    let row = width * OVERSAMPLING * 3;
    let area = (OVERSAMPLING * OVERSAMPLING) as u32;
    let mut picture = Vec::with_capacity(width * height * 3);
    let mut sums = vec![0u32; width * 3];
    for band in canvas.chunks_exact(row * OVERSAMPLING) {
        sums.fill(0);
        for line in band.chunks_exact(row) {
            for (block, sum) in line.chunks_exact(3 * OVERSAMPLING).zip(sums.chunks_exact_mut(3)) {
                for pixel in block.chunks_exact(3) {
                    for (total, &part) in sum.iter_mut().zip(pixel) {
                        *total += u32::from(part);
                    }
                }
            }
        }
        picture.extend(sums.iter().map(|&sum| ((sum + area / 2) / area) as u8));
    }
    debug_assert_eq!(picture.len(), width * height * 3);
    debug_assert_eq!(PAPER, Colour(0xFF, 0xFF, 0xFF), "the canvas starts as paper");
    picture
}

fn encode(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: DOTS_PER_METRE,
        yppu: DOTS_PER_METRE,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().map_err(|e| failed("a PNG", e))?;
    writer.write_image_data(pixels).map_err(|e| failed("a PNG", e))?;
    writer.finish().map_err(|e| failed("a PNG", e))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Colour = Colour(10, 120, 200);

    fn pixels(scene: &Scene) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png(scene).unwrap())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    fn line(from: Point, to: Point, width: f64) -> Shape {
        Shape::Line { points: vec![from, to], colour: INK, width, opacity: 1.0 }
    }

    fn area(points: &[Point]) -> Shape {
        Shape::Area { points: points.to_vec(), colour: INK, opacity: 1.0 }
    }

    /// The others look at where ink is; here each pixel counts, also of what is blended and of letters.
    #[test]
    fn every_pixel_is_on_record() {
        let mut scene = Scene::new(120.0, 40.0, "");
        let turn = vec![(10.0, 30.0), (40.0, 8.0), (60.0, 30.0)];
        scene.shapes.push(Shape::Line { points: turn.clone(), colour: INK, width: 5.0, opacity: 0.4 });
        scene.shapes.push(Shape::Area { points: turn, colour: INK, opacity: 0.3 });
        scene.disc((80.0, 20.0), 7.5, INK);
        scene.text(Text::new((92.0, 20.0), "mu", 14.0, INK));
        assert_eq!(super::super::on_record::begin_of_hash(&pixels(&scene)), "db55c053d434");
    }

    /// A distance is below 0 inside the shape and above 0 outside. Pixels nearer to the edge than a margin are not
    /// looked at: a straight edge between two pixels has a margin of half a pixel, so that every pixel counts, the others
    /// have more.
    #[test]
    fn ink_lies_inside_a_shape_and_nowhere_else() {
        const SIZE: usize = 40;
        type Distance = fn(f64, f64) -> f64;
        let shapes: [(Shape, Distance, f64); 6] = [
            (line((12.0, 20.0), (24.0, 20.0), 6.0), |x, y| ((x - 18.0).abs() - 6.0).max((y - 20.0).abs() - 3.0), 0.5),
            (line((20.0, 24.0), (20.0, 12.0), 6.0), |x, y| ((x - 20.0).abs() - 3.0).max((y - 18.0).abs() - 6.0), 0.5),
            // As wide as it is long, towards (3, 4).
            (
                line((15.0, 12.0), (27.0, 28.0), 20.0),
                |x, y| {
                    let (dx, dy) = (x - 21.0, y - 20.0);
                    ((0.6 * dx + 0.8 * dy).abs() - 10.0).max((0.8 * dx - 0.6 * dy).abs() - 10.0)
                },
                1.5,
            ),
            (
                area(&[(2.0, 3.0), (9.0, 3.0), (9.0, 27.0), (2.0, 27.0)]),
                |x, y| (2.0 - x).max(x - 9.0).max(3.0 - y).max(y - 27.0),
                0.5,
            ),
            (
                area(&[(10.0, 10.0), (30.0, 10.0), (10.0, 30.0)]),
                |x, y| (10.0 - x).max(10.0 - y).max((x + y - 40.0) / 2f64.sqrt()),
                1.5,
            ),
            (
                Shape::Disc { at: (20.0, 20.0), radius: 6.0, colour: INK },
                |x, y| ((x - 20.0).powi(2) + (y - 20.0).powi(2)).sqrt() - 6.0,
                1.5,
            ),
        ];
        for (shape, distance, margin) in shapes {
            let mut scene = Scene::new(SIZE as f64, SIZE as f64, "");
            scene.shapes.push(shape.clone());
            let pixels = pixels(&scene);
            assert_eq!(pixels.len(), 3 * SIZE * SIZE);
            for (i, pixel) in pixels.chunks(3).enumerate() {
                let at = ((i % SIZE) as f64 + 0.5, (i / SIZE) as f64 + 0.5);
                let away = distance(at.0, at.1);
                if away <= -margin {
                    assert_eq!(pixel, [INK.0, INK.1, INK.2], "{shape:?} {at:?}");
                } else if away >= margin {
                    assert_eq!(pixel, [PAPER.0, PAPER.1, PAPER.2], "{shape:?} {at:?}");
                }
            }
        }
    }
}
