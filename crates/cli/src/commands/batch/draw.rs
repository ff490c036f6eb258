//! The loop of `octopus sample --batch`, in which all data sets move on together.
//!
//! Each turn moves all data sets on by a few iterations, writes their draws to their folders, and looks after Ctrl-C
//! and checkpoints. How often a checkpoint is written, and how many data sets the CPU has at once, stand here.

use super::sets::{Set, SetState};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Timer;
use crate::share::Worker;
use anyhow::{Context, Result};
use octopus::{TraceError, begin, run_record};
use octopus_models::Problem;
use octopus_runs::{
    CreateOptions, Init, Pace, Placement, PreparedRun, RECORD_SCHEMA, RunRecord, RunWriter, adaptation, add_time,
    recorded, warn,
};
use octopus_sampler::{BatchSampler, BatchStep, Begin, Block, DataSet, GpuNote};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between checkpoints, and its least multiple of the time that the last checkpoints took.
const CHECKPOINT: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;
/// The number of data sets on the CPU at once for each thread: enough that no thread is idle while a long run ends.
pub(super) const SETS_OF_A_THREAD: usize = 4;

/// The message that says how to go on when all runs have stopped.
const STOPPED: &str =
    "the batch stopped; what was drawn until the last checkpoints is kept, and the same command goes on";

/// The way in which a batch is carried out; nothing here changes a draw.
pub(super) struct BatchSession<'a> {
    /// The batch; at the end, the reason for its device tells which GPUs were given up.
    pub(super) prepared: &'a mut PreparedRun,
    pub(super) place: &'a Placement,
    pub(super) interrupt: Interrupt,
    /// Where this process notes what it has done, if it shares the batch.
    pub(super) worker: Option<&'a Worker>,
    pub(super) quiet: bool,
}

/// A data set whose run is under way.
struct Open<'a> {
    set: &'a mut Set,
    problem: Arc<dyn Problem>,
    writer: Option<Box<RunWriter>>,
    record: RunRecord,
}

impl BatchSession<'_> {
    /// Draws what is missing of every data set; returns whether the user stopped the batch.
    ///
    /// # Errors
    /// When the device fails or a folder cannot be written.
    pub(super) fn draw(&mut self, sets: &mut [Set]) -> Result<bool> {
        let mut open = Vec::new();
        let mut begins = Vec::new();
        for set in sets.iter_mut() {
            let (Some(problem), SetState::Open(begin, writer)) = (&set.problem, &mut set.state) else { continue };
            match begun(&**problem, begin, &self.prepared.request.init) {
                Ok(begun) => begins.push(begun),
                Err(error) => {
                    set.state = SetState::Failed(error.to_string());
                    continue;
                }
            }
            let (writer, problem) = (writer.take(), Arc::clone(problem));
            let mut record = run_record(&*problem, set.config.clone(), self.prepared);
            record.keep_warmup = self.prepared.request.keep_warmup;
            record.timing = writer.as_ref().map_or(record.timing, |writer| writer.record().timing);
            open.push(Open { set, problem, writer, record });
        }
        let problems: Vec<Arc<dyn Problem>> = open.iter().map(|open| Arc::clone(&open.problem)).collect();
        let runs: Vec<DataSet<'_>> =
            problems.iter().zip(begins).map(|(problem, begin)| DataSet { density: problem.density(), begin }).collect();
        if runs.is_empty() {
            return Ok(false);
        }
        let threads = self.prepared.pool.current_num_threads();
        tracing::info!(threads, data_sets = runs.len(), "sampling begins");
        let at_once = SETS_OF_A_THREAD * threads;
        let mut batch = self.prepared.pool.install(|| self.place.batch(&runs, at_once))?;
        self.tell(batch.take_notes(), &mut open)?;
        let mut pace = Pace { limit: 1 };
        let mut kept = Timer::start(CHECKPOINT, Instant::now());
        let mut line = Timer::of_line(self.quiet, Instant::now());
        loop {
            if self.interrupt.asked() {
                checkpoint(&mut open, &batch)?;
                for one in &mut open {
                    if let Some(writer) = one.writer.take() {
                        let timing = one.record.timing;
                        writer.interrupt(|record| (record.schema, record.timing) = (RECORD_SCHEMA, timing))?;
                    }
                }
                return Ok(true);
            }
            let begin = Instant::now();
            let steps = self.prepared.pool.install(|| batch.advance(pace.limit));
            self.tell(batch.take_notes(), &mut open)?;
            let Some(steps) = steps.context(STOPPED)? else {
                return Ok(false);
            };
            let took = begin.elapsed();
            let longest = steps.iter().filter_map(|one| Some(one.block.as_ref().ok()?.draws)).max();
            pace.learn(longest.unwrap_or(1), took);
            for BatchStep { set, block } in steps {
                match block {
                    Ok(block) => open[set].take(&block, took, &batch, set)?,
                    Err(error) => {
                        open[set].writer = None;
                        open[set].set.state = SetState::Failed(error.to_string());
                    }
                }
                if let (Some(worker), true) = (self.worker, open[set].set.state.has_ended()) {
                    worker.one_more(matches!(open[set].set.state, SetState::Failed(_)));
                }
            }
            if kept.due(Instant::now()) {
                let begin = Instant::now();
                checkpoint(&mut open, &batch)?;
                kept = Timer::start(CHECKPOINT.max(SHARE * begin.elapsed()), Instant::now());
            }
            if line.due(Instant::now()) {
                let ended = open.iter().filter(|one| one.set.state.has_ended()).count();
                output::note(format!("{ended} of {} data sets have ended", open.len()));
                line = Timer::of_line(false, Instant::now());
            }
        }
    }

    /// Warns about what became of the devices, and notes in the records of open runs which were given up.
    fn tell(&mut self, notes: Vec<GpuNote>, open: &mut [Open<'_>]) -> Result<()> {
        for what in notes.iter().filter_map(recorded) {
            self.prepared.device.since.push(what.clone());
            for one in &mut *open {
                one.record.device_reason += &what;
                if let Some(writer) = &mut one.writer {
                    writer.update(|record| record.device_reason += &what)?;
                }
            }
        }
        warn("data sets: ", notes);
        Ok(())
    }
}

