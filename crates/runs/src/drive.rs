//! The sampling loop, which takes short steps so that Ctrl-C, progress and checkpoints get their turn.
//!
//! The length of a step, the time between checkpoints and the pool of threads are set here.

use crate::goal::{ConvergenceMonitor, Step};
use crate::placement::recorded;
use crate::record::POPULATION;
use crate::{EndedBy, RECORD_SCHEMA, RunError, RunRecord, RunWriter, Tally, Timing};
use octopus_density::gpu::Precision;
use octopus_density::{Centering, LogDensity};
use octopus_device::{Monitor, devices_named};
use octopus_diag::counted;
use octopus_sampler::{Adaptation, Phase, Sampler, SamplerConfig, SamplerError, Strategy};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::Path;
use std::time::{Duration, Instant};

/// The length of one step, which is as long as Ctrl-C waits.
const STEP: Duration = Duration::from_millis(50);
/// The time between checkpoints, unless the settings say otherwise.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Makes a pool of `threads` threads, or for `None` of as many as the machine offers.
///
/// # Errors
/// When the system refuses the threads.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool, RunError> {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available);
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|source| RunError::Threads { threads, source })
}

/// The times at which checkpoints are written.
#[derive(Clone, Copy, Debug)]
pub enum Checkpoints {
    /// A checkpoint about every second.
    ByTime,
    /// A checkpoint every so many iterations.
    Every(usize),
}

