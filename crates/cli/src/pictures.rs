//! Pictures of a trace: what each is made from, and why one cannot be made.

use crate::likelihood::{Judged, Predictions};
use crate::observed::Prior;
use crate::phase0::check_predictive;
use crate::problem::Problem;
use crate::trace::{Trace, diagnose_options, rows};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use octopus_density::LogDensity;
use octopus_diag::{DEFAULT_PROB, Ties, ess_local, loo, loo_pit, summary};
use octopus_report::{
    AutocorrPlot, ChainRankPlot, ConvergencePlot, EnergyPlot, EssEvolutionPlot, EssRegionsPlot, ForestPlot, LooPitPlot,
    PairPlot, ParallelPlot, ParetoKPlot, Plot, PosteriorPlot, PpcEcdfPlot, PpcPlot, PpcStatisticPlot,
    PriorPosteriorPlot, ShrinkagePlot, SummaryRow, TracePlot,
};
use octopus_trace::Dataset;
use std::collections::HashMap;

/// Predicted data sets in a picture.
const REPLICATES: usize = 100;
/// Draws of the prior in a picture.
const PRIOR_DRAWS: usize = 2000;

/// A picture of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
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

/// What pictures are made from.
pub(crate) struct Material<'a> {
    trace: &'a Trace,
    posterior: &'a Dataset,
    problem: Option<Problem>,
    rows: Vec<SummaryRow>,
}

impl<'a> Material<'a> {
    /// A trace with the numbers of its parameters, of those that `wanted` names, or of all. A name is that of a variable
    /// or of an element; `*` stands for anything.
    ///
    /// # Errors
    /// When the trace has no draws, or a name no parameter.
    pub(crate) fn new(trace: &'a Trace, wanted: &[String]) -> Result<Self> {
        let posterior = trace.posterior()?;
        let problem = trace.problem().ok();
        let truth = match &problem {
            Some(Problem { model, truth: Some(truth), .. }) => truth.by_name(model.layout()),
            _ => HashMap::new(),
        };
        let summary = summary(posterior, DEFAULT_PROB).with_context(|| trace.name.clone())?;
        let mut rows = rows(&summary.parameters, &truth);
        let named = |row: &SummaryRow, pattern: &str| {
            let variable = row.name.split_once('[').map_or(row.name.as_str(), |(variable, _)| variable);
            matches(pattern, variable) || matches(pattern, &row.name)
        };
        if let Some(pattern) = wanted.iter().find(|pattern| !rows.iter().any(|row| named(row, pattern))) {
            let variables: Vec<&str> = posterior.variables.keys().map(String::as_str).collect();
            bail!("--var {pattern}: no parameter of {} has this name; it has {}", trace.name, variables.join(", "));
        }
        rows.retain(|row| wanted.is_empty() || wanted.iter().any(|pattern| named(row, pattern)));
        Ok(Self { trace, posterior, problem, rows })
    }

    /// A trace whose parameters have been summed up.
    ///
    /// # Errors
    /// When the trace has no draws.
    pub(crate) fn with_rows(trace: &'a Trace, rows: Vec<SummaryRow>) -> Result<Self> {
        Ok(Self { trace, posterior: trace.posterior()?, problem: trace.problem().ok(), rows })
    }

    fn stats(&self) -> Option<&Dataset> {
        self.trace.data.group("sample_stats")
    }

    /// Observed data and some of the predicted.
    fn predicted(&self) -> Result<(Predictions, Vec<Vec<f64>>)> {
        let predictions = Predictions::of(self.trace)?;
        let some = predictions.some(REPLICATES);
        Ok((predictions, some))
    }
}

