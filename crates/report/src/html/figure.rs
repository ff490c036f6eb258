//! Pictures inside the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};

use crate::ReportError;
use crate::bundle::Figure;

/// Up to here a picture goes in as SVG, which stays sharp and follows the dark mode; beyond it, as the smaller of both.
const LARGEST_SVG: usize = 300_000;

/// The figure with its heading and caption; its picture is part of the page.
pub(super) fn embedded(figure: &Figure) -> Result<Markup, ReportError> {
    let svg = figure.plot.svg()?;
    let picture = if svg.len() <= LARGEST_SVG {
        // Inside HTML the name space goes without saying.
        PreEscaped(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
    } else {
        let png = figure.plot.png()?;
        if svg.len() <= png.len() / 3 * 4 {
            PreEscaped(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
        } else {
            html! { img src={ "data:image/png;base64," (STANDARD.encode(png)) } alt=(figure.caption); }
        }
    };
    Ok(html! {
        figure id=(figure.stem) {
            (picture)
            figcaption { b { (figure.title) ". " } (figure.caption) }
        }
    })
}
