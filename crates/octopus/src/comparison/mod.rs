//! Comparison of two traces (their posteriors, their speed and their settings), and of two reports.
//!
//! The limits beyond which they count as different are here, and so are the checks and warnings.

mod report;
mod settings;
mod speed;
mod text;

use crate::{Trace, TraceError};
use octopus_diag::limits;
use octopus_diag::{Check, CheckStatus, ParameterDifference, PosteriorDifference, posterior_difference};
use octopus_report::{RunComparisonPlot, RunDifference, RunRatio, percent, significant};
use octopus_runs::diagnose_options;
use serde::{Serialize, Serializer};

pub use report::{ComparedCriterion, ComparedParameter, ComparedTimes, ReportComparison};
pub use settings::DifferingSetting;
pub use speed::TraceSpeed;

/// The limits beyond which two posteriors count as different.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ComparisonLimits {
    /// The largest relative difference allowed for a mean, and for the RMSE of all means (the PRD's 5 %).
    pub mean: f64,
    /// The largest relative difference allowed for a standard deviation (the PRD's 10 %).
    pub sd: f64,
    /// The probability of calling two runs of one posterior different by chance.
    pub alpha: f64,
}

/// One of the two traces that are compared.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedTrace {
    /// The path that the trace was read from.
    pub name: String,
    /// The number of chains.
    pub chains: usize,
    /// The number of draws of each chain.
    pub draws: usize,
    /// The speed of its sampling.
    pub speed: TraceSpeed,
}

/// The result of comparing two traces: checks, differences of every parameter, and settings that differ.
#[derive(Debug, Serialize)]
pub struct TraceComparison {
    schema: u32,
    /// Whether no check failed.
    pub same: bool,
    /// Whether chance alone may explain the differences found: their p-value is at least the limit `alpha`.
    by_chance: bool,
    runs: [ComparedTrace; 2],
    limits: ComparisonLimits,
    /// The checks, in the order in which they are shown.
    pub checks: Vec<Check>,
    /// The differences of every parameter that both traces have.
    #[serde(serialize_with = "parameters")]
    pub posterior: PosteriorDifference,
    only_first: Vec<String>,
    only_second: Vec<String>,
    settings: Vec<DifferingSetting>,
}

impl TraceComparison {
    /// Compares two traces.
    ///
    /// # Errors
    /// When one has no draws, or they have no parameter in common.
    pub fn new(traces: &[Trace; 2], limits: ComparisonLimits) -> Result<Self, TraceError> {
        let posteriors = [traces[0].posterior()?, traces[1].posterior()?];
        let superchains = [0, 1].map(|i| traces[i].record.as_ref().and_then(|r| diagnose_options(r).superchains));
        let posterior = posterior_difference(posteriors[0], posteriors[1], superchains).map_err(|source| {
            TraceError::Named { name: format!("{} and {}", traces[0].name, traces[1].name), source }
        })?;
        let side = |i: usize| {
            let summary = &posterior.summaries[i];
            let speed = TraceSpeed::new(&traces[i], summary.min_ess_bulk());
            ComparedTrace { name: traces[i].name.clone(), chains: summary.chains, draws: summary.draws, speed }
        };
        let checks = checks(&posterior, traces, limits);
        Ok(Self {
            schema: 1,
            by_chance: posterior.p_value() >= limits.alpha,
            same: checks.iter().all(|check| check.status != CheckStatus::Fail),
            runs: [side(0), side(1)],
            limits,
            checks,
            only_first: posterior.only_first.clone(),
            only_second: posterior.only_second.clone(),
            settings: settings::differing(traces),
            posterior,
        })
    }
}

impl TraceComparison {
    /// Returns a picture of the differences, with the ratios of those speeds that both traces tell.
    pub fn plot(&self) -> RunComparisonPlot {
        let [first, second] = &self.runs;
        let ratio = |name: &str, of: fn(&TraceSpeed) -> Option<f64>| {
            let (a, b) = (of(&first.speed)?, of(&second.speed)?);
            (a > 0.0).then(|| RunRatio { name: name.to_owned(), ratio: b / a })
        };
        let row = |p: &ParameterDifference| RunDifference {
            name: p.name.clone(),
            z_mean: p.z_mean,
            z_sd: p.z_sd,
            relative_mean: p.relative_mean,
            relative_sd: p.relative_sd,
            wasserstein: p.wasserstein_sds(),
        };
        let ratios = [
            ratio("effective draws a second", |speed| speed.min_ess_per_s),
            ratio("effective draws of 1000 gradients", |speed| speed.min_ess_per_1000_gradients),
        ];
        RunComparisonPlot {
            runs: (first.name.clone(), second.name.clone()),
            rows: self.posterior.parameters.iter().map(row).collect(),
            ratios: ratios.into_iter().flatten().collect(),
        }
    }
}

