//! The copy of the workspace that faults are put into, and the tests run there.

use super::faults::Fault;
use crate::run::cargo;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// What a build of the tests needs of the workspace.
const COPIED: [&str; 13] = [
    ".config",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo",
    "crates",
    "kernels",
    "vendor",
    "xtask",
    "benchmarks",
    "fuzz",
    "docs",
    "reports",
];

/// Where the tests are that must notice a fault of numerics.
const NUMERICS: [&str; 6] = [
    "--package=octopus-density",
    "--package=octopus-models",
    "--package=octopus-sampler",
    "--lib",
    "--test=hierarchical",
    "--test=sampler",
];
/// Long runs of those, which are left out.
const LONG_RUNS: [&str; 10] = [
    "--skip",
    "calibration::",
    "--skip",
    "hierarchical::balanced",
    "--skip",
    "hierarchical::unbalanced",
    "--skip",
    "known::a_corr",
    "--skip",
    "hierarchical::every_param",
];
/// The tests of the command that hold its wiring.
const OF_COMMAND: [&str; 16] = [
    "args::",
    "batch::",
    "commands::",
    "config::",
    "exit_codes::",
    "folders::a_run_is_replaced",
    "folders::exports_do_not",
    "gpu_fallback::",
    "gpu_faults::no_fallback",
    "logging::",
    "loo::",
    "options::",
    "settings::",
    "software_gpu::",
    "strategies::",
    "validate::",
];

/// The tests on a device that is late, which must notice a fault of waiting.
const OF_WAITS: [&str; 2] = ["late::", "a_table_stays_until_it_is_read"];

/// The tests that must notice a fault: what is built, and what is asked of the tests' programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tests {
    build: Vec<String>,
    chosen: Vec<&'static str>,
}

impl Tests {
    /// Returns those of a fault: of wiring those of its crate, of waiting those on a late device, else those of numerics.
    pub(super) fn of(fault: &Fault) -> Self {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        if fault.name.starts_with("waits: ") {
            let build =
                ["--package=octopus-cuda", "--package=octopus-sampler", "--test=software_gpu", "--test=gpu_engine"];
            return Self { build: owned(&build), chosen: OF_WAITS.to_vec() };
        }
        let of_crate = fault.file.strip_prefix("crates/").and_then(|path| path.split('/').next());
        match of_crate.filter(|_| fault.name.starts_with("wiring: ")) {
            None => Self { build: owned(&NUMERICS), chosen: LONG_RUNS.to_vec() },
            Some("cli") => {
                Self { build: owned(&["--package=octopus-cli", "--lib", "--test=cli"]), chosen: OF_COMMAND.to_vec() }
            }
            Some("diag") => {
                Self { build: owned(&["--package=octopus-diag", "--lib", "--test=suite"]), chosen: Vec::new() }
            }
            Some("octopus") => Self { build: owned(&["--package=octopus", "--lib"]), chosen: Vec::new() },
            Some(name) => {
                Self { build: vec![format!("--package=octopus-{name}"), "--lib".to_owned()], chosen: Vec::new() }
            }
        }
    }

    /// Returns the arguments of cargo that build them.
    fn arguments(&self) -> Vec<&str> {
        let first = ["nextest", "run", "--release", "--color=never"];
        first.into_iter().chain(self.build.iter().map(String::as_str)).collect()
    }
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The tests that failed.
    Caught(Vec<String>),
    /// All tests passed.
    Survived,
}

#[derive(Clone)]
pub(super) struct Workshop {
    source: PathBuf,
    build: PathBuf,
}

impl Workshop {
    /// Copies the workspace at `root`.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(super) fn open(root: &Path) -> Result<Self> {
        let folder = crate::place::target(root).join("mutants");
        let workshop = Self { source: folder.join("source"), build: folder.join("build") };
        fs::create_dir_all(&workshop.source).with_context(|| format!("cannot make {}", workshop.source.display()))?;
        for name in COPIED {
            copy(&root.join(name), &workshop.source.join(name))?;
        }
        Ok(workshop)
    }

    /// Copies the copy, as it is, to another folder.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(super) fn copy_to(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        COPIED.iter().try_for_each(|name| copy(&self.source.join(name), &folder.join(name)))
    }

    /// Returns the folder of the copy.
    pub(super) fn source(&self) -> &Path {
        &self.source
    }

    /// Returns the folder that the copy is built in.
    pub(super) fn build(&self) -> &Path {
        &self.build
    }

    /// Builds and runs the tests with `fault` in the copy, and takes it out again.
    ///
    /// # Errors
    /// When its text is not there exactly once, and those of [`test`](Self::test).
    pub(super) fn test_with(&self, fault: &Fault) -> Result<Verdict> {
        self.with(fault, || self.test(&Tests::of(fault)))
    }

    /// Does `work` with `fault` in the copy, and takes it out again.
    ///
    /// # Errors
    /// When its text is not there exactly once, and those of `work`.
    pub(super) fn with<T>(&self, fault: &Fault, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.source.join(fault.file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let write = |text: &str| fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()));
        write(&replaced(&text, fault)?)?;
        let done = work();
        write(&text)?;
        done.with_context(|| format!("fault \"{}\"", fault.name))
    }

    /// Builds the program as it is in the copy; returns its path.
    ///
    /// # Errors
    /// When it cannot be built: such a fault says nothing about what the program finds.
    pub(super) fn build_octopus(&self) -> Result<PathBuf> {
        let mut build = cargo(&self.source, &["build", "--release", "--package=octopus-cli", "--color=never"]);
        build.env("CARGO_TARGET_DIR", &self.build).env("CARGO_INCREMENTAL", "1");
        let built = build.output().context("cannot start cargo")?;
        if !built.status.success() {
            bail!("the program cannot be built:\n{}", String::from_utf8_lossy(&built.stderr));
        }
        Ok(self.build.join("release").join(format!("octopus{}", std::env::consts::EXE_SUFFIX)))
    }

    /// Builds and runs the tests.
    ///
    /// # Errors
    /// When they cannot be built: such a fault says nothing about the tests.
    pub(super) fn test(&self, tests: &Tests) -> Result<Verdict> {
        let mut build = cargo(&self.source, &tests.arguments());
        // Most of each build is unchanged: parts of crates are kept from one fault to the next.
        build.arg("--no-run").env("CARGO_TARGET_DIR", &self.build).env("CARGO_INCREMENTAL", "1");
        let built = build.output().context("cannot start cargo")?;
        if !built.status.success() {
            bail!("the tests cannot be built:\n{}", String::from_utf8_lossy(&built.stderr));
        }
        let mut run = cargo(&self.source, &tests.arguments());
        // The first test that fails has noticed the fault.
        run.args(["--fail-fast", "--status-level=fail", "--final-status-level=none", "--failure-output=never", "--"]);
        run.args(&tests.chosen).env("RUST_BACKTRACE", "0");
        run.env("CARGO_TARGET_DIR", &self.build).env("CARGO_INCREMENTAL", "1");
        let output = run.output().context("cannot start cargo")?;
        if output.status.success() {
            return Ok(Verdict::Survived);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let failed = failures(&said);
        if failed.is_empty() {
            bail!("the tests ended without naming one that failed:\n{said}");
        }
        Ok(Verdict::Caught(failed))
    }
}

