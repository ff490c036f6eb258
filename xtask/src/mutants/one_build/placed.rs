//! Puts all faults into the copied sources, and finds out which of them compile there.

use super::blame::{Blame, Rendered};
use super::folder::Folder;
use super::list::{Genre, ListedFault};
use super::{render, sites, switch};
use crate::mutants::workshop::Workshop;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// The file that keeps it.
const FILE: &str = "placed.json";

/// Rounds of the compiler: a crate is only looked at when those that it depends on compile.
const MOST_ROUNDS: usize = 40;

/// The faults that are not in the one build, by their numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Placed {
    /// They do not compile, wherever they are put.
    pub(super) not_compiling: BTreeSet<usize>,
    /// They cannot be asked about, or not all at once.
    pub(super) left_over: BTreeSet<usize>,
}

impl Placed {
    /// Returns whether a fault is in the one build.
    pub(super) fn has(&self, fault: usize) -> bool {
        !self.not_compiling.contains(&fault) && !self.left_over.contains(&fault)
    }
}

/// A file with faults: its text without them, and their places.
struct Source {
    path: PathBuf,
    text: String,
    found: sites::Found,
}

/// Puts `faults` into the folder's sources, unless they are there: into those of `crates`. `compile` has cargo look at
/// them, with its messages as JSON.
///
/// # Errors
/// When a file cannot be read or written, the sources do not compile without the faults, and those of `compile`.
pub(super) fn place(
    workshop: &Workshop,
    folder: &Folder,
    faults: &[ListedFault],
    crates: &[&str],
    compile: impl Fn() -> Result<Output>,
) -> Result<Placed> {
    if let Some(placed) = folder.read(FILE)? {
        return Ok(placed);
    }
    folder.write_switch(workshop, crates, faults.len())?;
    let sources = read(workshop, folder, faults)?;
    let not_compiling: BTreeSet<usize> = sources.iter().flat_map(|source| &source.found.no_program).copied().collect();
    let mut left_over = without_place(&sources, faults.len());
    left_over.retain(|fault| !not_compiling.contains(fault));
    let mut placed = Placed { not_compiling, left_over };
    eprintln!("xtask: {} of {} faults cannot be asked about", placed.left_over.len(), faults.len());
    for round in 1..=MOST_ROUNDS {
        write(&sources, &placed)?;
        let blame = blame(folder, faults, &compile()?)?;
        if blame.errors == 0 {
            folder.write(FILE, &placed)?;
            return Ok(placed);
        }
        let before = placed.not_compiling.len() + placed.left_over.len();
        placed.not_compiling.extend(blame.not_compiling);
        placed.left_over.extend(blame.left_over);
        placed.left_over.retain(|fault| !placed.not_compiling.contains(fault));
        let taken = placed.not_compiling.len() + placed.left_over.len() - before;
        eprintln!("xtask: round {round}: {} errors, {taken} faults are taken out", blame.errors);
        if taken == 0 {
            bail!("no fault is to blame for:\n{}", blame.unexplained.join("\n"));
        }
    }
    bail!("the sources with faults do not compile after {MOST_ROUNDS} rounds")
}

fn read(workshop: &Workshop, folder: &Folder, faults: &[ListedFault]) -> Result<Vec<Source>> {
    let mut of_file: BTreeMap<&str, Vec<(usize, &ListedFault)>> = BTreeMap::new();
    for (number, fault) in faults.iter().enumerate() {
        // Once for each file, however often it stands there.
        let files: BTreeSet<&str> = fault.places.iter().map(|place| &*place.file).collect();
        let files = if files.is_empty() { BTreeSet::from([&*fault.file]) } else { files };
        for file in files {
            of_file.entry(file).or_default().push((number, fault));
        }
    }
    let source = |(file, faults): (&str, Vec<(usize, &ListedFault)>)| {
        let text = fs::read_to_string(workshop.source().join(file)).with_context(|| format!("cannot read {file}"))?;
        let found = sites::find(file, &text, &faults).with_context(|| file.to_owned())?;
        Ok(Source { path: folder.source().join(file), text, found })
    };
    of_file.into_iter().map(source).collect()
}

/// Returns the faults that are at none of the places.
fn without_place(sources: &[Source], faults: usize) -> BTreeSet<usize> {
    let sites = sources.iter().flat_map(|source| &source.found.sites);
    let placed: BTreeSet<usize> = sites.flat_map(|site| &site.alternatives).map(|one| one.fault).collect();
    (0..faults).filter(|fault| !placed.contains(fault)).collect()
}

fn write(sources: &[Source], placed: &Placed) -> Result<()> {
    let without: BTreeSet<usize> = placed.not_compiling.union(&placed.left_over).copied().collect();
    for source in sources {
        let text = switch::permitted(&source.path, &render::render(&source.text, &source.found.sites, &without));
        // Files that stay as they are need not be compiled again.
        if fs::read_to_string(&source.path).is_ok_and(|known| known == text) {
            continue;
        }
        fs::write(&source.path, text).with_context(|| format!("cannot write {}", source.path.display()))?;
    }
    Ok(())
}

/// Lets the compiler look at the sources with faults of all crates.
///
/// # Errors
/// When cargo cannot be started.
pub(super) fn check(folder: &Folder) -> Result<Output> {
    let mut command =
        folder.cargo(&["check", "--workspace", "--exclude=xtask", "--tests", "--keep-going", "--message-format=json"]);
    command.args(["--profile", folder.profile()]);
    command.output().context("cannot start cargo")
}

/// Finds which faults the compiler has complained of.
fn blame(folder: &Folder, faults: &[ListedFault], output: &Output) -> Result<Blame> {
    let mut rendered = Rendered::new(folder.source(), |fault| faults.get(fault).map_or(Genre::Unknown, |f| f.genre));
    let blame = rendered.blame(&String::from_utf8_lossy(&output.stdout));
    if blame.errors == 0 && !output.status.success() {
        bail!("the sources with faults cannot be compiled:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(blame)
}
