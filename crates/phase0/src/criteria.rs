//! The verdict of phase 0 on what the stages found.
//!
//! Its own rows are made here: the exact posterior (Q.3), NumPy's data (Q.4) and the PRD's own configuration (Q.5).

use super::ValidationStage;
use super::compare::{LIMIT_ELEMENT, LIMIT_SCALAR};
use super::gpu::OnGpu;
use super::plots::summary_rows;
use super::prd::Prd;
use crate::options::Phase0Options;
use crate::stages::Stages;
use octopus_bench::engines::Benchmarks;
use octopus_diag::{DEFAULT_PROB, limits};
use octopus_report::{Deliverable, Evidence, Measured, Status, SummaryRow, Verdict, VerdictRow, WorstVariation};
use octopus_trace::Variable;

/// Judges every criterion.
pub(super) fn verdict(options: &Phase0Options<'_>, stages: &Stages, deliverables: &[Deliverable]) -> Verdict {
    let mut parameters = summary_rows(stages);
    // The error of array means is that of the effects, in units of y. Other arrays such as z have other units and would
    // blur the error, so they are left out.
    let effects = stages.problem.effects().map(|effects| format!("{}[", effects.variable));
    let of_effects = |row: &SummaryRow| effects.as_ref().is_some_and(|effects| row.name.starts_with(effects));
    parameters.iter_mut().filter(|row| row.is_element() && !of_effects(row)).for_each(|row| row.truth = None);
    let exact = |variable: &Variable| {
        let interval = stages.comparison.as_ref().ok()?.exact.hdi_of(&variable.name, 0, DEFAULT_PROB)?;
        Some((variable.name.clone(), interval))
    };
    let scalars = stages.problem.density().layout().variables.iter().filter(|variable| variable.dims.is_empty());
    let exact_hdi89: Vec<(String, (f64, f64))> = scalars.filter_map(exact).collect();
    let predictive = match &stages.predicted {
        Ok(predicted) => Measured::Value(predicted.statistics.as_slice()),
        Err(reason) => Measured::missing(reason.clone()),
    };
    let benchmark = stages.benchmark.as_ref();
    let compared = benchmark.iter().flat_map(|benchmark| benchmark.strategies.iter().take(3));
    let strategies: Vec<String> = compared.map(|m| m.run.setting.clone()).collect();
    let compared = benchmark.iter().flat_map(|benchmark| &benchmark.samplers);
    let samplers: Vec<String> = compared.map(|m| m.run.setting.clone()).collect();
    let left_out: Vec<&str> = ValidationStage::ALL
        .into_iter()
        .filter(|stage| !options.stages.contains(stage))
        .map(ValidationStage::name)
        .collect();
    let evidence = Evidence {
        require_gpu: options.require_gpu,
        gpu: stages.machine.gpu(),
        test_double: stages.gpu.as_ref().is_ok_and(|gpu| gpu.test_double),
        gpu_run: of_gpu(stages, |gpu| Measured::Value(gpu.run.clone())),
        parameters: &parameters,
        divergences: stages.diagnosis.divergences.unwrap_or(0),
        speedup: benchmark.map_or_else(|reason| Measured::missing(reason.clone()), Benchmarks::whole_device),
        deliverables: if left_out.is_empty() {
            Measured::Value(deliverables)
        } else {
            Measured::missing(format!("`--stages` leaves out {}", left_out.join(", ")))
        },
        gpu_memory: of_gpu(stages, |gpu| gpu.memory.clone()),
        posterior_match: of_gpu(stages, |gpu| gpu.posterior.clone()),
        timing_variation: timing_variation(options, stages),
        strategies: &strategies,
        samplers: &samplers,
        dashboard: deliverables.iter().any(|d| d.name == "index.html" && d.made),
        exact_hdi89: &exact_hdi89,
        predictive,
        other_model: stages.prd.is_none(),
    };
    let mut rows = evidence.verdict().rows;
    rows.push(exact_row(stages));
    if let Some(prd) = &stages.prd {
        rows.push(data_row(prd, stages));
        rows.extend(literal_row(stages));
    }
    Verdict::new(rows, options.require_gpu)
}

/// Returns what `found` takes from the run on the GPU, or the reason why there was no such run.
fn of_gpu<T>(stages: &Stages, found: impl FnOnce(&OnGpu) -> Measured<T>) -> Measured<T> {
    match &stages.gpu {
        Ok(gpu) => found(gpu),
        Err(reason) => Measured::missing(reason.clone()),
    }
}

