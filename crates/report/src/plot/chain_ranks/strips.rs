//! Drawing of the ranks of one scalar: a strip of bars for each chain, or of many chains their range.

use super::super::grid::say;
use super::super::palette::{BLUE, INK, MUTED, PALE, SHADE, SKY, series};
use super::super::panel::Panel;
use super::super::scene::Scene;
use super::super::spread::Spread;
use super::ChainRanks;
use crate::format::{count, significant};

/// Draws `ranks` inside `panel`: of at most `most_strips` chains each its own bars, of more the range of all.
pub(in crate::plot) fn draw_ranks(scene: &mut Scene, ranks: &ChainRanks, panel: &Panel, most_strips: usize) {
    let total: u64 = ranks.counts.iter().flatten().sum();
    if total == 0 {
        say(scene, panel, "no draw has a rank");
    } else if ranks.constant {
        say(scene, panel, "all draws are equal");
    } else if ranks.counts.len() == 1 {
        // Among its own draws a chain is flat whatever it does: that must not look like agreement.
        say(scene, panel, "one chain has no other to compare");
    } else if ranks.counts.len() <= most_strips {
        draw_strips(scene, ranks, panel);
    } else {
        draw_range(scene, ranks, panel);
    }
}

fn draw_strips(scene: &mut Scene, ranks: &ChainRanks, panel: &Panel) {
    let highest = highest(ranks.counts.iter().flatten(), ranks);
    let height = (panel.bottom - panel.top) / ranks.counts.len() as f64;
    for (chain, counts) in ranks.counts.iter().enumerate() {
        let top = panel.top + height * chain as f64;
        let strip = Panel { top: top + 0.08 * height, bottom: top + height, ..*panel };
        let y = strip.y((0.0, highest));
        let band = (y.px(ranks.chance.1), y.px(ranks.chance.0));
        scene.rect((strip.left, band.0), (strip.right, band.1), SHADE, 0.6);
        for (i, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (from, to) = edges(&strip, i, counts.len());
            scene.rect((from + 0.7, y.px(n as f64)), (to - 0.7, strip.bottom), series(chain), 0.65);
        }
        let expected = y.px(ranks.expected);
        scene.dashed((strip.left, expected), (strip.right, expected), INK, 1.2);
        scene.line(vec![(strip.left, strip.bottom), (strip.right, strip.bottom)], MUTED, 1.2);
        scene.tip((strip.left, top), (strip.right, strip.bottom), tip(chain, counts, ranks));
    }
}

fn draw_range(scene: &mut Scene, ranks: &ChainRanks, panel: &Panel) {
    let series: Vec<Vec<f64>> = ranks.counts.iter().map(|counts| counts.iter().map(|&n| n as f64).collect()).collect();
    let bins = series.first().map_or(0, Vec::len);
    let spread = Spread::measure(series.iter().map(Vec::as_slice), bins);
    let y = panel.y((0.0, highest(ranks.counts.iter().flatten(), ranks)));
    for (i, &[lowest, low, middle, high, highest]) in spread.places().iter().enumerate() {
        let (from, to) = edges(panel, i, bins);
        scene.rect((from + 0.7, y.px(highest)), (to - 0.7, y.px(lowest)), PALE, 1.0);
        scene.rect((from + 0.7, y.px(high)), (to - 0.7, y.px(low)), SKY, 1.0);
        scene.line(vec![(from + 0.7, y.px(middle)), (to - 0.7, y.px(middle))], BLUE, 3.5);
    }
    for (at, colour) in [(ranks.chance.0, MUTED), (ranks.expected, INK), (ranks.chance.1, MUTED)] {
        scene.dashed((panel.left, y.px(at)), (panel.right, y.px(at)), colour, 1.8);
    }
    scene.line(vec![(panel.left, panel.bottom), (panel.right, panel.bottom)], MUTED, 1.5);
    // The chains that stand out most, for who points at the panel.
    let share = |counts: &[u64]| counts.iter().filter(|&&n| outside(n, ranks)).count();
    let mut worst: Vec<(usize, usize)> = ranks.counts.iter().map(|counts| share(counts)).enumerate().collect();
    worst.sort_by_key(|&(chain, bars)| (std::cmp::Reverse(bars), chain));
    let worst = worst.iter().take(5).filter(|(_, bars)| *bars > 0);
    let lines: String = worst.map(|(chain, bars)| format!("\nchain {chain}: {bars} of {bins} bars outside")).collect();
    let words =
        format!("{} chains, {} draws expected in each bar{lines}", series.len(), significant(ranks.expected, 3));
    scene.tip((panel.left, panel.top), (panel.right, panel.bottom), words);
}

fn edges(panel: &Panel, bin: usize, bins: usize) -> (f64, f64) {
    let at = |i: usize| panel.left + (panel.right - panel.left) * i as f64 / bins as f64;
    (at(bin), at(bin + 1))
}

fn highest<'a>(counts: impl Iterator<Item = &'a u64>, ranks: &ChainRanks) -> f64 {
    let most = counts.copied().max().unwrap_or(1) as f64;
    // The band of very few effective draws has no end in sight: bars must not vanish below it.
    1.04 * most.max(ranks.chance.1.min(1.6 * ranks.expected)).max(1.0)
}

fn outside(n: u64, ranks: &ChainRanks) -> bool {
    (n as f64) < ranks.chance.0 || n as f64 > ranks.chance.1
}

fn tip(chain: usize, counts: &[u64], ranks: &ChainRanks) -> String {
    let (low, high) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
    let beyond = counts.iter().filter(|&&n| outside(n, ranks)).count();
    let expected = significant(ranks.expected, 3);
    format!(
        "chain {chain}\n{} to {} draws in a bar, {expected} expected\n{beyond} of {} bars outside the band",
        count(*low),
        count(*high),
        counts.len()
    )
}
