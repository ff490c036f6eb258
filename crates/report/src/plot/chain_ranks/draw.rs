//! Drawing of the rank plot, with its title, caption and key.

use super::super::grid::Grid;
use super::super::palette::{INK, series};
use super::super::panel::{Keys, head};
use super::super::scene::Scene;
use super::super::spread::spread_key;
use super::super::{About, PictureWidth, Plot, Subject, choose};
use super::{COVERAGE, ChainRankPlot, draw_ranks};
use crate::error::ReportError;
use crate::format::{count, significant};

/// More chains than this have no strip of their own.
const MOST_STRIPS: usize = 16;
/// More chains than this are not told apart by colour in the key: it has no room for eight.
const MOST_KEYS: usize = 7;

const CAPTION: &str =
    "Where the draws of each chain stand among the draws of all; chains that draw from the same distribution are flat.";

impl Plot for ChainRankPlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "rank_plot", "Ranks of chains", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let chains = self.panels.iter().map(|panel| panel.ranks.counts.len()).max().unwrap_or(0);
        if chains == 0 {
            return Err(ReportError::Empty { plot: "the rank plot of chains", missing: "a variable with draws" });
        }
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Rank plot: ranks of each chain's draws among the draws of all chains");
        let note = "histograms of the ranks of each chain's draws among the draws of all chains; chains that draw from the same distribution are flat";
        let top = head(&mut scene, "Ranks of chains", note);
        let top = choose::second_note(&mut scene, top, choose::words(self.panels.len(), self.parameters));
        let top = top + draw_key(&mut scene, top + 8.0, chains);
        let inside = if chains > MOST_STRIPS { 260.0 } else { (72.0 * chains as f64).clamp(180.0, 560.0) };
        let grid = Grid::new(&scene, self.panels.len(), top + 36.0, inside).without_numbers();
        for (i, panel) in self.panels.iter().enumerate() {
            let mut figures = format!("R-hat {}", significant(panel.rhat, 4));
            if panel.ranks.not_a_number > 0 {
                figures += &format!(" · {} draws are NaN", count(panel.ranks.not_a_number as u64));
            }
            let place = grid.place(&mut scene, i, &panel.name, &figures);
            place.draw_x(&mut scene, &place.x((0.0, 1.0)));
            draw_ranks(&mut scene, &panel.ranks, &place, MOST_STRIPS);
            if grid.is_lowest(i) {
                place.name_x(&mut scene, "rank, as a share of all draws");
            }
        }
        scene.height = grid.bottom();
        Ok(scene)
    }
}

/// Returns the height of the key's lines below the first.
fn draw_key(scene: &mut Scene, y: f64, chains: usize) -> f64 {
    let mut keys = Keys::new(y);
    if chains <= MOST_KEYS {
        for chain in 0..chains {
            keys.stroke(scene, series(chain), false, &format!("chain {chain}"));
        }
    } else if chains <= MOST_STRIPS {
        keys.words(scene, &format!("{chains} chains, the first at the top"));
    } else {
        spread_key(scene, &mut keys, &format!("{chains} chains"));
    }
    keys.stroke(scene, INK, true, "expected");
    if chains <= MOST_STRIPS {
        keys.shade(scene, 0.6, &format!("{COVERAGE}% of the bars by chance"));
    } else {
        keys.words(scene, &format!("outer dashes: {COVERAGE}% of the bars by chance"));
    }
    keys.below(y)
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn the_parts_of_the_key_stand_beside_each_other() {
        let mut scene = Scene::new(WIDTH, 100.0, "");
        draw_key(&mut scene, 50.0, MOST_KEYS + 1);
        let [Shape::Text(chains), Shape::Line { points, .. }, ..] = &scene.shapes[..] else {
            panic!("{:?}", scene.shapes)
        };
        assert_eq!(chains.text, "8 chains, the first at the top");
        assert!((points[0].0 - (chains.bounds().1.0 + 28.0)).abs() < 1e-9, "{points:?}");
    }
}
