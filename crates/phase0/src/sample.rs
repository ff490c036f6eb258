//! The stage that samples the run, into OUT/run and always from the beginning.

use crate::error::Phase0Error;
use crate::options::Phase0Options;
use octopus::{begin, run_record};
use octopus_runs::{Checkpoints, CreateOptions, Observer, RunFolder, RunRecord, RunWriter, Session, drive};
use octopus_trace::InferenceData;

/// A run and its draws.
pub(super) struct Sampled {
    /// The run's record.
    pub(super) record: RunRecord,
    /// The run's draws.
    pub(super) draws: InferenceData,
}

/// Samples the run; returns `None` when the user stopped it.
///
/// # Errors
/// When the folder holds something else, or cannot be written.
pub(super) fn run(options: &Phase0Options<'_>, observer: &mut dyn Observer) -> Result<Option<Sampled>, Phase0Error> {
    let dir = options.out.join("run");
    let problem = options.problem;
    let model = problem.density();
    let pool = &options.run.pool;
    let mut device = options.run.device.clone();
    let place = device.open()?;
    let begun = begin(problem, options.sampler(), &options.run.request.init)?;
    let sampler = pool.install(|| place.begin(model, begun))?;
    let record = RunRecord {
        // Where the device could not be opened, the CPU has taken its place.
        device: device.name(),
        device_reason: device.reason(),
        ..run_record(problem, options.sampler().clone(), &options.run)
    };
    let writer = RunWriter::create(&dir, record, CreateOptions { force: true, keep_warmup: false })?;
    let session = Session { pool, checkpoints: Checkpoints::ByTime, observer };
    let outcome = drive(sampler, model, writer, session)?;
    if outcome.interrupted {
        (options.say)(format!("interrupted while sampling; the draws so far are in {}", dir.display()));
        return Ok(None);
    }
    let draws = RunFolder::open(&dir)?.read()?;
    Ok(Some(Sampled { record: outcome.record, draws }))
}
