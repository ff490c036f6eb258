//! Pictures of a calibration: ranks of true values among posterior draws, and moments of two simulators.

mod ecdf;
mod moments;
mod ranks;

use super::palette::{INK, MUTED, VERMILLION};
use super::panel::{HEADING, LABEL, MARGIN, Panel};
use super::scene::{Scene, Text};
use super::{font, font::Weight};
use crate::format::significant;

/// Differences of empirical distribution functions from the uniform one, with simultaneous bands.
#[derive(Clone, Debug)]
pub struct EcdfPlot {
    /// The probability that a uniform quantity stays inside its band everywhere.
    pub coverage: f64,
    /// One for each quantity.
    pub panels: Vec<EcdfPanel>,
}

/// One quantity's function: for each rank the share of ranks up to it, less the share that is expected.
#[derive(Clone, Debug)]
pub struct EcdfPanel {
    /// Name and verdict.
    pub heading: RankHeading,
    /// The difference.
    pub difference: Vec<f64>,
    /// The band's lower end, as long.
    pub lower: Vec<f64>,
    /// The upper end of the band.
    pub upper: Vec<f64>,
}

/// Histograms of ranks.
#[derive(Clone, Debug)]
pub struct RankPlot {
    /// The probability that one bin of a uniform quantity stays inside its band.
    pub coverage: f64,
    /// One for each quantity.
    pub panels: Vec<RankPanel>,
}

/// One quantity's ranks in bins of equal width.
#[derive(Clone, Debug)]
pub struct RankPanel {
    /// Name and verdict.
    pub heading: RankHeading,
    /// Ranks in each bin.
    pub counts: Vec<u64>,
    /// The range of counts that a uniform quantity has in a bin.
    pub expected: (u64, u64),
}

/// The heading of a panel.
#[derive(Clone, Debug)]
pub struct RankHeading {
    /// The quantity.
    pub name: String,
    /// The p-value of the test that the panel shows.
    pub p_value: f64,
    /// Whether the quantity passed all tests.
    pub uniform: bool,
}

/// Differences of moments between two simulators of one joint distribution, in standard errors.
#[derive(Clone, Debug)]
pub struct MomentsPlot {
    /// The difference beyond which a moment differs by more than chance makes of all moments together.
    pub limit: f64,
    /// The moments.
    pub rows: Vec<MomentRow>,
}

/// One moment.
#[derive(Clone, Debug)]
pub struct MomentRow {
    /// The quantity, squared or not.
    pub name: String,
    /// Difference over its standard error.
    pub z: f64,
    /// Whether it agrees.
    pub agrees: bool,
}

const COLUMNS: usize = 3;
const ROW: f64 = 430.0;
const GAP: f64 = 110.0;
/// Left of each panel: the numbers of its vertical axis.
const NUMBERS: f64 = 50.0;

/// Returns the height that `panels` panels need below `top`.
fn height(scene: &Scene, top: f64, panels: usize) -> f64 {
    top + ROW * panels.div_ceil(scene.columns(COLUMNS)) as f64 + MARGIN
}

/// Returns a probability near 1 in per cent, with the digits that tell it from 1: `99.996 %`.
fn near_one(probability: f64) -> String {
    let digits = (-(1.0 - probability).log10()).ceil().clamp(1.0, 12.0) as usize;
    format!("{:.*} %", digits.saturating_sub(2) + usize::from(digits > 2), 100.0 * probability)
}

/// Writes name and verdict of the `index`-th panel below `top`; returns its inside.
fn place(scene: &mut Scene, heading: &RankHeading, index: usize, top: f64) -> Panel {
    let columns = scene.columns(COLUMNS);
    let width = (scene.width - 2.0 * MARGIN - NUMBERS - GAP * (columns - 1) as f64) / columns as f64;
    let left = MARGIN + NUMBERS + (width + GAP) * (index % columns) as f64;
    let top = top + ROW * (index / columns) as f64;
    let name = font::fit(&heading.name, HEADING, Weight::Bold, width);
    scene.text(Text::new((left, top + 26.0), name, HEADING, INK).bold());
    let p = format!("p = {}", significant(heading.p_value, 2));
    let at = (left, top + 62.0);
    if heading.uniform {
        scene.text(Text::new(at, p, LABEL, MUTED));
    } else {
        scene.text(Text::new(at, format!("{p}: not uniform"), LABEL, VERMILLION).bold());
    }
    Panel { left, top: top + 92.0, right: left + width, bottom: top + ROW - 92.0 }
}

#[cfg(test)]
mod tests {
    use super::super::panel::WIDTH;
    use super::super::scene::Shape;
    use super::*;

    /// A width of 1800 less two margins of 40, 50 for numbers and two gaps of 110 leaves three panels 1450.
    #[test]
    fn panels_stand_in_rows_of_three() {
        let heading = RankHeading { name: "mu".to_owned(), p_value: 0.5, uniform: true };
        let mut scene = Scene::new(WIDTH, 1100.0, "");
        assert_eq!([1, 3, 4].map(|panels| height(&scene, 130.0, panels)), [600.0, 600.0, 1030.0]);
        let panel = place(&mut scene, &heading, 4, 130.0);
        let left = 90.0 + 1450.0 / 3.0 + 110.0;
        let expected = [left, 652.0, left + 1450.0 / 3.0, 898.0];
        for (side, expected) in [panel.left, panel.top, panel.right, panel.bottom].into_iter().zip(expected) {
            assert!((side - expected).abs() < 1e-9, "{panel:?}");
        }
        let [Shape::Text(name), Shape::Text(p)] = &scene.shapes[..] else { panic!("{:?}", scene.shapes) };
        assert_eq!((name.text.as_str(), name.at.1, p.text.as_str(), p.at.1), ("mu", 586.0, "p = 0.50", 622.0));
    }

    #[test]
    fn probabilities_near_one_are_told_from_it() {
        let shown = [0.9, 0.95, 0.99, 0.999, 0.999_957].map(near_one);
        assert_eq!(shown, ["90 %", "95 %", "99 %", "99.90 %", "99.9957 %"]);
    }
}
