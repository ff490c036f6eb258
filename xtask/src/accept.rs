//! `cargo xtask accept`: judges the results of `run-acceptance.sh` and makes a machine's report of them.

mod many;
mod ncu;
mod report;
mod results;
mod sampler;
mod tables;

use crate::run::Outcome;
use anyhow::{Result, bail};
use results::{Step, json, optional_json, steps};
use serde_json::Value;
use std::path::Path;

/// Steps without which there is no acceptance: skipped is as bad as failed.
const NEEDED: [&str; 5] = ["machine", "verify", "exact", "exact_runs", "sampler"];
/// Steps whose failure says something of the machine or of the speed, not of what is computed: it stands in the
/// report. `sampler` is judged by the figures that it has left.
const NOTED: [&str; 7] =
    ["validate", "ncu_sampler", "numpyro_f32", "numpyro_f64", "calibrate", "sampler", "sampler_again"];

/// What the results say.
struct Judgement {
    /// The device as it names itself.
    device: String,
    /// Whether it is the software GPU.
    double: bool,
    steps: Vec<Step>,
    /// Why this is no acceptance; none when it is.
    objections: Vec<String>,
}

/// What to do with the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A report below `reports/`, of a GPU only.
    Report,
    /// No report: the results are of the software GPU, or are only looked at.
    Rehearsal,
}

/// Judges the results in `folder` and, when they are a GPU's and all is well, writes `reports/<machine>/`.
///
/// # Errors
/// When a file of the results is missing or is not what it should be.
pub(crate) fn run(root: &Path, folder: &Path, purpose: Purpose) -> Result<Outcome> {
    let judgement = judge(folder)?;
    for step in &judgement.steps {
        eprintln!("xtask: {:<8} {:<14} {:>4} s  {}", step.status, step.step, step.seconds, step.reason);
    }
    for objection in &judgement.objections {
        eprintln!("xtask: accept: {objection}");
    }
    if !judgement.objections.is_empty() {
        return Ok(Outcome::Failed(1));
    }
    if purpose == Purpose::Rehearsal {
        // Made and thrown away: a report that cannot be made is found here, not on the day.
        sampler::report(folder, &judgement.device)?;
        eprintln!("xtask: accept: all is well on {}; a rehearsal makes no report", judgement.device);
        return Ok(Outcome::Passed);
    }
    if judgement.double {
        bail!("the results are of {}: no report may present it as a GPU", judgement.device);
    }
    let report = root.join("reports").join(machine_name(&judgement.device));
    report::write(folder, &report, &judgement)?;
    println!("{}", report.display());
    Ok(Outcome::Passed)
}

fn judge(folder: &Path) -> Result<Judgement> {
    let steps = steps(folder)?;
    let mut objections = Vec::new();
    for step in steps.iter().filter(|step| step.status == "FAIL") {
        // A tool that had no time to finish has found nothing.
        if !(NOTED.contains(&step.step.as_str()) || step.step.starts_with("total") || step.timed_out()) {
            objections.push(format!("step {} failed: {}", step.step, step.reason));
        }
    }
    for name in NEEDED {
        match steps.iter().find(|step| step.step == name) {
            None => objections.push(format!("step {name} was not run")),
            Some(step) if step.status == "SKIPPED" => objections.push(format!("step {name} skipped: {}", step.reason)),
            Some(_) => {}
        }
    }
    let exact = json(folder, "exact.out")?;
    let manifest = json(folder, "manifest.json")?;
    let runs = optional_json(folder, "exact_runs.out");
    let device = exact.pointer("/device/name").and_then(Value::as_str).unwrap_or("unknown device").to_owned();
    if exact.get("ptx_sha256") != manifest.get("ptx_sha256") {
        objections.push("exact: the binary's PTX is not the bundle's".into());
    }
    let sampler = optional_json(folder, "sampler.json");
    match &sampler {
        Some(sampler) => objections.extend(sampler::objections(sampler)),
        None => objections.push("sampler: it has left no figures".into()),
    }
    // One double among them is enough, and so is one that does not say what it is.
    let double = [Some(&exact), runs.as_ref(), sampler.as_ref()].into_iter().flatten().any(|file| {
        file.pointer("/device/test_double").and_then(Value::as_bool).unwrap_or(true)
            || file.pointer("/device/name").and_then(Value::as_str) != Some(&device)
    });
    objections.extend(kernels(&exact));
    match &runs {
        Some(runs) => objections.extend(whole_runs(runs)),
        None => objections.push("exact_runs: it has left no results".into()),
    }
    Ok(Judgement { device, double, steps, objections })
}

fn rows<'a>(file: &'a Value, name: &str) -> &'a [Value] {
    file.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Compared here too: the program's own word would hide a fault in its comparison.
fn kernels(exact: &Value) -> Vec<String> {
    let kernels = rows(exact, "kernels");
    if kernels.is_empty() {
        return vec!["exact: no kernel was run".into()];
    }
    let judge = |kernel: &Value| {
        let field = |name: &str| kernel.get(name).and_then(Value::as_str);
        let (hash, cpu, expected) = (field("hash"), field("cpu"), field("expected"));
        let equal = hash.is_some() && hash == cpu && hash == expected;
        (!equal).then(|| {
            format!(
                "exact: {} gives {}, the CPU {}, recorded is {}",
                field("name").unwrap_or("unnamed kernel"),
                hash.unwrap_or("nothing"),
                cpu.unwrap_or("nothing"),
                expected.unwrap_or("nothing")
            )
        })
    };
    kernels.iter().filter_map(judge).collect()
}

/// Every run and expansion as recorded; in f64 as the CPU's, too.
fn whole_runs(exact: &Value) -> Vec<String> {
    let runs = rows(exact, "runs");
    let is = |run: &Value, precision: &str| run.get("precision").and_then(Value::as_str) == Some(precision);
    let mut objections: Vec<String> = ["f64", "f32", "mixed"]
        .into_iter()
        .filter(|precision| !runs.iter().any(|run| is(run, precision)))
        .map(|precision| format!("exact_runs: no run in {precision}"))
        .collect();
    let begins =
        |run: &Value, what: &str| run.get("name").and_then(Value::as_str).is_some_and(|name| name.starts_with(what));
    let missing =
        ["expand-", "predict-", "batch-"].into_iter().filter(|what| !runs.iter().any(|run| begins(run, what)));
    objections.extend(missing.map(|what| format!("exact_runs: nothing that is called {what}...")));
    for problem in rows(exact, "problems") {
        objections.push(format!("exact_runs: {problem}"));
    }
    for run in runs {
        let field = |name: &str| run.get(name).and_then(Value::as_str);
        let (hash, cpu, expected) = (field("hash"), field("cpu"), field("expected"));
        let as_cpu = if field("precision") == Some("f64") { hash == cpu } else { cpu.is_none() };
        if hash.is_none() || hash != expected || !as_cpu {
            objections.push(format!(
                "exact_runs: {} differs: {}",
                field("name").unwrap_or("unnamed run"),
                field("difference").unwrap_or("its hash is not the one recorded")
            ));
        }
    }
    objections
}

/// `NVIDIA H200` is `h200`, `NVIDIA RTX A6000` is `rtx-a6000`.
fn machine_name(device: &str) -> String {
    let words = device.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| word != "nvidia").collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests;
