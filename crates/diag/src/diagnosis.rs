//! The whole diagnosis of a trace: summary, checks, verdict.
//!
//! The list of checks is here. The names that other samplers give to divergences, energy, tree depth and step size are
//! in `octopus_trace`'s `model.rs`.

mod by_chance;
pub(crate) mod check;
mod copies;
mod json;
pub(crate) mod stuck;

use crate::chains::Chains;
use crate::counted;
use crate::error::DiagError;
use crate::estimators::bfmi::{bfmi, bfmi_of_chains};
use crate::limits;
use crate::summary::table::Rows;
use crate::summary::{DEFAULT_PROB, Summary, sampled_shape, summarise};
use check::{Check, CheckStatus};
use copies::copies;
use octopus_trace::{Array, Dataset, Values};
use std::fmt::{self, Write};
use stuck::stuck_chains;

/// The limits of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiagnoseOptions {
    /// The share of the draws inside intervals.
    pub prob: f64,
    /// R-hat of one parameter must be below this; the largest of many may be above it by as much as chance explains.
    pub max_rhat: f64,
    /// Bulk and tail effective sample sizes must reach this; when none is given 100 for each chain (Vehtari et al. 2021,
    /// section 4), with superchains 400 in all.
    pub min_ess: Option<f64>,
    /// The number of groups of consecutive chains that began together, for many chains of few draws. The diagnosis is
    /// then that of [`summary_of_many`](crate::summary_of_many).
    pub superchains: Option<usize>,
    /// E-BFMI of each chain must reach this.
    pub min_bfmi: f64,
    /// The depth limit of the run, for traces that keep the tree depth but not whether it was the limit.
    pub max_tree_depth: Option<u32>,
    /// How the draws were made, if that is known: advice then recommends nothing that is in use.
    pub settings: Option<SettingsInUse>,
}

/// Settings of a run that advice speaks of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingsInUse {
    /// The coordinates in which the effects of hierarchies were sampled.
    pub coordinates: CoordinatesInUse,
    /// Whether the metric follows correlated directions (`--metric auto` or `low-rank`).
    pub low_rank_metric: bool,
    /// The target of the acceptance rate.
    pub target_accept: f64,
}

/// The coordinates in which the effects of hierarchies were sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatesInUse {
    /// They adapt (`--parameterization adaptive`).
    Adaptive,
    /// They do not adapt, as the settings ask.
    Plain,
    /// They were to adapt and do not: the model declares no hierarchy.
    NoHierarchy,
    /// They were to adapt and do not: the model declares a hierarchy, and neither gives information about its effects nor was
    /// any learned.
    NoInformation,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        Self {
            prob: DEFAULT_PROB,
            max_rhat: limits::RHAT,
            min_ess: None,
            superchains: None,
            min_bfmi: limits::BFMI,
            max_tree_depth: None,
            settings: None,
        }
    }
}

/// The diagnosis of a trace. As JSON: `{"schema": 2, "prob": 0.89, "parameters": [...], "max_rhat", ...}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// One row for each number of the posterior.
    pub summary: Summary,
    /// Number of divergent transitions; `None` where the trace does not say.
    pub divergences: Option<u64>,
    /// Number of trajectories cut at the depth limit; `None` where the trace does not say.
    pub reached_max_treedepth: Option<u64>,
    /// E-BFMI of each chain, or with superchains of all chains together; empty where the trace has no energy.
    pub bfmi: Vec<f64>,
    /// The checks, always the same ones in the same order.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// Returns whether no check failed and none of [`not_checked`](Self::not_checked) was skipped. Warnings do not count.
    pub fn good(&self) -> bool {
        self.usable() && self.not_checked().is_empty()
    }

    /// Returns whether no check failed. Warnings and skipped checks do not count, so that a trace of a program that keeps
    /// no statistics can be usable.
    pub fn usable(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Fail)
    }

    /// Returns the ids of the checks of transitions that could not be made because the trace lacks their statistic:
    /// `divergences`, `bfmi`, `tree_depth`. Draws can look well where chains diverged.
    pub fn not_checked(&self) -> Vec<&'static str> {
        let lacking = [
            ("divergences", self.divergences.is_none()),
            ("bfmi", self.bfmi.is_empty()),
            ("tree_depth", self.reached_max_treedepth.is_none()),
        ];
        lacking.into_iter().filter_map(|(id, lacks)| lacks.then_some(id)).collect()
    }

    /// Returns advice, most telling first: from the checks that failed, then from those that warn.
    pub fn advice(&self) -> Vec<&str> {
        [CheckStatus::Fail, CheckStatus::Warn]
            .iter()
            .flat_map(|&status| self.checks.iter().filter(move |check| check.status == status))
            .filter_map(|check| check.advice.as_deref())
            .fold(Vec::new(), |mut list, advice| {
                if !list.contains(&advice) {
                    list.push(advice);
                }
                list
            })
    }

    /// Returns the table, one line for each check, and the advice.
    pub fn to_text(&self, rows: Rows) -> String {
        let mut text = self.summary.to_text(rows);
        let (chains, draws) = (self.summary.chains, self.summary.draws);
        let mut lines = || -> fmt::Result {
            write!(text, "\n{} of {}", counted(chains, "chain"), counted(draws, "draw"))?;
            match self.summary.superchains {
                Some(groups) => writeln!(text, " in {groups} superchains")?,
                None => writeln!(text)?,
            }
            for check in &self.checks {
                writeln!(text, "{check}")?;
            }
            for advice in self.advice() {
                writeln!(text, "-> {advice}")?;
            }
            Ok(())
        };
        let written = lines();
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        text
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text(Rows::default()).trim_end())
    }
}

