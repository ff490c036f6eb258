//! How a picture is put into the page (embedded as SVG or PNG, with its id and caption), in groups that fold.
//!
//! How large a picture may be that goes in as SVG and not as PNG stands here, and the headings of the groups.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};

use crate::error::ReportError;
use crate::plot::{Figure, PictureWidth, Subject};

/// Up to here a picture goes in as SVG, which stays sharp and follows the dark mode; beyond it, as the smaller of both.
const LARGEST_SVG: usize = 300_000;

/// The groups in their order: subject, heading, what its pictures answer.
const GROUPS: [(Subject, &str, &str); 5] = [
    (Subject::Posterior, "Posterior", "What the data say about each parameter."),
    (Subject::Convergence, "Convergence", "Whether the draws can be trusted."),
    (Subject::Predictive, "Predictive", "Whether the model could have made these data."),
    (Subject::Performance, "Performance", "What the draws cost."),
    (Subject::Calibration, "Calibration", "Whether the sampler is right over many data sets."),
];

/// All figures, by group.
pub(super) fn content(figures: &[Figure]) -> Result<Markup, ReportError> {
    let drawn = figures.iter().map(embedded).collect::<Result<Vec<_>, _>>()?;
    let of = |subject: Subject| {
        let drawn = figures.iter().zip(&drawn).filter(move |(figure, _)| figure.plot.about().subject == subject);
        drawn.map(|(_, markup)| markup).collect::<Vec<_>>()
    };
    let groups = GROUPS.map(|(subject, name, words)| (of(subject), name, words));
    Ok(html! {
        @if figures.is_empty() { p { "Nothing was drawn in this run." } }
        @for (drawn, name, words) in groups.iter().filter(|(drawn, ..)| !drawn.is_empty()) {
            details open {
                summary { h3 { (name) } " " span.muted { (words) } }
                @for figure in drawn { (figure) }
            }
        }
    })
}

/// Returns the number of characters of so many bytes in base64, to which a page adds few.
fn in_base64(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// The figure with its heading and caption; its picture is part of the page, laid out for wide and for narrow windows. The
/// page's style shows one of them.
fn embedded(figure: &Figure) -> Result<Markup, ReportError> {
    let [wide, narrow] = [PictureWidth::Wide, PictureWidth::Narrow].map(|width| picture(figure, width));
    Ok(html! {
        figure id=(figure.stem) {
            div.picture.on-wide { (wide?) }
            div.picture.on-narrow { (narrow?) }
            figcaption { b { (figure.title) ". " } (figure.caption) }
        }
    })
}

/// The picture as SVG, or as PNG where that is much smaller.
fn picture(figure: &Figure, width: PictureWidth) -> Result<Markup, ReportError> {
    let scene = figure.plot.layout(width)?;
    let svg = scene.svg();
    // Inside HTML the name space goes without saying, and the page has the size.
    let inline = || {
        let (_, drawing) = svg.split_once(" viewBox=").unwrap_or(("", &svg));
        PreEscaped(format!("<svg viewBox={}", drawing.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)))
    };
    if svg.len() <= LARGEST_SVG {
        return Ok(inline());
    }
    let png = scene.png()?;
    if svg.len() <= in_base64(png.len()) {
        return Ok(inline());
    }
    Ok(html! { img src={ "data:image/png;base64," (STANDARD.encode(png)) } alt=(figure.caption); })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{About, Plot, Scene};

    /// A picture of so many lines.
    #[derive(Debug)]
    struct Lines(usize);

    impl Plot for Lines {
        fn about(&self) -> About {
            About { stem: "lines_plot", title: "Lines", caption: "Lines.", subject: Subject::Posterior }
        }

        fn layout(&self, _: PictureWidth) -> Result<Scene, ReportError> {
            let mut scene = Scene::new(600.0, 100.0, "lines");
            for k in 0..self.0 {
                let (x, colour) = ((k % 570) as f64 + 10.0, crate::plot::palette::series(k));
                scene.line(vec![(x, 10.0), (x, 12.0 + (k % 80) as f64)], colour, 1.0 + (k % 7) as f64);
            }
            Ok(scene)
        }
    }

    #[test]
    fn a_picture_that_is_large_as_vectors_goes_in_as_pixels() {
        let page = |lines| embedded(&Figure::new(Lines(lines))).unwrap().into_string();
        for (lines, vectors) in [(1, true), (100, true), (20_000, false)] {
            assert_eq!(page(lines).contains("<svg viewBox="), vectors, "{lines} lines");
            assert_eq!(page(lines).contains("<img src=\"data:image/png;base64,"), !vectors, "{lines} lines");
        }
    }

    #[test]
    fn base64_takes_four_characters_for_three_bytes() {
        for bytes in [0, 1, 2, 3, 4, 300, 301] {
            assert_eq!(in_base64(bytes), STANDARD.encode(vec![7; bytes]).len(), "{bytes}");
        }
    }
}
