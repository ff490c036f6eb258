//! Runs with a goal (targets of R-hat and effective sample size, a time limit): they end when their draws suffice.
//!
//! A look summarises the draws that there are so far. Looks are taken at fixed numbers of draws, each a quarter larger
//! than the last. The run ends with the draws of the first look that meets all targets, and what the chains have drawn
//! during that look is dropped. So a run ends at the same draw however long a look takes.

use crate::{EndedBy, Ending, Goal, RunError, RunFolder, RunRecord, RunWriter, diagnose_options};
use octopus_density::LogDensity;
use octopus_diag::{ParameterSummary, Summary, summary, summary_of_many};
use octopus_sampler::{Block, Phase};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// The draws of each chain at the first look; fewer draws of a few chains say nothing.
const FIRST_LOOK: usize = 50;
/// The draws of each chain at the first look at many short chains, which are compared with each other instead.
const FIRST_LOOK_OF_MANY: usize = 1;

/// Returns the numbers of draws of each chain at which a run is looked at, each a quarter more than the last; `of_many`
/// is for many short chains.
pub(crate) fn looks(of_many: bool) -> impl Iterator<Item = usize> {
    let first = if of_many { FIRST_LOOK_OF_MANY } else { FIRST_LOOK };
    std::iter::successors(Some(first), |&look| Some(look + look.div_ceil(4)))
}

/// A monitor over a run with a goal. For a run without a goal, every block passes through.
pub(crate) struct ConvergenceMonitor {
    goal: Goal,
    check: Check,
    /// The draws of each chain at the next look.
    next: usize,
    /// The most draws that each chain may make.
    total: usize,
    /// The draws of each chain so far, including those that are held.
    drawn: usize,
    /// The look that goes on, if one does.
    pending: Option<Receiver<Result<Option<Shortfall>, RunError>>>,
    /// The draws of each chain at the latest look.
    looked_at: usize,
    /// The blocks drawn since that look began.
    held: Vec<Block>,
    /// The parameter that was farthest from its target when a look last fell short.
    last: Option<Shortfall>,
}

/// The decision whether a run goes on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// The run goes on.
    GoOn,
    /// All targets are met.
    Met,
}

impl ConvergenceMonitor {
    /// Makes a monitor over the run of `record` in the folder `dir`, which has `drawn` draws of each chain.
    pub(crate) fn new(record: &RunRecord, dir: &Path, drawn: usize) -> Self {
        let total = record.sampler.draws;
        let mut monitor = Self {
            goal: record.goal.unwrap_or_default(),
            check: Check::new(record, dir),
            next: 0,
            total,
            drawn,
            pending: None,
            looked_at: 0,
            held: Vec::new(),
            last: None,
        };
        monitor.next = monitor.look_after(drawn);
        monitor
    }

    fn has_targets(&self) -> bool {
        self.goal.target_ess.is_some() || self.goal.target_rhat.is_some()
    }

    /// Returns the number of draws at the first look after `drawn` draws.
    fn look_after(&self, drawn: usize) -> usize {
        looks(self.check.superchains.is_some())
            .find(|&look| look > drawn)
            .map_or(self.total, |look| look.min(self.total))
    }

    /// Returns the most draws that each chain may make until the next look.
    pub(crate) fn limit(&self) -> usize {
        if self.has_targets() { self.next.saturating_sub(self.drawn).max(1) } else { usize::MAX }
    }

    /// Returns whether everything that was drawn has been written, which is the moment for a checkpoint.
    pub(crate) fn is_clear(&self) -> bool {
        self.pending.is_none()
    }

    /// Returns whether the run ends after `seconds`. Without draws it does not end for its time.
    pub(crate) fn is_late(&self, seconds: f64) -> bool {
        self.drawn > 0 && self.goal.is_over(seconds)
    }

    /// Takes a block: writes it to the folder, or holds it while a look goes on.
    ///
    /// # Errors
    /// When the folder cannot be written or read.
    pub(crate) fn take(
        &mut self,
        block: Block,
        writer: &mut RunWriter,
        density: &dyn LogDensity,
    ) -> Result<Step, RunError> {
        if block.phase == Phase::Sampling {
            self.drawn += block.draws;
        }
        if block.phase == Phase::Warmup || !self.has_targets() {
            writer.append(&block, density)?;
            return Ok(Step::GoOn);
        }
        self.held.push(block);
        // The last look must have ended before the next one begins.
        if self.end_look(self.drawn == self.next, writer, density)? == Step::Met {
            return Ok(Step::Met);
        }
        if self.drawn == self.next {
            writer.flush()?;
            (self.pending, self.looked_at) = (Some(self.check.begin(self.goal)), self.drawn);
            self.next = self.look_after(self.drawn);
        }
        Ok(Step::GoOn)
    }

