//! `octopus device watch [N]` tells what GPUs are doing, again and again, until Ctrl-C.

use super::list::missing;
use crate::args::{DeviceWatchArgs, Global};
use crate::exit::{Exit, HardwareError, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use anyhow::{Context, Result};
use octopus_device::{DeviceLoad, Provider, SystemProvider, verify};
use octopus_runs::now_utc;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How many looks after one heading; a screen is longer.
const HEADING_EVERY: u64 = 20;

/// A line of `--json`.
#[derive(Serialize)]
struct LoadLine {
    /// The time in UTC, RFC 3339.
    time: String,
    #[serde(flatten)]
    load: DeviceLoad,
}

/// Looks at every device, or at one, and prints a line for each.
///
/// # Errors
/// [`HardwareError`] when there is no device, or none with the number that was given; when stdout cannot be written.
pub(super) fn run(args: &DeviceWatchArgs, global: Global) -> Result<Exit> {
    let every = args.every;
    if !(0.05..=86_400.0).contains(&every) {
        return Err(UsageError(format!("--every {every}: must be from 0.05 to 86400 seconds")).into());
    }
    let (provider, interrupt) = (SystemProvider::new(), Interrupt::listen());
    let look = || {
        let facts = provider.nvml().ok()?;
        let chosen = facts.devices.iter().filter(|device| args.device.is_none_or(|index| device.index == index));
        Some((facts.devices.len(), chosen.map(DeviceLoad::of).collect::<Vec<_>>()))
    };
    let begin = Instant::now();
    for k in 0..args.count.unwrap_or(u64::MAX) {
        // Looks are at fixed times: how long one takes shifts no other.
        let due = begin + Duration::from_secs_f64(every * k as f64);
        while !interrupt.asked() && Instant::now() < due {
            std::thread::sleep((due - Instant::now()).min(Duration::from_millis(50)));
        }
        if interrupt.asked() {
            break;
        }
        let Some((count, loads)) = look() else { return Err(missing(&verify(&provider))) };
        if let (true, Some(index)) = (loads.is_empty(), args.device) {
            let message =
                format!("device {index}: devices 0 to {} are here, see `octopus device list`", count.max(1) - 1);
            return Err(HardwareError(message).into());
        }
        let time = now_utc();
        if !global.json && k % HEADING_EVERY == 0 {
            output::print(&format!("{:20}  {}", "time", DeviceLoad::HEADING))?;
        }
        for load in loads {
            let line = if global.json {
                serde_json::to_string(&LoadLine { time: time.clone(), load })
                    .context("cannot write the result as JSON")?
            } else {
                format!("{time:20}  {load}")
            };
            output::print(&line)?;
        }
    }
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::Registry;

    /// No look at all is asked for, so that nothing is waited for.
    #[test]
    fn looks_are_a_twentieth_of_a_second_to_a_day_apart() {
        let global = Global { json: false, quiet: true, models: Registry::shipped() };
        let with = |every| run(&DeviceWatchArgs { device: None, every, count: Some(0) }, global);
        assert!([0.05, 1.0, 86_400.0].into_iter().all(|every| with(every).is_ok_and(|exit| exit == Exit::Fine)));
        for every in [0.0, 0.049, 86_400.5, -1.0, f64::NAN, f64::INFINITY] {
            assert!(with(every).unwrap_err().is::<UsageError>(), "{every}");
        }
    }
}
