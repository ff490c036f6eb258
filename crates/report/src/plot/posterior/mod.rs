//! Posterior plot: the density of single scalars with mean, 89% HDI and truth.
//!
//! How many panels there are, and the range of values that each shows, is decided here.

mod draw;

use octopus_trace::Dataset;

use crate::draws;
use crate::summary::SummaryRow;

/// Panels that fit one picture.
const MOST_PANELS: usize = 9;

/// The data of a posterior plot.
#[derive(Clone, Debug)]
pub struct PosteriorPlot {
    /// One panel for each.
    pub panels: Vec<PosteriorPanel>,
}

/// One scalar of a posterior plot. Its numbers are taken as given, so that the picture and the table agree.
#[derive(Clone, Debug)]
pub struct PosteriorPanel {
    /// The parameter's name.
    pub name: String,
    /// Draws of all chains in any order.
    pub draws: Vec<f64>,
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Highest-density interval of 89%.
    pub hdi89: (f64, f64),
    /// The value that made the data.
    pub truth: Option<f64>,
}

impl PosteriorPlot {
    /// Takes the scalars of the posterior (at most nine), or, where there is none, the first elements of its arrays.
    ///
    /// Draws without a row in `summary` are left out.
    pub fn from_posterior(posterior: &Dataset, summary: &[SummaryRow]) -> Self {
        let any_scalar = summary.iter().any(|row| !row.is_element());
        let panels = draws::elements(posterior)
            .filter(|element| element.scalar || !any_scalar)
            .filter_map(|element| {
                let row = summary.iter().find(|row| row.name == element.name)?;
                Some(PosteriorPanel {
                    name: element.name.clone(),
                    draws: element.pooled(),
                    mean: row.mean,
                    sd: row.sd,
                    hdi89: row.hdi.into(),
                    truth: row.truth,
                })
            })
            .take(MOST_PANELS);
        Self { panels: panels.collect() }
    }
}

impl PosteriorPanel {
    /// Returns the values the panel spans: all draws but the outermost 0.1%, the interval, and the truth unless it lies
    /// so far out that the density would be a spike.
    fn range(&self) -> (f64, f64) {
        let mut sorted: Vec<f64> = self.draws.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let bulk =
            (octopus_diag::quantile_of_sorted(&sorted, 0.0005), octopus_diag::quantile_of_sorted(&sorted, 0.9995));
        let ends = [bulk.0, bulk.1, self.hdi89.0, self.hdi89.1];
        let Some(mut range) = super::axis::extent(ends) else { return (0.0, 1.0) };
        let length = range.1 - range.0;
        if let Some(truth) = self.truth
            && truth > range.0 - 1.5 * length
            && truth < range.1 + 1.5 * length
        {
            range = (range.0.min(truth), range.1.max(truth));
        }
        super::axis::widened(range, 0.04)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(truth: Option<f64>) -> PosteriorPanel {
        let draws = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        PosteriorPanel { name: "p".to_owned(), draws, mean: 0.5, sd: 0.29, hdi89: (0.05, 0.94), truth }
    }

    #[test]
    fn elements_are_shown_where_there_is_no_scalar() {
        use crate::sample::{Sample, Shape};
        let shape = Shape { groups: 2, chains: 2, draws: 40, truth: false, divergences: false };
        let Sample { posterior, summary, .. } = Sample::new(shape);
        let names = |summary: &[SummaryRow]| {
            let plot = PosteriorPlot::from_posterior(&posterior, summary);
            plot.panels.into_iter().map(|panel| panel.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&summary), ["mu_pop", "sigma_pop", "sigma_obs"]);
        let elements: Vec<SummaryRow> = summary.into_iter().filter(|row| row.is_element()).collect();
        assert_eq!(names(&elements), ["z[0]", "z[1]", "mu_group[0]", "mu_group[1]"]);
    }

    #[test]
    fn panels_stand_in_rows() {
        let panels = (0..8).map(|i| panel((i % 2 == 0).then_some(0.5))).collect();
        crate::plot::sound("eight panels", &PosteriorPlot { panels });
        crate::plot::sound("one panel", &PosteriorPlot { panels: vec![panel(None)] });
    }

    #[test]
    fn the_range_takes_in_a_truth_that_is_near() {
        let (low, high) = panel(Some(1.5)).range();
        assert!(low < 0.0 && high > 1.5);
        let (_, high) = panel(Some(100.0)).range();
        assert!(high < 1.2, "a truth far out does not squeeze the density: {high}");
        // The draws are nearly 1 from end to end: near is within one and a half of that.
        for (truth, near) in [(-1.4, true), (-1.6, false), (2.4, true), (2.6, false)] {
            let (low, high) = panel(Some(truth)).range();
            assert_eq!(low < truth && truth < high, near, "{truth}");
        }
        // The same far from 0.
        for (truth, near) in [(48.6, true), (48.4, false), (52.4, true), (52.6, false)] {
            let draws = panel(None).draws.iter().map(|x| 50.0 + x).collect();
            let (low, high) = PosteriorPanel { draws, hdi89: (50.05, 50.94), ..panel(Some(truth)) }.range();
            assert_eq!(low < truth && truth < high, near, "{truth}");
        }
        // Ten times as wide.
        for (truth, near) in [(-14.0, true), (-16.0, false), (24.0, true), (26.0, false)] {
            let draws = panel(None).draws.iter().map(|x| 10.0 * x).collect();
            let (low, high) = PosteriorPanel { draws, hdi89: (0.5, 9.4), ..panel(Some(truth)) }.range();
            assert_eq!(low < truth && truth < high, near, "{truth}");
        }
        assert_eq!(PosteriorPanel { draws: vec![], hdi89: (f64::NAN, f64::NAN), ..panel(None) }.range(), (0.0, 1.0));
    }
}
