//! Effective sample sizes: while the run goes on, and over the regions of a distribution.

mod evolution;
mod regions;

use octopus_diag::{Chains, ess_bulk, ess_quantile, ess_tail};
use octopus_trace::Dataset;

use super::choose;
use crate::summary::SummaryRow;

/// Panels that fit one picture.
const MOST_PANELS: usize = 9;

/// Panels for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 6;

/// Points of a panel, as in ArviZ.
const POINTS: usize = 20;

/// Effective draws of each chain from which on estimates can be relied on (Vehtari et al. 2021).
pub(super) const PER_CHAIN: usize = 100;

/// Effective sample sizes of the first draws of a run, more and more of them: they should grow evenly.
/// `az.plot_ess(kind="evolution")`.
#[derive(Clone, Debug)]
pub struct EssEvolutionPlot {
    /// One panel of the picture for each.
    pub panels: Vec<EssEvolutionPanel>,
    /// How many draws of all chains each point uses.
    pub draws: Vec<usize>,
    /// The least effective sample size to ask for, 100 for each chain.
    pub least: f64,
    /// How many parameters the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of such a plot.
#[derive(Clone, Debug)]
pub struct EssEvolutionPanel {
    /// Its name.
    pub name: String,
    /// Bulk effective sample size at each point, NaN where it is not defined.
    pub bulk: Vec<f64>,
    /// Tail effective sample size at each point.
    pub tail: Vec<f64>,
}

/// What [`EssRegionsPlot`] shows.
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
    /// Which kind of region.
    pub regions: EssRegions,
    /// One panel of the picture for each.
    pub panels: Vec<EssRegionsPanel>,
    /// The least effective sample size to ask for, 100 for each chain.
    pub least: f64,
    /// How many parameters the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of such a plot.
#[derive(Clone, Debug)]
pub struct EssRegionsPanel {
    /// Its name.
    pub name: String,
    /// Of each region its probabilities from and to (equal for a quantile), and the effective sample size, NaN
    /// where it is not defined.
    pub ess: Vec<(f64, f64, f64)>,
}

impl EssEvolutionPlot {
    /// At most nine panels: the scalars, then the elements of arrays with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; draws without a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let chosen = chosen(posterior, summary);
        let (chains, draws) = shape(&chosen);
        let prefixes = prefixes(draws);
        let panels = chosen.into_iter().map(|(name, rows)| {
            let at = |draws: usize, ess: fn(&Chains) -> f64| {
                let values: Vec<f64> = rows.iter().flat_map(|row| row.iter().take(draws)).copied().collect();
                Chains::new(&values, chains, draws).map_or(f64::NAN, |view| ess(&view))
            };
            let all = |ess: fn(&Chains) -> f64| prefixes.iter().map(|&draws| at(draws, ess)).collect();
            EssEvolutionPanel { bulk: all(ess_bulk), tail: all(ess_tail), name }
        });
        Self {
            panels: panels.collect(),
            draws: prefixes.iter().map(|draws| draws * chains).collect(),
            least: (PER_CHAIN * chains) as f64,
            parameters: summary.len(),
        }
    }
}

impl EssRegionsPlot {
    /// The effective sample sizes of the quantiles at 5%, 10%, ... 95%; panels as in [`EssEvolutionPlot`].
    pub fn quantiles(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let regions = (1..POINTS).map(|i| i as f64 / POINTS as f64).map(|p| (p, p)).collect();
        let ess = |chains: &Chains, p, _| ess_quantile(chains, p).unwrap_or(f64::NAN);
        Self::of(EssRegions::Quantiles, posterior, summary, regions, ess)
    }

    /// The effective sample sizes of the probabilities of the intervals from 0% to 5%, ... 95% to 100%; panels as in
    /// [`EssEvolutionPlot`]. `ess_local` is given the draws and both ends as probabilities.
    pub fn intervals(
        posterior: &Dataset,
        summary: &[SummaryRow],
        ess_local: impl Fn(&Chains, f64, f64) -> f64,
    ) -> Self {
        let share = |i: usize| i as f64 / POINTS as f64;
        let regions = (0..POINTS).map(|i| (share(i), share(i + 1))).collect();
        Self::of(EssRegions::Intervals, posterior, summary, regions, ess_local)
    }

    fn of(
        kind: EssRegions,
        posterior: &Dataset,
        summary: &[SummaryRow],
        regions: Vec<(f64, f64)>,
        ess: impl Fn(&Chains, f64, f64) -> f64,
    ) -> Self {
        let chosen = chosen(posterior, summary);
        let (chains, draws) = shape(&chosen);
        let panel = |(name, rows): (String, Vec<Vec<f64>>)| {
            let values = rows.concat();
            let view = Chains::new(&values, chains, draws);
            let at =
                |&(low, high): &(f64, f64)| (low, high, view.as_ref().map_or(f64::NAN, |view| ess(view, low, high)));
            EssRegionsPanel { ess: regions.iter().map(at).collect(), name }
        };
        let panels = chosen.into_iter().map(panel).collect();
        Self { regions: kind, panels, least: (PER_CHAIN * chains) as f64, parameters: summary.len() }
    }
}

/// Names and chains of the scalars to show.
fn chosen(posterior: &Dataset, summary: &[SummaryRow]) -> Vec<(String, Vec<Vec<f64>>)> {
    let rows = choose::choose(summary, MOST_PANELS, MOST_ELEMENTS);
    let found = choose::found(posterior, &rows).into_iter();
    found.map(|(element, row)| (row.name.clone(), element.chains())).collect()
}

/// Chains and draws of each; all variables of a posterior have the same.
fn shape(chosen: &[(String, Vec<Vec<f64>>)]) -> (usize, usize) {
    chosen.first().map_or((0, 0), |(_, chains)| (chains.len(), chains.first().map_or(0, Vec::len)))
}

/// Numbers of first draws of `draws`, evenly apart, the last being all.
pub(super) fn prefixes(draws: usize) -> Vec<usize> {
    let mut points: Vec<usize> = (1..=POINTS).map(|i| i * draws / POINTS).filter(|&n| n > 0).collect();
    points.dedup();
    points
}

#[cfg(test)]
mod tests;
