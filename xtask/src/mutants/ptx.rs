//! `cargo xtask mutants --ptx`: faults in single lines of the committed PTX, and what notices them.
//!
//! Launches of each kernel are recorded, in small runs and in others, with the memory before and after, and others are made
//! of them (`varied`). Each is then run again by the interpreter with one line changed: in lock-step, in random orders, and
//! with all checks. A fault is noticed when a launch fails or leaves other bits; of the others it is asked why (`excuses`).

mod after;
mod edges;
mod excuses;
mod idle;
mod kinds;
#[cfg(test)]
mod trial;
mod varied;
mod ways;

use super::equivalent::Equivalents;
use crate::aligned::aligned;
use crate::interpret;
use crate::place::target;
use crate::ptx::{CommittedText, committed_texts};
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, bail};
use excuses::{Excuse, excuse};
use kinds::KINDS;
use octopus_ptx::{Module, Order, Recording, Replay};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// The faults of each kind in each family of kernels.
const OF_EACH: usize = 3;

/// The random orders that each fault is tried in.
const SEEDS: [u64; 2] = [1, 2];

/// Launches of more warp instructions take too long with checks.
const MOST_INSTRUCTIONS: u64 = 3_000_000;

/// The faults that no run can notice, each with its reason.
const EQUIVALENT: &str = "xtask/equivalent-ptx-faults.toml";

/// A fault of one line.
struct PtxFault {
    family: String,
    kind: &'static str,
    entry: String,
    /// The line, from 1, and what stood there and stands there now.
    line: usize,
    old: String,
    new: String,
}

/// What noticed a fault.
#[derive(Clone, Copy, Default)]
struct Noticed {
    lock_step: bool,
    random: bool,
    checks: bool,
    /// The excuse says why no run of these launches can notice it; a fault that was noticed has none.
    excuse: Option<Excuse>,
}

impl Noticed {
    fn by_any(self) -> bool {
        self.lock_step || self.random || self.checks
    }
}

/// A kernel whose launches run again.
struct Known {
    text: String,
    /// Each with how many warp instructions it takes.
    recordings: Vec<(Recording, u64)>,
    /// How many of them the program has made.
    own: usize,
    /// How often lanes have done each instruction in these.
    lanes: Vec<u64>,
}

/// Tries `OF_EACH` faults of each kind in each family of kernels.
///
/// # Errors
/// When the launches cannot be recorded or run again, or the list of equivalent faults cannot be read.
pub(super) fn run(root: &Path) -> Result<TaskOutcome> {
    run::timed("mutants --ptx", || {
        let known = known(root)?;
        let faults = faults(&known);
        eprintln!("xtask: {} faults in {} kernels", faults.len(), known.len());
        let equivalents = Equivalents::read_list(root, EQUIVALENT)?;
        let noticed = faults.par_iter().map(|fault| notice(&known[&fault.entry], fault));
        let noticed = noticed.collect::<Result<Vec<Noticed>>>()?;
        println!("{}", table(&faults, &noticed));
        let mut survivors = 0;
        for (fault, noticed) in faults.iter().zip(&noticed).filter(|(_, noticed)| !noticed.by_any()) {
            let key = fault.key();
            let reason = match noticed.excuse {
                Some(excuse) => excuse.reason(),
                None if equivalents.lists(&key) => "listed",
                None => {
                    survivors += 1;
                    "NOT NOTICED"
                }
            };
            println!("{reason}: {key} (line {}: {})", fault.line, fault.old);
        }
        println!("{survivors} of {} faults were not noticed and have no reason in {EQUIVALENT}", faults.len());
        Ok(if survivors == 0 { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
    })
}

/// Records launches of small runs and of arrays, and runs each again as it was.
fn known(root: &Path) -> Result<BTreeMap<String, Known>> {
    let folder = target(root).join("mutants/ptx-launches");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot replace {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folders = interpret::record(root, &folder)?;
    let mut texts: HashMap<String, String> = HashMap::new();
    for CommittedText { text, .. } in committed_texts(root)? {
        let names: Vec<String> = entry_names(&text).map(str::to_owned).collect();
        names.into_iter().for_each(|name| drop(texts.insert(name, text.clone())));
    }
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut paths = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            paths.push(entry.context("cannot read a folder's entry")?.path());
        }
    }
    // The order of a folder's entries is nobody's.
    paths.sort_unstable();
    for path in paths {
        let recording = Recording::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = recording.entry.clone();
        let text = texts.get(&name).with_context(|| format!("no committed module has {name}"))?.clone();
        let module = Module::parse(&text)?;
        let replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };
        let (outcome, same) = recording.replay(&module, replay).context("the module has the kernel")?;
        if !same || outcome.fault.is_some() {
            bail!("{}: run again it leaves other bits: {:?}", path.display(), outcome.fault);
        }
        let all: u64 = outcome.counts.iter().map(|count| count.warps).sum();
        if all > MOST_INSTRUCTIONS {
            eprintln!("xtask: left out: {} takes {all} warp instructions", path.display());
            continue;
        }
        let none = vec![0; outcome.counts.len()];
        let kernel = known.entry(name).or_insert_with(|| Known { text, recordings: Vec::new(), own: 0, lanes: none });
        kernel.lanes.iter_mut().zip(&outcome.counts).for_each(|(lanes, count)| *lanes += count.lanes);
        let like = varied::like(&recording, &module, all, kernel.own);
        kernel.own += 1;
        kernel.recordings.push((recording, all));
        kernel.recordings.extend(like.into_iter().map(|recording| (recording, all)));
    }
    Ok(known)
}

