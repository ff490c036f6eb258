//! Chains that start at draws of another run, and take over what its draws tell of the posterior.

use crate::{Trace, TraceError};
use octopus_bind::{Data, DataNumbers, DataValue};
use octopus_density::{LogDensity, coordinate_name};
use octopus_models::{BuildError, Problem};
use octopus_runs::RunRecord;
use octopus_sampler::{SamplerConfig, WarmStart};
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Draws from which coordinates and metric are learned, at the most.
const DRAWS: usize = 400;
/// The posterior has moved where the mean slope at the run's draws is more than this, in units of their standard deviations:
/// a normal posterior by so many of them.
const MOVED: f64 = 2.0;
/// Settings that are compared by what is read from them, or in other words.
const READ: [&str; 4] = ["data", "set", "program", "program_text"];

/// The draws of a run as values of parameters.
struct RunDraws<'a> {
    name: String,
    /// The parameters that have values, each with its sizes and its draws.
    parameters: Vec<(String, Vec<usize>, &'a [f64])>,
    chains: usize,
    draws: usize,
}

/// Returns where chains start that take over a run's draws: each at a draw of the run, the last ones of its chains before
/// earlier ones. Warns of what differs, and where the posterior seems to be another one.
pub(super) fn of_run(problem: &dyn Problem, config: &SamplerConfig, path: &Path) -> Result<WarmStart, TraceError> {
    let trace = Trace::open(&[path.to_owned()])?;
    let run = RunDraws::new(problem, trace.posterior()?, trace.name.clone())?;
    let differing = trace.record.as_ref().map(|record| differences(problem, record)).unwrap_or_default();
    if !differing.is_empty() {
        tracing::warn!("--init {}: the run is another one: {}", trace.name, differing.join("; "));
    }
    let points = run.starts(problem, config.first_chains())?;
    let all = run.chains * run.draws;
    let count = all.min(DRAWS);
    // A draw that lies on an edge tells nothing of the metric.
    let position = |k: usize| {
        let row = k * all / count;
        run.position(problem, row / run.draws, row % run.draws).ok()
    };
    let rows: Vec<Vec<f64>> = (0..count).into_par_iter().filter_map(position).collect();
    let stats = trace.data.group("sample_stats");
    warn_of_misfits(problem.density(), stats, &points, &rows, &trace.name);
    let step_size =
        trace.record.as_ref().filter(|record| record.sampler.algorithm == config.algorithm).and_then(step_of);
    Ok(WarmStart { points, draws: rows.concat(), step_size })
}

impl<'a> RunDraws<'a> {
    /// # Errors
    /// When the run lacks a parameter of the model, or has it in another size.
    fn new(problem: &dyn Problem, posterior: &'a Dataset, name: String) -> Result<Self, TraceError> {
        let density = problem.density();
        let bad = |what: String| TraceError::from(BuildError::StartingValues(what));
        // A position of no values lacks all parameters.
        let names = problem.position_of(&Data::new(&name), &vec![0.0; density.dim()])?.missing;
        let (mut parameters, mut chains, mut draws) = (Vec::new(), 0, 0);
        for parameter in names {
            // One without elements is no variable.
            let Some(variable) = density.layout().variables.iter().find(|one| one.name == parameter) else { continue };
            let Some((array, values)) = posterior.get(&parameter).and_then(reals) else {
                let has: Vec<&str> = posterior.variables.keys().map(String::as_str).collect();
                return Err(bad(format!("{name}: the run has no parameter `{parameter}`: it has {}", has.join(", "))));
            };
            let sizes: Vec<usize> = variable.dims.iter().map(|dim| dim.labels.len()).collect();
            if array.shape[2..] != sizes {
                return Err(bad(format!(
                    "{name}: `{parameter}` has sizes {:?} in the run, but {sizes:?} are needed",
                    &array.shape[2..]
                )));
            }
            if chains * draws > 0 && (chains, draws) != (array.chains(), array.draws()) {
                return Err(bad(format!(
                    "{name}: `{parameter}` has other chains or draws than the parameters before it"
                )));
            }
            (chains, draws) = (array.chains(), array.draws());
            parameters.push((parameter, sizes, values));
        }
        if chains * draws == 0 {
            return Err(bad(format!("{name}: there are no draws of parameters")));
        }
        Ok(Self { name, parameters, chains, draws })
    }

    /// Returns a starting point for each of `count` chains, in turn from the run's chains.
    fn starts(&self, problem: &dyn Problem, count: usize) -> Result<Vec<Vec<f64>>, TraceError> {
        let of_each = count.div_ceil(self.chains).max(1);
        let stride = (self.draws / of_each).max(1);
        let place = |k: usize| (k % self.chains, self.draws - 1 - k / self.chains * stride % self.draws);
        (0..count).map(place).map(|(chain, draw)| Ok(self.position(problem, chain, draw)?)).collect()
    }