impl Open<'_> {
    /// Writes a block, and ends the run if the block is the last.
    fn take(&mut self, block: &Block, took: Duration, batch: &BatchSampler<'_>, number: usize) -> Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            // The folder is made with the first draws, so that a run that cannot start leaves no folder.
            None => {
                let options = CreateOptions { force: true, keep_warmup: self.record.keep_warmup };
                Box::new(RunWriter::create(&self.set.dir, self.record.clone(), options)?)
            }
        };
        writer.append(block, self.problem.density())?;
        add_time(&mut self.record.timing, block.phase, took);
        if !batch.is_complete(number) {
            self.writer = Some(writer);
            return Ok(());
        }
        let (Some(found), Some(steps)) = (batch.adaptation(number), batch.step_sizes(number)) else { return Ok(()) };
        let found = adaptation(self.problem.density(), found, &steps, batch.warm_up(number));
        let timing = self.record.timing;
        let record = writer.finish(|record| {
            (record.schema, record.adaptation, record.timing) = (RECORD_SCHEMA, found, timing);
        })?;
        self.set.state = SetState::Complete(Box::new(record));
        Ok(())
    }
}

/// Returns the beginning of a data set's run: one that has drawn nothing yet starts by `init`.
fn begun(problem: &dyn Problem, state: &Begin, init: &Init) -> Result<Begin, TraceError> {
    match state {
        Begin::Anew(config) => begin(problem, config, init),
        other => Ok(other.clone()),
    }
}

