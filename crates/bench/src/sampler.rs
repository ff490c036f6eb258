//! How fast the sampler is on a GPU and on all cores of the same host: `octopus device sampler`.
//!
//! The figures of most interest are measured first, and the results so far are written after each measurement.

mod batch;
mod cell;
mod figures;
mod goal;
mod launch;
mod machine;
mod model;
mod plan;
mod quality;
mod ratios;
mod start;
mod team;

pub(crate) use cell::{SamplerCell, Where};
pub use figures::SamplerFigures;
pub(crate) use ratios::RatioSide;
pub use start::first_draw;

use super::{context, of_cuda};
use crate::error::BenchError;
use octopus_device::{CudaContext, DeviceIdentity};
use octopus_files::write_named;
use plan::Plan;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What is measured, and for how long.
#[derive(Clone, Copy)]
pub struct SamplerOptions<'a> {
    /// The N of cuda:N.
    pub device: u32,
    /// Few and short runs; a test double is never given others.
    pub small: bool,
    /// Nothing is begun after so many seconds.
    pub seconds: u64,
    /// The file to which what there is is written after each measurement.
    pub out: Option<&'a Path>,
    /// A process that calls [`first_draw`] with the device and these words, and writes to stdout.
    pub starting: &'a dyn Fn(&str) -> io::Result<Command>,
}

/// Measures.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be written.
pub fn run(args: &SamplerOptions<'_>) -> Result<SamplerFigures, BenchError> {
    let device = DeviceIdentity::read(args.device).map_err(of_cuda)?;
    let plan = if args.small || device.test_double { Plan::small() } else { Plan::full() };
    let context = context(args.device)?;
    let mut bench = Bench { args, begun: Instant::now(), answer: SamplerFigures::new(device, args.seconds) };
    bench.measure(&plan, &context)?;
    Ok(bench.answer)
}

/// The measurements under way, with the results so far.
struct Bench<'a> {
    args: &'a SamplerOptions<'a>,
    begun: Instant,
    answer: SamplerFigures,
}

impl Bench<'_> {
    fn measure(&mut self, plan: &Plan, context: &CudaContext) -> Result<(), BenchError> {
        let args = self.args;
        for start in &plan.starts {
            self.take(start.name(), |answer| &mut answer.starts, || start.measure(args.starting))?;
        }
        for launch in &plan.launches {
            self.take(launch.name(), |answer| &mut answer.launches, || launch.measure(context))?;
        }
        for goal in &plan.goals {
            self.take(goal.name(), |answer| &mut answer.goals, || goal.measure(context))?;
        }
        for batch in &plan.batches {
            self.take(batch.name(), |answer| &mut answer.batches, || batch.measure(context))?;
        }
        for team in &plan.teams {
            self.take(team.name(), |answer| &mut answer.teams, || team.measure(context))?;
        }
        for cell in &plan.cells {
            self.take(
                cell.name(),
                |answer| &mut answer.cells,
                || {
                    let model = model::model(cell.groups, cell.likelihood)?;
                    cell.measure(&model, (cell.place == Where::Gpu).then_some(context), plan.cell_time)
                },
            )?;
        }
        self.answer.complete = self.answer.not_measured.is_empty();
        self.keep()
    }

    /// Makes one measurement and writes the results so far; without time for it, notes that `name` was not measured.
    fn take<T>(
        &mut self,
        name: String,
        results: fn(&mut SamplerFigures) -> &mut Vec<T>,
        measure: impl FnOnce() -> Result<T, BenchError>,
    ) -> Result<(), BenchError> {
        if self.begun.elapsed().as_secs() >= self.args.seconds {
            self.answer.not_measured.push(name);
            return Ok(());
        }
        results(&mut self.answer).push(measure()?);
        self.keep()
    }

    /// Writes the results so far. The file gets its final name only when it is whole.
    fn keep(&mut self) -> Result<(), BenchError> {
        self.answer.sum_up(self.begun.elapsed().as_secs_f64());
        let Some(path) = self.args.out else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.answer)
            .map_err(BenchError::json(|| "cannot write the result as JSON".into()))?;
        Ok(write_named(path, text.as_bytes())?)
    }
}