fn entry_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(".visible .entry ")).map(|name| name.trim_end_matches('('))
}

/// Chooses faults: of each kind in each family, at lines that are reached, spread over all of them.
fn faults(known: &BTreeMap<String, Known>) -> Vec<PtxFault> {
    let mut places: BTreeMap<(String, usize), Vec<PtxFault>> = BTreeMap::new();
    for (entry, known) in known {
        let Ok(module) = Module::parse(&known.text) else { continue };
        let Some(instructions) = module.entry(entry).map(octopus_ptx::Entry::instructions) else { continue };
        let lines: Vec<&str> = known.text.lines().collect();
        for ((line, _), _) in instructions.zip(&known.lanes).filter(|(_, lanes)| **lanes > 0) {
            let line = line as usize;
            for (number, kind) in KINDS.iter().enumerate() {
                if let Some(new) = kind.of(lines[line - 1]) {
                    let (family, old) = (family(entry), lines[line - 1].trim().to_owned());
                    let fault = PtxFault { family, kind: kind.name, entry: entry.clone(), line, old, new };
                    places.entry((fault.family.clone(), number)).or_default().push(fault);
                }
            }
        }
    }
    let spread = |mut all: Vec<PtxFault>| {
        let step = all.len().div_ceil(OF_EACH).max(1);
        let chosen: Vec<usize> = (0..all.len()).step_by(step).map(|at| at + (step - 1) / 2).collect();
        let mut number = 0;
        all.retain(|_| {
            number += 1;
            chosen.contains(&(number - 1))
        });
        all
    };
    places.into_values().flat_map(spread).collect()
}

/// Returns the family of a kernel: its name without density, precision and the rows of a lane.
fn family(entry: &str) -> String {
    let words = ["hierarchical_normal_", "eight_schools_", "f64_", "f32_", "mixed_", "_f64", "_f32", "_mixed"];
    let plain = words.iter().fold(entry.to_owned(), |name, word| name.replace(word, ""));
    match plain.split_once('x') {
        Some((stem, rest)) if stem.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("{stem}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ if plain.starts_with("nuts") => plain,
        _ => family_of_arrays(entry).to_owned(),
    }
}

/// Returns the family of a kernel of arrays.
fn family_of_arrays(entry: &str) -> &'static str {
    const REDUCTIONS: [&str; 6] = ["array_sum", "array_dot", "array_min", "array_max", "rows_", "columns_"];
    let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| entry.starts_with(beginning));
    match () {
        () if is(&["draw_"]) => "draws",
        () if is(&["random_"]) => "random",
        () if is(&["matmul"]) => "matmul",
        () if is(&REDUCTIONS) => "reductions",
        () => "arrays",
    }
}

fn notice(known: &Known, fault: &PtxFault) -> Result<Noticed> {
    let faulty = with_lines(&known.text, &[(fault.line, &fault.new)]);
    // What is no program is noticed by whoever reads it.
    let Ok(module) = Module::parse(&faulty) else {
        return Ok(Noticed { lock_step: true, random: true, checks: true, excuse: None });
    };
    let random = SEEDS.iter().map(|seed| notices(known, &module, Order::Random(*seed), false));
    let mut noticed = Noticed {
        lock_step: notices(known, &module, Order::LockStep, false)?,
        random: random.collect::<Result<Vec<bool>>>()?.contains(&true),
        checks: notices(known, &module, Order::LockStep, true)?,
        excuse: None,
    };
    if !noticed.by_any() {
        noticed.excuse = excuse(known, fault)?;
    }
    Ok(noticed)
}

/// Returns how often lanes may meet in a launch of so many warp instructions before it counts as endless.
fn most_joins(all: u64) -> u64 {
    20 * all + 1000
}

