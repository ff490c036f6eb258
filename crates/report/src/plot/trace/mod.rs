//! Trace plot: the draws of each chain in order, between their densities and their ranks.
//!
//! How many rows there are, and how traces are thinned, is decided here.

mod draw;

use octopus_trace::Dataset;

use super::chain_ranks::ChainRanks;
use super::choose;
use crate::draws;
use crate::summary::SummaryRow;

/// Rows that fit one picture.
const MOST_ROWS: usize = 6;

/// Rows for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 3;

/// The data of a trace plot.
#[derive(Clone, Debug)]
pub struct TracePlot {
    /// The rows, one for each scalar shown.
    pub rows: Vec<TraceRow>,
    /// The draws of each chain whose transition diverged; may be empty.
    pub divergences: Vec<Vec<usize>>,
    /// The number of parameters that the rows were chosen from.
    pub parameters: usize,
}

/// One scalar of a trace plot.
#[derive(Clone, Debug)]
pub struct TraceRow {
    /// The scalar's name.
    pub name: String,
    /// The draws of each chain in order.
    pub chains: Vec<Vec<f64>>,
    /// The ranks of the draws among those of all chains.
    pub ranks: ChainRanks,
    /// R-hat, NaN where it is not defined.
    pub rhat: f64,
    /// Bulk effective sample size, NaN where it is not defined.
    pub ess_bulk: f64,
    /// The true value that made the data, where it is known.
    pub truth: Option<f64>,
}

impl TracePlot {
    /// Chooses at most six rows: the scalars (if there are more than six, those with the worst R-hat), then the
    /// elements of arrays with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; `sample_stats`, if given, holds `diverging`. Draws without
    /// a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, sample_stats: Option<&Dataset>, summary: &[SummaryRow]) -> Self {
        let chosen = choose::choose(summary, MOST_ROWS, MOST_ELEMENTS);
        let rows = choose::found(posterior, &chosen).into_iter().map(|(element, row)| {
            let chains = element.chains();
            TraceRow {
                name: row.name.clone(),
                ranks: ChainRanks::new(&chains, row.ess_bulk),
                chains,
                rhat: row.rhat,
                ess_bulk: row.ess_bulk,
                truth: row.truth,
            }
        });
        Self {
            rows: rows.collect(),
            divergences: sample_stats.map(draws::divergences).unwrap_or_default(),
            parameters: summary.len(),
        }
    }
}

/// Returns the lowest and highest point of each of `columns` equal spans of draws, in order: drawn, it looks like all
/// draws.
///
/// A chain with at most two draws a column is returned whole. Draws that are not finite are left out.
fn thinned(chain: &[f64], columns: usize) -> Vec<(usize, f64)> {
    let all = |range: std::ops::Range<usize>| range.map(|i| (i, chain[i])).filter(|(_, v)| v.is_finite());
    if chain.len() <= 2 * columns.max(1) {
        return all(0..chain.len()).collect();
    }
    let mut points = Vec::with_capacity(2 * columns);
    for column in 0..columns {
        let span = column * chain.len() / columns..(column + 1) * chain.len() / columns;
        let low = all(span.clone()).min_by(|a, b| a.1.total_cmp(&b.1));
        let high = all(span).max_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some(low), Some(high)) = (low, high) {
            let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
            points.push(first);
            if second.0 != first.0 {
                points.push(second);
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes_and_order() {
        let chain: Vec<f64> = (0..10_000).map(|i| f64::from((i * 7919) % 10_007)).collect();
        let points = thinned(&chain, 100);
        assert!(points.len() <= 200);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!(highest, chain.iter().copied().fold(0.0, f64::max));
        assert_eq!(thinned(&[1.0, f64::NAN, 3.0], 100), [(0, 1.0), (2, 3.0)]);
        assert_eq!(thinned(&[1.0, 3.0, 2.0], 1), [(0, 1.0), (1, 3.0)]);
    }
}
