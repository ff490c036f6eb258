//! The time from the start of a process to its first draw, with and without kernels that the driver has compiled
//! before.

use super::super::{context, of_cuda};
use super::model::model;
use crate::error::BenchError;
use octopus_device::DeviceIdentity;
use octopus_models::Likelihood;
use octopus_runs::RunError;
use octopus_sampler::{Backend, Begin, GpuConfig, Precision, Sampler, SamplerConfig};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The plan of a process to start.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartPlan {
    groups: usize,
    precision: Precision,
    /// Whether the process starts without the driver's cache of compiled kernels.
    cold: bool,
}

/// The times of a start, in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) groups: usize,
    pub(crate) precision: Precision,
    pub(crate) cold: bool,
    /// The time from the start of the process until it reported its first draw, including everything.
    pub(crate) process_to_first_draw: f64,
    pub(crate) phases: Phases,
}

/// The times of the parts, as the process itself has measured them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Phases {
    /// The time to load the driver and identify the device.
    pub(crate) driver: f64,
    /// The time to make the context on the device.
    pub(crate) context: f64,
    /// The time to make the first sampler: the module, which the driver compiles or finds in its cache, buffers, and
    /// starting points.
    pub(crate) first_sampler: f64,
    /// The time of one iteration of one chain.
    pub(crate) first_draw: f64,
}

impl Start {
    /// Returns in a word whether the driver had compiled the kernels before.
    pub(crate) fn word(&self) -> &'static str {
        word(self.cold)
    }
}

fn word(cold: bool) -> &'static str {
    if cold { "cold" } else { "warm" }
}

impl StartPlan {
    /// Returns two plans: without the driver's cache, then with it.
    pub(super) fn both(groups: usize, precision: Precision) -> [Self; 2] {
        [true, false].map(|cold| Self { groups, precision, cold })
    }

    pub(super) fn name(&self) -> String {
        format!("{} start, {} groups, {}", word(self.cold), self.groups, self.precision)
    }

    /// # Errors
    /// When the process fails.
    pub(super) fn measure(&self, starting: &dyn Fn(&str) -> io::Result<Command>) -> Result<Start, BenchError> {
        if !self.cold {
            // Fills the cache.
            self.process(starting)?;
        }
        let (process_to_first_draw, phases) = self.process(starting).map_err(|error| error.at(self.name()))?;
        let Self { groups, precision, cold } = *self;
        Ok(Start { groups, precision, cold, process_to_first_draw, phases })
    }

    fn process(&self, starting: &dyn Fn(&str) -> io::Result<Command>) -> Result<(f64, Phases), BenchError> {
        let program = |what: &'static str| move |source| BenchError::Io { what: what.into(), source };
        let mut command = starting(&format!("{}:{}", self.groups, self.precision))
            .map_err(program("this program does not know its own file"))?;
        command.env("CUDA_CACHE_DISABLE", if self.cold { "1" } else { "0" }).stdout(Stdio::piped());
        let clock = Instant::now();
        let mut child = command.spawn().map_err(program("cannot start this program again"))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or(BenchError::Nothing("the process has no output"))?)
            .read_line(&mut line)?;
        let seconds = clock.elapsed().as_secs_f64();
        let status = child.wait()?;
        if !status.success() {
            return Err(BenchError::Ended(status));
        }
        Ok((seconds, serde_json::from_str(&line).map_err(BenchError::json(|| format!("the process told {line:?}")))?))
    }
}

/// Draws once and writes the times to `out` as a line of JSON; `what` is `GROUPS:PRECISION`.
///
/// # Errors
/// When there is no such device, it fails, or `what` is of another form.
pub fn first_draw(device: u32, what: &str, out: &mut dyn Write) -> Result<(), BenchError> {
    let usage = || RunError::CannotRun(format!("{what} is not of the form GROUPS:PRECISION"));
    let (groups, precision) = what.split_once(':').ok_or_else(usage)?;
    let groups = groups.parse().map_err(|_| usage())?;
    let precision: Precision = precision.parse().map_err(|_| usage())?;
    let mut clock = Instant::now();
    let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
    DeviceIdentity::read(device).map_err(of_cuda)?;
    let driver = lap();
    let context = context(device)?;
    let in_context = lap();
    let model = model(groups, Likelihood::Collapsed)?;
    let config = SamplerConfig { draws: 1, tune: 0, chains: 1, precision, seed: 42, ..SamplerConfig::default() };
    let mut sampler = Sampler::begin(&model, Begin::Anew(config), Backend::gpu(&context, &GpuConfig::default()))?;
    let first_sampler = lap();
    sampler.advance(1)?;
    let phases = Phases { driver, context: in_context, first_sampler, first_draw: lap() };
    writeln!(out, "{}", serde_json::to_string(&phases)?)?;
    Ok(out.flush()?)
}
