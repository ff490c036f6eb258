//! The crate that the sources with faults ask whether a fault is on. It is written beside them.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The crate's name in a manifest.
pub(super) const PACKAGE: &str = "fault-switch";
/// The variable with the number of the fault that is on.
pub(super) const FAULT: &str = "FAULT_SWITCH_ON";
/// The variable with the file that notes which faults are reached: a byte each, 1 once it is.
pub(super) const REACHED: &str = "FAULT_SWITCH_REACHED";

// `either` is in the workspace's lock file, through rayon: no network is needed. A feature of it that the workspace does
// not want would have rayon, and all that needs it, built anew.
const MANIFEST: &str = r#"[package]
name = "fault-switch"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
either = { version = "1", default-features = false }

[workspace]
"#;

/// `FAULTS` is put before it.
const SOURCE: &str = r#"
//! Says whether a fault is on: no fault, the one of the environment, or none with a note of which were asked for.

/// An iterator of one of two types.
pub use either::Either;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// The environment has not been read.
const UNKNOWN: u32 = u32::MAX;
/// What is reached is noted.
const NOTED: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
static SEEN: [AtomicBool; FAULTS] = [const { AtomicBool::new(false) }; FAULTS];
static NOTES: OnceLock<Option<File>> = OnceLock::new();

/// Whether the fault is on.
#[inline(always)]
pub fn on(fault: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen >= NOTED { at_first(fault) } else { chosen == fault }
}

#[cold]
#[inline(never)]
fn at_first(fault: u32) -> bool {
    if CHOSEN.load(Relaxed) == UNKNOWN {
        CHOSEN.store(from_environment(), Relaxed);
    }
    let chosen = CHOSEN.load(Relaxed);
    let seen = &SEEN[fault as usize];
    // Looked at before it is changed: threads that only look do not wait for each other.
    if chosen == NOTED && !seen.load(Relaxed) && !seen.swap(true, Relaxed) {
        // At once: the process may be killed.
        if let Some(file) = NOTES.get().and_then(Option::as_ref) {
            let _ = file.write_at(&[1], u64::from(fault));
        }
    }
    chosen == fault
}

fn from_environment() -> u32 {
    if let Some(path) = variable(REACHED) {
        NOTES.get_or_init(|| OpenOptions::new().create(true).truncate(false).write(true).open(path).ok());
        return NOTED;
    }
    variable(ON).and_then(|number| number.to_str()?.parse().ok()).unwrap_or(NONE)
}

/// A variable of this process, or else of the nearest one above: some tests start programs with an empty environment.
fn variable(name: &str) -> Option<OsString> {
    if let Some(value) = std::env::var_os(name) {
        return Some(value);
    }
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..8 {
        let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
        let value = environment.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        if let Some(value) = value {
            return Some(OsString::from_vec(value.to_vec()));
        }
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        process = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    }
    None
}
"#;

/// Writes the crate, for that many faults, into `folder`.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(folder: &Path, faults: usize) -> Result<()> {
    let failed = || format!("cannot write the crate {}", folder.display());
    fs::create_dir_all(folder.join("src")).with_context(failed)?;
    fs::write(folder.join("Cargo.toml"), MANIFEST).with_context(failed)?;
    fs::write(folder.join("src/lib.rs"), source(faults)).with_context(failed)
}

fn source(faults: usize) -> String {
    let constants = format!(
        "\nconst FAULTS: usize = {faults};\nconst ON: &str = \"{FAULT}\";\nconst REACHED: &str = \"{REACHED}\";\n"
    );
    // A page of documentation must stand first.
    SOURCE.trim_start().replacen("\nuse ", &format!("{constants}\nuse "), 1)
}

/// Returns `manifest` with the crate among its dependencies, at `path`.
///
/// # Errors
/// When it has no section of dependencies.
pub(super) fn depend(manifest: &str, path: &str) -> Result<String> {
    let section = "\n[dependencies]\n";
    let at = manifest.find(section).context("there is no section [dependencies]")? + section.len();
    Ok(format!("{}{PACKAGE} = {{ path = \"{path}\" }}\n{}", &manifest[..at], &manifest[at..]))
}

/// What the compiler refuses of numbers that faults have changed: when it runs, the test fails, which is what is asked.
const PERMITTED: &str = "#![allow(arithmetic_overflow, unconditional_panic)] ";

/// Returns the text of a file; if it is the root of a crate, with [`PERMITTED`] in its first line.
pub(super) fn permitted(path: &Path, text: &str) -> String {
    let is_root = ["src/lib.rs", "src/main.rs"].iter().any(|root| path.ends_with(root));
    if is_root { format!("{PERMITTED}{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_one_and_knows_how_many_faults_there_are() {
        let text = source(12);
        syn::parse_file(&text).unwrap();
        assert!(text.contains("const FAULTS: usize = 12;") && text.starts_with("//! Says"), "{text}");
        assert!(MANIFEST.contains(&format!("name = \"{PACKAGE}\"\n")));
    }

    #[test]
    fn manifests_get_it_first() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n\n[dev-dependencies]\n";
        let changed = depend(manifest, "../s").unwrap();
        assert!(changed.contains("[dependencies]\nfault-switch = { path = \"../s\" }\nb = \"1\"\n"), "{changed}");
        assert!(depend("[package]\n", "../s").is_err());
    }

    #[test]
    fn roots_of_crates_permit_what_faults_compute() {
        let root = permitted(Path::new("crates/a/src/lib.rs"), "//! What it is.\nmod b;\n");
        assert_eq!(root, "#![allow(arithmetic_overflow, unconditional_panic)] //! What it is.\nmod b;\n");
        assert_eq!(permitted(Path::new("crates/a/src/b.rs"), "fn f() {}"), "fn f() {}");
    }
}