/// Summarises `posterior` and checks it together with the statistics of its transitions. Checks whose
/// statistics are absent are skipped, so that any trace can be diagnosed, also those of other samplers.
///
/// # Errors
/// When the posterior cannot be summarised (see [`summary_of_many`](crate::summary_of_many)), or a variable of
/// `sample_stats` that is used is damaged.
pub fn diagnose(
    posterior: &Dataset,
    sample_stats: Option<&Dataset>,
    options: &DiagnoseOptions,
) -> Result<Diagnosis, DiagError> {
    let summary = summarise(posterior, options.prob, options.superchains)?;
    let find = |name: &str| statistic(sample_stats, name, &summary);
    let divergences = find("diverging")?.map(|array| count(&array.values, is_true));
    let energies = find("energy")?.map(|array| array.values.to_f64());
    let bfmi = match &energies {
        Some(values) => {
            let energy = Chains::new(values, summary.chains, summary.draws)?;
            Some(if summary.superchains.is_some() { vec![bfmi_of_chains(&energy)] } else { bfmi(&energy) })
        }
        None => None,
    };
    let reached_max_treedepth = match (find("reached_max_treedepth")?, find("tree_depth")?, options.max_tree_depth) {
        (Some(array), _, _) => Some(count(&array.values, is_true)),
        (None, Some(array), Some(limit)) => Some(count(&array.values, |v| v >= f64::from(limit))),
        _ => None,
    };
    let by_chains =
        if options.superchains.is_some() { limits::ESS } else { limits::ESS_PER_CHAIN * summary.chains as f64 };
    let min_ess = options.min_ess.unwrap_or(by_chains);
    let total = summary.chains * summary.draws;
    let steps = find("step_size")?.map(|array| last_of_each_chain(&array.values, summary.draws));
    let settings = options.settings.as_ref();
    let checks = vec![
        check::finite_draws(&summary),
        check::constant(&summary),
        check::stuck(&stuck_chains(posterior, &summary), steps.as_deref(), summary.chains),
        check::copies(&copies(posterior, &summary), summary.chains),
        check::rhat(&summary, options.max_rhat, settings),
        check::ess_bulk(&summary, min_ess, settings),
        check::ess_tail(&summary, min_ess, settings),
        check::bfmi(bfmi.as_deref(), summary.chains, options.min_bfmi),
        check::divergences(divergences, total, settings),
        check::step_size(steps.as_deref()),
        check::tree_depth(reached_max_treedepth, total, settings),
    ];
    Ok(Diagnosis { summary, divergences, reached_max_treedepth, bfmi: bfmi.unwrap_or_default(), checks })
}

/// Returns the statistic that ArviZ calls `name`, if it has one number for each draw of the posterior.
fn statistic<'a>(
    sample_stats: Option<&'a Dataset>,
    name: &str,
    summary: &Summary,
) -> Result<Option<&'a Array>, DiagError> {
    let found = sample_stats.and_then(|stats| stats.statistic(name));
    let Some((name, array)) = found.filter(|(_, array)| is_of_draws(array)) else { return Ok(None) };
    let (found, expected) = (sampled_shape(name, array)?, (summary.chains, summary.draws));
    if found != expected {
        let first = "the posterior".to_owned();
        return Err(DiagError::Disagree { variable: name.to_owned(), first, found, expected });
    }
    Ok(Some(array))
}

/// The statistics that a diagnosis asks for.
const ASKED_FOR: [&str; 5] = ["diverging", "energy", "reached_max_treedepth", "tree_depth", "step_size"];

/// Returns the names of the statistics that a diagnosis asks for and cannot use: they do not have one number for each
/// draw.
pub fn unusable_statistics(sample_stats: &Dataset) -> Vec<&str> {
    let found = ASKED_FOR.iter().filter_map(|name| sample_stats.statistic(name));
    found.filter(|(_, array)| !is_of_draws(array)).map(|(name, _)| name).collect()
}

