//! Trace plot: the draws of each chain in order, beside their densities.

mod draw;

use octopus_trace::Dataset;

use crate::draws;
use crate::summary::{SummaryRow, by_worst_rhat};

/// Rows that fit one picture.
const MOST_ROWS: usize = 6;

/// Rows for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 3;

/// The data of a trace plot.
#[derive(Clone, Debug)]
pub struct TracePlot {
    /// One row of the picture for each.
    pub rows: Vec<TraceRow>,
    /// For each chain the draws whose transition diverged; may be empty.
    pub divergences: Vec<Vec<usize>>,
}

/// One scalar of a trace plot.
#[derive(Clone, Debug)]
pub struct TraceRow {
    /// Its name.
    pub name: String,
    /// Draws of each chain in order.
    pub chains: Vec<Vec<f64>>,
    /// R-hat, NaN where it is not defined.
    pub rhat: f64,
    /// Bulk effective sample size, NaN where it is not defined.
    pub ess_bulk: f64,
    /// The value that made the data.
    pub truth: Option<f64>,
}

impl TracePlot {
    /// At most six rows: the scalars (of more than six those with the worst R-hat), then the elements of arrays with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; `sample_stats`, if given, holds `diverging`. Draws without
    /// a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, sample_stats: Option<&Dataset>, summary: &[SummaryRow]) -> Self {
        let names = choose(summary);
        let found: Vec<_> = draws::elements(posterior).filter(|e| names.contains(&e.name.as_str())).collect();
        let rows = names.iter().filter_map(|&name| {
            let element = found.iter().find(|element| element.name == name)?;
            let row = summary.iter().find(|row| row.name == name)?;
            Some(TraceRow {
                name: name.to_owned(),
                chains: element.chains(),
                rhat: row.rhat,
                ess_bulk: row.ess_bulk,
                truth: row.truth,
            })
        });
        Self { rows: rows.collect(), divergences: sample_stats.map(draws::divergences).unwrap_or_default() }
    }
}

/// The names to show, scalars first.
fn choose(summary: &[SummaryRow]) -> Vec<&str> {
    let (elements, scalars): (Vec<&SummaryRow>, Vec<&SummaryRow>) = summary.iter().partition(|row| row.is_element());
    let mut chosen = worst(scalars, MOST_ROWS);
    let room = if chosen.is_empty() { MOST_ROWS } else { (MOST_ROWS - chosen.len()).min(MOST_ELEMENTS) };
    chosen.extend(worst(elements, room));
    chosen.into_iter().map(|row| row.name.as_str()).collect()
}

/// The `count` rows with the worst R-hat, in the order of the model.
fn worst(mut rows: Vec<&SummaryRow>, count: usize) -> Vec<&SummaryRow> {
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| by_worst_rhat(a, b));
    sorted.truncate(count);
    rows.retain(|row| sorted.iter().any(|kept| kept.name == row.name));
    rows
}

/// The lowest and highest point of each of `columns` equal spans of draws, in order: drawn, it looks like all draws.
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

    fn row(name: &str, rhat: f64) -> SummaryRow {
        SummaryRow {
            name: name.to_owned(),
            mean: 0.0,
            sd: 1.0,
            hdi89: (-1.6, 1.6),
            eti89: (-1.6, 1.6),
            rhat,
            ess_bulk: 1000.0,
            ess_tail: 1000.0,
            mcse_mean: 0.03,
            truth: None,
        }
    }

    #[test]
    fn scalars_first_then_the_worst_elements() {
        let mut summary = vec![row("mu_pop", 1.0), row("sigma_pop", 1.0)];
        summary.extend((0..50).map(|j| row(&format!("z[{j}]"), 1.0 + 0.001 * f64::from((j * 7) % 50))));
        summary.push(row("sigma_obs", 1.2));
        summary.push(row("mu_group[9]", f64::NAN));
        assert_eq!(choose(&summary), ["mu_pop", "sigma_pop", "sigma_obs", "z[7]", "z[14]", "mu_group[9]"]);
    }

    #[test]
    fn many_scalars_or_none() {
        let many: Vec<_> = (0..20).map(|j| row(&format!("a{j}"), 1.0 + 0.01 * f64::from(j))).collect();
        assert_eq!(choose(&many), ["a14", "a15", "a16", "a17", "a18", "a19"]);
        let arrays: Vec<_> = (0..20).map(|j| row(&format!("z[{j}]"), 1.0)).collect();
        assert_eq!(choose(&arrays).len(), MOST_ROWS);
        assert!(choose(&[]).is_empty());
    }

    #[test]
    fn thinning_keeps_extremes_and_order() {
        let chain: Vec<f64> = (0..10_000).map(|i| f64::from((i * 7919) % 10_007)).collect();
        let points = thinned(&chain, 100);
        assert!(points.len() <= 200);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!(highest, chain.iter().copied().fold(0.0, f64::max));
        assert_eq!(thinned(&[1.0, f64::NAN, 3.0], 100), [(0, 1.0), (2, 3.0)]);
    }
}
