//! The facts in the report about data, model, settings, machine and chains.
//!
//! The words for what is not known of a machine, e.g. of its processor, are made here.

use crate::error::Phase0Error;
use crate::options::Phase0Options;
use crate::stages::Stages;
use octopus_device::{HostInfo, kernels_fingerprint};
use octopus_report::{Convergence, DataFacts, Machine, ModelFacts};
use octopus_trace::Dataset;

/// Returns the facts about the data.
pub(super) fn data(stages: &Stages) -> DataFacts {
    let data = stages.problem.data();
    let group_sizes = stages.problem.effects().map(|effects| {
        let sizes = || (0..effects.data.groups()).map(|j| effects.data.group(j).len());
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    });
    DataFacts {
        source: data.source.clone(),
        groups: data.groups,
        observations: data.observations,
        group_sizes,
        sha256: data.sha256.clone(),
    }
}

/// Returns the facts about the model.
pub(super) fn model(stages: &Stages) -> ModelFacts {
    let problem = stages.problem;
    ModelFacts {
        name: problem.density().name().to_owned(),
        statements: problem.statements(),
        likelihood: problem.likelihood().map(str::to_owned),
        dimension: problem.density().dim(),
    }
}

/// Returns the sampler's settings by name, as in `run.toml`.
///
/// # Errors
/// When the settings cannot be written as JSON.
pub(super) fn settings(options: &Phase0Options<'_>) -> Result<Vec<(String, serde_json::Value)>, Phase0Error> {
    let value = serde_json::to_value(options.sampler())?;
    let map = value.as_object().ok_or(Phase0Error::NoSettings)?;
    Ok(map.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Returns the facts about the machine.
pub(super) fn machine(stages: &Stages) -> Machine {
    let host = &stages.machine.host;
    let kernel = host.kernel.as_ref().map(|kernel| format!(", kernel {kernel}")).unwrap_or_default();
    Machine {
        cpu: format!("{} ({})", host.cpu.as_deref().unwrap_or("unknown"), host.simd.join(" ")),
        cores: host.threads,
        memory_bytes: host.memory_total.unwrap_or(0),
        os: format!("{}, {}{kernel}", host.os, host.architecture),
        host_peak_bytes: HostInfo::peak_memory(),
        gpu: stages.machine.gpu(),
        gpu_facts: stages.machine.gpu_facts(),
    }
}

/// Returns the versions of what made the report: this program, its source, its compiler and its kernels.
pub fn versions() -> Vec<(String, String)> {
    let mut versions = vec![("octopus", env!("CARGO_PKG_VERSION").to_owned())];
    versions.push(("commit", env!("OCTOPUS_COMMIT").to_owned()));
    versions.push(("rustc", env!("OCTOPUS_RUSTC").to_owned()));
    versions.push(("kernels", kernels_fingerprint()));
    versions.into_iter().map(|(name, version)| (name.to_owned(), version)).collect()
}

/// Returns the facts about the chains: their settings, divergences, step sizes and acceptance rates.
pub(super) fn convergence(stages: &Stages, stats: Option<&Dataset>) -> Convergence {
    let record = &stages.sampled.record;
    let means = |name: &str| per_chain(stats, name, |values| values.iter().sum::<f64>() / values.len() as f64);
    Convergence {
        chains: record.sampler.chains,
        draws: record.sampler.draws,
        tune: record.sampler.tune,
        divergences: stages.diagnosis.divergences.unwrap_or(0),
        max_depth_hits: stages.diagnosis.reached_max_treedepth.unwrap_or(0),
        bfmi: stages.diagnosis.bfmi.clone(),
        step_size: means("step_size"),
        acceptance_rate: means("acceptance_rate"),
        n_steps: means("n_steps"),
    }
}

fn per_chain(stats: Option<&Dataset>, name: &str, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let Some(array) = stats.and_then(|stats| stats.get(name)) else { return Vec::new() };
    array.values.to_f64().chunks_exact(array.draws().max(1)).map(f).collect()
}
