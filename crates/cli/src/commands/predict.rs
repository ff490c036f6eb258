//! `octopus predict RUN --data FILE` predicts new rows and groups by a run of a program.
//!
//! How many predicted numbers are printed stands here.

use crate::args::{Global, PredictArgs};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Result, bail};
use octopus::{NewPredictions, PredictedNumber};
use octopus_diag::{TextColumn, counted, text_table};
use octopus_files::WithInfinities;
use octopus_report::{Charset, significant};
use octopus_runs::MemoryNeed;
use octopus_trace::InferenceData;
use serde_json::json;
use toml::Table;

/// The most predicted numbers that are printed as text.
const SHOWN: usize = 20;

/// Draws new data for the draws of a run.
///
/// # Errors
/// When the run cannot be read, its model predicts no new data, these do not fit, or the file cannot be written.
pub(crate) fn run(args: &PredictArgs, global: Global) -> Result<Exit> {
    let mut trace = open(std::slice::from_ref(&args.run), global)?;
    let problem = trace.problem(global.models)?;
    if args.data.is_none() && args.set.is_empty() {
        return Err(UsageError("new data are needed: --data FILE, or --set NAME=VALUE".to_owned()).into());
    }
    let set: Table = args.set.iter().cloned().collect();
    let Some(predictor) = problem.new_data(args.data.as_deref(), &set)? else {
        bail!("{}: the model predicts no new data; a Stan program does", problem.density().name());
    };
    let sampler = trace.record.as_ref().map(|record| record.sampler.clone()).unwrap_or_default();
    let numbers: usize = predictor.variables().iter().map(|variable| variable.numbers.labels.len()).sum();
    let draws = (args.draws.min(sampler.draws) as u64).saturating_mul(sampler.chains as u64);
    let need = MemoryNeed {
        what: format!("--draws {}: predicting {}", args.draws, counted(numbers, "number")),
        bytes: (3 * size_of::<f64>() as u64).saturating_mul(draws).saturating_mul(numbers as u64),
        advice: "ask for fewer".to_owned(),
    };
    need.check()?;
    output::unless_quiet(global.quiet, &predictor.news()).iter().for_each(output::note);
    let found = NewPredictions::new(&trace.data, &*problem, &*predictor, sampler.seed, args.draws)?;
    if let Some(why) = &found.first_failure {
        output::warn(format!("{} predictions are NaN; the first: {why}", found.failed));
    }
    if let (Some(out), Some(to)) = (&args.out, args.to) {
        let mut data = InferenceData::default();
        if to.format.holds_draws_only() {
            data.insert("posterior", found.dataset());
        } else {
            std::mem::swap(&mut data, &mut trace.data);
            data.groups.shift_remove("unconstrained_posterior");
            found.add_groups(&mut data);
        }
        (to.write)(out, &data, args.force)?;
    }
    let all = found.summary();
    if global.json {
        let numbers: Vec<_> = all.iter().map(as_json).collect();
        let (draws, news) = (found.rows().len(), predictor.news());
        output::print_json(&json!({ "schema": 1, "draws": draws, "new": news, "numbers": numbers, "file": args.out }))?;
    } else {
        let file = args.out.as_ref().map(|out| format!("\n{}", out.display())).unwrap_or_default();
        output::print(&format!("{}{file}", text(&all)))?;
    }
    Ok(Exit::Fine)
}

fn as_json(number: &PredictedNumber) -> serde_json::Value {
    let PredictedNumber { name, mean, sd, quantiles: [low, median, high] } = number;
    json!({
        "name": name, "mean": WithInfinities(mean), "sd": WithInfinities(sd), "q5": WithInfinities(low),
        "q50": WithInfinities(median), "q95": WithInfinities(high),
    })
}

/// The first numbers as a table.
fn text(all: &[PredictedNumber]) -> String {
    let columns = ["", "mean", "sd", "5%", "50%", "95%"]
        .map(|name| if name.is_empty() { TextColumn::left(name) } else { TextColumn::right(name) });
    let row = |number: &PredictedNumber| {
        let values = [number.mean, number.sd].into_iter().chain(number.quantiles);
        std::iter::once(number.name.clone()).chain(values.map(|x| significant(x, 4))).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = all.iter().take(SHOWN).map(row).collect();
    let table = text_table(&columns, &rows, Charset::from_environment().table());
    match all.len().saturating_sub(SHOWN) {
        0 => table.trim_end().to_owned(),
        more => format!("{table}and {more} more: --json or --out have them"),
    }
}
