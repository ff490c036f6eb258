//! `octopus loo MODEL...` estimates how well models predict, by leave-one-out cross-validation.
//!
//! The number of bootstraps of the weights, and the most log likelihoods that are made, stand here.

use crate::args::{Global, LooArgs, ModelWeights};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Result, anyhow};
use octopus::{PointwiseLikelihood, PredictiveAccuracy, PredictiveParts, TraceError, complete};
use octopus_diag::{
    ComparedModel, DiagError, Elpd, LabelPairing, TextColumn, WeightMethod, compare, loo, pair_labels, text_table, waic,
};
use octopus_files::WithInfinities;
use octopus_report::Charset;
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
    let mut models: Vec<JudgedModel> = Vec::new();
    for path in &args.models {
        let mut trace = open(std::slice::from_ref(path), global)?;
        if trace.data.group("log_likelihood").is_none() && trace.record.is_some() {
            let problem = trace.problem(global.models)?;
            if let (false, Some(why)) = (problem.density().has_log_likelihood(), problem.likelihood_obstacle()) {
                anyhow::bail!(
                    "{}: its program does not tell the log likelihoods of single observations: {why}",
                    trace.name
                );
            }
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
        let judged = PointwiseLikelihood::read(&trace, &names).map_err(|error| match error {
            TraceError::Named { name, source: DiagError::Several { known } } if !known.is_empty() => {
                let (first, all) = (&known[0], known.join(","));
                anyhow!(
                    "{name} has log likelihoods of {all}: name those that are meant, as --var {first} or --var {all}"
                )
            }
            other => other.into(),
        })?;
        let elpd = if args.waic { waic(&judged.log_likelihood) } else { loo(&judged.log_likelihood, judged.reff)? };
        let accuracy = PredictiveAccuracy::new(elpd, &judged.log_likelihood);
        let labels = if args.models.len() > 1 { judged.log_likelihood.labels() } else { Vec::new() };
        models.push(JudgedModel { name: trace.name.clone(), accuracy, labels });
    }
    let all_defined = models.iter().all(|model| model.accuracy.undefined.is_none());
    let ranked = if models.len() > 1 && all_defined { ranked(&models, args.weights)? } else { Vec::new() };
    if global.json {
        output::print_json(&json!({
            "schema": 1,
            "models": models.iter().map(model_json).collect::<Vec<_>>(),
            "comparison": ranked.iter().map(row_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text: String = models.iter().map(|model| format!("{}: {}\n", model.name, model.accuracy)).collect();
        if !ranked.is_empty() {
            text += &ranking_text(&ranked);
        } else if models.len() > 1 {
            text += "\nthe models cannot be ranked: an observation has no estimate\n";
        }
        output::print(&text)?;
    }
    let doubtful = models.iter().any(|model| model.accuracy.doubtful());
    Ok(if doubtful { Exit::Bad } else { Exit::Fine })
}

/// A model with what is said of it.
struct JudgedModel {
    name: String,
    accuracy: PredictiveAccuracy,
    /// The labels of the observations; none of a model alone.
    labels: Vec<String>,
}

/// Ranks models, whose observations are paired with those of the first by their labels.
fn ranked(models: &[JudgedModel], weights: ModelWeights) -> Result<Vec<ComparedModel>> {
    let [first, others @ ..] = models else { return Ok(Vec::new()) };
    let mut paired = vec![first.accuracy.elpd.clone()];
    for other in others {
        // Of unequal numbers the ranking itself says what is wrong.
        let as_many = first.labels.len() == other.labels.len();
        let pairing = if as_many { pair_labels(&first.labels, &other.labels) } else { LabelPairing::Same };
        let (a, b) = (&first.name, &other.name);
        paired.push(match pairing {
            LabelPairing::Same => other.accuracy.elpd.clone(),
            LabelPairing::Reordered(order) => {
                output::note(format!("{b} has the observations of {a} in another order: they are paired by their labels"));
                other.accuracy.elpd.reordered(&order)
            }
            LabelPairing::ByPosition(order) => {
                output::warn(format!(
                    "the labels of observations in {a} and {b} differ, and one of the two only counts them: they are paired in \
                     the order in which they stand"
                ));
                other.accuracy.elpd.reordered(&order)
            }
            LabelPairing::Different { label, first } => {
                let (has, lacks) = if first { (a, b) } else { (b, a) };
                anyhow::bail!(
                    "{has} has an observation {label:?} that {lacks} lacks, or has more than once: compare models of the same \
                     observations, each with a label of its own"
                );
            }
        });
    }
    let models: Vec<(&str, &Elpd)> = models.iter().map(|model| model.name.as_str()).zip(&paired).collect();
    Ok(compare(&models, method(weights))?)
}

fn method(weights: ModelWeights) -> WeightMethod {
    match weights {
        ModelWeights::Stacking => WeightMethod::Stacking,
        ModelWeights::BbPseudoBma => WeightMethod::BbPseudoBma { samples: BOOTSTRAPS, seed: 0 },
        ModelWeights::PseudoBma => WeightMethod::PseudoBma,
    }
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

fn model_json(JudgedModel { name, accuracy: PredictiveAccuracy { elpd, undefined }, .. }: &JudgedModel) -> Value {
    json!({
        "name": name,
        "criterion": elpd.criterion.name(),
        "elpd": WithInfinities(elpd.elpd),
        "se": WithInfinities(elpd.se),
        "p": WithInfinities(elpd.p),
        "samples": elpd.n_samples,
        "observations": elpd.n_data_points,
        "limit": elpd.good,
        "unreliable": elpd.unreliable().collect::<Vec<_>>(),
        "undefined": elpd.undefined().collect::<Vec<_>>(),
        "warning": elpd.warning(),
        "pointwise": WithInfinities(&elpd.pointwise),
        "reliability": WithInfinities(&elpd.reliability),
        "advice": undefined.clone().or_else(|| elpd.advice()),
    })
}

fn row_json(row: &ComparedModel) -> Value {
    json!({
        "name": row.name,
        "rank": row.rank,
        "elpd": row.elpd,
        "p": row.p,
        "elpd_diff": WithInfinities(row.elpd_diff),
        "weight": row.weight,
        "se": row.se,
        "dse": row.dse,
        "warning": row.warning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_60_characters_is_in_one_line_and_a_longer_one_in_two() {
        let model = |name: String| ComparedModel {
            name,
            rank: 0,
            elpd: -30.125,
            p: 1.5,
            elpd_diff: 0.0,
            weight: 1.0,
            se: 3.25,
            dse: 0.0,
            warning: true,
        };
        for (length, in_one) in [(30, true), (60, true), (61, false)] {
            let words = "a ".repeat((length - 10) / 2);
            let name = format!("{words}{}", "b".repeat(length - words.len()));
            let text = ranking_text(&[model(name.clone())]);
            assert_eq!(text.contains(&name), in_one, "{text}");
            assert!(["-30.1", "1.50", "1.000", "3.25", "doubtful"].iter().all(|word| text.contains(word)), "{text}");
        }
    }
}
