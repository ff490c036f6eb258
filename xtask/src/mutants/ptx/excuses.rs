//! Why a fault is not noticed: what the launches themselves can show, by text that asks while it runs.
//!
//! An excuse holds for the launches that there are, as being noticed does. What none of them shows is a survivor.

use super::{Known, PtxFault, after, idle, most_joins, notices, ways, with_lines};
use anyhow::{Context, Result};
use octopus_ptx::{LaunchFault, Module, Order, Recording, Replay};

/// Why a fault is not noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Excuse {
    /// Barriers of the same kind do what it did: without them, the checks find more if it is gone too.
    Doubled,
    /// Behind a barrier nothing follows that it could order.
    Last,
    /// The changed line gives the value that it gave before, in each lane of each launch.
    Idle,
    /// Some lines behind the changed one, before anything is stored, each register that other lines name has the value that
    /// it had, in each lane of each launch.
    SoonSame,
    /// Nobody uses what the changed line gives in the lanes where it gives something else: with anything else in its place
    /// the launches leave the same.
    Unused,
}

impl Excuse {
    pub(super) const ALL: [Self; 5] = [Self::Doubled, Self::Last, Self::Idle, Self::SoonSame, Self::Unused];

    /// Returns how the table and the list name it.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Doubled => "doubled by others",
            Self::Last => "nothing follows",
            Self::Idle => "without effect",
            Self::SoonSame => "soon the same",
            Self::Unused => "unused",
        }
    }
}