    /// Waits for the look that goes on, if one does, and writes what was held unless the look met all targets.
    ///
    /// # Errors
    /// When the folder cannot be written or read.
    pub(crate) fn settle(&mut self, writer: &mut RunWriter, density: &dyn LogDensity) -> Result<Step, RunError> {
        self.end_look(true, writer, density)
    }

    /// Takes the answer of a look that has ended, or with `wait` waits for the answer. Then writes the held blocks, or
    /// drops them where all targets are met.
    fn end_look(&mut self, wait: bool, writer: &mut RunWriter, density: &dyn LogDensity) -> Result<Step, RunError> {
        if let Some(pending) = &self.pending {
            let answer = match pending.try_recv() {
                Err(TryRecvError::Empty) if wait => pending.recv().ok(),
                Err(TryRecvError::Empty) => return Ok(Step::GoOn),
                answer => answer.ok(),
            };
            self.pending = None;
            match answer.ok_or(RunError::LookFailed)?? {
                None => {
                    self.drawn = self.looked_at;
                    self.held.clear();
                    return Ok(Step::Met);
                }
                shortfall => self.last = shortfall,
            }
        }
        for block in self.held.drain(..) {
            writer.append(&block, density)?;
        }
        Ok(Step::GoOn)
    }

    /// Returns how the run has ended; `None` for a run without a goal.
    pub(crate) fn ending(&self, by: EndedBy) -> Option<Ending> {
        (self.goal != Goal::default()).then(|| Ending {
            by,
            draws: self.drawn,
            last: self.last.as_ref().map(ToString::to_string),
        })
    }
}

/// The settings of a look.
struct Check {
    dir: PathBuf,
    superchains: Option<usize>,
    prob: f64,
}

impl Check {
    fn new(record: &RunRecord, dir: &Path) -> Self {
        let options = diagnose_options(record);
        Self { dir: dir.to_owned(), superchains: options.superchains, prob: options.prob }
    }

    /// Looks at the draws in the folder, on a new thread. The answer is the parameter that is farthest from its target,
    /// or `None` when all targets are met.
    fn begin(&self, goal: Goal) -> Receiver<Result<Option<Shortfall>, RunError>> {
        let (sender, receiver) = channel();
        let (dir, superchains, prob) = (self.dir.clone(), self.superchains, self.prob);
        std::thread::spawn(move || {
            let answer = summarise(&dir, superchains, prob).map(|found| Shortfall::worst(&found, goal));
            // Where sampling has failed, nobody waits for the answer any more.
            let _ = sender.send(answer);
        });
        receiver
    }
}

fn summarise(dir: &Path, superchains: Option<usize>, prob: f64) -> Result<Summary, RunError> {
    let data = RunFolder::open(dir)?.read()?;
    let posterior = data.posterior().ok_or_else(|| RunError::NoDraws { path: dir.to_owned() })?;
    Ok(match superchains {
        Some(superchains) => summary_of_many(posterior, prob, superchains)?,
        None => summary(posterior, prob)?,
    })
}

/// A parameter that has not met a target.
#[derive(Clone, Debug, PartialEq)]
struct Shortfall {
    parameter: String,
    what: &'static str,
    value: f64,
    target: f64,
    draws: usize,
}