/// Returns whether a launch of this module fails or leaves other bits.
fn notices(known: &Known, module: &Module, order: Order, checked: bool) -> Result<bool> {
    for (recording, all) in &known.recordings {
        let replay = Replay { order, checked, most_joins: most_joins(*all) };
        let (outcome, same) = recording.replay(module, replay).context("the module has the kernel")?;
        if outcome.fault.is_some() || !same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the text with other lines in the place of some, by their numbers from 1.
fn with_lines(text: &str, changed: &[(usize, &str)]) -> String {
    let line = |(at, line)| changed.iter().find(|(number, _)| *number == at + 1).map_or(line, |(_, new)| *new);
    text.lines().enumerate().map(line).collect::<Vec<&str>>().join("\n")
}

/// A line for each kind: how many faults, and how many each way has noticed.
fn table(faults: &[PtxFault], noticed: &[Noticed]) -> String {
    let head = ["kind", "faults", "lock-step", "random order", "checks", "any"];
    let head = head.into_iter().chain(Excuse::ALL.map(Excuse::reason));
    let mut lines = vec![head.map(str::to_owned).collect::<Vec<String>>()];
    let mut line = |name: &str, of: &dyn Fn(&PtxFault) -> bool| {
        let those: Vec<Noticed> = faults.iter().zip(noticed).filter(|(fault, _)| of(fault)).map(|(_, n)| *n).collect();
        let count = |by: fn(&Noticed) -> bool| those.iter().filter(|noticed| by(noticed)).count().to_string();
        let counts = [count(|n| n.lock_step), count(|n| n.random), count(|n| n.checks), count(|n| n.by_any())];
        let excused = |why| those.iter().filter(|noticed| noticed.excuse == Some(why)).count().to_string();
        let counts = counts.into_iter().chain(Excuse::ALL.map(excused));
        lines.push([name.to_owned(), those.len().to_string()].into_iter().chain(counts).collect());
    };
    KINDS.iter().for_each(|kind| line(kind.name, &|fault| fault.kind == kind.name));
    let families: BTreeSet<&str> = faults.iter().map(|fault| fault.family.as_str()).collect();
    families.iter().for_each(|family| line(family, &|fault| fault.family == *family));
    line("all", &|_| true);
    aligned(2, lines)
}

impl PtxFault {
    /// Returns how the list of equivalent faults names it: without what another compilation changes, the line's number and
    /// those of registers. Only a line that something else tells from others, a constant, belongs in the list.
    fn key(&self) -> String {
        let unnumbered = self.old.split('%').enumerate().map(|(k, part)| {
            let name = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let kind = &part[..part.len() - name.len()];
            if k == 0 {
                part.to_owned()
            } else {
                format!("{kind}{}", name.trim_start_matches(|c: char| c.is_ascii_digit()))
            }
        });
        let words = unnumbered.collect::<Vec<String>>().join("%");
        let words = words.split_whitespace().collect::<Vec<&str>>().join(" ");
        format!("{}: {}: {words}", self.entry, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_names_that_another_compilation_leaves() {
        let fault = |line, old: &str| PtxFault {
            family: String::new(),
            kind: "sum for product",
            entry: "k".to_owned(),
            line,
            old: old.to_owned(),
            new: String::new(),
        };
        let key = fault(7, "mul.rn.f64 \t%fd12, %fd3, 0d3FAE1E1E1E1E1E1E;").key();
        assert_eq!(key, "k: sum for product: mul.rn.f64 %fd, %fd, 0d3FAE1E1E1E1E1E1E;");
        assert_eq!(key, fault(9, "mul.rn.f64 \t%fd1, %fd33, 0d3FAE1E1E1E1E1E1E;").key());
        assert_ne!(key, fault(7, "mul.rn.f64 \t%fd12, %fd3, 0d3FB1111111111111;").key());
        assert_eq!(fault(1, "@%p1 bra \t$L__BB0_1;").key(), "k: sum for product: @%p bra $L__BB0_1;");
    }

    #[test]
    fn lines_are_changed_by_their_numbers() {
        assert_eq!(with_lines("a\nb\nc", &[(1, ""), (3, "d")]), "\nb\nd");
    }

    #[test]
    fn kernels_have_families() {
        for (entry, expected) in [
            ("nuts_run_hierarchical_normal_f64_32x4", "nuts_run_32"),
            ("nuts_run_hierarchical_normal_mixed_128x8_team", "nuts_run_128_team"),
            ("nuts_restart_batch_eight_schools_f32_32x1", "nuts_restart_batch_32"),
            ("nuts_windows_apply", "nuts_windows_apply"),
            ("array_broadcast_add_f64", "arrays"),
            ("array_sum_f32", "reductions"),
            ("columns_max_f64", "reductions"),
            ("matmul_f32", "matmul"),
            ("draw_von_mises_each_f32", "draws"),
            ("random_normal_f64", "random"),
        ] {
            assert_eq!(family(entry), expected);
        }
    }
}