/// Whether a statistic has one number for each draw.
fn is_of_draws(array: &Array) -> bool {
    array.is_sampled() && array.dims.len() == 2 && array.values.is_numeric()
}

/// A flag that is not known is not raised.
fn is_true(flag: f64) -> bool {
    flag != 0.0 && !flag.is_nan()
}

/// Returns the last draw's value of each chain.
fn last_of_each_chain(values: &Values, draws: usize) -> Vec<f64> {
    values.to_f64().chunks_exact(draws.max(1)).filter_map(|chain| chain.last().copied()).collect()
}

fn count(values: &Values, f: impl Fn(f64) -> bool) -> u64 {
    values.to_f64().into_iter().filter(|&v| f(v)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_draw_of_each_chain_is_taken() {
        let steps = Values::F64(vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
        assert_eq!(last_of_each_chain(&steps, 3), [0.3, 0.6]);
        assert_eq!(last_of_each_chain(&steps, 1), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
        assert!(last_of_each_chain(&Values::F64(Vec::new()), 0).is_empty());
        assert_eq!([0.0, 1.0, 2.0, f64::NAN, -1.0].map(is_true), [false, true, true, false, true]);
    }

    /// Two chains that disagree, with every statistic; each check reads its own, and knows the settings.
    #[test]
    fn every_check_is_given_its_numbers_and_the_settings() {
        let axes = [("chain", 2), ("draw", 20)];
        let array = |value: &dyn Fn(usize) -> f64| Array::new(axes, Values::F64((0..40).map(value).collect()));
        let mut posterior = Dataset::default();
        posterior.insert("mu", array(&|k| (k / 20) as f64 * 10.0 + (k % 20 / 5) as f64 + (k * 7 % 11) as f64 / 20.0));
        let mut stats = Dataset::default();
        stats.insert("diverging", array(&|k| f64::from(u8::from(k % 10 == 3))));
        stats.insert("reached_max_treedepth", array(&|k| f64::from(u8::from(k % 20 == 5))));
        stats.insert("energy", array(&|k| (k % 20) as f64));
        stats.insert("step_size", array(&|k| if k == 39 { 1e-9 } else { 0.5 }));
        let settings =
            SettingsInUse { coordinates: CoordinatesInUse::Adaptive, low_rank_metric: true, target_accept: 0.99 };
        let options = DiagnoseOptions { settings: Some(settings), ..DiagnoseOptions::default() };
        let found = diagnose(&posterior, Some(&stats), &options).unwrap();
        assert_eq!((found.divergences, found.reached_max_treedepth, found.bfmi.len()), (Some(4), Some(2), 2));
        let check = |id: &str| found.checks.iter().find(|check| check.id == id).unwrap();
        for id in ["rhat", "ess_bulk", "ess_tail"] {
            assert!(
                check(id).advice.as_ref().is_some_and(|text| text.contains("are in use already")),
                "{:?}",
                check(id)
            );
        }
        let cure = "reparameterise, or give scales tighter priors";
        assert!(check("divergences").advice.as_ref().is_some_and(|text| text.ends_with(cure)));
        assert!(!check("tree_depth").advice.as_ref().is_some_and(|text| text.contains("--metric auto")));
        assert_eq!((check("divergences").observed, check("tree_depth").observed), (Some(4.0), Some(2.0)));
        assert_eq!((check("step_size").observed, check("bfmi").observed.is_some()), (Some(1e-9), true));
        assert_eq!(found.checks.len(), 11);
        assert_eq!(found.not_checked(), [""; 0]);

        // The tree depth tells as much, where the limit is known; what has another shape is not used.
        stats.variables.shift_remove("reached_max_treedepth");
        stats.insert("tree_depth", array(&|k| (k % 20) as f64));
        stats.insert("energy", Array::new([("chain", 2), ("draw", 20), ("k", 1)], Values::F64(vec![1.0; 40])));
        let options = DiagnoseOptions { max_tree_depth: Some(17), ..DiagnoseOptions::default() };
        let found = diagnose(&posterior, Some(&stats), &options).unwrap();
        assert_eq!((found.reached_max_treedepth, found.bfmi.len()), (Some(6), 0));
        assert_eq!(unusable_statistics(&stats), ["energy"]);
        let step = "chain 1 has one value of mu from draw 0 on, step size 1.0e-9";
        posterior.insert("mu", array(&|k| if k < 20 { (k * 7 % 11) as f64 } else { 5.0 }));
        let found = diagnose(&posterior, Some(&stats), &options).unwrap();
        let stuck = found.checks.iter().find(|check| check.id == "stuck").unwrap();
        assert_eq!((stuck.message.as_str(), stuck.observed, stuck.threshold), (step, Some(1.0), Some(0.0)));
    }
}
