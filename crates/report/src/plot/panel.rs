//! A panel, a rectangle with two axes: grid lines, ticks, labels, title, key (legend), and where values lie.
//!
//! The sizes of text, and every picture's width and margin, stand here.

use super::axis::Axis;
use super::palette::{GRID, INK, MUTED};
use super::scene::{Align, Point, Scene, Text};

/// Text sizes in pixels (an em) of a picture 1800 wide: at 150 dots an inch 12 to 16 points.
pub(crate) const TITLE: f64 = 33.0;
pub(crate) const HEADING: f64 = 27.0;
pub(crate) const LABEL: f64 = 24.0;
pub(crate) const SMALL: f64 = 21.0;

/// Every picture's width in pixels: 12 inches.
pub(crate) const WIDTH: f64 = 1800.0;
/// Room around everything.
pub(crate) const MARGIN: f64 = 40.0;

/// The inside of a plot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Panel {
    /// Returns a horizontal axis over the panel's width.
    pub(crate) fn x(&self, range: (f64, f64)) -> Axis {
        Axis::linear(range, self.left, self.right)
    }

    /// Returns a vertical axis over the panel's height, values growing upwards.
    pub(crate) fn y(&self, range: (f64, f64)) -> Axis {
        Axis::linear(range, self.bottom, self.top)
    }

    /// Returns how many ticks fit under the panel's width with labels of about five characters.
    pub(crate) fn x_ticks(&self) -> usize {
        (((self.right - self.left) / 110.0) as usize).clamp(2, 9)
    }

    /// Vertical grid lines with labels below, and the line of the axis.
    pub(crate) fn draw_x(&self, scene: &mut Scene, axis: &Axis) {
        for tick in axis.ticks(self.x_ticks()) {
            let x = axis.px(tick.value);
            scene.line(vec![(x, self.top), (x, self.bottom)], GRID, 1.5);
            scene.text(Text::new((x, self.bottom + 24.0), tick.label, SMALL, MUTED).align(Align::Center));
        }
        scene.line(vec![(self.left, self.bottom), (self.right, self.bottom)], MUTED, 2.0);
    }

    /// Horizontal grid lines with labels at the left.
    pub(crate) fn draw_y(&self, scene: &mut Scene, axis: &Axis) {
        let wanted = (((self.bottom - self.top) / 44.0) as usize).clamp(3, 8);
        for tick in axis.ticks(wanted) {
            let y = axis.px(tick.value);
            scene.line(vec![(self.left, y), (self.right, y)], GRID, 1.5);
            scene.text(Text::new((self.left - 12.0, y), tick.label, SMALL, MUTED).align(Align::Right));
        }
    }

    /// The name of what runs along the horizontal axis.
    pub(crate) fn name_x(&self, scene: &mut Scene, name: &str) {
        let at = (0.5 * (self.left + self.right), self.bottom + 58.0);
        scene.text(Text::new(at, name, SMALL, INK).align(Align::Center));
    }
}

/// The title at the top left with a line below that says how to read the picture; returns where the plots start.
pub(crate) fn head(scene: &mut Scene, title: &str, note: &str) -> f64 {
    scene.text(Text::new((MARGIN, 48.0), title, TITLE, INK).bold());
    scene.text(Text::new((MARGIN, 92.0), note, SMALL, MUTED));
    130.0
}

/// A coloured stroke and a word, side by side from `at` on; returns where it ends.
pub(crate) fn key(scene: &mut Scene, at: Point, colour: super::palette::Colour, dashed: bool, word: &str) -> f64 {
    let to = (at.0 + 36.0, at.1);
    if dashed {
        scene.dashed(at, to, colour, 4.0);
    } else {
        scene.line(vec![at, to], colour, 5.0);
    }
    let text = Text::new((to.0 + 10.0, at.1), word, SMALL, INK);
    let end = to.0 + 10.0 + text.width();
    scene.text(text);
    end
}
