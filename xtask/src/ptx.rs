//! `cargo xtask ptx`: the kernels' CUDA C++ to the PTX that is committed, and what each kernel asks of a GPU.
//!
//! A build needs none of this: the PTX is in the repository. `--check` rebuilds it and compares bytes; tests compare
//! the hash of the sources, so that PTX which is older than its sources is noticed without a compiler too.

mod exactness;
mod listing;
mod manifest;
mod resources;
mod sources;
mod tools;

use crate::ffi::{Nvrtc, Unit};
use crate::run::{self, Outcome};
use anyhow::{Context, Result, bail};
use manifest::{Compiler, Entry, Manifest};
use resources::{ARCHITECTURES, Limits};
use sources::Sources;
use std::fs;
use std::path::Path;
use tools::Tools;

/// Below the checkout.
const FOLDER: &str = "kernels";
const MODULE: &str = "kernels/ptx/octopus.ptx";
const MANIFEST: &str = "kernels/ptx/manifest.toml";
const LIMITS: &str = "kernels/limits.toml";

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
}

impl Mode {
    /// # Errors
    /// A message for the user when the arguments are none that this task knows.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self::Write),
            [word] if word == "--check" => Ok(Self::Check),
            [first, ..] => Err(format!("ptx takes --check or nothing, got {first:?}")),
        }
    }
}

/// What the compiler and the assembler make of the sources.
struct Built {
    ptx: String,
    manifest: Manifest,
}

/// Compiles, checks and assembles the kernels; writes or compares the result.
///
/// # Errors
/// When there is no compiler (for [`Mode::Write`]; a check is skipped, aloud), or a file cannot be read or written.
pub(crate) fn run(root: &Path, mode: Mode) -> Result<Outcome> {
    run::timed("ptx", || {
        let tools = match tools::find(root) {
            Ok(tools) => tools,
            Err(error) if mode == Mode::Check => {
                eprintln!("xtask: SKIPPED: the PTX is not rebuilt and compared: {error:#}");
                return Ok(Outcome::Passed);
            }
            Err(error) => return Err(error),
        };
        let built = build(&Sources::read(&root.join(FOLDER))?, &tools)?;
        println!("{}", resources::table(&built.manifest.entries));
        let mut faults = exactness::faults(&built.ptx);
        faults.extend(Limits::read(&root.join(LIMITS))?.faults(&built.manifest.entries));
        if !faults.is_empty() {
            faults.iter().for_each(|fault| eprintln!("error: {fault}"));
            return Ok(Outcome::Failed(1));
        }
        match mode {
            Mode::Write => write(root, &built),
            Mode::Check => compare(root, &built),
        }
    })
}

/// The step of `cargo xtask ci`.
///
/// # Errors
/// Those of [`run()`].
pub(crate) fn step(root: &Path) -> Result<Outcome> {
    run(root, Mode::Check)
}

fn build(sources: &Sources, tools: &Tools) -> Result<Built> {
    let headers = sources.headers();
    let unit = Unit { name: sources::UNIT, text: sources.unit()?, headers: &headers };
    let nvrtc = Nvrtc::open(&tools.nvrtc)?;
    let (major, minor) = nvrtc.version()?;
    if (major, minor) != tools::RELEASE {
        let (wanted_major, wanted_minor) = tools::RELEASE;
        bail!("{} is NVRTC {major}.{minor}, not {wanted_major}.{wanted_minor}", tools.nvrtc.display());
    }
    let ptx = nvrtc.compile(&unit, &OPTIONS)?;
    let listed = listing::entries(&ptx)?;
    let mut entries = sources::join(sources.signatures()?, listed)?;
    for architecture in ARCHITECTURES {
        let used = resources::measure(&tools.ptxas, architecture, &ptx)?;
        for Entry { name, resources, .. } in &mut entries {
            let used = used.get(name).with_context(|| format!("ptxas says nothing of {name}"))?;
            resources.insert(architecture.to_owned(), *used);
        }
    }
    let manifest = Manifest {
        compiler: Compiler {
            nvrtc: listing::compiler(&ptx)?,
            ptxas: tools.ptxas_version.clone(),
            options: OPTIONS.map(str::to_owned).to_vec(),
        },
        sources: sources.hash(),
        ptx: sources::sha256(ptx.as_bytes()),
        entries,
    };
    Ok(Built { ptx, manifest })
}

