//! Colours. Series are told apart by the palette of Okabe and Ito (2008), made for colour-blind readers;
//! its yellow and black are left out, which vanish on a light and on a dark page.

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) const BLUE: Colour = Colour(0x00, 0x72, 0xB2);
pub(crate) const VERMILLION: Colour = Colour(0xD5, 0x5E, 0x00);
pub(crate) const GREEN: Colour = Colour(0x00, 0x9E, 0x73);
pub(crate) const PURPLE: Colour = Colour(0xCC, 0x79, 0xA7);
pub(crate) const ORANGE: Colour = Colour(0xE6, 0x9F, 0x00);
pub(crate) const SKY: Colour = Colour(0x56, 0xB4, 0xE9);

/// Sky with paper: a wide band on which points still show.
pub(crate) const PALE: Colour = Colour(0xB9, 0xDE, 0xF5);

/// Series in the order in which they are used.
pub(crate) const SERIES: [Colour; 6] = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION];

/// The colours that the page's style sheet replaces in the dark: paper, text, lesser text, grid, and shade.
pub(crate) const PAPER: Colour = Colour(0xFF, 0xFF, 0xFF);
pub(crate) const INK: Colour = Colour(0x1C, 0x20, 0x26);
pub(crate) const MUTED: Colour = Colour(0x5C, 0x65, 0x70);
pub(crate) const GRID: Colour = Colour(0xE4, 0xE7, 0xEB);
pub(crate) const SHADE: Colour = Colour(0xC3, 0xC9, 0xD1);

/// Returns the colour of the `index`-th series; the palette repeats.
pub(crate) fn series(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}
