//! Pictures of a trace: the material that they are made from, and the reason when one cannot be made.
//!
//! The names of pictures and their files, and how many replicates and draws from the prior they have, stand here.

use crate::loaded::rows;
use crate::{PointwiseLikelihood, PredictiveParts, PriorDraws, Trace, TraceError, check_predictive};
use octopus_diag::{DEFAULT_PROB, Ties, fixed_elements, loo, loo_pit, summary};
use octopus_models::{Effects, Problem};
use octopus_report::{
    AutocorrPlot, ChainRankPlot, ConvergencePlot, EnergyPlot, EssEvolutionPlot, EssRegionsPlot, Figure, ForestPlot,
    LooPitPlot, PairPlot, ParallelPlot, ParetoKPlot, PosteriorPlot, PpcEcdfPlot, PpcPlot, PpcStatisticPlot,
    Predictions, PriorPosteriorPlot, ShrinkagePlot, SummaryRow, TracePlot,
};
use octopus_runs::diagnose_options;
use octopus_trace::Dataset;
use std::cell::OnceCell;
use std::collections::HashMap;

/// The number of predicted data sets in a picture.
const REPLICATES: usize = 100;
/// The number of draws from the prior in a picture.
const PRIOR_DRAWS: usize = 2000;

/// A picture of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Draws of each chain in order, densities, ranks
    Trace,
    /// Ranks of each chain among all
    Rank,
    /// Densities with 89% intervals
    Posterior,
    /// Intervals of every variable
    Forest,
    /// Pairs of variables, with divergences
    Pair,
    /// Divergent draws across variables
    Parallel,
    /// Energies and their steps
    Energy,
    /// Autocorrelation of each chain
    Autocorr,
    /// Effective sample sizes against draws
    Ess,
    /// Effective sample sizes of quantiles
    EssQuantile,
    /// Effective sample sizes of small intervals
    EssLocal,
    /// R-hat and effective sample sizes of all parameters against draws
    Convergence,
    /// Densities of observed and predicted data
    Ppc,
    /// Distribution functions of observed and predicted data
    PpcEcdf,
    /// Statistics of observed and predicted data
    PpcStatistic,
    /// Prior against posterior
    Prior,
    /// Observations within their predictions from the others
    LooPit,
    /// How far LOO can be trusted, for each observation
    ParetoK,
    /// Raw means of groups against their posteriors
    Shrinkage,
}

/// Every picture with its name, the stem of its file, and what it shows.
const ALL: [(Picture, &str, &str, &str); 19] = [
    (Picture::Trace, "trace", "trace_plot", "Draws of each chain in order, densities, ranks"),
    (Picture::Rank, "rank", "rank_plot", "Ranks of each chain among all"),
    (Picture::Posterior, "posterior", "posterior_plot", "Densities with 89% intervals"),
    (Picture::Forest, "forest", "forest_plot", "Intervals of every variable"),
    (Picture::Pair, "pair", "pair_plot", "Pairs of variables, with divergences"),
    (Picture::Parallel, "parallel", "parallel_plot", "Divergent draws across variables"),
    (Picture::Energy, "energy", "energy_plot", "Energies and their steps"),
    (Picture::Autocorr, "autocorr", "autocorr_plot", "Autocorrelation of each chain"),
    (Picture::Ess, "ess", "ess_evolution_plot", "Effective sample sizes against draws"),
    (Picture::EssQuantile, "ess-quantile", "ess_quantile_plot", "Effective sample sizes of quantiles"),
    (Picture::EssLocal, "ess-local", "ess_local_plot", "Effective sample sizes of small intervals"),
    (
        Picture::Convergence,
        "convergence",
        "convergence_plot",
        "R-hat and effective sample sizes of all parameters against draws",
    ),
    (Picture::Ppc, "ppc", "ppc_plot", "Densities of observed and predicted data"),
    (Picture::PpcEcdf, "ppc-ecdf", "ppc_ecdf_plot", "Distribution functions of observed and predicted data"),
    (Picture::PpcStatistic, "ppc-statistic", "ppc_statistic_plot", "Statistics of observed and predicted data"),
    (Picture::Prior, "prior", "prior_posterior_plot", "Prior against posterior"),
    (Picture::LooPit, "loo-pit", "loo_pit_plot", "Observations within their predictions from the others"),
    (Picture::ParetoK, "pareto-k", "pareto_k_plot", "How far LOO can be trusted, for each observation"),
    (Picture::Shrinkage, "shrinkage", "shrinkage_plot", "Raw means of groups against their posteriors"),
];