impl From<Option<u64>> for Checkpoints {
    fn from(every: Option<u64>) -> Self {
        every.map_or(Self::ByTime, |n| Self::Every(usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// An observer looks on while a run samples, and may stop the run. Nothing that an observer does changes a draw.
pub trait Observer: Sync {
    /// Returns whether the run is to stop now, and then always. The draws so far are kept then, and the run can go on
    /// later.
    fn stops(&self) -> bool {
        false
    }

    /// Learns that more iterations are done.
    fn advanced(&mut self, _progress: &Progress<'_>) {}

    /// Learns that the session has ended, whether the run is complete or not.
    fn ended(&mut self) {}
}

/// An observer that does nothing.
impl Observer for () {}

/// The progress of a run.
pub struct Progress<'a> {
    /// The sampler's settings.
    pub config: &'a SamplerConfig,
    /// The number of iterations that were done before the session began.
    pub first: usize,
    /// The number of iterations that are done.
    pub done: usize,
    /// The number of iterations of warm-up; `None` until warm-up is over.
    pub warm_up: Option<usize>,
    /// Counts of this session.
    pub tally: &'a Tally,
    /// A function that returns the step size of each chain.
    pub step_sizes: &'a dyn Fn() -> Vec<f64>,
}

/// The way in which a session is carried out; nothing here changes a draw.
pub struct Session<'a> {
    /// The threads on which chains run.
    pub pool: &'a ThreadPool,
    /// The times at which checkpoints are written.
    pub checkpoints: Checkpoints,
    /// The observer that looks on.
    pub observer: &'a mut dyn Observer,
}

/// The end of a session.
pub struct Driven {
    /// The run's record.
    pub record: RunRecord,
    /// Whether the observer stopped the run.
    pub interrupted: bool,
    /// Counts of this session.
    pub tally: Tally,
}

/// The length of the next step of a run, chosen so that a step takes about 50 ms and Ctrl-C is answered soon.
pub struct Pace {
    /// The most iterations of the next step.
    pub limit: usize,
}

impl Pace {
    /// Chooses the length of the next step by how long the last step took.
    pub fn learn(&mut self, iterations: usize, took: Duration) {
        let fit = iterations as f64 * STEP.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Trajectories shorten and lengthen in warm-up: grow carefully, shrink at once.
        self.limit = (fit as usize).clamp(1, 4 * self.limit);
    }
}

/// Samples to the end, or until the observer stops the run, and keeps everything in the run folder.
///
/// # Errors
/// When the density is broken, a device fails, or the folder cannot be written; what is in the folder stays readable.
pub fn drive(
    mut sampler: Sampler<'_>,
    density: &dyn LogDensity,
    mut writer: RunWriter,
    session: Session<'_>,
) -> Result<Driven, RunError> {
    let config = sampler.config().clone();
    let Session { pool, checkpoints, observer } = session;
    let devices = devices_named(&writer.record().device)?;
    // A device that cannot be watched may be lost, which is the sampler's affair.
    let monitors: Vec<Monitor> = devices.into_iter().filter_map(|device| Monitor::start(device).ok()).collect();
    let mut timing = writer.record().timing;
    let mut tally = Tally::default();
    let first = sampler.done();
    let mut pace = Pace { limit: 1 };
    let mut monitor = ConvergenceMonitor::new(writer.record(), writer.dir(), writer.draws(Phase::Sampling));
    let mut ended = EndedBy::Draws;
    let mut last_time = Instant::now();
    let mut last_done = sampler.done();
    tell(&mut sampler, &mut writer)?;
    let threads = pool.current_num_threads();
    tracing::info!(folder = %writer.dir().display(), done = first, threads, "sampling begins: {}", describe(&config));
    // A run that is interrupted before its first checkpoint could only begin again, so the first one is made at once.
    keep(&mut sampler, &mut writer)?;
    loop {
        if observer.stops() {
            if monitor.settle(&mut writer, density)? == Step::Met {
                ended = EndedBy::Target;
                break;
            }
            keep(&mut sampler, &mut writer)?;
            observer.ended();
            let usage = usage(&monitors)?;
            let record = writer.interrupt(|record| {
                (record.schema, record.timing, record.usage) = (RECORD_SCHEMA, timing, usage);
            })?;
            return Ok(Driven { record, interrupted: true, tally });
        }
        let limit = match checkpoints {
            Checkpoints::ByTime => pace.limit,
            Checkpoints::Every(n) => pace.limit.min(last_done.saturating_add(n).saturating_sub(sampler.done())),
        };
        let limit = limit.min(monitor.limit());
        let begin = Instant::now();
        // How long warm-up took is known from its end on.
        let span = match sampler.warm_up() {
            Some(_) => tracing::debug_span!("draw"),
            None => tracing::debug_span!("warm up"),
        };
        let spent = timing.warmup_s + timing.sampling_s;
        let (watching, goal) = (&*observer, writer.record().goal.unwrap_or_default());
        let stop = || watching.stops() || goal.is_over(spent + begin.elapsed().as_secs_f64());
        let block = span.in_scope(|| pool.install(|| sampler.advance_unless(limit, &stop)));
        tell(&mut sampler, &mut writer)?;
        let block = match block {
            Ok(Some(block)) => block,
            Ok(None) => break,
            // A population has no draw before it is drawn as a whole; what it took is not counted.
            Err(SamplerError::Stopped) if observer.stops() => continue,
            Err(SamplerError::Stopped) => {
                observer.ended();
                let shown = writer.dir().to_owned();
                writer.interrupt(|_| ())?;
                return Err(RunError::LatePopulation { dir: shown });
            }
            Err(error) => {
                observer.ended();
                return Err(stopped(error, &config, writer.dir()));
            }
        };
        let took = begin.elapsed();
        add_time(&mut timing, block.phase, took);
        pace.learn(block.draws, took);
        tally.add(&block);
        let phase = block.phase;
        let span = tracing::debug_span!("keep draws");
        if span.in_scope(|| pool.install(|| monitor.take(block, &mut writer, density)))? == Step::Met {
            ended = EndedBy::Target;
            break;
        }
        let done = sampler.done();
        if phase == Phase::Warmup && sampler.warm_up() == Some(done) {
            let adaptation = of_sampler(&sampler);
            writer.update(|record| (record.adaptation, record.timing) = (adaptation, timing))?;
            tracing::info!(iterations = done, seconds = timing.warmup_s, "warm-up has ended");
        }
        let due = match checkpoints {
            Checkpoints::ByTime => last_time.elapsed() >= CHECKPOINT,
            Checkpoints::Every(n) => done - last_done >= n,
        };
        // A run that has ended needs no checkpoint.
        let is_last = sampler.warm_up().is_some_and(|warm_up| done == warm_up + config.draws);
        if due && !is_last && monitor.is_clear() {
            keep(&mut sampler, &mut writer)?;
            tracing::debug!(iterations = done, "a checkpoint is written");
            (last_time, last_done) = (Instant::now(), done);
        }
        let (warm_up, step_sizes) = (sampler.warm_up(), || sampler.step_sizes());
        observer.advanced(&Progress { config: &config, first, done, warm_up, tally: &tally, step_sizes: &step_sizes });
        if monitor.is_late(timing.warmup_s + timing.sampling_s) {
            ended = EndedBy::Time;
            break;
        }
    }
    if ended != EndedBy::Target && monitor.settle(&mut writer, density)? == Step::Met {
        ended = EndedBy::Target;
    }
    observer.ended();
    // The adaptation is also recorded for a run whose warm-up was done by an earlier session.
    let adaptation = of_sampler(&sampler);
    let usage = usage(&monitors)?;
    let record = writer.finish(|record| {
        (record.schema, record.ending) = (RECORD_SCHEMA, monitor.ending(ended));
        (record.adaptation, record.timing, record.usage) = (adaptation, timing, usage);
    })?;
    tracing::info!(seconds = record.timing.sampling_s, leapfrogs = tally.leapfrogs, "sampling has ended");
    Ok(Driven { record, interrupted: false, tally })
}

/// Returns the error of a run that failed in the middle. Where the device failed, the error says how the run can go on.
fn stopped(error: SamplerError, config: &SamplerConfig, dir: &Path) -> RunError {
    if !matches!(error, SamplerError::Device(_)) {
        return error.into();
    }
    let shown = dir.display();
    let elsewhere = if config.precision == Precision::F64 {
        format!(", or with `octopus resume {shown} --device cpu`, to the same draws")
    } else {
        String::new()
    };
    let advice = format!(
        "what was drawn until the last checkpoint is kept: see `octopus verify`, and go on with `octopus resume \
         {shown}`{elsewhere}"
    );
    RunError::Stopped { source: error, advice }
}

/// Adds a block's time to the time of its phase.
pub fn add_time(timing: &mut Timing, phase: Phase, took: Duration) {
    match phase {
        Phase::Warmup => timing.warmup_s += took.as_secs_f64(),
        Phase::Sampling => timing.sampling_s += took.as_secs_f64(),
    }
}

/// Returns the usage of the devices for `run.toml`; several devices are in a list `devices`.
fn usage(monitors: &[Monitor]) -> Result<toml::Table, RunError> {
    let of_all = monitors.iter().map(|monitor| toml::Table::try_from(monitor.usage())).collect::<Result<Vec<_>, _>>();
    let mut of_all = of_all.map_err(|error| RunError::Usage { what: error.to_string() })?;
    if of_all.len() == 1 {
        return Ok(of_all.remove(0));
    }
    let devices = of_all.into_iter().map(toml::Value::Table).collect();
    Ok(toml::Table::from_iter([("devices".to_owned(), toml::Value::Array(devices))]))
}

/// Warns about what became of the devices, and notes in the run's record which were given up.
fn tell(sampler: &mut Sampler<'_>, writer: &mut RunWriter) -> Result<(), RunError> {
    for note in sampler.take_notes() {
        if let Some(what) = recorded(&note) {
            let done = sampler.done();
            writer.update(|record| record.device_reason += &format!("{what} by iteration {done}"))?;
        }
        tracing::warn!("{note}");
    }
    Ok(())
}

/// Writes a checkpoint.
fn keep(sampler: &mut Sampler<'_>, writer: &mut RunWriter) -> Result<(), RunError> {
    let _span = tracing::debug_span!("keep a checkpoint").entered();
    let state = sampler.checkpoint();
    tell(sampler, writer)?;
    let state = state.map_err(|error| stopped(error, sampler.config(), writer.dir()))?;
    writer.checkpoint(&state)
}

pub(crate) fn of_sampler(sampler: &Sampler<'_>) -> toml::Table {
    if sampler.config().algorithm.draws_population() {
        // What a population tells of itself can always be written as TOML.
        let found = sampler.population().and_then(|found| toml::Value::try_from(found).ok());
        return found.map(|found| (POPULATION.to_owned(), found)).into_iter().collect();
    }
    adaptation(sampler.density(), sampler.adaptation(), &sampler.step_sizes(), sampler.warm_up())
}

/// Returns the results of warm-up for `run.toml`.
pub fn adaptation(
    density: &dyn LogDensity,
    found: &Adaptation,
    step_sizes: &[f64],
    warm_up: Option<usize>,
) -> toml::Table {
    let list = |values: &[f64]| toml::Value::Array(values.iter().copied().map(toml::Value::Float).collect());
    let mut table = toml::Table::new();
    if let Some(iterations) = warm_up {
        table.insert("iterations".into(), toml::Value::Integer(iterations as i64));
    }
    table.insert("step_sizes".into(), list(step_sizes));
    table.insert("rank".into(), toml::Value::Integer(found.metric.directions.len() as i64));
    table.insert("spike_variances".into(), list(&found.metric.variances));
    table.insert("metric_diagonal".into(), list(&found.metric.diagonal));
    // The names of an enumeration can always be written as TOML.
    let centerings = found.centerings.iter().filter_map(|centering| toml::Value::try_from(centering).ok());
    table.insert("centering".into(), toml::Value::Array(centerings.collect()));
    let information = found.centerings.iter().enumerate().map(|(block, &centering)| {
        let learned = found.learned.get(block).is_some_and(Option::is_some);
        match centering {
            Centering::Standardised if learned => "learned",
            Centering::Standardised => "given",
            Centering::Centered | Centering::NonCentered => "none",
        }
    });
    table.insert("information".into(), toml::Value::Array(information.map(toml::Value::from).collect()));
    if let Some(effects) = density.effects() {
        let labels = effects.blocks().iter().map(|block| toml::Value::from(block.to_string()));
        table.insert("hierarchies".into(), toml::Value::Array(labels.collect()));
    }
    table
}

/// Returns the settings of a run's chains in a few words.
pub fn describe(config: &SamplerConfig) -> String {
    let SamplerConfig { chains, tune, draws, target_accept, seed, superchains, algorithm, .. } = config;
    if algorithm.draws_population() {
        return format!("{} with {} x {draws} draws, seed {seed}", algorithm.name(), counted(*chains, "chain"));
    }
    let strategy = match config.strategy {
        Strategy::CrossChain if config.warms_up_together() => {
            format!("{chains} chains x (at most {tune} warm-up + {draws} draws)")
        }
        Strategy::FourLong | Strategy::CrossChain => {
            format!("{} x ({tune} warm-up + {draws} draws)", counted(*chains, "chain"))
        }
        Strategy::ManyShort => {
            format!("{chains} chains in {superchains} superchains x (at most {tune} warm-up + {draws} draws)")
        }
    };
    format!("{strategy}, target_accept {target_accept}, seed {seed}")
}

#[cfg(test)]
mod tests;