fn write(root: &Path, built: &Built) -> Result<Outcome> {
    let put = |path: &str, text: &str| {
        let full = root.join(path);
        let same = fs::read_to_string(&full).is_ok_and(|there| there == text);
        eprintln!("xtask: {path} {}", if same { "is up to date" } else { "is written" });
        if same { Ok(()) } else { fs::write(&full, text).with_context(|| format!("cannot write {path}")) }
    };
    put(MODULE, &built.ptx)?;
    put(MANIFEST, &built.manifest.to_toml())?;
    Ok(Outcome::Passed)
}

fn compare(root: &Path, built: &Built) -> Result<Outcome> {
    let committed = fs::read_to_string(root.join(MODULE)).with_context(|| format!("cannot read {MODULE}"))?;
    let manifest = Manifest::read(&root.join(MANIFEST))?;
    let mut fresh = true;
    let mut say = |path: &str, same: bool| {
        eprintln!("xtask: {path} is {}", if same { "up to date" } else { "stale: run `cargo xtask ptx`" });
        fresh &= same;
    };
    // Git may have its own idea of line ends.
    say(MODULE, committed.replace("\r\n", "\n") == built.ptx);
    say(MANIFEST, manifest == built.manifest);
    if manifest.compiler.nvrtc != built.manifest.compiler.nvrtc {
        let (theirs, ours) = (&manifest.compiler.nvrtc, &built.manifest.compiler.nvrtc);
        eprintln!("xtask: the committed PTX is of NVRTC {theirs}, compared was with {ours}");
    }
    Ok(if fresh { Outcome::Passed } else { Outcome::Failed(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> (Sources, String, Manifest) {
        let root = crate::root();
        let ptx = fs::read_to_string(root.join(MODULE)).unwrap().replace("\r\n", "\n");
        (Sources::read(&root.join(FOLDER)).unwrap(), ptx, Manifest::read(&root.join(MANIFEST)).unwrap())
    }

    #[test]
    fn the_committed_ptx_is_of_the_sources_and_options_that_are_here() {
        let (sources, ptx, manifest) = committed();
        assert_eq!(manifest.sources, sources.hash(), "a kernel has changed: run `cargo xtask ptx`");
        assert_eq!(manifest.compiler.options, OPTIONS, "the options have changed: run `cargo xtask ptx`");
        assert_eq!(manifest.ptx, sources::sha256(ptx.as_bytes()), "{MODULE} is not the one that was written");
        assert_eq!(manifest.compiler.nvrtc, listing::compiler(&ptx).unwrap());
    }

    #[test]
    fn the_manifest_has_every_entry_of_ptx_and_sources_with_its_parameters() {
        let (sources, ptx, manifest) = committed();
        let mut entries = sources::join(sources.signatures().unwrap(), listing::entries(&ptx).unwrap()).unwrap();
        for (entry, written) in entries.iter_mut().zip(&manifest.entries) {
            entry.resources = written.resources.clone();
        }
        assert_eq!(entries, manifest.entries);
    }

    #[test]
    fn the_committed_kernels_are_exact() {
        assert_eq!(exactness::faults(&committed().1), [""; 0]);
    }

    #[test]
    fn the_committed_kernels_are_within_their_limits() {
        let entries = committed().2.entries;
        assert!(entries.iter().all(|entry| ARCHITECTURES.iter().all(|name| entry.resources.contains_key(*name))));
        assert_eq!(Limits::read(&crate::root().join(LIMITS)).unwrap().faults(&entries), [""; 0]);
    }

    #[test]
    fn no_path_is_in_the_committed_ptx() {
        let (_, ptx, _) = committed();
        assert!(!ptx.contains(".file") && !ptx.contains(".loc") && !ptx.contains(".section"));
    }

    #[test]
    fn arguments_are_known_or_refused() {
        let parse = |words: &[&str]| Mode::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(Mode::Write));
        assert_eq!(parse(&["--check"]), Ok(Mode::Check));
        assert!(parse(&["--chek"]).unwrap_err().contains("--chek"));
        assert!(parse(&["--check", "x"]).is_err());
    }
}