impl Shortfall {
    /// Returns the parameter that is farthest from its target; `None` when all targets are met. A statistic that is not
    /// defined counts as farthest, and a constant parameter meets its targets.
    fn worst(found: &Summary, goal: Goal) -> Option<Self> {
        let of = |p: &ParameterSummary, what, value: f64, target: f64, ratio: f64| {
            let shortfall = Self { parameter: p.name.clone(), what, value, target, draws: found.draws };
            let met = ratio < 1.0;
            (!met).then(|| (if ratio.is_nan() { f64::INFINITY } else { ratio }, shortfall))
        };
        let shortfalls = found.parameters.iter().filter(|p| !p.constant).flat_map(|p| {
            let ess = goal.target_ess.into_iter().flat_map(move |target| {
                [("bulk-ESS", p.ess_bulk), ("tail-ESS", p.ess_tail)]
                    .map(|(what, ess)| of(p, what, ess, target, if ess >= target { 0.0 } else { target / ess }))
            });
            let rhat = goal.target_rhat.map(|target| of(p, "R-hat", p.rhat, target, (p.rhat - 1.0) / (target - 1.0)));
            ess.chain(rhat).flatten()
        });
        shortfalls.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, shortfall)| shortfall)
    }
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { parameter, what, value, target, draws } = self;
        match *what {
            "R-hat" => write!(f, "R-hat of {parameter}: {value:.4} with {draws} draws, {target} wanted"),
            _ => write!(f, "{what} of {parameter}: {value:.0} with {draws} draws, {target} wanted"),
        }
    }
}

impl Goal {
    /// Returns whether its time is over after `seconds`.
    pub(crate) fn is_over(&self, seconds: f64) -> bool {
        self.max_seconds.is_some_and(|most| seconds >= most)
    }
}

