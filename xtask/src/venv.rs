//! The Python environments of the tests that hold us to ArviZ and xarray, made once and kept below the target
//! folder: what needs other versions of one package is in another.

use crate::place::target;
use crate::run;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Written last: an environment without it, or with other requirements in it, is made anew.
const MARK: &str = "octopus-requirements.txt";

/// An environment.
struct Environment {
    /// The variable in which the tests find its Python.
    variable: &'static str,
    /// The name of the requirements in the tests' folders.
    requirements: &'static str,
    /// Where it is made, below the target folder.
    folder: &'static str,
}

const ENVIRONMENTS: [Environment; 2] = [
    Environment { variable: "OCTOPUS_PYTHON", requirements: "requirements.txt", folder: "venv" },
    Environment { variable: "OCTOPUS_PYTHON_ZARR3", requirements: "requirements-zarr3.txt", folder: "venv-zarr3" },
];

/// The variables that name a Python in which every pinned requirement of the tests is installed: the user's
/// own, where they are set. One that cannot be made is left out, with the reason said aloud.
pub(crate) fn pythons(root: &Path) -> Vec<(&'static str, OsString)> {
    ENVIRONMENTS.iter().filter_map(|environment| Some((environment.variable, python(root, environment)?))).collect()
}

fn python(root: &Path, environment: &Environment) -> Option<OsString> {
    let variable = environment.variable;
    if let Some(python) = std::env::var_os(variable).filter(|python| !python.is_empty()) {
        eprintln!("xtask: {variable}={} is used as it is", python.to_string_lossy());
        return Some(python);
    }
    match make(root, environment) {
        Ok(python) => Some(python.into()),
        Err(error) => {
            eprintln!("xtask: no Python environment, tests that need {variable} will be SKIPPED: {error:#}");
            None
        }
    }
}

fn make(root: &Path, environment: &Environment) -> Result<PathBuf> {
    let files = requirements(root, environment.requirements)?;
    if files.is_empty() {
        bail!("no crates/*/tests/*/{}", environment.requirements);
    }
    let folder = target(root).join(environment.folder);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = contents(root, &files)?;
    if fs::read_to_string(folder.join(MARK)).is_ok_and(|installed| installed == wanted) && python.exists() {
        eprintln!("xtask: Python environment {} is up to date", folder.display());
        return Ok(python);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let begin = Instant::now();
    eprintln!("xtask: making the Python environment {}: pip installs {}", folder.display(), shown(&files));
    let base = if cfg!(windows) { "python" } else { "python3" };
    succeed(Command::new(base).args(["-m", "venv"]).arg(&folder))?;
    let mut install = Command::new(&python);
    install.current_dir(root).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    // Tests import a tenth of the modules; Python compiles those when they are first imported.
    install.arg("--no-compile");
    for file in &files {
        install.arg("--requirement").arg(file);
    }
    succeed(&mut install)?;
    fs::write(folder.join(MARK), wanted).with_context(|| format!("cannot write in {}", folder.display()))?;
    eprintln!("xtask: the Python environment is made in {:.0} s", begin.elapsed().as_secs_f64());
    Ok(python)
}

fn shown(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// `crates/*/tests/*/` with the file `name`, relative to `root` and sorted.
fn requirements(root: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for package in folders(&root.join("crates"))? {
        let tests = package.join("tests");
        let suites = if tests.is_dir() { folders(&tests)? } else { Vec::new() };
        let files = suites.into_iter().map(|suite| suite.join(name)).filter(|file| file.is_file());
        found.extend(files.map(|file| file.strip_prefix(root).map_or(file.clone(), Path::to_path_buf)));
    }
    found.sort();
    Ok(found)
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect())
}

fn contents(root: &Path, files: &[PathBuf]) -> Result<String> {
    let mut all = String::new();
    for file in files {
        let name = file.display();
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {name}"))?;
        all.push_str(&format!("# {name}\n{text}\n"));
    }
    Ok(all)
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = run::status(command)?;
    if !status.success() {
        bail!("`{}` failed ({status})", Path::new(command.get_program()).display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_crates_test_requirements_count() {
        let root = std::env::temp_dir().join(format!("octopus-venv-{}", std::process::id()));
        let ours = ["crates/diag/tests/arviz/requirements.txt", "crates/runs/tests/arviz/requirements.txt"];
        let others = ["benchmarks/peers/requirements.txt", "crates/random/src/lib.rs", "crates/diag/tests/data/a.txt"];
        let zarr3 = "crates/runs/tests/arviz/requirements-zarr3.txt";
        for file in ours.into_iter().chain(others).chain([zarr3]) {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "arviz==0.23.0").unwrap();
        }
        let found = requirements(&root, ENVIRONMENTS[0].requirements).unwrap();
        let second = requirements(&root, ENVIRONMENTS[1].requirements).unwrap();
        let all = contents(&root, &found).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, ours.map(PathBuf::from));
        assert_eq!(second, [PathBuf::from(zarr3)]);
        assert_eq!(all, format!("# {}\narviz==0.23.0\n# {}\narviz==0.23.0\n", ours[0], ours[1]));
    }
}
