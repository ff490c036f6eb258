//! `cargo xtask ptx`: the kernels' CUDA C++ to the PTX that is committed, and what each kernel asks of a GPU.
//!
//! The options of the compiler (NVRTC) stand here.
//!
//! A build needs none of this: the PTX is in the repository. `--check` rebuilds it and compares bytes; tests compare
//! the hash of the sources, so that PTX which is older than its sources is noticed without a compiler too.

mod build;
mod cache;
mod exactness;
mod gzip;
mod listing;
mod manifest;
pub(crate) mod resources;
mod signature;
mod sources;
pub(crate) mod tools;

use crate::ffi::Nvrtc;
use crate::place::target;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result};
use build::Built;
use cache::Cache;
use manifest::Manifest;
use resources::Limits;
pub(crate) use sources::sha256;
use sources::{Module, Sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Below the checkout.
const FOLDER: &str = "kernels";
const OUTPUT: &str = "kernels/ptx";
const MANIFEST: &str = "kernels/ptx/manifest.toml";
const LIMITS: &str = "kernels/limits.toml";
/// Below the target folder: the texts of the sampler's units, which are in no file of the repository.
const UNITS: &str = "units";

/// One PTX for the oldest architecture serves all newer ones. Nothing may be contracted, flushed or approximated, and
/// no line numbers, which carry paths.
const OPTIONS: [&str; 6] = [
    "--gpu-architecture=compute_80",
    "--std=c++17",
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
];

/// What to do with the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write it.
    Write,
    /// Compare it with what is committed.
    Check,
    /// The same, but believe what the manifest has of ptxas about PTX that is the same: it took the most time, and the same
    /// ptxas says the same of the same text.
    CheckTexts,
}

impl Mode {
    /// # Errors
    /// A message for the user when the arguments are none that this task knows.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self::Write),
            [word] if word == "--check" => Ok(Self::Check),
            [word] if word == "--check-texts" => Ok(Self::CheckTexts),
            [first, ..] => Err(format!("ptx takes --check, --check-texts or nothing, got {first:?}")),
        }
    }
}

/// Compiles, checks and assembles the kernels; writes or compares the result.
///
/// # Errors
/// When there is no compiler (for [`Mode::Write`]; a check is skipped, aloud), or a file cannot be read or written.
pub(crate) fn run(root: &Path, mode: Mode) -> Result<TaskOutcome> {
    run::timed("ptx", || {
        let tools = match tools::find(root) {
            Ok(tools) => tools,
            Err(error) if mode != Mode::Write => {
                eprintln!("xtask: SKIPPED: the PTX is not rebuilt and compared: {error:#}");
                return Ok(TaskOutcome::Passed);
            }
            Err(error) => return Err(error),
        };
        let cache = Cache::open(&target(root).join("ptx"))?;
        let sources = Sources::read(&root.join(FOLDER))?;
        sources.write_units(&target(root).join(UNITS))?;
        let known = if mode == Mode::CheckTexts { Manifest::read(&root.join(MANIFEST)).ok() } else { None };
        let built = build::build(&sources, &tools, &cache, known.as_ref())?;
        let (made, all) = cache.close();
        eprintln!("xtask: {} modules; {made} of {all} answers of NVRTC and ptxas were not there", built.texts.len());
        println!("{}", resources::table(&built.manifest.entries));
        let nobodys = sources.left_out()?;
        let mut faults: Vec<String> = nobodys.into_iter().map(|path| format!("no module includes {path}")).collect();
        for (module, ptx) in &built.texts {
            let all = exactness::faults(ptx).into_iter().chain(names_a_path(ptx));
            faults.extend(all.map(|fault| format!("{}: {fault}", module.name)));
        }
        faults.extend(Limits::read(&root.join(LIMITS))?.faults(&built.manifest.entries));
        if !faults.is_empty() {
            faults.iter().for_each(|fault| eprintln!("error: {fault}"));
            return Ok(TaskOutcome::Failed(1));
        }
        match mode {
            Mode::Write => write(root, &built),
            Mode::Check | Mode::CheckTexts => compare(root, &built),
        }
    })
}

/// The step of `cargo xtask ci`.
///
/// # Errors
/// Those of [`run()`].
pub(crate) fn step(root: &Path) -> Result<TaskOutcome> {
    run(root, Mode::CheckTexts)
}

/// A word for what carries paths.
fn names_a_path(ptx: &str) -> Option<String> {
    let word = [".file", ".loc", ".section"].into_iter().find(|word| ptx.contains(word))?;
    Some(format!("has {word}, which carries paths"))
}

