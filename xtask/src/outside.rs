//! `cargo xtask outside`: a crate in another workspace depends on ours, builds and runs.

use crate::run::{self, TaskOutcome, cargo};
use crate::target;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example; its files are few.
const EXAMPLE: &str = "examples/outside";
const FILES: [&str; 5] = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "src/main.rs", "src/exam.rs"];

/// The crates that bind the driver, unless they are told not to.
const WITH_CUDA: [&str; 2] = ["device", "sampler"];

/// Builds the example where no file of this workspace is near, with the driver binding and without it, and runs it.
///
/// # Errors
/// When files cannot be copied, or cargo or the program cannot be started.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    run::timed("outside", || {
        let away = Away::new(root)?;
        // Below the target folder so that a second time is fast; cargo reads no configuration from there.
        let build = target(root).join("outside");
        for (kind, words) in [("with cuda", &["build", "--locked"][..]), ("CPU only", &["build"][..])] {
            if kind == "CPU only" {
                away.without_cuda()?;
            }
            let mut command = cargo(&away.folder, words);
            // What this workspace's own configuration has set for this program must not help.
            command.env("CARGO_TARGET_DIR", &build).env_remove("CUDA_LIBRARY_PATH");
            if !run::status(&mut command)?.success() {
                eprintln!("xtask: outside: {kind}: does not build");
                return Ok(TaskOutcome::Failed(1));
            }
            let status = run::status(&mut Command::new(build.join("debug/outside")))?;
            // The program checks its own draws against the exact posterior.
            if !status.success() {
                eprintln!("xtask: outside: {kind}: the program ended with {status}");
                return Ok(TaskOutcome::Failed(1));
            }
        }
        Ok(TaskOutcome::Passed)
    })
}

/// The copy, in the system's folder for temporary files.
struct Away {
    folder: PathBuf,
}

impl Away {
    fn new(root: &Path) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("octopus-outside-{}", std::process::id()));
        let away = Self { folder };
        for name in FILES {
            let (from, to) = (root.join(EXAMPLE).join(name), away.folder.join(name));
            fs::create_dir_all(to.parent().unwrap_or(&away.folder))?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
        let manifest = away.folder.join("Cargo.toml");
        let crates = root.join("crates");
        let text = fs::read_to_string(&manifest)?.replace("../../crates", &crates.to_string_lossy());
        fs::write(manifest, text)?;
        Ok(away)
    }

    /// Leaves the driver binding out, and with it the setting that it needs.
    fn without_cuda(&self) -> Result<()> {
        let manifest = self.folder.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest)?;
        for name in WITH_CUDA {
            let (with, without) = (format!("/{name}\" }}"), format!("/{name}\", default-features = false }}"));
            if !text.contains(&with) {
                bail!("{EXAMPLE}/Cargo.toml no longer has the dependency on {name} as this task knows it");
            }
            text = text.replacen(&with, &without, 1);
        }
        fs::write(manifest, text)?;
        fs::remove_file(self.folder.join(".cargo/config.toml"))?;
        Ok(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        // What is left in a folder for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
