//! Rank plot of chains: where the draws of each chain stand among the draws of all.
//!
//! How many panels and bins there are, and how much of chance the band covers, stands here.

mod chance;
mod draw;
mod strips;

use octopus_trace::Dataset;

use super::choose;
use crate::summary::SummaryRow;

pub(super) use strips::draw_ranks;

/// Panels that fit one picture.
const MOST_PANELS: usize = 9;

/// Panels for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 6;

/// The share of the bars, in per cent, that chance leaves inside the band.
const COVERAGE: f64 = 99.0;

/// The data of a rank plot: chains that draw from one distribution have flat histograms (Vehtari et al. 2021).
///
/// [`RankPlot`](crate::RankPlot) is another picture: ranks of true values, over many data sets.
#[derive(Clone, Debug)]
pub struct ChainRankPlot {
    /// The panels, one for each scalar shown.
    pub panels: Vec<ChainRankPanel>,
    /// The number of parameters that the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of a rank plot.
#[derive(Clone, Debug)]
pub struct ChainRankPanel {
    /// The scalar's name.
    pub name: String,
    /// R-hat, NaN where it is not defined.
    pub rhat: f64,
    /// The ranks of the scalar's draws.
    pub ranks: ChainRanks,
}

/// Ranks of the draws of each chain among the draws of all, counted in bins of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainRanks {
    /// The number of draws of each chain in each bin.
    pub counts: Vec<Vec<u64>>,
    /// The number of draws in a bin for a chain like the others.
    pub expected: f64,
    /// The range in which 99% of the bars lie when the chains are alike.
    pub chance: (f64, f64),
    /// The number of draws that are NaN, and have no rank.
    pub not_a_number: usize,
    /// Whether all draws are equal, so that ranks say nothing.
    pub constant: bool,
}

impl ChainRankPlot {
    /// Chooses at most nine panels: the scalars, then the elements of arrays with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; draws without a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let chosen = choose::choose(summary, MOST_PANELS, MOST_ELEMENTS);
        let panel = |(element, row): (crate::draws::ElementDraws, &SummaryRow)| ChainRankPanel {
            name: row.name.clone(),
            rhat: row.rhat,
            ranks: ChainRanks::new(&element.chains(), row.ess_bulk),
        };
        let panels = choose::found(posterior, &chosen).into_iter().map(panel).collect();
        Self { panels, parameters: summary.len() }
    }
}

impl ChainRanks {
    /// Ranks of `chains`, equal draws sharing their mean rank, in as many bins as ArviZ takes: twice Sturges' number.
    ///
    /// The band of chance is that of independent draws (hypergeometric), wider by the root of draws over `ess_bulk`
    /// where draws resemble their neighbours; `ess_bulk` may be NaN.
    pub fn new(chains: &[Vec<f64>], ess_bulk: f64) -> Self {
        let longest = chains.iter().map(Vec::len).max().unwrap_or(0);
        let bins = (2.0 * (longest.max(1) as f64).log2() + 1.0).ceil() as usize;
        let mut pooled: Vec<(f64, usize)> =
            chains.iter().enumerate().flat_map(|(chain, draws)| draws.iter().map(move |&v| (v, chain))).collect();
        let all = pooled.len();
        pooled.retain(|(v, _)| !v.is_nan());
        pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total = pooled.len();
        let mut counts = vec![vec![0; bins]; chains.len()];
        let mut start = 0;
        // 0.0 and -0.0 are equal, though sorted apart: compare as numbers.
        for equal in pooled.chunk_by(|a, b| a.0 == b.0) {
            // Ranks from 1 on; their mean less a half, as a share of all.
            let share = (start as f64 + 0.5 * equal.len() as f64) / total as f64;
            let bin = ((share * bins as f64) as usize).min(bins - 1);
            equal.iter().for_each(|&(_, chain)| counts[chain][bin] += 1);
            start += equal.len();
        }
        let share = 1.0 / (chains.len().max(1) * bins) as f64;
        let expected = total as f64 * share;
        let draws = total / chains.len().max(1);
        let (low, high) = chance::interval(draws as u64, total as u64, (total / bins) as u64, 0.01 * COVERAGE);
        let wider = (total as f64 / ess_bulk).sqrt().max(1.0);
        let chance =
            ((expected - wider * (expected - low as f64)).max(0.0), expected + wider * (high as f64 - expected));
        let constant = pooled.first().map(|first| first.0) == pooled.last().map(|last| last.0);
        Self { counts, expected, chance, not_a_number: all - total, constant }
    }
}

#[cfg(test)]
mod tests;