fn timing_variation(options: &Phase0Options<'_>, stages: &Stages) -> Measured<WorstVariation> {
    if options.quick {
        return Measured::missing("two short repeats tell nothing: run without --quick");
    }
    let benchmark = match &stages.benchmark {
        Ok(benchmark) => benchmark,
        Err(reason) => return Measured::missing(reason.clone()),
    };
    match benchmark.worst_variation() {
        Some(worst) => Measured::Value(worst),
        None => Measured::missing("nothing was timed twice"),
    }
}

/// Returns the row that judges means and standard deviations against the exact posterior.
fn exact_row(stages: &Stages) -> VerdictRow {
    let criterion = "Means and sds equal the exact posterior's";
    let comparison = match &stages.comparison {
        Ok(comparison) => comparison,
        Err(reason) => {
            let mut row = row("Q.3", criterion, format!("within {LIMIT_SCALAR} MCSE"), "not measured".into(), None);
            row.status = Status::Skipped { reason: reason.clone() };
            return row;
        }
    };
    let arrays = comparison.arrays.join(" and ");
    let of_arrays = if arrays.is_empty() { String::new() } else { format!(", {LIMIT_ELEMENT} for {arrays}") };
    let worst = [LIMIT_SCALAR, LIMIT_ELEMENT].into_iter().filter_map(|limit| comparison.worst(limit));
    let worst: Vec<String> = worst.map(|d| format!("{} of {} off by {:.1} MCSE", d.what, d.name, d.distance)).collect();
    let failures = comparison.failures().count();
    let advice = "either the chains have not converged (see P0.3), or, if they have, the sampler is wrong: report it";
    row(
        "Q.3",
        criterion,
        format!("within {LIMIT_SCALAR} MCSE{of_arrays}"),
        format!("{failures} of {} beyond; worst: {}", comparison.deviations.len(), worst.join(", ")),
        (failures > 0).then_some(advice),
    )
}

/// Returns the row that judges whether the data equal NumPy's.
fn data_row(prd: &Prd, stages: &Stages) -> VerdictRow {
    let sha256 = &stages.problem.data().sha256;
    let value = format!("SHA-256 {}...", &sha256[..16.min(sha256.len())]);
    let advice = "the generator of this build is not NumPy's: report it with the machine's name";
    let bad = prd.is_numpys == Some(false);
    let mut row = row("Q.4", "Data equal NumPy's", "bit for bit".into(), value, bad.then_some(advice));
    if prd.is_numpys.is_none() {
        row.status = Status::Skipped { reason: "NumPy's hash is known for 100, 500 and 1000 groups only".into() };
    }
    row
}

/// Returns the row of the configuration that the PRD's words ask for. Where it does not converge, that is a warning: the
/// run of the report has another.
fn literal_row(stages: &Stages) -> Option<VerdictRow> {
    let run = stages.benchmark.as_ref().ok()?.literal()?;
    let quality = &run.quality;
    let value = format!(
        "{} chains: max R-hat {:.4}, min bulk ESS {:.0}, min tail ESS {:.0}",
        run.run.chains, quality.max_rhat, quality.min_ess_bulk, quality.min_ess_tail
    );
    let threshold = format!("R-hat < {}, bulk and tail ESS > {}", limits::RHAT, limits::ESS);
    let why = "the default differs because of this: with ten observations in each group, mu_pop and all z are strongly \
               correlated, which a diagonal metric cannot see; docs/decisions/01-centering.md says what is done instead";
    let mut row = row("Q.5", "The PRD's words: non-centered, diagonal metric", threshold, value, None);
    if !quality.converged() {
        row.status = Status::Warn;
        row.advice = Some(why.into());
    }
    Some(row)
}

/// Returns a row of a criterion that is not the PRD's; the row fails when there is advice.
fn row(id: &str, criterion: &str, threshold: String, value: String, advice: Option<&str>) -> VerdictRow {
    VerdictRow {
        id: id.to_owned(),
        priority: "Q".to_owned(),
        criterion: criterion.to_owned(),
        threshold,
        value,
        status: if advice.is_some() { Status::Fail } else { Status::Pass },
        advice: advice.map(str::to_owned),
        wants_gpu: false,
    }
}
