//! The results of all measurements, in the form that JSON has.

use super::batch::Batch;
use super::cell::SamplerCell;
use super::goal::GoalTime;
use super::launch::LaunchCost;
use super::machine::MachineFacts;
use super::ratios::{BreakEven, Ratio, break_even, ratios};
use super::start::Start;
use super::team::TeamCost;
use octopus_device::DeviceIdentity;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The results of all measurements; times are in seconds, sizes in bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct SamplerFigures {
    schema: u32,
    pub(crate) device: DeviceIdentity,
    /// Whether the device is the software GPU of the tests: then these are no measurements of a GPU.
    pub(crate) test_double: bool,
    pub(crate) machine: MachineFacts,
    /// The seconds after which no measurement was begun.
    seconds_allowed: u64,
    pub(crate) seconds: f64,
    /// Whether all planned measurements were made.
    pub(crate) complete: bool,
    pub(crate) not_measured: Vec<String>,
    pub(crate) starts: Vec<Start>,
    pub(crate) launches: Vec<LaunchCost>,
    /// The times of the shortest runs to a number of effective draws.
    pub(crate) goals: Vec<GoalTime>,
    /// The times of many data sets at once.
    pub(crate) batches: Vec<Batch>,
    pub(crate) teams: Vec<TeamCost>,
    pub(crate) cells: Vec<SamplerCell>,
    /// The numbers of chains from which on the GPU does more leapfrogs a second than all cores.
    pub(crate) break_even: Vec<BreakEven>,
    pub(crate) ratios: Vec<Ratio>,
}

impl fmt::Display for SamplerFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::accept::of_sampler(self))
    }
}

impl SamplerFigures {
    pub(super) fn new(device: DeviceIdentity, seconds_allowed: u64) -> Self {
        Self {
            schema: 2,
            test_double: device.test_double,
            machine: MachineFacts::read(&device),
            device: DeviceIdentity { uuid: None, ..device },
            seconds_allowed,
            seconds: 0.0,
            complete: false,
            not_measured: Vec::new(),
            starts: Vec::new(),
            launches: Vec::new(),
            goals: Vec::new(),
            batches: Vec::new(),
            teams: Vec::new(),
            cells: Vec::new(),
            break_even: Vec::new(),
            ratios: Vec::new(),
        }
    }

    /// Computes the figures that follow from the measurements so far.
    pub(super) fn sum_up(&mut self, seconds: f64) {
        self.seconds = seconds;
        self.break_even = break_even(&self.cells);
        self.ratios = ratios(&self.cells);
    }
}
