//! Prior beside posterior: what the data added.
//!
//! How many panels there are, and which elements of arrays get one, is decided here.

mod draw;

use std::collections::HashMap;

use octopus_trace::Dataset;

use super::axis::{extent, widened};
use crate::draws;
use crate::format::significant;
use crate::summary::SummaryRow;
use octopus_diag::quantile_of_sorted;

/// Panels that fit one picture.
const MOST_PANELS: usize = 12;
/// Elements of an array that get a panel each; of a longer one a histogram shows how much each was narrowed.
const MOST_ELEMENTS: usize = 6;
/// Above this ratio of sd to IQR / 1.349 a prior counts as heavy-tailed (Cauchy, for example). Its sample sd would change
/// with every new set of draws.
const HEAVY: f64 = 5.0;
/// The interquartile range of a normal distribution in its standard deviations.
const NORMAL_IQR: f64 = 1.349;

/// The data of a comparison of prior and posterior.
#[derive(Clone, Debug)]
pub struct PriorPosteriorPlot {
    /// One for each scalar.
    pub panels: Vec<PriorPosteriorPanel>,
    /// One for each array that is too long for panels.
    pub narrowings: Vec<Narrowing>,
}

/// Prior and posterior draws of one scalar. Its numbers are taken as given, so that the picture and the table agree.
#[derive(Clone, Debug)]
pub struct PriorPosteriorPanel {
    /// The parameter's name.
    pub name: String,
    /// Draws from the prior in any order.
    pub prior: Vec<f64>,
    /// Draws from the posterior in any order.
    pub posterior: Vec<f64>,
    /// Prior standard deviation.
    pub prior_sd: f64,
    /// Posterior standard deviation.
    pub posterior_sd: f64,
    /// The value that made the data.
    pub truth: Option<f64>,
}

/// The narrowing of each element of an array.
#[derive(Clone, Debug)]
pub struct Narrowing {
    /// The variable.
    pub name: String,
    /// Posterior over prior width of each element.
    pub ratios: Vec<f64>,
    /// The width that is compared, the same for all elements.
    pub width: WidthMeasure,
}

/// What is called the width of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidthMeasure {
    /// The standard deviation.
    Sd,
    /// The interquartile range, where a prior has no standard deviation.
    Iqr,
}

impl WidthMeasure {
    /// Chooses by draws from a prior, whose standard deviation is `sd`.
    fn of_prior(draws: &[f64], sd: f64) -> Self {
        let range = iqr(draws);
        if range > 0.0 && sd > HEAVY * range / NORMAL_IQR { Self::Iqr } else { Self::Sd }
    }

    /// Returns the width of draws whose standard deviation is `sd`.
    fn measure(self, draws: &[f64], sd: f64) -> f64 {
        match self {
            Self::Sd => sd,
            Self::Iqr => iqr(draws),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sd => "sd",
            Self::Iqr => "IQR",
        }
    }
}

impl PriorPosteriorPlot {
    /// Takes every variable that both groups have draws of, and both summaries rows of: scalars and short arrays as
    /// panels (at most twelve), of longer arrays how much each element was narrowed.
    pub fn from_groups(
        prior: &Dataset,
        prior_summary: &[SummaryRow],
        posterior: &Dataset,
        summary: &[SummaryRow],
    ) -> Self {
        let by_name = |rows: &[SummaryRow]| -> HashMap<String, SummaryRow> {
            rows.iter().map(|row| (row.name.clone(), row.clone())).collect()
        };
        let (before, after) = (by_name(prior_summary), by_name(summary));
        let priors: HashMap<String, draws::ElementDraws<'_>> =
            draws::elements(prior).map(|element| (element.name.clone(), element)).collect();
        let mut plot = Self { panels: Vec::new(), narrowings: Vec::new() };
        for (variable, array) in &posterior.variables {
            let of_variable = draws::elements(posterior).filter(|element| element.variable == variable.as_str());
            let pairs = of_variable.filter_map(|element| {
                let (prior_row, row) = (before.get(&element.name)?, after.get(&element.name)?);
                Some((priors.get(&element.name)?, element, prior_row, row))
            });
            if array.elements(2) > MOST_ELEMENTS {
                plot.narrowings.extend(Narrowing::of_elements(
                    variable,
                    &pairs
                        .map(|(prior, posterior, prior_row, row)| {
                            [(prior.pooled(), prior_row.sd), (posterior.pooled(), row.sd)]
                        })
                        .collect::<Vec<_>>(),
                ));
                continue;
            }
            plot.panels.extend(pairs.map(|(prior, posterior, prior_row, row)| PriorPosteriorPanel {
                name: posterior.name.clone(),
                prior: prior.pooled(),
                posterior: posterior.pooled(),
                prior_sd: prior_row.sd,
                posterior_sd: row.sd,
                truth: row.truth,
            }));
        }
        // Scalars first: they are what priors are argued about.
        plot.panels.sort_by_key(|panel| panel.name.ends_with(']'));
        plot.panels.truncate(MOST_PANELS);
        plot
    }
}

