//! What `run-acceptance.sh` of the acceptance bundle has left, judged: `octopus device accept`.
//!
//! Here stand the steps that must have passed for acceptance, and those whose failure is only noted.

mod many;
mod ncu;
mod report;
mod results;
mod sampler;
mod tables;

use crate::error::BenchError;
use crate::{exact, runs};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_sampler::Precision;
use results::{Results, Step};
pub(crate) use sampler::text as of_sampler;
use std::fmt;
use std::path::{Path, PathBuf};

/// Steps without which there is no acceptance: skipped is as bad as failed.
const NEEDED: [&str; 5] = ["machine", "verify", "exact", "exact_runs", "sampler"];
/// Steps whose failure says something of the machine or of the speed, not of what is computed: it stands in the
/// report. `sampler` is judged by the figures that it has left.
const NOTED: [&str; 7] = ["validate", "ncu_sampler", "numpyro_f32", "numpyro_f64", "costs", "sampler", "sampler_again"];

/// What the results of a machine say.
pub struct Acceptance {
    /// The device as it names itself.
    device: String,
    /// Whether it is the software GPU.
    double: bool,
    results: Results,
    /// Why this is no acceptance; none when it is.
    objections: Vec<String>,
    /// The report, made for a double, too: one that cannot be made is found in a rehearsal, not on the day.
    pages: Vec<(&'static str, String)>,
}

impl fmt::Display for Acceptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [words, number] = [TextColumn::left(""), TextColumn::right("")];
        let cells =
            |step: &Step| [step.status.clone(), step.step.clone(), format!("{} s", step.seconds), step.reason.clone()];
        let rows: Vec<_> = self.results.steps.iter().map(cells).collect();
        f.write_str(&text_table(&[words, words, number, words], &rows, TableLook::default()))?;
        self.objections.iter().try_for_each(|objection| writeln!(f, "accept: {objection}"))
    }
}

impl Acceptance {
    /// Returns the name of the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns whether there is no objection.
    pub fn accepted(&self) -> bool {
        self.objections.is_empty()
    }

    /// Writes the machine's report into a folder below `reports`, and returns that folder.
    ///
    /// # Errors
    /// [`BenchError::NoGpu`] for results of the software GPU; when a file cannot be read or written.
    pub fn write_report(&self, reports: &Path) -> Result<PathBuf, BenchError> {
        if self.double {
            return Err(BenchError::NoGpu(self.device.clone()));
        }
        let folder = reports.join(machine_name(&self.device));
        report::write(self, &folder)?;
        Ok(folder)
    }
}

/// Judges the results in `folder`.
///
/// # Errors
/// When a file of the results is missing or is not what it should be.
pub fn judge(folder: &Path) -> Result<Acceptance, BenchError> {
    let results = Results::read(folder)?;
    let mut objections = steps(&results);
    let Results { exact, manifest, runs, sampler, .. } = &results;
    if exact.ptx_sha256 != manifest.ptx_sha256 {
        objections.push("exact: the binary's PTX is not the bundle's".into());
    }
    match sampler {
        Some(sampler) => objections.extend(sampler::objections(sampler)),
        None => objections.push("sampler: it has left no figures".into()),
    }
    objections.extend(kernels(exact));
    match runs {
        Some(runs) => objections.extend(whole_runs(runs)),
        None => objections.push("exact_runs: it has left no results".into()),
    }
    let device = exact.device.name.clone();
    let devices = [Some(&exact.device), runs.as_ref().map(|runs| &runs.device), sampler.as_ref().map(|s| &s.device)];
    // One double among them is enough.
    let double = devices.into_iter().flatten().any(|own| own.test_double || own.name != device);
    let pages = report::pages(&results, &device);
    Ok(Acceptance { device, double, results, objections, pages })
}

fn steps(results: &Results) -> Vec<String> {
    let steps = &results.steps;
    let failed = steps.iter().filter(|step| step.status == "FAIL");
    // A tool that had no time to finish has found nothing.
    let failed = failed
        .filter(|step| !(NOTED.contains(&&*step.step) || step.step.starts_with("total") || step.timed_out()))
        .map(|step| format!("step {} failed: {}", step.step, step.reason));
    let needed = NEEDED.into_iter().filter_map(|name| match steps.iter().find(|step| step.step == name) {
        None => Some(format!("step {name} was not run")),
        Some(step) if step.status == "SKIPPED" => Some(format!("step {name} skipped: {}", step.reason)),
        Some(_) => None,
    });
    failed.chain(needed).collect()
}

/// Compared here too: the program's own word would hide a fault in its comparison.
fn kernels(exact: &exact::KernelBits) -> Vec<String> {
    if exact.kernels.is_empty() {
        return vec!["exact: no kernel was run".into()];
    }
    let differs = |row: &&exact::KernelRow| row.hash != row.cpu || row.expected.as_ref() != Some(&row.hash);
    let tell = |row: &exact::KernelRow| {
        let exact::KernelRow { name, hash, cpu, expected, .. } = row;
        let expected = expected.as_deref().unwrap_or("nothing");
        format!("exact: {name} gives {hash}, the CPU {cpu}, recorded is {expected}")
    };
    exact.kernels.iter().filter(differs).map(tell).collect()
}

/// Every run as recorded; in f64 as the CPU's, too.
fn whole_runs(exact: &runs::RunBits) -> Vec<String> {
    let runs = &exact.runs;
    let without = Precision::ALL.into_iter().filter(|precision| !runs.iter().any(|run| run.precision == *precision));
    let mut objections: Vec<String> = without.map(|precision| format!("exact_runs: no run in {precision}")).collect();
    if !runs.iter().any(|run| run.name.starts_with("batch-")) {
        objections.push("exact_runs: nothing that is called batch-...".into());
    }
    objections.extend(exact.problems.iter().map(|problem| format!("exact_runs: {problem}")));
    for run in runs {
        let cpu = (run.precision == Precision::F64).then_some(&run.hash);
        if run.expected.as_ref() != Some(&run.hash) || run.cpu.as_ref() != cpu {
            let why = run.difference.as_deref().unwrap_or("its hash is not the one recorded");
            objections.push(format!("exact_runs: {} differs: {why}", run.name));
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