/// Writes a checkpoint of every run that is under way.
fn checkpoint(open: &mut [Open<'_>], batch: &BatchSampler<'_>) -> Result<()> {
    for (number, one) in open.iter_mut().enumerate() {
        if let (Some(writer), Some(state)) = (&mut one.writer, batch.checkpoint(number)?) {
            writer.checkpoint(&state)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{DeviceChoice, DeviceRequest};
    use octopus_models::Registry;
    use octopus_runs::{DecisionReason, RunFolder, RunRequest, RunStatus};
    use octopus_sampler::SamplerConfig;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn on_one_thread() -> PreparedRun {
        let device = DeviceRequest { choice: DeviceChoice::Cpu, ..DeviceRequest::default() };
        let request = RunRequest { device, threads: Some(1), ..RunRequest::default() };
        let mut prepared = PreparedRun::of_batch(&[], request).unwrap();
        prepared.device.why = DecisionReason::NotOnGpu("told".to_owned());
        prepared
    }

    /// What is drawn is drawn into the data set's folder in place of what is there.
    #[test]
    fn a_data_set_is_drawn_to_its_end_whatever_was_in_its_folder() {
        static GOES_ON: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let problem = Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap();
        let mut prepared = on_one_thread();
        let place = prepared.device.open().unwrap();
        let interrupt = Interrupt::by_flag(&GOES_ON);
        let mut session = BatchSession { prepared: &mut prepared, place: &place, interrupt, worker: None, quiet: true };
        let run = dir.path().join("schools");
        for (keep_warmup, seed) in [(true, 1), (false, 2)] {
            let config = SamplerConfig { chains: 2, draws: 6, tune: 20, seed, ..SamplerConfig::default() };
            let state = SetState::Open(Begin::Anew(config.clone()), None);
            let problem = Some(Arc::clone(&problem));
            let mut sets = [Set { number: 0, name: "schools".to_owned(), dir: run.clone(), config, problem, state }];
            session.prepared.request.keep_warmup = keep_warmup;
            assert!(!session.draw(&mut sets).unwrap(), "nobody has stopped it");
            let SetState::Complete(record) = &sets[0].state else { panic!("not complete") };
            assert_eq!((record.sampler.seed, record.keep_warmup), (seed, keep_warmup));
            assert_eq!(
                (record.device_reason.as_str(), record.data.as_ref()),
                ("told", Some(sets[0].problem.as_ref().unwrap().data()))
            );
            let folder = RunFolder::open(&run).unwrap();
            assert_eq!((folder.record().status, run.join("warmup").exists()), (RunStatus::Complete, keep_warmup));
            // What has ended is not drawn again.
            assert!(!session.draw(&mut sets).unwrap());
        }
    }

    /// Its folder is taken up after half of warm-up, and none of it is made anew.
    #[test]
    fn a_data_set_that_was_begun_is_drawn_on_in_its_folder() {
        static GOES_ON: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let problem = Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap();
        let config = SamplerConfig { chains: 2, draws: 6, tune: 20, ..SamplerConfig::default() };
        let mut prepared = on_one_thread();
        prepared.request.keep_warmup = true;
        let place = prepared.device.open().unwrap();
        let run = dir.path().join("schools");
        let options = CreateOptions { force: false, keep_warmup: true };
        let mut writer = RunWriter::create(&run, run_record(&*problem, config.clone(), &prepared), options).unwrap();
        let mut sampler = place.begin(problem.density(), Begin::Anew(config.clone())).unwrap();
        writer.append(&sampler.advance(10).unwrap().unwrap(), problem.density()).unwrap();
        writer.checkpoint(&sampler.checkpoint().unwrap()).unwrap();
        writer.interrupt(|_| ()).unwrap();
        let mut resumed = RunWriter::resume(&run).unwrap();
        let begin = Begin::GoOn(resumed.state.take().unwrap());
        let state = SetState::Open(begin, Some(Box::new(resumed.go_on().unwrap())));
        let mut sets = [Set {
            number: 0,
            name: "schools".to_owned(),
            dir: run.clone(),
            config,
            problem: Some(Arc::clone(&problem)),
            state,
        }];
        let interrupt = Interrupt::by_flag(&GOES_ON);
        let mut session = BatchSession { prepared: &mut prepared, place: &place, interrupt, worker: None, quiet: true };
        assert!(!session.draw(&mut sets).unwrap() && sets[0].state.has_ended());
        let folder = RunFolder::open(&run).unwrap();
        assert_eq!(folder.record().status, RunStatus::Complete);
        let shape = |group: &str| folder.read().unwrap().group(group).unwrap().variables["mu"].shape.clone();
        assert_eq!([shape("warmup_posterior"), shape("posterior")], [[2, 20], [2, 6]]);
    }

    /// So many draws that the run is not at its end when the user stops it, which is when its folder is there.
    #[test]
    fn a_batch_that_is_stopped_goes_on_from_its_last_draw() {
        static STOPS: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let problem = Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap();
        let config = SamplerConfig { chains: 2, draws: 100_000_000, tune: 50, ..SamplerConfig::default() };
        let state = SetState::Open(Begin::Anew(config.clone()), None);
        let (name, run) = ("schools".to_owned(), dir.path().join("schools"));
        let mut sets = [Set { number: 0, name, dir: run.clone(), config, problem: Some(Arc::clone(&problem)), state }];
        let mut prepared = on_one_thread();
        let place = prepared.device.open().unwrap();
        let interrupt = Interrupt::by_flag(&STOPS);
        let mut session = BatchSession { prepared: &mut prepared, place: &place, interrupt, worker: None, quiet: true };
        let stopped = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    if run.join("run.toml").exists() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                STOPS.store(true, Ordering::Relaxed);
            });
            session.draw(&mut sets).unwrap()
        });
        assert!(stopped && !sets[0].state.has_ended());
        assert_eq!(RunFolder::open(&run).unwrap().record().status, RunStatus::Interrupted);
        let state = RunWriter::resume(&run).unwrap().state.expect("a checkpoint");
        let again = place.begin(problem.density(), Begin::GoOn(state)).unwrap();
        assert!(again.done() > 0);
    }
}
