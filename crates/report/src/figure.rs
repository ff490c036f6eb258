//! A picture with its words.

use crate::plot::{About, Plot};

/// A picture of the report with its file's stem and the words around it.
#[derive(Debug)]
pub struct Figure {
    /// The file's name without ending, e.g. `trace_plot`.
    pub stem: String,
    /// The heading on the page.
    pub title: String,
    /// The caption: what the picture shows and how to read it.
    pub caption: String,
    /// The picture.
    pub plot: Box<dyn Plot>,
}

impl Figure {
    /// Makes a figure under the plot's usual name, heading and caption.
    pub fn new(plot: impl Plot + 'static) -> Self {
        let About { stem, title, caption, .. } = plot.about();
        Self { stem: stem.to_owned(), title: title.to_owned(), caption: caption.to_owned(), plot: Box::new(plot) }
    }
}
