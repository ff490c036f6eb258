//! The sampling loop: short steps, so that Ctrl-C, progress and checkpoints get their turn.

use crate::goal::{Step, Watch};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::{Progress, Tally};
use anyhow::{Context, Result};
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use octopus_device::{Monitor, devices_named};
use octopus_runs::{EndedBy, RECORD_SCHEMA, RunRecord, RunWriter, Timing};
use octopus_sampler::{Adaptation, GpuNote, Phase, Sampler, SamplerConfig, SamplerError, Strategy};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::Path;
use std::time::{Duration, Instant};

/// The length of one step: what Ctrl-C waits for.
const STEP: Duration = Duration::from_millis(50);
/// Between checkpoints, unless told otherwise.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// A pool of `threads` threads; as many as the machine offers for `None`.
///
/// # Errors
/// When the system refuses the threads.
pub(crate) fn pool(threads: Option<usize>) -> Result<ThreadPool> {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available);
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .with_context(|| format!("cannot start {threads} threads: give fewer with --threads"))
}

/// When to checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checkpoints {
    /// About every second.
    ByTime,
    /// Every so many iterations.
    Every(usize),
}

impl From<Option<u64>> for Checkpoints {
    fn from(every: Option<u64>) -> Self {
        every.map_or(Self::ByTime, |n| Self::Every(usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// How a session is carried out; nothing here changes a draw.
pub(crate) struct Session<'a> {
    /// Chains run on it.
    pub(crate) pool: &'a ThreadPool,
    /// When to checkpoint.
    pub(crate) checkpoints: Checkpoints,
    /// Ctrl-C.
    pub(crate) interrupt: Interrupt,
    /// Whether progress is shown.
    pub(crate) quiet: bool,
}

/// How a session ended.
pub(crate) struct Outcome {
    /// The run's record.
    pub(crate) record: RunRecord,
    /// Whether the user stopped it.
    pub(crate) interrupted: bool,
    /// Counts of this session.
    pub(crate) tally: Tally,
}

/// Iterations for the next step, learned from the last.
pub(crate) struct Pace {
    pub(crate) limit: usize,
}

impl Pace {
    /// That so many iterations took so long.
    pub(crate) fn learn(&mut self, iterations: usize, took: Duration) {
        let fit = iterations as f64 * STEP.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Trajectories shorten and lengthen in warm-up: grow carefully, shrink at once.
        self.limit = (fit as usize).clamp(1, 4 * self.limit);
    }
}

/// Samples to the end, or until Ctrl-C, and keeps everything in the run folder.
///
/// # Errors
/// When the density is broken or the folder cannot be written; what is there stays readable.
pub(crate) fn to_folder(
    mut sampler: Sampler<'_, dyn LogDensity>,
    density: &dyn LogDensity,
    mut writer: RunWriter,
    session: &Session<'_>,
) -> Result<Outcome> {
    let config = sampler.config().clone();
    let devices = devices_named(&writer.record().device).context("run.toml: field `device`")?;
    let monitors = devices.into_iter().map(Monitor::start).collect::<Result<Vec<_>, _>>()?;
    let mut timing = writer.record().timing;
    let mut tally = Tally::default();
    let mut progress = Progress::new(&config, sampler.done(), session.quiet);
    let mut pace = Pace { limit: 1 };
    let mut watch = Watch::new(writer.record(), writer.dir(), writer.draws(Phase::Sampling));
    let mut ended = EndedBy::Draws;
    let mut last_time = Instant::now();
    let mut last_done = sampler.done();
    tell(&mut sampler, &mut writer)?;
    // A run that is interrupted before its first checkpoint could only begin again: make one at once.
    writer.checkpoint(&sampler.checkpoint()?)?;
    loop {
        if session.interrupt.asked() {
            if watch.settle(&mut writer, density)? == Step::Met {
                ended = EndedBy::Target;
                break;
            }
            writer.checkpoint(&sampler.checkpoint()?)?;
            progress.finish();
            let usage = usage(&monitors)?;
            let record = writer.interrupt(|record| {
                (record.schema, record.timing, record.usage) = (RECORD_SCHEMA, timing, usage);
            })?;
            return Ok(Outcome { record, interrupted: true, tally });
        }
        let limit = match session.checkpoints {
            Checkpoints::ByTime => pace.limit,
            Checkpoints::Every(n) => pace.limit.min(last_done.saturating_add(n).saturating_sub(sampler.done())),
        };
        let limit = limit.min(watch.limit());
        let begin = Instant::now();
        let block = session.pool.install(|| sampler.advance(limit));
        tell(&mut sampler, &mut writer)?;
        let block = match block {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) => {
                progress.finish();
                return Err(stopped(error, &config, writer.dir()));
            }
        };
        let took = begin.elapsed();
        add_time(&mut timing, block.phase, took);
        pace.learn(block.draws, took);
        tally.add(&block);
        let phase = block.phase;
        if watch.take(block, &mut writer, density)? == Step::Met {
            ended = EndedBy::Target;
            break;
        }
        let done = sampler.done();
        if phase == Phase::Warmup && sampler.warm_up() == Some(done) {
            let adaptation = of_sampler(&sampler);
            writer.update(|record| (record.adaptation, record.timing) = (adaptation, timing))?;
        }
        let due = match session.checkpoints {
            Checkpoints::ByTime => last_time.elapsed() >= CHECKPOINT,
            Checkpoints::Every(n) => done - last_done >= n,
        };
        // The end needs no checkpoint of its own.
        let is_last = sampler.warm_up().is_some_and(|warm_up| done == warm_up + config.draws);
        if due && !is_last && watch.is_clear() {
            writer.checkpoint(&sampler.checkpoint()?)?;
            (last_time, last_done) = (Instant::now(), done);
        }
        progress.update(done, sampler.warm_up(), &tally, || sampler.step_sizes());
        if watch.is_late(timing.warmup_s + timing.sampling_s) {
            ended = EndedBy::Time;
            break;
        }
    }
    if ended != EndedBy::Target && watch.settle(&mut writer, density)? == Step::Met {
        ended = EndedBy::Target;
    }
    progress.finish();
    // Also in the record of a run whose warm-up another session has done.
    let adaptation = of_sampler(&sampler);
    let usage = usage(&monitors)?;
    let record = writer.finish(|record| {
        (record.schema, record.ending) = (RECORD_SCHEMA, watch.ending(ended));
        (record.adaptation, record.timing, record.usage) = (adaptation, timing, usage);
    })?;
    Ok(Outcome { record, interrupted: false, tally })
}

/// A failure in the middle of a run; where the device failed, with how the run goes on.
fn stopped(error: SamplerError, config: &SamplerConfig, dir: &Path) -> anyhow::Error {
    if !matches!(error, SamplerError::Device(_)) {
        return error.into();
    }
    let shown = dir.display();
    let elsewhere = if config.precision == Precision::F64 {
        format!(", or with `octopus resume {shown} --device cpu`, to the same draws")
    } else {
        String::new()
    };
    let what = format!(
        "{error}; what was drawn until the last checkpoint is kept: see `octopus verify`, and go on with \
         `octopus resume {shown}`{elsewhere}"
    );
    anyhow::Error::new(error).context(what)
}

pub(crate) fn add_time(timing: &mut Timing, phase: Phase, took: Duration) {
    match phase {
        Phase::Warmup => timing.warmup_s += took.as_secs_f64(),
        Phase::Sampling => timing.sampling_s += took.as_secs_f64(),
    }
}

/// What the devices were used for, for `run.toml`: of several, a list `devices`.
fn usage(monitors: &[Monitor]) -> Result<toml::Table> {
    let of_all = monitors.iter().map(|monitor| toml::Table::try_from(monitor.usage())).collect::<Result<Vec<_>, _>>();
    let mut of_all = of_all.context("cannot write the device's usage")?;
    if of_all.len() == 1 {
        return Ok(of_all.remove(0));
    }
    let devices = of_all.into_iter().map(toml::Value::Table).collect();
    Ok(toml::Table::from_iter([("devices".to_owned(), toml::Value::Array(devices))]))
}

/// Tells what became of the devices, of which one that is given up is also in the run's record.
fn tell(sampler: &mut Sampler<'_, dyn LogDensity>, writer: &mut RunWriter) -> Result<()> {
    for note in sampler.take_notes() {
        if let GpuNote::GivenUp { device, .. } = note {
            let done = sampler.done();
            writer.update(|record| {
                record.device_reason += &format!("; cuda:{device} was given up by iteration {done}")
            })?;
        }
        output::warn(note.to_string());
    }
    Ok(())
}

fn of_sampler(sampler: &Sampler<'_, dyn LogDensity>) -> toml::Table {
    adaptation(sampler.adaptation(), &sampler.step_sizes(), sampler.warm_up())
}

/// What warm-up found, for `run.toml`.
pub(crate) fn adaptation(found: &Adaptation, step_sizes: &[f64], warm_up: Option<usize>) -> toml::Table {
    let list = |values: &[f64]| toml::Value::Array(values.iter().copied().map(toml::Value::Float).collect());
    let mut table = toml::Table::new();
    if let Some(iterations) = warm_up {
        table.insert("iterations".into(), toml::Value::Integer(iterations as i64));
    }
    table.insert("step_sizes".into(), list(step_sizes));
    table.insert("rank".into(), toml::Value::Integer(found.metric.directions.len() as i64));
    table.insert("spike_variances".into(), list(&found.metric.variances));
    table.insert("metric_diagonal".into(), list(&found.metric.diagonal));
    // Names of an enumeration always are TOML.
    let centerings = found.centerings.iter().filter_map(|centering| toml::Value::try_from(centering).ok());
    table.insert("centering".into(), toml::Value::Array(centerings.collect()));
    table
}

/// A chain's settings in a few words, for people.
pub(crate) fn describe(config: &SamplerConfig) -> String {
    let SamplerConfig { chains, tune, draws, target_accept, seed, superchains, .. } = config;
    let strategy = match config.strategy {
        Strategy::FourLong => format!("{chains} chains x ({tune} warm-up + {draws} draws)"),
        Strategy::ManyShort => {
            format!("{chains} chains in {superchains} superchains x (at most {tune} warm-up + {draws} draws)")
        }
    };
    format!("{strategy}, target_accept {target_accept}, seed {seed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_finds_the_step_and_never_stops() {
        let mut pace = Pace { limit: 1 };
        for _ in 0..20 {
            let limit = pace.limit;
            pace.learn(limit, Duration::from_micros(100) * limit as u32);
        }
        assert_eq!(pace.limit, 500);
        pace.learn(500, Duration::from_secs(5));
        assert_eq!(pace.limit, 5);
        pace.learn(5, Duration::from_secs(100));
        assert_eq!(pace.limit, 1);
    }
}
