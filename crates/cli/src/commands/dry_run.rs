//! `octopus sample --dry-run`: what a run would take, and nothing more.

use crate::args::Global;
use crate::config::RunConfig;
use crate::device::Sampling;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use anyhow::{Context, Result};
use octopus_density::LogDensity;
use octopus_device::{DeviceMemory, HostInfo, MemoryPlan, Precision, RunShape, SystemProvider, verify};
use serde::Serialize;
use serde_json::json;

/// One place where the run could be.
#[derive(Debug, Serialize)]
struct Place {
    /// `cpu`, or a device's label.
    place: String,
    /// Whether it is the software GPU of the tests.
    test_double: bool,
    plan: MemoryPlan,
}

/// Prints the plans; samples nothing and writes nothing.
///
/// # Errors
/// When a size makes no sense, or stdout cannot be written.
pub(super) fn run(config: &RunConfig, problem: &Problem, device: &Sampling, global: Global) -> Result<Exit> {
    let shape = shape(config, problem);
    let mut places = Vec::new();
    let host = HostInfo::read();
    if let (Some(total), Some(available)) = (host.memory_total, host.memory_available) {
        places.push(place("cpu".into(), false, shape, available.min(total), total)?);
    }
    let report = verify(&SystemProvider::new());
    for info in &report.devices {
        if let (Some(total), Some(free)) = (info.memory_total, info.memory_free) {
            places.push(place(info.label(), info.is_test_double(), shape, free.min(total), total)?);
        }
    }
    if global.json {
        output::print_json(&json!({
            "schema": 1, "dry_run": true, "device": device.name(), "device_reason": device.reason,
            "data": problem.data, "sampler": config.sampler, "places": places,
        }))?;
        return Ok(Exit::Fine);
    }
    let mut text = format!("dry run: nothing is sampled\ndevice: {} ({})\n", device.name(), device.reason);
    for place in &places {
        text += &format!("\non {}: {}\n", place.place, place.plan);
    }
    if report.devices.is_empty() {
        text += &format!("\nno GPU: {}\n", report.summary);
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}

fn shape(config: &RunConfig, problem: &Problem) -> RunShape {
    // For each group the count, mean and sum of squares, and each value once.
    let numbers = problem.data.observations + 3 * problem.data.groups;
    RunShape {
        chains: config.sampler.chains as u64,
        dim: problem.model.dim() as u64,
        max_depth: config.sampler.max_depth.into(),
        precision: Precision::F64,
        data_bytes: (numbers * size_of::<f64>()) as u64,
        ..RunShape::default()
    }
}

fn place(place: String, test_double: bool, shape: RunShape, free: u64, total: u64) -> Result<Place> {
    let plan = MemoryPlan::new(shape, DeviceMemory { free, total }).with_context(|| format!("planning for {place}"))?;
    Ok(Place { place, test_double, plan })
}