impl Picture {
    /// The picture of this kind.
    ///
    /// # Errors
    /// What the trace lacks for it.
    pub(crate) fn of(self, from: &Material) -> Result<Plot> {
        let Material { posterior, rows, .. } = from;
        let stats = from.stats();
        Ok(match self {
            Self::Trace => Plot::Trace(TracePlot::from_posterior(posterior, stats, rows)),
            Self::Rank => Plot::ChainRanks(ChainRankPlot::from_posterior(posterior, rows)),
            Self::Posterior => Plot::Posterior(PosteriorPlot::from_posterior(posterior, rows)),
            Self::Forest => Plot::Forest(ForestPlot::from_posterior(posterior, rows)),
            Self::Pair => Plot::Pair(PairPlot::from_posterior(posterior, stats, rows)),
            Self::Parallel => Plot::Parallel(ParallelPlot::from_posterior(posterior, stats, rows)),
            Self::Energy => {
                let stats = stats.context("the trace has no group `sample_stats`")?;
                stats.get("energy").context("`sample_stats` has no `energy`")?;
                Plot::Energy(EnergyPlot::from_sample_stats(stats))
            }
            Self::Autocorr => Plot::Autocorr(AutocorrPlot::from_posterior(posterior, rows)),
            Self::Ess => Plot::EssEvolution(EssEvolutionPlot::from_posterior(posterior, rows)),
            Self::EssQuantile => Plot::EssRegions(EssRegionsPlot::quantiles(posterior, rows)),
            Self::EssLocal => Plot::EssRegions(EssRegionsPlot::intervals(posterior, rows, |chains, low, high| {
                ess_local(chains, low, high).unwrap_or(f64::NAN)
            })),
            Self::Convergence => {
                let superchains = from.trace.record.as_ref().and_then(|record| diagnose_options(record).superchains);
                Plot::Convergence(ConvergencePlot::from_posterior(posterior, rows, superchains)?)
            }
            Self::Ppc => {
                let (predictions, replicates) = from.predicted()?;
                // Its p-values are those of the statistics' own picture.
                let statistics = check_predictive(&predictions.observed, &predictions.some(usize::MAX));
                Plot::Ppc(PpcPlot { observed: predictions.observed, replicates, statistics })
            }
            Self::PpcEcdf => {
                let (predictions, replicates) = from.predicted()?;
                Plot::PpcEcdf(PpcEcdfPlot { observed: predictions.observed, replicates })
            }
            Self::PpcStatistic => {
                let predictions = Predictions::of(from.trace)?;
                let all = predictions.some(usize::MAX);
                Plot::PpcStatistic(PpcStatisticPlot { statistics: check_predictive(&predictions.observed, &all) })
            }
            Self::Prior => prior(from)?,
            Self::LooPit => {
                let predictions = Predictions::of(from.trace)?;
                let judged = Judged::of(from.trace, &[])?;
                let Predictions { observed, predicted, .. } = &predictions;
                let pit = loo_pit(&judged.log_likelihood, predicted, observed, judged.reff, Ties::default())?;
                Plot::LooPit(LooPitPlot { pit })
            }
            Self::ParetoK => {
                let judged = Judged::of(from.trace, &[])?;
                let found = loo(&judged.log_likelihood, judged.reff)?;
                Plot::ParetoK(ParetoKPlot { k: found.reliability, threshold: found.good, labels: Vec::new() })
            }
            Self::Shrinkage => {
                let problem = from.problem.as_ref().context("what was observed in which group is not known")?;
                let data = problem.model.data();
                let mean = rows.iter().find(|row| row.name == "mu_pop").map(|row| row.mean);
                let groups = data.group_index();
                Plot::Shrinkage(ShrinkagePlot::from_summary("mu_group", rows, data.values(), &groups, mean))
            }
        })
    }
}

/// Of the trace's own prior draws, or of those its model makes.
fn prior(from: &Material) -> Result<Plot> {
    let made;
    let prior = match (from.trace.data.group("prior"), &from.problem) {
        (Some(prior), _) => prior,
        (None, Some(problem)) => {
            let seed = from.trace.record.as_ref().map_or(0, |record| record.sampler.seed);
            made = Prior::new(&problem.model, seed, PRIOR_DRAWS)?;
            &made.parameters
        }
        (None, None) => bail!("the trace has no group `prior`"),
    };
    let of_prior = rows(&summary(prior, DEFAULT_PROB)?.parameters, &HashMap::new());
    Ok(Plot::PriorPosterior(PriorPosteriorPlot::from_groups(prior, &of_prior, from.posterior, &from.rows)))
}

/// Whether `name` is `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            // Every end that is left may go on with what follows the star.
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