impl Ending {
    /// Describes in words how a run with a goal ended; `took` is the time of warm-up and sampling.
    pub fn describe(&self, took: Duration) -> String {
        let why = match self.by {
            EndedBy::Target => "all targets are met",
            EndedBy::Draws => "no more draws were allowed (--draws)",
            EndedBy::Time => "the time was over (--max-seconds)",
        };
        let last = match (&self.last, self.by) {
            (None, _) => String::new(),
            (Some(last), EndedBy::Target) => format!("; last to arrive: {last}"),
            (Some(last), _) => format!("; farthest from its target: {last}"),
        };
        format!("ended after {} draws of each chain and {:.2} s: {why}{last}", self.draws, took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CreateOptions;
    use crate::tests::{CHAINS, Toy, block, record};
    use octopus_trace::{Array, Dataset, Values};

    fn posterior(stuck: bool) -> Summary {
        let draw = |c: usize, d: usize| ((c * 977 + d * 7919) % 1009) as f64 / 1009.0;
        let values = |stuck: f64| (0..4).flat_map(|c| (0..200).map(move |d| draw(c, d) + stuck * c as f64)).collect();
        let mut posterior = Dataset::default();
        let dims = [("chain", 4), ("draw", 200)];
        posterior.insert("a", Array::new(dims, Values::F64(values(0.0))));
        posterior.insert("b", Array::new(dims, Values::F64(values(if stuck { 1.0 } else { 0.0 }))));
        posterior.insert("c", Array::new(dims, Values::F64(vec![3.0; 800])));
        summary(&posterior, 0.89).unwrap()
    }

    #[test]
    fn the_worst_parameter_is_named() {
        let goal = Goal { target_ess: Some(100.0), target_rhat: Some(1.05), max_seconds: None };
        assert_eq!(Shortfall::worst(&posterior(false), goal), None);
        let worst = Shortfall::worst(&posterior(true), goal).unwrap();
        assert_eq!((worst.parameter.as_str(), worst.draws), ("b", 200));
        let rhat = Goal { target_ess: None, ..goal };
        let text = Shortfall::worst(&posterior(true), rhat).unwrap().to_string();
        assert!(text.starts_with("R-hat of b: ") && text.ends_with(" with 200 draws, 1.05 wanted"), "{text}");
        let with = |rhat: f64| {
            let mut found = posterior(false);
            found.parameters[0].rhat = rhat;
            Shortfall::worst(&found, Goal { target_rhat: Some(1.05), ..Goal::default() })
        };
        assert!(with(1.049).is_none() && with(1.051).is_some() && with(f64::NAN).is_some());
        // A target is met below it.
        assert_eq!(with(1.05).unwrap().to_string(), "R-hat of a: 1.0500 with 200 draws, 1.05 wanted");
        let mut found = posterior(false);
        (found.parameters[0].ess_bulk, found.parameters[1].ess_bulk) = (50.0, 100.0);
        let goal = Goal { target_ess: Some(150.0), ..Goal::default() };
        (found.parameters[0].ess_tail, found.parameters[1].ess_tail) = (150.0, 1000.0);
        let worst = Shortfall::worst(&found, goal).unwrap().to_string();
        assert_eq!(worst, "bulk-ESS of a: 50 with 200 draws, 150 wanted");
        let much = Goal { target_ess: Some(1e6), target_rhat: None, max_seconds: None };
        assert!(Shortfall::worst(&posterior(false), much).unwrap().what.ends_with("-ESS"));
    }

    #[test]
    fn looks_are_fixed_and_end_with_the_run() {
        let of = |draws: usize, many: bool| {
            let sampler = octopus_sampler::SamplerConfig {
                draws,
                strategy: if many { octopus_sampler::Strategy::ManyShort } else { Default::default() },
                ..Default::default()
            };
            let mut record = RunRecord::new(Default::default(), sampler, Default::default());
            record.goal = Some(Goal { target_ess: Some(1.0), ..Goal::default() });
            record
        };
        let looks = |draws, many| {
            let monitor = ConvergenceMonitor::new(&of(draws, many), Path::new("."), 0);
            let looks = std::iter::successors(Some(monitor.next), move |&look| Some(monitor.look_after(look)));
            looks.take_while(|&look| look < draws).collect::<Vec<_>>()
        };
        assert_eq!(looks(200, false), [50, 63, 79, 99, 124, 155, 194]);
        assert_eq!(looks(20, true), [1, 2, 3, 4, 5, 7, 9, 12, 15, 19]);
        assert_eq!(looks(40, false), [0; 0], "a look at the end only");
        let mut monitor = ConvergenceMonitor::new(&of(200, false), Path::new("."), 63);
        assert_eq!((monitor.next, monitor.limit()), (79, 16));
        // Who asks for one draw more after the last learns that there is none.
        let ended = ConvergenceMonitor::new(&of(200, false), Path::new("."), 200);
        assert_eq!((ended.next, ended.limit()), (200, 1));
        monitor.goal = Goal { max_seconds: Some(2.0), ..Goal::default() };
        assert_eq!(monitor.limit(), usize::MAX, "there is nothing to look for");
        assert!(monitor.is_late(2.0) && !monitor.is_late(1.99));
        monitor.drawn = 0;
        assert!(!monitor.is_late(3.0), "there is no draw yet");
    }

    /// The look at two draws lasts until the test lets it end.
    #[test]
    fn sampling_goes_on_during_a_look_and_what_it_draws_is_dropped_where_targets_are_met() {
        let toy = Toy::new(2);
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(dir.path(), record(&toy), CreateOptions::default()).unwrap();
        let goal = Some(Goal { target_ess: Some(1.0), ..Goal::default() });
        let mut monitor = ConvergenceMonitor::new(&RunRecord { goal, ..record(&toy) }, dir.path(), 2);
        let (answer, pending) = channel();
        let (go, wait) = channel();
        let look = std::thread::spawn(move || {
            // Where sampling wrongly waits for the look, it waits for this.
            let _ = wait.recv_timeout(Duration::from_secs(5));
            answer.send(Ok(None)).unwrap();
        });
        (monitor.pending, monitor.looked_at) = (Some(pending), 2);
        let drawn = block(Phase::Sampling, 2, 3, CHAINS, toy.dim());
        assert_eq!(monitor.take(drawn, &mut writer, &toy).unwrap(), Step::GoOn);
        assert_eq!((monitor.drawn, monitor.held.len(), monitor.is_clear()), (5, 1, false));
        go.send(()).unwrap();
        assert_eq!(monitor.settle(&mut writer, &toy).unwrap(), Step::Met);
        assert_eq!((monitor.drawn, monitor.held.len(), monitor.is_clear()), (2, 0, true));
        assert_eq!(writer.draws(Phase::Sampling), 0, "what was held is not written");
        look.join().unwrap();
    }

    #[test]
    fn an_ending_says_why_and_what_was_last() {
        let of = |by, last: Option<&str>| {
            let ending = Ending { by, draws: 63, last: last.map(str::to_owned) };
            ending.describe(Duration::from_millis(1250))
        };
        let begin = "ended after 63 draws of each chain and 1.25 s: ";
        for (by, last, end) in [
            (EndedBy::Target, None, "all targets are met"),
            (EndedBy::Target, Some("x"), "all targets are met; last to arrive: x"),
            (EndedBy::Draws, Some("x"), "no more draws were allowed (--draws); farthest from its target: x"),
            (EndedBy::Time, None, "the time was over (--max-seconds)"),
        ] {
            assert_eq!(of(by, last), format!("{begin}{end}"));
        }
    }
}