/// The material that pictures are made from: a trace, and where it is known its model.
pub struct Material<'a> {
    trace: &'a Trace,
    posterior: &'a Dataset,
    problem: Option<&'a dyn Problem>,
    rows: Vec<SummaryRow>,
    /// The observed data that pictures of predictions are of, where they are named.
    data: Vec<String>,
    judged: OnceCell<PointwiseLikelihood<'a>>,
}

impl<'a> Material<'a> {
    /// Collects the material of a trace and sums up its parameters: those that `wanted` names, or without such names all but
    /// zeros and ones that are fixed. A name is that of a variable or of an element; `*` stands for anything. The name of
    /// an observed variable chooses the data in pictures of predictions.
    ///
    /// # Errors
    /// When the trace has no draws, or a name fits no parameter.
    pub fn new(trace: &'a Trace, problem: Option<&'a dyn Problem>, wanted: &[String]) -> Result<Self, TraceError> {
        let posterior = trace.posterior()?;
        let truth = problem.map(Problem::truth).unwrap_or_default();
        let summary = summary(posterior, DEFAULT_PROB)
            .map_err(|source| TraceError::Named { name: trace.name.clone(), source })?;
        let mut rows = rows(&summary.parameters, &truth);
        let named = |row: &SummaryRow, pattern: &str| {
            let variable = row.name.split_once('[').map_or(row.name.as_str(), |(variable, _)| variable);
            let without_spaces = |name: &str| name.replace(", ", ",");
            matches(pattern, variable) || matches(&without_spaces(pattern), &without_spaces(&row.name))
        };
        let is_data = |name: &str| {
            ["observed_data", "log_likelihood"]
                .iter()
                .any(|group| trace.data.group(group).is_some_and(|g| g.get(name).is_some()))
        };
        let (wanted, others): (Vec<&String>, Vec<&String>) =
            wanted.iter().partition(|pattern| rows.iter().any(|row| named(row, pattern)));
        if let Some(pattern) = others.iter().find(|name| !is_data(name)) {
            let variables: Vec<_> = posterior.variables.keys().map(|name| octopus_trace::shown(name)).collect();
            let (name, has) = (&trace.name, variables.join(", "));
            return Err(TraceError::lacks(format!(
                "--var {pattern}: no parameter of {name} has this name; it has {has}"
            )));
        }
        let is_fixed = fixed_elements(&summary.parameters);
        rows.retain(
            |row| {
                if wanted.is_empty() { !is_fixed(row) } else { wanted.iter().any(|pattern| named(row, pattern)) }
            },
        );
        let data = others.into_iter().cloned().collect();
        Ok(Self { trace, posterior, problem, rows, data, judged: OnceCell::new() })
    }

    /// Collects the material of a trace whose parameters have been summed up already, as `rows`.
    ///
    /// # Errors
    /// When the trace has no draws.
    pub fn with_rows(trace: &'a Trace, problem: &'a dyn Problem, rows: Vec<SummaryRow>) -> Result<Self, TraceError> {
        let (data, judged) = (Vec::new(), OnceCell::new());
        Ok(Self { trace, posterior: trace.posterior()?, problem: Some(problem), rows, data, judged })
    }

    /// Returns the log likelihoods, which several pictures need.
    fn judged(&self) -> Result<&PointwiseLikelihood<'a>, TraceError> {
        if let Some(judged) = self.judged.get() {
            return Ok(judged);
        }
        let names: Vec<&str> = self.data.iter().map(String::as_str).collect();
        let judged = PointwiseLikelihood::read(self.trace, &names)?;
        Ok(self.judged.get_or_init(|| judged))
    }

    fn stats(&self) -> Option<&Dataset> {
        self.trace.data.group("sample_stats")
    }

    /// Returns observed and predicted data.
    fn predictions(&self) -> Result<Predictions, TraceError> {
        let group = |name: &str| {
            self.trace.data.group(name).ok_or_else(|| TraceError::lacks(format!("the trace has no group `{name}`")))
        };
        let (observed, predicted) = (group("observed_data")?, group("posterior_predictive")?);
        match self.data.first() {
            Some(name) => Predictions::of_variable(observed, predicted, name).ok_or_else(|| {
                TraceError::lacks(format!(
                    "`posterior_predictive` has no `{name}` with the shape of that of `observed_data`"
                ))
            }),
            None => Predictions::from_groups(observed, predicted).ok_or_else(|| {
                TraceError::lacks("no variable of `posterior_predictive` has the shape of one in `observed_data`")
            }),
        }
    }
}