/// A module's file below the checkout and what is to be in it.
fn output((module, ptx): &(Module, String)) -> (String, Vec<u8>) {
    let bytes = if module.is_packed() { gzip::pack(ptx) } else { ptx.as_bytes().to_vec() };
    (format!("{OUTPUT}/{}", module.file()), bytes)
}

/// The PTX of a module as it lies below `root`.
fn committed(root: &Path, module: &Module) -> Result<String> {
    let file = root.join(OUTPUT).join(module.file());
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    if module.is_packed() {
        return gzip::unpack(&bytes).with_context(|| file.display().to_string());
    }
    // Git may have its own idea of line ends.
    Ok(String::from_utf8(bytes).with_context(|| file.display().to_string())?.replace("\r\n", "\n"))
}

/// A module's PTX.
pub(crate) struct CommittedText {
    /// The module's name.
    pub(crate) name: String,
    /// As it is committed.
    pub(crate) text: String,
}

/// The PTX of each module as it is committed.
///
/// # Errors
/// When one cannot be read.
pub(crate) fn committed_texts(root: &Path) -> Result<Vec<CommittedText>> {
    let text = |module: Module| Ok(CommittedText { text: committed(root, &module)?, name: module.name });
    Sources::read(&root.join(FOLDER))?.modules().into_iter().map(text).collect()
}

/// The sources with their compiler, for whoever needs more of a module than its committed PTX.
pub(crate) struct KernelCompiler {
    sources: Sources,
    nvrtc: Nvrtc,
    identity: String,
    cache: Cache,
}

impl KernelCompiler {
    /// Opens the compiler; its answers are kept in `folder`, below the target folder.
    ///
    /// # Errors
    /// When the sources cannot be read, or the library is no compiler.
    pub(crate) fn open(root: &Path, tools: &tools::Tools, folder: &str) -> Result<Self> {
        Ok(Self {
            sources: Sources::read(&root.join(FOLDER))?,
            nvrtc: Nvrtc::open(&tools.nvrtc)?,
            identity: tools.nvrtc_identity.clone(),
            cache: Cache::open(&target(root).join(folder))?,
        })
    }

    /// A module's PTX with the line numbers of its sources.
    ///
    /// # Errors
    /// When there is no such module, or the compiler refuses it.
    pub(crate) fn with_lines(&self, module: &str) -> Result<String> {
        let modules = self.sources.modules();
        let module =
            modules.iter().find(|there| there.name == module).with_context(|| format!("no module {module}"))?;
        build::compile(&self.sources, module, &self.nvrtc, &self.identity, &self.cache, &["--generate-line-info"])
    }

    /// Forgets the answers that nobody asked for.
    pub(crate) fn close(self) {
        self.cache.close();
    }
}

/// The kernels of a module's PTX, each with the most threads of a block.
///
/// # Errors
/// When a declaration is not understood.
pub(crate) fn threads_of_entries(ptx: &str) -> Result<Vec<(String, u32)>> {
    Ok(listing::entries(ptx)?.into_iter().map(|entry| (entry.name, entry.threads)).collect())
}

