//! `cargo xtask mutants --own`: faults of kinds that cargo-mutants does not make. Numbers are doubled, halved and moved by
//! one, roundings turn, and passed values (settings above all) are replaced by their defaults.
//!
//! All are tried in one build. Faults of a change are tried as cargo-mutants' are: only chosen faults are built.

mod constants;
mod numbers;
mod sources;
mod types;
mod walk;

use super::generated::GeneratedOptions;
use super::one_build::{self, Clock, Genre, ListedFault, Staged};
use super::workshop::Workshop;
use crate::aligned::aligned;
use crate::run::{self, PROFILE, TaskOutcome, git};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The crates that decide something.
pub(super) const CRATES: [&str; 9] =
    ["sampler", "density", "diag", "formats", "runs", "calibrate", "random", "models", "cli"];

/// Which faults are put in, and how they are tried.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnOptions {
    chosen: GeneratedOptions,
    /// They are only counted and named.
    list: bool,
    /// Only the tests of the crates that are chosen are asked; of the lines of a change, those of a fault's own crate.
    alone: bool,
    /// The profile that the tests are built in.
    profile: String,
}

impl OwnOptions {
    /// Reads the arguments after `--own`.
    ///
    /// # Errors
    /// When an argument is not known, or its value is none.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let (mut list, mut alone, mut profile) = (false, false, PROFILE.to_owned());
        let mut others = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--list" => list = true,
                "--alone" => alone = true,
                "--profile" => profile.clone_from(rest.next().context("--profile needs a value")?),
                _ => others.push(argument.clone()),
            }
        }
        Ok(Self { chosen: GeneratedOptions::parse("--own", &CRATES, &others)?, list, alone, profile })
    }
}

/// Lists the faults, or tries them.
///
/// # Errors
/// When the sources cannot be read or copied, or the faults not built or tried.
pub(super) fn run(root: &Path, options: &OwnOptions) -> Result<TaskOutcome> {
    let OwnOptions { chosen, list, alone, profile } = options;
    let mut faults = all(root)?;
    if let Some(revision) = &chosen.since {
        keep_changed(&mut faults, root, revision)?;
    }
    // Numbered before some are left out.
    let lines = one_build::source_lines(root, &faults)?;
    if !list && chosen.since.is_none() {
        return run_at_once(root, &faults, &lines, options);
    }
    let chosen_ones = faults.into_iter().zip(lines).filter(|(fault, _)| is_chosen(fault, chosen));
    let (mut faults, lines): (Vec<ListedFault>, Vec<String>) = chosen_ones.unzip();
    if *list {
        faults.iter().zip(&lines).for_each(|(fault, line)| println!("{}: {line}", fault.name));
        println!("\n{}", table(&faults));
        return Ok(TaskOutcome::Passed);
    }
    if *alone {
        for fault in &mut faults {
            let own = format!("crates/{}/", fault.package.trim_start_matches("octopus-"));
            fault.places.retain(|place| place.file.starts_with(&own));
        }
    }
    if faults.is_empty() {
        bail!("no fault is in the files, crates, lines and part that are asked for");
    }
    let clock = Clock::begin(chosen.limit());
    let workshop = Workshop::open(root)?;
    let how = Staged { workshop: &workshop, root, clock, profile, alone: *alone };
    run::timed("mutants --own", || one_build::staged(&faults, &lines, &how))
}

/// Tries those that are chosen in one build of all.
fn run_at_once(root: &Path, faults: &[ListedFault], lines: &[String], options: &OwnOptions) -> Result<TaskOutcome> {
    let OwnOptions { chosen, profile, alone, .. } = options;
    let numbers: Vec<usize> = (0..faults.len()).filter(|&fault| is_chosen(&faults[fault], chosen)).collect();
    if numbers.is_empty() {
        bail!("no fault is in the files, crates and part that are asked for");
    }
    let workshop = Workshop::open(root)?;
    // The limit is that of the trial: a night's build is not in it.
    let how = Staged { workshop: &workshop, root, clock: Clock::begin(None), profile, alone: *alone };
    run::timed("mutants --own", || one_build::at_once(faults, lines, &numbers, &how, chosen.limit()))
}

/// Tries every `parts`-th fault, another part each day.
///
/// # Errors
/// When [`run()`] has one.
pub(crate) fn of_today(root: &Path, parts: u64) -> Result<TaskOutcome> {
    let today = std::time::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO).as_secs() / 86_400;
    run(root, &OwnOptions::parse(&["--part".to_owned(), format!("{}/{parts}", today % parts + 1)])?)
}

/// Returns the faults in the lines that have changed since `revision`.
///
/// # Errors
/// When the sources or git cannot be read.
pub(super) fn of_change(root: &Path, revision: &str) -> Result<Vec<ListedFault>> {
    let mut faults = all(root)?;
    keep_changed(&mut faults, root, revision)?;
    Ok(faults)
}

fn all(root: &Path) -> Result<Vec<ListedFault>> {
    Ok(walk::all(&sources::read(root, &CRATES)?))
}

fn keep_changed(faults: &mut Vec<ListedFault>, root: &Path, revision: &str) -> Result<()> {
    let changed = sources::changed_lines(&git(root, &["diff", "--unified=0", revision, "--", "crates"])?);
    faults.retain(|fault| {
        changed.iter().any(|(file, lines)| *file == fault.file && lines.contains(&fault.span.start.line))
    });
    Ok(())
}

fn is_chosen(fault: &ListedFault, options: &GeneratedOptions) -> bool {
    let name = fault.package.trim_start_matches("octopus-");
    let of_file = options.files.is_empty() || options.files.iter().any(|part| fault.file.contains(part.as_str()));
    let (k, n) = options.part.unwrap_or((1, 1));
    options.crates.contains(&name) && of_file && hash(&fault.name) % n as u64 == k as u64 - 1
}

/// Returns a number (FNV-1a) that spreads faults over parts: those of one number fall into several.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    // The last bits alone know little of the first letters.
    hash ^ (hash >> 32)
}

/// Returns how many faults of each kind the crates have, and how many of them stand where nothing can be asked.
fn table(faults: &[ListedFault]) -> String {
    let mut rows: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for fault in faults {
        let kind = match fault.genre {
            Genre::Number => 0,
            Genre::Rounding => 1,
            _ => 2,
        };
        for name in [fault.package.trim_start_matches("octopus-"), "\u{10ffff}all"] {
            let counts = rows.entry(name).or_default();
            counts[kind] += 1;
            counts[3] += 1;
            counts[4] += usize::from(fault.places.is_empty());
        }
    }
    let head = ["crate", "numbers", "roundings", "settings", "all", "without a place"].map(str::to_owned).to_vec();
    let row = |(name, counts): (&str, [usize; 5])| {
        let name = name.trim_start_matches('\u{10ffff}').to_owned();
        std::iter::once(name).chain(counts.iter().map(ToString::to_string)).collect()
    };
    aligned(1, std::iter::once(head).chain(rows.into_iter().map(row)))
}
