//! Autocorrelation plot: how long chains remember.
//!
//! The longest lag, and how many panels there are, stand here.

mod draw;

use octopus_diag::autocorr;
use octopus_trace::Dataset;

use super::choose;
use crate::summary::SummaryRow;

/// Panels that fit one picture.
const MOST_PANELS: usize = 9;

/// Panels for elements of arrays where scalars leave room.
const MOST_ELEMENTS: usize = 6;

/// The longest lag kept, as in ArviZ.
const MOST_LAGS: usize = 100;

/// The data of an autocorrelation plot.
#[derive(Clone, Debug)]
pub struct AutocorrPlot {
    /// One panel of the picture for each.
    pub panels: Vec<AutocorrPanel>,
    /// The number of draws of each chain.
    pub draws: usize,
    /// The number of parameters that the panels were chosen from.
    pub parameters: usize,
}

/// One scalar of an autocorrelation plot.
#[derive(Clone, Debug)]
pub struct AutocorrPanel {
    /// The parameter's name.
    pub name: String,
    /// Bulk effective sample size, NaN where it is not defined.
    pub ess_bulk: f64,
    /// The autocorrelation of each chain at lags 0, 1, 2, ...; NaN where it is not defined.
    pub chains: Vec<Vec<f64>>,
}

impl AutocorrPlot {
    /// Chooses at most nine panels (the scalars, then the elements of arrays with the worst R-hat) and lags up to 100.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; draws without a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let chosen = choose::choose(summary, MOST_PANELS, MOST_ELEMENTS);
        let mut draws = 0;
        let panels = choose::found(posterior, &chosen).into_iter().map(|(element, row)| {
            let chains = element.chains().into_iter().map(|chain| {
                draws = draws.max(chain.len());
                let mut lags = autocorr(&chain);
                lags.truncate(MOST_LAGS + 1);
                lags
            });
            AutocorrPanel { name: row.name.clone(), ess_bulk: row.ess_bulk, chains: chains.collect() }
        });
        Self { panels: panels.collect(), draws, parameters: summary.len() }
    }

    /// Returns the bound within which 95% of the correlations of independent draws lie, on either side of 0.
    fn band(&self) -> f64 {
        1.96 / (self.draws.max(1) as f64).sqrt()
    }

    /// Returns the longest lag to show: half as far again as any chain remembers, since more would only show noise.
    fn lags(&self) -> usize {
        let longest = self.panels.iter().flat_map(|panel| panel.chains.iter().map(Vec::len)).max().unwrap_or(0);
        let remembered = self.panels.iter().flat_map(|panel| &panel.chains).map(|lags| {
            // The first lag from which on noise is all there is, for three lags in a row.
            let quiet = |window: &[f64]| window.iter().all(|rho| rho.is_nan() || rho.abs() <= 1.5 * self.band());
            lags.windows(3).position(quiet).unwrap_or(lags.len())
        });
        let far = (remembered.max().unwrap_or(0) as f64 * 1.5) as usize;
        far.next_multiple_of(10).max(20).min(longest.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ReportError;
    use crate::plot::{Plot, sound};
    use crate::sample::Normals;

    /// AR(1) chains: the correlation at lag t is `phi^t`.
    fn plot(name: &str, panels: usize, chains: usize, draws: usize, phi: f64) -> AutocorrPlot {
        let mut normals = Normals::new(5);
        let mut chain = || {
            let mut state = normals.next();
            let mut step = |_| {
                state = phi * state + (1.0 - phi * phi).sqrt() * normals.next();
                state
            };
            let values: Vec<f64> = (0..draws).map(&mut step).collect();
            autocorr(&values).into_iter().take(MOST_LAGS + 1).collect()
        };
        let chains: Vec<Vec<f64>> = (0..chains).map(|_| chain()).collect();
        let panel = |i| AutocorrPanel { name: format!("{name}[{i}]"), ess_bulk: 300.0, chains: chains.clone() };
        AutocorrPlot { panels: (0..panels).map(panel).collect(), draws, parameters: 1003 }
    }

    #[test]
    fn as_many_lags_as_chains_remember() {
        assert_eq!(plot("x", 1, 4, 2000, 0.0).lags(), 20);
        let slow = plot("x", 1, 4, 2000, 0.9).lags();
        assert!((40..=100).contains(&slow), "{slow}");
        assert_eq!(plot("x", 1, 4, 2000, 0.999).lags(), 100);
        assert_eq!(plot("x", 1, 4, 8, 0.5).lags(), 7);
        assert!((plot("x", 1, 1, 100, 0.0).band() - 0.196).abs() < 1e-12);
    }

    #[test]
    fn every_shape_is_drawn_without_flaws() {
        for (panels, chains, phi) in
            [(1, 1, 0.3), (1, 8, 0.0), (1, 9, 0.0), (3, 4, 0.9), (9, 4, -0.9), (9, 64, 0.5), (2, 12, 0.999)]
        {
            sound("autocorrelation", &plot("mu_group", panels, chains, 300, phi));
        }
        sound("long names", &plot(&"a_very_long_name".repeat(9), 5, 2, 300, 0.2));
        sound("two draws", &plot("x", 1, 2, 2, 0.0));
        sound("one draw", &plot("x", 1, 2, 1, 0.0));
        let mut odd = plot("x", 2, 3, 100, 0.0);
        odd.panels[0].chains[1].fill(f64::NAN);
        odd.panels[1].chains.iter_mut().for_each(|lags| lags.fill(f64::NAN));
        odd.panels[1].ess_bulk = f64::NAN;
        sound("not defined", &odd);
    }

    #[test]
    fn nothing_to_draw_says_what_is_missing() {
        let without_draws = AutocorrPlot { draws: 0, ..plot("x", 1, 2, 8, 0.0) };
        for none in [plot("x", 0, 0, 0, 0.0), plot("x", 0, 0, 8, 0.0), without_draws] {
            let error = none.scene().unwrap_err();
            assert!(matches!(error, ReportError::Empty { missing: "a variable with draws", .. }), "{error}");
        }
    }
}
