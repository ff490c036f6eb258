//! How fast the sampler is on a GPU and on all cores of the same host: `octopus device sampler`.
//!
//! The figures of most interest are measured first, and the results so far are written after each measurement.

mod answer;
mod batch;
mod cell;
mod goal;
mod launch;
mod machine;
mod plan;
mod quality;
mod ratios;
mod start;
mod team;
mod text;

pub use answer::Answer;
pub(crate) use cell::{Cell, Where};
pub(crate) use ratios::Side;
pub use start::first_draw;
pub use text::form;

use super::of_cuda;
use crate::error::BenchError;
use answer::null_is_nan;
use anyhow::{Context, Result, bail};
use octopus_density::synthetic::HierarchicalSpec;
use octopus_density::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_device::{CudaContext, Device, DeviceIdentity};
use octopus_files::write_file;
use plan::Plan;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What is measured, and for how long.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The N of cuda:N.
    pub device: u32,
    /// Few and short runs; a test double is never given others.
    pub small: bool,
    /// Nothing is begun after so many seconds.
    pub seconds: u64,
    /// The file to which what there is is written after each measurement.
    pub out: Option<&'a Path>,
    /// A process that calls [`first_draw`] with the device and these words, and writes to stdout.
    pub starting: &'a dyn Fn(&str) -> Result<Command>,
}

/// Measures.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be written.
pub fn run(args: &Options<'_>) -> Result<Answer> {
    let device = DeviceIdentity::read(args.device).map_err(of_cuda)?;
    let plan = if args.small || device.test_double { Plan::small() } else { Plan::full() };
    let Some(context) = Device::Cuda(args.device).context().map_err(of_cuda)? else {
        bail!("cuda:{} has no context", args.device)
    };
    let mut bench = Bench { args, context, begun: Instant::now(), answer: Answer::new(device, args.seconds) };
    bench.measure(&plan)?;
    Ok(bench.answer)
}

/// Makes the model of phase 0 with its data, with this many groups of ten observations.
pub(crate) fn model(groups: usize, likelihood: Likelihood) -> Result<HierarchicalNormal, BenchError> {
    let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
    Ok(HierarchicalNormal::new(spec.generate()?.data, HierarchicalPrior::default(), likelihood)?)
}

/// The measurements under way, with the results so far.
struct Bench<'a> {
    args: &'a Options<'a>,
    context: CudaContext,
    begun: Instant,
    answer: Answer,
}

impl Bench<'_> {
    fn measure(&mut self, plan: &Plan) -> Result<()> {
        for start in &plan.starts {
            if self.in_time(&start.name()) {
                self.answer.starts.push(start.measure(self.args.starting)?);
                self.keep()?;
            }
        }
        for launch in &plan.launches {
            if self.in_time(&launch.name()) {
                let cost = launch.measure(&self.context)?;
                self.answer.launches.push(cost);
                self.keep()?;
            }
        }
        for goal in &plan.goals {
            if self.in_time(&goal.name()) {
                let model = model(goal.groups, Likelihood::Collapsed)?;
                let reached = goal.measure(&model, &self.context)?;
                self.answer.goals.push(reached);
                self.keep()?;
            }
        }
        for batch in &plan.batches {
            if self.in_time(&batch.name()) {
                let cost = batch.measure(&self.context)?;
                self.answer.batches.push(cost);
                self.keep()?;
            }
        }
        for team in &plan.teams {
            if self.in_time(&team.name()) {
                let cost = team.measure(&self.context)?;
                self.answer.teams.push(cost);
                self.keep()?;
            }
        }
        for cell in &plan.cells {
            if self.in_time(&cell.name()) {
                let model = model(cell.groups, cell.likelihood)?;
                let place = match cell.place {
                    Where::Cpu => None,
                    Where::Gpu => Some(&self.context),
                };
                let measured: Cell = cell.measure(&model, place, plan.cell_time)?;
                self.answer.cells.push(measured);
                self.keep()?;
            }
        }
        self.answer.complete = self.answer.not_measured.is_empty();
        self.keep()
    }

    /// Returns whether there is time for one more measurement; if not, notes that `what` was not measured.
    fn in_time(&mut self, what: &str) -> bool {
        let there_is = self.begun.elapsed().as_secs() < self.args.seconds;
        if !there_is {
            self.answer.not_measured.push(what.to_owned());
        }
        there_is
    }

    /// Writes the results so far. The file gets its final name only when it is whole.
    fn keep(&mut self) -> Result<()> {
        self.answer.sum_up(self.begun.elapsed().as_secs_f64());
        let Some(path) = self.args.out else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.answer).context("cannot write the result as JSON")?;
        Ok(write_file(path, text.as_bytes())?)
    }
}