/// PTX that is of no module any more.
fn left_over(root: &Path, modules: &[(Module, String)]) -> Result<Vec<String>> {
    let known: BTreeSet<String> = modules.iter().map(|(module, _)| module.file()).collect();
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(OUTPUT)).with_context(|| format!("cannot read {OUTPUT}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if (name.ends_with(".ptx") || name.ends_with(".ptx.gz")) && !known.contains(&name) {
            names.push(format!("{OUTPUT}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

fn write(root: &Path, built: &Built) -> Result<TaskOutcome> {
    let mut same = 0;
    let manifest = (MANIFEST.to_owned(), built.manifest.to_toml().into_bytes());
    for (path, bytes) in built.texts.iter().map(output).chain([manifest]) {
        let full = root.join(&path);
        if fs::read(&full).is_ok_and(|there| there == bytes) {
            same += 1;
        } else {
            fs::write(&full, bytes).with_context(|| format!("cannot write {path}"))?;
            eprintln!("xtask: {path} is written");
        }
    }
    for path in left_over(root, &built.texts)? {
        fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
        eprintln!("xtask: {path} is of no unit and is removed");
    }
    eprintln!("xtask: {same} files of {OUTPUT} were up to date");
    Ok(TaskOutcome::Passed)
}

fn compare(root: &Path, built: &Built) -> Result<TaskOutcome> {
    let manifest = Manifest::read(&root.join(MANIFEST))?;
    let mut stale = Vec::new();
    for text in &built.texts {
        let (path, bytes) = output(text);
        let module = &text.0;
        match committed(root, module) {
            Ok(there) if there != text.1 => stale.push(path),
            // The same text, packed by another program or level.
            Ok(_) if module.is_packed() && !fs::read(root.join(&path)).is_ok_and(|there| there == bytes) => {
                stale.push(path)
            }
            Ok(_) => {}
            Err(error) => {
                eprintln!("xtask: {error:#}");
                stale.push(path);
            }
        }
    }
    if manifest != built.manifest {
        stale.push(MANIFEST.to_owned());
    }
    stale.extend(left_over(root, &built.texts)?);
    stale.iter().for_each(|path| eprintln!("xtask: {path} is stale: run `cargo xtask ptx`"));
    if stale.is_empty() {
        eprintln!("xtask: {} modules and {MANIFEST} are up to date", built.texts.len());
    }
    if manifest.compiler.nvrtc != built.manifest.compiler.nvrtc {
        let (theirs, ours) = (&manifest.compiler.nvrtc, &built.manifest.compiler.nvrtc);
        eprintln!("xtask: the committed PTX is of NVRTC {theirs}, compared was with {ours}");
    }
    Ok(if stale.is_empty() { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sources, each module with its PTX, and the manifest, as they are committed.
    fn all() -> (Sources, Vec<(Module, String)>, Manifest) {
        let root = crate::place::root();
        let sources = Sources::read(&root.join(FOLDER)).unwrap();
        let texts = sources.modules().into_iter().map(|module| {
            let ptx = committed(&root, &module).unwrap_or_else(|error| panic!("{error:#}: run `cargo xtask ptx`"));
            (module, ptx)
        });
        let texts = texts.collect();
        (sources, texts, Manifest::read(&root.join(MANIFEST)).unwrap())
    }

    #[test]
    fn the_committed_ptx_is_of_the_sources_and_options_that_are_here() {
        let (sources, texts, manifest) = all();
        assert_eq!(manifest.sources, sources.hash(), "a kernel has changed: run `cargo xtask ptx`");
        assert_eq!(manifest.compiler.options, OPTIONS, "the options have changed: run `cargo xtask ptx`");
        assert_eq!(manifest.modules.len(), texts.len());
        for ((module, ptx), written) in texts.iter().zip(&manifest.modules) {
            assert_eq!((&module.name, module.file()), (&written.name, written.file.clone()));
            assert_eq!(
                written.ptx,
                sources::sha256(ptx.as_bytes()),
                "{} is not the one that was written",
                written.file
            );
            assert_eq!(manifest.compiler.nvrtc, listing::compiler(ptx).unwrap());
        }
        assert_eq!(left_over(&crate::place::root(), &texts).unwrap(), [""; 0]);
    }

    #[test]
    fn the_manifest_has_every_entry_of_ptx_and_sources_with_its_parameters() {
        let (sources, texts, manifest) = all();
        let mut entries = Vec::new();
        for (module, ptx) in &texts {
            entries.extend(build::entries(&sources, module, ptx).unwrap());
        }
        for (entry, written) in entries.iter_mut().zip(&manifest.entries) {
            entry.resources = written.resources.clone();
            entry.newest = written.newest.clone();
        }
        assert_eq!(entries, manifest.entries);
    }

    #[test]
    fn the_committed_kernels_are_exact() {
        for (module, ptx) in all().1 {
            assert_eq!(exactness::faults(&ptx), [""; 0], "{}", module.name);
        }
    }

    #[test]
    fn the_committed_kernels_are_within_their_limits() {
        let manifest = all().2;
        for entry in &manifest.entries {
            let measured: Vec<&str> = entry.resources.keys().map(String::as_str).collect();
            assert_eq!(measured, resources::ARCHITECTURES, "{}", entry.name);
            let measured: Vec<&str> = entry.newest.keys().map(String::as_str).collect();
            assert_eq!(BTreeSet::from_iter(measured), resources::NEWEST_ARCHITECTURES.into(), "{}", entry.name);
        }
        assert_eq!(Limits::read(&crate::place::root().join(LIMITS)).unwrap().faults(&manifest.entries), [""; 0]);
    }

    #[test]
    fn no_path_is_in_the_committed_ptx() {
        for (module, ptx) in all().1 {
            assert_eq!(names_a_path(&ptx), None, "{}", module.name);
        }
        assert!(names_a_path(".visible .entry x()\n{\n\t.loc 1 2 3\n}\n").is_some());
    }

    #[test]
    fn arguments_are_known_or_refused() {
        let parse = |words: &[&str]| Mode::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(Mode::Write));
        assert_eq!(parse(&["--check"]), Ok(Mode::Check));
        assert_eq!(parse(&["--check-texts"]), Ok(Mode::CheckTexts));
        assert!(parse(&["--chek"]).unwrap_err().contains("--chek"));
        assert!(parse(&["--check", "x"]).is_err());
    }
}
