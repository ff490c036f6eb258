//! The folder of the one build: the sources with faults, the programs built from them, and the answers so far.

use super::journal::Journal;
use super::list::ListedFault;
use super::packages::{EVERY_FEATURE, Packages};
use super::record::Tried;
use super::{TRIED, apart, switch};
use crate::bundle::sha256;
use crate::mutants::workshop::Workshop;
use crate::run::{self, cargo};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What decides how a trial ends: the sources, the tests and what they read. The list of equivalent faults does not: it
/// is read anew each time.
const DECISIVE: [&str; 6] = ["Cargo.toml", "Cargo.lock", "crates", "benchmarks", "kernels", "vendor"];

/// The version of how faults are placed and tried; one more makes all that is known void.
const METHOD: u32 = 5;
/// The same for faults in the target folder of the workspace.
const METHOD_APART: u32 = 7;

/// The file that says what the rest of the folder was made from.
const KEY: &str = "key";

/// The file with what was tried with other sources or other tests.
const EARLIER: &str = "earlier.jsonl";

pub(super) struct Folder {
    path: PathBuf,
    /// The target folder of the sources without faults and the profile, if those with faults are built there too.
    shared: Option<(PathBuf, String)>,
}

impl Folder {
    /// Opens the folder for all faults, beside the copy of the sources; what is known of other sources or other faults is
    /// thrown away.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(super) fn open(workshop: &Workshop, faults: &[ListedFault]) -> Result<Self> {
        let folder = Self { path: workshop.build().with_file_name("one-build"), shared: None };
        let key = key(METHOD, workshop.source(), faults)?;
        if !folder.is_of(&key) {
            folder.renew(workshop)?;
            // Only now: a copy that was broken off is made again.
            folder.write_text(KEY, &key)?;
        }
        Ok(folder)
    }

    /// Opens the folder `name` for faults that are built in the target folder `built`, in its profile, as what they do not
    /// reach is there already: the workspace has been built.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(super) fn apart(
        workshop: &Workshop,
        name: &str,
        built: (&Path, &str),
        faults: &[ListedFault],
        packages: &Packages,
    ) -> Result<Self> {
        let (path, shared) = (workshop.build().with_file_name(name), Some((built.0.to_owned(), built.1.to_owned())));
        let folder = Self { path, shared };
        let key = key(METHOD_APART, workshop.source(), faults)?;
        if !folder.is_of(&key) {
            folder.renew(workshop)?;
            let with_faults = faults.iter().flat_map(ListedFault::packages).collect();
            apart::set_apart(&folder.source(), packages, &packages.above(&with_faults), built.1)?;
            packages.write_every_feature(&folder.source())?;
            folder.write_text(KEY, &key)?;
        }
        Ok(folder)
    }

    /// Returns whether the folder was made from what `key` is of.
    fn is_of(&self, key: &str) -> bool {
        fs::read_to_string(self.file(KEY)).is_ok_and(|known| known == key)
    }

    fn renew(&self, workshop: &Workshop) -> Result<()> {
        self.forget()?;
        workshop.copy_to(&self.source())
    }

    /// Removes what is known, but not what is built: most of that serves again. Which test has noticed which fault is
    /// kept apart, as advice.
    fn forget(&self) -> Result<()> {
        fs::create_dir_all(&self.path).with_context(|| format!("cannot make {}", self.path.display()))?;
        let known = self.earlier()?.into_iter().chain(Journal::<Tried>::read(&self.file(TRIED))?);
        let noticed = known.filter(|tried| tried.noticed_by.is_some());
        let earlier: BTreeMap<String, Tried> = noticed.map(|tried| (tried.name.clone(), tried)).collect();
        for entry in fs::read_dir(&self.path).with_context(|| format!("cannot read {}", self.path.display()))? {
            let path = entry.context("cannot read a folder's entry")?.path();
            if path.is_file() {
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        let mut journal = Journal::open(&self.file(EARLIER))?.0;
        earlier.values().try_for_each(|tried| journal.add(tried))
    }

    /// Returns which tests have noticed faults of other sources, or before there were other tests.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn earlier(&self) -> Result<Vec<Tried>> {
        Journal::read(&self.file(EARLIER))
    }

    /// Returns the folder of the sources with faults.
    pub(super) fn source(&self) -> PathBuf {
        self.path.join("source")
    }

    /// Returns the folder of the crate that says which fault is on.
    pub(super) fn switch(&self) -> PathBuf {
        self.path.join("switch")
    }

    /// Returns the profile that the sources with faults are built in.
    pub(super) fn profile(&self) -> &str {
        self.shared.as_ref().map_or("release", |(_, profile)| profile)
    }

    /// Returns the arguments that tell nextest the profile; none for its own.
    pub(super) fn profile_for_nextest(&self) -> Vec<&str> {
        if self.profile() == "dev" { Vec::new() } else { vec!["--cargo-profile", self.profile()] }
    }

    /// Returns the path of one of the files of what is known.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads what [`write`](Self::write) has written; nothing when it has not.
    ///
    /// # Errors
    /// When it was written by something else.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.file(name);
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        serde_json::from_str(&text).map(Some).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Writes something that is known.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        self.write_text(name, &serde_json::to_string(value).context("cannot be written as JSON")?)
    }

    fn write_text(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Makes the seven packages depend on the crate that says which fault is on, and writes that crate.
    ///
    /// # Errors
    /// When a manifest has no dependencies or a file cannot be written.
    pub(super) fn write_switch(&self, workshop: &Workshop, crates: &[&str], faults: usize) -> Result<()> {
        switch::write(&self.switch(), faults)?;
        for name in crates {
            let manifest = Path::new("crates").join(name).join("Cargo.toml");
            let text = fs::read_to_string(workshop.source().join(&manifest))
                .with_context(|| format!("cannot read {}", manifest.display()))?;
            let changed = switch::depend(&text, "../../../switch").with_context(|| manifest.display().to_string())?;
            let path = self.source().join(&manifest);
            fs::write(&path, changed).with_context(|| format!("cannot write {}", path.display()))?;
            for root in ["src/lib.rs", "src/main.rs"] {
                let path = Path::new("crates").join(name).join(root);
                if let Ok(text) = fs::read_to_string(workshop.source().join(&path)) {
                    let path = self.source().join(path);
                    let permitted = switch::permitted(&path, &text);
                    fs::write(&path, permitted).with_context(|| format!("cannot write {}", path.display()))?;
                }
            }
        }
        Ok(())
    }

    /// Fetches the dependencies, so that no network is needed to put the switch into the lock file.
    ///
    /// # Errors
    /// When they cannot be fetched.
    pub(super) fn fetch(workshop: &Workshop) -> Result<()> {
        let fetched = run::status(&mut cargo(workshop.source(), &["fetch"]))?;
        if fetched.success() { Ok(()) } else { bail!("the dependencies could not be fetched") }
    }

    /// Returns cargo for the sources with faults.
    pub(super) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(&self.source(), arguments);
        command.arg("--offline");
        match &self.shared {
            // Other flags would build everything anew.
            Some((target, _)) => command.env("CARGO_TARGET_DIR", target),
            None => {
                command.env("CARGO_TARGET_DIR", self.path.join("build"));
                // What faults make of code, lints have something to say about. Nobody debugs it.
                command.env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            }
        };
        command
    }

    /// Returns cargo for the tests of these `packages`, of a change, with what others have made as it is.
    pub(super) fn cargo_of(&self, arguments: &[&str], packages: &BTreeSet<String>) -> Command {
        let mut command = self.cargo(arguments);
        let packages = packages.iter().map(String::as_str).chain([EVERY_FEATURE]);
        // Not the examples.
        command.args(packages.map(|package| format!("--package={package}"))).arg("--tests");
        command
    }
}

