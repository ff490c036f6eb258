//! A panel, a rectangle with two axes: grid lines, ticks, labels, title, key (legend), and where values lie.
//!
//! The sizes of text, and every picture's width and margin, stand here.

use super::axis::Axis;
use super::font::{self, Weight};
use super::palette::{Colour, GRID, INK, MUTED, SHADE};
use super::scene::{Align, Point, Scene, Text};

/// Text sizes in pixels (an em) of a picture 1800 wide: at 150 dots an inch 12 to 16 points.
pub(crate) const TITLE: f64 = 33.0;
pub(crate) const HEADING: f64 = 27.0;
pub(crate) const LABEL: f64 = 24.0;
pub(crate) const SMALL: f64 = 21.0;

/// The width in pixels of a picture that is a file, or stands in a wide window: 12 inches.
pub(crate) const WIDTH: f64 = 1800.0;
/// The width in pixels of a picture in a narrow window: at 345 CSS pixels the smallest text has an em of more than 9.
pub(crate) const NARROW: f64 = 760.0;
/// Room around everything.
pub(crate) const MARGIN: f64 = 40.0;

/// The distance between lines of words of the smallest size.
pub(crate) const LINE: f64 = 30.0;

/// The window that a picture is laid out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureWidth {
    /// A wide one, and files.
    Wide,
    /// A narrow one, such as a phone's: panels stand below each other, with letters as large as in a wide picture.
    Narrow,
}

impl PictureWidth {
    /// Returns the picture's width in pixels.
    pub(crate) fn pixels(self) -> f64 {
        match self {
            Self::Wide => WIDTH,
            Self::Narrow => NARROW,
        }
    }
}

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

    /// Returns the panel `by` pixels further down.
    pub(crate) fn lower(&self, by: f64) -> Self {
        Self { top: self.top + by, bottom: self.bottom + by, ..*self }
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

    /// The name of what runs along the horizontal axis; returns the height of its lines but the first, of which only a narrow
    /// picture has some.
    pub(crate) fn name_x(&self, scene: &mut Scene, name: &str) -> f64 {
        let at = (0.5 * (self.left + self.right), self.bottom + 58.0);
        let text = Text::new(at, name, SMALL, INK).align(Align::Center);
        if !scene.is_narrow() {
            scene.text(text);
            return 0.0;
        }
        // A name that is wider than a narrow panel takes room beside it, and below.
        let lines = font::wrap(name, SMALL, Weight::Regular, scene.width - 2.0 * MARGIN);
        let below = LINE * (lines.len() - 1) as f64;
        for (i, line) in lines.into_iter().enumerate() {
            let half = 0.5 * font::width(&line, SMALL, Weight::Regular);
            let middle = at.0.min(scene.width - MARGIN - half).max(MARGIN + half);
            scene.text(Text { at: (middle, at.1 + LINE * i as f64), text: line, ..text.clone() });
        }
        below
    }
}

/// The title at the top left with a line below that says how to read the picture; returns where the plots start.
pub(crate) fn head(scene: &mut Scene, title: &str, note: &str) -> f64 {
    let below = paragraph(scene, Text::new((MARGIN, 48.0), title, TITLE, INK).bold());
    130.0 + below + paragraph(scene, Text::new((MARGIN, 92.0 + below), note, SMALL, MUTED))
}

/// Words from their place to the right margin, in as many lines as they need there; returns the height of all lines but the
/// first. Only a narrow picture has more than one.
pub(crate) fn paragraph(scene: &mut Scene, text: Text) -> f64 {
    let room = if scene.is_narrow() { scene.width - MARGIN - text.at.0 } else { f64::INFINITY };
    let pitch = text.size / SMALL * LINE;
    let lines = font::wrap(&text.text, text.size, text.weight, room);
    let below = pitch * (lines.len() - 1) as f64;
    for (i, line) in lines.into_iter().enumerate() {
        let line = font::fit(&line, text.size, text.weight, room);
        scene.text(Text { at: (text.at.0, text.at.1 + pitch * i as f64), text: line, ..text.clone() });
    }
    below
}

