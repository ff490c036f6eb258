//! Looks at a device while a run goes on, once a second, on a thread of its own.
//!
//! Short runs are over before the first look, so that they never wait for NVML.

use crate::{DeviceLoad, Provider, SystemProvider, Throttle};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time from the start to the first look.
const FIRST: Duration = Duration::from_millis(250);
/// The time from one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// What a device was doing during a run, by a look a second. A figure is `None` where the device does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// The number of looks.
    pub looks: u32,
    /// Share of the time in which a kernel ran, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization_percent: Option<LoadRange>,
    /// Allocated memory in bytes, of all programs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<LoadRange>,
    /// Clock of the streaming multiprocessors in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<LoadRange>,
    /// Temperature of the chip in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<LoadRange>,
    /// Power draw in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_watts: Option<LoadRange>,
    /// All that held the clocks down at some look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<Throttle>,
}

/// The least, the mean and the most of a figure over all looks that told it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRange {
    /// The least.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: f64,
    /// The number of looks that told it.
    pub looks: u32,
}

impl LoadSummary {
    /// Adds a look.
    fn add(&mut self, load: &DeviceLoad) {
        self.looks += 1;
        let figures = [
            (&mut self.utilization_percent, load.utilization_percent.map(f64::from)),
            (&mut self.memory_used, load.memory_used.map(|bytes| bytes as f64)),
            (&mut self.sm_clock_mhz, load.sm_clock_mhz.map(f64::from)),
            (&mut self.temperature_celsius, load.temperature_celsius.map(f64::from)),
            (&mut self.power_watts, load.power_watts),
        ];
        for (range, value) in figures {
            let Some(value) = value else { continue };
            match range {
                Some(range) => range.add(value),
                None => *range = Some(LoadRange { least: value, mean: value, most: value, looks: 1 }),
            }
        }
        for &reason in load.throttle.iter().flatten() {
            if !self.throttle.contains(&reason) {
                self.throttle.push(reason);
            }
        }
    }
}

impl fmt::Display for LoadSummary {
    /// Figures in one line, e.g. `12 looks: busy 60 to 97 % (mean 81 %), 1800 MHz, 54 to 61 °C`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gibibytes = |range: LoadRange| LoadRange {
            least: range.least / f64::from(1 << 30),
            most: range.most / f64::from(1 << 30),
            ..range
        };
        let figures = [
            self.utilization_percent.map(|range| format!("busy {} % (mean {:.0} %)", range.words(0), range.mean)),
            self.memory_used.map(|range| format!("{} GiB held by all programs", gibibytes(range).words(1))),
            self.sm_clock_mhz.map(|range| format!("{} MHz", range.words(0))),
            self.temperature_celsius.map(|range| format!("{} °C", range.words(0))),
            self.power_watts.map(|range| format!("{} W", range.words(0))),
        ];
        let figures: Vec<String> = figures.into_iter().flatten().collect();
        write!(f, "{} look{}: {}", self.looks, if self.looks == 1 { "" } else { "s" }, figures.join(", "))?;
        let reasons = self.throttle.iter().filter(|&&reason| reason != Throttle::Idle);
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        if reasons.is_empty() { Ok(()) } else { write!(f, "; clocks held down by: {}", reasons.join(", ")) }
    }
}

impl LoadRange {
    /// Returns the least and the most as text, once where they look the same.
    fn words(&self, decimals: usize) -> String {
        let [least, most] = [self.least, self.most].map(|value| format!("{value:.decimals$}"));
        if least == most { least } else { format!("{least} to {most}") }
    }

    fn add(&mut self, value: f64) {
        self.looks += 1;
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        self.mean += (value - self.mean) / f64::from(self.looks);
    }
}

/// A thread that looks at a device until it is dropped.
#[derive(Debug)]
pub(super) struct LoadWatch {
    summary: Arc<Mutex<LoadSummary>>,
    /// Its end tells the thread to end.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LoadWatch {
    /// Begins to look at the device with this UUID. A system that has no thread left looks at nothing.
    pub(super) fn start(uuid: String) -> Self {
        let (alive, end) = channel::<()>();
        let summary = Arc::new(Mutex::new(LoadSummary::default()));
        let kept = Arc::clone(&summary);
        let watch = move || {
            let provider = SystemProvider::new();
            let mut wait = FIRST;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                // Without NVML there is nothing to look at.
                let Ok(facts) = provider.nvml() else { break };
                let own = |found: &&crate::DeviceInfo| {
                    found.uuid.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(&uuid))
                };
                let Some(info) = facts.devices.iter().find(own) else { break };
                kept.lock().unwrap_or_else(PoisonError::into_inner).add(&DeviceLoad::of(info));
                wait = EVERY;
            }
        };
        let thread = std::thread::Builder::new().name("device-watch".into()).spawn(watch).ok();
        Self { summary, alive: Some(alive), thread }
    }

    /// Returns what was seen so far.
    pub(super) fn summary(&self) -> LoadSummary {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for LoadWatch {
    /// Waits for a look that has begun: a driver library must not be in use when the program ends.
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_summed_up() {
        let mut summary = LoadSummary::default();
        let look = |busy, watts, throttle: &[Throttle]| DeviceLoad {
            utilization_percent: busy,
            power_watts: watts,
            memory_used: Some(1 << 30),
            sm_clock_mhz: Some(1800),
            temperature_celsius: Some(60),
            throttle: Some(throttle.to_vec()),
            ..DeviceLoad::default()
        };
        summary.add(&look(Some(90), Some(250.0), &[Throttle::Idle]));
        summary.add(&look(None, Some(300.0), &[Throttle::PowerCap, Throttle::Idle]));
        summary.add(&look(Some(60), Some(200.0), &[]));
        let range = |least, mean, most, looks| Some(LoadRange { least, mean, most, looks });
        let expected = LoadSummary {
            looks: 3,
            utilization_percent: range(60.0, 75.0, 90.0, 2),
            memory_used: range(1_073_741_824.0, 1_073_741_824.0, 1_073_741_824.0, 3),
            sm_clock_mhz: range(1800.0, 1800.0, 1800.0, 3),
            temperature_celsius: range(60.0, 60.0, 60.0, 3),
            power_watts: range(200.0, 250.0, 300.0, 3),
            throttle: vec![Throttle::Idle, Throttle::PowerCap],
        };
        assert_eq!(summary, expected);
        assert_eq!(
            summary.to_string(),
            "3 looks: busy 60 to 90 % (mean 75 %), 1.0 GiB held by all programs, 1800 MHz, 60 °C, 200 to 300 W; clocks \
             held down by: power limit"
        );
        let one = LoadSummary { looks: 1, sm_clock_mhz: summary.sm_clock_mhz, ..LoadSummary::default() };
        assert_eq!(one.to_string(), "1 look: 1800 MHz");
    }

    #[test]
    fn a_watch_that_ends_at_once_has_seen_nothing_and_does_not_wait() {
        let clock = std::time::Instant::now();
        let watch = LoadWatch::start("GPU-0".into());
        assert_eq!(watch.summary(), LoadSummary::default());
        drop(watch);
        assert!(clock.elapsed() < FIRST);
    }
}
