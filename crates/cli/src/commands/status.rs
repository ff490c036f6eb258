//! `octopus status FOLDER` tells how far the processes are that share a folder.
//!
//! A process is at work if its record changes while this one looks, whatever any clock says. How long it looks stands
//! here.

use crate::args::{Global, StatusArgs};
use crate::exit::Exit;
use crate::output;
use crate::share::{BEAT, WHOLE, WorkPart, WorkerRecord, WorkerState, read_records};
use anyhow::{Result, bail};
use octopus_diag::{TableLook, TextColumn, counted, text_table};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time in which a process that is at work gives a sign of life, and how often the records are read meanwhile.
const LOOK: Duration = BEAT.saturating_mul(3);
const AGAIN: Duration = Duration::from_millis(200);
/// The time until it looks again whether all is done.
const WAIT: Duration = Duration::from_secs(5);

/// What a process is found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Seen {
    Running,
    /// It has not ended, and gives no sign of life.
    Stale,
    Interrupted,
    Failed,
    Complete,
}

/// A process as it was seen.
#[derive(Debug, Serialize)]
struct SeenProcess {
    name: String,
    part: Option<String>,
    host: String,
    process: u32,
    state: Seen,
    /// The number of its own pieces, and how many are done, how many by itself, and how many of those have failed.
    own: usize,
    done: usize,
    drawn: usize,
    failed: usize,
    seconds: f64,
    seconds_left: Option<f64>,
}

/// How far the work in a folder is.
#[derive(Debug, Serialize)]
struct FolderStatus {
    schema: u32,
    folder: PathBuf,
    /// The number of pieces of the whole, and how many are done.
    all: usize,
    done: usize,
    failed: usize,
    seconds_left: Option<f64>,
    /// Whether the whole was put together.
    is_complete: bool,
    /// Parts that have not begun.
    missing: Vec<String>,
    processes: Vec<SeenProcess>,
    /// Records that cannot be read.
    damaged: Vec<PathBuf>,
}

/// Tells how far the processes in a folder are.
///
/// # Errors
/// When nobody shares or has shared the folder, or it cannot be read.
pub(crate) fn run(args: &StatusArgs, global: Global) -> Result<Exit> {
    let status = loop {
        let status = look(args)?;
        match status {
            Some(status) if !args.wait || status.is_complete || status.done == status.all => break status,
            None if !args.wait => {
                bail!("{}: nobody shares it, or has shared it (--part, --claim)", args.folder.display())
            }
            _ => std::thread::sleep(WAIT),
        }
    };
    if global.json {
        output::print_json(&status)?;
    } else {
        output::print(&status.to_text())?;
    }
    Ok(if status.is_well() { Exit::Fine } else { Exit::Bad })
}

/// Looks at the records of a folder until it is clear who is at work; `None` where there are none.
fn look(args: &StatusArgs) -> Result<Option<FolderStatus>> {
    let (first, _) = read_records(&args.folder)?;
    let is_running = |record: &WorkerRecord| record.state == WorkerState::Running;
    let before: BTreeMap<String, WorkerRecord> =
        first.iter().filter(|&record| is_running(record)).map(|record| (record.name.clone(), record.clone())).collect();
    let begin = Instant::now();
    let (records, damaged) = loop {
        let (records, damaged) = read_records(&args.folder)?;
        let is_quiet = records.iter().any(|record| is_running(record) && before.get(&record.name) == Some(record));
        if !is_quiet || begin.elapsed() >= LOOK {
            break (records, damaged);
        }
        std::thread::sleep(AGAIN);
    };
    if records.is_empty() && damaged.is_empty() {
        return Ok(None);
    }
    let state = |record: &WorkerRecord| match record.state {
        WorkerState::Running if before.get(&record.name) == Some(record) => Seen::Stale,
        WorkerState::Running => Seen::Running,
        WorkerState::Complete => Seen::Complete,
        WorkerState::Interrupted => Seen::Interrupted,
        WorkerState::Failed => Seen::Failed,
    };
    let seen: Vec<(WorkerRecord, Seen)> = records.into_iter().map(|record| (record.clone(), state(&record))).collect();
    Ok(Some(FolderStatus::of(args.folder.clone(), seen, damaged)))
}

