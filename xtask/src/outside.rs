//! `cargo xtask outside`: a crate in another workspace depends on ours, builds and runs. At night other examples run too.

use crate::place::target;
use crate::run::{self, TaskOutcome, cargo};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example; its files are few.
const EXAMPLE: &str = "examples/outside";
const FILES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "src/main.rs", "src/exam.rs"];

/// Examples that are workspaces of their own. Here they are programs of the copy, which are built and not run: their
/// dependencies are the same, and their draws take a release's code.
const OTHERS: [&str; 2] = ["funnel", "energy"];

/// The page whose first program is built and run beside the example.
const PAGE: &str = "docs/models.md";
const DEPENDENCY: &str = "octopus = { path = \"../octopus/crates/octopus\" }";

/// Builds the example and the page's program where no file of this workspace is near and nothing is set, and runs them.
/// Then adds the driver's binding with its one setting, and does it again.
///
/// # Errors
/// When files cannot be copied, or cargo or the program cannot be started.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    run::timed("outside", || {
        let away = Away::new(root)?;
        // Below the target folder so that a second time is fast; cargo reads no configuration from there.
        let build = target(root).join("outside");
        for (kind, words) in [("CPU only", &["build", "--locked"][..]), ("with cuda", &["build"][..])] {
            if kind == "with cuda" {
                away.with_cuda()?;
            }
            let mut command = cargo(&away.folder, words);
            // What this workspace's own configuration has set for this program must not help.
            command.env("CARGO_TARGET_DIR", &build).env_remove("CUDA_LIBRARY_PATH");
            if !run::status(&mut command)?.success() {
                eprintln!("xtask: outside: {kind}: does not build");
                return Ok(TaskOutcome::Failed(1));
            }
            // Each program judges its own draws.
            for (name, arguments) in [("outside", &["exam"][..]), ("schools", &[])] {
                let mut program = Command::new(build.join("debug").join(name));
                let status = run::status(program.args(arguments).current_dir(&away.folder))?;
                if !status.success() {
                    eprintln!("xtask: outside: {kind}: the program {name} ended with {status}");
                    return Ok(TaskOutcome::Failed(1));
                }
            }
        }
        Ok(TaskOutcome::Passed)
    })
}

/// Builds each of the other examples in its own workspace, and runs it; each judges its own draws.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn examples(root: &Path) -> Result<TaskOutcome> {
    for name in OTHERS {
        let mut command = cargo(&root.join("examples").join(name), &["run", "--release", "--locked"]);
        command.env("CARGO_TARGET_DIR", target(root).join("examples"));
        let outcome = run::step(name, &mut command, run::check_failed)?;
        if outcome != TaskOutcome::Passed {
            return Ok(outcome);
        }
    }
    Ok(TaskOutcome::Passed)
}

/// Returns the first manifest of a page, and the first program after it.
fn program(page: &str) -> Option<(&str, &str)> {
    let (_, rest) = page.split_once("```toml\n")?;
    let (manifest, rest) = rest.split_once("```\n")?;
    let (_, rest) = rest.split_once("```rust\n")?;
    Some((manifest, rest.split_once("```\n")?.0))
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
        let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
        let (manifest, program) = program(&page).with_context(|| format!("{PAGE} has no whole program"))?;
        if !manifest.contains(DEPENDENCY) {
            bail!("{PAGE}: the first manifest has not the line `{DEPENDENCY}`");
        }
        for name in OTHERS {
            let (from, to) = (root.join("examples").join(name).join("src"), away.folder.join("src/bin").join(name));
            fs::create_dir_all(&to)?;
            for file in fs::read_dir(&from).with_context(|| format!("cannot read {}", from.display()))? {
                let file = file?;
                fs::copy(file.path(), to.join(file.file_name()))?;
            }
        }
        fs::write(away.folder.join("src/bin/schools.rs"), program)?;
        Ok(away)
    }

    /// Adds the driver's binding, and the setting that it needs (docs/setup.md, section 8).
    fn with_cuda(&self) -> Result<()> {
        let manifest = self.folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        let (without, with) = ("/octopus\" }", "/octopus\", features = [\"cuda\"] }");
        if !text.contains(without) {
            bail!("{EXAMPLE}/Cargo.toml no longer has the dependency on octopus as this task knows it");
        }
        fs::write(manifest, text.replacen(without, with, 1))?;
        fs::create_dir(self.folder.join(".cargo"))?;
        fs::write(self.folder.join(".cargo/config.toml"), "[env]\nCUDA_LIBRARY_PATH = \"/\"\n")?;
        Ok(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        // What is left in a folder for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_the_first_of_its_page() {
        let page = "a\n```toml\nx = 1\n```\nb\n```rust\nfn main() {}\n```\n```rust\nother\n```\n";
        assert_eq!(program(page), Some(("x = 1\n", "fn main() {}\n")));
        assert_eq!(program("```rust\nfn main() {}\n```\n"), None);
        assert!(
            program(include_str!("../../docs/models.md")).is_some_and(|(manifest, _)| manifest.contains(DEPENDENCY))
        );
    }
}
