//! The font that ships with the program, so that pictures look the same on a machine without any.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

use crate::error::ReportError;

/// Also the `font-family` of SVG text: Verdana has the same widths where DejaVu Sans is not installed.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// plotters' sizes are 1.24 em.
pub(crate) const PLOTTERS_SIZE_PER_EM: f64 = 1.24;

/// The height of a capital letter, in em.
pub(crate) const CAP_HEIGHT: f64 = 0.75;

/// Thickness of the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

impl Weight {
    pub(crate) fn style(self) -> FontStyle {
        match self {
            Self::Regular => FontStyle::Normal,
            Self::Bold => FontStyle::Bold,
        }
    }
}

/// Returns the file of the embedded font.
pub(crate) fn bytes(weight: Weight) -> &'static [u8] {
    match weight {
        Weight::Regular => include_bytes!("../../fonts/DejaVuSans.ttf"),
        Weight::Bold => include_bytes!("../../fonts/DejaVuSans-Bold.ttf"),
    }
}

/// Makes the embedded fonts known to plotters, once in a process.
pub(crate) fn register() -> Result<(), ReportError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let good = *REGISTERED.get_or_init(|| {
        [Weight::Regular, Weight::Bold]
            .into_iter()
            .all(|weight| register_font(FAMILY, weight.style(), bytes(weight)).is_ok())
    });
    if good {
        Ok(())
    } else {
        Err(ReportError::Draw { what: "text", message: "the embedded font cannot be read".to_owned() })
    }
}

/// Returns the width of `text` at `size` (an em in pixels).
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    // Measured large, since plotters answers in whole pixels.
    const MEASURED: f64 = 200.0;
    // Without the font there is no box either.
    let _ = register();
    let font = FontDesc::new(FontFamily::Name(FAMILY), MEASURED * PLOTTERS_SIZE_PER_EM, weight.style());
    // The box is that of the advances from 0 on.
    let box_of_text = font.layout_box(text);
    box_of_text.map_or(0.6 * size * text.chars().count() as f64, |(_, (right, _))| f64::from(right) * size / MEASURED)
}

/// `text`, or as much of its beginning as fits into `room` with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let shorter = |end: usize| text[..end].trim_end().to_owned() + "…";
    // The longest that fits is halved in on: a name of another program may be of any length.
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    match ends.partition_point(|&end| width(&shorter(end), size, weight) <= room) {
        0 => String::new(),
        fitting => shorter(ends[fitting - 1]),
    }
}

/// `text` in lines that fit into `room`, broken between words; a word that is wider has a line of its own.
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, size, weight) <= room {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_text_size_and_weight() {
        let short = width("mu", 20.0, Weight::Regular);
        assert!(short > 15.0 && short < 40.0, "{short}");
        assert!(width("mu_pop", 20.0, Weight::Regular) > 2.0 * short);
        assert!((width("mu", 40.0, Weight::Regular) - 2.0 * short).abs() < 1e-9);
        assert!(width("mu", 20.0, Weight::Bold) > short);
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "the share of the values at or below y";
        let lines = wrap(text, 20.0, Weight::Regular, 150.0);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 20.0, Weight::Regular) <= 150.0), "{lines:?}");
        assert_eq!(wrap(text, 20.0, Weight::Regular, 1000.0), [text]);
        assert_eq!(wrap("a incomprehensibilities b", 20.0, Weight::Regular, 50.0), ["a", "incomprehensibilities", "b"]);
    }

    #[test]
    fn long_labels_are_cut() {
        let label = "mu_group[a very long name of a city]";
        let cut = fit(label, 20.0, Weight::Regular, 150.0);
        assert!(cut.ends_with('…') && width(&cut, 20.0, Weight::Regular) <= 150.0, "{cut}");
        assert_eq!(fit("mu", 20.0, Weight::Regular, 150.0), "mu");
        assert_eq!(fit("mu", 20.0, Weight::Regular, 1.0), "");
        // As many letters as fit, of a text for which one after the other would take minutes.
        let long = "m".repeat(50_000);
        let cut = fit(&long, 20.0, Weight::Regular, 150.0);
        let letters = cut.chars().count() - 1;
        assert!(cut.ends_with('…') && width(&cut, 20.0, Weight::Regular) <= 150.0, "{cut}");
        assert!(width(&("m".repeat(letters + 1) + "…"), 20.0, Weight::Regular) > 150.0, "{cut}");
    }
}