impl Narrowing {
    /// Compares the draws of each element, before and after, which come with their standard deviations.
    fn of_elements(name: &str, elements: &[[(Vec<f64>, f64); 2]]) -> Option<Self> {
        let is_heavy =
            |[(prior, sd), _]: &[(Vec<f64>, f64); 2]| WidthMeasure::of_prior(prior, *sd) == WidthMeasure::Iqr;
        let width = if elements.iter().any(is_heavy) { WidthMeasure::Iqr } else { WidthMeasure::Sd };
        let ratio = |element: &[(Vec<f64>, f64); 2]| {
            let [prior, posterior] = element.each_ref().map(|(draws, sd)| width.measure(draws, *sd));
            posterior / prior
        };
        let ratios: Vec<f64> = elements.iter().map(ratio).collect();
        (!ratios.is_empty()).then(|| Self { name: name.to_owned(), ratios, width })
    }
}

impl PriorPosteriorPanel {
    fn width(&self) -> WidthMeasure {
        WidthMeasure::of_prior(&self.prior, self.prior_sd)
    }

    /// Returns the widths of the prior and of the posterior.
    fn widths(&self) -> [f64; 2] {
        let width = self.width();
        [width.measure(&self.prior, self.prior_sd), width.measure(&self.posterior, self.posterior_sd)]
    }

    /// Returns the values to show: the posterior, and the prior as far as the posterior stays wider than a line. Of a
    /// prior with heavy tails less is shown.
    fn range(&self) -> (f64, f64) {
        let tail = match self.width() {
            WidthMeasure::Sd => 0.005,
            WidthMeasure::Iqr => 0.05,
        };
        let (prior, posterior) = (bulk(&self.prior, tail), bulk(&self.posterior, 0.001));
        let Some(own) = extent([posterior.0, posterior.1]) else {
            return widened(extent([prior.0, prior.1]).unwrap_or((0.0, 1.0)), 0.04);
        };
        let length = own.1 - own.0;
        let reach = if length > 0.0 { 30.0 * length } else { f64::INFINITY };
        let low = if prior.0.is_nan() { own.0 } else { prior.0.max(own.0 - reach).min(own.0) };
        let high = if prior.1.is_nan() { own.1 } else { prior.1.min(own.1 + reach).max(own.1) };
        widened((low, high), 0.04)
    }

    /// `21.8 times narrower`.
    fn change(&self) -> String {
        let [prior, posterior] = self.widths();
        match prior / posterior {
            ratio if !ratio.is_finite() || ratio <= 0.0 => "change of width not defined".to_owned(),
            ratio if ratio < 0.995 => format!("{} times wider", significant(1.0 / ratio, 3)),
            ratio if ratio < 1.005 => "as wide as before".to_owned(),
            ratio => format!("{} times narrower", significant(ratio, 3)),
        }
    }
}

/// Returns the interquartile range.
fn iqr(values: &[f64]) -> f64 {
    let (low, high) = bulk(values, 0.25);
    high - low
}

