//! `octopus loo MODEL...` estimates how well models predict, by leave-one-out cross-validation.
//!
//! The number of bootstraps of the weights, and the most log likelihoods that are made, stand here.

use crate::args::{Global, LooArgs, Weights};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::Result;
use octopus::PredictiveParts;
use octopus::{PointwiseLikelihood, complete};
use octopus_diag::{ComparedModel, Elpd, TextColumn, WeightMethod, compare, loo, text_table, waic};
use octopus_report::{Charset, count, significant};
use serde_json::{Value, json};

/// The most log likelihoods that are made.
const MOST: usize = 1 << 28;

/// The number of bootstraps of BB-pseudo-BMA, which is ArviZ's.
const BOOTSTRAPS: u32 = 1000;

/// Prints expected log predictive densities of models, and a ranking of several models.
///
/// # Errors
/// When a trace cannot be read, a trace has no log likelihoods and no model that makes them, or the models'
/// observations differ.
pub(crate) fn run(args: &LooArgs, global: Global) -> Result<Exit> {
    if args.draws == 0 {
        return Err(UsageError("--draws 0: at least one of each chain is needed".into()).into());
    }
    let names: Vec<&str> = args.var.iter().map(String::as_str).collect();
    let mut models = Vec::new();
    for path in &args.models {
        let mut trace = open(std::slice::from_ref(path), global)?;
        if trace.data.group("log_likelihood").is_none() && trace.record.is_some() {
            let problem = trace.problem(global.models)?;
            let wanted = PredictiveParts { log_likelihood: true, ..PredictiveParts::default() };
            if let Some(used) = complete(&mut trace, &*problem, wanted, args.draws, MOST)? {
                output::warn(format!(
                    "{}: {used} draws of each chain, not {}: the log likelihoods of more would take over {} GB",
                    trace.name,
                    args.draws,
                    (MOST * size_of::<f64>()) >> 30
                ));
            }
        }
        let judged = PointwiseLikelihood::read(&trace, &names)?;
        let elpd = if args.waic { waic(&judged.log_likelihood) } else { loo(&judged.log_likelihood, judged.reff)? };
        models.push((trace.name.clone(), elpd));
    }
    let ranked = match models.len() {
        1 => Vec::new(),
        _ => {
            let models: Vec<(&str, &Elpd)> = models.iter().map(|(name, elpd)| (name.as_str(), elpd)).collect();
            compare(&models, method(args.weights))?
        }
    };
    if global.json {
        output::print_json(&json!({
            "schema": 1,
            "models": models.iter().map(|(name, elpd)| model_json(name, elpd)).collect::<Vec<_>>(),
            "comparison": ranked.iter().map(row_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text: String = models.iter().map(|(name, elpd)| model_text(name, elpd)).collect();
        if !ranked.is_empty() {
            text += &ranking_text(&ranked);
        }
        output::print(&text)?;
    }
    let doubtful = models.iter().any(|(_, elpd)| elpd.warning() || elpd.elpd.is_nan());
    Ok(if doubtful { Exit::Bad } else { Exit::Fine })
}

fn method(weights: Weights) -> WeightMethod {
    match weights {
        Weights::Stacking => WeightMethod::Stacking,
        Weights::BbPseudoBma => WeightMethod::BbPseudoBma { samples: BOOTSTRAPS, seed: 0 },
        Weights::PseudoBma => WeightMethod::PseudoBma,
    }
}

fn model_text(name: &str, elpd: &Elpd) -> String {
    let criterion = elpd.criterion.name();
    let mut text = format!(
        "{name}: {} samples of {} observations\n  elpd_{criterion} {} +- {}\n  p_{criterion} {}\n",
        count(elpd.n_samples as u64),
        count(elpd.n_data_points as u64),
        significant(elpd.elpd, 6),
        significant(elpd.se, 3),
        significant(elpd.p, 4)
    );
    match elpd.advice() {
        Some(advice) => text += &format!("WARN  {advice}\n"),
        None => text += &format!("PASS  reliable for every observation (limit {})\n", significant(elpd.good, 2)),
    }
    text
}

fn ranking_text(ranked: &[ComparedModel]) -> String {
    let columns = [
        TextColumn::wrapped("model", 60),
        TextColumn::right("rank"),
        TextColumn::right("elpd"),
        TextColumn::right("p"),
        TextColumn::right("elpd_diff"),
        TextColumn::right("dse"),
        TextColumn::right("weight"),
        TextColumn::right("se"),
        TextColumn::left(""),
    ];
    let rows: Vec<Vec<String>> = ranked
        .iter()
        .map(|row| {
            vec![
                row.name.clone(),
                row.rank.to_string(),
                format!("{:.2}", row.elpd),
                format!("{:.2}", row.p),
                format!("{:.2}", row.elpd_diff),
                format!("{:.2}", row.dse),
                format!("{:.3}", row.weight),
                format!("{:.2}", row.se),
                if row.warning { "doubtful".into() } else { String::new() },
            ]
        })
        .collect();
    format!("\n{}", text_table(&columns, &rows, Charset::from_environment().table()))
}

fn model_json(name: &str, elpd: &Elpd) -> Value {
    json!({
        "name": name,
        "criterion": elpd.criterion.name(),
        "elpd": elpd.elpd,
        "se": elpd.se,
        "p": elpd.p,
        "samples": elpd.n_samples,
        "observations": elpd.n_data_points,
        "limit": elpd.good,
        "unreliable": elpd.unreliable().collect::<Vec<_>>(),
        "warning": elpd.warning(),
        "pointwise": elpd.pointwise,
        "reliability": elpd.reliability,
        "advice": elpd.advice(),
    })
}

fn row_json(row: &ComparedModel) -> Value {
    json!({
        "name": row.name,
        "rank": row.rank,
        "elpd": row.elpd,
        "p": row.p,
        "elpd_diff": row.elpd_diff,
        "weight": row.weight,
        "se": row.se,
        "dse": row.dse,
        "warning": row.warning,
    })
}
