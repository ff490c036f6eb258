//! `octopus sample --dry-run` tells what memory a run would take, and samples nothing.

use crate::args::{Global, SampleArgs};
use crate::config::RunConfig;
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use octopus::model_record;
use octopus_device::{Device, DeviceMemory, HostInfo, MemoryPlan, SystemProvider, verify};
use octopus_diag::counted;
use octopus_models::Problem;
use octopus_runs::{DeviceDecision, Goal, PreparedRun, RunCost, bytes_on_disk, check_disk, free_space};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// A GPU on which the run could be.
#[derive(Debug, Serialize)]
struct CandidateGpu {
    /// The device's label.
    place: String,
    /// Whether the GPU is the software GPU of the tests.
    test_double: bool,
    /// The memory that the run takes there; `None` where there is no plan.
    plan: Option<MemoryPlan>,
    /// The reason why there is no plan.
    refusal: Option<String>,
}

/// Prints the plans of a run; samples nothing and writes nothing. Returns whether the run would fit.
///
/// # Errors
/// When stdout cannot be written.
pub(super) fn run(
    args: &SampleArgs,
    config: &RunConfig,
    problem: &dyn Problem,
    prepared: &PreparedRun,
    global: Global,
) -> Result<Exit> {
    let PreparedRun { cost, device, pool, .. } = prepared;
    let (gpu_memory, out) = (args.machine.gpu_memory, args.out.as_deref());
    let report = verify(&SystemProvider::new());
    let mut places = Vec::new();
    for info in &report.devices {
        let (Some(total), Some(free)) = (info.memory_total, info.memory_free) else { continue };
        let mut memory = DeviceMemory { free: free.min(total), total };
        // What the user allows is for the run alone: the reserve is beside it.
        memory.free = memory.free.min(gpu_memory.unwrap_or(u64::MAX).saturating_add(memory.reserve()));
        let (plan, refusal) = (cost.memory_plan(memory), cost.no_gpu.clone());
        places.push(CandidateGpu { place: info.label(), test_double: info.is_test_double(), plan, refusal });
    }
    let host = HostInfo::read();
    let draws = bytes_on_disk(problem.density(), &config.sampler, config.keep_warmup);
    let disk = out.and_then(free_space);
    let problems = problems(config, cost, device, host.memory_available, out.map(|out| (out, draws)));
    if global.json {
        output::print_json(&json!({
            "schema": 2, "dry_run": true, "device": device.name(), "device_reason": device.reason(),
            "data": problem.data(), "model": model_record(problem), "sampler": config.sampler, "goal": config.goal,
            "init": config.init,
            "keep_warmup": config.keep_warmup, "checkpoint_every": args.checkpoint_every, "threads": pool.current_num_threads(),
            "draws_bytes": draws, "disk_free": disk,
            "host": { "total": host.memory_total, "available": host.memory_available, "least_needed": cost.host_bytes }, "places": places,
            "fits": problems.is_empty(), "problems": problems,
        }))?;
        return Ok(ending(&problems));
    }
    let sampler = &config.sampler;
    let mut text = format!(
        "dry run: nothing is sampled\ndevice: {} ({})\n{} of {} coordinates in {}; {} of draws, written to the disk as \
         they are made{}\n",
        device.name(),
        device.reason(),
        counted(sampler.chains, "chain"),
        problem.density().dim(),
        sampler.precision,
        mebibytes(draws),
        disk.map_or_else(String::new, |free| format!(", where {} are free", mebibytes(free))),
    );
    if let (Some(total), Some(available)) = (host.memory_total, host.memory_available) {
        let needed = mebibytes(cost.host_bytes);
        text +=
            &format!("\non cpu: at least {needed}, of {} available of {}\n", mebibytes(available), mebibytes(total));
    }
    for CandidateGpu { place, plan, refusal, .. } in &places {
        let plan = plan.as_ref().map(|plan| format!("\n{plan}"));
        text += &format!("\non {place}: {}\n", plan.or_else(|| refusal.clone()).unwrap_or_default());
    }
    if report.devices.is_empty() {
        text += &format!("\nno GPU: {}\n", report.summary);
    }
    for problem in &problems {
        text += &format!("\nthe run does not fit: {problem}\n");
    }
    output::print(&text)?;
    Ok(ending(&problems))
}

/// A run that does not fit would fail.
fn ending(problems: &[String]) -> Exit {
    if problems.is_empty() { Exit::Fine } else { Exit::Failed }
}

/// Returns why the run would fail: for want of memory where it would be, or of room on the disk. `draws` are the folder
/// and the bytes that go there; a run that ends at its goal may make fewer.
fn problems(
    config: &RunConfig,
    cost: &RunCost,
    device: &DeviceDecision,
    available: Option<u64>,
    draws: Option<(&Path, u64)>,
) -> Vec<String> {
    let on_host = cost.host_memory().fits(available).err().map(|error| error.to_string());
    let on_gpus = device.out_of_memory(cost);
    let mut problems = match device.device {
        Device::Cpu => on_host.into_iter().collect(),
        // Where no GPU has room, the CPU takes the run.
        Device::Cuda(_) if device.falls_back && on_host.is_none() => Vec::new(),
        Device::Cuda(_) => on_gpus,
    };
    let on_disk = draws.filter(|_| config.goal == Goal::default()).map(|(out, bytes)| check_disk(out, bytes));
    problems.extend(on_disk.and_then(Result::err).map(|error| error.to_string()));
    problems
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_mebibyte_counts_as_one() {
        assert_eq!([0, 1, 1 << 20, (1 << 20) + 1].map(mebibytes), ["0 MiB", "1 MiB", "1 MiB", "2 MiB"]);
    }
}