impl Picture {
    /// Returns all pictures, in the order in which they are drawn.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(|(picture, ..)| picture)
    }

    /// Returns the picture with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|(_, own, ..)| *own == name).map(|(picture, ..)| picture)
    }

    /// Returns the picture's name, e.g. `ess-quantile`.
    pub fn name(self) -> &'static str {
        ALL.into_iter().find(|(picture, ..)| *picture == self).map_or("", |(_, name, ..)| name)
    }

    /// Returns the name of the picture's file without ending, e.g. `ess_quantile_plot`.
    pub fn stem(self) -> &'static str {
        ALL.into_iter().find(|(picture, ..)| *picture == self).map_or("", |(_, _, stem, _)| stem)
    }

    /// Returns what the picture shows, in a few words.
    pub fn about(self) -> &'static str {
        ALL.into_iter().find(|(picture, ..)| *picture == self).map_or("", |(.., about)| about)
    }

    /// Returns the quantities of each draw that the picture needs and a run folder does not keep.
    pub fn wants(self) -> PredictiveParts {
        let replicates = matches!(self, Self::Ppc | Self::PpcEcdf | Self::PpcStatistic | Self::LooPit);
        PredictiveParts { replicates, log_likelihood: matches!(self, Self::LooPit | Self::ParetoK) }
    }

    /// Makes the picture of this kind.
    ///
    /// # Errors
    /// When the trace lacks something that the picture needs.
    pub fn figure(self, from: &Material) -> Result<Figure, TraceError> {
        let Material { posterior, rows, .. } = from;
        let stats = from.stats();
        Ok(match self {
            Self::Trace => Figure::new(TracePlot::from_posterior(posterior, stats, rows)),
            Self::Rank => Figure::new(ChainRankPlot::from_posterior(posterior, rows)),
            Self::Posterior => Figure::new(PosteriorPlot::from_posterior(posterior, rows)),
            Self::Forest => Figure::new(ForestPlot::from_posterior(posterior, rows)),
            Self::Pair => Figure::new(PairPlot::from_posterior(posterior, stats, rows)),
            Self::Parallel => {
                let plot = ParallelPlot::from_posterior(posterior, stats, rows);
                if plot.divergences == 0 {
                    return Err(TraceError::lacks("no transition diverged, or the trace does not say which"));
                }
                Figure::new(plot)
            }
            Self::Energy => {
                let stats = stats.ok_or_else(|| TraceError::lacks("the trace has no group `sample_stats`"))?;
                stats.statistic("energy").ok_or_else(|| TraceError::lacks("`sample_stats` has no `energy`"))?;
                Figure::new(EnergyPlot::from_sample_stats(stats))
            }
            Self::Autocorr => Figure::new(AutocorrPlot::from_posterior(posterior, rows)),
            Self::Ess => Figure::new(EssEvolutionPlot::from_posterior(posterior, rows)),
            Self::EssQuantile => Figure::new(EssRegionsPlot::quantiles(posterior, rows)),
            Self::EssLocal => Figure::new(EssRegionsPlot::intervals(posterior, rows)),
            Self::Convergence => {
                let superchains = from.trace.record.as_ref().and_then(|record| diagnose_options(record).superchains);
                Figure::new(ConvergencePlot::from_posterior(posterior, rows, superchains)?)
            }
            Self::Ppc => {
                let predictions = from.predictions()?;
                // The picture shows the same p-values as the picture `ppc-statistic`.
                let statistics = check_predictive(&predictions.observed, &predictions.replicates(usize::MAX))?;
                let replicates = predictions.replicates(REPLICATES);
                Figure::new(PpcPlot { observed: predictions.observed, replicates, statistics })
            }
            Self::PpcEcdf => {
                let predictions = from.predictions()?;
                let replicates = predictions.replicates(REPLICATES);
                Figure::new(PpcEcdfPlot { observed: predictions.observed, replicates })
            }
            Self::PpcStatistic => {
                let predictions = from.predictions()?;
                let all = predictions.replicates(usize::MAX);
                Figure::new(PpcStatisticPlot { statistics: check_predictive(&predictions.observed, &all)? })
            }
            Self::Prior => prior(from)?,
            Self::LooPit => {
                let predictions = from.predictions()?;
                let judged = from.judged()?;
                let Predictions { observed, predicted } = &predictions;
                let pit = loo_pit(&judged.log_likelihood, predicted, observed, judged.reff, Ties::default())?;
                Figure::new(LooPitPlot { pit })
            }
            Self::ParetoK => {
                let judged = from.judged()?;
                let found = loo(&judged.log_likelihood, judged.reff)?;
                Figure::new(ParetoKPlot { k: found.reliability, draws: found.n_samples, labels: Vec::new() })
            }
            Self::Shrinkage => {
                let problem =
                    from.problem.ok_or_else(|| TraceError::lacks("what was observed in which group is not known"))?;
                let Effects { variable, mean, data } =
                    problem.effects().ok_or_else(|| TraceError::lacks("the model has no effects of groups"))?;
                let mean = rows.iter().find(|row| row.name == mean).map(|row| row.mean);
                let groups = data.group_index();
                Figure::new(ShrinkagePlot::from_summary(variable, rows, data.values(), &groups, mean))
            }
        })
    }
}