/// All finite values but a share of `tail` at either end.
fn bulk(values: &[f64], tail: f64) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    (quantile_of_sorted(&sorted, tail), quantile_of_sorted(&sorted, 1.0 - tail))
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;
    use octopus_trace::{Array, Values};

    fn row(name: &str, sd: f64) -> SummaryRow {
        let mut row = SummaryRow { truth: Some(0.5), ..SummaryRow::with_rhat(name, 1.0) };
        row.sd = sd;
        row
    }

    fn panel(prior: f64, posterior: f64) -> PriorPosteriorPanel {
        let ramp = |sd: f64| (0..400).map(|i| (f64::from(i) / 199.5 - 1.0) * sd * 3f64.sqrt()).collect();
        PriorPosteriorPanel {
            name: "mu".to_owned(),
            prior: ramp(prior),
            posterior: ramp(posterior),
            prior_sd: prior,
            posterior_sd: posterior,
            truth: None,
        }
    }

    fn group(sizes: &[(&str, usize)]) -> Dataset {
        let mut group = Dataset::default();
        for &(name, n) in sizes {
            let values = (0..20 * n).map(|i| ((i * 37) % 101) as f64).collect();
            let axes = [("chain", 2), ("draw", 10), ("g", n)];
            let axes = if n == 1 { &axes[..2] } else { &axes[..] };
            group.insert(name, Array::new(axes.iter().copied(), Values::F64(values)));
        }
        group
    }

    #[test]
    fn what_both_groups_have_is_paired() {
        let prior = group(&[("mu", 1), ("few", 2), ("many", 7)]);
        let posterior = group(&[("few", 2), ("mu", 1), ("many", 7), ("made", 1)]);
        let names: Vec<String> = ["mu", "few[0]", "few[1]", "made"].map(str::to_owned).into();
        let names: Vec<String> = names.into_iter().chain((0..7).map(|i| format!("many[{i}]"))).collect();
        let before: Vec<SummaryRow> = names.iter().map(|name| row(name, 4.0)).collect();
        let after: Vec<SummaryRow> = names.iter().map(|name| row(name, 1.0)).collect();
        let plot = PriorPosteriorPlot::from_groups(&prior, &before, &posterior, &after);
        assert_eq!(plot.panels.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["mu", "few[0]", "few[1]"]);
        assert_eq!(plot.panels[0].prior.len(), 20);
        assert_eq!(plot.panels[0].change(), "4.00 times narrower");
        assert_eq!(plot.narrowings.len(), 1);
        assert_eq!((plot.narrowings[0].name.as_str(), &plot.narrowings[0].ratios), ("many", &vec![0.25; 7]));
        assert_eq!(flaws(&plot), [""; 0]);
    }

    #[test]
    fn six_elements_have_a_panel_each() {
        let groups = group(&[("six", 6)]);
        let rows: Vec<SummaryRow> = (0..6).map(|i| row(&format!("six[{i}]"), 1.0)).collect();
        let plot = PriorPosteriorPlot::from_groups(&groups, &rows, &groups, &rows);
        assert_eq!((plot.panels.len(), plot.narrowings.len()), (6, 0));
    }

    #[test]
    fn a_posterior_a_thousand_times_narrower_can_still_be_seen() {
        let (low, high) = panel(1000.0, 1.0).range();
        let width = 2.0 * 3f64.sqrt();
        assert!((high - low) / width < 66.0 && low < -10.0, "{low} {high}");
        let (low, high) = panel(2.0, 1.0).range();
        assert!(low < -3.4 && high < 3.8, "the prior is whole: {low} {high}");
        assert_eq!(panel(1.0, 2.0).change(), "2.00 times wider");
        let changes = [0.994, 0.995, 1.0, 1.0049, 1.005].map(|prior| panel(prior, 1.0).change());
        let [wider, narrower] = ["1.01 times wider", "1.00 times narrower"];
        assert_eq!(changes, [wider, "as wide as before", "as wide as before", "as wide as before", narrower]);
        // A posterior of one value has no width that the prior could be shown in units of: it is shown whole.
        let one = PriorPosteriorPanel { posterior: vec![0.0; 9], ..panel(1.0, 0.0) };
        assert_eq!(one.range(), widened(bulk(&one.prior, 0.005), 0.04));
        assert_eq!(panel(1.0, 0.0).change(), "change of width not defined");
    }

    /// Quartiles of Cauchy's distribution are -1 and 1; the standard deviation of its draws says nothing.
    #[test]
    fn a_prior_without_standard_deviation_is_compared_by_quartiles() {
        let draws = (1..2000).map(|i| (std::f64::consts::PI * (f64::from(i) / 2000.0 - 0.5)).tan());
        let cauchy = PriorPosteriorPanel { prior: draws.collect(), prior_sd: 28.0, ..panel(1.0, 0.5) };
        let [prior, posterior] = cauchy.widths();
        assert_eq!(cauchy.width(), WidthMeasure::Iqr);
        assert!((prior - 2.0).abs() < 0.01 && (posterior - 0.5 * 3f64.sqrt()).abs() < 0.01, "{prior} {posterior}");
        assert!(cauchy.change().starts_with("2.3"), "{}", cauchy.change());
        let (low, high) = cauchy.range();
        assert!(low > -7.5 && high < 7.5, "{low} {high}");
        assert_eq!(panel(1.0, 0.5).width(), WidthMeasure::Sd);
        // A normal distribution with these quartiles has this sd (scipy.stats.norm.ppf).
        let draws = panel(1.0, 0.5).prior;
        let normal = iqr(&draws) / 1.348_979_5;
        assert_eq!(WidthMeasure::of_prior(&draws, 0.99 * HEAVY * normal), WidthMeasure::Sd);
        assert_eq!(WidthMeasure::of_prior(&draws, 1.01 * HEAVY * normal), WidthMeasure::Iqr);
        assert_eq!(WidthMeasure::of_prior(&draws, HEAVY * iqr(&draws) / NORMAL_IQR), WidthMeasure::Sd);
        // Draws that are nearly all equal have no quartiles to compare.
        assert_eq!(WidthMeasure::of_prior(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0], 3.3), WidthMeasure::Sd);

        // One such element of an array: all are compared by quartiles.
        let normal = panel(1.0, 0.5);
        let elements =
            [&cauchy, &normal].map(|p| [(p.prior.clone(), p.prior_sd), (p.posterior.clone(), p.posterior_sd)]);
        let all = Narrowing::of_elements("theta", &elements).unwrap();
        assert_eq!(all.width, WidthMeasure::Iqr);
        let expected = [posterior / prior, iqr(&normal.posterior) / iqr(&normal.prior)];
        assert_eq!(all.ratios, expected);
        let sds = Narrowing::of_elements("theta", &elements[1..]).unwrap();
        assert_eq!((sds.width, sds.ratios), (WidthMeasure::Sd, vec![normal.posterior_sd / normal.prior_sd]));
        assert!(Narrowing::of_elements("theta", &[]).is_none());
    }

    #[test]
    fn odd_values_are_drawn_and_nothing_is_an_error() {
        let mut panels = vec![panel(2.0, 1.0); 7];
        panels[0].posterior.fill(1.0);
        panels[1].prior.fill(f64::NAN);
        panels[2].posterior = vec![];
        panels[3].prior.fill(4.0);
        panels[4].name = "a very long name of a variable ".repeat(5);
        panels[5] = panel(1e6, 1e-6);
        panels[6].truth = Some(1e12);
        let narrowing = |ratios: Vec<f64>| Narrowing { name: "z".repeat(90), ratios, width: WidthMeasure::Sd };
        let narrowings = vec![
            narrowing(vec![f64::NAN; 3]),
            narrowing(vec![0.2; 1000]),
            narrowing((0..1003).map(|i| f64::from(i) / 500.0).collect()),
            narrowing(vec![1e-8, f64::INFINITY, 3.0, 0.0, -1.0]),
        ];
        for (panels, narrowings) in [(panels.clone(), vec![]), (vec![], narrowings.clone()), (panels, narrowings)] {
            assert_eq!(flaws(&PriorPosteriorPlot { panels, narrowings }), [""; 0]);
        }
        let empty = PriorPosteriorPlot { panels: vec![], narrowings: vec![] };
        let error = empty.png().unwrap_err().to_string();
        assert!(error.contains("prior"), "{error}");
    }
}