impl FolderStatus {
    fn of(folder: PathBuf, seen: Vec<(WorkerRecord, Seen)>, damaged: Vec<PathBuf>) -> Self {
        let all = seen.iter().map(|(record, _)| record.all).max().unwrap_or_default();
        // Processes that claim pieces share them: they do what is left together.
        let speed = |record: &WorkerRecord| record.drawn as f64 / record.seconds.max(1e-9);
        let claims = seen.iter().filter(|(record, state)| record.part.is_none() && *state == Seen::Running);
        let together: f64 = claims.map(|(record, _)| speed(record)).sum();
        let left = |record: &WorkerRecord, state: Seen| {
            let speed = if record.part.is_some() { speed(record) } else { together };
            (state == Seen::Running && speed > 0.0).then(|| record.own.saturating_sub(record.done) as f64 / speed)
        };
        let numbers: BTreeSet<usize> =
            seen.iter().filter_map(|(record, _)| record.work_part()).map(WorkPart::parts).collect();
        let of_parts = |parts: usize| {
            let own =
                seen.iter().filter(move |(record, _)| record.work_part().is_some_and(|part| part.parts() == parts));
            own.map(|(record, _)| record.done).sum::<usize>()
        };
        let heap = seen.iter().filter(|(record, _)| record.part.is_none()).map(|(record, _)| record.done);
        let done = numbers.iter().map(|&parts| of_parts(parts)).chain(heap).max().unwrap_or_default();
        let missing = numbers.iter().flat_map(|&parts| (1..=parts).filter_map(move |part| WorkPart::new(part, parts)));
        let has_begun = |part: &WorkPart| seen.iter().any(|(record, _)| record.work_part() == Some(*part));
        let missing = missing.filter(|part| !has_begun(part)).map(|part| part.to_string()).collect();
        let is_complete = seen.iter().any(|(record, state)| record.name == WHOLE && *state == Seen::Complete);
        let processes: Vec<SeenProcess> = seen
            .into_iter()
            .map(|(record, state)| SeenProcess {
                seconds_left: left(&record, state),
                name: record.name,
                part: record.part,
                host: record.host,
                process: record.process,
                state,
                own: record.own,
                done: record.done,
                drawn: record.drawn,
                failed: record.failed,
                seconds: record.seconds,
            })
            .collect();
        let seconds_left = processes.iter().filter_map(|process| process.seconds_left).reduce(f64::max);
        let failed = processes.iter().map(|process| process.failed).sum();
        Self { schema: 1, folder, all, done, failed, seconds_left, is_complete, missing, processes, damaged }
    }

    /// Whether nobody need look after it: all is done, or everyone is at work.
    fn is_well(&self) -> bool {
        let is_well = |process: &SeenProcess| matches!(process.state, Seen::Running | Seen::Complete);
        let all_at_work = self.missing.is_empty() && self.damaged.is_empty() && self.processes.iter().all(is_well);
        self.is_complete || all_at_work || self.done == self.all
    }