    /// Returns the position of a draw in this model.
    fn position(&self, problem: &dyn Problem, chain: usize, draw: usize) -> Result<Vec<f64>, BuildError> {
        let source = format!("{} (chain {chain}, draw {draw})", self.name);
        let all = self.parameters.iter().fold(Data::new(&source), |all, (name, sizes, values)| {
            let (width, row) = (sizes.iter().product::<usize>(), chain * self.draws + draw);
            let numbers = DataNumbers::Reals(values[row * width..(row + 1) * width].to_vec());
            all.with(name, DataValue { shape: sizes.clone(), numbers })
        });
        Ok(problem.position_of(&all, &vec![0.0; problem.density().dim()])?.position)
    }
}

/// Returns an array of draws of reals, with its numbers.
fn reals(array: &Array) -> Option<(&Array, &[f64])> {
    match &array.values {
        Values::F64(values) if array.is_sampled() => Some((array, values)),
        _ => None,
    }
}

/// Returns what differs between a run's model and data and these, in words.
fn differences(problem: &dyn Problem, record: &RunRecord) -> Vec<String> {
    let (then, now) = (&record.model, problem.density().name());
    let mut found = Vec::new();
    if then.name != now {
        found.push(format!("its model was {}, and is {now}", then.name));
    }
    let (old, new) = (&then.settings, problem.settings());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = names.into_iter().filter(|name| !READ.contains(&name.as_str()) && old.get(*name) != new.get(*name));
    found.extend(differ.map(|name| match name.as_str() {
        "program_sha256" => "the text of the program differs".to_owned(),
        other => format!("the setting `{other}` differs"),
    }));
    let data = problem.data();
    if let Some(then) = record.data.as_ref().filter(|then| then.sha256 != data.sha256) {
        found.push(format!("the data differ (then {}, now {})", then.source, data.source));
    }
    found
}

/// Warns where starts lie far below the run's draws, or the run's draws are none of this posterior.
fn warn_of_misfits(
    density: &dyn LogDensity,
    stats: Option<&Dataset>,
    points: &[Vec<f64>],
    draws: &[Vec<f64>],
    name: &str,
) {
    let lp = stats.and_then(|stats| stats.get("lp")).map(|lp| lp.values.to_f64()).unwrap_or_default();
    let (low, high) = lp.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let mut gradient = vec![0.0; density.dim()];
    for (chain, point) in points.iter().enumerate() {
        // Where there is none, the run cannot start, and says so.
        let Ok(logp) = density.logp_grad(point, &mut gradient) else { continue };
        if logp < low - (high - low) {
            tracing::warn!(
                "--init {name}: where chain {chain} starts the log density is {logp:.1}, and in the run it was from \
                 {low:.1} to {high:.1}"
            );
            break;
        }
    }
    let moved = moved(density, draws);
    let Some(&(coordinate, by)) = moved.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    tracing::warn!(
        "--init {name}: this posterior is another one than the run's: {} of {} coordinates have moved by {MOVED} or more \
         of the run's standard deviations, {} by about {by:.1}; metric and starts may not fit: take a longer --tune, or \
         another --init",
        moved.len(),
        density.dim(),
        coordinate_name(density.layout(), coordinate)
    );
}

/// Returns the coordinates in which the posterior is elsewhere than these draws, with about how many of their standard
/// deviations. The slopes at draws of a posterior have the mean 0, by Stein's identity.
fn moved(density: &dyn LogDensity, draws: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let with_slopes: Vec<(&Vec<f64>, Vec<f64>)> = draws
        .par_iter()
        .filter_map(|x| {
            let mut gradient = vec![0.0; density.dim()];
            density.logp_grad(x, &mut gradient).ok().map(|_| (x, gradient))
        })
        .collect();
    let n = with_slopes.len() as f64;
    let distance = |i: usize| {
        let mean = with_slopes.iter().map(|(x, _)| x[i]).sum::<f64>() / n;
        let variance = with_slopes.iter().map(|(x, _)| (x[i] - mean).powi(2)).sum::<f64>() / n;
        let slope = with_slopes.iter().map(|(_, gradient)| gradient[i]).sum::<f64>() / n;
        (i, slope.abs() * variance.sqrt())
    };
    (0..density.dim()).map(distance).filter(|(_, by)| *by >= MOVED).collect()
}

/// Returns the median of a run's step sizes.
fn step_of(record: &RunRecord) -> Option<f64> {
    let steps = record.adaptation.get("step_sizes")?.as_array()?;
    let mut steps: Vec<f64> = steps.iter().filter_map(toml::Value::as_float).filter(|step| *step > 0.0).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied()
}
