//! A run that ends when its draws suffice: looked at while sampling goes on.
//!
//! Draws are looked at when there are certain numbers of them, each a quarter larger than the last, and the run ends at the
//! first of these that meets all targets, whatever the chains have drawn meanwhile: so it ends at the same draw however
//! long a look takes.

use crate::{EndedBy, Ending, Goal, RunError, RunFolder, RunRecord, RunWriter, diagnose_options};
use octopus_density::LogDensity;
use octopus_diag::{ParameterSummary, Summary, summary, summary_of_many};
use octopus_sampler::{Block, Phase};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// Draws of each chain at the first look: fewer say nothing about chains that few draws are asked of.
const FIRST_LOOK: usize = 50;
/// Of chains that are compared with each other instead.
const FIRST_LOOK_OF_MANY: usize = 1;

/// Draws of each chain at which a run is looked at, each a quarter more than the last.
pub(crate) fn looks(of_many: bool) -> impl Iterator<Item = usize> {
    let first = if of_many { FIRST_LOOK_OF_MANY } else { FIRST_LOOK };
    std::iter::successors(Some(first), |&look| Some(look + look.div_ceil(4)))
}

/// Watches over a run with a goal; over one without, it lets everything pass.
pub(crate) struct Watch {
    goal: Goal,
    look: Look,
    /// Draws of each chain at the next look.
    next: usize,
    /// All draws that there may be.
    total: usize,
    /// Draws of each chain, those that are held included.
    drawn: usize,
    /// The look that goes on.
    pending: Option<Receiver<Result<Option<Shortfall>, RunError>>>,
    /// Draws of each chain that it looks at.
    looked_at: usize,
    /// What was drawn since it began.
    held: Vec<Block>,
    /// What was short of its target at the last look.
    last: Option<Shortfall>,
}

/// Whether a run goes on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// It does.
    GoOn,
    /// All targets are met.
    Met,
}

impl Watch {
    /// Over the run of `record` in `dir`, of which `drawn` draws of each chain are there.
    pub(crate) fn new(record: &RunRecord, dir: &Path, drawn: usize) -> Self {
        let total = record.sampler.draws;
        let mut watch = Self {
            goal: record.goal.unwrap_or_default(),
            look: Look::new(record, dir),
            next: 0,
            total,
            drawn,
            pending: None,
            looked_at: 0,
            held: Vec::new(),
            last: None,
        };
        watch.next = watch.look_after(drawn);
        watch
    }

    fn has_targets(&self) -> bool {
        self.goal.target_ess.is_some() || self.goal.target_rhat.is_some()
    }

    /// The first look at more than `drawn` draws.
    fn look_after(&self, drawn: usize) -> usize {
        looks(self.look.superchains.is_some())
            .find(|&look| look > drawn)
            .map_or(self.total, |look| look.min(self.total))
    }

    /// The most draws until the next look.
    pub(crate) fn limit(&self) -> usize {
        if self.has_targets() { self.next.saturating_sub(self.drawn).max(1) } else { usize::MAX }
    }

    /// Whether everything that was drawn has been written: the moment for a checkpoint.
    pub(crate) fn is_clear(&self) -> bool {
        self.pending.is_none()
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self, seconds: f64) -> bool {
        self.drawn > 0 && self.goal.max_seconds.is_some_and(|most| seconds >= most)
    }

    /// Takes a block: to the folder, or, while a look goes on, until that has ended.
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
        // At the next look the last one must have ended.
        if self.end_look(self.drawn == self.next, writer, density)? == Step::Met {
            return Ok(Step::Met);
        }
        if self.drawn == self.next && self.pending.is_none() {
            writer.flush()?;
            (self.pending, self.looked_at) = (Some(self.look.begin(self.goal)), self.drawn);
            self.next = self.look_after(self.drawn);
        }
        Ok(Step::GoOn)
    }

    /// Waits for the look that goes on, if one does.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(crate) fn settle(&mut self, writer: &mut RunWriter, density: &dyn LogDensity) -> Result<Step, RunError> {
        self.end_look(true, writer, density)
    }

    /// Takes the answer of a look that has ended, or that must be waited for; writes what was held, unless it is not needed.
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

    /// How the run has ended; none for a run without a goal.
    pub(crate) fn ending(&self, by: EndedBy) -> Option<Ending> {
        (self.goal != Goal::default()).then(|| Ending {
            by,
            draws: self.drawn,
            last: self.last.as_ref().map(ToString::to_string),
        })
    }
}

/// What a look needs to know.
struct Look {
    dir: PathBuf,
    superchains: Option<usize>,
    prob: f64,
}

impl Look {
    fn new(record: &RunRecord, dir: &Path) -> Self {
        let options = diagnose_options(record);
        Self { dir: dir.to_owned(), superchains: options.superchains, prob: options.prob }
    }

    /// Looks at the draws in the folder, on a thread of its own; the answer is what is farthest from its target.
    fn begin(&self, goal: Goal) -> Receiver<Result<Option<Shortfall>, RunError>> {
        let (sender, receiver) = channel();
        let (dir, superchains, prob) = (self.dir.clone(), self.superchains, self.prob);
        std::thread::spawn(move || {
            let answer = summarise(&dir, superchains, prob).map(|found| Shortfall::worst(&found, goal));
            // Nobody waits any more where sampling has failed.
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
    /// The one that has farthest to go; none when all targets are met. What is not defined is not met; constants are.
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

impl Ending {
    /// Returns the end of a run with a goal in words; `took` is the time of warm-up and sampling.
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
        let much = Goal { target_ess: Some(1e6), target_rhat: None, max_seconds: None };
        assert!(Shortfall::worst(&posterior(false), much).unwrap().what.ends_with("-ESS"));
    }

    #[test]
    fn looks_are_fixed_and_end_with_the_run() {
        let record = |draws: usize, many: bool| {
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
            let watch = Watch::new(&record(draws, many), Path::new("."), 0);
            let looks = std::iter::successors(Some(watch.next), move |&look| Some(watch.look_after(look)));
            looks.take_while(|&look| look < draws).collect::<Vec<_>>()
        };
        assert_eq!(looks(200, false), [50, 63, 79, 99, 124, 155, 194]);
        assert_eq!(looks(20, true), [1, 2, 3, 4, 5, 7, 9, 12, 15, 19]);
        assert_eq!(looks(40, false), [0; 0], "a look at the end only");
        assert_eq!(Watch::new(&record(200, false), Path::new("."), 63).next, 79);
    }
}
