//! The results of all measurements, in the form that JSON has.

use super::batch::Batch;
use super::cell::Cell;
use super::goal::Goal;
use super::launch::LaunchCost;
use super::machine::Machine;
use super::ratios::{BreakEven, Ratio, break_even, ratios};
use super::start::Start;
use super::team::TeamCost;
use octopus_device::DeviceIdentity;
use serde::Serialize;
use std::fmt;

/// The results of all measurements; times are in seconds, sizes in bytes.
#[derive(Debug, Serialize)]
pub struct Answer {
    schema: u32,
    pub(super) device: DeviceIdentity,
    /// Whether the device is the software GPU of the tests: then these are no measurements of a GPU.
    pub(super) test_double: bool,
    pub(super) machine: Machine,
    /// The seconds after which no measurement was begun.
    seconds_allowed: u64,
    pub(super) seconds: f64,
    /// Whether all planned measurements were made.
    pub(super) complete: bool,
    pub(super) not_measured: Vec<String>,
    pub(super) starts: Vec<Start>,
    pub(super) launches: Vec<LaunchCost>,
    /// The times of the shortest runs to a number of effective draws.
    pub(super) goals: Vec<Goal>,
    /// The times of many data sets at once.
    pub(super) batches: Vec<Batch>,
    pub(super) teams: Vec<TeamCost>,
    pub(super) cells: Vec<Cell>,
    /// The numbers of chains from which on the GPU does more leapfrogs a second than all cores.
    pub(super) break_even: Vec<BreakEven>,
    pub(super) ratios: Vec<Ratio>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::text::text(self))
    }
}

impl Answer {
    pub(super) fn new(device: DeviceIdentity, seconds_allowed: u64) -> Self {
        Self {
            schema: 2,
            test_double: device.test_double,
            machine: Machine::read(&device),
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
