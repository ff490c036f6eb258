//! Effective sample sizes (ESS): while the run goes on, and over the regions of a distribution.
//!
//! How many panels and points there are stands here.

mod evolution;
mod regions;

use octopus_diag::limits;
use octopus_diag::{Chains, Evolution, ess_local_curve, ess_quantile_curve, evolution};
use octopus_trace::Dataset;

use super::choose;
use crate::summary::SummaryRow;

/// Panels that fit one picture.
const MOST_PANELS: usize = 9;

/// Panels for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 6;

/// Points of a panel, as in ArviZ; fewer draws than that make as many points.
const POINTS: usize = 20;

/// Effective sample sizes of the first draws of a run, more and more of them: they should grow evenly.
/// `az.plot_ess(kind="evolution")`.
#[derive(Clone, Debug)]
pub struct EssEvolutionPlot {
    /// The panels, one for each scalar shown.
    pub panels: Vec<EssEvolutionPanel>,
    /// The number of draws of all chains that each point uses.
    pub draws: Vec<usize>,
    /// The smallest effective sample size to ask for, 100 for each chain.
    pub least: f64,
    /// The number of parameters that the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of an [`EssEvolutionPlot`].
#[derive(Clone, Debug)]
pub struct EssEvolutionPanel {
    /// The scalar's name.
    pub name: String,
    /// Bulk effective sample size at each point, NaN where it is not defined.
    pub bulk: Vec<f64>,
    /// Tail effective sample size at each point.
    pub tail: Vec<f64>,
}

/// The kind of region that an [`EssRegionsPlot`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EssRegions {
    /// The effective sample size for each of some quantiles. `az.plot_ess(kind="quantile")`.
    Quantiles,
    /// The effective sample size for the probability of each of some small intervals. `az.plot_ess(kind="local")`.
    Intervals,
}

/// Effective sample sizes over the regions of a distribution: a valley is a region that chains reach seldom.
#[derive(Clone, Debug)]
pub struct EssRegionsPlot {
    /// The kind of region.
    pub regions: EssRegions,
    /// The panels, one for each scalar shown.
    pub panels: Vec<EssRegionsPanel>,
    /// The smallest effective sample size to ask for, 100 for each chain.
    pub least: f64,
    /// The number of parameters that the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of an [`EssRegionsPlot`].
#[derive(Clone, Debug)]
pub struct EssRegionsPanel {
    /// The scalar's name.
    pub name: String,
    /// For each region, the probabilities at its ends (equal for a quantile) and the effective sample size, NaN where
    /// it is not defined.
    pub ess: Vec<(f64, f64, f64)>,
}

impl EssEvolutionPlot {
    /// Chooses at most nine panels: the scalars, then the elements of arrays with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; draws without a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let (chosen, chains, draws) = chosen(posterior, summary);
        let found: Vec<(String, Evolution)> = chosen
            .into_iter()
            .map(|(name, values)| {
                let found = Chains::new(&values, chains, draws).and_then(|view| evolution(&view, POINTS.min(draws)));
                (name, found.unwrap_or_default())
            })
            .collect();
        let used = found.first().map_or(&[] as &[usize], |(_, found)| &found.draws);
        Self {
            draws: used.iter().map(|draws| draws * chains).collect(),
            panels: found
                .into_iter()
                .map(|(name, found)| EssEvolutionPanel { name, bulk: found.ess_bulk, tail: found.ess_tail })
                .collect(),
            least: limits::ESS_PER_CHAIN * chains as f64,
            parameters: summary.len(),
        }
    }
}

impl EssRegionsPlot {
    /// Computes the effective sample sizes of twenty quantiles from 5% to 95%; panels as in [`EssEvolutionPlot`].
    pub fn quantiles(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        Self::new(EssRegions::Quantiles, posterior, summary, |chains| {
            let curve = ess_quantile_curve(chains, POINTS).unwrap_or_default();
            curve.into_iter().map(|(prob, ess)| (prob, prob, ess)).collect()
        })
    }

    /// Computes the effective sample sizes of the probabilities of the intervals from 0% to 5%, ... 95% to 100%; panels
    /// as in [`EssEvolutionPlot`].
    pub fn intervals(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        Self::new(EssRegions::Intervals, posterior, summary, |chains| {
            let curve = ess_local_curve(chains, POINTS).unwrap_or_default();
            curve.into_iter().map(|(low, ess)| (low, low + 1.0 / POINTS as f64, ess)).collect()
        })
    }

    fn new(
        regions: EssRegions,
        posterior: &Dataset,
        summary: &[SummaryRow],
        curve: impl Fn(&Chains) -> Vec<(f64, f64, f64)>,
    ) -> Self {
        let (chosen, chains, draws) = chosen(posterior, summary);
        let panel = |(name, values): (String, Vec<f64>)| {
            let ess = Chains::new(&values, chains, draws).map(|view| curve(&view)).unwrap_or_default();
            EssRegionsPanel { name, ess }
        };
        let panels = chosen.into_iter().map(panel).collect();
        Self { regions, panels, least: limits::ESS_PER_CHAIN * chains as f64, parameters: summary.len() }
    }
}

/// Returns the scalars to show: names and draws, chain after chain; and the chains and draws of each.
fn chosen(posterior: &Dataset, summary: &[SummaryRow]) -> (Vec<(String, Vec<f64>)>, usize, usize) {
    let rows = choose::choose(summary, MOST_PANELS, MOST_ELEMENTS);
    let found = choose::found(posterior, &rows);
    // All variables of a posterior have the same shape.
    let (chains, draws) = found.first().map_or((0, 0), |(element, _)| (element.chains, element.draws));
    (found.into_iter().map(|(element, row)| (row.name.clone(), element.pooled())).collect(), chains, draws)
}

#[cfg(test)]
mod tests;