fn checks(found: &PosteriorDifference, traces: &[Trace; 2], limits: ComparisonLimits) -> Vec<Check> {
    let judge = |id: &'static str, observed: f64, threshold: f64, good: bool, message: String, advice: &str| Check {
        id,
        status: if good { CheckStatus::Pass } else { CheckStatus::Fail },
        observed: Some(observed),
        threshold: Some(threshold),
        message,
        advice: (!good).then(|| advice.to_owned()),
    };
    let worst = |size: fn(&ParameterDifference) -> f64| {
        found.largest(size).map_or((0.0, "none"), |p| (size(p).abs(), p.name.as_str()))
    };
    let p_value = found.p_value();
    // NaN must not pass.
    let chance = p_value >= limits.alpha;
    let far = if chance {
        "draw more, and compare again"
    } else {
        "the posteriors differ: compare data, model and settings below"
    };
    let (mean, of_mean) = worst(|p| p.relative_mean);
    let (sd, of_sd) = worst(|p| p.relative_sd);
    let (z, of_z) = worst(ParameterDifference::worst_z);
    let within = |id: &'static str, value: f64, limit: f64, what: String| {
        let message = format!("{what}, limit {}", percent(limit));
        judge(id, value, limit, value <= limit, message, far)
    };
    let mut checks = vec![
        within("means", mean, limits.mean, format!("largest difference of a mean {} ({of_mean})", percent(mean))),
        within("sds", sd, limits.sd, format!("largest difference of a standard deviation {} ({of_sd})", percent(sd))),
        within("rmse", found.rmse, limits.mean, format!("RMSE of all means {}", percent(found.rmse))),
        judge(
            "chance",
            p_value,
            limits.alpha,
            chance,
            format!(
                "largest difference {} standard errors ({of_z}); chance makes one as large with probability {}",
                significant(z, 3),
                significant(p_value, 2)
            ),
            "more than chance: the posteriors differ, or chains of one have not converged",
        ),
    ];
    checks.extend(warnings(found, traces));
    checks
}

/// Returns warnings: findings that make a comparison doubtful without deciding it.
fn warnings(found: &PosteriorDifference, traces: &[Trace; 2]) -> Vec<Check> {
    let warn = |id: &'static str, message: String, advice: &str| Check {
        id,
        status: CheckStatus::Warn,
        observed: None,
        threshold: None,
        message,
        advice: Some(advice.to_owned()),
    };
    let mut checks = Vec::new();
    let worst = found.summaries.iter().map(|summary| summary.max_rhat()).fold(f64::NAN, f64::max);
    // A single chain has no R-hat: then the value is NaN, and there is no warning.
    if worst >= limits::RHAT {
        let message = format!("R-hat up to {}: standard errors mean little", significant(worst, 4));
        checks.push(warn("converged", message, "see `octopus diagnose` on each, and draw longer"));
    }
    let data = |i: usize| traces[i].record.as_ref()?.data.as_ref().map(|data| data.sha256.as_str());
    if let (Some(a), Some(b)) = (data(0), data(1))
        && a != b
    {
        checks.push(warn("data", "the two runs are of different data".into(), "expect their posteriors to differ"));
    }
    if let Some([a, b]) = found.by_position.first() {
        let more = found.by_position.len() - 1;
        let more = if more > 0 { format!(", and so in {more} more variables") } else { String::new() };
        let message = format!(
            "{a} of the first is {b} of the second: elements are paired in the order in which they stand{more}"
        );
        let advice = "the labels differ, and one of the two only counts; give both the same labels to be sure";
        checks.push(warn("labels", message, advice));
    }
    for (names, side) in [(&found.only_first, "first"), (&found.only_second, "second")] {
        if let Some(name) = names.first() {
            let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
            let message = format!("{name}{more}: only in the {side}");
            checks.push(warn("names", message, "parameters of one only are not compared"));
        }
    }
    checks
}

/// Writes the differences of the posteriors for JSON.
fn parameters<S: Serializer>(found: &PosteriorDifference, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct DifferenceRow<'a> {
        name: &'a str,
        mean: [f64; 2],
        sd: [f64; 2],
        q5: [f64; 2],
        q50: [f64; 2],
        q95: [f64; 2],
        relative_mean: f64,
        relative_sd: f64,
        z_mean: f64,
        z_sd: f64,
        z_quantiles: [f64; 3],
        wasserstein: f64,
        p_value: f64,
    }
    #[derive(Serialize)]
    struct Posterior<'a> {
        rmse: f64,
        p_value: f64,
        parameters: Vec<DifferenceRow<'a>>,
    }
    let row = |p: &ParameterDifference| {
        let quantile = |k: usize| [p.quantiles[0][k], p.quantiles[1][k]];
        (p.mean, p.sd, [quantile(0), quantile(1), quantile(2)])
    };
    let rows = found.parameters.iter().map(|p| {
        let (mean, sd, [q5, q50, q95]) = row(p);
        DifferenceRow {
            name: &p.name,
            mean,
            sd,
            q5,
            q50,
            q95,
            relative_mean: p.relative_mean,
            relative_sd: p.relative_sd,
            z_mean: p.z_mean,
            z_sd: p.z_sd,
            z_quantiles: p.z_quantiles,
            wasserstein: p.wasserstein,
            p_value: p.p_value,
        }
    });
    let posterior = Posterior { rmse: found.rmse, p_value: found.p_value(), parameters: rows.collect() };
    posterior.serialize(serializer)
}
