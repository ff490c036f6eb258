//! `octopus evidence RUN...` estimates how probable the data are by a model, and compares models by it.

use crate::args::{EvidenceArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result, bail};
use octopus::{ModelEvidence, model_probabilities, same_observations};
use octopus_density::LogDensity;
use octopus_diag::{TextColumn, text_table};
use octopus_files::WithInfinities;
use octopus_models::Problem;
use octopus_report::{Charset, significant};
use octopus_runs::RunRecord;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Prints log evidences of runs, and Bayes factors and probabilities of the models of several runs.
///
/// # Errors
/// When a run cannot be read or its model not be built, the constants of its log density are not known, or runs are of
/// different data.
pub(crate) fn run(args: &EvidenceArgs, global: Global) -> Result<Exit> {
    if args.draws < ModelEvidence::FEWEST_DRAWS {
        let fewest = ModelEvidence::FEWEST_DRAWS;
        return Err(UsageError(format!("--draws {}: at least {fewest} of each chain are needed", args.draws)).into());
    }
    let mut judged: Vec<JudgedRun> = Vec::new();
    for path in &args.runs {
        let trace = open(std::slice::from_ref(path), global)?;
        let name = trace.name.clone();
        if trace.record.is_none() {
            bail!("{name}: the evidence is made of the model, which a file does not tell: name the folder of a run");
        }
        if trace.unfinished() {
            output::warn(format!("{name} is not complete, this is by what is drawn so far"));
        }
        let problem = trace.problem(global.models)?;
        if let Some(first) = judged.first() {
            need_same_data(first, &name, &*problem)?;
        }
        let evidence = trace.evidence(&*problem, args.draws, args.seed).with_context(|| name.clone())?;
        if let Some(why) = problem.prior_obstacle() {
            output::warn(format!(
                "{name}: the prior may not integrate to 1, and the evidence is by the log density as it is written: {why}"
            ));
        }
        if !trace.diagnose()?.usable() {
            output::warn(format!("{name}: its chains do not agree on the posterior: see `octopus diagnose {name}`"));
        }
        let population = trace.record.as_ref().and_then(|record| PopulationEvidence::of(record, problem.density()));
        judged.push(JudgedRun { name, evidence, population, problem });
    }
    let rows = if judged.len() > 1 { ranked(&judged) } else { Vec::new() };
    if global.json {
        output::print_json(&json!({
            "schema": 1,
            "runs": judged.iter().map(run_json).collect::<Vec<_>>(),
            "comparison": rows.iter().map(row_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text: String = judged.iter().map(run_text).collect();
        if !rows.is_empty() {
            text += &ranking_text(&rows);
        }
        output::print(&text)?;
    }
    let doubtful = judged.iter().any(|run| run.evidence.doubt().is_some());
    Ok(if doubtful { Exit::Bad } else { Exit::Fine })
}

/// A run with the evidence of its model.
struct JudgedRun {
    name: String,
    evidence: ModelEvidence,
    /// What the sampler itself found, where it drew a population.
    population: Option<PopulationEvidence>,
    problem: Arc<dyn Problem>,
}

/// The evidence that a population found while it was drawn, with all constants.
#[derive(Debug, Serialize)]
struct PopulationEvidence {
    sampler: &'static str,
    log_evidence: WithInfinities<f64>,
    standard_error: WithInfinities<f64>,
    doubt: Option<String>,
}

impl PopulationEvidence {
    /// Reads it in a run's record; `None` where the run moved chains, or the density's constants are not known.
    fn of(record: &RunRecord, density: &dyn LogDensity) -> Option<Self> {
        let (found, constant) = (record.population()?, constants_left_out(record, density)?);
        let number = |name: &str| found.get(name)?.as_float();
        Some(Self {
            sampler: record.sampler.algorithm.name(),
            log_evidence: WithInfinities(number("log_evidence")? + constant),
            standard_error: WithInfinities(number("standard_error")?),
            doubt: found.get("doubt").and_then(|why| why.as_str()).map(str::to_owned),
        })
    }
}

/// Returns the constants that a population's evidence in a run's record lacks; `None` where they are not known.
pub(super) fn constants_left_out(record: &RunRecord, density: &dyn LogDensity) -> Option<f64> {
    // Particles of the prior are weighed by the likelihood, which has all of its constants.
    if record.sampler.algorithm.takes_particles() { Some(0.0) } else { density.log_constant() }
}

fn run_text(JudgedRun { name, evidence, population, .. }: &JudgedRun) -> String {
    let line = |found: &PopulationEvidence| {
        let error = significant(found.standard_error.0, 2);
        let doubt = found.doubt.as_ref().map_or_else(String::new, |why| format!("; {why}"));
        format!("  {} itself found {:.3} +- {error}{doubt}\n", found.sampler, found.log_evidence.0)
    };
    format!("{name}: {evidence}\n{}", population.as_ref().map_or_else(String::new, line))
}

/// A model among others.
struct RankedRun<'a> {
    name: &'a str,
    evidence: &'a ModelEvidence,
    /// The logarithm of the Bayes factor over the model with the largest evidence, and its standard error.
    log_bayes_factor: (f64, f64),
    /// The posterior probability of the model, where all models are equally probable beforehand.
    probability: f64,
}

/// Refuses a run of other observations than the first's.
fn need_same_data(first: &JudgedRun, name: &str, problem: &dyn Problem) -> Result<()> {
    match same_observations(&*first.problem, problem) {
        Some(true) => {}
        Some(false) => bail!(
            "{} and {name} have other observations: the evidence tells models of the same data apart, and nothing else",
            first.name
        ),
        None => output::warn(format!(
            "{} and {name}: it is not known whether their observations are the same, as Bayes factors need them",
            first.name
        )),
    }
    Ok(())
}

/// The models by their evidence, the largest first.
fn ranked(runs: &[JudgedRun]) -> Vec<RankedRun<'_>> {
    let all: Vec<ModelEvidence> = runs.iter().map(|run| run.evidence).collect();
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| all[b].log_evidence.total_cmp(&all[a].log_evidence));
    let probabilities = model_probabilities(&all);
    let best = order.first().copied().unwrap_or(0);
    let row = |at: usize| {
        let log_bayes_factor = if at == best { (0.0, 0.0) } else { all[at].log_bayes_factor(&all[best]) };
        RankedRun {
            name: &runs[at].name,
            evidence: &runs[at].evidence,
            log_bayes_factor,
            probability: probabilities[at],
        }
    };
    order.into_iter().map(row).collect()
}

fn ranking_text(rows: &[RankedRun<'_>]) -> String {
    let columns = [
        TextColumn::wrapped("model", 60),
        TextColumn::right("log evidence"),
        TextColumn::right("se"),
        TextColumn::right("log Bayes factor"),
        TextColumn::right("se"),
        TextColumn::right("probability"),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let (log_factor, error) = row.log_bayes_factor;
            vec![
                row.name.to_owned(),
                format!("{:.3}", row.evidence.log_evidence),
                significant(row.evidence.standard_error, 2),
                format!("{log_factor:.3}"),
                significant(error, 2),
                format!("{:.4}", row.probability),
            ]
        })
        .collect();
    format!("\n{}", text_table(&columns, &rows, Charset::from_environment().table()))
}

fn run_json(JudgedRun { name, evidence, population, problem }: &JudgedRun) -> Value {
    json!({
        "name": name,
        "log_evidence": WithInfinities(evidence.log_evidence),
        "standard_error": WithInfinities(evidence.standard_error),
        "overlap": WithInfinities(evidence.overlap()),
        "ess": WithInfinities(evidence.ess()),
        "draws": evidence.draws,
        "doubt": evidence.doubt(),
        "population": population,
        "prior": problem.prior_obstacle(),
    })
}

fn row_json(row: &RankedRun<'_>) -> Value {
    json!({
        "name": row.name,
        "log_evidence": WithInfinities(row.evidence.log_evidence),
        "log_bayes_factor": WithInfinities(row.log_bayes_factor.0),
        "standard_error": WithInfinities(row.log_bayes_factor.1),
        "probability": WithInfinities(row.probability),
    })
}