/// Returns a hash of all that the trial depends on.
fn key(method: u32, source: &Path, faults: &[ListedFault]) -> Result<String> {
    let mut lines = format!("method {method}\n");
    for name in DECISIVE {
        add(&mut lines, &source.join(name))?;
    }
    for fault in faults {
        lines += &fault.name;
        lines.push('\n');
    }
    Ok(sha256(lines.as_bytes()))
}

/// Adds a line with the hash of a file, or of each file of a folder in the order of their names.
fn add(lines: &mut String, path: &Path) -> Result<()> {
    let failed = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let entries: std::io::Result<Vec<_>> = fs::read_dir(path).with_context(failed)?.collect();
        let mut paths: Vec<PathBuf> = entries.with_context(failed)?.iter().map(fs::DirEntry::path).collect();
        paths.sort();
        return paths.iter().try_for_each(|path| add(lines, path));
    }
    *lines += &format!("{} {}\n", path.display(), sha256(&fs::read(path).with_context(failed)?));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_of_every_file_that_decides() {
        let folder = std::env::temp_dir().join(format!("octopus-one-build-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            key(METHOD, &folder, &[]).unwrap_or_default()
        };
        for name in DECISIVE {
            write(&format!("{name}{}", if name.starts_with("Cargo") { "" } else { "/a" }), "1");
        }
        let first = write("crates/b/c.rs", "x");
        assert_eq!(first.len(), 64);
        assert_eq!(write("docs/a.md", "y"), first);
        assert_eq!(write("xtask/equivalent-faults.toml", "equivalent = []"), first);
        assert_ne!(write("crates/b/c.rs", "y"), first);
        assert_eq!(write("crates/b/c.rs", "x"), first);
        assert_ne!(write("crates/b/d.rs", ""), first);
        fs::remove_dir_all(folder).unwrap();
    }
}