/// Returns why no run of these launches can notice a fault, if that can be shown.
pub(super) fn excuse(known: &Known, fault: &PtxFault) -> Result<Option<Excuse>> {
    if fault.new.is_empty() && !fault.old.starts_with("st.") {
        if after::orders_nothing(&known.text, fault.line) {
            return Ok(Some(Excuse::Last));
        }
        return Ok(is_doubled(known, fault)?.then_some(Excuse::Doubled));
    }
    let is_noticed = |text: &str| match Module::parse(text) {
        Ok(module) => notices(known, &module, Order::LockStep, false),
        // What cannot be asked is not excused.
        Err(_) => Ok(true),
    };
    let (old, new) = (fault.old.as_str(), fault.new.as_str());
    let in_place = |lines: &String| idle::in_place(&known.text, fault.line, lines);
    if let Some(lines) = idle::both(old, new)
        && !is_noticed(&in_place(&lines))?
    {
        return Ok(Some(Excuse::Idle));
    }
    for text in ways::both(&known.text, fault.line, new, None) {
        if !is_noticed(&text)? {
            return Ok(Some(Excuse::SoonSame));
        }
    }
    let all_pass = |texts: &mut dyn Iterator<Item = Option<String>>| -> Result<bool> {
        for text in texts {
            if text.map_or(Ok(true), |text| is_noticed(&text))? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let poisonings: [&dyn Fn(u64) -> Option<String>; 3] = [
        &|poison| idle::poisoned(old, new, poison),
        &|poison| idle::poisoned_store(old, new, poison, false),
        &|poison| idle::poisoned_store(old, new, poison, true),
    ];
    for poisoned in poisonings {
        let texts = idle::POISONS.map(|poison| poisoned(poison).map(|lines| in_place(&lines)));
        if all_pass(&mut texts.into_iter())? {
            return Ok(Some(Excuse::Unused));
        }
    }
    // The texts of a line are as many with each poison.
    let ways = idle::POISONS.map(|poison| ways::both(&known.text, fault.line, new, Some(poison)));
    for k in 0..ways[0].len() {
        if all_pass(&mut ways.iter().map(|texts| texts.get(k).cloned()))? {
            return Ok(Some(Excuse::Unused));
        }
    }
    Ok(None)
}

/// Returns whether others of its kind do what a barrier or fence does: without it and one beside it a launch is noticed, or
/// the checks of the smallest launch find more without it and all others than without all others.
fn is_doubled(known: &Known, fault: &PtxFault) -> Result<bool> {
    let without = |lines: &[usize]| {
        let lines: Vec<(usize, &str)> = lines.iter().map(|line| (*line, "")).collect();
        Module::parse(&with_lines(&known.text, &lines))
    };
    for other in beside(&known.text, fault) {
        if notices(known, &without(&[fault.line, other])?, Order::LockStep, true)? {
            return Ok(true);
        }
    }
    let Some(small) = smallest(known, fault.line)? else { return Ok(false) };
    let mut lines = others(&known.text, fault);
    let before = findings(small, &without(&lines)?)?;
    lines.push(fault.line);
    let after = findings(small, &without(&lines)?)?;
    // A launch that comes to no end shows nothing.
    let (Some(before), Some(after)) = (before, after) else { return Ok(false) };
    Ok(after.iter().any(|finding| !before.contains(finding)))
}

/// Returns what the checks find in a launch by this module; `None` when it does not come to its end.
fn findings((recording, all): &(Recording, u64), module: &Module) -> Result<Option<Vec<String>>> {
    let replay = Replay { order: Order::LockStep, checked: true, most_joins: most_joins(*all) };
    let (outcome, _) = recording.replay(module, replay).context("the module has the kernel")?;
    Ok(match outcome.fault {
        None => Some(Vec::new()),
        Some(LaunchFault::Findings(findings)) => Some(findings),
        Some(_) => None,
    })
}

/// Returns the nearest lines before and behind a fault's that are as it was.
fn beside(text: &str, fault: &PtxFault) -> impl Iterator<Item = usize> {
    let others = others(text, fault);
    let before = others.iter().copied().find(|line| *line < fault.line);
    let behind = others.iter().copied().find(|line| *line > fault.line);
    [before, behind].into_iter().flatten()
}

/// Returns the lines of the same entry that are as a fault's was, the nearest first.
fn others(text: &str, fault: &PtxFault) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = idle::body(&lines, fault.line);
    let end = lines[begin..].iter().position(|line| *line == "}").map_or(lines.len(), |at| begin + at);
    let is_other = |at: &usize| lines[*at].trim() == fault.old && at + 1 != fault.line;
    let mut others: Vec<usize> = (begin..end).filter(is_other).map(|at| at + 1).collect();
    others.sort_by_key(|line| line.abs_diff(fault.line));
    others
}

/// Returns the launch of the fewest instructions in which a line is reached.
fn smallest(known: &Known, line: usize) -> Result<Option<&(Recording, u64)>> {
    let module = Module::parse(&known.text)?;
    let mut all: Vec<&(Recording, u64)> = known.recordings.iter().collect();
    all.sort_by_key(|(_, all)| *all);
    for launch in all {
        let recording = &launch.0;
        let replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };
        let (outcome, _) = recording.replay(&module, replay).context("the module has the kernel")?;
        let entry = module.entry(&recording.entry).context("the module has the kernel")?;
        let mut lines = entry.instructions().zip(&outcome.counts);
        if lines.any(|((at, _), count)| at as usize == line && count.lanes > 0) {
            return Ok(Some(launch));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_has_others_near_and_far() {
        let text = "{\nbar.sync 0;\nret;\n\tbar.sync 0;\nbar.sync 1;\nbar.sync 0;\nbar.sync 0;\n}\n{\nbar.sync 0;\n}";
        let of = |line| {
            let (family, old) = (String::new(), "bar.sync 0;".to_owned());
            let fault = PtxFault { family, kind: "", entry: String::new(), line, old, new: String::new() };
            (others(text, &fault), beside(text, &fault).collect::<Vec<usize>>())
        };
        assert_eq!(of(2), (vec![4, 6, 7], vec![4]));
        assert_eq!(of(4), (vec![2, 6, 7], vec![2, 6]));
        assert_eq!(of(6), (vec![7, 4, 2], vec![4, 7]));
        assert_eq!(of(10), (vec![], vec![]));
    }
}