    fn to_text(&self) -> String {
        let words = ["part", "state", "machine"].map(TextColumn::left);
        let numbers = ["done", "of", "failed", "seconds left"].map(TextColumn::right);
        let columns = [&words[..], &numbers].concat();
        let row = |process: &SeenProcess| {
            let state = format!("{:?}", process.state).to_lowercase();
            [
                process.part.clone().unwrap_or_else(|| if process.name == WHOLE { WHOLE } else { "claims" }.to_owned()),
                state,
                format!("{} ({})", process.host, process.process),
                if process.part.is_some() || process.name == WHOLE { process.done } else { process.drawn }.to_string(),
                process.own.to_string(),
                process.failed.to_string(),
                process.seconds_left.map(|seconds| format!("{seconds:.0}")).unwrap_or_default(),
            ]
        };
        let rows: Vec<_> = self.processes.iter().map(row).collect();
        let mut text = text_table(&columns, &rows, TableLook::default());
        for part in &self.missing {
            text += &format!("part {part} has not begun\n");
        }
        for path in &self.damaged {
            text += &format!("{}: a damaged record of a part\n", path.display());
        }
        let left = self.seconds_left.map(|seconds| format!(", {seconds:.0} s left")).unwrap_or_default();
        let whole = if self.is_complete { ", and put together" } else { "" };
        let count = |state| self.processes.iter().filter(|process| process.state == state).count();
        let [running, stale] = [Seen::Running, Seen::Stale].map(count);
        text + &format!(
            "{} of {} done{whole}{left}: {} at work, {stale} without a sign of life",
            self.done,
            counted(self.all, "piece"),
            if running == 1 { "1 process".to_owned() } else { format!("{running} processes") }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, part: Option<&str>, state: &str, numbers: [usize; 4]) -> WorkerRecord {
        let [own, done, drawn, failed] = numbers;
        serde_json::from_value(serde_json::json!({
            "schema": 1, "name": name, "part": part, "host": "node", "process": 7, "octopus": "0", "begun": "", "state": state,
            "all": 40, "own": own, "done": done, "drawn": drawn, "failed": failed, "seconds": 10.0, "beats": 3,
        }))
        .unwrap()
    }

    #[test]
    fn parts_are_added_up_and_what_is_missing_or_stale_is_told() {
        let parts = || {
            vec![
                (record("1-of-4", Some("1/4"), "complete", [10, 10, 10, 1]), Seen::Complete),
                (record("2-of-4", Some("2/4"), "running", [10, 6, 5, 0]), Seen::Running),
                (record("4-of-4", Some("4/4"), "running", [10, 3, 3, 0]), Seen::Stale),
            ]
        };
        let found = FolderStatus::of("x".into(), parts(), vec![]);
        assert_eq!((found.all, found.done, found.failed, found.is_complete), (40, 19, 1, false));
        // Four are left at one in two seconds.
        assert_eq!((found.seconds_left, found.missing.clone()), (Some(8.0), vec!["3/4".to_owned()]));
        assert!(!found.is_well());
        let text = found.to_text();
        for words in ["part 3/4 has not begun", "19 of 40 pieces done, 8 s left: 1 process at work, 1 without a sign"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let whole = (record(WHOLE, None, "complete", [40, 40, 21, 0]), Seen::Complete);
        let found = FolderStatus::of("x".into(), parts().into_iter().chain([whole]).collect(), vec![]);
        assert!(found.is_complete && found.is_well() && found.done == 40, "{found:?}");
        let running = parts().into_iter().take(2).map(|(mut record, state)| {
            record.part = record.part.map(|part| part.replace("/4", "/2"));
            (record, state)
        });
        assert!(FolderStatus::of("x".into(), running.collect(), vec![]).is_well());
    }

    #[test]
    fn claims_are_of_one_heap() {
        let one = (record("a-1-1", None, "running", [40, 20, 5, 0]), Seen::Running);
        let two = (record("b-1-1", None, "running", [40, 18, 15, 0]), Seen::Running);
        let found = FolderStatus::of("x".into(), vec![one, two], vec![]);
        // Two in a second, together.
        assert_eq!((found.done, found.seconds_left), (20, Some(11.0)));
        assert!(found.is_well());
        let found = FolderStatus::of("x".into(), vec![], vec!["x/parts/1-of-2.json".into()]);
        assert!(!FolderStatus { all: 1, ..found }.is_well());
    }
}