/// Makes the picture of prior against posterior, from the trace's own prior draws, or else from draws that its model
/// makes.
fn prior(from: &Material) -> Result<Figure, TraceError> {
    let made;
    let prior = match (from.trace.data.group("prior"), from.problem) {
        (Some(prior), _) => prior,
        (None, Some(problem)) => {
            let seed = from.trace.record.as_ref().map_or(0, |record| record.sampler.seed);
            made = PriorDraws::new(problem, seed, PRIOR_DRAWS)?;
            &made.parameters
        }
        (None, None) => return Err(TraceError::lacks("the trace has no group `prior`")),
    };
    let of_prior = rows(&summary(prior, DEFAULT_PROB)?.parameters, &HashMap::new());
    Ok(Figure::new(PriorPosteriorPlot::from_groups(prior, &of_prior, from.posterior, &from.rows)))
}

/// Returns whether `name` fits `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            // The star may stand for any beginning of the rest; what follows the star must fit what then remains.
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::{Array, InferenceData, Values};

    const CHAINS: usize = 4;
    const DRAWS: usize = 60;

    /// The name of a series, and its value at each draw.
    type Series = (&'static str, fn(usize) -> f64);

    /// Series that are nearly constant, at the ends of their type, or not numbers.
    fn odd_series() -> Vec<Series> {
        fn part(k: usize) -> f64 {
            (k * 7919 % 1009) as f64 / 1009.0
        }
        vec![
            ("usual", part),
            ("constant", |_| 2.5),
            ("zero", |_| 0.0),
            ("minus_zero", |k| if k % 2 == 0 { 0.0 } else { -0.0 }),
            ("far_away", |k| 3e14 + (2.0 * part(k) - 1.0)),
            ("sum_of_a_simplex", |k| part(k) + (1.0 - part(k)) / 3.0 + (1.0 - part(k)) * 2.0 / 3.0),
            ("last_bits", |k| 1.0 + f64::EPSILON * (k % 3) as f64),
            ("one_differs", |k| if k == 17 { 1.0 + f64::EPSILON } else { 1.0 }),
            ("subnormal", |k| 1e-310 * part(k)),
            ("smallest", |k| 5e-324 * (k % 3) as f64),
            ("tiny", |k| 1e-200 * (part(k) - 0.5)),
            ("huge", |k| 1e300 * (part(k) - 0.5)),
            ("largest", |k| if k % 2 == 0 { f64::MAX } else { -f64::MAX }),
            ("all_nan", |_| f64::NAN),
            ("one_nan", |k| if k == 5 { f64::NAN } else { part(k) }),
            ("one_infinite", |k| if k == 5 { f64::INFINITY } else { part(k) }),
            ("all_infinite", |k| if k % 2 == 0 { f64::INFINITY } else { f64::NEG_INFINITY }),
            ("whole", |k| (k % 4) as f64),
        ]
    }

    /// A trace whose parameters, energies, predictions, prior draws and log likelihoods are all such series.
    fn odd_trace(series: &[Series]) -> Trace {
        let of = |series: fn(usize) -> f64| Values::F64((0..CHAINS * DRAWS).map(series).collect());
        let axes = [("chain", CHAINS), ("draw", DRAWS)];
        let mut data = InferenceData::default();
        let mut posterior = Dataset::default();
        series.iter().for_each(|(name, series)| posterior.insert(*name, Array::new(axes, of(*series))));
        let (mut stats, mut predicted) = (Dataset::default(), Dataset::default());
        let (mut observed, mut likelihood) = (Dataset::default(), Dataset::default());
        let last = series[series.len() - 1].1;
        stats.insert("energy", Array::new(axes, of(last)));
        let diverging = (0..CHAINS * DRAWS).map(|k| k % 50 == 0).collect();
        stats.insert("diverging", Array::new(axes, Values::Bool(diverging)));
        // An observation for each series.
        let wide = || -> Vec<f64> {
            (0..CHAINS * DRAWS).flat_map(|k| series.iter().map(move |(_, series)| series(k))).collect()
        };
        let with_observations = [axes[0], axes[1], ("observation", series.len())];
        predicted.insert("y", Array::new(with_observations, Values::F64(wide())));
        likelihood.insert("y", Array::new(with_observations, Values::F64(wide())));
        let seen = series.iter().map(|(_, series)| series(1)).collect();
        observed.insert("y", Array::new([("observation", series.len())], Values::F64(seen)));
        for (name, group) in [
            ("prior", posterior.clone()),
            ("posterior", posterior),
            ("sample_stats", stats),
            ("posterior_predictive", predicted),
            ("log_likelihood", likelihood),
            ("observed_data", observed),
        ] {
            data.insert(name, group);
        }
        Trace { data, record: None, name: "odd".to_owned() }
    }

    /// No picture panics or hangs, whatever the draws are: it is drawn, or says what it lacks.
    #[test]
    fn every_picture_takes_odd_draws() {
        let all = odd_series();
        let pairs = all.iter().map(|&one| vec![all[0], one]);
        let alone = all.iter().map(|&one| vec![one]);
        for series in pairs.chain(alone).chain([all.clone()]) {
            let trace = odd_trace(&series);
            let material = Material::new(&trace, None, &[]).unwrap();
            for picture in Picture::all() {
                let names: Vec<&str> = series.iter().map(|(name, _)| *name).collect();
                let drawn = picture.figure(&material).and_then(|figure| {
                    let svg = figure.plot.svg();
                    svg.map_err(|error| TraceError::lacks(error.to_string()))
                });
                match drawn {
                    // No place is lost: words may say NaN, coordinates must not.
                    Ok(svg) => {
                        let marks: String = svg.split('<').filter_map(|part| part.split('>').next()).collect();
                        let lost = ["=\"NaN", "NaN,", ",NaN", "=\"inf", "inf,", ",inf"];
                        assert!(!lost.iter().any(|lost| marks.contains(lost)), "{} of {names:?}", picture.name());
                    }
                    Err(why) => assert!(!why.to_string().is_empty(), "{} of {names:?}", picture.name()),
                }
            }
        }
    }

    /// The usual series is drawn beside one that has no density, as if it were alone.
    #[test]
    fn nearly_constant_draws_are_drawn_beside_others() {
        let all = odd_series();
        for name in ["far_away", "sum_of_a_simplex", "last_bits", "subnormal", "minus_zero", "huge"] {
            let odd = *all.iter().find(|(other, _)| *other == name).unwrap();
            let trace = odd_trace(&[all[0], odd]);
            let material = Material::new(&trace, None, &[]).unwrap();
            for picture in [Picture::Trace, Picture::Posterior, Picture::Forest, Picture::Pair, Picture::Rank] {
                let figure = picture.figure(&material).unwrap();
                let svg = figure.plot.svg().unwrap();
                assert!(svg.contains("usual") && svg.contains(name), "{} of {name}", picture.name());
                assert!(figure.plot.png().unwrap().len() > 1000, "{} of {name}", picture.name());
            }
        }
    }

    #[test]
    fn data_are_named_and_fixed_elements_are_left_out() {
        let all = odd_series();
        let mut trace = odd_trace(&all[..1]);
        let mut posterior = trace.data.group("posterior").unwrap().clone();
        let axes = [("chain", CHAINS), ("draw", DRAWS), ("i", 2), ("j", 2)];
        let moving = |k: usize| (k as f64 * 0.7).sin();
        let factor = (0..CHAINS * DRAWS).flat_map(|k| [1.0, 0.0, moving(k), moving(k).cos()]).collect();
        posterior.insert("L", Array::new(axes, Values::F64(factor)));
        trace.data.insert("posterior", posterior);
        let names = |wanted: &[&str]| -> Vec<String> {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            Material::new(&trace, None, &wanted).unwrap().rows.iter().map(|row| row.name.clone()).collect()
        };
        assert_eq!(names(&[])[1..], ["L[1, 0]", "L[1, 1]"]);
        assert_eq!(names(&["L[0,1]"]), ["L[0, 1]"]);
        assert_eq!(names(&["y"]), names(&[]));
        for named in [vec!["y".to_owned()], vec![]] {
            let material = Material::new(&trace, None, &named).unwrap();
            assert_eq!(material.predictions().unwrap().observed.len(), 1);
            assert_eq!(material.judged().unwrap().log_likelihood.observations(), 1);
        }
        assert!(Material::new(&trace, None, &["z".to_owned()]).is_err());
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in [("mu", "mu"), ("mu*", "mu_pop"), ("*", ""), ("mu_*[*o]", "mu_group[rio]"), ("*é", "ré")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("mu", "mu_pop"), ("mu*", "amu"), ("", "a"), ("*x", "xa")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
