//! Finding the outcomes that a folder lacks: all of them, the ones of a part, or what can be claimed.
//!
//! How often outcomes are written, and how long a process waits for others that have the rest, stand here.

use super::worker::{Worker, WorkerRecord, WorkerState, process_name, read_records};
use super::{Claims, OutcomeTable, Outcomes, WorkPart, clear};
use crate::args::ShareArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::{Countdown, Timer};
use anyhow::Result;
use serde_json::json;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

/// The time between two files of outcomes, which is what a power cut costs at most.
const FILE: Duration = Duration::from_secs(2);
/// The time until a process looks again whether others have ended.
pub(crate) const WAIT: Duration = Duration::from_millis(500);
/// The most lines about parts.
const TOLD: usize = 10;

/// The pieces of a command's work, and who does which.
pub(crate) struct SharedWork<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) share: &'a ShareArgs,
    /// The number of pieces, and the number of the first.
    pub(crate) all: usize,
    pub(crate) first: u64,
    /// What the pieces are called.
    pub(crate) pieces: &'static str,
    /// How many pieces are claimed together.
    pub(crate) block: usize,
    pub(crate) quiet: bool,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// The numbers of the pieces that are to be done, and what takes each outcome.
pub(crate) type MissingNumbers<'a> = Box<dyn Iterator<Item = u64> + Send + 'a>;
pub(crate) type Keep<'a, O> = &'a mut dyn FnMut(O) -> Result<()>;
/// What finds the outcomes of pieces.
pub(crate) type FindMissing<'a, O> = &'a mut dyn FnMut(MissingNumbers<'_>, Keep<'_, O>) -> Result<()>;

impl SharedWork<'_> {
    /// The beginning of the names of this process's files of outcomes.
    pub(crate) fn label(&self) -> String {
        match self.share.part {
            Some(part) => format!("part-{}", part.file_name()),
            None if self.share.claim => format!("claim-{}", process_name()),
            None => "part".to_owned(),
        }
    }

    /// The numbers of this process's pieces that have no outcome.
    fn missing<T: OutcomeTable>(&self, outcomes: &Outcomes<T>) -> Vec<usize> {
        let is_own = |&piece: &usize| self.share.part.is_none_or(|part| part.has(piece));
        let is_missing = |&piece: &usize| !outcomes.found().contains_key(&(self.first + piece as u64));
        (0..self.all).filter(is_own).filter(is_missing).collect()
    }

    /// Does this process's pieces that have no outcome by `run`, and keeps their outcomes. Returns whether all of them
    /// have one, which is false when it was asked to stop.
    ///
    /// # Errors
    /// When `run` fails, or the folder cannot be used; outcomes that were found are kept.
    pub(crate) fn find<T: OutcomeTable>(
        &self,
        outcomes: &mut Outcomes<T>,
        run: FindMissing<'_, T::Outcome>,
    ) -> Result<bool> {
        let worker = Worker::begin(self.folder, self.share, self.all)?;
        let mut claims = match &worker {
            Some(worker) if self.share.claim => Some(Claims::begin(self.folder, worker, self.share.lease())?),
            _ => None,
        };
        let mut missing = self.missing(outcomes);
        if !self.share.is_shared() {
            let lost: BTreeSet<usize> = missing.iter().copied().collect();
            left_by_parts(self.folder, self.pieces, &|piece| lost.contains(&piece))?.iter().for_each(output::note);
        }
        let mut countdown = Countdown::begin(missing.len(), self.pieces, self.quiet, Instant::now());
        while !missing.is_empty() && !(self.stop)() {
            if let Some(worker) = &worker {
                worker.are_done(worker.own() - missing.len());
            }
            let mut new = Vec::new();
            let mut file = Timer::start(FILE, Instant::now());
            let mut keep = |outcome| {
                new.push(outcome);
                worker.iter().for_each(|worker| worker.one_more(false));
                if file.due(Instant::now()) {
                    outcomes.add(&mut new)?;
                    file = Timer::start(FILE, Instant::now());
                }
                countdown.one_more(Instant::now()).iter().for_each(output::note);
                Ok(())
            };
            let (mut taken, mut failed) = (0, None);
            let numbers: MissingNumbers<'_> = match &mut claims {
                None => Box::new(missing.iter().map(|&piece| self.first + piece as u64)),
                Some(claims) => Box::new(self.claimed(claims, &missing, &mut taken, &mut failed)),
            };
            let ended = run(numbers, &mut keep);
            // What is done is kept even when another piece has failed.
            outcomes.add(&mut new)?;
            ended?;
            if let Some(error) = failed {
                return Err(error);
            }
            if claims.is_none() {
                missing = self.missing(outcomes);
                break;
            }
            if taken == 0 {
                std::thread::sleep(WAIT);
            }
            outcomes.refresh()?;
            missing = self.missing(outcomes);
        }
        let is_complete = missing.is_empty();
        if is_complete && !self.share.is_shared() {
            clear(self.folder, &[])?;
        }
        if let Some(worker) = worker {
            worker.are_done(worker.own() - missing.len());
            worker.end(if is_complete { WorkerState::Complete } else { WorkerState::Interrupted })?;
        }
        Ok(is_complete)
    }

    /// The numbers of missing pieces, block by block as they are claimed.
    fn claimed<'a>(
        &'a self,
        claims: &'a mut Claims,
        missing: &'a [usize],
        taken: &'a mut usize,
        failed: &'a mut Option<anyhow::Error>,
    ) -> impl Iterator<Item = u64> + Send + 'a {
        let mut blocks = claims.order(self.all.div_ceil(self.block));
        let mut pieces = VecDeque::new();
        std::iter::from_fn(move || {
            while pieces.is_empty() {
                let block = blocks.next()?;
                let (first, last) = (block * self.block, (block + 1) * self.block);
                let of_block = &missing[missing.partition_point(|&piece| piece < first)..];
                let of_block = &of_block[..of_block.partition_point(|&piece| piece < last)];
                if of_block.is_empty() {
                    continue;
                }
                match claims.take(block) {
                    Ok(true) => pieces.extend(of_block.iter().copied()),
                    Ok(false) => {}
                    Err(error) => {
                        *failed = Some(error);
                        return None;
                    }
                }
            }
            *taken += 1;
            pieces.pop_front().map(|piece| self.first + piece as u64)
        })
    }
}

