//! `octopus export TRACE --to FORMAT --out PATH` writes a trace in another format.

use crate::args::{ExportArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Result, bail};
use octopus::of_run;
use octopus::{Predictive, PredictiveParts, PriorDraws};
use octopus_diag::counted;
use octopus_models::{Problem, Registry};
use octopus_runs::{MemoryNeed, RunRecord};
use octopus_sampler::SamplerConfig;
use octopus_trace::InferenceData;
use serde_json::json;

/// Writes a trace in another format. For a run, adds its observations if they are still there, and predictions and
/// prior draws if asked for.
///
/// # Errors
/// When the trace cannot be read, or the file is there already or cannot be written.
pub(crate) fn run(args: &ExportArgs, global: Global) -> Result<Exit> {
    let mut trace = open(&args.trace, global)?;
    for (option, count) in [("--predictive", args.predictive), ("--prior", args.prior)] {
        if count > 0 && args.to.format.holds_draws_only() {
            let format = args.to.format.name();
            bail!(UsageError(format!(
                "{option} {count}: {format} holds draws alone; export to netcdf, zarr or parquet"
            )));
        }
    }
    if args.to.format.holds_draws_only() {
        trace.posterior()?;
    }
    match &trace.record {
        Some(record) if !args.to.format.holds_draws_only() => add_groups(&mut trace.data, record, args, global.models)?,
        None if args.predictive > 0 || args.prior > 0 => {
            let option = if args.predictive > 0 { "--predictive" } else { "--prior" };
            let file = args.trace.first().map(|path| path.display().to_string()).unwrap_or_default();
            bail!(UsageError(format!(
                "{option}: {file} does not tell its model; give the run folder that it came from"
            )));
        }
        _ => {}
    }
    let data = &trace.data;
    (args.to.write)(&args.out, data, args.force)?;
    if global.json {
        let groups: Vec<&String> = data.groups.keys().collect();
        output::print_json(&json!({ "schema": 1, "file": args.out, "groups": groups }))?;
    } else {
        output::print(&args.out.display().to_string())?;
    }
    Ok(Exit::Fine)
}

fn add_groups(data: &mut InferenceData, record: &RunRecord, args: &ExportArgs, models: Registry) -> Result<()> {
    match of_run(models, record).map_err(anyhow::Error::from) {
        Ok(problem) => {
            let seed = record.sampler.seed;
            if args.prior > 0 {
                prior_need(&*problem, args.prior).check()?;
                PriorDraws::new(&*problem, seed, args.prior)?.add_groups(data);
            }
            let kept = record.sampler.draws;
            if args.predictive > kept {
                output::warn(format!("--predictive {}: each chain has {kept} draws, all are taken", args.predictive));
            }
            if args.predictive > 0 {
                predictive_need(&*problem, &record.sampler, args.predictive).check()?;
                Predictive::new(data, &*problem, seed, args.predictive, PredictiveParts::ALL)?.add_groups(data);
            }
            problem.add_observations(data);
        }
        Err(error) if args.predictive > 0 || args.prior > 0 => return Err(error),
        Err(error) => output::warn(format!("no observations in the file: {}", output::chain(&error))),
    }
    Ok(())
}

/// The bytes of a number on its way into a file: in the rows that are made, in their array, and as it is written.
const NUMBER: u64 = 3 * 8;

/// Returns what draws of the prior take of the memory, and the observations made from them.
fn prior_need(problem: &dyn Problem, draws: usize) -> MemoryNeed {
    let density = problem.density();
    let numbers = (density.layout().width() + density.predictions()) as u64;
    MemoryNeed {
        what: format!("--prior {draws}: making the draws"),
        bytes: NUMBER.saturating_mul(numbers).saturating_mul(draws as u64),
        advice: "ask for fewer".to_owned(),
    }
}

/// Returns what predictive draws take of the memory: observations and log likelihoods of draws of each chain, which has
/// no more of them than were drawn.
fn predictive_need(problem: &dyn Problem, sampler: &SamplerConfig, per_chain: usize) -> MemoryNeed {
    let draws = (per_chain.min(sampler.draws) as u64).saturating_mul(sampler.chains as u64);
    let density = problem.density();
    let numbers = (density.observations() + density.predictions()) as u64;
    MemoryNeed {
        what: format!("--predictive {per_chain}: making draws of {}", counted(sampler.chains, "chain")),
        bytes: NUMBER.saturating_mul(numbers).saturating_mul(draws),
        advice: "ask for fewer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight schools have 8 observations, and 18 numbers of a draw: mu, tau, and the effects in two forms.
    #[test]
    fn what_is_made_for_a_file_takes_24_bytes_a_number() {
        let problem = Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap();
        let need = prior_need(&*problem, 1000);
        assert_eq!((need.what.as_str(), need.bytes), ("--prior 1000: making the draws", 24 * (18 + 8) * 1000));
        let sampler = SamplerConfig { chains: 3, draws: 50, ..SamplerConfig::default() };
        let need = predictive_need(&*problem, &sampler, 20);
        assert_eq!(
            (need.what.as_str(), need.bytes),
            ("--predictive 20: making draws of 3 chains", 24 * 2 * 8 * 20 * 3)
        );
        assert_eq!(predictive_need(&*problem, &sampler, 60).bytes, 24 * 2 * 8 * 50 * 3, "no chain has more");
    }
}