/// `text` with the fault.
///
/// # Errors
/// When the fault's text does not stand in it exactly once.
pub(super) fn replaced(text: &str, fault: &Fault) -> Result<String> {
    match text.matches(fault.old).count() {
        1 => Ok(text.replacen(fault.old, fault.new, 1)),
        n => bail!(
            "fault \"{}\": its text stands {n} times in {}, not once; write the fault anew:\n{}",
            fault.name,
            fault.file,
            fault.old
        ),
    }
}

/// The names of tests that failed, hung or were ended by a signal, from nextest's lines `FAIL [ 0.1s] (1/9) PROGRAM NAME`.
fn failures(said: &str) -> Vec<String> {
    let name = |line: &str| {
        let (status, rest) = line.trim_start().split_once(" [")?;
        let failed = matches!(status, "FAIL" | "TIMEOUT") || status.starts_with("SIG") || status.starts_with("ABORT");
        failed.then(|| rest.rsplit(' ').next().map(str::to_owned))?
    };
    let mut names: Vec<String> = said.lines().filter_map(name).collect();
    names.dedup();
    names
}

/// Copies a file or folder; what has not changed is left alone, so that cargo builds only what has.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(failed)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(from).with_context(failed)? {
            let name = entry.with_context(failed)?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
            names.push(name);
        }
        // What has gone from the sources must go from the copy: cargo finds tests and modules by their files.
        for entry in fs::read_dir(to).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            if !names.contains(&entry.file_name()) {
                let path = entry.path();
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.with_context(failed)?;
            }
        }
        return Ok(());
    }
    let text = fs::read(from).with_context(failed)?;
    if fs::read(to).is_ok_and(|known| known == text) {
        return Ok(());
    }
    fs::write(to, text).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAULT: Fault = Fault { name: "plus", file: "a.rs", old: "a - b", new: "a + b" };

    #[test]
    fn faults_of_wiring_are_for_the_tests_of_their_crate() {
        let of = |name, file| Tests::of(&Fault { name, file, old: "", new: "" });
        assert_eq!(of("anything", "crates/cli/src/config.rs").chosen, LONG_RUNS);
        assert_eq!(of("wiring: x", "crates/cli/src/config.rs").chosen, OF_COMMAND);
        let report = of("wiring: x", "crates/report/src/verdict/evidence.rs");
        assert_eq!(report.arguments()[4..], ["--package=octopus-report", "--lib"]);
    }

    #[test]
    fn a_fault_needs_its_text_exactly_once() {
        assert_eq!(replaced("let c = a - b;", &FAULT).unwrap(), "let c = a + b;");
        for text in ["let c = a + b;", "a - b; a - b;"] {
            let message = replaced(text, &FAULT).unwrap_err().to_string();
            assert!(message.contains("plus") && message.contains("a.rs"), "{message}");
        }
    }

    #[test]
    fn failed_tests_are_read_from_the_output() {
        let said = "    Starting 2 tests across 1 binary\n        FAIL [   0.019s] (1/2) octopus-cli::cli c::d\n  \
                    Cancelling due to test failure\n     SIGSEGV [   0.1s] (2/2) octopus-cli e::f\n   PASS [ 0.1s] g::h\n";
        assert_eq!(failures(said), ["c::d", "e::f"]);
        assert_eq!(failures(""), Vec::<String>::new());
    }

    #[test]
    fn copies_follow_the_sources() {
        let folder = std::env::temp_dir().join(format!("octopus-mutants-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/a"), "1").unwrap();
        fs::write(from.join("b"), "2").unwrap();
        copy(&from, &to).unwrap();
        fs::remove_file(from.join("b")).unwrap();
        fs::write(from.join("inner/a"), "3").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("inner/a")).unwrap(), "3");
        assert!(!to.join("b").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