/// Tells what is there after a process has done its share of a number of pieces.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn tell_share(
    folder: &Path,
    share: &ShareArgs,
    (pieces, all, there): (&str, usize, usize),
    json: bool,
) -> Result<Exit> {
    if json {
        let part = share.part.map(|part| part.to_string());
        output::print_json(&json!({ "schema": 1, "status": "shared", "part": part, "all": all, "there": there }))?;
    } else {
        let own = share.part.map(|part| format!("part {part} is complete"));
        output::print(&format!(
            "{}: {there} of {all} {pieces} are there\nfolder: {}\nthe same command without --part and --claim finds the \
             result of all",
            own.unwrap_or_else(|| "nothing is left to claim".to_owned()),
            folder.display()
        ))?;
    }
    Ok(Exit::Fine)
}

/// Returns what is missing of which part of the work in a folder, and why, as far as the parts' records say.
///
/// # Errors
/// When the records cannot be read.
pub(crate) fn left_by_parts(folder: &Path, pieces: &str, is_missing: &dyn Fn(usize) -> bool) -> Result<Vec<String>> {
    let (records, damaged) = read_records(folder)?;
    let mut lines: Vec<String> =
        damaged.iter().map(|path| format!("{}: a damaged record of a part", path.display())).collect();
    let numbers: BTreeSet<usize> = records.iter().filter_map(WorkerRecord::work_part).map(WorkPart::parts).collect();
    for parts in numbers {
        let all = records.iter().filter(|record| record.work_part().is_some_and(|part| part.parts() == parts));
        let all = all.map(|record| record.all).max().unwrap_or_default();
        for part in (1..=parts).filter_map(|part| WorkPart::new(part, parts)) {
            let missing = (0..all).filter(|&piece| part.has(piece) && is_missing(piece)).count();
            if missing == 0 {
                continue;
            }
            let why = match records.iter().find(|record| record.work_part() == Some(part)) {
                None => "it has not begun".to_owned(),
                Some(record) => record.ending(),
            };
            lines.push(format!("part {part}: {missing} {pieces} are missing: {why}"));
        }
    }
    let more = lines.len().saturating_sub(TOLD);
    lines.truncate(TOLD);
    lines.extend((more > 0).then(|| format!("and {more} more parts")));
    Ok(lines)
}

impl WorkerRecord {
    /// Says how its process has ended, as a clause.
    fn ending(&self) -> String {
        let Self { host, process, .. } = self;
        match self.state {
            WorkerState::Running => format!("it is at work, or was killed (process {process} on {host})"),
            WorkerState::Complete => "it was complete once".to_owned(),
            WorkerState::Interrupted => format!("it was interrupted on {host}"),
            WorkerState::Failed => format!("it has failed on {host}"),
        }
    }
}
