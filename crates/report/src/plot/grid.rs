//! The layout of panels of equal size in rows of up to three (in a narrow picture, of one), each below its name and a line of figures.

use super::palette::{INK, MUTED, VERMILLION};
use super::panel::{HEADING, LABEL, MARGIN, Panel, SMALL};
use super::scene::{Align, Scene, Text};
use super::{font, font::Weight};

const COLUMNS: usize = 3;
const GAP: f64 = 44.0;
/// Left of each panel: the numbers of its vertical axis.
const NUMBERS: f64 = 82.0;
/// Above a panel: its name and figures. Below: the numbers of its horizontal axis.
const ABOVE: f64 = 86.0;
const BELOW: f64 = 54.0;
/// Below the lowest panels: what the numbers are.
const LAST: f64 = 38.0;

/// The places of the panels.
pub(super) struct Grid {
    panels: usize,
    columns: usize,
    top: f64,
    inside: f64,
    numbers: f64,
    gap: f64,
}

impl Grid {
    /// Room for `panels` panels below `top`, each `inside` pixels high.
    pub(super) fn new(scene: &Scene, panels: usize, top: f64, inside: f64) -> Self {
        Self { panels, columns: scene.columns(panels.clamp(1, COLUMNS)), top, inside, numbers: NUMBERS, gap: GAP }
    }

    /// Returns the grid without room for numbers at the left.
    pub(super) fn without_numbers(self) -> Self {
        Self { numbers: 0.0, gap: 1.5 * GAP, ..self }
    }

    /// Returns where the last row ends.
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.row() * self.panels.div_ceil(self.columns) as f64 + LAST
    }

    fn row(&self) -> f64 {
        ABOVE + self.inside + BELOW
    }

    /// Returns whether no panel stands below the `index`-th.
    pub(super) fn is_lowest(&self, index: usize) -> bool {
        index + self.columns >= self.panels
    }

    /// Writes `name` and `figures` above the `index`-th panel; returns its inside.
    pub(super) fn place(&self, scene: &mut Scene, index: usize, name: &str, figures: &str) -> Panel {
        let gaps = self.gap * (self.columns - 1) as f64;
        let width = (scene.width - 2.0 * MARGIN - gaps) / self.columns as f64;
        let left = MARGIN + self.numbers + (width + self.gap) * (index % self.columns) as f64;
        let top = self.top + self.row() * (index / self.columns) as f64;
        let room = width - self.numbers;
        let name = font::fit(name, HEADING, Weight::Bold, room);
        scene.text(Text::new((left, top + 24.0), name, HEADING, INK).bold());
        let figures = font::fit(figures, LABEL, Weight::Regular, room);
        scene.text(Text::new((left, top + 58.0), figures, LABEL, MUTED));
        Panel { left, top: top + ABOVE, right: left + room, bottom: top + ABOVE + self.inside }
    }
}

/// Says in the middle of `panel` why nothing is drawn there.
pub(super) fn say(scene: &mut Scene, panel: &Panel, words: &str) {
    let at = (0.5 * (panel.left + panel.right), 0.5 * (panel.top + panel.bottom));
    let words = font::fit(words, SMALL, Weight::Regular, panel.right - panel.left);
    scene.text(Text::new(at, words, SMALL, VERMILLION).align(Align::Center));
}