/// The signs of a picture's key with their meanings, in a line that goes on below where a narrow picture ends.
pub(crate) struct Keys {
    next: Point,
}

impl Keys {
    /// The gap between a meaning and the next sign.
    const GAP: f64 = 28.0;

    /// A key from the left margin on.
    pub(crate) fn new(y: f64) -> Self {
        Self { next: (MARGIN, y) }
    }

    /// Returns where a sign with its meaning starts that are `width` wide together.
    pub(crate) fn place(&mut self, scene: &Scene, width: f64) -> Point {
        if scene.is_narrow() && self.next.0 > MARGIN && self.next.0 + width > scene.width - MARGIN {
            self.next = (MARGIN, self.next.1 + LINE);
        }
        let at = self.next;
        self.next.0 += width + Self::GAP;
        at
    }

    /// A coloured stroke and its meaning.
    pub(crate) fn stroke(&mut self, scene: &mut Scene, colour: Colour, dashed: bool, word: &str) {
        let at = self.place(scene, STROKE + font::width(word, SMALL, Weight::Regular));
        key(scene, at, colour, dashed, word);
    }

    /// Words after a sign, which is drawn from the place that it is given and has `indent` pixels.
    pub(crate) fn sign(&mut self, scene: &mut Scene, indent: f64, words: &str, draw: impl FnOnce(&mut Scene, Point)) {
        let at = self.place(scene, indent + font::width(words, SMALL, Weight::Regular));
        let room = scene.width - MARGIN - at.0 - indent;
        let words = if scene.is_narrow() { font::fit(words, SMALL, Weight::Regular, room) } else { words.to_owned() };
        draw(scene, at);
        scene.text(Text::new((at.0 + indent, at.1), words, SMALL, INK));
    }

    /// Words without a sign.
    pub(crate) fn words(&mut self, scene: &mut Scene, words: &str) {
        self.sign(scene, 0.0, words, |_, _| {});
    }

    /// Moves the next sign `by` pixels nearer to the last meaning.
    pub(crate) fn closer(&mut self, by: f64) {
        self.next.0 -= by;
    }

    /// A grey patch and its meaning.
    pub(crate) fn shade(&mut self, scene: &mut Scene, opacity: f64, words: &str) {
        self.sign(scene, STROKE, words, |scene, (x, y)| {
            scene.rect((x, y - 10.0), (x + 36.0, y + 10.0), SHADE, opacity);
        });
    }

    /// A dot and its meaning.
    pub(crate) fn dot(&mut self, scene: &mut Scene, radius: f64, colour: Colour, words: &str) {
        self.sign(scene, DOT, words, |scene, (x, y)| scene.disc((x + 8.0, y), radius, colour));
    }

    /// Returns the height of the lines below the one that began at `y`.
    pub(crate) fn below(&self, y: f64) -> f64 {
        self.next.1 - y
    }
}

/// Left of the words of a [key](key): the stroke and a gap.
const STROKE: f64 = 46.0;
/// Left of the words of a dot: the dot and a gap.
const DOT: f64 = 22.0;

/// A coloured stroke and a word, side by side from `at` on; returns where it ends.
pub(crate) fn key(scene: &mut Scene, at: Point, colour: Colour, dashed: bool, word: &str) -> f64 {
    let to = (at.0 + 36.0, at.1);
    if dashed {
        scene.dashed(at, to, colour, 4.0);
    } else {
        scene.line(vec![at, to], colour, 5.0);
    }
    let room = if scene.is_narrow() { scene.width - MARGIN - to.0 - 10.0 } else { f64::INFINITY };
    let text = Text::new((to.0 + 10.0, at.1), font::fit(word, SMALL, Weight::Regular, room), SMALL, INK);
    let end = to.0 + 10.0 + text.width();
    scene.text(text);
    end
}
