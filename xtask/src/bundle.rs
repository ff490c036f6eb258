//! `cargo xtask bundle`: a folder that proves Octopus on a machine with a GPU, but no cargo and no network.
//!
//! Its files, their most bytes, and the oldest C library (glibc) that serves stand here.

use crate::place::target;
use crate::run::{self, TaskOutcome, git, output};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most that travels to a lent machine.
const MOST_BYTES: u64 = 60 << 20;
/// The newest symbol of the C library that the binary may need: Debian 12, Ubuntu 22.04 and newer have it.
const GLIBC: (u32, u32) = (2, 34);
/// What goes along, and under which name.
const FILES: [(&str, &str); 7] = [
    ("xtask/acceptance/run-acceptance.sh", "run-acceptance.sh"),
    ("xtask/acceptance/machine.sh", "machine.sh"),
    ("benchmarks/peers/numpyro_prd.py", "peers/numpyro_prd.py"),
    ("benchmarks/peers/diagnostics.py", "peers/diagnostics.py"),
    ("docs/example.csv", "data/example.csv"),
    ("kernels/expected.json", "expected.json"),
    ("kernels/expected-runs.json", "expected-runs.json"),
];

/// What the bundle is made of; the results carry it too.
#[derive(Serialize)]
struct Manifest {
    schema: u32,
    commit: String,
    /// Whether files differ from the commit.
    modified: bool,
    rustc: String,
    ptx_sha256: String,
    glibc: String,
    /// SHA-256 of each file.
    files: BTreeMap<String, String>,
}

/// Builds the release binary and makes the bundle in `folder`, `target/bundle` unless named.
///
/// # Errors
/// When a file is missing or cannot be written, a tool cannot be started, or the bundle grows too large.
pub(crate) fn run(root: &Path, folder: Option<&str>) -> Result<TaskOutcome> {
    if !run::build_octopus(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    let folder = folder.map_or_else(|| target(root).join("bundle"), |folder| root.join(folder));
    make(root, &run::released(root), &folder)?;
    println!("{}", folder.display());
    Ok(TaskOutcome::Passed)
}

/// Makes the bundle of a binary that is there.
///
/// # Errors
/// As [`run()`].
pub(crate) fn make(root: &Path, octopus: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        // Only what this task made is thrown away.
        if !folder.join("manifest.json").is_file() {
            bail!("{} exists and is no bundle: name another folder", folder.display());
        }
        fs::remove_dir_all(folder).with_context(|| format!("cannot replace {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (from, to) in FILES {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(root.join(from), &to).with_context(|| format!("cannot copy {from}"))?;
    }
    let binary = binary(octopus, folder)?;
    let glibc = newest_glibc(&fs::read(&binary)?);
    if glibc.is_some_and(|version| version > GLIBC) {
        let (major, minor) = glibc.unwrap_or_default();
        bail!("the binary needs glibc {major}.{minor}, a machine has {}.{} at least: build it there", GLIBC.0, GLIBC.1);
    }
    let manifest = Manifest {
        schema: 1,
        commit: git(root, &["rev-parse", "HEAD"])?,
        modified: !git(root, &["status", "--porcelain", "--untracked-files=no"])?.is_empty(),
        rustc: output(Command::new("rustc").arg("--version"))?,
        ptx_sha256: sha256(&fs::read(root.join("kernels/ptx/octopus.ptx"))?),
        glibc: glibc.map_or_else(|| "none".into(), |(major, minor)| format!("{major}.{minor}")),
        files: hashes(folder)?,
    };
    fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&manifest)? + "\n")?;
    let bytes: u64 = files(folder)?.iter().map(|file| fs::metadata(file).map_or(0, |data| data.len())).sum();
    eprintln!("xtask: bundle: {:.1} MiB, commit {}", bytes as f64 / f64::from(1 << 20), manifest.commit);
    if bytes > MOST_BYTES {
        bail!("the bundle has {bytes} bytes, more than the {MOST_BYTES} that may travel");
    }
    Ok(())
}

/// The binary without its debug information, which is most of it.
fn binary(built: &Path, folder: &Path) -> Result<PathBuf> {
    let to = folder.join("octopus");
    fs::copy(built, &to).with_context(|| format!("cannot copy {}: build it first", built.display()))?;
    if !run::status(Command::new("strip").arg("--strip-debug").arg(&to))?.success() {
        bail!("strip failed: it comes with the linker (Debian: binutils)");
    }
    Ok(to)
}

/// The newest version of the C library named in a binary: symbol versions stand in it as `GLIBC_2.34`.
fn newest_glibc(binary: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = binary.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    starts
        .filter_map(|(at, _)| {
            let rest = &binary[at + PREFIX.len()..];
            let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
            let (major, minor) = std::str::from_utf8(&rest[..end]).ok()?.split_once('.')?;
            // Some have a third part, 2.2.5.
            Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
        })
        .max()
}

fn hashes(folder: &Path) -> Result<BTreeMap<String, String>> {
    let hash = |file: PathBuf| {
        let name = file.strip_prefix(folder)?.to_string_lossy().into_owned();
        Ok((name, sha256(&fs::read(&file)?)))
    };
    files(folder)?.into_iter().map(hash).collect()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_version_is_compared_as_numbers() {
        assert_eq!(newest_glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_PRIVATE\0"), Some((2, 34)));
        assert_eq!(newest_glibc(b"nothing here"), None);
    }

    #[test]
    fn a_folder_that_is_no_bundle_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("octopus-bundle-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mine.txt"), "keep").unwrap();
        let error =
            make(&crate::place::root(), &crate::run::released(&crate::place::root()), &folder).unwrap_err().to_string();
        assert!(error.contains("is no bundle"), "{error}");
        assert!(folder.join("mine.txt").is_file());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn hashes_are_sha_256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
