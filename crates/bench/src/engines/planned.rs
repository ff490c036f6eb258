//! The choice of `--strategy auto` on each engine, for as many draws as the run makes, and how good that choice was.

use super::case::Measurement;
use crate::error::BenchError;
use octopus_density::LogDensity;
use octopus_device::DeviceChoice;
use octopus_report::{Comparison, EngineTimes};
use octopus_runs::{DrawsLimit, DrawsWanted, StrategyPlan, plan};
use octopus_sampler::SamplerConfig;

/// The number of rows of the table for each engine. They show the runs with the fewest leapfrog steps.
const ROWS: usize = 8;

/// Returns the choice on one engine.
///
/// # Errors
/// When the settings are out of range.
pub(super) fn choose(
    model: &dyn LogDensity,
    base: &SamplerConfig,
    choice: DeviceChoice,
) -> Result<StrategyPlan, BenchError> {
    let wanted = DrawsWanted { draws: base.chains * base.draws, limit: DrawsLimit::Wanted };
    Ok(plan(base, wanted, model.dim(), choice)?)
}

/// Returns the name by which tables and pictures call the choice.
pub(super) fn label(config: &SamplerConfig) -> String {
    format!("auto: {} chains x {} draws ({})", config.chains, config.draws, config.strategy.name())
}

/// Returns the table of the runs that were weighed.
pub(super) fn table(plans: &[StrategyPlan]) -> Comparison {
    let mut rows = Vec::new();
    for plan in plans {
        let mut shown: Vec<_> = plan.considered.iter().collect();
        shown.sort_by(|a, b| a.steps.total_cmp(&b.steps));
        let long = shown.iter().position(|run| run.config.nested().is_none());
        let long = long.filter(|&at| at >= ROWS).map(|at| shown[at]);
        for run in shown.into_iter().take(ROWS).chain(long) {
            let SamplerConfig { chains, draws, .. } = run.config;
            let superchains = run.config.nested().map_or_else(|| "-".to_owned(), |number| number.to_string());
            let chosen = if run.config == plan.config { "chosen" } else { "" };
            let [chains, draws] = [chains, draws].map(|number| number.to_string());
            let steps = format!("{:.0}", run.steps);
            rows.push(vec![run.config.strategy.name().into(), chains, superchains, draws, steps, chosen.into()]);
        }
    }
    let reasons: Vec<String> = plans.iter().map(StrategyPlan::reason).collect();
    Comparison::new(
        "What --strategy auto weighed",
        format!(
            "{}. Of the runs that make hardly more leapfrog steps than the one with the fewest, the one with the most chains \
             is taken; on a GPU 1024 chains make a step at once.",
            reasons.join("; ")
        ),
        "strategy | chains | superchains | draws | leapfrog steps | ",
        rows,
    )
}

/// Returns the effective draws a second of the parameter that has the fewest, in bulk or tails; `--target-ess` waits
/// for these.
fn rate(m: &Measurement) -> f64 {
    let ess = m.quality.min_ess_bulk.min(m.quality.min_ess_tail);
    m.run.result.value().map_or(f64::NAN, |times| ess / EngineTimes::wall_s(times))
}

/// Returns in words how the first measurement, that of auto's choice, compares in speed with the best of the others.
/// Returns `None` where nothing was measured, or none of the others meets the limits of R-hat and effective sample
/// sizes.
pub(super) fn against_best(all: &[Measurement]) -> Option<String> {
    let (own, others) = all.split_first()?;
    let best = others.iter().filter(|m| m.quality.converged()).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (own, most) = (rate(own), rate(best));
    let ratio = own / most;
    let verb = if ratio >= 1.0 { "more" } else { "fewer" };
    Some(format!(
        "The choice of --strategy auto made {own:.0} effective draws a second (the fewest of any parameter's bulk and \
         tails), {:.0}% {verb} than the best other: {}, {most:.0}.",
        100.0 * (ratio - 1.0).abs(),
        best.run.setting
    ))
}
