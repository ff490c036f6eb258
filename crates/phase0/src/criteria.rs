//! The verdict of phase 0 on what the stages found.
//!
//! Its own rows are made here: the exact posterior (Q.3) and NumPy's data (Q.4).

use super::compare::{LIMIT_ELEMENT, LIMIT_SCALAR};
use super::gpu::OnGpu;
use super::plots::summary_rows;
use super::{Phase0Options, Stages};
use octopus_diag::DEFAULT_PROB;
use octopus_models::Problem;
use octopus_models::exact::Quantity;
use octopus_report::{Deliverable, Evidence, Measured, Status, Verdict, VerdictRow};

/// Judges every criterion.
pub(super) fn verdict(options: &Phase0Options<'_>, stages: &Stages, deliverables: &[Deliverable]) -> Verdict {
    let mut parameters = summary_rows(stages);
    // The error of array means is in units of y; z has no such unit and would blur the error, so it is left out.
    parameters.iter_mut().filter(|row| row.name.starts_with("z[")).for_each(|row| row.truth = None);
    let exact = |name: &str| {
        let interval = stages.comparison.exact.hdi(Quantity::named(name, 0)?, DEFAULT_PROB);
        Some((name.to_owned(), (interval.low, interval.high)))
    };
    let exact_hdi89: Vec<(String, (f64, f64))> =
        ["mu_pop", "sigma_pop", "sigma_obs"].into_iter().filter_map(exact).collect();
    let strategies: Vec<String> = stages.benchmark.strategies.iter().take(3).map(|m| m.run.setting.clone()).collect();
    let evidence = Evidence {
        require_gpu: options.require_gpu,
        gpu: stages.machine.gpu(),
        test_double: stages.gpu.as_ref().is_ok_and(|gpu| gpu.test_double),
        gpu_run: of_gpu(stages, |gpu| Measured::Value(gpu.run.clone())),
        parameters: &parameters,
        divergences: stages.diagnosis.divergences.unwrap_or(0),
        speedup: stages.benchmark.whole_device(),
        deliverables,
        gpu_memory: of_gpu(stages, |gpu| gpu.memory.clone()),
        posterior_match: of_gpu(stages, |gpu| gpu.posterior.clone()),
        timing_variation: timing_variation(options, stages),
        strategies: &strategies,
        samplers: &[],
        dashboard: deliverables.iter().any(|d| d.name == "index.html" && d.made),
        exact_hdi89: &exact_hdi89,
        predictive: &stages.predicted.statistics,
    };
    let mut rows = evidence.verdict().rows;
    rows.push(exact_row(stages));
    rows.push(data_row(stages));
    Verdict::new(rows, options.require_gpu)
}

/// Returns what `found` takes from the run on the GPU, or the reason why there was no such run.
fn of_gpu<T>(stages: &Stages, found: impl FnOnce(&OnGpu) -> Measured<T>) -> Measured<T> {
    match &stages.gpu {
        Ok(gpu) => found(gpu),
        Err(reason) => Measured::missing(reason.clone()),
    }
}

fn timing_variation(options: &Phase0Options<'_>, stages: &Stages) -> Measured<f64> {
    if options.quick {
        return Measured::missing("two short repeats tell nothing: run without --quick");
    }
    match stages.benchmark.worst_variation() {
        Some(variation) => Measured::Value(variation),
        None => Measured::missing("nothing was timed twice"),
    }
}

/// Returns the row that judges means and standard deviations against the exact posterior.
fn exact_row(stages: &Stages) -> VerdictRow {
    let comparison = &stages.comparison;
    let worst = [LIMIT_SCALAR, LIMIT_ELEMENT].into_iter().filter_map(|limit| comparison.worst(limit));
    let worst: Vec<String> = worst.map(|d| format!("{} of {} off by {:.1} MCSE", d.what, d.name, d.distance)).collect();
    let failures = comparison.failures().count();
    let advice = "either the chains have not converged (see P0.3), or, if they have, the sampler is wrong: report it";
    row(
        "Q.3",
        "Means and sds equal the exact posterior's",
        format!("within {LIMIT_SCALAR} MCSE, {LIMIT_ELEMENT} for z and mu_group"),
        format!("{failures} of {} beyond; worst: {}", comparison.deviations.len(), worst.join(", ")),
        (failures > 0).then_some(advice),
    )
}

/// Returns the row that judges whether the data equal NumPy's.
fn data_row(stages: &Stages) -> VerdictRow {
    let sha256 = &stages.data.problem.data().sha256;
    let value = format!("SHA-256 {}...", &sha256[..16.min(sha256.len())]);
    let advice = "the generator of this build is not NumPy's: report it with the machine's name";
    let bad = stages.data.is_numpys == Some(false);
    let mut row = row("Q.4", "Data equal NumPy's", "bit for bit".into(), value, bad.then_some(advice));
    if stages.data.is_numpys.is_none() {
        row.status = Status::Skipped { reason: "NumPy's hash is known for 100, 500 and 1000 groups only".into() };
    }
    row
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
